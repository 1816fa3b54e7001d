"""What advances a lane: a compiled scheme is one such stepper, a recursion in linear time may be another."""

from sim.steppers.stepper import FREE, Stepper

__all__ = ["FREE", "Stepper"]
