"""A small work boat with a wheelhouse: origin at the centre of mass, in the plane of the water; 3.6 m long.

Two thrusters hang under the stern where the vehicle's parameters have them, 1.2 m aft and 0.5 m to either side.
"""

from collections.abc import Mapping

import numpy as np

from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import PAINT_FAR, FloatArray, Mesh, both_sides
from assets.scripts.refine import refine
from assets.scripts.shapes import box, hoop, lathe, plate, solid, tube

THRUSTER = (-1.2, 0.5, -0.2)
DECK_Z = 0.16

DETAILS = {"model": 1.0, "far": 0.4}
CELL_M = 0.04

MATERIALS: Mapping[str, Material] = {
    "livery": Material(
        (0.66, 0.65, 0.62),
        roughness=0.26,
        finish="livery",
        second=(0.012, 0.055, 0.085),
        accent=(0.80, 0.22, 0.015),
    ),
    "house": Material((0.70, 0.69, 0.66), roughness=0.3),
    "deck": Material((0.23, 0.235, 0.24), roughness=0.9),
    "rubber": Material((0.018, 0.018, 0.019), roughness=0.8),
    "steel": Material((0.55, 0.56, 0.57), metallic=1.0, roughness=0.3),
    "dark": Material((0.045, 0.047, 0.05), metallic=0.3, roughness=0.5),
    "orange": Material((0.80, 0.19, 0.012), roughness=0.5),
    "pane": Material((0.016, 0.022, 0.026), roughness=0.04),
    "lens": Material((0.80, 0.82, 0.80), roughness=0.06, emissive=(0.3, 0.3, 0.27)),
    "red_light": Material((0.5, 0.015, 0.01), roughness=0.2, emissive=(0.5, 0.012, 0.01)),
    "green_light": Material((0.02, 0.40, 0.06), roughness=0.2, emissive=(0.02, 0.5, 0.07)),
}

SHEER = np.array(
    [
        # x, half beam at the rail, rail z, half beam at the chine, chine z, keel z
        (1.98, 0.015, 0.66, 0.010, 0.44, 0.30),
        (1.90, 0.150, 0.64, 0.070, 0.30, 0.06),
        (1.70, 0.340, 0.61, 0.190, 0.16, -0.10),
        (1.35, 0.560, 0.56, 0.380, 0.06, -0.20),
        (0.90, 0.710, 0.51, 0.560, -0.01, -0.24),
        (0.30, 0.780, 0.47, 0.660, -0.05, -0.25),
        (-0.60, 0.790, 0.45, 0.690, -0.06, -0.22),
        (-1.62, 0.750, 0.46, 0.660, -0.06, -0.17),
    ]
)


def build(detail: float = 1.0) -> list[Node]:
    """body with wheelhouse and fittings; the two thrusters with their screws (pivots at the shafts)."""
    body = Node("body")
    hull = hull_solid(max(int(44 * detail), 12))
    # Quartered: light fades towards its edges, not all over it.
    transom = refine(box((0.06, 1.41, 0.43)).moved((-1.585, 0, 0.246)), _everywhere, within_m=1.0, passes=2)
    for skin in (hull, transom):
        body.add("livery", skin.painted(_paint(skin.positions)))
    body.add("deck", _deck())
    body.add("rubber", *_fenders(detail))
    body.add("house", *_house())
    body.add("pane", *_panes())
    body.add("steel", *_rails(detail))
    body.add("dark", *_fittings(detail))
    body.add("orange", _life_ring(detail))
    body.add("lens", lathe([(0, 0), (0.05, 0.0), (0.045, 0.05), (0, 0.07)], sides=10).moved((-0.1, 0, 1.93)))
    lamp = box((0.07, 0.05, 0.05), bevel=0.012)
    body.add("red_light", lamp.moved((0.38, 0.47, 1.52)))
    body.add("green_light", lamp.moved((0.38, -0.47, 1.52)))
    return [body, *_thrusters(detail)]


def _everywhere(p: FloatArray) -> FloatArray:
    return np.zeros(len(p))


