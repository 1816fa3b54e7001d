"""Laws of the linear-time variational integrator, on generic trees with joints of every kind."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation
from scipy.special import ellipj, ellipk

from sim.multibody import stepping
from sim.multibody.arrays import PRISMATIC, REVOLUTE, workspace
from sim.multibody.articulated import factorise, solve
from sim.multibody.continuous import rk4_step
from sim.multibody.kinematics import compose, momenta, move, place
from sim.multibody.loops import Closure
from sim.multibody.observing import body_frames, frames, inertia_matrices, potential_energy_J
from sim.multibody.recursions import discrete_inverse_dynamics
from sim.multibody.stepping import OK
from sim.multibody.tree import Body, Joint, tree
from sim.steppers.bound_tree import BoundTree
from tests.sim.multibody.sample_trees import generic_state, generic_tree, pendulum_chain

H = 0.01


def hat(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def cayley_inverse(T):
    """(omega, v) with cay((omega, v)) = T, by the matrix formula X = 2 (T - 1) (T + 1)^-1."""
    X = 2.0 * (T - np.eye(4)) @ np.linalg.inv(T + np.eye(4))
    return np.r_[X[2, 1], X[0, 2], X[1, 0], X[:3, 3]]


def rotor_speeds(t, q0, q1, h):
    """(nv,) increments of the joints' coordinates over h: differences, Cayley vectors of relative rotations."""
    speeds = np.zeros(t.nv)
    for i, kind in enumerate(t.arrays.kind):
        x, a = t.arrays.q_at[i], t.arrays.v_at[i]
        if kind in (REVOLUTE, PRISMATIC):
            speeds[a] = (q1[x] - q0[x]) / h
        else:
            before, after = (Rotation.from_quat(q[x : x + 4], scalar_first=True) for q in (q0, q1))
            T = np.eye(4)
            T[:3, :3] = (before.inv() * after).as_matrix()
            speeds[a : a + 3] = cayley_inverse(T)[:3] / h
    return speeds


def discrete_lagrangian(t, q0, q1, h):
    """h/2 V' G V - h/2 (P0 + P1) summed over bodies, V from the bodies' frames alone (multibody paper, eqs. 8-9).

    Rotors of joints have h/2 armature times the square of the joint's speed over the arc, rotors that spin in bodies h
    times their momentum times the body's angular velocity.
    """
    before, after = frames(t, q0), frames(t, q1)
    kinetic = 0.0
    for T0, T1, G in zip(before, after, inertia_matrices(t.arrays.inertia), strict=True):
        V = cayley_inverse(np.linalg.inv(T0) @ T1) / h
        kinetic += 0.5 * h * V @ G @ V
    for i, spin in zip(t.arrays.rotor_carriers, t.arrays.rotors, strict=True):
        kinetic += spin @ cayley_inverse(np.linalg.inv(before[i]) @ after[i])[:3]
    kinetic += 0.5 * h * float(t.arrays.armature @ rotor_speeds(t, q0, q1, h) ** 2)
    return kinetic - 0.5 * h * (potential_energy_J(t, q0) + potential_energy_J(t, q1))


def nudged(t, q, a, eps):
    """q with velocity direction a moved by eps."""
    d, q = np.zeros(t.nv), q.copy()
    d[a] = eps
    move(t.arrays, q, d)
    return q


