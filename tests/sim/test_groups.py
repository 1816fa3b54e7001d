"""Group axioms and differentials, over all groups and three regimes of tangent."""

import pickle

import casadi as ca
import numpy as np
import pytest

from sim.groups import SE2, SE3, SO3, SO3_R3, LieGroup, power

GROUPS = [SO3, SE3, SO3_R3, SE2]
IDS = [g.name for g in GROUPS]


def call(group, name, x):
    return np.array(group.function(name)(x))


def tangents(group, rng, count=12):
    """Everyday, tiny, and nearly half a turn."""
    angle = group.dim if group is SO3 else (1 if group is SE2 else 3)
    out = [rng.normal(size=group.dim) for _ in range(count)]
    out += [1e-7 * rng.normal(size=group.dim) for _ in range(count)]
    for _ in range(count):
        x = rng.normal(size=group.dim)
        x[:angle] *= 3.13 / np.linalg.norm(x[:angle])
        out.append(x)
    return [*out, np.zeros(group.dim)]


def matrix(group, g):
    return group.to_matrix(np.asarray(g).ravel())


def algebra_matrix(group, x):
    """X with tau(x) = exp(X), from the definition of the hat map, independent of the closed forms."""
    if group is SE2:
        return np.array([[0, -x[0], x[1]], [x[0], 0, x[2]], [0, 0, 0]])
    W = np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])
    if group is SO3:
        return W
    X = np.zeros((5 if group is SO3_R3 else 4,) * 2)
    X[:3, :3] = W
    if group is SO3_R3:
        X[3, 4] = 0.0
        return X
    X[:3, 3] = x[3:]
    return X


@pytest.mark.parametrize("group", [SO3, SE3, SE2], ids=["SO3", "SE3", "SE2"])
def test_exp_and_cay_are_the_matrix_functions(group):
    from scipy.linalg import expm

    rng = np.random.default_rng(1)
    for x in tangents(group, rng):
        X = algebra_matrix(group, x)
        eye = np.eye(len(X))
        np.testing.assert_allclose(
            matrix(group, call(group, "exp", x)), expm(X), rtol=0, atol=2e-14 * (1 + abs(x).max())
        )
        cayley = np.linalg.solve(eye - X / 2, eye + X / 2)
        np.testing.assert_allclose(
            matrix(group, call(group, "cay", x)), cayley, rtol=0, atol=2e-14 * (1 + abs(x).max())
        )


@pytest.mark.parametrize("group", GROUPS, ids=IDS)
@pytest.mark.parametrize("tau", ["exp", "cay", "ccsk"])
def test_inverse_differential_inverts_the_right_trivialised_tangent(group, tau):
    """Central differences of tau against d tau^-1; measured 3e-9."""
    rng = np.random.default_rng(2)
    for x in tangents(group, rng, 6):
        if tau == "ccsk" and np.abs(np.abs(x) - np.pi / 2).min() < 0.2:
            continue  # the second kind's own singular set
        T = matrix(group, call(group, tau, x))
        C = call(group, f"d{tau}_inv", x)
        for e in np.eye(group.dim):
            d = 1e-6
            forward, backward = (matrix(group, call(group, tau, x + s * d * e)) for s in (1, -1))
            if group is SO3_R3:
                rotation = (forward - backward)[:3, :3] / (2 * d) @ T[:3, :3].T
                tangent = np.r_[
                    rotation[2, 1], rotation[0, 2], rotation[1, 0], (forward - backward)[:3, 3] / (2 * d)
                ]
            else:
                V = (forward - backward) / (2 * d) @ np.linalg.inv(T)
                if group is SE2:
                    tangent = np.array([V[1, 0], V[0, 2], V[1, 2]])
                else:
                    tangent = np.r_[V[2, 1], V[0, 2], V[1, 0], V[:3, 3] if group is SE3 else []]
            np.testing.assert_allclose(C @ tangent, e, rtol=0, atol=3e-8 * (1 + abs(C).max()))


@pytest.mark.parametrize("group", GROUPS, ids=IDS)
def test_exp_of_log_and_cay_of_its_inverse_are_the_identity_map(group):
    rng = np.random.default_rng(3)
    for x in tangents(group, rng):
        g = call(group, "exp", x)
        np.testing.assert_allclose(call(group, "exp", call(group, "log", g)), g, rtol=0, atol=1e-12)
        k = call(group, "cay", x)
        np.testing.assert_allclose(call(group, "cay", call(group, "cay_inv", k)), k, rtol=0, atol=1e-9)
    half_turn = np.zeros(group.dim)
    half_turn[0] = np.pi
    g = call(group, "exp", half_turn)
    np.testing.assert_allclose(call(group, "exp", call(group, "log", g)), g, rtol=0, atol=1e-12)


