"""A tree under the linear-time variational integrator, lane by lane: what starts, advances and observes it."""

from dataclasses import dataclass

import numpy as np

from sim.contact.trees import NOTHING
from sim.multibody import roots, stepping
from sim.multibody.arrays import REMEMBERED, Workspace, workspace
from sim.multibody.kinematics import place
from sim.multibody.observing import body_frames, kinetic_energy_J, potential_energy_J, spatial_momentum
from sim.multibody.stepping import limit_springs
from sim.multibody.tree import Tree
from sim.steppers.tree_rollouts import variational_rollout, variational_start

ROOT_FINDERS = {"riqn": roots.RIQN, "newton": roots.NEWTON, "broyden": roots.BROYDEN}
GUESSES = {
    "ig1": roots.AT_REST,
    "ig2": roots.PREVIOUS,
    "ig3": roots.IMPULSE,
    "extrapolated": roots.EXTRAPOLATED,
}


@dataclass(eq=False)
class Motion:
    """Private state of a lane. Copy it (`copy()`) for a checkpoint: equal states and inputs lead to equal bits."""

    q: np.ndarray
    """(nq,) joint coordinates."""
    b: np.ndarray
    """(nv,) impulse with which the next step begins: arriving momenta and the node's kick."""
    history: np.ndarray
    """(nv, REMEMBERED) backward differences of the last steps' increments, the latest increments first."""
    memory: np.ndarray
    """(2,) by how many of them the next step is guessed, and by how much a step's iterations contract."""

    def copy(self) -> "Motion":
        return Motion(self.q.copy(), self.b.copy(), self.history.copy(), self.memory.copy())


class VariationalTree:
    """Fixed-step advance of one tree. Not shared between threads: it owns its workspace."""

    order = 2

    def __init__(
        self,
        tree: Tree,
        step_s: float,
        *,
        root_finder: str = "riqn",
        guess: str = "extrapolated",
        tolerance: float = 1e-11,
    ) -> None:
        """`tolerance`: of the joints' increments in a step [rad or m]."""
        self.tree, self.step_s, self.tolerance = tree, float(step_s), float(tolerance)
        self.root_finder, self.guess = ROOT_FINDERS[root_finder], GUESSES[guess]
        self.tally = np.zeros(2)
        """Iterations so far, and steps that had to be divided."""
        self.residuals = np.zeros(0)
        """Give it entries: the residual impulse of each iterate of the latest step is noted there [N m s or N s]."""
        self.workspace: Workspace = workspace(tree.arrays)
        self._none = np.zeros((0, 6))
        self.limits = limit_springs(tree, self.step_s, self.workspace)

    def start(self, q: np.ndarray, v: np.ndarray) -> Motion:
        """At a node with coordinates q (nq,) and velocities v (nv,), by the discrete Legendre transform."""
        q, b = np.array(q, float), np.zeros(self.tree.nv)
        variational_start(
            self.tree.arrays, self.workspace, q, np.asarray(v, float), self.step_s, self.limits, b
        )
        return Motion(q, b, np.zeros((self.tree.nv, REMEMBERED)), np.zeros(2))

    def node_force(self, q: np.ndarray) -> np.ndarray:
        """(nv,) generalised force of gravity, springs and limits at coordinates q."""
        kick = np.zeros(self.tree.nv)
        place(self.tree.arrays, q, self.workspace.node)
        stepping.node_force(self.tree.arrays, self.workspace, q, self.limits[0], kick)
        return kick

    def advance(
        self,
        motion: Motion,
        steps: int,
        torques: np.ndarray | None = None,
        wrenches_b: np.ndarray | None = None,
    ) -> tuple[int, int]:
        """`steps` steps in place, without the GIL; torques (nv,) and wrenches (n, 6) in the bodies' frames are held.

        Returns (steps done, status of `stepping`); the motion is the last good one.
        """
        u = np.zeros(self.tree.nv) if torques is None else torques
        w = self._none if wrenches_b is None else wrenches_b
        return variational_rollout(
            self.tree.arrays,
            self.workspace,
            NOTHING,
            motion.q,
            motion.b,
            motion.history,
            motion.memory,
            u,
            np.zeros(self.tree.nv),
            w,
            self.step_s,
            steps,
            self.limits,
            self.root_finder,
            self.guess,
            self.tolerance,
            self.tally,
            self.residuals,
        )

    def momenta(self, motion: Motion) -> np.ndarray:
        """(nv,) generalised momenta at the node."""
        return motion.b - 0.5 * self.step_s * self.node_force(motion.q)

    def velocity(self, motion: Motion) -> np.ndarray:
        """(nv,) joint velocities at the node, from its momenta: second order."""
        v = np.zeros(self.tree.nv)
        stepping.node_velocities(
            self.tree.arrays, self.workspace, motion.q, motion.b, self.step_s, self.limits, v
        )
        return v

    def energy_J(self, motion: Motion) -> float:
        """Kinetic and potential energy at the node, with that of springs and of limits that are overrun."""
        p = self.momenta(motion)
        kinetic = kinetic_energy_J(p, self.velocity(motion))
        return kinetic + potential_energy_J(self.tree, motion.q, self.limits[0])

    def momentum_w(self, motion: Motion) -> np.ndarray:
        """(6,) spatial momentum (angular about the world's origin, linear) of all bodies."""
        return spatial_momentum(self.tree, motion.q, self.velocity(motion))

    def bodies(self, motion: Motion) -> dict[str, np.ndarray]:
        """Name -> (4, 4) pose in the world."""
        return body_frames(self.tree, motion.q)
