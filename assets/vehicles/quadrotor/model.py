"""The quadrotor: carbon plates and arms, a canopy with a camera, four motors with two blades each, a landing gear.

0.8 m between the middles of opposite rotors; origin at the centre of mass, x forward.
"""

from collections.abc import Mapping

import numpy as np

from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import FloatArray, Mesh, both_sides, join
from assets.scripts.shapes import box, foil, grid, hoop, lathe, outward, plate, tube

DETAILS = {"model": 1.0, "far": 0.4}
CELL_M = 0.012

MATERIALS: Mapping[str, Material] = {
    "shell": Material((0.86, 0.86, 0.84), roughness=0.22),
    "orange": Material((0.80, 0.16, 0.012), roughness=0.25),
    "carbon": Material((0.018, 0.019, 0.021), metallic=0.1, roughness=0.32),
    "steel": Material((0.55, 0.56, 0.58), metallic=1.0, roughness=0.24),
    "copper": Material((0.78, 0.36, 0.16), metallic=1.0, roughness=0.35),
    "rubber": Material((0.02, 0.02, 0.02), roughness=0.8),
    "lens": Material((0.010, 0.012, 0.020), metallic=0.2, roughness=0.04),
    "blade": Material((0.03, 0.03, 0.034), roughness=0.28),
    "red_light": Material((0.5, 0.02, 0.01), roughness=0.2, emissive=(2.2, 0.05, 0.03)),
    "green_light": Material((0.02, 0.4, 0.05), roughness=0.2, emissive=(0.04, 1.8, 0.14)),
}

ARM_M = 0.28
"""Of a motor ahead of, and beside, the middle."""
ROTOR_Z, BLADE_M = 0.075, 0.175
ROTORS = {"front_left": (1, 1), "front_right": (1, -1), "rear_left": (-1, 1), "rear_right": (-1, -1)}
FOOT_Z = -0.17


def build(detail: float = 1.0) -> list[Node]:
    """Nodes `body`, and `blades_` of each rotor, which turn about its axis."""
    sides = max(int(36 * detail), 12)
    body = Node("body")
    body.add("carbon", *_frame(), *_gear(sides))
    body.add("shell", _canopy(sides))
    body.add("orange", *_stripes(sides))
    body.add("lens", _camera(sides))
    rim = [(0.026, -0.006), (0.030, -0.004), (0.030, 0.006), (0.026, 0.008)]
    body.add("steel", hoop(rim, sides=sides, axis="x").moved((0.148, 0, 0.0)))
    body.add("rubber", *_feet(sides))
    for x, y in ROTORS.values():
        place = (x * ARM_M, y * ARM_M, 0.0)
        body.add("carbon", *(mesh.moved(place) for mesh in _mount(sides)))
        windings = [(0.015, 0.028), (0.0235, 0.028), (0.0235, 0.044), (0.015, 0.044)]
        body.add("copper", hoop(windings, sides=sides).moved(place))
        body.add("steel", *(mesh.moved(place) for mesh in _motor(sides)))
        light = lathe([(0.0, -0.020), (0.009, -0.018), (0.010, -0.008), (0.0, -0.008)], sides=12)
        body.add("red_light" if y > 0 else "green_light", light.moved((x * 0.305, y * 0.305, 0.0)))
    return [body, *(_blades(name, x, y, detail) for name, (x, y) in ROTORS.items())]


def _frame() -> list[Mesh]:
    """Two plates with the arms between them."""
    outline = [(0.14, 0.045), (0.10, 0.085), (-0.10, 0.085), (-0.15, 0.05),
               (-0.15, -0.05), (-0.10, -0.085), (0.10, -0.085), (0.14, -0.045)]  # fmt: skip
    plates = [plate(outline, 0.004, bevel=0.001).moved((0, 0, z)) for z in (-0.018, 0.020)]
    arms = [
        tube([(0.05 * x, 0.05 * y, 0.0), (ARM_M * x, ARM_M * y, 0.0)], 0.0115, sides=14)
        for x, y in ROTORS.values()
    ]
    battery = box((0.15, 0.062, 0.036), bevel=0.006).moved((-0.01, 0.0, -0.041))
    return [*plates, *arms, battery]


