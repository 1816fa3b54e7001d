"""Coordinates of a rigid body's velocity: the body twist, or spin in the body and velocity in the world.

SO(3) x R^3 makes free flight exact and half as dear, but needs a mass that is the same in all directions.
"""

import casadi as ca

from sim.groups import SO3_R3, LieGroup
from sim.groups.se3 import rotation_of
from sim.vehicles.holonomic import HolonomicVehicle


def simplest_group(vehicle: HolonomicVehicle) -> LieGroup:
    """SO(3) x R^3 where the vehicle allows it, else its own group."""
    return SO3_R3 if isotropic_mass(vehicle) else vehicle.group


def frames(group: LieGroup, g: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Maps of momenta, wrenches and velocities from the body frame to the group's trivialisation and back."""
    if group is not SO3_R3:
        return ca.SX.eye(group.dim), ca.SX.eye(group.dim)
    R = rotation_of(g)
    return ca.diagcat(ca.SX.eye(3), R), ca.diagcat(ca.SX.eye(3), R.T)


def isotropic_mass(vehicle: HolonomicVehicle) -> bool:
    """The linear momentum is m v, in all directions and without the angular velocity."""
    if vehicle.group.name != "SE3":
        return False
    inertia = vehicle.inertia(vehicle.symbols(ca.SX.sym("p", vehicle.parameter_count)))
    m = inertia[3:, 3:]
    coupling = inertia[:3, 3:]
    return coupling.nnz() == 0 and ca.is_equal(
        ca.SX(ca.densify(m)), ca.SX(ca.densify(m[0, 0] * ca.SX.eye(3))), 2
    )
