"""The part of a task that the structure of its optimisation depends on. Everything else is a parameter."""

from collections import Counter
from functools import cached_property, lru_cache

import casadi as ca
import numpy as np

from sim.integrators.base import Integrator
from sim.multibody.observing import mass_matrix
from sim.planner.task.bodies import jointed, own_space, positions, structure_of
from sim.planner.task.check_own import met_columns
from sim.planner.task.clearance import on_plane
from sim.planner.task.expressions import OwnTerms, own_terms
from sim.planner.task.inputs import holding_scale, input_map_of
from sim.planner.task.meeting import held
from sim.planner.task.numbers import place_of
from sim.planner.task.open_start import OpenStart, open_start
from sim.planner.task.own_bodies import low_balls, own_pairs
from sim.planner.task.task import GOAL_MOVES, WEIGHT_NAMES, Limits, Task, control_limits, motion_of
from sim.planner.task.terrain import SafeGround
from sim.platform.values import dataclass
from sim.shapes import KINDS
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.fitted_tree import fitted
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle


@dataclass(frozen=True)
class Scales:
    """Typical magnitudes, which make the optimiser's numbers about one."""

    length_m: float
    speed_mps: float
    turn_radps: float
    inputs: np.ndarray
    """(planned inputs,)."""
    step_s: float
    momenta: np.ndarray
    """Of the private state's last entries: body momentum, or the momenta (P, p) of a vehicle with a shape."""
    unknowns: np.ndarray
    """Body velocity, or the velocities that belong to (P, p)."""
    shape: np.ndarray
    """(n_shape,)."""


@dataclass(frozen=True, eq=False)
class ProblemShape:
    """Tasks with the same key and of similar size share one compiled problem."""

    vehicle: Vehicle
    integrator: Integrator
    steps: int
    free_time: bool
    remembers_inputs: bool
    """The previous node's inputs are part of the state: their rates cost or are bounded."""
    waypoints: bool
    obstacles: dict[str, int]
    """Kind -> how many."""
    motions: int
    """How many move goal or obstacles."""
    moved: tuple[tuple[str, int, int], ...]
    """(kind, which of that kind, by which motion) of obstacles that move."""
    goal_motion: int | None
    body_count: int
    bodies: tuple[str, ...]
    """Whose frame each of them is in; none: the main body's."""
    pairs: tuple[tuple[int, int], ...]
    """Of them that are kept apart from each other."""
    low_balls: tuple[int, ...]
    """Those of a tree that are kept above its ground."""
    ground: SafeGround | None
    """Of what is no tree."""
    demands: tuple[object, ...]
    """Of the goal: what is fixed, within, free."""
    limits: Limits
    elastic: bool
    costs: tuple[str, ...]
    """Terms that may have a weight."""
    own: OwnTerms | None
    """Costs and constraints of a user's own."""
    numbers: tuple[str, ...]
    """Names of the task's own numbers."""
    reference: tuple[str, ...]
    """Columns of its reference."""
    met_columns: frozenset[int]
    """Numbers of a node that the goal says exactly, which `demands` decide."""
    free_parameters: tuple[tuple[str, float, float], ...]
    """(name, low, high) of what is found with the motion."""
    open_start: OpenStart
    """What of the start is."""
    scales: Scales | None = None
    """Needed for building, not for comparing."""

    @property
    def key(self) -> tuple[object, ...]:
        """Hashable; equal keys mean interchangeable problems."""
        return (*self.node_key, self.steps)

    @cached_property
    def node_key(self) -> tuple[object, ...]:
        """Hashable; equal keys mean the same expressions at every node, whatever the number of nodes."""
        return (
            structure_of(self.vehicle),
            # With its options: another alpha has other equations.
            self.integrator,
            # Where the step is a variable, its scale belongs to the grid.
            self.steps if self.free_time else 0,
            self.remembers_inputs,
            self.waypoints,
            tuple(sorted(self.obstacles.items())),
            (self.motions, self.moved, self.goal_motion),
            self.body_count,
            self.bodies,
            self.pairs,
            self.low_balls,
            self.ground.key if self.ground else None,
            self.demands,
            repr(self.limits),
            self.elastic,
            self.costs,
            self.own.key if self.own else None,
            self.numbers,
            self.reference,
            self.free_parameters,
            self.open_start,
        )


