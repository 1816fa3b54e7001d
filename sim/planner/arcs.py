"""Arcs of the group between poses, for many pairs at once."""

from functools import lru_cache

import casadi as ca
import numpy as np

from sim.groups import LieGroup


@lru_cache(maxsize=64)
def _velocity(group: LieGroup, count: int) -> ca.Function:
    g, k = ca.SX.sym("g", group.pose_dim), ca.SX.sym("k", group.pose_dim)
    arc = group.cay_inv(group.compose(group.inverse(g), k))
    return ca.Function("arc", [g, k], [arc]).map(count)


@lru_cache(maxsize=64)
def _point(group: LieGroup, count: int) -> ca.Function:
    g, xi, s = ca.SX.sym("g", group.pose_dim), ca.SX.sym("xi", group.dim), ca.SX.sym("s")
    return ca.Function("point", [g, xi, s], [group.compose(g, group.cay(s * xi))]).map(count)


def arcs(group: LieGroup, starts: np.ndarray, ends: np.ndarray) -> np.ndarray:
    """(n, dim): xi with start cay(xi) = end, of flat poses (n, pose_dim)."""
    return np.array(_velocity(group, len(starts))(starts.T, ends.T)).T


def points(group: LieGroup, starts: np.ndarray, xi: np.ndarray, share: np.ndarray) -> np.ndarray:
    """(n, pose_dim): start cay(share xi)."""
    return np.array(_point(group, len(starts))(starts.T, xi.T, share[None])).T


def between(group: LieGroup, poses: np.ndarray, per_step: int) -> np.ndarray:
    """(N per_step + 1, pose_dim): poses (N+1, pose_dim) and equally many on every arc between them."""
    xi = arcs(group, poses[:-1], poses[1:])
    share = np.tile(np.arange(per_step) / per_step, len(xi))
    fine = points(group, np.repeat(poses[:-1], per_step, axis=0), np.repeat(xi, per_step, axis=0), share)
    return np.concatenate([fine, poses[-1:]])
