"""Laws of the free arc that the composed methods are built of, and of their compositions."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

from sim.groups import SO3
from sim.integrators.composed import KAHAN_LI6, suzuki, turning_arc

BODIES = [np.array(J) for J in ((0.7, 1.5, 1.9), (1.0, 2.0, 3.0), (0.05, 2.0, 2.04))]


def hat(w):
    return np.array([[0, -w[2], w[1]], [w[2], 0, -w[0]], [-w[1], w[0], 0]])


def vee(W):
    return np.array([W[2, 1], W[0, 2], W[1, 0]])


def arc_of(J):
    """x -> momentum at the first node, loss, rotation, their derivatives by x; a step of 1 s, so x is in rad."""
    x, h = ca.SX.sym("x", 3), ca.SX(1.0)
    arc = turning_arc(SO3, ca.diag(ca.SX(J)), x, h)
    outputs = [arc.leaving, arc.lost, arc.displacement]
    f = ca.Function("arc", [x], outputs + [ca.jacobian(e, x) for e in outputs])

    def values(at):
        m, lost, R, dm, _, dR = (np.array(v) for v in f(at))
        return m.ravel(), lost.ravel(), R.reshape(3, 3).T, dm, [c.reshape(3, 3).T for c in dR.T]

    return values


@pytest.mark.parametrize("J", BODIES, ids=str)
def test_spatial_momentum_is_kept_by_every_arc(J):
    """Whether or not it is the motion of the body, up to many turns; measured 4e-16 relative."""
    rng, arc = np.random.default_rng(1), arc_of(J)
    for size in (0.1, 1.0, 3.0, 10.0):
        m, lost, R, _, _ = arc(size * rng.normal(size=3))
        np.testing.assert_allclose(R @ (m - lost), m, rtol=0, atol=1e-12 * np.abs(m).max())


@pytest.mark.parametrize("J", BODIES, ids=str)
def test_momentum_is_the_derivative_of_one_function_of_the_displacement(J):
    """p dx = m . (dR R') has no curl, which makes the arc symplectic; measured 9e-11 by central differences."""
    rng, arc, eps = np.random.default_rng(2), arc_of(J), 1e-5

    def covector(x):
        m, _, R, _, dR = arc(x)
        return np.array([vee(d @ R.T) @ m for d in dR])

    for size in (0.3, 1.0, 2.0):
        x = size * rng.normal(size=3)
        D = np.array([(covector(x + eps * e) - covector(x - eps * e)) / (2 * eps) for e in np.eye(3)])
        assert np.abs(D - D.T).max() < 1e-8 * np.abs(D).max()


def exact_turn(J, omega):
    """Rotation of the free body after 1 s, by Euler's equations."""

    def rate(_, s):
        return np.r_[(s[:9].reshape(3, 3) @ hat(s[9:])).ravel(), np.cross(J * s[9:], s[9:]) / J]

    s0 = np.r_[np.eye(3).ravel(), omega]
    end = solve_ivp(rate, (0, 1), s0, method="DOP853", rtol=1e-13, atol=1e-15).y[:9, -1]
    return end.reshape(3, 3)


@pytest.mark.parametrize("J", BODIES, ids=str)
def test_a_free_turn_is_of_sixth_order(J):
    """Error of one arc under halving of the step goes as h^7; measured 6.8 to 7.1."""
    arc, direction = arc_of(J), np.array([0.5, -0.7, 0.6])
    errors = []
    for size in (0.6, 0.3, 0.15):
        omega = size * direction
        x = omega.copy()
        for _ in range(30):
            m, _, R, dm, _ = arc(x)
            x -= np.linalg.solve(dm, m - J * omega)
        errors.append(np.abs(R - exact_turn(J, omega)).max())
    slopes = np.log2(np.array(errors)[:-1] / np.array(errors)[1:])
    np.testing.assert_allclose(slopes[-1], 7, rtol=0, atol=0.3)
    assert errors[0] < 1e-4


@pytest.mark.parametrize("J", BODIES, ids=str)
def test_there_is_an_arc_for_every_momentum(J):
    """The momentum grows along every ray from rest, also far beyond where the action's series holds."""
    rng, arc = np.random.default_rng(3), arc_of(J)
    for _ in range(50):
        ray = rng.normal(size=3)
        ray /= np.linalg.norm(ray)
        along = [ray @ arc(s * ray)[0] for s in np.linspace(0.05, 12.0, 120)]
        assert np.all(np.diff(along) > 0)


@pytest.mark.parametrize(
    ("gammas", "order"),
    [(suzuki(2), 4), (suzuki(3), 4), (KAHAN_LI6, 6)],
    ids=["suzuki-5", "suzuki-7", "kahan-li-9"],
)
def test_compositions_raise_leapfrog_to_their_order(gammas, order):
    """A pendulum over 2 s; measured slopes 4.01, 4.01 and 6.01. Their sum is 1 and they are symmetric."""
    assert sum(gammas) == pytest.approx(1, abs=1e-15)
    assert gammas == tuple(reversed(gammas))

    def end(n):
        q, p = 1.0, 0.5
        for _ in range(n):
            for share in gammas:
                h = share * 2.0 / n
                p -= h / 2 * np.sin(q)
                q += h * p
                p -= h / 2 * np.sin(q)
        return np.array([q, p])

    exact = solve_ivp(
        lambda _, s: [s[1], -np.sin(s[0])], (0, 2), [1.0, 0.5], method="DOP853", rtol=1e-13, atol=1e-14
    )
    errors = [np.abs(end(n) - exact.y[:, -1]).max() for n in (10, 20)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)
