"""Closed loops: points of two bodies of a tree that stay together, by impulses found with the step itself.

Impulses G' lambda act at the node from which a step starts, G the slopes of the gaps there, such that the gaps are
closed at its end (SHAKE; with momenta on the tangent of the gaps at a node, RATTLE). The method stays variational:
momenta of a free mechanism are kept, its energy stays in a band. Lambda is corrected through the articulated-body
factors of the node; each correction is a step of the open tree.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from sim.errors import InputError, quote
from sim.trees.arrays import workspace
from sim.trees.articulated import factorise, solve
from sim.trees.declaration import WORLD
from sim.trees.kinematics import move, place
from sim.trees.observing import frames, kinetic_energy_J, potential_energy_J
from sim.trees.recursions import gather
from sim.trees.stepping import NO_ROOT, OK
from sim.trees.tree import Tree
from sim.trees.variational import Motion, VariationalTree

OPEN_MAX_M = 1e-3
"""Gap that a state to start from may have: it is closed then."""
CORRECTIONS_MAX = 30
_RANK = 1e-9
"""Constraints that others imply, as across a plane, have singular values below that of the largest."""


@dataclass(frozen=True)
class Loop:
    """A point of one body that stays where a point of another is: a ball joint that closes a loop."""

    body: str
    point: tuple[float, float, float]
    """In the body's frame [m]."""
    other: str = WORLD
    other_point: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """In the other's frame [m]."""


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
        self._ends = [(self._end(x.body, x.point), self._end(x.other, x.other_point)) for x in self.loops]

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
        T_wb = frames(self.tree, q)

        def at(end: tuple[int, np.ndarray]) -> np.ndarray:
            return end[1] if end[0] < 0 else T_wb[end[0], :3, :3] @ end[1] + T_wb[end[0], :3, 3]

        return np.concatenate([at(one) - at(other) for one, other in self._ends])

    def slopes(self, q: np.ndarray, h: float) -> tuple[np.ndarray, np.ndarray]:
        """(G, M^-1 G') of the gaps: (3 loops, nv), (nv, 3 loops)."""
        a, ws, none = self.tree.arrays, self._ws, np.zeros(self.tree.nv)
        place(a, q, ws.node)
        factorise(a, ws.node, none, h, ws.articulated, ws.factor)
        T_wb = frames(self.tree, q)
        G = np.zeros((3 * len(self.loops), self.tree.nv))
        back = np.zeros((self.tree.nv, len(G)))
        for k, ends in enumerate(self._ends):
            for axis in range(3):
                for sign, (body, point) in zip((1.0, -1.0), ends, strict=True):
                    if body >= 0:
                        force = sign * T_wb[body, axis, :3]
                        ws.wrench[body] += np.r_[np.cross(point, force), force]
                row = G[3 * k + axis]
                gather(a, ws.node, ws.wrench, row)
                column = row.copy()
                solve(a, ws.node, none, h, ws.factor, column, ws.wrench, ws.spare, ws.arc, column)
                back[:, 3 * k + axis] = column
        return G, back

    def tangent(self, v: np.ndarray, G: np.ndarray, back: np.ndarray) -> np.ndarray:
        """Velocities (nv,) after the impulse that keeps the gaps as they are."""
        kept: np.ndarray = v - back @ (np.linalg.pinv(G @ back, _RANK) @ (G @ v))
        return kept

    def closed(
        self, q: np.ndarray, v: np.ndarray, h: float, tolerance: float
    ) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates and velocities brought to where the loops are closed.

        Raises InputError where one is open by more than OPEN_MAX_M.
        """
        q, v = np.array(q, float), np.array(v, float)
        gap = self.gaps(q)
        if np.abs(gap).max() > OPEN_MAX_M:
            loop = self.loops[int(np.abs(gap).argmax()) // 3]
            raise InputError(f"the loop of {quote(loop.body)} is open by {np.abs(gap).max():.3g} m")
        for _ in range(CORRECTIONS_MAX):
            if np.abs(gap).max() <= tolerance:
                break
            G, back = self.slopes(q, h)
            move(self.tree.arrays, q, -back @ (np.linalg.pinv(G @ back, _RANK) @ gap))
            gap = self.gaps(q)
        return q, self.tangent(v, *self.slopes(q, h))

    def correct(
        self,
        q: np.ndarray,
        h: float,
        impulses: np.ndarray,
        tolerance: float,
        trial: Callable[[np.ndarray], np.ndarray | None],
    ) -> bool:
        """Change `impulses` in place until a step of h from q with them ends with the loops closed; False: not found.

        trial: from a generalised impulse (nv,) at q to the coordinates where a step of the open tree ends, or None.
        """
        G, back = self.slopes(q, h)
        correction = np.linalg.pinv(h * G @ back, _RANK)
        for _ in range(CORRECTIONS_MAX):
            reached = trial(impulses @ G)
            if reached is None:
                return False
            change = correction @ self.gaps(reached)
            # What is left to close by is what the impulses would still move.
            if np.abs(h * back @ change).max() <= tolerance:
                return True
            impulses -= change
        return False


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
        return self._stepper.start(*self._closure.closed(q, v, self.step_s, self.tolerance))

    def advance(self, motion: Motion, steps: int, torques: np.ndarray | None = None) -> tuple[int, int]:
        """`steps` steps in place with torques (nv,) held. Returns (steps done, status of `stepping`)."""
        tried = motion

        def trial(impulse: np.ndarray) -> np.ndarray | None:
            nonlocal tried
            tried = motion.copy()
            tried.b += impulse
            return tried.q if self._stepper.advance(tried, 1, torques)[0] else None

        for step in range(steps):
            if not self._closure.correct(motion.q, self.step_s, self.impulses, self.tolerance, trial):
                return step, NO_ROOT
            motion.q[:], motion.b[:] = tried.q, tried.b
            motion.history[:], motion.count[:] = tried.history, tried.count
        return steps, OK

    def velocity(self, motion: Motion) -> np.ndarray:
        """(nv,) joint velocities at the node, from its momenta, with the loops' impulse that keeps them closed."""
        v = self._stepper.velocity(motion)
        return self._closure.tangent(v, *self._closure.slopes(motion.q, self.step_s))

    def energy_J(self, motion: Motion) -> float:
        """Kinetic and potential energy at the node."""
        v = self.velocity(motion)
        moving = self._stepper.start(motion.q, v)
        kinetic = kinetic_energy_J(self._stepper.momenta(moving), v)
        return kinetic + potential_energy_J(self.tree, motion.q, np.zeros(self.tree.nv))
