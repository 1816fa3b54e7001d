"""Steps of varying length lead back where they came from, keep energy in a band and are of second order."""

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import sim
from sim.trees.stepping import OK
from sim.trees.tree import Body, Joint, tree
from sim.trees.variable_step import VariableStepTree
from tests.sim.trees.sample_trees import pendulum_chain


def test_velocities_turned_round_lead_back():
    t = pendulum_chain(4)
    q, v = np.array([1.5, -0.8, 0.4, 1.0]), np.array([2.0, -1.0, 4.0, 3.0])
    stepper = VariableStepTree(t, 0.004, kinetic_J=0.3, tolerance=1e-13)
    moving = stepper.start(q, v)
    lengths = []
    for _ in range(200):
        assert stepper.advance(moving, 1) == (1, OK)
        lengths.append(moving.last_s)
    assert max(lengths) > 2.0 * min(lengths)
    back = stepper.turned_back(moving)
    assert stepper.advance(back, 200) == (200, OK)
    # measured 1e-10
    assert back.motion.q == pytest.approx(q, abs=1e-7)
    assert stepper.velocity(back) == pytest.approx(-v, abs=1e-6)
    assert back.time_s == pytest.approx(moving.time_s, abs=1e-8)


def test_the_energy_of_a_chain_stays_in_a_band():
    t = pendulum_chain(3)
    stepper = VariableStepTree(t, 0.01, kinetic_J=1.0)
    moving = stepper.start(np.array([2.5, 0.5, -0.7]), np.zeros(3))
    start, errors = stepper.energy_J(moving), []
    for _ in range(200):
        assert stepper.advance(moving, 50)[1] == OK
        errors.append(stepper.energy_J(moving) - start)
    first, last = np.abs(errors[:100]).max(), np.abs(errors[100:]).max()
    assert last < 2.0 * first
    assert first < 0.1  # measured 0.058 J


def test_second_order_on_a_pendulum_by_its_elliptic_integral():
    t = tree([Body("rod", joint=Joint(axis=(1.0, 0.0, 0.0)), mass=2.0, centre=(0.0, 0.0, -0.5))])
    k, w = np.sin(1.45), np.sqrt(9.81 / 0.5)
    errors = []
    for step in (0.004, 0.002):
        stepper = VariableStepTree(t, step, kinetic_J=4.0, tolerance=1e-13)
        moving = stepper.start(np.array([2.9]), np.zeros(1))
        worst = 0.0
        while moving.time_s < 3.0:
            assert stepper.advance(moving, 1)[1] == OK
            exact = 2.0 * np.arcsin(k * ellipj(ellipk(k * k) - w * moving.time_s, k * k)[0])
            worst = max(worst, abs(moving.motion.q[0] - exact))
        errors.append(worst)
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, abs=0.4)


def test_a_measure_of_speed_that_is_none_is_refused():
    with pytest.raises(sim.InputError, match="kinetic_J"):
        VariableStepTree(pendulum_chain(2), 0.01, kinetic_J=0.0)
