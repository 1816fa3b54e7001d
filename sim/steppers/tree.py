"""Trees of joints on the lanes that all vehicles run on: a `sim.steppers.Stepper` by recursions in linear time."""

import threading
from abc import abstractmethod
from typing import Any

import numpy as np

from sim.compiler.stepper import Stepper
from sim.contact.trees import contact_of
from sim.groups.numeric import rotation_log
from sim.integrators.base import Integrator
from sim.integrators.multibody import VariedMultibody
from sim.multibody import observing
from sim.multibody.arrays import BALL, FREE, REMEMBERED, Loads, TreeArrays, TreeMotion, workspace
from sim.multibody.articulated import factorise, solve
from sim.multibody.continuous import EULER, RK4
from sim.multibody.declaration import Gear, Loop
from sim.multibody.kinematics import place
from sim.multibody.loops import Closure, close_gaps, keep_closed, loop_slopes, open_gaps
from sim.multibody.observing import Reported, observe_node
from sim.multibody.spatial import quaternion_matrix
from sim.multibody.stepping import node_velocities
from sim.multibody.tree import Tree
from sim.native.function import Native, prepare_together
from sim.steppers.bound_tree import NO_WRENCHES, TOLERANCE, BoundTree, root_finder
from sim.steppers.tree_rollouts import (
    Accelerations,
    ClosedLane,
    ClosedMotion,
    NodeMotion,
    OpenLane,
    accelerated_rollout,
    closed_rollout,
    variational_rollout,
    variational_start,
)
from sim.steppers.varied_rollouts import VariedMotion, division, varied_rollout
from sim.vehicles import Vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle, PlumbLine
from sim.vehicles.forms.observation import Observation, Observed, layout_of

ACCELERATED = {"semi-implicit-euler": EULER, "rk4": RK4}
"""By the method's name."""
LIMIT_STEP_S = 0.005
"""Limits of joints are no stiffer than steps of this length bear, so that what is reported of their energy holds for
all steps up to it."""
_IMPLIED = 1e-9
"""Of the largest answer of a loop's gap, below which other gaps imply it."""
Calls = list[tuple[Native, tuple[Any, ...]]]
"""Functions, with arguments of the kinds that they are called with."""
_KEPT_TREES = 32
"""With other parameters each: more than there are lanes."""


