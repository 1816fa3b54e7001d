"""The open car with two trailers: a flat one with sides and a covered one, each about the middle of its axle on the
ground."""

import numpy as np

from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import Mesh, both_sides
from assets.scripts.shapes import box, solid, tube
from assets.scripts.wheel import rim, tyre
from assets.vehicles.car import model as car

DETAILS, CELL_M = car.DETAILS, car.CELL_M
MATERIALS: dict[str, Material] = {
    **car.MATERIALS,
    "planks": Material((0.30, 0.19, 0.10), roughness=0.75),
    "galvanised": Material((0.46, 0.48, 0.50), metallic=0.8, roughness=0.45),
    "canvas": Material((0.10, 0.16, 0.13), roughness=0.9),
}
RADIUS_M, WIDTH_M, TRACK_M = 0.28, 0.18, 1.44
BARS_M, HITCHES_M = (2.0, 1.7), (0.62, 1.2)
_BED_M, _HALF_M = 0.50, 0.58
"""Height of the floors, and half their width."""


def build(detail: float = 1.0) -> list[Node]:
    """Those of the car, then `first`, `first_wheels`, `second` and `second_wheels`."""
    nodes, x = car.build(detail), 0.0
    for name, hitch, bar, half in zip(("first", "second"), HITCHES_M, BARS_M, (1.08, 0.82), strict=True):
        x -= hitch + bar
        node = Node(name, (x, 0.0, 0.0))
        parts = {
            "galvanised": _chassis(bar, half, detail, hitch=name == "first"),
            "planks": _floor(half, sides=name == "first"),
            "canvas": _cover(half, detail) if name == "second" else [],
            "dark": _fenders(),
            "red_light": [both_sides(box((0.03, 0.12, 0.06), bevel=0.01).moved((-half - 0.03, 0.46, 0.46)))],
        }
        for material, meshes in parts.items():
            if meshes:
                node.add(material, *(mesh.moved((x, 0.0, 0.0)) for mesh in meshes))
        nodes += [node, _wheels(f"{name}_wheels", x, detail)]
    return nodes


def _chassis(bar: float, half: float, detail: float, *, hitch: bool) -> list[Mesh]:
    """Rails, drawbar with its coupling, axle; behind, where the next one is hitched, a beam with a ball."""
    sides = max(int(12 * detail), 6)
    parts = [
        both_sides(box((2.0 * half, 0.06, 0.10)).moved((0.0, 0.40, _BED_M - 0.08))),
        both_sides(tube([(half, 0.40, _BED_M - 0.08), (bar - 0.12, 0.0, 0.46)], 0.035, sides=sides)),
        tube([(bar - 0.22, 0.0, 0.46), (bar, 0.0, 0.46)], [0.035, 0.05], sides=sides),
        tube([(0.0, -0.62, RADIUS_M), (0.0, 0.62, RADIUS_M)], 0.03, sides=sides),
        both_sides(box((0.10, 0.05, 0.18)).moved((0.0, 0.40, 0.35))),
        tube([(half + 0.30, 0.10, 0.46), (half + 0.30, 0.10, 0.16)], 0.022, sides=sides),
    ]
    if hitch:
        parts += [
            box((HITCHES_M[1] - half + 0.10, 0.08, 0.07)).moved(
                (-0.5 * (HITCHES_M[1] + half - 0.10), 0.0, 0.40)
            ),
            tube([(-HITCHES_M[1], 0.0, 0.38), (-HITCHES_M[1], 0.0, 0.47)], 0.028, sides=sides),
        ]
    return parts


def _floor(half: float, *, sides: bool) -> list[Mesh]:
    """Planks along the bed; three boards and posts around it."""
    width = 2.0 * _HALF_M / 6.0
    floor = [
        box((2.0 * half, width - 0.012, 0.035), bevel=0.004).moved(
            (0.0, -_HALF_M + (k + 0.5) * width, _BED_M)
        )
        for k in range(6)
    ]
    if not sides:
        return floor
    for k in range(3):
        z = _BED_M + 0.08 + 0.125 * k
        floor.append(both_sides(box((2.0 * half, 0.025, 0.105), bevel=0.004).moved((0.0, _HALF_M, z))))
        floor += [box((0.025, 2.0 * _HALF_M, 0.105), bevel=0.004).moved((x, 0.0, z)) for x in (half, -half)]
    return floor


def _cover(half: float, detail: float) -> list[Mesh]:
    """A hood over hoops, closed at both ends."""
    angle = np.linspace(0.0, np.pi, max(int(16 * detail), 8))
    arch = np.column_stack([np.cos(angle) * (_HALF_M + 0.01), 0.02 + 0.92 * np.sin(angle) ** 0.7])
    rings = []
    for x in np.linspace(-half, half, max(int(9 * detail), 5)):
        sag = 1.0 - 0.018 * np.sin(4.0 * np.pi * (x / half + 1.0) / 2.0) ** 2
        rings.append(np.column_stack([np.full(len(arch), x), arch[:, 0] * sag, _BED_M + arch[:, 1] * sag]))
    return [solid(np.array(rings), crease_deg=60.0)]


def _fenders() -> list[Mesh]:
    """Over the wheels, in three plates each."""
    y, z = 0.5 * TRACK_M, RADIUS_M + 0.30
    plates = [box((0.34, 0.22, 0.02), bevel=0.006).moved((0.0, y, z))]
    for sign in (1.0, -1.0):
        lean = np.array([[0.72, 0.0, sign * 0.69], [0.0, 1.0, 0.0], [-sign * 0.69, 0.0, 0.72]])
        plates.append(box((0.22, 0.22, 0.02)).transformed(lean).moved((sign * 0.245, y, z - 0.075)))
    return [both_sides(mesh) for mesh in plates]


def _wheels(name: str, x: float, detail: float) -> Node:
    """Both of an axle, which turns about its middle."""
    node = Node(name, (x, 0.0, RADIUS_M), occludes=False)
    rubber = tyre(RADIUS_M, WIDTH_M, sides=max(int(32 * detail), 14), treads=22 if detail > 0.6 else 0)
    metal = rim(RADIUS_M, WIDTH_M, sides=max(int(24 * detail), 12))
    for sign in (1.0, -1.0):
        at = (x, sign * 0.5 * TRACK_M, RADIUS_M)
        node.add("rubber", rubber.moved(at))
        node.add("rim", metal.transformed(np.diag([sign, sign, 1.0])).moved(at))
    return node
