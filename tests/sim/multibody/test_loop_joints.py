"""Loops that close as any joint, gears, and springs between points, against trees and equations without them."""

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import sim
from sim.groups.numeric import quaternion_of
from sim.multibody.observing import body_frames, body_motions, spatial_momentum
from sim.multibody.stepping import OK
from sim.multibody.tree import with_springs
from sim.steppers.bound_tree import BoundTree
from tests.sim.multibody.sample_trees import assert_symbolic_steps

KINDS = ("ball", "revolute", "universal", "fixed", "prismatic", "planar")


def random_body(rng, name, parent, joint, position=(0.0, 0.0, 0.0), R=None):
    A = rng.normal(size=(3, 3))
    return sim.Body(name, parent, joint, tuple(position), np.eye(3) if R is None else R, mass=rng.uniform(0.5, 3.0),
                    centre=tuple(0.1 * rng.normal(size=3)), inertia=0.02 * (A @ A.T + np.eye(3)))  # fmt: skip


def twist_of(tree, name, q, v):
    """(omega, v) of a body's own frame, by the difference of its pose."""
    s = 1e-6
    T, after, before = (body_frames(tree, q + k * s * v)[name] for k in (0, 1, -1))
    turn = T[:3, :3].T @ (after - before)[:3, :3] / (2 * s)
    return np.r_[turn[2, 1], turn[0, 2], turn[1, 0], T[:3, :3].T @ body_motions(tree, q, v)[name][1]]


