"""The pilot of plans: they are made anew all the time from where the vehicle will be, each taking over from the last.

Late is what does not come by the moment at which it was to take over: it is left, and the last plan goes on, tracked,
to its end, where it rests; then the vehicle's own mode holds it there. Clocks decide which plans come in time and
nothing else: what was flown is recorded as controls, with the steps of every plan.
"""

import copy
import math
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sim.commands import PilotInput
from sim.control.pilot import Pilot, Sensed
from sim.control.plan_following import (
    SAME_S,
    Answered,
    Asked,
    Handover,
    Leading,
    PlannedPilot,
    PlanSource,
    stepped,
)
from sim.control.tracking import track
from sim.platform.errors import InputError
from sim.snapshot import PursuitPhase, PursuitPicture
from sim.vehicles import Vehicle

if TYPE_CHECKING:
    from sim.simulation.lane import Lane

LATE_S, _LATE_TURNS = 0.25, 2.0
"""Age of the flown plan, and how many turns of asking and waiting: after both it is tracked, and called late."""
GONE_S = 30.0
"""Wall time after which an answer is no longer waited for."""
_LEAST_LAG_S, _FIRST_LAG_S, _MOST_LAG_S = 0.02, 0.03, 0.15
_SPARE, _SPARE_S = 1.2, 0.003
"""By how much the lag exceeds what most of the latest answers have taken."""
_MOST_SHARE = 90.0
_REMEMBERED = 30


@dataclass(frozen=True, slots=True)
class _Pending:
    """A plan that has been asked for."""

    number: int
    planned_s: float
    since_s: float
    """From when on it is to be flown."""
    wall_s: float
    """When it was asked for."""

    @property
    def due_s(self) -> float:
        """Wall time at which it is late: simulated time may be ahead, and then waits."""
        return self.wall_s + self.since_s - self.planned_s


