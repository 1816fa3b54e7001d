"""Model predictive control: plans made anew all the time from where a vehicle will be, each taking over from the last.

A plan is asked for from the predicted state, and handed over to when it is time. Every plan names the moment that it
was asked for at and the moment at which it takes over, and ends at rest: where a solve fails or is late, the last plan
goes on, brakes, and holds. With a fixed lag no clock decides anything.
"""

import copy
import math
import time
from collections import deque
from collections.abc import Callable
from typing import Literal, Protocol

import numpy as np

from sim.control.calm_water import CalmWaterObserver
from sim.control.helm import AlongsidePilot, Berth, BerthStatus
from sim.control.pilot import Automatic, Pilot, Sensed
from sim.control.plan_following import PlannedPilot, regulator
from sim.controllers import PilotInput
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.steppers.dynamics import Dynamics
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import Support


@dataclass(frozen=True, slots=True, eq=False)
class FlownPlan:
    """A plan as it is flown. Arrays are never written to."""

    step_s: float
    nodes: np.ndarray
    """(N+1, node size)."""
    controls: np.ndarray
    """(N+1, n_controls) each held over the plan's step."""
    rest: np.ndarray
    """(n_controls,) that balance the vehicle where the plan ends."""
    places_w: np.ndarray
    """(N+1, 3) m; z = 0 for what moves on a plane."""
    cost: float = 0.0

    @property
    def duration_s(self) -> float:
        return self.step_s * (len(self.controls) - 1)

    def controls_at(self, since_s: float) -> np.ndarray:
        """(n_controls,) so long after its begin; after its end, where it rests, those that balance it there."""
        row = self.row(since_s)
        return self.controls[row] if row < len(self.controls) - 1 else self.rest

    def row(self, since_s: float) -> int:
        """The step that is under way."""
        return max(int(since_s / self.step_s + 1e-6), 0)


FIRST_REQUEST = 1


@dataclass(frozen=True, slots=True, eq=False)
class MpcRequest:
    """From where a plan is wanted."""

    number: int
    """By which its answer is known; `FIRST_REQUEST` begins a flight."""
    vehicle: Vehicle
    method: str
    """Integrator by name: requests travel to other processes."""
    options: dict[str, float | str]
    """Of the integrator."""
    node: np.ndarray
    """Where the vehicle will be when the plan takes over, flat."""
    asked_s: float = 0.0
    """Simulated time at which it is asked for."""
    since_s: float = 0.0
    """Simulated time from which on it is to be flown."""


@dataclass(frozen=True, slots=True, eq=False)
class MpcAnswer:
    """What has come of a request."""

    number: int
    plan: FlownPlan | None
    """None where no plan was found."""
    seconds: float
    """Wall time of the solve."""
    reason: str = ""
    """Why there is none."""


