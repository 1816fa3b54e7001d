"""Quadrotors that carry a load on rigid massless cables: what they are told, and what is seen of them."""

from collections.abc import Mapping

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.symbolic import pose_along, shift
from sim.trees.shapes import BRASS, PAINTED, RUBBER, Capsule
from sim.vehicles.formation_flight import FormationFlight
from sim.vehicles.hung_rods import for_each, on_the_bundle
from sim.vehicles.observable import Observable
from sim.vehicles.parameter import Control, Parameter
from sim.vehicles.parametrised import Quantities
from sim.vehicles.state import State
from sim.vehicles.support import Support

_LOAD_M, _CABLE_M, _CROSS_M = 0.11, 0.006, 0.3


class QuadrotorsWithLoad(FormationFlight):
    """The load follows a target that the controls accelerate; the cables keep a formation about it.

    By the law of the mechanics survey, or with the attitude loop of Lee, Sreenath and Kumar around it.
    """

    name = "quadrotors-with-load"
    rank = 95
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
    marker = "load"

    @property
    def support(self) -> Support:
        return Support.NOTHING

    def energy(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Kinetic plus m g z, of load and quadrotors."""
        at = self.moving(node, ca.SX(self.neutral_controls), q)
        found = q.load_mass * (ca.dot(at.velocity, at.velocity) / 2 + q.gravity * at.place[2])
        for k, (x, v) in enumerate(zip(self.places(at, q), self.velocities(at, q), strict=True)):
            spin = ca.dot(at.rates[k], q.inertia * at.rates[k]) / 2
            found = found + spin + q.mass[k] * (ca.dot(v, v) / 2 + q.gravity * x[2])
        return found

    def spatial_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """(3,) linear, of load and quadrotors."""
        at = self.moving(node, ca.SX(self.neutral_controls), q)
        each = [q.mass[k] * v for k, v in enumerate(self.velocities(at, q))]
        return sum(each, q.load_mass * at.velocity)

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """The load first; a cable's z axis leads from the load to its quadrotor. The target is a body, too."""
        at = self.moving(node, ca.SX(self.neutral_controls), q)
        found = {"load": shift(at.place[0], at.place[1], at.place[2])}
        for k, x in enumerate(self.places(at, q)):
            found[f"quadrotor_{k + 1}"] = shift(x[0], x[1], x[2]) @ ca.diagcat(at.attitudes[k], 1)
            found[f"cable_{k + 1}"] = pose_along(-at.directions[k], x)
        found["target"] = shift(at.target[0], at.target[1], at.target[2])
        return found

    @property
    def links(self) -> tuple[Capsule, ...]:  # type: ignore[override]
        """Cables, the load, and a cross at its target; the quadrotors have a model."""
        lengths = np.ravel(self.values["cable_length"])
        cables = [
            Capsule(
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
            Capsule(
                "target", tuple(-_CROSS_M * e), tuple(_CROSS_M * e), _CABLE_M, BRASS, touches=(False, False)
            )
            for e in np.eye(3)
        ]
        return (Capsule("load", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), _LOAD_M, PAINTED), *cables, *cross)

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """How far the load is from its target, the cables from the formation and their directions from unit vectors;
        thrusts, how much of what the law asks for is clipped, and what the cables pull with."""
        at = self.moving(node, u, q)
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
