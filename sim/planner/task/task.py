"""What is to be planned: from where, to where, in what time, at which price, around what."""

from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import Any, Literal, Self, get_args

import numpy as np

from sim.control.planar_craft import driven_along
from sim.planner.task.motions import Motion
from sim.planner.task.reference import Reference
from sim.planner.task.terrain import SafeGround
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.shapes import Shape
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form, State, Support

Demand = Literal["fixed", "within", "near", "upright", "free"]
DEMANDS: tuple[str, ...] = get_args(Demand)
Ball = tuple[float, float, float, float]
"""(x, y, z, radius) m, in the body frame."""
DEMANDED = ("position", "rotation", "velocity")
"""Parts of a goal that are demanded so or so."""
Obstacle = Shape
"""What tasks keep clear of: its numbers are parameters of a plan, so that dragging one rebuilds nothing."""
LOOKS = ("", "barrels", "buoy", "crates", "mast", "rock", "saloon", "estate", "van", "ship", "kerb", "shown")
"""What an obstacle may be drawn as; empty: as the bare shape. A kerb is part of the world's own ground, and what is
shown is part of another obstacle's model."""


def label(obstacle: Obstacle, index: int) -> str:
    """What messages call it."""
    return obstacle.name or f"{obstacle.kind} {index + 1}"


def entered(obstacle: Obstacle, index: int) -> str:
    """What failures call it when the motion goes through it."""
    return f"obstacle {label(obstacle, index)} is entered"


@dataclass(frozen=True)
class Goal:
    """The wanted end, part by part: met exactly, within a tolerance, as nearly as pays, or left free.

    What is to be `near` can be asked for from everywhere: half the squares of what it is missed by, over its tolerance,
    cost `Weights.terminal`.
    """

    state: State
    position: Demand = "fixed"
    rotation: Demand = "fixed"
    """`upright` on SE(3): level, with any heading."""
    velocity: Demand = "fixed"
    shape: tuple[int, ...] = ()
    """Indices of shape coordinates that must be met."""
    shape_velocity: tuple[int, ...] = ()
    parts: tuple[str, ...] | None = None
    """Of what moves about a space of its own: names of the parts of its state that are met exactly, None for all of it.
    Where some are named, `position` and `rotation` are those of its main body; else these do not count, nor does
    `velocity`."""
    tolerance_m: float = 0.1
    tolerance_rad: float = 0.1
    tolerance_mps: float = 0.1


@dataclass(frozen=True, slots=True)
class Waypoint:
    """A place to pass through."""

    position_w: tuple[float, float, float]
    tolerance_m: float = 0.5
    time_s: float | None = None
    """When; None: where the first guess comes closest."""


@dataclass(frozen=True, slots=True)
class Weights:
    """What a plan costs, each term an integral over time; all may be moved while the planner runs."""

    effort: float = 1.0
    """Squares of the inputs in units of `Task.effort_scale`."""
    smoothness: float = 0.0
    """Squares of the inputs' rates in those units per second."""
    time: float = 0.0
    """The duration itself."""
    distance: float = 0.0
    """Length of the way [m]."""
    safety: float = 0.0
    """Nearness to obstacles and ground, exp(-distance / range)."""
    comfort: float = 0.01
    """Squares of the body's angular velocity [rad/s]."""
    terminal: float = 0.0
    """Of the parts of the goal that are to be `near`, squares of what is missed; where none are, of place and velocity
    in m and m/s."""
    swing: float = 0.0
    """Squares of the angles [rad] between what hangs, rods and cables, and how it hangs at the goal."""

    @property
    def array(self) -> np.ndarray:
        return np.array([getattr(self, name) for name in WEIGHT_NAMES])


WEIGHT_NAMES = ("effort", "smoothness", "time", "distance", "safety", "comfort", "terminal", "swing")


@dataclass(frozen=True)
class Limits:
    """Bounds beyond the vehicle's own; None: none. Arrays broadcast."""

    speed_mps: float = 30.0
    """Largest magnitude of each component of the body velocity."""
    turn_radps: float = 4.0
    """Of each component of the angular velocity; also keeps steps from turning more than they can tell."""
    tilt_rad: float | None = None
    """Largest angle between body z and the vertical."""
    low_w: tuple[float, float, float] | None = None
    """Corner of the box that positions stay in [m]."""
    high_w: tuple[float, float, float] | None = None
    shape: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Coordinate -> range, inside its stops."""
    controls: dict[str, tuple[float, float]] = field(default_factory=dict)
    """Control -> range, inside the vehicle's own."""
    rates: dict[str, float] = field(default_factory=dict)
    """Planned input -> largest change per second."""
    columns: dict[str, tuple[float, float]] = field(default_factory=dict)
    """A number of the state by the name of its column -> range; one side may be infinite ("no reverse")."""


Expression = Callable[..., Any]
"""Gives CasADi expressions of what its arguments name: node, controls, time, parameters, bodies, reference."""


@dataclass(frozen=True)
class PathConstraint:
    """Relations that a motion has to keep, as `lambda node: node["v_x_mps"] <= 3`, one or a list."""

    relation: Expression
    name: str = ""
    """By which messages and multipliers call it; empty: the function's own."""
    at: Literal["path", "end"] = "path"
    """At every node, or the last one alone."""


