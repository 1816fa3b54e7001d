"""The spacecraft: capsule, service module and engine along x; 6.4 m long, origin at the centre of mass."""

from collections.abc import Mapping

import numpy as np

from assets.scripts.cut import polygon, split
from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import ACCENT_HALF_M, PAINT_FAR, FloatArray, Mesh, join
from assets.scripts.refine import refine
from assets.scripts.shapes import box, grid, lathe, outward, plate, tube

DETAILS = {"model": 1.0, "far": 0.35}
CELL_M = 0.05

MATERIALS: Mapping[str, Material] = {
    "livery": Material(
        (0.70, 0.70, 0.69),
        roughness=0.30,
        finish="livery",
        second=(0.035, 0.04, 0.05),
        accent=(0.75, 0.17, 0.02),
    ),
    "glass": Material((0.02, 0.025, 0.03), roughness=0.03, alpha=0.7, finish="glass"),
    "foil": Material((0.80, 0.52, 0.20), metallic=1.0, roughness=0.34),
    "steel": Material((0.50, 0.51, 0.53), metallic=1.0, roughness=0.30),
    "bell": Material((0.22, 0.20, 0.19), metallic=0.9, roughness=0.38),
    "throat": Material((0.01, 0.009, 0.008), roughness=0.9),
    "cell": Material((0.012, 0.018, 0.060), metallic=0.25, roughness=0.18),
    "frame": Material((0.32, 0.33, 0.34), metallic=0.8, roughness=0.4),
    "radiator": Material((0.78, 0.78, 0.77), roughness=0.5),
    "dark": Material((0.03, 0.032, 0.035), roughness=0.6),
    "interior": Material((0.10, 0.10, 0.105), roughness=0.8),
    "red_light": Material((0.5, 0.02, 0.01), roughness=0.2, emissive=(1.2, 0.03, 0.02)),
    "green_light": Material((0.02, 0.4, 0.05), roughness=0.2, emissive=(0.02, 0.9, 0.08)),
    "flame": Material((0.0, 0.0, 0.0), alpha=0.5, emissive=(9.0, 4.2, 1.4), finish="flame"),
}

HULL = [
    (3.25, 0.16), (3.22, 0.30), (3.05, 0.42), (2.55, 0.66), (2.0, 0.92), (1.55, 1.10), (1.40, 1.13),
    (1.30, 1.13), (-1.35, 1.13), (-1.45, 1.10), (-1.60, 0.95),
]  # fmt: skip
"""(x, radius) m from the docking ring to the engine deck."""
ENGINE_X = -1.60
NOZZLE_X = -2.75


def build(detail: float = 1.0) -> list[Node]:
    """Nodes body, glass, wings, engine (gimballed) and flame."""
    body, glass = Node("body"), Node("glass", occludes=False)
    skin = _hull(detail)
    panes, shell = split(skin.painted(_paint(skin.positions)), _window(skin.positions))
    body.add("livery", shell)
    glass.add("glass", panes)
    sides = max(int(40 * detail), 14)
    body.add(
        "interior", lathe([(0.0, 1.5), (0.95, 1.5), (0.30, 2.75), (0.0, 2.75)], sides=sides // 2, axis="x")
    )
    body.add(
        "steel",
        lathe([(0.0, 3.18), (0.20, 3.18), (0.24, 3.30), (0.20, 3.42), (0.0, 3.42)], sides=sides, axis="x"),
    )
    body.add(
        "foil",
        lathe(
            [(0.0, -1.55), (0.99, -1.56), (0.90, -1.72), (0.45, -1.84), (0.0, -1.84)], sides=sides, axis="x"
        ),
    )
    for angle in np.radians([45, 135, 225, 315]):
        turn = _about_x(angle)
        body.add("dark", *(mesh.transformed(turn) for mesh in _thruster_block()))
        body.add(
            "radiator",
            box((1.9, 0.50, 0.03), bevel=0.01).moved((-0.1, 0, 1.135)).transformed(_about_x(angle + 0.55)),
        )
    body.add(
        "frame", *_dish(detail), tube([(2.2, 0, -0.82), (2.9, 0, -1.25), (3.3, 0, -1.25)], 0.012, sides=6)
    )
    body.add(
        "red_light",
        lathe([(0, 0), (0.05, 0), (0.03, 0.05), (0, 0.05)], sides=10)
        .transformed(_about_x(-np.pi / 2))
        .moved((1.2, 1.13, 0)),
    )
    body.add(
        "green_light",
        lathe([(0, 0), (0.05, 0), (0.03, 0.05), (0, 0.05)], sides=10)
        .transformed(_about_x(np.pi / 2))
        .moved((1.2, -1.13, 0)),
    )
    return [body, _wings(), _engine(detail), glass, _flame(detail)]


def _about_x(angle_rad: float) -> FloatArray:
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[1.0, 0, 0], [0, c, -s], [0, s, c]])


