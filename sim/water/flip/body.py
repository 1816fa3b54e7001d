"""A body in splashing water: its shape on the grid, how it moves, and how it answers an impulse.

The grid is told how far a place is from the hull and which part of every face the hull, or a paddle, blocks. One set of
these fractions serves geometry and mass: what a body blocks is what its motion displaces and what pressure pushes on
(C. Batty, F. Bertails, R. Bridson, "A fast variational framework for accurate solid-fluid coupling", 2007).
"""

import math

import numpy as np

from sim.groups.numeric import rotation_exp
from sim.native.function import native, unordered
from sim.platform.values import dataclass
from sim.vehicle_config.config import HullMesh
from sim.water.flip.box import WATER_DENSITY, TankBox, block_off, keep_before
from sim.water.immersion import GRAVITY

_MARGIN = 3
"""Points of the lattice beyond the hull."""


@dataclass(frozen=True, slots=True, eq=False)
class Distance:
    """Distance to a hull, negative within, on a lattice in the body frame."""

    values: np.ndarray
    """(nz, ny, nx) float32 [m]."""
    corner_b: np.ndarray
    """(3,) where the lattice begins [m]."""
    spacing_m: float

    @staticmethod
    def of(hull: HullMesh, spacing_m: float) -> "Distance":
        """Of every point of a lattice with this spacing, which reaches beyond the hull on all sides."""
        low = hull.vertices.min(axis=0) - _MARGIN * spacing_m
        high = hull.vertices.max(axis=0) + _MARGIN * spacing_m
        count = np.ceil((high - low) / spacing_m).astype(int) + 1
        values = np.empty(tuple(count[::-1]), np.float32)
        _measure(hull.vertices, hull.triangles, low, spacing_m, values)
        return Distance(values, low, spacing_m)


@unordered
def _measure(
    vertices: np.ndarray, triangles: np.ndarray, corner: np.ndarray, spacing: float, out: np.ndarray
) -> None:
    """Distance to the nearest triangle; inside is where the triangles fill more than half of the view (the solid angle
    after A. van Oosterom, J. Strackee 1983)."""
    for k in range(out.shape[0]):
        for j in range(out.shape[1]):
            for i in range(out.shape[2]):
                x = corner[0] + spacing * i
                y = corner[1] + spacing * j
                z = corner[2] + spacing * k
                nearest, view = 1e30, 0.0
                for t in range(len(triangles)):
                    a, b, c = vertices[triangles[t, 0]], vertices[triangles[t, 1]], vertices[triangles[t, 2]]
                    ax, ay, az = a[0] - x, a[1] - y, a[2] - z
                    bx, by, bz = b[0] - x, b[1] - y, b[2] - z
                    cx, cy, cz = c[0] - x, c[1] - y, c[2] - z
                    nearest = min(nearest, _to_triangle(ax, ay, az, bx, by, bz, cx, cy, cz))
                    la = math.sqrt(ax * ax + ay * ay + az * az)
                    lb = math.sqrt(bx * bx + by * by + bz * bz)
                    lc = math.sqrt(cx * cx + cy * cy + cz * cz)
                    volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
                    flat = la * lb * lc + (ax * bx + ay * by + az * bz) * lc
                    flat += (bx * cx + by * cy + bz * cz) * la + (cx * ax + cy * ay + cz * az) * lb
                    view += 2.0 * math.atan2(volume, flat)
                distance = math.sqrt(nearest)
                out[k, j, i] = -distance if view > 2.0 * math.pi else distance


@unordered
def _to_triangle(
    ax: float, ay: float, az: float, bx: float, by: float, bz: float, cx: float, cy: float, cz: float
) -> float:
    """Squared distance of the origin from a triangle (C. Ericson, "Real-Time Collision Detection", 5.1.5)."""
    ux, uy, uz = bx - ax, by - ay, bz - az
    vx, vy, vz = cx - ax, cy - ay, cz - az
    d1, d2 = -(ux * ax + uy * ay + uz * az), -(vx * ax + vy * ay + vz * az)
    d3, d4 = -(ux * bx + uy * by + uz * bz), -(vx * bx + vy * by + vz * bz)
    d5, d6 = -(ux * cx + uy * cy + uz * cz), -(vx * cx + vy * cy + vz * cz)
    va, vb, vc = d3 * d6 - d5 * d4, d5 * d2 - d1 * d6, d1 * d4 - d3 * d2
    if d1 <= 0.0 and d2 <= 0.0:
        s, t = 0.0, 0.0
    elif d3 >= 0.0 and d4 <= d3:
        s, t = 1.0, 0.0
    elif d6 >= 0.0 and d5 <= d6:
        s, t = 0.0, 1.0
    elif vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        s, t = d1 / (d1 - d3), 0.0
    elif vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        s, t = 0.0, d2 / (d2 - d6)
    elif va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        t = (d4 - d3) / (d4 - d3 + d5 - d6)
        s = 1.0 - t
    else:
        total = va + vb + vc
        s, t = vb / total, vc / total
    x, y, z = ax + s * ux + t * vx, ay + s * uy + t * vy, az + s * uz + t * vz
    return x * x + y * y + z * z


