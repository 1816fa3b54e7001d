"""The increments of a step: where they are guessed, and how the root of the residual impulse is found."""

import math
from typing import NamedTuple

from sim.multibody.arrays import REMEMBERED, UPDATES_MAX
from sim.multibody.articulated import collect, respond, solve
from sim.multibody.kinematics import NOWHERE, compose, compose_joint, move, place_frames
from sim.multibody.newton import factorise_tangent, solve_tangent
from sim.multibody.recursions import (
    UNMOVED,
    depart,
    displace,
    joint_share,
    load,
    missing_impulses,
    rotors_of_balls,
)
from sim.multibody.spatial import apart, clear_pairs, copy, jit

RIQN, NEWTON, BROYDEN = 0, 1, 2
"""How the root is found: recursive impulse-based quasi-Newton, exact Newton, Broyden's update of the former."""
AT_REST, PREVIOUS, IMPULSE, EXTRAPOLATED, GIVEN = 0, 1, 2, 3, 4
"""First guess of a step's increments: none (the paper's IG1), those of the step before (IG2), those that the impulse
alone would give (IG3), a polynomial through the last, those that stand there."""


class RootFinder(NamedTuple):
    """How the root of a step is found."""

    solver: int
    """`RIQN` ..."""
    guess: int
    """`AT_REST` ..."""
    tolerance: float
    """Of the joints' increments [rad or m]."""
    most: float
    """Iterations after which a step is tried in no further parts."""


BACKTRACKS = 12
RATE_MIN = 1e-3
"""No contraction is taken to be better than this in the steps that follow."""


@jit
def largest(x, scale):
    """Largest magnitude of scale * x; not finite where an entry is not."""
    top = 0.0
    total = 0.0
    for a in range(x.shape[0]):
        y = abs(x[a])
        total += y
        top = max(top, y)
    return abs(scale) * top if math.isfinite(total) else math.inf


@jit
def first_guess(tree, ws, h, history, order, guess, d):
    """Fill d (nv,); `ws.factor` holds the factors of this node, history and order are those of `remember`."""
    if guess == GIVEN:
        return
    if guess == IMPULSE or (order == 0 and guess != AT_REST):
        solve(tree, ws.node, ws.damping, h, ws.factor, ws.impulse, ws.wrench, ws.spare, ws.twist, d)
        for a in range(d.shape[0]):
            d[a] *= h
        return
    terms = 0 if guess == AT_REST else 1 if guess == PREVIOUS else order
    for a in range(d.shape[0]):
        total = 0.0
        for k in range(terms):
            total += history[a, k]
        d[a] = total


@jit
def remember(history, missed, order, d):
    """Backward differences `history` (nv, REMEMBERED), the increments d of a step the first, and the order of the
    polynomial through them that would have guessed this step best, from `order` of the step before: 0 if there is none.

    What a polynomial of k steps would have missed is the difference k.
    """
    for k in range(REMEMBERED):
        missed[k] = 0.0
    for a in range(d.shape[0]):
        difference = d[a]
        for k in range(REMEMBERED):
            before = history[a, k] if order > 0 else 0.0
            history[a, k] = difference
            difference -= before
            missed[k] += difference * difference
    best = 0
    for k in range(1, REMEMBERED):
        if missed[k] < missed[best]:
            best = k
    return best + 1


@jit
def impulse_step(tree, ws, d, h):
    """A quasi-Newton step by the mass matrix at the node in place of the derivative (multibody paper, eqs. 23-25).

    One sweep to the root, in which the residual is gathered and solved with, and one back, in which the bodies are
    displaced by the increments to come. After `depart` with d: ws.ahead are these, for which it is as after `depart`
    again; ws.change has the step against d over h.
    """
    r = ws.residual
    for a in range(r.shape[0]):
        r[a] = joint_share(tree, d, ws.impulse, ws.damping, h, a)
    rotors_of_balls(tree, d, h, r)
    collect(tree, ws.node, ws.damping, h, ws.factor, r, ws.wrench, ws.spare)
    twist, moved = NOWHERE, UNMOVED
    for i in range(tree.parent.shape[0]):
        twist = respond(tree, ws.node, ws.damping, h, ws.factor, ws.spare, ws.twist, ws.change, i, twist)
        compose_joint(tree, d, ws.change, -h, ws.ahead, i)
        moved = displace(tree, ws.node, ws.ahead, ws.arc, i, moved)
    load(tree, ws.node, ws.arc, h, ws.wrench)


@jit
def newton_direction(tree, ws, q, d, h):
    """ws.change: the joints' small motions whose impulses, to first order, are ws.residual."""
    copy(q, ws.q_after)
    move(tree, ws.q_after, d)
    place_frames(tree, ws.q_after, ws.after)
    factorise_tangent(tree, ws.node, ws.after, d, ws.damping, h, ws.arc, ws.tangent, ws.left)
    solve_tangent(tree, ws.node, ws.after, ws.left, ws.residual, ws.wrench, ws.spare, ws.twist, ws.change)


