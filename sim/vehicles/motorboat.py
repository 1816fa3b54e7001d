"""A boat that floats: a rigid body with the water that moves along, two thrusters, and water and wind about it.

Section 4.3.2 of the vehicles paper. Here stand its own mechanics: inertia, weight and thrust. What water and air do to
its hull is found in every step by the environment (`sim.water.wrench`), after the numbers that stand here.
"""

import dataclasses

import casadi as ca

from sim.groups.se3 import position_of, rotation_of
from sim.vehicles.forms.form import Observable, Support
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities
from sim.vehicles.rigid_body import GRAVITY, INERTIA, MASS, weight_potential

_THRUSTER_AT = (-1.2, 0.5, -0.2)


BODY = (
    dataclasses.replace(MASS, default=480.0),
    dataclasses.replace(INERTIA, default=(110.0, 420.0, 450.0)),
    Parameter(
        "added_mass",
        "kg",
        (25.0, 130.0, 430.0),
        0.0,
        1e8,
        "Water that moves along ahead, sideways, upwards.",
    ),
    Parameter(
        "added_inertia",
        "kg m^2",
        (25.0, 180.0, 130.0),
        0.0,
        1e10,
        "Water that moves along in roll, pitch, yaw.",
    ),
)
"""Of what floats: the body, and the water that moves along."""
ABOUT = (
    Parameter("drag", "N s/m", 90.0, 0.0, 1e6, "Of the whole hull, by its velocity through the water."),
    Parameter(
        "impact",
        "",
        0.8,
        0.0,
        4.0,
        "Pressure where it runs into water: slams, planing, skeg.",
    ),
    Parameter(
        "buoyancy",
        "",
        1.0,
        0.0,
        1.0,
        "Share of the water column's pressure that the sea has on the hull: none where a box of water carries it.",
    ),
    Parameter("air_drag", "", 1.0, 0.0, 4.0, "Of what is above the water and faces the wind."),
    Parameter("waves", "m/s", 5.0, 0.0, 32.0, "Wind that has raised the waves: calm to storm."),
    Parameter("waves_direction", "rad", 0.6, -6.2832, 6.2832, "Where the waves go to, from world x."),
    Parameter("fetch", "m", 20e3, 100.0, 2e6, "Way over which that wind has blown."),
    Parameter(
        "depth", "m", 4000.0, 1.0, 11e3, "Of the level bed that waves run over: that of oceans is none."
    ),
    Parameter("wind", "m/s", (0.0, 0.0), -60.0, 60.0, "Mean velocity of the air in the world, x and y."),
    Parameter("gusts", "", 0.2, 0.0, 1.0, "Standard deviation of the wind's strength over its mean."),
    Parameter("current", "m/s", (0.0, 0.0), -5.0, 5.0, "Velocity of the water as a whole, world x and y."),
    dataclasses.replace(GRAVITY, default=9.81, optional=False),
)
"""What water and air about it are like, and what they do to its hull."""


class Floating(HolonomicVehicle):
    """A rigid body afloat, its origin at the centre of mass. Parameters of its kinds begin with BODY and have ABOUT."""

    @property
    def support(self) -> Support:
        return Support.WATER

    def inertia(self, q: Quantities) -> ca.SX:
        """Of the body and the water that moves along, which differs by direction."""
        return ca.diagcat(ca.diag(q.inertia + q.added_inertia), ca.diag(q.mass + q.added_mass))

    def potential(self, g: ca.SX, q: Quantities) -> ca.SX:
        return weight_potential(g, q)

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """Heel to starboard and trim by the stern, speed through the water, and how far it has sunk in or risen."""
        R = rotation_of(node[self.node_layout.pose])
        v = node[self.node_layout.velocity][3:]
        stream = R.T @ ca.vertcat(q.current, 0)
        heel = ca.atan2(-R[2, 1], R[2, 2])
        trim = ca.asin(ca.fmax(ca.fmin(R[2, 0], 1), -1))
        return (
            Observable("heel", "rad", heel),
            Observable("trim", "rad", trim),
            Observable("speed_through_water", "m/s", v[0] - stream[0], through_water_b=(1.0, 0.0, 0.0)),
            Observable("leeway", "m/s", v[1] - stream[1], through_water_b=(0.0, 1.0, 0.0)),
            Observable("heave", "m", position_of(node[: self.group.pose_dim])[2]),
        )


class Motorboat(Floating):
    """Body origin at the centre of mass, at rest in the plane of the water."""

    name = "motorboat"
    parameters = (
        *BODY,
        Parameter("thruster_left", "m", _THRUSTER_AT, -100.0, 100.0, "Where the left thruster pushes, body."),
        Parameter(
            "thruster_right", "m", (-1.2, -0.5, -0.2), -100.0, 100.0, "Where the right one pushes, body."
        ),
        Parameter(
            "steering",
            "rad",
            0.0,
            0.0,
            0.9,
            "By how much both thrusters turn where one gives all that it can, and the other backs all that it can.",
        ),
        *ABOUT,
    )
    controls = (
        Control("u_left", "N", -450.0, 900.0, "Thrust of the left thruster, ahead."),
        Control("u_right", "N", -450.0, 900.0, "Thrust of the right thruster, ahead."),
    )

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        """u e at the body point c of each thruster: (c x e, e) u, where e is ahead, turned by the steering.

        The difference of the thrusts steers: the outer one pushes more, and both push the stern outwards.
        """
        most = sum(control.high - control.low for control in self.controls) / 2.0
        angle = q.steering * (u[0] - u[1]) / most
        ahead = ca.vertcat(ca.cos(angle), ca.sin(angle), 0)
        left, right = (ca.vertcat(ca.cross(c, ahead), ahead) for c in (q.thruster_left, q.thruster_right))
        return left * u[0] + right * u[1]
