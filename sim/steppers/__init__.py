"""What advances a lane: `dynamics.stepper_of` gives a compiled scheme, or the recursions of a tree of joints."""

from sim.compiler.stepper import FREE, Stepper

__all__ = ["FREE", "Stepper"]