class TreeStepper(Stepper):
    """One tree's structure by one method, for any values of its parameters. Each thread has a workspace of its own.

    Private states begin with the coordinates and (nv,) what methods carry on in place of velocities, or these.
    """

    inline = None
    moments: tuple[float, ...] = (0.5,)
    rollout: Native
    """What takes the steps, of `sim.steppers.tree_rollouts`: (lane, `method`, `state`, loads, h, steps)."""

    closes = True
    """Whether lanes are closed ones to the rollout."""

    def __init__(self, vehicle: ArticulatedVehicle, integrator: Integrator) -> None:
        self.integrator = integrator
        self.layout = layout_of(vehicle)
        self._vehicle, self._reported = vehicle, vehicle.reported
        self._closure = Closure(
            vehicle.tree, _loops(vehicle, vehicle.parameter_vector), dampers=bool(integrator.solver)
        )
        """Of the vehicle with its own parameters."""
        self._nq, self._nv = vehicle.tree.nq, vehicle.tree.nv
        self.dim = self._nv
        self._local = threading.local()

    @abstractmethod
    def _begun(self, bound: BoundTree, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What a private state begins with at a node with coordinates q and velocities v."""

    def _arrive(self, node: np.ndarray, p: np.ndarray, h: float) -> None:
        """Make a node of what a private state begins with."""

    @abstractmethod
    def state(self, y: np.ndarray) -> tuple[Any, ...]:
        """A private state as the rollout takes it: views."""

    @abstractmethod
    def made_method(self) -> tuple[Any, ...]:
        """What the rollout wants to know of the method, with what it writes besides."""

    def _method(self) -> tuple[Any, ...]:
        """The same, in this thread."""
        kept: dict[str, tuple[Any, ...]] = self._local.__dict__
        if "method" not in kept:
            kept["method"] = self.made_method()
        return kept["method"]

    def _kept_state(self, y: np.ndarray) -> tuple[Any, ...]:
        """The views of a private state; lanes go on from the same one."""
        kept: dict[str, tuple[np.ndarray, tuple[Any, ...]]] = self._local.__dict__
        if "moved" not in kept or kept["moved"][0] is not y:
            kept["moved"] = y, self.state(y)
        return kept["moved"][1]

    def warm_up(self) -> None:
        """Have all that runs compiled now, not when the first lane waits for it."""
        vehicle, h = self._vehicle, LIMIT_STEP_S
        for calls in self._calls():
            prepare_together(*calls)
        node, u, p = vehicle.default_state().node, vehicle.neutral_controls, vehicle.parameter_vector
        y = self.start(node, u, p, h)
        self.advance(y, np.tile(u, len(self.moments)), np.zeros(self.dim), p, h, 1)
        node = self.node(y, u, p, h)
        self.observe(node, u, p)
        self.moved_by(node[: self._nq], h, p)
        impulses = self.impulses_at(node[: self._nq], self.layout.main, np.zeros(3), np.eye(3), p)
        self.answer(node[: self._nq], impulses[0], p)

    def _calls(self) -> list[Calls]:
        """What every lane calls, by the modules that it is compiled in: of all trees, of those with loops, and of this
        method, which differ. Accelerations are a few percent slower apart from what they call, and stay with it."""
        vehicle, tree, nv = self._vehicle, self._vehicle.tree, self._nv
        arrays, ws, q, v = tree.arrays, workspace(tree.arrays), tree.q0, np.zeros(nv)
        jacobian, square, places = np.zeros((len(tree.names), 6, nv)), np.zeros((nv, nv)), np.zeros((nv, 3))
        common: Calls = [
            (place, (arrays, q, ws.node)),
            (factorise, (arrays, ws.node, v, 1.0, ws.articulated, ws.factor)),
            (solve, (arrays, ws.node, v, 1.0, ws.factor, v, ws.wrench, ws.spare, ws.twist, v)),
            (observe_node, (arrays, ws, self._reports(tree, vehicle.parameter_vector), q, v, v, v)),
            (observing.moved_by, (arrays, ws, q, 1.0, tree.carriers, places, jacobian, square)),
            (observing.impulse_at, (arrays, ws, q, 0, v, v)),
            (observing.answer_of, (arrays, ws, q, v, v)),
        ]
        looped: Calls = []
        loops, closing = self._closure.arrays, self._closure.workspace
        if self._closure.rows:
            looped = [
                (open_gaps, (arrays, ws, loops, closing, q)),
                (loop_slopes, (arrays, ws, loops, closing, q, 1.0)),
                (keep_closed, (arrays, ws, loops, closing, q, v)),
                (close_gaps, (arrays, ws, loops, closing, 0, q, v, 1.0)),
            ]
        lane, y = OpenLane(arrays, ws, contact_of(())), np.zeros(self.private_size)
        u = np.tile(vehicle.neutral_controls, len(self.moments))
        loads = Loads(self._efforts(u, vehicle.parameter_vector), v, NO_WRENCHES)
        given = (ClosedLane(lane, loops, closing) if self.closes else lane, self._method(), self.state(y))
        own: Calls = [(self.rollout, (*given, loads, 1.0, 1))]
        if not self.integrator.solver:
            return [[*common, *looped, *own]]
        start: Calls = [
            (node_velocities, (arrays, ws, q, v, 1.0, v)),
            (variational_start, (arrays, ws, q, v, 1.0, v)),
        ]
        return [common, looped, [*start, *own]]

    def _efforts(self, u: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Of the controls, as `Loads.torques`."""
        return self._vehicle.joint_forces(u, p)

    def start(
        self, node: np.ndarray, u: np.ndarray, p: np.ndarray, h: float, env: tuple[Any, ...] = ()
    ) -> np.ndarray:
        nq, ends, y = self._nq, self._nq + self._nv, np.zeros(self.private_size)
        y[:nq], y[nq:ends] = self._begun(self._bound(p, h), node[:nq], node[nq:])
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
        """The steps allocate nothing; the impulse of w acts where each of them starts. Iterations are those of all
        trials."""
        contact, loads = contact_of(env), Loads(self._efforts(u, p), w, NO_WRENCHES)
        contact.frame[5] = self.integrator.looks
        bound = self._bound(p, h)
        lane = bound.closed_lane(contact) if self.closes else bound.lane(contact)
        bound.workspace.tally[:] = 0.0
        done, status = self.rollout(lane, self._method(), self._kept_state(y), loads, h, n)
        return done, status, int(bound.workspace.tally[0])

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
        """Coordinates and velocities."""
        node = y[: self._nq + self._nv].copy()
        self._arrive(node, p, h)
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
        """ws: (n, nv), where there are any."""
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
        row = np.empty(self.layout.size)
        self._report(p, node, self._vehicle.joint_forces(u, p), row)
        return Observation(self.layout, row)

    def observe_step(
        self, node: np.ndarray, after: np.ndarray, u: np.ndarray, p: np.ndarray, h: float
    ) -> Observation:
        """Nothing is observed of a step."""
        return self.observe(node, u, p)

    def observe_all(self, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float = 1.0) -> Observed:
        rows = np.empty((len(nodes), self.layout.size))
        for k, node in enumerate(nodes):
            self._report(p, node, self._vehicle.joint_forces(us[min(k, len(us) - 1)], p), rows[k])
        return Observed(self.layout, rows)

    def observed_later(
        self, nodes: np.ndarray, us: np.ndarray, p: np.ndarray, h: float
    ) -> tuple[np.ndarray, Observed]:
        """At once: nearly all of it is needed for the energies."""
        observed = self.observe_all(nodes, us, p, h)
        return observed.energy.copy(), observed

    def answer(self, q: np.ndarray, impulse: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(nv,) by how much a generalised impulse changes the velocities at coordinates q, with those of the loops that
        it calls up."""
        bound, out = self._bound(p), np.zeros(self._nv)
        observing.answer_of(bound.tree.arrays, bound.workspace, np.ascontiguousarray(q), impulse, out)
        return bound.closing.tangent(q, out) if bound.closing.size else out

    def impulses_at(
        self, q: np.ndarray, body: str, at_b: np.ndarray, R_wb: np.ndarray, p: np.ndarray
    ) -> np.ndarray:
        """(3, nv) of unit impulses along x, y, z, in which R_wb is the body's rotation, at a point of the body."""
        bound = self._bound(p)
        tree, rows = bound.tree, np.zeros((3, self._nv))
        k = tree.names.index(body)
        T, q = tree.offsets[k], np.ascontiguousarray(q)
        arm, R = T[:3, :3] @ at_b + T[:3, 3], T[:3, :3] @ R_wb.T
        for axis in range(3):
            wrench = np.r_[np.cross(arm, R[:, axis]), R[:, axis]]
            observing.impulse_at(tree.arrays, bound.workspace, q, int(tree.carriers[k]), wrench, rows[axis])
        return rows

    def moved_by(self, q: np.ndarray, seconds: float, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """By what it moves at coordinates q: ((bodies, 6, nv) of its declared bodies' twists (omega, v) in the world's
        axes, (nv, nv) by which mean velocities over so long answer impulses at its start, none of which open loops)."""
        bound = self._bound(p)
        tree = bound.tree
        jacobian, mobility = np.zeros((len(tree.names), 6, self._nv)), np.zeros((self._nv, self._nv))
        offsets = np.ascontiguousarray(tree.offsets[:, :3, 3])
        q = np.ascontiguousarray(q)
        observing.moved_by(
            bound.arrays, bound.workspace, q, seconds, tree.carriers, offsets, jacobian, mobility
        )
        if bound.closing.size:
            slopes = bound.closing.slopes(q)[0]
            opened = slopes @ mobility
            mobility -= opened.T @ np.linalg.pinv(opened @ slopes.T, rcond=_IMPLIED, hermitian=True) @ opened
        return jacobian, mobility

    def twists(self, q: np.ndarray, v: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(bodies, 6) of its declared bodies' twists (omega, v) in the world's axes, at coordinates q with velocities
        v."""
        bound = self._bound(p)
        tree = bound.tree
        out = np.zeros((len(tree.names), 6))
        offsets = np.ascontiguousarray(tree.offsets[:, :3, 3])
        q, v = np.ascontiguousarray(q), np.ascontiguousarray(v)
        observing.twists_at(bound.arrays, bound.workspace, q, v, tree.carriers, offsets, out)
        return out

    def mean_velocity(self, q: np.ndarray, after: np.ndarray, seconds: float) -> np.ndarray:
        """(nv,) with which coordinates q become those after so long."""
        arrays, v = self._vehicle.tree.arrays, np.zeros(self._nv)
        for i, kind in enumerate(arrays.kind):
            at, a = int(arrays.q_at[i]), int(arrays.v_at[i])
            if kind not in (BALL, FREE):
                v[a] = (after[at] - q[at]) / seconds
                continue
            R, R_after = (np.reshape(quaternion_matrix.py_func(*x[at : at + 4]), (3, 3)) for x in (q, after))
            v[a : a + 3] = rotation_log(R.T @ R_after) / seconds
            if kind == FREE:
                v[a + 3 : a + 6] = R.T @ (after[at + 4 : at + 7] - q[at + 4 : at + 7]) / seconds
        return v

    def _report(self, p: np.ndarray, node: np.ndarray, torques: np.ndarray, row: np.ndarray) -> None:
        bound, reported, arrays = self._kept(p)
        if np.isfinite(node).all():
            q, v = node[: self._nq], node[self._nq :]
            observe_node(arrays, bound.workspace, reported, q, v, torques, row)
        else:
            row[:] = np.nan

    def bound(self, p: np.ndarray, h: float) -> tuple[BoundTree, Reported]:
        """The tree with these parameters, in this thread, for steps of h, and what is reported of it."""
        return self._bound(p, h), self._kept(p)[1]

    def _bound(self, p: np.ndarray, h: float | None = None) -> BoundTree:
        """The tree with these parameters, in this thread, for steps of h if that is said."""
        bound = self._kept(p)[0]
        if h is not None and h != bound.step_s:
            bound.step_s = h
        return bound

    def _kept(self, p: np.ndarray) -> tuple[BoundTree, Reported, TreeArrays]:
        """The same, what is reported of it, and the arrays for that."""
        kept: dict[bytes, tuple[BoundTree, Reported, TreeArrays]] = self._local.__dict__.setdefault(
            "kept", {}
        )
        key = p.tobytes()
        found = kept.pop(key, None)  # the one that was not asked for longest stands first
        if found is None:
            while len(kept) >= _KEPT_TREES:
                del kept[next(iter(kept))]
            vehicle = self._vehicle
            tree = vehicle.tree_with(p)
            bound = BoundTree(
                tree,
                LIMIT_STEP_S,
                loops=_loops(vehicle, p),
                dampers=bool(self.integrator.solver),
                solver=self.integrator.solver or "riqn",
                limit_step_s=LIMIT_STEP_S,
            )
            found = bound, self._reports(tree, p), bound.arrays
        kept[key] = found
        return found

    def _reports(self, tree: Tree, p: np.ndarray) -> Reported:
        """What is reported of the tree with these parameters."""
        lines = _lines(tree, self._vehicle.plumb_lines(self._vehicle.quantities(p)))
        offsets = np.ascontiguousarray([np.r_[T[:3, :3].ravel(), T[:3, 3]] for T in tree.offsets])
        return Reported(tree.carriers, offsets, lines, *self._reported)


class AcceleratedTreeStepper(TreeStepper):
    """By articulated-body accelerations. The private state is the node."""

    rollout = accelerated_rollout

    def __init__(self, vehicle: ArticulatedVehicle, integrator: Integrator, *, sampled: bool = False) -> None:
        """sampled: with a row of controls for each of the method's own moments."""
        super().__init__(vehicle, integrator)
        self._rule = ACCELERATED[integrator.name]
        if sampled and self._rule == RK4:
            self.moments = (0.0, 0.5, 1.0)
        self.private_size = self._nq + self._nv

    def state(self, y: np.ndarray) -> NodeMotion:
        return NodeMotion(y[: self._nq], y[self._nq :])

    def made_method(self) -> Accelerations:
        efforts = np.zeros((len(self.moments), len(self._vehicle.tree.effort_names)))
        return Accelerations(self._rule, TOLERANCE, np.zeros((6, self._nv)), efforts)

    def _efforts(self, u: np.ndarray, p: np.ndarray) -> np.ndarray:
        return np.array([self._vehicle.joint_forces(row, p) for row in u.reshape(len(self.moments), -1)])

    def _begun(self, bound: BoundTree, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return bound.closure.closed(q, v, bound.tolerance) if bound.closure is not None else (q, v)

    def strike(self, vehicle: Vehicle, y: np.ndarray, impulse: np.ndarray, u: np.ndarray, h: float) -> None:
        y[self._nq :] += self.answer(y[: self._nq], impulse, vehicle.parameter_vector)


class VariationalTreeStepper(TreeStepper):
    """The private state is that of the open tree, and the impulses of loops, and of springs between points, in the
    latest step: none at first."""

    def __init__(self, vehicle: ArticulatedVehicle, integrator: Integrator) -> None:
        super().__init__(vehicle, integrator)
        self.closes = self._closure.rows > 0
        self.rollout = closed_rollout if self.closes else variational_rollout
        self._ends = self._nq + self._nv * (1 + REMEMBERED) + 2
        self.private_size = self._ends + self._closure.rows

    def _motion(self, y: np.ndarray) -> TreeMotion:
        nq, nv, ends = self._nq, self._nv, self._ends
        return TreeMotion(
            y[:nq], y[nq : nq + nv], y[nq + nv : ends - 2].reshape(nv, REMEMBERED), y[ends - 2 : ends]
        )

    def state(self, y: np.ndarray) -> tuple[Any, ...]:
        motion = self._motion(y)
        return ClosedMotion(motion, y[self._ends :]) if self.closes else motion

    def made_method(self) -> tuple[Any, ...]:
        return root_finder(self.integrator.solver)

    def _begun(self, bound: BoundTree, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        motion = bound.start(q, v)
        return motion.q, motion.b

    def _arrive(self, node: np.ndarray, p: np.ndarray, h: float) -> None:
        """Velocities by the momenta."""
        nq = self._nq
        self._bound(p, h).velocities(node[:nq], node[nq:].copy(), node[nq:])

    def strike(self, vehicle: Vehicle, y: np.ndarray, impulse: np.ndarray, u: np.ndarray, h: float) -> None:
        y[self._nq : self._nq + self._nv] += impulse


class VariedTreeStepper(VariationalTreeStepper):
    """The private state is that of constant steps, then ln rho of the latest step and the number of its parts."""

    def __init__(self, vehicle: ArticulatedVehicle, integrator: VariedMultibody) -> None:
        super().__init__(vehicle, integrator)
        self.closes, self.rollout = True, varied_rollout
        self.private_size += 2
        self._turn_rad = float(integrator.turn_rad)

    def state(self, y: np.ndarray) -> VariedMotion:
        return VariedMotion(self._motion(y), y[self._ends : -2], y[-2:])

    def made_method(self) -> tuple[Any, ...]:
        efforts = len(self._vehicle.tree.effort_names)
        return division(root_finder(self.integrator.solver), self._turn_rad, self._nq, self._nv, efforts)

    def parts(self, y: np.ndarray) -> int:
        """Of the latest step; 0 at the start."""
        return int(y[-1])


def _loops(vehicle: ArticulatedVehicle, p: np.ndarray) -> tuple[Loop | Gear, ...]:
    """Of the vehicle with these parameters."""
    return vehicle.loops_with(p) if isinstance(vehicle, ClosedVehicle) else ()


def _lines(tree: Tree, declared: dict[str, PlumbLine]) -> np.ndarray:
    """(k, 8) as `Reported` has them."""
    rows = np.zeros((len(declared), 8))
    for row, line in zip(rows, declared.values(), strict=True):
        for at, (body, point) in zip((0, 4), (line[:2], line[2:]), strict=True):
            k = tree.names.index(body)
            row[at], row[at + 1 : at + 4] = tree.carriers[k], (tree.offsets[k] @ np.r_[point, 1.0])[:3]
    return rows