def problem_shape(
    vehicle: Vehicle, integrator: Integrator, task: Task, *, elastic: bool = False, steps: int | None = None
) -> ProblemShape:
    """What has to be built for a task."""
    goal = task.goal
    costs = tuple(n for n in WEIGHT_NAMES if n == "effort" or getattr(task.weights, n) > 0.0)
    counts = Counter(on_plane(vehicle, o).kind for o in task.obstacles)
    made = with_arguments(vehicle, task)
    return ProblemShape(
        vehicle=made,
        integrator=integrator,
        steps=steps or task.steps,
        free_time=task.free_duration is not None,
        remembers_inputs=task.weights.smoothness > 0.0 or bool(task.limits.rates),
        waypoints=bool(task.waypoints),
        obstacles={kind: counts[kind] for kind in KINDS if counts[kind]},
        motions=len(task.motions),
        moved=_moved(vehicle, task),
        goal_motion=motion_of(task, GOAL_MOVES),
        body_count=len(task.body),
        bodies=task.bodies,
        pairs=tuple(own_pairs(vehicle, task)),
        low_balls=low_balls(vehicle, task),
        ground=None if jointed(vehicle) else task.ground,
        demands=(goal.position, goal.rotation, goal.velocity, goal.shape, goal.shape_velocity, goal.parts),
        limits=task.limits,
        elastic=elastic,
        costs=costs,
        own=own_terms(made, task),
        met_columns=met_columns(vehicle, task),
        numbers=tuple(task.numbers),
        reference=task.reference.columns if task.reference else (),
        free_parameters=tuple((name, *bounds) for name, bounds in task.free_parameters.items()),
        open_start=open_start(vehicle, task),
    )


def with_arguments(vehicle: Vehicle, task: Task) -> Vehicle:
    """The vehicle whose equations have as arguments what of it is found; those of a tree have numbers there else."""
    found = tuple(
        (place_of(vehicle, name), float(low), float(high))
        for name, (low, high) in task.free_parameters.items()
        if name not in task.numbers
    )
    return fitted(vehicle, found) if isinstance(vehicle, ArticulatedVehicle) and found else vehicle


def _moved(vehicle: Vehicle, task: Task) -> tuple[tuple[str, int, int], ...]:
    found, counts = [], dict.fromkeys(KINDS, 0)
    for obstacle in task.obstacles:
        kind = on_plane(vehicle, obstacle).kind
        k = motion_of(task, obstacle.name)
        if k is not None:
            found.append((kind, counts[kind], k))
        counts[kind] += 1
    return tuple(found)


