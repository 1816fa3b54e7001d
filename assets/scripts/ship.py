"""A patrol ship with a landing deck aft: origin in the water below the middle of the deck; 49 m long, 12 m wide.

All of it lies within three boxes: the deck, x -10.5 to 10, top 3 m; the house, 11 to 25, 10 m wide, top 9 m; the bow.
"""

from collections.abc import Mapping

import numpy as np

from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import PAINT_FAR, FloatArray, Mesh, both_sides, from_triangles
from assets.scripts.shapes import box, hoop, lathe, plate, solid, tube

CELL_M = 0.25
REACH_M = 5.0

DECK_M = 3.0
"""Height of the landing deck above the water."""
_MAIN_M = 1.9
"""Height of the weather deck beside the house and on the bow."""
_MARK_M = 0.015

MATERIALS: Mapping[str, Material] = {
    "hull": Material(
        (0.060, 0.105, 0.155),
        roughness=0.32,
        finish="livery",
        second=(0.18, 0.022, 0.014),
        accent=(0.72, 0.71, 0.68),
    ),
    "house": Material((0.68, 0.675, 0.65), roughness=0.34),
    "deck": Material((0.085, 0.115, 0.100), roughness=0.92),
    "landing": Material((0.062, 0.072, 0.075), roughness=0.95),
    "white": Material((0.74, 0.73, 0.70), roughness=0.7),
    "yellow": Material((0.72, 0.42, 0.02), roughness=0.7),
    "steel": Material((0.58, 0.59, 0.60), metallic=0.6, roughness=0.4),
    "dark": Material((0.035, 0.037, 0.040), roughness=0.55),
    "pane": Material((0.012, 0.018, 0.022), roughness=0.04),
    "orange": Material((0.80, 0.17, 0.012), roughness=0.5),
    "rubber": Material((0.018, 0.018, 0.019), roughness=0.8),
    "lens": Material((0.80, 0.82, 0.80), roughness=0.06, emissive=(0.8, 0.8, 0.7)),
    "red_light": Material((0.5, 0.015, 0.01), roughness=0.2, emissive=(1.4, 0.03, 0.02)),
    "green_light": Material((0.02, 0.40, 0.06), roughness=0.2, emissive=(0.04, 1.4, 0.2)),
}

LINES = np.array(
    [
        # x, half beam at the deck's edge, its height, half beam at the water, keel
        (38.0, 0.05, 2.98, 0.02, 0.6),
        (37.2, 0.80, 2.94, 0.10, -0.6),
        (36.0, 1.65, 2.86, 0.50, -1.5),
        (33.5, 2.90, 2.70, 1.40, -2.2),
        (30.0, 3.75, 2.50, 2.50, -2.6),
        (25.0, 4.70, 2.30, 3.80, -2.8),
        (18.0, 5.00, 2.16, 4.55, -2.9),
        (10.0, 5.00, 2.10, 4.70, -2.8),
        (0.0, 4.95, 2.10, 4.60, -2.3),
        (-6.0, 4.80, 2.10, 4.35, -1.6),
        (-10.4, 4.55, 2.10, 4.10, -0.9),
    ]
)


def build(detail: float = 1.0) -> list[Node]:
    """One node: hull, landing deck with its marks and nets, house with bridge, mast and funnel, gear, rails."""
    body, fine = Node("body"), detail > 0.6
    hull = _hull(max(int(60 * detail), 20))
    body.add("hull", hull.painted(_paint(hull.positions)))
    body.add("deck", _weather_deck())
    body.add("rubber", both_sides(_along_the_side(-0.28, 0.10, 26)))
    _landing(body, fine=fine)
    _house(body)
    _above(body, fine=fine)
    _gear(body, fine=fine)
    if fine:
        body.add("steel", *_rails())
    return [body]


