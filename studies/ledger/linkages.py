"""Planar chains and linkages of rods, slender and uniform, against equations that were derived without trees.

A02: M. Gonzalez, D. Dopico, U. Lugris, J. Cuadrado, "A benchmarking system for MBS simulation software", Multibody
System Dynamics 16, 2006. Its parallelograms have one freedom, which is a pendulum's.
"""

from functools import cache, partial

import casadi as ca
import numpy as np
from scipy.special import ellipj, ellipkinc

from sim.multibody.declaration import Body, Joint, Loop
from sim.scene import Comparison
from sim.steppers.bound_tree import BoundTree
from studies.ledger.composed import ORDER_6, ORDER_8, advance_composed
from studies.ledger.mechanism import Mechanism, extrapolated
from studies.ledger.peers import peers_of
from studies.ledger.problem import Problem
from studies.reference.lagrange import LagrangianSystem, rates

GRAVITY = 9.81
DOWN = (0.0, -GRAVITY, 0.0)
PENDULUM_M, PENDULUM_RAD, PENDULUM_S = (1.0, 0.7), np.array([2.0, 0.6]), 2.0
BAR_M, CRANK_RAD, BAR_S = (1.0, 2.75, 2.0), 1.2, 1.5
BEARING_M = 2.5
ACROBOT_GRAVITY = 9.8
ACROBOT_DRIFTS = {0.2: "3.554e-3", 0.05: "4.189e-6", 0.01: "1.519e-8"}
"""Of Runge's and Kutta's method at steps of so many seconds, over 100 s, as Gymnasium's issue 1714 tells them."""


def rod(name: str, parent: str, at: float, length: float) -> Body:
    """From its joint along x, 1 kg a metre; the joint is at x = `at` of the parent."""
    across = length**3 / 12.0
    return Body(
        name,
        parent,
        Joint("revolute", axis=(0.0, 0.0, 1.0)),
        position=(at, 0.0, 0.0),
        mass=length,
        centre=(0.5 * length, 0.0, 0.0),
        inertia=(1e-3 * across, across, across),
    )


def chain(lengths: tuple[float, ...], angles: np.ndarray, loops: tuple[Loop, ...] = ()) -> Mechanism:
    """One rod after the other from the origin, at rest; absolute angles from x, up is y."""
    bodies = [
        rod(f"rod {k}", f"rod {k - 1}" if k else "world", lengths[k - 1] if k else 0.0, length)
        for k, length in enumerate(lengths)
    ]
    return Mechanism(bodies=bodies, gravity_w=DOWN, loops=loops, q=np.diff(angles, prepend=0.0))


@cache
def plane(lengths: tuple[float, ...], bearing: tuple[float, float] | None) -> LagrangianSystem:
    """The same in absolute angles; the last rod's end at a bearing where there is one."""
    n = len(lengths)
    a, w = ca.SX.sym("a", n), ca.SX.sym("w", n)
    at, value = ca.SX.zeros(2), ca.SX(0)
    for k, length in enumerate(lengths):
        along = length * ca.vertcat(ca.cos(a[k]), ca.sin(a[k]))
        middle = at + along / 2
        value += length * (
            ca.sumsqr(rates(middle, a, w)) / 2 + (length * w[k]) ** 2 / 24 - GRAVITY * middle[1]
        )
        at += along
    closed = ca.SX(0, 1) if bearing is None else at - ca.SX(bearing)
    return LagrangianSystem(q=a, v=w, lagrangian=value, holonomic=closed)


def reference(
    lengths: tuple[float, ...], angles: np.ndarray, seconds: float, bearing: tuple[float, float] | None = None
) -> np.ndarray:
    """(n,) absolute angles at the end, from rest."""
    return plane(lengths, bearing).moved(angles, np.zeros(len(lengths)), seconds)[0]


