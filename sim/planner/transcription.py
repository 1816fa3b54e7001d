"""All nodes together: one sparse nonlinear program with exact derivatives, in the order that fatrop wants.

Variables are v_0, v_1, ..., v_N with v = (state, controls); constraints are, node by node, the gap to the
next state and then the node's own rows. Derivatives are formed symbolically for one node and mapped over
the horizon, so building a problem costs the same for every number of nodes.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from sim.planner.inputs import Row
from sim.planner.model import StageModel
from sim.planner.node_functions import NodeFunctions, column
from sim.planner.shape import ProblemShape
from sim.planner.stage import Stage, initial_rows, last_stage, running_stage


@dataclass(frozen=True, eq=False)
class Transcription:
    """The program in scaled variables w, with parameters P, for one problem shape."""

    shape: ProblemShape
    model: StageModel
    running: Stage
    last: Stage
    initial: tuple[Row, ...]
    value: ca.Function
    """(x, p) -> (f, g)."""
    jacobian: ca.Function
    """(x, p) -> (g, dg/dx)."""
    gradient: ca.Function
    """(x, p) -> (f, df/dx)."""
    hessian: ca.Function
    """(x, p, lam_f, lam_g) -> (gradient of the Lagrangian, its full Hessian)."""
    low: np.ndarray
    high: np.ndarray
    """Bounds of w."""
    row_low: np.ndarray
    row_high: np.ndarray

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
        running, last = self.split(w)
        index = self.model.place_indices
        places = np.concatenate([running[:, index], last[None, index]])
        return places if places.shape[1] == 3 else np.c_[places, np.zeros((len(places), 3 - places.shape[1]))]

    def rows_of(self, w: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Private states (N+1, n_y), unknowns (N+1, n_z) and planned inputs (N+1, n_a).

        Where the last node has none of its own they repeat the one before.
        """
        running, last = self.split(w)
        model, nx = self.model, self.state_size
        a, z = model.controls.slice("a"), model.controls.slice("z")
        own = last[nx:] if model.ends_with_controls else running[-1, nx:]
        y = np.concatenate([running[:, model.state.slice("y")], last[None, model.state.slice("y")]])
        controls = np.concatenate([running[:, nx : nx + z.stop], own[None, : z.stop]])
        return y, controls[:, z], controls[:, a]

    def step_s(self, w: np.ndarray, p: np.ndarray) -> float:
        """Of an iterate."""
        if self.shape.free_time:
            return float(self.split(w)[1][self.model.state.slice("h")][0])
        return float(p[self.model.parameters.slice("duration")][0]) / self.shape.steps

    @cached_property
    def reader(self) -> ca.Function:
        """(private states, unknowns, planned inputs, vehicle parameters, h) -> nodes, all nodes at once."""
        model, i = self.model, self.model.scheme.inputs
        a, p = ca.SX.sym("a", model.chart.size), ca.SX.sym("p", model.vehicle.parameter_count)
        u, wrench = model.chart.controls_and_wrench(a, p)
        y, z, nothing = model.scheme.y, model.scheme.z, ca.SX.zeros(i.node.shape[0])
        node = model.step(y, z, u, wrench, p, i.h, nothing)[2]
        read = ca.Function("node", [y, z, a, p, i.h], [node])
        return read.map("nodes", "serial", self.shape.steps + 1, [3, 4], [])

    def row_labels(self) -> list[tuple[int, Row | None]]:
        """(node, row) of every constraint; None for the gap to the next state."""
        out: list[tuple[int, Row | None]] = []
        for k in range(self.shape.steps):
            out += [(k, None)] * self.state_size
            out += [(k, row) for row in (self.initial if k == 0 else ())]
            out += [(k, row) for row in self.running.rows]
        return out + [(self.shape.steps, row) for row in self.last.rows]


def transcribe(shape: ProblemShape) -> Transcription:
    """Build the program of a shape."""
    model = StageModel(shape)
    running, last = running_stage(model), last_stage(model)
    initial = initial_rows(model, running)
    parts = _Parts(model, running, last, initial)
    n = shape.steps
    gap = np.zeros(model.state.size)
    own = [
        np.array([[r.low, r.high] for r in rows]).reshape(-1, 2)
        for rows in (initial, running.rows, last.rows)
    ]
    gaps = np.stack([gap, gap], axis=1)
    bounds = [gaps, own[0], own[1]] + [gaps, own[1]] * (n - 1) + [own[2]]
    rows = np.concatenate(bounds)
    low = np.r_[np.tile(running.low, n), last.low]
    high = np.r_[np.tile(running.high, n), last.high]
    # Ends are given by equalities; bounds on them could only contradict those or leave no interior.
    low[: model.state.size], high[: model.state.size] = -np.inf, np.inf
    if shape.free_time:
        low[model.state.slice("h")] = running.low[model.state.slice("h")]
    if shape.demands[0] == "fixed":
        final = n * running.v.shape[0] + np.array(model.place_indices)
        low[final], high[final] = -np.inf, np.inf
    value, jacobian, gradient, hessian = parts.functions()
    return Transcription(
        shape=shape,
        model=model,
        running=running,
        last=last,
        initial=initial,
        value=value,
        jacobian=jacobian,
        gradient=gradient,
        hessian=hessian,
        low=low,
        high=high,
        row_low=rows[:, 0],
        row_high=rows[:, 1],
    )


