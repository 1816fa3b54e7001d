"""A method's own expressions as a kernel, evaluated by CasADi: slow, but there without compiling."""

import casadi as ca
import numpy as np

from sim.compiler.loops import moments


class SymbolicKernel:
    """Steps like `sim.compiler.Kernel`, of methods that do not divide the step themselves."""

    def __init__(self, vehicle, method, *, sampled=False):
        scheme = method.scheme(vehicle, sampled=sampled)
        i = scheme.inputs
        known = [scheme.y, i.u, i.w, i.p, i.h]
        self.integrator, self.moments = method, moments(scheme)
        self.substeps = scheme.substeps
        self._size, self._dim = i.u.shape[0], vehicle.group.dim
        self._implicit = scheme.z.shape[0] > 0
        self._guess = ca.Function("guess", known, [ca.densify(scheme.guess)], {"cse": True})
        jacobian = ca.densify(ca.jacobian(scheme.residual, scheme.z))
        equations = [ca.densify(scheme.residual), jacobian]
        self._equations = ca.Function("equations", [scheme.z, *known], equations, {"cse": True})
        self._end = ca.Function("end", [scheme.z, *known], [scheme.y_next], {"cse": True})
        self._node = ca.Function("node", [scheme.z, *known], [scheme.node], {"cse": True})
        self._start = ca.Function("start", [i.node, *known[1:]], [scheme.start])

    def start(self, node, u, p, h, env=()):
        return _flat(self._start(node, u[: self._size], np.zeros(self._dim), p, h))

    def node(self, y, u, p, h, *, env=()):
        known = (y, u[: self._size], np.zeros(self._dim), p, h * self.substeps[0])
        return _flat(self._node(self._solved(known), *known))

    def advance(self, y, u, w, p, h, n, env=()):
        for _ in range(n):
            for k, share in enumerate(self.substeps):
                row = u[k * self._size : (k + 1) * self._size] if self.moments else u
                known = (y.copy(), row, w, p, h * share)
                y[:] = _flat(self._end(self._solved(known), *known))
        return n, 0, 0

    def _solved(self, known):
        z = _flat(self._guess(*known))
        for _ in range(30 if self._implicit else 0):
            r, J = (np.array(x) for x in self._equations(z, *known))
            change = np.linalg.solve(J, r.ravel())
            z -= change
            if np.abs(change).max() < 1e-13 * (1 + np.abs(z).max()):
                break
        return z


def _flat(x):
    return np.array(x).ravel()
