"""Laws of the simulation without its thread: determinism, swapping, commands, lanes that fail."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sim
from sim.commands import (
    AddLane,
    PilotInput,
    Pull,
    RemoveLane,
    Reset,
    Resimulate,
    Scrub,
    SetDemo,
    SetFlightMode,
    SetIntegrator,
    SetLaneTint,
    SetParameter,
    SetPaused,
    SetPilotInput,
    SetSpeed,
    SetStep,
    SetVehicle,
    SingleStep,
    StartAt,
)
from sim.scene import LaneSpec, Start
from sim.simulation.lanes.placing import Placement, taken_over
from sim.simulation.lanes.snapshot import LaneStatus
from sim.vehicles import known_vehicle
from sim.vehicles.forms.form import Support
from tests.sim.simulation_scenes import fly, helicopter_scene, place, simulation, speed, spinning_scene


def lifted(step_s=0.01):
    """A helicopter some metres up, moving and turning."""
    running = simulation(helicopter_scene(step_s=step_s))
    fly(running, 2.5, throttle=1.0)
    fly(running, 1.0, pitch=0.6, yaw=-0.5)
    return running


def test_pause_advances_nothing():
    running = lifted()
    before = running.snapshot
    running.submit(SetPaused(True))
    after = running.advance(3.0)
    assert after.clock_s == before.clock_s
    assert after.paused
    assert math.isnan(after.real_time_factor)
    np.testing.assert_array_equal(after.lanes[0].T_wb, before.lanes[0].T_wb)
    running.submit(SetPaused(False))
    assert running.advance(1.0).clock_s == pytest.approx(before.clock_s + 1.0)


def test_the_same_inputs_give_the_same_bits():
    a, b = lifted(), lifted()
    np.testing.assert_array_equal(a.snapshot.lanes[0].T_wb, b.snapshot.lanes[0].T_wb)
    np.testing.assert_array_equal(a.snapshot.lanes[0].twist_b, b.snapshot.lanes[0].twist_b)


@pytest.mark.parametrize("step_s", [0.003, 0.01, 0.04])
def test_how_time_is_cut_into_frames_does_not_change_a_bit(step_s):
    whole, cut = (simulation(helicopter_scene(step_s=step_s)) for _ in range(2))
    for running in (whole, cut):
        running.submit(SetPilotInput(PilotInput(throttle=0.8, roll=0.2)))
    end = whole.advance(3.0).lanes[0]
    rng = np.random.default_rng(3)
    left = 3.0
    while left > 0.0:
        frame = min(float(rng.uniform(0.001, 0.05)), left)
        cut.advance(frame)
        left -= frame
    assert place(end)[2] > 3.0
    np.testing.assert_array_equal(end.T_wb, cut.snapshot.lanes[0].T_wb)
    np.testing.assert_array_equal(end.twist_b, cut.snapshot.lanes[0].twist_b)


def test_speed_changes_no_step_and_headless_time_is_simulated_time():
    slow, fast = lifted(), lifted()
    slow.submit(SetSpeed(1 / 32))
    fast.submit(SetSpeed(8.0))
    np.testing.assert_array_equal(slow.advance(1.0).lanes[0].T_wb, fast.advance(1.0).lanes[0].T_wb)


def test_single_steps_are_exactly_that_and_leave_it_paused():
    running = lifted()
    before = running.snapshot.lanes[0]
    for count in (1, 3):
        running.submit(SingleStep(count))
    after = running.advance(5.0)
    assert after.paused
    assert after.lanes[0].time_current_s == pytest.approx(before.time_current_s + 4 * 0.01, abs=1e-12)


@pytest.mark.parametrize("name", ["rk4", "variational-exp", "variational"])
@pytest.mark.parametrize("step_s", [0.002, 0.01, 0.05])
def test_swapping_integrator_and_step_keeps_pose_and_velocity(name, step_s):
    running = lifted()
    before = running.snapshot.lanes[0]
    running.submit(SetIntegrator(name))
    running.submit(SetStep(step_s))
    after = running.advance(0.0).lanes[0]
    assert (after.integrator, after.step_s) == (name, step_s)
    np.testing.assert_allclose(after.T_wb, before.T_wb, atol=2e-15)
    np.testing.assert_allclose(after.twist_b, before.twist_b, rtol=0, atol=1e-9)
    assert after.generation > before.generation or (name, step_s) == ("variational", 0.01)
    assert after.time_current_s == before.time_current_s


@pytest.mark.parametrize("step_s", [0.002, 0.05, 0.5])
def test_swapping_while_it_stands_on_the_ground_keeps_it_standing(step_s):
    running = simulation(helicopter_scene())
    before = running.advance(1.0).lanes[0]
    running.submit(SetStep(step_s))
    after = running.advance(0.0).lanes[0]
    np.testing.assert_allclose(after.twist_b, before.twist_b, rtol=0, atol=1e-9)
    later = running.advance(4.0).lanes[0]
    assert later.on_ground
    assert np.linalg.norm(place(later) - place(before)) < 0.01


def test_changing_a_parameter_keeps_pose_and_velocity():
    running = lifted()
    before = running.snapshot.lanes[0]
    running.submit(SetParameter("mass", 900.0))
    after = running.advance(0.0).lanes[0]
    np.testing.assert_array_equal(after.T_wb, before.T_wb)
    np.testing.assert_allclose(after.twist_b, before.twist_b, atol=1e-9)
    assert running.advance(5.0).lanes[0].status is LaneStatus.RUNNING


def test_a_change_of_gravity_in_flight_reaches_the_contact_with_the_ground():
    """What stands on the ground bears its weight on the moon, too, and what touches it does so as fast as it fell."""
    running = lifted()
    running.submit(SetParameter("gravity", 1.62))
    running.advance(0.1)
    ground = running.run.flown.footing.environment.ground
    assert ground.frame[5] == 1.62


def test_another_vehicle_starts_where_the_old_one_was():
    running = lifted()
    before = running.snapshot.lanes[0]
    running.submit(SetVehicle("rigid-body"))
    snapshot = running.advance(0.0)
    after = snapshot.lanes[0]
    assert after.vehicle == "rigid-body"
    np.testing.assert_allclose(after.T_wb, before.T_wb, rtol=0, atol=1e-14)
    np.testing.assert_allclose(after.twist_b, before.twist_b, atol=1e-9)
    assert snapshot.flight_modes == ("raw",)
    assert snapshot.flight_mode == "raw"


def test_a_vehicle_takes_over_a_rotation_where_a_method_has_left_the_group():
    helicopter, body = sim.vehicle("helicopter"), sim.vehicle("rigid-body")
    T_wb = np.eye(4)
    T_wb[:3, :3] = Rotation.from_rotvec([0.3, -0.5, 0.2]).as_matrix() + 1e-9 * np.arange(9.0).reshape(3, 3)
    there = taken_over(helicopter, body, Placement(T_wb, np.arange(6.0)))
    R_wb = there.T_wb[:3, :3]
    np.testing.assert_allclose(R_wb.T @ R_wb, np.eye(3), atol=1e-15)
    np.testing.assert_allclose(there.T_wb, T_wb, rtol=0, atol=1e-8)  # 7.7e-9 at most


def test_a_flight_mode_comes_back_with_a_vehicle_that_has_it():
    running = lifted()
    running.submit(SetFlightMode("rate"))
    modes = []
    for vehicle in ("rigid-body", "car", "helicopter"):
        running.submit(SetVehicle(vehicle))
        modes.append(running.advance(0.0).flight_mode)
    assert modes == ["raw", "drive", "rate"]


def spot(lane):
    """(3,) where a vehicle takes another's place: of what hangs or turns about a fixed point, that point."""
    return place(lane) if lane.pivot_w is None else lane.pivot_w


