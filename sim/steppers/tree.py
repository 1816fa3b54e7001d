"""Trees of joints on the lanes that all vehicles run on: a `sim.steppers.Stepper` by recursions in linear time."""

import threading
from typing import Any

import numpy as np

from sim.compiler.stepper import Stepper
from sim.contact.trees import TreeContact, contact_of
from sim.groups.numeric import rotation_log
from sim.integrators.base import Integrator
from sim.integrators.multibody import VariedMultibody
from sim.multibody import observing
from sim.multibody.arrays import BALL, FREE, REMEMBERED, Loads, TreeArrays, TreeMotion, Workspace, workspace
from sim.multibody.articulated import factorise, solve
from sim.multibody.continuous import EULER, RK4
from sim.multibody.declaration import Gear, Loop
from sim.multibody.kinematics import place
from sim.multibody.loops import Closure, close_gaps, keep_closed, loop_slopes, open_gaps
from sim.multibody.observing import Reported, observe_node
from sim.multibody.spatial import quaternion_matrix
from sim.multibody.stepping import ITERATIONS_MAX, node_velocities
from sim.multibody.tree import Tree
from sim.native.function import Native, prepare_together
from sim.steppers import tree_rollouts
from sim.steppers.bound_tree import NO_WRENCHES, BoundTree
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
    """One tree's structure by one method, for any values of its parameters. Each thread has a workspace of its own."""

    inline = None
    moments: tuple[float, ...] = (0.5,)

    def __init__(
        self, vehicle: ArticulatedVehicle, integrator: Integrator, *, sampled: bool = False, more: int = 0
    ) -> None:
        """sampled: with a row of controls for each of the method's own moments. more: so many numbers follow the open
        tree's own in a private state."""
        self.integrator = integrator
        if sampled and ACCELERATED.get(integrator.name) == RK4:
            self.moments = (0.0, 0.5, 1.0)
        self.layout = layout_of(vehicle)
        self._vehicle, self._reported = vehicle, vehicle.reported
        self._vehicle_closure = _closure(vehicle, dampers=bool(integrator.solver))
        self._nq, self._nv = vehicle.tree.nq, vehicle.tree.nv
        self.dim = self._nv
        self._variational = bool(integrator.solver)
        self._looks = integrator.looks
        own = self._nv * (1 + REMEMBERED) + 2 if self._variational else self._nv
        self._more, self.private_size = more, self._nq + own + more
        self._local = threading.local()

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
        tree, nv = self._vehicle.tree, self._nv
        arrays, ws, q, v = tree.arrays, workspace(tree.arrays), tree.q0, np.zeros(nv)
        jacobian, square, places = np.zeros((len(tree.names), 6, nv)), np.zeros((nv, nv)), np.zeros((nv, 3))
        common: Calls = [
            (place, (arrays, q, ws.node)),
            (factorise, (arrays, ws.node, v, 1.0, ws.articulated, ws.factor)),
            (solve, (arrays, ws.node, v, 1.0, ws.factor, v, ws.wrench, ws.spare, ws.twist, v)),
            (observe_node, (arrays, ws, self._reports(tree, self._vehicle.parameter_vector), q, v, v, v)),
            (observing.moved_by, (arrays, ws, q, 1.0, tree.carriers, places, jacobian, square)),
            (observing.impulse_at, (arrays, ws, q, 0, v, v)),
            (observing.answer_of, (arrays, ws, q, v, v)),
        ]
        looped: Calls = []
        if self._vehicle_closure.rows:
            loops, closing = self._vehicle_closure.arrays, self._vehicle_closure.workspace
            looped = [
                (open_gaps, (arrays, ws, loops, closing, q)),
                (loop_slopes, (arrays, ws, loops, closing, q, 1.0)),
                (keep_closed, (arrays, ws, loops, closing, q, v)),
                (close_gaps, (arrays, ws, loops, closing, 0, q, v, 1.0)),
            ]
        own = self._rollouts(arrays, ws, q, v)
        if not self._variational:
            return [[*common, *looped, *own]]
        start: Calls = [
            (node_velocities, (arrays, ws, q, v, 1.0, v)),
            (tree_rollouts.variational_start, (arrays, ws, q, v, 1.0, v)),
        ]
        return [common, looped, [*start, *own]]

    def _rollouts(self, arrays: TreeArrays, ws: Workspace, q: np.ndarray, v: np.ndarray) -> Calls:
        """The part of them that only this method's lanes call; `q`, `v`: coordinates and velocities."""
        contact = contact_of(())
        if not self._variational:
            loops, closing = self._vehicle_closure.arrays, self._vehicle_closure.workspace
            loads, rule = Loads(v[None], v, NO_WRENCHES), ACCELERATED[self.integrator.name]
            given = (arrays, ws, contact, loops, closing, q, v, loads, 1.0, 1, rule, *self._stages(), 1.0)
            return [(tree_rollouts.accelerated_rollout, given)]
        loads = Loads(v, v, NO_WRENCHES)
        steps = (_motion(q, v), loads, 1.0, 1, 0, 0, 1.0, ITERATIONS_MAX)
        return [(tree_rollouts.variational_rollout, (arrays, ws, contact, *steps))]

    def start(
        self, node: np.ndarray, u: np.ndarray, p: np.ndarray, h: float, env: tuple[Any, ...] = ()
    ) -> np.ndarray:
        nq = self._nq
        y = np.zeros(self.private_size)
        if self._variational:
            motion = self._bound(p, h).start(node[:nq], node[nq:])
            y[:nq], self._b(y)[:] = motion.q, motion.b
        else:
            y[:], bound = node, self._bound(p, h)
            if bound.closure is not None:
                y[:nq], y[nq:] = bound.closure.closed(node[:nq], node[nq:], bound.tolerance)
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
        """The steps allocate nothing; the impulse of w acts where each of them starts."""
        bound, nq, contact = self._bound(p, h), self._nq, contact_of(env)
        contact.frame[5] = self._looks
        if self._variational:
            bound.workspace.tally[:] = 0.0
            done, status = self._advance(bound, y, self._vehicle.joint_forces(u, p), w, n, contact)
            return done, status, int(bound.workspace.tally[0])
        rule, stages = ACCELERATED[self.integrator.name], self._stages()
        held = np.array([self._vehicle.joint_forces(row, p) for row in u.reshape(len(self.moments), -1)])
        loads = Loads(held, w, NO_WRENCHES)
        done, status = tree_rollouts.accelerated_rollout(
            bound.arrays,
            bound.workspace,
            contact,
            bound.closing.arrays,
            bound.closing.workspace,
            y[:nq],
            y[nq:],
            loads,
            h,
            n,
            rule,
            *stages,
            bound.tolerance,
        )
        return done, status, 0

    def _advance(
        self,
        bound: BoundTree,
        y: np.ndarray,
        torques: np.ndarray,
        push: np.ndarray,
        n: int,
        contact: TreeContact,
    ) -> tuple[int, int]:
        """n variational steps of a private state in place."""
        return bound.advance(bound.motion(y), n, torques, push=push, contact=contact)

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
        """Coordinates and velocities; of the variational method by its momenta."""
        node = y[: self._nq + self._nv].copy()
        if self._variational:
            self._bound(p, h).velocities(node[: self._nq], self._b(y), node[self._nq :])
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

    def strike(self, vehicle: Vehicle, y: np.ndarray, impulse: np.ndarray, u: np.ndarray, h: float) -> None:
        if self._variational:
            self._b(y)[:] += impulse
        else:
            y[self._nq :] += self.answer(y[: self._nq], impulse, vehicle.parameter_vector)

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

    def _b(self, y: np.ndarray) -> np.ndarray:
        return y[self._nq : self._nq + self._nv]

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
                dampers=self._variational,
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

    def _stages(self) -> tuple[np.ndarray, np.ndarray]:
        """What the accelerated methods write, in this thread."""
        found: tuple[np.ndarray, np.ndarray] | None = self._local.__dict__.get("stages")
        if found is None:
            torques = np.zeros((len(self.moments), len(self._vehicle.tree.effort_names)))
            found = self._local.stages = np.zeros((6, self._nv)), torques
        return found


