"""Laws of chains of spherical pendula on (TS^2)^N: mechanics, methods, and the code that is generated for them."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.linalg import eigh

import sim
from sim.compiler import kernel_text
from sim.integrators import INTEGRATORS
from sim.vehicles.forms.parameters import Control
from studies.survey import controlled

GRAVITY = 9.81
PUSH = np.array([3.0, -2.0])
ON_THE_GROUP = [
    n
    for n, m in INTEGRATORS.items()
    if m.family in ("lie-group", "adaptive") and not m.serves(sim.vehicle("pendulum", links=2))
]


def chain(links, rng=None, **more):
    """Of generic masses and lengths."""
    rng = rng or np.random.default_rng(links)
    return sim.vehicle(
        "pendulum",
        links=links,
        mass=rng.uniform(0.5, 2.0, links),
        length=rng.uniform(0.4, 1.3, links),
        **more,
    )


def generic_state(vehicle, rng):
    """Not in a plane."""
    q = rng.normal(size=(vehicle.link_count, 3))
    q /= np.linalg.norm(q, axis=1)[:, None]
    return vehicle.state(direction=q, omega=np.cross(q, 1.5 * rng.normal(size=q.shape)))


def hat(a):
    return np.cross(np.eye(3), -np.asarray(a))


def dense_turning(vehicle, node, push=(0.0, 0.0)):
    """omega' of the survey's dense system R(q) omega' = h, the push on the last bob put in by virtual work."""
    n = vehicle.link_count
    m, length = np.broadcast_to(vehicle.values["mass"], n), np.broadcast_to(vehicle.values["length"], n)
    q, w = node.reshape(n, 6)[:, :3], node.reshape(n, 6)[:, 3:]
    M = np.array([[m[max(i, j) :].sum() * length[i] * length[j] for j in range(n)] for i in range(n)])
    R, h = np.zeros((3 * n, 3 * n)), np.zeros(3 * n)
    for i in range(n):
        rows = slice(3 * i, 3 * i + 3)
        for j in range(n):
            columns = slice(3 * j, 3 * j + 3)
            R[rows, columns] = M[i, i] * np.eye(3) if i == j else -M[i, j] * hat(q[i]) @ hat(q[j])
            if i != j:
                h[rows] += M[i, j] * (w[j] @ w[j]) * np.cross(q[i], q[j])
        h[rows] += length[i] * np.cross(q[i], [push[0], push[1], -m[i:].sum() * GRAVITY])
    return np.linalg.solve(R, h).reshape(n, 3)


@pytest.mark.parametrize("links", [1, 2, 3, 6, 20])
def test_turning_by_the_rods_pulls_is_that_of_the_surveys_dense_system(links):
    """R(q) omega' = h of the survey's section 5.2, at generic states; measured 2e-14 of the largest."""
    rng = np.random.default_rng(links)
    vehicle = chain(links, rng)
    node, u = ca.SX.sym("y", 6 * links), ca.SX.sym("u", 2)
    f = ca.Function(
        "f", [node, u], [vehicle.generator(node, u, vehicle.symbols(ca.SX(vehicle.parameter_vector)))]
    )
    for _ in range(3):
        at = generic_state(vehicle, rng).node
        q, w = at.reshape(links, 6)[:, :3], at.reshape(links, 6)[:, 3:]
        found = np.array(f(at, PUSH)).reshape(links, 6)
        wanted = dense_turning(vehicle, at, PUSH)
        np.testing.assert_array_equal(found[:, :3], w)
        np.testing.assert_allclose(found[:, 3:], np.cross(q, wanted), atol=1e-12 * np.abs(wanted).max())


def exact(vehicle, start, seconds):
    """By the dense system, with an integrator and a state of its own."""
    n = vehicle.link_count

    def rate(_, y):
        q, w = y.reshape(n, 6)[:, :3], y.reshape(n, 6)[:, 3:]
        return np.column_stack([np.cross(w, q), dense_turning(vehicle, y, PUSH)]).ravel()

    return solve_ivp(rate, (0, seconds), start.node, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]


@pytest.fixture(scope="module")
def two():
    vehicle = chain(2)
    start = generic_state(vehicle, np.random.default_rng(5))
    return vehicle, start, exact(vehicle, start, 1.0)


