"""Newton's step of a problem in stages."""

import numpy as np

from sim.planner.solvers.riccati import carried_out, eliminated


def stages(seed: int, steps: int = 7, nx: int = 5, nu: int = 3, ends: int = 2) -> dict[str, np.ndarray]:
    """A generic problem; its costs are convex in the inputs alone."""
    rng = np.random.default_rng(seed)
    nv = nx + nu
    half = rng.normal(size=(steps, nv, nv))
    return {
        "Q": half @ half.transpose(0, 2, 1)
        + 0.1 * np.eye(nv)
        - 0.05 * np.diag(np.r_[np.ones(nx), np.zeros(nu)]),
        "g": rng.normal(size=(steps, nv)),
        "F": 0.5 * rng.normal(size=(steps, nx, nv)),
        "f": rng.normal(size=(steps, nx)),
        "last": np.eye(nx),
        "slope": rng.normal(size=nx),
        "E": rng.normal(size=(ends, nx)),
        "e": rng.normal(size=ends),
    }


def by_one_system(one: dict[str, np.ndarray], x0: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(dv, multipliers of gaps, of the end) from the whole system of optimality, with dx_0 given."""
    steps, nx, nv = one["F"].shape
    ends, size = len(one["e"]), steps * nv + nx
    H, g = np.zeros((size, size)), np.r_[one["g"].ravel(), one["slope"]]
    rows = nx + steps * nx + ends
    A, b = np.zeros((rows, size)), np.zeros(rows)
    A[:nx, :nx], b[:nx] = np.eye(nx), x0
    for k in range(steps):
        here, there = slice(k * nv, (k + 1) * nv), slice((k + 1) * nv, (k + 1) * nv + nx)
        H[here, here] = one["Q"][k]
        row = slice(nx + k * nx, nx + (k + 1) * nx)
        A[row, here], A[row, there], b[row] = -one["F"][k], np.eye(nx), one["f"][k]
    H[-nx:, -nx:] = one["last"]
    A[-ends:, -nx:], b[-ends:] = one["E"], -one["e"]
    K = np.block([[H, A.T], [A, np.zeros((rows, rows))]])
    z = np.linalg.solve(K, np.r_[-g, b])
    return z[:size], z[size + nx : size + nx + steps * nx], z[-ends:]


def by_recursion(one: dict[str, np.ndarray], x0: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    steps, nx, nv = one["F"].shape
    nu, r = nv - nx, 1 + len(one["e"])
    Q, g = one["Q"].copy(), np.zeros((steps, nv, r))
    g[:, :, 0] = one["g"]
    P, q, W = np.empty((steps + 1, nx, nx)), np.empty((steps + 1, nx, r)), np.zeros((r, r))
    P[-1], q[-1], W[0, 1:] = one["last"], np.c_[one["slope"], one["E"].T], one["e"]
    K, k = np.empty((steps, nu, nx)), np.empty((steps, nu, r))
    assert eliminated(Q, g, one["F"], one["f"], P, q, K, k, W)
    # The first inputs and the end's multipliers, for a given first state.
    A = np.block([[Q[0, nx:, nx:], g[0, nx:, 1:]], [g[0, nx:, 1:].T, W[1:, 1:]]])
    b = np.r_[g[0, nx:, 0] + Q[0, nx:, :nx] @ x0, W[0, 1:] + g[0, :nx, 1:].T @ x0]
    first = -np.linalg.solve(A, b)
    dv, last, gaps = np.empty((steps, nv)), np.empty(nx), np.empty((steps, nx))
    dv[0] = np.r_[x0, first[:nu]]
    carried_out(one["F"], one["f"], P, q, K, k, np.r_[1.0, first[nu:]], dv, last, gaps)
    return np.r_[dv.ravel(), last], gaps.ravel(), first[nu:]


def test_the_recursion_solves_the_whole_system_of_optimality():
    for seed in range(5):
        one, x0 = stages(seed), np.random.default_rng(100 + seed).normal(size=5)
        for found, wanted in zip(by_recursion(one, x0), by_one_system(one, x0), strict=True):
            assert np.abs(found - wanted).max() < 1e-9 * max(1.0, np.abs(wanted).max())  # 2e-12


def test_a_cost_that_is_not_convex_in_the_inputs_is_noticed():
    one = stages(3)
    one["Q"][4, 6, 6] -= 100.0
    steps, nx, nv = one["F"].shape
    P, q = np.zeros((steps + 1, nx, nx)), np.zeros((steps + 1, nx, 1))
    K, k = np.empty((steps, nv - nx, nx)), np.empty((steps, nv - nx, 1))
    assert not eliminated(
        one["Q"], one["g"][:, :, None].copy(), one["F"], one["f"], P, q, K, k, np.zeros((1, 1))
    )