def scales_of(vehicle: Vehicle, task: Task) -> Scales:
    """Magnitudes that a task is about."""
    task = held(vehicle, task)
    way = positions(vehicle, np.stack([task.start.node, task.goal.state.node]))
    distance = max(float(np.linalg.norm(way[1] - way[0])), 1.0)
    length = _rounded(max(1.0, distance / 10.0))
    speed = _rounded(max(0.3, distance / task.duration_s))
    turn = _rounded(min(2.0, max(0.3, 3.0 / task.duration_s)))
    step_s = task.duration_s / task.steps
    if isinstance(vehicle, ArticulatedVehicle):
        # About half a turn of each joint in the time.
        rates = np.full(vehicle.tree.nv, _rounded(min(4.0, max(0.25, 3.0 / task.duration_s))))
        inertia = mass_matrix(vehicle.tree.arrays, task.start.node[vehicle.node_layout.pose]).diagonal()
        momenta = np.array([_rounded(x) for x in np.maximum(inertia, 1e-6) * rates])
        return Scales(length, speed, turn, unit_inputs(vehicle), step_s, momenta, rates, np.zeros(0))
    if own_space(vehicle):
        none = np.zeros(0)
        return Scales(length, speed, turn, unit_inputs(vehicle), step_s, none, none, none)
    if isinstance(vehicle, NonholonomicVehicle):
        own, momenta = _typical_momenta(vehicle, speed, turn)
        shape = np.ones(len(vehicle.shape_coordinates))
        shape[vehicle.dynamic] = [
            _rounded(max(1.0, u * task.duration_s / 8)) for u in own[: len(vehicle.dynamic)]
        ]
        inputs = _inner_input_scales(vehicle, task, momenta)
        return Scales(length, speed, turn, inputs, step_s, momenta, own, shape)
    assert isinstance(vehicle, HolonomicVehicle)
    turns = vehicle.group.turns
    velocity = np.r_[np.full(turns, turn), np.full(vehicle.group.dim - turns, speed)]
    momenta = inertia_diagonal(vehicle) * velocity
    inputs = _input_scales(vehicle, task, distance)
    return Scales(length, speed, turn, inputs, step_s, momenta, velocity, np.zeros(0))


def _typical_momenta(
    vehicle: NonholonomicVehicle, speed: float, turn: float
) -> tuple[np.ndarray, np.ndarray]:
    """Velocities (own shape velocities, c) that move the body at the typical speed, and their momenta."""
    n, dynamic = len(vehicle.shape_coordinates), vehicle.dynamic
    r, q = ca.SX.zeros(n), vehicle.symbols(ca.SX(vehicle.parameter_vector))
    moves = np.abs(_number(ca.horzcat(vehicle.connection(r, q)[:, dynamic], vehicle.symmetry_basis(r, q))))
    own = np.array(
        [speed / column[1:].max() if column[1:].max() > 1e-9 else 4.0 * turn for column in moves.T]
    )
    z = ca.SX.sym("z", own.size)
    u = vehicle.shape_velocity(r, z[: len(dynamic), 0], ca.SX.zeros(len(vehicle.controls)), q)
    xi = vehicle.body_velocity(r, u, z[len(dynamic) :, 0], q)
    _, by_shape, mu = vehicle.gradients(r, u, xi, q)
    mass = _number(ca.jacobian(vehicle.momenta(r, by_shape, mu, q), z))
    own = np.array([_rounded(x) for x in own])
    return own, np.abs(mass).diagonal() * own


def _number(expression: ca.SX) -> np.ndarray:
    return np.array(ca.evalf(ca.densify(expression)))


def _inner_input_scales(vehicle: NonholonomicVehicle, task: Task, momenta: np.ndarray) -> np.ndarray:
    """Forces that build up the momenta in a sixth of the time; rates of one."""
    box = np.abs(control_limits(vehicle, task.limits)).max(axis=1)
    scale = np.ones(len(vehicle.controls))
    forces = [i for i, c in enumerate(vehicle.controls) if c.name not in vehicle.commanded.values()]
    for i, momentum in zip(forces, momenta, strict=False):
        scale[i] = _rounded(max(6.0 * momentum / task.duration_s, 1e-6))
    return np.where(box > 0.0, np.minimum(scale, box), scale)  # what is switched off has no range


def _rounded(x: float) -> float:
    """To a power of two: small drags must not make another problem."""
    return float(2.0 ** np.round(np.log2(x)))