def test_every_vehicle_can_take_the_place_of_any_other():
    running = lifted()
    for name in (*sim.vehicles(), *reversed(sim.vehicles())):
        before = running.snapshot.lanes[0]
        running.submit(SetVehicle(name))
        after = running.advance(0.0).lanes[0]
        assert after.vehicle == name
        assert np.linalg.norm(spot(after)[:2] - spot(before)[:2]) < 1e-9
        assert after.twist_b.shape == after.control_wrench_b.shape == (6,)
        np.testing.assert_allclose(after.T_wb[:3, :3].T @ after.T_wb[:3, :3], np.eye(3), atol=1e-12)
        later = fly(running, 0.5, pitch=0.2, roll=0.1)
        assert later.status is LaneStatus.RUNNING, later.status_text
        assert np.all(np.isfinite(later.T_wb))
        # Water carries what floats, wherever that is: dropped from metres above it dips in, by 0.43 m at most.
        floats = sim.vehicle(name).support is Support.WATER
        assert later.height_above_ground_m > (-0.6 if floats else -0.01)


def test_the_ground_carries_the_weight_of_what_stands_on_it():
    lane = simulation(helicopter_scene()).advance(1.0).lanes[0]
    np.testing.assert_allclose(lane.environment_wrench_b, [0, 0, 0, 0, 0, 1100.0 * 9.81], atol=1e-3)
    assert lifted().snapshot.lanes[0].environment_wrench_b.any() == 0


