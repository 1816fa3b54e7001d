"""A finished plan: the motion, its inputs, what it costs, and how it came about in words and numbers."""

from dataclasses import field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from sim.control.plan_following import Regulator, met_in_plans, regulator
from sim.integrators.base import Integrator
from sim.planner.task.bodies import positions
from sim.planner.task.task import WEIGHT_NAMES, Task, control_limits
from sim.platform.values import dataclass
from sim.steppers import Stepper
from sim.steppers.dynamics import stepper_of
from sim.steppers.trajectory import Trajectory
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import TREES
from sim.vehicles.forms.observation import observed_by_symbols

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sim.planner.result.sensitivity import Multipliers, Optimum, Sensitivity
    from sim.planner.solvers.backends import Result
    from sim.planner.transcription.transcription import PlannedMotion, Transcription

_ALIKE, _ALIKE_WAY = 1e-3, 0.01
"""Shares of the cost, and of the way's size, within which two plans are one."""
_STRAYED = 1e-6
"""What a motion that is retraced may be off its nodes [rad or m]."""
_LED = 1e-9
"""What inputs as they are may lead aside through contact [rad or m]."""
Status = Literal["solved", "infeasible", "stuck", "stopped", "time limit"]


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that stands in the way."""

    constraint: str
    time_s: float
    amount: float
    unit: str
    place_w: tuple[float, float, float]
    part: str = ""
    """Of the task, by its handle ("obstacle 1", "waypoint 0", "goal"), or "ground"; empty: none of these."""
    missed: bool = True
    """Something is not reached; otherwise something is entered or come too close to."""


@dataclass(frozen=True, eq=False)
class Plan:
    """What `sim.plan` answers. Only where `status` is "solved" does the motion obey everything asked for."""

    vehicle: Vehicle
    integrator: Integrator
    task: Task
    """With the waypoints' times filled in."""
    status: Status
    message: str
    """One or a few sentences for the user."""
    motion: "PlannedMotion"
    cost: float
    costs: dict[str, float]
    """Weighted parts of the cost, by the name of their weight."""
    iterations: int
    """Of all solver runs together."""
    history: tuple[tuple[float, float], ...]
    """(cost, largest violation) of each iteration that was watched."""
    seconds: float
    """Wall time of planning, without building the problem."""
    build_seconds: float
    defect: float
    """Largest violation of the equations of motion and of the ends, in scaled units (about m, rad, m/s)."""
    kkt: float
    """Largest entry of the Lagrangian's gradient, scaled."""
    clearance_m: float
    """Smallest distance of the vehicle's balls to any obstacle or ground, also between nodes; inf without any."""
    backend: str
    violations: tuple[Violation, ...] = ()
    alternatives: "tuple[Plan, ...]" = ()
    """Motions that solve the task another way, around the other side of something or facing otherwise, cheapest first;
    `cost` is the least of them all."""
    tried: int = 1
    """First guesses that the solver has started from."""
    result: "Result | None" = None
    """What a warm start goes on from."""
    problem: "Transcription | None" = field(default=None, repr=False)
    numbers: np.ndarray | None = field(default=None, repr=False)
    """Parameters that the problem was solved for."""

    def __repr__(self) -> str:
        how = f"{self.vehicle.name} by {self.integrator.name}, {len(self.controls) - 1} steps of {self.step_s:g} s"
        return f"<Plan: {self.status}, cost {self.cost:g}, {how}>"

    @property
    def step_s(self) -> float:
        return self.motion.step_s

    @property
    def duration_s(self) -> float:
        return self.step_s * (len(self.controls) - 1)

    @property
    def controls(self) -> np.ndarray:
        """(N+1, n_controls); the last row acts at the last node, from which a replay may go on."""
        return self.motion.controls

    @cached_property
    def trajectory(self) -> Trajectory:
        """N+1 nodes; its controls are those of the first N."""
        return trajectory(self.vehicle, self.integrator, self.motion)

    def plot(self, *names: str) -> "Figure":
        """As a trajectory's."""
        return self.trajectory.plot(*names)

    @cached_property
    def duals(self) -> "Multipliers":
        """Multipliers by the names of what they are prices of, as `sim.planner.result.sensitivity` says.

        InputError where the plan has none, and by a name for which there is none.
        """
        from sim.planner.result.sensitivity import duals  # when they are wanted: it loads what solves

        return duals(self._optimum)

    def sensitivity(self, name: str) -> "Sensitivity":
        """Derivatives of cost, motion and inputs by a number of the task, `sim.planner.result.sensitivity`. Raises
        InputError."""
        from sim.planner.result.sensitivity import sensitivity  # as above

        return sensitivity(self._optimum, name)

    @property
    def _optimum(self) -> "Optimum":
        from sim.planner.result.sensitivity import Optimum  # as above

        return Optimum(self.vehicle, self.task, self.problem, self.result, self.numbers, self.solved)

    @cached_property
    def feedback(self) -> Regulator:
        """Gains of LQR along the motion, and a law for `sim.simulate(..., controls=plan.feedback)`."""
        stepper = stepper_of(self.vehicle, self.integrator)
        return regulator(self.vehicle, stepper, self.step_s, self.motion.nodes, self.controls)

    @cached_property
    def open_loop_m(self) -> float:
        """How far from its end the inputs alone lead, as `led_astray_m` says: with `feedback` it is come to."""
        stepper = stepper_of(self.vehicle, self.integrator)
        return led_astray_m(self.vehicle, stepper, self.step_s, self.motion.nodes, self.controls)

    @property
    def found_parameters(self) -> dict[str, float]:
        """Those of `Task.free_parameters`, with which `vehicle` and `task` are given."""
        found = self.motion.free if self.motion.free is not None else ()
        return dict(zip(self.task.free_parameters, map(float, found), strict=True))

    @property
    def solved(self) -> bool:
        return self.status == "solved"


