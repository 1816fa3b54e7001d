"""Nonholonomic problems without the symmetry in time that most have, and whether energy drifts over a million steps.

K. Modin and O. Verdier, "What makes nonholonomic integrators work?", Numerische Mathematik 145, 2020 (1707.04514):
methods keep the energy of the usual test problems because those are reversible and integrable, not because of a
discrete d'Alembert principle. Here a driver, which nothing acts back on, leads a constraint of two oscillators: a
continuously variable transmission, a knife edge, McLachlan's and Perlmutter's contact oscillator. A driver that goes
round in a potential without symmetry takes reversibility away; one that swings leaves it. The variational methods
drift then, and Runge and Kutta's; the discrete gradient does not.
"""

import math
from collections.abc import Mapping

import casadi as ca
import numpy as np

import sim
from sim.multibody.shapes import BRASS, PAINTED, STEEL, Link
from sim.symbolic import shift, turn_about
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Parameter, Quantities, ShapeCoordinate
from studies.ledger.problem import Problem

STEP_S, STEPS, PARTS, SKEW = 0.1, 1_000_000, 10, 0.1


def twisted(angle: ca.SX, q: Quantities) -> ca.SX:
    """Potential of a driver on a circle [J]."""
    return q.skew * ca.sin(2.0 * angle) - ca.cos(angle)


