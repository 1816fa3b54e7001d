"""One variational step of a tree: what goes on about the root-finding and the linear-time recursions.

A lane's private state is a `TreeMotion`: coordinates q, the impulse b with which the next step begins (see
`recursions`), and what the next step's guess needs.
"""

import math
from collections.abc import Iterator

import numpy as np

from sim.multibody.arrays import BALL, FREE, PRISMATIC, REVOLUTE, TreeArrays, Workspace
from sim.multibody.articulated import factorise, solve
from sim.multibody.kinematics import gather, move, place
from sim.multibody.recursions import missing_impulses, node_impulses
from sim.multibody.roots import IMPULSE, NEWTON, find_root, first_guess, largest, remember
from sim.multibody.spatial import (
    add,
    apart,
    clear,
    clear_pairs,
    copy,
    cross,
    entry,
    jit,
    put_pair,
    rodrigues_turn,
    rotate,
    row3,
    row9,
    row_of,
    sub,
    times,
)
from sim.multibody.springs import pull, pull_driven
from sim.multibody.tree import Tree

OK, NO_ROOT, NOT_FINITE = 0, 1, 2
HALVINGS = 6
ITERATIONS_MAX = 800.0
"""Of the root finder, that a step is worth with all its halvings: a usual one takes 3 to 6. Who still has no root then
moves by many radians a step, and a picture is not to wait for it."""


@jit
def active_damping(tree, q, out):
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
        out[a] = damping[a] + (tree.limit_damping[a] if beyond else 0.0)


@jit
def add_stiffness(tree, q, share, out):
    """Add a share of the stiffness of joints, with that of the limits that the node is beyond."""
    kinds, v_at, q_at = tree.kind, tree.v_at, tree.q_at
    for i in range(kinds.shape[0]):
        a = v_at[i]
        kind = kinds[i]
        if kind == FREE:
            continue
        if kind == BALL:
            for j in range(a, a + 3):
                out[j] += share * tree.stiffness[j]
            continue
        x = q[q_at[i]]
        beyond = x < tree.limits[a, 0] or x > tree.limits[a, 1]
        out[a] += share * (tree.stiffness[a] + (tree.limit_stiffness[a] if beyond else 0.0))


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
def arrive(tree, ws, q, h, b):
    """After `depart` with ws.increments: move q by these, and b to the impulse at the node that is reached.

    ws.node becomes its frames. The impulse by which the root was missed is taken back there: momenta are kept whatever
    the tolerance.
    """
    d, damping = ws.increments, ws.damping
    missing_impulses(tree, ws.node, d, ws.impulse, damping, h, ws.wrench, ws.residual)
    move(tree, q, d)
    place(tree, q, ws.node)
    node_impulses(tree, ws.node, q, d, damping, h, h, ws.arc, ws.wrench, b)
    take_back(tree, ws.increments, ws.residual, b)


@entry
def node_force(tree, ws, q, out):
    """Generalised forces of gravity, springs and limits at the node placed in ws.node; ws.increments is lost."""
    clear_pairs(ws.arc)
    clear(ws.increments)
    node_impulses(
        tree,
        ws.node,
        q,
        ws.increments,
        ws.damping,
        1.0,
        1.0,
        ws.arc,
        ws.wrench,
        out,
    )


@entry
def node_velocities(tree, ws, q, b, h, v):
    """Velocities (nv,) at the node with the impulse b: of its momenta. ws.factor is that of the mass matrix then."""
    place(tree, q, ws.node)
    node_force(tree, ws, q, ws.kick)
    for a in range(b.shape[0]):
        v[a] = b[a] - 0.5 * h * ws.kick[a]
    clear(ws.damping)
    factorise(tree, ws.node, ws.damping, h, ws.articulated, ws.factor)
    solve(tree, ws.node, ws.damping, h, ws.factor, v, ws.wrench, ws.spare, ws.twist, v)


@jit
def load_bodies(ws, w):
    """ws.wrench = wrenches w (n, 6) in the bodies' frames."""
    for i in range(w.shape[0]):
        R = row9(ws.node, i, 0)
        put_pair(ws.wrench, i, rotate(R, row3(w, i, 0)), rotate(R, row3(w, i, 3)))


@jit
def unwound(tree, d):
    """Take whole turns out of the hinges' increments d, in place; whether there were any.

    Bodies arrive where they would, and with the same impulses: an iterate that leaps may come to rest a turn farther.
    """
    found = False
    for i in range(tree.kind.shape[0]):
        a = tree.v_at[i]
        if tree.kind[i] == REVOLUTE and abs(d[a]) > math.pi:
            d[a] -= 2.0 * math.pi * math.floor(d[a] / (2.0 * math.pi) + 0.5)
            found = True
    return found


@jit
def advance(tree, ws, motion, loads, h, solver, guess, tol):
    """One step; iterations, or -1. q and b are those of its end then, unchanged where no root is found."""
    q, b, memory, u, w = motion.q, motion.b, motion.memory, loads.torques, loads.wrenches
    active_damping(tree, q, ws.damping)
    if w.shape[0]:
        load_bodies(ws, w)
        gather(tree, ws.node, ws.wrench, ws.impulse)
        for a in range(b.shape[0]):
            ws.impulse[a] = b[a] + h * (0.5 * u[a] + ws.impulse[a])
    else:
        for a in range(b.shape[0]):
            ws.impulse[a] = b[a] + 0.5 * h * u[a]
    pull_driven(tree, ws, u, 0.5 * h, ws.impulse)
    order, finder = int(memory[0]), solver
    while True:
        if finder != NEWTON or guess == IMPULSE or order == 0:
            factorise(tree, ws.node, ws.damping, h, ws.articulated, ws.factor)
        first_guess(tree, ws, h, motion.history, order, guess, ws.increments)
        iterations = find_root(tree, ws, q, ws.increments, h, finder, tol, memory[1:])
        if iterations >= 0 and unwound(tree, ws.increments):
            again = find_root(tree, ws, q, ws.increments, h, finder, tol, memory[1:])
            iterations = again if again < 0 else iterations + again
        if iterations >= 0:
            break
        if finder == NEWTON:
            return -1
        finder, guess, memory[1] = NEWTON, IMPULSE, 0.0
    if finder != solver:
        memory[1] = 0.0
    arrive(tree, ws, q, h, b)
    for a in range(b.shape[0]):
        b[a] += 0.5 * h * u[a]
    pull_driven(tree, ws, u, 0.5 * h, b)
    return iterations


