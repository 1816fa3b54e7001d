"""A disc that rolls: a spoked wheel of 0.5 m radius, origin at its centre, axle along y."""

from collections.abc import Mapping

import numpy as np

from assets.scripts.gltf import Material, Node
from assets.scripts.wheel import rim, tyre

RADIUS = 0.5

DETAILS = {"model": 1.0}
CELL_M = 0.02

MATERIALS: Mapping[str, Material] = {
    "rubber": Material((0.022, 0.022, 0.023), roughness=0.8),
    "rim": Material((0.70, 0.18, 0.015), roughness=0.28),
    "steel": Material((0.55, 0.56, 0.57), metallic=1.0, roughness=0.3),
}


def build(detail: float = 1.0) -> list[Node]:
    """One node, `disc`."""
    disc = Node("disc")
    sides = max(int(56 * detail), 16)
    disc.add("rubber", tyre(RADIUS, 0.09, sides=sides))
    disc.add("rim", rim(RADIUS, 0.085, spokes=5, sides=sides))
    disc.add("steel", rim(RADIUS, 0.085, spokes=5, sides=sides).transformed(np.diag([-0.97, -1.0, 0.97])))
    return [disc]
