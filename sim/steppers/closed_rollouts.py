"""Many steps of a tree whose joints close loops, on the private state of a lane, whose loads are held."""

import math

from sim.multibody.kinematics import place
from sim.multibody.loops import (
    CORRECTIONS_MAX,
    answer_to,
    damped_gaps,
    end_damping,
    impulses_by_end,
    least_impulses,
    loop_slopes,
    open_gaps,
)
from sim.multibody.roots import EXTRAPOLATED, GIVEN
from sim.multibody.spatial import apart, copy, entry, jit
from sim.multibody.stepping import HALVINGS, ITERATIONS_MAX, NO_ROOT, OK, active_damping, shift_kick
from sim.steppers.tree_rollouts import copy_motion, variational_rollout

_SOFT = 1e-12
"""Least fraction of the largest square of slopes that is added where impulses are found by those of a step's end."""
_APART = 4.0
"""Slopes at the end below this many times the way that is to be closed do not tell two ways of closing it apart."""
_ROOT_FRACTION = 0.1
"""How much closer than the gaps a trial step's root is found."""
_ASTRAY_RAD, _ASTRAY = 0.05, 0.5
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
    return not off <= _ASTRAY_RAD + _ASTRAY * most


@apart
def _closed_step(tree, ws, contact, loops, closing, motion, impulses, loads, h, solver, tol):
    """One step, as `closed_rollout` has it; its status. Without a solution the motion stays as it was."""
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
        _, status = variational_rollout(
            tree, ws, contact, motion, loads, h, 1, solver, guess, _ROOT_FRACTION * tol, last - ws.tally[0]
        )
        size, widest = math.inf, math.inf
        if status == OK:
            open_gaps(tree, ws, loops, closing, q)
            damped_gaps(tree, ws, loops, closing)
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
def closed_rollout(tree, ws, contact, loops, closing, motion, impulses, loads, h, steps, solver, tol):
    """As `variational_rollout`, with the loops closed at each step's end; a step that finds no way to close them, or
    another one than it aimed at, is taken in 2, 4, ... parts.

    `impulses` (m,) of the latest step are where the next one's begin [N s]. tol: of what the impulses would
    still move [rad or m].
    """
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
                status = _closed_step(
                    tree, ws, contact, loops, closing, motion, impulses, loads, part_h, solver, tol
                )
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
