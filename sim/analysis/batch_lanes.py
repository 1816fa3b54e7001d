"""Lanes of a batch, driven without the interpreter: in vector registers, and one by one where they touch the ground."""

from functools import cache
from typing import Any

import numpy as np

from sim.compiler import Kernel
from sim.compiler.kernel_code import WIDTH, gathered, scattered
from sim.compiler.stepper import Inline, driver, start, workspace
from sim.contact.ground import GroundArrays
from sim.native.function import Native, native
from sim.native.objects import Engine
from sim.native.types import called
from sim.platform.values import dataclass


@dataclass(frozen=True, eq=False)
class Groups:
    """`WIDTH` lanes each; arrays are (groups, ..., WIDTH), or (1, ..., WIDTH) where all lanes have the same."""

    y: np.ndarray
    """(groups, private size, WIDTH), written to."""
    u: np.ndarray
    """(1 or groups, 1 or segments, n_controls, WIDTH)."""
    p: np.ndarray
    """(1 or groups, parameter count, WIDTH)."""
    counts: np.ndarray
    """(segments,) steps of each."""
    keeps: np.ndarray
    """(segments + 1,) bool: whether the node at its start, or at last the end, is kept."""
    nodes: np.ndarray
    """(groups, kept, node size, WIDTH), written to."""
    done: np.ndarray
    """(groups,) steps that all lanes of a group have done, written to."""

    @staticmethod
    def of(
        ys: np.ndarray, us: np.ndarray, ps: np.ndarray, counts: np.ndarray, keeps: np.ndarray, node_size: int
    ) -> "Groups":
        """Of rows: ys (lanes, n), us (1 or lanes, 1 or segments, n_controls), ps (1 or lanes, count)."""
        y = gathered(ys)
        lanes, segments, controls = us.shape
        flat = us.reshape(lanes, segments * controls)
        u = gathered(np.repeat(flat, WIDTH, axis=0) if lanes == 1 else flat)
        p = gathered(np.repeat(ps, WIDTH, axis=0) if len(ps) == 1 else ps)
        nodes = np.full((len(y), int(keeps.sum()), node_size, WIDTH), np.nan)
        return Groups(
            y,
            u.reshape(len(u), segments, controls, WIDTH),
            p,
            counts,
            keeps,
            nodes,
            np.zeros(len(y), np.int64),
        )

    def run(self, code: Engine, h: float, begin: int, end: int) -> None:
        """All steps of the groups from `begin` up to `end`. Releases the GIL."""
        step = np.array([h])
        _run(
            code.get_function_address("rollout"), self.y, self.u, self.p, step,
            self.counts, self.keeps, self.nodes, self.done, begin, end,
            np.empty(self.nodes.shape[2:]), np.empty(self.y.shape[1:]),
        )  # fmt: skip

    def rows(self, lanes: int) -> tuple[np.ndarray, np.ndarray]:
        """Nodes (lanes, kept, node size), and for each lane the steps that its group has done."""
        groups, kept, size, _ = self.nodes.shape
        flat = scattered(self.nodes.reshape(groups, kept * size, WIDTH), lanes)
        return flat.reshape(lanes, kept, size), np.repeat(self.done, WIDTH)[:lanes]


@native
def _run(
    rollout: int,
    ys: np.ndarray,
    us: np.ndarray,
    ps: np.ndarray,
    h: np.ndarray,
    counts: np.ndarray,
    keeps: np.ndarray,
    nodes: np.ndarray,
    done: np.ndarray,
    begin: int,
    end: int,
    spare: np.ndarray,
    trial: np.ndarray,
) -> None:
    """Fill nodes and done of a range of groups; one that fails keeps what it has."""
    table, did = np.empty(6, np.int64), np.zeros(2, np.int64)
    segments = len(counts)
    table[3], table[5] = h.ctypes.data, did.ctypes.data
    for g in range(begin, end):
        u = us[g if us.shape[0] > 1 else 0]
        table[2] = ps[g if ps.shape[0] > 1 else 0].ctypes.data
        table[0] = ys[g].ctypes.data
        kept, total, good = 0, 0, True
        for s in range(segments):
            if s == 0 or u.shape[0] > 1:
                table[1] = u[s if u.shape[0] > 1 else 0].ctypes.data
            ahead = counts[s]
            if keeps[s]:
                # A node is told by the step that begins there.
                table[4] = nodes[g, kept].ctypes.data
                called(rollout, table.ctypes.data, 1)
                good = did[0] == 1
                kept, total, ahead = kept + 1, total + did[0], ahead - did[0]
            if good and ahead > 0:
                table[4] = spare.ctypes.data
                called(rollout, table.ctypes.data, ahead)
                total, ahead = total + did[0], ahead - did[0]
            if ahead > 0:
                break
        else:
            if keeps[segments]:
                trial[:] = ys[g]
                table[0], table[4] = trial.ctypes.data, nodes[g, kept].ctypes.data
                called(rollout, table.ctypes.data, 1)
                good = did[0] == 1
        done[g] = total if good else -1


