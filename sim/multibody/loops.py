"""Closed loops: joints and gears between bodies of a tree, kept by impulses found with the step itself.

Impulses act at the node from which a step starts, along the slopes of the gaps there, such that the gaps are closed at
its end (SHAKE; with momenta on the tangent of the gaps at a node, RATTLE). The method stays variational: momenta of a
free mechanism are kept, its energy stays in a band."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sim.multibody.arrays import REMEMBERED, TreeArrays, TreeMotion, workspace
from sim.multibody.articulated import factorise, solve
from sim.multibody.declaration import Gear, Loop
from sim.multibody.gaps import DAMPER, LoopArrays, gap_of, rows_of, slope_row
from sim.multibody.kinematics import move, place
from sim.multibody.observing import world_frames
from sim.multibody.spatial import clear, entry, jit
from sim.multibody.springs import damping_of, spring_length
from sim.multibody.tree import Tree
from sim.platform.errors import InputError, quote

_INDEPENDENT = 1e-6
"""Share of the largest gap's slopes below which those of another say nothing new."""
_RANK = 1e-12
"""A constraint that others imply, as across a plane, has less than this of the largest one's response left; one that is
its own has more, also a ten-thousandth of a radian from a pose in which slopes lose rank, by the angle's square."""


@jit
def decompose(closing):
    """Pivoted Cholesky root of the response, and the factor of root' root: what `least_impulses` needs."""
    A, L, C, left = closing.response, closing.root, closing.inner, closing.spare
    m = A.shape[0]
    most = 0.0
    for j in range(m):
        left[j] = A[j, j]
        most = max(most, A[j, j])
    rank = 0
    for column in range(m):
        pivot = 0
        for j in range(1, m):
            if left[j] > left[pivot]:
                pivot = j
        if not left[pivot] > _RANK * most:
            break
        size = math.sqrt(left[pivot])
        for j in range(m):
            L[j, column] = A[j, pivot]
        for k in range(column):
            # Loops that are far apart have nothing to do with each other.
            factor = L[pivot, k]
            if factor != 0.0:
                for j in range(m):
                    L[j, column] -= L[j, k] * factor
        for j in range(m):
            L[j, column] /= size
            left[j] -= L[j, column] * L[j, column]
        left[pivot] = 0.0
        rank += 1
    closing.rank[0] = rank
    for j in range(rank):
        for k in range(j + 1):
            C[j, k] = 0.0
        for i in range(m):
            factor = L[i, j]
            if factor != 0.0:
                for k in range(j + 1):
                    C[j, k] += factor * L[i, k]
        for k in range(j + 1):
            total = C[j, k]
            for i in range(k):
                total -= C[j, i] * C[k, i]
            C[j, k] = math.sqrt(total) if j == k else total / C[k, k]


@jit
def within(C, x, rank):
    """Solve C C' y = x in place, C a Cholesky factor."""
    for j in range(rank):
        for i in range(j):
            x[j] -= C[j, i] * x[i]
        x[j] /= C[j, j]
    for j in range(rank - 1, -1, -1):
        for i in range(j + 1, rank):
            x[j] -= C[i, j] * x[i]
        x[j] /= C[j, j]


@jit
def least_impulses(closing, jump, scale):
    """closing.change: the least impulses that change the gaps' rates by scale times `jump` (m,), as far as any can."""
    L, C, x, out = closing.root, closing.inner, closing.spare, closing.change
    m, rank = jump.shape[0], closing.rank[0]
    for j in range(rank):
        total = 0.0
        for i in range(m):
            total += L[i, j] * jump[i]
        x[j] = scale * total
    for _ in range(2):
        within(C, x, rank)
    for i in range(m):
        total = 0.0
        for j in range(rank):
            total += L[i, j] * x[j]
        out[i] = total


@jit
def answer_to(closing, a):
    """Change of joint velocity a by the impulses closing.change."""
    total = 0.0
    for k in range(closing.change.shape[0]):
        total += closing.answers[k, a] * closing.change[k]
    return total


CORRECTIONS_MAX = 30


class ClosingWorkspace(NamedTuple):
    """What closing writes; m rows."""

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
    """(m,) N s; of a ball joint three, in the world's frame."""
    scale: np.ndarray
    """(m,) what a row is multiplied with while a step is solved: 1, of dampers such that they respond as if rigid."""
    give: np.ndarray
    """(m,) by which a row gives way to its impulse [m/(N s)]; rigid ones do not."""
    reach: np.ndarray
    """(m,) length of a damper's spring where the step begins [m]."""
    begin: TreeMotion
    """Where the step begins, and where that does of which it is a part."""
    whole: TreeMotion
    aimed: np.ndarray
    """(nv,) increments by which a step would close the gaps to first order."""


