"""Trees of joints on the lanes that all vehicles run on: a `sim.steppers.Stepper` by recursions in linear time."""

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.compiler.stepper import kept_state
from sim.contact.trees import felt_of
from sim.integrators.base import Integrator
from sim.multibody import roots
from sim.multibody.arrays import REMEMBERED, Workspace, workspace
from sim.multibody.continuous import EULER, RK4
from sim.multibody.observing import tell
from sim.multibody.stepping import limit_springs, node_velocities
from sim.multibody.tree import Tree
from sim.steppers import tree_rollouts
from sim.vehicles.forms.articulated import ArticulatedVehicle, PlumbLine
from sim.vehicles.forms.observation import Observation, ObservationLayout, Observed, layout_of

Limits = tuple[np.ndarray, np.ndarray]

LIMIT_STEP_S = 0.005
"""Limits of joints are no stiffer than steps of this length bear, so that what is told of their energy holds for all
steps up to it."""


@dataclass(frozen=True, slots=True, eq=False)
class LaidTree:
    """A tree with the parameters' values, and the room that its steps take."""

    tree: Tree
    ws: Workspace
    offsets: np.ndarray
    """(bodies, 12) rotations row by row, positions."""
    lines: np.ndarray
    """(k, 8) as `tell` has them."""
    limits: dict[float, Limits]
    """By the step [s]."""
    stages: np.ndarray
    torques: np.ndarray
    """(3, nv) room for a step's."""
    tally: np.ndarray

    def limits_at(self, h: float) -> Limits:
        step_s = max(h, LIMIT_STEP_S)
        if step_s not in self.limits:
            self.limits[step_s] = limit_springs(self.tree, step_s, self.ws)
        return self.limits[step_s]


def lay(vehicle: ArticulatedVehicle, p: np.ndarray) -> LaidTree:
    """With the parameters p."""
    tree = vehicle.tree_with(p)
    return LaidTree(
        tree=tree,
        ws=workspace(tree.arrays),
        offsets=np.ascontiguousarray([np.r_[T[:3, :3].ravel(), T[:3, 3]] for T in tree.offsets]),
        lines=_lines(tree, vehicle.plumb_lines(vehicle.quantities(p))),
        limits={},
        stages=np.zeros((6, tree.nv)),
        torques=np.zeros((3, tree.nv)),
        tally=np.zeros(2),
    )


def _lines(tree: Tree, declared: dict[str, PlumbLine]) -> np.ndarray:
    rows = np.zeros((len(declared), 8))
    for row, line in zip(rows, declared.values(), strict=True):
        for at, (body, point) in zip((0, 4), (line[:2], line[2:]), strict=True):
            k = tree.names.index(body)
            row[at], row[at + 1 : at + 4] = tree.carriers[k], (tree.offsets[k] @ np.r_[point, 1.0])[:3]
    return rows


VARIATIONAL = {
    "riqn": roots.RIQN,
    "newton": roots.NEWTON,
    "broyden": roots.BROYDEN,
    "riqn-variable": roots.RIQN,
}
ACCELERATED = {"semi-implicit-euler": EULER, "rk4": RK4}
"""By the method's name."""
TOLERANCE = 1e-11
"""Of the joints' increments in a step [rad or m]."""
_KEPT_TREES = 4


