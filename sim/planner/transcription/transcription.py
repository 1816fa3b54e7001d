"""All nodes together: one sparse nonlinear program with exact derivatives, in the order that fatrop wants; and an
iterate of it as a motion in SI units.

Derivatives are formed symbolically for one node and evaluated at all of them, so building a problem costs the same for
every number of nodes."""

from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from sim.compiler.columns import ColumnKernel
from sim.planner.task.bodies import jointed, planar, positions
from sim.planner.task.inputs import Constraint
from sim.planner.transcription.model import NodeModel
from sim.planner.transcription.node_expressions import NodeExpressions, initial_rows, last_node, running_node
from sim.planner.transcription.node_functions import NodeFunctions, node_functions
from sim.planner.transcription.program import Program
from sim.planner.transcription.shape import ProblemShape
from sim.planner.transcription.state_form import Slots
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle

_FORGETFUL = 0.01
"""Square of the share of a step's first momentum that still counts in its equation."""


class Conversions:
    """Functions of rows, one a node: private states y, unknowns z, planned inputs a; and of the step's length h."""

    def __init__(self, model: NodeModel) -> None:
        self._model = model

    def nodes(self, y: np.ndarray, z: np.ndarray, a: np.ndarray, numbers: np.ndarray, h: float) -> np.ndarray:
        """(n, node size), of a vehicle with parameters `numbers`."""
        return self._nodes.rows(y, z, a, numbers, np.array([h]))

    def start(self, nodes: np.ndarray, a: np.ndarray, numbers: np.ndarray, h: float) -> np.ndarray:
        """(n, n_y): the integration method's own start from nodes."""
        return self._start.rows(nodes, a, numbers, np.array([h]))

    def guess(self, y: np.ndarray, a: np.ndarray, numbers: np.ndarray, h: float) -> np.ndarray:
        """(n, n_z): the integration method's own first guess."""
        return self._guess.rows(y, a, numbers, np.array([h]))

    def inverse(self, y: np.ndarray, z: np.ndarray, numbers: np.ndarray, h: float) -> np.ndarray:
        """(n, planned inputs) that a step's unknowns take, where each solves a row of the residual."""
        return self._inverse.rows(y, z, numbers, np.array([h]))

    def closing(self, y: np.ndarray, velocities: np.ndarray, numbers: np.ndarray, h: float) -> np.ndarray:
        """(n, n_z) of velocities (n, nv) over steps, with the forces of loops that come nearest to such steps, together
        with the best inputs."""
        z = np.zeros((len(y), self._model.unknowns))
        moves = velocities.shape[1]
        z[:, :moves] = velocities
        flat = self._closing.rows(y, z, numbers, np.array([h]))
        left, slopes = flat[:, :moves], flat[:, moves:].reshape(len(y), -1, moves).transpose(0, 2, 1)
        for k in range(len(y)):
            z[k, moves:] = -np.linalg.lstsq(slopes[k], left[k], rcond=1e-9)[0][: z.shape[1] - moves]
        return z

    @cached_property
    def _closing(self) -> ColumnKernel:
        scheme, i = self._model.scheme, self._model.scheme.inputs
        moves = self._model.vehicle.node_layout.velocity
        step = scheme.residual[: moves.stop - moves.start]
        forces = ca.vertcat(scheme.z[step.shape[0] :], i.u)
        found = ca.vertcat(step, ca.vec(ca.densify(ca.jacobian(step, forces))))
        still = ca.substitute(found, ca.vertcat(i.u, i.w), ca.SX.zeros(i.u.shape[0] + i.w.shape[0]))
        return _kernel([scheme.y, scheme.z, i.p, i.h], still)

    def led(self, y: np.ndarray, z: np.ndarray, a: np.ndarray, numbers: np.ndarray, h: float) -> np.ndarray:
        """(n, n_y): y, its momenta such that z solve the residual.

        Where drag makes a long step forget what it began with, they are left alone.
        """
        changes = self._changes.rows(y, z, a, numbers, np.array([h]))
        out, end = y.copy(), y.shape[1] - self._model.lagging
        out[:, end - changes.shape[1] : end] += changes
        return out

    @cached_property
    def _nodes(self) -> ColumnKernel:
        scheme = self._model.scheme
        return self._of([scheme.y, scheme.z], scheme.node)

    @cached_property
    def _start(self) -> ColumnKernel:
        return self._of([self._model.scheme.inputs.node], self._model.scheme.start)

    @cached_property
    def _guess(self) -> ColumnKernel:
        return self._of([self._model.scheme.y], self._model.scheme.guess)

    @cached_property
    def _inverse(self) -> ColumnKernel:
        model = self._model
        y, z, i = model.scheme.y, model.scheme.z, model.scheme.inputs
        inputs = ca.substitute(model.inverse(y, z, i.h), model.given["vehicle"], i.p)
        return _kernel([y, z, i.p, i.h], inputs)

    @cached_property
    def _changes(self) -> ColumnKernel:
        scheme, count = self._model.scheme, self._model.unknowns
        end = scheme.y.shape[0] - self._model.lagging
        J = ca.jacobian(scheme.residual, scheme.y[end - count : end])
        change = -ca.solve(J.T @ J + _FORGETFUL * ca.SX.eye(count), J.T @ scheme.residual)
        return self._of([scheme.y, scheme.z], change)

    def _of(self, given: list[ca.SX], expression: ca.SX) -> ColumnKernel:
        """An expression of the integration method, in planned inputs."""
        i = self._model.scheme.inputs
        still = ca.substitute(expression, i.w, ca.SX.zeros(i.w.shape[0]))
        return _kernel([*given, i.u, i.p, i.h], still)