def closing_workspace(tree: TreeArrays, nq: int, m: int) -> ClosingWorkspace:
    """Of one lane and m rows."""
    n, nv = len(tree.parent), len(tree.damping)
    square, row, rows = np.zeros((m, m)), np.zeros(m), np.zeros((m, nv))
    return ClosingWorkspace(
        frames=np.zeros((n, 12)),
        gaps=row,
        slopes=rows,
        answers=rows.copy(),
        response=square,
        root=square.copy(),
        inner=square.copy(),
        rank=np.zeros(1, np.int64),
        spare=row.copy(),
        end_slopes=rows.copy(),
        mixed=square.copy(),
        normal=square.copy(),
        change=row.copy(),
        impulses=row.copy(),
        scale=row.copy(),
        give=row.copy(),
        reach=row.copy(),
        begin=TreeMotion(np.zeros(nq), np.zeros(nv), np.zeros((nv, REMEMBERED)), np.zeros(2)),
        whole=TreeMotion(np.zeros(nq), np.zeros(nv), np.zeros((nv, REMEMBERED)), np.zeros(2)),
        aimed=np.zeros(nv),
    )


@entry
def open_gaps(tree, ws, loops, closing, q):
    """closing.gaps [m]; `frames` is at q then. Of dampers nothing."""
    world_frames(tree, q, ws.after, closing.frames)
    for row in range(loops.kind.shape[0]):
        closing.gaps[row] = gap_of(tree, ws.after, loops, closing.frames, row, q)


@jit
def damped_gaps(tree, ws, loops, closing, q):
    """What dampers are off by at a step's end q, to which ws.node belongs, into closing.gaps."""
    for row in range(loops.kind.shape[0]):
        if loops.kind[row] == DAMPER:
            length = spring_length(tree, ws.node, q, loops.body[row, 0])
            off = closing.scale[row] * (length - closing.reach[row])
            closing.gaps[row] = off + closing.give[row] * closing.impulses[row]


@jit
def end_damping(tree, ws, loops, closing, q, b):
    """Add the half of the dampers' impulses that acts at a step's end, to which ws.node and closing.frames belong."""
    for row in range(loops.kind.shape[0]):
        if loops.kind[row] == DAMPER and closing.scale[row] != 0.0:
            slope_row(tree, ws, loops, closing.frames, row, q, closing.end_slopes[row])
            for a in range(b.shape[0]):
                b[a] += closing.scale[row] * closing.impulses[row] * closing.end_slopes[row, a]


@jit
def soften(tree, ws, loops, closing, row, q, h):
    """Scale a damper's row such that its response, with the way that it gives, is that of a rigid one."""
    spring = loops.body[row, 0]
    damping, own = damping_of(tree, ws.node, q, spring), 0.0
    for a in range(closing.slopes.shape[1]):
        own += closing.slopes[row, a] * closing.answers[row, a]
    scale = 0.0
    if damping > 0.0 and h != 0.0:
        scale = math.sqrt(own / (own + 2.0 / (damping * h)))
        closing.give[row] = 2.0 * scale * scale / damping
    closing.scale[row] = scale
    closing.reach[row] = spring_length(tree, ws.node, q, spring)
    for a in range(closing.slopes.shape[1]):
        closing.slopes[row, a] *= scale
        closing.answers[row, a] *= scale


@entry
def loop_slopes(tree, ws, loops, closing, q, h):
    """closing.slopes, answers and the factors of the response at q, with the damping of ws.damping within over h.

    With h = 0 dampers are none."""
    place(tree, q, ws.node)
    world_frames(tree, q, ws.node, closing.frames)
    factorise(tree, ws.node, ws.damping, h, ws.articulated, ws.factor)
    m = closing.gaps.shape[0]
    for row in range(m):
        slope_row(tree, ws, loops, closing.frames, row, q, closing.slopes[row])
        solve(
            tree,
            ws.node,
            ws.damping,
            h,
            ws.factor,
            closing.slopes[row],
            ws.wrench,
            ws.spare,
            ws.twist,
            closing.answers[row],
        )
        if loops.kind[row] == DAMPER:
            soften(tree, ws, loops, closing, row, q, h)
    for j in range(m):
        for k in range(m):
            closing.response[j, k] = 0.0
        for a in range(closing.slopes.shape[1]):
            slope = closing.slopes[j, a]
            if slope != 0.0:
                for k in range(m):
                    closing.response[j, k] += slope * closing.answers[k, a]
        if loops.kind[j] == DAMPER and h != 0.0:
            closing.response[j, j] += closing.give[j] / h
    decompose(closing)


