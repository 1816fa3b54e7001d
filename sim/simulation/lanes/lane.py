"""A lane: one vehicle under one integrator, flown by one pilot, on the clock that all lanes share."""

import logging
import math
from collections.abc import Mapping
from functools import partial
from operator import is_
from types import MappingProxyType

import numpy as np

from sim.contact.obstacles.blows import VehicleBlows
from sim.control import Automatic, ControllerPilot, Pilot, PilotInput, PlannedPilot
from sim.control.load_leading import kept_above_ground
from sim.control.mpc import MpcPilot
from sim.controllers import Controller, gain_values
from sim.environment.environment import NONE_BORNE
from sim.recordings.playback import Playback
from sim.recordings.segment import Moment
from sim.scene.race import Timing
from sim.simulation.lanes.history import ControlHistory
from sim.simulation.lanes.impulses import Coupling, Pull, Push, Reached, impulse_on, unpulled
from sim.simulation.lanes.integration import Integration
from sim.simulation.lanes.observation import LaneObserver, sensed
from sim.simulation.lanes.placing import Footing, Placement
from sim.simulation.lanes.recorder import Recorder
from sim.simulation.lanes.snapshot import ControllerSnapshot, Deviation, LaneLook, LaneSnapshot, LaneStatus
from sim.simulation.lanes.termination import Termination, divergence, termination
from sim.steppers.dynamics import CONTROL_PERIOD_S, Dynamics
from sim.vehicle_config import config_of
from sim.vehicles.forms.impulses import whole
from sim.vehicles.forms.observation import Observation


def due_steps(clock_s: float, since_s: float, step_s: float) -> int:
    """Whole steps of `step_s` between `since_s` and `clock_s`.

    Sums of frame times are rounded, so a step counts as due a billionth of a step early.
    """
    return max(math.floor((clock_s - since_s) / step_s + 1e-9), 0)


_LOG = logging.getLogger(__name__)


def lane_name(method: str, step_s: float) -> str:
    """Of a lane that nobody has named: "rk4 5 ms". Without fractions, as some files have it in their paths."""
    return f"{method} {1e3 * step_s:.4g} ms"


