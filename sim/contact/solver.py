"""Impulses at the contact points that leave no point approaching and no Coulomb cone exceeded.

For several bodies: projected Gauss-Seidel sweeps over the points. For one body: Newton's method, where sweeps would
take hundreds. Unknown is the body's twist, six numbers whatever the number of points. A point's impulse is the
projection onto its cone of (impulse - stiffness * velocity), as of the multiplier of an augmented Lagrangian; the
momentum balance with these impulses is solved by Newton's method, then the impulses take the projected values, until no
point's velocity contradicts its law (P. Alart, A. Curnier, "A mixed formulation for frictional contact problems prone
to Newton like solution methods", 1991). Points that bear more than six numbers can tell apart share their load as they
did before.
"""

from typing import Any

import numpy as np

from sim.compiler.robust import solve_in_place
from sim.contact.rows import AIM, FIRST, IMPULSE, INVERSE_MASS, NORMAL, SECOND, point_velocity, push
from sim.native.function import fastmath, inline_fastmath

SWEEPS = 150
_TOLERANCE_MPS = 1e-12
_RIGID, _HELD = 1e-9, 1e-30
"""Share of what a point answers along the ground, and what it answers at all [1/kg], below which it is held there."""


@inline_fastmath
def stopped(
    ss: float, st: float, tt: float, ps: float, pt: float, vs: float, vt: float, bound: float
) -> tuple[float, float]:
    """Tangential impulses [N s] that stop a point of velocities (vs, vt), as far as Coulomb's cone allows; before they
    are (ps, pt). ss, st, tt: what the point answers [1/kg]. bound: friction times normal impulse."""
    determinant = ss * tt - st * st
    qs = ps - (tt * vs - st * vt) / determinant
    qt = pt - (ss * vt - st * vs) / determinant
    if qs * qs + qt * qt > bound * bound:
        # it slides: a step with one stiffness for both directions, so that the impulse ends up
        # straight against the velocity; with the full matrix it would end up beside it
        half = 0.5 * (ss + tt)
        stiffest = half + np.sqrt(max(half * half - determinant, 0.0))
        qs = ps - vs / stiffest
        qt = pt - vt / stiffest
        size = np.sqrt(qs * qs + qt * qt)
        if size > bound:
            qs *= bound / size
            qt *= bound / size
    return qs, qt


def rows_solver(velocity: Any, push: Any) -> Any:
    """A sweep and the solver of rows for one kind of mechanics, compiled.

    velocity(state, response, work, k, direction): velocity [m/s] of the point of row k along direction 0, 1 or 2
    (normal and tangents); push(state, response, work, k, direction, amount): apply an impulse [N s] along it. `state`
    is the array that they read and write, `response` what an impulse does to it.
    """

    @fastmath
    def solve_friction(
        work: np.ndarray, k: int, state: np.ndarray, response: np.ndarray, friction: float
    ) -> float:
        """Stop the point of row k tangentially as far as its Coulomb cone allows; returns the change [m/s]."""
        w = work[k]
        vs = velocity(state, response, work, k, 1)
        vt = velocity(state, response, work, k, 2)
        bound = friction * w[IMPULSE]
        ps, pt = stopped(
            w[INVERSE_MASS + 1],
            w[INVERSE_MASS + 2],
            w[INVERSE_MASS + 3],
            w[IMPULSE + 1],
            w[IMPULSE + 2],
            vs,
            vt,
            bound,
        )
        push(state, response, work, k, 1, ps - w[IMPULSE + 1])
        push(state, response, work, k, 2, pt - w[IMPULSE + 2])
        change: float = max(abs(ps - w[IMPULSE + 1]), abs(pt - w[IMPULSE + 2])) * w[INVERSE_MASS]
        w[IMPULSE + 1] = ps
        w[IMPULSE + 2] = pt
        return change

    @fastmath
    def sweep(work: np.ndarray, state: np.ndarray, response: np.ndarray, friction: float) -> float:
        """Once over all rows; the greatest change of a velocity [m/s]."""
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
        return change

    @fastmath
    def solve(
        work: np.ndarray,
        state: np.ndarray,
        response: np.ndarray,
        friction: float,
        sweeps: int = SWEEPS,
    ) -> None:
        """Projected Gauss-Seidel over all rows until nothing changes, or so often; `state` becomes that after it.

        The impulses in the rows are the first guess.
        """
        for k in range(work.shape[0]):
            for direction in range(3):
                push(state, response, work, k, direction, work[k, IMPULSE + direction])
        for _ in range(sweeps):
            if sweep(work, state, response, friction) < _TOLERANCE_MPS:
                return

    return sweep, solve