@entry
def impulses_by_end(tree, ws, loops, closing, q, scale, soft):
    """closing.change: impulses at the step's start that change the gaps at its end q by scale times closing.gaps.

    Where a mechanism passes a pose in which the slopes lose rank, as a parallelogram whose bars come into line, those
    of start and end may be opposite. Impulses are combined such that each moves the tree by as much at the start,
    however small the slopes are there, and of those that close the gaps the least are taken by the slopes at the end,
    with a fraction `soft` of the largest square added."""
    place(tree, q, ws.node)
    world_frames(tree, q, ws.node, closing.frames)
    m, rank, nv = closing.gaps.shape[0], closing.rank[0], closing.slopes.shape[1]
    L, C, B, N, x = closing.root, closing.inner, closing.mixed, closing.normal, closing.spare
    for row in range(m):
        slope_row(tree, ws, loops, closing.frames, row, q, closing.end_slopes[row])
        if loops.kind[row] == DAMPER:
            for a in range(nv):
                closing.end_slopes[row, a] *= closing.scale[row]
    for i in range(m):
        # What impulses change gap i by, then combined by L (L' L)^-1.
        for j in range(rank):
            x[j] = 0.0
        for k in range(m):
            total = 0.0
            for a in range(nv):
                total += closing.end_slopes[i, a] * closing.answers[k, a]
            if k == i and loops.kind[i] == DAMPER:
                total -= closing.give[i] * scale
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
            total += B[i, j] * closing.gaps[i]
        x[j] = scale * total
    within(N, x, rank)
    within(C, x, rank)
    for i in range(m):
        total = 0.0
        for j in range(rank):
            total += L[i, j] * x[j]
        closing.change[i] = total


@jit
def make_up(closing, x):
    """x (nv,) and the least change after which the slopes' rates by it and what stands in closing.gaps are nothing."""
    for k in range(closing.gaps.shape[0]):
        for a in range(x.shape[0]):
            closing.gaps[k] += closing.slopes[k, a] * x[a]
    least_impulses(closing, closing.gaps, -1.0)
    for a in range(x.shape[0]):
        x[a] += answer_to(closing, a)


@entry
def keep_closed(tree, ws, loops, closing, q, v):
    """Velocities v (nv,) after the impulse that keeps the gaps as they are, in place."""
    clear(ws.damping)
    loop_slopes(tree, ws, loops, closing, q, 0.0)
    clear(closing.gaps)
    make_up(closing, v)


@entry
def way_to_close(tree, ws, loops, closing, q, d):
    """d (nv,): increments of the joints that close the gaps at q to first order."""
    clear(ws.damping)
    loop_slopes(tree, ws, loops, closing, q, 0.0)
    open_gaps(tree, ws, loops, closing, q)
    clear(d)
    make_up(closing, d)


@entry
def close_gaps(tree, ws, loops, closing, size, q, d, tol):
    """Bring q to where the first `size` gaps are closed, by Newton's method, as far as that leads; d (nv,) is lost.

    Returns the widest of them as it was [m]."""
    first = -1.0
    for _ in range(CORRECTIONS_MAX):
        widest = 0.0
        open_gaps(tree, ws, loops, closing, q)
        for k in range(size):
            widest = max(widest, abs(closing.gaps[k]))
        if first < 0.0:
            first = widest
        if widest <= tol:
            break
        way_to_close(tree, ws, loops, closing, q, d)
        move(tree, q, d)
    return first


OPEN_MAX_M = 1e-3
"""Gap that a state to start from may have: it is closed then."""


_LED_RAD, _LED_M = 0.1, 1e-11
"""Longest way of leading joints between two corrections, and what is left of gaps."""


def dependent(slopes: np.ndarray, order: Sequence[int]) -> np.ndarray:
    """Columns of slopes (rows, columns) that span all of them; of those about as good the ones first in `order`."""
    left, kept = slopes[:, list(order)].copy(), []
    most = float(np.linalg.norm(left, axis=0).max(initial=0.0))
    for _ in range(min(left.shape)):
        sizes = np.linalg.norm(left, axis=0)
        if sizes.max(initial=0.0) < _INDEPENDENT * most or not most:
            break
        pivot = int(np.flatnonzero(sizes > 0.3 * sizes.max())[0])
        kept.append(order[pivot])
        along = left[:, pivot] / sizes[pivot]
        left = left - np.outer(along, along @ left)
    return np.array(sorted(kept), int)


