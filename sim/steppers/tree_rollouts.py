"""Many steps of a tree on the private state of a lane, whose loads are held: open, or with loops.

Every rollout takes (lane, method, state, loads, h, steps), and returns (steps done, status). The state is the last good
one, in place. What each of them wants to know of its method, and what its state is, stands below.
"""

import math
from typing import NamedTuple

import numpy as np

from sim.contact.trees import (
    TreeContact,
    along,
    bear,
    ground_push,
    is_near,
    look_at_ends,
    tell_ground,
    woken,
)
from sim.multibody.arrays import TreeArrays, TreeMotion, Workspace
from sim.multibody.articulated import factorise, solve
from sim.multibody.continuous import (
    EULER,
    accelerate,
    air_impulse,
    euler_step,
    rk4_step,
)
from sim.multibody.gaps import LoopArrays
from sim.multibody.kinematics import momenta, place
from sim.multibody.loops import (
    CORRECTIONS_MAX,
    ClosingWorkspace,
    answer_to,
    close_gaps,
    damped_gaps,
    end_damping,
    impulses_by_end,
    keep_closed,
    least_impulses,
    loop_slopes,
    open_gaps,
)
from sim.multibody.roots import EXTRAPOLATED, GIVEN, RootFinder, largest
from sim.multibody.spatial import apart, aside, copy, entry, entry_apart, entry_loops, jit
from sim.multibody.springs import pull_driven
from sim.multibody.stepping import (
    HALVINGS,
    ITERATIONS_MAX,
    NO_ROOT,
    NOT_FINITE,
    OK,
    active_damping,
    node_force,
    shift_kick,
    take_step,
)


class OpenLane(NamedTuple):
    """What steps of an open tree read and write beside its state."""

    tree: TreeArrays
    workspace: Workspace
    contact: TreeContact
    """The ground, as far as it has ends."""


class ClosedLane(NamedTuple):
    """The same with what closes loops."""

    open: OpenLane
    loops: LoopArrays
    """Without rows, where there are none."""
    closing: ClosingWorkspace


class ClosedMotion(NamedTuple):
    """The state of `closed_rollout`."""

    motion: TreeMotion
    impulses: np.ndarray
    """(m,) of the loops in the latest step, where the next one's begin [N s]."""


class NodeMotion(NamedTuple):
    """The state of `accelerated_rollout`."""

    q: np.ndarray
    v: np.ndarray


class Accelerations(NamedTuple):
    """The method of `accelerated_rollout`."""

    rule: int
    """`EULER` or `RK4`."""
    tolerance: float
    """To which loops are closed [m]."""
    stages: np.ndarray
    """(6, nv) is overwritten, as what follows."""
    torques: np.ndarray
    """(1 or 3, nv + m) as those of the loads."""


_ENDS_TOLERANCE = 0.1
"""Times the tolerance of a step's increments, to which contact holds where it ends [m]."""
_NEAR_GROUND = 1e-2
"""Times the same tolerance, for steps that find contact where they end: a leg that a plan balances makes much of
little."""


@aside
def meet_ground(tree, ws, contact, motion, loads, h):
    """Add to ws.torque the contact's mean force over a step that begins with the impulse b."""
    q, b, u = motion.q, motion.b, loads.torques
    active_damping(tree, q, ws.damping)
    factorise(tree, ws.node, ws.damping, h, ws.articulated, ws.factor)
    for a in range(b.shape[0]):
        contact.free[a] = b[a] + h * (0.5 * u[a] + ws.torque[a])
    pull_driven(tree, ws, u, 0.5 * h, contact.free)
    solve(tree, ws.node, ws.damping, h, ws.factor, contact.free, ws.wrench, ws.spare, ws.twist, contact.free)
    copy(ws.torque, contact.others)
    return ground_push(tree, ws, contact, h, h, ws.torque)


@aside
def step_touching(tree, ws, contact, motion, loads, h, rows, finder):
    """As `take_step`, pushed by ws.torque besides, again and again until contact holds where the step ends.

    How fast roots were found before does not count: where nothing touches one iteration may do, and be 1e-6 m off here.
    """
    q, b = motion.q, motion.b
    looks, status = max(int(contact.frame[5]), 1), OK
    motion.memory[1] = 0.0
    copy_motion(motion, contact.begin)
    for k in range(3 * rows):
        contact.beside[k] = 0.0
    for look in range(looks):
        for a in range(b.shape[0]):
            b[a] += h * ws.torque[a]
        status = take_step(tree, ws, motion, loads, h, finder)
        if status != OK or look == looks - 1:
            break
        missed = h * look_at_ends(tree, contact, q, ws.node, rows, h)
        if missed < _ENDS_TOLERANCE * finder.tolerance and not woken(contact, rows, h):
            break
        copy_motion(contact.begin, motion)
        place(tree, q, ws.node)
        along(contact, rows, contact.free, contact.speeds)
        for k in range(3 * rows):
            contact.speeds[k] += contact.beside[k]
        copy(contact.others, ws.torque)
        bear(contact, rows, h, ws.torque)
    tell_ground(contact, rows, h)
    return status