def run_on_ground(
    kernel: Kernel,
    rows: tuple[np.ndarray, np.ndarray, np.ndarray],
    h: float,
    stretches: tuple[np.ndarray, np.ndarray],
    ground: GroundArrays,
    lanes: np.ndarray,
    told: tuple[np.ndarray, np.ndarray],
) -> None:
    """Advance some lanes, each from its start with nothing remembered of the ground.

    rows: nodes (1 or lanes, n), controls (1 or lanes, 1 or stretches, n_controls), parameters (1 or lanes, n).
    stretches: steps of each, and (stretches + 1,) whether the node at its start, or at last the end, is kept.
    ground: is written to. told: nodes (lanes, kept, n) and steps done (lanes,), filled in. Releases the GIL.
    """
    method = kernel.integrator
    own = np.array([h, method.tolerance] if method.adaptive else [])
    room, w, nodes = np.empty((2, kernel.private_size)), np.zeros(kernel.dim), np.empty(kernel.node_size)
    memory = np.empty_like(ground.report)
    assert kernel.inline is not None
    drive, begin = _drive(kernel.inline), kernel.address("start")
    code = kernel.code, begin, kernel.address("start_carried") or begin
    work = workspace(kernel.private_size, kernel.dim, kernel.node_size)
    drive(
        *code,
        *work,
        lanes,
        *rows,
        h,
        *stretches,
        ground.env,
        ground.report,
        memory,
        own,
        w,
        room,
        nodes,
        *told,
    )


@cache
def _drive(inline: Inline) -> Any:
    rollout = driver(inline).rollout

    # Of what makes arrays nobody runs a batch.
    assert isinstance(rollout, Native)

    @native
    def drive(
        code: tuple[int, int, int],
        begin: int,
        begin_carried: int,
        table: np.ndarray,
        work: np.ndarray,
        lanes: np.ndarray,
        starts: np.ndarray,
        us: np.ndarray,
        ps: np.ndarray,
        h: float,
        counts: np.ndarray,
        keeps: np.ndarray,
        env: tuple[Any, ...],
        report: np.ndarray,
        memory: np.ndarray,
        own: np.ndarray,
        w: np.ndarray,
        room: np.ndarray,
        node: np.ndarray,
        seen: np.ndarray,
        done: np.ndarray,
    ) -> None:
        last, y, trial, wrench = len(counts), room[0], room[1], env[-1]
        size = len(y) - len(own)
        for lane in lanes:
            held = us[lane if len(us) > 1 else 0]
            p = ps[lane if len(ps) > 1 else 0]
            at = starts[lane if len(starts) > 1 else 0]
            start((begin, begin, begin), table, work, at, held[0], w, p, h, 0, y, ())
            y[size:] = own
            # Whether the ground carries it from outside: a step is looked at.
            report[:] = 0.0
            trial[:] = y
            rollout(code, table, work, trial, held[0], w, p, h, 1, node, env)
            pushed = False
            for k in range(len(wrench)):
                pushed = pushed or wrench[k] != 0.0
            if pushed:
                start(
                    (begin_carried, begin_carried, begin_carried), table, work, at, held[0], w, p, h, 0, y, ()
                )
            report[:] = 0.0
            total, kept = 0, 0
            for s in range(last):
                u, ahead = held[s if len(held) > 1 else 0], counts[s]
                if keeps[s]:
                    did, status, _ = rollout(code, table, work, y, u, w, p, h, 1, seen[lane, kept], env)
                    kept, total, ahead = kept + 1, total + did, ahead - 1
                    if status:
                        break
                did, status, _ = rollout(code, table, work, y, u, w, p, h, ahead, node, env)
                total += did
                if status:
                    break
            else:
                # A node is told by the step that begins there.
                rollout(code, table, work, y, held[-1], w, p, h, 1, seen[lane, kept], env)
            done[lane] = total

    return drive