def _lines(x: FloatArray) -> FloatArray:
    """(4, n) half beam and height of the deck's edge, half beam at the water, keel."""
    table = LINES[::-1]
    return np.array([np.interp(x, table[:, 0], table[:, k]) for k in range(1, 5)])


def _hull(count: int) -> Mesh:
    """Round bilge below the water, flared above it forward; a bulwark about the weather deck."""
    x = np.concatenate(
        [np.linspace(-10.4, 25.0, count // 2, endpoint=False), np.linspace(25.0, 38.0, count // 2)]
    )
    rail, rail_z, water, keel = _lines(x)
    inner, floor_z = np.maximum(rail - 0.16, 0.02), np.minimum(_MAIN_M, rail_z - 0.05)
    half = [(0.0 * x, keel), (0.62 * water, 0.92 * keel), (0.90 * water, 0.55 * keel), (water, 0.0 * x)]
    half += [
        (water + 0.35 * (rail - water), 0.45 * rail_z),
        (rail, rail_z),
        (inner, rail_z),
        (inner, floor_z),
    ]
    ring = [*half, (0.0 * x, floor_z), *((-y, z) for y, z in half[:0:-1])]
    return solid(np.stack([np.stack([x, y, z], axis=-1) for y, z in ring], axis=1), crease_deg=32.0)


def _paint(p: FloatArray) -> FloatArray:
    """Red below the water and a little above it, and a stripe below the deck's edge."""
    far, rail_z = np.full(len(p), PAINT_FAR), _lines(p[:, 0])[1]
    return np.column_stack([far, far, p[:, 2] - 0.10, 0.3 * (p[:, 2] - rail_z + 0.55)])


def _weather_deck() -> Mesh:
    x = np.linspace(-10.2, 37.0, 40)
    half = np.maximum(_lines(x)[0] - 0.17, 0.02)
    outline = np.concatenate([np.column_stack([x, -half]), np.column_stack([x, half])[::-1]])
    return _flat(outline, _MAIN_M + 0.02)


def _flat(outline: FloatArray, z: float, thickness: float = 0.02) -> Mesh:
    return plate(outline, thickness).moved((0.0, 0.0, z - 0.5 * thickness))


def _along_the_side(below_m: float, radius: float, count: int) -> Mesh:
    x = np.linspace(-10.3, 34.0, count)
    rail, rail_z = _lines(x)[:2]
    return tube(np.column_stack([x, rail + 0.02, rail_z + below_m]), radius, sides=6)


def _slab(low: tuple[float, float, float], high: tuple[float, float, float], bevel: float = 0.0) -> Mesh:
    size, middle = np.subtract(high, low), 0.5 * np.add(low, high)
    return box(size, bevel=bevel).moved(middle)


def _landing(body: Node, *, fine: bool) -> None:
    """The deck on its stanchions, circle, H and lines, nets that hang out at its edges, lamps."""
    z = DECK_M
    body.add("landing", _slab((-10.0, -5.2, z - 0.22), (11.1, 5.2, z)))
    body.add("house", _slab((4.0, -4.2, _MAIN_M), (11.6, 4.2, z - 0.22)))
    for x in (-9.2, -6.0, -2.8, 0.4):
        body.add("house", both_sides(_slab((x - 0.12, 4.3, _MAIN_M), (x + 0.12, 4.54, z - 0.2))))
        body.add("house", _slab((x - 0.1, -4.5, z - 0.45), (x + 0.1, 4.5, z - 0.2)))
    sides = 64 if fine else 32
    for colour, low, high in (("yellow", 3.25, 3.6), ("white", 4.55, 4.75)):
        ring = [(low, z), (high, z), (high, z + _MARK_M), (low, z + _MARK_M)]
        body.add(colour, hoop(ring, sides=sides))
    top = z + _MARK_M
    body.add("white", both_sides(_slab((-1.9, 1.0, z - 0.02), (1.9, 1.5, top))))
    body.add("white", _slab((-0.25, -1.0, z - 0.02), (0.25, 1.0, top)))
    body.add("white", both_sides(_slab((-9.8, 4.9, z - 0.02), (10.0, 5.08, top))))
    for x in (-9.8, 9.82):
        body.add("white", _slab((x, -4.9, z - 0.02), (x + 0.18, 4.9, top)))
    for at in np.arange(-9.0, -5.2, 1.0):
        body.add("white", _slab((at, -0.1, z - 0.02), (at + 0.6, 0.1, top)))
    body.add("yellow", _slab((9.0, -4.6, z - 0.02), (9.3, 4.6, top)))
    lamp = lathe([(0, 0), (0.07, 0.0), (0.05, 0.05), (0, 0.06)], sides=8)
    for x in np.linspace(-9.6, 9.6, 7):
        body.add("lens", both_sides(lamp.moved((float(x), 5.14, z - 0.04))))
    if fine:
        body.add("steel", *_nets())


def _nets() -> list[Mesh]:
    """Frames with their wires, a hand below the deck's edge."""
    inner, outer, z = 5.2, 5.95, DECK_M - 0.12
    bars = [both_sides(tube([(-9.9, outer, z), (10.0, outer, z)], 0.03, sides=4))]
    bars += [
        both_sides(tube([(-9.9, at, z), (10.0, at, z)], 0.008, sides=3)) for at in np.linspace(5.35, 5.8, 4)
    ]
    for k, x in enumerate(np.linspace(-9.9, 10.0, 61)):
        radius = 0.03 if k % 6 == 0 else 0.008
        bars.append(both_sides(tube([(x, inner, z), (x, outer, z)], radius, sides=4 if k % 6 == 0 else 3)))
    return bars


def _house(body: Node) -> None:
    """Two storeys, the hangar's door aft, windows all about the bridge, and a funnel behind it."""
    body.add("house", _slab((11.5, -4.3, _MAIN_M), (24.6, 4.3, 4.9), 0.12))
    body.add("house", _slab((11.06, -3.3, _MAIN_M), (12.2, 3.3, 5.6), 0.1))
    body.add("house", _slab((15.6, -3.9, 4.8), (24.0, 3.9, 5.9), 0.1))
    band = _slab((15.75, -3.78, 5.85), (23.9, 3.78, 6.75))
    body.add("pane", band)
    roof = box((9.0, 8.2, 0.28), bevel=0.1).moved((19.8, 0.0, 6.88))
    body.add("house", roof)
    for y in np.linspace(-3.3, 3.3, 8):
        body.add("house", _slab((23.85, y - 0.06, 5.85), (23.97, y + 0.06, 6.75)))
    for x in np.linspace(16.0, 23.6, 8):
        body.add("house", both_sides(_slab((x - 0.06, 3.72, 5.85), (x + 0.06, 3.84, 6.75))))
    body.add("steel", _slab((11.03, -2.7, DECK_M), (11.1, 2.7, 5.3)))
    body.add("dark", *(_slab((11.0, -2.7, z), (11.1, 2.7, z + 0.03)) for z in np.arange(3.3, 5.3, 0.3)))
    body.add("dark", both_sides(_slab((13.2, 4.2, _MAIN_M + 0.15), (14.1, 4.34, 4.0), 0.05)))
    port = lathe([(0, 0), (0.2, 0), (0.2, 0.05), (0, 0.05)], sides=14, axis="y")
    for x in (15.6, 17.4, 19.2, 21.0, 22.8):
        body.add("pane", both_sides(port.moved((x, 4.28, 3.9))))
    front = lathe([(0, 0), (0.2, 0), (0.2, 0.05), (0, 0.05)], sides=14, axis="x")
    body.add("pane", *(front.moved((24.58, y, 4.0)) for y in (-3.2, -1.9, 1.9, 3.2)))
    body.add("dark", _slab((24.5, -0.45, _MAIN_M + 0.15), (24.64, 0.45, 4.0), 0.05))
    wing = _slab((22.2, 3.7, 4.85), (23.8, 4.85, 5.0))
    body.add("house", both_sides(wing), both_sides(_slab((22.2, 4.75, 4.95), (23.8, 4.85, 5.85))))
    body.add("house", _slab((12.4, -1.3, 4.8), (15.2, 1.3, 7.2), 0.25))
    body.add("orange", _slab((12.36, -1.34, 6.2), (15.24, 1.34, 6.75), 0.1))
    body.add("dark", _slab((12.6, -1.1, 7.1), (15.0, 1.1, 7.4), 0.1))
    for x, y in ((13.2, 0.5), (13.2, -0.5), (14.3, 0.0)):
        body.add("dark", tube([(x, y, 7.3), (x - 0.15, y, 7.9)], 0.16, sides=10))


def _above(body: Node, *, fine: bool) -> None:
    """Mast with yards, radar and lights, a dome, searchlights."""
    sides = 10 if fine else 6
    legs = [((18.4, 0.6), (18.7, 0.12)), ((18.4, -0.6), (18.7, -0.12)), ((19.7, 0.0), (18.95, 0.0))]
    body.add("house", *(tube([(*foot, 7.0), (*head, 8.7)], [0.11, 0.07], sides=sides) for foot, head in legs))
    body.add("house", tube([(18.75, -1.7, 8.25), (18.75, 1.7, 8.25)], 0.05, sides=6))
    body.add("house", box((0.5, 0.5, 0.08), bevel=0.02).moved((19.25, 0.0, 7.95)))
    body.add("house", box((0.22, 1.7, 0.16), bevel=0.05).moved((19.3, 0.0, 8.2)))
    body.add("dark", tube([(18.75, 0.0, 8.6), (18.75, 0.0, 8.97)], 0.04, sides=6))
    ball = [(0.45 * np.sin(a), -0.45 * np.cos(a)) for a in np.linspace(0.0, np.pi, 11)]
    body.add(
        "house", lathe([(0.0, -0.5), (0.3, -0.5), (0.3, -0.3), (0.0, -0.3)], sides=16).moved((16.9, 2.0, 7.5))
    )
    body.add("house", lathe(ball, sides=18).moved((16.9, 2.0, 7.6)))
    body.add("lens", lathe([(0, 0), (0.09, 0), (0.09, 0.16), (0, 0.2)], sides=8).moved((18.75, 0.0, 8.75)))
    body.add("red_light", _slab((22.0, 3.86, 6.2), (22.3, 4.0, 6.4)))
    body.add("green_light", _slab((22.0, -4.0, 6.2), (22.3, -3.86, 6.4)))
    light = tube([(23.2, 0.0, 7.35), (23.55, 0.0, 7.38)], 0.2, sides=12)
    for y in (-2.6, 2.6):
        body.add("dark", light.moved((0.0, y, 0.0)), tube([(23.3, y, 7.0), (23.3, y, 7.25)], 0.06, sides=6))
        body.add("lens", tube([(23.54, y, 7.38), (23.58, y, 7.382)], 0.17, sides=12))
    for y in (-3.4, 3.4):
        body.add("dark", tube([(16.4, y, 7.0), (16.2, y, 8.95)], [0.025, 0.012], sides=4))


def _gear(body: Node, *, fine: bool) -> None:
    """A tender in its davits, rafts in drums, windlass, anchors, bitts, breakwater, a life ring a side."""
    sides = 12 if fine else 7
    for side in (1.0, -1.0):
        y = 4.1 * side
        keel = [(15.4, y, 5.55), (18.2, y, 5.45), (19.6, y, 5.6)]
        body.add("orange", tube(keel, [0.36, 0.42, 0.16], sides=sides))
        body.add("dark", _slab((16.0, y - 0.22, 5.7), (18.0, y + 0.22, 5.95), 0.08))
        for x in (15.7, 18.3):
            arm = [(x, 3.4 * side, 4.9), (x, 3.6 * side, 6.4), (x, 4.3 * side, 6.5)]
            body.add("house", tube(arm, 0.08, sides=6))
    drum = tube([(-0.65, 0.0, 0.0), (0.65, 0.0, 0.0)], 0.34, sides=sides)
    for x in (12.3, 20.7):
        body.add("white", both_sides(drum.moved((x, 3.9 if x < 15 else 4.4, 5.3 if x < 15 else 2.4))))
    body.add("dark", tube([(31.2, -0.7, 2.35), (31.2, 0.7, 2.35)], 0.3, sides=sides))
    body.add("dark", _slab((30.9, -0.35, _MAIN_M), (31.6, 0.35, 2.2), 0.06))
    for x, y in ((33.6, 1.3), (28.0, 3.0), (-9.3, 3.9), (26.0, 3.5)):
        for step in (-0.22, 0.22):
            post = tube([(x + step, y, _MAIN_M), (x + step, y, 2.45)], 0.11, sides=8)
            body.add("dark", both_sides(post))
    breakwater = np.array(
        [(29.0, 0.0, _MAIN_M), (27.6, 3.2, _MAIN_M), (27.4, 3.2, 2.65), (28.8, 0.0, 2.75)], float
    )
    body.add("house", both_sides(_sheet(breakwater)))
    body.add("dark", both_sides(_anchor()))
    section = [(0.32 + 0.07 * np.cos(a), 0.07 * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 9)[:-1]]
    body.add("orange", both_sides(hoop(section, sides=2 * sides, axis="y").moved((24.0, 4.36, 3.2))))


def _anchor() -> Mesh:
    """In its pocket at the bow."""
    rail, rail_z, water = (float(v[0]) for v in _lines(np.array([33.0]))[:3])
    y = water + 0.72 * (rail - water)
    return tube(
        [(32.6, y + 0.08, 0.7 * rail_z), (33.0, y + 0.16, 0.5 * rail_z), (33.4, y + 0.08, 0.7 * rail_z)],
        0.13,
        sides=6,
    )


def _sheet(corners: FloatArray) -> Mesh:
    """A four-cornered plate seen from both its sides."""
    faces = np.array([(0, 1, 2), (0, 2, 3)])
    both = np.concatenate([faces, faces[:, ::-1] + 4])
    return from_triangles(np.concatenate([corners, corners + np.array([0.04, 0.0, 0.0])]), both)


def _rails() -> list[Mesh]:
    """Posts and three bars about bow, bridge roof and the walks beside the house."""
    bow = np.linspace(26.0, 37.0, 12)
    edge, height = _lines(bow)[:2]
    about_bow = np.column_stack([bow, np.maximum(edge - 0.1, 0.0), height - 0.05])
    upper = np.array([(15.5, 4.2, 4.9), (14.0, 4.2, 4.9), (12.5, 4.2, 4.9), (11.6, 4.2, 4.9)])
    roof = np.array(
        [(15.6, 3.9, 7.0), (17.0, 3.9, 7.0), (19.0, 3.9, 7.0), (21.0, 3.9, 7.0), (23.9, 3.9, 7.0)]
    )
    bars = []
    for path, rise in ((about_bow, 0.0), (upper, 1.0), (roof, 0.9)):
        top = path[:, 2] + rise if rise else np.full(len(path), DECK_M - 0.03)
        for share in (0.45, 0.75, 1.0):
            bar = path.copy()
            bar[:, 2] += share * (top - path[:, 2])
            bars.append(both_sides(tube(bar, 0.022, sides=4)))
        for foot, head in zip(path, top, strict=True):
            bars.append(both_sides(tube([tuple(foot), (foot[0], foot[1], head)], 0.026, sides=4)))
    return bars
