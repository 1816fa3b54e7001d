"""A plan as plain values: what travels between processes, is shown, flown, compared, stored; what its inputs push."""

from dataclasses import field
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.integrators import Integrator, integrator
from sim.planner.result.active_constraints import ActiveConstraint, active_constraints
from sim.planner.result.plan import Plan, Status, Violation
from sim.planner.task.bodies import own_space, positions, structure_of
from sim.planner.task.task import Task
from sim.platform.values import dataclass
from sim.vehicles import Vehicle
from sim.vehicles.forms.base import Structure


@dataclass(frozen=True, eq=False, kw_only=True)
class PlanRecord:
    """Everything of a plan but the problem that it came from. Arrays are never written to."""

    name: str
    """By which plans are told apart."""
    vehicle: Vehicle
    integrator: str
    options: dict[str, float | str] = field(default_factory=dict)
    """Of the integrator."""
    step_s: float
    nodes: np.ndarray
    """(N+1, node size)."""
    controls: np.ndarray
    """(N+1, n_controls); the last row acts at the last node."""
    status: Status
    message: str
    cost: float
    costs: dict[str, float]
    """Weighted parts of the cost by name."""
    history: tuple[tuple[float, float], ...]
    """(cost, largest violation) of the iterations that were watched."""
    iterations: int
    seconds: float
    """Wall time of planning."""
    defect: float
    clearance_m: float
    violations: tuple[Violation, ...] = ()
    active: tuple[ActiveConstraint, ...] = ()
    """What it leans on."""
    waypoint_times_s: tuple[float | None, ...] = ()
    alternatives: "tuple[PlanRecord, ...]" = ()
    """Other ways to do the task, the cheapest first."""
    tried: int = 1
    """First guesses that were tried."""
    task: Task | None = None
    """What it was planned for, without its ground; None where a file does not say."""

    @property
    def method(self) -> Integrator:
        """What it was planned with, and is flown by."""
        return integrator(self.integrator, **self.options)

    @property
    def solved(self) -> bool:
        return self.status == "solved"

    @property
    def steps(self) -> int:
        return len(self.nodes) - 1

    @property
    def duration_s(self) -> float:
        return self.steps * self.step_s

    @property
    def places_w(self) -> np.ndarray:
        """(N+1, 3) m; z = 0 for what moves on a plane."""
        return positions(self.vehicle, self.nodes)


def record_of(plan: Plan, name: str) -> PlanRecord:
    """The plain values of a plan."""
    held = active_constraints(plan.vehicle, plan.task, plan.trajectory.nodes, plan.controls, plan.step_s)
    return PlanRecord(
        name=name,
        vehicle=plan.vehicle,
        integrator=plan.integrator.name,
        options=plan.integrator.settings,
        step_s=plan.step_s,
        nodes=np.ascontiguousarray(plan.trajectory.nodes),
        controls=np.ascontiguousarray(plan.controls),
        status=plan.status,
        message=plan.message,
        cost=plan.cost,
        costs=dict(plan.costs),
        history=plan.history,
        iterations=plan.iterations,
        seconds=plan.seconds,
        defect=plan.defect,
        clearance_m=plan.clearance_m,
        violations=plan.violations,
        active=held,
        waypoint_times_s=tuple(waypoint.time_s for waypoint in plan.task.waypoints),
        alternatives=tuple(
            record_of(other, f"{name}, way {i}") for i, other in enumerate(plan.alternatives, 2)
        ),
        tried=plan.tried,
        task=plan.task.plain,
    )


PERIODS = 5
"""Of a gait, that are flown at once."""
_AGAIN = 1e-6
"""What ends as near to where it began counts as the same."""


def repeated(record: PlanRecord, times: int = PERIODS) -> tuple[np.ndarray, np.ndarray]:
    """(nodes, controls) of a gait made again and again, each time from where it ended, by the same element of the
    group. What does not end with the velocities and the shape it began with is as it is, and so is a closed lap."""
    vehicle, nodes, controls = record.vehicle, record.nodes, record.controls
    if record.task is None or not record.task.periodic or own_space(vehicle):
        return nodes, controls
    at = vehicle.node_layout
    poses = vehicle.poses(nodes)
    moves = bool(np.abs(poses[-1] - poses[0]).max() > _AGAIN)
    turns = [
        at.shape.start + i
        for i, c in enumerate(vehicle.shape_coordinates)
        if not np.isfinite([c.low, c.high]).any()
    ]
    inner = np.setdiff1d(np.arange(at.pose.stop, at.size), turns)
    if not moves or np.abs(nodes[-1, inner] - nodes[0, inner]).max(initial=0.0) > _AGAIN:
        return nodes, controls
    by = poses[-1] @ np.linalg.inv(poses[0])
    found = [nodes]
    for _ in range(times - 1):
        after = found[-1].copy()
        after[:, at.pose] = [vehicle.group.from_matrix(by @ T) for T in vehicle.poses(after)]
        after[:, turns] += nodes[-1, turns] - nodes[0, turns]
        found.append(after)
    begun = [each[:-1] for each in found[:-1]]
    return np.concatenate([*begun, found[-1]]), np.concatenate([*[controls[:-1]] * (times - 1), controls])


_SPATIAL = 6
"""Components of a wrench in space."""


def control_forces_b(record: PlanRecord) -> np.ndarray:
    """(N+1, 3) force of the controls at the nodes [N], body frame."""
    function = _wrench(structure_of(record.vehicle))
    wrench = np.array(function(record.controls.T, record.vehicle.parameter_vector)).T
    if own_space(record.vehicle) and wrench.shape[1] != _SPATIAL:
        return np.zeros((len(wrench), 3))
    if wrench.shape[1] == _SPATIAL:
        return wrench[:, 3:]
    return np.c_[wrench[:, 1:], np.zeros(len(wrench))]


@lru_cache(maxsize=64)
def _wrench(structure: Structure) -> ca.Function:
    """(controls, parameters) -> body wrench."""
    vehicle = structure.vehicle
    u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count)
    return ca.Function("wrench", [u, p], [ca.densify(vehicle.control_wrench(u, vehicle.symbols(p)))])
