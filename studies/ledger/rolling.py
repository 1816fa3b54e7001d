"""A stone that rolls on one point: a rattleback, by constraints and by contact.

T. R. Kane and D. A. Levinson, "Realistic mathematical modeling of the rattleback", International Journal of Non-Linear
Mechanics 17, 1982: an ellipsoid that rolls without slipping, its principal axes askew. The truth is Newton's and
Euler's law in the body's axes, with the contact's force eliminated.
"""

import math
from functools import cache

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

import sim
from sim.contact.bodies import Pile, Prop
from sim.groups.numeric import rotation_exp
from sim.multibody.shapes import PAINTED, Link
from sim.shapes import Ellipsoid
from sim.symbolic import turn_about
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Parameter, Quantities, ShapeCoordinate
from studies.ledger.piles import FLAT
from studies.ledger.problem import Problem

GRAVITY = 9.81
HALF_M, STONE_KG, SKEW_RAD = (0.4, 0.15, 0.1), 5.0, math.radians(20.0)
SPUN_RADPS, SPINS_S = (0.0, 0.02, -2.5), np.arange(1.0, 6.1)


def skewed() -> np.ndarray:
    """(3, 3) kg m^2 in the axes of the ellipsoid, whose principal ones are turned about the shortest."""
    turned = rotation_exp(np.array([0.0, 0.0, SKEW_RAD]))
    a, b, c = np.square(HALF_M)
    moments = STONE_KG / 5.0 * np.array([b + c, a + c, a + b])
    return np.asarray(turned @ np.diag(moments) @ turned.T)


