"""The part of an integrator's private state that a plan has as variables: of a rotation, two columns are enough."""

from dataclasses import dataclass

import casadi as ca
import numpy as np

from sim.integrators.base import Scheme

_SECOND, _THIRD = slice(0, 3), slice(3, 6)


@dataclass(frozen=True, eq=False)
class StateForm:
    """Where y starts with the entries of a rotation R, its first column is the other two's cross product.

    That saves a sixth of the state and, unlike a chart, is singular nowhere.
    """

    size: int
    """Of y."""
    turned: bool
    """y starts with the nine entries of R, column after column."""

    @property
    def kept(self) -> np.ndarray:
        """Entries of y that are variables."""
        return np.arange(3 if self.turned else 0, self.size)

    def expanded(self, x: ca.SX) -> ca.SX:
        """y of variables."""
        if not self.turned:
            return x
        return ca.vertcat(ca.cross(x[_SECOND], x[_THIRD]), x)

    def expanded_rows(self, x: np.ndarray) -> np.ndarray:
        """(n, size) of y from (n, kept) variables."""
        if not self.turned:
            return x
        (a, b, c), (d, e, f) = x[:, _SECOND].T, x[:, _THIRD].T
        return np.column_stack([b * f - c * e, c * d - a * f, a * e - b * d, x])


def state_form(scheme: Scheme, turns: int) -> StateForm:
    """Of a scheme, for a group with so many turns."""
    y = scheme.y
    entries = [scheme.node[i] for i in range(9)] if turns == 3 else []
    turned = bool(entries) and all(
        e.is_symbolic() and e.element_hash() == y[i].element_hash() for i, e in enumerate(entries)
    )
    return StateForm(y.shape[0], turned)
