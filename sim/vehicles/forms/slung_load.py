"""A rigid body in space that carries a load on a cable: a chain of straight taut links that hangs from its hook.

The state is a point of SE(3) x R^6 x (TS^2)^N, pose, body twist and the links' (q, omega), moved by
SE(3) x R^6 x SE(3)^N. The carrier's mechanics are those of its own vehicle, on which the first link's pull acts as a
further wrench; the links' are those of hung rods. World z is up.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, ClassVar

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.groups import SE3
from sim.groups.se3 import position_of, rotation_of
from sim.groups.so3 import hat
from sim.multibody.shapes import DARK_STEEL, RUBBER, WOOD, Link
from sim.spaces import Action, Euclidean, GroupSpace, TangentBundle
from sim.spaces.action import (
    by_left_translation,
    copies,
    motions_of_tangent_bundle,
    side_by_side,
    translations,
)
from sim.symbolic import pose_along, quadratic_drag, solve, stacked
from sim.vehicles.forms.form import Observable, State, Support
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.parameters import Parameter, Quantities
from sim.vehicles.forms.rods import (
    Bob,
    bobs,
    for_each,
    moving_point,
    on_the_bundle,
    rod_tensions,
    turning_rods,
)

POSE, TWIST, CABLE = slice(0, 12), slice(12, 18), 18
"""Where the carrier's pose and body twist stand in a state; the links begin behind them."""
MOST_LINKS = 8

LOAD_PARAMETERS = (
    Parameter(
        "links",
        "",
        1.0,
        1.0,
        MOST_LINKS,
        "Straight pieces of the cable; another number starts anew.",
        structural=True,
    ),
    Parameter("load_mass", "kg", 1.0, 1e-3, 1e6, "Of the load, a point at the cable's end."),
    Parameter("load_drag", "kg/m", 0.0, 0.0, 1e3, "Of the load in the air, quadratic.", optional=True),
    Parameter("cable_length", "m", 2.5, 1e-2, 1e3, "From the hook to the load."),
    Parameter("cable_mass", "kg", 0.05, 1e-6, 1e5, "Of the cable; a link's is at its lower end."),
    Parameter("hook", "m", (0.0, 0.0, -0.2), -1e2, 1e2, "Where the cable hangs from, body frame."),
)
"""What a load on a cable adds to its carrier's parameters."""

UNEVEN_RAD = 1e-6
"""No cable hangs quite straight: links exactly on top of each other would balance where a load is let down, and prop
its carrier up."""

_SLENDER = 13.0
"""Half of a log's length, in its radii."""
_BUNDLE = ((-2.0, -1.0), (0.0, -1.0), (2.0, -1.0), (-1.0, 0.73), (1.0, 0.73))
"""Where logs lie in the bundle, across it and up, in their radii."""
_WOOD_KGPM3 = 600.0


def _log_m(values: Mapping[str, Any]) -> float:
    """Radius of a log of a bundle that weighs as much as the load."""
    each = float(np.max(values["load_mass"])) / len(_BUNDLE) / _WOOD_KGPM3
    return float((each / (2.0 * np.pi * _SLENDER)) ** (1 / 3))


