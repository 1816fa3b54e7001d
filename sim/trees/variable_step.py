"""Steps of varying length that stay reversible: short where a tree moves fast.

A step chosen by where it starts loses what a variational method keeps. Here its length is a state of its own (Hairer
and Soederlind 2005): h = step / rho with rho' = rho + step * G at every node, G = d/dt ln(1/sigma) along the motion,
which is odd in the velocities. sigma = (1 + T/T0)^-1/2 with T the kinetic energy: a step spans about the same way
however fast it is gone.
"""

from dataclasses import dataclass

import numpy as np

from sim.errors import InputError
from sim.trees.stepping import OK
from sim.trees.tree import Tree
from sim.trees.variational import Motion, VariationalTree

RHO_MIN = 0.1
"""No step is longer than ten of those at rest, whatever the rule says where steps are too long for it."""


@dataclass(eq=False)
class VariableMotion:
    """Private state of a lane."""

    motion: Motion
    """Its impulse has half of the last step's kick."""
    rho: float
    """Of the last step: how many times shorter than that at rest it was."""
    time_s: float
    last_s: float
    """Length of the last step."""


class VariableStepTree:
    """A tree in steps whose length follows its kinetic energy. Not shared between threads."""

    order = 2

    def __init__(
        self,
        tree: Tree,
        step_s: float,
        *,
        kinetic_J: float,
        root_finder: str = "riqn",
        tolerance: float = 1e-11,
    ) -> None:
        """step_s: at rest; at a kinetic energy T steps are about step_s / sqrt(1 + T / kinetic_J). Raises InputError.

        Forces have to be of places alone: what a damped tree loses is no reversible motion.
        """
        if not (np.isfinite(kinetic_J) and kinetic_J > 0.0):
            raise InputError(f"kinetic_J = {kinetic_J!r}; allowed: above 0 J")
        self.tree, self.step_s, self.kinetic_J = tree, float(step_s), float(kinetic_J)
        self._stepper = VariationalTree(tree, step_s, root_finder=root_finder, tolerance=tolerance)

    def start(self, q: np.ndarray, v: np.ndarray) -> VariableMotion:
        """At a node with coordinates q (nq,) and velocities v (nv,)."""
        self._stepper.step_s = self.step_s
        moving = VariableMotion(self._stepper.start(q, v), 1.0, 0.0, self.step_s)
        force, p, v = self._node(moving)
        # Half a step back from the node, from where the rule goes on.
        moving.rho = np.sqrt(1.0 + 0.5 * float(p @ v) / self.kinetic_J) - 0.5 * self.step_s * self._rate(
            force, p, v
        )
        return moving

    def _node(self, moving: VariableMotion) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(forces, momenta, velocities), each (nv,), at the node."""
        self._stepper.step_s = moving.last_s
        force = self._stepper.node_force(moving.motion.q)
        p = moving.motion.b - 0.5 * moving.last_s * force
        return force, p, self._stepper.velocity(moving.motion)

    def _rate(self, force: np.ndarray, p: np.ndarray, v: np.ndarray) -> float:
        """G: half of the forces' power over T0 + T [1/s]."""
        return 0.5 * float(force @ v) / (self.kinetic_J + 0.5 * float(p @ v))

    def advance(self, moving: VariableMotion, steps: int) -> tuple[int, int]:
        """`steps` steps in place. Returns (steps done, status of `stepping`); the motion is the last good one."""
        for step in range(steps):
            force, p, v = self._node(moving)
            rho = moving.rho + self.step_s * self._rate(force, p, v)
            h = self.step_s / max(rho, RHO_MIN)
            trial = moving.motion.copy()
            trial.b[:] = p + 0.5 * h * force
            self._stepper.step_s = h
            done, status = self._stepper.advance(trial, 1)
            if not done:
                return step, status
            moving.motion, moving.rho, moving.last_s = trial, rho, h
            moving.time_s += h
        return steps, OK

    def turned_back(self, moving: VariableMotion) -> VariableMotion:
        """The same node with its velocities turned round: as many steps on from it lead back."""
        force, p, v = self._node(moving)
        back = VariableMotion(moving.motion.copy(), 0.0, 0.0, moving.last_s)
        back.rho = moving.rho + self.step_s * self._rate(force, p, v)
        back.motion.b[:] = -p + 0.5 * moving.last_s * force
        back.motion.memory[:] = 0.0
        return back

    def velocity(self, moving: VariableMotion) -> np.ndarray:
        """(nv,) joint velocities at the node."""
        return self._node(moving)[2]

    def energy_J(self, moving: VariableMotion) -> float:
        """Kinetic and potential energy at the node."""
        self._stepper.step_s = moving.last_s
        return self._stepper.energy_J(moving.motion)