def _hull(detail: float) -> Mesh:
    x, radius = np.asarray(HULL, float).T
    fine_x = np.unique(
        np.concatenate(
            [
                x,
                np.linspace(1.5, 3.0, max(int(16 * detail), 4)),
                np.linspace(-1.3, 1.2, max(int(10 * detail), 4)),
            ]
        )
    )[::-1]
    fine_r = np.interp(fine_x, x[::-1], radius[::-1])
    angle = np.linspace(0, 2 * np.pi, max(int(72 * detail), 20), endpoint=False)
    rings = np.stack(
        [
            np.broadcast_to(fine_x[:, None], (len(fine_x), len(angle))),
            fine_r[:, None] * np.cos(angle),
            fine_r[:, None] * np.sin(angle),
        ],
        axis=2,
    )
    return refine(outward(grid(rings, crease_deg=30.0)), _window, within_m=0.012, passes=1)


def _window(p: FloatArray) -> FloatArray:
    """Signed distance to the forward panes, which sit on the upper half of the cone."""
    across = np.arctan2(np.abs(p[:, 1]), p[:, 2]) * np.hypot(p[:, 1], p[:, 2])
    flat = np.column_stack([p[:, 0], across])
    front = polygon(flat, [(2.62, 0.05), (2.62, 0.30), (2.02, 0.46), (2.02, 0.05)], rounding=0.05)
    side = polygon(flat, [(2.30, 0.62), (2.30, 0.86), (1.95, 0.98), (1.95, 0.66)], rounding=0.06)
    return np.where(p[:, 2] > 0, np.minimum(front, side), PAINT_FAR)


def _paint(p: FloatArray) -> FloatArray:
    """Dark belly and nose, an accent ring, panel lines round the hull."""
    x = p[:, 0]
    lines = np.min(np.abs(x[:, None] - np.array([-0.9, 0.2, 1.30, 2.85])), axis=1)
    angle = np.arctan2(p[:, 1], p[:, 2])
    radius = np.hypot(p[:, 1], p[:, 2])
    seam = np.abs(np.remainder(angle + np.pi / 6, np.pi / 3) - np.pi / 6) * radius
    belly = np.minimum(p[:, 2] + 0.62, 2.95 - x)
    ring = (x - 1.02) * (ACCENT_HALF_M / 0.09)
    return np.column_stack([_window(p), np.minimum(lines, np.where(x < 1.3, seam, PAINT_FAR)), belly, ring])


def _thruster_block() -> list[Mesh]:
    """Four small nozzles on a pod at the top of the hull (+z)."""
    pod = box((0.30, 0.26, 0.16), bevel=0.03).moved((1.15, 0, 1.18))
    cone = lathe([(0.03, 0.0), (0.035, 0.0), (0.075, 0.13), (0.065, 0.13), (0.0, 0.03)], sides=12)
    fore = cone.transformed(np.array([[0, 0, 1.0], [0, 1, 0], [-1, 0, 0]]))
    ways = [fore.moved((1.28, 0, 1.20)), fore.transformed(np.diag([-1.0, -1.0, 1.0])).moved((1.02, 0, 1.20))]
    side = cone.transformed(_about_x(-np.pi / 2))
    ways += [
        side.moved((1.15, 0.12, 1.20)),
        side.transformed(np.diag([-1.0, -1.0, 1.0])).moved((1.15, -0.12, 1.20)),
    ]
    return [pod, *ways]


