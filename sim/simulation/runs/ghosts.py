"""Motions that are shown beside the lanes and are not simulated: measured ones on the same clock, rivals of a race."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from sim.platform.errors import InputError
from sim.scene import MOST_LANES
from sim.scene.measured import Measured
from sim.scene.race import Standing
from sim.simulation.lanes.snapshot import MEASURED, LaneSnapshot, LaneStatus, Tint, next_tint

RIVAL_TINTS: tuple[Tint, ...] = ((1.0, 0.72, 0.10), (0.20, 0.85, 0.95))
"""Of the rivals of a race, in their order: as many are shown."""


class Ghosts:
    """What was measured, each with its colour."""

    def __init__(self) -> None:
        self._shown: list[tuple[Measured, Tint]] = []

    def add(self, measured: Measured, lanes: tuple[LaneSnapshot, ...]) -> str:
        """Show one more; returns its name. Raises InputError where there is no room."""
        taken = {lane.name for lane in lanes}
        if len(taken) >= MOST_LANES:
            raise InputError(f"no more than {MOST_LANES} lanes")
        name, count = measured.name, 2
        while name in taken:
            name, count = f"{measured.name} #{count}", count + 1
        self._shown.append((replace(measured, name=name), next_tint(lane.tint for lane in lanes)))
        return name

    def remove(self, name: str) -> bool:
        """Show it no more; whether it was there."""
        left = [(measured, tint) for measured, tint in self._shown if measured.name != name]
        found, self._shown = len(left) < len(self._shown), left
        return found

    def pictures(self, flown: LaneSnapshot, clock_s: float) -> tuple[LaneSnapshot, ...]:
        """At a moment; what is no take has the flown vehicle's model, its other bodies as they stand there."""
        return tuple(_picture(measured, tint, flown, clock_s, clock_s) for measured, tint in self._shown)


def rival_ghosts(standing: Standing, flown: LaneSnapshot, clock_s: float) -> tuple[LaneSnapshot, ...]:
    """The rivals of a race at a moment: where they are as long after the first gate as the flown vehicle is.

    Until it passes that gate they wait at their beginning, after the last one at their end.
    """
    race_s = (
        clock_s - standing.start_s
        if standing.running
        else math.inf
        if standing.lap is not None
        else -math.inf
    )
    shown = []
    for rival, tint in zip(standing.rivals, RIVAL_TINTS, strict=False):
        motion = rival.motion
        at_s = min(max(race_s, float(motion.time[0])), float(motion.time[-1]))
        lane = replace(_picture(motion, tint, flown, clock_s, at_s), integrator=rival.origin)
        # Each lap begins with a jump.
        begun = 2 * standing.laps + standing.running
        shown.append(replace(lane, generation=(flown.generation << 20) + begun))
    return tuple(shown)


def _picture(
    measured: Measured, tint: Tint, flown: LaneSnapshot, clock_s: float, at_s: float
) -> LaneSnapshot:
    """As it is at `at_s` of its own time, shown at `clock_s`."""
    span_s = max(flown.time_current_s - flown.time_previous_s, 0.0)
    T_wb, twist_b = measured.at(at_s)
    before_w, _ = measured.at(at_s - span_s)
    unknown = np.full(6, math.nan)
    model = _model(measured, flown, at_s)
    return replace(
        model,
        name=measured.name,
        integrator=MEASURED,
        step_s=measured.interval_s,
        tint=tint,
        ghost=True,
        time_previous_s=clock_s - span_s,
        time_current_s=clock_s,
        bodies_previous=_about(before_w, model.bodies),
        bodies=_about(T_wb, model.bodies),
        twist_b=twist_b,
        control_wrench_b=np.zeros(6),
        environment_wrench_b=np.zeros(6),
        energy_J=math.nan,
        energy_start_J=math.nan,
        momentum_w=unknown,
        momentum_start_w=unknown,
        newton_iterations=0.0,
        step_cost_s=0.0,
        height_above_ground_m=math.nan,
        on_ground=False,
        borne_Ns=math.nan,
        slip_mps=math.nan,
        status=LaneStatus.RUNNING,
        status_text="",
        own_pilot=True,
        deviation=None,
        observables_start={},
        trails={},
    )


def _about(T_wb: np.ndarray, bodies: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """All bodies where they stand about the main one, which comes first, when that is at T_wb."""
    moved = T_wb @ np.linalg.inv(next(iter(bodies.values())))
    return {name: moved @ T for name, T in bodies.items()}


def _model(measured: Measured, flown: LaneSnapshot, at_s: float) -> LaneSnapshot:
    """What is drawn of it: the vehicle that it was, or the flown one as that is now."""
    moving = measured.moving
    if moving is None:
        unknown = {name: np.full(np.shape(v), math.nan) for name, v in flown.observables.items()}
        return replace(flown, observables=unknown)
    k = measured.sample(at_s)
    return replace(
        flown,
        vehicle=moving.vehicle,
        config=moving.config,
        bodies={name: poses[k] for name, poses in moving.bodies.items()},
        shape=moving.shape[k],
        controls=moving.controls[k],
        parameters=moving.parameters,
        observables={name: values[k] for name, values in moving.observables.items()},
        units={},
        pivot_w=None,
        pull=None,
        links=moving.links,
    )