class SlungLoad(ActionVehicle):
    """Subclasses say what carries: `carrier`, whose parameters and controls they have beside those of the load.

    Links are taut: they push where a cable would go slack, which the observable `slack` tells. Several fold up where
    their load is let down; one is a rod.
    """

    carrier: ClassVar[HolonomicVehicle]
    twist_embedding = np.eye(6)

    @property
    def link_count(self) -> int:
        """N."""
        return self.counts["links"]

    @property
    def hanging_kg(self) -> float:  # type: ignore[override]
        """Of cable and load."""
        return float(np.max(self.values["load_mass"]) + np.max(self.values["cable_mass"]))

    @property
    def hangs_m(self) -> float:
        """From the carrier's origin down to the load's underside, at rest."""
        values = self.values
        hook = float(np.asarray(values["hook"], float)[2])
        return float(np.max(values["cable_length"])) - hook + self.load_radius_m

    @property
    def hangs_from_m(self) -> float:
        """From the hook to the load."""
        return float(np.max(self.values["cable_length"]))

    def load_off_hook(self, node: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(3,) way from hook to load [m] and its rate of change [m/s], in the world, of a flat node."""
        links = node[CABLE:].reshape(self.link_count, 6)
        length = float(np.max(self.values["cable_length"])) / self.link_count
        return length * links[:, :3].sum(axis=0), length * np.cross(links[:, 3:], links[:, :3]).sum(axis=0)

    @cached_property
    def action(self) -> Action:  # type: ignore[override]
        link = motions_of_tangent_bundle(TangentBundle())
        return side_by_side(
            by_left_translation(SE3, GroupSpace(SE3)),
            translations(Euclidean(6, "velocity", SE3.velocity_columns, 6)),
            copies(link, self.link_count),
        )

    @property
    def support(self) -> Support:
        return Support.NOTHING

    def generator(self, point: Any, u: ca.SX, q: Quantities) -> ca.SX:
        """(Ad_g xi, xi', (omega, direction x omega') of every link)."""
        g, xi = point[POSE], point[TWIST]
        R = rotation_of(g)
        free = self.carrier.acceleration(g, xi, u, ca.SX(6, 1), q)
        pulls = self._pulls(point, free, q)
        wrench = self._hook_map(q).T @ (R.T @ (pulls[1][0] * point[CABLE : CABLE + 3]))
        rate = self.carrier.acceleration(g, xi, u, wrench, q)
        links, masses, lengths = self._stacks(point, q)
        turning = turning_rods(links, masses, lengths, pulls, self._hook_acceleration(R, xi, rate, q))
        return ca.vertcat(SE3.Ad(g) @ xi, rate, ca.vec(turning))

    def _stacks(self, point: ca.SX, q: Quantities) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Links (6, N), masses and lengths (1, N)."""
        n = self.link_count
        masses = ca.repmat(q.cable_mass / n, 1, n)
        masses[n - 1] += q.load_mass
        return stacked(point[CABLE:], n), masses, ca.repmat(q.cable_length / n, 1, n)

    def _hook_map(self, q: Quantities) -> ca.SX:
        """(3, 6) velocity of the hook from the body twist, both in the body frame."""
        return ca.horzcat(-hat(q.hook), ca.SX.eye(3))

    def _hook_acceleration(self, R: ca.SX, xi: ca.SX, rate: ca.SX, q: Quantities) -> ca.SX:
        """(3,) in the world, from the twist and its rate of change."""
        to_hook = self._hook_map(q)
        return R @ (to_hook @ rate + ca.cross(xi[:3], to_hook @ xi))

    def _pulls(self, point: ca.SX, free: ca.SX, q: Quantities) -> list[ca.SX]:
        """As `rod_tensions`, under weight and drag; free: (6,) xi' of the carrier without the cable."""
        R, xi = rotation_of(point[POSE]), point[TWIST]
        to_hook, first = self._hook_map(q), R.T @ point[CABLE : CABLE + 3]
        yields = ca.dot(first, to_hook @ solve(self.carrier.inertia(q), to_hook.T @ first))
        hook = moving_point(R @ (to_hook @ xi), self._hook_acceleration(R, xi, free, q), yields)

        def weight_and_drag(bob: Bob) -> ca.SX:
            through_air = bob.velocity - q.wind
            drag = quadratic_drag(bob.last * q.load_drag, through_air)
            return ca.vertcat(0, 0, -bob.mass * q.gravity) + drag

        return rod_tensions(*self._stacks(point, q), self.link_count, weight_and_drag, hook)

    @property
    def wrench_size(self) -> int:
        """On the carrier in its frame (torque, force), then a force on the load in the world."""
        return 9

    @property
    def impulse_size(self) -> int:
        """Then forces on the lower ends of the upper links, from the hook on."""
        return self.wrench_size + 3 * (self.link_count - 1)

    def conjugate_velocities(self, node: ca.SX, q: Quantities) -> ca.SX:
        _, _, v, _ = self._hung(node, q)
        last = self.link_count - 1
        return ca.vertcat(node[TWIST], v[:, last], ca.vec(v[:, :last]))

    def _hung(self, node: ca.SX, q: Quantities) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """Place (3,) of the hook, places (3, N) and velocities of the links' lower ends, masses (1, N) there."""
        R = rotation_of(node[POSE])
        hook = position_of(node[POSE]) + R @ q.hook
        links, masses, lengths = self._stacks(node, q)
        x, v = bobs(links, lengths, hook, R @ (self._hook_map(q) @ node[TWIST]))
        return hook, x, v, masses

    def energy(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Kinetic plus m g z, of carrier, cable and load."""
        _, x, v, masses = self._hung(node, q)
        hung = ca.dot(masses, ca.sum1(v * v)) / 2 + q.gravity * ca.dot(masses, x[2, :])
        return self.carrier.energy(node[:CABLE], q) + hung

    def spatial_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """(6,) angular about the world's origin, then linear."""
        _, x, v, masses = self._hung(node, q)
        parts = [masses[k] * ca.vertcat(ca.cross(x[:, k], v[:, k]), v[:, k]) for k in range(self.link_count)]
        return sum(parts, self.carrier.spatial_momentum(node[:CABLE], q))

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        return self.carrier.control_wrench(u, q)

    def twist(self, node: ca.SX, q: Quantities) -> ca.SX:
        return node[TWIST]

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """The carrier's first, then the load; a link's z axis leads up from its lower end."""
        _, x, _, _ = self._hung(node, q)
        found = dict(self.carrier.bodies(node[:CABLE], q))
        last = self.link_count - 1
        found["load"] = pose_along(-node[CABLE + 6 * last : CABLE + 6 * last + 3], x[:, last])
        for k in range(self.link_count):
            found[f"cable_{k + 1}"] = pose_along(-node[CABLE + 6 * k : CABLE + 6 * k + 3], x[:, k])
        return found

    @property
    def load_radius_m(self) -> float:
        """From the load's middle to its underside, of wood as heavy as it is."""
        return 2.2 * _log_m(self.values)

    @property
    def touching(self) -> tuple[tuple[str, tuple[float, float, float], float], ...]:
        """A ball about all logs."""
        return (("load", (0.0, 0.0, 0.0), self.load_radius_m),)

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """The cable, and the load as a bundle of logs in two slings; the carrier has a model."""
        length, log = float(np.ravel(self.values["cable_length"])[0]), _log_m(self.values)
        thin = float(np.clip(0.002 * length, 0.004, 0.025))
        pieces = [
            Link(f"cable_{k + 1}", (0.0, 0.0, 0.0), (0.0, 0.0, length / self.link_count), thin, RUBBER)
            for k in range(self.link_count)
        ]
        logs = [
            Link("load", (-_SLENDER * log, y * log, z * log), (_SLENDER * log, y * log, z * log), log, WOOD)
            for y, z in _BUNDLE
        ]
        top = (0.0, 0.0, min(12.0 * log, 0.6 * length))
        slings = [
            Link("load", (x * log, y * log, 0.0), top, 0.8 * thin, DARK_STEEL)
            for x in (-8.0, 8.0)
            for y in (-2.1, 2.1)
        ]
        return (*logs, *slings, *pieces)

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """The carrier's; the angle from straight down of the line from hook to load, the load's speed, what the links
        pull with, how much a link pushes where the cable would be slack, and how far directions are off unit vectors.
        """
        hook, x, v, masses = self._hung(node, q)
        last = self.link_count - 1
        way, velocity = x[:, last] - hook, v[:, last]
        free = self.carrier.acceleration(node[POSE], node[TWIST], u, ca.SX(6, 1), q)
        tensions = self._pulls(node, free, q)[1]
        links, _, _ = self._stacks(node, q)
        lengths = ca.sqrt(ca.sum1(links[:3, :] ** 2))
        carried = Quantities(**{**vars(q), "mass": q.mass + ca.sum2(masses)})
        return (
            *self.carrier.observables(node[:CABLE], u, carried),
            Observable("swing", "rad", ca.atan2(ca.sqrt(way[0] ** 2 + way[1] ** 2), -way[2])),
            Observable("load_speed", "m/s", ca.sqrt(ca.dot(velocity, velocity))),
            Observable("tension", "N", tensions.T),
            Observable("hook_pull", "N", tensions[0]),
            Observable("slack", "N", ca.fmax(-ca.mmin(tensions), 0)),
            Observable("off_sphere", "1", ca.norm_inf(ca.fabs(lengths - 1))),
        )

    def state(  # type: ignore[override]
        self,
        *,
        R: ArrayLike | None = None,
        x: ArrayLike = (0.0, 0.0, 0.0),
        omega: ArrayLike = (0.0, 0.0, 0.0),
        v: ArrayLike = (0.0, 0.0, 0.0),
        direction: ArrayLike = (0.0, 0.0, -1.0),
        swing: ArrayLike = (0.0, 0.0, 0.0),
    ) -> State:
        """State from the carrier's as elsewhere, R: R_wb, x [m] in the world, omega and v of the body frame, and the
        links': unit vectors down along them and their angular velocities [rad/s], both in the world, (3,) for all or
        (N, 3). Raises InputError for what is no such state.
        """
        n = self.link_count
        pose = np.r_[self._rotation("R", np.eye(3) if R is None else R).T.ravel(), self._finite("x", x, (3,))]
        twist = np.r_[self._finite("omega", omega, (3,)), self._finite("v", v, (3,))]
        q = self._finite("direction", for_each(direction, n), (n, 3))
        turning = self._finite("swing", for_each(swing, n), (n, 3))
        cable = on_the_bundle(f"vehicle {self.name!r}", "link", "it", q, turning)
        return self.state_at_node(np.concatenate([pose, twist, cable.ravel()]))

    def default_state(self) -> State:
        """At rest at the origin, the load hanging straight down."""
        return self.state()

    def state_in_space(self, T_wb: np.ndarray, twist_b: np.ndarray) -> State:
        """The load hangs straight down and goes with the hook; several links are off plumb by `UNEVEN_RAD` in turn."""
        aside = UNEVEN_RAD * (-1.0) ** np.arange(self.link_count) * (self.link_count > 1)
        direction = np.column_stack([np.sin(aside), np.zeros(self.link_count), -np.cos(aside)])
        return self.state(
            R=T_wb[:3, :3], x=T_wb[:3, 3], omega=twist_b[:3], v=twist_b[3:], direction=direction
        )

    def raised(self, node: np.ndarray, by_m: float) -> np.ndarray:
        node[POSE.stop - 1] += by_m
        return node