class PursuitPilot:
    """Flies one lane by the plans of a source. Sticks are not heard, but by `hand` before the first plan."""

    def __init__(
        self,
        lane: "Lane",
        source: PlanSource,
        hand: Pilot,
        rest: Callable[[], Pilot],
        *,
        wall: Callable[[], float] = time.perf_counter,
    ) -> None:
        """rest: makes who holds the vehicle where a plan has ended. wall: the clock that tells what is late."""
        self._lane, self._source, self._hand, self._rest, self._wall = lane, source, hand, rest, wall
        self._handover = Handover()
        self._given: np.ndarray | None = None
        self._pending: _Pending | None = None
        self._number, self._next_s = 0, -math.inf
        self._follower: Pilot | None = None
        """Tracks a plan that has grown old."""
        self._old = False
        """Whether it has: until the next one takes over, however long that one took."""
        self._holder: Pilot | None = None
        """Holds the vehicle where it has ended."""
        self._took_s: deque[float] = deque(maxlen=_REMEMBERED)
        self._solve_s: deque[float] = deque(maxlen=_REMEMBERED)
        self._heard_s: deque[float] = deque(maxlen=_REMEMBERED)
        self._asked = self._failed = self._late = 0
        self._told = ""

    def __deepcopy__(self, memo: dict[int, object]) -> Pilot:
        """A copy flies by hand: plans are made for one lane."""
        return copy.deepcopy(self._hand, memo)

    def controls(self, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float) -> np.ndarray:
        """Those of the plan that is flown now; the next one is asked for when it is time."""
        now_s = self._lane.time_s
        self._hear(self._source.answers())
        pending = self._pending
        if pending is not None and now_s >= pending.since_s - SAME_S:
            self._hear(self._source.answers(max(pending.due_s - self._wall(), 0.0)))
            self._miss(now_s)
        taken = self._handover.turn(now_s)
        if taken is not None:
            self._follower = self._holder = None
            self._old = False
            self._lane.note_plan(taken.planned_s)
        self._given = self._flown(now_s, sticks, sensed, vehicle, dt_s)
        self._ask(now_s, dt_s)
        return self._given

    @property
    def lag_s(self) -> float:
        """From where a plan is asked for to where it takes over: what most answers take, and a little more."""
        if not self._took_s:
            return _FIRST_LAG_S
        most = float(np.percentile(self._took_s, _MOST_SHARE))
        return min(max(_SPARE * most + _SPARE_S, _LEAST_LAG_S), _MOST_LAG_S)

    def picture(self) -> PursuitPicture:
        """What there is to see of it."""
        now_s, flown = self._lane.time_s, self._handover.flown
        age_s = self._handover.age_s(now_s)
        heard = list(self._heard_s)
        return PursuitPicture(
            phase=self._phase,
            age_s=age_s,
            lag_s=self.lag_s,
            solves_per_s=(len(heard) - 1) / (heard[-1] - heard[0]) if len(heard) > 1 else 0.0,
            solve_s=float(np.median(self._solve_s)) if self._solve_s else 0.0,
            asked=self._asked,
            failed=self._failed,
            late=self._late,
            told=self._told,
            places_w=None if flown is None else flown.route.places_w,
        )

    @property
    def _phase(self) -> PursuitPhase:
        if self._handover.flown is None:
            return "preparing"
        if self._holder is not None:
            return "holding"
        return "late" if self._old else "flying"

    def _is_late(self, age_s: float) -> bool:
        return age_s > max(LATE_S, _LATE_TURNS * (self.lag_s + 1.0 / self._source.rate_hz))

    def _hear(self, answers: list[Answered]) -> None:
        for answer in answers:
            pending = self._pending
            if pending is None or answer.number != pending.number:
                continue
            wall_s = self._wall()
            self._pending = None
            self._told = answer.told
            self._took_s.append(wall_s - pending.wall_s)
            self._solve_s.append(answer.seconds)
            self._heard_s.append(wall_s)
            if answer.route is None:
                self._failed += 1
            elif self._lane.time_s > pending.since_s + SAME_S:
                self._late += self._handover.flown is not None
            else:
                self._handover.expect(answer.route, pending.planned_s, pending.since_s)

    def _miss(self, now_s: float) -> None:
        """Nobody answers any more: the next question may be asked."""
        pending = self._pending
        if pending is not None and self._wall() - pending.wall_s > GONE_S:
            self._pending, self._told = None, "the planner does not answer"

    def _ask(self, now_s: float, dt_s: float) -> None:
        if self._pending is not None or now_s < self._next_s - SAME_S:
            return
        # Never before one that is expected already.
        after_s = self._handover.coming[-1].since_s - now_s + dt_s if self._handover.coming else dt_s
        periods = max(math.ceil(self.lag_s / dt_s - 1e-6), round(after_s / dt_s), 1)
        m = self._lane.method
        rows = [self._expected(now_s + k * dt_s) for k in range(periods)]
        try:
            node = stepped(m.vehicle, m.kernel, m.step_s, self._lane.node, rows, m.control_steps)
        except InputError as refusal:
            self._told = str(refusal)
            return
        self._number += 1
        self._asked += 1
        self._next_s = now_s + 1.0 / self._source.rate_hz
        self._pending = _Pending(self._number, now_s, now_s + periods * dt_s, self._wall())
        scheme = m.kernel.integrator
        options = {option: getattr(scheme, option) for option in scheme.options}
        self._source.ask(Asked(self._number, m.vehicle, scheme.name, options, node))

    def _expected(self, time_s: float) -> np.ndarray:
        """Controls in a moment, as far as they are known."""
        leads = self._follower is None and self._holder is None
        planned = self._handover.held(time_s) if leads or self._handover.coming else None
        assert self._given is not None
        return self._given if planned is None else planned

    def _flown(
        self, now_s: float, sticks: PilotInput, sensed: Sensed, vehicle: Vehicle, dt_s: float
    ) -> np.ndarray:
        leading = self._handover.flown
        if leading is None:
            return self._hand.controls(sticks, sensed, vehicle, dt_s)
        route, since_s = leading.route, now_s - leading.since_s
        if since_s >= route.duration_s - SAME_S:
            self._holder = self._holder or self._rest()
            return self._holder.controls(PilotInput(), sensed, vehicle, dt_s)
        self._old = self._old or self._is_late(now_s - leading.planned_s)
        if self._old and self._follower is None:
            self._follower = self._tracking(leading, since_s, dt_s)
        if self._follower is not None:
            return self._follower.controls(sticks, sensed, vehicle, dt_s)
        return route.held(since_s)

    def _tracking(self, leading: Leading, since_s: float, dt_s: float) -> Pilot | None:
        """Who feeds errors back along what is left of a plan, from the beginning of one of its steps on."""
        route, m = leading.route, self._lane.method
        row = route.row(since_s)
        if since_s - row * route.step_s > dt_s - SAME_S:
            return None
        controls, kernel = route.controls[row:], m.kernel
        way = track(m.vehicle, kernel, route.step_s, route.nodes[row], controls)
        return PlannedPilot(controls, route.step_s, way)
