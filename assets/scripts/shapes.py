"""Solid primitives: grids, tubes, lathes, bevelled boxes, foils, polygons."""

from collections.abc import Sequence

import numpy as np

from assets.scripts.mesh import FloatArray, Mesh, from_triangles


def grid(points: FloatArray, *, closed: bool = True, crease_deg: float = 35.0) -> Mesh:
    """Surface over (rows, columns, 3) points; `closed` joins the last column to the first."""
    rows, columns = points.shape[:2]
    index = np.arange(rows * columns).reshape(rows, columns)
    right = np.roll(index, -1, axis=1) if closed else index[:, 1:]
    left = index if closed else index[:, :-1]
    a, b, c, d = (quad.reshape(-1) for quad in (left[:-1], right[:-1], right[1:], left[1:]))
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    return from_triangles(points.reshape(-1, 3), triangles, crease_deg=crease_deg)


def solid(points: FloatArray, *, crease_deg: float = 35.0) -> Mesh:
    """Closed body over (rings, sides, 3) points: end rings capped by fans, faces turned outwards."""
    middle = points.mean(axis=1, keepdims=True)
    ends = [np.broadcast_to(middle[k], points[:1].shape) for k in (0, -1)]
    return outward(grid(np.concatenate([ends[0], points, ends[1]]), crease_deg=crease_deg))


def outward(mesh: Mesh) -> Mesh:
    """Turned so that the enclosed volume is positive."""
    corners = mesh.positions[mesh.triangles] - mesh.positions.mean(axis=0)
    volume = np.einsum("tc,tc->", corners[:, 0], np.cross(corners[:, 1], corners[:, 2]))
    return mesh if volume > 0 else mesh.flipped()


def tube(
    path: FloatArray | Sequence[Sequence[float]],
    radius: float | Sequence[float],
    *,
    sides: int = 10,
    flatten: float = 1.0,
    up: Sequence[float] = (0.0, 0.0, 1.0),
) -> Mesh:
    """Round bar along a path; `flatten` scales its thickness along `up`."""
    path = np.asarray(path, float)
    radii = np.broadcast_to(np.asarray(radius, float), (len(path),))
    tangent = np.gradient(path, axis=0)
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    side, above = _carried_frame(tangent) if flatten == 1.0 else _level_frame(tangent, np.asarray(up, float))
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    ring = (
        np.cos(angle)[None, :, None] * side[:, None] + flatten * np.sin(angle)[None, :, None] * above[:, None]
    )
    return solid(path[:, None] + radii[:, None, None] * ring, crease_deg=50.0)


