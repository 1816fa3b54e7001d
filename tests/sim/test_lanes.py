"""Laws of lanes side by side: equal inputs, the blow-up scenes' claims, and the reference against another solver."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from sim.commands import (
    AddLane,
    PilotInput,
    SetIntegrator,
    SetLanePilot,
    SetLaneTint,
    SetPilotInput,
    SetReference,
)
from sim.groups.numeric import upright
from sim.integrators import DEFAULT
from sim.scene import Comparison, LaneSpec, Scene, Start, load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.history import ControlHistory
from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus, Snapshot
from sim.simulation.runs.reference import MOST_STEPS
from tests.sim.simulation_scenes import helicopter_scene, simulation, spinning_scene

SECONDS = 10.0
RUNNING, DIVERGED = LaneStatus.RUNNING, LaneStatus.DIVERGED


@cache
def played(name: str) -> Snapshot:
    """Ten seconds of a scene that nobody touches."""
    return simulation(load_scene(name)).advance(SECONDS)


def energy_drift(lane: LaneSnapshot) -> float:
    return abs(lane.energy_J / lane.energy_start_J - 1.0)


def wobbling(running: Simulation, seconds: float) -> list[Snapshot]:
    """Sticks that move all the time, heard in uneven pieces."""
    rows, time_s = [], 0.0
    while time_s < seconds:
        stick = PilotInput(pitch=np.sin(3.0 * time_s), roll=np.cos(5.0 * time_s), throttle=0.3)
        running.submit(SetPilotInput(stick))
        rows.append(running.advance(0.017))
        time_s += 0.017
    return rows


def test_a_lane_with_the_flown_lanes_method_flies_its_every_bit():
    scene = helicopter_scene(lanes=(LaneSpec(DEFAULT, 0.01),), integrator=DEFAULT, step_s=0.01)
    for snapshot in wobbling(simulation(scene), 3.0):
        flown, beside = snapshot.lanes
        np.testing.assert_array_equal(flown.controls, beside.controls)
        np.testing.assert_array_equal(flown.T_wb, beside.T_wb)
        np.testing.assert_array_equal(flown.twist_b, beside.twist_b)


def test_other_methods_get_the_same_controls_bit_for_bit_and_fly_elsewhere():
    scene = helicopter_scene(lanes=(LaneSpec("rk4", 0.01), LaneSpec("rk2", 0.01)), step_s=0.01)
    snapshots = wobbling(simulation(scene), 3.0)
    for snapshot in snapshots:
        for lane in snapshot.lanes[1:]:
            np.testing.assert_array_equal(snapshot.lanes[0].controls, lane.controls)
            assert not lane.own_pilot
    flown, beside, _ = snapshots[-1].lanes
    assert np.abs(flown.T_wb - beside.T_wb).max() > 1e-9


@pytest.mark.parametrize(("flown_s", "beside_s"), [(0.25, 0.001), (0.01, 0.04), (0.02, 0.003)])
def test_lanes_that_follow_do_not_depend_on_how_time_is_cut(flown_s: float, beside_s: float):
    def ended(pieces: list[float]) -> LaneSnapshot:
        scene = helicopter_scene(lanes=(LaneSpec("variational", beside_s),), step_s=flown_s)
        running = simulation(scene)
        running.submit(SetPilotInput(PilotInput(pitch=0.4, roll=-0.2, throttle=1.0)))
        for piece in pieces:
            snapshot = running.advance(piece)
            assert snapshot.clock_s - snapshot.lanes[1].time_current_s < beside_s + 1e-9
        return running.snapshot.lanes[1]

    whole, cut = ended([2.0]), ended([0.5, 0.013, 0.487, 0.9, 0.1])
    np.testing.assert_array_equal(whole.T_wb, cut.T_wb)


def test_a_lane_with_its_own_pilot_steers_by_what_it_sees():
    own = replace(LaneSpec("rk4", 0.04), own_pilot=True)
    running = simulation(helicopter_scene(lanes=(own,), step_s=0.01))
    flown, beside = wobbling(running, 2.0)[-1].lanes
    assert beside.own_pilot
    assert not np.array_equal(flown.controls, beside.controls)
    running.submit(SetLanePilot(beside.name, own=False))
    flown, beside = wobbling(running, 0.2)[-1].lanes
    np.testing.assert_allclose(flown.controls, beside.controls, rtol=0.5)
    assert not beside.own_pilot


def test_lanes_go_on_under_the_last_controls_when_the_flown_one_has_stopped():
    running = simulation(spinning_scene(LaneSpec("variational", 0.02), step_s=0.25))
    running.submit(SetIntegrator("rk4"))  # the racket's runaway
    running.advance(12.0)
    flown, beside = running.snapshot.lanes
    assert flown.status is DIVERGED
    assert beside.status is RUNNING
    assert beside.time_current_s > flown.time_current_s + 1.0


def test_a_lane_is_recoloured_and_a_refused_colour_changes_nothing():
    running = simulation(spinning_scene(LaneSpec("rk4", 0.01, name="beside")))
    running.submit(SetLaneTint("beside", (0.1, 0.2, 0.3)))
    assert running.advance(0.1).lanes[1].tint == (0.1, 0.2, 0.3)
    running.submit(SetLaneTint("beside", (0.1, 2.0, 0.3)))
    snapshot = running.advance(0.1)
    assert snapshot.lanes[1].tint == (0.1, 0.2, 0.3)
    assert "0 to 1" in snapshot.message


def test_the_gyro_helicopter_ends_both_runge_kutta_lanes_and_neither_variational_one():
    coarse, rk4, rk2, coarsest = played("blowup").lanes
    for lane, by_s in ((rk4, 3.0), (rk2, 2.2)):
        assert lane.status is DIVERGED
        assert lane.time_current_s < by_s
        assert "energy" in lane.status_text
    for lane in (coarse, coarsest):
        assert lane.status is RUNNING
        assert lane.deviation.position_m < 0.25  # measured: 0.15 m and 0.20 m after 10 s
        assert lane.deviation.rotation_rad < 0.06


def test_the_slab_keeps_its_energy_to_rounding_where_runge_kutta_4_runs_away():
    flown, rk4, rk2, fine = played("blowup-slab").lanes
    assert (rk4.status, rk2.status) == (DIVERGED, DIVERGED)
    assert 4.0 < rk4.time_current_s < 5.0
    assert flown.status is RUNNING
    assert energy_drift(flown) < 1e-10  # measured: 1e-13
    assert np.linalg.norm(flown.momentum_w - flown.momentum_start_w) < 1e-9
    # The honest side: out of phase by radians, where a small step of Runge-Kutta 4 is right.
    assert flown.deviation.rotation_rad > 0.5
    assert fine.deviation.rotation_rad < 1e-3


def test_the_racket_is_flung_away_or_stopped_by_runge_kutta_4_and_right_at_5_ms():
    flown, quarter, tenth, fine, split = played("blowup-racket").lanes
    assert split.deviation.position_m < 1e-9
    assert np.linalg.norm(split.momentum_w - split.momentum_start_w) < 1e-8
    assert energy_drift(split) < 2e-3  # bounded, not exact
    assert quarter.status is DIVERGED
    assert quarter.time_current_s <= 2.75
    assert energy_drift(flown) < 1e-10
    assert tenth.status is RUNNING
    assert np.linalg.norm(tenth.twist_b[3:]) < 0.3 * np.linalg.norm(flown.momentum_start_w[3:])
    assert fine.deviation.position_m < 1e-3
    assert flown.deviation.position_m > 1.0


@pytest.mark.parametrize("name", ["blowup", "blowup-slab", "blowup-racket"])
def test_at_5_ms_runge_kutta_4_is_the_better_one_as_the_captions_say(name: str):
    scene = load_scene(name)
    scene = replace(scene, step_s=0.005, lanes=(LaneSpec("rk4", 0.005),))
    flown, rk4 = simulation(scene).advance(5.0).lanes
    assert "5 ms" in scene.comparison.note
    assert rk4.status is RUNNING
    assert rk4.deviation.rotation_rad < flown.deviation.rotation_rad


def other_solver(scene: Scene, seconds: float) -> np.ndarray:
    """(18,) R column by column, x_w, omega_b, v_b at that time: Euler's equations by hand, solved by scipy."""
    values = scene.vehicle.values
    J, mass = np.array(values["inertia"]), values["mass"]
    spin = np.array([0.0, 0.0, values.get("rotor_momentum", 0.0)])
    tilt = scene.trim.get("gamma_p", 0.0)
    lift = mass * values["gravity"]
    force = lift * np.array([np.sin(tilt), 0.0, np.cos(tilt)])
    torque = np.array([0.0, values.get("rotor_offset", 0.0) * force[0], 0.0])
    weight = np.array([0.0, 0.0, -values["gravity"]])

    def rate(_: float, s: np.ndarray) -> np.ndarray:
        R, omega, v = s[:9].reshape(3, 3, order="F"), s[12:15], s[15:]
        W = np.array([[0, -omega[2], omega[1]], [omega[2], 0, -omega[0]], [-omega[1], omega[0], 0]])
        turning = (np.cross(J * omega + spin, omega) + torque) / J
        return np.concatenate(
            [(R @ W).ravel("F"), R @ v, turning, np.cross(v, omega) + force / mass + R.T @ weight]
        )

    start = scene.start
    R = upright(start.heading_rad)
    first = np.concatenate([R.ravel("F"), start.position_w, start.omega_b, start.velocity_b])
    return solve_ivp(rate, (0.0, seconds), first, method="DOP853", rtol=2.3e-14, atol=1e-15).y[:, -1]