def test_the_recursion_is_the_derivative_of_the_discrete_action():
    t, rng = generic_tree(3, damping=0.0, rotor=0.4), np.random.default_rng(4)
    q, v = generic_state(t, 5)
    stepper = BoundTree(t, H)
    ws = workspace(t.arrays)
    place(t.arrays, q, ws.node)
    d = H * v + 0.01 * rng.normal(size=t.nv)
    q1 = q.copy()
    move(t.arrays, q1, d)
    residual, none = np.zeros(t.nv), np.zeros(t.nv)
    discrete_inverse_dynamics(t.arrays, ws.node, d, none, none, H, ws.arc, ws.wrench, residual)
    # A rotor's own momentum is the same on both sides of a node, and is in neither.
    own, none = np.zeros(t.nv), np.zeros(t.nv)
    for a in range(t.nv):
        momenta(t.arrays, ws.node, np.eye(t.nv)[a], ws.arc, ws.wrench, none)
        for i, spin in zip(t.arrays.rotor_carriers, t.arrays.rotors, strict=True):
            own[a] += ws.arc[i, :3] @ ws.node[i, :9].reshape(3, 3) @ spin
    leaving = residual + own - 0.5 * H * stepper.node_force(q)
    eps = 1e-5
    slopes = [
        (
            discrete_lagrangian(t, nudged(t, q, a, eps), q1, H)
            - discrete_lagrangian(t, nudged(t, q, a, -eps), q1, H)
        )
        / (2 * eps)
        for a in range(t.nv)
    ]
    # measured 4e-9 of impulses up to 1
    assert leaving == pytest.approx(-np.array(slopes), abs=5e-8)


def test_bodies_taken_eight_at_once_are_as_taken_one_by_one():
    t = generic_tree(3, added=False, rotor=0.4)
    q, v = generic_state(t, 5)
    assert t.n == 13
    assert t.arrays.rigid.all()
    d, told = H * v, []
    for arrays in (t.arrays, t.arrays._replace(rigid=np.zeros(t.n, bool))):
        ws, none = workspace(arrays), np.zeros(t.nv)
        residual, force = np.zeros(t.nv), np.zeros(t.nv)
        place(arrays, q, ws.node)
        discrete_inverse_dynamics(arrays, ws.node, d, none, none, H, ws.arc, ws.wrench, residual)
        arc = ws.arc.copy()
        stepping.node_force(arrays, ws, q, force)
        told.append(np.r_[ws.node[:, :21].ravel(), arc.ravel(), residual, force])
    # measured 4e-15 of numbers up to 30
    assert told[0] == pytest.approx(told[1], abs=1e-13)


def test_hinges_turn_by_any_angle_as_rotations_do():
    for n in (1, 9):
        t, q = pendulum_chain(n), 1e4 * np.random.default_rng(n).normal(size=n)
        turned = Rotation.identity()
        for i, pose in enumerate(body_frames(t, q).values()):
            axis = np.array([i % 2, 1 - i % 2, 0])
            turned = turned * Rotation.from_rotvec(np.remainder(q[i], 2 * np.pi) * axis)
            # measured 4e-13, of the remainder
            assert pytest.approx(turned.as_matrix(), abs=1e-10) == pose[:3, :3]


@pytest.mark.parametrize("solver", ["riqn", "newton", "broyden"])
def test_hinges_count_no_turns_that_their_bodies_did_not_make(solver):
    """A guess that is whole turns off leads to the same step: a whipping chain came to 350 turns of its last link."""
    t = pendulum_chain(10)
    stepper = BoundTree(t, H, solver=solver, tolerance=1e-13)
    motion = stepper.start(0.3 * np.sin(1.0 + 1.7 * np.arange(10)), np.linspace(-4.0, 4.0, 10))
    assert stepper.advance(motion, 20) == (20, OK)
    other = motion.copy()
    other.history[[3, 9], 0] += 2.0 * np.pi * np.array([1.0, -2.0])
    before = motion.q.copy()
    for one in (motion, other):
        assert stepper.advance(one, 1) == (1, OK)
    assert 1e-3 < np.abs(motion.q - before).max() < 0.5
    np.testing.assert_allclose(other.q, motion.q, rtol=0.0, atol=1e-11)  # measured 6e-14


def test_the_articulated_solve_inverts_the_mass_matrix():
    for seed in range(4):
        t = generic_tree(seed, damping=0.3)
        q, _ = generic_state(t, seed)
        ws, rng = workspace(t.arrays), np.random.default_rng(seed)
        place(t.arrays, q, ws.node)
        M = np.zeros((t.nv, t.nv))
        for a in range(t.nv):
            column = np.zeros(t.nv)
            momenta(t.arrays, ws.node, np.eye(t.nv)[a], ws.arc, ws.wrench, column)
            M[:, a] = column
        assert pytest.approx(M.T, abs=1e-13) == M
        r, x, damping = rng.normal(size=t.nv), np.zeros(t.nv), t.arrays.damping
        factorise(t.arrays, ws.node, damping, H, ws.articulated, ws.factor)
        solve(t.arrays, ws.node, damping, H, ws.factor, r, ws.wrench, ws.spare, ws.arc, x)
        # measured 2e-14
        assert (M + 0.5 * H * np.diag(damping)) @ x == pytest.approx(r, abs=1e-12)


