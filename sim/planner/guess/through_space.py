"""Guesses for what moves about a space of its own: along the space's arcs, with what has a place along a way."""

from collections.abc import Iterator
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.compiler.columns import ColumnKernel
from sim.planner.guess.paths import paced_path, paths_of
from sim.planner.task.bodies import arc_space, places, structure_of, velocities
from sim.planner.task.inputs import holding
from sim.planner.task.poses import arcs, points, positions
from sim.planner.task.task import Task, control_limits
from sim.planner.transcription.model import NodeModel
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.homogeneous import Leader, has_leader
from sim.world.path import arc_length


def follows(model: NodeModel, vehicle: Vehicle) -> bool:
    """It has a leader, and a step of the method has no unknowns to solve for."""
    return has_leader(vehicle) and not model.unknowns


def following(
    model: NodeModel, vehicle: Vehicle, task: Task, nodes: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Nodes (N+1, node size) and inputs (N+1, size) of a motion that obeys the equations and its inputs' ranges.

    The leader's velocity is that of `nodes` (N+1, node size), on which all else is as it should be rather than as the
    law has it; the motion ends near the goal, not at it. None where the law does not lead along the way, as with steps
    that are too long for it.
    """
    inputs = _leading(vehicle, task, nodes)
    y, z, still = ca.SX.sym("y", model.scheme.y.shape[0]), ca.SX(0, 1), model.scheme.inputs.w.shape[0]
    a, p, h = ca.SX.sym("a", model.input_map.size), ca.SX.sym("p", vehicle.parameter_count), ca.SX.sym("h")
    start = ca.SX.sym("start", nodes.shape[1])
    _, after, node, begin, *_ = model.step(y, z, a, ca.SX(still, 1), p, h, start)
    step = ca.Function("step", [y, a, p, h, start], [after, node, begin])
    first, numbers, h_s = task.start.node, vehicle.parameter_vector, task.duration_s / (len(nodes) - 1)
    state = np.array(step(np.zeros(y.shape[0]), inputs[0], numbers, h_s, first)[2]).ravel()
    moved = np.empty_like(nodes)
    for k, row in enumerate(inputs):
        after_k, node_k, _ = step(state, row, numbers, h_s, first)
        moved[k] = np.array(node_k).ravel()
        state = np.array(after_k).ravel()
    if not np.isfinite(moved).all():
        return None
    way = positions(vehicle, nodes)
    length_m = max(1.0, float(np.linalg.norm(np.diff(way, axis=0), axis=1).sum()))
    astray_m = np.linalg.norm(positions(vehicle, moved) - way, axis=1).max()
    return (moved, inputs) if astray_m < length_m else None


def _leading(vehicle: Vehicle, task: Task, nodes: np.ndarray) -> np.ndarray:
    """(N+1, size) inputs that change the leader's velocity from node to node as it does, within their ranges."""
    leader = Leader.of(vehicle)
    wanted = np.diff(nodes[:, leader.velocity], axis=0) / (task.duration_s / (len(nodes) - 1))
    low, high = control_limits(vehicle, task.limits).T
    inputs = np.zeros((len(nodes), len(vehicle.controls)))
    for k, change in enumerate(wanted):
        inputs[k] = np.clip(leader.controls(nodes[k], change), low, high)
    return inputs


def led_through_space(
    model: NodeModel, vehicle: Vehicle, task: Task, steps: int, most: int
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Nodes (N+1, node size) and planned inputs (N+1, size), the likeliest first."""
    inputs, led = np.tile(holding(vehicle, task.goal.state.node), (steps + 1, 1)), follows(model, vehicle)

    def moved(way: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
        nodes = _along(vehicle, task, steps, paced_path(vehicle, task, steps, way, gently=led))
        return (led and following(model, vehicle, task, nodes)) or (nodes, inputs)

    yield moved()
    if places(vehicle) and task.obstacles:
        for way in paths_of(vehicle, task, most):
            yield moved(way)


def _along(vehicle: Vehicle, task: Task, steps: int, way: np.ndarray) -> np.ndarray:
    """Everything on the arc from start to goal at the way's pace, and all places as far beside it as the way is."""
    ends = np.stack([task.start.node, task.goal.state.node])
    start = np.tile(ends[0], (steps + 1, 1))
    arc = np.repeat(arcs(arc_space(vehicle), ends[:1], ends[1:]), steps + 1, axis=0)
    nodes = points(arc_space(vehicle), start, arc, _shares(way))
    beside = way - positions(vehicle, nodes)
    for at in places(vehicle):
        nodes[:, at] += beside
    return _moving(vehicle, nodes, task.duration_s / steps)


def _shares(way: np.ndarray) -> np.ndarray:
    """(N+1,) of its length; of the time where it has none."""
    done = arc_length(way)
    return done / done[-1] if done[-1] > 1e-6 else np.linspace(0.0, 1.0, len(way))


def _moving(vehicle: Vehicle, nodes: np.ndarray, h: float) -> np.ndarray:
    """The nodes with the velocities that come nearest to how they follow each other; those at the ends are kept."""
    moving = [i for i, _ in velocities(vehicle)]
    still = np.setdiff1d(np.arange(nodes.shape[1]), moving)
    nodes[1:-1][:, moving] = 0.0
    count = len(nodes)
    flat = _rates(structure_of(vehicle)).rows(nodes, vehicle.parameter_vector)
    slopes = flat.reshape(count, len(moving), len(still)).transpose(0, 2, 1)
    wanted = np.gradient(nodes[:, still], h, axis=0)
    for k in range(1, count - 1):
        nodes[k, moving] = np.linalg.lstsq(slopes[k], wanted[k], rcond=1e-9)[0]
    return nodes


@lru_cache(maxsize=16)
def _rates(structure: Structure) -> ColumnKernel:
    """(node, parameters) -> how the rest of a node changes by its velocities, column after column."""
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    moving = [i for i, _ in velocities(vehicle)]
    still = np.setdiff1d(np.arange(node.shape[0]), moving).tolist()
    rate = vehicle.configuration_rate(node, vehicle.symbols(p))[still]
    slopes = ca.vec(ca.densify(ca.jacobian(rate, node)[:, moving]))
    return ColumnKernel(ca.Function("rates", [node, p], [slopes], {"cse": True}), shared=(1,))
