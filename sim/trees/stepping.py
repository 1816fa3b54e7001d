"""One variational step of a tree, and many: the root-finding around the linear-time recursions.

The private state of a lane: coordinates q, the impulse b with which the next step begins (see `recursions`), and the
increments of the last five steps, from which the next one is guessed.
"""

import math

from sim.trees.arrays import BALL, FREE, PRISMATIC, REMEMBERED, REVOLUTE, UPDATES_MAX
from sim.trees.articulated import factorise, solve
from sim.trees.kinematics import compose, move, place
from sim.trees.newton import factorise_tangent, solve_tangent
from sim.trees.recursions import discrete_inverse_dynamics, gather, node_impulses, row_of
from sim.trees.spatial import add, cross, entry, jit, rodrigues_turn, sub, times

RIQN, NEWTON, BROYDEN = 0, 1, 2
"""How the root is found: recursive impulse-based quasi-Newton, exact Newton, Broyden's update of the former."""
AT_REST, PREVIOUS, IMPULSE, EXTRAPOLATED = 0, 1, 2, 3
"""First guess of a step's increments: none (the paper's IG1), those of the step before (IG2), those that the impulse
alone would give (IG3), a polynomial through the last, five at most."""

OK, NO_ROOT, NOT_FINITE = 0, 1, 2
BACKTRACKS, HALVINGS = 12, 6


@jit
def active_damping(tree, q, limit_damping, out):
    """Joint damping of a step, with that of the limits that the node is beyond."""
    kinds, v_at, q_at = tree.kind, tree.v_at, tree.q_at
    damping, limits = tree.damping, tree.limits
    for i in range(kinds.shape[0]):
        a = v_at[i]
        kind = kinds[i]
        if kind in (BALL, FREE):
            for j in range(a, a + (3 if kind == BALL else 6)):
                out[j] = damping[j]
            continue
        x = q[q_at[i]]
        beyond = x < limits[a, 0] or x > limits[a, 1]
        out[a] = damping[a] + (limit_damping[a] if beyond else 0.0)


@jit
def largest(x, scale):
    """Largest magnitude of scale * x; not finite where an entry is not."""
    top = 0.0
    for a in range(x.shape[0]):
        y = abs(scale * x[a])
        if not math.isfinite(y):
            return math.inf
        top = max(top, y)
    return top


@jit
def first_guess(tree, ws, h, history, count, guess, d):
    """Fill d (nv,); `ws.factor` holds the factors of this node."""
    if guess == IMPULSE or (count == 0 and guess != AT_REST):
        solve(tree, ws.node, ws.damping, h, ws.factor, ws.impulse, ws.wrench, ws.spare, ws.arc, d)
        for a in range(d.shape[0]):
            d[a] *= h
        return
    for a in range(d.shape[0]):
        if guess == AT_REST:
            d[a] = 0.0
        elif guess == PREVIOUS or count == 1:
            d[a] = history[0, a]
        elif count == 2:
            d[a] = 2.0 * history[0, a] - history[1, a]
        elif count == 3:
            d[a] = 3.0 * (history[0, a] - history[1, a]) + history[2, a]
        elif count == 4:
            d[a] = 4.0 * (history[0, a] + history[2, a]) - 6.0 * history[1, a] - history[3, a]
        else:
            d[a] = (
                5.0 * (history[0, a] - history[3, a]) + 10.0 * (history[2, a] - history[1, a]) + history[4, a]
            )


@jit
def newton_direction(tree, ws, q, d, h):
    """ws.change: the joints' small motions whose impulses, to first order, are ws.residual."""
    for a in range(q.shape[0]):
        ws.q_after[a] = q[a]
    move(tree, ws.q_after, d)
    place(tree, ws.q_after, ws.after)
    factorise_tangent(tree, ws.node, ws.after, d, ws.damping, h, ws.arc, ws.tangent, ws.left)
    solve_tangent(tree, ws.node, ws.after, ws.left, ws.residual, ws.wrench, ws.spare, ws.arc, ws.change)


@jit
def impulse_direction(tree, ws, h):
    """The same by the mass matrix at the node in place of the derivative (multibody paper, eqs. 23-25)."""
    solve(tree, ws.node, ws.damping, h, ws.factor, ws.residual, ws.wrench, ws.spare, ws.arc, ws.change)
    for a in range(ws.change.shape[0]):
        ws.change[a] *= h


