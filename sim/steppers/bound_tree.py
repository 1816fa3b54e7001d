"""A tree of joints with the values of its parameters, in one thread: its steps by the variational method."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sim.contact.trees import NO_GROUND, TreeContact
from sim.multibody import roots, stepping
from sim.multibody.arrays import (
    REMEMBERED,
    Loads,
    TreeArrays,
    TreeMotion,
    Workspace,
    workspace,
)
from sim.multibody.declaration import Gear, Loop
from sim.multibody.kinematics import place
from sim.multibody.loops import Closure
from sim.multibody.observing import body_frames, kinetic_energy_J, potential_energy_J, spatial_momentum
from sim.multibody.tree import Tree
from sim.steppers.tree_rollouts import (
    ClosedLane,
    ClosedMotion,
    OpenLane,
    closed_rollout,
    variational_rollout,
    variational_start,
)

SOLVERS = {"riqn": roots.RIQN, "newton": roots.NEWTON, "broyden": roots.BROYDEN}
"""How a step's root is found, the usual way first."""
GUESSES = {
    "ig1": roots.AT_REST,
    "ig2": roots.PREVIOUS,
    "ig3": roots.IMPULSE,
    "extrapolated": roots.EXTRAPOLATED,
}
"""Where it is looked for first, by the multibody paper's names."""
TOLERANCE = 1e-11
"""Of the joints' increments in a step and of loops' gaps at its end [rad or m]."""
NO_WRENCHES = np.zeros((0, 6))


def root_finder(solver: str, guess: str = "extrapolated", tolerance: float = TOLERANCE) -> roots.RootFinder:
    """By their names."""
    return roots.RootFinder(SOLVERS[solver], GUESSES[guess], tolerance, stepping.ITERATIONS_MAX)


