"""Nonholonomic vehicles against Lagrange-d'Alembert equations with multipliers, and closed forms."""

import dataclasses

import casadi as ca
import numpy as np
import pytest

import sim
from sim.groups import SE2
from sim.integrators import INTEGRATORS
from sim.integrators.base import Scheme
from tests.sim import constrained_motion

VARIATIONAL = ("variational", "variational-cay", "variational-exp", "variational-exp-tln")

STARTS = {
    "car": {"theta": 0.3, "x": 1.0, "y": 2.0, "shape": (0.1, 0.2), "shape_velocity": (9.0, 0.35)},
    "snakeboard": {"theta": 0.3, "shape": (0.1, -0.3), "shape_velocity": (1.0, 0.2), "momentum": (2.0,)},
    "rolling-disc": {"theta": 0.3, "shape": (0.25, 0.0), "shape_velocity": (-0.2, 4.0), "momentum": (3.0,)},
}


def forces(name, t):
    """Generalised forces on the shape, and for the car the steering rate, smooth in time."""
    if name == "car":
        return np.array([400 * np.sin(1.7 * t), 0.35 * np.cos(1.3 * t)])
    if name == "snakeboard":
        return np.array([20 * np.sin(3 * t), 0.08 * np.cos(2 * t)])
    return np.array([3 * np.sin(3 * t), 4 * np.cos(2 * t)])


def truth(name, seconds):
    """Node (pose, body velocity, shape, shape velocity) at the end, by multipliers in world coordinates."""
    vehicle = sim.vehicle(name)
    node = vehicle.state(**STARTS[name]).node
    pose, xi, r, u = node[:3], node[3:6], node[6:8], node[8:10]
    system = {
        "car": constrained_motion.car,
        "snakeboard": constrained_motion.snakeboard,
        "rolling-disc": constrained_motion.disc,
    }[name](*vehicle.parameter_vector)
    c, s = np.cos(pose[0]), np.sin(pose[0])
    planar = np.array([[c, -s], [s, c]])
    radius = vehicle.values.get("radius", 0.0)

    def offset(theta, lean):
        """From contact to centre, horizontally."""
        return radius * np.sin(lean) * np.array([np.sin(theta), -np.cos(theta)])

    def offset_rate(theta, lean, spin, rate):
        e = 1e-6
        return (offset(theta + e * spin, lean + e * rate) - offset(theta - e * spin, lean - e * rate)) / (
            2 * e
        )

    q = np.r_[r, pose[0], pose[1:] + offset(pose[0], r[0])]
    v = np.r_[u, xi[0], planar @ xi[1:] + offset_rate(pose[0], r[0], xi[0], u[0])]
    assert system.admissible(q, v) < 1e-8

    def generalised(t):
        f = forces(name, t)
        if name == "car":
            f = np.array([f[0], -0.35 * 1.3 * np.sin(1.3 * t)])
        return np.r_[f, 0, 0, 0]

    q, v = system.integrate(q, v, seconds, generalised)
    c, s = np.cos(q[2]), np.sin(q[2])
    contact = q[3:] - offset(q[2], q[0])
    velocity = np.array([[c, s], [-s, c]]) @ (v[3:] - offset_rate(q[2], q[0], v[2], v[0]))
    return np.r_[q[2], contact, v[2], velocity, q[:2], v[:2]]


def simulated(name, method, h, seconds):
    vehicle, n = sim.vehicle(name), round(seconds / h)
    controls = np.array([forces(name, (k + 0.5) * h) for k in range(n)])
    run = sim.simulate(
        vehicle, method, step=h, duration=seconds, initial=vehicle.state(**STARTS[name]), controls=controls
    )
    return run.nodes[-1]


def slope(name, method, steps, reference, seconds):
    """Of the last halving, over everything but the command, which acts at once."""
    part = slice(0, 9) if name == "car" else slice(0, 10)
    errors = [np.abs((simulated(name, method, h, seconds) - reference)[part]).max() for h in steps]
    return np.log2(errors[-2] / errors[-1])


@pytest.mark.parametrize("name", STARTS)
@pytest.mark.parametrize("method", [*VARIATIONAL, "rk2"])
def test_second_order_against_equations_with_multipliers(name, method):
    """Measured 1.96 to 2.00."""
    reference = truth(name, 1.6)
    assert slope(name, method, (0.01, 0.005), reference, 1.6) == pytest.approx(2.0, abs=0.15)


