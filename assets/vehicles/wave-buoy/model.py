"""A wave buoy: a sphere of 5 m radius, its middle 2 m above the origin, striped, with a hatch, a rail and a lamp."""

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import Mesh
from assets.scripts.shapes import lathe, tube

RADIUS_M, MIDDLE_M = 5.0, 2.0
DETAILS = {"model": 1.0, "far": 0.4}
CELL_M = 0.25

MATERIALS: Mapping[str, Material] = {
    "yellow": Material((0.75, 0.42, 0.02), roughness=0.35),
    "white": Material((0.66, 0.65, 0.62), roughness=0.4),
    "antifouling": Material((0.22, 0.03, 0.02), roughness=0.6),
    "steel": Material((0.30, 0.305, 0.31), metallic=0.8, roughness=0.45),
    "lamp": Material((0.6, 0.08, 0.02), roughness=0.2, emissive=(3.0, 0.35, 0.08)),
}
_LATITUDES_DEG = (2.25, 4.5, 7.0, 10.0, 14.0, 19.0, 25.0, 32.0, 41.0, 53.0, 68.0, 90.0)
_SIDES = 40
"""Of the surface by which it floats, on either side of its waterline."""


def _zone(
    low_deg: float, high_deg: float, steps: int, radius_m: float = RADIUS_M
) -> list[tuple[float, float]]:
    """(radius, height) of points of the sphere between two latitudes."""
    angles = np.radians(np.linspace(low_deg, high_deg, steps + 1))
    on_axis = np.abs(np.abs(angles) - np.pi / 2) < 1e-9
    rings = np.where(on_axis, 0.0, radius_m * np.cos(angles))
    return list(zip(rings.tolist(), (MIDDLE_M + radius_m * np.sin(angles)).tolist(), strict=True))


def build(detail: float = 1.0) -> list[Node]:
    """One node, `buoy`."""
    node, sides = Node("buoy"), max(int(72 * detail), 24)
    steps = max(int(16 * detail), 6)
    for paint, low, high in (
        ("antifouling", -90.0, -3.0),
        ("white", -3.0, 3.0),
        ("yellow", 3.0, 40.0),
        ("white", 40.0, 48.0),
        ("yellow", 48.0, 90.0),
    ):
        count = max(int(steps * (high - low) / 45.0), 1)
        node.add(paint, lathe(_zone(low, high, count), sides=sides, crease_deg=60.0))
    node.add("steel", lathe([(0, 7.2), (0.75, 7.15), (0.7, 6.9), (0, 6.9)], sides=sides // 2))
    ring = [1.5 * np.array([np.cos(a), np.sin(a)]) for a in np.linspace(0.0, 2.0 * np.pi, 17)]
    for height in (7.3, 7.7):
        node.add(
            "steel",
            *(tube([(*a, height), (*b, height)], 0.035, sides=6) for a, b in pairwise(ring)),
        )
    node.add("steel", *(tube([(*a, 6.6), (*a, 7.7)], 0.035, sides=6) for a in ring[:-1:2]))
    node.add("steel", tube([(0, 0, 7.1), (0, 0, 9.4)], [0.07, 0.04], sides=8))
    node.add("lamp", lathe([(0, 9.35), (0.16, 9.35), (0.16, 9.6), (0.06, 9.7), (0, 9.72)], sides=12))
    return [node]


def floating() -> list[Mesh]:
    """The sphere: across, its rings have the area of a true one's, and from ring to ring its halves as much volume."""
    angles = np.radians((0.0, *_LATITUDES_DEG))
    r, z = RADIUS_M * np.cos(angles), RADIUS_M * np.sin(angles)
    r[-1] = 0.0
    volume = np.pi / 3.0 * float(np.diff(z) @ (r[:-1] ** 2 + r[:-1] * r[1:] + r[1:] ** 2))
    z *= 2.0 / 3.0 * np.pi * RADIUS_M**3 / volume
    turn = 2.0 * np.pi / _SIDES
    r *= np.sqrt(turn / np.sin(turn))
    rings, heights = np.r_[r[:0:-1], r], MIDDLE_M + np.r_[-z[:0:-1], z]
    return [lathe(list(zip(rings.tolist(), heights.tolist(), strict=True)), sides=_SIDES)]


def wetted(bands: int) -> list[tuple[float, float]]:
    """(radius, height) of points of the sphere, from the waterline at its middle down to where it is deepest."""
    return _zone(-90.0, 0.0, bands)[::-1]