class Lane:
    """Integrates, observes and records by one object each; here is when, under which controls, and until when."""

    def __init__(
        self,
        look: LaneLook,
        dynamics: Dynamics,
        node: np.ndarray,
        pilot: Pilot,
        footing: Footing,
        *,
        history: ControlHistory,
        follows: bool = False,
        energy_bound_J: float | None = None,
        time_s: float = 0.0,
        coupling: Coupling | None = None,
        timing: Timing | None = None,
        controller: Controller | None = None,
    ) -> None:
        """`history`: of the flown lane's controls, which it writes and those that follow read.

        coupling: to what moves. timing: of a race that it is in. controller: its own, whoever flies the others.
        """
        self.controller = controller
        self.look, self.pilot, self.follows = look, pilot, follows
        self.coupling, self.timing, self._history = coupling, timing, history
        self.pull: Pull | None = None
        """Of a hand, at one of its bodies."""
        self.pushes: tuple[Push, ...] = ()
        """That are due when controls are evaluated next."""
        self.held: Mapping[int, float] = MappingProxyType({})
        """Index -> value of controls that are held, whoever flies; replaced as a whole."""
        self.generation = 0
        self.termination: Termination | None = None
        """Why it has stopped."""
        self.integration = Integration(dynamics, footing, node, time_s)
        self.observer = LaneObserver(self.integration, energy_bound_J)
        self.recorder = Recorder()
        self.blows = VehicleBlows(config_of(dynamics.vehicle).material)
        """Of its own bodies."""
        self.shown: tuple[tuple[object, ...], float, LaneSnapshot] | None = None
        """The latest snapshot, its span [s], and what it was made of."""
        self._begin_observing(node)

    @property
    def running(self) -> bool:
        return self.termination is None

    @property
    def dynamics(self) -> Dynamics:
        return self.integration.dynamics

    @property
    def footing(self) -> Footing:
        return self.integration.footing

    @property
    def time_s(self) -> float:
        """Simulated time of the node."""
        return self.integration.time_s

    @property
    def controls_left_s(self) -> float:
        """How long the present controls still act before they are evaluated anew."""
        return self.integration.controls_left_s

    @property
    def node(self) -> np.ndarray:
        """Pose and node velocity now, flat; do not write to it."""
        return self.integration.node

    @property
    def state(self) -> np.ndarray:
        """The integrator's own, flat; do not write to it."""
        return self.integration.state

    @property
    def controls(self) -> np.ndarray:
        """(n_controls,) that act now; do not write to it."""
        return self.integration.controls

    @property
    def placement(self) -> Placement:
        """Where the vehicle's main body is in the world, and its twist."""
        observation = self.observation
        return Placement(self.observer.poses_w(observation)[0], observation.twist_b)

    @property
    def borne_Ns(self) -> float:
        """Normal impulses of all contacts so far, within steps and between them."""
        around, met = self.footing.environment, self.coupling
        return around.borne_Ns + (0.0 if met is None else met.borne_Ns)

    @property
    def slip_mps(self) -> float:
        """How fast the fastest contact that bore last moves along what it touches."""
        around, met = self.footing.environment, self.coupling
        return max(around.slip_mps, 0.0 if met is None else met.slip_mps)

    @property
    def observation(self) -> Observation:
        """Of the present node."""
        return self.observer.observe()

    @property
    def poses_w(self) -> np.ndarray:
        """(bodies, 4, 4) of all bodies in the world, the main one first."""
        return self.observer.poses_w(self.observation)

    def restart(
        self,
        node: np.ndarray,
        pilot: Pilot,
        time_s: float,
        *,
        dynamics: Dynamics | None = None,
        footing: Footing | None = None,
        controls: np.ndarray | None = None,
    ) -> None:
        """Back to a start, perhaps under another method or elsewhere: runs again, whatever stopped it."""
        self.pilot = pilot
        self.generation += 1
        self.pull, self.pushes = None, ()
        if self.coupling is not None:
            self.coupling.begin_anew()
        if self.timing is not None:
            self.timing.begin()
        self.integration.begin(dynamics or self.dynamics, footing or self.footing, node, time_s, controls)
        count = len(self.dynamics.vehicle.controls)
        self.held = MappingProxyType({k: value for k, value in self.held.items() if k < count})
        self._begin_observing(node)

    def swap(self, dynamics: Dynamics, footing: Footing, *, node: np.ndarray | None = None) -> None:
        """Go on under another method, with pose and node velocity kept (or as `node` says: then trails begin anew)."""
        at, old, stopped = self.integration, self.dynamics, self.termination
        starts = at.starts and at.steps == 0
        same_vehicle = dynamics.vehicle.name == old.vehicle.name
        # A parameter may be dragged many times a second: that breaks no trail.
        continuous = same_vehicle and (dynamics.integrator, dynamics.step_s) == (old.integrator, old.step_s)
        self.generation += 0 if continuous else 1
        if self.timing is not None and not same_vehicle:
            self.timing.begin()
        if not same_vehicle:
            self.held = MappingProxyType({})
        self.observer.renew(same_vehicle=same_vehicle)
        trails, kept = self.observer.trails, (at.node if node is None else node).copy()
        at.begin(dynamics, footing, kept, at.time_s, at.controls if same_vehicle else None)
        self._begin_observing(kept)
        # Its momentum is what the controls until now have left of it, whichever come next.
        at.starts = starts or node is not None or not same_vehicle
        if continuous and node is None:
            self.observer.trails = trails
        self.termination = stopped

    def put(self, dynamics: Dynamics, footing: Footing, moment: Moment) -> None:
        """Exactly to a recorded moment, running: equal inputs lead to the bits that came then."""
        same_vehicle = dynamics.vehicle.name == self.dynamics.vehicle.name
        self.generation += 1
        self.integration.put(dynamics, footing, moment)
        self.observer.forget()
        if not same_vehicle:
            self.observer.begin(self.node)
        if self.timing is not None:
            self.timing.back_to(self.time_s)
        self._go_on_from(self.node)

    def recover(self, playback: Playback, moment: Moment) -> None:
        """What is coupled, as it was at the recorded moment that the lane has been put to."""
        if self.coupling is not None:
            poses_w, around = self.observer.poses_w, self.integration.environment
            self.coupling.recover(self.dynamics, playback, moment, poses_w, around)

    def run_until(self, clock_s: float, sticks: PilotInput) -> None:
        """Take all steps that are due; a lane that cannot go on stops, and says why."""
        at, history = self.integration, self._history
        due = due_steps(clock_s, at.since_s, self.dynamics.step_s) - at.steps
        try:
            follows = self.follows and not isinstance(self.pilot, PlannedPilot)
            while due > 0 and self.running and not (follows and not history.known(at.time_s)):
                phase = at.steps % self.dynamics.control_steps
                count = min(due, self.dynamics.control_steps - phase)
                if follows:
                    count = min(count, self._follow())
                elif phase == 0 and not self._evaluated:
                    self._fly(sticks)
                    if self.termination is not None:
                        break
                self._record()
                self._integrate(count)
                due -= count
            self._look_ahead(sticks)
        except Exception as error:
            _LOG.exception("lane %s", self.look.name)
            at.fall_back()
            stopped = f"{self.dynamics}: stopped by an error: {error!r}"
            self.termination = Termination(LaneStatus.DIVERGED, stopped)
        if not self.running and not self.look.ghost:
            history.hold()

    def _begin_observing(self, node: np.ndarray) -> None:
        self.observer.begin(node)
        self._go_on_from(node)

    def _go_on_from(self, node: np.ndarray) -> None:
        self.termination = None
        self.blows.forget(config_of(self.dynamics.vehicle).material)
        self._note_passage(self.observer.go_on_from(node))

    def _fly(self, sticks: PilotInput) -> None:
        m, time_s = self.dynamics, self.time_s
        seen = sensed(self.node, self.placement, self.footing, time_s, m)
        controls = self.pilot.controls(sticks, seen, m.vehicle, m.control_period_s)
        if isinstance(self.pilot, ControllerPilot) and self.pilot.gives_up(time_s):
            self.termination = Termination(LaneStatus.GIVEN_UP, self.pilot.fault)
        controls = kept_above_ground(controls, seen, m.vehicle, m.control_period_s)
        if isinstance(self.pilot, MpcPilot) and self.pilot.taken_over is not None:
            self.recorder.await_plan(self.pilot.taken_over.asked_s)
        controls = np.ascontiguousarray(controls, float)
        if self.held:
            controls = controls.copy()
            controls[list(self.held)] = list(self.held.values())
        self.integration.act(controls)
        if not self.look.ghost:
            self._history.record(time_s, controls, time_s + m.control_period_s)

    @property
    def _long(self) -> bool:
        """Whether others follow controls that act for more than a control period."""
        return not self.look.ghost and self.dynamics.step_s > CONTROL_PERIOD_S

    @property
    def _evaluated(self) -> bool:
        """Whether the controls of the step that begins are evaluated already.

        Those of a long step are as soon as it begins, since shorter steps of other lanes wait for them.
        """
        return self._long and self._history.known(self.time_s)

    def _look_ahead(self, sticks: PilotInput) -> None:
        """Evaluate the controls of a long step that has just begun."""
        if self._long and self.running and self.integration.evaluates and not self._evaluated:
            self._fly(sticks)

    def _follow(self) -> int:
        """Take up the flown lane's controls of this moment; returns the steps that start under them."""
        at = self.integration
        stretch = self._history.at(at.time_s)
        if stretch.controls is not at.controls:
            at.act(stretch.controls)
        return stretch.steps(at.time_s, at.dynamics)

    def _record(self) -> None:
        """What acts from now on, and the impulse that starts the step, which acts at once."""
        at, recorder, kept = self.integration, self.recorder, None
        if self.coupling is not None and recorder.wants_environment(at.steps):
            kept = self.coupling.environment.checkpoint()
        around, solids = None if self.coupling is None else self.coupling.solids, None
        if around is not None and at.evaluates and recorder.wants_solids(at.steps):
            solids = around.solids()
        impulse = self._impulse()
        recorder.note(
            at.dynamics,
            at.since_s,
            at.steps,
            at.controls,
            at.state,
            at.environment,
            at.footing.pivot_w,
            kept,
        )
        if isinstance(self.pilot, ControllerPilot):
            kind = type(self.pilot.controller)
            recorder.note_controller(at.steps, kind.__name__, gain_values(self.pilot.controller))
        else:
            recorder.note_controller(at.steps, "", {})
        if solids is not None:
            recorder.note_solids(at.steps, solids)
        if impulse is not None:
            recorder.note_impulse(at.steps, impulse)
            at.push(impulse)

    def _integrate(self, count: int) -> None:
        """Up to `count` steps under the present controls; judges the outcome."""
        account = self.observer.account
        done, status, iterations = self.integration.advance(count, None if account is None else account.note)
        self.observer.tally.add(done, iterations)
        # Only where controls end, so that why it stops does not depend on how the steps were asked for.
        if status or self.integration.evaluates:
            self._judge(status)

    def _impulse(self) -> np.ndarray | None:
        """What is coupled, ground that strikes and the hand that pulls, together, where controls are evaluated."""
        at, m = self.integration, self.dynamics
        if not at.evaluates:
            return None
        if self.coupling is None and self.pull is None and not self.pushes:
            struck = at.environment.impulse(at.node, m.control_period_s)
            return None if struck is None else whole(struck, m.vehicle)
        seen = self.observation
        if self.pull is not None and unpulled(m.vehicle, self.pull.body, seen.layout, self.coupling):
            self.pull = None
        pushes, self.pushes = self.pushes, ()
        poses_w = self.observer.poses_w(seen)
        reached = Reached(at.time_s, at.node, at.state, at.controls, seen, poses_w)
        return impulse_on(reached, m, at.footing, self.coupling, self.pull, pushes)

    def _judge(self, status: int) -> None:
        at, m, observation = self.integration, self.dynamics, self.observation
        node, energy_J, bounds = at.node, observation.energy_J, self.observer.start.bounds
        at_s = at.time_s + (m.step_s if status else 0.0)
        self.termination = divergence(str(m), status, m.vehicle, node, energy_J, bounds, m.step_s, at_s)
        if self.termination is not None:
            at.fall_back()
            return
        at.accept()
        self.observer.note(observation)
        self._note_passage(observation)
        self.termination = termination(m.vehicle, node, observation, at.footing, self.coupling)
        if not self.look.ghost and self.termination is None and at.evaluates:
            self._note_blows()

    def _note_blows(self) -> None:
        """What the vehicle's bodies have touched in the control period that ends; only the flown lane tells of it."""
        around, met, observation = self.footing.environment, self.coupling, self.observation
        met_w = NONE_BORNE if met is None else met.borne()
        if not ((around.acts and around.touching) or len(met_w) or self.blows.waits):
            self.blows.pass_by(self.time_s, partial(self.observer.poses_w, observation))
            return
        poses_w = self.poses_w
        borne = np.concatenate([around.borne(poses_w), self.blows.moved_on(met_w, poses_w)])
        self.blows.note(self.time_s, poses_w, borne)

    def _note_passage(self, observation: Observation) -> None:
        """Show the race's clock where it is."""
        if self.timing is not None:
            by_hand = not isinstance(self.pilot, Automatic)
            T_wb = self.observer.poses_w(observation)[0]
            self.timing.note(self.time_s, T_wb, observation.twist_b, by_hand=by_hand)