@jit
def broyden_direction(tree, ws, h, updates):
    """The same by Broyden's good update of the mass matrix at the node, from the steps taken before (ws.updates)."""
    z = ws.change
    solve(tree, ws.node, ws.damping, h, ws.factor, ws.residual, ws.wrench, ws.spare, ws.twist, z)
    for a in range(z.shape[0]):
        z[a] *= h
    for j in range(updates):
        square = 0.0
        along = 0.0
        for a in range(z.shape[0]):
            square += ws.updates[j, a] * ws.updates[j, a]
            along -= ws.updates[j, a] * z[a]
        if square == 0.0:
            return
        along /= square
        if j + 1 < updates:
            for a in range(z.shape[0]):
                z[a] -= along * ws.updates[j + 1, a]
        elif abs(1.0 - along) > 1e-3:
            for a in range(z.shape[0]):
                z[a] /= 1.0 - along


@apart
def newton_step(tree, ws, q, d, h, method, updates):
    """As `impulse_step`, by the exact derivative or by Broyden's update; ws.change is the step against d itself."""
    missing_impulses(tree, ws.node, d, ws.impulse, ws.damping, h, ws.wrench, ws.residual)
    if method == NEWTON:
        newton_direction(tree, ws, q, d, h)
    else:
        broyden_direction(tree, ws, h, updates)
    compose(tree, d, ws.change, -1.0, ws.ahead)
    depart(tree, ws.node, ws.ahead, h, ws.arc, ws.wrench)


@apart
def residual_of(tree, ws, d, h):
    """Largest residual impulse of d, after and before `depart`."""
    missing_impulses(tree, ws.node, d, ws.impulse, ws.damping, h, ws.wrench, ws.residual)
    depart(tree, ws.node, d, h, ws.arc, ws.wrench)
    return largest(ws.residual, 1.0)


@apart
def go_half_way_back(tree, ws, d, h):
    """From d to the increments before; as after `depart` with these."""
    for a in range(d.shape[0]):
        d[a] = 0.5 * (d[a] + ws.trial[a])
    depart(tree, ws.node, d, h, ws.arc, ws.wrench)


@jit
def expected_rate(method, seen):
    """Of convergence in a step's first iteration, where `seen` is that of the steps before, 0 if there is none.

    What an iteration moves over what the one before has moved, of Newton's method over its square.
    """
    if seen <= 0.0:
        return math.inf
    return 1.2 * seen if method == NEWTON else max(seen, RATE_MIN) ** 0.8


@jit
def left_to_move(method, rate, size):
    """After an iteration that has moved by `size`."""
    if method == NEWTON:
        return rate * size * size
    return rate * size / (1.0 - rate) if rate < 0.5 else math.inf


@jit
def find_root(tree, ws, q, d, h, method, tol, rate):
    """Increments d (a guess, in place) whose residual impulse vanishes. Returns iterations, or -1 where none are found.

    Done when what is left to move, by the convergence seen last, is below `tol` (rad or m): impulses cannot tell, since
    their floor is M eps / h. The first iteration goes by the convergence `rate[0]` of the steps before, 0 if there is
    none, made worse each time that it is not seen anew (Hairer and Wanner II, IV.8). An iterate that has further to go
    than the one before is halved. `ws.tally` notes the residual at each iterate. It is as after `depart`
    with d then.
    """
    residuals = ws.tally[2:]
    before = math.inf
    backtracks = 0
    known = expected_rate(method, rate[0])
    depart(tree, ws.node, d, h, ws.arc, ws.wrench)
    for iteration in range(UPDATES_MAX):
        ws.tally[0] += 1.0
        if iteration < residuals.shape[0]:
            residuals[iteration] = residual_of(tree, ws, d, h)
        if method == RIQN:
            impulse_step(tree, ws, d, h)
            size = largest(ws.change, h)
        else:
            newton_step(tree, ws, q, d, h, method, iteration if backtracks == 0 else 0)
            size = largest(ws.change, 1.0)
        if not size < 2.0 * before:
            if before == math.inf or backtracks == BACKTRACKS:
                break
            backtracks += 1
            go_half_way_back(tree, ws, d, h)
            continue
        copy(d, ws.trial)
        copy(ws.ahead, d)
        if method == BROYDEN:
            for a in range(d.shape[0]):
                ws.updates[iteration, a] = -ws.change[a]
        if iteration > 0:
            known = size / before / (before if method == NEWTON else 1.0)
        if size <= tol or left_to_move(method, known, size) <= tol:
            rate[0] = known if known < (math.inf if method == NEWTON else 1.0) else 0.0
            return iteration + 1
        before = size
    clear_pairs(ws.wrench)
    return -1
