"""What is steered in textbook problems of optimal control: bodies of 1 kg that nothing turns, in an upright plane.

What is not a place is one here all the same: a rope's length and its angle, and how much propellant there is.
"""

import math
from collections.abc import Mapping
from typing import Any

import casadi as ca

from sim.groups import SE2
from sim.multibody.shapes import BRASS, PAINTED, STEEL, Link
from sim.symbolic import shift, turn_about
from sim.vehicles.forms.base import twist_of
from sim.vehicles.forms.form import Support
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Control, Parameter, Quantities

MASS_KG, GRAVITY, AIR, WING_M2 = 100.0, 9.80665, 1.13, 14.0
DRAG, DRAG_BY_LIFT, UPDRAFT_MPS, THERMAL_M = 0.034, 0.069662, 2.5, 100.0
LAUNCH, LIFTS = (0.0, 1000.0, 13.2275675, -1.28750052), (0.0, 1.4)
"""Of the hang glider: place and velocity in the plane, lift coefficients."""
FAST = 32.174
"""ft/s^2, of the brachistochrone."""
RUBBED = 0.3
"""Coulomb's coefficient of the wire that rubs."""
THRUST = 100.0
CRANE_LOAD, CRANE_TROLLEY = 27.0756, 17.2656
CRANE_HIGH_M, KNOTS = 26.0, 14
"""Of the trolley as it is drawn, and what is drawn of its rope."""


def rod(body: str, a: tuple[float, float, float], b: tuple[float, float, float], thick_m: float) -> Link:
    """From one point to another; a ball where they are one."""
    return Link(body, a, b, thick_m, BRASS if a == b else STEEL, (False, False))


class InPlane(HolonomicVehicle):
    """A body of 1 kg in an upright plane, along x and up."""

    group = SE2
    parameters = (Parameter("mass", "kg", 1.0, 1e-3, 1e3, "Mass."),)
    above_m = 2.0
    """So far above the ground its plane's origin is seen."""
    drawn = 1.0
    """Times as large as an arrow of 0.3 m."""

    def inertia(self, q: Quantities) -> ca.SX:
        return q.mass * ca.SX.eye(3)

    @property
    def support(self) -> Support:
        """Its plane is upright."""
        return Support.NOTHING

    @property
    def environment(self) -> str:
        """It meets no ground."""
        return "none"

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """Where it is; as it is heading; and what stays."""
        place = shift(node[1], 0, node[2] + self.above_m)
        v = node[self.node_layout.velocity]
        along = turn_about("y", -ca.atan2(v[2], v[1] + 1e-9))
        return {"body": place, "craft": place @ along, "ground": shift(0, 0, self.above_m)}

    def twist(self, node: ca.SX, q: Quantities) -> ca.SX:
        """As it is seen."""
        return twist_of(self.bodies(node, q)["body"], node, self.configuration_rate(node, q))

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """An arrow ahead."""
        half, thick = 0.15 * self.drawn, 0.04 * self.drawn
        return (
            Link("craft", (-half, 0.0, 0.0), (half, 0.0, 0.0), thick, PAINTED, (False, False)),
            rod("craft", (half, 0.0, 0.0), (half, 0.0, 0.0), 1.75 * thick),
            *self.marks(),
        )

    def marks(self) -> tuple[Link, ...]:
        """Of the body `ground`."""
        return ()


