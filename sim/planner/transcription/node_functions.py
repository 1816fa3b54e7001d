"""Value and derivatives of one kind of node, from which those of the whole program are assembled.

Unknowns that an equation defines are eliminated by the implicit function theorem.
"""

from collections.abc import Callable, Sequence
from functools import cached_property, partial

import casadi as ca
import numpy as np

from sim.compiler.columns import Along, ColumnKernel, Launch, Repeated
from sim.native.function import native
from sim.planner.task.inputs import Constraint
from sim.planner.transcription.model import NodeModel
from sim.planner.transcription.node_expressions import NodeExpressions
from sim.platform.values import dataclass
from sim.symbolic import solve


@dataclass(frozen=True, eq=False)
class Implicit:
    """z(v) with residual(v, z) = 0, possibly of no entries.

    Expressions below hold where z solves the residual.
    """

    v: ca.SX
    z: ca.SX
    residual: ca.SX

    @cached_property
    def jacobian(self) -> ca.SX:
        """(n, n) of the residual by z."""
        return ca.jacobian(self.residual, self.z)

    @cached_property
    def slope(self) -> ca.SX:
        """(n, variables) dz/dv."""
        return ca.sparsify(-solve(self.jacobian, ca.jacobian(self.residual, self.v)))

    @property
    def correction(self) -> ca.SX:
        """(n,) Newton's, to be added to z."""
        return -solve(self.jacobian, self.residual)

    def total(self, expressions: ca.SX) -> ca.SX:
        """Jacobian of expressions in v and z(v) by v."""
        partial = ca.jacobian(expressions, self.v)
        if not self.z.shape[0]:
            return partial
        return ca.sparsify(partial + ca.jacobian(expressions, self.z) @ self.slope)

    def second(self, scalar: ca.SX) -> tuple[ca.SX, ca.SX]:
        """(gradient, Hessian) of a scalar in v and z(v) by v.

        The curvature of z comes in through the residual, times the multipliers that make the sum stationary in z.
        """
        count = self.z.shape[0]
        if not count:
            hessian, gradient = ca.hessian(scalar, self.v)
            return gradient, hessian
        lam = ca.SX.sym("lam", count)
        both = ca.vertcat(self.v, self.z)
        curved, pulled = ca.hessian(scalar + ca.dot(lam, self.residual), both)
        by_z = ca.densify(ca.gradient(scalar, self.z))
        multipliers = -solve(self.jacobian.T, by_z)
        n = self.v.shape[0]
        moved = ca.vertcat(ca.SX.eye(n), self.slope)
        hessian = ca.triu2symm(ca.triu(moved.T @ curved @ moved))
        out = ca.substitute([pulled[:n], hessian], [lam], [multipliers])
        return out[0], ca.sparsify(out[1])


Fill = Callable[[], None]
"""Puts together what was found."""


class _ByDirection:
    """Dense Jacobians by v, found along one direction after another.

    Variables that are flat enter with slopes that none changes, as the impulses with which a tree's steps begin do:
    their columns are written out. A symmetric one is a Hessian, of the gradient: of flat variables' columns only the
    rows of their own are, the others are rows of columns that are found.
    """

    def __init__(
        self,
        compiled: Callable[..., ColumnKernel],
        inputs: list[ca.SX],
        expressions: list[ca.SX],
        v: ca.SX,
        flat: list[int],
        *,
        symmetric: bool = False,
    ) -> None:
        size = self._size = v.shape[0]
        flat = flat[: size - 1]  # one direction is left at least
        bent = [i for i in range(size) if i not in flat]
        along, direction = ca.SX.sym("along", len(bent)), ca.SX(size, 1)
        direction[bent] = along
        moved = [ca.densify(ca.jtimes(x, v, direction)) for x in expressions]
        self._along = compiled([*inputs, along], moved, along=Along(len(inputs)))
        self._identity = np.eye(len(bent))
        self._bent, self._flat = np.array(bent), np.array(flat, int)
        self._symmetric = symmetric
        units = [ca.SX(ca.DM.triplet([i], [0], [1.0], size, 1)) for i in flat]
        blocks = []
        for x in expressions:
            block = ca.SX(x.shape[0], size)
            told = flat if symmetric else list(range(x.shape[0]))
            for i, unit in zip(flat, units, strict=True):
                block[told, i] = ca.jtimes(x[told], v, unit)
            blocks.append(ca.sparsify(block))
        self._places = [np.array(block.sparsity().get_triplet(), int).T.reshape(-1, 2) for block in blocks]
        self._slopes = compiled(inputs, [_nonzeros(block) for block in blocks])

    def launches(
        self, count: int, given: Sequence[np.ndarray], out: Sequence[np.ndarray]
    ) -> tuple[list[Launch], list[Fill]]:
        """What finds the matrices of so many nodes, column after column, and what puts them together after that."""
        along: Launch = (self._along, count, [*given, self._identity], out)
        if not self._flat.size:
            return [along], []
        directions = len(self._bent)
        found = [np.empty((count, directions, size)) for size in self._along.sizes_out]
        slopes = [np.empty((count, len(places))) for places in self._places]
        wholes = [
            x.reshape(count, self._size, size) for x, size in zip(out, self._along.sizes_out, strict=True)
        ]
        flat = self._flat if self._symmetric else self._flat[:0]
        fills: list[Fill] = [
            partial(_assembled, columns, self._bent, flat, slope, places, whole)
            for columns, slope, places, whole in zip(found, slopes, self._places, wholes, strict=True)
        ]
        return [(*along[:3], found), (self._slopes, count, given, slopes)], fills


