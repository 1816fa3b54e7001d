"""The heavy top: a brass flywheel on a steel axle, origin at its point, and the stand with the cup that bears it."""

from collections.abc import Mapping

import numpy as np

from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import FloatArray, Mesh
from assets.scripts.shapes import box, grid, hoop, lathe, tube

RADIUS = 0.25
WHEEL_Z = 0.25
"""Of the wheel's middle above the point: where the vehicle's centre of mass is."""
TIP_Z = 0.52
STAND_M = 1.0
"""Height of the point above the ground."""
_BURIED_M = 0.12
"""The foot reaches this far into ground that is not level."""

DETAILS = {"model": 1.0}
CELL_M = 0.012

MATERIALS: Mapping[str, Material] = {
    "brass": Material((0.78, 0.52, 0.17), metallic=1.0, roughness=0.26),
    "polished": Material((0.84, 0.60, 0.24), metallic=1.0, roughness=0.12),
    "steel": Material((0.56, 0.57, 0.58), metallic=1.0, roughness=0.22),
    "iron": Material((0.020, 0.028, 0.030), metallic=0.15, roughness=0.36),
    "red": Material((0.62, 0.022, 0.016), roughness=0.22),
    "white": Material((0.80, 0.79, 0.75), roughness=0.28),
    "tip": Material((0.85, 0.30, 0.03), roughness=0.2, emissive=(0.25, 0.07, 0.0)),
}

RIM = [
    (0.207, -0.026), (0.211, -0.031), (0.240, -0.031), (0.247, -0.027), (0.250, -0.020), (0.250, -0.005),
    (0.246, -0.002), (0.246, 0.002), (0.250, 0.005), (0.250, 0.020), (0.247, 0.027), (0.240, 0.031),
    (0.211, 0.031), (0.207, 0.026),
]  # fmt: skip
"""(radius, height) m of the rim's section, a groove round its middle."""
_SPOKES = 5


def build(detail: float = 1.0) -> list[Node]:
    """Nodes `top`, which spins, and `stand`, which does not."""
    return [_top(max(int(96 * detail), 24)), _stand(max(int(64 * detail), 20))]


