"""Planar chains and linkages of rods against equations that were derived without trees.

The double pendulum's are Lagrange's, the four-bar's those with multipliers, both by CasADi and integrated by DOP853
with a tolerance of 1e-13. Rods are slender and uniform.
"""

from functools import cache

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import ellipj

from sim.multibody.declaration import Body, Joint, Loop
from sim.multibody.tree import Tree, tree
from sim.steppers.bound_tree import ORDER_6, BoundTree, advance_composed
from studies.ledger.problem import Problem

GRAVITY = 9.81
PENDULUM_M, PENDULUM_RAD, PENDULUM_S = (1.0, 0.7), np.array([2.0, 0.6]), 2.0
BAR_M, CRANK_RAD, BAR_S = (1.0, 2.75, 2.0), 1.2, 1.5
BEARING_M = 2.5


def rods(lengths: tuple[float, ...]) -> Tree:
    """One after the other from the origin, 1 kg a metre; angles from x, up is y."""
    bodies, parent, at = [], "world", 0.0
    for k, length in enumerate(lengths):
        across = length**3 / 12.0
        bodies.append(
            Body(
                f"rod {k}",
                parent,
                Joint("revolute", axis=(0.0, 0.0, 1.0)),
                position=(at, 0.0, 0.0),
                mass=length,
                centre=(0.5 * length, 0.0, 0.0),
                inertia=(1e-3 * across, across, across),
            )
        )
        parent, at = f"rod {k}", length
    return tree(bodies, (0.0, -GRAVITY, 0.0))


@cache
def lagrangian_terms(lengths: tuple[float, ...]) -> ca.Function:
    """(absolute angles, rates) -> mass matrix, force, ends' Jacobian and what it leaves at no acceleration."""
    n = len(lengths)
    a, w = ca.SX.sym("a", n), ca.SX.sym("w", n)
    at, energy, weight = ca.SX.zeros(2), ca.SX(0), ca.SX(0)
    for k, length in enumerate(lengths):
        along = length * ca.vertcat(ca.cos(a[k]), ca.sin(a[k]))
        velocity = ca.jtimes(at + along / 2, a, w)
        energy += length * ca.sumsqr(velocity) / 2 + length**3 * w[k] ** 2 / 24
        weight += length * GRAVITY * (at + along / 2)[1]
        at += along
    momenta = ca.gradient(energy, w)
    force = ca.gradient(energy - weight, a) - ca.jtimes(momenta, a, w)
    J = ca.jacobian(at, a)
    left = ca.jtimes(J @ w, a, w)
    return ca.Function("terms", [a, w], [ca.jacobian(momenta, w), force, J, left])


def reference(lengths: tuple[float, ...], angles: np.ndarray, seconds: float, *, closed: bool) -> np.ndarray:
    """(n,) absolute angles at the end, from rest."""
    terms, n = lagrangian_terms(lengths), len(lengths)

    def rate(_: float, x: np.ndarray) -> np.ndarray:
        mass, force, J, left = (np.asarray(part, float) for part in terms(x[:n], x[n:]))
        if not closed:
            return np.r_[x[n:], np.linalg.solve(mass, force).ravel()]
        both = np.block([[mass, J.T], [J, np.zeros((2, 2))]])
        return np.r_[x[n:], np.linalg.solve(both, np.vstack([force, -left])).ravel()[:n]]

    run = solve_ivp(rate, (0.0, seconds), np.r_[angles, np.zeros(n)], method="DOP853", rtol=1e-13, atol=1e-13)
    return np.asarray(run.y[:n, -1])


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


def moved(
    lengths: tuple[float, ...],
    angles: np.ndarray,
    seconds: float,
    step_s: float,
    loops: tuple[Loop, ...] = (),
) -> np.ndarray:
    """(n,) absolute angles at the end, from rest, by the composition of sixth order."""
    bound = BoundTree(rods(lengths), step_s, loops=loops, tolerance=1e-14)
    motion = bound.start(np.diff(angles, prepend=0.0), np.zeros(len(lengths)))
    advance_composed(bound, motion, round(seconds / step_s), step_s, ORDER_6)
    return np.cumsum(motion.q)


