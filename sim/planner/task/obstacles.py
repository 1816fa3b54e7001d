"""What tasks keep clear of: shapes whose numbers are parameters of a plan, so that dragging one rebuilds nothing."""

from sim.shapes import Box, Capsule, Cone, ConvexMesh, Cylinder, Drum, Shape, Sphere

__all__ = [
    "LOOKS",
    "Box",
    "Capsule",
    "Cone",
    "ConvexMesh",
    "Cylinder",
    "Drum",
    "Obstacle",
    "Sphere",
    "entered",
    "label",
]

Obstacle = Shape
LOOKS = ("", "barrels", "buoy", "crates", "mast", "rock", "saloon", "estate", "van", "ship", "kerb", "shown")
"""What an obstacle may be drawn as; empty: as the bare shape. A kerb is part of the world's own ground, and what is
shown is part of another obstacle's model."""


def label(obstacle: Obstacle, index: int) -> str:
    """What messages call it."""
    return obstacle.name or f"{obstacle.kind} {index + 1}"


def entered(obstacle: Obstacle, index: int) -> str:
    """What failures call it when the motion goes through it."""
    return f"obstacle {label(obstacle, index)} is entered"
