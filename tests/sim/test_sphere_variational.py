"""Laws of the variational method on products of spheres, on chains of rods."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sim
from sim.integrators import INTEGRATORS
from sim.steppers.dynamics import stepper_of
from tests.sim.test_pendulum_chain import PUSH, chain, exact, generic_state, turned

METHOD = "variational-spheres"


@pytest.mark.parametrize("links", [1, 2, 5])
def test_second_order_on_chains_that_move_in_space_and_are_pushed(links):
    """Against the survey's dense system by a method of its own; measured 2.00."""
    vehicle = chain(links)
    start = generic_state(vehicle, np.random.default_rng(5))
    wanted, errors = exact(vehicle, start, 0.5), []
    for n in (1000, 2000):
        run = sim.simulate(vehicle, METHOD, step=0.5 / n, duration=0.5, initial=start, controls=PUSH)
        errors.append(np.linalg.norm(run.nodes[-1] - wanted))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)


def test_second_order_in_air_too():
    """Drag depends on the velocity at both ends of a step; against a tight run of RKMK 5, measured slope 2.00."""
    vehicle = chain(2).with_parameters(drag=0.8)
    start = generic_state(vehicle, np.random.default_rng(5))
    wanted = sim.simulate(vehicle, "rkmk5", step=2e-4, duration=0.5, initial=start).nodes[-1]
    errors = [
        np.linalg.norm(sim.simulate(vehicle, METHOD, step=h, duration=0.5, initial=start).nodes[-1] - wanted)
        for h in (1e-3, 5e-4)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)


def test_second_order_where_motors_turn_the_first_rod():
    """A moment is a force that turns with the rod; against the dense system by a method of its own; measured 2.00."""
    vehicle = chain(2).with_parameters(pivot_motor=1)
    start = generic_state(vehicle, np.random.default_rng(5))
    moment = np.r_[PUSH, 0.0]

    def rate(_, y):
        q, w = y.reshape(2, 6)[:, :3], y.reshape(2, 6)[:, 3:]
        return np.column_stack([np.cross(w, q), turned(vehicle, y, moment)]).ravel()

    wanted = solve_ivp(rate, (0, 0.5), start.node, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]
    errors = []
    for h in (1e-3, 5e-4):
        run = sim.simulate(vehicle, METHOD, step=h, duration=0.5, initial=start, controls=PUSH)
        errors.append(np.linalg.norm(run.nodes[-1] - wanted))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2, abs=0.1)


def test_it_is_the_stationary_action_of_the_midpoint_velocity():
    """Three nodes: what is left of the discrete Euler-Lagrange equations on bobs points along the rods; 1e-9."""
    vehicle, h = chain(3), 0.01
    run = sim.simulate(
        vehicle, METHOD, step=h, duration=0.2, initial=generic_state(vehicle, np.random.default_rng(1))
    )
    x = np.stack([run.bodies[f"bob_{k}"][:, :3, 3] for k in (1, 2, 3)], axis=1)
    q, mass = run.nodes.reshape(-1, 3, 6)[..., :3], np.array(vehicle.values["mass"])
    left = mass[:, None] * (x[2:] - 2 * x[1:-1] + x[:-2]) / h**2 + mass[:, None] * [0, 0, 9.81]
    below = np.zeros((len(left), 3))
    for k in (2, 1, 0):
        below = below + left[:, k]
        across = below - (below * q[1:-1, k]).sum(1)[:, None] * q[1:-1, k]
        assert np.abs(across).max() < 1e-8 * np.abs(below).max()


def test_energy_is_bounded_over_a_million_steps_and_the_rods_keep_their_lengths():
    """Two links that turn over, h = 10 ms: the error's mean does not wander, |q| = 1 and momentum to rounding."""
    vehicle = sim.vehicle("pendulum", links=2, mass=1.0, length=0.5)
    kernel, p, u = stepper_of(vehicle, INTEGRATORS[METHOD]), vehicle.parameter_vector, np.zeros(2)
    start = vehicle.state(
        direction=[[0.6, 0.0, 0.8], [0.0, 1.0, 0.0]], omega=[[0.0, 2.0, 0.0], [1.0, 0.0, 2.0]]
    )
    y, parts = kernel.start(start.node, u, p, 0.01), []
    first = kernel.observe(start.node, u, p)
    for _ in range(100):
        nodes, done, _ = kernel.trajectory(y, u[None], p, 0.01, 10_000)
        assert done == 10_000
        told = kernel.observe_all(nodes, u[None], p)
        parts.append(told.energy - first.energy_J)
        assert np.abs(told.momentum[:, 2] - first.momentum_w[2]).max() < 1e-8
        assert told.observables["off_sphere"].max() < 1e-14
    means = [part.mean() for part in parts]
    size = 2 * 9.81 * 0.5
    assert max(np.abs(part).max() for part in parts) < 0.2 * size
    assert np.ptp(means) < 0.02 * size


def test_a_step_that_has_no_solution_stops_the_run_and_is_told():
    """Ten metres a step on a rod of one metre: no pull along it brings the bob back."""
    vehicle = sim.vehicle("pendulum", length=1.0)
    run = sim.simulate(vehicle, METHOD, step=0.5, duration=5.0, initial=vehicle.state(omega=(20.0, 0.0, 0.0)))
    assert run.diverged_at is not None
    assert run.diverged_because


def test_it_says_that_it_serves_chains_of_rods_only():
    assert "helicopter has an inertia" in INTEGRATORS[METHOD].serves(sim.vehicle("helicopter"))
