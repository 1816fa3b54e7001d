"""The methods to compare with are what they say: the midpoint rule in generalised coordinates, Newton by a matrix."""

import numpy as np
import pytest

import sim
from sim.multibody.arrays import workspace
from sim.multibody.kinematics import compose, momenta, place
from sim.multibody.observing import potential_energy_J
from sim.multibody.recursions import discrete_inverse_dynamics
from sim.multibody.tree import Body, Joint, tree
from sim.steppers.bound_tree import BoundTree
from studies.tree_comparators import (
    dense_rollout,
    derivative_matrix,
    midpoint_slopes,
    residual_derivative,
    scalable_rollout,
    scalable_workspace,
)
from tests.sim.multibody.sample_trees import generic_state, generic_tree, pendulum_chain

H = 0.01


def branching_tree():
    rng, bodies = np.random.default_rng(3), []
    for i in range(6):
        A = rng.normal(size=(3, 3))
        joint = Joint(
            "prismatic" if i == 2 else "revolute",
            axis=tuple(rng.normal(size=3)),
            anchor=tuple(0.1 * rng.normal(size=3)),
            armature=0.02,
        )
        bodies.append(
            Body(
                f"b{i}",
                "world" if i == 0 else f"b{(0, 0, 1, 1, 3)[i - 1]}",
                joint,
                position=tuple(0.4 * rng.normal(size=3)),
                mass=1.0,
                centre=tuple(0.2 * rng.normal(size=3)),
                inertia=0.05 * (A @ A.T),
            )
        )
    return tree(bodies)


def discrete_lagrangian(t, q0, q1):
    middle, v, p = 0.5 * (q0 + q1), (q1 - q0) / H, np.zeros(t.nv)
    ws = workspace(t.arrays)
    place(t.arrays, middle, ws.node)
    momenta(t.arrays, ws.node, v, ws.arc, ws.wrench, p)
    return H * (0.5 * v @ p - potential_energy_J(t, middle))


def test_its_slopes_are_those_of_the_midpoint_rule():
    t, rng = branching_tree(), np.random.default_rng(0)
    q0 = rng.normal(size=t.nv)
    q1 = q0 + H * rng.normal(size=t.nv)
    sw, eps = scalable_workspace(t), 1e-5
    midpoint_slopes(t.arrays, sw, q0, q1, H)
    steps = eps * np.eye(t.nv)
    first = [
        (discrete_lagrangian(t, q0 + e, q1) - discrete_lagrangian(t, q0 - e, q1)) / (2 * eps) for e in steps
    ]
    second = [
        (discrete_lagrangian(t, q0, q1 + e) - discrete_lagrangian(t, q0, q1 - e)) / (2 * eps) for e in steps
    ]
    # measured 1e-9
    assert 0.5 * H * sw.by_q - sw.by_v == pytest.approx(first, abs=1e-7)
    assert 0.5 * H * sw.by_q + sw.by_v == pytest.approx(second, abs=1e-7)


def test_its_derivative_is_exact():
    t, rng = branching_tree(), np.random.default_rng(1)
    q0 = rng.normal(size=t.nv)
    q1 = q0 + H * 5.0 * rng.normal(size=t.nv)
    sw = scalable_workspace(t)

    def residual(q):
        midpoint_slopes(t.arrays, sw, q0, q, H)
        return sw.by_v - 0.5 * H * sw.by_q

    slopes = np.array([(residual(q1 + e) - residual(q1 - e)) / 2e-6 for e in 1e-6 * np.eye(t.nv)]).T
    residual(q1)
    residual_derivative(t.arrays, sw, H)
    # measured 3e-8 of entries up to 200
    assert sw.derivative == pytest.approx(slopes, abs=1e-6)


def test_it_tends_to_the_same_motion_as_the_linear_time_method():
    t = pendulum_chain(4)
    q0 = np.array([0.7, -0.3, 0.5, 0.2])
    away = []
    for h in (4e-3, 2e-3):
        ours = BoundTree(t, h, tolerance=1e-13)
        motion = ours.start(q0, np.zeros(4))
        ours.advance(motion, round(0.8 / h))
        q, p, guess = q0.copy(), np.zeros(4), np.zeros(4)
        assert scalable_rollout(t.arrays, scalable_workspace(t), q, p, guess, h, round(0.8 / h), 1e-12) > 0
        away.append(np.abs(q - motion.q).max())
    assert away[1] < 1e-3
    assert away[0] / away[1] == pytest.approx(4.0, abs=0.3)


def test_what_it_does_not_have_is_refused():
    with pytest.raises(sim.InputError, match="hinges"):
        scalable_workspace(tree([Body("b", joint=Joint("ball"), inertia=(1.0, 1.0, 1.0))]))
    with pytest.raises(sim.InputError, match="damping"):
        scalable_workspace(tree([Body("b", joint=Joint(damping=0.1), inertia=(1.0, 1.0, 1.0))]))
    with pytest.raises(sim.InputError, match="rotors"):
        scalable_workspace(tree([Body("b", inertia=(1.0, 1.0, 1.0), rotor_momentum=(0.0, 0.0, 1.0))]))


def test_the_matrix_is_the_derivative_of_the_recursion():
    t, rng = generic_tree(4, damping=0.0, armature=0.0, rotor=0.4), np.random.default_rng(4)
    q, v = generic_state(t, 4)
    ws, d, none = workspace(t.arrays), H * v + 0.02 * rng.normal(size=t.nv), np.zeros(t.nv)
    place(t.arrays, q, ws.node)

    def residual(change):
        moved, out = np.zeros(t.nv), np.zeros(t.nv)
        compose(t.arrays, d, change, 1.0, moved)
        discrete_inverse_dynamics(t.arrays, ws.node, moved, none, none, H, ws.arc, ws.wrench, out)
        return out

    slopes = np.array([(residual(e) - residual(-e)) / 2e-6 for e in 1e-6 * np.eye(t.nv)]).T
    residual(none)
    matrix = np.zeros((t.nv, t.nv))
    derivative_matrix(t.arrays, ws, q, d, H, matrix)
    # measured 1e-7 of entries up to 2000
    assert matrix == pytest.approx(slopes, abs=1e-5)


def test_newton_by_a_matrix_takes_the_same_steps():
    t = pendulum_chain(6)
    ours = BoundTree(t, H, solver="newton", tolerance=1e-13)
    motion = ours.start(np.linspace(-0.5, 0.8, 6), np.ones(6))
    other, ws = motion.copy(), workspace(t.arrays)
    ours.advance(motion, 50)
    assert dense_rollout(t.arrays, ws, other, H, 50, 1e-12) > 0
    assert other.q == pytest.approx(motion.q, abs=1e-11)
