"""Closed loops, compiled: gaps between points of two bodies, their slopes, the impulses that close them with a step.

Impulses G' lambda act at the node from which a step starts, G the slopes of the gaps there. Lambda is corrected by the
articulated-body factors of the node, from one trial step of the open tree to the next; a trial goes on from the
increments of the one before.
"""

import math
from typing import NamedTuple

import numpy as np

from sim.multibody.arrays import REMEMBERED, TreeArrays
from sim.multibody.articulated import factorise, solve
from sim.multibody.kinematics import place
from sim.multibody.lane_steps import variational_rollout
from sim.multibody.least_impulses import answer_to, decompose, least_impulses, within
from sim.multibody.roots import EXTRAPOLATED, GIVEN
from sim.multibody.spatial import add, clear, copy, cross, entry, jit, rotate, row3, row9, sub
from sim.multibody.stepping import NO_ROOT, OK, active_damping
from sim.multibody.telling import world_frames
from sim.multibody.wrenches import gather

CORRECTIONS_MAX = 30
_SOFT = 1e-12
"""Least share of the largest square of slopes that is added where impulses are found by the slopes of a step's end."""
_APART = 4.0
"""Slopes at the end below this many times the way that is to be closed do not tell two ways of closing it apart."""
_ROOT_SHARE = 0.1
"""How much closer than the gaps a trial step's root is found."""


class LoopArrays(NamedTuple):
    """Points of two bodies each that stay together."""

    body: np.ndarray
    """(loops, 2) of the tree's arrays, -1 for the world."""
    point: np.ndarray
    """(loops, 2, 3) in the bodies' frames [m]."""


class ClosingWorkspace(NamedTuple):
    """What closing writes; m = 3 loops."""

    frames: np.ndarray
    """(n, 12) of the bodies in the world."""
    gaps: np.ndarray
    """(m,) m."""
    slopes: np.ndarray
    """(m, nv) of the gaps."""
    answers: np.ndarray
    """(m, nv) what a unit impulse of each row changes the joint velocities by."""
    response: np.ndarray
    """(m, m) slopes times answers."""
    root: np.ndarray
    """(m, m) of the response = root root', with as many columns as it has rank."""
    inner: np.ndarray
    """(m, m) Cholesky factor of root' root."""
    rank: np.ndarray
    """(1,)"""
    spare: np.ndarray
    """(m,)"""
    end_slopes: np.ndarray
    """(m, nv) of the gaps at a step's end."""
    mixed: np.ndarray
    """(m, m) what impulses of unit effect at a step's start change the gaps at its end by, a column each."""
    normal: np.ndarray
    """(m, m) Cholesky factor of mixed' mixed, softened."""
    change: np.ndarray
    """(m,) N s."""
    impulses: np.ndarray
    """(m,) N s, three a loop, in the world's frame."""
    q: np.ndarray
    """(nq,) where the step begins; what follows, likewise."""
    b: np.ndarray
    history: np.ndarray
    memory: np.ndarray


def closing_workspace(tree: TreeArrays, nq: int, loops: int) -> ClosingWorkspace:
    """Room for one lane."""
    n, nv, m = len(tree.parent), len(tree.damping), 3 * loops
    square, row, wide = np.zeros((m, m)), np.zeros(m), np.zeros((m, nv))
    return ClosingWorkspace(
        frames=np.zeros((n, 12)),
        gaps=row,
        slopes=wide,
        answers=wide.copy(),
        response=square,
        root=square.copy(),
        inner=square.copy(),
        rank=np.zeros(1, np.int64),
        spare=row.copy(),
        end_slopes=wide.copy(),
        mixed=square.copy(),
        normal=square.copy(),
        change=row.copy(),
        impulses=row.copy(),
        q=np.zeros(nq),
        b=np.zeros(nv),
        history=np.zeros((nv, REMEMBERED)),
        memory=np.zeros(2),
    )


@jit
def end_of(loops, frames, k, end):
    """Where an end of loop k is in the world."""
    i = loops.body[k, end]
    x = (loops.point[k, end, 0], loops.point[k, end, 1], loops.point[k, end, 2])
    if i < 0:
        return x
    return add(row3(frames, i, 9), rotate(row9(frames, i, 0), x))