def test_contacts_bear_the_weight_of_what_stands_summed_up_from_step_to_step():
    """Of 5 s of weight 4e-16 off; what the impulses sum up to takes part in no checkpoint."""
    running = simulation(helicopter_scene())
    before = running.advance(1.0).lanes[0]
    after = running.advance(5.0).lanes[0]
    assert after.borne_Ns - before.borne_Ns == pytest.approx(1100.0 * 9.81 * 5.0, rel=1e-6)
    assert after.slip_mps < 1e-9
    flying = lifted()
    borne_Ns = flying.advance(0.0).lanes[0].borne_Ns
    aloft = fly(flying, 0.5, throttle=0.5)
    assert (aloft.borne_Ns, aloft.slip_mps) == (borne_Ns, 0.0)


def test_reset_returns_to_the_start_and_never_connects_across():
    running = simulation(helicopter_scene())
    start = running.snapshot.lanes[0]
    fly(running, 4.0, throttle=1.0)
    fly(running, 0.0)
    running.submit(Reset())
    snapshot = running.advance(0.0)
    assert snapshot.clock_s == 0.0
    np.testing.assert_array_equal(snapshot.lanes[0].T_wb, start.T_wb)
    assert snapshot.lanes[0].generation > start.generation
    assert snapshot.lanes[0].time_previous_s == snapshot.lanes[0].time_current_s
    again = fly(running, 2.0, throttle=1.0)
    fresh = fly(simulation(helicopter_scene()), 2.0, throttle=1.0)
    np.testing.assert_array_equal(again.T_wb, fresh.T_wb)


def test_a_diverging_lane_stops_alone_and_says_what_and_when():
    running = simulation(spinning_scene(LaneSpec("rk4", 0.25, name="rk4")))
    variational, rk4 = running.advance(10.0).lanes
    assert rk4.status is LaneStatus.DIVERGED
    assert rk4.status_text.startswith("rigid-body under rk4 at h = 0.25 s: ")
    assert "at t = " in rk4.status_text
    assert np.all(np.isfinite(rk4.T_wb))
    assert np.all(np.isfinite(rk4.twist_b))
    assert rk4.time_current_s < 10.0
    assert variational.status is LaneStatus.RUNNING
    assert variational.time_current_s == pytest.approx(10.0)
    assert variational.energy_J == pytest.approx(variational.energy_start_J, rel=1e-2)
    running.submit(Reset())
    assert running.advance(0.1).lanes[1].status is LaneStatus.RUNNING


def test_lanes_of_different_steps_share_one_clock():
    running = simulation(spinning_scene(LaneSpec("variational", 0.001), LaneSpec("rk4", 0.007), step_s=0.5))
    for _ in range(97):
        snapshot = running.advance(0.0137)
        for lane in snapshot.lanes:
            behind = snapshot.clock_s - lane.time_current_s
            assert -1e-9 <= behind < lane.step_s + 1e-9
            assert lane.time_previous_s <= lane.time_current_s


