"""The heavy top in three formulations, and the symplectic theta family on it (mechanics survey, figures 2 and 3)."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import casadi as ca
import numpy as np
from matplotlib.figure import Figure
from scipy.integrate import solve_ivp

import sim
from sim.groups import SE3, SO3, SO3_R3, LieGroup
from sim.integrators.lie_group import Method
from sim.integrators.lie_group_methods import LIE_GROUP
from sim.study.report import Claim, Options, Progress, Report
from sim.vehicles.heavy_top import HeavyTop

OMEGA = np.array([0.0, 150.0, -4.61538])
SLOW = np.array([0.4, 1.5, -0.8])
TOP = HeavyTop(mass=15.0, inertia=(15.234375, 0.46875, 15.234375), arm=(0.0, 1.0, 0.0))
"""The survey's own, spinning about body y."""
COLUMNS = ("what", "step_s", "value")
METHOD = next(m.method for m in LIE_GROUP if m.name == "rkmk5")


@dataclass(frozen=True)
class Formulation(ABC):
    """Equations (g, pi) -> (xi, pi') on some group, in the form that the Lie group methods take."""

    group: LieGroup
    top: HeavyTop
    omega: np.ndarray

    @property
    def numbers(self) -> tuple[np.ndarray, np.ndarray, float]:
        """Moments of inertia, arm, m g."""
        v = self.top.values
        return np.array(v["inertia"]), np.array(v["arm"]), float(np.multiply(v["mass"], v["gravity"]))

    @abstractmethod
    def rate(self, g: ca.SX, pi: ca.SX, moment: float = 0.0) -> tuple[ca.SX, ca.SX]:
        """(xi, pi') at (g, pi)."""

    @abstractmethod
    def start(self) -> np.ndarray:
        """(g, pi), turning with omega from the identity."""

    @abstractmethod
    def seen(self, state: np.ndarray) -> np.ndarray:
        """(Pi, Gamma): body momentum and the upward direction in the body, from rows of (g, pi)."""


class Canonical(Formulation):
    """T*SO(3), eqs. 21-22: the weight's torque turns the spatial momentum."""

    def rate(self, g: ca.SX, pi: ca.SX, moment: float = 0.0) -> tuple[ca.SX, ca.SX]:
        J, arm, weight = self.numbers
        Q = ca.reshape(g[:9], 3, 3)
        return (Q.T @ pi[:3]) / J, weight * ca.cross(ca.DM([0, 0, 1]), Q @ arm)

    def start(self) -> np.ndarray:
        return np.r_[np.eye(3).ravel(), self.numbers[0] * self.omega]

    def seen(self, state: np.ndarray) -> np.ndarray:
        Q = state[:, :9].reshape(-1, 3, 3).swapaxes(1, 2)
        return np.c_[np.einsum("kij,ki->kj", Q, state[:, 9:12]), Q[:, 2, :]]


class LiePoisson(Formulation):
    """se(3)*, eqs. 23-24: (Pi, Gamma) moves by the coadjoint action alone; pi is where it started."""

    def rate(self, g: ca.SX, pi: ca.SX, moment: float = 0.0) -> tuple[ca.SX, ca.SX]:
        J, arm, weight = self.numbers
        mu = SE3.Ad(g).T @ pi
        return ca.vertcat(mu[:3] / J, weight * arm), ca.SX(6, 1)

    def start(self) -> np.ndarray:
        return np.r_[SE3.identity(), self.numbers[0] * self.omega, 0.0, 0.0, 1.0]

    def seen(self, state: np.ndarray) -> np.ndarray:
        y = ca.SX.sym("y", 18)
        back = ca.Function("back", [y], [SE3.Ad(y[:12]).T @ y[12:]])
        return np.array(back(state.T)).T


class Quadratic(Formulation):
    """T*(SO(3) x R^3), eqs. 29-32: p = -m g l X is a momentum that stays, q' = p - Q^-1 Gamma."""

    def rate(self, g: ca.SX, pi: ca.SX, moment: float = 0.0) -> tuple[ca.SX, ca.SX]:
        J, arm, weight = self.numbers
        Q, p, up = ca.reshape(g[:9], 3, 3), -weight * arm, ca.DM([0, 0, 1])
        return ca.vertcat((Q.T @ pi[:3]) / J, p - Q.T @ up), ca.vertcat(-ca.cross(up, Q @ p), ca.SX(3, 1))

    def start(self) -> np.ndarray:
        return np.r_[SO3_R3.identity(), self.numbers[0] * self.omega, 0.0, 0.0, 0.0]

    def seen(self, state: np.ndarray) -> np.ndarray:
        Q = state[:, :9].reshape(-1, 3, 3).swapaxes(1, 2)
        return np.c_[np.einsum("kij,ki->kj", Q, state[:, 12:15]), Q[:, 2, :]]


def integrate(formulation: Formulation, h: float, steps: int, method: Method = METHOD) -> np.ndarray:
    """(steps+1, 6) of (Pi, Gamma) by an explicit Lie group method, of fifth order unless told otherwise."""
    size, dim = formulation.group.pose_dim, formulation.group.dim
    y = ca.SX.sym("y", size + dim)
    g, pi = method.step(formulation, y[:size], y[size:], ca.SX(h))  # type: ignore[arg-type]
    step = ca.Function("step", [y], [ca.vertcat(g, pi)], {"cse": True})
    states = np.array(step.mapaccum(steps)(formulation.start())).T
    return formulation.seen(np.vstack([formulation.start(), states]))


