"""Impulses at the contact points that leave no point approaching and no cone exceeded."""

import numpy as np

from sim.compiled import allocating_nothing
from sim.environment.contact_rows import (
    AIM,
    FIRST,
    IMPULSE,
    INVERSE_MASS,
    NORMAL,
    SECOND,
    point_velocity,
    push,
)

_SWEEPS = 150
_TOLERANCE_MPS = 1e-12


@allocating_nothing
def _solve_friction(w: np.ndarray, xi: np.ndarray, inertia: np.ndarray, friction: float) -> float:
    """Stop the point of row `w` tangentially as far as its Coulomb cone allows, in place; returns the change [m/s]."""
    vs = point_velocity(xi, w, FIRST)
    vt = point_velocity(xi, w, SECOND)
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
    push(xi, w, FIRST, ps - w[IMPULSE + 1], inertia)
    push(xi, w, SECOND, pt - w[IMPULSE + 2], inertia)
    change = max(abs(ps - w[IMPULSE + 1]), abs(pt - w[IMPULSE + 2])) * w[INVERSE_MASS]
    w[IMPULSE + 1] = ps
    w[IMPULSE + 2] = pt
    return change


@allocating_nothing
def solve_rows(work: np.ndarray, xi: np.ndarray, inertia: np.ndarray, friction: float) -> None:
    """Projected Gauss-Seidel over all rows until nothing changes; `xi` becomes the twist after contact.

    The impulses in the rows are the first guess.
    """
    for k in range(work.shape[0]):
        for direction in range(3):
            push(xi, work[k], NORMAL + 3 * direction, work[k, IMPULSE + direction], inertia)
    for _ in range(_SWEEPS):
        change = 0.0
        for k in range(work.shape[0]):
            w = work[k]
            if w[IMPULSE] > 0.0 or w[IMPULSE + 1] != 0.0 or w[IMPULSE + 2] != 0.0:
                change = max(change, _solve_friction(w, xi, inertia, friction))
            wanted = w[AIM] - point_velocity(xi, w, NORMAL)
            impulse = max(w[IMPULSE] + wanted / w[INVERSE_MASS], 0.0)
            change = max(change, abs(impulse - w[IMPULSE]) * w[INVERSE_MASS])
            push(xi, w, NORMAL, impulse - w[IMPULSE], inertia)
            w[IMPULSE] = impulse
        if change < _TOLERANCE_MPS:
            return
