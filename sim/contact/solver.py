"""Impulses at the contact points that leave no point approaching and no cone exceeded."""

from typing import Any

import numpy as np

from sim.compiled import quick
from sim.contact.rows import (
    AIM,
    IMPULSE,
    INVERSE_MASS,
    NORMAL,
    point_velocity,
    push,
)

SWEEPS = 150
_TOLERANCE_MPS = 1e-12


def rows_solver(velocity: Any, push: Any) -> Any:
    """The solver of rows for one kind of mechanics, compiled.

    velocity(state, response, work, k, direction): velocity [m/s] of the point of row k along direction 0, 1 or 2
    (normal and tangents); push(state, response, work, k, direction, amount): apply an impulse [N s] along it. `state`
    is the array that they read and write, `response` what an impulse does to it.
    """

    @quick
    def solve_friction(
        work: np.ndarray, k: int, state: np.ndarray, response: np.ndarray, friction: float
    ) -> float:
        """Stop the point of row k tangentially as far as its Coulomb cone allows; returns the change [m/s]."""
        w = work[k]
        vs = velocity(state, response, work, k, 1)
        vt = velocity(state, response, work, k, 2)
        determinant = w[INVERSE_MASS + 1] * w[INVERSE_MASS + 3] - w[INVERSE_MASS + 2] * w[INVERSE_MASS + 2]
        ps = w[IMPULSE + 1] - (w[INVERSE_MASS + 3] * vs - w[INVERSE_MASS + 2] * vt) / determinant
        pt = w[IMPULSE + 2] - (w[INVERSE_MASS + 1] * vt - w[INVERSE_MASS + 2] * vs) / determinant
        bound = friction * w[IMPULSE]
        if ps * ps + pt * pt > bound * bound:
            # it slides: a step with one stiffness for both directions, so that the impulse ends up
            # straight against the velocity; with the full matrix it would end up beside it
            half = 0.5 * (w[INVERSE_MASS + 1] + w[INVERSE_MASS + 3])
            stiffest = half + np.sqrt(max(half * half - determinant, 0.0))
            ps = w[IMPULSE + 1] - vs / stiffest
            pt = w[IMPULSE + 2] - vt / stiffest
            size = np.sqrt(ps * ps + pt * pt)
            if size > bound:
                ps *= bound / size
                pt *= bound / size
        push(state, response, work, k, 1, ps - w[IMPULSE + 1])
        push(state, response, work, k, 2, pt - w[IMPULSE + 2])
        change: float = max(abs(ps - w[IMPULSE + 1]), abs(pt - w[IMPULSE + 2])) * w[INVERSE_MASS]
        w[IMPULSE + 1] = ps
        w[IMPULSE + 2] = pt
        return change

    @quick
    def solve(
        work: np.ndarray, state: np.ndarray, response: np.ndarray, friction: float, sweeps: int = SWEEPS
    ) -> None:
        """Projected Gauss-Seidel over all rows until nothing changes, or so often; `state` becomes that after it.

        The impulses in the rows are the first guess.
        """
        for k in range(work.shape[0]):
            for direction in range(3):
                push(state, response, work, k, direction, work[k, IMPULSE + direction])
        for _ in range(sweeps):
            change = 0.0
            for k in range(work.shape[0]):
                w = work[k]
                if w[IMPULSE] > 0.0 or w[IMPULSE + 1] != 0.0 or w[IMPULSE + 2] != 0.0:
                    change = max(change, solve_friction(work, k, state, response, friction))
                wanted = w[AIM] - velocity(state, response, work, k, 0)
                impulse = max(w[IMPULSE] + wanted / w[INVERSE_MASS], 0.0)
                change = max(change, abs(impulse - w[IMPULSE]) * w[INVERSE_MASS])
                push(state, response, work, k, 0, impulse - w[IMPULSE])
                w[IMPULSE] = impulse
            if change < _TOLERANCE_MPS:
                return

    return solve


@quick
def twist_velocity(xi: np.ndarray, inertia: np.ndarray, work: np.ndarray, k: int, direction: int) -> float:
    """Of a body with twist xi (6,) at row k along one of its directions, whatever it answers impulses by [m/s]."""
    speed: float = point_velocity(xi, work[k], NORMAL + 3 * direction)
    return speed


@quick
def _push_twist(
    xi: np.ndarray, inertia: np.ndarray, work: np.ndarray, k: int, direction: int, amount: float
) -> None:
    push(xi, work[k], NORMAL + 3 * direction, amount, inertia)


solve_rows = rows_solver(twist_velocity, _push_twist)
"""Of one body: the state is its twist (6,), the response the diagonal (6,) of its inertia."""
