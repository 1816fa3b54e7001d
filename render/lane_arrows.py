"""Arrows at a vehicle: what forces it, how it moves, and which way its body points."""

import numpy as np

from render.cameras.framing import framing_of
from render.frame import Arrow
from render.shown import Shown
from sim.snapshot import LaneSnapshot

_FORCE_ARROW = 0.3
"""Drawn length of the largest force seen on a lane, of the distance from which the vehicle is looked at."""
_MOMENTUM_ARROW_M = 0.75
"""Drawn length of a top's angular momentum at its start, and of its axes."""
_AXES_M = 3.0
_LEAST_SPEED_MPS = 0.3
_COLOURS = {
    "control": (1.0, 0.45, 0.05),
    "environment": (0.10, 0.75, 0.95),
    "velocity": (0.25, 0.95, 0.20),
    "momentum": (0.85, 0.25, 0.95),
    "x": (0.90, 0.06, 0.05),
    "y": (0.08, 0.70, 0.10),
    "z": (0.06, 0.22, 0.95),
}


class LaneArrows:
    """Keeps the scale of force arrows: the largest force seen on each lane, whoever exerts it."""

    def __init__(self) -> None:
        self._largest_force_N: dict[tuple[str, str], float] = {}

    def note(self, lane: LaneSnapshot) -> None:
        key = (lane.name, lane.vehicle)
        sizes = [
            float(np.linalg.norm(each[3:])) for each in (lane.control_wrench_b, lane.environment_wrench_b)
        ]
        for size in filter(np.isfinite, sizes):
            self._largest_force_N[key] = max(self._largest_force_N.get(key, 1e-9), size)

    def of(self, shown: Shown, *, forces: bool, frame: bool) -> list[Arrow]:
        """`forces`: control and environment force, and velocity; of what is held its angular momentum.

        `frame`: body axes.
        """
        arrows: list[Arrow] = []
        R, origin = shown.T_wb[:3, :3], shown.T_wb[:3, 3]
        if forces:
            longest_m = _FORCE_ARROW * framing_of(shown.lane.vehicle).distance_m
            scale = longest_m / self._largest_force_N.get((shown.lane.name, shown.lane.vehicle), 1.0)
            arrows += [
                Arrow(origin, scale * R @ shown.lane.control_wrench_b[3:], _COLOURS["control"]),
                Arrow(origin, scale * R @ shown.lane.environment_wrench_b[3:], _COLOURS["environment"]),
            ]
            velocity_w = R @ shown.lane.twist_b[3:]
            if np.linalg.norm(velocity_w) > _LEAST_SPEED_MPS:
                arrows.append(Arrow(origin, 0.3 * velocity_w, _COLOURS["velocity"]))
        start = shown.lane.momentum_start_w[:3]
        held = shown.lane.pivot_w is not None
        if forces and held:
            scale = _MOMENTUM_ARROW_M / max(float(np.linalg.norm(start)), 1e-9)
            arrows.append(Arrow(origin, scale * shown.lane.momentum_w[:3], _COLOURS["momentum"]))
        if frame:
            size_m = _MOMENTUM_ARROW_M if held else _AXES_M
            arrows += [Arrow(origin, size_m * R[:, k], _COLOURS[axis]) for k, axis in enumerate("xyz")]
        return arrows
