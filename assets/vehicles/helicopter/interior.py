"""What is seen through the glass and from the pilot's seat."""

import numpy as np

from assets.scripts.cut import split
from assets.scripts.gltf import Node
from assets.scripts.mesh import FloatArray, Mesh, from_triangles, join
from assets.scripts.shapes import box, grid, lathe, plate, solid, tube
from assets.vehicles.helicopter.outline import CABIN_X, FUSELAGE, LINING_M, lining, lining_edge, on_roof

FLOOR_Z = -0.62
SEAT_Y = 0.40
PANEL_X = 1.66


def build(detail: float) -> Node:
    """Lining, floor, bulkhead, seats, instrument panel and controls."""
    node = Node("interior")
    walls = lining(detail if detail > 0.6 else 0.8 * detail)
    node.add("lining", split(walls, lining_edge(walls.positions))[1], _pillar(detail))
    node.add("floor", _floor(detail), _bulkhead())
    if detail < 0.6:
        node.add("panel", box((0.16, 1.02, 0.34)).moved((1.72, 0, -0.06)))
        for x, y, width in [(0.32, SEAT_Y, 0.46), (0.32, -SEAT_Y, 0.46), (-0.80, 0.0, 1.4)]:
            node.add("seat", box((0.14, width, 0.95)).moved((x, y, FLOOR_Z + 0.55)))
        return node
    for x, y in [(0.60, SEAT_Y), (0.60, -SEAT_Y)]:
        node.add("seat", _seat(0.48).moved((x, y, FLOOR_Z)))
    node.add("seat", _seat(1.46).moved((-0.52, 0.0, FLOOR_Z)))
    node.add("panel", *_panel())
    node.add("dial", *_dials())
    node.add("screen", *_screens())
    node.add("black", *_controls())
    node.add("belt", *(_belts().moved((0.60, y, FLOOR_Z)) for y in (SEAT_Y, -SEAT_Y)))
    return node


def build_pilot(detail: float) -> Node:
    """A seated pilot in the right seat; hidden when the camera sits there."""
    node = Node("pilot")
    base = np.array([0.60, -SEAT_Y, FLOOR_Z + 0.37])
    sides = max(int(14 * detail), 4)
    trunk = tube(
        [(-0.08, 0, 0.02), (-0.12, 0, 0.20), (-0.14, 0, 0.42), (-0.12, 0, 0.52)],
        [0.15, 0.16, 0.185, 0.09],
        sides=sides,
    )
    legs = [
        tube([(0, y, 0.06), (0.44, y * 1.2, 0.10), (0.64, y * 1.2, -0.30)], [0.085, 0.07, 0.05], sides=sides)
        for y in (-0.1, 0.1)
    ]
    arms = [
        tube(
            [(-0.12, -0.20, 0.44), (0.05, -0.25, 0.20), (0.34, -0.06, 0.14)], [0.06, 0.05, 0.04], sides=sides
        ),
        tube([(-0.12, 0.20, 0.44), (-0.02, 0.27, 0.20), (0.22, 0.26, 0.02)], [0.06, 0.05, 0.04], sides=sides),
    ]
    node.add("overall", *(mesh.moved(base) for mesh in (trunk, *legs, *arms)))
    node.add(
        "skin",
        lathe([(0.0, -0.1), (0.06, -0.08), (0.075, 0.0), (0.05, 0.09)], sides=sides).moved(
            base + np.array([-0.07, 0, 0.60])
        ),
    )
    shell = lathe([(0.10, -0.07), (0.125, 0.0), (0.118, 0.07), (0.08, 0.125), (0.0, 0.145)], sides=sides)
    node.add("helmet", shell.moved(base + np.array([-0.11, 0, 0.62])))
    if detail > 0.6:
        visor = tube([(-0.02, -0.09, 0.64), (0.025, 0, 0.645), (-0.02, 0.09, 0.64)], 0.035, sides=8)
        node.add("black", visor.moved(base))
    return node