class Transmission(NonholonomicVehicle):
    """Two oscillators whose ratio of speeds is the sine of a pendulum's angle."""

    name = "ledger-transmission"
    parameters = (Parameter("skew", "J", 0.0, -10.0, 10.0, "Of the driver's potential."),)
    shape_coordinates = (
        ShapeCoordinate("driver", "rad", "Angle of the pendulum."),
        ShapeCoordinate("x", "m", "The one oscillator."),
        ShapeCoordinate("y", "m", "The other."),
    )
    dependent = ("y",)

    def driving(self, s: ca.SX, q: Quantities) -> ca.SX:
        """Potential of the driver [J]."""
        return twisted(s, q)

    def ratio(self, s: ca.SX) -> ca.SX:
        """-dy/dx."""
        return ca.sin(s)

    def lagrangian(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        return (ca.sumsqr(u) + ca.sumsqr(xi) - r[1] ** 2 - r[2] ** 2) / 2 - self.driving(r[0], q)

    def constraints(self, r: ca.SX, q: Quantities) -> ca.SX:
        """Its box stays where it is."""
        return ca.vertcat(
            ca.horzcat(ca.SX.zeros(3, 3), ca.SX.eye(3)), ca.horzcat(0, self.ratio(r[0]), 1, 0, 0, 0)
        )

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """Its box; above it the pendulum, and what oscillates on two rails."""
        body, r = super().bodies(node, q)["body"], node[self.node_layout.shape]
        return {
            "body": body,
            "driver": body @ shift(0, 0, 1.3) @ turn_about("y", r[0]),
            "x": body @ shift(r[1], -0.4, 0.4),
            "y": body @ shift(r[2], 0.4, 0.4),
        }

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """A rod that hangs, and a ball on each rail."""
        here, still = (0.0, 0.0, 0.0), (False, False)
        rails = [Link("body", (-2.0, y, 0.4), (2.0, y, 0.4), 0.03, STEEL, still) for y in (-0.4, 0.4)]
        return (
            *rails,
            Link("body", (0.0, 0.1, 0.0), (0.0, 0.1, 1.3), 0.05, STEEL, still),
            Link("driver", here, (0.0, 0.0, -0.6), 0.04, PAINTED, still),
            Link("driver", (0.0, 0.0, -0.6), (0.0, 0.0, -0.6), 0.12, BRASS, still),
            *(Link(name, here, here, 0.16, PAINTED, still) for name in "xy"),
        )


class ContactOscillator(Transmission):
    """The same with the driver itself as the ratio, on a spring that is stiffer on one side: it swings."""

    name = "ledger-contact-oscillator"

    def driving(self, s: ca.SX, q: Quantities) -> ca.SX:
        """Potential of the driver [J]."""
        return s**2 / 2 + q.skew * s**3

    def ratio(self, s: ca.SX) -> ca.SX:
        """-dy/dx."""
        return s


class KnifeEdge(Transmission):
    """A blade on a spring from the origin, whose heading is the driver; its place along itself and across is its shape,
    in which the constraint binds one rate at every heading."""

    name = "ledger-knife-edge"
    shape_coordinates = (
        ShapeCoordinate("driver", "rad", "Its heading."),
        ShapeCoordinate("along", "m", "Its place along itself."),
        ShapeCoordinate("across", "m", "And to its left."),
    )
    dependent = ("across",)

    def lagrangian(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        moving = u[0] ** 2 + (u[1] - u[0] * r[2]) ** 2 + (u[2] + u[0] * r[1]) ** 2
        return (moving + ca.sumsqr(xi) - r[1] ** 2 - r[2] ** 2) / 2 - self.driving(r[0], q)

    def constraints(self, r: ca.SX, q: Quantities) -> ca.SX:
        """What holds its spring stays where it is; no way across the blade."""
        return ca.vertcat(ca.horzcat(ca.SX.zeros(3, 3), ca.SX.eye(3)), ca.horzcat(r[1], 0, 1, 0, 0, 0))

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """What holds its spring, and the blade."""
        body, r = NonholonomicVehicle.bodies(self, node, q)["body"], node[self.node_layout.shape]
        return {"body": body, "blade": body @ turn_about("z", r[0]) @ shift(r[1], r[2], 0)}

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """A blade with a mast, and a knob."""
        still = (False, False)
        return (
            Link("blade", (-0.6, 0.0, 0.05), (0.6, 0.0, 0.05), 0.05, STEEL, still),
            Link("blade", (0.0, 0.0, 0.05), (0.0, 0.0, 0.5), 0.04, PAINTED, still),
            Link("blade", (0.0, 0.0, 0.5), (0.4, 0.0, 0.5), 0.04, PAINTED, still),
            Link("body", (0.0, 0.0, 0.0), (0.0, 0.0, 0.15), 0.08, BRASS, still),
        )


def begun(system: NonholonomicVehicle) -> sim.State:
    """With a driver that goes round, but for the contact oscillator's."""
    if isinstance(system, KnifeEdge):
        return system.state(shape=(0.0, 1.0, 0.5), shape_velocity=(2.5, 1.55, 0.0))
    if isinstance(system, ContactOscillator):
        return system.state(shape=(0.6, 1.0, 0.5), shape_velocity=(0.1, 0.3, 0.0))
    return system.state(shape=(0.0, 1.0, 0.5), shape_velocity=(2.5, 0.3, 0.0))


def drift(system: Transmission, method: str) -> float:
    """One and what the mean energy of the last tenth of a million steps has more than that of the first [J].

    Means fade in and out, so that what swings about one leaves nothing (S. Das and others, "Quantitative
    quasiperiodicity", 2017)."""
    state, means = begun(system), []
    for _ in range(PARTS):
        run = sim.simulate(system, method, step=STEP_S, duration=STEP_S * STEPS / PARTS, initial=state)
        if run.diverged_at is not None:
            return math.nan
        energy = run.energy
        share = (np.arange(len(energy)) + 0.5) / len(energy)
        means.append(float(np.average(energy, weights=np.exp(-1.0 / (share * (1.0 - share))))))
        state = run.final
    return 1.0 + means[-1] - means[0]


def _problem(
    system: type[Transmission],
    title: str,
    method: str,
    least_digits: float,
    reason: str = "",
    pictured_by: str = "",
    another_way_of: str = "",
) -> Problem:
    skewed = "skew" in title
    vehicle = system(skew=SKEW if skewed else 0.0)
    return Problem(
        name=f"drift-{system.name.removeprefix('ledger-')}{'-skewed' if skewed else ''}-{method}",
        title=title,
        quantity="1 + energy of the last 10^5 steps less that of the first, of some 3 J [J]",
        source="conservation; Modin and Verdier 2020",
        truth=lambda: 1.0,
        known_digits=15,
        ours=lambda: drift(vehicle, method),
        step=f"{method}, 0.1 s, 10^6 steps",
        motion_s=STEP_S * STEPS,
        least_digits=least_digits,
        reason=reason,
        another_way_of=another_way_of,
        scene=lambda: (vehicle, begun(vehicle)),
        shown=lambda: {"integrator": method, "step_s": 0.02},
        pictured_by=pictured_by,
    )


_LOST = "not reversible: the energy drifts at the rate of the method's order, whatever d'Alembert's principle"
_ROUND, _SWINGING = "drift-transmission-variational", "drift-contact-oscillator-skewed-variational"
_EDGE = "drift-knife-edge-variational"
_KEPT, _EDGE_KEPT = (f"drift-{name}-skewed-discrete-gradient" for name in ("transmission", "knife-edge"))
PROBLEMS = (
    _problem(Transmission, "Transmission, driver goes round", "variational", 8.0),
    _problem(
        Transmission, "Transmission, skewed driver goes round", "variational", 0.0, _LOST, _ROUND, _KEPT
    ),
    _problem(Transmission, "Transmission, skewed driver goes round", "rk4", 0.0, _LOST, _ROUND, _KEPT),
    _problem(Transmission, "Transmission, skewed driver goes round", "discrete-gradient", 8.0, "", _ROUND),
    _problem(ContactOscillator, "Contact oscillator, skewed driver swings", "variational", 8.0),
    _problem(
        ContactOscillator,
        "Contact oscillator, skewed driver swings",
        "discrete-gradient",
        8.0,
        pictured_by=_SWINGING,
        another_way_of=_SWINGING,
    ),
    _problem(KnifeEdge, "Knife edge, driver goes round", "variational", 8.0),
    _problem(KnifeEdge, "Knife edge, skewed driver goes round", "variational", 0.0, _LOST, _EDGE, _EDGE_KEPT),
    _problem(KnifeEdge, "Knife edge, skewed driver goes round", "discrete-gradient", 8.0, "", _EDGE),
)
