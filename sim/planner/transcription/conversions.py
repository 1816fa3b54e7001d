"""Between a plan's variables and what they stand for, at all nodes at once, in machine code."""

from functools import cached_property

import casadi as ca
import numpy as np

from sim.compiler.columns import ColumnKernel
from sim.planner.transcription.model import NodeModel

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

    def led(self, y: np.ndarray, z: np.ndarray, a: np.ndarray, numbers: np.ndarray, h: float) -> np.ndarray:
        """(n, n_y): y, its last entries such that z solve the residual.

        Where drag makes a long step forget what it began with, they are left alone.
        """
        changes = self._changes.rows(y, z, a, numbers, np.array([h]))
        out = y.copy()
        out[:, out.shape[1] - changes.shape[1] :] += changes
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
    def _changes(self) -> ColumnKernel:
        scheme, count = self._model.scheme, self._model.unknowns
        J = ca.jacobian(scheme.residual, scheme.y[-count:])
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
