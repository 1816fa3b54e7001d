"""A tippe-top: a ball with its weight off its middle, which turns itself over by sliding friction.

R. J. Cohen, "The tippe top revisited", American Journal of Physics 45, 1977; T. Ueda, K. Sasaki, S. Watanabe, "Motion
of the tippe top", SIAM Journal on Applied Dynamical Systems 4, 2005, whose friction goes smoothly through no sliding:
a share of what is borne by v / sqrt(v^2 + e^2). Ours is a point of SO(3) and a space of rates, in which nothing is
singular where it stands upright or on its head; the truth is Newton's and Euler's law in the frame that goes round with
the axis, with the force of contact eliminated.
"""

import math
from collections.abc import Mapping
from functools import cache

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

import sim
from sim.groups.numeric import rotation_exp
from sim.groups.so3 import SO3
from sim.multibody.shapes import BRASS, PAINTED, STEEL, Link
from sim.scene import Comparison
from sim.spaces import Euclidean
from sim.spaces.action import by_left_translation, side_by_side, translations
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.parameters import Parameter, Quantities
from studies.ledger.problem import Problem

GRAVITY, RADIUS_M, OFF_M, TOP_KG, FRICTION, SMOOTH_MPS = 9.81, 0.2, 0.04, 5.0, 0.3, 0.05
MOMENTS = (0.08, 0.08, 0.08)
"""kg m^2 about the centre of mass, the last one about the stem."""
LEANING_RAD, SPUN_RADPS, END_S = 0.1, 60.0, 6.0
TURNED_RAD = (0.5 * math.pi, 0.9 * math.pi)
"""Where the stem is level, and where it is nearly below."""


class TippeTop(ActionVehicle):
    """Its attitude, angular velocity in the body, and place and velocity of its centre of mass on the plate."""

    name = "ledger-tippe-top"
    parameters = (Parameter("gravity", "m/s^2", GRAVITY, 0.0, 100.0, "Downward acceleration."),)
    action = side_by_side(
        by_left_translation(SO3),
        translations(Euclidean(3, "rate", ("rate_x", "rate_y", "rate_z"), rates=3)),
        translations(Euclidean(2, "place", ("x", "y"))),
        translations(Euclidean(2, "speed", ("v_x", "v_y"))),
    )
    stand_m = 0.0

    def generator(self, point: ca.SX, u: ca.SX, q: Quantities) -> ca.SX:
        R, w, v = ca.reshape(point[:9], 3, 3), point[9:12], ca.vertcat(point[14:], 0)
        up, J = R.T @ ca.SX([0, 0, 1]), ca.SX(np.diag(MOMENTS))
        arm = OFF_M * ca.SX([0, 0, 1]) - RADIUS_M * up  # from the centre of mass to the contact
        turned = ca.cross(w, ca.SX([0, 0, OFF_M]))  # how the arm moves in the world
        sliding = v + R @ ca.cross(w, arm)
        sliding[2] = 0
        rubbing = -FRICTION * sliding / ca.sqrt(ca.sumsqr(sliding) + SMOOTH_MPS**2)
        free = ca.solve(J, -ca.cross(w, J @ w))
        borne = ca.solve(J, ca.cross(arm, up + R.T @ rubbing))
        # What it bears keeps the contact on the plate.
        moves = ca.dot(up, ca.cross(free, arm) + ca.cross(w, turned))
        answers = 1 / TOP_KG + ca.dot(up, ca.cross(borne, arm))
        N = (q.gravity - moves) / answers
        return ca.vertcat(R @ w, free + N * borne, point[14:], N / TOP_KG * rubbing[:2])

    def energy(self, node: ca.SX, q: Quantities) -> ca.SX:
        """With that of its weight above the plate."""
        R, w, v = ca.reshape(node[:9], 3, 3), node[9:12], node[14:]
        up = R.T @ ca.SX([0, 0, 1])
        rise = -ca.dot(up, ca.cross(w, OFF_M * ca.SX([0, 0, 1]) - RADIUS_M * up))
        kinetic = TOP_KG * (ca.sumsqr(v) + rise**2) + ca.dot(w, ca.SX(MOMENTS) * w)
        return kinetic / 2 + TOP_KG * q.gravity * (RADIUS_M - OFF_M * up[2])

    def spatial_momentum(self, node: ca.SX, q: Quantities) -> ca.SX:
        """None is kept."""
        return ca.SX(0, 1)

    def bodies(self, node: ca.SX, q: Quantities) -> Mapping[str, ca.SX]:
        """Its origin at its centre of mass."""
        R = ca.reshape(node[:9], 3, 3)
        place = ca.vertcat(node[12:14], RADIUS_M - OFF_M * R[2, 2])
        return {"body": ca.blockcat([[R, place], [ca.SX([[0, 0, 0, 1]])]])}

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """A ball, a cap where the stem would be, and a mark on its side; it has no stem to stand on."""
        still, middle = (False, False), (0.0, 0.0, OFF_M)
        cap, side = (0.0, 0.0, OFF_M + 0.8 * RADIUS_M), (0.87 * RADIUS_M, 0.0, OFF_M + 0.3 * RADIUS_M)
        return (
            Link("body", middle, middle, RADIUS_M, PAINTED, still),
            Link("body", cap, cap, 0.3 * RADIUS_M, BRASS, still),
            Link("body", side, side, 0.16 * RADIUS_M, STEEL, still),
        )


