"""An open off-road car: origin on the ground under the rear axle, wheelbase 2.4 m, wheels of 0.32 m."""

from collections.abc import Mapping

import numpy as np

from assets.scripts.cut import split
from assets.scripts.figure import CLOTH_M, FINE_M, Pose, hand, head, top, trousers
from assets.scripts.gltf import Material, Node
from assets.scripts.loft import Loft, stations
from assets.scripts.mesh import PAINT_FAR, FloatArray, Mesh, both_sides, join
from assets.scripts.refine import refine
from assets.scripts.shapes import box, lathe, plate, solid, tube
from assets.scripts.wheel import rim, tyre

WHEELBASE = 2.4
TRACK = 1.50
WHEEL_RADIUS = 0.32
WHEEL_WIDTH = 0.26

DETAILS = {"model": 1.0, "far": 0.4}
CELL_M = 0.035

MATERIALS: Mapping[str, Material] = {
    "livery": Material(
        (0.66, 0.20, 0.012),
        roughness=0.26,
        finish="livery",
        second=(0.020, 0.021, 0.023),
        accent=(0.70, 0.69, 0.66),
    ),
    "lining": Material((0.03, 0.031, 0.033), roughness=0.85),
    "cage": Material((0.045, 0.047, 0.05), metallic=0.3, roughness=0.38),
    "seat": Material((0.022, 0.022, 0.024), roughness=0.7),
    "steel": Material((0.52, 0.53, 0.54), metallic=1.0, roughness=0.32),
    "dark": Material((0.05, 0.052, 0.055), metallic=0.4, roughness=0.5),
    "rubber": Material((0.020, 0.020, 0.021), roughness=0.85),
    "rim": Material((0.30, 0.305, 0.31), metallic=0.9, roughness=0.35),
    "lens": Material((0.80, 0.82, 0.82), roughness=0.06, emissive=(0.25, 0.25, 0.23)),
    "red_light": Material((0.5, 0.015, 0.01), roughness=0.2, emissive=(0.45, 0.012, 0.01)),
    "glass": Material((0.02, 0.03, 0.03), roughness=0.03, alpha=0.16, finish="glass"),
    "overall": Material((0.03, 0.05, 0.11), roughness=0.85),
    "skin": Material((0.42, 0.24, 0.16), roughness=0.6),
    "helmet": Material((0.64, 0.64, 0.62), roughness=0.25),
}

TUB = Loft(
    np.array(
        [
            # x, centre z, half width, above, below, exponent above, exponent below
            (3.050, 0.60, 0.020, 0.020, 0.020, 2.0, 2.0),
            (3.030, 0.60, 0.330, 0.090, 0.110, 2.6, 2.4),
            (2.930, 0.60, 0.440, 0.150, 0.180, 3.0, 2.8),
            (2.600, 0.60, 0.500, 0.215, 0.230, 3.4, 3.2),
            (2.050, 0.60, 0.545, 0.275, 0.260, 3.8, 3.6),
            (1.550, 0.60, 0.640, 0.330, 0.280, 4.2, 4.0),
            (1.300, 0.60, 0.690, 0.340, 0.285, 4.6, 4.4),
            (0.700, 0.60, 0.700, 0.300, 0.290, 5.0, 4.6),
            (0.250, 0.60, 0.680, 0.330, 0.280, 4.6, 4.4),
            (-0.150, 0.62, 0.560, 0.330, 0.260, 4.0, 3.8),
            (-0.500, 0.64, 0.490, 0.270, 0.220, 3.4, 3.2),
            (-0.620, 0.65, 0.380, 0.180, 0.150, 3.0, 2.8),
            (-0.650, 0.65, 0.020, 0.020, 0.020, 2.0, 2.0),
        ]
    )
)


def build(detail: float = 1.0) -> list[Node]:
    """body, driver, glass and the four wheels (pivots at their hubs)."""
    body = Node("body")
    skin = refine(_skin(detail, 0.0), _opening, within_m=0.02, passes=1)
    body.add("livery", split(skin.painted(_paint(skin.positions)), _opening(skin.positions))[1])
    lining = _skin(detail * 0.7, 0.03)
    body.add("lining", split(lining, _opening(lining.positions) + 0.004)[1].flipped())
    body.add("livery", *(_plain(mesh) for mesh in _fenders(detail)))
    body.add("cage", *_cage(detail))
    body.add("seat", *(_seat().moved((0.46, y, 0.36)) for y in (0.34, -0.34)))
    body.add("dark", *_underneath(), *_dashboard())
    body.add("steel", *_engine(detail))
    body.add("lens", *_lamps([(0.0, -0.01), (0.082, 0.0), (0.055, 0.025), (0.0, 0.035)], detail))
    body.add(
        "dark", *_lamps([(0.0, -0.09), (0.06, -0.08), (0.097, -0.01), (0.097, 0.012), (0.0, -0.012)], detail)
    )
    body.add("red_light", both_sides(box((0.03, 0.12, 0.06), bevel=0.01).moved((-0.635, 0.30, 0.70))))
    glass = Node("glass", occludes=False)
    pane = plate([(0.0, -0.50), (0.42, -0.45), (0.42, 0.45), (0.0, 0.50)], 0.008)
    lean = np.array([[-0.42, 0, 0.9075], [0, 1, 0], [0.9075, 0, 0.42]]).T
    glass.add("glass", pane.transformed(_orthonormal(lean)).moved((1.38, 0, 0.95)))
    return [body, _driver(0.7 * detail), *_wheels(detail), glass]


