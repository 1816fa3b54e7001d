"""Many steps of a tree on the private state of a lane, whose loads are held: open, in parts of a step, or with loops.

Of the variational method the private state is a `TreeMotion`, of the others (q, v).
"""

import math
from typing import NamedTuple

import numpy as np

from sim.contact.trees import along, bear, ground_push, is_near, look_at_ends, tell_ground, woken
from sim.multibody.arrays import BALL, FREE, PRISMATIC
from sim.multibody.articulated import factorise, solve
from sim.multibody.continuous import (
    EULER,
    accelerate,
    air_impulse,
    all_forces,
    euler_step,
    keep_accelerations,
    rk4_step,
)
from sim.multibody.kinematics import momenta, place
from sim.multibody.loops import (
    CORRECTIONS_MAX,
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
from sim.multibody.roots import EXTRAPOLATED, GIVEN, largest
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
def step_touching(tree, ws, contact, motion, loads, h, rows, solver, guess, tol, most):
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
        status = take_step(tree, ws, motion, loads, h, solver, guess, tol, most)
        if status != OK or look == looks - 1:
            break
        missed = h * look_at_ends(tree, contact, q, ws.node, rows, h)
        if missed < _ENDS_TOLERANCE * tol and not woken(contact, rows, h):
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
def variational_rollout(tree, ws, contact, motion, loads, h, steps, solver, guess, tol, most):
    """Returns (steps done, status); the motion is the last good one, in place. contact: the ground, as far as it has
    ends. most: iterations of a step, as for `take_step`.

    Contact works against the velocities of the step's arc, as the impulse with which it begins gives them. The air
    pushes for half of a step before it and half after.
    """
    q, b = motion.q, motion.b
    place(tree, q, ws.node)
    airy = tree.air_carriers.shape[0] > 0
    for step in range(steps):
        copy(q, ws.kept_q)
        copy(b, ws.kept_b)
        copy(loads.push, ws.torque)
        rows, fine = 0, tol
        if airy:
            air_impulse(tree, ws, q, b, h, 0.5 * h)
        if contact.work.shape[0] and is_near(tree, ws, contact, q, h):
            rows = meet_ground(tree, ws, contact, motion, loads, h)
            if contact.frame[5] > 0.0:
                fine = _NEAR_GROUND * tol
        if rows > 0:
            status = step_touching(tree, ws, contact, motion, loads, h, rows, solver, guess, fine, most)
        else:
            for a in range(b.shape[0]):
                b[a] += h * ws.torque[a]
            status = take_step(tree, ws, motion, loads, h, solver, guess, fine, most)
        if status == OK and airy:
            air_impulse(tree, ws, q, b, h, 0.5 * h)
        if status != OK:
            copy(ws.kept_q, q)
            copy(ws.kept_b, b)
            return step, status
    return steps, OK


@entry_loops
def accelerated_rollout(tree, ws, contact, loops, closing, q, v, loads, h, steps, rule, stages, torques, tol):
    """By articulated-body accelerations; as `variational_rollout`, but torques (1 or 3, nv + m) as `rk4_step` takes
    them.

    Loops, if any, are closed to `tol` [m] after each step, and velocities brought to where they keep them so: both by
    the least way that masses know. `stages` (6, nv) and `torques` (as those of the loads) are overwritten.
    """
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


# Steps that are taken in as many equal parts as the joints' speed asks for, reversibly. How short the parts are is
# carried along as a number of its own (Hairer and Soederlind 2005, here on the lane's grid),
#
#     ln rho_{k+1/2} = ln rho_{k-1/2} + h G_k,   G = d/dt ln R,   R = (1 + |h v / turn|^2)^(1/2),
#
# v the rates at which joints turn. A step is taken in rho parts, rounded. G is odd in the velocities: turned round,
# they lead back through the same parts. A number of parts that followed from a step's start alone would not.

PARTS_MAX = 64
_ASTRAY = math.log(1.5)
"""Further than this from the joints' own speed, as after a blow, ln rho starts anew from it."""


class VariedWorkspace(NamedTuple):
    """What a step writes beside `Workspace`."""

    q: np.ndarray
    """(nq,) where the step begins."""
    b: np.ndarray
    """(nv,) as q; what follows likewise."""
    velocity: np.ndarray
    rate: np.ndarray
    forces: np.ndarray
    """(nv + m,) as `Loads.torques`."""


def varied_workspace(nq: int, nv: int, driven: int = 0) -> VariedWorkspace:
    """Of one lane. driven: tendons along which controls have forces."""
    return VariedWorkspace(np.zeros(nq), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv + driven))