class TreeStepper:
    """One tree's structure by one method, for any values of its parameters. Threads have room of their own."""

    inline: object | None = None
    moments: tuple[float, ...] = (0.5,)
    """Shares of a step at which it wants a row of controls where these are a function of time. A single one is held."""

    def __init__(self, vehicle: ArticulatedVehicle, integrator: Integrator, *, sampled: bool = False) -> None:
        """sampled: with a row of controls for each of the method's own moments."""
        self.integrator = integrator
        if sampled and ACCELERATED.get(integrator.name) == RK4:
            self.moments = (0.0, 0.5, 1.0)
        self.layout: ObservationLayout = layout_of(vehicle)
        self._vehicle, self._told = vehicle, vehicle.told
        self._nq, self._nv = vehicle.tree.nq, vehicle.tree.nv
        self._variational = integrator.name in VARIATIONAL
        self._local = threading.local()

    @property
    def dim(self) -> int:
        """Of the velocity, and of what pushes from outside."""
        return self._nv

    def warm_up(self) -> None:
        """Have all that runs compiled now, not when the first lane waits for it."""
        vehicle, h = self._vehicle, LIMIT_STEP_S
        node, u, p = vehicle.default_state().node, vehicle.neutral_controls, vehicle.parameter_vector
        y = self.start(node, u, p, h)
        self.advance(y, np.tile(u, len(self.moments)), np.zeros(self.dim), p, h, 1)
        node = self.node(y, u, p, h)
        self.observe(node, u, p)
        impulses = self.impulses_at(node[: self._nq], self.layout.main, np.zeros(3), np.eye(3), p)
        self.answer(node[: self._nq], impulses[0], p)

    @property
    def private_size(self) -> int:
        return self._nq + (self._nv * (1 + REMEMBERED) + 2 if self._variational else self._nv)

    def start(
        self, node: np.ndarray, u: np.ndarray, p: np.ndarray, h: float, env: tuple[Any, ...] = ()
    ) -> np.ndarray:
        """Private state for a node: the discrete Legendre transform where the method has one."""
        laid, nq = self._laid(p), self._nq
        y = np.zeros(self.private_size)
        y[:nq] = node[:nq]
        if self._variational:
            tree_rollouts.variational_start(
                laid.tree.arrays, laid.ws, y[:nq], node[nq:].copy(), h, laid.limits_at(h), self._b(y)
            )
        else:
            y[nq:] = node[nq:]
        return y

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
        """Advance y in place by n steps without the GIL, which allocate nothing.

        w (nv,): generalised force from outside, whose impulse acts where each step starts.
        Returns (steps done, status, iterations); y is the last good state.
        """
        laid, nq = self._laid(p), self._nq
        arrays, limits, none = laid.tree.arrays, laid.limits_at(h), NO_WRENCHES
        if not self._variational:
            rule = ACCELERATED[self.integrator.name]
            held = np.array([self._vehicle.joint_forces(row, p) for row in u.reshape(len(self.moments), -1)])
            done, status = tree_rollouts.accelerated_rollout(
                arrays,
                laid.ws,
                felt_of(env),
                y[:nq],
                y[nq:],
                held,
                w,
                none,
                h,
                n,
                limits,
                rule,
                laid.stages[0],
                laid.stages,
                laid.torques[: len(held)],
            )
            return done, status, 0
        laid.tally[:] = 0.0
        done, status = tree_rollouts.variational_rollout(
            arrays,
            laid.ws,
            felt_of(env),
            *self._moving(y),
            self._vehicle.joint_forces(u, p),
            w,
            none,
            h,
            n,
            limits,
            VARIATIONAL[self.integrator.name],
            roots.EXTRAPOLATED,
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
        """Coordinates and velocities of a private state; of the variational method by its momenta."""
        laid, nq, nv = self._laid(p), self._nq, self._nv
        node = y[: nq + nv].copy()
        if self._variational:
            node_velocities(laid.tree.arrays, laid.ws, node[:nq], self._b(y), h, laid.limits_at(h), node[nq:])
        return node

    def trajectory(
        self,
        y: np.ndarray,
        us: np.ndarray,
        p: np.ndarray,
        h: float,
        n: int,
        env: tuple[Any, ...] = (),
        *,
        ws: np.ndarray | None = None,
    ) -> tuple[np.ndarray, int, int]:
        """Nodes (n+1, node_size) of n steps under us (1 or n, n_controls) and ws (n, nv); steps done, iterations."""
        nodes, total = np.full((n + 1, self._nq + self._nv), np.nan), 0
        nothing = np.zeros(self._nv)
        for k in range(n):
            u = us[k % len(us)]
            nodes[k] = self.node(y, u, p, h)
            _, status, iterations = self.advance(y, u, nothing if ws is None else ws[k], p, h, 1, env)
            total += iterations
            if status:
                return nodes, k, total
        nodes[n] = self.node(y, us[-1], p, h)
        return nodes, n, total

    def observe(self, node: np.ndarray, u: np.ndarray, p: np.ndarray) -> Observation:
        """All that is told of one node."""
        row = np.empty(self.layout.size)
        self._tell(self._laid(p), node, self._vehicle.joint_forces(u, p), row)
        return Observation(self.layout, row)

    def observe_step(
        self, node: np.ndarray, after: np.ndarray, u: np.ndarray, p: np.ndarray, h: float
    ) -> Observation:
        """As `observe`: nothing more is told of a step."""
        return self.observe(node, u, p)

    def observe_all(self, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float = 1.0) -> Observed:
        """What is told of nodes (n, node_size)."""
        rows, laid = np.empty((len(nodes), self.layout.size)), self._laid(p)
        for k, node in enumerate(nodes):
            self._tell(laid, node, self._vehicle.joint_forces(us[min(k, len(us) - 1)], p), rows[k])
        return Observed(self.layout, rows)

    def observed_later(
        self, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float
    ) -> tuple[np.ndarray, Observed]:
        """At once: nearly all of it is needed for the energies."""
        observed = self.observe_all(nodes, us, p, h)
        return observed.energy.copy(), observed

    def checkpoint(self, y: np.ndarray) -> np.ndarray:
        """(k,) all that the motion goes on from, to be kept."""
        return y.copy()

    def restored(self, checkpoint: np.ndarray) -> np.ndarray:
        """The private state of a checkpoint. Raises InputError for one of another version."""
        return kept_state(checkpoint, self.private_size, self.integrator)

    def strike(self, y: np.ndarray, impulse: np.ndarray, p: np.ndarray) -> None:
        """Change a private state in place as a generalised impulse (nv,) does at once."""
        if self._variational:
            self._b(y)[:] += impulse
        else:
            y[self._nq :] += self.answer(y[: self._nq], impulse, p)

    def answer(self, q: np.ndarray, impulse: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(nv,) by how much a generalised impulse changes the velocities at coordinates q."""
        laid, out = self._laid(p), np.zeros(self._nv)
        tree_rollouts.answer_of(laid.tree.arrays, laid.ws, np.ascontiguousarray(q), impulse, out)
        return out

    def impulses_at(
        self, q: np.ndarray, body: str, at_b: np.ndarray, R_wb: np.ndarray, p: np.ndarray
    ) -> np.ndarray:
        """(3, nv) of unit impulses along x, y, z, in which R_wb is the body's rotation, at a point of the body."""
        laid = self._laid(p)
        tree, rows = laid.tree, np.zeros((3, self._nv))
        k = tree.names.index(body)
        T, q = tree.offsets[k], np.ascontiguousarray(q)
        arm, R = T[:3, :3] @ at_b + T[:3, 3], T[:3, :3] @ R_wb.T
        for axis in range(3):
            wrench = np.r_[np.cross(arm, R[:, axis]), R[:, axis]]
            tree_rollouts.impulse_at(tree.arrays, laid.ws, q, int(tree.carriers[k]), wrench, rows[axis])
        return rows

    def _b(self, y: np.ndarray) -> np.ndarray:
        return y[self._nq : self._nq + self._nv]

    def _moving(self, y: np.ndarray) -> tuple[np.ndarray, ...]:
        """(q, b, history, memory) within the private state of a variational method."""
        history = y[self._nq + self._nv : -2].reshape(self._nv, REMEMBERED)
        return y[: self._nq], self._b(y), history, y[-2:]

    def _tell(self, laid: LaidTree, node: np.ndarray, torques: np.ndarray, row: np.ndarray) -> None:
        nq, tree = self._nq, laid.tree
        if np.isfinite(node).all():
            limits = laid.limits_at(0.0)
            tell(
                tree.arrays,
                laid.ws,
                tree.carriers,
                laid.offsets,
                laid.lines,
                *self._told,
                node[:nq],
                node[nq:],
                torques,
                limits,
                row,
            )
        else:
            row[:] = np.nan

    def _laid(self, p: np.ndarray) -> LaidTree:
        """The tree with these parameters, in this thread."""
        kept: dict[bytes, LaidTree] = self._local.__dict__.setdefault("kept", {})
        key = p.tobytes()
        laid = kept.get(key)
        if laid is None:
            while len(kept) >= _KEPT_TREES:
                del kept[next(iter(kept))]
            laid = kept[key] = lay(self._vehicle, p)
        return laid


NO_WRENCHES = np.zeros((0, 6))
NO_RESIDUALS = np.zeros(0)