def _sections(x: FloatArray) -> FloatArray:
    """(n, 5) rail half beam, rail z, chine half beam, chine z, keel z."""
    table = SHEER[::-1]
    return np.column_stack([np.interp(x, table[:, 0], table[:, k]) for k in range(1, 6)])


def hull_solid(count: int) -> Mesh:
    """Keel, chine, flared side, and a bulwark down to the deck inside."""
    x = np.linspace(-1.62, 1.98, count)
    rail, rail_z, chine, chine_z, keel_z = _sections(x).T
    inner = np.maximum(rail - 0.06, 0.004)
    floor = np.maximum(inner - 0.03, 0.003)
    deck_z = np.minimum(np.full(count, DECK_Z), rail_z - 0.02)
    deck_z = np.maximum(deck_z, chine_z + 0.02)
    half = [(0 * x, keel_z), (0.5 * chine, 0.45 * keel_z + 0.55 * chine_z), (chine, chine_z)]
    half += [(0.45 * chine + 0.55 * rail, 0.5 * (chine_z + rail_z)), (rail, rail_z), (inner, rail_z)]
    half += [(floor, deck_z)]
    ring = [*half, (0 * x, deck_z), *((-y, z) for y, z in half[:0:-1])]
    points = np.stack([np.stack([x, y, z], axis=-1) for y, z in ring], axis=1)
    return solid(points, crease_deg=32.0)


def _paint(p: FloatArray) -> FloatArray:
    """Dark below the water and a little above, an accent under the rail."""
    rail_z = _sections(p[:, 0])[:, 1]
    far = np.full(len(p), PAINT_FAR)
    return np.column_stack([far, far, p[:, 2] - 0.07, (p[:, 2] - rail_z + 0.13) * 0.9])


def _deck() -> Mesh:
    x = np.linspace(-1.56, 1.45, 14)
    half = _sections(x)[:, 0] - 0.07
    outline = np.concatenate([np.column_stack([x, -half]), np.column_stack([x, half])[::-1]])
    return plate(outline, 0.012).moved((0, 0, DECK_Z + 0.012))


def _fenders(detail: float) -> list[Mesh]:
    """A rubbing strake along each side, a push pad on the stem, tyres of old."""
    x = np.linspace(-1.60, 1.92, max(int(24 * detail), 9))
    rail, rail_z = _sections(x).T[:2]
    strake = tube(np.column_stack([x, rail + 0.005, rail_z - 0.035]), 0.034, sides=8)
    profile = [(0.12, -0.045), (0.165, -0.035), (0.18, 0.0), (0.165, 0.035), (0.12, 0.045)]
    tyre = hoop(profile, sides=max(int(22 * detail), 10), axis="y")
    tyres = [both_sides(tyre.moved((at, 0.835, 0.24))) for at in (-1.0, -0.25, 0.45)]
    return [both_sides(strake), *tyres]


def _house() -> list[Mesh]:
    """Lower walls, posts between the panes, and a roof that overhangs."""
    walls = box((0.95, 0.86, 0.62), bevel=0.03, taper=(0.98, 0.98)).moved((0.0, 0, 0.47))
    posts = [
        both_sides(tube([(x, 0.405, 0.76), (0.94 * x - 0.01, 0.385, 1.44)], 0.03, sides=6))
        for x in (0.44, 0.0, -0.44)
    ]
    roof = box((1.16, 1.00, 0.07), bevel=0.025, taper=(0.94, 0.92)).moved((0.02, 0, 1.47))
    mast = tube([(-0.1, 0, 1.5), (-0.1, 0, 1.93)], [0.03, 0.018], sides=8)
    return [walls, *posts, roof, mast]


def _panes() -> list[Mesh]:
    return [box((0.86, 0.77, 0.68), bevel=0.02, taper=(0.94, 0.95)).moved((0, 0, 1.10))]


