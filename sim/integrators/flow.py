"""What explicit Lie group methods integrate: a group that moves the state, and which element of its algebra does so.

The mechanics survey writes y' = (d/dt exp(t f(y)) . y at t = 0) for a group that acts on any space M. A method
needs f, the motion of a point by exp(x), and the inverse differential of exp in the sense in which the group acts.

Before it stand the coordinates that methods work in, of velocities, of poses and of displacements. A velocity is the
body twist, or spin in the body and velocity in the world: SO(3) x R^3 makes free flight exact and half as dear, but
needs a mass that is the same in all directions. A pose is flat coordinates for methods that know nothing of groups: an
angle, or a quaternion. A displacement is tau of a velocity, with its differential (vehicles paper, 4.1).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping

import casadi as ca

from sim.groups import SE2, SE3, SO3, SO3_R3, LieGroup
from sim.groups.se2 import plane_rotation
from sim.groups.se3 import pose, position_of, rotation_of
from sim.groups.so3 import quaternion_of
from sim.integrators.base import Inputs
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.parameters import Quantities


def simplest_group(vehicle: HolonomicVehicle) -> LieGroup:
    """SO(3) x R^3 where the vehicle allows it, else its own group."""
    return SO3_R3 if isotropic_mass(vehicle) else vehicle.group


def frames(group: LieGroup, g: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Maps of momenta, wrenches and velocities from the body frame to the group's trivialisation and back."""
    if group is not SO3_R3:
        return ca.SX.eye(group.dim), ca.SX.eye(group.dim)
    R = rotation_of(g)
    return ca.diagcat(ca.SX.eye(3), R), ca.diagcat(ca.SX.eye(3), R.T)


def wrench_on(
    vehicle: HolonomicVehicle, group: LieGroup, g: ca.SX, twist: ca.SX, u: ca.SX, q: Quantities
) -> ca.SX:
    """(dim,) everything that acts on the body, in the group's trivialisation; twist in the body frame."""
    inner = vehicle.acting_wrench(g, twist, u, q)
    return frames(group, g)[0] @ inner + vehicle.potential_wrench(g, q, group)


def conserves_energy(vehicle: Vehicle) -> bool:
    """Nothing that depends on velocity acts on it from outside, and no constraint."""
    if not isinstance(vehicle, HolonomicVehicle):
        return False
    q = vehicle.symbols(ca.SX.sym("p", vehicle.parameter_count))
    g, xi = ca.SX.sym("g", vehicle.group.pose_dim), ca.SX.sym("xi", vehicle.group.dim)
    u = ca.SX.sym("u", len(vehicle.controls))
    return not ca.depends_on(ca.sparsify(vehicle.acting_wrench(g, xi, u, q)), ca.vertcat(g, xi))


def isotropic_mass(vehicle: HolonomicVehicle) -> bool:
    """The linear momentum is m v, in all directions and without the angular velocity."""
    if vehicle.group is not SE3:
        return False
    inertia = vehicle.inertia(vehicle.symbols(ca.SX.sym("p", vehicle.parameter_count)))
    m = inertia[3:, 3:]
    coupling = inertia[:3, 3:]
    return coupling.nnz() == 0 and ca.is_equal(
        ca.SX(ca.densify(m)), ca.SX(ca.densify(m[0, 0] * ca.SX.eye(3))), 2
    )


def normalised(q: ca.SX) -> ca.SX:
    """Unit quaternion."""
    return q / ca.sqrt(ca.dot(q, q))


