"""Bodies about a centre of attraction: Kepler's ellipse, Newton's revolving one, small motions about circles.

I. Newton, "Principia", book I, propositions 43 to 45; J. Binney and S. Tremaine, "Galactic Dynamics", section 3.2;
P. C. Hughes, "Spacecraft Attitude Dynamics", chapter 9. The centre's attraction at distance 1 is 1.
"""

import math
from collections.abc import Mapping

import casadi as ca
import numpy as np
from scipy.optimize import brentq

import sim
from sim.groups.numeric import upright
from sim.multibody.shapes import BRASS, PAINTED, STEEL, Link
from sim.symbolic import turn_about
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Parameter, Quantities
from studies.ledger.problem import Problem
from studies.reference.lagrange import LagrangianSystem
from studies.reference.lagrange import rates as rates_of

ECCENTRICITY, REVOLVING, OBLATE = 0.4, 0.06, 0.02
END_S, STEP_S = 20.0, 0.005


def globe(body: str, radius_m: float, finish: int = BRASS) -> Link:
    """A ball."""
    return Link(body, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), radius_m, finish, (False, False))


class Satellite(HolonomicVehicle):
    """A rigid body of mass 1 about the origin."""

    name = "ledger-satellite"
    parameters = (
        Parameter("inertia", "kg m^2", (1e-3, 1e-3, 1e-3), 1e-9, 1.0, "Principal moments."),
        Parameter("revolving", "m^3/s^2", 0.0, 0.0, 1.0, "Of a further potential -b / r^2.", optional=True),
        Parameter(
            "oblate", "m^2", 0.0, 0.0, 1.0, "J2 times the square of the centre's radius.", optional=True
        ),
        Parameter("gradient", "", 0.0, 0.0, 1.0, "1: the attraction's gradient turns it.", optional=True),
    )

    def inertia(self, q: Quantities) -> ca.SX:
        return ca.diagcat(ca.diag(q.inertia), ca.SX.eye(3))

    def default_state(self) -> sim.State:
        """At rest beside the centre."""
        return self.state(x=(1.0, 0.0, 0.0))

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """It, and what it goes about."""
        return {**super().bodies(node, q), "centre": ca.SX.eye(4)}

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """Its long axis, and another across it; the centre's middle."""
        still = (False, False)
        return (
            globe("centre", 0.15),
            Link("body", (-0.14, 0.0, 0.0), (0.14, 0.0, 0.0), 0.03, STEEL, still),
            Link("body", (0.0, -0.07, 0.0), (0.0, 0.07, 0.0), 0.02, PAINTED, still),
        )

    @property
    def environment(self) -> str:
        """There is nothing that it could touch."""
        return "none"

    def potential(self, g: ca.SX, q: Quantities) -> ca.SX:
        R, x = ca.reshape(g[:9], 3, 3), g[9:]
        square = ca.dot(x, x)
        r, along_b = ca.sqrt(square), R.T @ x
        flat = q.oblate * (3 * x[2] ** 2 / square - 1) / (2 * square)
        spread = ca.sum1(q.inertia) - 3 * ca.dot(along_b, q.inertia * along_b) / square
        return -(1 - flat) / r - q.revolving / square - q.gradient * spread / (2 * r**3)


def ellipse_truth(drift: float = 1.0) -> np.ndarray:
    """(2,) m from the far side of nearest approach on, by Kepler's equation; the angle as many times as fast."""
    e = ECCENTRICITY
    u = brentq(lambda u: u - e * math.sin(u) - END_S, 0.0, END_S + 1.0, xtol=1e-15)
    angle = 2.0 * math.atan(math.sqrt((1 + e) / (1 - e)) * math.tan(u / 2.0)) + 2.0 * math.pi * round(
        u / (2.0 * math.pi)
    )
    r = 1.0 - e * math.cos(u)
    return r * np.array([math.cos(drift * angle), math.sin(drift * angle)])


def on_ellipse(revolving: float = 0.0) -> tuple[Satellite, sim.State]:
    """Nearest to the centre."""
    body, e = Satellite(revolving=revolving), ECCENTRICITY
    momentum = math.sqrt(1.0 - e * e + 2.0 * revolving)
    return body, body.state(x=(1.0 - e, 0.0, 0.0), v=(0.0, momentum / (1.0 - e), 0.0))


