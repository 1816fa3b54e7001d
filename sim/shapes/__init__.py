"""Solids: one file a kind, which measures, draws and writes itself. `KINDS` is all of them by name.

Whoever adds a kind writes its file and enters it here: then plans keep clear of it (`gap`, differentiable, by
numbers that may change without rebuilding), motions are checked against it (`distance`, exact), pictures draw it
(`surface`) and scene files say it (`text`, `read`).
"""

from sim.shapes.height_field import HeightField
from sim.shapes.polyhedra import Box, ConvexMesh
from sim.shapes.rounded import Capsule, Ellipsoid, Sphere
from sim.shapes.shape import Shape, Vector, footprints
from sim.shapes.upright import Cone, Cylinder, Drum

KINDS: dict[str, type[Shape]] = {
    kind.kind: kind
    for kind in (Sphere, Cylinder, Capsule, Box, Drum, Cone, ConvexMesh, Ellipsoid, HeightField)
}

__all__ = [
    "KINDS",
    "Box",
    "Capsule",
    "Cone",
    "ConvexMesh",
    "Cylinder",
    "Drum",
    "Ellipsoid",
    "HeightField",
    "Shape",
    "Sphere",
    "Vector",
    "footprints",
]