class ClosedTreeStepper(TreeStepper):
    """Of trees with loops, or with springs between points, by a variational method.

    The private state is that of the open tree, and the impulses of the latest step (none at first:
    `TreeStepper.start` leaves zeros where it puts nothing).
    """

    def __init__(self, vehicle: ArticulatedVehicle, integrator: Integrator) -> None:
        super().__init__(vehicle, integrator, more=_closure(vehicle).rows)

    def _rollouts(self, arrays: TreeArrays, ws: Workspace, q: np.ndarray, v: np.ndarray) -> Calls:
        loops, closing = self._vehicle_closure.arrays, self._vehicle_closure.workspace
        motion, loads = _motion(q, v), Loads(v, v, NO_WRENCHES)
        steps = (motion, closing.impulses, loads, 1.0, 1, 0, 1.0)
        return [(tree_rollouts.closed_rollout, (arrays, ws, contact_of(()), loops, closing, *steps))]

    def _advance(
        self,
        bound: BoundTree,
        y: np.ndarray,
        torques: np.ndarray,
        push: np.ndarray,
        n: int,
        contact: TreeContact,
    ) -> tuple[int, int]:
        """As without loops; iterations are those of all trials."""
        ends = y.size - self._more
        return bound.advance(
            bound.motion(y[:ends]), n, torques, push=push, contact=contact, impulses=y[ends:]
        )


