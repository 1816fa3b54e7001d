"""The heavy top in the formulations of the mechanics survey (section 3), each moved by a group of its own.

They tell the same motion: `up_b`, the upward direction in the body, and `momentum_b`, its angular momentum there.
`HeavyTop` is the vehicle that is flown; on it the explicit methods work in the spatial form of T*SO(3), too.
"""

from abc import abstractmethod
from itertools import pairwise

import casadi as ca
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import ArrayLike
from scipy.integrate import solve_ivp

import sim
from sim.groups import SE3, SO3, SO3_R3
from sim.groups.se3 import position_of, rotation_of
from sim.platform.progress import TellShare
from sim.spaces import Action, Euclidean, GroupSpace, Product
from sim.spaces.action import by_left_translation, side_by_side, translations
from sim.steppers.trajectory import Trajectory
from sim.vehicles.forms.form import Observable, State
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.parameters import Quantities
from sim.vehicles.heavy_top import HeavyTop
from studies.report import Claim, Options, Report

UP_W = (0.0, 0.0, 1.0)


class TopFormulation(ActionVehicle):
    """Subclasses say where the top is, and how the body momentum and the upward direction follow from that."""

    parameters = HeavyTop.parameters
    twist_embedding = np.eye(6)[:, :3]

    @abstractmethod
    def reduced(self, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        """(momentum, up), both in the body frame."""

    @abstractmethod
    def turning(self, omega: ArrayLike) -> State:
        """Upright and turning with this body angular velocity [rad/s]."""

    def body_momentum(self, omega: ArrayLike) -> np.ndarray:
        """(3,) of a body angular velocity."""
        return np.asarray(self.values["inertia"], float) * self._finite("omega", omega, (3,))

    def energy(self, node: ca.SX, q: Quantities) -> ca.SX:
        momentum, up = self.reduced(node)
        return ca.dot(momentum, momentum / q.inertia) / 2 + q.mass * q.gravity * ca.dot(q.arm, up)

    def spatial_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """(3,) what all formulations know of it: the vertical part."""
        momentum, up = self.reduced(node)
        return ca.vertcat(0, 0, ca.dot(momentum, up))

    def observables(self, node: ca.SX, u: ca.SX, q: Quantities) -> tuple[Observable, ...]:
        momentum, up = self.reduced(node)
        return Observable("momentum_b", "kg m^2/s", momentum), Observable("up_b", "1", up)


class TopInBody(TopFormulation):
    """T*SO(3) in the body frame (eqs. 19-20): Q' = Q hat(omega), Pi' = Pi x omega + torque."""

    name = "heavy-top-body"
    action = Action(
        SE3,
        Product((GroupSpace(SO3, "rotation"), Euclidean(3, "momentum"))),
        lambda g, point: ca.vertcat(
            ca.vec(ca.reshape(point[:9], 3, 3) @ rotation_of(g).T),
            rotation_of(g) @ point[9:] + position_of(g),
        ),
    )

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        momentum, up = self.reduced(point)
        return ca.vertcat(-momentum / q.inertia, q.mass * q.gravity * ca.cross(up, q.arm))

    def reduced(self, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        at = self.named(point)
        return at["momentum"], ca.reshape(at["rotation"], 3, 3).T @ ca.SX(UP_W)

    def turning(self, omega: ArrayLike) -> State:
        return self.point(momentum=self.body_momentum(omega))


class TopInSpace(TopFormulation):
    """T*SO(3) in the world frame (eqs. 21-22): the weight's torque turns the spatial momentum."""

    name = "heavy-top-space"
    action = side_by_side(by_left_translation(SO3), translations(Euclidean(3, "momentum")))

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        Q, (momentum_b, _) = self._rotation_of(point), self.reduced(point)
        return ca.vertcat(Q @ (momentum_b / q.inertia), q.mass * q.gravity * ca.cross(ca.SX(UP_W), Q @ q.arm))

    def _rotation_of(self, point: ca.SX) -> ca.SX:
        return ca.reshape(self.named(point)["pose"], 3, 3)

    def reduced(self, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        Q = self._rotation_of(point)
        return Q.T @ self.named(point)["momentum"], Q.T @ ca.SX(UP_W)

    def turning(self, omega: ArrayLike) -> State:
        return self.point(momentum=self.body_momentum(omega))


class TopLiePoisson(TopFormulation):
    """se(3)*, eqs. 23-24: (Pi, Gamma) moves by the coadjoint action alone, so it never leaves its orbit."""

    name = "heavy-top-lie-poisson"
    action = Action(
        SE3,
        Product((Euclidean(3, "momentum"), Euclidean(3, "up"))),
        lambda g, point: SE3.Ad(SE3.inverse(g)).T @ point,
    )

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        """Minus the gradient of the energy."""
        momentum, _ = self.reduced(point)
        return -ca.vertcat(momentum / q.inertia, q.mass * q.gravity * q.arm)

    def reduced(self, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        at = self.named(point)
        return at["momentum"], at["up"]

    def turning(self, omega: ArrayLike) -> State:
        return self.point(momentum=self.body_momentum(omega), up=UP_W)


class TopQuadratic(TopFormulation):
    """T*(SO(3) x R^3), eqs. 25-32: a quadratic Hamiltonian, of which p = -m g arm is a momentum that stays."""

    name = "heavy-top-quadratic"
    action = side_by_side(by_left_translation(SO3_R3), translations(Euclidean(6, "momentum")))

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        """q' = p - Q' up."""
        Q, p = self._rotation_of(point), self.named(point)["momentum"][3:]
        momentum_b, up_b = self.reduced(point)
        turning = ca.vertcat(Q @ (momentum_b / q.inertia), p - up_b)
        return ca.vertcat(turning, -ca.cross(ca.SX(UP_W), Q @ p), ca.SX(3, 1))

    def _rotation_of(self, point: ca.SX) -> ca.SX:
        return rotation_of(self.named(point)["pose"])

    def reduced(self, point: ca.SX) -> tuple[ca.SX, ca.SX]:
        Q = self._rotation_of(point)
        return Q.T @ self.named(point)["momentum"][:3], Q.T @ ca.SX(UP_W)

    def turning(self, omega: ArrayLike) -> State:
        v = self.values
        weight = float(np.multiply(v["mass"], v["gravity"])) * np.asarray(v["arm"], float)
        return self.point(momentum=np.r_[self.body_momentum(omega), -weight])


FORMULATIONS: dict[str, type[TopFormulation]] = {
    "T*SO(3), body": TopInBody,
    "T*SO(3), space": TopInSpace,
    "se(3)*": TopLiePoisson,
    "T*(SO(3)xR3)": TopQuadratic,
}
"""By the names of the spaces."""


OMEGA = np.array([0.0, 150.0, -4.61538])
SLOW = np.array([0.4, 1.5, -0.8])
TOP = HeavyTop(mass=15.0, inertia=(15.234375, 0.46875, 15.234375), arm=(0.0, 1.0, 0.0))
"""The survey's own, spinning about body y, with the inertia about the fixed point."""
PRINTED = HeavyTop(mass=15.0, inertia=(0.234375, 0.46875, 0.234375), arm=(0.0, 2.0, 0.0))
"""With the inertia and the length that the survey prints: a fast top, which hardly nods."""
THETAS = ("symplectic-0", "symplectic-half", "symplectic-1")
COLUMNS = ("what", "step_s", "value")
METHOD = "rkmk5"


def formulation(kind: type[TopFormulation], omega: np.ndarray, h: float, seconds: float) -> Trajectory:
    """The survey's top in one of its formulations, by a method of fifth order; it sets out upright."""
    top = kind(**TOP.values)
    return sim.simulate(top, METHOD, step=h, duration=seconds, initial=top.turning(omega))


def run(options: Options, progress: TellShare) -> Report:
    """One second for the formulations; 6000 steps of 0.01 s for the energy of the theta family, on either top."""
    top, seconds, h = TOP, options.seconds or 1.0, 1e-4
    found = {}
    for i, (name, kind) in enumerate(FORMULATIONS.items()):
        progress(name, i / 8)
        told = formulation(kind, OMEGA, h, seconds).observables
        found[name] = np.c_[told["momentum_b"], told["up_b"]]
    ups = [run[:, 3:] for run in found.values()]
    truth = _independent(top, seconds)
    apart = max(float(np.abs(run[-1, 3:] - truth).max()) for run in found.values())
    apart = max(apart, *(float(np.abs(x - y).max()) for x, y in pairwise(ups)))
    poisson = found["se(3)*"]
    casimir = np.c_[(poisson[:, 3:] ** 2).sum(1), (poisson[:, :3] * poisson[:, 3:]).sum(1)]
    kept = float(np.abs(casimir / casimir[0] - 1)[:, [0]].max())
    kept_product = float(np.abs(casimir[:, 1] - casimir[0, 1]).max() / np.linalg.norm(poisson[0, :3]))

    progress("energy", 0.6)
    long, printed = ({name: energy_error(one, name) for name in THETAS} for one in (top, PRINTED))
    orders = {name: _order(top, name) for name in THETAS}
    rows = [
        ("formulations apart", h, apart),
        ("relative change of |Gamma|^2", h, kept),
        ("relative change of Pi.Gamma", h, kept_product),
        *((f"energy error {n}", 0.01, float(e.max())) for n, e in long.items()),
        *((f"energy error {n}, as printed", 0.01, float(e.max())) for n, e in printed.items()),
        *((f"order {n}", 0.002, o) for n, o in orders.items()),
    ]
    claims = [
        Claim(
            "The formulations agree to 1e-9.",
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
            all(e[-1000:].max() < 2 * e[:1000].max() for e in (*long.values(), *printed.values())),
            ", ".join(f"{n}: {e.max():.1e}" for n, e in long.items())
            + f"; with inertia and length as printed {printed['symplectic-half'].max():.1e} at theta = 1/2",
        ),
        Claim(
            "Ours, not the survey's: as printed, theta = 1/2 errs in energy by less than a hundredth of theta = 0.",
            printed["symplectic-half"].max() < 0.01 * printed["symplectic-0"].max(),
            ", ".join(f"{n}: {e.max():.1e}" for n, e in printed.items())
            + " as printed; the other one's axis swings through the lowest point",
        ),
    ]
    return Report(COLUMNS, rows, _figure(top, ups[0], seconds, long, printed), claims)


def energy_error(top: HeavyTop, name: str, seconds: float = 60.0) -> np.ndarray:
    """(N+1,) relative to the energy at the start, in steps of 0.01 s."""
    energy = sim.simulate(top, name, step=0.01, duration=seconds, initial=top.state(omega=OMEGA)).energy
    return np.abs(energy / energy[0] - 1)


def _independent(top: HeavyTop, seconds: float) -> np.ndarray:
    """Gamma at the end from Euler's equations, by a general-purpose solver."""
    v = top.values
    J, arm, weight = np.array(v["inertia"]), np.array(v["arm"]), float(np.multiply(v["mass"], v["gravity"]))

    def rate(_: float, s: np.ndarray) -> np.ndarray:
        omega = s[:3] / J
        return np.r_[np.cross(s[:3], omega) + weight * np.cross(s[3:], arm), np.cross(s[3:], omega)]

    start = np.r_[J * OMEGA, 0.0, 0.0, 1.0]
    return solve_ivp(rate, (0.0, seconds), start, method="DOP853", rtol=1e-12, atol=1e-12).y[3:, -1]


def _order(top: HeavyTop, name: str) -> float:
    """Of the vertical in the body, for a spin at which h |omega| is small at these steps."""
    exact = formulation(TopInSpace, SLOW, 1e-3, 1.0).observables["up_b"][-1]
    errors = []
    for h in (4e-3, 2e-3):
        run = sim.simulate(top, name, step=h, duration=1.0, initial=top.state(omega=SLOW))
        errors.append(np.abs(run.pose[-1][2] - exact).max())
    return float(np.log2(errors[0] / errors[1]))


def _figure(
    top: HeavyTop, up: np.ndarray, seconds: float, long: dict[str, np.ndarray], printed: dict[str, np.ndarray]
) -> Figure:
    figure = Figure(figsize=(17, 4.2))
    weight = float(np.linalg.norm(np.multiply(top.values["mass"], top.values["arm"])))
    axis = figure.add_subplot(1, 4, 1, projection="3d")
    axis.plot(*(weight * up).T, lw=0.6)
    axis.set_title("m l Q'Gamma", fontsize=9)
    axis = figure.add_subplot(1, 4, 2)
    axis.plot(np.linspace(0, seconds, len(up)), up, lw=0.8, label=("x", "y", "z"))
    axis.set_title("Q'Gamma", fontsize=9)
    axis.set_xlabel("s", fontsize=8)
    axis.legend(fontsize=7)
    for place, runs, of in ((3, long, ""), (4, printed, ", numbers as printed")):
        axis = figure.add_subplot(1, 4, place)
        for name, errors in runs.items():
            axis.semilogy(
                0.01 * np.arange(len(errors)), np.maximum(errors, 1e-16), lw=0.5, alpha=0.7, label=name
            )
        axis.set_ylim(1e-8, 1e-1)
        axis.set_title(f"relative energy error, h = 0.01 s{of}", fontsize=9)
        axis.set_xlabel("s", fontsize=8)
        axis.legend(fontsize=7)
    figure.tight_layout()
    return figure
