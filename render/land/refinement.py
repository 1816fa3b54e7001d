"""The land in as few triangles as a view needs: longest-edge bisection of a grid, chosen anew for every eye.

Squares of the grid are split at their middles into right triangles, and these at the middles of their long sides, as
long as leaving that vertex out would be seen. The error of a vertex is no less than those of all that its triangles can
be split into, and it lies in a ball about all of these: so neighbours ask for the same vertices, and no gaps open.
P. Lindstrom, V. Pascucci: Terrain simplification simplified, IEEE TVCG 8, 2002.
"""

import hashlib

import numpy as np

from render.land.mesh import ChunkedMesh
from sim.groups.numeric import median
from sim.native.function import native
from sim.platform.cache import Arrays, cached_arrays, source_digest

_DIGEST = source_digest(__file__)
_MOST_SIDE = 32
_NOWHERE = np.array([[0.0, 0.0, 0.0, -np.inf]])
_ROUNDED = 1.00001
"""Balls still lie within one another where radii are float32."""
_LONGEST = 1 / 250
"""Error by length of a side that is level: haze is worked out at vertices."""


KINDS = 4
"""Of squares: 0 to 3."""
STEEP = KINDS
"""Added to the kind of a triangle whose third corner, the one that flat values are of, is marked as steep."""
TRIANGLE_KINDS = 2 * KINDS
LEVELS = 9
"""Of detail of a texture, finest first."""


