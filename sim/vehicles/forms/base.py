"""What every vehicle is: a group, named numbers, and states. Mechanics follow in `holonomic.py` and its siblings.

What it lists is checked by name and kind: names end up in generated source, file names and columns. `Structure` is what
of a vehicle its equations depend on, by which caches of compiled things are keyed.
"""

import math
import pickle
import re
import sys
from abc import ABC
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import field
from functools import cached_property, lru_cache
from itertools import count
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.groups import SE3, LieGroup
from sim.platform.errors import InputError, array_of, quote
from sim.platform.values import dataclass
from sim.spaces import Euclidean, GroupSpace, Product, Space
from sim.vehicles.forms.form import Form, NodeLayout, Observable, State, Support, natural_support
from sim.vehicles.forms.parameters import Control, Parameter, Parametrised, Quantities, ShapeCoordinate

if TYPE_CHECKING:
    from sim.multibody.shapes import Cord, Link

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*")
_LONGEST = 60
_ALLOWED = f"letters, digits, - and _ of ASCII, a letter first, {_LONGEST} at most"
_ON_A_GROUP = (Form.EULER_POINCARE, Form.REDUCED_DALEMBERT)
_LISTS = {"parameters": Parameter, "controls": Control, "shape_coordinates": ShapeCoordinate}


def is_name(text: object) -> bool:
    """Whether this can be the name of a vehicle, a parameter, a control or a shape coordinate."""
    return isinstance(text, str) and len(text) <= _LONGEST and _NAME.fullmatch(text) is not None


def usable(names: Iterable[str]) -> list[str]:
    """Names that can be used, as near as may be to those of a file, which may be any; all different."""
    taken: dict[str, None] = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[: _LONGEST - 5]
        plain = plain if plain[:1].isalpha() else f"n{plain}"
        candidates = (plain if k == 1 else f"{plain}_{k}" for k in count(1))
        taken[next(candidate for candidate in candidates if candidate not in taken)] = None
    return [*taken]


def check_listed(kind: type) -> None:
    """Raises InputError where a vehicle class or something that it lists has no usable name or is of another kind."""
    name = getattr(kind, "name", None)
    if not is_name(name):
        raise InputError(
            f"vehicle class {kind.__name__}: name = {quote(name)} is refused; allowed: {_ALLOWED}"
        )
    for attribute, wanted in _LISTS.items():
        items = getattr(kind, attribute)
        if not isinstance(items, tuple | list) or not all(isinstance(item, wanted) for item in items):
            raise InputError(
                f"vehicle {name!r}: {attribute} = {quote(items)} is refused; allowed: a tuple of {wanted.__name__}"
            )
        taken = set()
        for item in items:
            if not is_name(item.name) or item.name in taken:
                raise InputError(
                    f"vehicle {name!r}: {attribute}: name {quote(item.name)} is refused; allowed, once each: {_ALLOWED}"
                )
            taken.add(item.name)
            fault = _fault(item)
            if fault:
                raise InputError(f"vehicle {name!r}: {attribute}: {item.name}: {fault}")
    structural = [q.name for q in kind.parameters if q.structural]  # type: ignore[attr-defined]
    for control in kind.controls:  # type: ignore[attr-defined]
        if control.only is not None and control.only[0] not in structural:
            raise InputError(
                f"vehicle {name!r}: controls: {control.name}: only = {quote(control.only)} is refused; allowed: "
                f"(structural parameter, its value), of {', '.join(structural) or 'which it has none'}"
            )
    group = getattr(kind, "group", None)
    if getattr(kind, "form", None) in _ON_A_GROUP and not isinstance(group, LieGroup):
        raise InputError(
            f"vehicle {name!r}: group = {group!r} is refused; allowed: SE3, SE2, SO3 of sim.groups"
        )


def _fault(item: Parameter | Control | ShapeCoordinate) -> str:
    """What is wrong with its numbers."""
    try:
        low, high = float(item.low), float(item.high)
        at = {Parameter: "default", Control: "neutral"}.get(type(item))
        values = np.atleast_1d(np.asarray(getattr(item, at), float)) if at else np.zeros(0)
    except (TypeError, ValueError):
        return "a default, neutral, low or high that is not a number"
    if math.isnan(low) or math.isnan(high):
        return f"low = {low:g}, high = {high:g}; allowed: numbers"
    if low > high:
        return f"low = {low:g} is above high = {high:g}"
    if at and (values.ndim != 1 or not values.size):
        return f"{at} has to be a number or a tuple of numbers"
    if at and not ((values >= low) & (values <= high)).all():
        return (
            f"{at} = {getattr(item, at)!r} is out of range; allowed: {low:g} to {high:g} {item.unit}".rstrip()
        )
    return ""


