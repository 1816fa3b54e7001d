"""What explicit Lie group methods integrate: a group that moves the state, and which element of its algebra does so.

The mechanics survey writes y' = (d/dt exp(t f(y)) . y at t = 0) for a group that acts on any space M. A method
needs f, the motion of a point by exp(x), and the inverse differential of exp in the sense in which the group acts.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import casadi as ca

from sim.groups import LieGroup
from sim.integrators.base import Inputs
from sim.integrators.coordinates import frames, simplest_group
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.homogeneous import ActionVehicle


class Flow(ABC):
    """The equations of one vehicle in one set of symbols. Elements of the algebra are columns of `dim`."""

    dim: int
    y: ca.SX
    """The state at the start of the step."""
    node: ca.SX
    """The public state, from y."""
    start: ca.SX
    """The state from the public one."""
    free_velocity: ca.SX
    """Body velocity at the end of the step, to first order, without a further wrench."""

    @abstractmethod
    def rate(self, y: ca.SX, moment: float) -> ca.SX:
        """f(y), which element moves y, at a moment of the step."""

    @abstractmethod
    def moved(self, y: ca.SX, x: ca.SX) -> ca.SX:
        """The state moved by exp(x)."""

    def tangent(self, y: ca.SX, x: ca.SX) -> ca.SX:
        """y' where the algebra's element x moves y: of what a group moves about a space of its own."""
        raise TypeError("this flow has no space that numbers could leave")

    @abstractmethod
    def dexp_inv(self, sigma: ca.SX, x: ca.SX) -> ca.SX:
        """sigma' where the state, moved by exp(sigma), is being moved by x."""

    @abstractmethod
    def moved_by_cayley(self, y: ca.SX, x: ca.SX) -> ca.SX:
        """The state moved by cay(x)."""

    @abstractmethod
    def dcay_inv(self, sigma: ca.SX, x: ca.SX) -> ca.SX:
        """sigma' where the state, moved by cay(sigma), is being moved by x."""

    @abstractmethod
    def bracket(self, x: ca.SX, z: ca.SX) -> ca.SX:
        """Of the algebra, with the sign that products of motions have."""

    @abstractmethod
    def apart(self, lower: ca.SX, end: ca.SX) -> ca.SX:
        """From one state to another near it, in units that a tolerance may be given in."""

    @abstractmethod
    def estimate(self, end: ca.SX, x: ca.SX) -> ca.SX:
        """The same for a state that lacks x of the algebra element that led to `end`."""


class MomentumFlow(Flow):
    """A vehicle on a group: pose and *spatial* momentum pi = Ad*_{g^-1} mu, which is moved by adding to it.

        g' = g xi,    xi = I^-1 (Ad(g)' pi - bias),    pi' = Ad(g^-1)' f

    Without force pi is constant, and the body momentum moves by the coadjoint action alone: coadjoint orbits are
    kept to rounding. With body velocities the group acts from the right, which turns the sign of every commutator.
    """

    def __init__(self, vehicle: HolonomicVehicle, inputs: Inputs) -> None:
        self._vehicle, self._inputs = vehicle, inputs
        self._group: LieGroup = simplest_group(vehicle)
        self._q = vehicle.symbols(inputs.p)
        group, n = self._group, self._group.dim
        self.dim = 2 * n
        self.y = ca.SX.sym("y", group.pose_dim + n)
        g, pi = self._parts(self.y)
        twist = self._twist(g, pi)
        self.node = ca.vertcat(g, twist)
        start_g, start_twist = inputs.node[: group.pose_dim], inputs.node[vehicle.node_layout.velocity]
        mu = frames(group, start_g)[0] @ vehicle.momentum(start_twist, self._q)
        self.start = ca.vertcat(start_g, group.Ad(group.inverse(start_g)).T @ mu)
        free = vehicle.acceleration(g, twist, inputs.first, ca.SX.zeros(n), self._q)
        self.free_velocity = twist + inputs.h * free

    def _parts(self, y: ca.SX) -> tuple[ca.SX, ca.SX]:
        return y[: self._group.pose_dim], y[self._group.pose_dim :]

    def _twist(self, g: ca.SX, pi: ca.SX) -> ca.SX:
        """In the body frame."""
        _, to_body = frames(self._group, g)
        return self._vehicle.velocity_of(to_body @ (self._group.Ad(g).T @ pi), self._q)

    def rate(self, y: ca.SX, moment: float) -> ca.SX:
        """(xi, pi') at a moment of the step; xi in the group's trivialisation."""
        g, pi = self._parts(y)
        to_group, _ = frames(self._group, g)
        twist = self._twist(g, pi)
        wrench = self._vehicle.wrench(g, twist, self._inputs.at(moment), self._q) + self._inputs.w
        force = self._group.Ad(self._group.inverse(g)).T @ (to_group @ wrench)
        return ca.vertcat(to_group @ twist, force)

    def moved(self, y: ca.SX, x: ca.SX) -> ca.SX:
        (g, pi), n = self._parts(y), self._group.dim
        return ca.vertcat(self._group.compose(g, self._group.exp(x[:n])), pi + x[n:])

    def dexp_inv(self, sigma: ca.SX, x: ca.SX) -> ca.SX:
        n = self._group.dim
        return ca.vertcat(self._group.dexp_inv(-sigma[:n]) @ x[:n], x[n:])

    def moved_by_cayley(self, y: ca.SX, x: ca.SX) -> ca.SX:
        (g, pi), n = self._parts(y), self._group.dim
        return ca.vertcat(self._group.compose(g, self._group.cay(x[:n])), pi + x[n:])

    def dcay_inv(self, sigma: ca.SX, x: ca.SX) -> ca.SX:
        n = self._group.dim
        return ca.vertcat(self._group.dcay_inv(-sigma[:n]) @ x[:n], x[n:])

    def bracket(self, x: ca.SX, z: ca.SX) -> ca.SX:
        n = self._group.dim
        return ca.vertcat(self._group.ad(x[:n]) @ z[:n], ca.SX(n, 1))

    def apart(self, lower: ca.SX, end: ca.SX) -> ca.SX:
        """(turn, way, twist)."""
        (g, pi), (g_end, pi_end) = self._parts(lower), self._parts(end)
        apart = self._group.compose(self._group.inverse(g), g_end)
        # Twice the antisymmetric part is a distance that, unlike the logarithm, has no branch; it is small here.
        R, x = ca.reshape(apart[:9], 3, 3), apart[9:]
        turn = ca.vertcat(R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]) / 2
        return ca.vertcat(turn, x, self._twist(g_end, pi_end) - self._twist(g_end, pi))

    def estimate(self, end: ca.SX, x: ca.SX) -> ca.SX:
        (g, pi), n = self._parts(end), self._group.dim
        return ca.vertcat(x[:n], self._twist(g, pi) - self._twist(g, pi - x[n:]))


