"""Coordinates of a rigid body's velocity: the body twist, or spin in the body and velocity in the world.

SO(3) x R^3 makes free flight exact and half as dear, but needs a mass that is the same in all directions.
"""

import casadi as ca

from sim.groups import SE3, SO3_R3, LieGroup
from sim.groups.se3 import rotation_of
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
