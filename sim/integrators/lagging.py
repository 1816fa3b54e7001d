"""Controls that act with a lag: each follows what it is told, a' = (u - a) / lag, beside any method's own step.

Where a row u is held that is solved in closed form, a(t) = u + (a_0 - u) exp(-t / lag), so that no step is too long for
it; where the controls are a function of time, u is the polynomial through the method's own samples of it. The method
is handed what acts at the moments at which it would have had the controls.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import casadi as ca
import numpy as np

from sim.integrators.scheme import Inputs, Scheme
from sim.vehicles.forms.base import Vehicle

_POINTS, _WEIGHTS = np.polynomial.legendre.leggauss(6)
"""Of Gauss and Legendre, on -1..1."""


@dataclass(frozen=True, kw_only=True)
class LaggingInputs(Inputs):
    """As the inputs that they are made from, but for what acts in place of the controls."""

    acting: ca.SX
    """(n_controls,) at the start of the (sub)step."""
    lag_s: ca.SX

    def at(self, share: float) -> ca.SX:
        left = ca.exp(-share * self.h / self.lag_s)
        if not self.samples:
            return self.u + (self.acting - self.u) * left
        return left * self.acting + self._gathered(share)

    def _gathered(self, share: float) -> ca.SX:
        """What the controls until then have left: the integral of u exp((t - s) / lag) / lag."""
        found, a = ca.SX.zeros(self.acting.shape[0]), self.h / self.lag_s
        for point, weight in zip(_POINTS, _WEIGHTS, strict=True):
            s = share * (1 + point) / 2
            decay = share * weight / 2 * a * ca.exp((s - share) * a)
            for part, moment in zip(_parts(self.samples, s), self.samples, strict=True):
                found = found + decay * part * Inputs.at(self, moment)
        return found


def _parts(moments: tuple[float, ...], s: float) -> list[float]:
    """What the values at the moments have of their polynomial's at s (Lagrange)."""
    others = [np.delete(moments, i) for i in range(len(moments))]
    return [float(np.prod((s - o) / (m - o))) for m, o in zip(moments, others, strict=True)]


def lagging(vehicle: Vehicle, inputs: Inputs, step: Callable[[Vehicle, Inputs], Scheme]) -> Scheme:
    """The step of a method whose controls act with a lag; what acts stands behind its private state."""
    acting = ca.SX.sym("acting", len(vehicle.controls))
    lag_s = vehicle.lag_s(vehicle.symbols(inputs.p))
    given = {name: getattr(inputs, name) for name in ("u", "w", "p", "h", "node", "samples")}
    behind = LaggingInputs(**given, acting=acting, lag_s=lag_s)
    scheme, begun = step(vehicle, behind), inputs.node[vehicle.node_layout.acting]

    def starting(expression: ca.SX | None) -> ca.SX | None:
        return None if expression is None else ca.vertcat(ca.substitute(expression, acting, begun), begun)

    start = starting(scheme.start)
    assert start is not None
    return replace(
        scheme,
        inputs=inputs,
        y=ca.vertcat(scheme.y, acting),
        y_next=ca.vertcat(scheme.y_next, behind.at(1.0)),
        node=ca.vertcat(scheme.node, acting),
        start=start,
        carried=starting(scheme.carried),
        pushed=starting(scheme.pushed),
    )