class PlanSource(Protocol):
    """Makes plans beside the flight; asked for one at a time."""

    @property
    def rate_hz(self) -> float:
        """Plans a second that are wanted at most."""
        ...

    @property
    def berth(self) -> Berth | None:
        """Of a boat, where it lies once it has come there; None: plans go on for ever."""
        ...

    def ask(self, request: MpcRequest) -> None:
        """Begin with a plan; it is answered, or never where the maker is gone."""
        ...

    def answers(self, wait_s: float = 0.0) -> list[MpcAnswer]:
        """What has come since the last call; the first one is waited for so long [s of wall time]."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class StartMpc:
    """The command to have the flown lane flown by plans that are made anew all the time."""

    source: PlanSource


SAME_S = 1e-7
"""Sums of steps are rounded: moments this near are one."""
GONE_S = 30.0
"""Wall time after which an answer is no longer waited for."""
_LEAST_LAG_S, _FIRST_LAG_S, _MOST_LAG_S = 0.02, 0.03, 0.15
_SPARE, _SPARE_S = 1.2, 0.003
"""By how much the lag exceeds what most of the latest answers have taken."""
_MOST_PERCENT = 90.0
_REMEMBERED = 30


@dataclass(frozen=True, slots=True, eq=False)
class TimedPlan:
    """A plan with its times [s of simulated time]."""

    plan: FlownPlan
    asked_s: float
    """At which it was asked for."""
    since_s: float
    """From which on it is flown: its own begin."""


@dataclass(frozen=True, slots=True)
class _Pending:
    """A plan that has been asked for."""

    number: int
    asked_s: float
    since_s: float
    """From when on it is to be flown."""
    wall_s: float
    """When it was asked for."""

    @property
    def due_s(self) -> float:
        """Wall time at which it is late: simulated time may be ahead, and then waits."""
        return self.wall_s + self.since_s - self.asked_s


class MpcLoop:
    """The plan that is flown, those that will take over, and the one that is asked for.

    At every control period: `hand_over`, then `ask`. Statistics are public and only read from outside.
    """

    def __init__(
        self,
        source: PlanSource,
        *,
        lag_s: float | None = None,
    ) -> None:
        """lag_s: from where a plan is asked for to where it takes over; None: by what the answers take."""
        self.source = source
        self.flown: TimedPlan | None = None
        self.coming: list[TimedPlan] = []
        self.asked = self.failed = self.late = 0
        self.reason = ""
        """Why the latest request was not answered with a plan."""
        self._lag_s = lag_s
        self._pending: _Pending | None = None
        self._number, self._next_s = FIRST_REQUEST - 1, -math.inf
        self._took_s: deque[float] = deque(maxlen=_REMEMBERED)
        self._solve_s: deque[float] = deque(maxlen=_REMEMBERED)
        self._heard_s: deque[float] = deque(maxlen=_REMEMBERED)

    def begin(self, plan: FlownPlan, now_s: float) -> None:
        """Fly a first plan from now on; the next one is asked for after a period."""
        self.coming.append(TimedPlan(plan, now_s, now_s))
        self._next_s = now_s + 1.0 / self.source.rate_hz

    def hand_over(self, now_s: float) -> TimedPlan | None:
        """Take in what has been answered. Returns the plan that takes over now, if one does."""
        self._hear(self.source.answers(), now_s)
        pending = self._pending
        if pending is not None and now_s >= pending.since_s - SAME_S:
            self._hear(self.source.answers(max(pending.due_s - time.perf_counter(), 0.0)), now_s)
            self._miss()
        taken = None
        while self.coming and now_s >= self.coming[0].since_s - SAME_S:
            taken = self.flown = self.coming.pop(0)
        return taken

    def controls_at(self, time_s: float) -> np.ndarray | None:
        """(n_controls,) at a time, now or later, as far as plans are known; None before the first one."""
        begun = [plan for plan in self.coming if time_s >= plan.since_s - SAME_S]
        leading = begun[-1] if begun else self.flown
        return None if leading is None else leading.plan.controls_at(time_s - leading.since_s)

    def asks(self, now_s: float) -> bool:
        """Whether it is time for the next plan, and none is pending."""
        return self._pending is None and now_s >= self._next_s - SAME_S

    def ask(
        self,
        now_s: float,
        dt_s: float,
        node: np.ndarray,
        dynamics: Dynamics,
        expected: Callable[[float], np.ndarray],
    ) -> None:
        """Ask for the next plan where it is time and none is pending.

        node: of now, flat, from which `dynamics` predicts; dt_s: the control period; expected: controls at a moment to
        come.
        """
        if not self.asks(now_s):
            return
        # Never before one that is expected already.
        after_s = self.coming[-1].since_s - now_s + dt_s if self.coming else dt_s
        periods = max(math.ceil(self.lag_s / dt_s - 1e-6), round(after_s / dt_s), 1)
        rows = [expected(now_s + k * dt_s) for k in range(periods)]
        try:
            start = predicted(dynamics, node, rows)
        except InputError as refusal:
            self.reason = str(refusal)
            return
        self._number += 1
        self.asked += 1
        self._next_s = now_s + 1.0 / self.source.rate_hz
        since_s = now_s + periods * dt_s
        self._pending = _Pending(self._number, now_s, since_s, time.perf_counter())
        scheme = dynamics.kernel.integrator
        options = scheme.settings
        self.source.ask(
            MpcRequest(self._number, dynamics.vehicle, scheme.name, options, start, now_s, since_s)
        )

    @property
    def lag_s(self) -> float:
        """From where a plan is asked for to where it takes over: what most answers take, and a little more."""
        if self._lag_s is not None:
            return self._lag_s
        if not self._took_s:
            return _FIRST_LAG_S
        most = float(np.percentile(self._took_s, _MOST_PERCENT))
        return min(max(_SPARE * most + _SPARE_S, _LEAST_LAG_S), _MOST_LAG_S)

    def age_s(self, now_s: float) -> float:
        """Since the moment that the flown plan was asked for at."""
        return 0.0 if self.flown is None else now_s - self.flown.asked_s

    @property
    def solves_per_s(self) -> float:
        """Answers a second of wall time, of the latest."""
        heard = self._heard_s
        return (len(heard) - 1) / (heard[-1] - heard[0]) if len(heard) > 1 else 0.0

    @property
    def solve_s(self) -> float:
        """Median wall time of the latest solves; 0 before the first."""
        return float(np.median(self._solve_s)) if self._solve_s else 0.0

    def _hear(self, answers: list[MpcAnswer], now_s: float) -> None:
        for answer in answers:
            pending = self._pending
            if pending is None or answer.number != pending.number:
                continue
            wall_s = time.perf_counter()
            self._pending = None
            self.reason = answer.reason
            self._took_s.append(wall_s - pending.wall_s)
            self._solve_s.append(answer.seconds)
            self._heard_s.append(wall_s)
            if answer.plan is None:
                self.failed += 1
            elif now_s > pending.since_s + SAME_S:
                self.late += self.flown is not None
            else:
                self.coming.append(TimedPlan(answer.plan, pending.asked_s, pending.since_s))

    def _miss(self) -> None:
        """Nobody answers any more: the next plan may be asked for."""
        pending = self._pending
        if pending is not None and time.perf_counter() - pending.wall_s > GONE_S:
            self._pending, self.reason = None, "the planner does not answer"


def predicted(dynamics: Dynamics, node: np.ndarray, controls: list[np.ndarray]) -> np.ndarray:
    """The node that rows of controls lead to, each held over a control period; InputError where the motion ends."""
    vehicle, kernel, step_s, p = dynamics.vehicle, dynamics.kernel, dynamics.step_s, dynamics.parameters
    nothing = np.zeros(kernel.dim)
    y = kernel.start(node, controls[0], p, step_s)
    for u in controls:
        _, status, _ = kernel.advance(y, u, nothing, p, step_s, dynamics.control_steps)
        if status:
            raise InputError(f"{vehicle.name}: the motion cannot be continued: the step has no solution")
    return kernel.node(y, controls[-1], p, step_s)


LATE_S, _LATE_CYCLES = 0.25, 2.0
"""Age of the flown plan, and how many cycles of asking and waiting: after both it is tracked, and called late."""

MpcPhase = Literal["preparing", "flying", "late", "holding", "lying"]


@dataclass(frozen=True, slots=True, eq=False)
class MpcStatus:
    """How the plans that are made in flight get on."""

    phase: MpcPhase
    """`preparing`: there is no plan yet; `late`: an old one is tracked; `holding`: it has ended, and is held there;
    `lying`: in its berth."""
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
    berth: BerthStatus | None = None
    """Of a boat that is to lie in one."""
    known: Vehicle | None = None
    """What plans take a craft on waves for, with what has been found out."""


class MpcPilot(Automatic):
    """Flies one lane by the plans of a source. Sticks are not heard, but by `hand` before the first plan.

    Plans for what floats on waves are those of its `CalmWater`, with what pushes it as it is found out on the way.
    """

    def __init__(
        self,
        source: PlanSource,
        hand: Pilot,
        rest: Callable[[], Pilot],
    ) -> None:
        """rest: makes who holds the vehicle where a plan has ended."""
        self._loop = MpcLoop(source)
        self._hand, self._rest = hand, rest
        self._lies = False
        """Whether it lies in its berth, to which it is planned no more until it has drifted off."""
        self._off: BerthStatus | None = None
        self._observer: CalmWaterObserver | None = None
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
        loop, now_s = self._loop, sensed.time_s
        flown, self.taken_over = sensed, loop.hand_over(now_s)
        if self.taken_over is not None:
            self._follower = self._holder = None
            self._old = False
        sensed = self._planned_for(flown, vehicle)
        dynamics = sensed.dynamics
        assert dynamics is not None, "which lanes tell their pilots"
        berth = loop.source.berth
        if berth is not None and self._in_berth(berth, sensed):
            self._holder = self._holder or AlongsidePilot(berth)
            self._applied = self._holder.controls(sticks, sensed, vehicle, dt_s)
        else:
            self._applied = self._flown(dynamics, sticks, sensed, vehicle, dt_s)
            loop.ask(now_s, dt_s, sensed.node, dynamics, self._expected)
        if self._observer is not None:
            self._observer.see(flown, self._applied, dt_s)
        return self._applied

    def _planned_for(self, sensed: Sensed, vehicle: Vehicle) -> Sensed:
        """The moment as plans know it."""
        if vehicle.support is not Support.WATER:
            return sensed
        if self._observer is None:
            flown = sensed.dynamics
            assert flown is not None
            self._observer = CalmWaterObserver(
                vehicle, flown.kernel.integrator, flown.step_s, every_step=flown.every_step
            )
        if self._loop.asks(sensed.time_s):
            self._observer.learn()
        return self._observer.seen(sensed)

    def _in_berth(self, berth: Berth, sensed: Sensed) -> bool:
        """Whether it lies there; one that it has left is sailed to as from anywhere else."""
        lay, arrived = self._lies, self._off is not None and self._off.arrived
        self._lies = berth.lies(sensed, lay)
        if self._lies != lay:
            self._holder = None
        speed_mps = float(np.linalg.norm(sensed.v_w[:2]))
        self._off = BerthStatus(*berth.off(sensed), speed_mps, arrived or self._lies)
        return self._lies

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
            berth=self._off,
            known=None if self._observer is None else self._observer.known.vehicle,
        )

    @property
    def _phase(self) -> MpcPhase:
        if self._lies:
            return "lying"
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
        planned = self._loop.controls_at(time_s) if leads or self._loop.coming else None
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
        return plan.controls_at(since_s)


def _tracking(leading: TimedPlan, dynamics: Dynamics, since_s: float, dt_s: float) -> Pilot | None:
    """Who feeds errors back along what is left of a plan, from the beginning of one of its steps on."""
    plan = leading.plan
    row = plan.row(since_s)
    if since_s - row * plan.step_s > dt_s - SAME_S:
        return None
    controls = plan.controls[row:]
    along = regulator(dynamics.vehicle, dynamics.kernel, plan.step_s, plan.nodes[row:], controls)
    return PlannedPilot(controls, plan.step_s, along, since_s=leading.since_s + row * plan.step_s)
