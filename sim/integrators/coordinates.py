"""Coordinates that methods work in: of velocities, of poses and of displacements.

A velocity is the body twist, or spin in the body and velocity in the world: SO(3) x R^3 makes free flight exact and
half as dear, but needs a mass that is the same in all directions. A pose is flat coordinates for methods that know
nothing of groups: an angle, or a quaternion. A displacement is tau of a velocity, with its differential (vehicles
paper, 4.1).
"""

from collections.abc import Callable
from dataclasses import dataclass

import casadi as ca

from sim.groups import SE2, SE3, SO3, SO3_R3, LieGroup
from sim.groups.se2 import plane_rotation
from sim.groups.se3 import pose, position_of, rotation_of
from sim.groups.so3 import quaternion_of
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.holonomic import HolonomicVehicle
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
    inner = vehicle.control_wrench(u, q) + vehicle.dissipative_wrench(g, twist, q)
    return frames(group, g)[0] @ inner + vehicle.potential_wrench(g, q, group)


def conserves_energy(vehicle: Vehicle) -> bool:
    """Nothing that depends on velocity acts on it from outside, and no constraint."""
    if not isinstance(vehicle, HolonomicVehicle):
        return False
    q = vehicle.symbols(ca.SX.sym("p", vehicle.parameter_count))
    g, xi = ca.SX.sym("g", vehicle.group.pose_dim), ca.SX.sym("xi", vehicle.group.dim)
    return ca.sparsify(vehicle.dissipative_wrench(g, xi, q)).nnz() == 0


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