def ellipse(revolving: float = 0.0) -> np.ndarray:
    """(2,) m. The radius moves as without the further potential where the square of the momentum is that much more."""
    body, start = on_ellipse(revolving)
    run = sim.simulate(body, "variational-6", step=STEP_S, duration=END_S, initial=start)
    return np.asarray(run.pose[-1, :2, 3])


def revolving_truth() -> np.ndarray:
    """Newton's theorem: angles grow by a constant factor."""
    keplerian = 1.0 - ECCENTRICITY**2
    return ellipse_truth(math.sqrt((keplerian + 2.0 * REVOLVING) / keplerian))


def oblate_truth() -> np.ndarray:
    """(2,) rad/s: in the plane and across it, from the potential's curvatures on the circle of radius 1."""
    return np.sqrt([1.0 - 1.5 * OBLATE, 1.0 + 4.5 * OBLATE])


def on_circle(up_mps: float = 0.0) -> tuple[Satellite, sim.State]:
    """About an oblate centre; the body turns with its circle, so that its own turning takes no part."""
    body, rate = Satellite(oblate=OBLATE), math.sqrt(1.0 + 1.5 * OBLATE)
    return body, body.state(x=(1.0, 0.0, 0.0), omega=(0.0, 0.0, rate), v=(0.0, rate, up_mps))


def oblate() -> np.ndarray:
    """(2,) rad/s."""
    body, start = on_circle()
    found = sim.linearise(body, start)
    kept = [k for k, c in enumerate(found.coordinates) if c.name.startswith(("way", "v_"))]
    values = np.linalg.eigvals(found.A[np.ix_(kept, kept)])
    return np.sort(values.imag[values.imag > 1e-6])


LIBRATION_INERTIA = (2e-3, 5e-3, 6e-3)


def libration_truth() -> np.ndarray:
    """(3,) rad/s: pitch sqrt(3 (B - A) / C), and roll with yaw by Hughes' biquadratic; the orbit takes no notice."""
    a, b, c = LIBRATION_INERTIA
    roll, yaw = (c - a) / b, (c - b) / a
    squares = np.roots([1.0, -(1.0 + 3.0 * roll + roll * yaw), 4.0 * roll * yaw])
    return np.sort([math.sqrt(3.0 * (b - a) / c), *np.sqrt(squares.real)])


def librating(turned_rad: float = 0.0) -> tuple[Satellite, sim.State, float]:
    """A small body whose long axis points to the centre, and whose shortest is across its orbit, and its rate."""
    small = 1e-9 * np.array(LIBRATION_INERTIA) / 1e-3
    body = Satellite(inertia=tuple(small), gradient=1.0)
    rate = math.sqrt(1.0 + 1.5 * (small.sum() - 3.0 * small[0]))
    R = upright(turned_rad)
    start = body.state(R=R, x=(1.0, 0.0, 0.0), omega=(0.0, 0.0, rate), v=R.T @ (0.0, rate, 0.0))
    return body, start, rate


def libration() -> np.ndarray:
    """(3,) rad/s."""
    body, start, rate = librating()
    found = sim.linearise(body, start)
    kept = [k for k, c in enumerate(found.coordinates) if not c.name.startswith(("way", "v_"))]
    values = np.linalg.eigvals(found.A[np.ix_(kept, kept)]) / rate
    return np.sort(values.imag[values.imag > 1e-6])


TUMBLING_INERTIA, TUMBLING_S = (0.02, 0.05, 0.06), 3.0
TUMBLING_X, TUMBLING_V, TUMBLING_RADPS = (0.9, 0.1, 0.25), (-0.1, 0.95, 0.35), (0.2, -0.15, 1.1)


