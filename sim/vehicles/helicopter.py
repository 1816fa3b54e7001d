"""The vehicles paper's helicopter (section 4.3.1): a lift that tilts with the swash plate, and a tail rotor.

Extensions beyond the paper, absent while zero: the main rotor's angular momentum, which makes the
body gyroscopic, quadratic drag of the fuselage, and the wind that this drag feels.
"""

import dataclasses

import casadi as ca

from sim.groups.se3 import rotation_of
from sim.symbolic import quadratic_drag
from sim.vehicles.forms.form import Observable
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities
from sim.vehicles.rigid_body import GRAVITY, INERTIA, MASS, rigid_inertia, weight_potential


class Helicopter(HolonomicVehicle):
    """Controls: collective lift u_c, tail force u_psi, tilt of the rotor disc forward gamma_p and sideways gamma_r."""

    name = "helicopter"
    parameters = (
        dataclasses.replace(MASS, default=5.0),
        dataclasses.replace(INERTIA, default=(0.15, 0.30, 0.35)),
        Parameter(
            "rotor_offset", "m", 0.3, 0.0, 20.0, "Height d_t of the main rotor above the centre of mass."
        ),
        Parameter(
            "tail_offset", "m", 1.0, 0.0, 50.0, "Distance d_r of the tail rotor behind the centre of mass."
        ),
        Parameter(
            "rotor_momentum",
            "kg m^2/s",
            0.0,
            -1e5,
            1e5,
            "Main rotor's angular momentum, body z.",
            optional=True,
        ),
        Parameter(
            "drag",
            "kg/m",
            0.0,
            0.0,
            1e3,
            "Quadratic drag: force -drag |v| v, v the velocity through the air.",
            optional=True,
        ),
        Parameter(
            "wind",
            "m/s",
            (0.0, 0.0, 0.0),
            -60.0,
            60.0,
            "Velocity of the air in the world; felt through the drag.",
            optional=True,
        ),
        dataclasses.replace(GRAVITY, default=9.81),
    )
    controls = (
        Control("u_c", "N", 0.0, 1e6, "Collective: lift of the main rotor."),
        Control("u_psi", "N", -1e5, 1e5, "Yaw: force of the tail rotor, positive turns left."),
        Control("gamma_p", "rad", -0.5, 0.5, "Pitch: forward tilt of the rotor disc."),
        Control("gamma_r", "rad", -0.5, 0.5, "Roll: tilt of the rotor disc to the right."),
    )

    def inertia(self, q: Quantities) -> ca.SX:
        return rigid_inertia(q)

    def momentum_bias(self, q: Quantities) -> ca.SX:
        return ca.vertcat(ca.SX(2, 1), q.rotor_momentum, ca.SX(3, 1))

    def potential(self, g: ca.SX, q: Quantities) -> ca.SX:
        return weight_potential(g, q)

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        """F(gamma) u: lift at (0, 0, d_t), tail force -u_psi e_y at (-d_r, 0, 0)."""
        lift, tail, pitch, roll = ca.vertsplit(u)
        forward = ca.sin(pitch) * ca.cos(roll) * lift
        side = ca.sin(roll) * lift
        return ca.vertcat(
            q.rotor_offset * side,
            q.rotor_offset * forward,
            q.tail_offset * tail,
            forward,
            -side - tail,
            ca.cos(pitch) * ca.cos(roll) * lift,
        )

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """Lift over weight, endless without weight; and the tilt of the rotor disc."""
        load = u[0] / (q.mass * q.gravity)
        return (
            Observable("lift_over_weight", "1", load),
            Observable("disc_tilt_forward", "rad", u[2]),
            Observable("disc_tilt_right", "rad", u[3]),
        )

    def dissipative_wrench(self, g: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        v = xi[3:] - rotation_of(g).T @ q.wind
        return ca.vertcat(ca.SX(3, 1), quadratic_drag(q.drag, v))
