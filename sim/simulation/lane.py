"""A lane: one vehicle under one integrator, flown by one pilot, on the clock that all lanes share."""

import logging
import math
from dataclasses import dataclass

import numpy as np

from sim.commands import PilotInput
from sim.pilot import Pilot, Sensed
from sim.simulation.axis_path import AxisPath
from sim.simulation.clock import due_steps
from sim.simulation.cost import StepCost, Tally
from sim.simulation.footing import Footing
from sim.simulation.gyration import axis_of, gyration
from sim.simulation.method import CONTROL_PERIOD_S, Method
from sim.simulation.moments import Moments
from sim.simulation.recording import Recording
from sim.simulation.rolling import rolling
from sim.simulation.space import Placement, in_space, placement
from sim.simulation.spin_path import SpinPath
from sim.simulation.tape import ControlTape
from sim.simulation.verdict import Verdict, divergence, energy_bound, wreck
from sim.snapshot import Deviation, LaneSnapshot, LaneStatus
from sim.take.leg import Moment

_LOG = logging.getLogger(__name__)

FRAGILE = frozenset({"helicopter"})
"""Vehicles that a hard touch ends."""


@dataclass(frozen=True, slots=True)
class Look:
    """By what a lane is told apart."""

    name: str
    tint: tuple[float, float, float]
    """Linear RGB."""
    ghost: bool


