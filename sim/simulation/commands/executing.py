"""Executing commands: each module of this room registers what its commands do."""

import math
from functools import singledispatch

from sim.platform.errors import InputError
from sim.scene import STEP_RANGE_S, Start
from sim.simulation.runs.scene_run import SceneRun


@singledispatch
def execute(command: object, run: SceneRun) -> str:
    """Carry a command out; returns what to tell the user, or nothing.

    Raises InputError where it is refused and Compiling where its kernel is not there yet: both leave the
    scene as it was.
    """
    raise InputError(f"unknown command {command!r}")


_FARTHEST = 1e5


def checked_start(start: Start) -> Start:
    """The start; raises InputError where it is too far, or none."""
    s = start
    numbers = (*s.position_w, *s.velocity_b, *s.omega_b, s.heading_rad, s.pitch_rad, s.roll_rad)
    if not all(math.isfinite(number) and abs(number) <= _FARTHEST for number in numbers):
        raise InputError(f"a start at {s.position_w} is refused; allowed: finite numbers up to {_FARTHEST:g}")
    return start


def checked_step(step_s: float) -> float:
    """The step [s]; raises InputError where it is too long or too short."""
    low, high = STEP_RANGE_S
    if not low <= step_s <= high:
        raise InputError(f"h = {step_s:g} s is refused; allowed: {low:g} to {high:g} s")
    return float(step_s)