def spun() -> tuple[TippeTop, sim.State]:
    """About its stem, which leans."""
    top = TippeTop()
    R = rotation_exp(np.array([LEANING_RAD, 0.0, 0.0]))
    return top, top.point(pose=R.T.ravel(), rate=(0.0, 0.0, SPUN_RADPS))


def turned_over(time_s: np.ndarray, cosines: np.ndarray) -> np.ndarray:
    """(n,) s at which the stem passes the angles, and the last angle's cosine."""
    along = CubicSpline(time_s, cosines)
    found = []
    for angle in TURNED_RAD:
        k = int(np.argmax(cosines < math.cos(angle)))
        span = (time_s[k - 1], time_s[k])
        found.append(brentq(lambda t, a=angle: float(along(t)) - math.cos(a), *span, xtol=1e-13))
    return np.array([*found, float(cosines[-1])])


@cache
def _truth() -> tuple[float, ...]:
    across, about = MOMENTS[0], MOMENTS[2]
    a, r = OFF_M, RADIUS_M

    def rate(_: float, y: np.ndarray) -> list[float]:
        tilt, nodding, round_, spin, v1, v2 = y
        s, c = math.sin(tilt), math.cos(tilt)
        slip1 = v1 + round_ * s * (a - r * c) + spin * r * s
        slip2 = v2 + nodding * (r - a * c)
        size = math.sqrt(slip1**2 + slip2**2 + SMOOTH_MPS**2)
        f1, f2 = -FRICTION * slip1 / size, -FRICTION * slip2 / size  # of what is borne
        y2, y3 = -r * s, a - r * c
        lever = y2 * (c - f2 * s) - y3 * (s + f2 * c)
        gyro = -round_ * s * about * spin + round_ * c * across * round_ * s
        N = (GRAVITY + a * (s * gyro / across + nodding**2 * c)) / (1.0 / TOP_KG - a * s * lever / across)
        nod = (N * lever + gyro) / across
        went = (N * y3 * f1 - round_ * c * across * nodding + nodding * about * spin) / across
        turn = (went - round_ * nodding * c) / s
        spun_up = -N * y2 * f1 / about
        return [nodding, nod, turn, spun_up, N * f1 / TOP_KG + round_ * v2, N * f2 / TOP_KG - round_ * v1]

    times = np.linspace(0.0, END_S, 12001)
    start = [LEANING_RAD, 0.0, 0.0, SPUN_RADPS, 0.0, 0.0]
    run = solve_ivp(rate, (0.0, END_S), start, method="DOP853", t_eval=times, rtol=1e-13, atol=1e-13)
    return tuple(turned_over(times, np.cos(run.y[0])).tolist())


def truth() -> np.ndarray:
    """(3,) in the frame that goes round with the stem."""
    return np.array(_truth())


def ours() -> np.ndarray:
    """(3,) on its group."""
    top, start = spun()
    run = sim.simulate(top, "rkmk5", step=5e-4, duration=END_S, initial=start)
    return turned_over(run.time, run.nodes[:, 8])


PROBLEMS = (
    Problem(
        name="tippe-top",
        title="A tippe-top turns itself over",
        quantity="when its stem is level and 18 degrees from straight down [s], its axis at 6 s [1]",
        source="own, Newton and Euler in the frame that goes round, DOP853; Cohen 1977, Ueda et al. 2005",
        truth=truth,
        known_digits=11,
        ours=ours,
        step="rkmk5, 0.5 ms",
        motion_s=END_S,
        least_digits=8.0,
        scene=spun,
        shown=lambda: {"step_s": 2e-3, "comparison": Comparison(distance=2.0)},
    ),
)
