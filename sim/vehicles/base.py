"""What every vehicle is: a group, named numbers, and states. Mechanics follow in `holonomic.py` and its siblings."""

from abc import ABC
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.groups import SE3, LieGroup
from sim.platform.errors import InputError
from sim.platform.validation import array_of
from sim.spaces import Euclidean, GroupSpace, Product, Space
from sim.vehicles.form import Form
from sim.vehicles.listed import check_listed
from sim.vehicles.observable import Observable
from sim.vehicles.parameter import Control, ShapeCoordinate
from sim.vehicles.parametrised import Parametrised, Quantities
from sim.vehicles.state import NodeLayout, State
from sim.vehicles.support import Support, natural_support

if TYPE_CHECKING:
    from sim.robots.robot import Geom
    from sim.trees.shapes import Capsule

PlannedInputs = Literal["controls", "thrust vector"]


class Vehicle(Parametrised, ABC):
    """A mechanical system on a Lie group, declared once and used by every integrator and by the planner.

    Keyword arguments set parameters; anything else raises InputError with one line.
    """

    rank: int = 1000
    """Its place in menus and lists: the lowest first, by name among equals."""
    form: Form
    group: LieGroup
    """Of what is declared on one; what has another space has none."""
    controls: tuple[Control, ...] = ()
    shape_coordinates: tuple[ShapeCoordinate, ...] = ()
    hanging_kg: float = 0.0
    """Mass of what hangs from it, whose weight its lift carries, too."""
    planned_inputs: PlannedInputs = "controls"
    """What a planner moves: the controls; or, where these are a lift, a force aside and the lift's tilt forward and to
    the right, the lift as a vector, in which the wrench is linear."""

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
        raise NotImplementedError

    def spatial_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Momentum about the world's origin at a node."""
        raise NotImplementedError

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
    """Whether `struck` is declared; else it follows from its energy (`sim.vehicles.impulses`)."""

    def struck(self, node: ca.SX, impulse: ca.SX, q: Quantities) -> ca.SX:
        """The node at once after an impulse (impulse_size,)."""
        raise TypeError(f"vehicle {self.name!r} declares no struck(node, impulse, q)")

    links: "tuple[Capsule, ...]" = ()
    """What is drawn of bodies that have no model."""
    solids: "tuple[Geom, ...]" = ()
    """Shapes of its bodies, by which it is drawn where no file of its own has a model."""
    marker: str = ""
    """The body at whose origin its distance from another motion is measured; empty: the main one."""
    stand_m: float = 1.0
    """Height of its fixed point above the ground, for what has one."""

    @property
    def support(self) -> Support:
        """What carries it; by default as its group's motions leave it open."""
        return natural_support(self.group)

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
