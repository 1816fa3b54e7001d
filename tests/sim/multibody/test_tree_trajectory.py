"""Trees of joints through the library's one way of running things."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sim
from sim.integrators import integrator
from sim.multibody.observing import body_frames
from sim.steppers.bound_tree import BoundTree
from tests.sim.multibody.sample_trees import generic_state, generic_tree, pendulum_chain

GENERIC = generic_tree(11)


def rod(**joint):
    """A rod on a hinge across gravity: inertia about the hinge m l^2 / 3."""
    return sim.tree(
        [
            sim.Body(
                "rod",
                joint=sim.Joint(axis=(0, 1, 0), **joint),
                centre=(0, 0, -0.5),
                inertia=(1 / 12, 1 / 12, 0),
            )
        ]
    )


def test_a_run_is_the_integrators_steps_bit_for_bit():
    start = GENERIC.state(*generic_state(GENERIC, 1))
    torques = np.random.default_rng(0).normal(size=GENERIC.nv)
    run = sim.simulate(GENERIC, "riqn", step=0.005, duration=0.5, initial=start, controls=torques)
    stepper = BoundTree(GENERIC, 0.005)
    motion = stepper.start(start.q, start.v)
    stepper.advance(motion, 100, torques)
    np.testing.assert_array_equal(run.pose[-1], motion.q)
    np.testing.assert_array_equal(run.velocity[-1], stepper.velocity(motion))
    # These are added up in another order: to the last digit.
    assert run.energy[-1] == pytest.approx(stepper.energy_J(motion), rel=1e-14)
    np.testing.assert_allclose(run.momentum[-1], stepper.momentum_w(motion), rtol=0, atol=1e-13)
    assert (run.time[-1], run.diverged_at, run.diverged_because) == (0.5, None, "")
    for name, T_wb in body_frames(GENERIC, motion.q).items():
        np.testing.assert_allclose(run.bodies[name][-1], T_wb, rtol=0, atol=1e-14)


def test_a_plain_tree_has_the_variational_method_by_name_and_with_its_options():
    start = GENERIC.state(*generic_state(GENERIC, 1))
    runs = [
        sim.simulate(GENERIC, method, step=0.005, duration=0.1, initial=start)
        for method in ("newton", integrator("variational", solver="newton"), "riqn", "variational")
    ]
    np.testing.assert_array_equal(runs[0].pose, runs[1].pose)
    np.testing.assert_array_equal(runs[2].pose, runs[3].pose)
    assert [run.integrator.solver for run in runs] == ["newton", "newton", "riqn", "riqn"]


@pytest.mark.parametrize("method", ["newton", "broyden"])
def test_every_root_finder_takes_the_same_steps(method):
    start = GENERIC.state(*generic_state(GENERIC, 1))
    a, b = (sim.simulate(GENERIC, m, step=0.005, duration=0.5, initial=start) for m in ("riqn", method))
    # Each step to 1e-11; this tree spreads that. Measured 4.1e-9 and 1.9e-9.
    np.testing.assert_allclose(a.pose, b.pose, rtol=0, atol=2e-8)


def test_a_tree_has_what_every_vehicle_has():
    """Explicit methods, controllers' rows, observables with units, and a state that goes on."""
    chain = pendulum_chain(3)
    start = chain.state({"link 0": 0.5})
    exact = sim.simulate(chain, "rk4", step=5e-4, duration=0.5, initial=start)
    run = sim.simulate(chain, "variational", step=5e-4, duration=0.5, initial=start)
    np.testing.assert_allclose(run.pose, exact.pose, rtol=0, atol=2e-5)  # measured 5.3e-6
    assert set(run.units) == set(run.observables)
    assert run.observables["largest_angle"][0] == pytest.approx(0.5)
    np.testing.assert_array_equal(run.final.q, run.pose[-1])
    np.testing.assert_array_equal(run.final.v, run.velocity[-1])


def error_of_rod(controls, law, steps):
    """(rod's angle after a second, exact one) under a torque law(t, angle, rate)."""
    start = rod().state({"rod": 0.7}, {"rod": 0.4})
    run = sim.simulate(rod(), step=1 / steps, duration=1.0, initial=start, controls=controls)
    exact = solve_ivp(
        lambda t, x: (x[1], 3.0 * (law(t, *x) - 0.5 * 9.81 * np.sin(x[0]))),
        (0, 1),
        (0.7, 0.4),
        rtol=1e-12,
        atol=1e-12,
    )
    return abs(run.pose[-1, 0] - exact.y[0, -1])


