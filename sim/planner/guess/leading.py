"""Guesses for what follows a leader by a law of its own, as a load its target: the motion that the law makes of the
leader's way, and, where it has to end as the law has it nowhere at rest, inputs that bring it there."""

from collections.abc import Callable

import casadi as ca
import numpy as np

from sim.planner.solvers.riccati import NodeBlocks
from sim.planner.task.bodies import positions
from sim.planner.task.task import Task, control_limits
from sim.planner.transcription.model import NodeModel
from sim.planner.transcription.parameters import parameters
from sim.planner.transcription.transcription import Transcription
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.homogeneous import Leader, has_leader

Scaled = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""Nodes (N+1, node size) and planned inputs (N+1, size) -> variables of a problem."""
_SETTLES = 0.1
"""What the end may miss of the goal, in numbers of the state: from there solvers get on by themselves."""
_ROUNDS, _MET, _BOUNDED = 20, 1e-6, 8
"""In which inputs are changed until no more is missed, and in which of them come to their limits. What the law itself
takes back tells on the end by a millionth of what the leader's place does, so that the last digits come slowly, and
solvers see to them."""
_HELD, _LESS, _LEAST, _MOST = 1e-3, 0.1, 1e-11, 1e3
"""By which squares of changes are held back, as a share of all squares of what they do to the end: at first, by how
much less after each that helps (and more after one that does not), least and most."""


def follows(model: NodeModel, vehicle: Vehicle) -> bool:
    """It has a leader, and a step of the method has no unknowns to solve for."""
    return has_leader(vehicle) and not model.unknowns


def following(
    t: Transcription, vehicle: Vehicle, task: Task, nodes: np.ndarray, scaled: Scaled
) -> tuple[np.ndarray, np.ndarray] | None:
    """Nodes (N+1, node size) and inputs (N+1, size) of a motion that obeys the equations and its inputs' ranges.

    The leader's velocity is that of `nodes` (N+1, node size), on which all else is as it should be rather than as the
    law has it; the motion ends near the goal. scaled: a problem's variables of nodes and inputs. None where the law
    does not lead along the way, as with steps that are too long for it.
    """
    law, inputs = _Law(t.model, vehicle, task, len(nodes) - 1), _leading(vehicle, task, nodes)
    states = law.states(inputs)
    way = positions(vehicle, nodes)
    length_m = max(1.0, float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum()))
    if not np.isfinite(states).all():
        return None
    astray_m = np.linalg.norm(positions(vehicle, law.nodes(states, inputs)) - way, axis=1).max()
    if astray_m >= length_m:
        return None
    goal = law.begun(task.goal.state.node)
    if task.goal.parts is None and np.abs(states[-1] - goal).max() > _SETTLES:
        slopes = _Slopes(t, vehicle, task, scaled)
        inputs = _brought(law, slopes, inputs, goal, control_limits(vehicle, task.limits))
        states = law.states(inputs)
    return law.nodes(states, inputs), inputs


def _leading(vehicle: Vehicle, task: Task, nodes: np.ndarray) -> np.ndarray:
    """(N+1, size) inputs that change the leader's velocity from node to node as it does, within their ranges."""
    leader = Leader.of(vehicle)
    wanted = np.diff(nodes[:, leader.velocity], axis=0) / (task.duration_s / (len(nodes) - 1))
    low, high = control_limits(vehicle, task.limits).T
    inputs = np.zeros((len(nodes), len(vehicle.controls)))
    for k, change in enumerate(wanted):
        inputs[k] = np.clip(leader.controls(nodes[k], change), low, high)
    return inputs