def _rails(detail: float) -> list[Mesh]:
    """Bow rail, towing post aft, spreader of the mast."""
    sides = max(int(8 * detail), 5)
    x = np.linspace(0.75, 1.90, 9)
    rail, rail_z = _sections(x).T[:2]
    top = np.column_stack([x, np.maximum(rail - 0.05, 0.0), rail_z + 0.24])
    posts = [
        both_sides(tube([(x[k], rail[k] - 0.04, rail_z[k] - 0.01), tuple(top[k])], 0.013, sides=sides))
        for k in (0, 3, 6)
    ]
    bow = tube(
        [tuple(top[-1]), (1.96, 0.0, top[-1, 2]), (top[-1, 0], -top[-1, 1], top[-1, 2])], 0.016, sides=sides
    )
    spreader = tube([(-0.1, -0.22, 1.78), (-0.1, 0.22, 1.78)], 0.012, sides=sides)
    return [both_sides(tube(top, 0.016, sides=sides)), *posts, bow, spreader]


def _fittings(detail: float) -> list[Mesh]:
    """Towing bitt, bollards, exhaust, anchor winch, a whip aerial."""
    sides = max(int(14 * detail), 7)
    bitt = [both_sides(tube([(-1.05, 0.16, 0.16), (-1.05, 0.16, 0.56)], 0.04, sides=sides))]
    bitt.append(tube([(-1.05, -0.26, 0.45), (-1.05, 0.26, 0.45)], 0.03, sides=sides))
    winch = tube([(1.12, -0.16, 0.28), (1.12, 0.16, 0.28)], 0.09, sides=sides)
    stack = tube([(-0.62, 0.25, 0.16), (-0.62, 0.25, 1.32), (-0.70, 0.25, 1.42)], 0.035, sides=sides)
    aerial = tube([(-0.35, -0.3, 1.5), (-0.40, -0.31, 2.15)], [0.008, 0.004], sides=5)
    return [*bitt, winch, stack, aerial, box((0.16, 0.3, 0.1), bevel=0.02).moved((1.12, 0, 0.22))]


def _life_ring(detail: float) -> Mesh:
    angle = np.linspace(0, 2 * np.pi, 9)[:-1]
    section = [(0.15 + 0.035 * np.cos(a), 0.035 * np.sin(a)) for a in angle]
    return hoop(section, sides=max(int(24 * detail), 12), axis="x").moved((-0.505, -0.12, 0.52))


def _thrusters(detail: float) -> list[Node]:
    """Pods under the stern; the screw turns about body x at the pivot."""
    nodes = []
    sides = max(int(16 * detail), 8)
    for name, sign in (("left", 1.0), ("right", -1.0)):
        pivot = (THRUSTER[0], sign * THRUSTER[1], THRUSTER[2])
        at = np.array(pivot)
        pod = Node(f"thruster_{name}", pivot)
        shape = [(0, 0.17), (0.05, 0.12), (0.06, 0.0), (0.045, -0.13), (0, -0.15)]
        pod.add("dark", lathe(shape, sides=sides, axis="x").moved(at))
        pod.add("dark", box((0.16, 0.05, 0.22), bevel=0.015).moved((0.02, 0, 0.11)).moved(at))
        screw = Node(f"screw_{name}", pivot, occludes=False)
        for k in range(3):
            turn = 2 * np.pi * k / 3
            c, s = np.cos(turn), np.sin(turn)
            about_x = np.array([[1, 0, 0], [0, c, -s], [0, s, c]])
            pitch = np.array([[np.cos(0.9), -np.sin(0.9), 0], [np.sin(0.9), np.cos(0.9), 0], [0, 0, 1.0]])
            paddle = box((0.07, 0.014, 0.11), bevel=0.006, taper=(0.7, 1.0)).transformed(pitch)
            screw.add(
                "steel", paddle.moved((0, 0, 0.095)).transformed(about_x).moved((-0.17, 0, 0)).moved(at)
            )
        screw.add("steel", tube([(-0.21, 0, 0), (-0.13, 0, 0)], 0.032, sides=8).moved(at))
        nodes += [pod, screw]
    return nodes