@pytest.mark.parametrize(
    ("name", "seconds", "bound"),
    [
        ("blowup", 5.0, 1e-9),
        ("blowup-racket", 10.0, 1e-9),
        ("blowup-slab", 1.5, 1e-9),
        # Each passage of the slab by its unstable axis magnifies the rounding of both solvers several hundred times.
        ("blowup-slab", 10.0, 1e-6),
    ],
)
def test_the_reference_agrees_with_scipy(name: str, seconds: float, bound: float):
    scene = load_scene(name)
    running = simulation(scene)
    for _ in range(40):
        running.advance(seconds / 40)
    node, exact = running.run.comparison.node(running.snapshot.clock_s), other_solver(scene, seconds)
    np.testing.assert_allclose(node[:12], exact[:12], rtol=0.0, atol=bound)
    np.testing.assert_allclose(node[12:], exact[12:], rtol=0.0, atol=20.0 * bound)


def test_the_reference_does_not_depend_on_lanes_or_frames():
    scene = load_scene("blowup-racket")
    many, alone = simulation(scene), simulation(replace(scene, lanes=(), step_s=0.01))
    many.advance(3.0)
    for _ in range(30):
        alone.advance(0.1)
    a, b = (running.run.comparison.node(3.0) for running in (many, alone))
    np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-10)


