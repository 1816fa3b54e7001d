"""Limits of joints as one-sided springs that a step can stand."""

import numpy as np

from sim.multibody.arrays import PRISMATIC, REVOLUTE, Workspace
from sim.multibody.articulated import factorise, solve
from sim.multibody.kinematics import place
from sim.multibody.tree import Tree

STIFFNESS, DAMPING_RATIO = 0.4, 0.5
"""A limit is a one-sided spring of 0.4 D/h^2, D the inertia that the joint feels between what it joins, with all joints
at zero and free: a tenth of what the step would not stand, so that a joint overshoots by about two steps' way and
nothing blows up where several limits of a light body are reached at once."""


def limit_springs(tree: Tree, step_s: float, ws: Workspace) -> tuple[np.ndarray, np.ndarray]:
    """(stiffness, damping), each (nv,), for steps of `step_s` seconds and all that are shorter."""
    a, nv = tree.arrays, tree.nv
    stiffness, damping = np.zeros(nv), np.zeros(nv)
    place(a, tree.q0, ws.node)
    none = np.zeros(nv)
    factorise(a, ws.node, none, step_s, ws.articulated, ws.factor)
    for i in np.flatnonzero((a.kind == REVOLUTE) | (a.kind == PRISMATIC)):
        at = a.v_at[i]
        if not np.isfinite(a.limits[at]).any():
            continue
        answer = np.zeros(nv)
        answer[at] = 1.0
        solve(a, ws.node, none, step_s, ws.factor, answer, ws.wrench, ws.spare, ws.twist, answer)
        inertia = 1.0 / answer[at]
        stiffness[at] = STIFFNESS * inertia / step_s**2
        damping[at] = 2.0 * DAMPING_RATIO * np.sqrt(stiffness[at] * inertia)
    return stiffness, damping
