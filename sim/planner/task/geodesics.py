"""Arcs of the group between poses, for many pairs at once."""

from functools import lru_cache

import casadi as ca
import numpy as np

from sim.compiler.columns import ColumnKernel
from sim.groups import LieGroup


@lru_cache(maxsize=16)
def _arc(group: LieGroup) -> ColumnKernel:
    g, k = ca.SX.sym("g", group.pose_dim), ca.SX.sym("k", group.pose_dim)
    return _kernel([g, k], group.cay_inv(group.compose(group.inverse(g), k)))


@lru_cache(maxsize=16)
def _point(group: LieGroup) -> ColumnKernel:
    g, xi, s = ca.SX.sym("g", group.pose_dim), ca.SX.sym("xi", group.dim), ca.SX.sym("s")
    return _kernel([g, xi, s], group.compose(g, group.cay(s * xi)))


def _kernel(inputs: list[ca.SX], expression: ca.SX) -> ColumnKernel:
    return ColumnKernel(ca.Function("arcs", inputs, [ca.densify(expression)], {"cse": True}))


def arcs(group: LieGroup, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(n, dim): xi with start cay(xi) = end, of flat poses (n, pose_dim)."""
    return _arc(group).rows(starts, ends)


def points(group: LieGroup, starts: np.ndarray, xi: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(n, pose_dim): start cay(share xi)."""
    return _point(group).rows(starts, xi, share)


def between(group: LieGroup, poses: np.ndarray, per_step: int) -> np.ndarray:
    """(N per_step + 1, pose_dim): poses (N+1, pose_dim) and equally many on every arc between them."""
    xi = arcs(group, poses[:-1], poses[1:])
    share = np.tile(np.arange(per_step) / per_step, len(xi))
    fine = points(group, np.repeat(poses[:-1], per_step, axis=0), np.repeat(xi, per_step, axis=0), share)
    return np.concatenate([fine, poses[-1:]])
