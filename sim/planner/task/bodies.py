"""Where a vehicle's bodies are at its nodes, what in a node is a velocity, headings, rotations and places, flat poses
made of them, and arcs between poses on the group, whatever space it moves in."""

import re
from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.compiler.columns import ColumnKernel
from sim.groups import SE2, LieGroup
from sim.multibody.arrays import BALL, FREE, PRISMATIC, REVOLUTE
from sim.multibody.observing import mass_matrix
from sim.planner.task.task import GOAL_MOVES, Task, motion_of
from sim.spaces import Space
from sim.vehicle_config import config_of
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.form import TREES, Form, State
from sim.vehicles.forms.parameters import Quantities

_PLACE = ("x_m", "y_m", "z_m")
_NUMBER = re.compile(r"_\d+$")
"""That equal parts of a space are told apart by."""
_MOVES, _TURNS = "_mps", "_radps"


@lru_cache(maxsize=64)
def structure_of(vehicle: Vehicle) -> Structure:
    """What its equations depend on: of trees of joints the values of their parameters, too, which are numbers there."""
    structure = Structure.of(vehicle)
    if not jointed(vehicle):
        return structure
    return replace(structure, key=(*structure.key, vehicle.parameter_vector.tobytes()))


def jointed(vehicle: Vehicle) -> bool:
    """It is a tree of bodies and joints."""
    return vehicle.form in TREES


def own_space(vehicle: Vehicle) -> bool:
    """It moves about a space of its own, and is where its bodies say."""
    return vehicle.form is Form.GROUP_ACTION or jointed(vehicle)


def stands(vehicle: Vehicle) -> bool:
    """It turns about a fixed point: its pose holds no place."""
    return not own_space(vehicle) and not vehicle.group.columns[vehicle.group.position]


def placed_by_bodies(vehicle: Vehicle) -> bool:
    """Where it is, its bodies say, and not its pose alone."""
    return own_space(vehicle) or stands(vehicle)


def planar(vehicle: Vehicle) -> bool:
    """It moves on a plane."""
    return not own_space(vehicle) and vehicle.group.turns == 1


_INSIDE_LIMITS = 1e-4
"""What coordinates of joints and lengths of tendons keep from their limits [rad or m]: at them the simulation has
springs."""


def joint_ranges(vehicle: Vehicle) -> dict[str, tuple[float, float]]:
    """By the names of the coordinates of joints that have limits, what plans are left between these."""
    if not isinstance(vehicle, ArticulatedVehicle):
        return {}
    arrays, names = vehicle.tree.arrays, vehicle.space.columns
    found = {}
    for i in np.flatnonzero((arrays.kind == REVOLUTE) | (arrays.kind == PRISMATIC)):
        low, high = arrays.limits[arrays.v_at[i]]
        if np.isfinite([low, high]).any():
            found[names[arrays.q_at[i]]] = low + _INSIDE_LIMITS, high - _INSIDE_LIMITS
    return found


def tendon_ranges(vehicle: Vehicle) -> list[tuple[int, str, float, float]]:
    """(spring of the tree, name, lowest and highest length that plans are left) of each tendon that has limits."""
    if not isinstance(vehicle, ArticulatedVehicle):
        return []
    springs, names = vehicle.tree.arrays.springs, vehicle.tree.spring_names
    return [
        (int(k), names[k], float(springs[k, 1]) + _INSIDE_LIMITS, float(springs[k, 2]) - _INSIDE_LIMITS)
        for k in np.flatnonzero(springs[:, 4])
    ]