@pytest.mark.parametrize("group", GROUPS, ids=IDS)
@pytest.mark.parametrize("tau", ["exp", "cay"])
def test_differential_at_minus_x_is_the_one_at_x_times_the_adjoint(group, tau):
    """dtau^-1(-x) = dtau^-1(x) Ad(tau(x))."""
    rng = np.random.default_rng(4)
    for x in tangents(group, rng):
        left = call(group, f"d{tau}_inv", -x)
        right = call(group, f"d{tau}_inv", x) @ call(group, "Ad", call(group, tau, x))
        np.testing.assert_allclose(
            left, right, rtol=0, atol=1e-12 * (1 + abs(left).max()) * (1 + abs(x).max())
        )


@pytest.mark.parametrize("group", GROUPS, ids=IDS)
def test_adjoint_moves_through_exp(group):
    rng = np.random.default_rng(5)
    for x in tangents(group, rng, 4):
        g = call(group, "exp", rng.normal(size=group.dim) * 0.7)
        left = matrix(group, call(group, "exp", (call(group, "Ad", g) @ x)))
        G = matrix(group, g)
        if group is SO3_R3:
            R, X = G[:3, :3], matrix(group, call(group, "exp", x))
            np.testing.assert_allclose(left[:3, :3], R @ X[:3, :3] @ R.T, rtol=0, atol=1e-13)
            np.testing.assert_allclose(left[:3, 3], X[:3, 3], rtol=0, atol=1e-13)
        else:
            np.testing.assert_allclose(
                left, G @ matrix(group, call(group, "exp", x)) @ np.linalg.inv(G), rtol=0, atol=1e-12
            )


@pytest.mark.parametrize(
    "angle", [0, 1e-12, 1e-9, 1e-6, 1e-5, 1e-4, 1e-2, 0.5, 0.999999, 1.000001, 2.0, np.pi - 1e-6]
)
def test_small_angle_series_meet_their_closed_forms(angle):
    """Against 50-digit arithmetic; measured 4e-16."""
    import casadi as ca
    import mpmath

    from sim.groups import base

    mpmath.mp.dps = 50
    a = mpmath.mpf(angle) if angle else mpmath.mpf("1e-15")
    exact = {
        "sin_over": mpmath.sin(a) / a,
        "cos_of": mpmath.cos(a),
        "one_minus_cos_over": (1 - mpmath.cos(a)) / a**2,
        "angle_minus_sin_over": (a - mpmath.sin(a)) / a**3,
        "half_cot_remainder": (1 - a / 2 * mpmath.cot(a / 2)) / a**2,
        "half_cot_remainder_slope": None,
    }
    slope = mpmath.diff(
        lambda z: (1 - mpmath.sqrt(z) / 2 * mpmath.cot(mpmath.sqrt(z) / 2)) / z,
        max(a**2, mpmath.mpf("1e-12")),
    )
    exact["half_cot_remainder_slope"] = slope
    z = ca.SX.sym("z")
    for name, value in exact.items():
        f = ca.Function(name, [z], [getattr(base, name)(z)])
        assert abs(float(f(float(a) ** 2)) - float(value)) < 2e-15, name


@pytest.mark.parametrize("group", GROUPS, ids=IDS)
def test_balance_of_momenta_is_that_of_the_inverse_differential_in_other_rows(group):
    """Zero at the same momentum, and invertible at all angles: its rows are combinations of the plain ones."""
    x, mu, given = (ca.SX.sym(name, group.dim) for name in ("x", "mu", "given"))
    balance = group.dcay_balance(x, mu, given)
    f = ca.Function("f", [x, mu, given], [balance, ca.jacobian(balance, mu), ca.jacobian(balance, given)])
    rng = np.random.default_rng(5)
    for _ in range(5):
        at, m = rng.normal(size=(2, group.dim))
        differential = call(group, "dcay_inv", at).T
        np.testing.assert_allclose(
            differential @ call(group, "dcay", at).T, np.eye(group.dim), rtol=0, atol=1e-13
        )
        kept = differential @ m
        zero, by_mu, by_given = (np.array(v) for v in f(at, m, kept))
        np.testing.assert_allclose(zero.ravel(), 0.0, rtol=0, atol=1e-13)
        # On SE(3) the rows of translation are solved for mu_v: by (I + W/2)^-1.
        combined = 1.0 / (1.0 + at[:3] @ at[:3] / 4.0) if group is SE3 else 1.0
        assert abs(np.linalg.det(by_given)) == pytest.approx(combined)
        np.testing.assert_allclose(by_mu, -by_given @ differential, rtol=0, atol=1e-13)


@pytest.mark.parametrize("group", [SE2, SE3, SO3, SO3_R3], ids=lambda group: group.name)
def test_a_group_that_goes_to_another_process_is_the_same_there(group: LieGroup) -> None:
    """Tables are kept by group, and states are compared by theirs."""
    assert pickle.loads(pickle.dumps(group)) is group
    both = power(group, 2)
    assert pickle.loads(pickle.dumps(both)) == both
