"""What a plan that is said to be solved has broken, found without the planner's own measures."""

import math

import numpy as np
from scipy.spatial.transform import Rotation

from sim.planner import Box, Capsule, Cylinder, Plan, Sphere, Task
from sim.vehicles import Vehicle
from tests.sim.planner_tasks import replayed

_FINE, _FINEST = 12, 200
_CUT_M = 2e-3
"""Places that are looked at lie a little apart."""


def broken(plan: Plan) -> list[str]:
    """One line for everything that the motion violates; empty for a plan that is what it says."""
    vehicle, task, nodes = plan.vehicle, plan.task, plan.trajectory.nodes
    lines = []
    if not np.isfinite(nodes).all() or not np.isfinite(plan.controls).all():
        return ["numbers are not finite"]
    if len(nodes) != task.steps + 1:
        lines.append(f"{len(nodes)} nodes for {task.steps} steps")
    off = np.abs(replayed(plan).pose - plan.trajectory.pose).max() / max(1.0, np.abs(nodes).max())
    if not off < 1e-7:
        lines.append(f"replay is {off:.2e} off")
    start = np.abs(nodes[0] - task.start.node)
    # The rate of a commanded coordinate is its input, whatever the start says.
    start[vehicle.node_layout.shape_velocity][_commanded(vehicle)] = 0.0
    start = start.max()
    if start > 1e-6 * max(1.0, np.abs(task.start.node).max()):
        lines.append(f"start is {start:.2e} off")
    return lines + _of_time(plan) + _of_goal(vehicle, task, nodes[-1]) + _of_limits(plan) + _of_places(plan)


def _commanded(vehicle: Vehicle) -> list[int]:
    names = getattr(vehicle, "commanded", {})
    return [i for i, coordinate in enumerate(vehicle.shape_coordinates) if coordinate.name in names]


def _of_time(plan: Plan) -> list[str]:
    low, high = plan.task.free_duration or (plan.task.duration_s,) * 2
    tight = 1e-6 * high
    return [] if low - tight < plan.duration_s < high + tight else [f"takes {plan.duration_s:g} s"]


def _of_goal(vehicle: Vehicle, task: Task, node: np.ndarray) -> list[str]:
    goal, at, lines = task.goal, vehicle.node_layout, []
    planar = vehicle.group.name == "SE2"
    where = slice(1, 3) if planar else slice(9, 12)
    miss = np.abs(node[where] - goal.state.node[where]).max()
    if miss > {"fixed": 1e-6 * max(1.0, np.abs(node[where]).max()), "within": goal.tolerance_m + 1e-6}.get(
        goal.position, np.inf
    ):
        lines.append(f"goal is missed by {miss:.2e} m")
    turn = _turn(planar, goal.rotation, node, goal.state.node)
    if turn > {"fixed": 1e-6, "upright": 1e-6, "within": goal.tolerance_rad * 1.2 + 1e-6}.get(
        goal.rotation, np.inf
    ):
        lines.append(f"goal's rotation is missed by {turn:.2e} rad")
    speed = np.abs(node[at.velocity] - goal.state.node[at.velocity]).max()
    if speed > {"fixed": 1e-6, "within": goal.tolerance_mps + 1e-6}.get(goal.velocity, np.inf):
        lines.append(f"goal's velocity is missed by {speed:.2e}")
    for name, layout, wanted in (
        ("shape", at.shape, goal.shape),
        ("rate", at.shape_velocity, goal.shape_velocity),
    ):
        inner = np.abs(node[layout] - goal.state.node[layout])[list(wanted)]
        if (inner > 1e-6).any():
            lines.append(f"goal's {name} is missed by {inner.max():.2e}")
    return lines


def _turn(planar: bool, demand: str, node: np.ndarray, goal: np.ndarray) -> float:
    """Angle [rad] that is missing."""
    if planar:
        return abs(math.remainder(node[0] - goal[0], 2 * math.pi))
    R, wanted = (x[:9].reshape(3, 3).T for x in (node, goal))
    if demand == "upright":
        return float(np.arctan2(np.hypot(R[2, 0], R[2, 1]), R[2, 2]))
    return float(Rotation.from_matrix(R.T @ wanted).magnitude())


