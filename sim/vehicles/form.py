"""What a vehicle declares, and so which equations an integrator has to have for it."""

from enum import Enum


class Form(Enum):
    """By name; the value says it in words."""

    EULER_POINCARE = "an inertia and forces on a group (holonomic)"
    """`HolonomicVehicle`."""
    REDUCED_DALEMBERT = "a shape and constraints on its velocity (nonholonomic)"
    """`NonholonomicVehicle`."""
    GROUP_ACTION = "a group that moves it about a space of its own"
    """`ActionVehicle`."""
    TREE = "a tree of bodies and joints"
    """`ArticulatedVehicle`."""
    CLOSED_TREE = "a tree of bodies and joints with closed loops"
    """`ClosedVehicle`."""


TREES = frozenset({Form.TREE, Form.CLOSED_TREE})
"""Those that recursions over joints advance."""