@pytest.mark.parametrize(
    ("method", "order"),
    [("lie-euler", 1), ("lie-heun", 2), ("rkmk3", 3), ("cf3a", 3), ("cf3b", 3), ("crouch-grossman3", 3),
     ("rkmk4", 4), ("rkmk4-2c", 4), ("rkmk4-cay", 4), ("cf4", 4), ("rkmk5", 5), ("rk2", 2), ("rk4", 4)],
)  # fmt: skip
def test_order_on_two_links_that_move_in_space(method, order, two):
    """Slope of one halving on a pushed chain, generic start; measured within 0.1."""
    vehicle, start, wanted = two
    assert INTEGRATORS[method].order == order
    n, errors = {1: 4000, 2: 600, 3: 600, 4: 600, 5: 150}[order], []
    for steps in (n, 2 * n):
        run = sim.simulate(vehicle, method, step=1 / steps, duration=1.0, initial=start, controls=PUSH)
        errors.append(np.linalg.norm(run.nodes[-1] - wanted))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("method", ["rkmk54", "cf43", "cf32a", "cf32b", "dopri54"])
def test_adaptive_methods_keep_to_their_tolerance(method, two):
    """A hundredth of the tolerance, a tenth of the error or less; it divides the step where it has to."""
    vehicle, start, wanted = two
    errors = []
    for tolerance in (1e-6, 1e-8):
        pair = replace(INTEGRATORS[method], tolerance=tolerance)
        run = sim.simulate(vehicle, pair, step=0.25, duration=1.0, initial=start, controls=PUSH)
        errors.append(np.linalg.norm(run.nodes[-1] - wanted))
    assert errors[1] < errors[0] / 10
    assert errors[1] < 1e-5


@pytest.mark.parametrize("method", ON_THE_GROUP)
def test_lie_group_methods_stay_on_the_space(method):
    """|q|^2 = 1 and q.omega = 0 over 5 s, as the survey's figures 6 and 7 show them; measured 5e-14."""
    scheme = INTEGRATORS[method]
    scheme = replace(scheme, tolerance=1e-6) if scheme.adaptive else scheme
    vehicle = sim.vehicle("pendulum", links=2, mass=1.0, length=1.0)
    start = vehicle.state(
        direction=[[0.6, 0.48, 0.64], [0.0, -0.6, 0.8]], omega=[[0.0, 0.8, -0.6], [1.0, 0, 0]]
    )
    run = sim.simulate(vehicle, scheme, step=0.005, duration=5.0, initial=start)
    q, w = run.nodes.reshape(-1, 2, 6)[..., :3], run.nodes.reshape(-1, 2, 6)[..., 3:]
    assert np.abs((q * q).sum(-1) - 1).max() < 1e-13
    assert np.abs((q * w).sum(-1)).max() < 1e-13


@pytest.mark.parametrize(("method", "step"), [("rk4", 0.02), ("dopri54", 0.05)])
def test_classical_methods_leave_the_space_and_an_observable_says_how_far(method, step):
    """As ODE45 and RK4 do in the survey's figure 6."""
    vehicle = sim.vehicle("pendulum", links=2, mass=1.0, length=1.0)
    run = sim.simulate(vehicle, method, step=step, duration=5.0)
    size = np.linalg.norm(run.nodes.reshape(-1, 2, 6)[..., :3], axis=-1)
    off = np.abs(size - 1).max(axis=1)
    assert off[-1] > 1e-8
    np.testing.assert_allclose(run.observables["off_sphere"], off, atol=1e-15)


def survey_start(vehicle):
    s = np.sqrt(0.5)
    return vehicle.state(direction=(s, 0.0, s), omega=(0.0, 1.0, 0.0))