def _floor(detail: float) -> Mesh:
    x = np.linspace(2.30, CABIN_X[0], max(int(16 * detail), 5))
    width = _half_width_at(x, FLOOR_Z)
    rows = np.stack(
        [np.column_stack([x, side * width, np.full(len(x), FLOOR_Z)]) for side in (-1, 1)], axis=1
    )
    mesh = grid(rows, closed=False)
    return mesh if mesh.normals[0, 2] > 0 else mesh.flipped()


def _pillar(detail: float) -> Mesh:
    """Bar down the middle of the windscreen."""
    x = np.linspace(1.36, 2.58, max(int(9 * detail), 4))
    path = np.array([on_roof(at, 0.0) - [0.0, 0.0, 0.022] for at in x])
    return tube(path, 0.032, sides=max(int(8 * detail), 4), flatten=0.6)


def _half_width_at(x: FloatArray, z: float) -> FloatArray:
    rings = FUSELAGE.rings(FUSELAGE.parameter_at(x), 240, inset_m=LINING_M)
    lower = rings[:, 180:]  # from the keel up to the left side
    return np.array([np.interp(z, ring[:, 2], ring[:, 1], left=0.0) for ring in lower])


def _bulkhead() -> Mesh:
    ring = FUSELAGE.rings(FUSELAGE.parameter_at(np.array([CABIN_X[0]])), 48, inset_m=LINING_M)[0]
    points = np.vstack([ring, ring.mean(axis=0)])
    triangles = np.array([[k, (k + 1) % 48, 48] for k in range(48)])
    mesh = from_triangles(points, triangles)
    return mesh if mesh.normals[0, 0] > 0 else mesh.flipped()


def _seat(width: float) -> Mesh:
    """Cushion, reclined back and head rests, standing on z = 0 about x = 0."""
    tilt = np.radians(-11.0)
    turn = np.array([[np.cos(tilt), 0, np.sin(tilt)], [0, 1, 0], [-np.sin(tilt), 0, np.cos(tilt)]])
    parts = [
        box((0.50, width * 0.86, 0.24), bevel=0.03).moved((-0.02, 0, 0.12)),
        box((0.52, width, 0.13), bevel=0.045).moved((0.0, 0, 0.30)),
        box((0.11, width * 0.97, 0.62), bevel=0.04, taper=(0.8, 0.86))
        .transformed(turn)
        .moved((-0.29, 0, 0.64)),
    ]
    for y in [0.0] if width < 1 else [-0.48, 0.0, 0.48]:
        parts.append(box((0.09, 0.25, 0.19), bevel=0.035).transformed(turn).moved((-0.37, y, 1.06)))
    return join(parts)


def _belts() -> Mesh:
    strap = [(-0.27, 0.95), (-0.21, 0.80), (-0.175, 0.55), (-0.16, 0.40)]
    return join(
        [
            tube([(x, s * (0.07 + 0.05 * (z - 0.4)), z) for x, z in strap], 0.022, sides=4, flatten=0.3)
            for s in (-1, 1)
        ]
    )


def _panel() -> list[Mesh]:
    """Binnacle with a hood, and the pedestal that runs back between the seats."""
    face = [(PANEL_X, -0.30), (PANEL_X + 0.05, 0.11), (PANEL_X + 0.24, 0.08), (PANEL_X + 0.34, -0.34)]
    half = 0.53
    rings = np.array(
        [
            [(x, y, z - (0.12 * (y / half) ** 4 + 0.03) * (z > 0)) for x, z in face]
            for y in np.linspace(-half, half, 9)
        ]
    )
    hood_x = np.linspace(0, 1, 7)
    hood = [
        [(PANEL_X - 0.06 + 0.36 * s, y, 0.135 - 0.10 * s**2 - 0.12 * (y / half) ** 4) for s in hood_x]
        for y in np.linspace(-half - 0.03, half + 0.03, 17)
    ]
    upper = np.array(hood)
    shell = np.concatenate([upper, upper[:, ::-1] - [0, 0, 0.022]], axis=1)
    pedestal = box((0.86, 0.24, 0.34), bevel=0.03).moved((1.28, 0, FLOOR_Z + 0.17))
    slope = box((0.30, 0.24, 0.30), bevel=0.03).moved((1.62, 0, -0.32))
    return [solid(rings, crease_deg=25.0), solid(shell, crease_deg=30.0), pedestal, slope]


