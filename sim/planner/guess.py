"""First guesses: nodes along a way, and the transcription's variables that belong to nodes and inputs."""

import numpy as np

from sim.groups import SO3
from sim.planner.arcs import arcs
from sim.planner.inputs import ThrustVectorChart, input_chart
from sim.planner.route import paced, route
from sim.planner.task import Task, positions
from sim.planner.transcription import Transcription
from sim.vehicles.base import Vehicle

_RIGHTING = 0.7
"""Share of the highest turn rate at which a guess turns upright."""


def guess(transcription: Transcription, vehicle: Vehicle, task: Task) -> np.ndarray:
    """Scaled variables to start the optimiser from."""
    from sim.planner.gait import guessed_motion

    nodes, inputs = guessed_motion(transcription, vehicle, task)
    return variables(transcription, vehicle, task, nodes, inputs)


def way_of(vehicle: Vehicle, task: Task) -> np.ndarray | None:
    """Polyline from start to goal through the waypoints, around everything; None where there is none."""
    ends = positions(vehicle, np.stack([task.start.node, task.goal.state.node]))
    through = [np.array(w.position_w, float) for w in task.waypoints]
    stations = np.array([ends[0], *through, ends[1]])
    plane = vehicle.group.name == "SE2"
    if plane:
        stations[:, 2] = 0.0
    limits = task.limits
    low = np.array(limits.low_w if limits.low_w else (-np.inf,) * 3, float)
    high = np.array(limits.high_w if limits.high_w else (np.inf,) * 3, float)
    return route(
        stations, task.obstacles, task.ground, radius_m=reach_m(task), plane=plane, low=low, high=high
    )


def reach_m(task: Task) -> float:
    """Radius of the ball about the body origin that holds the vehicle, with its clearance."""
    return max(float(np.linalg.norm(b[:3])) + b[3] for b in task.body) + task.clearance_m


def paced_way(vehicle: Vehicle, task: Task, steps: int) -> np.ndarray:
    """(N+1, 3) places in equal times along the way; straight where there is no way around."""
    way = way_of(vehicle, task)
    if way is None:
        way = positions(vehicle, np.stack([task.start.node, task.goal.state.node]))
    at = vehicle.node_layout
    resting = [
        float(np.linalg.norm(s.node[at.velocity])) < 0.2 * task.limits.speed_mps and demand != "free"
        for s, demand in ((task.start, "fixed"), (task.goal.state, task.goal.velocity))
    ]
    return paced(way, steps, from_rest=resting[0], to_rest=resting[1])


def free_motion(vehicle: Vehicle, task: Task, steps: int) -> np.ndarray:
    """(N+1, node size): poses along the way, turning evenly from the start's rotation to the goal's.

    What is held up by its lift rights itself first: a thrown helicopter falls until it does.
    """
    places = paced_way(vehicle, task, steps)
    a, b = task.start.node, task.goal.state.node
    s = np.linspace(0.0, 1.0, steps + 1)
    if vehicle.group.name == "SE2":
        turn = 0.0 if task.goal.rotation == "free" else (b[0] - a[0] + np.pi) % (2 * np.pi) - np.pi
        poses = np.c_[a[0] + _paced_turn(s) * turn, places[:, :2]]
    else:
        R = _rotations(vehicle, task, s)
        poses = np.c_[R.transpose(0, 2, 1).reshape(-1, 9), places]
    return nodes_of_poses(vehicle, poses, task.duration_s / steps)


def _rotations(vehicle: Vehicle, task: Task, s: np.ndarray) -> np.ndarray:
    """(N+1, 3, 3) at shares s of the time."""
    Ra, Rb = (x.node[:9].reshape(3, 3).T for x in (task.start, task.goal.state))
    righting = _to_upright(Ra)
    if isinstance(input_chart(vehicle), ThrustVectorChart):
        takes_s = float(np.linalg.norm(righting)) / (_RIGHTING * task.limits.turn_radps)
        first = _turned(righting, _smooth(np.minimum(s * task.duration_s / max(takes_s, 1e-9), 1.0)))
        rest = _between(Ra @ first[-1], Rb) if task.goal.rotation in ("fixed", "within") else np.zeros(3)
        return Ra @ first @ _turned(rest, _paced_turn(s))
    turn = righting if task.goal.rotation == "upright" else _between(Ra, Rb)
    return Ra @ _turned(np.zeros(3) if task.goal.rotation == "free" else turn, _paced_turn(s))