class VariedTreeStepper(TreeStepper):
    """The private state is that of constant steps, then ln rho of the latest step and the number of its parts."""

    def __init__(self, vehicle: ArticulatedVehicle, integrator: VariedMultibody) -> None:
        super().__init__(vehicle, integrator, more=_closure(vehicle).rows + 2)
        self._turn_rad = integrator.turn_rad

    def _rollouts(self, arrays: TreeArrays, ws: Workspace, q: np.ndarray, v: np.ndarray) -> Calls:
        loops, closing = self._vehicle_closure.arrays, self._vehicle_closure.workspace
        loads, numbers = Loads(v, v, NO_WRENCHES), (1.0, 1, 1.0, 0, 0, 1.0)
        state = (_motion(q, v), closing.impulses, np.zeros(2))
        given = (arrays, ws, self._own(), contact_of(()), loops, closing, *state, loads, *numbers)
        return [(tree_rollouts.varied_rollout, given)]

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
        ends = y.size - self._more
        return tree_rollouts.varied_rollout(
            bound.arrays,
            bound.workspace,
            self._own(),
            contact,
            bound.closing.arrays,
            bound.closing.workspace,
            bound.motion(y[:ends]),
            y[ends:-2],
            y[-2:],
            Loads(torques, push, NO_WRENCHES),
            bound.step_s,
            n,
            self._turn_rad,
            bound.solver,
            bound.guess,
            bound.tolerance,
        )

    def parts(self, y: np.ndarray) -> int:
        """Of the latest step; 0 at the start."""
        return int(y[-1])

    def _own(self) -> tree_rollouts.VariedWorkspace:
        """In this thread."""
        kept: dict[str, tree_rollouts.VariedWorkspace] = self._local.__dict__
        if "varied" not in kept:
            kept["varied"] = tree_rollouts.varied_workspace(
                self._nq, self._nv, len(self._vehicle.tree.arrays.driven)
            )
        return kept["varied"]


def _loops(vehicle: ArticulatedVehicle, p: np.ndarray) -> tuple[Loop | Gear, ...]:
    """Of the vehicle with these parameters."""
    return vehicle.loops_with(p) if isinstance(vehicle, ClosedVehicle) else ()


def _closure(vehicle: ArticulatedVehicle, *, dampers: bool = True) -> Closure:
    """Of the vehicle with its own parameters."""
    return Closure(vehicle.tree, _loops(vehicle, vehicle.parameter_vector), dampers=dampers)


def _motion(q: np.ndarray, v: np.ndarray) -> TreeMotion:
    return TreeMotion(q, v, np.zeros((len(v), REMEMBERED)), np.zeros(2))


def _lines(tree: Tree, declared: dict[str, PlumbLine]) -> np.ndarray:
    """(k, 8) as `Reported` has them."""
    rows = np.zeros((len(declared), 8))
    for row, line in zip(rows, declared.values(), strict=True):
        for at, (body, point) in zip((0, 4), (line[:2], line[2:]), strict=True):
            k = tree.names.index(body)
            row[at], row[at + 1 : at + 4] = tree.carriers[k], (tree.offsets[k] @ np.r_[point, 1.0])[:3]
    return rows