def _top(sides: int) -> Node:
    top = Node("top")
    up = (0.0, 0.0, WHEEL_Z)
    top.add("polished", hoop(RIM, sides=sides, crease_deg=50.0).moved(up))
    hub = [(0.0, -0.055), (0.022, -0.055), (0.030, -0.045), (0.034, -0.024), (0.052, -0.020), (0.056, -0.014),
           (0.056, 0.014), (0.052, 0.020), (0.034, 0.024), (0.030, 0.045), (0.022, 0.055), (0.0, 0.055)]  # fmt: skip
    top.add("brass", lathe(hub, sides=sides // 2).moved(up))
    for k in range(_SPOKES):
        top.add(
            "white" if k == 0 else "brass", _spoke().transformed(_about_z(2 * np.pi * k / _SPOKES)).moved(up)
        )
    # Two enamelled stretches of the rim: by their colours one sees how fast it spins, and which way round.
    for material, middle in (("red", 0.0), ("white", np.pi)):
        top.add(material, _enamel(middle, np.radians(34.0), max(sides // 5, 8)).moved(up))
    axle = [(0.0, 0.0), (0.0015, 0.0012), (0.0115, 0.050), (0.0115, 0.455), (0.009, 0.462), (0.009, 0.480),
            (0.0, 0.480)]  # fmt: skip
    top.add("steel", lathe(axle, sides=sides // 3, crease_deg=30.0))
    for z in (0.105, 0.395):
        ring = [(0.0, -0.012), (0.017, -0.012), (0.020, -0.008), (0.020, 0.008), (0.017, 0.012), (0.0, 0.012)]
        top.add("brass", lathe(ring, sides=sides // 3).moved((0.0, 0.0, z)))
    angle = np.linspace(-np.pi / 2, np.pi / 2, 13)
    knob = np.column_stack([0.024 * np.cos(angle), TIP_Z - 0.024 + 0.024 * np.sin(angle)])
    top.add("tip", lathe(knob, sides=sides // 3, crease_deg=60.0))
    return top


def _spoke() -> Mesh:
    """Along x from the hub into the rim, thinner outwards."""
    path = np.linspace([0.045, 0.0, 0.0], [0.215, 0.0, 0.0], 5)
    return tube(path, np.linspace(0.0165, 0.0115, 5), sides=14, flatten=0.62)


def _enamel(middle_rad: float, half_rad: float, sides: int) -> Mesh:
    """A skin over the rim's outside and its two faces, a millimetre thick."""
    section = np.array([(0.2175, -0.0316), (0.240, -0.0320), (0.2478, -0.0277), (0.2510, -0.020), (0.2510, 0.020),
                        (0.2478, 0.0277), (0.240, 0.0320), (0.2175, 0.0316)])  # fmt: skip
    angle = middle_rad + np.linspace(-half_rad, half_rad, sides)
    radius, height = section[:, :1], np.repeat(section[:, 1:], sides, axis=1)
    skin = grid(
        np.stack([radius * np.cos(angle), radius * np.sin(angle), height], axis=2),
        closed=False,
        crease_deg=50.0,
    )
    outward = np.einsum("kc,kc->", skin.normals[:, :2], skin.positions[:, :2])
    return skin if outward > 0.0 else skin.flipped()


def _stand(sides: int) -> Node:
    stand = Node("stand")
    ground = -STAND_M
    foot = [
        (0.0, ground - _BURIED_M), (0.31, ground - _BURIED_M), (0.31, ground + 0.012), (0.300, ground + 0.026),
        (0.215, ground + 0.036), (0.205, ground + 0.050), (0.110, ground + 0.066), (0.062, ground + 0.096),
        (0.0, ground + 0.096),
    ]  # fmt: skip
    stand.add("iron", lathe(foot, sides=sides, crease_deg=30.0))
    column = [
        (0.0, ground + 0.09), (0.050, ground + 0.09), (0.050, ground + 0.106), (0.036, ground + 0.118),
        (0.030, ground + 0.150), (0.0235, -0.50), (0.0185, -0.105), (0.0, -0.105),
    ]  # fmt: skip
    stand.add("iron", lathe(column, sides=sides // 2, crease_deg=30.0))
    for z, radius in ((ground + 0.165, 0.040), (-0.56, 0.033), (-0.12, 0.028)):
        collar = [(0.0, -0.014), (radius - 0.005, -0.014), (radius, -0.009), (radius, 0.009),
                  (radius - 0.005, 0.014), (0.0, 0.014)]  # fmt: skip
        stand.add("brass", lathe(collar, sides=sides // 2).moved((0.0, 0.0, z)))
    cup = [(0.0, -0.108), (0.0150, -0.108), (0.0150, -0.070), (0.0110, -0.040), (0.0130, -0.016), (0.0165, -0.006),
           (0.0165, -0.002), (0.0130, -0.001), (0.0040, -0.008), (0.0, -0.009)]  # fmt: skip
    stand.add("steel", lathe(cup, sides=sides // 2, crease_deg=25.0))
    for k in range(36):
        long = k % 9 == 0
        tick = box((0.034 if long else 0.018, 0.0035, 0.003)).moved((0.262, 0.0, ground + 0.0325))
        stand.add("polished" if long else "white", tick.transformed(_about_z(2 * np.pi * k / 36)))
    for k in range(3):
        screw = [(0.0, 0.0), (0.017, 0.0), (0.019, 0.003), (0.019, 0.014), (0.015, 0.018), (0.0, 0.018)]
        place = _about_z(2 * np.pi * (k + 0.5) / 3) @ np.array([0.155, 0.0, ground + 0.055])
        stand.add("brass", lathe(screw, sides=18).moved(place))
    return stand


def _about_z(angle_rad: float) -> FloatArray:
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