@fastmath
def twist_velocity(xi: np.ndarray, inertia: np.ndarray, work: np.ndarray, k: int, direction: int) -> float:
    """Of a body with twist xi (6,) at row k along one of its directions, whatever it answers impulses by [m/s]."""
    speed: float = point_velocity(xi, work[k], NORMAL + 3 * direction)
    return speed


@fastmath
def _push_twist(
    xi: np.ndarray, inertia: np.ndarray, work: np.ndarray, k: int, direction: int, amount: float
) -> None:
    push(xi, work[k], NORMAL + 3 * direction, amount, inertia)


_, solve_rows = rows_solver(twist_velocity, _push_twist)
"""Of one body: the state is its twist (6,), the response the diagonal (6,) of its inertia."""


@fastmath
def _answered_velocity(
    speeds: np.ndarray, response: np.ndarray, work: np.ndarray, k: int, direction: int
) -> float:
    speed: float = speeds[3 * k + direction]
    return speed


@fastmath
def _answered_push(
    speeds: np.ndarray, response: np.ndarray, work: np.ndarray, k: int, direction: int, amount: float
) -> None:
    if amount != 0.0:
        for row in range(3 * work.shape[0]):
            speeds[row] += amount * response[row, 3 * k + direction]


_, solve_answered = rows_solver(_answered_velocity, _answered_push)
"""Of any mechanics: the state is the velocities of all rows in their three directions, the response J M^-1 J'."""


@fastmath
def note_answers(work: np.ndarray, response: np.ndarray) -> None:
    """Write into rows what they answer to a push on themselves, of the response that `solve_answered` takes."""
    for k in range(work.shape[0]):
        c = 3 * k
        work[k, INVERSE_MASS] = response[c, c]
        work[k, INVERSE_MASS + 1] = response[c + 1, c + 1]
        work[k, INVERSE_MASS + 2] = response[c + 1, c + 2]
        work[k, INVERSE_MASS + 3] = response[c + 2, c + 2]
        w = work[k, INVERSE_MASS : INVERSE_MASS + 4]
        both = w[1] + w[3]
        # A tree in a plane gives way to no push across it.
        if not w[1] * w[3] - w[2] * w[2] > _RIGID * both * both:
            w[1] += _RIGID * both + _HELD
            w[3] += _RIGID * both + _HELD
        if not w[0] > _HELD:
            w[0] = 1.0 / _HELD


_ROUNDS = 24
_LEAST_FRACTION = 0.3
"""Of a step, where the whole one leads away."""
_STIFFNESS = 1e4
"""Of a point, in units of its effective mass: what a change of the impulses leaves of an error is about its inverse."""
_BALANCE = 1e-11
"""Of 1 m/s and of the body's speed."""
_BALANCE_FRACTION = 10.0
"""Of the violation: the balance is solved no further than that before the impulses change."""

# columns of a row beyond those that it is gathered with
_PUSH = 22  # impulse, body frame [N s]
_PROJECTED = 25  # what it becomes
_WAY = 28  # of the projected impulse along the ground, where the point slides; else nothing
_TURNING = 31  # fraction of the stiffness across that way; 1 where the point sticks, -1 where it is open
SOLVED_WIDTH = 32
EQUATIONS = 6
"""Rows of workspace for the balance, whose matrix stands in the first six columns."""
_BESIDE = 6
"""Column in which what stands beside the matrix begins: in the first row momentum that lacks, then the last step."""


@fastmath
def law_missed(
    work: np.ndarray, xi: np.ndarray, free: np.ndarray, inertia: np.ndarray, friction: float
) -> float:
    """By how much velocities contradict the law [m/s] under the impulses of the rows; `xi` (6,) becomes their twist."""
    _begin(work, xi, free, inertia)
    return _project(work, xi, friction)