@entry
def variational_start(tree, ws, q, v, h, b):
    """The impulse b of a node, by the discrete Legendre transform."""
    place(tree, q, ws.node)
    node_force(tree, ws, q, ws.kick)
    momenta(tree, ws.node, v, ws.arc, ws.wrench, b)
    for a in range(b.shape[0]):
        b[a] += 0.5 * h * ws.kick[a]


@entry_apart
def variational_rollout(lane, finder, motion, loads, h, steps):
    """Of an open lane, a `RootFinder` and a `TreeMotion`.

    Contact works against the velocities of the step's arc, as the impulse with which it begins gives them. The air
    pushes for half of a step before it and half after.
    """
    tree, ws, contact = lane
    q, b = motion.q, motion.b
    place(tree, q, ws.node)
    airy = tree.air_carriers.shape[0] > 0
    for step in range(steps):
        copy(q, ws.kept_q)
        copy(b, ws.kept_b)
        copy(loads.push, ws.torque)
        rows, near = 0, 1.0
        if airy:
            air_impulse(tree, ws, q, b, h, 0.5 * h)
        if contact.work.shape[0] and is_near(tree, ws, contact, q, h):
            rows = meet_ground(tree, ws, contact, motion, loads, h)
            if contact.frame[5] > 0.0:
                near = _NEAR_GROUND
        fine = RootFinder(finder.solver, finder.guess, near * finder.tolerance, finder.most)
        if rows > 0:
            status = step_touching(tree, ws, contact, motion, loads, h, rows, fine)
        else:
            for a in range(b.shape[0]):
                b[a] += h * ws.torque[a]
            status = take_step(tree, ws, motion, loads, h, fine)
        if status == OK and airy:
            air_impulse(tree, ws, q, b, h, 0.5 * h)
        if status != OK:
            copy(ws.kept_q, q)
            copy(ws.kept_b, b)
            return step, status
    return steps, OK


