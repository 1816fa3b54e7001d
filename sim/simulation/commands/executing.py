"""Executing commands: each module of this room registers what its commands do."""

from functools import singledispatch

from sim.platform.errors import InputError
from sim.scene import STEP_RANGE_S
from sim.simulation.runs.scene_run import SceneRun


@singledispatch
def execute(command: object, run: SceneRun) -> str:
    """Carry a command out; returns what to tell the user, or nothing.

    Raises InputError where it is refused and Compiling where its kernel is not there yet: both leave the
    scene as it was.
    """
    raise InputError(f"unknown command {command!r}")


def checked_step(step_s: float) -> float:
    """The step [s]; raises InputError where it is too long or too short."""
    low, high = STEP_RANGE_S
    if not low <= step_s <= high:
        raise InputError(f"h = {step_s:g} s is refused; allowed: {low:g} to {high:g} s")
    return float(step_s)
