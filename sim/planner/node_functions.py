"""Value and derivatives of one kind of node, from which those of the whole program are assembled."""

import casadi as ca

from sim.compiler.columns import ColumnKernel
from sim.planner.inputs import Row
from sim.planner.model import StageModel

_P, _LAM_F = 3, 6


class NodeFunctions:
    """Value, first and second derivatives of one kind of node, for many nodes at once.

    Inputs are columns of (v, own parameters, jet of the ground, parameters of all), for `hessian` also of the
    multipliers of the next state, of the rows and of the cost. Derivatives come as columns of nonzeros.
    """

    def __init__(self, model: StageModel, v: ca.SX, following: ca.SX, rows: ca.SX, cost: ca.SX) -> None:
        here = [v, model.s, model.jet, model.p]
        position = model.ground_position(v) if model.shape.ground is not None else None

        def compiled(inputs: list[ca.SX], expressions: list[ca.SX]) -> ColumnKernel:
            if position is not None:
                # The model of the ground is exact at the point it is developed about.
                expressions = ca.substitute(expressions, [model.jet_at], [position])
            shared = [i for i in (_P, _LAM_F) if i < len(inputs)]
            return ColumnKernel(ca.Function("node", inputs, expressions, {"cse": True}), shared)

        following, rows, cost = ca.densify(following), ca.densify(rows), ca.densify(cost)
        self.variables, self.row_count = v.shape[0], rows.shape[0]
        self.value = compiled(here, [following, rows])
        self.cost = compiled(here, [cost])
        jf, jr = ca.jacobian(-following, v), ca.jacobian(rows, v)
        self.next_pattern, self.row_pattern = jf.sparsity(), jr.sparsity()
        self.jacobian = compiled(here, [_nonzeros(jf), _nonzeros(jr)])
        """Of minus the next state, and of the rows."""
        self.gradient = compiled(here, [ca.densify(ca.gradient(cost, v))])
        lam_next, lam_rows = ca.SX.sym("ln", following.shape[0]), ca.SX.sym("lr", rows.shape[0])
        lam_f = ca.SX.sym("lf")
        lagrangian = ca.dot(lam_next, following) + ca.dot(lam_rows, rows) + lam_f * cost
        hessian, pull = ca.hessian(lagrangian, v)
        self.hessian_pattern = hessian.sparsity()
        self.hessian = compiled([*here, lam_next, lam_rows, lam_f], [ca.densify(pull), _nonzeros(hessian)])


def column(rows: tuple[Row, ...]) -> ca.SX:
    return ca.vertcat(*[r.expression for r in rows]) if rows else ca.SX(0, 1)


def _nonzeros(matrix: ca.SX) -> ca.SX:
    """The structural nonzeros as a dense column."""
    return ca.SX(matrix.nz[:]) if matrix.nnz() else ca.SX(0, 1)