@fastmath
def solve_by_newton(
    work: np.ndarray,
    xi: np.ndarray,
    free: np.ndarray,
    inertia: np.ndarray,
    friction: float,
    system: np.ndarray,
    tolerance_mps: float,
) -> bool:
    """Impulses in the rows `work` (k, SOLVED_WIDTH) and twist `xi` (6,) after contact; whether they were found.

    free (6,): twist without contact. inertia (6,): (J1, J2, J3, m, m, m). The impulses in the rows are the first guess,
    which `law_missed` judges; they stay as they are where nothing is found. system: EQUATIONS rows of workspace.
    tolerance_mps: by which velocities may miss the law.
    """
    exact = 1.0
    for c in range(6):
        exact += abs(free[c])
    exact *= _BALANCE
    violation = law_missed(work, xi, free, inertia, friction)
    lack, step = system[0, _BESIDE : _BESIDE + 6], system[1, _BESIDE : _BESIDE + 6]
    missing = _balance(work, xi, free, inertia, lack)
    for _ in range(_ROUNDS):
        if not missing < np.inf:
            return False
        if missing <= exact + _BALANCE_FRACTION * violation:
            for k in range(work.shape[0]):
                for c in range(3):
                    work[k, _PUSH + c] = work[k, _PROJECTED + c]
            if violation < tolerance_mps:
                _tell_impulses(work)
                return True
            _project(work, xi, friction)
            missing = _balance(work, xi, free, inertia, lack)
        _differentiate(work, inertia, friction, system)
        if not solve_in_place(system, lack, 6):
            return False
        for c in range(6):
            step[c] = lack[c]
            xi[c] += step[c]
        before, fraction = missing, 1.0
        violation = _project(work, xi, friction)
        missing = _balance(work, xi, free, inertia, lack)
        while missing > before and fraction > _LEAST_FRACTION:
            fraction *= 0.5
            for c in range(6):
                xi[c] -= fraction * step[c]
            violation = _project(work, xi, friction)
            missing = _balance(work, xi, free, inertia, lack)
    return False


@inline_fastmath
def _begin(work: np.ndarray, xi: np.ndarray, free: np.ndarray, inertia: np.ndarray) -> None:
    """The impulses of the rows in the body frame, and the twist that they lead to."""
    a = b = c = x = y = z = 0.0
    for k in range(work.shape[0]):
        w = work[k]
        n, s, t = w[IMPULSE], w[IMPULSE + 1], w[IMPULSE + 2]
        px = n * w[NORMAL] + s * w[FIRST] + t * w[SECOND]
        py = n * w[NORMAL + 1] + s * w[FIRST + 1] + t * w[SECOND + 1]
        pz = n * w[NORMAL + 2] + s * w[FIRST + 2] + t * w[SECOND + 2]
        w[_PUSH], w[_PUSH + 1], w[_PUSH + 2] = px, py, pz
        a += w[1] * pz - w[2] * py
        b += w[2] * px - w[0] * pz
        c += w[0] * py - w[1] * px
        x += px
        y += py
        z += pz
    xi[0] = free[0] + a / inertia[0]
    xi[1] = free[1] + b / inertia[1]
    xi[2] = free[2] + c / inertia[2]
    xi[3] = free[3] + x / inertia[3]
    xi[4] = free[4] + y / inertia[4]
    xi[5] = free[5] + z / inertia[5]


@inline_fastmath
def _project(work: np.ndarray, xi: np.ndarray, friction: float) -> float:
    """What the impulses become under the twist `xi`; returns how far velocities contradict the law [m/s]."""
    violation = 0.0
    for k in range(work.shape[0]):
        w = work[k]
        nx, ny, nz = w[NORMAL], w[NORMAL + 1], w[NORMAL + 2]
        vx = xi[3] + xi[1] * w[2] - xi[2] * w[1]
        vy = xi[4] + xi[2] * w[0] - xi[0] * w[2]
        vz = xi[5] + xi[0] * w[1] - xi[1] * w[0]
        aim = w[AIM]
        stiffness = _STIFFNESS / w[INVERSE_MASS]
        zx = w[_PUSH] - stiffness * (vx - aim * nx)
        zy = w[_PUSH + 1] - stiffness * (vy - aim * ny)
        zz = w[_PUSH + 2] - stiffness * (vz - aim * nz)
        normal = zx * nx + zy * ny + zz * nz
        if normal <= 0.0:
            zx = zy = zz = 0.0
            w[_TURNING] = -1.0
        else:
            tx, ty, tz = zx - normal * nx, zy - normal * ny, zz - normal * nz
            square = tx * tx + ty * ty + tz * tz
            bound = friction * normal
            if square < bound * bound:
                w[_TURNING] = 1.0
            else:
                size = np.sqrt(square)
                fraction = 1.0 / size if size > 0.0 else 0.0
                w[_TURNING] = bound * fraction
                w[_WAY], w[_WAY + 1], w[_WAY + 2] = fraction * tx, fraction * ty, fraction * tz
                zx = normal * nx + bound * w[_WAY]
                zy = normal * ny + bound * w[_WAY + 1]
                zz = normal * nz + bound * w[_WAY + 2]
        change = max(abs(zx - w[_PUSH]), abs(zy - w[_PUSH + 1]), abs(zz - w[_PUSH + 2]))
        violation = max(violation, change * w[INVERSE_MASS])
        w[_PROJECTED], w[_PROJECTED + 1], w[_PROJECTED + 2] = zx, zy, zz
    return violation / _STIFFNESS