def _between(Ra: np.ndarray, Rb: np.ndarray) -> np.ndarray:
    """Body rotation vector of the shortest turn from Ra to Rb."""
    return np.array(SO3.function("log")((Ra.T @ Rb).T.ravel())).ravel()


def _turned(vector: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(n, 3, 3) rotations by shares (n,) of a rotation vector."""
    exp = SO3.function("exp").map(len(shares))
    return np.array(exp(np.outer(vector, shares))).T.reshape(-1, 3, 3).transpose(0, 2, 1)


def _smooth(s: np.ndarray) -> np.ndarray:
    """From 0 to 1, at rest at both ends."""
    return 10 * s**3 - 15 * s**4 + 6 * s**5


def _paced_turn(s: np.ndarray) -> np.ndarray:
    """Like the pace along the way."""
    return 0.3 * s + 0.7 * _smooth(s)


def _to_upright(R_wb: np.ndarray) -> np.ndarray:
    """Body rotation vector that brings body z to the vertical."""
    up_b = R_wb.T @ np.array([0.0, 0.0, 1.0])
    axis = np.cross([0.0, 0.0, 1.0], up_b)
    sine = np.linalg.norm(axis)
    angle = np.arctan2(sine, up_b[2])
    if sine < 1e-9:
        return np.array([angle, 0.0, 0.0])
    return axis / sine * angle


def nodes_of_poses(vehicle: Vehicle, poses: np.ndarray, h: float) -> np.ndarray:
    """(N+1, node size) with the velocities that the poses ask for: means of the two arcs at a node."""
    xi = arcs(vehicle.group, poses[:-1], poses[1:]) / h
    velocity = np.concatenate([xi[:1], (xi[1:] + xi[:-1]) / 2, xi[-1:]])
    nodes = np.zeros((len(poses), vehicle.node_layout.size))
    nodes[:, vehicle.node_layout.pose] = poses
    nodes[:, vehicle.node_layout.velocity] = velocity
    return nodes


def variables(
    transcription: Transcription,
    vehicle: Vehicle,
    task: Task,
    nodes: np.ndarray,
    inputs: np.ndarray,
    *,
    duration_s: float | None = None,
    led: bool = True,
) -> np.ndarray:
    """Scaled variables of nodes (N+1, node size) and planned inputs (N+1, size), over the task's duration or another.

    Private states come from the integrator's own start, unknowns from its guess, or from the poses where they
    are body velocities, which closes all gaps of the poses. Where unknowns are no variables the momenta are then
    those that lead to such arcs; not `led`: those of the nodes' velocities.
    """
    t, h = transcription, (duration_s or task.duration_s) / transcription.shape.steps
    model, n = t.model, t.shape.steps
    p, convert = vehicle.parameter_vector, t.nodes.conversions
    y = convert.start(nodes, inputs, p, h)
    z = convert.guess(y, inputs, p, h)
    if model.unknown_is_velocity:
        poses = nodes[:, vehicle.node_layout.pose]
        xi = arcs(vehicle.group, poses[:-1], poses[1:]) / h
        z = np.concatenate([xi, nodes[-1:, vehicle.node_layout.velocity]])
        if model.eliminates and led:
            y[:n] = convert.led(y[:n], xi, inputs[:n], p, h)
    return assembled(t, y, z, inputs, h)


def assembled(t: Transcription, y: np.ndarray, z: np.ndarray, inputs: np.ndarray, h: float) -> np.ndarray:
    """Scaled variables of private states, unknowns and inputs, one row a node."""
    model, n = t.model, t.shape.steps
    remembered = (
        np.concatenate([inputs[:1], inputs[:-1]]) if t.shape.remembers_inputs else np.zeros((n + 1, 0))
    )
    states = [y[:, model.form.kept], remembered, np.full((n + 1, int(t.shape.free_time)), h)]
    slack = 0.1 * np.ones((n, model.controls.sizes["slack"]))
    free = z[:, : model.controls.sizes["z"]]
    running = np.concatenate([*[s[:n] for s in states], inputs[:n], free[:n], slack], axis=1)
    missing = t.last.v.shape[0] - model.state.size
    own = np.r_[inputs[n], free[n]] if model.ends_with_controls else np.zeros(0)
    last = np.r_[np.concatenate([s[n] for s in states]), own, 0.1 * np.ones(missing - own.size)]
    return t.join(running, last)
