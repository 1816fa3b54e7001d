"""The reference: a tight adaptive integration under the flown lane's controls, against which lanes are measured.

Classical Runge-Kutta of the compiled continuous equations with step doubling and Richardson's extrapolation
over every stretch of constant controls. It knows nothing of the lanes' methods and steps.

Motions that are shown beside the lanes and are not simulated: measured ones on the same clock, rivals of a race."""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sim.groups.numeric import rotation_log
from sim.integrators import integrators
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.scene import MOST_LANES
from sim.scene.measured import Measured
from sim.scene.race import Standing
from sim.simulation.lanes.history import ControlHistory
from sim.simulation.lanes.kernels import KernelStore
from sim.simulation.lanes.lane import Lane
from sim.simulation.lanes.placing import Footing, in_world
from sim.simulation.lanes.snapshot import MEASURED, Deviation, LaneSnapshot, LaneStatus, Tint, next_tint
from sim.steppers import Stepper
from sim.vehicle_config import config_of
from sim.vehicles import Vehicle
from sim.vehicles.forms.observation import Observation

RIVAL_TINTS: tuple[Tint, ...] = ((1.0, 0.72, 0.10), (0.20, 0.85, 0.95))
"""Of the rivals of a race, in their order: as many are shown."""


class Ghosts:
    """What was measured, each with its colour."""

    def __init__(self) -> None:
        self._shown: list[tuple[Measured, Tint]] = []

    def add(self, measured: Measured, lanes: tuple[LaneSnapshot, ...], tint: Tint | None = None) -> str:
        """Show one more, in a tint of its own where none is wanted; returns its name. Raises InputError where there is
        no room."""
        taken = {lane.name for lane in lanes}
        if len(taken) >= MOST_LANES:
            raise InputError(f"no more than {MOST_LANES} lanes")
        name, count = measured.name, 2
        while name in taken:
            name, count = f"{measured.name} #{count}", count + 1
        self._shown.append((replace(measured, name=name), tint or next_tint(lane.tint for lane in lanes)))
        return name

    def remove(self, name: str) -> bool:
        """Show it no more; whether it was there."""
        left = [(measured, tint) for measured, tint in self._shown if measured.name != name]
        found, self._shown = len(left) < len(self._shown), left
        return found

    def copied(self) -> "Ghosts":
        """The same, which what is shown from now on does not change."""
        kept = Ghosts()
        kept._shown = [*self._shown]
        return kept

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
        pivot_w=moving.pivot_w,
        pull=None,
        links=moving.links,
    )


METHODS = ("rk4", "rkmk4")
"""Of fourth order, as the extrapolation wants; the first that serves the vehicle has the smaller error."""
TOLERANCE_PER_S = 1e-12
"""Error allowed per simulated second, relative to the size of each component (at least 1)."""
MOST_STEPS = 8192
"""Of a stretch; then the best there is counts."""
LONGEST_S = 0.02
"""Of a stretch: longer holds are cut."""
GROUND_M = 1.0
"""Within this clearance contact with the ground acts, and steps are not refined: contact has no derivative."""
GROUND_STEP_S = 2.5e-4
_ROUNDING = 4e-16
_LEFT, _SMALL = 0.5, 1e-11
"""An error that is below `_SMALL`, and of which twice the steps leave more than this share, is rounding."""


@dataclass(frozen=True, slots=True, eq=False)
class _Knot:
    time_s: float
    y: np.ndarray
    """The kernel's private state."""
    controls: np.ndarray
    until_s: float


def reference_method(vehicle: Vehicle) -> str:
    """Name of the method that the reference of this vehicle takes its steps with."""
    known = integrators()
    return next((name for name in METHODS if not known[name].serves(vehicle)), METHODS[0])