def _orthonormal(matrix: FloatArray) -> FloatArray:
    """Nearest rotation."""
    u, _, vt = np.linalg.svd(matrix)
    return u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt


def _skin(detail: float, inset_m: float) -> Mesh:
    x = stations(
        [3.05, 2.9, 1.6, 0.1, -0.5, -0.65],
        [0.03 / detail, 0.14 / detail, 0.07 / detail, 0.1 / detail, 0.04 / detail],
    )
    count = max(2 * round(26 * detail), 16)
    return TUB.skin(TUB.parameter_at(x), count, inset_m=inset_m, crease_deg=50.0)


def _opening(p: FloatArray) -> FloatArray:
    """Negative where the cabin is open: above a line that dips at the doors."""
    x = p[:, 0]
    sill = 0.60 + 0.26 * np.clip(np.abs(x - 0.75) / 0.62, 0, 1) ** 4
    return np.maximum.reduce([sill - p[:, 2], x - 1.36, 0.14 - x])


def _paint(p: FloatArray) -> FloatArray:
    """Dark below the sills, two stripes along the bonnet, a shut line across it."""
    across = np.abs(p[:, 1])
    stripe = np.where(p[:, 2] > 0.62, (across - 0.17) * 0.6, PAINT_FAR)
    shut = np.where(p[:, 2] > 0.6, np.abs(p[:, 0] - 1.52), PAINT_FAR)
    return np.column_stack([np.full(len(p), PAINT_FAR), shut, p[:, 2] - 0.46, stripe])


def _plain(mesh: Mesh) -> Mesh:
    far = np.full(len(mesh.positions), PAINT_FAR)
    return mesh.painted(np.column_stack([far, far, far, far]))


def _fenders(detail: float) -> list[Mesh]:
    parts = []
    for x, start, stop in ((WHEELBASE, 25.0, 158.0), (0.0, 20.0, 150.0)):
        angle = np.radians(np.linspace(start, stop, max(int(18 * detail), 7)))
        rings = []
        for a in angle:
            way = np.array([np.cos(a), 0.0, np.sin(a)])
            centre = np.array([x, 0.0, WHEEL_RADIUS])
            inner, outer = 0.56, 0.92
            edge = [
                (0.425, inner),
                (0.445, inner),
                (0.455, 0.5 * (inner + outer)),
                (0.445, outer),
                (0.410, outer + 0.012),
                (0.400, outer),
                (0.430, 0.5 * (inner + outer)),
            ]
            rings.append([centre + r * way + np.array([0, y, 0.02]) for r, y in edge])
        parts.append(both_sides(solid(np.array(rings), crease_deg=40.0)))
    return parts


def _cage(detail: float) -> list[Mesh]:
    sides = max(int(10 * detail), 6)
    hoop = [
        (1.40, 0.60, 0.86),
        (1.24, 0.56, 1.28),
        (1.10, 0.50, 1.50),
        (0.30, 0.50, 1.54),
        (0.10, 0.54, 1.44),
        (-0.45, 0.42, 0.86),
    ]
    rear = [(0.22, 0.66, 0.84), (0.20, 0.60, 1.30), (0.22, 0.50, 1.52), (0.22, 0.0, 1.55)]
    cross = [
        [(1.10, -0.50, 1.50), (1.10, 0.50, 1.50)],
        [(1.24, -0.56, 1.26), (1.24, 0.56, 1.26)],
        [(0.22, -0.6, 1.28), (0.22, 0.6, 1.28)],
    ]
    brace = [(0.26, 0.50, 1.53), (1.08, 0.0, 1.50)]
    bumper = [(3.02, 0.42, 0.46), (3.14, 0.36, 0.50), (3.17, 0.0, 0.50)]
    guard = [(3.08, 0.24, 0.42), (3.17, 0.24, 0.56), (3.06, 0.22, 0.74)]
    parts = [both_sides(tube(path, 0.027, sides=sides)) for path in (hoop, rear, brace, bumper, guard)]
    return [*parts, *(tube(path, 0.025, sides=sides) for path in cross)]


def _seat() -> Mesh:
    tilt = np.array([[0.97, 0, -0.24], [0, 1, 0], [0.24, 0, 0.97]])
    back = (
        box((0.12, 0.44, 0.66), bevel=0.045, taper=(0.8, 0.7))
        .transformed(_orthonormal(tilt))
        .moved((-0.24, 0, 0.44))
    )
    return join([box((0.50, 0.46, 0.16), bevel=0.05).moved((0.02, 0, 0.10)), back])


