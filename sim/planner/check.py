"""Tasks that cannot be, refused before any solver runs, with the reason in one line."""

import math

import numpy as np

from sim.errors import InputError
from sim.integrators import Integrator
from sim.integrators.composed import Composed
from sim.planner.clearance import clearance
from sim.planner.inputs import input_chart
from sim.planner.obstacles import Box, label
from sim.planner.shape import control_limits
from sim.planner.task import WEIGHT_NAMES, Task, check_can_plan, positions
from sim.vehicles.base import State, Vehicle


def check_task(vehicle: Vehicle, method: Integrator, task: Task) -> None:
    """Raises InputError for the first thing that is impossible."""
    check_can_plan(vehicle)
    reason = unplannable(method) or method.serves(vehicle)
    if reason:
        raise InputError(f"{task.name}: {reason}")
    _check_numbers(vehicle, task)
    _check_limits(vehicle, task)
    _check_obstacles(task)
    for name, state in (("start", task.start), ("goal", task.goal.state)):
        _check_end(vehicle, task, name, state)


def unplannable(method: Integrator) -> str:
    """Why no plan can be made of a method's steps, in a sentence; empty where one can."""
    if method.adaptive:
        return f"{method.name} divides its steps by itself, and a plan takes one from node to node"
    if isinstance(method, Composed):
        return f"{method.name} composes a step of several, and a plan takes one from node to node"
    return ""


def _refuse(task: Task, text: str) -> InputError:
    return InputError(f"{task.name}: {text}")


def _check_numbers(vehicle: Vehicle, task: Task) -> None:
    if not (math.isfinite(task.duration_s) and task.duration_s > 0.0):
        raise _refuse(task, f"duration_s = {task.duration_s:g} is not possible; allowed: seconds above 0")
    if not 4 <= task.steps <= 1024:
        raise _refuse(task, f"steps = {task.steps} is not possible; allowed: 4 to 1024")
    if task.free_duration is not None:
        low, high = task.free_duration
        if not 0.0 < low < high < math.inf:
            raise _refuse(
                task, f"free duration {low:g} to {high:g} s is not possible; allowed: 0 < shortest < longest"
            )
    for name, value in zip(WEIGHT_NAMES, task.weights.array, strict=True):
        if not (math.isfinite(value) and value >= 0.0):
            raise _refuse(task, f"weight {name} = {value:g} is not possible; allowed: numbers from 0")
    if task.clearance_m < 0.0 or any(ball[3] < 0.0 for ball in task.body):
        raise _refuse(task, "clearance and radii must not be negative")
    for i, waypoint in enumerate(task.waypoints):
        if waypoint.tolerance_m <= 0.0:
            raise _refuse(task, f"waypoint {i + 1}: tolerance {waypoint.tolerance_m:g} m; allowed: above 0")
        if waypoint.time_s is not None and not 0.0 < waypoint.time_s < task.duration_s:
            raise _refuse(
                task,
                f"waypoint {i + 1} at {waypoint.time_s:g} s; allowed: between 0 and {task.duration_s:g} s",
            )
    for kind, state in (("start", task.start), ("goal", task.goal.state)):
        if state.node.shape != (vehicle.node_layout.size,):
            raise _refuse(
                task, f"{kind} does not fit vehicle {vehicle.name!r}; make it with vehicle.state(...)"
            )


def _check_limits(vehicle: Vehicle, task: Task) -> None:
    limits = task.limits
    if limits.speed_mps <= 0.0 or limits.turn_radps <= 0.0:
        raise _refuse(task, "limits of speed and turn rate must be above 0")
    if limits.low_w is not None and limits.high_w is not None:
        for axis, low, high in zip("xyz", limits.low_w, limits.high_w, strict=True):
            if low >= high:
                raise _refuse(task, f"bounds contradict each other: {axis} from {low:g} to {high:g} m")
    controls, shapes = [c.name for c in vehicle.controls], [s.name for s in vehicle.shape_coordinates]
    planned = input_chart(vehicle).names
    for what, names, allowed in (
        ("control", limits.controls, controls),
        ("shape coordinate", limits.shape, shapes),
        ("planned input", limits.rates, planned),
        ("planned input", task.effort_scale, planned),
    ):
        for name in names:
            if name not in allowed:
                raise _refuse(task, f"unknown {what} {name!r}; allowed: {', '.join(allowed) or 'none'}")
    for name, (low, high) in {**limits.controls, **limits.shape}.items():
        if low >= high:
            raise _refuse(task, f"bounds contradict each other: {name} from {low:g} to {high:g}")
    for control, (low, high) in zip(vehicle.controls, control_limits(vehicle, limits), strict=True):
        if low >= high:
            raise _refuse(
                task,
                f"bounds contradict each other: {control.name} is left {low:g} to {high:g} {control.unit} of "
                f"the vehicle's {control.low:g} to {control.high:g}",
            )
    for name, rate in limits.rates.items():
        if rate <= 0.0:
            raise _refuse(task, f"rate of {name} = {rate:g} per second; allowed: above 0")


def _check_obstacles(task: Task) -> None:
    for i, obstacle in enumerate(task.obstacles):
        size = obstacle.half_m if isinstance(obstacle, Box) else (obstacle.radius_m,)
        if min(size) <= 0.0 or not np.all(np.isfinite(obstacle.numbers())):
            raise _refuse(task, f"obstacle {label(obstacle, i)}: sizes must be above 0 and numbers finite")


def _check_end(vehicle: Vehicle, task: Task, name: str, state: State) -> None:
    if name == "goal" and task.goal.position == "free":
        return
    at = vehicle.node_layout
    poses = np.stack([state.node[at.pose]] * 2)
    clear = clearance(vehicle, poses, task)
    for i, distance in enumerate(clear.by_obstacle):
        if distance < task.clearance_m - 1e-9:
            deep = task.clearance_m - distance
            raise _refuse(
                task,
                f"{name} is inside obstacle {label(task.obstacles[i], i)} or its clearance by {deep:.3g} m",
            )
    x = positions(vehicle, state.node[None])[0]
    if task.ground is not None:
        low, high = task.ground.domain
        if (x[:2] < low).any() or (x[:2] > high).any():
            raise _refuse(task, f"{name} is outside the terrain that the task covers")
        soil = float(task.ground.terrain.height(x[0], x[1]))
        if x[2] < soil:
            raise _refuse(task, f"{name} is under ground by {soil - x[2]:.3g} m")
        height = float(x[2] - task.ground.height(x[0], x[1])[0])
        if height < -1e-9:
            raise _refuse(
                task,
                f"{name} is {-height:.3g} m too low to keep {task.ground.margin_m:g} m from the terrain",
            )
    limits = task.limits
    for axis, value in zip(range(3), x, strict=True):
        least = limits.low_w[axis] if limits.low_w else -np.inf
        most = limits.high_w[axis] if limits.high_w else np.inf
        planar = axis == 2 and vehicle.group.name == "SE2"
        if not planar and not least - 1e-9 <= value <= most + 1e-9:
            raise _refuse(
                task,
                f"{name} is outside the bounds: {'xyz'[axis]} = {value:g} m, allowed {least:g} to {most:g}",
            )
    turns = 1 if vehicle.group.name == "SE2" else 3
    velocity = np.abs(state.node[at.velocity])
    if name == "goal" and task.goal.velocity == "free":
        return
    if (velocity[:turns] > limits.turn_radps).any() or (velocity[turns:] > limits.speed_mps).any():
        raise _refuse(task, f"{name} is faster than the limits allow")