def test_newton_converges_quadratically_and_all_root_finders_agree():
    t = generic_tree(7, damping=0.1, rotor=0.4)
    q, v = generic_state(t, 7)
    ends = {}
    for finder in ("riqn", "newton", "broyden"):
        stepper = BoundTree(t, H, solver=finder, guess="ig1", tolerance=1e-13, noted=12)
        motion = stepper.start(q, v)
        assert stepper.advance(motion, 1) == (1, OK)
        ends[finder] = motion.q
        if finder == "newton":
            r = stepper.residuals[stepper.residuals > 1e-10]
            # each residual is below the square of the one before, times a constant: measured 1.9 at most
            assert len(r) >= 3
            assert np.all(r[2:] < 10.0 * r[1:-1] ** 2)
        assert stepper.workspace.tally[1] == 0
    assert ends["riqn"] == pytest.approx(ends["newton"], abs=1e-12)
    assert ends["broyden"] == pytest.approx(ends["newton"], abs=1e-12)


def test_second_order_on_a_generic_tree_with_torques_that_change():
    t = generic_tree(2, damping=0.2)
    q, v = generic_state(t, 2, speed=1.0)
    rng = np.random.default_rng(0)
    torques = rng.normal(size=(4, t.nv))

    def end(h):
        stepper = BoundTree(t, h, tolerance=1e-13)
        motion = stepper.start(q, v)
        for u in torques:  # each held over a tenth of a second
            assert stepper.advance(motion, round(0.1 / h), u)[1] == OK
        return np.r_[motion.q, stepper.velocity(motion)]

    fine = end(0.1 / 512)
    errors = [np.abs(end(0.1 / n) - fine).max() for n in (16, 32, 64)]
    slopes = np.log2(errors[:-1]) - np.log2(errors[1:])
    assert slopes == pytest.approx(2.0, abs=0.15)  # measured within 0.06


def planar_double_pendulum(t_s, q0):
    """Angles by a tight integration of the textbook equations, unit rods without mass, unit bobs."""

    def rate(_, y):
        a, b, x, z = y
        c, s = np.cos(a - b), np.sin(a - b)
        M = np.array([[2.0, c], [c, 1.0]])
        f = np.array([-s * z * z - 2 * 9.81 * np.sin(a), s * x * x - 9.81 * np.sin(b)])
        return np.r_[x, z, np.linalg.solve(M, f)]

    return solve_ivp(rate, (0, t_s), np.r_[q0, 0.0, 0.0], rtol=1e-12, atol=1e-12, method="DOP853").y[:2, -1]


def test_a_double_pendulum_moves_as_its_textbook_equations():
    bob = {"mass": 1.0, "centre": (0.0, 0.0, -1.0)}
    t = tree(
        [
            Body("upper", joint=Joint(axis=(0.0, -1.0, 0.0)), **bob),
            Body("lower", "upper", Joint(axis=(0.0, -1.0, 0.0)), position=(0.0, 0.0, -1.0), **bob),
        ]
    )
    exact = planar_double_pendulum(1.5, [1.2, -0.7])
    errors = []
    for h in (2e-3, 1e-3):
        stepper = BoundTree(t, h, tolerance=1e-13)
        motion = stepper.start(np.array([1.2, -1.9]), np.zeros(2))
        assert stepper.advance(motion, round(1.5 / h))[1] == OK
        errors.append(np.abs(np.cumsum(motion.q) - exact).max())
    assert errors[1] < 2e-5  # measured 4e-6
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)


