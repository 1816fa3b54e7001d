"""Value and derivatives of one kind of node, from which those of the whole program are assembled."""

import casadi as ca

from sim.planner.inputs import Row
from sim.planner.model import StageModel


class NodeFunctions:
    """Value, first and second derivatives of one kind of node; derivatives as columns of nonzeros."""

    def __init__(
        self, name: str, model: StageModel, v: ca.SX, following: ca.SX, rows: ca.SX, cost: ca.SX
    ) -> None:
        here = [v, model.s, model.jet, model.p]
        opts = {"cse": True}
        position = _xy(model, v)

        def finished(expressions: list[ca.SX]) -> list[ca.SX]:
            """The model of the ground is exact at the point it is developed about."""
            return (
                ca.substitute(expressions, [model.jet_at], [position])
                if position is not None
                else expressions
            )

        following, rows, cost = ca.densify(following), ca.densify(rows), ca.densify(cost)
        self.row_count = rows.shape[0]
        self.value = ca.Function(f"{name}_value", here, finished([following, rows]), opts)
        self.cost = ca.Function(f"{name}_cost", here, finished([cost]), opts)
        jf, jr = ca.jacobian(following, v), ca.jacobian(rows, v)
        self.next_pattern, self.row_pattern = jf.sparsity(), jr.sparsity()
        slope = ca.densify(ca.gradient(cost, v))
        self.gradient = ca.Function(f"{name}_gradient", here, finished([slope]), opts)
        firsts = finished([_nonzeros(jf), _nonzeros(jr)])
        self.jacobian = ca.Function(f"{name}_jacobian", here, firsts, opts)
        lam_next, lam_rows = ca.SX.sym("ln", following.shape[0]), ca.SX.sym("lr", rows.shape[0])
        lam_f = ca.SX.sym("lf")
        lagrangian = ca.dot(lam_next, following) + ca.dot(lam_rows, rows) + lam_f * cost
        hessian, pull = ca.hessian(lagrangian, v)
        self.hessian_pattern = hessian.sparsity()
        second = finished([ca.densify(pull), _nonzeros(hessian)])
        self.hessian = ca.Function(f"{name}_hessian", [*here, lam_next, lam_rows, lam_f], second, opts)

    @staticmethod
    def mapped(function: ca.Function, n: int) -> ca.Function:
        return function.map(function.name() + "_all", "serial", n, [3], [])

    def mapped_hessian(self, n: int) -> ca.Function:
        return self.hessian.map(self.hessian.name() + "_all", "serial", n, [3, 6], [])


def _xy(model: StageModel, v: ca.SX) -> ca.SX | None:
    """Expression of the ground plan position, where there is ground."""
    if model.shape.ground is None:
        return None
    return model.ground_position(v)


def column(rows: tuple[Row, ...]) -> ca.SX:
    return ca.vertcat(*[r.expression for r in rows]) if rows else ca.SX(0, 1)


def _nonzeros(matrix: ca.SX) -> ca.SX:
    """The structural nonzeros as a dense column."""
    return ca.SX(matrix.nz[:]) if matrix.nnz() else ca.SX(0, 1)
