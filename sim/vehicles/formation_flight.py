"""The mechanics of quadrotors that carry a load, and the law that holds it to a target (mechanics survey, 6).

State and action are those of section 6.1, R^6 x (TSO(3))^n x (TS^2)^n, and beside them the target's place and velocity.
The cable's direction q leads from its quadrotor to the load, which is a point. World z is up.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from sim.groups import SO3
from sim.groups.so3 import hat
from sim.spaces import Action, Euclidean, GroupSpace, TangentBundle
from sim.spaces.action import (
    by_left_translation,
    copies,
    motions_of_tangent_bundle,
    side_by_side,
    translations,
)
from sim.symbolic import solve
from sim.vehicles.acted import ActionVehicle
from sim.vehicles.parametrised import Quantities

SPREAD_RAD = np.radians(30.0)
"""Of the cables off the vertical in the formation; a single one hangs straight down."""
_LEANING = 2
"""So many quadrotors cannot pull at the load in every direction with a formation that stays as it is."""
_LEAST_N = 1e-6


@dataclass(frozen=True, eq=False)
class Moving:
    """The parts of a state and what the law asks for, as expressions; a column a quadrotor."""

    place: ca.SX
    velocity: ca.SX
    attitudes: list[ca.SX]
    """(3, 3) R_wb."""
    rates: list[ca.SX]
    """Omega, body frame."""
    directions: list[ca.SX]
    turnings: list[ca.SX]
    """omega of the cables, world frame."""
    target: ca.SX
    target_velocity: ca.SX
    formation: list[ca.SX]
    """Directions that the cables should have."""
    pulls: list[ca.SX]
    """mu_i, along the cables [N]."""
    wanted: list[ca.SX]
    """u_i: thrusts that the law asks for, as vectors in the world [N]."""
    thrusts: list[ca.SX]
    """Those that act: along the body's axis, and within the limit."""