class _Law:
    """A method's steps in its private state y, from where a task starts."""

    def __init__(self, model: NodeModel, vehicle: Vehicle, task: Task, steps: int) -> None:
        y, z, still = ca.SX.sym("y", model.scheme.y.shape[0]), ca.SX(0, 1), model.scheme.inputs.w.shape[0]
        a, p, h = (
            ca.SX.sym("a", model.input_map.size),
            ca.SX.sym("p", vehicle.parameter_count),
            ca.SX.sym("h"),
        )
        start = ca.SX.sym("start", vehicle.node_layout.size)
        _, after, node, begin, *_ = model.step(y, z, a, ca.SX(still, 1), p, h, start)
        self._still = np.zeros(y.shape[0]), np.zeros(a.shape[0])
        self._step = ca.Function("step", [y, a, p, h, start], [after, node, begin])
        self._numbers = vehicle.parameter_vector, task.duration_s / steps
        self._first = task.start.node

    def begun(self, node: np.ndarray) -> np.ndarray:
        """(ny,) of a node."""
        return np.array(self._step(*self._still, *self._numbers, node)[2]).ravel()

    def states(self, inputs: np.ndarray) -> np.ndarray:
        """(N+1, ny) under inputs (N+1, size)."""
        found = [self.begun(self._first)]
        for row in inputs[:-1]:
            found.append(np.array(self._step(found[-1], row, *self._numbers, self._first)[0]).ravel())
        return np.stack(found)

    def nodes(self, states: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """(N+1, node size)."""
        rows = zip(states, inputs, strict=True)
        return np.stack([np.array(self._step(*row, *self._numbers, self._first)[1]).ravel() for row in rows])


class _Slopes:
    """Of the last node's state by all inputs, by the derivatives that a problem has of its steps."""

    def __init__(self, t: Transcription, vehicle: Vehicle, task: Task, scaled: Scaled) -> None:
        self._model, self._unscale = t.model, t.running.unscale
        self._blocks, self._scaled, self._p = NodeBlocks(t.program), scaled, parameters(t, vehicle, task)

    @property
    def kept(self) -> np.ndarray:
        """Which numbers of a private state y it is of."""
        return self._model.form.kept

    def __call__(self, nodes: np.ndarray, inputs: np.ndarray) -> np.ndarray:
        """(kept, N size) at nodes (N+1, node size) and inputs (N+1, size)."""
        state, controls = self._model.state, self._model.controls
        size, own = state.size, controls.slice("a")
        F = self._blocks.jacobian(self._scaled(nodes, inputs), self._p)[0]
        F *= self._unscale[:size, None] / self._unscale
        later, found = np.eye(size)[state.slice("y")], []
        for step in F[::-1]:
            found.append(later @ step[:, size:][:, own])
            later = later @ step[:, :size]
        return np.concatenate(found[::-1], axis=1)


def _brought(
    law: _Law, slopes: _Slopes, inputs: np.ndarray, goal: np.ndarray, limits: np.ndarray
) -> np.ndarray:
    """Inputs (N+1, size) within limits (size, 2) that end nearer to a goal (ny,): by changes that are as small as may
    be, since those that leap to the limits lead where no more helps (Levenberg and Marquardt)."""
    held, states, kept = _HELD, law.states(inputs), slopes.kept
    missed = states[-1] - goal
    for _ in range(_ROUNDS):
        J, better = slopes(law.nodes(states, inputs), inputs), False
        while not better and held < _MOST:
            tried = inputs.copy()
            tried[:-1] += _least_change(J, missed[kept], held, limits, inputs[:-1])
            moved = law.states(tried)
            better = bool(np.linalg.norm(moved[-1] - goal) < np.linalg.norm(missed))
            held = max(_LESS * held, _LEAST) if better else held / _LESS
        if not better:
            break
        inputs, states, missed = tried, moved, moved[-1] - goal
        if np.abs(missed).max() < _MET:
            break
    return inputs


def _least_change(
    J: np.ndarray, missed: np.ndarray, held: float, limits: np.ndarray, inputs: np.ndarray
) -> np.ndarray:
    """(N, size) of inputs (N, size) within limits (size, 2), that takes away what is missed (n,) as far as it is not
    held back; what comes to a limit stays there, and the others do without it."""
    low, high = (np.tile(bound, len(inputs)) - inputs.ravel() for bound in limits.T)
    change, free = np.zeros(low.size), np.ones(low.size, bool)
    held *= float(np.square(J).sum())
    for _ in range(_BOUNDED):
        left = missed + J[:, ~free] @ change[~free]
        own = J[:, free]
        change[free] = -own.T @ np.linalg.solve(own @ own.T + held * np.eye(len(missed)), left)
        over = free & ((change < low) | (change > high))
        change = np.clip(change, low, high)
        if not over.any():
            break
        free &= ~over
    return change.reshape(inputs.shape)