@pytest.mark.parametrize(
    ("links", "length", "steps", "rejected", "adaptive", "constant"),
    [
        (2, 1.0, 117, 17, 1.05e-5, 3.74e-3),
        (20, 1.0, 362, 5, 1.5e-5, 3.0e-5),
        (20, 0.25, 675, 2, 3.5e-5, 1.4e-4),
    ],
)
def test_the_surveys_adaptive_runs_come_out_step_by_step(links, length, steps, rejected, adaptive, constant):
    """RKMK(5,4) with tolerance 1e-6 over 3 s, then RKMK5 with as many equal steps; errors within a fifth.

    Chains whose whole length is shared start stretched out at rest.
    """
    vehicle = sim.vehicle("pendulum", links=links, mass=1.0, length=length)
    start = survey_start(vehicle) if length == 1.0 else vehicle.state(direction=(1.0, 0.0, 0.0))
    run = controlled(vehicle, replace(INTEGRATORS["rkmk54"], tolerance=1e-6), start, 3.0, 0.03)
    assert (run.accepted, run.rejected) == (steps, rejected)
    tight = sim.simulate(
        vehicle, replace(INTEGRATORS["dopri54"], tolerance=1e-13), duration=3.0, initial=start
    )
    equal = sim.simulate(vehicle, "rkmk5", step=3.0 / steps, duration=3.0, initial=start)
    assert np.linalg.norm(run.nodes[-1] - tight.nodes[-1]) == pytest.approx(adaptive, rel=0.2)
    assert np.linalg.norm(equal.nodes[-1] - tight.nodes[-1]) == pytest.approx(constant, rel=0.2)