def by_mujoco(lengths: tuple[float, ...], angles: np.ndarray, seconds: float, step_s: float) -> np.ndarray:
    """The same by its Runge-Kutta method. Raises ImportError without it."""
    import mujoco

    inner = ""
    for k in reversed(range(len(lengths))):
        length, at = lengths[k], lengths[k - 1] if k else 0.0
        across = length**3 / 12.0
        inner = (
            f'<body pos="{at} 0 0"><joint axis="0 0 1"/><inertial pos="{length / 2} 0 0" mass="{length}" '
            f'diaginertia="{across} {across} {across}"/>{inner}</body>'
        )
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option gravity="0 -{GRAVITY} 0" integrator="RK4" timestep="{step_s}"/>'
        f"<worldbody>{inner}</worldbody></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qpos[:] = np.diff(angles, prepend=0.0)
    for _ in range(round(seconds / step_s)):
        mujoco.mj_step(model, data)
    return np.cumsum(data.qpos)


def energy_drift(parts: tuple[float, ...], step_s: float, seconds: int) -> float:
    """One and the largest change of energy over so many seconds in units of its range."""
    bound = BoundTree(rods(PENDULUM_M), step_s, tolerance=1e-14)
    motion = bound.start(np.diff(PENDULUM_RAD, prepend=0.0), np.zeros(2))
    first, worst = bound.energy_J(motion), 0.0
    for _ in range(seconds):
        advance_composed(bound, motion, round(1.0 / step_s), step_s, parts)
        worst = max(worst, abs(bound.energy_J(motion) - first))
    a, b = PENDULUM_M
    return 1.0 + worst / (2.0 * GRAVITY * (a * a / 2.0 + b * (a + b / 2.0)))


CLOSED = (Loop("rod 2", (BAR_M[2], 0.0, 0.0), other_point=(BEARING_M, 0.0, 0.0)),)
ROD_M, ROD_RAD, ROD_S = (0.8,), np.array([1.1]), 3.0


def pendulum_truth() -> float:
    """Angle of one rod from x, from rest: sin(phi / 2) = k cd(rate t), phi from where it hangs."""
    k = np.sin((ROD_RAD[0] + np.pi / 2) / 2)
    _, cn, dn, _ = ellipj(np.sqrt(1.5 * GRAVITY / ROD_M[0]) * ROD_S, k**2)
    return float(2.0 * np.arcsin(k * cn / dn) - np.pi / 2)


DERIVED = "own equations (CasADi), DOP853 at 1e-13"

PROBLEMS = (
    Problem(
        name="pendulum",
        title="A rod that swings about its end (A01)",
        quantity="angle at 3 s [rad]",
        source="closed form, Jacobi's elliptic functions",
        truth=pendulum_truth,
        known_digits=13,
        ours=lambda: moved(ROD_M, ROD_RAD, ROD_S, 5e-3),
        step="riqn composed, order 6, 5 ms",
        least_digits=9.0,
        peer=("MuJoCo RK4", lambda: by_mujoco(ROD_M, ROD_RAD, ROD_S, 5e-3)),
    ),
    Problem(
        name="double-pendulum",
        title="Double pendulum of rods",
        quantity="absolute angles at 2 s [rad]",
        source=DERIVED,
        truth=lambda: reference(PENDULUM_M, PENDULUM_RAD, PENDULUM_S, closed=False),
        known_digits=12,
        ours=lambda: moved(PENDULUM_M, PENDULUM_RAD, PENDULUM_S, 2e-3),
        step="riqn composed, order 6, 2 ms",
        least_digits=9.0,
        peer=("MuJoCo RK4", lambda: by_mujoco(PENDULUM_M, PENDULUM_RAD, PENDULUM_S, 2e-3)),
    ),
    Problem(
        name="double-pendulum-energy",
        title="Double pendulum of rods, energy over 20 s",
        quantity="1 + largest change of energy over its range [1]",
        source="conservation",
        truth=lambda: 1.0,
        known_digits=15,
        ours=lambda: energy_drift(ORDER_6, 5e-3, 20),
        step="riqn composed, order 6, 5 ms",
        least_digits=8.0,
    ),
    Problem(
        name="double-pendulum-energy-riqn",
        title="The same over 100 s by the plain variational step",
        quantity="1 + largest change of energy over its range [1]",
        source="conservation",
        truth=lambda: 1.0,
        known_digits=15,
        ours=lambda: energy_drift((1.0,), 1e-2, 100),
        step="riqn, 10 ms",
        least_digits=2.0,
        reason="a variational method's energy oscillates by its order, and does not drift",
    ),
    Problem(
        name="four-bar",
        title="Four-bar linkage, falling from rest",
        quantity="absolute angles at 1.5 s [rad]",
        source=DERIVED,
        truth=lambda: reference(BAR_M, bar_angles(), BAR_S, closed=True),
        known_digits=12,
        ours=lambda: moved(BAR_M, bar_angles(), BAR_S, 5e-3, CLOSED),
        step="riqn with a loop composed, order 6, 5 ms",
        least_digits=8.0,
    ),
)
