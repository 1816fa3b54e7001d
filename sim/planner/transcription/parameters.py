"""The numbers of a task, laid out as the transcription's parameters. Changing any of them rebuilds nothing.

Obstacles that a step could leap over are made thicker for the optimiser, which looks at the nodes alone; what a plan is
checked by stays as thin as it is.
"""

import numpy as np

from sim.planner.task.bodies import planar, positions
from sim.planner.task.clearance import on_plane
from sim.planner.task.expressions import own_numbers
from sim.planner.task.meeting import held
from sim.planner.task.motions import PIECES, spline
from sim.planner.task.own_bodies import balls_at, kept_m
from sim.planner.task.task import Obstacle, Task, motion_of
from sim.planner.task.waypoints import longest_s, nowhere
from sim.planner.transcription.shape import unit_inputs
from sim.planner.transcription.transcription import Transcription
from sim.vehicles.forms.base import Vehicle

_WALL_STEPS, _POLE_STEPS = 3.0, 0.75
"""Half of the least thickness, in mean steps; through less of a wall the optimiser hurries between two nodes."""
_ROOM = 0.8
"""Of the distance to an end that a wall may take."""


def thickened(vehicle: Vehicle, task: Task, steps: int) -> tuple[Obstacle, ...]:
    """The obstacles in their order, none thinner than some steps where ends and waypoints leave room for that."""
    around = task.clearance_m + min(ball[3] for ball in task.body)
    step = _mean_step_m(vehicle, task, steps)
    return tuple(_thickened(vehicle, task, o, _wanted_steps(o) * step - around) for o in task.obstacles)


def _wanted_steps(obstacle: Obstacle) -> float:
    """A pole is gone around as soon as it is seen, and the gap between two has to stay."""
    return _WALL_STEPS if obstacle.is_wall else _POLE_STEPS


def _mean_step_m(vehicle: Vehicle, task: Task, steps: int) -> float:
    ends = positions(vehicle, np.stack([task.start.node, held(vehicle, task).goal.state.node]))
    stations = np.array([ends[0], *(w.position_w for w in task.waypoints), ends[1]], float)
    if planar(vehicle):
        stations[:, 2] = 0.0
    way = float(np.linalg.norm(np.diff(stations, axis=0), axis=1).sum())
    return way / steps


def _thickened(vehicle: Vehicle, task: Task, obstacle: Obstacle, wanted_m: float) -> Obstacle:
    if obstacle.half_thickness_m >= wanted_m or motion_of(task, obstacle.name) is not None:
        return obstacle
    most = obstacle.half_thickness_m + max(0.0, _ROOM * _room_m(vehicle, task, obstacle))
    return obstacle.thickened(min(wanted_m, most))


def _room_m(vehicle: Vehicle, task: Task, obstacle: Obstacle) -> float:
    """Between the obstacle and what is given: the vehicle at both ends, the waypoints."""
    flat = on_plane(vehicle, obstacle)
    ends = [task.start] if task.goal.position == "free" else [task.start, held(vehicle, task).goal.state]
    balls = balls_at(vehicle, np.stack([end.node for end in ends]), task)
    radii = np.array(task.body, float)[:, 3:]
    room = (flat.distance(balls.reshape(-1, 3)).reshape(len(radii), -1) - radii).min()
    for waypoint in task.waypoints:
        x = np.array([waypoint.position_w], float)
        if planar(vehicle):
            x[:, 2] = 0.0
        room = min(room, float(flat.distance(x)[0]) - float(radii.max()) + waypoint.tolerance_m)
    return float(room) - task.clearance_m


_END_SLACK_M = 0.05
RELAXED = 1e-8
"""Product of two that do not go together, such as a gap [m] and a force [weights], which counts as nothing."""


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
    model, shape, until_s = transcription.model, transcription.shape, longest_s(task)
    kept = kept_m(vehicle, task)
    pieces: dict[str, object] = {
        "vehicle": vehicle.parameter_vector,
        "numbers": own_numbers(task),
        "duration": task.duration_s,
        "steps": shape.steps,
        "duration_range": task.free_duration if shape.free_time and task.free_duration else (),
        "weights": task.weights.array,
        "effort": effort_weights(transcription, vehicle, task),
        "start": task.start.node,
        "goal": task.goal.state.node,
        "motions": [spline(motion, until_s) for motion in task.motions],
        "motion_spacing": until_s / PIECES if task.motions else (),
        "pivots": [motion.pivot_w for motion in task.motions],
        "body": np.array(task.body, float),
        "apart": kept[: len(shape.pairs)],
        "heights": kept[len(shape.pairs) :],
        "tolerance": (task.goal.tolerance_m, task.goal.tolerance_rad, task.goal.tolerance_mps),
        "safety_range": task.safety_range_m,
        "clearance": task.clearance_m,
        "price": price,
        "relaxed": np.full(model.parameters.sizes["relaxed"], RELAXED),
    }
    obstacles = [on_plane(vehicle, o) for o in thickened(vehicle, task, shape.steps)]
    for kind in shape.obstacles:
        chosen = [o for o in obstacles if o.kind == kind]
        pieces[kind] = np.concatenate([o.numbers() for o in chosen])
    share = np.ones((shape.steps + 1, 1))
    if model.ends_with_controls:
        share[[0, -1]] = 0.5
    else:
        share[-1] = 0.0
    margin = np.zeros(shape.steps + 1) if margin_m is None else margin_m.copy()
    # The ends are given and were checked; on the very edge of an obstacle they would leave no interior.
    if not set(model.place_indices) & model.ends.found:
        margin[0] = min(margin[0], 0.0) - _END_SLACK_M
    if task.goal.position == "fixed":
        margin[-1] = -_END_SLACK_M
    stage = [share, margin[:, None]]
    if shape.waypoints:
        stage.append(nowhere(shape.steps) if places is None else places)
    if model.node_parameters.sizes["trapezoid"]:
        trapezoid = np.ones((shape.steps + 1, 1))
        trapezoid[[0, -1]] = 0.5
        own = shape.own
        at_nodes = model.ends_with_controls or (own is not None and not own.rate_of_controls)
        stage.append(trapezoid if at_nodes else share)
    shares = np.linspace(0.0, 1.0, shape.steps + 1)
    if model.node_parameters.sizes["share"]:
        stage.append(shares[:, None])
    if task.reference is not None:
        stage.append(task.reference.at(shares * task.duration_s))
    return np.concatenate([model.parameters.pack(**pieces), np.concatenate(stage, axis=1).ravel()])


def effort_weights(transcription: Transcription, vehicle: Vehicle, task: Task) -> np.ndarray:
    """Price of the square of every planned input."""
    input_map = transcription.model.input_map
    scales = unit_inputs(vehicle).copy()
    factors = input_map.effort_factors()
    for i, name in enumerate(input_map.names):
        if name in task.effort_scale:
            scales[i], factors[i] = task.effort_scale[name], 1.0
    return factors / scales**2
