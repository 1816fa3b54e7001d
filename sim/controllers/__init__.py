"""Controllers of one's own: a class that says what the controls are, how it is called, and what it may measure."""

from sim.controllers.controller import (
    Controller,
    Gain,
    PilotInput,
    changed_gains,
    gain_values,
    gains_of,
    made_controller,
    plotted_by,
    with_gains,
)
from sim.controllers.loop import ControllerFault, ControlLoop

__all__ = [
    "ControlLoop",
    "Controller",
    "ControllerFault",
    "Gain",
    "PilotInput",
    "changed_gains",
    "gain_values",
    "gains_of",
    "made_controller",
    "plotted_by",
    "with_gains",
]
