"""Closed loops: points of two bodies of a tree that stay together, by impulses found with the step itself.

Impulses act at the node from which a step starts, along the slopes of the gaps there, such that the gaps are closed at
its end (SHAKE; with momenta on the tangent of the gaps at a node, RATTLE). The method stays variational: momenta of a
free mechanism are kept, its energy stays in a band.
"""

from collections.abc import Sequence

import numpy as np

from sim.multibody import closing
from sim.multibody.arrays import workspace
from sim.multibody.declaration import WORLD, Loop
from sim.multibody.ground import NOTHING
from sim.multibody.kinematics import move
from sim.multibody.observing import kinetic_energy_J, potential_energy_J
from sim.multibody.tree import Tree
from sim.multibody.variational import Motion, VariationalTree
from sim.platform.errors import InputError, quote

__all__ = ["OPEN_MAX_M", "ClosedTree", "Closure", "Loop"]

OPEN_MAX_M = 1e-3
"""Gap that a state to start from may have: it is closed then."""


class Closure:
    """The loops of one tree: their gaps, the slopes of these, and the impulses that close them. Not shared between
    threads."""

    def __init__(self, tree: Tree, loops: Sequence[Loop]) -> None:
        """Raises InputError for a loop of unknown bodies, or of one alone."""
        self.tree, self.loops = tree, tuple(loops)
        for loop in self.loops:
            for name in (loop.body, loop.other):
                if name not in (*tree.names, WORLD):
                    raise InputError(f"a loop: unknown body {quote(name)}")
            if loop.body == loop.other:
                raise InputError(f"a loop: {quote(loop.body)} is closed with itself")
        self._ws = workspace(tree.arrays)
        ends = [(self._end(x.body, x.point), self._end(x.other, x.other_point)) for x in self.loops]
        self.arrays = closing.LoopArrays(
            np.array([[one[0], other[0]] for one, other in ends], np.int64).reshape(-1, 2),
            np.array([[one[1], other[1]] for one, other in ends], float).reshape(-1, 2, 3),
        )
        self.room = closing.closing_workspace(tree.arrays, tree.nq, len(self.loops))

    @property
    def size(self) -> int:
        """Of the impulses: three a loop, in the world's frame [N s]."""
        return 3 * len(self.loops)

    def _end(self, name: str, point: tuple[float, float, float]) -> tuple[int, np.ndarray]:
        """(body of the arrays or -1, the point in its frame)."""
        if name == WORLD:
            return -1, np.asarray(point, float)
        k = self.tree.names.index(name)
        T = self.tree.offsets[k]
        return int(self.tree.carriers[k]), T[:3, :3] @ np.asarray(point, float) + T[:3, 3]

    def gaps(self, q: np.ndarray) -> np.ndarray:
        """(3 loops,) from each loop's other point to its point, in the world's frame [m]."""
        closing.open_gaps(self.tree.arrays, self._ws, self.arrays, self.room, np.array(q, float))
        return self.room.gaps.copy()

    def slopes(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(G, M^-1 G') of the gaps: (3 loops, nv), (nv, 3 loops)."""
        self._ws.damping[:] = 0.0
        closing.loop_slopes(self.tree.arrays, self._ws, self.arrays, self.room, np.array(q, float), 0.0)
        return self.room.slopes.copy(), self.room.answers.T.copy()

    def tangent(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Velocities (nv,) at q after the impulse that keeps the gaps as they are."""
        kept = np.array(v, float)
        closing.keep_closed(self.tree.arrays, self._ws, self.arrays, self.room, np.array(q, float), kept)
        return kept

    def closed(self, q: np.ndarray, v: np.ndarray, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities brought to where the loops are closed.

        Raises InputError where one is open by more than OPEN_MAX_M.
        """
        q, way = np.array(q, float), np.zeros(self.tree.nv)
        gap = np.abs(self.gaps(q))
        if gap.max() > OPEN_MAX_M:
            loop = self.loops[int(gap.argmax()) // 3]
            raise InputError(f"the loop of {quote(loop.body)} is open by {gap.max():.3g} m")
        for _ in range(closing.CORRECTIONS_MAX):
            if np.abs(self.gaps(q)).max() <= tolerance:
                break
            closing.way_to_close(self.tree.arrays, self._ws, self.arrays, self.room, q, way)
            move(self.tree.arrays, q, way)
        return q, self.tangent(q, v)


class ClosedTree:
    """Fixed-step advance of a tree with closed loops. Not shared between threads."""

    order = 2

    def __init__(
        self,
        tree: Tree,
        loops: Sequence[Loop],
        step_s: float,
        *,
        root_finder: str = "riqn",
        tolerance: float = 1e-11,
    ) -> None:
        """`tolerance`: of the joints' increments in a step and of the gaps at its end [rad or m]. Raises InputError."""
        if not loops:
            raise InputError("a tree without loops is advanced by VariationalTree")
        self.tree, self.step_s, self.tolerance = tree, float(step_s), float(tolerance)
        self._closure = Closure(tree, loops)
        self._stepper = VariationalTree(tree, step_s, root_finder=root_finder, tolerance=tolerance)
        self.impulses = np.zeros(self._closure.size)
        """Of the latest step, three a loop, in the world's frame [N s]."""

    def gaps(self, q: np.ndarray) -> np.ndarray:
        """As `Closure.gaps`."""
        return self._closure.gaps(q)

    def start(self, q: np.ndarray, v: np.ndarray) -> Motion:
        """At a node with coordinates q (nq,) and velocities v (nv,), both brought to where the loops are closed.

        Raises InputError where one is open by more than OPEN_MAX_M.
        """
        return self._stepper.start(*self._closure.closed(q, v, self.tolerance))

    def advance(self, motion: Motion, steps: int, torques: np.ndarray | None = None) -> tuple[int, int]:
        """`steps` steps in place with torques (nv,) held. Returns (steps done, status of `stepping`)."""
        stepper, none = self._stepper, np.zeros(self.tree.nv)
        return closing.closed_rollout(
            self.tree.arrays,
            stepper.workspace,
            NOTHING,
            self._closure.arrays,
            self._closure.room,
            motion.q,
            motion.b,
            motion.history,
            motion.memory,
            self.impulses,
            none if torques is None else np.asarray(torques, float),
            none,
            np.zeros((0, 6)),
            self.step_s,
            steps,
            stepper.limits,
            stepper.root_finder,
            self.tolerance,
            stepper.tally,
            stepper.residuals,
        )

    def velocity(self, motion: Motion) -> np.ndarray:
        """(nv,) joint velocities at the node, from its momenta, with the loops' impulse that keeps them closed."""
        return self._closure.tangent(motion.q, self._stepper.velocity(motion))

    def energy_J(self, motion: Motion) -> float:
        """Kinetic and potential energy at the node."""
        v = self.velocity(motion)
        moving = self._stepper.start(motion.q, v)
        kinetic = kinetic_energy_J(self._stepper.momenta(moving), v)
        return kinetic + potential_energy_J(self.tree, motion.q, np.zeros(self.tree.nv))