def _underneath() -> list[Mesh]:
    """Floor pan, axles, suspension arms, shock absorbers."""
    parts = [box((2.9, 0.9, 0.08), bevel=0.03).moved((1.2, 0, 0.34))]
    for x in (0.0, WHEELBASE):
        parts.append(tube([(x, -0.62, WHEEL_RADIUS), (x, 0.62, WHEEL_RADIUS)], 0.035, sides=8))
        for dx in (-0.16, 0.16):
            parts.append(both_sides(tube([(x + dx, 0.36, 0.42), (x, 0.64, 0.34)], 0.022, sides=6)))
        parts.append(
            both_sides(tube([(x + 0.1, 0.60, 0.40), (x + 0.04, 0.46, 0.78)], [0.045, 0.035], sides=10))
        )
    return parts


def _dashboard() -> list[Mesh]:
    board = box((0.16, 1.10, 0.20), bevel=0.04).moved((1.33, 0, 0.82))
    angle = np.linspace(0, 2 * np.pi, 25)
    lean = np.array([0.42, 0.0, 0.907])
    ring = np.column_stack(
        [-0.17 * np.sin(angle) * lean[2], 0.17 * np.cos(angle), 0.17 * np.sin(angle) * lean[2]]
    )
    ring[:, 0] = 0.17 * np.sin(angle) * 0.42
    wheel = tube(ring + np.array([1.08, 0.34, 0.92]), 0.017, sides=6)
    column = tube([(1.08, 0.34, 0.92), (1.34, 0.34, 0.80)], 0.02, sides=6)
    spoke = tube([(1.08, 0.19, 0.92), (1.08, 0.49, 0.92)], 0.013, sides=5)
    return [board, wheel, column, spoke]


def _engine(detail: float) -> list[Mesh]:
    sides = max(int(14 * detail), 8)
    pipe = [(-0.30, 0.30, 0.98), (-0.52, 0.34, 0.96), (-0.74, 0.36, 1.02)]
    block = box((0.36, 0.46, 0.20), bevel=0.03).moved((-0.20, 0, 0.98))
    fins = [box((0.32, 0.50, 0.012)).moved((-0.20, 0, 0.94 + 0.035 * k)) for k in range(5)]
    return [block, *fins, both_sides(tube(pipe, [0.035, 0.045, 0.05], sides=sides))]


def _lamps(profile: list[tuple[float, float]], detail: float) -> list[Mesh]:
    """Two headlamps and a bar of four, all of one (radius, x) profile."""
    lamp = lathe(profile, sides=max(int(18 * detail), 8), axis="x")
    bar = [lamp.transformed(0.8 * np.eye(3)).moved((1.14, y, 1.57)) for y in (-0.33, -0.11, 0.11, 0.33)]
    return [both_sides(lamp.moved((3.04, 0.30, 0.66))), *bar]


def _driver(detail: float) -> Node:
    """Sits left; hands on the wheel."""
    node = Node("driver")
    base, left = np.array([0.48, 0.34, 0.60]), np.array([1.0, -1.0, 1.0])

    def pair(x: float, y: float, z: float) -> tuple[FloatArray, FloatArray]:
        at = np.array([x, y, z])
        return base + at, base + left * at

    pose = Pose(
        hips=pair(0.0, 0.09, 0.0),
        chest=base + np.array([-0.06, 0.0, 0.30]),
        neck=base + np.array([-0.05, 0.0, 0.52]),
        shoulders=pair(-0.05, 0.19, 0.46),
        elbows=pair(0.16, 0.25, 0.27),
        wrists=pair(0.46, 0.155, 0.30),
        knees=pair(0.42, 0.15, 0.13),
        ankles=pair(0.80, 0.12, -0.10),
    )
    fine_m, cloth_m = FINE_M / detail, CLOTH_M / detail
    node.add("overall", top(pose, cloth_m, hem_m=-0.02), trousers(pose, cloth_m))
    for side, wrist in zip((1.0, -1.0), pose.wrists, strict=True):
        node.add("seat", hand(wrist, (1.0, 0.0, 0.1), (0.1, -0.7 * side, 0.7), curl=0.9, cell_m=fine_m))
    face = head(base + np.array([-0.01, 0.0, 0.685]), pose.neck, cell_m=fine_m)
    node.add("skin", face.skin)
    node.add("helmet", face.helmet)
    node.add("rubber", face.dark, face.goggles)
    return node


def _wheels(detail: float) -> list[Node]:
    nodes = []
    sides = max(int(36 * detail), 14)
    rubber = tyre(WHEEL_RADIUS, WHEEL_WIDTH, sides=sides, treads=26 if detail > 0.6 else 0)
    metal = rim(WHEEL_RADIUS, WHEEL_WIDTH, sides=max(int(28 * detail), 12))
    for name, x, sign in (
        ("rear_left", 0.0, 1),
        ("rear_right", 0.0, -1),
        ("front_left", WHEELBASE, 1),
        ("front_right", WHEELBASE, -1),
    ):
        pivot = (x, sign * TRACK / 2, WHEEL_RADIUS)
        node = Node(f"wheel_{name}", pivot, occludes=False)
        turn = np.diag([float(sign), float(sign), 1.0])
        node.add("rubber", rubber.moved(pivot))
        node.add("rim", metal.transformed(turn).moved(pivot))
        nodes.append(node)
    return nodes