class UnstoppedDisc(type(sim.vehicle("rolling-disc"))):
    """Leans as far as it likes."""

    name = "unstopped-disc"
    shape_coordinates = tuple(
        dataclasses.replace(s, low=-np.inf, high=np.inf)
        for s in sim.vehicle("rolling-disc").shape_coordinates
    )


def test_the_discrete_gradient_keeps_energy_and_is_of_second_order():
    """Energy to 3e-14 of itself over 20 s, 1.3e-4 by the variational method; slope 2.00."""
    vehicle, reference = UnstoppedDisc(), truth("rolling-disc", 1.6)
    start = vehicle.state(**STARTS["rolling-disc"])
    run = sim.simulate(vehicle, "discrete-gradient", step=0.02, duration=20.0, initial=start)
    assert np.abs(run.energy / run.energy[0] - 1.0).max() < 1e-11
    errors = []
    for h in (0.01, 0.005):
        controls = np.array([forces("rolling-disc", (k + 0.5) * h) for k in range(round(1.6 / h))])
        pushed = sim.simulate(
            vehicle, "discrete-gradient", step=h, duration=1.6, initial=start, controls=controls
        )
        errors.append(np.abs(pushed.nodes[-1] - reference).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)
    with pytest.raises(sim.InputError, match="without stops"):
        sim.simulate(sim.vehicle("rolling-disc"), "discrete-gradient", step=h, duration=h)


@pytest.mark.parametrize("name", ["car", "snakeboard"])
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_quadrature_at_an_end_of_the_step_is_first_order(name, alpha):
    reference = truth(name, 1.6)
    method = dataclasses.replace(INTEGRATORS["variational"], name="one-sided", alpha=alpha, order=1)
    assert slope(name, method, (0.002, 0.001), reference, 1.6) == pytest.approx(1.0, abs=0.15)


@pytest.mark.parametrize("method", ["variational", "variational-exp-tln"])
@pytest.mark.parametrize("name", ["car", "snakeboard"])
def test_car_and_snakeboard_are_stepped_without_newton(name, method):
    vehicle = sim.vehicle(name)
    assert (
        sim.simulate(vehicle, method, duration=1.0, initial=vehicle.state(**STARTS[name])).newton_iterations
        == 0
    )


def turning_centre(before, after):
    """Fixed point of the displacement between two planar poses, in the first one's body frame."""
    relative = np.linalg.inv(before) @ after
    return np.linalg.solve(np.eye(2) - relative[:2, :2], relative[:2, 2])


@pytest.mark.parametrize("h", [0.001, 0.02, 0.3, 2.0])
@pytest.mark.parametrize("method", VARIATIONAL)
def test_a_held_wheel_drives_the_exact_circle_at_any_step(method, h):
    """Radius wheelbase / sigma about the point beside the rear axle; the speed does not change."""
    car, sigma = sim.vehicle("car"), 0.4
    start = car.state(theta=0.2, x=3.0, y=-1.0, shape=(0.0, sigma), shape_velocity=(6.0, 0.0))
    run = sim.simulate(car, method, step=h, duration=300 * h, initial=start)
    radius = car.values["wheelbase"] / sigma
    centre = np.array([3.0 - radius * np.sin(0.2), -1.0 + radius * np.cos(0.2)])
    distance = np.linalg.norm(run.pose[:, :2, 2] - centre, axis=1)
    np.testing.assert_allclose(distance, radius, rtol=0, atol=1e-11)
    np.testing.assert_allclose(run.shape_velocity[:, 0], 6.0, rtol=1e-12)


@pytest.mark.parametrize("h", [0.001, 0.02, 0.3])
@pytest.mark.parametrize("method", VARIATIONAL)
def test_locked_snakeboard_wheels_ride_the_exact_circle(method, h):
    """Radius half_length / tan(phi), rate p tan(phi) / (2 m l^2)."""
    board, phi, p = sim.vehicle("snakeboard"), 0.5, 7.0
    mass, length = board.values["mass"], board.values["half_length"]
    run = sim.simulate(
        board, method, step=h, duration=200 * h, initial=board.state(shape=(0, phi), momentum=(p,))
    )
    rate = p * np.tan(phi) / (2 * mass * length**2)
    np.testing.assert_allclose(run.velocity[:, 0], rate, rtol=1e-12)
    radius = length / np.tan(phi)
    centre = np.array([0.0, -radius])
    np.testing.assert_allclose(
        np.linalg.norm(run.pose[:, :2, 2] - centre, axis=1), radius, rtol=0, atol=1e-12
    )
    if "exp" in method:
        turned = np.unwrap(np.arctan2(run.pose[:, 1, 0], run.pose[:, 0, 0]))
        np.testing.assert_allclose(turned, rate * run.time, rtol=0, atol=1e-11)