@dataclass(frozen=True)
class Task:
    """A problem of optimal control, independent of vehicle parameters and method."""

    start: State
    goal: Goal
    duration_s: float
    steps: int = 64
    free_duration: tuple[float, float] | None = None
    """(shortest, longest) [s] where the final time is found as well; `duration_s` is then the first guess."""
    weights: Weights = Weights()
    limits: Limits = Limits()
    obstacles: tuple[Obstacle, ...] = ()
    motions: tuple[Motion, ...] = ()
    """Of the goal and of obstacles that move by themselves; the task has them where they are before that."""
    waypoints: tuple[Waypoint, ...] = ()
    ground: SafeGround | None = None
    """To stay above. Balls of a tree of joints stay above its highest place, or where they start, what its joints do
    not lift left out."""
    """Terrain to stay above; None: none."""
    clearance_m: float = 0.0
    """Wanted beyond touching, from every obstacle."""
    body: tuple[Ball, ...] = ((0.0, 0.0, 0.0, 0.0),)
    """Balls (x, y, z, radius) in the body frame that stand for the vehicle."""
    bodies: tuple[str, ...] = ()
    """Of what moves about a space of its own: whose frame each ball is given in; none: all in the main body's."""
    effort_scale: dict[str, float] = field(default_factory=dict)
    """Planned input -> magnitude that counts as one unit of effort; others by `unit_inputs` of the vehicle."""
    safety_range_m: float = 2.0
    cost: Expression | None = None
    """A cost per second, besides the weighted ones."""
    end_cost: Expression | None = None
    """A cost of the last node."""
    constraints: tuple[Expression | PathConstraint, ...] = ()
    """Relations of one's own; a bare function is kept at every node."""
    numbers: Mapping[str, float] = field(default_factory=dict)
    """For these functions, among their parameters: changing one of them builds nothing anew."""
    reference: Reference | None = None
    """A motion to keep close to."""
    free_parameters: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Of the vehicle's parameters (`mass`, `inertia.0`) or of `numbers`, what is found with the motion -> range."""
    start_within: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Numbers of the start that are found with the motion, by the names of their columns -> range. One of a rotation in
    space frees all of it, one of the velocities all of them; `start` is then where the first guess begins."""
    periodic: tuple[str, ...] = ()
    """Numbers or parts of the state that end as they begin, however that is: the goal leaves them free, and where
    `start` has them the first guess begins; a part of the shape without stops begins there. A heading ends
    as many full turns later as the goal's is."""
    or_goals: tuple[Goal, ...] = ()
    """Other ends that do as well; what costs least is planned, and `goal` of the plan's task says for which."""
    name: str = "task"

    def __post_init__(self) -> None:
        """Balls given as lists or arrays are kept as tuples: what is worked out of them is looked up by them."""
        for name in ("body", "bodies"):
            given = getattr(self, name)
            whole = given.tolist() if isinstance(given, np.ndarray) else given
            if isinstance(whole, list | tuple):
                rows = tuple(tuple(row) if isinstance(row, list | np.ndarray) else row for row in whole)
                if type(given) is not tuple or any(a is not b for a, b in zip(rows, given, strict=True)):
                    object.__setattr__(self, name, rows)

    @property
    def plain(self) -> Self:
        """The task as values alone, without its ground, its reference and functions of one's own."""
        return replace(self, **dict.fromkeys(_RICH), constraints=())  # type: ignore[arg-type]

    def enriched(self, task: "Task") -> Self:
        """With the ground, the reference and the functions of another task."""
        return replace(self, **{name: getattr(task, name) for name in (*_RICH, "constraints")})

    @property
    def ball_bodies(self) -> tuple[str, ...]:
        """For each ball; empty: the main body."""
        return self.bodies or ("",) * len(self.body)

    def step_s(self) -> float:
        return self.duration_s / self.steps


_RICH = ("ground", "cost", "end_cost", "reference")


def check_can_plan(vehicle: Vehicle) -> None:
    """InputError for what goes nowhere, or not by what is done to it."""
    if vehicle.support is Support.WATER:
        flat = "its mechanics on flat water, sim.planner.calm_water of it"
        raise InputError(
            f"{vehicle.name} floats on waves, which no plan knows ahead"
            + (
                f"; allowed: {flat}"
                if driven_along(vehicle)
                else ", and drifts; allowed: what thrusters drive"
            )
        )
    if not vehicle.controls:
        raise InputError(f"{vehicle.name} has no controls to plan; allowed: vehicles that have some")


def usual_method(vehicle: Vehicle) -> str:
    """What plans are made with where nothing else is asked for."""
    if isinstance(vehicle, ArticulatedVehicle) and vehicle.meets:
        return "touching"
    return "rkmk4-cay" if vehicle.form is Form.GROUP_ACTION else "variational"


def control_limits(vehicle: Vehicle, limits: Limits) -> np.ndarray:
    """(n_controls, 2): the vehicle's ranges, narrowed by the task's."""
    out = np.array([[c.low, c.high] for c in vehicle.controls], float).reshape(-1, 2)
    for i, control in enumerate(vehicle.controls):
        if control.name in limits.controls:
            low, high = limits.controls[control.name]
            out[i] = max(out[i, 0], low), min(out[i, 1], high)
    return out


GOAL_MOVES = "goal"
"""What a motion calls the goal; obstacles are called by their names."""


def motion_of(task: Task, name: str) -> int | None:
    """Which of a task's motions moves the goal or the obstacles of a name; None: none."""
    return next((k for k, motion in enumerate(task.motions) if name and name in motion.moves), None)


def is_moving(task: Task, obstacle_index: int) -> bool:
    """Whether an obstacle moves by itself."""
    return motion_of(task, task.obstacles[obstacle_index].name) is not None


def brought_back(task: Task, obstacle_index: int, places_w: np.ndarray, time_s: np.ndarray) -> np.ndarray:
    """(..., n, 3) places at moments (n,), seen from an obstacle that moves: where they would be beside it as the task
    has it."""
    k = motion_of(task, task.obstacles[obstacle_index].name)
    if k is None:
        return places_w
    T = task.motions[k].poses(time_s)
    return np.asarray(np.einsum("nji,...nj->...ni", T[:, :3, :3], places_w - T[:, :3, 3]))