class Lane:
    """Owns the integrator's private state; everything published is copied out of it."""

    def __init__(
        self,
        look: Look,
        method: Method,
        node: np.ndarray,
        pilot: Pilot,
        footing: Footing,
        *,
        tape: ControlTape,
        follows: bool = False,
        energy_bound_J: float | None = None,
        time_s: float = 0.0,
    ) -> None:
        """`tape`: of the flown lane, which writes it and those that follow read it."""
        self.look, self.method, self.pilot, self.footing = look, method, pilot, footing
        self.follows = follows
        self.by_plan = False
        """A plan gives it its inputs for now, at its own steps."""
        self.generation = 0
        self.recording = Recording()
        self._tape, self._asked_bound_J = tape, energy_bound_J
        self._newton_iterations = 0.0
        self._tally, self._cost = Tally(), StepCost()
        self._contact_b = np.zeros(6)
        self._node: np.ndarray | None
        self._verdict: Verdict | None
        self._moments: Moments
        self._spin: SpinPath
        self._axis: AxisPath
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
        return self._since_s + self._steps * self.method.step_s

    @property
    def held_s(self) -> float:
        """How long the present controls still act before they are evaluated anew."""
        m = self.method
        return -self._steps % m.control_steps * m.step_s

    @property
    def node(self) -> np.ndarray:
        """Pose and node velocity now, flat; do not write to it."""
        if self._node is None:
            m = self.method
            self._node = m.kernel.node(
                self._y,
                self._u,
                m.parameters,
                m.step_s,
                ground=self.footing.probe(),
                contact_b=self._contact_b,
            )
        return self._node

    @property
    def placement(self) -> Placement:
        """Where the vehicle is in the world, and its twist."""
        return self._placed(self.node)

    def _placed(self, node: np.ndarray) -> Placement:
        return placement(self.method.vehicle, node, self.footing.world, self.footing.pivot_w)

    def restart(
        self,
        node: np.ndarray,
        pilot: Pilot,
        time_s: float,
        *,
        method: Method | None = None,
        controls: np.ndarray | None = None,
    ) -> None:
        """Back to a start, perhaps under another method: runs again, whatever stopped it."""
        self.pilot, self.method = pilot, method or self.method
        self.generation += 1
        self._take(node, time_s, controls=controls)

    def swap(self, method: Method, footing: Footing, *, node: np.ndarray | None = None) -> None:
        """Go on under another method, with pose and node velocity kept (or as `node` says)."""
        verdict, kept, now = self._verdict, self.node if node is None else node, self.time_s
        same_vehicle = method.vehicle.name == self.method.vehicle.name
        self._asked_bound_J = self._asked_bound_J if same_vehicle else None
        controls = self._u if same_vehicle else None
        # A parameter may be dragged many times a second: that breaks no trail.
        continuous = same_vehicle and (method.integrator, method.step_s) == (
            self.method.integrator,
            self.method.step_s,
        )
        self.generation += 0 if continuous else 1
        self.method, self.footing, self._cost = method, footing, StepCost()
        moments, spin, axis = self._moments, self._spin, self._axis
        self._take(kept.copy(), now, controls=controls)
        if continuous:
            self._moments, self._spin, self._axis = moments, spin, axis
        self._verdict = verdict

    def put(self, method: Method, footing: Footing, moment: Moment) -> None:
        """Exactly to a recorded moment, running: equal inputs lead to the bits that came then."""
        same_vehicle = method.vehicle.name == self.method.vehicle.name
        self.generation += 1
        self.method, self.footing = method, footing
        footing.recall(moment.memory)
        self._since_s, self._steps = moment.leg.since_s, moment.step
        self._u, self._y = moment.controls, moment.state.copy()
        self._node = None
        if not same_vehicle:
            self._note_start(self.node)
        self._go_on_from(self.node)

    def run_until(self, clock_s: float, sticks: PilotInput) -> None:
        """Take all steps that are due; a lane that cannot go on stops, and says why."""
        due = due_steps(clock_s, self._since_s, self.method.step_s) - self._steps
        try:
            follows = self.follows and not self.by_plan
            while due > 0 and self.running and not (follows and not self._tape.known(self.time_s)):
                phase = self._steps % self.method.control_steps
                count = min(due, self.method.control_steps - phase)
                if follows:
                    count = min(count, self._follow())
                elif phase == 0 and not self._evaluated:
                    self._fly(sticks)
                due -= self._roll(count)
            self._look_ahead(sticks)
        except Exception as error:
            _LOG.exception("lane %s", self.look.name)
            self._node = self._good_node
            self._verdict = Verdict(LaneStatus.DIVERGED, f"{self.method}: stopped by an error: {error!r}")
        if not self.running and not self.look.ghost:
            self._tape.hold()

    def _take(self, node: np.ndarray, time_s: float, *, controls: np.ndarray | None = None) -> None:
        """Start the integrator from a node."""
        m = self.method
        self._since_s, self._steps = time_s, 0
        self._u = m.vehicle.neutral_controls if controls is None else controls
        self.footing.forget()
        self._y = self._started(node)
        self._node = None
        self._note_start(node)
        self._go_on_from(node)

    def _go_on_from(self, node: np.ndarray) -> None:
        self._good_node = node.copy()
        self._verdict = None
        there = self._placed(node)
        self._moments, self._spin = Moments(self.time_s, there.T_wb), SpinPath(self.time_s, there.twist_b[:3])
        axis_b = axis_of(self.method.vehicle)
        self._axis = AxisPath(self.time_s, there.T_wb[:3, :3], there.twist_b[:3], axis_b)

    def _note_start(self, node: np.ndarray) -> None:
        """What energy and momentum are compared with."""
        m = self.method
        observation = m.kernel.observe(node, self._u, m.parameters)
        self._energy_start_J = observation.energy_J
        self._momentum_start_w = in_space(m.vehicle, observation.momentum_w)
        self._gyration_start = gyration(m.vehicle, node, observation.momentum_w)
        self._bound_J = self._asked_bound_J or energy_bound(m.vehicle, observation.energy_J)

    def _started(self, node: np.ndarray) -> np.ndarray:
        """The integrator's private state for a node."""
        m = self.method
        return m.kernel.start_on(node, self._u, m.parameters, m.step_s, self.footing.probe())

    def _fly(self, sticks: PilotInput) -> None:
        m = self.method
        there = self.placement
        sensed = Sensed(
            there.T_wb[:3, :3],
            there.T_wb[:3, 3],
            there.twist_b[:3],
            there.twist_b[3:],
            self.footing.clearance_m(self.node),
            self.node,
        )
        controls = self.pilot.controls(sticks, sensed, m.vehicle, m.control_period_s)
        self._act(np.ascontiguousarray(controls, float))
        if not self.look.ghost:
            self._tape.record(self.time_s, self._u, self.time_s + m.control_period_s)

    @property
    def _evaluated(self) -> bool:
        """Whether the controls of the step that begins are evaluated already.

        Those of a long step are as soon as it begins, since shorter steps of other lanes wait for them.
        """
        long = not self.look.ghost and self.method.step_s > CONTROL_PERIOD_S
        return long and self._tape.known(self.time_s)

    def _look_ahead(self, sticks: PilotInput) -> None:
        """Evaluate the controls of a long step that has just begun."""
        m = self.method
        long = not self.look.ghost and m.step_s > CONTROL_PERIOD_S
        if long and self.running and self._steps % m.control_steps == 0 and not self._evaluated:
            self._fly(sticks)

    def _follow(self) -> int:
        """Take up the flown lane's controls of this moment; returns the steps that start under them."""
        stretch, now = self._tape.at(self.time_s), self.time_s
        if stretch.controls is not self._u:
            self._act(stretch.controls)
        if not math.isfinite(stretch.until_s):
            return self.method.control_steps
        return max(math.ceil((stretch.until_s - now) / self.method.step_s - 1e-6), 1)

    def _act(self, controls: np.ndarray) -> None:
        """These controls from now on. The start's half impulse is that of the first ones."""
        self._u, self._node = controls, None
        if self._steps == 0:
            self._y = self._started(self._good_node)

    def _roll(self, count: int) -> int:
        """Up to `count` steps under the present controls; judges the outcome."""
        m, ground = self.method, self.footing.ground
        pivot_w = self.footing.pivot_w
        self.recording.note(m, self._since_s, self._steps, self._u, self._y, ground, pivot_w)
        done, status, iterations = m.kernel.rollout(
            self._y, self._u, self._nothing, m.parameters, m.step_s, count, ground=ground
        )
        self._tally.add(done, iterations)
        self._steps += done
        self._node = None
        # Only where controls end, so that the verdict does not depend on how the steps were asked for.
        if status or self._steps % m.control_steps == 0:
            self._judge(status)
        return count

    def _judge(self, status: int) -> None:
        node, m = self.node, self.method
        energy = m.kernel.observe(node, self._u, m.parameters).energy_J
        at_s = self.time_s + (m.step_s if status else 0.0)
        twist_b = in_space(m.vehicle, node[m.vehicle.node_layout.velocity])
        self._verdict = divergence(str(m), status, twist_b, energy, self._bound_J, m.step_s, at_s)
        if self._verdict is not None:
            self._node = self._good_node
            return
        self._good_node = node
        T_wb = self.placement.T_wb
        self._moments.add(self.time_s, T_wb)
        self._axis.note(self.time_s, T_wb[:3, :3], twist_b[:3])
        self._spin.note(self.time_s, twist_b[:3])
        impact = self.footing.take_impact()
        if m.vehicle.name in FRAGILE:
            speed_mps = float(np.linalg.norm(twist_b[3:]))
            self._verdict = wreck(impact, self.footing.under_water(node), speed_mps)

    @property
    def _nothing(self) -> np.ndarray:
        return np.zeros(self.method.kernel.dim)

    def publish(self, span_s: float, deviation: Deviation | None = None) -> LaneSnapshot:
        """The lane as it is now, and its pose `span_s` (or a step, if that is longer) before."""
        node, there, m = self.node, self.placement, self.method
        if self._tally.steps:
            self._newton_iterations = self._tally.take()
        if self.running:
            self._cost.look(m, self._y, self._u, self.footing.probe())
        self._moments.add(self.time_s, there.T_wb)
        previous_s, previous_T_wb, current_s, current_T_wb = self._moments.pair(max(span_s, m.step_s))
        observation = m.kernel.observe(node, self._u, m.parameters)
        clearance = self.footing.clearance_m(node)
        return LaneSnapshot(
            name=self.look.name,
            vehicle=m.vehicle.name,
            integrator=m.integrator,
            step_s=m.step_s,
            tint=self.look.tint,
            ghost=self.look.ghost,
            generation=self.generation,
            time_previous_s=previous_s,
            time_current_s=current_s,
            T_wb_previous=previous_T_wb,
            T_wb=current_T_wb,
            twist_b=there.twist_b,
            shape=node[m.vehicle.node_layout.shape].copy(),
            controls=self._u.copy(),
            control_wrench_b=in_space(m.vehicle, observation.control_wrench_b),
            environment_wrench_b=self._contact_b.copy(),
            energy_J=observation.energy_J,
            energy_start_J=self._energy_start_J,
            momentum_w=in_space(m.vehicle, observation.momentum_w),
            momentum_start_w=self._momentum_start_w,
            newton_iterations=self._newton_iterations,
            step_cost_s=self._cost.step_s,
            height_above_ground_m=clearance if math.isfinite(clearance) else math.nan,
            on_ground=self.footing.touching,
            status=LaneStatus.RUNNING if self._verdict is None else self._verdict.status,
            status_text="" if self._verdict is None else self._verdict.text,
            own_pilot=not self.follows,
            deviation=deviation,
            rolling=rolling(m, self._y, self._u, node),
            gyration=gyration(m.vehicle, node, observation.momentum_w),
            gyration_start=self._gyration_start,
            spin_path=self._spin.rows(),
            axis_path=self._axis.rows(),
        )