def _wings() -> Node:
    """Two solar wings along y."""
    node = Node("wings", occludes=False)
    for sign in (1.0, -1.0):
        mirror = np.diag([sign, sign, 1.0])
        node.add("frame", tube([(-0.5, 1.1, 0), (-0.5, 1.75, 0)], 0.035, sides=8).transformed(mirror))
        for k in range(3):
            at = (-0.5 * 1.0, 2.25 + 1.05 * k, 0.0)
            node.add("frame", box((1.36, 1.0, 0.035), bevel=0.01).moved(at).transformed(mirror))
            for i in range(4):
                for j in range(3):
                    cell = plate([(-0.15, -0.145), (0.15, -0.145), (0.15, 0.145), (-0.15, 0.145)], 0.012)
                    spot = (at[0] + 0.325 * (i - 1.5), at[1] + 0.315 * (j - 1), 0.018)
                    node.add("cell", cell.moved(spot).transformed(mirror))
    return node


def _dish(detail: float) -> list[Mesh]:
    bowl = lathe(
        [(0.0, 0.0), (0.20, 0.035), (0.36, 0.11), (0.37, 0.125), (0.20, 0.055), (0.0, 0.02)],
        sides=max(int(28 * detail), 12),
    )
    tilt = np.array([[0.8, 0, 0.6], [0, 1, 0], [-0.6, 0, 0.8]])
    return [
        bowl.transformed(tilt).moved((-1.0, 0, 1.45)),
        tube([(-1.0, 0, 1.1), (-1.0, 0, 1.46)], 0.03, sides=8),
    ]


def _engine(detail: float) -> Node:
    """Bell on a gimbal; its pivot is the throat."""
    node = Node("engine", (ENGINE_X - 0.15, 0.0, 0.0))
    sides = max(int(36 * detail), 12)
    bell = [
        (0.16, -1.85),
        (0.19, -1.95),
        (0.16, -2.05),
        (0.26, -2.2),
        (0.40, -2.45),
        (0.50, NOZZLE_X),
        (0.47, NOZZLE_X),
        (0.36, -2.45),
        (0.0, -2.12),
    ]
    node.add("bell", lathe(bell, sides=sides, axis="x", crease_deg=50.0))
    node.add("throat", lathe([(0.0, -2.46), (0.37, -2.50), (0.0, -2.52)], sides=sides, axis="x"))
    for k in range(3):
        strut = tube([(-1.75, 0, 0.62), (-2.12, 0, 0.20)], 0.028, sides=6)
        node.add("steel", strut.transformed(_about_x(2 * np.pi * k / 3 + 0.4)))
    return node


def _flame(detail: float) -> Node:
    """Nested cones from the nozzle backwards; `paint` = share along the flame, share of the radius."""
    node = Node("flame", (NOZZLE_X + 0.1, 0.0, 0.0), occludes=False)
    count, sides = 12, max(int(24 * detail), 10)
    along = np.linspace(0, 1, count)
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    shells = []
    for layer in (1.0, 0.72, 0.45):
        radius = layer * (0.44 + 0.10 * np.sin(np.pi * along)) * (1 - along**1.6) + 0.01
        length = 3.6 * (0.45 + 0.55 * layer)
        points = np.stack(
            [
                np.broadcast_to((NOZZLE_X + 0.1 - length * along)[:, None], (count, sides)),
                radius[:, None] * np.cos(angle),
                radius[:, None] * np.sin(angle),
            ],
            axis=2,
        )
        mesh = outward(grid(points, crease_deg=60.0))
        share = (NOZZLE_X + 0.1 - mesh.positions[:, 0]) / length
        zero = np.zeros(len(share))
        shells.append(mesh.painted(np.column_stack([share, zero + layer, zero, zero])))
    node.add("flame", join(shells))
    return node
