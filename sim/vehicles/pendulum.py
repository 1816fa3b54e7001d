"""The chain of spherical pendula on (TS^2)^N, moved by SE(3)^N (mechanics survey, section 5)."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from sim.multibody.shapes import BRASS, DARK_STEEL, PAINTED, Link, gallows
from sim.spaces import Action, TangentBundle
from sim.spaces.action import copies, motions_of_tangent_bundle
from sim.symbolic import AnyStack, flat, pose_along, stacked
from sim.vehicles.forms.form import Observable, State
from sim.vehicles.forms.parameters import Control, Parameter, Quantities
from sim.vehicles.forms.rods import (
    Bob,
    LinkedRods,
    bobs,
    fixed_point,
    for_each,
    on_the_bundle,
    rod_tensions,
    turning_rods,
)

DIRECTION = (0.6, 0.0, -0.8)
OMEGA_RADPS = (0.0, 0.0, 1.4)
TURN_RAD = 0.5
"""From one link to the next about the vertical, at the default start."""
LEAST_STAND_M = 1.8
CLEARANCE_M = 0.6
"""Of the hanging tip above the ground."""
BOB_M, BOB_SHARE, ROD_SHARE = 0.075, 0.22, 0.18
"""Radius of a bob where rods are long, as a share of a short one; of a rod as a share of it."""

_HAND, _MOTORS = ("pivot_motor", 0), ("pivot_motor", 1)


class Pendulum(LinkedRods):
    """A bob on a light rod that turns freely about a fixed point; with more links each rod hangs from the bob before.

    The state of a link is (q, omega): the unit vector q along its rod, away from the fixed point, and its angular
    velocity at right angles to it, both in the world: q' = omega x q, omega' = q x (a - a_before)/L, where a is the
    acceleration of its own bob. That needs the pulls of the rods, a tridiagonal system: the cost is linear in N.
    """

    name = "pendulum"
    parameters = (
        Parameter(
            "links", "", 1.0, 1.0, 50.0, "Rods, each with a bob; another number starts anew.", structural=True
        ),
        Parameter("mass", "kg", 4.0, 1e-3, 1e6, "Mass of a bob.", per="links"),
        Parameter("length", "m", 1.2, 1e-2, 1e3, "From one bob's middle to the next one's.", per="links"),
        Parameter("gravity", "m/s^2", 9.81, 0.0, 100.0, "Downward acceleration."),
        Parameter("drag", "N s/m", 0.0, 0.0, 1e3, "Of the air on a bob, linear.", optional=True),
        Parameter(
            "pivot_motor",
            "",
            0.0,
            0.0,
            1.0,
            "1: motors at the fixed point turn the first rod; 0: a hand pushes the last bob.",
            structural=True,
        ),
    )
    controls = (
        *(
            Control(
                f"push_{axis}",
                "N",
                -20.0,
                20.0,
                f"Force of a hand on the last bob along world {axis}.",
                only=_HAND,
            )
            for axis in "xy"
        ),
        *(
            Control(
                f"turn_{axis}",
                "N m",
                -24.0,
                24.0,
                f"Moment on the first rod about world {axis}.",
                only=_MOTORS,
            )
            for axis in "xy"
        ),
    )
    twist_embedding = np.eye(6)[:, :3]

    @property
    def link_count(self) -> int:
        """N."""
        return self.counts["links"]

    @property
    def copies(self) -> int:  # type: ignore[override]
        return self.link_count if self.link_count > 1 else 0

    @cached_property
    def action(self) -> Action:  # type: ignore[override]
        one = motions_of_tangent_bundle(TangentBundle())
        return copies(one, self.link_count) if self.link_count > 1 else one

    @property
    def stand_m(self) -> float:  # type: ignore[override]
        """The tip hangs clear of the ground."""
        return max(LEAST_STAND_M, float(np.sum(self.values["length"])) + CLEARANCE_M)

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """More rods than one are drawn as such, with their bobs; a single one has a model."""
        if self.link_count == 1:
            return ()
        shapes = []
        for k, length in enumerate(np.ravel(self.values["length"])):
            bob_m = min(BOB_M, BOB_SHARE * float(length))
            shapes.append(
                Link(
                    f"rod_{k + 1}", (0.0, 0.0, 0.0), (0.0, 0.0, -float(length)), ROD_SHARE * bob_m, DARK_STEEL
                )
            )
            shapes.append(
                Link(f"bob_{k + 1}", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), bob_m, PAINTED if k % 2 else BRASS)
            )
        return (*shapes, *gallows(self.stand_m))

    def generator(self, point: Any, u: ca.SX, q: Quantities) -> Any:
        """(omega, direction x omega') of every link: its motion is (omega x direction, omega')."""
        points, masses, lengths = self._stacks(point, q)
        pulls = self._tensions(points, masses, lengths, u, q)
        return flat(turning_rods(points, masses, lengths, pulls, ca.SX.zeros(3)))

    def bob_force(self, bob: Bob, u: ca.SX, q: Quantities) -> ca.SX:
        """Weight, the hand on the last bob or what the motors' moment is at the end of the first rod, drag of the air.

        A moment M on a rod without mass is a force M x direction / length at its end: they do the same work.
        """
        weight, drag = -bob.mass * q.gravity, q.drag * bob.velocity
        if self.counts["pivot_motor"]:
            turned = bob.first / bob.length * ca.cross(ca.vertcat(u, 0), bob.direction)
            return turned + ca.vertcat(0, 0, weight) - drag
        return ca.vertcat(bob.last * u, weight) - drag

    def _stacks(self, point: Any, q: Quantities) -> tuple[AnyStack, AnyStack, AnyStack]:
        """Points, masses and lengths, a column each link."""
        return (
            stacked(point, self.link_count),
            stacked(q.mass, self.link_count),
            stacked(q.length, self.link_count),
        )

    def _tensions(
        self, points: AnyStack, masses: AnyStack, lengths: AnyStack, u: ca.SX, q: Quantities
    ) -> list[AnyStack]:
        """As `rod_tensions`."""

        def force(bob: Bob) -> ca.SX:
            return self.bob_force(bob, u, q)

        return rod_tensions(points, masses, lengths, self.link_count, force, fixed_point())

    def _bobs(self, node: ca.SX, q: Quantities) -> tuple[ca.SX, ca.SX, ca.SX]:
        """(3, N) places of the bobs, their velocities, and (1, N) their masses."""
        points, masses, lengths = self._stacks(node, q)
        x, v = bobs(points, lengths, ca.SX.zeros(3), ca.SX.zeros(3))
        return x, v, masses

    def energy(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Kinetic plus m g z."""
        x, v, masses = self._bobs(node, q)
        return ca.dot(masses, ca.sum1(v * v)) / 2 + q.gravity * ca.dot(masses, x[2, :])

    def spatial_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """(3,) about the fixed point; the weight keeps the vertical part."""
        x, v, masses = self._bobs(node, q)
        return sum(
            (masses[k] * ca.cross(x[:, k], v[:, k]) for k in range(1, self.link_count)),
            masses[0] * ca.cross(x[:, 0], v[:, 0]),
        )

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        """The push is drawn at the bob, as a force."""
        return ca.SX(3, 1)

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """The last bob first; z axes of a link's rod and bob lead back along the rod, by the shortest turn off upright.

        Those of more than one link are numbered from the fixed point on, from 1.
        """
        x, _, _ = self._bobs(node, q)
        points = stacked(node, self.link_count)
        hung, rods = {}, {}
        for k in reversed(range(self.link_count)):
            number = f"_{k + 1}" if self.link_count > 1 else ""
            up, upper = -points[:3, k], x[:, k - 1] if k else ca.SX.zeros(3)
            rods[f"rod{number}"] = pose_along(up, upper)
            hung[f"bob{number}"] = pose_along(up, x[:, k])
        return {**hung, **rods, "pivot": ca.SX.eye(4)}

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        """Angles from hanging straight down, what the rods pull with (they push where that is negative), the momentum
        about the vertical, how far the worst direction is from being a unit vector, and the length of all rods."""
        points, masses, lengths = self._stacks(node, q)
        _, tensions, _ = self._tensions(points, masses, lengths, u, q)
        level = ca.sqrt(points[0, :] ** 2 + points[1, :] ** 2)
        length_error = ca.fabs(ca.sqrt(ca.sum1(points[:3, :] ** 2)) - 1)
        return (
            Observable("swing", "rad", ca.atan2(level, -points[2, :]).T),
            Observable("tension", "N", tensions.T),
            Observable("momentum_vertical", "kg m^2/s", self.spatial_momentum(node, q)[2]),
            Observable("off_sphere", "1", ca.norm_inf(length_error)),
            Observable("reach", "m", ca.SX(ca.sum2(lengths))),
        )

    def default_state(self) -> State:
        """Let go to one side, going round: one link draws a rosette; more are turned against each other."""
        angles = TURN_RAD * np.arange(self.link_count)
        c, s = np.cos(angles), np.sin(angles)
        x, y, z = DIRECTION
        directions = np.column_stack([c * x - s * y, s * x + c * y, np.full(self.link_count, z)])
        return self.state(direction=directions, omega=np.cross(directions, np.cross(OMEGA_RADPS, directions)))

    def state(  # type: ignore[override]
        self, *, direction: ArrayLike = (0.0, 0.0, -1.0), omega: ArrayLike = (0.0, 0.0, 0.0)
    ) -> State:
        """State in the world: directions of the rods, away from the fixed point, and their angular velocities [rad/s].

        Each is (3,), for all links, or (N, 3). Raises InputError for wrong shapes, numbers that are not finite, a
        direction that is no unit vector and a velocity about the rod itself.
        """
        n = self.link_count
        q = self._finite("direction", for_each(direction, n), (n, 3))
        w = self._finite("omega", for_each(omega, n), (n, 3))
        what = "link" if n > 1 else ""
        return self.state_at_node(on_the_bundle(f"vehicle {self.name!r}", what, "the rod", q, w).ravel())