def test_in_a_plane_it_is_the_textbooks_double_pendulum():
    """Angles from hanging, one equation each; measured 2e-10 after 2 s of large swings."""
    vehicle = sim.vehicle("pendulum", links=2, mass=(1.3, 0.7), length=(0.8, 1.1))
    (m1, m2), (l1, l2) = vehicle.values["mass"], vehicle.values["length"]

    def rate(_, y):
        a, b, va, vb = y
        d = a - b
        M = [[(m1 + m2) * l1, m2 * l2 * np.cos(d)], [l1 * np.cos(d), l2]]
        right = [
            -m2 * l2 * vb**2 * np.sin(d) - (m1 + m2) * GRAVITY * np.sin(a),
            l1 * va**2 * np.sin(d) - GRAVITY * np.sin(b),
        ]
        return [va, vb, *np.linalg.solve(M, right)]

    begin = np.array([1.9, -0.7, 0.4, 1.1])
    end = solve_ivp(rate, (0, 2.0), begin, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    across = np.array([0.6, 0.8, 0.0])

    def directions(angles):
        return np.sin(angles)[:, None] * across - np.cos(angles)[:, None] * [0.0, 0.0, 1.0]

    turning = np.cross(across, [0.0, 0.0, 1.0])
    start = vehicle.state(direction=directions(begin[:2]), omega=begin[2:, None] * turning)
    run = sim.simulate(vehicle, "rkmk5", step=0.001, duration=2.0, initial=start)
    found = run.nodes[-1].reshape(2, 6)
    np.testing.assert_allclose(found[:, :3], directions(end[:2]), atol=1e-8)
    np.testing.assert_allclose(found[:, 3:], end[2:, None] * turning, atol=1e-8)


@pytest.mark.parametrize("mode", [0, 2, 4])
def test_a_hanging_chain_swings_with_its_normal_frequencies(mode):
    """Small swings of one mode in x, of another a quarter later in y, come back after their periods; measured 3e-9."""
    vehicle, n, small = chain(5), 5, 1e-4
    m, length = np.array(vehicle.values["mass"]), np.array(vehicle.values["length"])
    M = np.array([[m[max(i, j) :].sum() * length[i] * length[j] for j in range(n)] for i in range(n)])
    K = np.diag([m[i:].sum() * GRAVITY * length[i] for i in range(n)])
    squared, shapes = eigh(K, M)
    rate, shape = np.sqrt(squared[mode]), shapes[:, mode] / np.abs(shapes[:, mode]).max()
    q = np.column_stack([small * shape, np.zeros(n), -np.sqrt(1 - (small * shape) ** 2)])
    omega = np.cross(q, np.column_stack([np.zeros(n), small * rate * shape, np.zeros(n)]))
    period = 2 * np.pi / rate
    run = sim.simulate(
        vehicle, "cf4", step=period / 400, duration=period, initial=vehicle.state(direction=q, omega=omega)
    )
    x, y = run.nodes.reshape(-1, n, 6)[:, :, 0], run.nodes.reshape(-1, n, 6)[:, :, 1]
    np.testing.assert_allclose(x[-1], small * shape, atol=1e-7)
    np.testing.assert_allclose(y[100], small * shape, atol=1e-7)


def test_the_bobs_obey_newton_with_the_pulls_that_are_told():
    """m a = weight + own rod's pull + next rod's pull (+ the push), a from differences of the places; within 1e-5."""
    vehicle, h = chain(3), 1e-4
    start = generic_state(vehicle, np.random.default_rng(2))
    run = sim.simulate(vehicle, "rkmk5", step=h, duration=0.01, initial=start, controls=PUSH)
    bobs = [run.bodies[f"bob_{k}"][:, :3, 3] for k in (1, 2, 3)]
    pull, mass = run.observables["tension"], vehicle.values["mass"]
    q = run.nodes.reshape(-1, 3, 6)[..., :3]
    for k, x in enumerate(bobs):
        force = -pull[:, k, None] * q[:, k] - [0, 0, mass[k] * GRAVITY]
        force = force + (pull[:, k + 1, None] * q[:, k + 1] if k < 2 else [*PUSH, 0.0])
        slope = (x[2:] - 2 * x[1:-1] + x[:-2]) / h**2
        np.testing.assert_allclose(mass[k] * slope, force[1:-1], atol=1e-4 * np.abs(force).max())
    assert next(iter(run.bodies)) == "bob_3"
    np.testing.assert_allclose(run.observables["reach"], np.sum(vehicle.values["length"]))


def test_energy_and_the_momentum_about_the_vertical_are_kept():
    """Six links let go for 5 s; measured 3e-10 and 6e-12."""
    vehicle = sim.vehicle("pendulum", links=6, length=0.3, mass=1.0)
    run = sim.simulate(vehicle, replace(INTEGRATORS["rkmk54"], tolerance=1e-11), step=0.02, duration=5.0)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-7
    assert np.abs(run.momentum[:, 2] - run.momentum[0, 2]).max() < 1e-8


@pytest.mark.parametrize("method", ["cf4", "rkmk54", "rk4"])
def test_generated_code_does_not_grow_with_the_links(method):
    """Loops in place of copies: the same instructions for 10 and for 50, 1,390 of them by rkmk54."""
    ten, fifty = (kernel_text(sim.vehicle("pendulum", links=n), INTEGRATORS[method]) for n in (10, 50))
    assert ten.text.count("\n") == fifty.text.count("\n") < 2000
    assert ten.name != fifty.name


def turned(vehicle, node, moment):
    """omega' where motors turn the first rod: the dense system's, and what a moment does to every rod at rest."""
    n = vehicle.link_count
    m, length = np.broadcast_to(vehicle.values["mass"], n), np.broadcast_to(vehicle.values["length"], n)
    q = node.reshape(n, 6)[:, :3]
    M = np.array([[m[max(i, j) :].sum() * length[i] * length[j] for j in range(n)] for i in range(n)])
    rows = [[M[i, j] * (np.eye(3) if i == j else -hat(q[i]) @ hat(q[j])) for j in range(n)] for i in range(n)]
    across = moment - (moment @ q[0]) * q[0]
    return dense_turning(vehicle, node) + np.linalg.solve(
        np.block(rows), np.r_[across, np.zeros(3 * n - 3)]
    ).reshape(n, 3)


@pytest.mark.parametrize("links", [1, 3])
def test_motors_at_the_fixed_point_turn_the_first_rod(links):
    """In R(q) omega' = h a moment on the first rod stands in the first row, across the rod, as it is; 1e-14."""
    vehicle = chain(links, pivot_motor=1)
    node, u = ca.SX.sym("y", 6 * links), ca.SX.sym("u", 2)
    f = ca.Function(
        "f", [node, u], [vehicle.generator(node, u, vehicle.symbols(ca.SX(vehicle.parameter_vector)))]
    )
    at = generic_state(vehicle, np.random.default_rng(links)).node
    found = np.array(f(at, PUSH)).reshape(links, 6)
    wanted = turned(vehicle, at, np.r_[PUSH, 0.0])
    q = at.reshape(links, 6)[:, :3]
    np.testing.assert_allclose(found[:, 3:], np.cross(q, wanted), atol=1e-12 * np.abs(wanted).max())


def test_controls_are_those_of_the_drive_and_come_and_go_with_it():
    hand = sim.vehicle("pendulum", links=2)
    motors = hand.with_parameters(pivot_motor=1)
    assert [c.name for c in hand.controls] == ["push_x", "push_y"]
    assert [(c.name, c.unit) for c in motors.controls] == [("turn_x", "N m"), ("turn_y", "N m")]
    assert motors.with_parameters(pivot_motor=0).controls == hand.controls
    with pytest.raises(sim.InputError, match="pivot_motor = 2 is out of range"):
        sim.vehicle("pendulum", pivot_motor=2)

    class Odd(type(hand)):
        controls = (Control("turn_x", "N m", -1.0, 1.0, "Moment.", only=("motor", 1)),)

    with pytest.raises(sim.InputError, match=r"turn_x: only = .*; allowed: .* of links, pivot_motor"):
        Odd()


def test_one_kernel_serves_all_masses_and_lengths():
    from sim.compiler import compile_kernel

    kernels = {id(compile_kernel(chain(2, np.random.default_rng(k)), INTEGRATORS["cf4"])) for k in range(3)}
    assert len(kernels) == 1


def test_inputs_that_change_within_a_step_keep_the_order():
    """A push that is a function of time: slope 4 of cf4, against the same by the dense system."""
    vehicle = chain(2)
    start = generic_state(vehicle, np.random.default_rng(3))

    def push(t, _=None):
        return np.array([4.0 * np.sin(7.0 * t), 3.0 * np.cos(5.0 * t)])

    def rate(t, y):
        w = y.reshape(2, 6)[:, 3:]
        return np.column_stack(
            [np.cross(w, y.reshape(2, 6)[:, :3]), dense_turning(vehicle, y, push(t))]
        ).ravel()

    end = solve_ivp(rate, (0, 1), start.node, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    errors = [
        np.abs(
            sim.simulate(vehicle, "cf4", step=h, duration=1.0, initial=start, controls=push).nodes[-1] - end
        ).max()
        for h in (0.004, 0.002)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.2)
    tight = replace(INTEGRATORS["rkmk54"], tolerance=1e-10)
    run = sim.simulate(vehicle, tight, step=0.05, duration=1.0, initial=start, controls=push)
    assert np.abs(run.nodes[-1] - end).max() < 1e-5


def test_another_number_of_links_is_another_vehicle_with_the_same_numbers():
    vehicle = sim.vehicle("pendulum", links=3, mass=(1.0, 2.0, 3.0))
    assert vehicle.values["length"] == (1.2, 1.2, 1.2)
    more, less = vehicle.with_parameters(links=5), vehicle.with_parameters(links=1)
    assert more.values["mass"] == (1.0, 2.0, 3.0, 3.0, 3.0)
    assert (less.values["mass"], less.values["length"]) == (1.0, 1.2)
    assert (more.space.size, less.space.size, vehicle.space.size) == (30, 6, 18)
    assert list(more.space.slices)[:3] == ["direction_1", "omega_1", "direction_2"]


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"links": 0}, "links = 0 is out of range; allowed: whole numbers, 1 to 50"),
        ({"links": 51}, "links = 51 is out of range"),
        ({"links": 2.5}, "links = 2.5 is out of range; allowed: whole numbers"),
        ({"links": "many"}, "links = 'many' is not a number"),
        ({"links": 3, "mass": (1.0, 2.0)}, "mass = \\(1.0, 2.0\\) has the wrong length; allowed: 3 numbers"),
        ({"links": 2, "length": (1.0, -1.0)}, "length = \\(1.0, -1.0\\) is out of range"),
    ],
)
def test_what_no_chain_can_be_is_refused_in_one_line(wrong, line):
    with pytest.raises(sim.InputError, match=line) as caught:
        sim.vehicle("pendulum", **wrong)
    assert "\n" not in str(caught.value)


def test_states_off_the_space_are_refused_with_the_link():
    vehicle = sim.vehicle("pendulum", links=2)
    with pytest.raises(sim.InputError, match="direction of link 2 has length 2; allowed: 1"):
        vehicle.state(direction=[[0, 0, -1], [0, 0, -2]])
    with pytest.raises(sim.InputError, match="omega of link 1 turns the rod about itself"):
        vehicle.state(omega=[[0, 0, 1], [0, 0, 0]])
    with pytest.raises(sim.InputError, match="direction has shape"):
        vehicle.state(direction=[[0, 0, -1]] * 3)