def _on_panel(y: float, z: float, lift_m: float = 0.004) -> tuple[FloatArray, FloatArray]:
    """(3, 3) axes and (3,) place of an instrument facing the pilots at (y, z)."""
    slope = np.arctan2(0.05, 0.41)
    normal = np.array([-np.cos(slope), 0, np.sin(slope)])
    right = np.array([0.0, -1.0, 0.0])
    up = np.cross(normal, right)
    place = np.array([PANEL_X + (z + 0.30) * 0.05 / 0.41, y, z]) + lift_m * normal
    return np.column_stack([right, up, normal]), place


def _dials() -> list[Mesh]:
    """Round instruments; `paint` = face coordinates in the unit disc and the kind of dial."""
    dials = []
    angle = np.linspace(0, 2 * np.pi, 28, endpoint=False)
    disc = np.vstack([np.column_stack([np.cos(angle), np.sin(angle)]), [[0, 0]]])
    triangles = np.array([[k, (k + 1) % 28, 28] for k in range(28)])
    places = [
        (0.02, 0.035),
        (0.02, -0.075),
        (0.02, -0.185),
        (-0.455, 0.0),
        (-0.455, -0.11),
        (0.13, 0.035),
        (0.13, -0.075),
        (0.13, -0.185),
    ]
    for kind, (y, z) in enumerate(places):
        axes, place = _on_panel(y, z)
        mesh = from_triangles(place + 0.045 * disc @ axes[:, :2].T, triangles)
        mesh = mesh if mesh.normals[0] @ axes[:, 2] > 0 else mesh.flipped()
        face = (mesh.positions - place) @ axes[:, :2] / 0.045
        dials.append(mesh.painted(np.column_stack([face, np.full((len(face), 2), float(kind))])))
    return dials


def _screens() -> list[Mesh]:
    """Displays: attitude before the pilot, map before the co-pilot; `paint` as for dials, kinds 20, 21."""
    screens = []
    for kind, y in ((20.0, -0.25), (21.0, 0.33)):
        axes, place = _on_panel(y, -0.075)
        corners = np.array([(-1.0, -0.8), (1.0, -0.8), (1.0, 0.8), (-1.0, 0.8)])
        mesh = from_triangles(place + 0.135 * corners @ axes[:, :2].T, np.array([[0, 1, 2], [0, 2, 3]]))
        mesh = mesh if mesh.normals[0] @ axes[:, 2] > 0 else mesh.flipped()
        face = (mesh.positions - place) @ axes[:, :2] / 0.135
        screens.append(mesh.painted(np.column_stack([face, np.full((len(face), 2), kind)])))
    return screens


def _controls() -> list[Mesh]:
    """Cyclic sticks, collectives, pedals, centre pillar, compass, bezels."""
    parts = []
    for y in (SEAT_Y, -SEAT_Y):
        stick = [(1.10, y, FLOOR_Z), (1.13, y, -0.42), (1.02, y, -0.16), (1.00, y, -0.02)]
        parts.append(tube(stick, [0.014, 0.014, 0.014, 0.022], sides=8))
        parts.append(
            tube([(0.42, y + 0.27, FLOOR_Z + 0.1), (0.86, y + 0.27, FLOOR_Z + 0.32)], [0.016, 0.024], sides=8)
        )
        for side in (-0.13, 0.13):
            parts.append(box((0.03, 0.11, 0.16), bevel=0.008).moved((1.62, y + side, FLOOR_Z + 0.14)))
    parts.append(box((0.10, 0.09, 0.07), bevel=0.02).moved((1.72, 0, 0.15)))
    for y in (-0.25, 0.33):
        axes, place = _on_panel(y, -0.075, 0.001)
        frame = plate(
            [(-0.155, -0.128), (0.155, -0.128), (0.155, 0.128), (-0.155, 0.128)], 0.004, bevel=0.001
        )
        parts.append(frame.transformed(axes).moved(place))
    return parts