def led_astray_m(
    vehicle: Vehicle, kernel: Stepper, step_s: float, nodes: np.ndarray, controls: np.ndarray
) -> float:
    """How far from the end of a plan its inputs alone lead, undisturbed: a motion that is unstable lets errors of
    rounding grow. Of the main body, of an arm its tool."""
    p, nothing, env = vehicle.parameter_vector, np.zeros(kernel.dim), met_in_plans(vehicle, kernel)
    y = kernel.start(nodes[0], controls[0], p, step_s, env)
    for u in controls[:-1]:
        kernel.advance(y, u, nothing, p, step_s, 1, env)
    ended = kernel.node(y, controls[-1], p, step_s, env=env)
    if not np.isfinite(ended).all():
        return np.inf
    here, wanted = positions(vehicle, np.stack([ended, nodes[-1]]))
    return float(np.linalg.norm(here - wanted))


def retraced(
    t: "Transcription", vehicle: Vehicle, integrator: Integrator, move: "PlannedMotion"
) -> "PlannedMotion":
    """The motion as the simulation makes it, its inputs corrected on the way so that it leads from node to node.

    What a solver leaves of an equation an arm that is held up lets grow a thousandfold until the end. Where each joint
    has its own motor the torques of a step are those that lead to the next node from where it has come to; of others,
    and where that strays, the motion stays as it is.
    """
    model = t.model
    if model.scheme.touches:
        return _retraced_through_contact(t, vehicle, integrator, move)
    if model.mass is None or len(model.driven) < model.unknowns:
        return move
    kernel, at, h = stepper_of(vehicle, integrator), vehicle.node_layout, move.step_s
    numbers, nothing, env = vehicle.parameter_vector, np.zeros(kernel.dim), met_in_plans(vehicle, kernel)
    controls, nodes, inverse = move.controls.copy(), move.nodes.copy(), np.linalg.inv(model.mass)
    low, high = control_limits(vehicle, model.shape.limits).T
    y = kernel.start(nodes[0], controls[0], numbers, h, env)
    for k, node in enumerate(move.nodes[1:]):
        here = y[: at.size]
        z = (node[at.pose] - here[at.pose]) / h
        measured = np.r_[here[at.pose], inverse @ here[at.velocity]]
        controls[k] = np.clip(t.nodes.conversions.inverse(measured[None], z[None], numbers, h)[0], low, high)
        kernel.advance(y, controls[k], nothing, numbers, h, 1, env)
        nodes[k + 1] = kernel.node(y, controls[k + 1], numbers, h, env=env)
    strayed = np.abs(nodes[:, at.pose] - move.nodes[:, at.pose]).max()
    if not strayed < _STRAYED:
        return move
    return replace(move, nodes=nodes, inputs=model.input_map.planned(controls), controls=controls)