class _Parts:
    """Functions of single nodes, and how they are assembled over the horizon."""

    def __init__(self, model: StageModel, running: Stage, last: Stage, initial: tuple[Row, ...]) -> None:
        self.model, self.n = model, model.shape.steps
        self.nx, self.nv, self.nl = model.state.size, running.v.shape[0], last.v.shape[0]
        none = ca.SX(0, 1)
        self.run = NodeFunctions(
            "run", model, running.v, running.next_state, column(running.rows), running.cost
        )
        self.end = NodeFunctions("end", model, last.v, none, column(last.rows), last.cost)
        self.begin = NodeFunctions("begin", model, running.v, none, column(initial), ca.SX(0))
        self.w = ca.MX.sym("w", self.n * self.nv + self.nl)
        self.p = ca.MX.sym("p", model.parameters.size + (self.n + 1) * model.stage_parameters.size)
        cut = self.n * self.nv
        self.V, self.v_last = ca.reshape(self.w[:cut], self.nv, self.n), self.w[cut:]
        self.P = self.p[: model.parameters.size]
        S = ca.reshape(self.p[model.parameters.size :], model.stage_parameters.size, self.n + 1)
        jets, jet_last = self._jets(running, last)
        self.each = [self.V, S[:, : self.n], jets, self.P]
        self.at_end = [self.v_last, S[:, self.n], jet_last, self.P]
        self.at_begin = [self.V[:, 0], S[:, 0], jets[:, 0], self.P]

    def _jets(self, running: Stage, last: Stage) -> tuple[ca.MX, ca.MX]:
        ground = self.model.shape.ground
        if ground is None:
            return ca.MX.zeros(6, self.n), ca.MX.zeros(6, 1)
        jet = ground.jet()
        where = [ca.Function("at", [s.v], [s.node[9:11]]) for s in (running, last)]
        return jet.map(self.n)(where[0].map(self.n)(self.V)), jet(where[1](self.v_last))

    def functions(self) -> tuple[ca.Function, ...]:
        """value, jacobian, gradient, hessian."""
        f, g = self._value()
        w, p = self.w, self.p
        lam_f, lam_g = ca.MX.sym("lam_f"), ca.MX.sym("lam_g", g.shape[0])
        value = ca.Function("nlp", [w, p], [f, g], ["x", "p"], ["f", "g"])
        J, grad = self._jacobian(), self._gradient()
        jacobian = ca.Function("nlp_jac_g", [w, p], [g, J], ["x", "p"], ["g", "jac_g_x"])
        gradient = ca.Function("nlp_grad_f", [w, p], [f, grad], ["x", "p"], ["f", "grad_f_x"])
        slope, H = self._hessian(lam_f, lam_g)
        names = ["x", "p", "lam_f", "lam_g"], ["grad_gamma_x", "hess_gamma_x_x"]
        hessian = ca.Function("nlp_hess_l", [w, p, lam_f, lam_g], [slope, H], *names)
        return value, jacobian, gradient, hessian

    def _value(self) -> tuple[ca.MX, ca.MX]:
        following, rows = self.run.mapped(self.run.value, self.n)(*self.each)
        cost = self.run.mapped(self.run.cost, self.n)(*self.each)
        end_rows, end_cost = self.end.value(*self.at_end)[1], self.end.cost(*self.at_end)
        begin_rows = self.begin.value(*self.at_begin)[1]
        X = ca.horzcat(self.V[: self.nx, 1:], self.v_last[: self.nx])
        gaps = X - following
        first = ca.vertcat(gaps[:, 0], begin_rows, rows[:, 0])
        body = ca.vec(ca.vertcat(gaps[:, 1:], rows[:, 1:]))
        return ca.sum2(cost) + end_cost, ca.vertcat(first, body, end_rows)

    def _row_offsets(self) -> tuple[np.ndarray, np.ndarray, int]:
        """Where each node's gap and rows start; rows in all."""
        per, ni = self.nx + self.run.row_count, self.begin.row_count
        gap = np.array([k * per + (ni if k else 0) for k in range(self.n)])
        own = gap + self.nx
        own[0] += ni
        return gap, own, self.n * per + ni + self.end.row_count

    def _jacobian(self) -> ca.MX:
        gap, own, total = self._row_offsets()
        columns = self.nv * np.arange(self.n)
        following, rows = self.run.mapped(self.run.jacobian, self.n)(*self.each)
        _, end_rows = self.end.jacobian(*self.at_end)
        begin_rows = self.begin.jacobian(*self.at_begin)[1]
        where, values = [], []
        for pattern, offsets, nz in (
            (self.run.next_pattern, gap, -following),
            (self.run.row_pattern, own, rows),
        ):
            where.append(_block_places(pattern, offsets, columns))
            values.append(ca.vec(nz))
        unit = np.arange(self.nx)
        to_next = np.r_[columns[1:], self.n * self.nv]
        where.append(((gap[:, None] + unit).ravel(), (to_next[:, None] + unit).ravel()))
        values.append(ca.MX.ones(self.n * self.nx))
        where.append(_block_places(self.begin.row_pattern, [self.nx], [0]))
        values.append(begin_rows)
        where.append(_block_places(self.end.row_pattern, [total - self.end.row_count], [self.n * self.nv]))
        values.append(end_rows)
        return _assembled(where, values, total, self.w.shape[0])

    def _gradient(self) -> ca.MX:
        slope = self.run.mapped(self.run.gradient, self.n)(*self.each)
        return ca.vertcat(ca.vec(slope), self.end.gradient(*self.at_end))

    def _hessian(self, lam_f: ca.MX, lam_g: ca.MX) -> tuple[ca.MX, ca.MX]:
        """Gradient and Hessian of the Lagrangian."""
        gap, own, total = self._row_offsets()
        lam_gap = ca.reshape(lam_g[_spread(gap, self.nx)], self.nx, self.n)
        lam_own = ca.reshape(lam_g[_spread(own, self.run.row_count)], self.run.row_count, self.n)
        lam_end = lam_g[total - self.end.row_count :]
        lam_begin = lam_g[self.nx : self.nx + self.begin.row_count]
        zero = ca.MX(0, 1)
        slope, nz = self.run.mapped_hessian(self.n)(*self.each, -lam_gap, lam_own, lam_f)
        begin_slope, begin_nz = self.begin.hessian(*self.at_begin, zero, lam_begin, lam_f)
        end_slope, end_nz = self.end.hessian(*self.at_end, zero, lam_end, lam_f)
        arriving = ca.vertcat(lam_gap, ca.MX.zeros(self.nv - self.nx, self.n))
        slope = slope + ca.horzcat(begin_slope, arriving[:, : self.n - 1])
        last = end_slope + ca.vertcat(lam_gap[:, self.n - 1], ca.MX.zeros(self.nl - self.nx, 1))
        stages = self.nv * np.arange(self.n)
        where = [
            _block_places(self.run.hessian_pattern, stages, stages),
            _block_places(self.begin.hessian_pattern, [0], [0]),
            _block_places(self.end.hessian_pattern, [self.n * self.nv], [self.n * self.nv]),
        ]
        size = self.w.shape[0]
        H = _assembled(where, [ca.vec(nz), begin_nz, end_nz], size, size)
        return ca.vertcat(ca.vec(slope), last), H


