"""Quadrotors that carry a load on rigid massless cables, and the law that holds it to a target (mechanics survey, 6).

State and action are those of section 6.1, R^6 x (TSO(3))^n x (TS^2)^n, and beside them the target place and velocity.
The direction q of a cable leads from its quadrotor to the load, which is a point. World z is up.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.groups import SO3
from sim.groups.so3 import hat
from sim.multibody.shapes import BRASS, PAINTED, RUBBER, Link
from sim.platform.values import dataclass
from sim.spaces import Action, Euclidean, GroupSpace, TangentBundle
from sim.spaces.action import (
    by_left_translation,
    copies,
    motions_of_tangent_bundle,
    side_by_side,
    translations,
)
from sim.symbolic import pose_along, shift, solve
from sim.vehicles.forms.form import Observable, State, Support
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities
from sim.vehicles.forms.rods import for_each, on_the_bundle

SPREAD_RAD = np.radians(30.0)
"""Of the cables off the vertical in the formation; a single one hangs straight down."""
_LEANING = 2
"""So many quadrotors cannot pull at the load in every direction with a formation that stays as it is."""
_LEAST_N = 1e-6


@dataclass(frozen=True, eq=False)
class FormationLaw:
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
        at = self.law(point, u, q)
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
        at: FormationLaw,
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

    def law(self, point: ca.SX, u: ca.SX, q: Quantities) -> FormationLaw:
        """State and law at a point."""
        gravity = ca.vertcat(0, 0, -q.gravity)
        parts = self.named(point)
        load, target = parts["load"], parts["target"]
        attitudes = [ca.reshape(part, 3, 3) for part in self._of_each(parts, "attitude")]
        rates, directions = self._of_each(parts, "rate"), self._of_each(parts, "direction")
        turnings = self._of_each(parts, "omega")
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
        return FormationLaw(
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

    def _of_each(self, parts: Mapping[str, ca.SX], name: str) -> list[ca.SX]:
        """The part of that name of every quadrotor or cable."""
        return [parts[f"{name}_{k + 1}"] for k in range(self.number)]

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

    def accelerations(self, at: FormationLaw, q: Quantities) -> tuple[ca.SX, list[ca.SX]]:
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

    def places(self, at: FormationLaw, q: Quantities) -> list[ca.SX]:
        return [at.place - q.cable_length[k] * d for k, d in enumerate(at.directions)]

    def velocities(self, at: FormationLaw, q: Quantities) -> list[ca.SX]:
        pairs = zip(at.directions, at.turnings, strict=True)
        return [at.velocity - q.cable_length[k] * ca.cross(omega, d) for k, (d, omega) in enumerate(pairs)]


def _attitude(thrust: ca.SX) -> ca.SX:
    """(3, 3) z along a thrust, x as near to world x as may be."""
    up = thrust / ca.sqrt(ca.dot(thrust, thrust) + _LEAST_N**2)
    left = hat(up) @ ca.SX([1, 0, 0])
    left = left / ca.sqrt(ca.dot(left, left) + _LEAST_N**2)
    return ca.horzcat(ca.cross(left, up), left, up)


_LOAD_M, _CABLE_M, _CROSS_M = 0.11, 0.006, 0.3


class QuadrotorsWithLoad(FormationFlight):
    """The load follows a target that the controls accelerate; the cables keep a formation about it.

    By the law of the mechanics survey, or with the attitude loop of Lee, Sreenath and Kumar around it.
    """

    name = "quadrotors-with-load"
    parameters = (
        Parameter("quadrotors", "", 2.0, 1.0, 4.0, "How many; another number starts anew.", structural=True),
        Parameter(
            "attitude_loop",
            "",
            1.0,
            0.0,
            1.0,
            "1: thrust along the body's axis; 0: wherever wanted.",
            structural=True,
        ),
        Parameter("load_mass", "kg", 0.4, 1e-3, 1e4, "Of the load."),
        Parameter("mass", "kg", 0.755, 1e-3, 1e4, "Of a quadrotor.", per="quadrotors"),
        Parameter("cable_length", "m", 0.7, 1e-2, 1e3, "From a quadrotor to the load.", per="quadrotors"),
        Parameter(
            "inertia", "kg m^2", (0.0820, 0.0845, 0.1377), 1e-6, 1e4, "Principal moments of a quadrotor."
        ),
        Parameter("thrust_limit", "N", 20.0, 1e-3, 1e6, "Most that a quadrotor lifts; more is clipped."),
        Parameter("load_gains", "", (12.0, 5.0), 0.0, 1e4, "Of the load's place [1/s^2] and velocity [1/s]."),
        Parameter(
            "cable_gains", "", (16.0, 5.0), 0.0, 1e4, "Of the cables' directions [1/s^2] and turning [1/s]."
        ),
        Parameter(
            "lean_gains",
            "",
            (1.5, 2.0),
            0.0,
            1e4,
            "As the load's, for what one or two have to lean for: slower.",
        ),
        Parameter(
            "attitude_gains", "", (11.11, 3.33), 0.0, 1e6, "Moment by attitude [N m] and turning [N m s]."
        ),
        Parameter("target_drag", "1/s", 0.0, 0.0, 1e2, "By which the target comes to rest.", optional=True),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
    )
    controls = tuple(
        Control(
            f"target_{axis}", "m/s^2", -5.0, 5.0, f"Acceleration of the load's target along world {axis}."
        )
        for axis in "xyz"
    )
    twist_embedding = np.eye(6)[:, 3:]

    @property
    def support(self) -> Support:
        return Support.NOTHING

    def energy(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Kinetic plus m g z, of load and quadrotors."""
        at = self.law(node, ca.SX(self.neutral_controls), q)
        found = q.load_mass * (ca.dot(at.velocity, at.velocity) / 2 + q.gravity * at.place[2])
        for k, (x, v) in enumerate(zip(self.places(at, q), self.velocities(at, q), strict=True)):
            spin = ca.dot(at.rates[k], q.inertia * at.rates[k]) / 2
            found = found + spin + q.mass[k] * (ca.dot(v, v) / 2 + q.gravity * x[2])
        return found

    def spatial_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """(3,) linear, of load and quadrotors."""
        at = self.law(node, ca.SX(self.neutral_controls), q)
        each = [q.mass[k] * v for k, v in enumerate(self.velocities(at, q))]
        return sum(each, q.load_mass * at.velocity)

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """The load first; a cable's z axis leads from the load to its quadrotor. The target is a body, too."""
        at = self.law(node, ca.SX(self.neutral_controls), q)
        found = {"load": shift(at.place[0], at.place[1], at.place[2])}
        for k, x in enumerate(self.places(at, q)):
            found[f"quadrotor_{k + 1}"] = shift(x[0], x[1], x[2]) @ ca.diagcat(at.attitudes[k], 1)
            found[f"cable_{k + 1}"] = pose_along(-at.directions[k], x)
        found["target"] = shift(at.target[0], at.target[1], at.target[2])
        return found

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """Cables, the load, and a cross at its target; the quadrotors have a model."""
        lengths = np.ravel(self.values["cable_length"])
        cables = [
            Link(
                f"cable_{k + 1}",
                (0.0, 0.0, 0.0),
                (0.0, 0.0, -float(length)),
                _CABLE_M,
                RUBBER,
                touches=(False, False),
            )
            for k, length in enumerate(lengths)
        ]
        cross = [
            Link("target", tuple(-_CROSS_M * e), tuple(_CROSS_M * e), _CABLE_M, BRASS, touches=(False, False))
            for e in np.eye(3)
        ]
        return (Link("load", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), _LOAD_M, PAINTED), *cables, *cross)

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """How far the load is from its target, the cables from the formation and their directions from unit vectors;
        thrusts, how much of what the law asks for is clipped, and what the cables pull with."""
        at = self.law(node, u, q)
        acceleration, _ = self.accelerations(at, q)
        gap = at.place - at.target
        off, tensions, clipped = [], [], ca.SX(1, 1)
        for k, (d, omega, thrust) in enumerate(zip(at.directions, at.turnings, at.thrusts, strict=True)):
            off.append(ca.acos(ca.fmin(ca.fmax(ca.dot(d, at.formation[k]), -1), 1)))
            swing = acceleration + q.cable_length[k] * ca.dot(omega, omega) * d
            weight = ca.dot(d, ca.vertcat(0, 0, -q.gravity))
            tensions.append(ca.dot(d, thrust) + q.mass[k] * (weight - ca.dot(d, swing)))
            size = ca.sqrt(ca.dot(at.wanted[k], at.wanted[k]))
            clipped = clipped + ca.fmax(size - q.thrust_limit, 0)
        length_error = [ca.fabs(ca.sqrt(ca.dot(d, d)) - 1) for d in at.directions]
        return (
            Observable("load_error", "m", ca.sqrt(ca.dot(gap, gap))),
            Observable("formation_error", "rad", ca.vertcat(*off)),
            Observable("thrust", "N", ca.vertcat(*[ca.sqrt(ca.dot(t, t)) for t in at.thrusts])),
            Observable("thrust_clipped", "N", clipped),
            Observable("tension", "N", -ca.vertcat(*tensions)),
            Observable("off_sphere", "1", ca.norm_inf(ca.vertcat(*length_error))),
        )

    def state(  # type: ignore[override]
        self,
        *,
        load: ArrayLike = (0.0, 0.0, 0.0),
        load_velocity: ArrayLike = (0.0, 0.0, 0.0),
        target: ArrayLike | None = None,
        target_velocity: ArrayLike = (0.0, 0.0, 0.0),
        direction: ArrayLike | None = None,
        omega: ArrayLike = (0.0, 0.0, 0.0),
        R: ArrayLike | None = None,
        Omega: ArrayLike = (0.0, 0.0, 0.0),
    ) -> State:
        """State in the world. Of what each quadrotor has one, (3,), (3, 3) is for all and (n, ...) for each.

        load, target: places [m], the target where the load is if it is left out; direction: unit vectors from the
        quadrotors to the load, the formation if left out; omega: turning of the cables [rad/s]; R: R_wb; Omega: body
        rates [rad/s]. Raises InputError for what is no such state.
        """
        n = self.number
        q = self._each("direction", self.formation if direction is None else direction, (3,))
        w = self._each("omega", omega, (3,))
        attitudes = self._each("R", np.eye(3) if R is None else R, (3, 3))
        rates = self._each("Omega", Omega, (3,))
        cables = on_the_bundle(f"vehicle {self.name!r}", "cable", "it", q, w)
        place = self._finite("load", load, (3,))
        goal = place if target is None else self._finite("target", target, (3,))
        flat = [np.r_[self._rotation("R", attitudes[k]).T.ravel(), rates[k]] for k in range(n)]
        begin = np.r_[place, self._finite("load_velocity", load_velocity, (3,))]
        aim = np.r_[goal, self._finite("target_velocity", target_velocity, (3,))]
        return self.state_at_node(np.concatenate([begin, aim, *flat, cables.ravel()]))

    def _each(self, what: str, value: ArrayLike, shape: tuple[int, ...]) -> np.ndarray:
        return self._finite(what, for_each(value, self.number, shape), (self.number, *shape))

    def default_state(self) -> State:
        """At rest in formation, the load at the origin."""
        return self.state()

    def state_in_space(self, T_wb: np.ndarray, twist_b: np.ndarray) -> State:
        """The load is put at the place, in formation, with that velocity."""
        return self.state(load=T_wb[:3, 3], load_velocity=T_wb[:3, :3] @ twist_b[3:])

    def raised(self, node: np.ndarray, by_m: float) -> np.ndarray:
        """The load, all that hangs it, and its target."""
        for part in ("load", "target"):
            node[self.space.slices[part].start + 2] += by_m
        return node
