"""Laws of the spherical pendulum on TS^2, under every method that serves what a group moves."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.special import ellipk

import sim
from sim.commands import PilotInput, SetParameter, SetPilotInput, SetReference
from sim.integrators import DEFAULT, INTEGRATORS
from sim.scene import LaneSpec, Scene, Start
from sim.simulation.lanes.snapshot import LaneStatus
from sim.vehicles import known_vehicle
from tests.sim.simulation_scenes import simulation

MASS, LENGTH, GRAVITY = 3.0, 0.7, 9.81
PENDULUM = sim.vehicle("pendulum", mass=MASS, length=LENGTH, gravity=GRAVITY)
METHODS = [name for name, method in INTEGRATORS.items() if not method.serves(PENDULUM)]
FIXED = [name for name in METHODS if not INTEGRATORS[name].adaptive]
DIRECTION = np.array([0.6, 0.48, -0.64])
OMEGA = np.cross(DIRECTION, [1.1, -0.7, 2.3])
PUSH = np.array([4.0, -2.5])


def exact(seconds: float) -> np.ndarray:
    """(q, omega) after a time: Newton's equation of the bob in space, the rod's pull eliminated by hand."""

    def rate(_, s):
        x, v = s[:3], s[3:]
        force = np.r_[PUSH, -MASS * GRAVITY] / MASS
        pull = (v @ v + force @ x) / (x @ x)
        return np.r_[v, force - pull * x]

    start = np.r_[LENGTH * DIRECTION, LENGTH * np.cross(OMEGA, DIRECTION)]
    end = solve_ivp(rate, (0, seconds), start, method="DOP853", rtol=1e-13, atol=1e-13).y[:, -1]
    x, v = end[:3], end[3:]
    return np.r_[x / LENGTH, np.cross(x, v) / LENGTH**2]


def test_all_explicit_methods_serve_it_and_the_others_say_what_they_need():
    families = {INTEGRATORS[name].family for name in METHODS}
    assert families == {"lie-group", "adaptive", "runge-kutta", "variational"}
    assert {"lie-euler", "rkmk4", "rkmk4-2c", "cf4", "crouch-grossman3", "rkmk54", "cf43"} <= set(METHODS)
    for name in set(INTEGRATORS) - set(METHODS):
        assert "pendulum has a group that moves it" in INTEGRATORS[name].serves(PENDULUM)


@pytest.mark.parametrize("method", FIXED)
def test_order_is_as_declared(method):
    """Pushed aside all the while; slope of one halving, measured within 0.1."""
    start, wanted, order = (
        PENDULUM.state(direction=DIRECTION, omega=OMEGA),
        exact(1.0),
        INTEGRATORS[method].order,
    )
    errors = []
    for n in (80, 160):
        run = sim.simulate(PENDULUM, method, step=1 / n, duration=1.0, initial=start, controls=PUSH)
        errors.append(np.abs(run.nodes[-1] - wanted).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)


@pytest.mark.parametrize("method", [n for n in METHODS if INTEGRATORS[n].family != "runge-kutta"])
def test_it_stays_on_the_tangent_bundle(method):
    """|q| = 1 and q.omega = 0 at 10 steps a second, where accuracy is long gone; measured 2e-14."""
    run = sim.simulate(
        PENDULUM, method, step=0.1, duration=30.0, initial=PENDULUM.state(direction=DIRECTION, omega=OMEGA)
    )
    q, omega = run.pose[:, :3], run.pose[:, 3:]
    done = np.isfinite(q).all(axis=1)
    assert np.abs(np.linalg.norm(q[done], axis=1) - 1.0).max() < 1e-12
    assert np.abs((q * omega).sum(axis=1)[done]).max() < 1e-12 * np.abs(omega[done]).max()


@pytest.mark.parametrize("swing", [0.3, 1.5, 3.0])
def test_the_period_is_the_elliptic_integral(swing):
    """4 sqrt(L/g) K(sin^2(swing/2)), from a quarter to half a turn; after it the bob is back, measured 2e-9."""
    period_s = 4 * np.sqrt(LENGTH / GRAVITY) * ellipk(np.sin(swing / 2) ** 2)
    direction = [np.sin(swing) * 0.6, np.sin(swing) * 0.8, -np.cos(swing)]
    start = PENDULUM.state(direction=direction)
    run = sim.simulate(PENDULUM, "rkmk5", step=period_s / 1000, duration=period_s, initial=start)
    np.testing.assert_allclose(run.pose[-1], start.node, rtol=0, atol=1e-7)
    np.testing.assert_allclose(run.pose[500, :3], np.array(direction) * [-1, -1, 1], rtol=0, atol=1e-7)
    assert run.observables["swing"][0] == pytest.approx(swing)


def test_a_conical_pendulum_goes_round_with_the_textbooks_rate():
    """Omega = sqrt(g/(L cos)); the tension carries the weight and turns the bob; measured 1e-11."""
    lean = 0.9
    rate = np.sqrt(GRAVITY / (LENGTH * np.cos(lean)))
    q = np.array([np.sin(lean), 0.0, -np.cos(lean)])
    start = PENDULUM.state(direction=q, omega=np.cross(q, np.cross([0, 0, rate], q)))
    run = sim.simulate(PENDULUM, "rkmk5", step=0.002, duration=5.0, initial=start)
    np.testing.assert_allclose(run.observables["swing"], lean, rtol=0, atol=1e-9)
    np.testing.assert_allclose(run.observables["tension"], MASS * GRAVITY / np.cos(lean), rtol=1e-8)
    azimuth = np.unwrap(np.arctan2(run.pose[:, 1], run.pose[:, 0]))
    np.testing.assert_allclose(azimuth, rate * run.time, rtol=0, atol=1e-8)


def test_bodies_are_where_the_state_says_and_move_as_their_twist_says():
    run = sim.simulate(
        PENDULUM, "rkmk5", step=1e-3, duration=0.4, initial=PENDULUM.state(direction=DIRECTION, omega=OMEGA)
    )
    bob, rod = run.bodies["bob"], run.bodies["rod"]
    np.testing.assert_allclose(bob[:, :3, 3], LENGTH * run.pose[:, :3], atol=1e-14)
    np.testing.assert_allclose(-bob[:, :3, 2], run.pose[:, :3], atol=1e-14)
    np.testing.assert_array_equal(rod[:, :3, 3], 0.0)
    np.testing.assert_allclose(
        np.einsum("nij,nkj->nik", bob[:, :3, :3], bob[:, :3, :3]),
        np.eye(3)[None].repeat(len(bob), 0),
        atol=1e-13,
    )
    twist = run.observed.rows[:, run.observed.layout.twist]
    v_w = np.einsum("nij,nj->ni", bob[:, :3, :3], twist[:, 3:])
    slope = (bob[2:, :3, 3] - bob[:-2, :3, 3]) / 2e-3
    np.testing.assert_allclose(v_w[1:-1], slope, atol=3e-5)
    assert run.units == {
        "swing": "rad",
        "tension": "N",
        "momentum_vertical": "kg m^2/s",
        "off_sphere": "1",
        "reach": "m",
    }
    assert run.pose.shape == (401, 6)
    assert list(PENDULUM.space.slices) == ["direction", "omega"]
    again = sim.simulate(PENDULUM, "rkmk5", step=1e-3, duration=0.1, initial=run.final)
    np.testing.assert_array_equal(again.pose[0], run.pose[-1])


def test_energy_and_the_momentum_about_the_vertical_are_kept_and_air_takes_energy():
    start = PENDULUM.state(direction=DIRECTION, omega=OMEGA)
    run = sim.simulate(PENDULUM, "rkmk54", step=0.05, duration=20.0, initial=start)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-5
    assert np.abs(run.momentum[:, 2] - run.momentum[0, 2]).max() < 1e-5
    slowed = sim.simulate(
        PENDULUM.with_parameters(drag=0.5), "rkmk54", step=0.05, duration=20.0, initial=start
    )
    assert (np.diff(slowed.energy) < 0).all()


def test_a_state_that_is_none_is_refused_in_one_line():
    with pytest.raises(sim.InputError, match="direction has length 2"):
        PENDULUM.state(direction=(0.0, 0.0, -2.0))
    with pytest.raises(sim.InputError, match="turns the rod about itself"):
        PENDULUM.state(omega=(0.0, 0.0, 1.0))


SCENE = Scene(
    name="pendulum",
    title="pendulum",
    world="canyon",
    vehicle=known_vehicle("pendulum"),
    integrator="rkmk4",
    flight_mode="raw",
    start=Start(position_w=(310.0, 12.0, 0.0)),
    lanes=(LaneSpec("cf43", 0.02, name="cf43"), LaneSpec("lie-euler", 0.005, name="lie-euler")),
)


def test_it_is_flown_in_a_scene_pushed_and_measured_against_a_reference(tmp_path):
    running = simulation(replace(SCENE, comparison=replace(SCENE.comparison, reference=True)))
    flown, other, euler = running.advance(3.0).lanes
    ground = float(running.run.world.terrain.height(310.0, 12.0))
    np.testing.assert_allclose(flown.pivot_w, [310.0, 12.0, ground + PENDULUM.stand_m], atol=1e-9)
    np.testing.assert_allclose(flown.bodies["rod"][:3, 3], flown.pivot_w, atol=1e-12)
    assert np.linalg.norm(flown.bodies["bob"][:3, 3] - flown.pivot_w) == pytest.approx(1.2)
    assert flown.deviation.position_m < 1e-6
    assert other.deviation.position_m < 1e-5
    assert euler.deviation.position_m > 1e-3
    before = flown.energy_J
    running.submit(SetPilotInput(PilotInput(pitch=1.0, roll=0.5)))
    pushed = running.advance(1.0).lanes[0]
    assert abs(pushed.energy_J - before) > 1.0
    assert pushed.status is LaneStatus.RUNNING
    running.submit(SetReference(False))
    assert np.isfinite(running.advance(0.5).lanes[0].scalar("tension"))


@pytest.mark.parametrize(
    ("name", "value"),
    [("links", 0.0), ("links", 51.0), ("links", 1.5), ("length", 0.0), ("mass", -1.0), ("gravity", np.nan)],
)
def test_what_cannot_swing_changes_nothing_of_what_swings(name, value):
    running, other = (simulation(replace(SCENE, lanes=())) for _ in range(2))
    running.submit(SetParameter(name, value))
    shown = running.advance(0.4)
    assert f"{name} = " in shown.message
    assert "\n" not in shown.message
    assert running.run.vehicle.values == other.run.vehicle.values
    np.testing.assert_array_equal(shown.lanes[0].bodies["bob"], other.advance(0.4).lanes[0].bodies["bob"])


def test_a_take_of_it_is_kept_in_a_file_and_played_to_the_bit(tmp_path):
    from sim.recordings import Take, load_take, save_take

    run = sim.simulate(PENDULUM, "cf4", step=0.01, duration=1.0, controls=PUSH)
    path = save_take(Take.of_trajectory(run), tmp_path / "swing.npz")
    back = load_take(path).trajectory
    np.testing.assert_array_equal(back.nodes, run.nodes)
    with np.load(path) as file:
        assert '"direction_x", "direction_y"' in " ".join(str(file["header"]).split())
    load_take(path).csv(tmp_path / "swing.csv")
    assert "omega_z_radps,control_push_x" in (tmp_path / "swing.csv").read_text().splitlines()[0]


def test_the_planner_refuses_a_method_without_equations_of_a_step_in_one_line():
    from sim.planner import Goal, Task

    state = PENDULUM.state(direction=(0.6, 0.0, -0.8))
    with pytest.raises(sim.InputError) as caught:
        sim.plan(PENDULUM, Task(start=state, goal=Goal(state), duration_s=1.0), method="variational-spheres")
    assert "\n" not in str(caught.value)
    assert "variational-spheres" in str(caught.value)


def test_without_a_method_one_that_serves_is_taken():
    run = sim.simulate("pendulum", duration=0.1)
    assert run.integrator.serves(run.vehicle) == ""
    assert run.diverged_at is None
    assert sim.simulate("helicopter", duration=0.1).integrator.name == DEFAULT
