"""Bobs on rods: the spherical pendulum by elliptic functions, cones, and chains in three dimensions.

E. T. Whittaker, "Analytical Dynamics", section 55; the mechanics survey, section 5. Small swings of n equal bobs on
equal rods have the squared frequencies g / l times the roots of Laguerre's polynomial of degree n (D. Bernoulli, 1732).
"""

import math
from functools import partial

import casadi as ca
import numpy as np
from scipy.special import ellipj, roots_laguerre

import sim
from sim.scene import Comparison
from studies.ledger.problem import Problem
from studies.reference.lagrange import LagrangianSystem, rates

GRAVITY, LENGTH_M = 9.81, 1.2
LEAN_RAD, TURN_RADPS, SWING_S = 1.1, 2.5, 4.0
CONE_RAD, BOBS, LINK_M = 0.7, 10, 0.3


def spherical_truth() -> float:
    """Height over the length: its rate's square is a cubic of it, whose roots bound it."""
    u0 = -math.cos(LEAN_RAD)
    axial = math.sin(LEAN_RAD) ** 2 * TURN_RADPS
    ratio = GRAVITY / LENGTH_M
    energy = 0.5 * (math.sin(LEAN_RAD) * TURN_RADPS) ** 2 + ratio * u0
    cubic = np.polymul([-1.0, 0.0, 1.0], [-2.0 * ratio, 2.0 * energy])
    cubic = np.polysub(cubic, [axial**2])
    low, middle, high = np.sort(np.roots(cubic).real)
    rate = math.sqrt(ratio * (high - low) / 2.0)
    modulus = (middle - low) / (high - low)
    if abs(u0 - low) < abs(u0 - middle):
        sn = ellipj(rate * SWING_S, modulus)[0]
        return float(low + (middle - low) * sn**2)
    _, cn, dn, _ = ellipj(rate * SWING_S, modulus)
    return float(low + (middle - low) * (cn / dn) ** 2)


def going_round(lean_rad: float, turn_radps: float) -> tuple[sim.Vehicle, sim.State]:
    """A bob on a rod that leans and goes about the vertical."""
    pendulum = sim.vehicle("pendulum", length=LENGTH_M, mass=0.8)
    d = np.array([math.sin(lean_rad), 0.0, -math.cos(lean_rad)])
    up = np.array([0.0, 0.0, turn_radps])
    return pendulum, pendulum.point(direction=d, omega=up - (up @ d) * d)  # type: ignore[attr-defined]


def spherical() -> float:
    """Height over the length, as `direction` leads down."""
    pendulum, start = going_round(LEAN_RAD, TURN_RADPS)
    run = sim.simulate(pendulum, "rkmk54", step=1e-3, duration=SWING_S, initial=start)
    return float(run.pose[-1, 2])


def cone_radps() -> float:
    """About the vertical: sqrt(g / (l cos))."""
    return math.sqrt(GRAVITY / (LENGTH_M * math.cos(CONE_RAD)))


def cone_truth() -> np.ndarray:
    """(3,) direction after 100 s on a cone."""
    turned = 100.0 * cone_radps()
    s, c = math.sin(CONE_RAD), math.cos(CONE_RAD)
    return np.array([s * math.cos(turned), s * math.sin(turned), -c])


def cone() -> np.ndarray:
    """(3,)"""
    pendulum, start = going_round(CONE_RAD, cone_radps())
    run = sim.simulate(pendulum, "rkmk54", step=2e-3, duration=100.0, initial=start)
    return np.asarray(run.pose[-1, :3])


THREE_M, THREE_KG, THREE_S = (1.0, 0.7, 0.5), (0.5, 1.0, 0.8), 2.0
THREE_LEAN = np.array([[0.6, 0.3, -1.0], [-0.2, 0.5, -1.0], [0.4, -0.7, -1.0]])
THREE_PUSH = np.array([[0.5, -0.4, 0.1], [0.2, 0.9, -0.3], [-0.6, 0.2, 0.5]])