class FormationFlight(ActionVehicle):
    """Subclasses declare the parameters that are named here, and what is seen of it.

    The law is that of section 6.2: pulls mu_i along the cables make the load's acceleration sum(mu)/m + gravity, what
    is across them turns the cables. With `attitude_loop` thrust acts along the body's own axis, which a moment turns
    to where the law wants it (Lee, Sreenath, Kumar 2013, eqs. 27-30, without the wanted angular acceleration);
    without, it points wherever the law wants it, as in the survey's own program.
    """

    leader = "target"

    @property
    def number(self) -> int:
        """n."""
        return self.counts["quadrotors"]

    @cached_property
    def action(self) -> Action:  # type: ignore[override]
        attitude = side_by_side(
            by_left_translation(SO3, GroupSpace(SO3, "attitude")),
            translations(Euclidean(3, "rate", tuple(f"rate_{a}_radps" for a in "xyz"), 3)),
        )
        cable = motions_of_tangent_bundle(TangentBundle())
        return side_by_side(
            translations(
                Euclidean(6, "load", (*(f"load_{a}_m" for a in "xyz"), *(f"load_v{a}_mps" for a in "xyz")), 3)
            ),
            translations(
                Euclidean(
                    6, "target", (*(f"target_{a}_m" for a in "xyz"), *(f"target_v{a}_mps" for a in "xyz"))
                )
            ),
            copies(attitude, self.number),
            copies(cable, self.number),
        )

    @property
    def formation(self) -> np.ndarray:
        """(n, 3) directions that the cables should have."""
        n = self.number
        lean = SPREAD_RAD if n > 1 else 0.0
        angles = 2.0 * np.pi * np.arange(n) / n
        across = np.column_stack([np.cos(angles), np.sin(angles), np.zeros(n)])
        return np.asarray(np.sin(lean) * across - np.cos(lean) * np.array([0.0, 0.0, 1.0]))

    def generator(self, point: Any, u: ca.SX, q: Quantities) -> ca.SX:
        """(v, v'), (target's), (R Omega, Omega') each, (omega, direction x omega') each: eqs. 36-38."""
        at = self.moving(point, u, q)
        acceleration, turning = self.accelerations(at, q)
        wanted = [_attitude(thrust) for thrust in at.wanted]
        turned = self._wanted_turning(point, at, u, q, wanted, acceleration, turning)
        parts = [at.velocity, acceleration, at.target_velocity, u - q.target_drag * at.target_velocity]
        J = q.inertia
        for R, omega, R_c, omega_c in zip(at.attitudes, at.rates, wanted, turned, strict=True):
            error = R_c.T @ R
            lean = (
                ca.vertcat(error[2, 1] - error[1, 2], error[0, 2] - error[2, 0], error[1, 0] - error[0, 1])
                / 2
            )
            spin = omega - error.T @ omega_c
            moment = -q.attitude_gains[0] * lean - q.attitude_gains[1] * spin
            parts += [R @ omega, moment / J]
        for direction, omega, rate in zip(at.directions, at.turnings, turning, strict=True):
            parts += [omega, ca.cross(direction, rate)]
        return ca.vertcat(*parts)

    def _wanted_turning(
        self,
        point: ca.SX,
        at: Moving,
        u: ca.SX,
        q: Quantities,
        wanted: list[ca.SX],
        acceleration: ca.SX,
        turning: list[ca.SX],
    ) -> list[ca.SX]:
        """Omega_c of the wanted attitudes, from how they change along the motion of load, target and cables."""
        rest = [ca.SX.zeros(12)] * self.number
        cables = [
            ca.vertcat(ca.cross(omega, direction), rate)
            for direction, omega, rate in zip(at.directions, at.turnings, turning, strict=True)
        ]
        target = ca.vertcat(at.target_velocity, u - q.target_drag * at.target_velocity)
        rate = ca.vertcat(at.velocity, acceleration, target, *rest, *cables)
        found = []
        for R_c in wanted:
            W = R_c.T @ ca.reshape(ca.jtimes(ca.vec(R_c), point, rate), 3, 3)
            found.append(ca.vertcat(W[2, 1] - W[1, 2], W[0, 2] - W[2, 0], W[1, 0] - W[0, 1]) / 2)
        return found

    def moving(self, point: ca.SX, u: ca.SX, q: Quantities) -> Moving:
        """State and law at a point."""
        n, gravity = self.number, ca.vertcat(0, 0, -q.gravity)
        load, target = point[:6], point[6:12]
        body, cable = point[12 : 12 + 12 * n], point[12 + 12 * n :]
        attitudes = [ca.reshape(body[12 * k : 12 * k + 9], 3, 3) for k in range(n)]
        directions = [cable[6 * k : 6 * k + 3] for k in range(n)]
        turnings = [cable[6 * k + 3 : 6 * k + 6] for k in range(n)]
        aim = u - q.target_drag * target[3:]
        error, speed = load[:3] - target[:3], load[3:] - target[3:]
        force = q.load_mass * (aim - q.load_gains[0] * error - q.load_gains[1] * speed - gravity)
        soft = aim - q.lean_gains[0] * error - q.lean_gains[1] * speed - gravity
        up = self._up(soft)
        fixed = self.formation
        formation = [ca.vertcat(d[0], d[1], 0) + d[2] * up for d in fixed]
        shared = ca.SX(np.linalg.pinv(fixed.T)) @ ca.vertcat(force[:2], ca.dot(up, force))
        pulls = [shared[k] * ca.dot(formation[k], d) * d for k, d in enumerate(directions)]
        total = ca.SX(sum(pulls[1:], pulls[0]))
        wanted, thrusts = [], []
        for k, (d, omega) in enumerate(zip(directions, turnings, strict=True)):
            mass, length = q.mass[k], q.cable_length[k]
            along = (
                mass * length * ca.dot(omega, omega) * d
                + pulls[k]
                + mass / q.load_mass * d * ca.dot(d, total)
            )
            off = -q.cable_gains[0] * ca.cross(formation[k], d) - q.cable_gains[1] * omega
            across = mass * length * ca.cross(d, off) - mass / q.load_mass * ca.cross(d, ca.cross(d, total))
            wanted.append(along + across)
            thrusts.append(self._lifted(wanted[-1], attitudes[k], q))
        rates = [body[12 * k + 9 : 12 * k + 12] for k in range(n)]
        return Moving(
            load[:3],
            load[3:],
            attitudes,
            rates,
            directions,
            turnings,
            target[:3],
            target[3:],
            formation,
            pulls,
            wanted,
            thrusts,
        )

    def _up(self, wanted: ca.SX) -> ca.SX:
        """The formation's axis: it leans for what its cables cannot pull at, out of the plane of two or across one."""
        if self.number > _LEANING:
            return ca.SX([0, 0, 1])
        leaning = wanted if self.number == 1 else ca.vertcat(0, wanted[1:])
        return leaning / ca.sqrt(ca.dot(leaning, leaning) + _LEAST_N**2)

    def _lifted(self, wanted: ca.SX, R: ca.SX, q: Quantities) -> ca.SX:
        if self.counts["attitude_loop"]:
            return ca.fmin(ca.fmax(ca.dot(wanted, R[:, 2]), 0), q.thrust_limit) * R[:, 2]
        size = ca.sqrt(ca.dot(wanted, wanted) + _LEAST_N**2)
        return ca.fmin(size, q.thrust_limit) / size * wanted

    def accelerations(self, at: Moving, q: Quantities) -> tuple[ca.SX, list[ca.SX]]:
        """v' of the load and omega' of the cables, whose masses and thrusts act along them on the load (eq. 37)."""
        gravity = ca.vertcat(0, 0, -q.gravity)
        inertia, force = q.load_mass * ca.SX.eye(3), q.load_mass * gravity
        for k, (d, omega, thrust) in enumerate(zip(at.directions, at.turnings, at.thrusts, strict=True)):
            inertia = inertia + q.mass[k] * d @ d.T
            pull = ca.dot(d, thrust) + q.mass[k] * ca.dot(d, gravity)
            force = force + (pull - q.mass[k] * q.cable_length[k] * ca.dot(omega, omega)) * d
        acceleration = solve(ca.densify(inertia), force)
        turning = [
            ca.cross(d, acceleration - gravity - thrust / q.mass[k]) / q.cable_length[k]
            for k, (d, thrust) in enumerate(zip(at.directions, at.thrusts, strict=True))
        ]
        return acceleration, turning

    def places(self, at: Moving, q: Quantities) -> list[ca.SX]:
        return [at.place - q.cable_length[k] * d for k, d in enumerate(at.directions)]

    def velocities(self, at: Moving, q: Quantities) -> list[ca.SX]:
        pairs = zip(at.directions, at.turnings, strict=True)
        return [at.velocity - q.cable_length[k] * ca.cross(omega, d) for k, (d, omega) in enumerate(pairs)]


def _attitude(thrust: ca.SX) -> ca.SX:
    """(3, 3) z along a thrust, x as near to world x as may be."""
    up = thrust / ca.sqrt(ca.dot(thrust, thrust) + _LEAST_N**2)
    left = hat(up) @ ca.SX([1, 0, 0])
    left = left / ca.sqrt(ca.dot(left, left) + _LEAST_N**2)
    return ca.horzcat(ca.cross(left, up), left, up)