def test_a_reference_that_once_needed_many_steps_goes_back_to_few():
    """Errors of as many are rounding, which more steps do not lessen: 8192 a stretch would stand still for ever."""
    running = simulation(replace(load_scene("blowup-racket"), lanes=()))
    running.advance(0.1)
    reference = running.run.comparison.reference
    reference.steps = MOST_STEPS
    running.advance(1.0)
    assert reference.steps <= 64


def test_a_reference_begins_where_the_flown_lane_is_and_ends_on_command():
    scene = spinning_scene(LaneSpec("rk4", 0.005), step_s=0.005)
    running = simulation(replace(scene, integrator="variational"))
    assert not running.advance(1.0).reference
    running.submit(SetReference(True))
    begun = running.advance(0.0)
    assert begun.reference
    assert begun.lanes[0].deviation.position_m == 0.0
    later = running.advance(1.0)
    assert 0.0 < later.lanes[0].deviation.rotation_rad < 0.05
    running.submit(SetReference(False))
    assert running.advance(0.1).lanes[0].deviation is None


def test_under_moving_sticks_the_default_is_as_near_the_exact_motion_as_second_order_allows():
    """Inputs that change all the time, steps of 10 ms; a row that acted about its node would make it first order."""
    scene = replace(spinning_scene(LaneSpec("rk2", 0.01), step_s=0.01), integrator=DEFAULT)
    running = simulation(replace(scene, start=Start(position_w=(0.0, 0.0, 300.0), omega_b=(0.1, 0.5, 0.1))))
    running.submit(SetReference(True))
    running.advance(0.0)
    for k in range(40):
        stick = float(np.sin(0.9 * k))
        running.submit(SetPilotInput(PilotInput(pitch=stick, roll=0.7 * stick, yaw=-stick)))
        default, rk2 = running.advance(0.05).lanes[:2]
    turned = np.linalg.norm(default.twist_b[:3] - [0.1, 0.5, 0.1])
    assert turned > 1e-3, "the sticks were heard"
    assert default.deviation.rotation_rad < 1e-4
    assert rk2.deviation.rotation_rad < 1e-4