@pytest.mark.parametrize(
    "law",
    [lambda t, a, w: np.sin(9 * t + 1), lambda t, a, w: -2.0 * a - 0.7 * w + np.cos(5 * t)],
    ids=["time", "feedback"],
)
def test_second_order_under_functions_of_time_and_state(law):
    errors = [
        error_of_rod(lambda t, state: [law(t, state.q[0], state.v[0])], law, steps)
        for steps in (50, 100, 200)
    ]
    slopes = np.log2(np.divide(errors[:-1], errors[1:]))
    np.testing.assert_allclose(slopes, 2.0, atol=0.15)


def test_second_order_under_torques_that_are_held_in_blocks():
    def law(t, angle, rate):
        return 2.0 if t < 0.5 else -1.0

    errors = []
    for n in (50, 100, 200):
        held = np.where(np.arange(n) < n // 2, 2.0, -1.0)[:, None]
        errors.append(error_of_rod(held, law, n))
    np.testing.assert_allclose(np.log2(np.divide(errors[:-1], errors[1:])), 2.0, atol=0.3)


def test_a_run_goes_on_from_where_another_ended():
    chain = pendulum_chain(5)
    whole = sim.simulate(chain, step=0.01, duration=1.0, initial=chain.state({"link 0": 1.0}))
    first = sim.simulate(chain, step=0.01, duration=0.5, initial=chain.state({"link 0": 1.0}))
    second = sim.simulate(chain, step=0.01, duration=0.5, initial=first.final)
    np.testing.assert_allclose(second.pose[-1], whole.pose[-1], rtol=0, atol=1e-10)  # measured 7e-12
    assert np.ptp(whole.energy) < 0.09  # J, of 24 J between hanging and lying: measured 0.046


def test_a_motion_without_solution_ends_with_its_reason():
    run = sim.simulate(rod(), step=0.01, duration=0.1, initial=rod().state(v={"rod": 1e200}))
    assert run.diverged_at == 0.0
    assert run.diverged_because
    assert np.isnan(run.pose[1:]).all()


def test_controls_by_name_are_those_of_the_row_with_the_others_neutral():
    row, joint = np.zeros(GENERIC.nv), GENERIC.velocity_names[-1]
    row[-1] = 0.3

    def pose(controls):
        return sim.simulate(GENERIC, step=0.01, duration=0.1, controls=controls).pose

    np.testing.assert_array_equal(pose({joint: 0.3}), pose(row))
    np.testing.assert_array_equal(pose(lambda *_: {joint: 0.3}), pose(lambda *_: row))
    assert np.any(pose(row) != pose(None))
    boat = sim.vehicle("boat")
    by_row = boat.neutral_controls.copy()
    by_row[1] = 5.0
    runs = [sim.simulate(boat, duration=0.1, controls=u) for u in ({boat.controls[1].name: 5.0}, by_row)]
    np.testing.assert_array_equal(runs[0].nodes, runs[1].nodes)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda t: sim.simulate(t, "rkmk4"), "rkmk4"),
        (lambda t: sim.simulate(t, step="x"), "step = 'x'"),
        (lambda t: sim.simulate(t, initial=3), "state(...)"),
        (lambda t: sim.simulate(t, initial=sim.vehicle("boat").default_state()), "does not fit"),
        (lambda t: sim.simulate(t, controls="abc"), "not numeric"),
        (lambda t: sim.simulate(t, controls={"rood": 1.0}), "unknown 'rood'; allowed: rod"),
        (lambda t: sim.simulate(t, controls={"rod": "x"}), "controls of 'tree': rod = 'x'"),
        (lambda t: sim.simulate(t, controls=lambda *_: {"rood": 1.0}), "unknown 'rood'; allowed: rod"),
        (lambda t: sim.simulate(t, controls=[1.0, 2.0]), "(1000, 1) for rod"),
        (lambda t: sim.simulate(t, controls=np.zeros((3, 1))), "(3, 1); allowed: (1,) or (1000, 1)"),
        (lambda t: sim.simulate(t, controls=[np.nan]), "not finite"),
        (lambda t: sim.simulate(t, controls=lambda time, state: None), "controls of 'tree'"),
        (lambda t: t.state({"rood": 1.0}), "unknown joint 'rood'; allowed: rod"),
        (lambda t: t.state({"rod": "x"}), "not numeric"),
        (lambda t: generic_tree(11, root="free").state({"b0 qw": 0.0}), "no unit quaternion"),
    ],
)
def test_a_mistake_is_one_line(call, words):
    with pytest.raises(sim.InputError) as refusal:
        call(rod())
    assert words in str(refusal.value)
    assert "\n" not in str(refusal.value)
