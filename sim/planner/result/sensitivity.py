"""How a plan changes with the numbers of its task: derivatives of the optimum, from the equations that it solves; and
its multipliers by name: what the cost would fall by if a bound gave way, and rise by if a goal moved.

At an optimum the gradient of the Lagrangian and the active constraints vanish whatever the numbers are: one linear
system with their derivatives says how variables and multipliers follow (sensitivity by the KKT system, Fiacco 1983).
Bounds that hold stay held, and those that do not stay free: where a bound is just touched there are derivatives to
either side."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import casadi as ca
import numpy as np

from sim.planner.solvers.backends import Result
from sim.planner.task.clearance import on_plane
from sim.planner.task.inputs import Constraint
from sim.planner.task.numbers import number_names, with_number
from sim.planner.task.refusal import obstacle_part
from sim.planner.task.task import WEIGHT_NAMES, Task, label
from sim.planner.task.waypoints import waypoint_places
from sim.planner.transcription.model import NodeModel
from sim.planner.transcription.parameters import parameters
from sim.planner.transcription.shape import with_arguments
from sim.planner.transcription.state_form import Slots
from sim.planner.transcription.transcription import PlannedMotion, Transcription, motion, transcribe
from sim.platform.errors import InputError, one_of, quote
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import TREES

_INNER = ("dynamics", "start")
"""Equations of the method, whose multipliers are no prices of anything that a task says."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """What a plan was solved as, and what came of it."""

    vehicle: Vehicle
    task: Task
    problem: Transcription | None
    """None of a plan that was read from a file."""
    result: Result | None
    numbers: np.ndarray | None
    """Parameters of the problem."""
    solved: bool


class Multipliers(dict[str, np.ndarray]):
    """By the names of what they are prices of. InputError for another name, with those that there are."""

    def __missing__(self, name: object) -> np.ndarray:
        raise InputError(f"unknown multiplier {quote(name)}; allowed: {one_of(self, name)}")


def duals(plan: Optimum) -> Multipliers:
    """Of inequalities (N+1,) at the nodes: cost by one unit of the bound, from 0. Of a goal's parts, one or more: the
    derivatives of the cost by what is asked for, in its own equations. Raises InputError for a plan without any."""
    if plan.problem is None or plan.result is None or not plan.result.lam_g.any():
        raise InputError(
            f"{plan.task.name}: this plan has no multipliers; allowed: one that is solved, not loaded"
        )
    t = plan.problem
    found: dict[str, np.ndarray] = {}
    goals: dict[str, list[float]] = {}
    steps = t.shape.steps
    for (k, row), lam in zip(t.row_labels(), plan.result.lam_g, strict=True):
        if row is None or row.name in _INNER:
            continue
        if row.goal and row.low == row.high:
            goals.setdefault(row.name, []).append(float(-lam / row.scale))
            continue
        price = found.setdefault(row_name(row, plan.vehicle, plan.task), np.zeros(steps + 1))
        price[k] += (-lam if row.low == row.high else abs(lam)) / row.scale
    for name, k, price_there in _of_variables(t, plan.result.lam_x):
        found.setdefault(name, np.zeros(steps + 1))[k] += price_there
    return Multipliers(found | {name: np.array(values) for name, values in goals.items()})


def row_name(row: Constraint, vehicle: Vehicle, task: Task) -> str:
    """By which a user finds a constraint: "obstacle east mast", "ground", "goal position", a control, one's own."""
    if row.obstacle is None:
        return row.name
    kind, number = row.obstacle
    same = [(i, o) for i, o in enumerate(task.obstacles) if on_plane(vehicle, o).kind == kind]
    return str(obstacle_part(same[number][1], same[number][0]))