class Vehicle(Parametrised, ABC):
    """A mechanical system on a Lie group, declared once and used by every integrator and by the planner.

    Keyword arguments set parameters; anything else raises InputError with one line.
    """

    form: Form
    group: LieGroup
    """Of what is declared on one; what has another space has none."""
    controls: tuple[Control, ...] = ()
    shape_coordinates: tuple[ShapeCoordinate, ...] = ()
    looks: "type[Vehicle] | None" = None
    """The class whose config it has, where that is not its own: of a model of something else."""
    hanging_kg: float = 0.0
    """Mass of what hangs from it, whose weight its lift carries, too."""

    def __init__(self, **values: object) -> None:
        check_listed(type(self))
        super().__init__(**values)

    def _set(self, values: Mapping[str, object]) -> None:
        """Its controls are those that its structure has."""
        super()._set(values)
        if any(control.only for control in type(self).controls):
            counts = self.counts
            self.controls = tuple(
                c for c in type(self).controls if c.only is None or counts[c.only[0]] == c.only[1]
            )

    @cached_property
    def node_layout(self) -> NodeLayout:
        """Read at every step: worked out once."""
        a, b, n = self.group.pose_dim, self.group.dim, len(self.shape_coordinates)
        end = a + b + 2 * n
        size = end + (len(self.controls) if self.lags else 0)
        return NodeLayout(
            slice(0, a),
            slice(a, a + b),
            slice(a + b, a + b + n),
            slice(a + b + n, end),
            slice(end, size),
            size,
        )

    @cached_property
    def space(self) -> Space:
        """Where its state is; slices and columns of a node have their names from it."""
        group, n = self.group, len(self.shape_coordinates)
        shape = tuple(f"shape_{c.name}" for c in self.shape_coordinates)
        parts: list[Space] = [
            GroupSpace(group),
            Euclidean(group.dim, "velocity", group.velocity_columns, group.dim),
        ]
        if n:
            rates = tuple(f"{name}_rate" for name in shape)
            parts += [Euclidean(n, "shape", shape), Euclidean(n, "shape_velocity", rates, n)]
        if self.lags:
            names = tuple(f"acting_{control.name}" for control in self.controls)
            parts.append(Euclidean(len(names), "acting", names))
        return Product(tuple(parts))

    def poses(self, nodes: np.ndarray) -> np.ndarray:
        """(..., n, n) matrices of the configurations of nodes (..., node size)."""
        return self.group.to_matrix(nodes[..., self.node_layout.pose])

    @property
    def twist_embedding(self) -> np.ndarray:
        """(6, k): its momenta and wrenches as (angular, linear) ones in space."""
        return self.group.twist_embedding

    @property
    def angular(self) -> np.ndarray:
        """Which components of the velocity in its node are angular [rad/s]; the others are linear [m/s]."""
        return np.any(self.group.twist_embedding[:3], axis=0)

    @property
    def wrench_size(self) -> int:
        """Of the further wrench that may act from outside."""
        return self.group.dim

    def energy(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Total energy [J] at a node."""
        raise InputError(f"vehicle {self.name!r} declares no energy(node, q)")

    def spatial_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Momentum about the world's origin at a node."""
        raise InputError(f"vehicle {self.name!r} declares no spatial_momentum(node, q)")

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        """What the controls do to the body, (dim,) body frame."""
        return ca.SX(self.group.dim, 1)

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """Name -> (4, 4) T_wb of every body that can be seen or touched: the only forward kinematics.

        The first one is the main body, by which the vehicle's place is told. World z is up. What has no height of
        its own, or no place, is put into a world as `support` says.
        """
        return {"body": self.group.embedded(node[self.node_layout.pose])}

    def twist(self, node: ca.SX, q: Quantities) -> ca.SX:
        """(6,) (omega, v) of the main body, in its frame."""
        return ca.SX(self.group.twist_embedding) @ node[self.node_layout.velocity]

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """What is worth telling at a node under controls u, beside energy and momentum."""
        return ()

    def step_observables(self, node: ca.SX, after: ca.SX, h: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """What is worth telling of the step h between two nodes."""
        return ()

    def configuration_rate(self, node: ca.SX, q: Quantities) -> ca.SX:
        """By how much the node's configuration changes a second, of the node's size; velocities count as constant."""
        at = self.node_layout
        rate = ca.SX.zeros(at.size)
        rate[at.pose] = self.group.left_tangent(node[at.pose]) @ node[at.velocity]
        rate[at.shape] = node[at.shape_velocity]
        return rate

    @property
    def lags(self) -> bool:
        """Whether its controls act with a lag: what acts of them is then part of its state, behind all else."""
        return False

    def lag_s(self, q: Quantities) -> ca.SX:
        """Time in which what acts has made up 63 % of a change of the controls, where they lag [s]."""
        raise TypeError(f"vehicle {self.name!r} declares no lag_s(q)")

    @property
    def acting_at_first(self) -> np.ndarray:
        """(n_controls,) what acts in a state of which nothing else is said."""
        return self.neutral_controls

    def conjugate_velocities(self, node: ca.SX, q: Quantities) -> ca.SX:
        """(impulse_size,) what the components of an impulse do work on: by default the body velocity."""
        return node[self.node_layout.velocity]

    @property
    def impulse_size(self) -> int:
        """Of an impulse that strikes it, whose first components are those of a wrench."""
        return self.wrench_size

    takes_impulses: bool = False
    """Whether `struck` is declared; else it follows from its energy (`sim.vehicles.forms.impulses`)."""

    def struck(self, node: ca.SX, impulse: ca.SX, q: Quantities) -> ca.SX:
        """The node at once after an impulse (impulse_size,)."""
        raise TypeError(f"vehicle {self.name!r} declares no struck(node, impulse, q)")

    links: "tuple[Link, ...]" = ()
    """Solids of its bodies as its parameters make them, whose ends touch the ground; drawn of what has no model."""
    cords: "tuple[Cord, ...]" = ()
    """Springs and tendons between points of its bodies, which are drawn as lines."""
    stand_m: float = 1.0
    """Height of its fixed point above the ground, for what has one: where it touches depends on it."""

    @property
    def support(self) -> Support:
        """What carries it; by default as its group's motions leave it open."""
        return natural_support(self.group)

    @property
    def environment(self) -> str:
        """Name of what surrounds it in a world: water where that carries it, the ground that its form meets where it
        moves in space, "none" where it is on the ground by definition."""
        if self.support is Support.WATER:
            return "water"
        return self.form.ground if self.support is Support.NOTHING else "none"

    @property
    def neutral_controls(self) -> np.ndarray:
        return np.array([c.neutral for c in self.controls], float)

    def default_state(self) -> State:
        """At rest at the origin, unless the vehicle says otherwise."""
        return self.state()

    def state(
        self,
        *,
        R: ArrayLike | None = None,
        x: ArrayLike = (0.0, 0.0, 0.0),
        omega: ArrayLike = (0.0, 0.0, 0.0),
        v: ArrayLike = (0.0, 0.0, 0.0),
        shape: ArrayLike = (),
        shape_velocity: ArrayLike = (),
    ) -> State:
        """State of an SE(3) vehicle.

        R: R_wb (3, 3); x: position in the world [m]; omega, v: body angular [rad/s] and linear [m/s] velocity.
        Raises InputError for wrong shapes, numbers that are not finite, and an R that is no rotation.
        """
        if self.group.dim != SE3.dim:
            raise InputError(f"vehicle {self.name!r}: is not on SE3; use state_of(pose, velocity)")
        pose = np.r_[self._rotation("R", np.eye(3) if R is None else R).T.ravel(), self._finite("x", x, (3,))]
        twist = np.r_[self._finite("omega", omega, (3,)), self._finite("v", v, (3,))]
        return self.state_of(pose, twist, shape, shape_velocity)

    def state_of(
        self, pose: ArrayLike, velocity: ArrayLike, shape: ArrayLike = (), shape_velocity: ArrayLike = ()
    ) -> State:
        """State from a flat pose of the group and a body twist; a missing shape is zero."""
        n = len(self.shape_coordinates)
        parts = [
            self._finite("pose", pose, (self.group.pose_dim,)),
            self._finite("velocity", velocity, (self.group.dim,)),
            self._given_or_zero("shape", shape, n),
            self._given_or_zero("shape_velocity", shape_velocity, n),
            *([self.acting_at_first] if self.lags else []),
        ]
        return State(np.concatenate(parts), self.node_layout, self.group)

    def state_at_node(self, node: np.ndarray) -> State:
        """Of a flat node."""
        return State(node.copy(), self.node_layout, self.group)

    def state_in_space(self, T_wb: np.ndarray, twist_b: np.ndarray) -> State:
        """Where it starts when it is put at a place: (4, 4) pose and (6,) body twist, as far as it can have them."""
        return self.state_of(self.group.from_space(T_wb), self.group.twist_embedding.T @ twist_b)

    def raised(self, node: np.ndarray, by_m: float) -> np.ndarray:
        """A flat node that much higher in the world, in place."""
        node[self.group.position][2] += by_m
        return node

    def _rotation(self, what: str, value: ArrayLike) -> np.ndarray:
        """(3, 3) the nearest rotation of what is one but for rounding."""
        rotation = self._finite(what, value, (3, 3))
        if np.abs(rotation.T @ rotation - np.eye(3)).max() > 1e-6 or np.linalg.det(rotation) < 0:
            raise InputError(f"vehicle {self.name!r}: {what} is no rotation matrix (R'R = I, det R = 1)")
        u, _, vt = np.linalg.svd(rotation)
        return u @ vt

    def _finite(self, what: str, value: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
        return array_of(f"vehicle {self.name!r}: {what}", value, shape)

    def _given_or_zero(self, what: str, value: ArrayLike, count: int) -> np.ndarray:
        """(count,), zero where nothing is given."""
        missing = isinstance(value, tuple | list | np.ndarray) and len(value) == 0
        return self._finite(what, np.zeros(count) if missing else value, (count,))


def twist_of(T_wb: ca.SX, node: ca.SX, rate: ca.SX) -> ca.SX:
    """(6,) (omega, v), in its frame, of a body whose pose is a function of a node that changes by `rate` a second."""
    change = ca.reshape(ca.jtimes(ca.vec(T_wb), node, rate), 4, 4)
    W = T_wb[:3, :3].T @ change[:3, :3]
    omega = ca.vertcat(W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]) / 2
    return ca.vertcat(omega, T_wb[:3, :3].T @ change[:3, 3])


@dataclass(frozen=True, slots=True)
class Structure:
    """Vehicles with equal structures have the same equations, in which the parameters' values are arguments."""

    key: tuple[Any, ...]
    vehicle: Vehicle = field(compare=False, repr=False)
    """One of them."""

    @property
    def told(self) -> str:
        """The key, the same in every process that runs these sources; nothing where they have not all of it: of a class
        that none of the project's modules declares."""
        kind, absent, structural, own, *more = self.key
        declared = getattr(sys.modules.get(kind.__module__), kind.__qualname__, None) is kind
        known = declared and kind.__module__.startswith(_DECLARED_IN) and isinstance(own, bytes)
        return repr((kind.__module__, kind.__qualname__, absent, structural, own, *more)) if known else ""

    @staticmethod
    @lru_cache(maxsize=256)
    def of(vehicle: Vehicle) -> "Structure":
        """Class, optional parameters that are off, structural ones, and what a class of one's own keeps beside them."""
        own = {k: v for k, v in vars(vehicle).items() if k not in _NOT_STRUCTURE}
        key = type(vehicle), vehicle.absent, vehicle.structural, _content(vehicle, own)
        return Structure(key, vehicle)


_DECLARED_IN = "sim.vehicles."


def _content(vehicle: Vehicle, own: dict[str, object]) -> Hashable:
    """Arrays and lists by what is in them; where that cannot be told, a vehicle is like no other."""
    try:
        return pickle.dumps(own) if own else b""
    except Exception:
        return id(vehicle)


_NOT_STRUCTURE = (
    "values",
    "_numbers",
    "looks",
    "parameters",
    "node_layout",
    "space",
    "action",
    "tree",
    "links",
    "cords",
    "angular",
    "coordinates",
    "symbolic",
    "driven",
    "closure",
    "independent_gaps",
    "leading",
    "leading_places",
)