class Closure:
    """The loops of one tree: their gaps, the slopes of these, and the impulses that close them. Not shared between
    threads."""

    def __init__(self, tree: Tree, loops: Sequence[Loop | Gear], *, dampers: bool = True) -> None:
        """dampers: springs' are rows that give way. Raises InputError for loops of unknown bodies and of one alone."""
        self.tree, self.loops = tree, tuple(loops)
        self._ws = workspace(tree.arrays)
        self.arrays, self._owners = rows_of(tree, self.loops, dampers=dampers)
        self.rigid = LoopArrays(*(part[: self.size] for part in self.arrays))
        """Rows that do not give way."""
        self.workspace = closing_workspace(tree.arrays, tree.nq, self.rows)

    @property
    def size(self) -> int:
        """Of the gaps: of a ball joint three, in the world's frame."""
        return len(self._owners)

    @property
    def rows(self) -> int:
        """Of the impulses: those of the gaps, then one for each spring's damper that is found with a step."""
        return len(self.arrays.kind)

    def gaps(self, q: np.ndarray) -> np.ndarray:
        """(size,) m: of a ball joint from the other point to its point, in the world's frame; of turns times a length
        of the tree."""
        open_gaps(self.tree.arrays, self._ws, self.arrays, self.workspace, np.array(q, float))
        return self.workspace.gaps[: self.size].copy()

    def slopes(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(G, M^-1 G') of the gaps: (size, nv), (nv, size)."""
        self._ws.damping[:] = 0.0
        loop_slopes(self.tree.arrays, self._ws, self.arrays, self.workspace, np.array(q, float), 0.0)
        return self.workspace.slopes[: self.size].copy(), self.workspace.answers[: self.size].T.copy()

    def independent(self, q: np.ndarray) -> np.ndarray:
        """Gaps, by their numbers, that no others imply at q: those across the plane of a planar mechanism do."""
        slopes = self.slopes(q)[0]
        return dependent(slopes.T, range(len(slopes)))

    def led(self, q: np.ndarray, leading: np.ndarray, way: np.ndarray) -> np.ndarray:
        """Coordinates (nq,) after increments `way` of the joints `leading`, places in v, the others following.

        Raises InputError where the loops cannot be closed on the way."""
        q, steps = np.array(q, float), max(1, math.ceil(float(np.abs(way).max(initial=0.0)) / _LED_RAD))
        others = np.setdiff1d(np.arange(self.tree.nv), leading)
        for _ in range(steps):
            d = np.zeros(self.tree.nv)
            slopes = self.slopes(q)[0]
            d[leading] = way / steps
            d[others] = -np.linalg.lstsq(slopes[:, others], slopes[:, leading] @ d[leading], rcond=1e-9)[0]
            move(self.tree.arrays, q, d)
            for _ in range(CORRECTIONS_MAX):
                gaps = self.gaps(q)
                if np.abs(gaps).max(initial=0.0) <= _LED_M:
                    break
                d = np.zeros(self.tree.nv)
                d[others] = -np.linalg.lstsq(self.slopes(q)[0][:, others], gaps, rcond=1e-9)[0]
                move(self.tree.arrays, q, d)
            else:
                raise InputError(
                    f"the loops stay open by {np.abs(gaps).max():.3g} m; allowed: what they can reach"
                )
        return q

    def brought(self, q: np.ndarray, tolerance: float = 1e-10) -> np.ndarray:
        """Coordinates (nq,) near q at which the loops are closed, by Newton's method; as far as that leads."""
        q, way = np.array(q, float), np.zeros(self.tree.nv)
        close_gaps(self.tree.arrays, self._ws, self.arrays, self.workspace, self.size, q, way, tolerance)
        return q

    def tangent(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Velocities (nv,) at q after the impulse that keeps the gaps as they are."""
        kept = np.array(v, float)
        keep_closed(self.tree.arrays, self._ws, self.arrays, self.workspace, np.array(q, float), kept)
        return kept

    def closed(self, q: np.ndarray, v: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities brought to where the loops are closed.

        Raises InputError where one is open by more than OPEN_MAX_M."""
        gap = np.abs(self.gaps(q))
        if gap.max(initial=0.0) > OPEN_MAX_M:
            loop = self._owners[int(gap.argmax())]
            what = f"gear of {quote(loop.joint)}" if isinstance(loop, Gear) else f"loop of {quote(loop.body)}"
            raise InputError(f"the {what} is open by {gap.max():.3g} m")
        q = self.brought(q, tolerance)
        return q, self.tangent(q, v)
