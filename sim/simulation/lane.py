"""A lane: one vehicle under one integrator, flown by one pilot, on the clock that all lanes share."""

import logging

import numpy as np

from sim.control import Automatic, Pilot, PilotInput, PlannedPilot
from sim.control.load_leading import kept_above_ground
from sim.control.mpc import MpcPilot
from sim.recordings.leg import Moment, strike
from sim.recordings.playback import Playback
from sim.scene.race_timing import Timing
from sim.simulation.appearance import Look
from sim.simulation.clock import due_steps
from sim.simulation.control_history import ControlTape
from sim.simulation.footing import Footing
from sim.simulation.impulses import Coupling, Pull, Reached, impulse_on
from sim.simulation.observation import Beginning, Sight, StepCost, Tally, poses_in_world, sensed
from sim.simulation.placing import Placement
from sim.simulation.recording import Recording
from sim.simulation.snapshot import LaneStatus
from sim.simulation.termination import Verdict, divergence, fate
from sim.simulation.trail import Traces
from sim.steppers.dynamics import CONTROL_PERIOD_S, Dynamics
from sim.vehicles.forms.impulses import whole
from sim.vehicles.forms.observation import Observation

_LOG = logging.getLogger(__name__)


class Lane:
    """Owns the integrator's private state; everything published is copied out of it."""

    def __init__(
        self,
        look: Look,
        dynamics: Dynamics,
        node: np.ndarray,
        pilot: Pilot,
        footing: Footing,
        *,
        tape: ControlTape,
        follows: bool = False,
        energy_bound_J: float | None = None,
        time_s: float = 0.0,
        coupling: Coupling | None = None,
        timing: Timing | None = None,
    ) -> None:
        """`tape`: of the flown lane, which writes it and those that follow read it. `coupling`: to what moves.

        timing: of a race that it is in.
        """
        self.coupling, self._timing = coupling, timing
        self.look, self.dynamics, self.pilot, self.footing, self.follows = (
            look,
            dynamics,
            pilot,
            footing,
            follows,
        )
        self.pull: Pull | None = None
        """Of a hand, at one of its bodies."""
        self.generation = 0
        self.recording = Recording()
        self._tape, self._asked_bound_J = tape, energy_bound_J
        self.tally, self.cost = Tally(), StepCost()
        self.environment_wrench_b = np.zeros(6)
        """(6,) what ground and water did at the node that was asked for last."""
        self._node: np.ndarray | None
        self._u: np.ndarray
        self._begins: bool
        """Whether its first controls are those that it begins under."""
        self._verdict: Verdict | None
        self._sight = Sight()
        self.beginning: Beginning
        self.traces: Traces
        self._take(node, time_s)

    @property
    def running(self) -> bool:
        return self._verdict is None

    @property
    def verdict(self) -> Verdict | None:
        """Why it has stopped."""
        return self._verdict

    @property
    def time_s(self) -> float:
        """Simulated time of the node; counted in whole steps, so it does not accumulate rounding."""
        return self._since_s + self._steps * self.dynamics.step_s

    @property
    def held_s(self) -> float:
        """How long the present controls still act before they are evaluated anew."""
        m = self.dynamics
        return -self._steps % m.control_steps * m.step_s

    @property
    def node(self) -> np.ndarray:
        """Pose and node velocity now, flat; do not write to it."""
        if self._node is None:
            m = self.dynamics
            around = self.footing.environment.probe()
            self._node = m.kernel.node(self._y, self._u, m.parameters, m.step_s, env=around.env)
            self.environment_wrench_b = around.wrench_b
        return self._node

    @property
    def state(self) -> np.ndarray:
        """The integrator's own, flat; do not write to it."""
        return self._y

    @property
    def controls(self) -> np.ndarray:
        """(n_controls,) that act now; do not write to it."""
        return self._u

    @property
    def placement(self) -> Placement:
        """Where the vehicle's main body is in the world, and its twist."""
        return Placement(self.poses_w[0], self._observe(self.node).twist_b)

    @property
    def observation(self) -> Observation:
        """What is told of it now."""
        return self._observe(self.node)

    @property
    def poses_w(self) -> np.ndarray:
        """(bodies, 4, 4) of all bodies in the world, the main one first."""
        return self._poses_w(self._observe(self.node))

    def _observe(self, node: np.ndarray) -> Observation:
        """What is told of a node under the present controls."""
        return self._sight.of(self.dynamics, node, self._u)

    def _poses_w(self, observation: Observation) -> np.ndarray:
        return poses_in_world(self.dynamics, self.footing, observation)

    def restart(
        self,
        node: np.ndarray,
        pilot: Pilot,
        time_s: float,
        *,
        dynamics: Dynamics | None = None,
        controls: np.ndarray | None = None,
    ) -> None:
        """Back to a start, perhaps under another method: runs again, whatever stopped it."""
        self.pilot, self.dynamics = pilot, dynamics or self.dynamics
        self.generation += 1
        self.pull = None
        if self.coupling is not None:
            self.coupling.begin_anew()
        if self._timing is not None:
            self._timing.begin()
        self._take(node, time_s, controls=controls)

    def swap(self, dynamics: Dynamics, footing: Footing, *, node: np.ndarray | None = None) -> None:
        """Go on under another method, with pose and node velocity kept (or as `node` says)."""
        verdict, kept, now = self._verdict, self.node if node is None else node, self.time_s
        begins = self._begins and self._steps == 0
        same_vehicle = dynamics.vehicle.name == self.dynamics.vehicle.name
        self._asked_bound_J = self._asked_bound_J if same_vehicle else None
        controls = self._u if same_vehicle else None
        # A parameter may be dragged many times a second: that breaks no trail.
        old = self.dynamics
        continuous = same_vehicle and (dynamics.integrator, dynamics.step_s) == (old.integrator, old.step_s)
        self.generation += 0 if continuous else 1
        if self._timing is not None and not same_vehicle:
            self._timing.begin()
        self.dynamics, self.footing, self.cost = dynamics, footing, StepCost()
        traces = self.traces
        self._take(kept.copy(), now, controls=controls)
        # Its momentum is what the controls until now have left of it, whichever come next.
        self._begins = begins or node is not None or not same_vehicle
        if continuous:
            self.traces = traces
        self._verdict = verdict

    def put(self, dynamics: Dynamics, footing: Footing, moment: Moment) -> None:
        """Exactly to a recorded moment, running: equal inputs lead to the bits that came then."""
        same_vehicle, self.generation = (
            dynamics.vehicle.name == self.dynamics.vehicle.name,
            self.generation + 1,
        )
        self.dynamics, self.footing = dynamics, footing
        footing.environment.restore(moment.memory)
        self._since_s, self._steps, self._begins = moment.leg.since_s, moment.step, False
        self._u, self._y = moment.controls, moment.state.copy()
        self._node = None
        self._sight.forget()
        if not same_vehicle:
            self._note_start(self.node)
        if self._timing is not None:
            self._timing.back_to(self.time_s)
        self._go_on_from(self.node)

    def recover(self, playback: Playback, moment: Moment) -> None:
        """What is coupled, as it was at the recorded moment that the lane has been put to."""
        if self.coupling is not None:
            self.coupling.recover(self.dynamics, playback, moment, lambda seen: self._poses_w(seen)[0])

    def run_until(self, clock_s: float, sticks: PilotInput) -> None:
        """Take all steps that are due; a lane that cannot go on stops, and says why."""
        due = due_steps(clock_s, self._since_s, self.dynamics.step_s) - self._steps
        try:
            follows = self.follows and not isinstance(self.pilot, PlannedPilot)
            while due > 0 and self.running and not (follows and not self._tape.known(self.time_s)):
                phase = self._steps % self.dynamics.control_steps
                count = min(due, self.dynamics.control_steps - phase)
                if follows:
                    count = min(count, self._follow())
                elif phase == 0 and not self._evaluated:
                    self._fly(sticks)
                due -= self._roll(count)
            self._look_ahead(sticks)
        except Exception as error:
            _LOG.exception("lane %s", self.look.name)
            self._node = self._good_node
            self._verdict = Verdict(LaneStatus.DIVERGED, f"{self.dynamics}: stopped by an error: {error!r}")
        if not self.running and not self.look.ghost:
            self._tape.hold()

    def _take(self, node: np.ndarray, time_s: float, *, controls: np.ndarray | None = None) -> None:
        """Start the integrator from a node."""
        m = self.dynamics
        self._since_s, self._steps = time_s, 0
        self._begins = True
        self._u = m.vehicle.neutral_controls if controls is None else controls
        self._sight.forget()
        self.footing.environment.forget()
        self.footing.environment.renew(m.vehicle, time_s)
        self._y = self._started(node)
        self._node = None
        self._note_start(node)
        self._go_on_from(node)

    def _go_on_from(self, node: np.ndarray) -> None:
        self._good_node = node.copy()
        self._verdict = None
        observation = self._observe(node)
        self.traces = Traces(self.time_s, observation, self._poses_w(observation))
        self._note_passage(observation)

    def _note_start(self, node: np.ndarray) -> None:
        self.beginning = Beginning.of(self.dynamics, node, self._observe(node), self._asked_bound_J)

    def _started(self, node: np.ndarray) -> np.ndarray:
        """The integrator's private state for a node."""
        m = self.dynamics
        return m.kernel.start(node, self._u, m.parameters, m.step_s, self.footing.environment.probe().env)

    def _fly(self, sticks: PilotInput) -> None:
        m = self.dynamics
        seen = sensed(self.node, self.placement, self.footing, self.time_s, m)
        controls = self.pilot.controls(sticks, seen, m.vehicle, m.control_period_s)
        controls = kept_above_ground(controls, seen, m.vehicle, m.control_period_s)
        if isinstance(self.pilot, MpcPilot) and self.pilot.taken_over is not None:
            self.recording.await_plan(self.pilot.taken_over.asked_s)
        self._act(np.ascontiguousarray(controls, float))
        if not self.look.ghost:
            self._tape.record(self.time_s, self._u, self.time_s + m.control_period_s)

    @property
    def _long(self) -> bool:
        """Whether others follow controls that act for more than a control period."""
        return not self.look.ghost and self.dynamics.step_s > CONTROL_PERIOD_S

    @property
    def _evaluated(self) -> bool:
        """Whether the controls of the step that begins are evaluated already.

        Those of a long step are as soon as it begins, since shorter steps of other lanes wait for them.
        """
        return self._long and self._tape.known(self.time_s)

    def _look_ahead(self, sticks: PilotInput) -> None:
        """Evaluate the controls of a long step that has just begun."""
        due = self.running and self._steps % self.dynamics.control_steps == 0
        if self._long and due and not self._evaluated:
            self._fly(sticks)

    def _follow(self) -> int:
        """Take up the flown lane's controls of this moment; returns the steps that start under them."""
        stretch = self._tape.at(self.time_s)
        if stretch.controls is not self._u:
            self._act(stretch.controls)
        return stretch.steps(self.time_s, self.dynamics)

    def _act(self, controls: np.ndarray) -> None:
        """These controls from now on. What is carried at the start is so under the first ones."""
        self._u, self._node = controls, None
        if self._steps == 0 and self._begins:
            self._y = self._started(self._good_node)

    def _roll(self, count: int) -> int:
        """Up to `count` steps under the present controls; judges the outcome."""
        m, around, pivot_w, kept = self.dynamics, self.footing.environment, self.footing.pivot_w, None
        if self.coupling is not None and self.recording.wants_environment(self._steps):
            kept = self.coupling.environment.checkpoint()
        impulse = self._pushed()
        self.recording.note(m, self._since_s, self._steps, self._u, self._y, around, pivot_w, kept)
        if impulse is not None:
            self.recording.note_push(self._steps, impulse)
            strike(m.kernel, m.vehicle, self._y, impulse, self._u, m.step_s)
        done, status, iterations = m.kernel.advance(
            self._y, self._u, np.zeros(m.kernel.dim), m.parameters, m.step_s, count, around.env
        )
        self.tally.add(done, iterations)
        self._steps += done
        self._node = None
        # Only where controls end, so that the verdict does not depend on how the steps were asked for.
        if status or self._steps % m.control_steps == 0:
            self._judge(status)
        return count

    def _pushed(self) -> np.ndarray | None:
        """What is coupled, ground that strikes and the hand that pulls, together, where controls are evaluated."""
        m = self.dynamics
        if self._steps % m.control_steps:
            return None
        if self.coupling is None and self.pull is None:
            struck = self.footing.environment.impulse(self.node, m.control_period_s)
            return None if struck is None else whole(struck, m.vehicle)
        seen = self._observe(self.node)
        if self.pull is not None and self.pull.body not in seen.layout.bodies:
            self.pull = None
        reached = Reached(self.time_s, self.node, self._y, self._u, seen, self._poses_w(seen))
        return impulse_on(reached, m, self.footing, self.coupling, self.pull)

    def _judge(self, status: int) -> None:
        node, m = self.node, self.dynamics
        observation = self._observe(node)
        energy_J, bounds = observation.energy_J, self.beginning.bounds
        at_s = self.time_s + (m.step_s if status else 0.0)
        self._verdict = divergence(str(m), status, m.vehicle, node, energy_J, bounds, m.step_s, at_s)
        if self._verdict is not None:
            self._node = self._good_node
            return
        self._good_node = node
        self.traces.note(self.time_s, observation, self._poses_w(observation))
        self._note_passage(observation)
        self._verdict = fate(m.vehicle, node, observation.twist_b, self.footing, self.coupling)

    def _note_passage(self, observation: Observation) -> None:
        """Show the race's clock where it is."""
        if self._timing is not None:
            by_hand = not isinstance(self.pilot, Automatic)
            T_wb = self._poses_w(observation)[0]
            self._timing.note(self.time_s, T_wb, observation.twist_b, by_hand=by_hand)
