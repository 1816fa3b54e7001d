"""The recursions against Pinocchio's, on random trees with joints of every kind."""

import numpy as np
import pytest

from sim.multibody.arrays import BALL, FREE, PRISMATIC, REVOLUTE, workspace
from sim.multibody.articulated import factorise, solve
from sim.multibody.continuous import accelerate
from sim.multibody.kinematics import place
from sim.multibody.loops import Closure
from sim.multibody.observing import inertia_matrices
from tests.sim.multibody.sample_trees import generic_state, generic_tree

pinocchio = pytest.importorskip("pinocchio", reason="the package pin is not installed (extra reference)")

JOINTS = {
    REVOLUTE: pinocchio.JointModelRZ,
    PRISMATIC: pinocchio.JointModelPZ,
    BALL: pinocchio.JointModelSpherical,
    FREE: pinocchio.JointModelFreeFlyer,
}


def model_of(t):
    """Pinocchio's model of the arrays' bodies. Its inertias are of masses at centres: none that is added."""
    m = pinocchio.Model()
    m.gravity.linear = t.arrays.gravity_w
    for i, (j, kind) in enumerate(zip(t.arrays.parent, t.arrays.kind, strict=True)):
        row = t.arrays.placement[i]
        at = m.addJoint(
            int(j) + 1, JOINTS[kind](), pinocchio.SE3(row[:9].reshape(3, 3), row[9:]), f"joint {i}"
        )
        mass, moment = t.arrays.mass[i], t.arrays.moment[i]
        if mass == 0.0:
            continue
        c = moment / mass
        C = pinocchio.skew(c)
        J = inertia_matrices(t.arrays.inertia)[i, :3, :3] + mass * C @ C
        m.appendBodyToJoint(at, pinocchio.Inertia(mass, c, J), pinocchio.SE3.Identity())
    m.armature[:] = t.arrays.armature
    return m


def their_coordinates(t, q):
    """Quaternions end with the real part there, and a free joint begins with the position."""
    out = q.copy()
    for i in np.flatnonzero((t.arrays.kind == BALL) | (t.arrays.kind == FREE)):
        at = int(t.arrays.q_at[i])
        turned = np.r_[q[at + 1 : at + 4], q[at]]
        if t.arrays.kind[i] == BALL:
            out[at : at + 4] = turned
        else:
            out[at : at + 7] = np.r_[q[at + 4 : at + 7], turned]
    return out


def their_order(t):
    """Free joints begin with the linear velocity there."""
    order = np.arange(t.nv)
    for i in np.flatnonzero(t.arrays.kind == FREE):
        at = int(t.arrays.v_at[i])
        order[at : at + 6] = [at + 3, at + 4, at + 5, at, at + 1, at + 2]
    return order


@pytest.mark.parametrize("seed", range(8))
def test_the_articulated_solve_inverts_pinocchios_mass_matrix(seed):
    t = generic_tree(seed, damping=0.0, added=False, root=("universal", "free", "planar", "ball")[seed % 4])
    q, _ = generic_state(t, seed)
    m, order = model_of(t), their_order(t)
    m.gravity.linear = np.zeros(3)
    data, at, rest = m.createData(), their_coordinates(t, q), np.zeros(t.nv)
    columns = [
        pinocchio.rnea(m, data, at, rest, e).copy() for e in np.eye(t.nv)
    ]  # crba wants bodies depth first
    M = np.array(columns)[np.ix_(order, order)]
    ws, none = workspace(t.arrays), np.zeros(t.nv)
    place(t.arrays, q, ws.node)
    factorise(t.arrays, ws.node, none, 0.01, ws.articulated, ws.factor)
    inverse = np.zeros((t.nv, t.nv))
    for a in range(t.nv):
        column = np.eye(t.nv)[a].copy()
        solve(t.arrays, ws.node, none, 0.01, ws.factor, column, ws.wrench, ws.spare, ws.arc, inverse[a])
    # measured 1e-12
    assert pytest.approx(np.eye(t.nv), abs=1e-10) == inverse.T @ M


@pytest.mark.parametrize("seed", range(8))
def test_accelerations_are_pinocchios(seed):
    t = generic_tree(seed, damping=0.0, added=False, root=("universal", "free", "planar", "ball")[seed % 4])
    t.arrays.stiffness[:] = 0.0
    q, v = generic_state(t, seed, speed=1.0)
    u = np.random.default_rng(seed).normal(size=t.nv)
    m, order = model_of(t), their_order(t)
    theirs = pinocchio.aba(m, m.createData(), their_coordinates(t, q), v[order], u[order])[order]
    ours, none = np.zeros(t.nv), Closure(t, (), dampers=False)
    accelerate(t.arrays, workspace(t.arrays), none.arrays, none.workspace, q, v, u, np.zeros((0, 6)), ours)
    # measured 2e-12 of accelerations up to 300
    assert ours == pytest.approx(theirs, abs=1e-10 * np.abs(theirs).max())