def tumbling_truth() -> np.ndarray:
    """(12,) place and rotation matrix, in angles about z, y and x in turn."""
    x, turned, vx, rates = (ca.SX.sym(name, 3) for name in ("x", "turned", "vx", "rates"))
    q, v = ca.vertcat(x, turned), ca.vertcat(vx, rates)
    R = turn_about("z", turned[0]) @ turn_about("y", turned[1]) @ turn_about("x", turned[2])
    R = R[:3, :3]
    spun = R.T @ ca.reshape(rates_of(ca.vec(R), q, v), 3, 3)
    omega, moments = ca.vertcat(spun[2, 1], spun[0, 2], spun[1, 0]), ca.SX(TUMBLING_INERTIA)
    r, up = ca.norm_2(x), x[2] / ca.norm_2(x)
    along = R.T @ x / r
    weight = 1 / r - OBLATE * (3 * up**2 - 1) / (2 * r**3)
    weight += (ca.sum1(moments) - 3 * ca.dot(along, moments * along)) / (2 * r**3)
    kinetic = (ca.sumsqr(vx) + ca.dot(omega, moments * omega)) / 2
    system = LagrangianSystem(q=q, v=v, lagrangian=kinetic + weight)
    # At first its axes are the world's, where the angles' rates are the angular velocity's components.
    begun = [*TUMBLING_X, 0.0, 0.0, 0.0], [*TUMBLING_V, *TUMBLING_RADPS[::-1]]
    end = system.moved(*begun, TUMBLING_S)[0]
    there = ca.Function("there", [q], [ca.vertcat(x, ca.vec(R))])
    return np.array(there(end)).ravel()


def long_body() -> tuple[Satellite, sim.State]:
    """That its centre's attraction turns, and that is heavy enough to feel it in its orbit."""
    body = Satellite(inertia=TUMBLING_INERTIA, oblate=OBLATE, gradient=1.0)
    return body, body.state(x=TUMBLING_X, v=TUMBLING_V, omega=TUMBLING_RADPS)


def tumbling() -> np.ndarray:
    """(12,) place and rotation matrix."""
    body, start = long_body()
    run = sim.simulate(body, "variational-6", step=STEP_S, duration=TUMBLING_S, initial=start)
    T = run.pose[-1]
    return np.r_[T[:3, 3], T[:3, :3].T.ravel()]


MOON = 0.01215
"""Of earth's and moon's mass together."""


