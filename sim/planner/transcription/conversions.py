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
        nothing = ca.SX.zeros(scheme.inputs.node.shape[0])
        a, p, u, wrench = self._inputs
        node = self._model.step(scheme.y, scheme.z, u, wrench, p, scheme.inputs.h, nothing)[2]
        return _kernel([scheme.y, scheme.z, a, p, scheme.inputs.h], node)

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

    @property
    def _inputs(self) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX]:
        """(planned inputs, vehicle parameters, controls, further wrench)."""
        a, p = ca.SX.sym("a", self._model.input_map.size), self._model.scheme.inputs.p
        return a, p, *self._model.input_map.controls_and_wrench(a, p)

    def _of(self, given: list[ca.SX], expression: ca.SX) -> ColumnKernel:
        """An expression of the integration method, in planned inputs."""
        i = self._model.scheme.inputs
        a, p, u, wrench = self._inputs
        expression = ca.substitute(expression, ca.vertcat(i.u, i.w), ca.vertcat(u, wrench))
        return _kernel([*given, a, p, i.h], expression)


def _kernel(inputs: list[ca.SX], expression: ca.SX) -> ColumnKernel:
    function = ca.Function("conversion", inputs, [ca.densify(expression)], {"cse": True})
    return ColumnKernel(function, shared=(len(inputs) - 2, len(inputs) - 1))
