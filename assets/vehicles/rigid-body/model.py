"""The free rigid body: a bevelled slab, each face with its own paint, so that every turn can be read."""

from collections.abc import Mapping

import numpy as np

from assets.scripts.gltf import Material, Node
from assets.scripts.mesh import PAINT_FAR, FloatArray, Mesh
from assets.scripts.refine import refine
from assets.scripts.shapes import box, lathe, plate

SIZE = (2.0, 0.95, 0.36)
"""Edges [m]; principal moments of a homogeneous slab are then in the ratio 0.40 : 1.60 : 1.93."""

DETAILS = {"model": 1.0}
CELL_M = 0.04

MATERIALS: Mapping[str, Material] = {
    "shell": Material((0.60, 0.595, 0.57), roughness=0.32),
    "top": Material(
        (0.66, 0.65, 0.62),
        roughness=0.25,
        finish="livery",
        second=(0.015, 0.03, 0.09),
        accent=(0.8, 0.3, 0.02),
    ),
    "bottom": Material(
        (0.10, 0.105, 0.11),
        roughness=0.35,
        finish="livery",
        second=(0.45, 0.44, 0.42),
        accent=(0.8, 0.3, 0.02),
    ),
    "plus_x": Material((0.58, 0.03, 0.02), roughness=0.28),
    "minus_x": Material((0.12, 0.01, 0.01), roughness=0.4),
    "plus_y": Material((0.03, 0.36, 0.06), roughness=0.28),
    "minus_y": Material((0.01, 0.07, 0.015), roughness=0.4),
    "black": Material((0.015, 0.015, 0.016), roughness=0.4),
    "yellow": Material((0.80, 0.52, 0.02), roughness=0.3),
    "steel": Material((0.56, 0.57, 0.58), metallic=1.0, roughness=0.3),
}


def build(detail: float = 1.0) -> list[Node]:
    """One node: shell, inset face plates, centre-of-mass targets and an axle on each principal axis."""
    body = Node("body")
    body.add("shell", box(SIZE, bevel=0.05))
    half = np.asarray(SIZE) / 2
    for axis, sign, material in (
        (0, 1, "plus_x"),
        (0, -1, "minus_x"),
        (1, 1, "plus_y"),
        (1, -1, "minus_y"),
        (2, 1, "top"),
        (2, -1, "bottom"),
    ):
        turn = _face(axis, sign)
        u, v = (abs(turn[:, k]) @ half - 0.085 for k in (0, 1))
        panel = plate([(-u, -v), (u, -v), (u, v), (-u, v)], 0.02, bevel=0.006)
        panel = panel.transformed(turn).moved(turn[:, 2] * half[axis])
        body.add(material, _marked(panel) if axis == 2 else panel)
        radius = 0.6 * min(u, v)
        for k, colour in enumerate(("black", "yellow", "black", "yellow")):
            quarter = _sector(radius, k, sides=max(int(10 * detail), 4)).transformed(turn)
            body.add(colour, quarter.moved(turn[:, 2] * (half[axis] + 0.012)))
        stub = lathe([(0, 0), (0.035, 0), (0.035, 0.07), (0.02, 0.085), (0, 0.085)], sides=20)
        body.add("steel", stub.transformed(turn).moved(turn[:, 2] * half[axis]))
    return [body]


def _face(axis: int, sign: int) -> FloatArray:
    """(3, 3) axes of a face: along it, across it, outwards; on the flat faces "along" is body x."""
    columns = np.zeros((3, 3))
    normal = np.zeros(3)
    normal[axis] = sign
    along = np.array([0.0, 1.0, 0.0]) if axis == 0 else np.array([1.0, 0.0, 0.0])
    columns[:, 0], columns[:, 1], columns[:, 2] = along, np.cross(normal, along), normal
    return columns


def _marked(panel: Mesh) -> Mesh:
    """An arrow head towards +x in the second colour, and a stripe before it."""
    fine = _divided(panel)
    x, y = fine.positions[:, 0], fine.positions[:, 1]
    far = np.full(len(x), PAINT_FAR)
    arrow = (x - 0.55 + 0.9 * np.abs(y)) / np.hypot(1.0, 0.9)
    return fine.painted(np.column_stack([far, far, -arrow, arrow + 0.12]))


def _divided(panel: Mesh) -> Mesh:
    """Finer, because the arrow's distance bends at y = 0."""
    return refine(panel, lambda p: np.full(len(p), 0.0), within_m=1.0, passes=4)


def _sector(radius: float, quarter: int, *, sides: int) -> Mesh:
    angle = np.pi / 2 * (quarter + np.linspace(0, 1, sides))
    outline = np.vstack([[[0.0, 0.0]], radius * np.column_stack([np.cos(angle), np.sin(angle)])])
    return plate(outline, 0.006)