def grid_extent_m(mesh: ChunkedMesh) -> np.ndarray:
    """(2,) m of the grid that a mesh is cut from, along its rows' axis and its columns' axis: the count of its cells by
    the usual length of one."""
    assert mesh.places is not None
    ends = mesh.indices[:50_000][:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    apart = np.abs(mesh.places[ends[:, 1]] - mesh.places[ends[:, 0]])
    length_m = np.linalg.norm(mesh.vertices[ends[:, 1], :3] - mesh.vertices[ends[:, 0], :3], axis=1)
    along = [(apart[:, axis] > 0.0) & (apart[:, 1 - axis] == 0.0) for axis in (0, 1)]
    cell_m = np.array([median(length_m[sides]) for sides in along])
    return (np.array(mesh.grid) - 1) * cell_m


@native
def _level(places: np.ndarray, a: int, b: int, c: int, eye: np.ndarray, texels: float) -> int:
    """Level that suits a triangle of a texture of which so many texels are in a pixel at a distance of 1 m, by the mean
    of what a pixel covers along and across; -1 for one that is seen from behind."""
    ux, uy, uz = places[b, 0] - places[a, 0], places[b, 1] - places[a, 1], places[b, 2] - places[a, 2]
    vx, vy, vz = places[c, 0] - places[a, 0], places[c, 1] - places[a, 1], places[c, 2] - places[a, 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    x = eye[0] - (places[a, 0] + places[b, 0] + places[c, 0]) / 3.0
    y = eye[1] - (places[a, 1] + places[b, 1] + places[c, 1]) / 3.0
    z = eye[2] - (places[a, 2] + places[b, 2] + places[c, 2]) / 3.0
    if nx * (eye[0] - places[a, 0]) + ny * (eye[1] - places[a, 1]) + nz * (eye[2] - places[a, 2]) <= 0.0:
        return -1
    away = x * x + y * y + z * z
    facing = abs(nx * x + ny * y + nz * z) / np.sqrt((nx * nx + ny * ny + nz * nz) * away + 1e-12)
    covered = texels * texels * away / max(facing, 0.1)
    level, least = 0, 2.0
    while covered >= least and level < LEVELS - 1:
        level += 1
        least *= 4.0
    return level


@native
def _beyond(places: np.ndarray, a: int, b: int, c: int, m: int, reach: float, planes: np.ndarray) -> bool:
    """Whether a triangle, and a ball about the vertex `m` that it can be split at (reach: its radius, -inf: none),
    lie beyond one of the planes."""
    for plane in range(planes.shape[0]):
        x, y, z, off = planes[plane, 0], planes[plane, 1], planes[plane, 2], planes[plane, 3]
        if x * places[m, 0] + y * places[m, 1] + z * places[m, 2] + off + reach < 0.0:
            at_a = x * places[a, 0] + y * places[a, 1] + z * places[a, 2] + off
            at_b = x * places[b, 0] + y * places[b, 1] + z * places[b, 2] + off
            at_c = x * places[c, 0] + y * places[c, 1] + z * places[c, 2] + off
            if max(at_a, max(at_b, at_c)) < 0.0:
                return True
    return False


@native
def _split(
    squares: np.ndarray,
    kinds: np.ndarray,
    steep: np.ndarray,
    side: int,
    columns: int,
    places: np.ndarray,
    error: np.ndarray,
    radius: np.ndarray,
    number: np.ndarray,
    eye: np.ndarray,
    tolerance: float,
    touched: np.ndarray,
    least: float,
    bottom_m: float,
    texels: float,
    seen: np.ndarray,
    within: np.ndarray,
    stack: np.ndarray,
    out: np.ndarray,
    keys: np.ndarray,
) -> int:
    """Write the triangles of `squares` (their first vertices) that face the eye into `out` (m, 3), and into `keys` what
    they are to be sorted by; how many, or -1 where there is no room. Left out is what lies below `bottom_m`, and, of
    squares that are not `within` them, beyond the planes of what is `seen`."""
    deepest = 0
    length = side
    while length > 1:
        deepest += 2
        length //= 2
    deepest -= 1
    row = 0
    for k in range(squares.shape[0]):
        corner = squares[k]
        middle = corner + (side // 2) * (columns + 1)
        for edge in range(4):
            a, b = corner, corner + side * columns
            if edge == 1:
                a, b = corner + side * columns, corner + side * columns + side
            elif edge == 2:
                a, b = corner + side * columns + side, corner + side
            elif edge == 3:
                a, b = corner + side, corner
            stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = a, b, middle, 0
            top = 1
            while top > 0:
                top -= 1
                a, b, c, depth = stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3]
                m = (a + b) // 2
                if not within[k] and _beyond(places, a, b, c, m, radius[m], seen):
                    continue
                splits = depth < deepest
                if splits:
                    x, y, z = places[m, 0] - eye[0], places[m, 1] - eye[1], places[m, 2] - eye[2]
                    away = np.sqrt(x * x + y * y + z * z) - radius[m]
                    splits = error[m] > tolerance * away
                    if not splits and error[m] > least * away:
                        splits = True
                        for plane in range(touched.shape[0]):
                            off = touched[plane, 3] + radius[m]
                            for axis in range(3):
                                off += touched[plane, axis] * places[m, axis]
                            splits = splits and off >= 0.0
                if splits:
                    stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = b, c, m, depth + 1
                    top += 1
                    stack[top, 0], stack[top, 1], stack[top, 2], stack[top, 3] = c, a, m, depth + 1
                    top += 1
                elif max(places[a, 2], max(places[b, 2], places[c, 2])) > bottom_m:
                    level = _level(places, a, b, c, eye, texels)
                    if level < 0:
                        continue
                    if row >= out.shape[0]:
                        return -1
                    out[row, 0], out[row, 1], out[row, 2] = number[a], number[b], number[c]
                    kind = kinds[k, 1]
                    if kinds[k, 0] != kind and not _beyond(places, a, b, c, m, -np.inf, touched):
                        kind = kinds[k, 0]
                    keys[row] = TRIANGLE_KINDS * level + kind + (STEEP if steep[c] else 0)
                    row += 1
    return row


class Refinement:
    """The grid of a mesh with what tells where it has to be fine."""

    def __init__(self, mesh: ChunkedMesh):
        """ValueError where the grid has not an even number of cells along both sides."""
        assert mesh.places is not None
        rows, columns = mesh.grid
        self.side = min(_power_of_two(rows - 1), _power_of_two(columns - 1), _MOST_SIDE)
        if self.side < 2:
            raise ValueError(f"a grid of {rows - 1} x {columns - 1} cells cannot be halved")
        self.made_of = mesh.key or _digest(mesh)
        """Names the mesh."""
        kept = cached_arrays("refinements", f"{self.made_of}-{_DIGEST}", lambda: _kept(mesh, self.side))
        self._mesh, self._columns, self._number = mesh, columns, kept["number"]
        self.places = np.ascontiguousarray(mesh.vertices[self._number, :3])
        """(n, 3) of the grid's vertices, row by row."""
        self.error_m, self.radius_m = kept["error_m"], kept["radius_m"]
        i, j = np.meshgrid(
            np.arange(0, rows - 1, self.side), np.arange(0, columns - 1, self.side), indexing="ij"
        )
        self.squares = (i * columns + j).ravel()
        """First vertex of each."""
        within = np.arange(self.side + 1)
        self.vertices = self.squares[:, None] + (within[:, None] * columns + within).ravel()
        """(squares, m) of the grid in each, its border among them."""
        self._steep = np.zeros(rows * columns, bool)
        self._stack = np.zeros((64, 4), np.int64)

    @property
    def upward(self) -> np.ndarray:
        """(n,) upward part of the normals of the grid's vertices."""
        return self._mesh.vertices[self._number, 5]

    def mean_upward(self, about: int) -> np.ndarray:
        """(m,) upward part of the normal of the mesh's vertices, in the mean over `about` vertices to each side.

        By one of its own, a vertex in a gully would make a whole large triangle steep.
        """
        upward = self.upward.reshape(-1, self._columns)
        for _ in range(2):  # along one axis, then the other
            summed = np.pad(upward, ((about + 1, about), (0, 0)), mode="edge").cumsum(axis=0, dtype=float)
            upward = ((summed[2 * about + 1 :] - summed[: -2 * about - 1]) / (2 * about + 1)).T
        return upward.ravel()[_on_grid(self._mesh)]

    def mark_steep(self, vertices: np.ndarray) -> None:
        """Mark vertices of the mesh (m,) bool as steep."""
        self._steep = np.ascontiguousarray(vertices[self._number])

    def split(
        self,
        squares: np.ndarray,
        eye_w: np.ndarray,
        tolerance: float,
        out: np.ndarray,
        keys: np.ndarray,
        *,
        kinds: np.ndarray | None = None,
        texels: float = 0.0,
        seen: np.ndarray | None = None,
        within: np.ndarray | None = None,
        touched: np.ndarray | None = None,
        least: float = np.inf,
        above_m: float = -np.inf,
    ) -> int:
        """Write the triangles that show `squares` (k,), by number, to an error of `tolerance` [rad] from `eye_w`.

        They go into `out` (m, 3) int32 as rows of vertices of the mesh, one square's after the other's, and into `keys`
        (m,) int32 goes TRIANGLE_KINDS times the level of a texture that suits each, of so many `texels` in a pixel 1 m
        away, and what `kinds` (k, 2) has of its square, first for what reaches between the planes `touched` (6, 4), as
        a frustum has them, and STEEP where it is. Returned is how many there are, or -1 where that is more than m. Left
        out are those that face away from the eye, lie wholly below `above_m`, or, of squares that are not `within` (k,)
        bool the planes of what is `seen` (6, 4), wholly beyond one of them. What reaches between the planes `touched`
        has an error of `least` [rad].
        """
        return int(
            _split(
                self.squares[squares],
                np.zeros((len(squares), 2), np.int64)
                if kinds is None
                else np.ascontiguousarray(kinds, np.int64),
                self._steep,
                self.side,
                self._columns,
                self.places,
                self.error_m,
                self.radius_m,
                self._number,
                np.asarray(eye_w, float),
                float(tolerance),
                _NOWHERE if touched is None else np.ascontiguousarray(touched, float),
                float(least),
                float(above_m),
                float(texels),
                _NOWHERE[:0] if seen is None else np.ascontiguousarray(seen, float),
                np.zeros(len(squares), bool) if within is None else np.ascontiguousarray(within),
                self._stack,
                out,
                keys,
            )
        )


def _power_of_two(count: int) -> int:
    return count & -count


def _digest(mesh: ChunkedMesh) -> str:
    """Of all that a refinement is worked out from."""
    found = hashlib.sha256(repr(mesh.grid).encode())
    for values in (mesh.vertices, mesh.places):
        found.update(np.ascontiguousarray(values).data)
    return found.hexdigest()


def _on_grid(mesh: ChunkedMesh) -> np.ndarray:
    """(m,) where the vertices of a mesh stand in its grid, counted row by row."""
    assert mesh.places is not None
    rows, columns = mesh.grid
    return np.rint(mesh.places * (rows - 1, columns - 1)).astype(np.int64) @ (columns, 1)


def _kept(mesh: ChunkedMesh, side: int) -> Arrays:
    """Besides `_nested`, the number in the mesh of each vertex of its grid."""
    rows, columns = mesh.grid
    at, number = _on_grid(mesh), np.zeros(rows * columns, np.int32)
    number[at[::-1]] = np.arange(len(at), dtype=np.int32)[::-1]  # a chunk's skirt comes after its own
    return {"number": number, **_nested(mesh.vertices[number, :3].reshape(rows, columns, 3), side)}


def _nested(grid: np.ndarray, side: int) -> Arrays:
    """Errors and radii [m] of vertices (rows, columns, 3), flat: by how much a surface without one is off, and how far
    from it those lie that its triangles can be split at; both no less than these have them."""
    rows, columns = grid.shape[:2]
    error, radius = np.zeros((rows, columns), np.float32), np.zeros((rows, columns), np.float32)
    half = 1
    while half < side:
        beside = np.array([(half, 0), (-half, 0), (0, half), (0, -half)])
        for along, across in ((half, 0), (0, half)):  # middles of level and of upright sides
            i, j = np.meshgrid(
                np.arange(along, rows, 2 * half), np.arange(across, columns, 2 * half), indexing="ij"
            )
            _take(grid, error, radius, i, j, (along, across), _diagonal(half // 2))
        i, j = np.meshgrid(np.arange(half, rows, 2 * half), np.arange(half, columns, 2 * half), indexing="ij")
        way = np.where((i // half // 2 + j // half // 2) % 2 == 0, half, -half)
        if 2 * half < side:
            _take(grid, error, radius, i, j, (half, way), beside)
        half *= 2
    return {"error_m": error.ravel(), "radius_m": radius.ravel()}


def _diagonal(half: int) -> np.ndarray:
    return np.array([(half, half), (half, -half), (-half, half), (-half, -half)])[: 4 if half else 0]


def _take(
    grid: np.ndarray,
    error: np.ndarray,
    radius: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
    ends: tuple[int, int | np.ndarray],
    steps: np.ndarray,
) -> None:
    """Set errors and radii of the vertices (i, j), middles of sides to both `ends`, those `steps` from them known."""
    rows, columns = error.shape
    here, low, high = grid[i, j], grid[i - ends[0], j - ends[1]], grid[i + ends[0], j + ends[1]]
    off, length = here - 0.5 * (low + high), np.linalg.norm(high - low, axis=-1)
    # A place that is drawn off along the surface is as far off to the eye as one that is off its height.
    worst, reach = np.maximum(np.linalg.norm(off, axis=-1), _LONGEST * length), np.zeros(i.shape)
    for di, dj in steps:
        ni, nj = i + di, j + dj
        inside = (ni >= 0) & (ni < rows) & (nj >= 0) & (nj < columns)
        ni, nj = np.where(inside, ni, i), np.where(inside, nj, j)
        worst = np.maximum(worst, np.where(inside, error[ni, nj], 0.0))
        apart = np.linalg.norm(grid[ni, nj] - here, axis=-1) + radius[ni, nj]
        reach = np.maximum(reach, np.where(inside, apart * _ROUNDED, 0.0))
    error[i, j], radius[i, j] = worst, reach