def at_random(
    vehicle: ArticulatedVehicle, rng: np.random.Generator, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """(nq,) coordinates of a tree between bounds (nq,), its rotations any."""
    q = rng.uniform(low, high)
    for turning in vehicle.quaternions:
        q[turning] = rng.normal(size=4)
        q[turning] /= np.linalg.norm(q[turning])
    return q


def turns(vehicle: Vehicle) -> int:
    """Dimensions of its main body's rotations."""
    return 3 if own_space(vehicle) else vehicle.group.turns


def arc_space(vehicle: Vehicle) -> LieGroup | Space:
    """What arcs between its poses are arcs of."""
    if isinstance(vehicle, ArticulatedVehicle):
        return vehicle.coordinates
    return vehicle.space if own_space(vehicle) else vehicle.group


@lru_cache(maxsize=64)
def _names(structure: Structure) -> tuple[str, ...]:
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    names = tuple(vehicle.bodies(node, vehicle.symbols(p)))
    # About a fixed point the body that is followed goes somewhere, its frame there does not.
    return tuple(sorted(names, key=lambda name: stands(vehicle) and name != config_of(vehicle).marker))


def body_names(vehicle: Vehicle) -> tuple[str, ...]:
    """Of all bodies, the main one first."""
    return _names(structure_of(vehicle))


def body_pose(vehicle: Vehicle, node: ca.SX, q: Quantities, name: str = "") -> ca.SX:
    """(4, 4) T_wb of a body, the main one if none is named."""
    if not placed_by_bodies(vehicle) and name in ("", body_names(vehicle)[0]):
        return vehicle.group.embedded(node[vehicle.node_layout.pose])
    return vehicle.bodies(node, q)[name or body_names(vehicle)[0]]


def named_poses(vehicle: Vehicle, node: ca.SX, q: Quantities, names: Iterable[str]) -> dict[str, ca.SX]:
    """The same of several, whose frames depend on each other."""
    if not placed_by_bodies(vehicle):
        return {name: body_pose(vehicle, node, q, name) for name in names}
    found, main = vehicle.bodies(node, q), body_names(vehicle)[0]
    return {name: found[name or main] for name in names}


@lru_cache(maxsize=64)
def _poses(structure: Structure, names: tuple[str, ...]) -> ColumnKernel:
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    q = vehicle.symbols(p)
    found = named_poses(vehicle, node, q, names)
    T = ca.vertcat(*(ca.vec(ca.densify(found[name])) for name in names))
    return ColumnKernel(ca.Function("pose", [node, p], [T], {"cse": True}), shared=(1,))


@lru_cache(maxsize=64)
def _of_vehicle(vehicle: Vehicle, names: tuple[str, ...]) -> tuple[ColumnKernel, np.ndarray]:
    """The kernel and the parameters, which both take time to find out."""
    return _poses(structure_of(vehicle), names), vehicle.parameter_vector


def body_poses(vehicle: Vehicle, nodes: np.ndarray, name: str = "") -> np.ndarray:
    """(n, 4, 4) T_wb at nodes (n, node size), or flat poses, of what is placed by them."""
    return poses_of(vehicle, nodes, (name,))[:, 0]


def poses_of(vehicle: Vehicle, nodes: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """(n, bodies, 4, 4) the same of several bodies."""
    kernel, numbers = _of_vehicle(vehicle, names)
    given = np.atleast_2d(nodes)
    whole = np.zeros((len(given), vehicle.node_layout.size))
    whole[:, : given.shape[1]] = given
    flat = kernel.rows(whole, numbers)
    return flat.reshape(-1, len(names), 4, 4).transpose(0, 1, 3, 2)


def columns(vehicle: Vehicle) -> tuple[str, ...]:
    """Names of a node's numbers, without the numbers of equal parts: they end in the unit, where there is one."""
    return tuple(_NUMBER.sub("", name) for name in vehicle.space.columns)


def velocities(vehicle: Vehicle) -> tuple[tuple[int, bool], ...]:
    """(index in a node, whether it is angular) of every velocity."""
    if isinstance(vehicle, ArticulatedVehicle):
        return tuple((vehicle.node_layout.velocity.start + i, bool(x)) for i, x in enumerate(vehicle.angular))
    if own_space(vehicle):
        named = enumerate(columns(vehicle))
        return tuple((i, name.endswith(_TURNS)) for i, name in named if name.endswith((_MOVES, _TURNS)))
    at = vehicle.node_layout.velocity
    return tuple((i, i - at.start < vehicle.group.turns) for i in range(at.start, at.stop))


def places(vehicle: Vehicle) -> tuple[np.ndarray, ...]:
    """Indices (3,) of each place in the world that is written in the node of what moves about a space of its own."""
    found, names = [], columns(vehicle)
    for i in range(len(names) - 2):
        stems = {name.removesuffix(end) for name, end in zip(names[i : i + 3], _PLACE, strict=True)}
        if len(stems) == 1 and all(map(str.endswith, names[i : i + 3], _PLACE)):
            found.append(np.arange(i, i + 3))
    return tuple(found)


def rotations(vehicle: Vehicle) -> tuple[int, ...]:
    """Where the nine entries of a rotation begin in a node, for each rotation."""
    if own_space(vehicle):
        return vehicle.space.rotations
    return (0,) if vehicle.group.turns == 3 else ()


def quaternions(vehicle: Vehicle) -> tuple[slice, ...]:
    """Where rotations of free and of ball joints stand in a node."""
    return vehicle.quaternions if isinstance(vehicle, ArticulatedVehicle) else ()


def directions(vehicle: Vehicle) -> tuple[slice, ...]:
    """Where directions of rods and cables stand in a node."""
    if not own_space(vehicle):
        return ()
    return tuple(vehicle.space.slices[name] for name in vehicle.space.directions)


def hanging_parts(vehicle: Vehicle) -> list[tuple[list[int], list[int]]]:
    """(indices of a direction, of its angular velocity) in a node, of each rod and cable: the part that comes next."""
    parts = vehicle.space.slices
    names = list(parts) if own_space(vehicle) else []
    found = []
    for k, name in enumerate(names):
        if name in vehicle.space.directions and k + 1 < len(names):
            pair = (parts[name], parts[names[k + 1]])
            found.append(tuple(list(range(at.start, at.stop)) for at in pair))
    return found  # type: ignore[return-value]


def hangs(vehicle: Vehicle) -> bool:
    """It has rods or cables."""
    return own_space(vehicle) and bool(vehicle.space.directions)


_HEADING = SE2.columns.index("heading_rad")
_FULL_TURN_RAD = 2.0 * np.pi


def heading_rad(state: State) -> float:
    """Of what moves on a plane; turns are counted."""
    return float(state.node[state.layout.pose][_HEADING])


def counts_turns(vehicle: Vehicle, task: Task) -> bool:
    """Whether the goal's heading is a full turn or more away, which is then to be made."""
    if planar(vehicle) and _returns(task):
        return turn_rad(task) != 0.0
    if not planar(vehicle) or task.goal.rotation == "free" or motion_of(task, GOAL_MOVES) is not None:
        return False
    return abs(heading_rad(task.goal.state) - heading_rad(task.start)) > _FULL_TURN_RAD - 1e-6


def once_around(task: Task) -> Task:
    """With the goal's heading nearest to the start's, where that has been measured and counts turns of its past."""
    group = task.start.group
    if group is None or group.turns != 1:
        return task
    goal, at = task.goal.state, task.start.layout.pose.start + _HEADING
    node = goal.node.copy()
    node[at] = task.start.node[at] + wrapped(node[at] - task.start.node[at])
    return replace(task, goal=replace(task.goal, state=replace(goal, node=node)))


def turns_missed(vehicle: Vehicle, task: Task, nodes: np.ndarray) -> bool:
    """Whether a motion (N+1, node size) without jumps of its heading ends another number of full turns from the start
    than the goal's heading counts: the solver's equations know it by its sine and cosine alone."""
    if not counts_turns(vehicle, task):
        return False
    at = vehicle.node_layout.pose.start + _HEADING
    made = nodes[-1, at] - nodes[0, at]
    return bool(abs(made - turn_rad(task)) > np.pi)


def turn_rad(task: Task) -> float:
    """From the start's heading to the goal's on a plane: the shorter way around, or as many full turns as it says."""
    turn = heading_rad(task.goal.state) - heading_rad(task.start)
    if _returns(task):
        return _FULL_TURN_RAD * round(turn / _FULL_TURN_RAD)
    return turn if abs(turn) > _FULL_TURN_RAD - 1e-6 else wrapped(turn)


def _returns(task: Task) -> bool:
    """Whether it ends with the heading that it begins with, after as many full turns as the goal says."""
    return bool({"heading_rad", "pose"} & set(task.periodic))


def wrapped(angle_rad: float) -> float:
    """The same direction, from -pi to pi."""
    return float((angle_rad + np.pi) % (2 * np.pi) - np.pi)


def planar_pose(state: State) -> np.ndarray:
    """(3,) heading, x, y."""
    return np.r_[heading_rad(state), place(state)]


def place(state: State) -> np.ndarray:
    """(2,) on a plane, (3,) in space, m."""
    assert state.group is not None
    return state.node[state.layout.pose][state.group.position]


def shifted(state: State, by_w: np.ndarray) -> State:
    """With its place moved by (2,) on a plane, (3,) in space, m."""
    assert state.group is not None
    node = state.node.copy()
    node[state.layout.pose][state.group.position] += by_w
    return replace(state, node=node)


def rotation_wb(state: State) -> np.ndarray:
    """(3, 3), in space."""
    return state.pose[:3, :3]


def positions(vehicle: Vehicle, nodes: np.ndarray) -> np.ndarray:
    """(n, 3) world positions of flat nodes, of their main body; on a plane z = 0."""
    if placed_by_bodies(vehicle):
        return body_poses(vehicle, nodes)[:, :3, 3]
    places = np.atleast_2d(nodes)[:, vehicle.group.position]
    if not planar(vehicle):
        return places
    out = np.zeros((len(places), 3))
    out[:, :2] = places
    return out


def planar_poses(headings: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(n, 3) flat poses of headings (n,) at places (n, 2 or 3), whose height does not count."""
    return np.c_[headings, places[:, :2]]


def spatial_poses(R_wb: np.ndarray, places: np.ndarray) -> np.ndarray:
    """(n, 12) flat poses of rotations (n, 3, 3) at places (n, 3)."""
    return np.c_[R_wb.transpose(0, 2, 1).reshape(-1, 9), places]


@lru_cache(maxsize=16)
def _arc(where: LieGroup | Space) -> ColumnKernel:
    size = _sizes(where)[0]
    g, k = ca.SX.sym("g", size), ca.SX.sym("k", size)
    if isinstance(where, Space):
        return _kernel([g, k], where.difference(g, k))
    return _kernel([g, k], where.cay_inv(where.compose(where.inverse(g), k)))


@lru_cache(maxsize=16)
def _point(where: LieGroup | Space) -> ColumnKernel:
    size, dim = _sizes(where)
    g, xi, s = ca.SX.sym("g", size), ca.SX.sym("xi", dim), ca.SX.sym("s")
    if isinstance(where, Space):
        return _kernel([g, xi, s], where.displaced(g, s * xi))
    return _kernel([g, xi, s], where.compose(g, where.cay(s * xi)))


def _sizes(where: LieGroup | Space) -> tuple[int, int]:
    """Of a point and of a displacement."""
    return (where.size, where.dim) if isinstance(where, Space) else (where.pose_dim, where.dim)


def _kernel(inputs: list[ca.SX], expression: ca.SX) -> ColumnKernel:
    return ColumnKernel(ca.Function("arcs", inputs, [ca.densify(expression)], {"cse": True}))


def arcs(where: LieGroup | Space, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(n, dim): displacements from starts to ends, flat poses (n, pose size); on a group start cay(xi) = end."""
    return _arc(where).rows(starts, ends)


def increments(vehicle: Vehicle, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(n, dim): by which a step of the vehicle goes from starts to ends, flat poses (n, pose size): its arcs, but of a
    tree the turns' Cayley vectors, and what floats free is displaced in the frame that moves."""
    xi = arcs(arc_space(vehicle), starts, ends)
    if not isinstance(vehicle, ArticulatedVehicle):
        return xi
    tree = vehicle.tree.arrays
    for i in np.flatnonzero((tree.kind == BALL) | (tree.kind == FREE)):
        at, q = tree.v_at[i], starts[:, tree.q_at[i] : tree.q_at[i] + 4]
        half = 0.5 * np.linalg.norm(xi[:, at : at + 3], axis=1, keepdims=True)
        xi[:, at : at + 3] *= np.tan(half) / np.where(half > 0.0, half, 1.0) + (half == 0.0)
        if tree.kind[i] == FREE:
            shift = xi[:, at + 3 : at + 6]
            beside = np.cross(q[:, 1:], shift)
            shift += 2.0 * (np.cross(q[:, 1:], beside) - q[:, :1] * beside)
    return xi


def points(where: LieGroup | Space, starts: np.ndarray, xi: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(n, pose size): as far on the arcs as the shares (n,) say."""
    return _point(where).rows(starts, xi, share)


def between(where: LieGroup | Space, poses: np.ndarray, per_step: int) -> np.ndarray:
    """(N per_step + 1, pose size): poses (N+1, pose size) and equally many on every arc between them."""
    xi = arcs(where, poses[:-1], poses[1:])
    share = np.tile(np.arange(per_step) / per_step, len(xi))
    fine = points(where, np.repeat(poses[:-1], per_step, axis=0), np.repeat(xi, per_step, axis=0), share)
    return np.concatenate([fine, poses[-1:]])


def nodes_between(vehicle: Vehicle, nodes: np.ndarray, per_step: int) -> np.ndarray:
    """(N per_step + 1, node size) places of nodes (N+1, node size), or of flat poses, and of equally many on every arc
    between them, on which the shape changes evenly. Without velocities."""
    at, n = vehicle.node_layout, len(nodes) - 1
    fine = np.zeros((n * per_step + 1, at.size))
    fine[:, at.pose] = between(arc_space(vehicle), nodes[:, at.pose], per_step)
    if (shape := nodes[:, at.shape]).size:
        share = (np.arange(per_step) / per_step)[:, None]
        fine[:-1, at.shape] = (shape[:-1, None] * (1 - share) + shape[1:, None] * share).reshape(
            n * per_step, -1
        )
        fine[-1, at.shape] = shape[-1]
    return fine


def fastest_radps(vehicle: ArticulatedVehicle, pose: np.ndarray) -> float:
    """Of the small swings of a tree about a pose under gravity and springs, whose impulses come at the nodes: longer
    steps than two by this would make them grow."""
    tree = vehicle.symbolic
    q, d = ca.SX(pose), ca.SX.sym("d", vehicle.tree.nv)
    slopes = ca.jacobian(tree.node_force(tree.move(q, d)), d)
    at_rest = ca.Function("slopes", [d], [ca.densify(slopes)])
    mass = mass_matrix(vehicle.tree.arrays, pose)
    swings = np.linalg.eigvals(np.linalg.solve(mass, -np.array(at_rest(np.zeros(len(mass))))))
    return float(np.sqrt(max(swings.real.max(initial=0.0), 0.0)))