def rotation_of_quaternion(q: ca.SX) -> ca.SX:
    """R of a unit quaternion (w, x, y, z)."""
    w, x, y, z = ca.vertsplit(q)
    return ca.vertcat(
        ca.horzcat(1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        ca.horzcat(2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        ca.horzcat(2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )


def quaternion_rate(q: ca.SX, omega: ca.SX) -> ca.SX:
    """q' = q (0, omega)/2, omega in the body frame."""
    return ca.vertcat(-ca.dot(q[1:], omega), q[0] * omega + ca.cross(q[1:], omega)) / 2


class PlaneChart:
    """(theta, x, y), the pose of SE(2) itself."""

    size = 3

    def encode(self, g: ca.SX) -> ca.SX:
        return g

    def decode(self, s: ca.SX) -> ca.SX:
        return s

    def rate(self, s: ca.SX, xi: ca.SX) -> ca.SX:
        """s' for a body velocity."""
        return ca.vertcat(xi[0], plane_rotation(s[0]) @ xi[1:])

    def renormalised(self, s: ca.SX) -> ca.SX:
        return s


class QuaternionChart:
    """(quaternion, x) for SE(3)."""

    size = 7

    def encode(self, g: ca.SX) -> ca.SX:
        return ca.vertcat(quaternion_of(rotation_of(g)), position_of(g))

    def decode(self, s: ca.SX) -> ca.SX:
        return pose(rotation_of_quaternion(normalised(s[:4])), s[4:])

    def rate(self, s: ca.SX, xi: ca.SX) -> ca.SX:
        """s' for a body velocity."""
        q = normalised(s[:4])
        return ca.vertcat(quaternion_rate(q, xi[:3]), rotation_of_quaternion(q) @ xi[3:])

    def renormalised(self, s: ca.SX) -> ca.SX:
        return ca.vertcat(normalised(s[:4]), s[4:])


class RotationChart:
    """The quaternion alone, for SO(3)."""

    size = 4

    def encode(self, g: ca.SX) -> ca.SX:
        return quaternion_of(ca.reshape(g, 3, 3))

    def decode(self, s: ca.SX) -> ca.SX:
        return ca.vec(rotation_of_quaternion(normalised(s)))

    def rate(self, s: ca.SX, xi: ca.SX) -> ca.SX:
        """s' for a body velocity."""
        return quaternion_rate(normalised(s), xi)

    def renormalised(self, s: ca.SX) -> ca.SX:
        return normalised(s)


Chart = PlaneChart | QuaternionChart | RotationChart
QUATERNION_CHARTS: dict[LieGroup, QuaternionChart | RotationChart] = {
    SE3: QuaternionChart(),
    SO3: RotationChart(),
}
CHARTS: dict[LieGroup, Chart] = {SE2: PlaneChart(), **QUATERNION_CHARTS}


@dataclass(frozen=True)
class DifferenceMap:
    """tau and the inverse of its right-trivialised tangent, exact or truncated."""

    name: str
    tau: Callable[[LieGroup, ca.SX], ca.SX]
    inverse_differential: Callable[[LieGroup, ca.SX], ca.SX]
    odd: bool = True
    """tau(-x) = tau(x)^-1, without which a method is of first order only."""
    balanced: Callable[[LieGroup, ca.SX, ca.SX, ca.SX], ca.SX] | None = None
    """(group, x, mu, given): zero where `momentum_before` is `given`, in simpler rows."""

    def momentum_before(self, group: LieGroup, x: ca.SX, mu: ca.SX) -> ca.SX:
        """What an arc tau(x) with momentum mu has left its first node with."""
        return self.inverse_differential(group, x).T @ mu

    def balance(self, group: LieGroup, x: ca.SX, mu: ca.SX, given: ca.SX) -> ca.SX:
        """Zero where an arc tau(x) with momentum mu leaves its first node with what is given there."""
        if self.balanced is not None:
            return self.balanced(group, x, mu, given)
        return self.momentum_before(group, x, mu) - given

    def momentum_after(self, group: LieGroup, x: ca.SX, mu: ca.SX) -> ca.SX:
        """What it brings to its second node: the same in space, seen from there."""
        if self.odd:
            return self.inverse_differential(group, -x).T @ mu
        return group.Ad(self.tau(group, x)).T @ self.momentum_before(group, x, mu)


CAY_TLN = DifferenceMap("cay", lambda G, x: G.cay(x), lambda G, x: G.tln_inv(x))
CAY = DifferenceMap(
    "cay",
    lambda G, x: G.cay(x),
    lambda G, x: G.dcay_inv(x),
    balanced=lambda G, x, mu, given: G.dcay_balance(x, mu, given),
)
EXP_TLN = DifferenceMap("exp", lambda G, x: G.exp(x), lambda G, x: G.tln_inv(x))
EXP = DifferenceMap("exp", lambda G, x: G.exp(x), lambda G, x: G.dexp_inv(x))
CCSK = DifferenceMap("ccsk", lambda G, x: G.ccsk(x), lambda G, x: G.dccsk_inv(x), odd=False)


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
