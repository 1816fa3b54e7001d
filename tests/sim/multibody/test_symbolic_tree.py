"""The compiled recursions and the same on expressions: one formula, whatever the scalar."""

import casadi as ca
import numpy as np
import pytest

import sim
from sim.multibody.arrays import workspace
from sim.multibody.articulated import factorise, solve
from sim.multibody.kinematics import momenta, move, place
from sim.multibody.observing import frames
from sim.multibody.recursions import discrete_inverse_dynamics
from sim.multibody.symbolic import SymbolicTree
from sim.steppers.bound_tree import BoundTree
from tests.sim.multibody.sample_trees import generic_state, generic_tree, pendulum_chain

H = 0.01
TREES = {
    "joints of every kind": generic_tree(3, rotor=0.3),
    "free root": generic_tree(5, root="free"),
    "ball root": generic_tree(8, root="ball", damping=0.0, armature=0.0, added=False),
    "eight at once": pendulum_chain(19),
}


def function(outputs, *sizes):
    """Of columns of these sizes."""
    inputs = [ca.SX.sym(f"x{k}", size) for k, size in enumerate(sizes)]
    return ca.Function("f", inputs, [outputs(*inputs)])


def stepped(symbolic):
    """(q, d, b) -> residual, q and b at the end of a step of H."""
    t = symbolic.tree
    q, d, b = ca.SX.sym("q", t.nq), ca.SX.sym("d", t.nv), ca.SX.sym("b", t.nv)
    return ca.Function("step", [q, d, b], list(symbolic.step(q, d, b, H)), {"cse": True})


def flat(value):
    return np.array(value).ravel()


def scaled(ours, wanted):
    """Largest difference over the largest entry."""
    return np.abs(flat(ours) - wanted).max() / max(1.0, np.abs(wanted).max())


@pytest.mark.parametrize("name", TREES)
def test_a_step_on_expressions_is_the_compiled_one(name):
    t = TREES[name]
    symbolic, a, ws = SymbolicTree(t), t.arrays, workspace(t.arrays)
    rng = np.random.default_rng(2)
    step = stepped(symbolic)
    for seed in range(3):
        q, _ = generic_state(t, seed)
        d, b = 0.3 * rng.normal(size=t.nv), rng.normal(size=t.nv)
        place(a, q, ws.node)
        discrete_inverse_dynamics(a, ws.node, d, b, a.damping, H, ws.arc, ws.wrench, ws.residual)
        residual, moved, _ = step(q, d, b)
        assert scaled(residual, ws.residual) < 1e-14  # measured 1.2e-15
        after = q.copy()
        move(a, after, d)
        assert scaled(moved, after) < 1e-15  # measured 1.2e-16


@pytest.mark.parametrize("name", TREES)
def test_steps_on_expressions_lead_where_the_stepper_goes(name):
    """Its root has no residual there, and its next impulse is the one that it arrives with."""
    t = TREES[name]
    symbolic, stepper = SymbolicTree(t), BoundTree(t, H, tolerance=1e-13)
    q, v = generic_state(t, 4)
    motion = stepper.start(q, v)
    start = function(lambda q, v: symbolic.momenta(q, v) + H / 2 * symbolic.node_force(q), t.nq, t.nv)
    assert scaled(start(q, v), motion.b) < 1e-13
    step = stepped(symbolic)
    for _ in range(3):
        q, b = motion.q.copy(), motion.b.copy()
        stepper.advance(motion, 1)
        d = motion.history[:, 0].copy()
        residual, _, impulse = step(q, d, b)
        assert scaled(residual, np.zeros(t.nv)) < 1e-9  # measured 4e-11, of increments to 1e-13
        assert scaled(impulse, motion.b) < 1e-10  # measured 5e-12


@pytest.mark.parametrize("name", TREES)
def test_frames_and_velocities_are_the_compiled_ones(name):
    t = TREES[name]
    symbolic, a = SymbolicTree(t), t.arrays
    q, v = generic_state(t, 6)
    poses = function(lambda q: ca.vertcat(*(ca.vertcat(ca.vec(R.T), x) for R, x in symbolic.frames(q))), t.nq)
    wanted = np.concatenate([np.r_[T[:3, :3].ravel(), T[:3, 3]] for T in frames(t, q)])
    assert scaled(poses(q), wanted) < 1e-14
    p, ws, none = np.zeros(t.nv), workspace(a), np.zeros(t.nv)
    place(a, q, ws.node)
    momenta(a, ws.node, v, ws.arc, ws.wrench, p)
    assert scaled(function(symbolic.momenta, t.nq, t.nv)(q, v), p) < 1e-14
    factorise(a, ws.node, none, 0.0, ws.articulated, ws.factor)
    solved = np.zeros(t.nv)
    solve(a, ws.node, none, 0.0, ws.factor, p, ws.wrench, ws.spare, ws.twist, solved)
    assert scaled(function(symbolic.velocities, t.nq, t.nv)(q, p), solved) < 1e-10


def test_derivatives_of_the_residual_are_exact():
    """Against differences of the compiled recursion."""
    t = TREES["joints of every kind"]
    symbolic, a, ws, eps = SymbolicTree(t), t.arrays, workspace(t.arrays), 1e-6
    q, d, b = ca.SX.sym("q", t.nq), ca.SX.sym("d", t.nv), ca.SX.sym("b", t.nv)
    slope = ca.Function("slope", [q, d, b], [ca.jacobian(symbolic.step(q, d, b, H)[0], d)])
    q0, v0 = generic_state(t, 1)
    place(a, q0, ws.node)
    columns = []
    for k in range(t.nv):
        ends = []
        for side in (-eps, eps):
            d0 = H * v0
            d0[k] += side
            discrete_inverse_dynamics(a, ws.node, d0, v0, a.damping, H, ws.arc, ws.wrench, ws.residual)
            ends.append(ws.residual.copy())
        columns.append((ends[1] - ends[0]) / (2 * eps))
    ours = np.array(slope(q0, H * v0, v0))
    np.testing.assert_allclose(ours, np.transpose(columns), atol=2e-7 * np.abs(ours).max())


def test_a_six_axis_arm_takes_few_operations():
    """Of residual, coordinates and impulse after a step; measured 2471, linear in the number of bodies."""
    sizes = {}
    for name, options in (("six-axis-arm", {}), ("chain", {"links": 10}), ("chain", {"links": 20})):
        t = sim.vehicle(name, **options).tree
        sizes[name, t.n] = stepped(SymbolicTree(t)).n_instructions()
    arm, ten, twenty = sizes.values()
    assert arm < 2600
    assert twenty < 2.3 * ten