def _of_variables(t: Transcription, lam_x: np.ndarray) -> list[tuple[str, int, float]]:
    """(name, node, price) of the bounds of variables that are finite."""
    names, last = _names(t.model, t.model.controls), _names(t.model, t.last_controls)
    n, size, out = t.shape.steps, t.stage_size, []
    for i in np.flatnonzero(np.isfinite(t.low) | np.isfinite(t.high)):
        k = min(int(i) // size, n)
        j = int(i) - k * size
        name, unscale = (names[j], t.running.unscale[j]) if k < n else (last[j], t.last.unscale[j])
        if name:
            out.append((name, k, float(abs(lam_x[i]) / unscale)))
    return out


def _names(model: NodeModel, controls: Slots) -> list[str]:
    """Of the variables of a node; empty: nothing that a task says."""
    columns = model.vehicle.space.columns
    y = [""] * model.state.sizes["y"]
    for i, column in enumerate(columns):
        found = model.component(i)
        if found is not None:
            y[found] = column
    free = [f"free {name}" for name, _, _ in model.shape.free_parameters]
    state = [
        *y,
        *model.input_map.names[: model.state.sizes["previous"]],
        *([""] * model.state.sizes["h"]),
        *free,
    ]
    at = model.vehicle.node_layout.velocity
    velocities = list(columns[at]) if model.unknown_is_velocity else []
    velocities += [""] * (controls.sizes["z"] - len(velocities))
    own = [*model.input_map.names[: controls.sizes["a"]], *velocities[: controls.sizes["z"]]]
    return [*state, *own, *[""] * (controls.size - len(own))]


_STEP = 1e-6
"""Of differences, of the equations and not of solutions: their error is about its square."""
_CLOSEST, _HELD, _FREE = 1e-13, 1e-9, 1e12
"""Least distance to a bound and softness of an equation, least multiplier of a bound that counts, and the softness of
one that does not."""
_OWN = ("duration_s", "clearance_m", "safety_range_m")


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Derivatives by one number, or by each of several, which then come last."""

    name: str
    cost: np.ndarray
    """() or (k,)."""
    nodes: np.ndarray
    """(N+1, node size) or (N+1, node size, k)."""
    controls: np.ndarray
    """(N+1, n_controls) or (N+1, n_controls, k)."""
    duration_s: np.ndarray
    """() or (k,)."""
    free_parameters: dict[str, np.ndarray]
    """Name -> () or (k,)."""

    @property
    def end(self) -> np.ndarray:
        """(node size,) or (node size, k)."""
        return self.nodes[-1]


_Changed = Callable[[float], tuple[Vehicle, Task]]
"""Vehicle and task with a number that is larger by so much."""


def sensitivity(plan: Optimum, name: str) -> Sensitivity:
    """Of a solved plan. name: a parameter of the vehicle (`wind`, or a number of it `wind.0`), one of the task's own
    numbers, `duration_s`, `clearance_m`, `safety_range_m`, `weight NAME`, `start COLUMN`, `goal COLUMN`, or
    `obstacle NAME`, for its place [m] along the world's axes.

    Raises InputError, in one line, for another name and for a plan that is not solved.
    """
    if plan.problem is None or plan.result is None or not (plan.solved and plan.result.lam_g.any()):
        raise InputError(
            f"{plan.task.name}: no sensitivity; allowed: of a plan that is solved, not loaded from a file"
        )
    changes, single = _changes(plan, name)
    found = [_along(plan, change, scale) for change, scale in changes]
    cost, nodes, controls, duration_s, free = (np.stack(part, axis=-1) for part in zip(*found, strict=True))
    if single:
        cost, nodes, controls, duration_s, free = (
            x[..., 0] for x in (cost, nodes, controls, duration_s, free)
        )
    names = plan.task.free_parameters
    return Sensitivity(name, cost, nodes, controls, duration_s, dict(zip(names, free, strict=True)))


def _changes(plan: Optimum, name: str) -> tuple[list[tuple[_Changed, float]], bool]:
    """What changes, with the magnitude of each number; whether it is one number."""
    vehicle, task = plan.vehicle, plan.task
    names = number_names(vehicle)
    several = [number for number in names if number.partition(".")[0] == name]
    what, _, rest = str(name).partition(" ")
    columns = vehicle.space.columns
    if name in names or several:
        if any(q.structural for q in vehicle.parameters if q.name == name.partition(".")[0]):
            raise InputError(
                f"{name} of {vehicle.name} is a whole number; allowed: numbers that may change a little"
            )
        chosen = [name] if name in names else several

        def other(number: str) -> _Changed:
            value = float(vehicle.parameter_vector[names[number]])
            return lambda by: (with_number(vehicle, number, value + by), task)

        sizes = [max(abs(float(vehicle.parameter_vector[names[n]])), 1e-3) for n in chosen]
        return list(zip(map(other, chosen), sizes, strict=True)), name in names
    if name in task.numbers:
        value = task.numbers[name]
        return [(partial(_renumbered, vehicle, task, name, value), max(abs(value), 1e-3))], True
    if name in _OWN:
        value = float(getattr(task, name))
        return [(lambda by: (vehicle, replace(task, **{name: value + by})), max(value, 1e-2))], True
    if what == "weight" and rest in WEIGHT_NAMES and getattr(task.weights, rest) > 0.0:
        value = float(getattr(task.weights, rest))
        return [(partial(_weighed, vehicle, task, rest, value), value)], True
    if what in ("start", "goal") and rest in columns and not rest.startswith("R_"):
        return [(_moved_end(vehicle, task, what, columns.index(rest)), 1.0)], True
    labels = [label(obstacle, i) for i, obstacle in enumerate(task.obstacles)]
    if what == "obstacle" and rest in labels:
        return [(_moved_obstacle(vehicle, task, labels.index(rest), axis), 1.0) for axis in range(3)], False
    known = [*(n.partition(".")[0] for n in names), *names, *task.numbers, *_OWN]
    known += [f"weight {n}" for n in WEIGHT_NAMES if getattr(task.weights, n) > 0.0]
    known += [f"{end} {c}" for end in ("start", "goal") for c in columns if not c.startswith("R_")]
    known += [f"obstacle {n}" for n in labels]
    allowed = one_of(dict.fromkeys(known), name)
    raise InputError(f"unknown number {quote(name)} of {task.name}; allowed: {allowed}")


def _renumbered(vehicle: Vehicle, task: Task, name: str, value: float, by: float) -> tuple[Vehicle, Task]:
    return vehicle, replace(task, numbers={**task.numbers, name: value + by})


def _weighed(vehicle: Vehicle, task: Task, name: str, value: float, by: float) -> tuple[Vehicle, Task]:
    return vehicle, replace(task, weights=replace(task.weights, **{name: value + by}))


def _moved_end(vehicle: Vehicle, task: Task, what: str, i: int) -> _Changed:
    state = task.start if what == "start" else task.goal.state

    def changed(by: float) -> tuple[Vehicle, Task]:
        node = state.node.copy()
        node[i] += by
        there = replace(state, node=node)
        if what == "start":
            return vehicle, replace(task, start=there)
        return vehicle, replace(task, goal=replace(task.goal, state=there))

    return changed


def _moved_obstacle(vehicle: Vehicle, task: Task, i: int, axis: int) -> _Changed:
    def changed(by: float) -> tuple[Vehicle, Task]:
        by_w = tuple(by if k == axis else 0.0 for k in range(3))
        others = list(task.obstacles)
        others[i] = others[i].moved(by_w)  # type: ignore[arg-type]
        return vehicle, replace(task, obstacles=tuple(others))

    return changed


def _along(
    plan: Optimum, change: _Changed, size: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Derivatives of cost, nodes, controls, duration and free parameters by one number."""
    t, result, p = plan.problem, plan.result, plan.numbers
    assert t is not None
    assert result is not None
    assert p is not None
    eps = _STEP * size

    def changed(by: float) -> tuple[Transcription, np.ndarray]:
        """Parameters of a tree of joints are numbers in its equations."""
        vehicle, task = change(by)
        own = vehicle.form in TREES and vehicle is not plan.vehicle
        there = transcribe(replace(t.shape, vehicle=with_arguments(vehicle, task))) if own else t
        places = waypoint_places(vehicle, plan.task, t.shape.steps)
        return there, parameters(there, vehicle, task, places=places)

    signs = (1.0, -1.0)
    (ahead, p_ahead), (behind, p_behind) = (changed(sign * eps) for sign in signs)
    dp, there = (p_ahead - p_behind) / 2.0, (ahead, behind)
    w, lam_g = result.w, result.lam_g
    at = [(other, p + sign * dp) for other, sign in zip(there, signs, strict=True)]
    pulls = [other.program.pull(w, q, 1.0, lam_g) for other, q in at]
    rows = [other.program.constraints(w, q) for other, q in at]
    costs = [other.program.cost(w, q) for other, q in at]
    dw = _solved(plan, t, (pulls[0] - pulls[1]) / 2.0 / eps, (rows[0] - rows[1]) / 2.0 / eps)
    cost = (costs[0] - costs[1] + lam_g @ (rows[0] - rows[1])) / 2.0 / eps
    small = _STEP / max(float(np.abs(dw).max(initial=0.0)), 1.0 / size)
    by_w = _slopes([motion(t, w + sign * small * dw, p) for sign in signs], 2.0 * small)
    by_number = _slopes([motion(other, w, q) for other, q in at], 2.0 * eps)
    nodes, controls, duration_s, free = (x + y for x, y in zip(by_w, by_number, strict=True))
    return np.asarray(cost), nodes, controls, duration_s, free


def _slopes(motions: list[PlannedMotion], apart: float) -> tuple[np.ndarray, ...]:
    """Of nodes, controls, duration and free parameters, from two motions, ahead and behind, so far apart."""
    ahead, behind = motions
    steps = len(ahead.nodes) - 1
    free = [x.free if x.free is not None else np.zeros(0) for x in motions]
    return (
        (ahead.nodes - behind.nodes) / apart,
        (ahead.controls - behind.controls) / apart,
        np.asarray((ahead.step_s - behind.step_s) * steps / apart),
        (free[0] - free[1]) / apart,
    )


def _solved(plan: Optimum, t: Transcription, by_gradient: np.ndarray, by_rows: np.ndarray) -> np.ndarray:
    """(variables,) dw of the KKT system, with bounds as stiff as their multipliers are large beside their distances."""
    import scipy.sparse as sparse
    from scipy.sparse.linalg import splu

    result, p, g = plan.result, plan.numbers, t.program
    assert result is not None
    assert p is not None
    g.pull(result.w, p, 1.0, result.lam_g)
    hessian = _matrix(g.full_hessian.sparsity, lambda out: g.full_hessian(g.curvature(), out))
    jacobian = _matrix(g.jacobian_gather.sparsity, lambda out: g.jacobian(result.w, p, out))
    rows = g.constraints(result.w, p)
    give = _give(rows, result.lam_g, t.row_low, t.row_high)
    stiff = 1.0 / _give(result.w, result.lam_x, t.low, t.high)
    K = sparse.bmat(
        [[hessian + sparse.diags(stiff), jacobian.T], [jacobian, sparse.diags(-give)]], format="csc"
    )
    found = splu(K).solve(-np.r_[by_gradient, by_rows])
    return np.asarray(found[: result.w.size])


def _give(values: np.ndarray, lam: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """How much each gives way for a unit of its multiplier: next to nothing for an equation or a bound that holds.

    Equations may say nothing, as of a wheel that it does not go aside, or what others say: any multiplier would do.
    """
    away = np.where(lam < 0.0, values - low, high - values)
    with np.errstate(divide="ignore", invalid="ignore"):
        soft = np.maximum(away, _CLOSEST) / np.abs(lam)
    soft = np.where((np.abs(lam) < _HELD) | ~np.isfinite(soft), _FREE, np.minimum(soft, _FREE))
    return np.where(low == high, _CLOSEST, soft)


def _matrix(pattern: ca.Sparsity, fill: Callable[[np.ndarray], None]):  # type: ignore[no-untyped-def]
    import scipy.sparse as sparse

    out = np.empty(pattern.nnz())
    fill(out)
    indices, ends = np.array(pattern.row(), np.int32), np.array(pattern.colind(), np.int32)
    return sparse.csc_matrix((out, indices, ends), shape=pattern.shape)