@apart
def shift_kick(tree, ws, q, seconds, b):
    """Add `seconds` of a node's forces to b. The impulse of a node depends on the step that follows by these alone."""
    node_force(tree, ws, q, ws.kick)
    for a in range(b.shape[0]):
        b[a] += seconds * ws.kick[a]


@jit
def take_step(tree, ws, motion, loads, h, finder):
    """One step in place, as a whole or, where that has no root, in 2, 4, ... parts; its status.

    Without a root q and b may be lost.
    """
    solver, guess, tol = finder.solver, finder.guess, finder.tolerance
    tries = ws.tally[0] + finder.most
    q, b, memory = motion.q, motion.b, motion.memory
    for level in range(HALVINGS + 1):
        parts = 2**level
        part_h = h / parts
        if level > 0:
            # Whatever else was asked for has just found none, and would again.
            guess, solver = IMPULSE, NEWTON
            copy(q, ws.saved_q)
            copy(b, ws.saved_b)
            shift_kick(tree, ws, q, -0.5 * (h - part_h), b)
        for _ in range(parts):
            if level > 0:
                memory[:] = 0.0
            n = advance(tree, ws, motion, loads, part_h, solver, guess, tol)
            if n < 0 or ws.tally[0] > tries:
                break
        if n >= 0 and ws.tally[0] <= tries:
            break
        if level == HALVINGS or ws.tally[0] > tries:
            return NO_ROOT
        if level > 0:
            copy(ws.saved_q, q)
            copy(ws.saved_b, b)
            place(tree, q, ws.node)
    if level == 0:
        memory[0] = remember(motion.history, ws.missed, memory[0], ws.increments)
    else:
        shift_kick(tree, ws, q, 0.5 * (h - part_h), b)
        ws.tally[1] += 1
        memory[:] = 0.0
    if largest(b, 1.0) == math.inf or largest(q, 1.0) == math.inf:
        return NOT_FINITE
    return OK


STIFFNESS, DAMPING_RATIO = 0.4, 0.5
"""A limit is a one-sided spring of 0.4 D/h^2, D the inertia that the joint feels between what it joins, with all joints
at zero and free: a tenth of what the step would not stand, so that a joint overshoots by about two steps' way and
nothing blows up where several limits of a light body are reached at once.
That of a tendon's length is the least of some poses."""
_TRIED = 8
"""Poses at random, of trees with limits of tendons."""


def with_limit_springs(tree: Tree, step_s: float, ws: Workspace) -> TreeArrays:
    """The tree's arrays with springs at its limits for steps of `step_s` seconds and all that are shorter."""
    a, nv = tree.arrays, tree.nv
    stiffness, damping, springs = np.zeros(nv), np.zeros(nv), a.springs.copy()
    none = np.zeros(nv)

    def bearing(slope: np.ndarray) -> np.ndarray:
        """(stiffness, damping) of what feels a force by this slope (nv,), where the tree is placed."""
        answer = slope.copy()
        solve(a, ws.node, none, step_s, ws.factor, answer, ws.wrench, ws.spare, ws.twist, answer)
        inertia = 1.0 / float(slope @ answer)
        found = STIFFNESS * inertia / step_s**2
        return np.array([found, 2.0 * DAMPING_RATIO * np.sqrt(found * inertia)])

    limited = np.flatnonzero(springs[:, 4])
    springs[limited, 0] = springs[limited, 3] = np.inf
    for number, q in enumerate(_about(tree, _TRIED if len(limited) else 0)):
        place(a, q, ws.node)
        factorise(a, ws.node, none, step_s, ws.articulated, ws.factor)
        for at in a.v_at[(a.kind == REVOLUTE) | (a.kind == PRISMATIC)]:
            if number == 0 and np.isfinite(a.limits[at]).any():
                stiffness[at], damping[at] = bearing(np.eye(nv)[at])
        for k in limited:
            slope = np.zeros(nv)
            pull(a, ws.node, k, 1.0, ws.wrench)
            gather(a, ws.node, ws.wrench, slope)
            if np.isfinite(slope).all() and slope.any():
                springs[k, 0], springs[k, 3] = np.minimum(springs[k, [0, 3]], bearing(slope))
    springs[np.isinf(springs[:, 0]), 0:4:3] = 0.0  # nothing changes such a length
    return a._replace(limit_stiffness=stiffness, limit_damping=damping, springs=springs)


def _about(tree: Tree, count: int) -> Iterator[np.ndarray]:
    """Coordinates with all joints at zero, then so many at random."""
    yield tree.q0
    a, rng = tree.arrays, np.random.default_rng(0)
    for _ in range(count):
        q = rng.uniform(-1.0, 1.0, tree.nq)
        for kind, at, v in zip(a.kind, a.q_at, a.v_at, strict=True):
            if kind in (BALL, FREE):
                q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
            else:
                q[at] = np.clip(q[at], *a.limits[v])
        yield q