@inline_fastmath
def _balance(
    work: np.ndarray, xi: np.ndarray, free: np.ndarray, inertia: np.ndarray, lack: np.ndarray
) -> float:
    """Momentum that `xi` lacks under the projected impulses, into `lack` (6,); returns it as a speed [m/s]."""
    a = b = c = x = y = z = 0.0
    for k in range(work.shape[0]):
        w = work[k]
        px, py, pz = w[_PROJECTED], w[_PROJECTED + 1], w[_PROJECTED + 2]
        a += w[1] * pz - w[2] * py
        b += w[2] * px - w[0] * pz
        c += w[0] * py - w[1] * px
        x += px
        y += py
        z += pz
    wrench = (a, b, c, x, y, z)
    missing = 0.0
    for k in range(6):
        lack[k] = wrench[k] - inertia[k] * (xi[k] - free[k])
        speed = abs(lack[k]) / inertia[k]
        if not speed <= missing:
            missing = speed
    return missing


@fastmath
def _differentiate(work: np.ndarray, inertia: np.ndarray, friction: float, system: np.ndarray) -> None:
    """The matrix of the balance: inertia and what the projected impulses change with the twist."""
    for a in range(6):
        for b in range(6):
            system[a, b] = 0.0
        system[a, a] = inertia[a]
    for k in range(work.shape[0]):
        w = work[k]
        turning = w[_TURNING]
        if turning < 0.0:
            continue
        stiffness = _STIFFNESS / w[INVERSE_MASS]
        for column in range(6):
            # velocity of the point under a unit of that part of the twist
            vx = 1.0 if column == 3 else w[2] if column == 1 else -w[1] if column == 2 else 0.0
            vy = 1.0 if column == 4 else w[0] if column == 2 else -w[2] if column == 0 else 0.0
            vz = 1.0 if column == 5 else w[1] if column == 0 else -w[0] if column == 1 else 0.0
            if turning < 1.0:
                n, d = w[NORMAL : NORMAL + 3], w[_WAY : _WAY + 3]
                along_n = vx * n[0] + vy * n[1] + vz * n[2]
                along_d = vx * d[0] + vy * d[1] + vz * d[2]
                by_n, by_d = (1.0 - turning) * along_n, friction * along_n - turning * along_d
                vx = turning * vx + by_n * n[0] + by_d * d[0]
                vy = turning * vy + by_n * n[1] + by_d * d[1]
                vz = turning * vz + by_n * n[2] + by_d * d[2]
            system[0, column] += stiffness * (w[1] * vz - w[2] * vy)
            system[1, column] += stiffness * (w[2] * vx - w[0] * vz)
            system[2, column] += stiffness * (w[0] * vy - w[1] * vx)
            system[3, column] += stiffness * vx
            system[4, column] += stiffness * vy
            system[5, column] += stiffness * vz


@inline_fastmath
def _tell_impulses(work: np.ndarray) -> None:
    """Impulses by normal and tangents."""
    for k in range(work.shape[0]):
        w = work[k]
        for direction in range(3):
            at = NORMAL + 3 * direction
            w[IMPULSE + direction] = w[_PUSH] * w[at] + w[_PUSH + 1] * w[at + 1] + w[_PUSH + 2] * w[at + 2]