def _input_scales(vehicle: HolonomicVehicle, task: Task, distance: float) -> np.ndarray:
    """What moves the vehicle about as the task asks, or less where the bounds say so."""
    input_map = input_map_of(vehicle)
    box = input_map.box(control_limits(vehicle, task.limits))
    most = np.abs(box).max(axis=1)
    natural = input_map.natural_scale()
    if natural is not None:
        return natural
    inertia = inertia_diagonal(vehicle)
    turns = vehicle.group.turns
    wrench = np.r_[inertia[:turns] * 8.0, inertia[turns:] * 6.0 * distance] / task.duration_s**2
    wrench += _resistance(vehicle, task, distance / task.duration_s)
    trim = np.abs(input_map.trim(task.start.node[vehicle.node_layout.pose]))
    columns = np.abs(input_map.columns())
    out = np.empty(input_map.size)
    for i in range(input_map.size):
        acts = columns[:, i] > 1e-9
        needed = (wrench[acts] / columns[acts, i]).min() if acts.any() else 1.0
        out[i] = _rounded(max(min(max(needed, trim[i]), most[i]), 1e-6))
    return out


def inertia_diagonal(vehicle: HolonomicVehicle) -> np.ndarray:
    """(dim,) with the vehicle's own parameters."""
    p = ca.SX.sym("p", vehicle.parameter_count)
    inertia = ca.Function("I", [p], [ca.densify(vehicle.inertia(vehicle.symbols(p)))])
    return np.array(inertia(vehicle.parameter_vector)).diagonal().copy()


def _resistance(vehicle: HolonomicVehicle, task: Task, speed: float) -> np.ndarray:
    """(dim,) magnitudes of what has to be overcome to hold still at the start and to move ahead."""
    g, p = ca.SX.sym("g", vehicle.group.pose_dim), ca.SX.sym("p", vehicle.parameter_count)
    xi, q = ca.SX.sym("xi", vehicle.group.dim), vehicle.symbols(p)
    force = ca.densify(vehicle.dissipative_wrench(g, xi, q))
    resist = ca.Function("f", [g, xi, p], [force])
    pose, numbers = task.start.node[vehicle.node_layout.pose], vehicle.parameter_vector
    ahead = np.zeros(vehicle.group.dim)
    ahead[1 if vehicle.group.dim == 3 else 3] = speed
    at_rest, moving = (np.abs(np.array(resist(pose, v, numbers)).ravel()) for v in (0 * ahead, ahead))
    return np.maximum(at_rest, moving)


def size_of(vehicle: Vehicle, task: Task) -> np.ndarray:
    """Logarithms of what scales are made of; a problem serves tasks whose logarithms differ little."""
    task = held(vehicle, task)
    way = positions(vehicle, np.stack([task.start.node, task.goal.state.node]))
    distance = max(float(np.linalg.norm(way[1] - way[0])), 1.0)
    return np.log(np.concatenate([[distance, task.duration_s], np.abs(vehicle.parameter_vector) + 1e-3]))


@lru_cache(maxsize=32)
def unit_inputs(vehicle: Vehicle) -> np.ndarray:
    """(planned inputs,) that count as one unit of effort: the weight carried, else what accelerates by 1 m/s^2 and
    1 rad/s^2 in the mean square of what it moves, a rate of 1. Without a corner, so that costs have derivatives by
    masses and lengths."""
    input_map = input_map_of(vehicle)
    natural = input_map.natural_scale()
    if natural is not None:
        return natural
    if own_space(vehicle):
        return holding_scale(vehicle)
    if isinstance(vehicle, NonholonomicVehicle):
        unit = np.ones(len(vehicle.controls))
        own, momenta = _typical_momenta(vehicle, 1.0, 1.0)
        forces = [i for i, c in enumerate(vehicle.controls) if c.name not in vehicle.commanded.values()]
        for i, mass in zip(forces, momenta / own, strict=False):
            unit[i] = mass
        return unit
    assert isinstance(vehicle, HolonomicVehicle)
    columns = np.abs(input_map.columns())
    acts = columns > 1e-9
    squares = np.where(acts, columns / inertia_diagonal(vehicle)[:, None], 0.0) ** 2
    return np.sqrt(np.maximum(acts.sum(axis=0), 1) / np.where(acts.any(axis=0), squares.sum(axis=0), 1.0))