@pytest.mark.parametrize("h", [0.005, 0.02, 0.1])
@pytest.mark.parametrize("method", VARIATIONAL)
def test_every_arc_of_the_car_satisfies_its_constraints(method, h):
    """Neither axle slips along it, at the steering angle in the middle of the step."""
    car = sim.vehicle("car")
    run = sim.simulate(
        car,
        method,
        step=h,
        duration=200 * h,
        initial=car.state(shape=(0.0, 0.3), shape_velocity=(5.0, 0.0)),
        controls=lambda t, s: np.array([200 * np.cos(t), 0.3 * np.cos(0.7 * t)]),
    )
    sigma = (run.shape[:-1, 1] + run.shape[1:, 1]) / 2
    for k in range(len(sigma)):
        relative = np.linalg.inv(run.pose[k]) @ run.pose[k + 1]
        turned = np.arctan2(relative[1, 0], relative[0, 0])
        # Velocity of the arc, whatever its parametrisation: the twist of the logarithm.
        log = SE2.function("log")(np.r_[turned, relative[:2, 2]])
        omega, forward, lateral = np.array(log).ravel()
        assert abs(lateral) <= 1e-12
        front = lateral + car.values["wheelbase"] * omega - sigma[k] * forward
        assert abs(front) <= 1e-12


@pytest.mark.parametrize("h", [0.005, 0.02, 0.1])
@pytest.mark.parametrize("method", VARIATIONAL)
def test_neither_axle_of_the_snakeboard_slips_along_an_arc(method, h):
    board = sim.vehicle("snakeboard")
    half = board.values["half_length"]
    run = sim.simulate(
        board,
        method,
        step=h,
        duration=100 * h,
        initial=board.state(shape=(0.0, 0.2), momentum=(3.0,)),
        controls=lambda t, s: np.array([10 * np.cos(3 * t), 0.05 * np.cos(2 * t) - 0.3 * s.shape[1]]),
    )
    phi = (run.shape[:-1, 1] + run.shape[1:, 1]) / 2
    for k in range(len(phi)):
        relative = np.linalg.inv(run.pose[k]) @ run.pose[k + 1]
        log = SE2.function("log")(np.r_[np.arctan2(relative[1, 0], relative[0, 0]), relative[:2, 2]])
        omega, forward, lateral = np.array(log).ravel()
        assert abs(-np.sin(phi[k]) * forward + np.cos(phi[k]) * (lateral - half * omega)) <= 1e-12
        assert abs(np.sin(phi[k]) * forward + np.cos(phi[k]) * (lateral + half * omega)) <= 1e-12


def test_a_coasting_car_trades_wheel_speed_for_yaw_rate_as_the_closed_form_says():
    """psi' = sqrt(2 E / (I + m rho^2 + K rho^2 sigma^2 / l^2)) while the steering moves; measured 2e-12."""
    car = sim.vehicle("car", yaw_inertia=2500.0)
    v = car.values
    run = sim.simulate(
        car,
        "variational",
        step=1e-6,
        duration=0.8,
        initial=car.state(shape_velocity=(9.0, 0.0)),
        controls=[0.0, 1.0],
    )
    sigma, rho = run.shape[-1, 1], v["wheel_radius"]
    assert sigma == pytest.approx(0.8)
    energy = (v["wheel_inertia"] + v["mass"] * rho**2) * 9.0**2 / 2
    effective = v["wheel_inertia"] + rho**2 * (v["mass"] + v["yaw_inertia"] * sigma**2 / v["wheelbase"] ** 2)
    assert run.shape_velocity[-1, 0] == pytest.approx(np.sqrt(2 * energy / effective), rel=1e-10)
    assert run.energy[-1] == pytest.approx(energy, rel=1e-10)


def test_energy_of_a_free_snakeboard_stays_bounded_over_a_million_steps():
    """The steering sweeps slowly from one side to the other. Measured 6e-13, rk4 1.6e-11, lie-euler 5e-6."""
    board = sim.vehicle("snakeboard")
    start = board.state(shape=(0.0, -1.2), shape_velocity=(3.0, 1.2e-4), momentum=(5.0,))
    run = sim.simulate(board, "variational", step=0.02, duration=20_000.0, initial=start)
    assert run.diverged_at is None
    assert run.shape[-1, 1] == pytest.approx(1.2, abs=1e-6)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=5e-12)


