"""Impulses of contacts in a plane, all at once, where sweeps over them go round in circles.

Feet of a machine that stands wide push each other along the ground as much as themselves, so that sweeps row by row
need not come to an end. In a plane a row is open, sticks, or slides one way or the other, and under each guess of these
Coulomb's law is linear: all are tried, those in which fewest rows bear first, until one obeys the law.
"""

import numpy as np

from sim.compiler.robust import solve_in_place
from sim.contact.rows import AIM, IMPULSE, INVERSE_MASS
from sim.native.function import fastmath

_SETTLED_MPS = 1e-10
"""By which velocities may miss the law."""
_MOST = 5
"""Rows that may bear, beyond which there are too many guesses."""
_ASLEEP_MPS = -1e5
"""Rows that aim at less do not bear."""
_YIELDS, _RIGID = 1e-13, 1e-6
"""Share of what a row answers by which it gives way, so that points of one side share their load; and of what it
answers along the ground, below which that is no way to go."""
_OPEN, _STICKS = 0, 1


@fastmath
def _missed(work: np.ndarray, speeds: np.ndarray, friction: float) -> float:
    """By how much impulses and velocities miss the law [m/s]."""
    missed = 0.0
    for k in range(work.shape[0]):
        w, c = work[k], 3 * k
        answers = max(w[INVERSE_MASS + 1], w[INVERSE_MASS + 3])
        normal = max(w[IMPULSE] - (speeds[c] - w[AIM]) / w[INVERSE_MASS], 0.0)
        s = w[IMPULSE + 1] - speeds[c + 1] / answers
        t = w[IMPULSE + 2] - speeds[c + 2] / answers
        size, bound = np.sqrt(s * s + t * t), friction * normal
        shorter = 1.0 if size <= bound else bound / size
        off = max(abs(shorter * s - w[IMPULSE + 1]), abs(shorter * t - w[IMPULSE + 2])) * answers
        missed = max(missed, off, abs(normal - w[IMPULSE]) * w[INVERSE_MASS])
    return missed


@fastmath
def _equations(
    work: np.ndarray,
    free: np.ndarray,
    response: np.ndarray,
    friction: float,
    state: np.ndarray,
    system: np.ndarray,
    right: np.ndarray,
) -> None:
    """Those of a guess, and their right-hand side; free: velocities without any impulse."""
    count = 3 * work.shape[0]
    for k in range(work.shape[0]):
        c = 3 * k
        way = 1 if response[c + 1, c + 1] > response[c + 2, c + 2] else 2
        for direction in range(3):
            row = system[c + direction]
            right[c + direction] = 0.0
            for column in range(count):
                row[column] = 0.0
            if state[k] != _OPEN and (direction == 0 or (direction == way and state[k] == _STICKS)):
                for column in range(count):
                    row[column] = response[c + direction, column]
                row[c + direction] += _YIELDS * work[k, INVERSE_MASS]
                right[c + direction] = (work[k, AIM] if direction == 0 else 0.0) - free[c + direction]
            else:
                row[c + direction] = 1.0
                if state[k] > _STICKS and direction == way:
                    row[c] = friction * (2.0 * state[k] - 5.0)


@fastmath
def _guessed(code: int, work: np.ndarray, state: np.ndarray) -> int:
    """The guess of that number into state (rows,): open, sticks, slides ahead or back; how many rows bear."""
    bearing = 0
    for k in range(work.shape[0]):
        state[k] = _OPEN
        if work[k, AIM] > _ASLEEP_MPS:
            state[k] = code % 4
            code //= 4
            bearing += 1 if state[k] > _OPEN else 0
    return bearing


@fastmath
def settle(work: np.ndarray, speeds: np.ndarray, response: np.ndarray, friction: float) -> bool:
    """Whether the rows obey the law, after guesses if they have to; their impulses and velocities stay as they are
    where none does, or where they do not lie in a plane.

    As `sim.contact.solver.solve_answered`, whose answer it begins with: speeds (3 rows,) are those with the impulses.
    """
    rows, count = work.shape[0], 3 * work.shape[0]
    if _missed(work, speeds, friction) < _SETTLED_MPS:
        return True
    most = 0
    for k in range(rows):
        one, other = response[3 * k + 1, 3 * k + 1], response[3 * k + 2, 3 * k + 2]
        if min(one, other) > _RIGID * max(one, other):
            return False
        most += 1 if work[k, AIM] > _ASLEEP_MPS else 0
    if most > _MOST:
        return False
    free, found, begun = speeds.copy(), np.zeros(count), speeds.copy()
    state, system, kept = np.zeros(rows, np.int64), np.zeros((count, count)), np.zeros(count)
    for k in range(rows):
        for direction in range(3):
            kept[3 * k + direction] = work[k, IMPULSE + direction]
            for row in range(count):
                free[row] -= kept[3 * k + direction] * response[row, 3 * k + direction]
    for fewest in range(most + 1):
        for code in range(4**most):
            if _guessed(code, work, state) != fewest:
                continue
            _equations(work, free, response, friction, state, system, found)
            if not solve_in_place(system, found, count):
                continue
            for k in range(rows):
                for direction in range(3):
                    work[k, IMPULSE + direction] = found[3 * k + direction]
            for row in range(count):
                total = free[row]
                for column in range(count):
                    total += response[row, column] * found[column]
                speeds[row] = total
            if _missed(work, speeds, friction) < _SETTLED_MPS:
                return True
    for k in range(rows):
        for direction in range(3):
            work[k, IMPULSE + direction] = kept[3 * k + direction]
    for row in range(count):
        speeds[row] = begun[row]
    return False