def test_a_pendulum_keeps_the_period_of_its_elliptic_integral():
    t = tree([Body("rod", joint=Joint(axis=(1.0, 0.0, 0.0)), mass=2.0, centre=(0.0, 0.0, -0.5))])
    k = np.sin(0.5 * 2.0)
    w = np.sqrt(9.81 / 0.5)
    exact = 2.0 * np.arcsin(k * ellipj(ellipk(k * k) - 3.0 * w, k * k)[0])
    errors = []
    for h in (2e-3, 1e-3):
        stepper = BoundTree(t, h, tolerance=1e-13)
        motion = stepper.start(np.array([2.0]), np.zeros(1))
        stepper.advance(motion, round(3.0 / h))
        errors.append(abs(motion.q[0] - exact))
    assert errors[1] < 1e-4  # measured 5.0e-5
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.1)


def test_a_free_tree_falls_freely_and_keeps_its_spatial_momentum():
    t = generic_tree(11, damping=0.0, gravity_w=(0.0, 0.0, 0.0), root="free", rotor=0.4)
    q, v = generic_state(t, 11, speed=1.0)
    stepper = BoundTree(t, 1e-3, tolerance=1e-12)
    motion = stepper.start(q, v)
    before = stepper.momentum_w(motion)
    assert stepper.advance(motion, 10_000) == (10_000, OK)
    # measured 3e-12 of momenta about 1
    assert stepper.momentum_w(motion) == pytest.approx(before, abs=1e-10)


def test_weight_changes_the_momentum_of_a_free_tree_by_its_impulse_alone():
    t = generic_tree(12, damping=0.4, root="free")
    q, v = generic_state(t, 12)
    stepper = BoundTree(t, 1e-3, tolerance=1e-12)
    motion = stepper.start(q, v)
    before = stepper.momentum_w(motion)
    stepper.advance(motion, 500)
    gained = (stepper.momentum_w(motion) - before)[3:]
    assert gained == pytest.approx([0.0, 0.0, -9.81 * t.arrays.mass.sum() * 0.5], abs=1e-10)


def test_the_energy_of_a_chain_does_not_drift():
    t = pendulum_chain(5)
    rng = np.random.default_rng(1)
    stepper = BoundTree(t, 2e-3)
    motion = stepper.start(rng.uniform(-1, 1, 5), np.zeros(5))
    start, energies = stepper.energy_J(motion), []
    for _ in range(100):
        assert stepper.advance(motion, 1000)[1] == OK
        energies.append(stepper.energy_J(motion) - start)
    first, last = np.array(energies[:50]), np.array(energies[50:])
    # 200 s at 2 ms, chaotic: measured 0.012 J at most in either half, of 30 J that move
    assert np.abs(energies).max() < 0.05
    assert abs(last.mean() - first.mean()) < 0.01


@pytest.mark.parametrize("finder", ["riqn", "newton"])
def test_steps_that_are_guessed_well_end_after_one_iteration_and_are_solved_all_the_same(finder):
    """Ten links that swing for half a second: 1.04 and 1.01 iterations a step, 3.0 and 2.0 guessed by the step before.
    Away from a tight solution: 1.6e-11 and 5e-15 rad."""
    t, h, steps = pendulum_chain(10), 1e-3, 500
    ends, iterations = [], []
    for guess, tolerance in (("extrapolated", 1e-10), ("ig2", 1e-10), ("extrapolated", 1e-14)):
        stepper = BoundTree(t, h, solver=finder, guess=guess, tolerance=tolerance)
        motion = stepper.start(0.3 * np.sin(1.0 + 1.7 * np.arange(10)), np.zeros(10))
        assert stepper.advance(motion, steps) == (steps, OK)
        ends.append(motion.q)
        iterations.append(stepper.workspace.tally[0] / steps)
    assert iterations[0] < 1.2
    assert iterations[1] > 1.5
    np.testing.assert_allclose(ends[0], ends[2], rtol=0.0, atol=1e-9)


def test_equal_states_and_inputs_lead_to_equal_bits():
    t = generic_tree(5, damping=0.1)
    stepper = BoundTree(t, H)
    motion = stepper.start(*generic_state(t, 5))
    stepper.advance(motion, 7)
    kept = motion.copy()
    u = np.linspace(-1, 1, t.nv)
    stepper.advance(motion, 20, u)
    other = BoundTree(t, H)
    for _ in range(20):
        other.advance(kept, 1, u)
    assert np.array_equal(kept.q, motion.q)
    assert np.array_equal(kept.b, motion.b)