@native
def _assembled(
    found: np.ndarray,
    bent: np.ndarray,
    mirrored: np.ndarray,
    slopes: np.ndarray,
    places: np.ndarray,
    out: np.ndarray,
) -> None:
    """Put columns found (n, bent, rows), rows of them that are columns, too, and entries of flat columns (n, places)
    into matrices out (n, columns, rows), in which all else is nothing."""
    for k in range(out.shape[0]):
        for i in range(bent.size):
            for row in range(out.shape[2]):
                out[k, bent[i], row] = found[k, i, row]
            for j in range(mirrored.size):
                out[k, mirrored[j], bent[i]] = found[k, i, mirrored[j]]
        for i in range(places.shape[0]):
            out[k, places[i, 1], places[i, 0]] = slopes[k, i]


_Z, _P, _LAM_F = 3, 4, 7
_NEWTON = Repeated(argument=_Z, below=1e-8, most=20)
"""Change of an unknown in its scale; the error after it is its square."""
_LARGE = 5_000
"""Operations of a value times variables from which on derivatives are worked out along one direction at a time: written
out they would take seconds to compile, and no less time to evaluate."""


class NodeFunctions:
    """Value, first and second derivatives of one kind of node, for many nodes at once.

    Inputs are columns of (v, own parameters, jet of the ground, unknowns of the step, parameters of all), for second
    derivatives also of the multipliers of the next state, of the rows and of the cost. Derivatives are those by v, with
    the unknowns as functions of v, and come as columns of nonzeros.
    """

    def __init__(
        self,
        model: NodeModel,
        implicit: Implicit,
        guess: ca.SX,
        node: ca.SX,
        following: ca.SX,
        rows: ca.SX,
        cost: ca.SX,
    ) -> None:
        v, z = implicit.v, implicit.z
        here = [v, model.s, model.jet, z, model.p]
        # Models of the ground and of motions are exact at what they are developed about.
        about = []
        if model.shape.ground is not None:
            under = model.held_over_ground(node)[:2]
            assert not ca.depends_on(under, implicit.z), "ground wants a method whose state holds the pose"
            about.append((model.jet_at, under))
        about += [(model.time_at, model.node_time(v))] if model.shape.motions else []

        def function(inputs: list[ca.SX], expressions: list[ca.SX]) -> ca.Function:
            if about:
                expressions = ca.substitute(expressions, *map(list, zip(*about, strict=True)))
            return ca.Function("node", inputs, expressions, {"cse": True})

        def compiled(
            inputs: list[ca.SX],
            expressions: list[ca.SX],
            repeated: Repeated | None = None,
            along: Along | None = None,
        ) -> ColumnKernel:
            shared = [i for i in (_P, _LAM_F) if i < len(inputs) and (along is None or i != along.argument)]
            return ColumnKernel(function(inputs, expressions), shared, repeated, along)

        self.variables, self.unknowns, self.row_count = v.shape[0], z.shape[0], rows.shape[0]
        if self.unknowns:
            change = implicit.correction
            size = ca.norm_inf(change / model.z_scale)
            self.guess = compiled(here, [ca.densify(guess)])
            """Of the unknowns."""
            self.residual = compiled(here, [ca.densify(implicit.residual)])
            """Scaled, of the equation that defines the unknowns."""
            self.newton = compiled(here, [ca.densify(z + change), size], _NEWTON)
            """Solves for the unknowns, in place."""
        if model.shape.ground is not None:
            self.under = compiled(here, [ca.densify(under)])
            """(x, y) [m] of what is to stay above the ground."""
        self.value = compiled(here, [following, rows, cost])
        operations = function(here, [following, rows, cost]).n_instructions()
        self.large = not self.unknowns and operations * self.variables > _LARGE
        """Derivatives are found along one direction at a time, as dense columns, with the zeros that they have."""
        self.gradient = compiled(here, [ca.densify(implicit.total(cost).T)])
        lam_next, lam_rows = ca.SX.sym("ln", following.shape[0]), ca.SX.sym("lr", rows.shape[0])
        lam_f = ca.SX.sym("lf")
        lagrangian = ca.dot(lam_next, following) + ca.dot(lam_rows, rows) + lam_f * cost
        multiplied = [*here, lam_next, lam_rows, lam_f]
        if self.large:
            sizes = following.shape[0], rows.shape[0], self.variables
            self.next_pattern, self.row_pattern, self.hessian_pattern = (
                ca.Sparsity.dense(size, self.variables) for size in sizes
            )
            self.next_filled, self.row_filled = (
                _filled(ca.jacobian_sparsity(x, v)) for x in (following, rows)
            )
            bent = ca.which_depends(ca.vertcat(following, rows), v, 2, False)
            # Through contact what is found at all hangs on last digits, which change with the order of sums.
            flat = [] if model.scheme.touches else [i for i, is_bent in enumerate(bent) if not is_bent]
            self._by_direction = _ByDirection(compiled, here, [-following, rows], v, flat)
            pull = ca.gradient(lagrangian, v)
            self.pull = compiled(multiplied, [ca.densify(pull)])
            """Gradient of the Lagrangian."""
            bends = ca.jacobian_sparsity(pull, v)
            self.hessian_filled = _filled(bends + bends.T)  # what cancels does so on one side alone
            self._pull_by_direction = _ByDirection(compiled, multiplied, [pull], v, flat, symmetric=True)
            return
        jf, jr = implicit.total(-following), implicit.total(rows)
        self.next_pattern, self.row_pattern = jf.sparsity(), jr.sparsity()
        self.jacobian = compiled(here, [_nonzeros(jf), _nonzeros(jr)])
        """Of minus the next state, and of the rows."""
        pull, hessian = implicit.second(lagrangian)
        self.hessian_pattern = hessian.sparsity()
        patterns = self.next_pattern, self.row_pattern, self.hessian_pattern
        self.next_filled, self.row_filled, self.hessian_filled = (np.ones(p.nnz(), bool) for p in patterns)
        """Which entries of the patterns, column after column, may be other than nothing."""
        self.hessian = compiled(multiplied, [ca.densify(pull), _nonzeros(hessian)])

    def first(
        self, count: int, given: Sequence[np.ndarray], out: Sequence[np.ndarray]
    ) -> tuple[list[Launch], list[Fill]]:
        """What finds the nonzeros of the Jacobians of minus the next state and of the rows, and puts them together."""
        if self.large:
            return self._by_direction.launches(count, given, out)
        return [(self.jacobian, count, given, out)], []

    def second(
        self, count: int, given: Sequence[np.ndarray], slope: np.ndarray, blocks: np.ndarray
    ) -> tuple[Launch, list[Launch], list[Fill]]:
        """What finds the Lagrangian's gradient, and what is left then to find the nonzeros of its Hessian and to put
        them together."""
        if self.large:
            pull = self.pull, count, given, [slope]
            return pull, *self._pull_by_direction.launches(count, given, [blocks])
        return (self.hessian, count, given, [slope, blocks]), [], []