def test_an_added_lane_starts_from_the_flown_lane_as_it_is():
    running = lifted()
    running.submit(AddLane("rk4", 0.01, name="beside", own_pilot=True))
    flown, beside = running.advance(0.0).lanes
    np.testing.assert_allclose(flown.T_wb, beside.T_wb, atol=2e-15)
    np.testing.assert_allclose(flown.twist_b, beside.twist_b, atol=1e-9)
    assert beside.ghost
    assert not flown.ghost
    flown, beside = fly(running, 2.0, pitch=0.5), running.snapshot.lanes[1]
    assert np.linalg.norm(place(flown) - place(beside)) < 0.05
    running.submit(RemoveLane("beside"))
    assert len(running.advance(0.0).lanes) == 1


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (SetIntegrator("rk5"), ["rk5", "variational"]),
        (SetIntegrator("rk4", lane="nobody"), ["nobody", "flown"]),
        (SetStep(0.0), ["0.0001 to 0.5"]),
        (SetStep(math.nan), ["nan"]),
        (SetSpeed(9.0), ["1/32 to 8"]),
        (SetVehicle("zeppelin"), ["zeppelin", "helicopter"]),
        (SetParameter("mass", -1.0), ["mass", "-1"]),
        (SetParameter("mass", math.nan), ["mass"]),
        (SetParameter("colour", 1.0), ["colour", "mass"]),
        (SetFlightMode("magic"), ["magic", "attitude"]),
        (SetPilotInput(PilotInput(pitch=math.nan)), ["-1 to 1"]),
        (SetPilotInput(PilotInput(throttle=2.0)), ["-1 to 1"]),
        (SingleStep(0), ["count = 0", "1 or more steps"]),
        (RemoveLane("flown"), ["flown lane"]),
        (AddLane("rk4", -1.0), ["-1"]),
        (AddLane("rk4", 0.01, tint=(0.5, math.nan, 0.5)), ["tint"]),
        (SetLaneTint("flown", (math.nan, 0.5, 0.5)), ["tint"]),
        (SetLaneTint("flown", (0.5, 0.5)), ["tint"]),
        (SetLaneTint("flown", (0.5, 0.5, 1.5)), ["tint", "0 to 1"]),
        (Scrub(math.nan), ["moment", "nan"]),
        (Scrub(math.inf), ["moment", "inf"]),
        (SetSpeed(math.nan), ["1/32 to 8"]),
        (SingleStep(math.nan), ["nan"]),
        (Pull("flown", "helicopter", (0.0, 0.0, math.nan), (0.0, 0.0, 1.0)), ["finite"]),
        (Resimulate(step_s=math.nan), ["nan"]),
        (StartAt(Start(position_w=(0.0, math.nan, 0.0))), ["finite"]),
        ("nonsense", ["nonsense"]),
    ],
)
def test_a_refused_command_changes_nothing_and_is_answered_in_words(command, words):
    scene = helicopter_scene()
    running = simulation(scene)
    running.submit(command)
    snapshot = running.advance(0.0)
    for word in words:
        assert word in snapshot.message
    assert "\n" not in snapshot.message
    lane = snapshot.lanes[0]
    assert (lane.vehicle, lane.integrator, lane.step_s) == ("helicopter", scene.integrator, 0.01)
    assert (snapshot.flight_mode, snapshot.paused, snapshot.speed) == ("attitude", False, 1.0)
    assert running.advance(0.1).lanes[0].status is LaneStatus.RUNNING


def test_two_answers_in_the_same_words_are_two():
    running = simulation(spinning_scene())
    running.submit(SetSpeed(2.0))
    first = running.advance(0.0)
    again = running.advance(0.01)
    running.submit(SetSpeed(2.0))
    second = running.advance(0.0)
    assert first.message
    assert first.message == again.message == second.message
    assert (again.answers, second.answers) == (first.answers, first.answers + 1)


def test_the_autopilot_is_refused_for_vehicles_it_cannot_fly():
    running = simulation(
        replace(spinning_scene(), vehicle=known_vehicle("chain"), integrator="riqn", start=Start())
    )
    running.submit(SetDemo(True))
    snapshot = running.advance(0.0)
    assert "autopilot" in snapshot.message
    assert not snapshot.demo


def test_time_that_cannot_be_is_refused():
    for seconds in (-1.0, math.nan, math.inf):
        with pytest.raises(sim.InputError):
            simulation(helicopter_scene()).advance(seconds)


def test_a_failing_pilot_stops_its_lane_and_not_the_simulation():
    running = simulation(spinning_scene(LaneSpec("rk4", 0.01, own_pilot=True), step_s=0.01))

    def broken(*_):
        raise ZeroDivisionError("no lift")

    running.run.lanes[1].pilot.controls = broken
    flown, broken_lane = running.advance(1.0).lanes
    assert broken_lane.status is LaneStatus.DIVERGED
    assert "no lift" in broken_lane.status_text
    assert flown.status is LaneStatus.RUNNING
    assert speed(flown) > 0.0