class RollingEllipsoid(NonholonomicVehicle):
    """The group is SE(2), the pose of the point of contact and the heading; shape: roll and pitch, after which the
    body's axes stand."""

    name = "ledger-rattleback"
    parameters = (Parameter("gravity", "m/s^2", GRAVITY, 0.0, 100.0, "Downward acceleration."),)
    shape_coordinates = (
        ShapeCoordinate("roll", "rad", "About its own long axis.", -1.5, 1.5),
        ShapeCoordinate("pitch", "rad", "Of its long axis, positive lowers the front.", -1.5, 1.5),
    )

    def _placed(self, r: ca.SX) -> tuple[ca.SX, ca.SX]:
        """(3, 3) attitude and (3,) centre above the contact, from the heading."""
        R = (turn_about("y", r[1]) @ turn_about("x", r[0]))[:3, :3]
        up, squares = R[2, :].T, ca.SX(np.square(HALF_M))
        return R, R @ (squares * up) / ca.sqrt(ca.dot(up, squares * up))

    def _moving(self, r: ca.SX, u: ca.SX, xi: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Angular velocity and that of the centre, from the heading."""
        R, centre = self._placed(r)
        turning = ca.vertcat(0, u[1], xi[0]) + R[:, 0] * u[0]
        shape = ca.SX.sym("shape", 2)
        slope = ca.substitute(ca.jacobian(self._placed(shape)[1], shape), shape, r)
        along = ca.vertcat(xi[1:], 0) + ca.cross(ca.vertcat(0, 0, xi[0]), centre) + slope @ u
        return turning, along

    def lagrangian(self, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
        R, centre = self._placed(r)
        turning, along = self._moving(r, u, xi)
        own = R.T @ turning
        moving = STONE_KG * ca.sumsqr(along) + ca.dot(own, ca.SX(skewed()) @ own)
        return moving / 2 - STONE_KG * q.gravity * centre[2]

    def constraints(self, r: ca.SX, q: Quantities) -> ca.SX:
        """What touches the ground stands still."""
        u, xi = ca.SX.sym("u", 2), ca.SX.sym("xi", 3)
        turning, along = self._moving(r, u, xi)
        touching = along - ca.cross(turning, self._placed(r)[1])
        return ca.jacobian(touching[:2], ca.vertcat(u, xi))

    def bodies(self, node: ca.SX, q: Quantities) -> dict[str, ca.SX]:
        """The heading at the contact, and the stone."""
        ground = super().bodies(node, q)["body"]
        R, centre = self._placed(node[self.node_layout.shape])
        stone = ground @ ca.blockcat([[R, centre], [ca.SX([[0, 0, 0, 1]])]])
        return {"body": ground, "stone": stone}

    @property
    def links(self) -> tuple[Link, ...]:  # type: ignore[override]
        """Slices of it, each as long as it is wide there."""
        long, wide, high = HALF_M
        ends = np.linspace(-0.97, 0.97, 40)
        return tuple(
            Link(
                "stone",
                (long * x, -(wide - high) * math.sqrt(1.0 - x * x), 0.0),
                (long * x, (wide - high) * math.sqrt(1.0 - x * x), 0.0),
                high * math.sqrt(1.0 - x * x),
                PAINTED,
                (False, False),
            )
            for x in ends
        )


def rattleback() -> tuple[RollingEllipsoid, sim.State]:
    """Spun clockwise, with a touch of pitching."""
    stone = RollingEllipsoid()
    rates = (SPUN_RADPS[0], SPUN_RADPS[1])
    state = stone.state(shape_velocity=rates)
    turning = SPUN_RADPS[2] * np.array([1.0, 0.0, 0.0])
    at = stone.node_layout
    return stone, stone.state_of(
        state.node[at.pose], state.node[at.velocity] + turning, state.node[at.shape], rates
    )


def reversal(time_s: np.ndarray, spins: np.ndarray) -> np.ndarray:
    """(7,) rad/s each second, and when it turns back [s]."""
    spin = CubicSpline(time_s, spins)
    changed = int(np.nonzero(np.diff(np.sign(spins)))[0][0])
    return np.r_[
        spin(SPINS_S), brentq(lambda t: float(spin(t)), time_s[changed], time_s[changed + 1], xtol=1e-13)
    ]


@cache
def _reversal_truth() -> tuple[float, ...]:
    squares, J, m = ca.SX(np.square(HALF_M)), ca.SX(skewed()), STONE_KG
    up, w = ca.SX.sym("up", 3), ca.SX.sym("w", 3)
    size = ca.sqrt(ca.dot(up, squares * up))
    arm, turned = -squares * up / size, -ca.cross(w, up)
    moved = ca.jtimes(arm, up, turned)
    torque = -ca.cross(w, J @ w) + m * ca.cross(
        arm, GRAVITY * up + ca.cross(moved, w) + ca.cross(w, ca.cross(arm, w))
    )
    added = ca.skew(arm) @ ca.skew(arm)
    rates = ca.Function("rates", [up, w], [turned, ca.solve(J - m * added, torque)], {"cse": True})

    def rate(_: float, y: np.ndarray) -> np.ndarray:
        return np.concatenate([np.asarray(part)[:, 0] for part in rates(y[:3], y[3:])])

    times = np.linspace(0.0, SPINS_S[-1], 6001)
    start = [0.0, 0.0, 1.0, *SPUN_RADPS]
    run = solve_ivp(rate, (0.0, times[-1]), start, method="DOP853", t_eval=times, rtol=1e-13, atol=1e-13)
    return tuple(reversal(times, np.einsum("ct,ct->t", run.y[:3], run.y[3:])).tolist())


def reversal_truth() -> np.ndarray:
    """(7,) by Newton's and Euler's law in the body's axes."""
    return np.array(_reversal_truth())


def turned_back() -> np.ndarray:
    """(7,) by constraints."""
    stone, start = rattleback()
    run = sim.simulate(stone, "rk4", step=2.5e-4, duration=SPINS_S[-1], initial=start)
    rates = np.array([node[stone.node_layout.shape_velocity] for node in run.nodes])
    spins = run.velocity[:, 0] - np.sin(run.shape[:, 1]) * rates[:, 0]
    return reversal(run.time, spins)


def by_contact(step_s: float) -> np.ndarray:
    """(7,) of a stone that friction alone holds."""
    stone = Prop(
        Ellipsoid((0.0, 0.0, HALF_M[2]), HALF_M),
        STONE_KG,
        1.0,
        velocity_w=(HALF_M[2] * SPUN_RADPS[1], 0.0, 0.0),
        omega_w=SPUN_RADPS,
        skew_rad=SKEW_RAD,
    )
    pile = Pile([stone], FLAT, ground_friction=1.0, sleeps=False)
    spins = [SPUN_RADPS[2]]
    for _ in range(round(SPINS_S[-1] / step_s)):
        pile.step(step_s)
        spins.append(float(pile.state[0, 14]))
    return reversal(step_s * np.arange(len(spins)), np.array(spins))


KANE = "own, Newton and Euler in body axes, DOP853; Kane and Levinson 1982"
REVERSED = "spin each second up to 6 s [rad/s], and when it turns back [s]"

PROBLEMS = (
    Problem(
        name="rattleback",
        title="A rattleback turns back, rolling by constraints",
        quantity=REVERSED,
        source=KANE,
        truth=reversal_truth,
        known_digits=11,
        ours=turned_back,
        step="rk4, 0.25 ms",
        motion_s=SPINS_S[-1],
        least_digits=8.0,
        scene=rattleback,
    ),
    Problem(
        name="rattleback-contact",
        title="A rattleback held by friction alone",
        quantity=REVERSED,
        source=KANE,
        truth=reversal_truth,
        known_digits=11,
        ours=lambda: by_contact(5e-4),
        step="pile, 0.5 ms",
        motion_s=SPINS_S[-1],
        least_digits=3.4,
        scene="rattleback",
        reason="friction holds what rolls by velocities, to first order: 2.7, 2.9, 3.1 digits by steps of 5, 2.5 and "
        "1.25 ms, 3.9 and 4.5 by 0.2 and 0.05 ms",
        another_way_of="rattleback",
    ),
)
