"""The spherical pendulum: a steel bob on a rod, origin at its middle, and the gantry with the joint that bears it."""

from collections.abc import Mapping

import numpy as np

from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import FloatArray, Mesh
from assets.scripts.shapes import box, hoop, lathe, tube

BOB_M = 0.075
"""Radius of the bob."""
STAND_M = 1.8
"""Height of the fixed point above the ground."""
HALF_WIDTH_M = 1.62
_BURIED_M = 0.12
"""The feet reach this far into ground that is not level."""

DETAILS = {"model": 1.0}
CELL_M = 0.02

MATERIALS: Mapping[str, Material] = {
    "steel": Material((0.56, 0.57, 0.58), metallic=1.0, roughness=0.22),
    "brass": Material((0.78, 0.52, 0.17), metallic=1.0, roughness=0.26),
    "red": Material((0.62, 0.022, 0.016), roughness=0.22),
    "iron": Material((0.020, 0.028, 0.030), metallic=0.15, roughness=0.36),
}


def build(detail: float = 1.0) -> list[Node]:
    """Nodes `bob`, `rod` of one metre, whose length the vehicle's stretches, and `gantry`, which stands."""
    sides = max(int(64 * detail), 20)
    return [_bob(sides), _rod(sides), _gantry(sides)]


def _bob(sides: int) -> Node:
    bob = Node("bob")
    angle = np.linspace(-np.pi / 2, np.pi / 2, 25)
    ball = np.column_stack([BOB_M * np.cos(angle), BOB_M * np.sin(angle)])
    bob.add("red", lathe(ball, sides=sides, crease_deg=60.0))
    ring = [(BOB_M - 0.004, -0.007), (BOB_M + 0.002, -0.006), (BOB_M + 0.002, 0.006), (BOB_M - 0.004, 0.007)]
    bob.add("brass", hoop(ring, sides=sides, crease_deg=30.0))
    collar = [(0.0, 0.066), (0.020, 0.066), (0.016, 0.088), (0.0, 0.092)]
    bob.add("brass", lathe(collar, sides=sides // 2, crease_deg=30.0))
    return bob


def _rod(sides: int) -> Node:
    rod = Node("rod")
    rod.add(
        "steel",
        lathe([(0.0, -1.0), (0.011, -1.0), (0.011, 0.0), (0.0, 0.0)], sides=sides // 3, crease_deg=30.0),
    )
    return rod


def _gantry(sides: int) -> Node:
    gantry = Node("gantry")
    ground, top = -STAND_M, 0.075
    for side in (-1.0, 1.0):
        foot = [(0.0, ground - _BURIED_M), (0.20, ground - _BURIED_M), (0.20, ground + 0.012), (0.185, ground + 0.026),
                (0.060, ground + 0.060), (0.036, ground + 0.10), (0.0, ground + 0.10)]  # fmt: skip
        place = (0.0, side * HALF_WIDTH_M, 0.0)
        gantry.add("iron", lathe(foot, sides=sides, crease_deg=30.0).moved(place))
    gantry.add("iron", _arch(ground, top, sides // 2))
    gantry.add("iron", box((0.05, 0.09, 0.035)).moved((0.0, 0.0, top - 0.035)))
    joint = [(0.0, -0.018), (0.012, -0.016), (0.018, 0.0), (0.018, 0.030), (0.012, 0.040), (0.0, 0.040)]
    gantry.add("brass", lathe(joint, sides=sides // 2, crease_deg=30.0))
    return gantry


def _arch(ground: float, top: float, sides: int) -> Mesh:
    """One bent tube: up, across above the fixed point, and down."""
    corner = 0.30
    bend = np.linspace(0.0, np.pi / 2, 9)
    left = np.column_stack(
        [np.zeros(9), -HALF_WIDTH_M + corner * (1 - np.cos(bend)), top - corner * (1 - np.sin(bend))]
    )
    half = np.vstack([[[0.0, -HALF_WIDTH_M, ground + 0.05]], left])
    path: FloatArray = np.vstack([half, half[::-1] * (1.0, -1.0, 1.0)])
    return tube(path, np.full(len(path), 0.026), sides=sides, up=(1.0, 0.0, 0.0))