@jit
def broyden_direction(tree, ws, h, updates):
    """The same by Broyden's good update of that matrix, from the steps taken before (ws.updates)."""
    impulse_direction(tree, ws, h)
    z = ws.change
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


@jit
def find_root(tree, ws, q, d, h, method, tol, residuals):
    """Increments d (a guess, in place) whose residual impulse vanishes. Returns iterations, or -1 where none are found.

    Done when what is left to move, by the contraction seen last, is below `tol` (rad or m): impulses cannot tell, since
    their floor is M eps / h. An iterate that has further to go than the one before is halved. `residuals` notes the
    residual at each iterate.
    """
    before = math.inf
    backtracks = 0
    iteration = 0
    for iteration in range(UPDATES_MAX):
        discrete_inverse_dynamics(tree, ws.node, d, ws.impulse, ws.damping, h, ws.arc, ws.wrench, ws.residual)
        if iteration < residuals.shape[0]:
            residuals[iteration] = largest(ws.residual, 1.0)
        if method == NEWTON:
            newton_direction(tree, ws, q, d, h)
        elif method == BROYDEN and backtracks == 0:
            broyden_direction(tree, ws, h, iteration)
        else:
            impulse_direction(tree, ws, h)
        size = largest(ws.change, 1.0)
        if not size < 2.0 * before:
            if before == math.inf or backtracks == BACKTRACKS:
                return -1
            backtracks += 1
            for a in range(d.shape[0]):
                d[a] = 0.5 * (d[a] + ws.trial[a])
            continue
        for a in range(d.shape[0]):
            ws.trial[a] = d[a]
            if method == BROYDEN:
                ws.updates[iteration, a] = -ws.change[a]
        compose(tree, ws.trial, ws.change, -1.0, d)
        rate = size / before
        if size <= tol or (iteration > 0 and rate < 0.5 and size * rate <= (1.0 - rate) * tol):
            return iteration + 1
        before = size
    return -1


@jit
def take_back(tree, d, residual, b):
    """b less a residual impulse of the node before, which is seen from each joint's frame as it is now."""
    kinds, v_at = tree.kind, tree.v_at
    for i in range(kinds.shape[0]):
        a = v_at[i]
        kind = kinds[i]
        if kind in (REVOLUTE, PRISMATIC):
            b[a] -= residual[a]
            continue
        t, torque = times(-0.5, row_of(d, a)), row_of(residual, a)
        if kind == FREE:
            force = row_of(residual, a + 3)
            torque = sub(torque, cross(row_of(d, a + 3), force))
            force = add(force, rodrigues_turn(t, force))
            b[a + 3] -= force[0]
            b[a + 4] -= force[1]
            b[a + 5] -= force[2]
        torque = add(torque, rodrigues_turn(t, torque))
        b[a] -= torque[0]
        b[a + 1] -= torque[1]
        b[a + 2] -= torque[2]


@jit
def arrive(tree, ws, q, h, limit_stiffness, kick, b):
    """Move q by ws.increments, and b to the impulse at the node that is reached, whose frames ws.node becomes.

    The impulse by which the root was missed is taken back there: momenta are kept whatever the tolerance.
    """
    discrete_inverse_dynamics(
        tree, ws.node, ws.increments, ws.impulse, ws.damping, h, ws.arc, ws.wrench, ws.residual
    )
    move(tree, q, ws.increments)
    place(tree, q, ws.node)
    node_impulses(tree, ws.node, q, ws.increments, ws.damping, limit_stiffness, h, kick, ws.arc, ws.wrench, b)
    take_back(tree, ws.increments, ws.residual, b)


@entry
def node_force(tree, ws, q, limit_stiffness, out):
    """Generalised forces of gravity, springs and limits at the node placed in ws.node; ws.increments is lost."""
    for i in range(ws.arc.shape[0]):
        for k in range(6):
            ws.arc[i, k] = 0.0
    for a in range(out.shape[0]):
        ws.increments[a] = 0.0
    node_impulses(
        tree, ws.node, q, ws.increments, ws.damping, limit_stiffness, 1.0, 1.0, ws.arc, ws.wrench, out
    )