@pytest.mark.parametrize("solver", ["riqn", "newton", "broyden"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_free_body_in_a_loop_moves_as_one_that_hangs_by_the_same_joint(kind, solver):
    """To rounding, not to the step's order: both are one variational step. Measured: 5e-11 at most."""
    rng = np.random.default_rng(KINDS.index(kind))
    joint = {"axis": tuple(rng.normal(size=3)), "second_axis": tuple(rng.normal(size=3))}
    R = Rotation.from_rotvec(rng.normal(size=3)).as_matrix()
    point, other_point = 0.3 * rng.normal(size=(2, 3))
    state = rng.bit_generator.state
    base = random_body(rng, "base", "world", sim.Joint(axis=(0.2, 1.0, -0.5)), rng.normal(size=3))
    hung = sim.tree([base, random_body(rng, "body", "base", sim.Joint(kind, anchor=tuple(point), **joint),
                                       other_point - R @ point, R)])  # fmt: skip
    rng.bit_generator.state = state
    base = random_body(rng, "base", "world", sim.Joint(axis=(0.2, 1.0, -0.5)), rng.normal(size=3))
    loose = sim.tree([base, random_body(rng, "body", "world", sim.Joint("free"))])
    loop = sim.Loop("body", tuple(point), "base", tuple(other_point), sim.Joint(kind, **joint), R)

    one, other = BoundTree(hung, 4e-3, solver=solver), BoundTree(loose, 4e-3, loops=[loop], solver=solver)
    v = rng.normal(size=hung.nv)
    T = body_frames(hung, hung.q0)["body"]
    if kind == "ball":
        v[1:] = 0.0  # whose coordinates are none that can be added to
    begun = one.start(hung.q0, v)
    closed = other.start(np.r_[0.0, quaternion_of(T[:3, :3]), T[:3, 3]],
                         np.r_[v[0], twist_of(hung, "body", hung.q0, v_in_q(hung, v))])  # fmt: skip
    assert one.advance(begun, 100)[1] == OK
    assert other.advance(closed, 100)[1] == OK
    np.testing.assert_allclose(
        body_frames(loose, closed.q)["body"], body_frames(hung, begun.q)["body"], atol=1e-8
    )
    assert np.abs(other.gaps(closed.q)).max() < 1e-10


def v_in_q(tree, v):
    """Velocities as rates of coordinates, where ball joints stand still."""
    return v if tree.nq == tree.nv else np.r_[v[0], 0.0, v[1:]]


def test_gears_make_two_pendulums_one():
    """q1 = 0.1 - 1.5 q0 + 0.3 q0^2: one equation, integrated beside. Measured 2.2e-5 rad at 2 ms, of order two."""
    lengths, coefficients = (0.7, 0.4), (0.1, -1.5, 0.3)
    arms = [
        sim.Body(f"arm {k}", joint=sim.Joint(axis=(0, -1, 0)), position=(float(k), 0, 0), mass=1.0 + k,
                 centre=(length, 0, 0)) for k, length in enumerate(lengths)
    ]  # fmt: skip
    geared = sim.tree(arms)
    masses, arm = np.array([1.0, 2.0]), np.array(lengths)
    q, w = ca.SX.sym("q"), ca.SX.sym("w")
    angles = ca.vertcat(q, coefficients[0] + coefficients[1] * q + coefficients[2] * q**2)
    rates = ca.jtimes(angles, q, w)
    energy = ca.dot(masses * arm**2, rates**2) / 2
    lagrangian = energy - 9.81 * ca.dot(masses * arm, ca.sin(angles))
    p = ca.gradient(energy, w)
    rate = ca.Function(
        "rate", [q, w], [(ca.gradient(lagrangian, q) - ca.jtimes(p, q, w)) / ca.gradient(p, w)]
    )
    run = solve_ivp(lambda _, x: [x[1], float(rate(*x))], (0, 1.5), [0.4, 0.0], rtol=1e-11, atol=1e-11)
    missed = []
    for h in (4e-3, 2e-3):
        bound = BoundTree(geared, h, loops=[sim.Gear("arm 1", "arm 0", coefficients)])
        motion = bound.start([0.4, 0.1 - 0.6 + 0.3 * 0.16], [0.0, 0.0])
        assert bound.advance(motion, round(1.5 / h))[1] == OK
        assert np.abs(bound.gaps(motion.q)).max() < 1e-10
        missed.append(abs(motion.q[0] - run.y[0, -1]))
    assert missed[1] < 1e-3
    assert missed[0] / missed[1] == pytest.approx(4.0, abs=0.5)


def drawn_pair(stiffness, damping, rest):
    """Two free bodies without weight and a spring between points of them."""
    rng = np.random.default_rng(5)
    bodies = [random_body(rng, name, "world", sim.Joint("free")) for name in ("one", "other")]
    spring = sim.Spring("one", (0.1, 0.2, -0.1), "other", (0.0, -0.3, 0.2), stiffness, damping, rest)
    tree = sim.tree(bodies, (0, 0, 0), springs=[spring])
    q = np.r_[
        1.0,
        0,
        0,
        0,
        0.3,
        0.1,
        0.0,
        quaternion_of(Rotation.from_rotvec([0.4, -0.3, 0.8]).as_matrix()),
        -0.4,
        0.5,
        0.2,
    ]
    return tree, bodies, spring, q, 0.8 * rng.normal(size=12)


def by_newton_and_euler(bodies, spring, q, v, seconds):
    """Places of both bodies' centres, by their own equations."""
    low, high = np.broadcast_to(spring.rest, 2)
    arms = [
        np.subtract(point, body.centre)
        for point, body in zip((spring.point, spring.other_point), bodies, strict=True)
    ]

    def rate(_, y):
        (x, w, u), R = np.split(np.r_[y[:6], y[24:]].reshape(6, 3), 3), y[6:24].reshape(2, 3, 3)
        ends = [x[k] + R[k] @ arms[k] for k in (0, 1)]
        speeds = [u[k] + R[k] @ np.cross(w[k], arms[k]) for k in (0, 1)]
        length = np.linalg.norm(ends[0] - ends[1])
        e = (ends[0] - ends[1]) / length
        over = min(length - low, 0.0) + max(length - high, 0.0)
        f = -(spring.stiffness * over + spring.damping * e @ (speeds[0] - speeds[1])) * e
        turns, spins, pulls = [], [], []
        for k, sign in ((0, 1.0), (1, -1.0)):
            J = np.asarray(bodies[k].inertia)
            W = np.cross(np.eye(3), w[k])
            turns.append(R[k] @ W)
            spins.append(
                np.linalg.solve(J, np.cross(arms[k], R[k].T @ (sign * f)) - np.cross(w[k], J @ w[k]))
            )
            pulls.append(sign * f / bodies[k].mass)
        return np.r_[u.ravel(), np.ravel(turns), np.ravel(spins), np.ravel(pulls)]

    R = [Rotation.from_quat(q[7 * k : 7 * k + 4], scalar_first=True).as_matrix() for k in (0, 1)]
    x = [q[7 * k + 4 : 7 * k + 7] + R[k] @ bodies[k].centre for k in (0, 1)]
    w = [v[6 * k : 6 * k + 3] for k in (0, 1)]
    u = [R[k] @ (v[6 * k + 3 : 6 * k + 6] + np.cross(w[k], bodies[k].centre)) for k in (0, 1)]
    run = solve_ivp(rate, (0, seconds), np.r_[np.ravel(x), np.ravel(R), np.ravel(w), np.ravel(u)],
                    method="DOP853", rtol=1e-12, atol=1e-12)  # fmt: skip
    return run.y[:6, -1]


def centres(bodies, poses):
    return np.ravel([(poses[b.name] @ np.r_[b.centre, 1.0])[:3] for b in bodies])


@pytest.mark.parametrize(("damping", "rest"), [(0.0, 0.3), (3.0, 0.3), (60.0, 0.3), (1.0, (0.2, 0.55))])
def test_a_spring_between_free_bodies_pulls_as_newton_and_euler_have_it(damping, rest):
    """By the variational step with errors of second order, by rk4 of fourth; momenta stay. Measured at 2 ms: 6e-6 m."""
    tree, bodies, spring, q, v = drawn_pair(40.0, damping, rest)
    exact, missed = by_newton_and_euler(bodies, spring, q, v, 0.8), []
    for h in (4e-3, 2e-3):
        bound = BoundTree(tree, h)
        motion = bound.start(q, v)
        before = spatial_momentum(tree, motion.q, bound.velocity(motion))
        assert bound.advance(motion, round(0.8 / h))[1] == OK
        np.testing.assert_allclose(
            spatial_momentum(tree, motion.q, bound.velocity(motion)), before, atol=1e-10
        )
        missed.append(np.abs(centres(bodies, bound.bodies(motion)) - exact).max())
    assert missed[1] < 1e-4
    if rest == 0.3:  # a rope's force has a corner
        assert missed[0] / missed[1] == pytest.approx(4.0, abs=0.8)
    run = sim.simulate(tree, "rk4", step=2e-3, duration=0.8, initial=tree.state(q, v))
    poses = {name: T[-1] for name, T in run.bodies.items()}
    smooth = rest == 0.3 and damping < 50.0
    np.testing.assert_allclose(centres(bodies, poses), exact, atol=1e-7 if smooth else 1e-4)


def test_a_damper_of_any_size_is_stable_and_lets_a_stiff_spring_creep():
    """1 kg on 2,000 N/m with 50,000 N s/m: c h / m is 250. It creeps at k/c; measured to 1e-9 of the closed form."""
    mass = sim.Body("mass", joint=sim.Joint("prismatic"), mass=1.0)
    spring = sim.Spring("mass", (0, 0, 0), other_point=(0, 0, -1), stiffness=2e3, damping=5e4, rest=0.7)
    tree = sim.tree([mass], (0, 0, 0), springs=[spring])
    run = sim.simulate(tree, "variational", step=5e-3, duration=5.0, initial=tree.state())
    rates = np.roots([1.0, 5e4, 2e3])
    slow = rates[np.argmin(np.abs(rates))]
    assert run.nodes[-1, 0] == pytest.approx(-0.3 * (1 - np.exp(slow * 5.0)), rel=1e-4)
    assert (np.diff(run.energy) < 0.0).all()


def test_symbolic_steps_of_springs_and_dampers_are_those_that_are_compiled():
    tree, _, _, q, v = drawn_pair(40.0, 3.0, 0.3)
    assert_symbolic_steps(tree, q, v, 4e-3)


@pytest.mark.parametrize(
    ("made", "what"),
    [
        (lambda t: BoundTree(t, 0.01, loops=[sim.Loop("a", (0, 0, 0), joint=sim.Joint("free"))]), "closes none"),
        (lambda t: BoundTree(t, 0.01, loops=[sim.Loop("a", (0, 0, 0), joint=sim.Joint(damping=1.0))]), "has springs"),
        (lambda t: BoundTree(t, 0.01, loops=[sim.Gear("a", "c")]), "unknown joint 'c'; allowed: a"),
        (lambda t: BoundTree(t, 0.01, loops=[sim.Gear("a", "a")]), "follows itself"),
        (lambda t: BoundTree(t, 0.01, loops=[sim.Gear("a", coefficients=())]), "0 coefficients; allowed: 1 to 5"),
        (lambda t: BoundTree(t, 0.01, loops=[sim.Gear("a", coefficients=3.0)]), "0 coefficients; allowed: 1 to 5"),
        (lambda t: sim.tree([sim.Body("a", inertia=(1.0, 1.0, 1.0))], springs="x"), "allowed: a list of sim.Spring"),
        (lambda t: with_springs(t, [3]), "allowed: a list of sim.Spring"),
        (lambda t: with_springs(t, [sim.Spring("a", (0, 0, 0), rest="long")]), "rest = 'long'"),
        (lambda t: with_springs(t, [sim.Spring("a", (0, 0, 0), rest=[[1], [1, 2]])]), "rest"),
        (lambda t: with_springs(t, [sim.Spring("b", (0, 0, 0))]), "unknown body 'b'"),
        (lambda t: with_springs(t, [sim.Spring("a", (0, 0, 0), "a")]), "do not move apart"),
        (lambda t: with_springs(t, [sim.Spring("a", (0, 0, 0), damping=-1)]), "damping"),
        (lambda t: with_springs(t, [sim.Spring("a", (0, 0, 0), rest=(2, 1))]), "rest"),
    ],
)  # fmt: skip
def test_what_joins_nothing_is_refused_in_a_line(made, what):
    tree = sim.tree([sim.Body("a", inertia=(1.0, 1.0, 1.0))])
    with pytest.raises(sim.InputError, match=what) as refusal:
        made(tree)
    assert "\n" not in str(refusal.value)
