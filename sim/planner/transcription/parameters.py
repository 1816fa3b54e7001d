"""The numbers of a task, laid out as the transcription's parameters. Changing any of them rebuilds nothing."""

import numpy as np

from sim.planner.task.bodies import planar
from sim.planner.task.obstacles import Obstacle
from sim.planner.task.task import Task
from sim.planner.task.waypoints import nowhere
from sim.planner.transcription.inflation import thickened
from sim.planner.transcription.shape import unit_inputs
from sim.planner.transcription.transcription import Transcription
from sim.vehicles.forms.base import Vehicle

_END_SLACK_M = 0.05


def parameters(
    transcription: Transcription,
    vehicle: Vehicle,
    task: Task,
    *,
    margin_m: np.ndarray | None = None,
    places: np.ndarray | None = None,
    price: float = 50.0,
) -> np.ndarray:
    """Flat parameter vector.

    margin_m: (N+1,) extra distance that each node keeps from everything.
    places: (N+1, 4) waypoint position and tolerance of every node. price: of a unit of slack, in an elastic problem.
    """
    model, shape = transcription.model, transcription.shape
    pieces: dict[str, object] = {
        "vehicle": vehicle.parameter_vector,
        "duration": task.duration_s,
        "steps": shape.steps,
        "duration_range": task.free_duration if shape.free_time and task.free_duration else (),
        "weights": task.weights.array,
        "effort": effort_weights(transcription, vehicle, task),
        "start": task.start.node,
        "goal": task.goal.state.node,
        "body": np.array(task.body, float),
        "tolerance": (task.goal.tolerance_m, task.goal.tolerance_rad, task.goal.tolerance_mps),
        "safety_range": task.safety_range_m,
        "clearance": task.clearance_m,
        "price": price,
    }
    obstacles = thickened(vehicle, task, shape.steps)
    for kind in shape.obstacles:
        chosen = [o for o in obstacles if o.kind == kind]
        pieces[kind] = np.concatenate([_numbers(vehicle, o) for o in chosen])
    share = np.ones((shape.steps + 1, 1))
    if model.ends_with_controls:
        share[[0, -1]] = 0.5
    else:
        share[-1] = 0.0
    margin = np.zeros(shape.steps + 1) if margin_m is None else margin_m.copy()
    # The ends are given and were checked; on the very edge of an obstacle they would leave no interior.
    margin[0] = min(margin[0], 0.0) - _END_SLACK_M
    if task.goal.position == "fixed":
        margin[-1] = -_END_SLACK_M
    stage = [share, margin[:, None]]
    if shape.waypoints:
        stage.append(nowhere(shape.steps) if places is None else places)
    return np.r_[model.parameters.pack(**pieces), np.concatenate(stage, axis=1).ravel()]


def effort_weights(transcription: Transcription, vehicle: Vehicle, task: Task) -> np.ndarray:
    """Price of the square of every planned input."""
    input_map = transcription.model.input_map
    scales = unit_inputs(vehicle).copy()
    factors = input_map.effort_factors()
    for i, name in enumerate(input_map.names):
        if name in task.effort_scale:
            scales[i], factors[i] = task.effort_scale[name], 1.0
    return factors / scales**2


def _numbers(vehicle: Vehicle, obstacle: Obstacle) -> np.ndarray:
    """On a plane everything happens at z = 0."""
    numbers = obstacle.numbers()
    if planar(vehicle):
        numbers[2] = 0.0
        if obstacle.kind == "capsule":
            numbers[5] = 0.0
    return numbers