@jit
def advance(tree, ws, q, b, history, count, u, w, h, kick, limits, method, guess, tol, residuals):
    """One step with torques u (nv,) held and wrenches w (n or 0, 6) in the bodies' frames; iterations, or -1.

    q and b are those of the end then, unchanged where no root is found. `kick`: seconds of node forces in the next b.
    """
    limit_stiffness, limit_damping = limits
    active_damping(tree, q, limit_damping, ws.damping)
    if w.shape[0]:
        for i in range(w.shape[0]):
            for k in range(6):
                ws.wrench[i, k] = w[i, k]
        gather(tree, ws.node, ws.wrench, ws.impulse)
        for a in range(b.shape[0]):
            ws.impulse[a] = b[a] + h * (0.5 * u[a] + ws.impulse[a])
    else:
        for a in range(b.shape[0]):
            ws.impulse[a] = b[a] + 0.5 * h * u[a]
    if method != NEWTON or guess == IMPULSE or count == 0:
        factorise(tree, ws.node, ws.damping, h, ws.articulated, ws.factor)
    first_guess(tree, ws, h, history, count, guess, ws.increments)
    iterations = find_root(tree, ws, q, ws.increments, h, method, tol, residuals)
    if iterations < 0 and method != NEWTON:
        factorise(tree, ws.node, ws.damping, h, ws.articulated, ws.factor)
        first_guess(tree, ws, h, history, count, IMPULSE, ws.increments)
        iterations = find_root(tree, ws, q, ws.increments, h, NEWTON, tol, residuals)
    if iterations < 0:
        return -1
    arrive(tree, ws, q, h, limit_stiffness, kick, b)
    for a in range(b.shape[0]):
        b[a] += 0.5 * h * u[a]
    return iterations


@jit
def remember(history, d):
    for a in range(d.shape[0]):
        for k in range(REMEMBERED - 1, 0, -1):
            history[k, a] = history[k - 1, a]
        history[0, a] = d[a]


@jit
def divided(tree, ws, q, b, history, u, w, h, limits, method, tol, residuals):
    """A step that has no root as a whole, in 2, 4, ... parts; iterations in all, or -1. q, b as in `advance`.

    The impulse b of a node depends on the step that follows by its kick alone, which is changed for each part's.
    """
    for level in range(1, HALVINGS + 1):
        parts = 2**level
        part_h = h / parts
        for a in range(q.shape[0]):
            ws.saved_q[a] = q[a]
        for a in range(b.shape[0]):
            ws.saved_b[a] = b[a]
        node_force(tree, ws, q, limits[0], ws.kick)
        for a in range(b.shape[0]):
            b[a] -= 0.5 * (h - part_h) * ws.kick[a]
        total = 0
        for _ in range(parts):
            n = advance(
                tree, ws, q, b, history, 0, u, w, part_h, part_h, limits, method, IMPULSE, tol, residuals
            )
            if n < 0:
                total = -1
                break
            total += n
        if total >= 0:
            node_force(tree, ws, q, limits[0], ws.kick)
            for a in range(b.shape[0]):
                b[a] += 0.5 * (h - part_h) * ws.kick[a]
            return total
        for a in range(q.shape[0]):
            q[a] = ws.saved_q[a]
        for a in range(b.shape[0]):
            b[a] = ws.saved_b[a]
        place(tree, q, ws.node)
    return -1


@jit
def take_step(tree, ws, q, b, history, count, u, w, h, limits, method, guess, tol, tally, residuals):
    """One step of `rollout`; its status."""
    n = advance(tree, ws, q, b, history, count[0], u, w, h, h, limits, method, guess, tol, residuals)
    if n >= 0:
        remember(history, ws.increments)
        count[0] = min(count[0] + 1, REMEMBERED)
    else:
        n = divided(tree, ws, q, b, history, u, w, h, limits, method, tol, residuals)
        if n < 0:
            return NO_ROOT
        tally[1] += 1
        count[0] = 0
    tally[0] += n
    if largest(b, 1.0) == math.inf or largest(q, 1.0) == math.inf:
        return NOT_FINITE
    return OK


@entry
def rollout(tree, ws, q, b, history, count, u, w, h, steps, limits, method, guess, tol, tally, residuals):
    """Advance in place. `count` (1,): steps remembered in `history` (REMEMBERED, nv). `tally` (2,) grows by iterations
    and by the steps that had to be divided. Returns (steps done, status); the state is the last good one.
    """
    place(tree, q, ws.node)
    for step in range(steps):
        status = take_step(
            tree, ws, q, b, history, count, u, w, h, limits, method, guess, tol, tally, residuals
        )
        if status != OK:
            return step, status
    return steps, OK
