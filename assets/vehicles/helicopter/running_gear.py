"""Skids, tail surfaces, exhaust, antennae and lights: all that is bolted to the skin."""

import numpy as np

from assets.scripts.gltf import Node
from assets.scripts.mesh import ACCENT_HALF_M, PAINT_FAR, Mesh, both_sides, join
from assets.scripts.shapes import box, foil, lathe, plate, tube
from assets.vehicles.helicopter.outline import livery, on_roof

SOLE_Z = -1.40
TUBE_RADIUS = 0.048


def build_skids(detail: float) -> Node:
    """Skid tubes with upturned toes, arched cross tubes, steps and shoes."""
    node = Node("skids")
    sides = max(int(14 * detail), 4)
    x = np.concatenate([np.linspace(-1.60, 1.30, 6), np.linspace(1.38, 1.84, 8)])
    if detail < 0.6:
        x = x[[0, 5, 8, 10, 13]]
    toe = np.clip((x - 1.30) / 0.54, 0, 1)
    skid = np.column_stack([x - 0.06 * toe**3, np.full(len(x), 1.0), SOLE_Z + TUBE_RADIUS + 0.30 * toe**2])
    node.add("skid", both_sides(tube(skid, TUBE_RADIUS, sides=sides)))
    for at in (-0.92, 0.88):
        y = np.linspace(-1, 1, max(int(25 * detail), 5))
        bow = np.column_stack([np.full(len(y), at), y, -0.83 - (1.35 - 0.83) * np.abs(y) ** 2.6])
        node.add("skid", tube(bow, 0.040, sides=sides))
        if detail > 0.6:
            clamp = lathe([(0.0, -0.09), (0.062, -0.09), (0.062, 0.09), (0.0, 0.09)], sides=12, axis="x")
            node.add("metal", both_sides(clamp.moved((at, 1.0, SOLE_Z + 0.052))))
    if detail > 0.6:
        step = box((0.42, 0.16, 0.025), bevel=0.008).moved((0.42, 0.94, -1.03))
        struts = [tube([(xx, 0.90, -0.96), (xx, 0.985, -1.30)], 0.014, sides=6) for xx in (0.26, 0.58)]
        node.add("black", both_sides(join([step, *struts])))
        rod = tube([(0.16, 0.92, -1.035), (0.88, 0.80, -1.06)], 0.012, sides=6)
        node.add("metal", both_sides(rod))
    return node