class BoundTree:
    """It owns the workspace of its steps: not shared between threads. A motion is its caller's."""

    def __init__(
        self,
        tree: Tree,
        step_s: float,
        *,
        loops: Sequence[Loop | Gear] = (),
        dampers: bool = True,
        solver: str = "riqn",
        guess: str = "extrapolated",
        tolerance: float = TOLERANCE,
        limit_step_s: float = 0.0,
        noted: int = 0,
    ) -> None:
        """dampers: those of springs between points are found with a step, not by the velocities where it begins.
        limit_step_s: limits of joints are no stiffer than steps of this length bear, however short steps are.
        noted: of how many iterates of the latest step `residuals` are kept.

        Raises InputError for a loop of unknown bodies.
        """
        self.tree, self.tolerance = tree, float(tolerance)
        self.finder = root_finder(solver, guess, self.tolerance)
        self.workspace: Workspace = workspace(tree.arrays, noted)
        found = len(tree.arrays.springs) if dampers else 0
        self.closure = Closure(tree, loops, dampers=dampers) if loops or found else None
        self.impulses = np.zeros(self.closure.rows if self.closure else 0)
        """Of the loops in the latest step, of a ball joint three in the world's frame, and of dampers [N s]."""
        self._arrays: dict[float, TreeArrays] = {}
        self._limit_step_s = limit_step_s
        self.step_s = step_s

    @cached_property
    def closing(self) -> Closure:
        """What closes its loops, also where there are none."""
        return self.closure if self.closure is not None else Closure(self.tree, (), dampers=False)

    @property
    def step_s(self) -> float:
        return self._step_s

    @step_s.setter
    def step_s(self, step_s: float) -> None:
        self._step_s = float(step_s)
        bearing = max(self._step_s, self._limit_step_s)
        if bearing not in self._arrays:
            self._arrays[bearing] = stepping.with_limit_springs(self.tree, bearing, self.workspace)
        self.arrays = self._arrays[bearing]
        """With springs at the limits of joints, as steps of `step_s` bear them."""

    def lane(self, contact: TreeContact = NO_GROUND) -> OpenLane:
        """What its steps read and write beside their state, as long as loops are open."""
        return OpenLane(self.arrays, self.workspace, contact)

    def closed_lane(self, contact: TreeContact = NO_GROUND) -> ClosedLane:
        """The same with what closes loops, also where there are none."""
        return ClosedLane(self.lane(contact), self.closing.arrays, self.closing.workspace)

    def start(self, q: np.ndarray, v: np.ndarray) -> TreeMotion:
        """At a node with coordinates q (nq,) and velocities v (nv,), by the discrete Legendre transform.

        Both are brought to where loops are closed. Raises InputError where one is open by more than
        `loops.OPEN_MAX_M`.
        """
        if self.closure is not None:
            q, v = self.closure.closed(q, v, self.tolerance)
        q = np.array(q, float)
        return TreeMotion(q, self._impulse(q, v), np.zeros((self.tree.nv, REMEMBERED)), np.zeros(2))

    def _impulse(self, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(nv,) with which a step begins."""
        b = np.zeros(self.tree.nv)
        variational_start(self.arrays, self.workspace, q, np.array(v, float), self.step_s, b)
        return b

    def advance(
        self,
        motion: TreeMotion,
        steps: int,
        torques: np.ndarray | None = None,
        wrenches_b: np.ndarray | None = None,
    ) -> tuple[int, int]:
        """`steps` steps in place, without the GIL, under what is held: torques (nv,) of the joints, with forces (m,)
        of driven tendons behind them, and wrenches (n, 6) in the bodies' frames.

        Returns (steps done, status of `stepping`); the motion is the last good one.
        """
        loads = Loads(
            np.zeros(len(self.tree.effort_names)) if torques is None else torques,
            np.zeros(self.tree.nv),
            NO_WRENCHES if wrenches_b is None else wrenches_b,
        )
        if self.closure is None:
            return variational_rollout(self.lane(), self.finder, motion, loads, self.step_s, steps)
        state = ClosedMotion(motion, self.impulses)
        return closed_rollout(self.closed_lane(), self.finder, state, loads, self.step_s, steps)

    def node_force(self, q: np.ndarray) -> np.ndarray:
        """(nv,) generalised force of gravity, springs and limits at coordinates q."""
        force = np.zeros(self.tree.nv)
        place(self.arrays, q, self.workspace.node)
        stepping.node_force(self.arrays, self.workspace, q, force)
        return force

    def momenta(self, motion: TreeMotion) -> np.ndarray:
        """(nv,) generalised momenta at the node, as the step arrives there."""
        return motion.b - 0.5 * self.step_s * self.node_force(motion.q)

    @property
    def residuals(self) -> np.ndarray:
        """(noted,) residual impulses of the latest step's iterates, 0 where there was none [N m s or N s]."""
        return self.workspace.tally[2:]

    def velocity(self, motion: TreeMotion) -> np.ndarray:
        """(nv,) joint velocities at the node, from its momenta, with the impulse that keeps loops closed."""
        return self.velocities(motion.q, motion.b, np.zeros(self.tree.nv))

    def velocities(self, q: np.ndarray, b: np.ndarray, v: np.ndarray) -> np.ndarray:
        """The same of a motion's coordinates and impulse, into v (nv,)."""
        stepping.node_velocities(self.arrays, self.workspace, q, b, self.step_s, v)
        if self.closure is not None:
            v[:] = self.closure.tangent(q, v)
        return v

    def energy_J(self, motion: TreeMotion) -> float:
        """Kinetic and potential energy at the node, with that of springs and of limits that are overrun."""
        v = self.velocity(motion)
        if self.closure is not None:
            motion = motion._replace(b=self._impulse(motion.q, v))
        momenta = self.momenta(motion)
        return kinetic_energy_J(momenta, v) + potential_energy_J(self.tree, motion.q, self.arrays)

    def momentum_w(self, motion: TreeMotion) -> np.ndarray:
        """(6,) spatial momentum (angular about the world's origin, linear) of all bodies."""
        return spatial_momentum(self.tree, motion.q, self.velocity(motion))

    def gaps(self, q: np.ndarray) -> np.ndarray:
        """Of the loops [m], as `Closure.gaps` has them."""
        return np.zeros(0) if self.closure is None else self.closure.gaps(q)

    def bodies(self, motion: TreeMotion) -> dict[str, np.ndarray]:
        """Name -> (4, 4) pose in the world."""
        return body_frames(self.tree, motion.q)