def _of_limits(plan: Plan) -> list[str]:
    """Inputs at the nodes, their rates, speeds, shapes, tilt and the box of places."""
    vehicle, limits, u = plan.vehicle, plan.task.limits, plan.controls
    nodes, lines = plan.trajectory.nodes, []
    at, names = vehicle.node_layout, [c.name for c in vehicle.controls]
    for i, control in enumerate(vehicle.controls):
        low, high = limits.controls.get(control.name, (-np.inf, np.inf))
        low, high = max(low, control.low), min(high, control.high)
        tight = 1e-6 * max(1.0, abs(low), abs(high)) if np.isfinite(high - low) else 1e-6
        if u[:-1, i].min() < low - tight or u[:-1, i].max() > high + tight:
            lines.append(f"{control.name} is {u[:-1, i].min():g} to {u[:-1, i].max():g}")
    for name, rate in limits.rates.items():
        if name in names:
            change = np.abs(np.diff(u[:-1, names.index(name)])).max(initial=0.0) / plan.step_s
            if change > rate * (1 + 1e-5) + 1e-9:
                lines.append(f"{name} changes by {change:g} per second")
    turns = 1 if vehicle.group.name == "SE2" else 3
    xi = np.abs(nodes[1:-1, at.velocity])
    # The limits are those of the arcs where the method has them; a node may be a little faster.
    if (xi[:, turns:] > 1.05 * limits.speed_mps).any() or (xi[:, :turns] > 1.05 * limits.turn_radps).any():
        lines.append(f"moves at {xi[:, turns:].max():g} m/s, {xi[:, :turns].max():g} rad/s")
    for i, coordinate in enumerate(vehicle.shape_coordinates):
        low, high = limits.shape.get(coordinate.name, (-np.inf, np.inf))
        r = nodes[1:, at.shape.start + i]
        if r.min() < max(low, coordinate.low) - 1e-6 or r.max() > min(high, coordinate.high) + 1e-6:
            lines.append(f"{coordinate.name} is {r.min():g} to {r.max():g}")
    x = places_of(vehicle, nodes)
    axes = 2 if turns == 1 else 3
    for corner, side in ((limits.low_w, 1.0), (limits.high_w, -1.0)):
        if corner is not None and (side * (x - np.array(corner))[:, :axes]).min() < -1e-6:
            lines.append("leaves the box of places")
    if limits.tilt_rad is not None and turns == 3:
        tilt = np.arccos(np.clip(nodes[1:, 8], -1.0, 1.0)).max()
        if tilt > limits.tilt_rad + 1e-5:
            lines.append(f"tilts by {tilt:g} rad")
    return lines


def _of_places(plan: Plan) -> list[str]:
    """Obstacles and ground between the nodes too, waypoints at theirs."""
    task, lines = plan.task, []
    centres, radii = fine_balls(plan.vehicle, plan.trajectory.nodes, task)
    planar = plan.vehicle.group.name == "SE2"
    for i, obstacle in enumerate(task.obstacles):
        least = min(
            distance(obstacle, x, planar=planar) - radius for ball, radius in zip(centres, radii, strict=True)
            for x in ball
        )  # fmt: skip
        if least < task.clearance_m - _CUT_M:
            lines.append(f"obstacle {i + 1} ({obstacle.kind}) at {least:.4f} m")
    x = places_of(plan.vehicle, plan.trajectory.nodes)
    if task.ground is not None:
        held_w = x + _rotations(plan.vehicle, plan.trajectory.nodes).apply(task.ground.held_b)
        over = (held_w[:, 2] - task.ground.height(held_w[:, 0], held_w[:, 1])).min()
        if over < -1e-3:
            lines.append(f"{-over:.4f} m too low over the ground")
    for i, waypoint in enumerate(task.waypoints):
        place = np.array(waypoint.position_w) * ([1, 1, 0] if planar else [1, 1, 1])
        miss = np.linalg.norm(x - place, axis=1).min()
        if miss > waypoint.tolerance_m * (1 + 1e-6) + 1e-6:
            lines.append(f"waypoint {i + 1} is missed: {miss:.4f} m")
    return lines