def lane_picture(lane: Lane, span_s: float, deviation: Deviation | None = None) -> LaneSnapshot:
    """The lane as it is now, and its poses `span_s` (or a step, if that is longer) before.

    The same object as long as nothing has changed: pictures come more often than long steps.
    """
    node, m, footing, observer, look = lane.node, lane.dynamics, lane.footing, lane.observer, lane.look
    observation, stopped, water = lane.observation, lane.termination, footing.environment.water
    made_of = (
        observation,
        stopped,
        deviation,
        lane.pull,
        lane.follows,
        look,
        footing,
        water,
        lane.pilot,
        lane.held,
    )
    if lane.shown is not None and lane.shown[1] == span_s and all(map(is_, lane.shown[0], made_of)):
        return lane.shown[2]
    start, recent = observer.start, observer.trails.recent
    if lane.running:
        observer.cost.look(m, lane.state, lane.controls, footing.environment)
    if observation.layout.of_step:
        observation = _with_step(lane, node)
    recent.add(lane.time_s, lane.poses_w)
    previous_s, previous_w, current_s, current_w = recent.pair(max(span_s, m.step_s))
    names = tuple(observation.layout.bodies)
    flying = None if not isinstance(lane.pilot, ControllerPilot) else ControllerSnapshot.of(lane.pilot)
    plotted, plotted_units = ({}, {}) if flying is None else flying.plotted()
    snapshot = LaneSnapshot(
        name=look.name,
        vehicle=m.vehicle.name,
        config=config_of(m.vehicle),
        integrator=m.integrator,
        step_s=m.step_s,
        tint=look.tint,
        ghost=look.ghost,
        generation=lane.generation,
        time_previous_s=previous_s,
        time_current_s=current_s,
        bodies_previous=dict(zip(names, previous_w, strict=True)),
        bodies=dict(zip(names, current_w, strict=True)),
        twist_b=observation.twist_b,
        twist_before_b=observer.trails.twist_before_b,
        shape=node[m.vehicle.node_layout.shape].copy(),
        controls=lane.controls.copy(),
        node=node.copy(),
        mechanics=m.vehicle,
        held={m.vehicle.controls[k].name: value for k, value in lane.held.items()},
        control_wrench_b=m.vehicle.twist_embedding @ observation.control_wrench_b,
        environment_wrench_b=lane.integration.environment_wrench_b.copy(),
        energy_J=observation.energy_J,
        energy_start_J=start.energy_J,
        momentum_w=m.vehicle.twist_embedding @ observation.momentum_w,
        momentum_start_w=start.momentum_w,
        newton_iterations=observer.tally.take(),
        step_cost_s=observer.cost.step_s,
        height_above_ground_m=footing.height_m(node, current_w[0, :3, 3]),
        on_ground=footing.environment.touching,
        momentum_account_w=None if observer.account is None else observer.account.sums,
        borne_Ns=lane.borne_Ns,
        blows=lane.blows.kept,
        slip_mps=lane.slip_mps,
        status=LaneStatus.RUNNING if stopped is None else stopped.status,
        status_text="" if stopped is None else stopped.text,
        parameters=m.vehicle.values,
        own_pilot=not lane.follows,
        deviation=deviation,
        observables={**observation.observables, **plotted},
        units={**observation.layout.units, **plotted_units},
        controller=flying,
        observables_start=start.observables,
        trails=observer.trails.rows(),
        pivot_w=None if footing.pivot_w is None else footing.pivot_w.copy(),
        links=m.vehicle.links,
        cords=m.vehicle.cords,
        pull=None if lane.pull is None else (lane.pull.body, lane.pull.at_b, lane.pull.to_w),
        sea=water,
        aground=footing.environment.aground,
    )
    lane.shown = made_of, span_s, snapshot
    return snapshot


def _with_step(lane: Lane, node: np.ndarray) -> Observation:
    """With what is observed of the step that begins now."""
    m, ahead, u = lane.dynamics, lane.state.copy(), lane.controls
    m.kernel.advance(ahead, u, np.zeros(m.kernel.dim), m.parameters, m.step_s, 1)
    after = m.kernel.node(ahead, u, m.parameters, m.step_s)
    seen = m.kernel.observe_step(node, after, u, m.parameters, m.step_s)
    return Observation(seen.layout, lane.footing.environment.told(seen.layout, seen.row))
