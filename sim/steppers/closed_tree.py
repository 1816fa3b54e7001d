"""Trees with closed loops on the lanes of all vehicles: steps of the open tree, with impulses that close the loops."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from sim.contact.trees import NOTHING, felt_of
from sim.integrators.base import Integrator
from sim.multibody.declaration import Loop
from sim.multibody.loops import (
    CORRECTIONS_MAX,
    Closure,
    answer_to,
    impulses_by_end,
    least_impulses,
    loop_slopes,
    open_gaps,
)
from sim.multibody.observing import kinetic_energy_J, potential_energy_J
from sim.multibody.roots import EXTRAPOLATED, GIVEN
from sim.multibody.spatial import copy, entry, jit
from sim.multibody.stepping import NO_ROOT, OK, active_damping
from sim.multibody.tree import Tree
from sim.platform.errors import InputError
from sim.steppers.tree import NO_RESIDUALS, NO_WRENCHES, TOLERANCE, VARIATIONAL, TreeStepper
from sim.steppers.tree_rollouts import variational_rollout
from sim.steppers.variational_tree import Motion, VariationalTree
from sim.vehicles.forms.articulated import ClosedVehicle


class ClosedTreeStepper(TreeStepper):
    """By a variational method. The private state is that of the open tree, and the impulses of the latest step.

    (None at first: `TreeStepper.start` leaves zeros where it puts nothing.)
    """

    def __init__(self, vehicle: ClosedVehicle, integrator: Integrator) -> None:
        super().__init__(vehicle, integrator)
        self._closed_vehicle = vehicle
        self._more = 3 * len(vehicle.loops_with(vehicle.parameter_vector))

    @property
    def private_size(self) -> int:
        return super().private_size + self._more

    def start(
        self, node: np.ndarray, u: np.ndarray, p: np.ndarray, h: float, env: tuple[Any, ...] = ()
    ) -> np.ndarray:
        """As without loops, from where these are closed. Raises InputError where one is far from it."""
        q, v = self._closure(p).closed(node[: self._nq], node[self._nq :], TOLERANCE)
        return super().start(np.concatenate([q, v]), u, p, h, env)

    def advance(
        self,
        y: np.ndarray,
        u: np.ndarray,
        w: np.ndarray,
        p: np.ndarray,
        h: float,
        n: int,
        env: tuple[Any, ...] = (),
    ) -> tuple[int, int, int]:
        """As without loops; iterations are those of all trials."""
        laid, closure, ends = self._laid(p), self._closure(p), y.size - self._more
        laid.tally[:] = 0.0
        done, status = closed_rollout(
            laid.tree.arrays,
            laid.ws,
            felt_of(env),
            closure.arrays,
            closure.room,
            *self._moving(y[:ends]),
            y[ends:],
            self._vehicle.joint_forces(u, p),
            w,
            NO_WRENCHES,
            h,
            n,
            laid.limits_at(h),
            VARIATIONAL[self.integrator.name],
            TOLERANCE,
            laid.tally,
            NO_RESIDUALS,
        )
        return done, status, int(laid.tally[0])

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
        """Coordinates and velocities, these with the impulse that keeps the loops closed."""
        node = super().node(y, u, p, h, w=w, env=env)
        node[self._nq :] = self._closure(p).tangent(node[: self._nq], node[self._nq :])
        return node

    def answer(self, q: np.ndarray, impulse: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(nv,) by how much a generalised impulse changes the velocities, with those of the loops that it calls up."""
        return self._closure(p).tangent(q, super().answer(q, impulse, p))

    def _closure(self, p: np.ndarray) -> Closure:
        """With these parameters, in this thread."""
        laid = self._laid(p)
        kept: dict[int, tuple[object, Closure]] = self._local.__dict__.setdefault("closures", {})
        found = kept.get(id(laid))
        if found is None or found[0] is not laid:
            if len(kept) >= 4:
                kept.clear()
            found = kept[id(laid)] = (laid, Closure(laid.tree, self._closed_vehicle.loops_with(p)))
        return found[1]


_SOFT = 1e-12
"""Least share of the largest square of slopes that is added where impulses are found by the slopes of a step's end."""


_APART = 4.0
"""Slopes at the end below this many times the way that is to be closed do not tell two ways of closing it apart."""


_ROOT_SHARE = 0.1
"""How much closer than the gaps a trial step's root is found."""


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
        return closed_rollout(
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