def three_starts() -> tuple[np.ndarray, np.ndarray]:
    """(3, 3) directions and turning rates across them."""
    d = THREE_LEAN / np.linalg.norm(THREE_LEAN, axis=1)[:, None]
    w = THREE_PUSH - np.sum(THREE_PUSH * d, axis=1)[:, None] * d
    return d, w


def three_truth() -> np.ndarray:
    """(9,) directions, from places of the bobs with multipliers for the rods' lengths."""
    x, v = ca.SX.sym("x", 9), ca.SX.sym("v", 9)
    ends, masses = [ca.SX.zeros(3), x[:3], x[3:6], x[6:]], np.array(THREE_KG)
    value = sum(
        m * (ca.sumsqr(v[3 * k : 3 * k + 3]) / 2 - GRAVITY * x[3 * k + 2]) for k, m in enumerate(masses)
    )
    d, w = three_starts()
    lengths = np.array(THREE_M)[:, None]
    system = LagrangianSystem(
        q=x,
        v=v,
        lagrangian=value,
        holonomic=ca.vertcat(
            *[(ca.sumsqr(ends[k + 1] - ends[k]) - length**2) / 2 for k, length in enumerate(THREE_M)]
        ),
    )
    begun = np.cumsum(lengths * d, axis=0).ravel(), np.cumsum(lengths * np.cross(w, d), axis=0).ravel()
    at = system.moved(*begun, THREE_S)[0].reshape(3, 3)
    return np.asarray((np.diff(at, axis=0, prepend=np.zeros((1, 3))) / lengths).ravel())


def three_bobs() -> tuple[sim.Vehicle, sim.State]:
    """One below the other."""
    pendulum = sim.vehicle("pendulum", links=3, length=THREE_M, mass=THREE_KG)
    d, w = three_starts()
    parts = {f"direction_{k + 1}": d[k] for k in range(3)} | {f"omega_{k + 1}": w[k] for k in range(3)}
    return pendulum, pendulum.point(**parts)  # type: ignore[attr-defined]


def three() -> np.ndarray:
    """(9,) directions."""
    pendulum, start = three_bobs()
    run = sim.simulate(pendulum, "rkmk54", step=5e-4, duration=THREE_S, initial=start)
    at = pendulum.space.slices
    return np.concatenate([run.pose[-1, at[f"direction_{k + 1}"]] for k in range(3)])


def hanging_truth() -> np.ndarray:
    """(10,) rad/s."""
    return np.sqrt(GRAVITY / LINK_M * np.sort(roots_laguerre(BOBS)[0]))


def chain(lean_rad: float) -> tuple[sim.Vehicle, sim.State]:
    """Ten bobs in a straight line from where it hangs."""
    pendulum = sim.vehicle("pendulum", links=BOBS, length=LINK_M, mass=0.3)
    d = (math.sin(lean_rad), 0.0, -math.cos(lean_rad))
    parts = {f"direction_{k + 1}": d for k in range(BOBS)}
    return pendulum, pendulum.point(**parts)  # type: ignore[attr-defined]


def hanging() -> np.ndarray:
    """(10,) rad/s, each of which is there in two planes."""
    found = sim.linearise(*chain(0.0))
    return np.sort(found.eigenvalues.imag[found.eigenvalues.imag > 0.0])[::2]


SURVEY_S = 3.0


def survey(links: int, length_m: float = 1.0) -> tuple[sim.Vehicle, sim.State]:
    """As the survey's section 5 starts its chains: all rods lean up at 45 degrees and turn alike, in one plane."""
    pendulum = sim.vehicle("pendulum", links=links, length=length_m, mass=1.0)
    s = math.sqrt(0.5)
    parts: dict[str, tuple[float, ...]] = {}
    for k in range(links):
        parts |= {f"direction_{k + 1}": (s, 0.0, s), f"omega_{k + 1}": (0.0, 1.0, 0.0)}
    return pendulum, pendulum.point(**parts)  # type: ignore[attr-defined]