def test_turning_the_rotor_with_straight_wheels_leaves_the_board_where_it_is():
    board = sim.vehicle("snakeboard")
    run = sim.simulate(
        board,
        "variational",
        step=0.02,
        duration=10.0,
        controls=lambda t, s: np.array([30 * np.sin(3 * t), 0.0]),
    )
    assert np.ptp(run.shape[:, 0]) > 1.0
    np.testing.assert_array_equal(run.pose, np.broadcast_to(np.eye(3), run.pose.shape))


@pytest.mark.parametrize("method", ["variational", "rk4"])
def test_the_drive_gait_moves_the_board_backwards(method):
    """phi = a sin(w t), psi = b sin(w t): along -x, along a straight line on the average."""
    board, omega = sim.vehicle("snakeboard"), 4.0
    v = board.values

    def gait(t, state):
        wanted = np.sin(omega * t) * np.array([0.7, 0.4])
        rate = omega * np.cos(omega * t) * np.array([0.7, 0.4])
        push = 400 * (wanted - state.shape) + 40 * (rate - state.shape_velocity)
        return np.array([v["rotor_inertia"], 2 * v["wheel_inertia"]]) * push

    run = sim.simulate(board, method, step=0.01, duration=12.0, controls=gait)
    x, y = run.pose[-1, :2, 2]
    assert x < -1.0
    assert abs(y) < 0.2 * abs(x)


def test_shapes_stop_at_their_limits_and_come_back():
    """The steering is pushed against its stop, rests there exactly, and leaves it when pulled back."""
    board = sim.vehicle("snakeboard")
    push = np.r_[np.full(300, 0.5), np.full(300, -0.5)]
    controls = np.stack([np.zeros(600), push], 1)
    for method in ("variational", "rk4", "lie-euler"):
        start = board.state(momentum=(5.0,), shape=(0.0, 0.1))
        run = sim.simulate(board, method, step=0.01, duration=6.0, controls=controls, initial=start)
        assert run.shape[:, 1].max() == 1.3
        assert run.shape[300, 1] == 1.3
        assert run.shape[-1, 1] < 0.0
        assert np.isfinite(run.nodes).all()
    car = sim.vehicle("car")
    for method in ("variational", "rk2"):
        run = sim.simulate(car, method, step=0.01, duration=2.0, controls=[0.0, 4.0])
        assert run.shape[-1, 1] == pytest.approx(2.0, abs=1e-12)
        assert np.diff(run.shape[:, 1]).min() >= -1e-12


@pytest.mark.parametrize("name", STARTS)
def test_runs_follow_the_scripting_contract(name):
    vehicle = sim.vehicle(name)
    run = sim.simulate(vehicle, step=0.01, duration=0.5, initial=vehicle.state(**STARTS[name]))
    assert run.pose.shape == (51, 3, 3)
    assert run.velocity.shape == (51, 3)
    assert run.shape.shape == (51, 2)
    assert run.momentum.shape == (51, 3)
    # The car's steering rate is its control, which is zero here.
    told = slice(0, 9) if name == "car" else slice(0, 10)
    np.testing.assert_allclose(run.initial.node[told], vehicle.state(**STARTS[name]).node[told], atol=1e-12)
    half = sim.simulate(vehicle, step=0.01, duration=0.25, initial=vehicle.state(**STARTS[name]))
    rest = sim.simulate(vehicle, step=0.01, duration=0.25, initial=half.final)
    np.testing.assert_allclose(rest.nodes[-1], run.nodes[-1], atol=1e-9)


def test_given_momentum_is_the_states_momentum():
    board = sim.vehicle("snakeboard")
    state = board.state(shape=(0.2, 0.6), shape_velocity=(2.0, 1.0), momentum=(4.0,))
    node = ca.SX(state.node)
    q = board.symbols(ca.SX(board.parameter_vector))
    assert float(ca.evalf(board.nonholonomic_momentum(node, q))) == pytest.approx(4.0)
    assert np.abs(np.array(ca.evalf(board.constraint_residual(node, q)))).max() < 1e-14


def test_schemes_of_vehicles_with_shapes_are_the_same_kind_as_all_others():
    """The planner takes residual and update from here."""
    for name in STARTS:
        scheme = INTEGRATORS["variational"].scheme(sim.vehicle(name))
        assert isinstance(scheme, Scheme)
        assert scheme.residual.shape == scheme.z.shape