@entry
def open_gaps(tree, ws, loops, room, q):
    """room.gaps: from each loop's other point to its point, in the world's frame [m]; room.frames is at q then."""
    world_frames(tree, q, ws.after, room.frames)
    for k in range(loops.body.shape[0]):
        x = sub(end_of(loops, room.frames, k, 0), end_of(loops, room.frames, k, 1))
        room.gaps[3 * k], room.gaps[3 * k + 1], room.gaps[3 * k + 2] = x


@jit
def slope_row(tree, ws, loops, room, row, out):
    """Slope (nv,) of one gap, where ws.node and room.frames are; leaves ws.wrench clear."""
    k, axis = row // 3, row % 3
    for end in range(2):
        i = loops.body[k, end]
        if i < 0:
            continue
        size = 1.0 if end == 0 else -1.0
        force = (size * (axis == 0), size * (axis == 1), size * (axis == 2))
        x = (loops.point[k, end, 0], loops.point[k, end, 1], loops.point[k, end, 2])
        torque = cross(rotate(row9(room.frames, i, 0), x), force)
        for c in range(3):
            ws.wrench[i, c] += torque[c]
            ws.wrench[i, 3 + c] += force[c]
    gather(tree, ws.node, ws.wrench, out)


@entry
def loop_slopes(tree, ws, loops, room, q, h):
    """room.slopes, answers and the factors of the response at q, with the damping of ws.damping within over h."""
    place(tree, q, ws.node)
    world_frames(tree, q, ws.node, room.frames)
    factorise(tree, ws.node, ws.damping, h, ws.articulated, ws.factor)
    m = room.gaps.shape[0]
    for row in range(m):
        slope_row(tree, ws, loops, room, row, room.slopes[row])
        solve(
            tree,
            ws.node,
            ws.damping,
            h,
            ws.factor,
            room.slopes[row],
            ws.wrench,
            ws.spare,
            ws.twist,
            room.answers[row],
        )
    for j in range(m):
        for k in range(m):
            total = 0.0
            for a in range(room.slopes.shape[1]):
                total += room.slopes[j, a] * room.answers[k, a]
            room.response[j, k] = total
    decompose(room)


@entry
def impulses_by_end(tree, ws, loops, room, q, scale, soft):
    """room.change: impulses at the step's start that change the gaps at its end q by scale times room.gaps.

    Where a mechanism passes a pose in which the slopes lose rank, as a parallelogram whose bars come into line, those
    of start and end may be opposite. Impulses are combined such that each moves the tree by as much at the start,
    however small the slopes are there, and of those that close the gaps the least are taken by the slopes at the end,
    with a share `soft` of the largest square added.
    """
    place(tree, q, ws.node)
    world_frames(tree, q, ws.node, room.frames)
    m, rank, nv = room.gaps.shape[0], room.rank[0], room.slopes.shape[1]
    L, C, B, N, x = room.root, room.inner, room.mixed, room.normal, room.spare
    for row in range(m):
        slope_row(tree, ws, loops, room, row, room.end_slopes[row])
    for i in range(m):
        # What impulses change gap i by, then combined by L (L' L)^-1.
        for j in range(rank):
            x[j] = 0.0
        for k in range(m):
            total = 0.0
            for a in range(nv):
                total += room.end_slopes[i, a] * room.answers[k, a]
            for j in range(rank):
                x[j] += total * L[k, j]
        within(C, x, rank)
        for j in range(rank):
            B[i, j] = x[j]
    most = 0.0
    for j in range(rank):
        for k in range(j + 1):
            total = 0.0
            for i in range(m):
                total += B[i, j] * B[i, k]
            N[j, k] = total
        most = max(most, N[j, j])
    for j in range(rank):
        N[j, j] += soft * most
        for k in range(j + 1):
            total = N[j, k]
            for i in range(k):
                total -= N[j, i] * N[k, i]
            N[j, k] = math.sqrt(total) if j == k else total / N[k, k]
    for j in range(rank):
        total = 0.0
        for i in range(m):
            total += B[i, j] * room.gaps[i]
        x[j] = scale * total
    within(N, x, rank)
    within(C, x, rank)
    for i in range(m):
        total = 0.0
        for j in range(rank):
            total += L[i, j] * x[j]
        room.change[i] = total


