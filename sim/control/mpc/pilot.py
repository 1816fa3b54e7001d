"""The pilot of model predictive control: flies by the loop's plans, tracks the last one where none follows, then holds.

A late plan is one that does not come by the moment at which it was to take over: it is left, and the last plan goes on,
tracked, to its end, where it rests; then the vehicle's own mode holds it there. Clocks decide which plans come in time
and nothing else: what was flown is recorded as controls, with the steps of every plan.
"""

import copy
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sim.control.mpc.loop import SAME_S, MpcLoop, TimedPlan
from sim.control.mpc.plans import PlanSource
from sim.control.pilot import Automatic, Pilot, PilotInput, Sensed
from sim.control.plan_following import PlannedPilot, regulator
from sim.steppers.dynamics import Dynamics
from sim.vehicles import Vehicle

LATE_S, _LATE_CYCLES = 0.25, 2.0
"""Age of the flown plan, and how many cycles of asking and waiting: after both it is tracked, and called late."""

MpcPhase = Literal["preparing", "flying", "late", "holding"]


@dataclass(frozen=True, slots=True, eq=False)
class MpcStatus:
    """How the plans that are made in flight get on."""

    phase: MpcPhase
    """`preparing`: there is no plan yet; `late`: an old one is tracked; `holding`: it has ended, and is held there."""
    age_s: float
    """Simulated time since the flown plan was asked for."""
    lag_s: float
    """Simulated time that a plan is given, from the moment that it is asked for until it takes over."""
    solves_per_s: float
    """Answers a second of wall time, lately."""
    solve_s: float
    """Wall time of a solve, the median of the latest."""
    asked: int
    failed: int
    late: int
    """Plans that came after the moment at which they were to take over."""
    reason: str
    """Why the last one was not found; empty where it was."""
    places_w: np.ndarray | None
    """(N+1, 3) m: the plan that is flown."""


class MpcPilot(Automatic):
    """Flies one lane by the plans of a source. Sticks are not heard, but by `hand` before the first plan."""

    def __init__(
        self,
        source: PlanSource,
        hand: Pilot,
        rest: Callable[[], Pilot],
        *,
        wall: Callable[[], float] = time.perf_counter,
    ) -> None:
        """rest: makes who holds the vehicle where a plan has ended. wall: the clock that says what is late."""
        self._loop = MpcLoop(source, wall=wall)
        self._hand, self._rest = hand, rest
        self.taken_over: TimedPlan | None = None
        """The plan whose first controls those are that were given last; None where they go on with one."""
        self._applied: np.ndarray | None = None
        self._follower: Pilot | None = None
        """Tracks a plan that has grown old."""
        self._old = False
        """Whether it has: until the next one takes over, however long that one took."""
        self._holder: Pilot | None = None
        """Holds the vehicle where it has ended."""

    def __deepcopy__(self, memo: dict[int, object]) -> Pilot:
        """A copy flies by hand: plans are made for one lane."""
        return copy.deepcopy(self._hand, memo)

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Those of the plan that is flown now; the next one is asked for when it is time."""
        loop, now_s, dynamics = self._loop, sensed.time_s, sensed.dynamics
        assert dynamics is not None, "which lanes tell their pilots"
        self.taken_over = loop.hand_over(now_s)
        if self.taken_over is not None:
            self._follower = self._holder = None
            self._old = False
        self._applied = self._flown(dynamics, sticks, sensed, vehicle, dt_s)
        loop.ask(now_s, dt_s, sensed.node, dynamics, self._expected)
        return self._applied

    def status(self, now_s: float) -> MpcStatus:
        """How it gets on, at a simulated time."""
        loop, flown = self._loop, self._loop.flown
        return MpcStatus(
            phase=self._phase,
            age_s=loop.age_s(now_s),
            lag_s=loop.lag_s,
            solves_per_s=loop.solves_per_s,
            solve_s=loop.solve_s,
            asked=loop.asked,
            failed=loop.failed,
            late=loop.late,
            reason=loop.reason,
            places_w=None if flown is None else flown.plan.places_w,
        )

    @property
    def _phase(self) -> MpcPhase:
        if self._loop.flown is None:
            return "preparing"
        if self._holder is not None:
            return "holding"
        return "late" if self._old else "flying"

    def _is_late(self, age_s: float) -> bool:
        loop = self._loop
        return age_s > max(LATE_S, _LATE_CYCLES * (loop.lag_s + 1.0 / loop.source.rate_hz))

    def _expected(self, time_s: float) -> np.ndarray:
        """Controls in a moment, as far as they are known."""
        leads = self._follower is None and self._holder is None
        planned = self._loop.held(time_s) if leads or self._loop.coming else None
        assert self._applied is not None
        return self._applied if planned is None else planned

    def _flown(
        self, dynamics: Dynamics, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float
    ) -> np.ndarray:
        leading, now_s = self._loop.flown, sensed.time_s
        if leading is None:
            return self._hand.controls(sticks, sensed, vehicle, dt_s)
        plan, since_s = leading.plan, now_s - leading.since_s
        if since_s >= plan.duration_s - SAME_S:
            self._holder = self._holder or self._rest()
            return self._holder.controls(PilotInput(), sensed, vehicle, dt_s)
        self._old = self._old or self._is_late(now_s - leading.asked_s)
        if self._old and self._follower is None:
            self._follower = _tracking(leading, dynamics, since_s, dt_s)
        if self._follower is not None:
            return self._follower.controls(sticks, sensed, vehicle, dt_s)
        return plan.held(since_s)


def _tracking(leading: TimedPlan, dynamics: Dynamics, since_s: float, dt_s: float) -> Pilot | None:
    """Who feeds errors back along what is left of a plan, from the beginning of one of its steps on."""
    plan = leading.plan
    row = plan.row(since_s)
    if since_s - row * plan.step_s > dt_s - SAME_S:
        return None
    controls = plan.controls[row:]
    along = regulator(dynamics.vehicle, dynamics.kernel, plan.step_s, plan.nodes[row], controls)
    return PlannedPilot(controls, plan.step_s, along, since_s=leading.since_s + row * plan.step_s)