def _kernel(inputs: list[ca.SX], expression: ca.SX) -> ColumnKernel:
    function = ca.Function("conversion", inputs, [ca.densify(expression)], {"cse": True})
    return ColumnKernel(function, shared=(len(inputs) - 2, len(inputs) - 1))


@dataclass(frozen=True, eq=False)
class ProgramBounds:
    """Of the scaled variables and of the rows; those of an equation are equal."""

    low: np.ndarray
    high: np.ndarray
    row_low: np.ndarray
    row_high: np.ndarray


@dataclass(frozen=True, eq=False)
class Transcription:
    """The program in scaled variables w, with parameters P, for one problem shape."""

    shape: ProblemShape
    nodes: "Nodes"
    program: Program
    """Values and derivatives."""
    low: np.ndarray
    high: np.ndarray
    """Bounds of w."""
    row_low: np.ndarray
    row_high: np.ndarray

    @property
    def model(self) -> NodeModel:
        return self.nodes.model

    @cached_property
    def bounds(self) -> ProgramBounds:
        return ProgramBounds(self.low, self.high, self.row_low, self.row_high)

    @property
    def running(self) -> NodeExpressions:
        """Any node but the last."""
        return self.nodes.running

    @property
    def last(self) -> NodeExpressions:
        return self.nodes.last

    @property
    def initial(self) -> tuple[Constraint, ...]:
        """What the first node has to be besides."""
        return self.nodes.initial

    @property
    def last_controls(self) -> Slots:
        """Pieces of the last node's controls."""
        own = self.model.last_controls(0)
        missed = self.last.v.shape[0] - self.state_size - own.size
        return self.model.last_controls(missed)

    @property
    def state_size(self) -> int:
        return self.model.state.size

    @property
    def stage_size(self) -> int:
        return self.running.v.shape[0]

    @property
    def structure(self) -> dict[str, Any]:
        """Sizes as fatrop wants them."""
        n, nx = self.shape.steps, self.state_size
        running, last = self.stage_size - nx, self.last.v.shape[0] - nx
        rows = len(self.running.rows)
        return {
            "structure_detection": "manual",
            "N": n,
            "nx": [nx] * (n + 1),
            "nu": [running] * n + [last],
            "ng": [len(self.initial) + rows] + [rows] * (n - 1) + [len(self.last.rows)],
        }

    @property
    def equality(self) -> list[bool]:
        return [bool(a == b) for a, b in zip(self.row_low, self.row_high, strict=True)]

    def split(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Physical variables: (N, stage size) of the running nodes and (last stage size,)."""
        cut = self.shape.steps * self.stage_size
        return w[:cut].reshape(self.shape.steps, -1) * self.running.unscale, w[cut:] * self.last.unscale

    def join(self, running: np.ndarray, last: np.ndarray) -> np.ndarray:
        """Inverse of `split`."""
        return np.r_[(running / self.running.unscale).ravel(), last / self.last.unscale]

    def places(self, w: np.ndarray) -> np.ndarray:
        """(N+1, 3) world positions of an iterate; on a plane z = 0."""
        if self.model.placed_by_bodies:
            return self._places_of_bodies(w)
        running, last = self.split(w)
        index = self.model.place_indices
        places = np.concatenate([running[:, index], last[None, index]])
        return places if places.shape[1] == 3 else np.c_[places, np.zeros((len(places), 3 - places.shape[1]))]

    def _places_of_bodies(self, w: np.ndarray) -> np.ndarray:
        """(N+1, 3) of the main body, by the parameters that the problem was built for."""
        running, last = self.split(w)
        y = self.model.state.slice("y")
        kept = np.concatenate([running[:, y], last[None, y]])
        return positions(self.shape.vehicle, self.model.form.expanded_rows(kept))

    def rows_of(self, w: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Private states (N+1, n_y), unknowns (N+1, n_z) and planned inputs (N+1, n_a).

        Where the last node has none of its own they repeat the one before.
        """
        running, last = self.split(w)
        model, nx = self.model, self.state_size
        a, z = model.controls.slice("a"), model.controls.slice("z")
        own = last[nx:] if model.ends_with_controls else running[-1, nx:]
        y = np.concatenate([running[:, model.state.slice("y")], last[None, model.state.slice("y")]])
        controls = np.concatenate([running[:, nx : nx + z.stop], own[None, : z.stop]])
        unknowns = self.program.unknowns(w, p) if model.eliminates else controls[:, z]
        inputs = controls[:, a].copy()
        y = model.form.expanded_rows(y)
        if model.driven:
            numbers = self.vehicle_numbers(w, p)
            inputs = self.nodes.conversions.inverse(y, unknowns, numbers, self.step_s(w, p))
            inputs[-1] = inputs[-2]
        for i, value in model.held_inputs.items():
            inputs[:, i] = value
        return y, unknowns, inputs

    def _last_state(self, w: np.ndarray, name: str) -> np.ndarray:
        """A piece of the last node's state."""
        at = self.model.state.slice(name)
        return np.asarray(w[self.shape.steps * self.stage_size :][at] * self.last.unscale[at])

    def free(self, w: np.ndarray) -> np.ndarray:
        """(free parameters,) of an iterate."""
        return self._last_state(w, "free")

    def vehicle_numbers(self, w: np.ndarray, p: np.ndarray) -> np.ndarray:
        """(parameters,) of the vehicle, with those that an iterate has found."""
        known = p[: self.model.parameters.size].copy()
        known[self.model.free_places] = self.free(w)
        return known[self.model.parameters.slice("vehicle")]

    def step_s(self, w: np.ndarray, p: np.ndarray) -> float:
        """Of an iterate."""
        if self.shape.free_time:
            return float(self._last_state(w, "h")[0])
        return float(p[self.model.parameters.slice("duration")][0]) / self.shape.steps

    def row_labels(self) -> list[tuple[int, Constraint | None]]:
        """(node, row) of every constraint; None for the gap to the next state."""
        out: list[tuple[int, Constraint | None]] = []
        for k in range(self.shape.steps):
            out += [(k, None)] * self.state_size
            out += [(k, row) for row in (self.initial if k == 0 else ())]
            out += [(k, row) for row in self.running.rows]
        return out + [(self.shape.steps, row) for row in self.last.rows]


@dataclass(frozen=True, eq=False)
class Nodes:
    """What all grids of one kind of task share: the nodes' expressions and their machine code."""

    model: NodeModel
    running: NodeExpressions
    last: NodeExpressions
    initial: tuple[Constraint, ...]
    run: NodeFunctions
    end: NodeFunctions
    begin: NodeFunctions

    @cached_property
    def conversions(self) -> Conversions:
        return Conversions(self.model)


def build_nodes(shape: ProblemShape) -> Nodes:
    """Of a shape, with its scales."""
    model, none = NodeModel(shape), ca.SX(0, 1)
    running, last = running_node(model), last_node(model)
    initial = initial_rows(model, running)
    return Nodes(
        model,
        running,
        last,
        initial,
        run=node_functions(model, running, running.next_state, running.rows, running.cost),
        end=node_functions(model, last, none, last.rows, last.cost),
        begin=node_functions(model, running, none, initial, ca.SX(0)),
    )


def transcribe(shape: ProblemShape, nodes: Nodes | None = None) -> Transcription:
    """Build the program of a shape, of `nodes` of another grid where there are some."""
    nodes = nodes or build_nodes(shape)
    model, running, last, initial = nodes.model, nodes.running, nodes.last, nodes.initial
    n = shape.steps
    program = Program(n, model, nodes.run, nodes.end, nodes.begin)
    gap = np.zeros(model.state.size)
    own = [
        np.array([[r.low, r.high] for r in rows]).reshape(-1, 2)
        for rows in (initial, running.rows, last.rows)
    ]
    gaps = np.stack([gap, gap], axis=1)
    first = own[1].copy()
    if not model.ends.found:
        first[[row.given_at_start for row in running.rows]] = -np.inf, np.inf
    bounds = [gaps, own[0], first] + [gaps, own[1]] * (n - 1) + [own[2]]
    rows = np.concatenate(bounds)
    low = np.r_[np.tile(running.low, n), last.low]
    high = np.r_[np.tile(running.high, n), last.high]
    # Ends are given by equalities; bounds on them could only contradict those or leave no interior.
    said = [i for i in range(model.state.size) if i not in model.ends.found]
    low[said], high[said] = -np.inf, np.inf
    if shape.free_time:
        low[model.state.slice("h")] = running.low[model.state.slice("h")]
    # They stay as they are: bounds at the first node are enough.
    free = model.state.slice("free")
    scaled = (
        np.array([[a, b] for _, a, b in shape.free_parameters], float).reshape(-1, 2).T / model.free_scale
    )
    low[free], high[free] = scaled
    for name in shape.limits.columns:
        met = model.vehicle.space.columns.index(name)
        there = model.component(met) if met in model.met_columns else None
        if there is not None:
            low[n * running.v.shape[0] + there], high[n * running.v.shape[0] + there] = -np.inf, np.inf
    if jointed(model.vehicle):
        parts = shape.demands[5]
        for name, at in model.vehicle.space.slices.items():
            found = [model.component(i) for i in range(at.start, at.stop)]
            if (parts is None or name in parts) and None not in found:  # type: ignore[operator]
                final = n * running.v.shape[0] + np.array(found, int)
                low[final], high[final] = -np.inf, np.inf
    elif model.own_space:
        low[n * running.v.shape[0] :][: model.state.size] = -np.inf
        high[n * running.v.shape[0] :][: model.state.size] = np.inf
        if shape.free_time:
            low[n * running.v.shape[0] :][model.state.slice("h")] = running.low[model.state.slice("h")]
    else:
        joints = model.vehicle.node_layout.shape
        asked: tuple[int, ...] = shape.demands[3]  # type: ignore[assignment]
        wanted = [model.component(joints.start + i) for i in asked]
        places = model.place_indices if shape.demands[0] == "fixed" else ()
        final = n * running.v.shape[0] + np.array([*places, *(i for i in wanted if i is not None)], int)
        low[final], high[final] = -np.inf, np.inf
    return Transcription(
        shape=shape,
        nodes=nodes,
        program=program,
        low=low,
        high=high,
        row_low=rows[:, 0],
        row_high=rows[:, 1],
    )


@dataclass(frozen=True)
class PlannedMotion:
    """Nodes and inputs of an iterate."""

    step_s: float
    nodes: np.ndarray
    """(N+1, node size)."""
    inputs: np.ndarray
    """(N+1, planned inputs)."""
    controls: np.ndarray
    """(N+1, n_controls)."""
    free: np.ndarray | None = None
    """(free parameters,) that were found; None: as the task has them."""


def motion(transcription: Transcription, w: np.ndarray, p: np.ndarray) -> PlannedMotion:
    """Read an iterate in SI units."""
    t, model = transcription, transcription.model
    y, z, a = t.rows_of(w, p)
    h = t.step_s(w, p)
    nodes = t.nodes.conversions.nodes(y, z, a, t.vehicle_numbers(w, p), h)
    if model.closed is not None:
        at, closure = model.closed.node_layout, model.closed.closure
        for node in nodes:
            node[at.velocity] = closure.tangent(node[at.pose], node[at.velocity])
    return PlannedMotion(h, _unwrapped(model.vehicle, nodes), a, model.input_map.controls(a), t.free(w))


def _unwrapped(vehicle: Vehicle, nodes: np.ndarray) -> np.ndarray:
    """Angles of planar poses without jumps."""
    if planar(vehicle):
        heading = vehicle.group.columns.index("heading_rad")
        nodes[:, heading] = np.unwrap(nodes[:, heading])
    return nodes