def _retraced_through_contact(
    t: "Transcription", vehicle: Vehicle, integrator: Integrator, move: "PlannedMotion"
) -> "PlannedMotion":
    """As `retraced`, by the inputs as they are, or where that leads aside by feedback: what a step is off may grow
    tenfold in the next one."""
    model, h, kernel = t.model, move.step_s, stepper_of(vehicle, integrator)
    numbers, nothing = vehicle.parameter_vector, np.zeros(kernel.dim)
    low, high = control_limits(vehicle, model.shape.limits).T

    def flown(gains: Regulator | None) -> tuple[np.ndarray, np.ndarray]:
        controls, nodes, env = move.controls.copy(), move.nodes.copy(), met_in_plans(vehicle, kernel)
        y = kernel.start(nodes[0], controls[0], numbers, h, env)
        for k in range(len(nodes) - 1):
            if gains is not None and k:
                error = gains.error(k, kernel.node(y, controls[k - 1], numbers, h, env=env))
                more = gains.correction(k, error, np.zeros_like(error))
                controls[k] = np.clip(controls[k] + more, low, high)
            kernel.advance(y, controls[k], nothing, numbers, h, 1, env)
            nodes[k + 1] = kernel.node(y, controls[k + 1], numbers, h, env=env)
        return nodes, controls

    at = vehicle.node_layout.pose
    nodes, controls = flown(None)
    if not np.abs(nodes[:, at] - move.nodes[:, at]).max() < _LED:
        nodes, controls = flown(regulator(vehicle, kernel, h, move.nodes, move.controls))
    if not np.abs(nodes[:, at] - move.nodes[:, at]).max() < _STRAYED:
        return move
    return replace(move, nodes=nodes, inputs=model.input_map.planned(controls), controls=controls)


def distinct(a: Plan, b: Plan) -> bool:
    """Whether two plans of a task are different motions, not one that was found twice."""
    if a.motion.nodes.shape != b.motion.nodes.shape or abs(a.cost - b.cost) > _ALIKE * max(
        abs(a.cost), abs(b.cost)
    ):
        return True
    places_w = positions(a.vehicle, a.motion.nodes), positions(b.vehicle, b.motion.nodes)
    return bool(
        np.abs(places_w[0] - places_w[1]).max() > _ALIKE_WAY * (1.0 + np.ptp(places_w[0], axis=0).max())
    )


def trajectory(vehicle: Vehicle, integrator: Integrator, move: "PlannedMotion") -> Trajectory:
    """As `sim.simulate` would give it."""
    if vehicle.form in TREES:
        observed = stepper_of(vehicle, integrator).observe_all(
            move.nodes, move.controls, vehicle.parameter_vector, move.step_s
        )
    else:
        observed = observed_by_symbols(vehicle, move.nodes, move.controls, move.step_s)
    return Trajectory(
        vehicle=vehicle,
        integrator=integrator,
        step_s=move.step_s,
        time=move.step_s * np.arange(len(move.nodes)),
        nodes=move.nodes,
        controls=move.controls[:-1],
        observed=observed,
        diverged_at=None,
        newton_iterations=0,
    )


def cost_parts(transcription: "Transcription", w: np.ndarray, p: np.ndarray) -> dict[str, float]:
    """Weighted terms of the cost by name; "own" is that of the user's functions and of a reference."""
    t = transcription
    where = t.model.parameters.slice("weights")
    none = p.copy()
    none[where] = none[t.model.parameters.slice("price")] = 0.0
    has_own = t.shape.own is not None and not (t.shape.own.rate is None and t.shape.own.end is None)
    own = t.program.cost(w, none) if has_own else 0.0
    out = {"own": own} if has_own else {}
    for i, name in enumerate(WEIGHT_NAMES):
        if name in t.shape.costs:
            alone = none.copy()
            alone[where.start + i] = p[where.start + i]
            out[name] = t.program.cost(w, alone) - own
    return out