def survey_truth(links: int) -> np.ndarray:
    """(2 N,) level and vertical parts of the directions, by the angles from hanging of rods in a plane."""
    a, w = ca.SX.sym("a", links), ca.SX.sym("w", links)
    at, value = ca.SX.zeros(2), ca.SX(0)
    for k in range(links):
        at += ca.vertcat(ca.sin(a[k]), -ca.cos(a[k]))
        value += ca.sumsqr(rates(at, a, w)) / 2 - GRAVITY * at[1]
    system = LagrangianSystem(q=a, v=w, lagrangian=value)
    # Turning about y takes what is up to x: the angle from hanging becomes less.
    end = system.moved(np.full(links, 0.75 * math.pi), -np.ones(links), SURVEY_S)[0]
    return np.r_[np.sin(end), -np.cos(end)]


def surveyed(links: int, step_s: float) -> np.ndarray:
    """(2 N,)"""
    pendulum, start = survey(links)
    run = sim.simulate(pendulum, "rkmk54", step=step_s, duration=SURVEY_S, initial=start)
    at = pendulum.space.slices  # type: ignore[attr-defined]
    directions = np.array([run.pose[-1, at[f"direction_{k + 1}"]] for k in range(links)])
    return directions[:, [0, 2]].T.ravel()


PROBLEMS = (
    Problem(
        name="spherical-pendulum",
        title="Spherical pendulum",
        quantity="height over length at 4 s [1]",
        source="closed form, Jacobi's elliptic functions",
        truth=spherical_truth,
        known_digits=13,
        ours=spherical,
        step="rkmk54, 1 ms",
        motion_s=SWING_S,
        least_digits=9.0,
        scene=lambda: going_round(LEAN_RAD, TURN_RADPS),
    ),
    Problem(
        name="conical-pendulum",
        title="Conical pendulum for 100 s",
        quantity="direction [1]",
        source="closed form, Huygens 1673",
        truth=cone_truth,
        known_digits=13,
        ours=cone,
        step="rkmk54, 2 ms",
        motion_s=100.0,
        least_digits=8.0,
        scene=lambda: going_round(CONE_RAD, cone_radps()),
    ),
    Problem(
        name="three-bobs",
        title="Three bobs in three dimensions",
        quantity="directions of the rods at 2 s [1]",
        source="studies.reference, plain coordinates with multipliers",
        truth=three_truth,
        known_digits=12,
        ours=three,
        step="rkmk54, 0.5 ms",
        motion_s=THREE_S,
        least_digits=8.0,
        scene=three_bobs,
    ),
    Problem(
        name="hanging-chain",
        title="Small swings of a chain of ten bobs",
        quantity="frequencies [rad/s]",
        source="closed form, Laguerre's polynomial",
        truth=hanging_truth,
        known_digits=14,
        ours=hanging,
        step="linearised",
        least_digits=11.0,
        scene=lambda: chain(0.35),
    ),
    *(
        Problem(
            name=f"survey-{words}-pendula",
            title=f"The mechanics survey's chain of {words} pendula",
            quantity="directions of the rods at 3 s [1]",
            source="studies.reference, angles in a plane; start of the survey's figure 8",
            truth=partial(survey_truth, links),
            known_digits=11,
            ours=partial(surveyed, links, step_s),
            step=f"rkmk54, {1e3 * step_s:g} ms",
            motion_s=SURVEY_S,
            least_digits=8.0,
            scene=partial(survey, links, 1.2 / links),
            shown=lambda: {"comparison": Comparison(bearing_deg=70.0, distance=2.3)},
        )
        for words, links, step_s in (("two", 2, 1e-3), ("twenty", 20, 1e-3))
    ),
)