@jit
def turning(tree, v, rate):
    """(v.v, v.rate) over the joints' turning."""
    square, power = 0.0, 0.0
    for i in range(tree.kind.shape[0]):
        kind, a = tree.kind[i], tree.v_at[i]
        if kind == PRISMATIC:
            continue
        for j in range(a, a + (3 if kind in (BALL, FREE) else 1)):
            square += v[j] * v[j]
            power += v[j] * rate[j]
    return square, power


@jit
def parts_ahead(tree, ws, own, loops, closing, motion, varied, loads, h, turn):
    """Into how many parts the step from here goes; varied[0], ln rho, becomes that step's. ws.node is placed at q."""
    q, b, v, rate, forces = motion.q, motion.b, own.velocity, own.rate, own.forces
    place(tree, q, ws.node)
    node_force(tree, ws, q, ws.kick)
    active_damping(tree, q, ws.damping)
    factorise(tree, ws.node, ws.damping, 0.0, ws.articulated, ws.factor)
    for a in range(b.shape[0]):
        rate[a] = b[a] - 0.5 * h * ws.kick[a]
        forces[a] = loads.torques[a] + loads.push[a]
    for k in range(b.shape[0], forces.shape[0]):
        forces[k] = loads.torques[k]
    solve(tree, ws.node, ws.damping, 0.0, ws.factor, rate, ws.wrench, ws.spare, ws.twist, v)
    held = loops.kind.shape[0] > 0
    if held:
        keep_closed(tree, ws, loops, closing, q, v)
        active_damping(tree, q, ws.damping)
    all_forces(tree, ws, q, v, forces, loads.wrenches, rate)
    solve(tree, ws.node, ws.damping, 0.0, ws.factor, rate, ws.wrench, ws.spare, ws.twist, rate)
    if held:
        keep_accelerations(tree, ws, loops, closing, q, v, rate)
    square, power = turning(tree, v, rate)
    scale = (h / turn) ** 2
    R = 1.0 + scale * square
    change = h * scale * power / R
    here = 0.5 * math.log(R) + 0.5 * change
    ahead = varied[0] + change
    if varied[1] == 0.0 or not abs(ahead - here) < _ASTRAY:
        ahead = here
    varied[0] = ahead
    if not ahead < math.log(PARTS_MAX):
        return PARTS_MAX
    return max(1, math.floor(math.exp(ahead) + 0.5))


@jit
def rescale(history, memory, ratio):
    """Backward differences of increments (`roots.remember`) for steps `ratio` times as long, to the second order."""
    for a in range(history.shape[0]):
        history[a, 0] += 0.5 * (1.0 - ratio) * history[a, 1]
        factor = ratio
        for k in range(history.shape[1]):
            history[a, k] *= factor
            factor *= ratio
    memory[1] *= max(ratio, 1.0)


@entry
def varied_rollout(
    tree,
    ws,
    own,
    contact,
    loops,
    closing,
    motion,
    impulses,
    varied,
    loads,
    h,
    steps,
    turn,
    solver,
    guess,
    tol,
):
    """As `variational_rollout`, where there are loops as `closed_rollout`. varied (2,): ln rho of the latest step, and
    its parts, 0 if there is none.

    Between steps b is that of a node of steps h, whatever the parts: half of the step's kick is in it.
    """
    q, b = motion.q, motion.b
    for step in range(steps):
        copy(q, own.q)
        copy(b, own.b)
        parts = parts_ahead(tree, ws, own, loops, closing, motion, varied, loads, h, turn)
        part_h = h / parts
        if varied[1] > 0.0 and varied[1] != parts:
            rescale(motion.history, motion.memory, varied[1] / parts)
            for k in range(impulses.shape[0]):
                impulses[k] *= varied[1] / parts
        varied[1] = parts
        shift_kick(tree, ws, q, -0.5 * (h - part_h), b)
        last, status = ws.tally[0] + ITERATIONS_MAX, OK
        for _ in range(parts):
            if impulses.shape[0]:
                _, status = closed_rollout(
                    tree, ws, contact, loops, closing, motion, impulses, loads, part_h, 1, solver, tol
                )
            else:
                most = last - ws.tally[0]
                _, status = variational_rollout(
                    tree, ws, contact, motion, loads, part_h, 1, solver, guess, tol, most
                )
            if status != OK:
                break
        if status != OK:
            copy(own.q, q)
            copy(own.b, b)
            return step, status
        shift_kick(tree, ws, q, 0.5 * (h - part_h), b)
    return steps, OK