def test_a_limit_holds_without_blowing_up():
    t = tree(
        [
            Body(
                "flap",
                joint=Joint(axis=(0.0, 1.0, 0.0), limits=(-0.4, 0.3)),
                centre=(0.3, 0.0, 0.0),
                inertia=(0.01, 0.02, 0.02),
            )
        ]
    )
    for h in (1e-3, 1e-2):
        stepper = BoundTree(t, h)
        motion = stepper.start(np.zeros(1), np.array([-3.0]))
        reach = []
        for _ in range(round(4.0 / h)):
            assert stepper.advance(motion, 1)[1] == OK
            reach.append(motion.q[0])
        # falls on its upper stop (gravity turns it by +y) and comes to rest on it; overshoot: three steps' way at most
        assert min(reach) > -0.4 - 4 * h * 4.0
        assert max(reach) < 0.3 + 4 * h * 4.0
        assert stepper.velocity(motion)[0] == pytest.approx(0.0, abs=1e-3)
        assert 0.3 < motion.q[0] < 0.31


def test_a_step_that_has_no_root_as_a_whole_is_divided_and_told():
    t = pendulum_chain(30)
    rng = np.random.default_rng(3)
    stepper = BoundTree(t, 1 / 15)
    motion = stepper.start(rng.uniform(-1.5, 1.5, 30), rng.normal(size=30))
    assert stepper.advance(motion, 60) == (60, OK)
    assert np.all(np.isfinite(motion.q))
    assert stepper.workspace.tally[1] > 0


def test_increments_compose_on_the_group_of_their_joint():
    round_body = {"inertia": (0.1, 0.1, 0.1)}
    t = tree(
        [Body("ball", joint=Joint("ball"), **round_body), Body("free", joint=Joint("free"), **round_body)]
    )
    rng = np.random.default_rng(0)
    d, e, out = rng.normal(size=9), 0.3 * rng.normal(size=9), np.zeros(9)
    compose(t.arrays, d, e, 1.0, out)
    one = t.q0.copy()
    move(t.arrays, one, out)
    # the free joint's small motion is a Cayley motion: its translation is (1 - e^/2)^-1 v
    v = np.linalg.solve(np.eye(3) - hat(e[3:6]) / 2, e[6:])
    two = t.q0.copy()
    move(t.arrays, two, d)
    move(t.arrays, two, np.r_[e[:6], v])
    assert frames(t, one) == pytest.approx(frames(t, two), abs=1e-14)


def test_runge_kutta_on_articulated_body_accelerations_has_order_four_and_meets_the_variational_limit():
    t = generic_tree(2, damping=0.2, root="free", rotor=0.15)
    q0, v0 = generic_state(t, 2, speed=1.0)
    torques = np.random.default_rng(0).normal(size=t.nv)
    ws, none = workspace(t.arrays), Closure(t, (), dampers=False)
    loops, closing = none.arrays, none.workspace

    def end(n):
        q, v = q0.copy(), v0.copy()
        stages, none = np.zeros((6, t.nv)), np.zeros((0, 6))
        for _ in range(n):
            rk4_step(t.arrays, ws, loops, closing, q, v, torques[None], none, 0.2 / n, stages)
        return np.r_[q, v]

    fine = end(256)
    errors = [np.abs(end(n) - fine).max() for n in (8, 16, 32)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.3)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(4.0, abs=0.15)
    away = []
    for n in (256, 512):
        stepper = BoundTree(t, 0.2 / n, tolerance=1e-13)
        motion = stepper.start(q0, v0)
        stepper.advance(motion, n, torques)
        away.append(np.abs(np.r_[motion.q, stepper.velocity(motion)] - fine).max())
    assert away[1] < 5e-4  # measured 2e-4, of speeds about 3
    assert away[0] / away[1] == pytest.approx(4.0, abs=0.1)