@entry
def keep_closed(tree, ws, loops, room, q, v):
    """Velocities v (nv,) after the impulse that keeps the gaps as they are, in place."""
    clear(ws.damping)
    loop_slopes(tree, ws, loops, room, q, 0.0)
    for k in range(room.gaps.shape[0]):
        total = 0.0
        for a in range(v.shape[0]):
            total += room.slopes[k, a] * v[a]
        room.gaps[k] = total
    least_impulses(room, room.gaps, -1.0)
    for a in range(v.shape[0]):
        v[a] += answer_to(room, a)


@entry
def way_to_close(tree, ws, loops, room, q, d):
    """d (nv,): increments of the joints that close the gaps at q to first order."""
    clear(ws.damping)
    loop_slopes(tree, ws, loops, room, q, 0.0)
    open_gaps(tree, ws, loops, room, q)
    least_impulses(room, room.gaps, -1.0)
    for a in range(d.shape[0]):
        d[a] = answer_to(room, a)


@jit
def copy_rows(source, to):
    for k in range(to.shape[0]):
        for a in range(to.shape[1]):
            to[k, a] = source[k, a]


@jit
def put_back(room, q, b, history, memory):
    """The state with which the step began."""
    copy(room.q, q)
    copy(room.b, b)
    copy_rows(room.history, history)
    copy(room.memory, memory)


@entry
def closed_rollout(
    tree,
    ws,
    felt,
    loops,
    room,
    q,
    b,
    history,
    memory,
    impulses,
    u,
    push,
    none,
    h,
    steps,
    limits,
    method,
    tol,
    tally,
    residuals,
):
    """As `variational_rollout`, with the loops closed at each step's end.

    `impulses` (m,) of the latest step are where the next one's begin [N s]. `tol`: of what the impulses would still
    move [rad or m].
    """
    for step in range(steps):
        copy(q, room.q)
        copy(b, room.b)
        copy_rows(history, room.history)
        copy(memory, room.memory)
        copy(impulses, room.impulses)
        active_damping(tree, q, limits[1], ws.damping)
        loop_slopes(tree, ws, loops, room, q, h)
        closed = by_end = False
        before, soft, reach = math.inf, 0.0, 0.0
        for correction in range(2 * CORRECTIONS_MAX):
            for a in range(b.shape[0]):
                total = 0.0
                for k in range(room.impulses.shape[0]):
                    total += room.slopes[k, a] * room.impulses[k]
                b[a] += total
            _, status = variational_rollout(
                tree,
                ws,
                felt,
                q,
                b,
                history,
                memory,
                u,
                push,
                none,
                h,
                1,
                limits,
                method,
                EXTRAPOLATED if math.isinf(before) else GIVEN,
                _ROOT_SHARE * tol,
                tally,
                residuals,
            )
            size, widest = math.inf, math.inf
            if status == OK:
                open_gaps(tree, ws, loops, room, q)
                if by_end:
                    if soft == 0.0:
                        impulses_by_end(tree, ws, loops, room, q, -1.0 / h, _SOFT)
                        for a in range(b.shape[0]):
                            reach = max(reach, abs(h * answer_to(room, a)))
                        soft = max(_SOFT, (_APART * reach) ** 2)
                    impulses_by_end(tree, ws, loops, room, q, -1.0 / h, soft)
                else:
                    least_impulses(room, room.gaps, -1.0 / h)
                size = widest = 0.0
                for k in range(room.gaps.shape[0]):
                    widest = max(widest, abs(room.gaps[k]))
                for a in range(b.shape[0]):
                    way = h * answer_to(room, a)
                    size = max(size, abs(way)) if math.isfinite(way) else math.inf
                    ws.increments[a] += way
            left = tol if correction < 2 * CORRECTIONS_MAX - 1 else _APART * reach * reach
            if size <= tol or (by_end and widest <= left):
                closed = True
                break
            put_back(room, q, b, history, memory)
            if by_end:
                if status != OK:
                    break
            elif not size < before or correction == CORRECTIONS_MAX - 1:
                # The slopes of the start lead away from where the gaps close: from no impulses on by those of the end.
                by_end, before = True, math.inf
                room.impulses[:] = 0.0
                continue
            before = size
            for k in range(room.impulses.shape[0]):
                room.impulses[k] += room.change[k]
        if not closed:
            put_back(room, q, b, history, memory)
            return step, NO_ROOT
        copy(room.impulses, impulses)
    return steps, OK
