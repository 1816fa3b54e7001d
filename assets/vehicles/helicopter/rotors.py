"""Main and tail rotor: hubs, which turn as solids, and blades, which are drawn as such only at rest."""

import numpy as np

from assets.scripts.gltf import Node
from assets.scripts.mesh import Mesh, join
from assets.scripts.shapes import box, foil, lathe, plate, tube

MAIN_PIVOT = (0.0, 0.0, 1.75)
MAIN_RADIUS = 5.35
MAIN_BLADES = 3
MAIN_CHORD = 0.34
CONING_RAD = 0.035
TAIL_PIVOT = (-6.2, 0.30, 0.75)
TAIL_RADIUS = 0.85
TAIL_BLADES = 2


def build(detail: float) -> list[Node]:
    """main_rotor, main_blades, tail_rotor, tail_blades; the first blade points to +x (main), +z (tail)."""
    main, blades = (
        Node("main_rotor", MAIN_PIVOT, occludes=False),
        Node("main_blades", MAIN_PIVOT, occludes=False),
    )
    for k in range(MAIN_BLADES):
        turn = _about_z(2 * np.pi * k / MAIN_BLADES)
        main.add("hub", _arm(detail).transformed(turn).moved(MAIN_PIVOT))
        main.add("metal", _links(detail).transformed(turn).moved(MAIN_PIVOT))
        for material, mesh in _blade(detail):
            blades.add(material, mesh.transformed(turn).moved(MAIN_PIVOT))
    main.add("hub", _hub(detail).moved(MAIN_PIVOT))
    tail, tail_blades = (
        Node("tail_rotor", TAIL_PIVOT, occludes=False),
        Node("tail_blades", TAIL_PIVOT, occludes=False),
    )
    hub = lathe(
        [(0, -0.08), (0.055, -0.08), (0.06, 0.03), (0.03, 0.06), (0, 0.06)],
        sides=max(int(12 * detail), 6),
        axis="y",
    )
    tail.add("hub", hub.moved(TAIL_PIVOT), _edged((0.10, 0.05, 0.36), detail).moved(TAIL_PIVOT))
    for k in range(TAIL_BLADES):
        turn = np.diag([1.0, 1.0, 1.0]) if k == 0 else np.diag([-1.0, 1.0, -1.0])
        for material, mesh in _tail_blade(detail):
            tail_blades.add(material, mesh.transformed(turn).moved(TAIL_PIVOT))
    return [main, blades, tail, tail_blades]


def _edged(size: tuple[float, float, float], detail: float) -> Mesh:
    return box(size, bevel=0.012 if detail > 0.6 else 0.0)


def _about_z(angle_rad: float) -> np.ndarray:
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1.0]])


def _hub(detail: float) -> Mesh:
    sides = max(int(24 * detail), 6)
    cap = lathe(
        [(0.0, -0.10), (0.15, -0.09), (0.17, -0.03), (0.17, 0.03), (0.13, 0.07), (0.06, 0.10), (0.0, 0.105)],
        sides=sides,
    )
    swash = lathe(
        [(0.0, -0.47), (0.21, -0.47), (0.235, -0.44), (0.235, -0.40), (0.19, -0.38), (0.0, -0.38)],
        sides=sides,
    )
    return join([cap, swash])


def _arm(detail: float) -> Mesh:
    """Star arm and blade sleeve along +x."""
    sides = max(int(12 * detail), 5)
    bevel = 0.012 if detail > 0.6 else 0.0
    star = plate([(0.05, -0.13), (0.42, -0.055), (0.42, 0.055), (0.05, 0.13)], 0.055, bevel=bevel)
    sleeve = tube(
        [(0.36, 0, 0.0), (0.55, 0, 0.012), (0.80, 0, 0.022), (0.98, 0, 0.030)][:: 1 if detail > 0.6 else 3],
        [0.085, 0.09, 0.075, 0.06][:: 1 if detail > 0.6 else 3],
        sides=sides,
        flatten=0.62,
    )
    horn = _edged((0.09, 0.20, 0.045), detail).moved((0.50, 0.13, -0.01))
    return join([star, sleeve, horn])


def _links(detail: float) -> Mesh:
    """Pitch link from the swash plate up to the pitch horn."""
    sides = max(int(8 * detail), 3)
    rod = tube([(0.225, 0.06, -0.42), (0.49, 0.215, -0.02)], 0.014, sides=sides)
    if detail < 0.6:
        return rod
    joint = lathe([(0, -0.03), (0.022, -0.03), (0.022, 0.03), (0, 0.03)], sides=sides)
    return join([rod, joint.moved((0.49, 0.215, -0.01))])


def _blade(detail: float) -> list[tuple[str, Mesh]]:
    """Blade along +x, coned, leading edge towards +y (the rotor turns counter-clockwise seen from above)."""
    sides, count = max(int(16 * detail), 4), max(int(8 * detail), 2)
    turn = _about_z(-np.pi / 2)  # foil leading edge +x -> seen from the blade it must be +y
    parts = []
    for material, inner, outer, twist in (
        ("blade", 0.92, 4.95, (0.16, 0.05)),
        ("tip", 4.95, MAIN_RADIUS, (0.05, 0.04)),
    ):
        root, tip = _on_cone(inner), _on_cone(outer)
        local = foil(
            turn @ root,
            turn @ tip,
            (MAIN_CHORD, MAIN_CHORD),
            thickness=0.11,
            twist_rad=twist,
            sides=sides,
            stations=count,
            lift_dir=(0, 0, 1),
        )
        parts.append((material, local.transformed(turn.T)))
    return parts


def _on_cone(radius: float) -> np.ndarray:
    return np.array([radius * np.cos(CONING_RAD), 0.0, radius * np.sin(CONING_RAD)])


def _tail_blade(detail: float) -> list[tuple[str, Mesh]]:
    """Blade along +z, thin in y."""
    sides, count = max(int(12 * detail), 4), 3 if detail > 0.6 else 2
    parts = []
    for material, inner, outer in (("blade", 0.14, 0.72), ("tip", 0.72, TAIL_RADIUS)):
        parts.append(
            (
                material,
                foil(
                    (0.04, 0, inner),
                    (0.04, 0, outer),
                    (0.18, 0.17),
                    thickness=0.12,
                    sides=sides,
                    stations=count,
                    lift_dir=(0, 1, 0),
                ),
            )
        )
    return parts
