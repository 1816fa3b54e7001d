"""Many steps of a tree on the flat private state of a lane, whose inputs are held and which is pushed from outside.

Of the variational method the private state is (q, b, history, memory) as in `stepping`, of the others (q, v). A push is
a generalised force (nv,) whose impulse acts where each step starts.
"""

import math

from sim.contact.trees import ground_push, is_near
from sim.multibody.articulated import factorise, solve
from sim.multibody.continuous import EULER, accelerate, air_impulse, euler_step, rk4_step
from sim.multibody.kinematics import place
from sim.multibody.roots import largest
from sim.multibody.spatial import apart, clear, copy, entry, entry_apart, put_pair, rotate, row9, row_of
from sim.multibody.stepping import NOT_FINITE, OK, active_damping, node_force, take_step
from sim.multibody.twists import gather, momenta


@apart
def meet_ground(tree, ws, felt, q, b, u, h, limit_damping):
    """Add to ws.torque the contact's mean force over a step that begins with the impulse b."""
    active_damping(tree, q, limit_damping, ws.damping)
    factorise(tree, ws.node, ws.damping, h, ws.articulated, ws.factor)
    for a in range(b.shape[0]):
        felt.free[a] = b[a] + h * (0.5 * u[a] + ws.torque[a])
    solve(tree, ws.node, ws.damping, h, ws.factor, felt.free, ws.wrench, ws.spare, ws.twist, felt.free)
    ground_push(tree, ws, felt, h, h, ws.torque)


@entry
def variational_start(tree, ws, q, v, h, limits, b):
    """The impulse b of a node, by the discrete Legendre transform."""
    place(tree, q, ws.node)
    node_force(tree, ws, q, limits[0], ws.kick)
    momenta(tree, ws.node, v, ws.arc, ws.wrench, b)
    for a in range(b.shape[0]):
        b[a] += 0.5 * h * ws.kick[a]


@entry_apart
def variational_rollout(
    tree,
    ws,
    felt,
    q,
    b,
    history,
    memory,
    u,
    push,
    wrenches,
    h,
    steps,
    limits,
    method,
    guess,
    tol,
    tally,
    residuals,
):
    """Returns (steps done, status); the state is the last good one, in place. felt: the ground, as far as it has ends.
    `wrenches` (n or 0, 6) on the bodies, in their frames, are held.

    Contact works against the velocities of the step's arc, as the impulse with which it begins gives them. The air
    pushes for half of a step before it and half after.
    """
    place(tree, q, ws.node)
    airy = tree.air_carriers.shape[0] > 0
    for step in range(steps):
        copy(q, ws.kept_q)
        copy(b, ws.kept_b)
        copy(push, ws.torque)
        if airy:
            air_impulse(tree, ws, q, b, h, 0.5 * h, limits)
        if felt.carriers.shape[0] and is_near(tree, ws, felt, q, h):
            meet_ground(tree, ws, felt, q, b, u, h, limits[1])
        for a in range(b.shape[0]):
            b[a] += h * ws.torque[a]
        status = take_step(
            tree, ws, q, b, history, memory, u, wrenches, h, limits, method, guess, tol, tally, residuals
        )
        if status == OK and airy:
            air_impulse(tree, ws, q, b, h, 0.5 * h, limits)
        if status != OK:
            copy(ws.kept_q, q)
            copy(ws.kept_b, b)
            return step, status
    return steps, OK


@entry
def accelerated_rollout(tree, ws, felt, q, v, u, push, none, h, steps, limits, rule, slope, stages, torques):
    """By articulated-body accelerations; as `variational_rollout`, but u (1 or 3, nv) as `rk4_step` takes it.

    `torques`, of the same shape, is overwritten.
    """
    rows = u.shape[0]
    middle = torques[rows // 2]
    for step in range(steps):
        copy(q, ws.kept_q)
        copy(v, ws.kept_b)
        copy(push, ws.torque)
        if felt.carriers.shape[0] and is_near(tree, ws, felt, q, h):
            for a in range(v.shape[0]):
                middle[a] = u[rows // 2, a] + push[a]
            accelerate(tree, ws, q, v, middle, none, limits, felt.free)
            for a in range(v.shape[0]):
                felt.free[a] = v[a] + h * felt.free[a]
            ground_push(tree, ws, felt, h, 0.0, ws.torque)
        for row in range(rows):
            for a in range(v.shape[0]):
                torques[row, a] = u[row, a] + ws.torque[a]
        if rule == EULER:
            euler_step(tree, ws, q, v, middle, none, h, limits, slope, ws.increments)
        else:
            rk4_step(tree, ws, q, v, torques, none, h, limits, stages, ws.increments)
        if largest(q, 1.0) == math.inf or largest(v, 1.0) == math.inf:
            copy(ws.kept_q, q)
            copy(ws.kept_b, v)
            return step, NOT_FINITE
    return steps, OK


@entry
def answer_of(tree, ws, q, impulse, out):
    """out = M(q)^-1 impulse (nv,): what an impulse changes the velocities by."""
    place(tree, q, ws.node)
    clear(ws.damping)
    factorise(tree, ws.node, ws.damping, 0.0, ws.articulated, ws.factor)
    solve(tree, ws.node, ws.damping, 0.0, ws.factor, impulse, ws.wrench, ws.spare, ws.twist, out)


@entry
def impulse_at(tree, ws, q, body, wrench, out):
    """out (nv,): the generalised impulse of a wrench (6,) on a body of the arrays, in its frame."""
    place(tree, q, ws.node)
    R = row9(ws.node, body, 0)
    put_pair(ws.wrench, body, rotate(R, row_of(wrench, 0)), rotate(R, row_of(wrench, 3)))
    gather(tree, ws.node, ws.wrench, out)