@entry_loops
def accelerated_rollout(lane, method, node, loads, h, steps):
    """Of a closed lane, by articulated-body accelerations, under torques (1 or 3, nv + m) as `rk4_step` takes them.

    Loops, if any, are closed after each step, and velocities brought to where they keep them so: both by the least way
    that masses know.
    """
    (tree, ws, contact), loops, closing = lane
    q, v = node.q, node.v
    rule, tol, stages, torques = method
    u, push, none = loads.torques, loads.push, loads.wrenches
    moments, nv = u.shape[0], v.shape[0]
    middle = torques[moments // 2]
    for row in range(moments):
        copy(u[row], torques[row])
    for step in range(steps):
        copy(q, ws.kept_q)
        copy(v, ws.kept_b)
        copy(push, ws.torque)
        if contact.work.shape[0] and is_near(tree, ws, contact, q, h):
            for a in range(v.shape[0]):
                middle[a] = u[moments // 2, a] + push[a]
            accelerate(tree, ws, loops, closing, q, v, middle, none, contact.free)
            for a in range(v.shape[0]):
                contact.free[a] = v[a] + h * contact.free[a]
            rows = ground_push(tree, ws, contact, h, 0.0, ws.torque)
            if rows > 0:
                tell_ground(contact, rows, h)
        for row in range(moments):
            for a in range(nv):
                torques[row, a] = u[row, a] + ws.torque[a]
        if rule == EULER:
            euler_step(tree, ws, loops, closing, q, v, middle, none, h, stages)
        else:
            rk4_step(tree, ws, loops, closing, q, v, torques, none, h, stages)
        if loops.kind.shape[0]:
            close_gaps(tree, ws, loops, closing, loops.kind.shape[0], q, ws.increments, tol)
            keep_closed(tree, ws, loops, closing, q, v)
        if largest(q, 1.0) == math.inf or largest(v, 1.0) == math.inf:
            copy(ws.kept_q, q)
            copy(ws.kept_b, v)
            return step, NOT_FINITE
    return steps, OK


@jit
def copy_rows(source, to):
    for k in range(to.shape[0]):
        for a in range(to.shape[1]):
            to[k, a] = source[k, a]


@jit
def copy_motion(source, to):
    copy(source.q, to.q)
    copy(source.b, to.b)
    copy_rows(source.history, to.history)
    copy(source.memory, to.memory)


# Steps of trees whose joints close loops.

_SOFT = 1e-12
"""Least fraction of the largest square of slopes that is added where impulses are found by those of a step's end."""
_APART = 4.0
"""Slopes at the end below this many times the way that is to be closed do not tell two ways of closing it apart."""
_ROOT_FRACTION = 0.1
"""How much closer than the gaps a trial step's root is found."""
_OFF_RAD, _OFF = 0.05, 0.5
"""A step that ends further than this off what it aimed at first, by itself and by a share of the way, is gone through
in parts: loops close in more than one way, and where a blow drives them far another one's solution is found."""
_PATIENCE = 8
"""So many times the iterations of a step its parts may take together."""


@jit
def astray(increments, aimed):
    """Whether a step has gone another way than it aimed at."""
    most = off = 0.0
    for a in range(aimed.shape[0]):
        most = max(most, abs(aimed[a]))
        off = max(off, abs(increments[a] - aimed[a]))
    return not off <= _OFF_RAD + _OFF * most


@apart
def _closed_step(lane, finder, state, loads, h):
    """One step, as `closed_rollout` has it; its status. Without a solution the motion stays as it was."""
    tree, ws, loops, closing = lane.open.tree, lane.open.workspace, lane.loops, lane.closing
    motion, impulses, tol = state.motion, state.impulses, finder.tolerance
    q, b = motion.q, motion.b
    copy_motion(motion, closing.begin)
    copy(impulses, closing.impulses)
    active_damping(tree, q, ws.damping)
    loop_slopes(tree, ws, loops, closing, q, h)
    closed, by_end, last = False, False, ws.tally[0] + ITERATIONS_MAX
    before, soft, reach = math.inf, 0.0, 0.0
    for correction in range(2 * CORRECTIONS_MAX):
        for a in range(b.shape[0]):
            total = 0.0
            for k in range(closing.impulses.shape[0]):
                total += closing.slopes[k, a] * closing.impulses[k]
            b[a] += total
        guess = EXTRAPOLATED if math.isinf(before) else GIVEN
        trial = RootFinder(finder.solver, guess, _ROOT_FRACTION * tol, last - ws.tally[0])
        _, status = variational_rollout(lane.open, trial, motion, loads, h, 1)
        size, widest = math.inf, math.inf
        if status == OK:
            open_gaps(tree, ws, loops, closing, q)
            damped_gaps(tree, ws, loops, closing, q)
            if by_end:
                if soft == 0.0:
                    impulses_by_end(tree, ws, loops, closing, q, -1.0 / h, _SOFT)
                    for a in range(b.shape[0]):
                        reach = max(reach, abs(h * answer_to(closing, a)))
                    soft = max(_SOFT, (_APART * reach) ** 2)
                impulses_by_end(tree, ws, loops, closing, q, -1.0 / h, soft)
            else:
                least_impulses(closing, closing.gaps, -1.0 / h)
            size = widest = 0.0
            for k in range(closing.gaps.shape[0]):
                widest = max(widest, abs(closing.gaps[k]))
            for a in range(b.shape[0]):
                way = h * answer_to(closing, a)
                size = max(size, abs(way)) if math.isfinite(way) else math.inf
                ws.increments[a] += way
            if correction == 0:
                copy(ws.increments, closing.aimed)
        left = tol if correction < 2 * CORRECTIONS_MAX - 1 else _APART * reach * reach
        if size <= tol or (by_end and widest <= left):
            closed = True
            break
        copy_motion(closing.begin, motion)
        if ws.tally[0] > last:
            break
        if by_end:
            if status != OK:
                break
        elif not size < before or correction == CORRECTIONS_MAX - 1:
            # The slopes of the start lead away from where the gaps close: from no impulses on by those of the end.
            by_end, before = True, math.inf
            closing.impulses[:] = 0.0
            continue
        before = size
        for k in range(closing.impulses.shape[0]):
            closing.impulses[k] += closing.change[k]
    if not closed:
        copy_motion(closing.begin, motion)
        return NO_ROOT
    place(tree, q, ws.node)
    end_damping(tree, ws, loops, closing, q, b)
    copy(closing.impulses, impulses)
    return OK


@entry
def closed_rollout(lane, finder, state, loads, h, steps):
    """Of a closed lane, as `variational_rollout`, with the loops closed at each step's end; a step that finds no way to
    close them, or another one than it aimed at, is taken in 2, 4, ... parts.

    The tolerance is that of what the impulses would still move [rad or m].
    """
    tree, ws, closing = lane.open.tree, lane.open.workspace, lane.closing
    motion, impulses = state.motion, state.impulses
    q, b = motion.q, motion.b
    for step in range(steps):
        copy_motion(motion, closing.whole)
        status, last = OK, 0
        for level in range(HALVINGS + 1):
            parts = 2**level
            part_h = h / parts
            if level > 0:
                copy_motion(closing.whole, motion)
                place(tree, q, ws.node)
                shift_kick(tree, ws, q, -0.5 * (h - part_h), b)
                motion.memory[:] = 0.0
                impulses[:] = 0.0
            strays = False
            for _ in range(parts):
                status = _closed_step(lane, finder, state, loads, part_h)
                strays = strays or astray(ws.increments, closing.aimed)
                if status != OK or (strays and level < HALVINGS):
                    break
            if status == OK and (not strays or level == HALVINGS):
                if level > 0:
                    place(tree, q, ws.node)
                    shift_kick(tree, ws, q, 0.5 * (h - part_h), b)
                    motion.memory[:] = 0.0
                    impulses[:] = 0.0
                break
            if level == 0:
                last = ws.tally[0] + _PATIENCE * ITERATIONS_MAX
            elif ws.tally[0] > last:
                status = NO_ROOT
                break
        if status != OK:
            copy_motion(closing.whole, motion)
            return step, NO_ROOT
    return steps, OK