def places_of(vehicle: Vehicle, nodes: np.ndarray) -> np.ndarray:
    """(n, 3) positions; z = 0 on a plane."""
    if vehicle.group.name == "SE2":
        return np.c_[nodes[:, 1:3], np.zeros(len(nodes))]
    return nodes[:, 9:12]


def fine_balls(vehicle: Vehicle, nodes: np.ndarray, task: Task) -> tuple[np.ndarray, np.ndarray]:
    """(balls, n, 3) places of the vehicle's balls on a fine grid of times, and their radii."""
    thinnest = min((min(o.half_m) if isinstance(o, Box) else o.radius_m for o in task.obstacles), default=1.0)
    x, turn = places_of(vehicle, nodes), _rotations(vehicle, nodes)
    steps = turn[:-1].inv() * turn[1:]
    along, twist = turn[:-1].inv().apply(np.diff(x, axis=0)), steps.as_rotvec()
    # Screws: the one motion between two poses that looks the same from each of its points.
    speed = np.linalg.solve(_moved(twist), along[:, :, None])[:, :, 0]
    longest = np.linalg.norm(np.diff(x, axis=0), axis=1).max()
    shares = np.linspace(0.0, 1.0, int(np.clip(5 * longest / thinnest, _FINE, _FINEST)))
    body = np.array(task.body, float) * ([1, 1, 0, 1] if vehicle.group.name == "SE2" else 1)
    balls = []
    for share in shares:
        here = x[:-1] + turn[:-1].apply((_moved(share * twist) @ (share * speed)[:, :, None])[:, :, 0])
        facing = turn[:-1] * Rotation.from_rotvec(share * twist)
        balls.append([here + facing.apply(ball[:3]) for ball in body])
    return np.concatenate(balls, axis=1), body[:, 3]


def _rotations(vehicle: Vehicle, nodes: np.ndarray) -> Rotation:
    if vehicle.group.name == "SE2":
        return Rotation.from_rotvec(nodes[:, :1] * [0.0, 0.0, 1.0])
    return Rotation.from_matrix(nodes[:, :9].reshape(-1, 3, 3).transpose(0, 2, 1))


def _moved(twist: np.ndarray) -> np.ndarray:
    """(n, 3, 3) by which a constant body velocity becomes a displacement while the body turns by `twist` (n, 3)."""
    angle = np.maximum(np.linalg.norm(twist, axis=1), 1e-4)[:, None, None]
    x, y, z = twist.T
    nought = np.zeros_like(x)
    cross = np.array([[nought, -z, y], [z, nought, -x], [-y, x, nought]]).transpose(2, 0, 1)
    first, second = (1 - np.cos(angle)) / angle**2, (angle - np.sin(angle)) / angle**3
    return np.eye(3) + first * cross + second * cross @ cross


def distance(obstacle: Sphere | Cylinder | Capsule | Box, x: np.ndarray, *, planar: bool) -> float:
    """[m] to the surface, negative inside; by sampling the obstacle's own points where that is simplest."""
    flat = np.array([1.0, 1.0, 0.0]) if planar else np.ones(3)
    match obstacle:
        case Sphere(centre, radius):
            return math.dist(x, centre * flat) - radius
        case Cylinder(centre, radius):
            return math.dist(x[:2], centre[:2]) - radius
        case Capsule(start, end, radius):
            s = np.linspace(0.0, 1.0, 401)[:, None]
            axis = (np.array(start) * (1 - s) + np.array(end) * s) * flat
            return float(np.linalg.norm(axis - x, axis=1).min()) - radius
        case Box(centre, half, heading):
            local = np.abs(Rotation.from_euler("z", -heading).apply(x - centre * flat)) - half
            return float(np.linalg.norm(np.maximum(local, 0.0)) + min(local.max(), 0.0))