class Amid(HolonomicVehicle):
    """A body of mass 1 amid two that go round each other, in the frame that goes with them: 1 apart, 1 rad/s."""

    name = "ledger-amid-two"
    parameters = (Parameter("lighter", "", MOON, 0.0, 0.5, "Share of the lighter one, at x = 1 - lighter."),)

    def inertia(self, q: Quantities) -> ca.SX:
        return ca.SX.eye(6)

    def default_state(self) -> sim.State:
        """In Lagrange's triangle."""
        return self.state(x=(0.5 - float(np.max(self.values["lighter"])), math.sqrt(0.75), 0.0))

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """It, and the two."""
        heavy, light = ca.SX.eye(4), ca.SX.eye(4)
        heavy[0, 3], light[0, 3] = -q.lighter, 1 - q.lighter
        return {**super().bodies(node, q), "earth": heavy, "moon": light}

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """Three balls."""
        return globe("earth", 0.12, PAINTED), globe("moon", 0.05, STEEL), globe("body", 0.03)

    @property
    def environment(self) -> str:
        """There is nothing that it could touch."""
        return "none"

    def potential(self, g: ca.SX, q: Quantities) -> ca.SX:
        x, lighter = g[9:], q.lighter
        heavy = ca.norm_2(x + ca.vertcat(lighter, 0, 0))
        light = ca.norm_2(x - ca.vertcat(1 - lighter, 0, 0))
        return -(1 - lighter) / heavy - lighter / light - (x[0] ** 2 + x[1] ** 2) / 2

    def dissipative_wrench(self, g: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        """Coriolis' force, which does no work."""
        R = ca.reshape(g[:9], 3, 3)
        return ca.vertcat(0, 0, 0, R.T @ (-2 * ca.cross(ca.vertcat(0, 0, 1), R @ xi[3:])))


def near_the_triangle() -> tuple[Amid, sim.State]:
    """Beside the point that makes a triangle of equal sides with the two."""
    body = Amid()
    at = body.default_state().x
    return body, body.state(x=at + np.array([0.02, 0.0, 0.01]))


def _between() -> float:
    """x of the point between the two where their pulls and the turning are even (L1)."""

    def pull(x: float) -> float:
        return x - (1.0 - MOON) / (x + MOON) ** 2 + MOON / (x - 1.0 + MOON) ** 2

    return float(brentq(pull, 0.5, 0.95, xtol=1e-16))


def lagrange_truth() -> np.ndarray:
    """(6,) rad/s: three frequencies in the triangle; growth and two frequencies between the two."""
    triangle = np.sqrt(-np.roots([1.0, 1.0, 6.75 * MOON * (1.0 - MOON)]))
    x = _between()
    stiff = (1.0 - MOON) / (x + MOON) ** 3 + MOON / (1.0 - MOON - x) ** 3
    squares = np.sort(np.roots([1.0, 2.0 - stiff, (1.0 + 2.0 * stiff) * (1.0 - stiff)]))
    about = np.sort([math.sqrt(-squares[0]), math.sqrt(stiff)])
    return np.array([*np.sort([*triangle, 1.0]), math.sqrt(squares[1]), *about])


def lagrange() -> np.ndarray:
    """(6,) rad/s"""
    body, found = Amid(), []
    for start in (body.default_state(), body.state(x=(_between(), 0.0, 0.0))):
        whole = sim.linearise(body, start)
        kept = [k for k, c in enumerate(whole.coordinates) if c.name.startswith(("way", "v_"))]
        values = np.linalg.eigvals(whole.A[np.ix_(kept, kept)])
        found += [*values.real[values.real > 1e-3], *np.sort(values.imag[values.imag > 1e-3])]
    return np.array(found)


PROBLEMS = (
    Problem(
        name="kepler",
        title="Kepler's ellipse, eccentricity 0.4, three revolutions",
        quantity="place at 20 [1]",
        source="closed form, Kepler's equation",
        truth=ellipse_truth,
        known_digits=13,
        ours=ellipse,
        step="variational-6, 1257 steps a revolution",
        motion_s=END_S,
        least_digits=9.0,
        scene=on_ellipse,
    ),
    Problem(
        name="revolving-orbit",
        title="Newton's revolving orbit",
        quantity="place at 20 [1]",
        source="closed form, Principia I, proposition 44",
        truth=revolving_truth,
        known_digits=13,
        ours=lambda: ellipse(REVOLVING),
        step="variational-6, 1257 steps a revolution",
        motion_s=END_S,
        least_digits=9.0,
        scene=lambda: on_ellipse(REVOLVING),
        pictured_by="kepler",
    ),
    Problem(
        name="oblate-circle",
        title="Small motions about a circle, oblate centre",
        quantity="epicyclic and vertical frequency [rad/s]",
        source="closed form, Binney and Tremaine, 3.2.3",
        truth=oblate_truth,
        known_digits=15,
        ours=oblate,
        step="linearised",
        least_digits=12.0,
        scene=lambda: on_circle(0.2),
    ),
    Problem(
        name="oblate-tumbling",
        title="A long body tumbles about an oblate centre, which turns it",
        quantity="place and attitude at 3 [1]",
        source="studies.reference, plain coordinates",
        truth=tumbling_truth,
        known_digits=12,
        ours=tumbling,
        step="variational-6, 1257 steps a revolution",
        motion_s=TUMBLING_S,
        least_digits=9.0,
        scene=long_body,
    ),
    Problem(
        name="lagrange-points",
        title="Small motions about Lagrange's points of earth and moon",
        quantity="frequencies about L4; growth and frequencies about L1, over the moon's rate [1]",
        source="closed form, Lagrange 1772, Routh 1875",
        truth=lagrange_truth,
        known_digits=14,
        ours=lagrange,
        step="linearised",
        least_digits=11.0,
        scene=near_the_triangle,
    ),
    Problem(
        name="gravity-gradient",
        title="Libration of a satellite by the gradient of gravity",
        quantity="pitch, roll and yaw, over the orbit's rate [1]",
        source="closed form, Hughes 1986, 9.2",
        truth=libration_truth,
        known_digits=15,
        ours=libration,
        step="linearised",
        least_digits=8.0,
        scene=lambda: librating(0.4)[:2],
    ),
)
