"""Steps and their derivatives by equations that are evaluated as they are, where compiling them would take too long.

The same step and the same derivatives as the compiled ones (`sim.compiler.kernel_code`): unknowns by Newton's method,
the implicit function theorem for what they do. A matrix of slopes is made of as many directions as there are unknowns,
side by side, and factorised as numbers; nothing of it is written out.
"""

from dataclasses import dataclass
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.integrators import Integrator
from sim.integrators.multibody import rollout_scheme
from sim.vehicles.forms.base import Structure

_ACCURACY, _SETTLED, _SWEEPS = 1e-13, 1e-9, 30
"""Change of the unknowns beside their size at which they are found, at which no longer getting nearer is rounding, and
rounds in which they have to be found."""


@dataclass(frozen=True, eq=False)
class EvaluatedSteps:
    """Functions of y, z, u, p and h, columns each; directions are as many columns as are wanted."""

    y: int
    z: int
    _guess: ca.Function
    """(y, u, p, h) -> z."""
    _step: ca.Function
    """-> residual, state after the step, node."""
    _along: ca.Function
    """And changes of y, u, p and z -> those of the residual, the state after the step, the node."""
    _pull: ca.Function
    """And sensitivities to the state after the step, to the node, and multipliers of the residual -> those to z, y, u
    and p."""

    @staticmethod
    @lru_cache(maxsize=16)
    def of(structure: Structure, integrator: Integrator) -> "EvaluatedSteps":
        """Of a pair."""
        made = rollout_scheme(integrator, structure.vehicle)
        i, none = made.inputs, ca.SX.zeros(made.inputs.w.shape)
        wanted = (made.residual, made.y_next, made.node, made.guess)
        residual, following, node, guess = (ca.densify(x) for x in ca.substitute(list(wanted), [i.w], [none]))
        given, moved = [made.y, made.z, i.u, i.p, i.h], (made.y, i.u, i.p, made.z)
        directions = [ca.SX.sym("d", x.numel()) for x in moved]
        told = ca.vertcat(residual, following, node)
        along = ca.densify(ca.jtimes(told, ca.vertcat(*moved), ca.vertcat(*directions)))
        ends = np.cumsum([0, residual.numel(), following.numel(), node.numel()]).tolist()
        weights = [ca.SX.sym("w", x.numel()) for x in (following, node, residual)]
        total = ca.dot(weights[0], following) + ca.dot(weights[1], node) + ca.dot(weights[2], residual)
        order = (made.z, made.y, i.u, i.p)
        slope = ca.densify(ca.gradient(total, ca.vertcat(*order)))
        parts = np.cumsum([0, *(x.numel() for x in order)]).tolist()
        shared = {"cse": True}
        return EvaluatedSteps(
            made.y.numel(),
            made.z.numel(),
            ca.Function("guess", [made.y, i.u, i.p, i.h], [guess], shared),
            ca.Function("step", given, [residual, following, node], shared),
            ca.Function("along", [*given, *directions], ca.vertsplit(along, ends), shared),
            ca.Function("pull", [*given, *weights], ca.vertsplit(slope, parts), shared),
        )

    def record(
        self,
        y: np.ndarray,
        us: np.ndarray,
        p: np.ndarray,
        h: np.ndarray,
        ys: np.ndarray,
        zs: np.ndarray,
        nodes: np.ndarray,
    ) -> int:
        """As `GradientCode.record`."""
        for k, u in enumerate(us):
            z, last = np.array(self._guess(y, u, p, h)).ravel(), np.inf
            for _ in range(_SWEEPS):
                residual = np.array(self._step(y, z, u, p, h)[0]).ravel()
                if not np.isfinite(residual).all():
                    return k
                change = np.linalg.solve(self._slopes(y, z, u, p, h), residual)
                z -= change
                left = np.abs(change).sum() / (1.0 + np.abs(z).sum())
                if left <= _ACCURACY or _SETTLED > left > last / 2:
                    break
                last = left
            else:
                return k
            _, after, node = (np.array(x).ravel() for x in self._step(y, z, u, p, h))
            if not (np.isfinite(after).all() and np.isfinite(node).all()):
                return k
            ys[k], zs[k], nodes[k] = y, z, node
            y[:] = after
        return len(us)

    def adjoint(
        self,
        lam: np.ndarray,
        gp: np.ndarray,
        us: np.ndarray,
        p: np.ndarray,
        h: np.ndarray,
        ys: np.ndarray,
        zs: np.ndarray,
        weights: np.ndarray,
        gus: np.ndarray,
    ) -> None:
        """As `GradientCode.adjoint`."""
        for k in reversed(range(len(us))):
            at = (ys[k], zs[k], us[k], p, h)
            by_z = np.array(self._pull(*at, lam, weights[k], np.zeros(self.z))[0]).ravel()
            mu = np.linalg.solve(self._slopes(*at).T, -by_z)
            _, by_y, by_u, by_p = (np.array(x).ravel() for x in self._pull(*at, lam, weights[k], mu))
            lam[:] = by_y
            gus[k] += by_u
            gp += by_p

    def tangent(
        self,
        dy: np.ndarray,
        us: np.ndarray,
        dus: np.ndarray,
        p: np.ndarray,
        dp: np.ndarray,
        h: np.ndarray,
        ys: np.ndarray,
        zs: np.ndarray,
        dnodes: np.ndarray,
    ) -> None:
        """As `TangentCode.tangent`; the directions are columns."""
        for k, u in enumerate(us):
            at, moved = (ys[k], zs[k], u, p, h), (dy, dus[k], dp)
            left = np.array(self._along(*at, *moved, np.zeros((self.z, dy.shape[1])))[0])
            dz = np.linalg.solve(self._slopes(*at), -left)
            _, after, node = (np.array(x) for x in self._along(*at, *moved, dz))
            dy[:], dnodes[k] = after, node

    def _slopes(self, *at: np.ndarray) -> np.ndarray:
        """(z, z) of the residual by the unknowns."""
        still = (np.zeros(self.y), np.zeros(at[2].size), np.zeros(at[3].size))
        return np.array(self._along(*at, *still, np.eye(self.z))[0])