def _spread(offsets: np.ndarray, count: int) -> list[int]:
    return [int(i) for i in (offsets[:, None] + np.arange(count)).ravel()]


def _block_places(pattern: ca.Sparsity, rows: object, columns: object) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the nonzeros of copies of a block, copy by copy."""
    r, c = (np.asarray(x, int) for x in pattern.get_triplet())
    return (
        (np.asarray(rows, int)[:, None] + r).ravel(),
        (np.asarray(columns, int)[:, None] + c).ravel(),
    )


def _assembled(
    where: list[tuple[np.ndarray, np.ndarray]], values: list[ca.MX], rows: int, columns: int
) -> ca.MX:
    """Sparse matrix of nonzeros at given places; places that occur twice are summed."""
    r = np.concatenate([a for a, _ in where]).astype(int)
    c = np.concatenate([b for _, b in where]).astype(int)
    nz = ca.vertcat(*values)
    keys = c.astype(np.int64) * rows + r
    unique, inverse = np.unique(keys, return_inverse=True)
    if len(unique) < len(keys):
        gather = ca.DM(
            ca.Sparsity.triplet(len(unique), len(keys), inverse.tolist(), list(range(len(keys)))), 1.0
        )
        nz = ca.mtimes(gather, nz)
        order = unique
    else:
        nz = nz[[int(i) for i in np.argsort(keys)]]
        order = unique
    sparsity = ca.Sparsity.triplet(rows, columns, (order % rows).tolist(), (order // rows).tolist())
    return ca.MX(sparsity, nz)
