"""Arcs between poses, of a group or of another space, for many pairs at once."""

from functools import lru_cache

import casadi as ca
import numpy as np

from sim.compiler.columns import ColumnKernel
from sim.groups import LieGroup
from sim.spaces import Space


@lru_cache(maxsize=16)
def _arc(where: LieGroup | Space) -> ColumnKernel:
    size = _sizes(where)[0]
    g, k = ca.SX.sym("g", size), ca.SX.sym("k", size)
    if isinstance(where, Space):
        return _kernel([g, k], where.difference(g, k))
    return _kernel([g, k], where.cay_inv(where.compose(where.inverse(g), k)))


@lru_cache(maxsize=16)
def _point(where: LieGroup | Space) -> ColumnKernel:
    size, dim = _sizes(where)
    g, xi, s = ca.SX.sym("g", size), ca.SX.sym("xi", dim), ca.SX.sym("s")
    if isinstance(where, Space):
        return _kernel([g, xi, s], where.displaced(g, s * xi))
    return _kernel([g, xi, s], where.compose(g, where.cay(s * xi)))


def _sizes(where: LieGroup | Space) -> tuple[int, int]:
    """Of a point and of a displacement."""
    return (where.size, where.dim) if isinstance(where, Space) else (where.pose_dim, where.dim)


def _kernel(inputs: list[ca.SX], expression: ca.SX) -> ColumnKernel:
    return ColumnKernel(ca.Function("arcs", inputs, [ca.densify(expression)], {"cse": True}))


def arcs(where: LieGroup | Space, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(n, dim): displacements from starts to ends, flat poses (n, pose size); on a group start cay(xi) = end."""
    return _arc(where).rows(starts, ends)


def points(where: LieGroup | Space, starts: np.ndarray, xi: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(n, pose size): as far on the arcs as the shares (n,) say."""
    return _point(where).rows(starts, xi, share)


def between(where: LieGroup | Space, poses: np.ndarray, per_step: int) -> np.ndarray:
    """(N per_step + 1, pose size): poses (N+1, pose size) and equally many on every arc between them."""
    xi = arcs(where, poses[:-1], poses[1:])
    share = np.tile(np.arange(per_step) / per_step, len(xi))
    fine = points(where, np.repeat(poses[:-1], per_step, axis=0), np.repeat(xi, per_step, axis=0), share)
    return np.concatenate([fine, poses[-1:]])