@unordered
def _in_body(R_wb: np.ndarray, cell: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """What lies (x, y, z) cells from the body's origin along the world's axes, in the body frame [m]."""
    return (
        cell * (R_wb[0, 0] * x + R_wb[1, 0] * y + R_wb[2, 0] * z),
        cell * (R_wb[0, 1] * x + R_wb[1, 1] * y + R_wb[2, 1] * z),
        cell * (R_wb[0, 2] * x + R_wb[1, 2] * y + R_wb[2, 2] * z),
    )


@unordered
def distance_at(
    values: np.ndarray, corner: np.ndarray, spacing: float, x: float, y: float, z: float
) -> float:
    """Distance at a place of the body frame [m]; beyond the lattice the way to it is added."""
    u, v, w = (x - corner[0]) / spacing, (y - corner[1]) / spacing, (z - corner[2]) / spacing
    nz, ny, nx = values.shape
    a = min(max(u, 0.0), nx - 1.001)
    b = min(max(v, 0.0), ny - 1.001)
    c = min(max(w, 0.0), nz - 1.001)
    beyond = math.sqrt((u - a) ** 2 + (v - b) ** 2 + (w - c) ** 2)
    i, j, k = int(a), int(b), int(c)
    a -= i
    b -= j
    c -= k
    low = (1 - b) * ((1 - a) * values[k, j, i] + a * values[k, j, i + 1])
    low += b * ((1 - a) * values[k, j + 1, i] + a * values[k, j + 1, i + 1])
    top = (1 - b) * ((1 - a) * values[k + 1, j, i] + a * values[k + 1, j, i + 1])
    top += b * ((1 - a) * values[k + 1, j + 1, i] + a * values[k + 1, j + 1, i + 1])
    return (1 - c) * low + c * top + spacing * beyond


@native
def reach(
    values: np.ndarray,
    corner: np.ndarray,
    spacing: float,
    R_wb: np.ndarray,
    origin: np.ndarray,
    cell: float,
    shape: tuple[int, int, int],
    out: np.ndarray,
) -> None:
    """Cells that the lattice may touch, out (3, 2) int64: from, to (exclusive), along x, y, z. origin in cells."""
    nz, ny, nx = values.shape
    half_x, half_y, half_z = (
        0.5 * spacing * (nx - 1) / cell,
        0.5 * spacing * (ny - 1) / cell,
        0.5 * spacing * (nz - 1) / cell,
    )
    mid_x, mid_y, mid_z = corner[0] / cell + half_x, corner[1] / cell + half_y, corner[2] / cell + half_z
    for a in range(3):
        middle = origin[a] + R_wb[a, 0] * mid_x + R_wb[a, 1] * mid_y + R_wb[a, 2] * mid_z
        half = abs(R_wb[a, 0]) * half_x + abs(R_wb[a, 1]) * half_y + abs(R_wb[a, 2]) * half_z
        last = shape[2 - a] - 1
        out[a, 0] = int(min(max(math.floor(middle - half), 1), last))
        out[a, 1] = int(min(max(math.ceil(middle + half) + 1, 1), last))


@unordered
def cut_faces(
    values: np.ndarray,
    corner: np.ndarray,
    spacing: float,
    R_wb: np.ndarray,
    origin: np.ndarray,
    cell: float,
    about: np.ndarray,
    blocked: np.ndarray,
    room: np.ndarray,
) -> None:
    """Fractions: of every face about the hull, what it blocks; of the water about the face, what has room."""
    for c in range(3):
        for k in range(about[2, 0], about[2, 1]):
            for j in range(about[1, 0], about[1, 1]):
                for i in range(about[0, 0], about[0, 1]):
                    x = i + (0.0 if c == 0 else 0.5) - origin[0]
                    y = j + (0.0 if c == 1 else 0.5) - origin[1]
                    z = k + (0.0 if c == 2 else 0.5) - origin[2]
                    bx, by, bz = _in_body(R_wb, cell, x, y, z)
                    s = distance_at(values, corner, spacing, bx, by, bz) / cell
                    fraction = min(max(0.5 - s, 0.0), 1.0)
                    border = (c == 0 and i == 1) or (c == 1 and j == 1) or (c == 2 and k == 1)
                    blocked[c, k, j, i] = 0.0 if border else fraction
                    t = min(max(s, -1.0), 1.0)
                    room[c, k, j, i] = 0.5 + t - 0.5 * t * abs(t)


@native
def columns(
    blocked: np.ndarray,
    diagonal: np.ndarray,
    origin: np.ndarray,
    about: np.ndarray,
    cells: np.ndarray,
    column: np.ndarray,
) -> int:
    """How the divergence of each cell of water answers the body's twist about its origin (world axes, cells).

    cells (n, 3) int32 gets (k, j, i), column (n, 6) the derivative by (omega, v). The same column turns the cell's
    pressure into the body's impulse. Returns how many there are.
    """
    count = 0
    nz, ny, nx = diagonal.shape
    for k in range(max(about[2, 0] - 1, 1), min(about[2, 1] + 1, nz - 1)):
        for j in range(max(about[1, 0] - 1, 1), min(about[1, 1] + 1, ny - 1)):
            for i in range(max(about[0, 0] - 1, 1), min(about[0, 1] + 1, nx - 1)):
                if diagonal[k, j, i] <= 0.0:
                    continue
                left, right = blocked[0, k, j, i], blocked[0, k, j, i + 1]
                near, far = blocked[1, k, j, i], blocked[1, k, j + 1, i]
                low, top = blocked[2, k, j, i], blocked[2, k + 1, j, i]
                if left + right + near + far + low + top <= 0.0:
                    continue
                x, y, z = i + 0.5 - origin[0], j + 0.5 - origin[1], k + 0.5 - origin[2]
                ex, ey, ez = right - left, far - near, top - low
                row = column[count]
                row[0] = y * ez - z * ey
                row[1] = z * ex - x * ez
                row[2] = x * ey - y * ex
                row[3], row[4], row[5] = ex, ey, ez
                cells[count, 0], cells[count, 1], cells[count, 2] = k, j, i
                count += 1
    return count


@unordered
def push_out(
    values: np.ndarray,
    corner: np.ndarray,
    spacing: float,
    R_wb: np.ndarray,
    origin: np.ndarray,
    cell: float,
    about: np.ndarray,
    place: np.ndarray,
    count: int,
    top: np.ndarray,
) -> int:
    """Move particles that are within the hull to its surface; returns how many were. top (3,): the box's upper ends."""
    moved = 0
    for q in range(count):
        gx, gy, gz = float(place[q, 0]), float(place[q, 1]), float(place[q, 2])
        if not (
            about[0, 0] <= gx < about[0, 1]
            and about[1, 0] <= gy < about[1, 1]
            and about[2, 0] <= gz < about[2, 1]
        ):
            continue
        x, y, z = gx - origin[0], gy - origin[1], gz - origin[2]
        bx, by, bz = _in_body(R_wb, cell, x, y, z)
        s = distance_at(values, corner, spacing, bx, by, bz)
        if s >= 0.0:
            continue
        e = 0.5 * spacing
        nx = distance_at(values, corner, spacing, bx + e, by, bz) - distance_at(
            values, corner, spacing, bx - e, by, bz
        )
        ny = distance_at(values, corner, spacing, bx, by + e, bz) - distance_at(
            values, corner, spacing, bx, by - e, bz
        )
        nz = distance_at(values, corner, spacing, bx, by, bz + e) - distance_at(
            values, corner, spacing, bx, by, bz - e
        )
        length = math.sqrt(nx * nx + ny * ny + nz * nz)
        if length < 1e-9:
            continue
        by_cells = -s / (length * cell)
        for a in range(3):
            moved_to = place[q, a] + by_cells * (R_wb[a, 0] * nx + R_wb[a, 1] * ny + R_wb[a, 2] * nz)
            place[q, a] = min(max(moved_to, 1.001), top[a])
        moved += 1
    return moved


@native
def outside(
    values: np.ndarray,
    corner: np.ndarray,
    spacing: float,
    R_wb: np.ndarray,
    origin: np.ndarray,
    cell: float,
    place: np.ndarray,
    keeps: np.ndarray,
) -> None:
    """Which places (n, 3) [cells] are not within the hull, keeps (n,) bool."""
    for q in range(len(place)):
        x, y, z = place[q, 0] - origin[0], place[q, 1] - origin[1], place[q, 2] - origin[2]
        bx, by, bz = _in_body(R_wb, cell, x, y, z)
        keeps[q] = distance_at(values, corner, spacing, bx, by, bz) > 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Floating:
    """A body as the water meets it: the distance to its hull, in its body frame."""

    distance: Distance

    @staticmethod
    def of(hull: HullMesh, cell_m: float) -> "Floating":
        return Floating(Distance.of(hull, 0.5 * cell_m))


@dataclass(slots=True, eq=False)
class FloatingBody:
    """Where a body is and how it moves, world axes; its inertia about its origin, body frame (omega, v)."""

    T_wb: np.ndarray
    twist_w: np.ndarray
    inertia_b: np.ndarray

    def falling(self, dt_s: float, cell_m: float) -> np.ndarray:
        """(6,) its twist after dt_s of weight alone [rad/s, cells/s]."""
        falling = self.twist_w.copy()
        falling[5] -= GRAVITY * dt_s
        falling[3:] /= cell_m
        return falling

    def response(self, cell_m: float) -> np.ndarray:
        """(6, 6) by which its twist [rad/s, cells/s] answers the sum of the pressures on its faces."""
        turned = np.kron(np.eye(2), self.T_wb[:3, :3])
        mobility = turned @ np.linalg.inv(self.inertia_b) @ turned.T
        to_cells = np.repeat([1.0, 1.0 / cell_m], 3)
        return np.asarray(WATER_DENSITY * cell_m**5 * to_cells[:, None] * mobility * to_cells)

    def go_on(self, push: np.ndarray, dt_s: float, cell_m: float) -> np.ndarray:
        """Move on by dt_s under the sum of the pressures and the weight; (6,) impulse of the first [N m s, N s]."""
        impulse = np.asarray(WATER_DENSITY * cell_m**4 * push * np.repeat([cell_m, 1.0], 3))
        R = self.T_wb[:3, :3]
        turned = np.kron(np.eye(2), R)
        self.twist_w += turned @ np.linalg.solve(self.inertia_b, turned.T @ impulse)
        self.twist_w[5] -= GRAVITY * dt_s
        self.T_wb[:3, 3] += dt_s * self.twist_w[3:]
        self.T_wb[:3, :3] = rotation_exp(dt_s * self.twist_w[:3]) @ R
        return impulse


class Obstruction:
    """The part of each face that is blocked, where things were met last."""

    def __init__(self, box: TankBox) -> None:
        self.blocked = np.zeros((3, *box.shape), np.float32)
        """Of each face, 0..1, as `cut_faces` has it."""
        self.free = np.ones_like(self.blocked)
        self.about = np.zeros((3, 2), np.int64)
        """Cells that the hull may reach, from and to."""

    def meet(self, box: TankBox, hull: tuple[Floating, FloatingBody] | None, paddle_at: float | None) -> None:
        """What blocks now. `paddle_at`: cells from where the box begins."""
        if hull is None and paddle_at is None:
            return
        self.blocked[:] = 0.0
        self.free[:] = 1.0
        if hull is not None:
            solid = _placed(box, *hull)
            reach(*solid, box.cell_m, box.shape, self.about)
            cut_faces(*solid, box.cell_m, self.about, self.blocked, self.free)
        if paddle_at is not None:
            block_off(paddle_at, self.blocked, self.free)

    def keep_out(
        self,
        box: TankBox,
        hull: tuple[Floating, FloatingBody] | None,
        paddle_at: float | None,
        place: np.ndarray,
    ) -> None:
        """Put particles (n, 3) that have got in back out."""
        if hull is not None:
            top = np.array(box.cells, np.float32) + np.float32(0.999)
            push_out(*_placed(box, *hull), box.cell_m, self.about, place, len(place), top)
        if paddle_at is not None:
            keep_before(paddle_at, place, len(place))

    def room(self) -> np.ndarray:
        """(nz, ny, nx) fraction of each cell that is left to the water."""
        free = self.free[:, 1:-1, 1:-1, 1:-1]
        upper = np.stack([np.roll(self.free[c], -1, 2 - c)[1:-1, 1:-1, 1:-1] for c in range(3)])
        fraction: np.ndarray = (free + upper).sum(axis=0) / 6.0
        return fraction


def outside_of(box: TankBox, floating: Floating, T_wb: np.ndarray, place: np.ndarray) -> np.ndarray:
    """(n,) whether each particle (n, 3) lies outside of a hull put in at T_wb (4, 4)."""
    solid, keeps = floating.distance, np.empty(len(place), bool)
    at = T_wb[:3, :3].copy(), box.inside(T_wb[:3, 3])
    outside(solid.values, solid.corner_b, solid.spacing_m, *at, box.cell_m, place, keeps)
    return keeps


def _placed(
    box: TankBox, floating: Floating, body: FloatingBody
) -> tuple[np.ndarray, np.ndarray, float, np.ndarray, np.ndarray]:
    """(distances, their corner, their spacing [m], rotation, origin [cells]) of the hull in the box."""
    solid = floating.distance
    return (
        solid.values,
        solid.corner_b,
        solid.spacing_m,
        body.T_wb[:3, :3].copy(),
        box.inside(body.T_wb[:3, 3]),
    )
