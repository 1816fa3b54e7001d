"""Solids: one file a kind, which measures, draws and writes itself. `KINDS` is all of them by name.

Whoever adds a kind writes its file and enters it here: then plans keep clear of it (`gap`, differentiable, by
numbers that may change without rebuilding), motions are checked against it (`distance`, exact), pictures draw it
(`surface`) and scene files say it (`text`, `read`).
"""

from sim.shapes.box import Box
from sim.shapes.capsule import Capsule
from sim.shapes.cone import Cone
from sim.shapes.convex_mesh import ConvexMesh
from sim.shapes.cylinder import Cylinder
from sim.shapes.drum import Drum
from sim.shapes.ellipsoid import Ellipsoid
from sim.shapes.height_field import HeightField
from sim.shapes.shape import Shape, Vector, footprints
from sim.shapes.sphere import Sphere

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
