"""Lanes in vector registers, driven without the interpreter: all steps of a range of registers in one call."""

from dataclasses import dataclass

import numpy as np

from sim.compiled import compiled
from sim.compiler.calls import called
from sim.compiler.lanes import WIDTH, LaneCode, gathered, scattered


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

    def run(self, code: LaneCode, h: float, begin: int, end: int) -> None:
        """All steps of the groups from `begin` up to `end`. Releases the GIL."""
        step = np.array([h])
        _run(
            code.advance, code.node, self.y, self.u, self.p, step,
            self.counts, self.keeps, self.nodes, self.done, begin, end,
        )  # fmt: skip

    def rows(self, lanes: int) -> tuple[np.ndarray, np.ndarray]:
        """Nodes (lanes, kept, node size), and for each lane the steps that its group has done."""
        groups, kept, size, _ = self.nodes.shape
        flat = scattered(self.nodes.reshape(groups, kept * size, WIDTH), lanes)
        return flat.reshape(lanes, kept, size), np.repeat(self.done, WIDTH)[:lanes]


@compiled()
def _run(
    advance: int,
    node: int,
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
) -> None:
    """Fill nodes and done of a range of groups; one that fails keeps what it has."""
    table = np.empty(5, np.int64)
    segments = len(counts)
    for g in range(begin, end):
        u = us[g if us.shape[0] > 1 else 0]
        table[0] = ys[g].ctypes.data
        table[2] = ps[g if ps.shape[0] > 1 else 0].ctypes.data
        table[3] = h.ctypes.data
        kept, total, good = 0, 0, True
        for s in range(segments + 1):
            table[1] = u[min(s, segments - 1) if u.shape[0] > 1 else 0].ctypes.data
            if keeps[s]:
                table[4] = nodes[g, kept].ctypes.data
                good = called(node, table.ctypes.data, 1) == 1
                kept += 1
            if s == segments or not good:
                break
            did = called(advance, table.ctypes.data, counts[s])
            total += did
            if did < counts[s]:
                break
        done[g] = total if good else -1