def run(options: Options, progress: Progress) -> Report:
    """One second for the formulations; 6000 steps of 0.01 s for the energy of the theta family."""
    top, seconds, h = TOP, options.seconds or 1.0, 1e-4
    kinds = {
        "T*SO(3)": Canonical(SO3, top, OMEGA),
        "se(3)*": LiePoisson(SE3, top, OMEGA),
        "T*(SO(3)xR3)": Quadratic(SO3_R3, top, OMEGA),
    }
    found = {}
    for i, (name, kind) in enumerate(kinds.items()):
        progress(name, i / 8)
        found[name] = integrate(kind, h, round(seconds / h))
    a, b, c = (run[:, 3:] for run in found.values())
    truth = _independent(top, seconds)
    apart = max(float(np.abs(run[-1, 3:] - truth).max()) for run in found.values())
    apart = max(apart, *(float(np.abs(x - y).max()) for x, y in ((a, b), (b, c))))
    poisson = found["se(3)*"]
    casimir = np.c_[(poisson[:, 3:] ** 2).sum(1), (poisson[:, :3] * poisson[:, 3:]).sum(1)]
    kept = float(np.abs(casimir / casimir[0] - 1)[:, [0]].max())
    kept_product = float(np.abs(casimir[:, 1] - casimir[0, 1]).max() / np.linalg.norm(poisson[0, :3]))

    thetas = ("symplectic-0", "symplectic-half", "symplectic-1")
    long = {}
    for i, name in enumerate(thetas):
        progress(name, (3 + i) / 8)
        run_ = sim.simulate(top, name, step=0.01, duration=60.0, initial=top.state(omega=OMEGA))
        long[name] = np.abs(run_.energy / run_.energy[0] - 1)
    orders = {name: _order(top, name) for name in thetas}
    rows = [
        ("formulations apart", h, apart),
        ("relative change of |Gamma|^2", h, kept),
        ("relative change of Pi.Gamma", h, kept_product),
        *((f"energy error {n}", 0.01, float(e.max())) for n, e in long.items()),
        *((f"order {n}", 0.002, o) for n, o in orders.items()),
    ]
    claims = [
        Claim(
            "The three formulations agree to 1e-9.",
            apart < 1e-9,
            f"largest difference in Gamma {apart:.1e}, an independent solution of Euler's equations included",
        ),
        Claim(
            "The action-based method keeps the coadjoint orbit to rounding.",
            max(kept, kept_product) < 1e-11,
            f"|Gamma|^2 to {kept:.1e}, Pi.Gamma to {kept_product:.1e} after {len(poisson) - 1} steps",
        ),
        Claim(
            "theta = 1/2 attains order 2, theta = 0 and 1 order 1.",
            abs(orders["symplectic-half"] - 2) < 0.15 and abs(orders["symplectic-0"] - 1) < 0.15,
            ", ".join(f"{n}: {o:.2f}" for n, o in orders.items()),
        ),
        Claim(
            "The energy error stays bounded over 6000 steps of 0.01 s.",
            all(e[-1000:].max() < 2 * e[:1000].max() for e in long.values()),
            ", ".join(f"{n}: {e.max():.1e}" for n, e in long.items()),
        ),
    ]
    return Report(COLUMNS, rows, _figure(top, a, long), claims)


def _independent(top: HeavyTop, seconds: float) -> np.ndarray:
    """Gamma at the end from Euler's equations, by a general-purpose solver."""
    J, arm, weight = Canonical(SO3, top, OMEGA).numbers

    def rate(_: float, s: np.ndarray) -> np.ndarray:
        omega = s[:3] / J
        return np.r_[np.cross(s[:3], omega) + weight * np.cross(s[3:], arm), np.cross(s[3:], omega)]

    start = np.r_[J * OMEGA, 0.0, 0.0, 1.0]
    return solve_ivp(rate, (0.0, seconds), start, method="DOP853", rtol=1e-12, atol=1e-12).y[3:, -1]


def _order(top: HeavyTop, name: str) -> float:
    """Of the vertical in the body, for a spin at which h |omega| is small at these steps."""
    exact = integrate(Canonical(SO3, top, SLOW), 1e-3, 1000)[-1, 3:]
    errors = []
    for h in (4e-3, 2e-3):
        run = sim.simulate(top, name, step=h, duration=1.0, initial=top.state(omega=SLOW))
        errors.append(np.abs(run.pose[-1][2] - exact).max())
    return float(np.log2(errors[0] / errors[1]))


def _figure(top: HeavyTop, up: np.ndarray, long: dict[str, np.ndarray]) -> Figure:
    figure = Figure(figsize=(13, 4.2))
    weight = float(np.linalg.norm(np.multiply(top.values["mass"], top.values["arm"])))
    axis = figure.add_subplot(1, 3, 1, projection="3d")
    axis.plot(*(weight * up).T, lw=0.6)
    axis.set_title("m l Q'Gamma", fontsize=9)
    axis = figure.add_subplot(1, 3, 2)
    axis.plot(np.linspace(0, 1, len(up)), up, lw=0.8, label=("x", "y", "z"))
    axis.set_title("Q'Gamma by time, as share of the run", fontsize=9)
    axis.legend(fontsize=7)
    axis = figure.add_subplot(1, 3, 3)
    for name, errors in long.items():
        axis.semilogy(0.01 * np.arange(len(errors)), np.maximum(errors, 1e-16), lw=0.5, label=name)
    axis.set_title("relative energy error, h = 0.01 s", fontsize=9)
    axis.legend(fontsize=7)
    figure.tight_layout()
    return figure