def bar_angles() -> np.ndarray:
    """(3,) rad, absolute: circles of coupler and rocker about their ends meet above."""
    a, b, c = BAR_M
    pin = a * np.array([np.cos(CRANK_RAD), np.sin(CRANK_RAD)])
    bearing = np.array([BEARING_M, 0.0])
    far = float(np.linalg.norm(bearing - pin))
    along = (b**2 - c**2 + far**2) / (2.0 * far)
    x, y = (bearing - pin) / far
    top = pin + along * np.array([x, y]) + np.sqrt(b**2 - along**2) * np.array([-y, x])
    return np.array([CRANK_RAD, *(np.arctan2(*(to - at)[::-1]) for at, to in ((pin, top), (top, bearing)))])


def ours(of: Mechanism, seconds: float, step_s: float) -> np.ndarray:
    """(n,) absolute angles of a chain by the composition of sixth order."""
    return np.cumsum(of.moved(seconds, step_s, ORDER_6)[0])


def absolute(moved: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """(n,) angles of a chain that a peer has moved."""
    return np.cumsum(moved[0])


def energy_drift(
    of: Mechanism, unit_J: float, parts: tuple[float, ...], step_s: float, seconds: int
) -> float:
    """One and the largest change of energy, looked at each second, in that unit."""
    bound = BoundTree(of.tree, step_s, tolerance=1e-15)
    motion = bound.start(of.start.q, of.start.v)
    first, worst = bound.energy_J(motion), 0.0
    for _ in range(seconds):
        advance_composed(bound, motion, round(1.0 / step_s), step_s, parts)
        worst = max(worst, abs(bound.energy_J(motion) - first))
    return 1.0 + worst / unit_J


def acrobot() -> Mechanism:
    """Gymnasium's: rods of 1 m and 1 kg, each of 1 kg m^2 about its middle, which starts a tenth off from hanging."""
    bodies = [
        Body(
            name,
            parent,
            Joint("revolute", axis=(0.0, 0.0, 1.0)),
            position=(at, 0.0, 0.0),
            mass=1.0,
            centre=(0.5, 0.0, 0.0),
            inertia=(1e-3, 1.0, 1.0),
        )
        for name, parent, at in (("upper", "world", 0.0), ("lower", "upper", 1.0))
    ]
    return Mechanism(
        bodies=bodies,
        gravity_w=(0.0, -ACROBOT_GRAVITY, 0.0),
        q={"upper": 0.1 - 0.5 * np.pi, "lower": 0.1},
        v={"upper": 0.1, "lower": 0.1},
    )


PENDULUM_J = (
    2.0 * GRAVITY * (PENDULUM_M[0] ** 2 / 2.0 + PENDULUM_M[1] * (PENDULUM_M[0] + PENDULUM_M[1] / 2.0))
)
"""Between the lowest and the highest."""
ACROBOT_J = 2.0 * ACROBOT_GRAVITY
"""Of the acrobot's energy as it hangs, measured from its pivot, about which it is: 0.5 + 1.5 kg m."""
ROD_M, ROD_RAD, ROD_S = (0.8,), np.array([1.1]), 3.0
SINGLE, DOUBLE, ACROBOT = chain(ROD_M, ROD_RAD), chain(PENDULUM_M, PENDULUM_RAD), acrobot()
LINKS_M, LINKS_RAD, LINKS_S = (0.2,) * 10, np.linspace(0.0, -0.9, 10), 1.0
"""Of the chain by which the multibody paper shows what its steps cost and keep."""
LINKS_J = 2.0 * GRAVITY * sum(LINKS_M) ** 2 / 2.0
LINKS = chain(LINKS_M, LINKS_RAD)
FOUR_BAR = chain(
    BAR_M, bar_angles(), (Loop("rod 2", (BAR_M[2], 0.0, 0.0), other_point=(BEARING_M, 0.0, 0.0)),)
)


def pendulum_truth() -> float:
    """Angle of one rod from x, from rest: sin(phi / 2) = k cd(rate t), phi from where it hangs."""
    k = np.sin((ROD_RAD[0] + np.pi / 2) / 2)
    _, cn, dn, _ = ellipj(np.sqrt(1.5 * GRAVITY / ROD_M[0]) * ROD_S, k**2)
    return float(2.0 * np.arcsin(k * cn / dn) - np.pi / 2)


def parallelograms(n: int) -> Mechanism:
    """n four-bars of rods of 1 m in a row, upright, their tops at 1 m/s along x."""
    bodies, loops = [rod("rod 0", "world", 0.0, 1.0)], []
    for k in range(1, n + 1):
        bodies += [rod(f"coupler {k}", f"rod {k - 1}", 1.0, 1.0), rod(f"rod {k}", "world", float(k), 1.0)]
        loops.append(Loop(f"coupler {k}", (1.0, 0.0, 0.0), f"rod {k}", (1.0, 0.0, 0.0)))
    upright = {body.name: 1.0 if body.parent == "world" else -1.0 for body in bodies}
    return Mechanism(
        bodies=bodies,
        gravity_w=DOWN,
        loops=loops,
        q={name: 0.5 * np.pi * sign for name, sign in upright.items()},
        v={name: -sign for name, sign in upright.items()},
    )


def top_truth(n: int, seconds: float) -> np.ndarray:
    """(4,) place and velocity of the first rod's end: it goes round, sin(angle / 2) = sn of time."""
    inertia, moment = (n + 1) / 3 + n, (n + 1) / 2 + n
    squared = 2.0 * GRAVITY * moment / inertia
    # Down from upright by `fallen`: rate^2 = 1 + squared (1 - cos fallen), and half of it from below is an amplitude.
    largest = 1.0 + 2.0 * squared
    modulus = 2.0 * squared / largest
    along = 0.5 * np.sqrt(largest) * seconds - ellipkinc(0.5 * np.pi, modulus)
    sn, cn, dn, _ = ellipj(along, modulus)
    s, c = 2.0 * sn * cn, 1.0 - 2.0 * sn * sn  # of the angle from where it hangs, clockwise
    rate = np.sqrt(largest) * dn
    return np.array([-s, -c, -c * rate, s * rate])


TOP_S = 10.0


def top(moved: tuple[np.ndarray, np.ndarray]) -> np.ndarray:
    """(4,) by a method, of coordinates and velocities."""
    (angle, *_), (rate, *_) = moved
    s, c = np.sin(angle), np.cos(angle)
    return np.array([c, s, -s * rate, c * rate])


DERIVED = "studies.reference, plain coordinates"

PROBLEMS = (
    Problem(
        name="pendulum",
        title="A rod that swings about its end (A01)",
        quantity="angle at 3 s [rad]",
        source="closed form, Jacobi's elliptic functions",
        truth=pendulum_truth,
        known_digits=13,
        ours=lambda: ours(SINGLE, ROD_S, 5e-3),
        step="riqn composed, order 6, 5 ms",
        motion_s=ROD_S,
        least_digits=9.0,
        scene=lambda: SINGLE.opened("ledger-pendulum"),
        peers=peers_of(SINGLE, ROD_S, 5e-3, absolute),
    ),
    Problem(
        name="double-pendulum",
        title="Double pendulum of rods",
        quantity="absolute angles at 2 s [rad]",
        source=DERIVED,
        truth=lambda: reference(PENDULUM_M, PENDULUM_RAD, PENDULUM_S),
        known_digits=12,
        ours=lambda: ours(DOUBLE, PENDULUM_S, 2e-3),
        step="riqn composed, order 6, 2 ms",
        motion_s=PENDULUM_S,
        least_digits=9.0,
        scene=lambda: DOUBLE.opened("ledger-double-pendulum"),
        peers=peers_of(DOUBLE, PENDULUM_S, 2e-3, absolute),
    ),
    Problem(
        name="double-pendulum-energy",
        title="Double pendulum of rods, energy over 20 s",
        quantity="1 + largest change of energy over its range [1]",
        source="conservation",
        truth=lambda: 1.0,
        known_digits=15,
        ours=lambda: energy_drift(DOUBLE, PENDULUM_J, ORDER_6, 5e-3, 20),
        step="riqn composed, order 6, 5 ms",
        motion_s=20.0,
        least_digits=8.0,
        scene=lambda: DOUBLE.opened("ledger-double-pendulum-energy"),
        pictured_by="double-pendulum",
    ),
    Problem(
        name="double-pendulum-energy-100-s",
        title="The same over 100 s",
        quantity="1 + largest change of energy over its range [1]",
        source="conservation",
        truth=lambda: 1.0,
        known_digits=15,
        ours=lambda: energy_drift(DOUBLE, PENDULUM_J, ORDER_8, 5e-3, 100),
        step="riqn composed, order 8, 5 ms",
        motion_s=100.0,
        least_digits=8.0,
        scene=lambda: DOUBLE.opened("ledger-double-pendulum-energy-100-s"),
        pictured_by="double-pendulum",
    ),
    Problem(
        name="double-pendulum-energy-riqn",
        title="The double pendulum over 100 s of the plain variational method",
        quantity="1 + largest change of energy over its range [1]",
        source="conservation",
        truth=lambda: 1.0,
        known_digits=15,
        ours=lambda: energy_drift(DOUBLE, PENDULUM_J, (1.0,), 5e-3, 100),
        step="riqn, 5 ms",
        motion_s=100.0,
        least_digits=2.0,
        reason="a variational method's energy oscillates by its order, and does not drift",
        scene=lambda: DOUBLE.opened("ledger-double-pendulum-energy-riqn"),
        another_way_of="double-pendulum-energy-100-s",
        pictured_by="double-pendulum",
    ),
    Problem(
        name="ten-links",
        title="The multibody paper's chain of ten links",
        quantity="absolute angles at 1 s [rad]",
        source=DERIVED,
        truth=lambda: reference(LINKS_M, LINKS_RAD, LINKS_S),
        known_digits=12,
        ours=lambda: ours(LINKS, LINKS_S, 1e-3),
        step="riqn composed, order 6, 1 ms",
        motion_s=LINKS_S,
        least_digits=8.0,
        scene=lambda: LINKS.opened("ledger-ten-links"),
        shown=lambda: {"comparison": Comparison(distance=0.18)},
        peers=peers_of(LINKS, LINKS_S, 1e-3, absolute),
    ),
    Problem(
        name="ten-links-energy",
        title="The same, energy over 20 s",
        quantity="1 + largest change of energy over its range [1]",
        source="conservation",
        truth=lambda: 1.0,
        known_digits=15,
        ours=lambda: energy_drift(LINKS, LINKS_J, ORDER_8, 1e-3, 20),
        step="riqn composed, order 8, 1 ms",
        motion_s=20.0,
        least_digits=8.0,
        scene=lambda: LINKS.opened("ledger-ten-links-energy"),
        shown=lambda: {"comparison": Comparison(distance=0.18)},
        pictured_by="ten-links",
    ),
    Problem(
        name="ten-links-energy-100-s",
        title="The same over 100 s",
        quantity="1 + largest change of energy over its range [1]",
        source="conservation",
        truth=lambda: 1.0,
        known_digits=15,
        ours=lambda: energy_drift(LINKS, LINKS_J, ORDER_6, 5e-4, 100),
        step="riqn composed, order 6, 0.5 ms",
        motion_s=100.0,
        least_digits=8.0,
        scene=lambda: LINKS.opened("ledger-ten-links-energy-100-s"),
        shown=lambda: {"comparison": Comparison(distance=0.18)},
        pictured_by="ten-links",
    ),
    Problem(
        name="ten-links-energy-riqn",
        title="The ten links over 10^5 steps of the plain variational method",
        quantity="1 + largest change of energy over its range [1]",
        source="conservation",
        truth=lambda: 1.0,
        known_digits=15,
        ours=lambda: energy_drift(LINKS, LINKS_J, (1.0,), 1e-3, 100),
        step="riqn, 1 ms",
        motion_s=100.0,
        least_digits=2.0,
        reason="a variational method's energy oscillates by its order, and does not drift",
        scene=lambda: LINKS.opened("ledger-ten-links-energy-riqn"),
        shown=lambda: {"comparison": Comparison(distance=0.18)},
        another_way_of="ten-links-energy-100-s",
        pictured_by="ten-links",
    ),
    *(
        Problem(
            name=f"acrobot-{round(1e3 * step_s)}-ms",
            title=f"Acrobot let swing for 100 s by steps of {step_s:g} s, where Gymnasium's energy drifts by {drift}",
            quantity="1 + largest change of energy over its first amount [1]",
            source="conservation; Gymnasium, issue 1714",
            truth=lambda: 1.0,
            known_digits=15,
            ours=partial(energy_drift, ACROBOT, ACROBOT_J, ORDER_8, step_s, 100),
            step=f"riqn composed, order 8, {step_s:g} s",
            motion_s=100.0,
            least_digits=8.0,
            scene=partial(ACROBOT.opened, f"ledger-acrobot-{round(1e3 * step_s)}-ms"),
            pictured_by="" if step_s == max(ACROBOT_DRIFTS) else "acrobot-200-ms",
        )
        for step_s, drift in ACROBOT_DRIFTS.items()
    ),
    Problem(
        name="four-bar",
        title="Four-bar linkage, falling from rest",
        quantity="absolute angles at 1.5 s [rad]",
        source=DERIVED,
        truth=lambda: reference(BAR_M, bar_angles(), BAR_S, (BEARING_M, 0.0)),
        known_digits=12,
        ours=lambda: ours(FOUR_BAR, BAR_S, 5e-3),
        step="riqn with a loop composed, order 6, 5 ms",
        motion_s=BAR_S,
        least_digits=8.0,
        scene=lambda: FOUR_BAR.opened("ledger-four-bar"),
        peers=peers_of(FOUR_BAR, BAR_S, 5e-3, absolute),
    ),
    Problem(
        name="two-four-bars",
        title="Two four-bars in a row, ten times through the singular pose (A02)",
        quantity="place and velocity of B0 at 10 s [m, m/s]",
        source="closed form, Jacobi's elliptic functions",
        truth=lambda: top_truth(2, TOP_S),
        known_digits=12,
        ours=lambda: top(parallelograms(2).moved(TOP_S, 8e-3, ORDER_6)),
        step="riqn with loops composed, order 6, 8 ms",
        motion_s=TOP_S,
        least_digits=8.0,
        scene=lambda: parallelograms(2).opened("ledger-two-four-bars"),
        peers=peers_of(parallelograms(2), TOP_S, 8e-3, top),
    ),
    Problem(
        name="forty-four-bars",
        title="Forty four-bars in a row, ten times through the singular pose (A02)",
        quantity="place and velocity of B0 at 10 s [m, m/s]",
        source="closed form, Jacobi's elliptic functions",
        truth=lambda: top_truth(40, TOP_S),
        known_digits=12,
        ours=lambda: extrapolated([top(parallelograms(40).moved(TOP_S, h)) for h in (2.5e-3, 1.25e-3)]),
        step="riqn with loops, 2.5, 1.25 ms extrapolated",
        motion_s=2.0 * TOP_S,
        least_digits=8.0,
        scene=lambda: parallelograms(40).enlarged(0.25).opened("ledger-forty-four-bars"),
        shown=lambda: {"comparison": Comparison(bearing_deg=30.0, distance=0.25)},
    ),
)