def _canopy(sides: int) -> Mesh:
    """A smooth hood over the upper plate, higher behind the camera than at the tail."""
    x = np.linspace(-0.165, 0.150, 24)
    share = (x - x[0]) / (x[-1] - x[0])
    bulge = np.sqrt(np.clip(1.0 - (2.0 * share - 1.0) ** 2, 0.0, None)) + 1e-3
    half = 0.078 * bulge**0.8
    height = (0.052 + 0.028 * share) * bulge**0.7
    angle = np.linspace(0.0, 2.0 * np.pi, 2 * sides, endpoint=False)
    upper = np.sin(angle)
    rings = np.stack(
        [
            np.broadcast_to(x[:, None], (len(x), len(angle))),
            half[:, None] * np.cos(angle),
            0.018 + np.where(upper > 0, height[:, None] * upper, 0.006 * bulge[:, None] * upper),
        ],
        axis=2,
    )
    return outward(grid(rings, crease_deg=40.0))


def _stripes(sides: int) -> list[Mesh]:
    """Bands about the front arms, so that the eye tells ahead from behind, and a fin on the hood."""
    bands = [
        tube([(0.15 * x, 0.15 * y, 0.0), (0.205 * x, 0.205 * y, 0.0)], 0.0128, sides=14)
        for x, y in ROTORS.values()
        if x > 0
    ]
    fin = plate([(-0.150, 0.0), (-0.060, 0.0), (-0.105, 0.042), (-0.150, 0.050)], 0.006, bevel=0.002)
    return [*bands, fin.transformed(np.array([[1.0, 0, 0], [0, 0, 1.0], [0, 1.0, 0]])).moved((0, 0, 0.062))]


def _camera(sides: int) -> Mesh:
    """A ball that looks ahead from under the nose."""
    angle = np.linspace(-np.pi / 2, np.pi / 2, 15)
    return lathe(
        np.column_stack([0.027 * np.cos(angle), 0.027 * np.sin(angle)]), sides=sides, axis="x"
    ).moved((0.148, 0, 0.0))


def _mount(sides: int) -> list[Mesh]:
    profile = [(0.0, -0.016), (0.024, -0.016), (0.027, -0.010), (0.027, 0.012), (0.022, 0.018), (0.0, 0.018)]
    return [lathe(profile, sides=sides)]


def _motor(sides: int) -> list[Mesh]:
    base = [(0.0, 0.018), (0.021, 0.018), (0.021, 0.026), (0.0, 0.026)]
    bell = [(0.0, 0.045), (0.0245, 0.045), (0.0250, 0.048), (0.0250, 0.060), (0.020, 0.066), (0.0, 0.066)]
    shaft = [(0.0, 0.066), (0.0045, 0.066), (0.0045, 0.084), (0.0, 0.087)]
    return [lathe(profile, sides=sides, crease_deg=30.0) for profile in (base, bell, shaft)]


def _gear(sides: int) -> list[Mesh]:
    """Two skids on bowed legs."""
    legs = []
    for x in (0.085, -0.085):
        path = [
            (x, 0.060, -0.018),
            (1.12 * x, 0.098, -0.055),
            (1.2 * x, 0.128, -0.115),
            (1.25 * x, 0.150, FOOT_Z + 0.012),
        ]
        legs.append(both_sides(tube(path, 0.0065, sides=10)))
    skid: FloatArray = np.array(
        [(-0.175, 0.15, FOOT_Z + 0.010), (0.165, 0.15, FOOT_Z + 0.010), (0.195, 0.15, FOOT_Z + 0.026)]
    )
    return [*legs, both_sides(tube(skid, 0.0075, sides=12))]


def _feet(sides: int) -> list[Mesh]:
    ends = [
        tube([(x, 0.15, FOOT_Z + 0.010), (x + 0.045, 0.15, FOOT_Z + 0.010)], 0.0098, sides=12)
        for x in (-0.168, 0.105)
    ]
    return [both_sides(join(ends))]


def _blades(name: str, x: int, y: int, detail: float) -> Node:
    """Two blades and their hub; those of rotors on one diagonal turn the same way."""
    node = Node(f"blades_{name}", pivot=(x * ARM_M, y * ARM_M, ROTOR_Z), occludes=False)
    hub = lathe(
        [(0.0, -0.006), (0.012, -0.005), (0.012, 0.006), (0.0, 0.010)], sides=max(int(20 * detail), 8)
    )
    hand = 1.0 if x * y < 0 else -1.0
    one = foil(
        (0.0, 0.010, 0.0),
        (0.0, BLADE_M, 0.004),
        (0.030, 0.016),
        thickness=0.11,
        twist_rad=(0.34, 0.12),
        sides=12,
    )
    one = one if hand > 0 else one.transformed(np.diag([-1.0, 1.0, 1.0]))
    half_turn = np.diag([-1.0, -1.0, 1.0])
    place = (x * ARM_M, y * ARM_M, ROTOR_Z)
    node.add("steel", hub.moved(place))
    node.add("blade", one.moved(place), one.transformed(half_turn).moved(place))
    return node