def _level_frame(tangent: FloatArray, up: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Side and upward directions (n, 3) along a path, the latter as near to `up` as may be."""
    if np.abs(tangent @ up).max() > 0.95:
        up = np.array([1.0, 0.0, 0.0]) if abs(tangent[0, 0]) < 0.7 else np.array([0.0, 1.0, 0.0])
    side = np.cross(tangent, up)
    side /= np.linalg.norm(side, axis=1, keepdims=True)
    return side, np.cross(side, tangent)


def _carried_frame(tangent: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Two directions across a path (n, 3) that turn with it without twisting."""
    start = np.eye(3)[int(np.argmin(np.abs(tangent[0])))]
    sides = [np.cross(tangent[0], start)]
    for along in tangent[1:]:
        sides.append(sides[-1] - along * (sides[-1] @ along))
    side = np.array([way / np.linalg.norm(way) for way in sides])
    return side, np.cross(side, tangent)


def lathe(
    profile: Sequence[Sequence[float]], *, sides: int = 24, axis: str = "z", crease_deg: float = 40.0
) -> Mesh:
    """Solid of revolution of (radius, height) points about a coordinate axis."""
    return solid(_revolved(profile, sides, axis), crease_deg=crease_deg)


def hoop(
    profile: Sequence[Sequence[float]], *, sides: int = 24, axis: str = "z", crease_deg: float = 40.0
) -> Mesh:
    """Ring of revolution, open in the middle: the (radius, height) points go round its cross-section."""
    points = _revolved([*profile, profile[0]], sides, axis)
    return outward(grid(points, crease_deg=crease_deg))


def _revolved(profile: Sequence[Sequence[float]], sides: int, axis: str) -> FloatArray:
    radius, height = np.asarray(profile, float).T
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    points = np.stack(
        [
            radius[:, None] * np.cos(angle),
            radius[:, None] * np.sin(angle),
            np.broadcast_to(height[:, None], (len(radius), sides)),
        ],
        axis=2,
    )
    return points[:, :, {"z": [0, 1, 2], "x": [2, 0, 1], "y": [1, 2, 0]}[axis]]


def box(size: Sequence[float], *, bevel: float = 0.0, taper: Sequence[float] = (1.0, 1.0)) -> Mesh:
    """Box about the origin, edges rounded by one flat bevel; `taper` scales the top face in x and y."""
    half = np.asarray(size, float) / 2
    bevel = min(bevel, 0.49 * float(half.min() * 2))
    rings = []
    levels = [(-half[2], bevel), (-half[2] + bevel, 0.0), (half[2] - bevel, 0.0), (half[2], bevel)]
    for z, inset in levels if bevel > 0 else [levels[0], levels[3]]:
        share = (z + half[2]) / (2 * half[2])
        x = half[0] * (1 + share * (taper[0] - 1)) - inset
        y = half[1] * (1 + share * (taper[1] - 1)) - inset
        b = bevel * 0.999
        corners = [
            (x, y - b),
            (x - b, y),
            (-x + b, y),
            (-x, y - b),
            (-x, -y + b),
            (-x + b, -y),
            (x - b, -y),
            (x, -y + b),
        ]
        if bevel <= 0:
            corners = [(x, y), (-x, y), (-x, -y), (x, -y)]
        rings.append([(cx, cy, z) for cx, cy in corners])
    return solid(np.array(rings), crease_deg=28.0)


def foil(
    root: Sequence[float],
    tip: Sequence[float],
    chords: Sequence[float],
    *,
    thickness: float = 0.12,
    twist_rad: Sequence[float] = (0.0, 0.0),
    sides: int = 18,
    stations: int = 6,
    lift_dir: Sequence[float] | None = None,
) -> Mesh:
    """Wing from root to tip (quarter-chord line), chord along x, leading edge at +x, NACA-like section."""
    root, tip = np.asarray(root, float), np.asarray(tip, float)
    span = (tip - root) / np.linalg.norm(tip - root)
    chordwise = np.array([1.0, 0.0, 0.0])
    normal = np.cross(chordwise, span) if lift_dir is None else np.asarray(lift_dir, float)
    normal /= np.linalg.norm(normal)
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    along = 0.5 - 0.5 * np.cos(angle)
    half = (
        5
        * thickness
        * (
            0.2969 * np.sqrt(along)
            - 0.126 * along
            - 0.3516 * along**2
            + 0.2843 * along**3
            - 0.1036 * along**4
        )
    )
    height = np.where(angle <= np.pi, half, -half)
    rings = []
    for share, scale in _foil_stations(stations):
        chord = (chords[0] + (chords[1] - chords[0]) * share) * scale
        turn = twist_rad[0] + (twist_rad[1] - twist_rad[0]) * share
        x, z = (0.25 - along) * chord, height * chord * (1.0 if scale == 1.0 else 0.4)
        x, z = x * np.cos(turn) - z * np.sin(turn), x * np.sin(turn) + z * np.cos(turn)
        rings.append(root + (tip - root) * share + x[:, None] * chordwise + z[:, None] * normal)
    return solid(np.array(rings), crease_deg=55.0)


def _foil_stations(count: int) -> list[tuple[float, float]]:
    """(share of the span, chord scale): even, with a rounded tip."""
    return [*((share, 1.0) for share in np.linspace(0, 0.985, count)), (0.995, 0.96), (1.0, 0.88)]


def plate(outline: Sequence[Sequence[float]], thickness: float, *, bevel: float = 0.0) -> Mesh:
    """Convex polygon in the x-y plane, extruded about z = 0, with a bevelled rim."""
    outline = np.asarray(outline, float)
    middle = outline.mean(axis=0)
    reach = np.linalg.norm(outline - middle, axis=1, keepdims=True)
    inner = middle + (outline - middle) * (1 - bevel / reach)
    half = thickness / 2
    levels = [(inner, -half), (outline, -half + bevel), (outline, half - bevel), (inner, half)]
    rings = np.array([np.column_stack([ring, np.full(len(ring), z)]) for ring, z in levels])
    return solid(rings, crease_deg=28.0)