class HangGlider(InPlane):
    """Lift across the flow and drag along it; a thermal 250 m ahead."""

    name = "ledger-hang-glider"
    controls = (Control("lift", "", *LIFTS, "Lift coefficient."),)
    above_m = 0.0

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """Two swept wings and who hangs below them."""
        wings = [rod("craft", (0.8, 0.0, 0.0), (-0.9, side, 0.1), 0.12) for side in (-5.0, 5.0)]
        keel = Link("craft", (0.9, 0.0, 0.0), (-1.6, 0.0, 0.0), 0.07, PAINTED, (False, False))
        return (
            *wings,
            keel,
            Link("body", (-0.8, 0.0, -1.3), (0.7, 0.0, -1.2), 0.22, PAINTED, (False, False)),
        )

    def acting_wrench(self, g: ca.SX, xi: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        return q.mass * ca.vertcat(0, *glided(g[1], xi[1], xi[2], u[0], ca))


def glided(x: Any, vx: Any, vy: Any, lift: Any, maths: Any) -> tuple[Any, Any]:
    """m/s^2 of a hang glider, by the functions of CasADi or of NumPy."""
    out = (x / THERMAL_M - 2.5) ** 2
    up = vy - UPDRAFT_MPS * (1 - out) * maths.exp(-out)
    pressure = 0.5 * AIR * WING_M2 / MASS_KG * maths.sqrt(vx**2 + up**2)
    drag = DRAG + DRAG_BY_LIFT * lift**2
    return -pressure * (lift * up + drag * vx), pressure * (lift * vx - drag * up) - GRAVITY


class Oscillator(InPlane):
    """Van der Pol's, along x."""

    name = "ledger-van-der-pol"
    controls = (Control("force", "N", -20.0, 20.0, "On it."),)

    def acting_wrench(self, g: ca.SX, xi: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(0, (1 - g[1] ** 2) * xi[1] - g[1] + u[0], 0)

    def marks(self) -> tuple[Link, ...]:
        """Its rail, and where it is to rest."""
        return (
            rod("ground", (-2.5, 0.0, -0.12), (2.5, 0.0, -0.12), 0.03),
            rod("ground", (0.0, 0.0, -0.25), (0.0, 0.0, -0.25), 0.08),
        )


class Thruster(InPlane):
    """An engine of constant thrust that is turned."""

    name = "ledger-thruster"
    drawn = 3.0
    controls = (Control("angle", "rad", -1.6, 1.6, "From x."),)

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        return THRUST * ca.vertcat(0, ca.cos(u), ca.sin(u))

    def marks(self) -> tuple[Link, ...]:
        """The height that it is to reach, and where it begins."""
        return rod("ground", (-1.0, 0.0, 5.0), (7.0, 0.0, 5.0), 0.06), rod(
            "ground", (0, 0, 0), (0, 0, 0), 0.1
        )


class Bead(InPlane):
    """On a wire without friction, which pushes across the motion."""

    name = "ledger-bead"
    above_m = 3.0
    controls = (Control("turn", "rad/s", -50.0, 50.0, "By what the wire pushes."),)

    def acting_wrench(self, g: ca.SX, xi: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(0, -u[0] * xi[2], u[0] * xi[1] - FAST)

    def marks(self) -> tuple[Link, ...]:
        """The wall, and where it is let go."""
        return rod("ground", (1.0, 0.0, -1.0), (1.0, 0.0, 0.2), 0.02), rod(
            "ground", (0, 0, 0), (0, 0, 0), 0.04
        )


class RubbedBead(Bead):
    """On one that rubs by a share of what it pushes with, weight and bend together, and pushes upwards only."""

    name = "ledger-rubbed-bead"
    controls = (Control("turn", "rad/s", 0.0, 50.0, "By what the wire pushes."),)

    def acting_wrench(self, g: ca.SX, xi: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        return super().acting_wrench(g, xi, u, q) - RUBBED * u[0] * ca.vertcat(0, xi[1], xi[2])


class Pushed(InPlane):
    """By at most 1 N."""

    name = "ledger-pushed"
    controls = (Control("force", "N", -1.0, 1.0, "Along x."),)

    def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
        return ca.vertcat(0, u[0], 0)

    def marks(self) -> tuple[Link, ...]:
        """The way from where it rests to where it is to rest."""
        ends = (-0.5, 0.0, -0.15), (1.5, 0.0, -0.15)
        return rod("ground", *ends, 0.03), *(rod("ground", (x, 0, -0.3), (x, 0, -0.3), 0.06) for x in (0, 1))


class Rocket(InPlane):
    """Goddard's: x is the height above the ground, the speed along y the propellant that is burnt."""

    name = "ledger-rocket"
    shown_m = 500.0
    """Of a radius of the earth."""
    controls = (Control("thrust", "", 0.0, 3.5, "Over its weight."),)

    def acting_wrench(self, g: ca.SX, xi: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        drag = 310 * xi[1] ** 2 * ca.exp(-500 * g[1])
        return ca.vertcat(0, (u[0] - drag) / (1 - xi[2]) - 1 / (1 + g[1]) ** 2, 2 * u[0])

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """Upright, so high."""
        return {"body": shift(0, 0, self.shown_m * node[1]), "ground": ca.SX.eye(4)}

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """A hull, a tip and three fins."""
        turns = (0.0, 2.0 * math.pi / 3.0, 4.0 * math.pi / 3.0)
        fins = [rod("body", (0, 0, 0.6), (0.5 * math.cos(a), 0.5 * math.sin(a), 0.1), 0.05) for a in turns]
        hull = Link("body", (0.0, 0.0, 0.5), (0.0, 0.0, 2.4), 0.22, PAINTED, (False, False))
        return hull, rod("body", (0, 0, 2.5), (0, 0, 2.8), 0.1), *fins


class ContainerCrane(HolonomicVehicle):
    """x: trolley, y: rope, z: the rope's angle."""

    name = "ledger-container-crane"
    parameters = (Parameter("mass", "kg", 1.0, 1e-3, 1e3, "Mass."),)
    controls = (
        Control("trolley", "m/s^2", -2.83374, 2.83374, "Of the trolley."),
        Control("hoist", "m/s^2", -0.80865, 0.71265, "Of the rope."),
    )

    def inertia(self, q: Quantities) -> ca.SX:
        return q.mass * ca.SX.eye(6)

    def acting_wrench(self, g: ca.SX, xi: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        (_, rope, angle), (_, hoisted, swing) = ca.vertsplit(g[9:]), ca.vertsplit(xi[3:])
        swung = -(u[0] + CRANE_LOAD * angle + 2 * hoisted * swing) / rope
        return ca.vertcat(0, 0, 0, u[0] + CRANE_TROLLEY * angle, u[1], swung)

    @property
    def environment(self) -> str:
        """Its coordinates are no place."""
        return "none"

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """Trolley, container, and knots of the rope between them."""
        trolley = shift(node[9], 0, CRANE_HIGH_M)
        rope = trolley @ turn_about("y", node[11])
        knots = {f"knot {k}": rope @ shift(0, 0, -node[10] * k / KNOTS) for k in range(1, KNOTS)}
        hung = rope @ shift(0, 0, -node[10])
        return {"body": hung, "trolley": trolley, "ground": shift(0, 0, CRANE_HIGH_M), **knots}

    def twist(self, node: ca.SX, q: Quantities) -> ca.SX:
        """Of the container."""
        return twist_of(self.bodies(node, q)["body"], node, self.configuration_rate(node, q))

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """A beam, and what goes along it."""
        box = Link("body", (-1.6, 0.0, -1.0), (1.6, 0.0, -1.0), 1.0, PAINTED, (False, False))
        posts = [rod("ground", (x, 0, 0.8), (x, 0, -CRANE_HIGH_M), 0.4) for x in (-6.0, 18.0)]
        return (
            rod("ground", (-6.0, 0, 0.8), (18.0, 0, 0.8), 0.3),
            *posts,
            rod("trolley", (-0.8, 0, 0), (0.8, 0, 0), 0.45),
            box,
            *(rod(f"knot {k}", (0, 0, 0), (0, 0, 0), 0.12) for k in range(1, KNOTS)),
        )
