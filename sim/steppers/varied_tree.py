"""Steps of a lane that are taken in as many equal parts as the joints' speed asks for, reversibly.

How short the parts are is carried along as a number of its own (Hairer and Soederlind 2005, here on the lane's grid),

    ln rho_{k+1/2} = ln rho_{k-1/2} + h G_k,   G = d/dt ln R,   R = (1 + |h v / turn|^2)^(1/2),

v the rates at which joints turn. A step is taken in rho parts, rounded. G is odd in the velocities: turned round,
they lead back through the same parts. A number of parts that followed from a step's start alone would not.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from sim.contact.trees import TreeContact
from sim.integrators.multibody import VariedMultibody
from sim.multibody.arrays import BALL, FREE, PRISMATIC, Loads
from sim.multibody.articulated import factorise, solve
from sim.multibody.continuous import all_forces
from sim.multibody.kinematics import place
from sim.multibody.spatial import copy, entry, jit
from sim.multibody.stepping import ITERATIONS_MAX, OK, active_damping, node_force, shift_kick
from sim.steppers.bound_tree import NO_WRENCHES, BoundTree
from sim.steppers.tree import TreeStepper
from sim.steppers.tree_rollouts import variational_rollout
from sim.vehicles.forms.articulated import ArticulatedVehicle

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


def varied_workspace(nq: int, nv: int) -> VariedWorkspace:
    """Of one lane."""
    return VariedWorkspace(np.zeros(nq), np.zeros(nv), np.zeros(nv), np.zeros(nv), np.zeros(nv))


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
def parts_ahead(tree, ws, own, motion, varied, loads, h, turn):
    """Into how many parts the step from here goes; varied[0], ln rho, becomes that step's. ws.node is placed at q."""
    q, b, v, rate, forces = motion.q, motion.b, own.velocity, own.rate, own.forces
    place(tree, q, ws.node)
    node_force(tree, ws, q, ws.kick)
    active_damping(tree, q, ws.damping)
    factorise(tree, ws.node, ws.damping, 0.0, ws.articulated, ws.factor)
    for a in range(b.shape[0]):
        rate[a] = b[a] - 0.5 * h * ws.kick[a]
        forces[a] = loads.torques[a] + loads.push[a]
    solve(tree, ws.node, ws.damping, 0.0, ws.factor, rate, ws.wrench, ws.spare, ws.twist, v)
    all_forces(tree, ws, v, forces, loads.wrenches, rate)
    solve(tree, ws.node, ws.damping, 0.0, ws.factor, rate, ws.wrench, ws.spare, ws.twist, rate)
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
def varied_rollout(tree, ws, own, contact, motion, varied, loads, h, steps, turn, solver, guess, tol):
    """As `variational_rollout`. varied (2,): ln rho of the latest step, and its parts, 0 if there is none.

    Between steps b is that of a node of steps h, whatever the parts: half of the step's kick is in it.
    """
    q, b = motion.q, motion.b
    for step in range(steps):
        copy(q, own.q)
        copy(b, own.b)
        parts = parts_ahead(tree, ws, own, motion, varied, loads, h, turn)
        part_h = h / parts
        if varied[1] > 0.0 and varied[1] != parts:
            rescale(motion.history, motion.memory, varied[1] / parts)
        varied[1] = parts
        shift_kick(tree, ws, q, -0.5 * (h - part_h), b)
        last, status = ws.tally[0] + ITERATIONS_MAX, OK
        for _ in range(parts):
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


class VariedTreeStepper(TreeStepper):
    """The private state is that of constant steps, then ln rho of the latest step and the number of its parts."""

    _MORE = 2

    def __init__(self, vehicle: ArticulatedVehicle, integrator: VariedMultibody) -> None:
        super().__init__(vehicle, integrator)
        self._turn_rad = integrator.turn_rad

    @property
    def private_size(self) -> int:
        return super().private_size + self._MORE

    def _advance(
        self,
        bound: BoundTree,
        y: np.ndarray,
        torques: np.ndarray,
        push: np.ndarray,
        n: int,
        contact: TreeContact,
    ) -> tuple[int, int]:
        """As in constant steps; iterations are those of all parts."""
        ends = y.size - self._MORE
        return varied_rollout(
            bound.arrays,
            bound.workspace,
            self._own(),
            contact,
            bound.motion(y[:ends]),
            y[ends:],
            Loads(torques, push, NO_WRENCHES),
            bound.step_s,
            n,
            self._turn_rad,
            bound.solver,
            bound.guess,
            bound.tolerance,
        )

    def node(
        self,
        y: np.ndarray,
        u: np.ndarray,
        p: np.ndarray,
        h: float,
        *,
        w: np.ndarray | None = None,
        env: tuple[Any, ...] = (),
    ) -> np.ndarray:
        """As in constant steps."""
        return super().node(y[: y.size - self._MORE], u, p, h, w=w, env=env)

    def parts(self, y: np.ndarray) -> int:
        """Of the latest step; 0 at the start."""
        return int(y[-1])

    def _own(self) -> VariedWorkspace:
        """In this thread."""
        kept: dict[str, VariedWorkspace] = self._local.__dict__
        if "varied" not in kept:
            kept["varied"] = varied_workspace(self._nq, self._nv)
        return kept["varied"]