class Reference:
    """Pose and velocity of the exact motion, as far as double precision goes, at any moment since the start."""

    def __init__(
        self,
        vehicle: Vehicle,
        kernel: Stepper,
        footing: Footing,
        history: ControlHistory,
        node: np.ndarray,
        time_s: float,
    ) -> None:
        self.vehicle, self.kernel = vehicle, kernel
        self._footing, self._history = footing, history
        self._parameters = vehicle.parameter_vector
        self.steps = 8
        """Of a stretch, at first."""
        self._since_s, self._node = time_s, node.copy()
        self._knots: deque[_Knot] = deque()
        self._nothing = np.zeros(kernel.dim)

    @property
    def lost(self) -> bool:
        """Whether the exact motion has left the numbers."""
        return not np.isfinite(self._node).all()

    @property
    def reached_s(self) -> float:
        """Earlier controls are not needed any more."""
        return self._knots[-1].time_s if self._knots else self._since_s

    def at(self, time_s: float) -> np.ndarray | None:
        """Node at a moment; None before the start, or while the controls up to it are not known."""
        if time_s < self._since_s - 1e-9 or self.lost:
            return None
        if not self._reach(time_s):
            return self._node if time_s <= self._since_s + 1e-9 else None
        knot = next((k for k in reversed(self._knots) if k.time_s <= time_s + 1e-9), None)
        if knot is None:
            return None
        y = self._crossed(knot, max(time_s - knot.time_s, 0.0), adapt=False)
        return self.kernel.node(y, knot.controls, self._parameters, 0.0)

    def observe(self, node: np.ndarray) -> Observation:
        """What is observed at a node."""
        return self.kernel.observe(node, self.vehicle.neutral_controls, self._parameters)

    def forget_before(self, time_s: float) -> None:
        """Nobody will ask for earlier moments."""
        while len(self._knots) > 1 and self._knots[1].time_s <= time_s:
            self._knots.popleft()

    def _reach(self, time_s: float) -> bool:
        """Lay knots up to the one whose stretch holds the moment."""
        if not self._knots:
            if not self._history.known(self._since_s):
                return False
            controls = self._history.at(self._since_s).controls
            start = self.kernel.start(self._node, controls, self._parameters, 0.0)
            self._knots.append(self._knot(self._since_s, start))
        while self._knots[-1].until_s < time_s - 1e-9:
            last = self._knots[-1]
            if not self._history.known(last.until_s):
                return False
            self._knots.append(self._knot(last.until_s, self._crossed(last, last.until_s - last.time_s)))
        return True

    def _knot(self, time_s: float, y: np.ndarray) -> _Knot:
        stretch = self._history.at(time_s)
        return _Knot(time_s, y, stretch.controls, min(stretch.until_s, time_s + LONGEST_S))

    def _crossed(self, knot: _Knot, seconds: float, *, adapt: bool = True) -> np.ndarray:
        """Private state `seconds` after the knot."""
        if seconds <= 0.0:
            return knot.y
        node = self.kernel.node(knot.y, knot.controls, self._parameters, 0.0)
        if self._near_ground(node, seconds):
            steps = max(round(seconds / GROUND_STEP_S), 1)
            return self._rolled(knot, seconds, steps, self._footing.environment.probe().env)
        steps, before = self.steps, math.inf
        coarse = self._rolled(knot, seconds, steps)
        while True:
            fine = self._rolled(knot, seconds, 2 * steps)
            size = np.maximum(np.abs(fine), 1.0)
            error = float(np.max(np.abs(fine - coarse) / size)) / 15.0
            # More steps than rounding bears would add to the error, and nothing would lead back to fewer.
            rounded = _LEFT * before < error < _SMALL
            if not error > TOLERANCE_PER_S * seconds + _ROUNDING or steps >= MOST_STEPS or rounded:
                break
            steps, coarse, before = 2 * steps, fine, error
        if adapt:
            self.steps = max((self.steps if rounded else steps) // 2, 1)
        return fine + (fine - coarse) / 15.0

    def _rolled(self, knot: _Knot, seconds: float, steps: int, env: tuple[Any, ...] = ()) -> np.ndarray:
        y, p = knot.y.copy(), self._parameters
        self.kernel.advance(y, knot.controls, self._nothing, p, seconds / steps, steps, env)
        return y

    def _near_ground(self, node: np.ndarray, seconds: float) -> bool:
        speed = float(np.abs(node[self.vehicle.node_layout.velocity]).max(initial=0.0))
        return self._footing.environment.acts and (
            self._footing.environment.clearance_m(node) < GROUND_M + 4.0 * speed * seconds
        )


class ReferenceComparison:
    """Keeps what was measured last, so that a lane that has stopped keeps its last deviation."""

    def __init__(self, kernels: KernelStore, history: ControlHistory) -> None:
        self._kernels, self._history = kernels, history
        self.reference: Reference | None = None
        """None where there is no comparison."""
        self._footing: Footing
        self._known: dict[Lane, tuple[tuple[int, float], Deviation | None]] = {}
        self._moments: dict[float, _Exact | None] = {}

    @property
    def on(self) -> bool:
        return self.reference is not None

    def start(self, vehicle: Vehicle, footing: Footing, node: np.ndarray, time_s: float) -> None:
        """A reference from a flat node, on the flown lane's footing. Raises Compiling until its kernel is there."""
        kernel = self._kernels.get(vehicle, reference_method(vehicle))
        self._footing = footing.again()
        self.reference = Reference(vehicle, kernel, self._footing, self._history, node, time_s)
        self._known.clear()
        self._moments.clear()

    def prepare(self, vehicle: Vehicle) -> None:
        """Have the kernel that a restart with this vehicle needs. Raises Compiling until it is there."""
        if self.on:
            self._kernels.get(vehicle, reference_method(vehicle))

    def restart(self, vehicle: Vehicle, footing: Footing, node: np.ndarray, time_s: float) -> None:
        """Another start, where there is a reference at all."""
        if self.on:
            self.start(vehicle, footing, node, time_s)

    def change(self, vehicle: Vehicle, flown: Lane) -> None:
        """Go on with other parameter values. Raises Compiling before anything is changed."""
        if self.reference is None:
            return
        node = self.reference.at(flown.time_s)
        self.start(vehicle, flown.footing, flown.node if node is None else node, flown.time_s)

    def stop(self) -> None:
        """No reference."""
        self.reference = None
        self._known.clear()

    def node(self, time_s: float) -> np.ndarray | None:
        """The reference's flat node at a moment, where it is known."""
        return None if self.reference is None else self.reference.at(time_s)

    def deviation(self, lane: Lane) -> Deviation | None:
        """Of a lane at its own time; None where it has other inputs or nothing can be said."""
        if self.reference is None or (lane.look.ghost and not lane.follows):
            return None
        key = (lane.generation, lane.time_s)
        known = self._known.get(lane)
        if known is not None and (known[0] == key or not lane.running):
            return known[1]
        exact = self._exact(self.reference, lane.time_s)
        deviation = None if exact is None else _between(lane, exact)
        self._known[lane] = (key, deviation)
        return deviation

    def forget(self, lanes: list[Lane]) -> None:
        """Drop what no running lane will be measured against, and the controls that nobody needs."""
        earliest_s = min((lane.time_s for lane in lanes if lane.running), default=0.0)
        self._known = {lane: what for lane, what in self._known.items() if lane in lanes}
        self._moments.clear()
        if self.reference is not None:
            self.reference.forget_before(earliest_s)
            earliest_s = min(earliest_s, self.reference.reached_s)
        self._history.forget_before(earliest_s)

    def _exact(self, reference: Reference, time_s: float) -> "_Exact | None":
        """What all lanes that are at this moment are measured against."""
        if time_s not in self._moments:
            node = reference.at(time_s)
            self._moments[time_s] = None
            if node is not None:
                observation, at = reference.observe(node), self._footing
                poses_w = in_world(reference.vehicle, observation.poses, at.world, at.pivot_w)
                self._moments[time_s] = _Exact(observation, poses_w)
        return self._moments[time_s]


@dataclass(frozen=True, slots=True, eq=False)
class _Exact:
    observation: Observation
    poses_w: np.ndarray
    """(bodies, 4, 4)."""


def _between(lane: Lane, exact: _Exact) -> Deviation:
    here, there = lane.poses_w, exact.poses_w
    seen, wanted = lane.observation, exact.observation
    marker = list(wanted.layout.bodies).index(config_of(lane.dynamics.vehicle).marker or wanted.layout.main)
    return Deviation(
        position_m=float(np.linalg.norm((here - there)[marker, :3, 3])),
        rotation_rad=float(np.linalg.norm(rotation_log(there[0, :3, :3].T @ here[0, :3, :3]))),
        energy_J=seen.energy_J - wanted.energy_J,
        momentum=float(np.linalg.norm(seen.momentum_w - wanted.momentum_w)),
    )