def node_functions(
    model: NodeModel, stage: NodeExpressions, following: ca.SX, rows: tuple[Constraint, ...], cost: ca.SX
) -> NodeFunctions:
    """Of a node with these next state, rows and cost."""
    found = [ca.densify(x) for x in (following, _column(rows), cost)]
    nothing = ca.SX(0, 1)
    used = bool(stage.z.shape[0]) and ca.depends_on(ca.vertcat(*found), stage.z)
    z, residual, guess = (stage.z, stage.residual, stage.guess) if used else (nothing,) * 3
    return NodeFunctions(model, Implicit(stage.v, z, residual), guess, stage.node, *found)


def _column(rows: tuple[Constraint, ...]) -> ca.SX:
    return ca.vertcat(*[r.expression for r in rows]) if rows else ca.SX(0, 1)


def _filled(sparsity: ca.Sparsity) -> np.ndarray:
    """(rows x columns,) which entries, column after column, may be other than nothing."""
    return np.array(ca.DM(sparsity, 1.0)).ravel(order="F") != 0.0


def _nonzeros(matrix: ca.SX) -> ca.SX:
    """The structural nonzeros as a dense column; those of a single row would come as a row."""
    return ca.vec(ca.SX(matrix.nz[:])) if matrix.nnz() else ca.SX(0, 1)