def test_controls_change_the_momentum_and_the_error_against_the_reference_is_the_methods_alone():
    """In the air of second order. From the pad half a step of thrust above weight, at lift-off, comes to it."""

    def flown(method: str, step_s: float, **begun: Start) -> LaneSnapshot:
        running = simulation(helicopter_scene(integrator=method, step_s=step_s, **begun))
        running.submit(SetReference(True))
        running.submit(SetPilotInput(PilotInput(throttle=0.6, pitch=0.3)))
        return running.advance(4.0).lanes[0]

    def errors(lane: LaneSnapshot) -> tuple[float, float]:
        assert lane.deviation is not None
        return lane.deviation.momentum, float(np.linalg.norm(lane.momentum_w - lane.momentum_start_w))

    in_air = Start(position_w=(0.0, 0.0, 60.0))
    (coarse, changed), (fine, _) = (errors(flown("variational", h, start=in_air)) for h in (0.01, 0.005))
    assert changed > 1e4  # measured 22900: thrust and weight put it in
    assert coarse < 1e-4 * changed  # measured 0.14
    assert fine < 0.26 * coarse  # measured 0.25
    (coarse, _), (fine, _) = (errors(flown("variational", h)) for h in (0.01, 0.005))
    assert coarse < 1e-4 * changed  # measured 1.0
    assert fine < 0.6 * coarse  # measured 0.51
    assert errors(flown("rk4", 0.01))[0] < 1e-9 * changed  # measured 7e-7


@pytest.mark.parametrize("step_s", [0.01, 0.005, 0.0025])
def test_lift_off_costs_the_momentum_of_half_a_step_of_what_thrust_is_above_weight(step_s: float):
    running = simulation(helicopter_scene(integrator="variational", step_s=step_s))
    running.submit(SetReference(True))
    running.submit(SetPilotInput(PilotInput(throttle=0.6)))
    values = running.run.flown.dynamics.vehicle.values
    weight = values["mass"] * values["gravity"]
    lane = running.advance(step_s).lanes[0]
    while lane.controls[0] <= weight:
        lane = running.advance(step_s).lanes[0]
    lost = 0.5 * step_s * (lane.controls[0] - weight)  # 32.6 N above weight: 0.163, 0.081 and 0.041 N s
    deviation = running.advance(0.1).lanes[0].deviation
    assert deviation is not None
    assert deviation.momentum == pytest.approx(lost, rel=1e-4)  # measured 2e-6


def test_a_stopped_lane_keeps_its_last_deviation():
    running = simulation(load_scene("blowup-slab"))
    running.advance(6.0)
    first = running.snapshot.lanes[1].deviation
    assert first is not None
    assert running.advance(2.0).lanes[1].deviation == first


def test_more_than_eight_lanes_are_refused():
    running = simulation(spinning_scene(*(LaneSpec("rk4", 0.01) for _ in range(7)), step_s=0.01))
    running.submit(AddLane("rk4", 0.02))
    snapshot = running.advance(0.1)
    assert len(snapshot.lanes) == 8
    assert "8 lanes" in snapshot.message


def test_the_control_history_forgets_only_what_nobody_asks_for():
    history = ControlHistory()
    rows = [np.array([float(k)]) for k in range(5)]
    for k, row in enumerate(rows):
        history.record(0.1 * k, row, 0.1 * (k + 1))
    history.forget_before(0.25)
    assert history.at(0.25).controls is rows[2]
    assert history.at(0.3).controls is rows[3]
    assert history.known(0.49)
    assert not history.known(0.5)
    history.record(0.3, rows[0], 0.4)
    assert history.at(0.45).controls is rows[0]


def test_a_scene_without_a_comparison_has_no_reference():
    assert load_scene("canyon").comparison == Comparison()
