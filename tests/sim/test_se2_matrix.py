"""The two storages of SE(2) are the same group, and the rational map is one too."""

import casadi as ca
import numpy as np
import pytest

import sim
from sim.groups import SE2, SE2_MATRIX
from sim.groups.se2 import pade_chord

X = ca.SX.sym("x", 3)
TANGENTS = [
    *np.random.default_rng(2).normal(size=(20, 3)),
    *(1e-7 * np.random.default_rng(3).normal(size=(5, 3))),
    np.zeros(3),
    np.array([3.1, 2.0, -1.0]),
]


def column(expression):
    return np.array(ca.Function("f", [X], [expression])(0)).ravel()


@pytest.mark.parametrize("name", ["exp", "cay"])
def test_both_storages_have_the_same_maps(name):
    for x in TANGENTS:
        angle = np.array(SE2.function(name)(x)).ravel()
        matrix = np.array(SE2_MATRIX.function(name)(x)).ravel()
        np.testing.assert_allclose(
            SE2_MATRIX.to_matrix(matrix), SE2.to_matrix(angle), atol=3e-15 * (1 + abs(x).max())
        )
        back = np.array(SE2_MATRIX.function(f"{'log' if name == 'exp' else 'cay_inv'}")(matrix)).ravel()
        np.testing.assert_allclose(back, x, atol=1e-13 * (1 + abs(x).max()))


@pytest.mark.parametrize("name", ["inverse", "Ad", "left_tangent"])
def test_both_storages_turn_and_invert_alike(name):
    for x in TANGENTS:
        angle = np.array(SE2.function("exp")(x)).ravel()
        matrix = np.array(SE2_MATRIX.function("exp")(x)).ravel()
        if name == "left_tangent":
            found = np.array(ca.evalf(SE2_MATRIX.left_tangent(ca.SX(matrix))))
            cos, sin = matrix[:2]
            expected = np.array([[-sin, 0, 0], [cos, 0, 0], [0, cos, -sin], [0, sin, cos]])
            np.testing.assert_allclose(found, expected, atol=1e-15)
            continue
        a, b = (
            np.array(ca.evalf(getattr(G, name)(ca.SX(g)))) for G, g in ((SE2, angle), (SE2_MATRIX, matrix))
        )
        if name == "inverse":
            a, b = SE2.to_matrix(a.ravel()), SE2_MATRIX.to_matrix(b.ravel())
        np.testing.assert_allclose(a, b, atol=1e-14)


def test_moving_is_composing_with_the_map():
    chain = ca.Function(
        "chain",
        [X],
        [
            SE2_MATRIX.moved(SE2_MATRIX.exp(X), 2 * X + 0.1, pade_chord),
            SE2_MATRIX.compose(
                SE2_MATRIX.exp(X), SE2_MATRIX.moved(ca.SX(SE2_MATRIX.identity()), 2 * X + 0.1, pade_chord)
            ),
        ],
    )
    for x in TANGENTS:
        a, b = chain(x)
        np.testing.assert_allclose(np.array(a), np.array(b), atol=1e-14)


def test_the_rational_map_is_odd_and_close_to_exp():
    """Error w^7 / 100 800, and tau(-x) tau(x) = 1."""
    there = SE2_MATRIX.moved(ca.SX(SE2_MATRIX.identity()), X, pade_chord)
    f = ca.Function("f", [X], [there, SE2_MATRIX.exp(X), SE2_MATRIX.moved(there, -X, pade_chord)])
    for w, tolerance in ((0.05, 1e-14), (0.1, 2e-12), (0.5, 2e-7), (2.0, 5e-3), (9.0, 10.0)):
        found, exact, home = (np.array(g).ravel() for g in f([w, 1.0, -0.4]))
        np.testing.assert_allclose(found, exact, atol=tolerance)
        np.testing.assert_allclose(home, [1, 0, 0, 0], atol=1e-14)
        assert np.hypot(*found[:2]) == pytest.approx(1.0, abs=1e-15)


def test_a_million_steps_leave_a_rotation_a_rotation():
    car = sim.vehicle("car")
    from sim.compiler import compile_kernel

    kernel, p = compile_kernel(car, sim.integrators()["variational"]), car.parameter_vector
    u = np.array([0.0, 0.0])
    y = kernel.start(car.state(shape=(0.0, 0.7), shape_velocity=(40.0, 0.0)).node, u, p, 0.01)
    kernel.advance(y, u, np.zeros(3), p, 0.01, 1_000_000)
    assert np.hypot(y[0], y[1]) == pytest.approx(1.0, abs=4e-16)