def build_tail(detail: float) -> Node:
    """Fins, stabiliser with end plates, tail rotor gearbox, skid stinger."""
    node = Node("tail")
    sides, count = max(int(22 * detail), 6), max(int(6 * detail), 2)
    upper = foil(
        (-5.62, 0, 0.60), (-6.28, 0, 1.78), (1.05, 0.52), thickness=0.11, sides=sides, stations=count
    )
    lower = foil(
        (-5.66, 0, 0.64), (-6.16, 0, -0.16), (0.92, 0.44), thickness=0.11, sides=sides, stations=count
    )
    node.add("livery", _fin_paint(upper), _fin_paint(lower))
    wing = foil(
        (-4.42, 0.0, 0.52), (-4.50, 1.24, 0.52), (0.56, 0.46), thickness=0.12, sides=sides, stations=count
    )
    plate_up = foil(
        (-4.44, 1.25, 0.30),
        (-4.62, 1.27, 0.86),
        (0.66, 0.36),
        thickness=0.05,
        sides=max(sides // 2, 4),
        stations=2,
    )
    node.add("livery", both_sides(_plain_paint(wing)), both_sides(_fin_paint(plate_up)))
    housing = lathe(
        [
            (0.0, -0.14),
            (0.09, -0.13),
            (0.145, -0.04),
            (0.145, 0.08),
            (0.10, 0.14),
            (0.055, 0.17),
            (0.05, 0.26),
            (0.0, 0.26),
        ],
        sides=max(int(20 * detail), 6),
        axis="y",
    )
    node.add("metal_dark", housing.moved((-6.2, 0, 0.745)))
    node.add(
        "skid",
        tube(
            [(-6.20, 0, -0.10), (-6.42, 0, -0.28), (-6.62, 0, -0.33)],
            [0.022, 0.022, 0.02],
            sides=max(int(8 * detail), 4),
        ),
    )
    return node


def build_fittings(detail: float) -> Node:
    """Exhaust, intakes, mast fairing, drive shaft cover, antennae, lights, handles, landing light."""
    node = Node("fittings")
    sides = max(int(20 * detail), 6)
    pipe = [(-1.35, 0, 0.96), (-1.70, 0, 1.00), (-2.00, 0, 1.06), (-2.20, 0, 1.12)]
    node.add("exhaust", tube(pipe, [0.13, 0.145, 0.15, 0.155], sides=sides, flatten=0.85))
    node.add("soot", tube([(-2.10, 0, 1.09), (-2.212, 0, 1.124)], [0.135, 0.137], sides=sides, flatten=0.85))
    cover = [(-2.3, 0, 0.735), (-3.1, 0, 0.71), (-4.2, 0, 0.715), (-5.6, 0, 0.755), (-5.95, 0, 0.75)]
    sunk = 0.0 if detail > 0.6 else 0.075  # a coarse boom sags between its stations
    cover = [(x, y, z - sunk) for x, y, z in cover]
    shaft = tube(cover, [0.10, 0.085, 0.07, 0.055, 0.02], sides=sides, flatten=0.75)
    far = np.full(len(shaft.positions), PAINT_FAR)
    node.add("livery", shaft.painted(np.column_stack([far, far, *livery(shaft.positions)])))
    node.add("metal", tube([(0, 0, 1.12), (0, 0, 1.70)], 0.062, sides=sides))
    node.add(
        "metal_dark",
        lathe(
            [(0.0, 1.12), (0.22, 1.14), (0.21, 1.22), (0.12, 1.26), (0.11, 1.36), (0.0, 1.36)], sides=sides
        ),
    )
    if detail < 0.6:
        return node
    node.add("grille", *_intakes())
    node.add("black", *_antennae(), *_handles())
    node.add("metal", *_pitot_and_cutter())
    node.add(
        "lens",
        lathe([(0.0, -0.012), (0.085, -0.004), (0.09, 0.02), (0.0, 0.03)], sides=18).moved((1.55, 0, -0.795)),
    )
    node.add(
        "red_light",
        lathe([(0.0, 0.09), (0.035, 0.07), (0.05, 0.03), (0.05, 0.0), (0.0, 0.0)], sides=14).moved(
            (-6.27, 0, 1.785)
        ),
    )
    node.add("red_light", tube([(-4.30, 1.27, 0.52), (-4.24, 1.27, 0.52)], [0.03, 0.02], sides=8))
    node.add("green_light", tube([(-4.30, -1.27, 0.52), (-4.24, -1.27, 0.52)], [0.03, 0.02], sides=8))
    return node


def _fin_paint(mesh: Mesh) -> Mesh:
    """Second colour, with an accent band below the tip."""
    height = mesh.positions[:, 2]
    far = np.full(len(height), PAINT_FAR)
    return mesh.painted(np.column_stack([far, far, -far, (height - 1.52) * (ACCENT_HALF_M / 0.075)]))


def _plain_paint(mesh: Mesh) -> Mesh:
    return mesh.painted(np.full((len(mesh.positions), 4), PAINT_FAR))


def _intakes() -> list[Mesh]:
    """Louvred side intakes before the engine and a top screen behind the mast."""
    parts = []
    for k in range(7):
        slat = box((0.05, 0.012, 0.20), bevel=0.004)
        parts.append(both_sides(slat.moved((0.20 - 0.075 * k, 0.505 + 0.012 * (k > 1), 0.965))))
    back = plate([(0.25, 0.86), (0.25, 1.07), (-0.30, 1.07), (-0.30, 0.86)], 0.02, bevel=0.004)
    upright = np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])
    parts.append(both_sides(back.transformed(upright).moved((0, 0.487, 0))))
    return parts


def _antennae() -> list[Mesh]:
    whip = tube([(-3.4, 0, 0.66), (-3.62, 0, 1.10)], [0.011, 0.005], sides=6)
    blade = foil((-1.0, 0, -0.80), (-1.10, 0, -1.02), (0.20, 0.11), thickness=0.14, sides=10, stations=2)
    fin = foil((-2.9, 0, 0.72), (-3.02, 0, 0.98), (0.22, 0.12), thickness=0.14, sides=10, stations=2)
    clear = np.array([0.012, 0, 0.012])
    wiper = tube(
        [on_roof(x, y) + clear for x, y in ((2.52, 0.05), (2.36, 0.10), (2.20, 0.16), (1.98, 0.24))],
        0.010,
        sides=5,
    )
    return [whip, blade, fin, both_sides(wiper)]


def _handles() -> list[Mesh]:
    parts = []
    for x, y in ((0.47, 0.928), (-0.44, 0.930)):
        parts.append(both_sides(box((0.13, 0.03, 0.028), bevel=0.009).moved((x, y, -0.22))))
    return parts


def _pitot_and_cutter() -> list[Mesh]:
    pitot = tube([(2.62, 0.0, -0.60), (2.72, 0.0, -0.64), (2.92, 0.0, -0.64)], [0.016, 0.014, 0.009], sides=8)
    cutter = foil((1.20, 0, 0.76), (1.02, 0, 1.04), (0.16, 0.05), thickness=0.12, sides=8, stations=2)
    return [pitot, cutter]
