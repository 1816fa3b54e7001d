"""Controllers of one's own: a class that says what the controls are, how it is called, and what it may measure."""

from sim.controllers.controller import Controller, Gain, PilotInput, gains_of, made_controller, with_gains
from sim.controllers.loop import ControllerFault, ControlLoop

__all__ = [
    "ControlLoop",
    "Controller",
    "ControllerFault",
    "Gain",
    "PilotInput",
    "gains_of",
    "made_controller",
    "with_gains",
]
