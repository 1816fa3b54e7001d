"""Straight-line linear algebra gives what LAPACK gives."""

import casadi as ca
import numpy as np
import pytest

from sim.symbolic import solve

RNG = np.random.default_rng(11)


@pytest.mark.parametrize("size", range(1, 8))
@pytest.mark.parametrize("columns", [1, 4])
def test_systems_with_one_or_many_right_hand_sides_are_solved(size, columns):
    A, b = ca.SX.sym("A", size, size), ca.SX.sym("b", size, columns)
    found = ca.Function("x", [A, b], [solve(A, b)])
    matrix, right = np.eye(size) + 0.2 * RNG.normal(size=(size, size)), RNG.normal(size=(size, columns))
    x = np.array(found(matrix, right))
    assert np.abs(x - np.linalg.solve(matrix, right)).max() < 1e-12  # 4e-15


def test_structural_zeros_cost_nothing():
    A = ca.diag(ca.SX.sym("a", 6))
    b = ca.SX(ca.diag(ca.SX.sym("b", 6)))
    assert solve(A, b).nnz() == 6