@dataclass(frozen=True)
class ActionFlow(Flow):
    """A system that declares its action and generator itself: the group acts from the left, as in the survey."""

    vehicle: ActionVehicle
    inputs: Inputs
    y: ca.SX

    @staticmethod
    def of(vehicle: ActionVehicle, inputs: Inputs) -> "ActionFlow":
        return ActionFlow(vehicle, inputs, ca.SX.sym("y", vehicle.space.size))

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.vehicle.action.group.dim

    @property
    def node(self) -> ca.SX:  # type: ignore[override]
        return self.y

    @property
    def start(self) -> ca.SX:  # type: ignore[override]
        return self.inputs.node

    @property
    def free_velocity(self) -> ca.SX:  # type: ignore[override]
        return ca.SX(0, 1)

    def rate(self, y: ca.SX, moment: float) -> ca.SX:
        """By way of symbols: a generator may differentiate by the point."""
        vehicle, p, u = self.vehicle, self.inputs.p, self.inputs.at(moment)
        x, v = ca.SX.sym("x", y.shape[0]), ca.SX.sym("v", u.shape[0])
        found = ca.Function("rate", [x, v, p], [vehicle.generator(x, v, vehicle.symbols(p))])
        return found(y, u, p)

    def moved(self, y: ca.SX, x: ca.SX) -> ca.SX:
        return self.vehicle.action.moved(y, x)

    def tangent(self, y: ca.SX, x: ca.SX) -> ca.SX:
        return self.vehicle.action.generator(y, x)

    def dexp_inv(self, sigma: ca.SX, x: ca.SX) -> ca.SX:
        return self.vehicle.action.group.dexp_inv(sigma) @ x

    def moved_by_cayley(self, y: ca.SX, x: ca.SX) -> ca.SX:
        return self.vehicle.action.moved_by_cayley(y, x)

    def dcay_inv(self, sigma: ca.SX, x: ca.SX) -> ca.SX:
        return self.vehicle.action.group.dcay_inv(sigma) @ x

    def bracket(self, x: ca.SX, z: ca.SX) -> ca.SX:
        return -(self.vehicle.action.group.ad(x) @ z)

    def apart(self, lower: ca.SX, end: ca.SX) -> ca.SX:
        """In the space itself."""
        return self.vehicle.space.difference(lower, end)

    def estimate(self, end: ca.SX, x: ca.SX) -> ca.SX:
        """In the algebra itself (mechanics survey, section 4.1)."""
        return x


FLOWS: Mapping[Form, Callable[..., Flow]] = {
    Form.EULER_POINCARE: MomentumFlow,
    Form.GROUP_ACTION: ActionFlow.of,
}
"""By what a vehicle declares."""


def flow_of(vehicle: Vehicle, inputs: Inputs) -> Flow:
    """Of a vehicle whose form is one of FLOWS."""
    return FLOWS[vehicle.form](vehicle, inputs)
