"""The app's third kind of place: what turns about a fixed point of the world, on a stand."""

from dataclasses import replace

import numpy as np
import pytest

import sim
from sim.commands import AddLane, PilotInput, Reset, SetPilotInput, SetReference, SetVehicle
from sim.planner import Goal, Task
from sim.scene import LaneSpec, Scene, Start, load_scene
from sim.simulation.lanes.history import SPACING
from sim.simulation.lanes.snapshot import LaneStatus
from sim.vehicles import known_vehicle
from tests.sim.simulation_scenes import fly, helicopter_scene, place, simulation

TOP = Scene(
    name="top",
    title="top",
    world="canyon",
    vehicle=known_vehicle("heavy-top"),
    flight_mode="raw",
    start=Start(position_w=(310.0, 12.0, 0.0)),
)


def test_its_point_stands_above_the_ground_and_never_moves():
    running = simulation(TOP)
    first = running.snapshot.lanes[0]
    ground = float(running.run.world.terrain.height(310.0, 12.0))
    np.testing.assert_allclose(
        place(first), [310.0, 12.0, ground + sim.vehicle("heavy-top").stand_m], atol=1e-12
    )
    later = fly(running, 3.0, pitch=1.0, roll=-0.7, yaw=0.5)
    np.testing.assert_array_equal(place(later), place(first))
    assert not later.twist_b[3:].any()
    assert np.abs(later.T_wb[:3, :3] - first.T_wb[:3, :3]).max() > 0.1
    assert later.height_above_ground_m == sim.vehicle("heavy-top").stand_m
    assert later.status is LaneStatus.RUNNING


def test_put_down_upright_and_at_rest_it_starts_as_the_vehicle_does_with_that_heading():
    lane = simulation(replace(TOP, start=replace(TOP.start, heading_rad=1.2))).snapshot.lanes[0]
    c, s = np.cos(1.2), np.sin(1.2)
    expected = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]) @ sim.vehicle("heavy-top").default_state().pose
    np.testing.assert_allclose(lane.T_wb[:3, :3], expected, atol=1e-12)
    assert lane.scalar("spin") == pytest.approx(30.0)
    leaning = replace(TOP.start, pitch_rad=0.5)
    at_rest = simulation(replace(TOP, start=leaning)).snapshot.lanes[0]
    assert not at_rest.twist_b.any()
    assert at_rest.scalar("lean") == pytest.approx(0.5)


def test_vehicles_come_onto_the_stand_and_off_it_where_they_are():
    running = simulation(helicopter_scene())
    before = fly(running, 2.5, throttle=1.0)
    running.submit(SetReference(True))
    running.submit(SetVehicle("heavy-top"))
    top = running.advance(0.0).lanes[0]
    np.testing.assert_allclose(place(top)[:2], place(before)[:2], atol=1e-9)
    assert place(top)[2] == pytest.approx(sim.vehicle("heavy-top").stand_m)
    spun = running.advance(2.0).lanes[0]
    assert spun.deviation is not None
    running.submit(SetVehicle("helicopter"))
    back = running.advance(0.0).lanes[0]
    np.testing.assert_allclose(place(back)[:2], place(before)[:2], atol=1e-9)
    np.testing.assert_allclose(back.T_wb[:3, 2], [0, 0, 1], atol=1e-9)
    assert np.abs(back.twist_b).max() < 1e-9
    assert running.advance(1.0).lanes[0].status is LaneStatus.RUNNING
    running.submit(SetVehicle("heavy-top"))
    running.submit(Reset())
    np.testing.assert_allclose(place(running.advance(0.0).lanes[0])[:2], place(before)[:2], atol=2.0)


def test_lanes_share_the_stand_and_errors_are_those_of_the_centre_of_mass():
    """The reference against the flown lane at h = 1 ms; measured 1e-5 m."""
    scene = replace(TOP, step_s=0.001, integrator="variational-6", lanes=(LaneSpec("rk4", 0.05, name="rk4"),))
    running = simulation(replace(scene, comparison=replace(scene.comparison, reference=True)))
    running.submit(AddLane("rk2", 0.02, name="rk2"))
    running.submit(SetPilotInput(PilotInput(roll=0.4)))
    flown, rk4, rk2 = running.advance(4.0).lanes
    np.testing.assert_array_equal(place(flown), place(rk4))
    np.testing.assert_array_equal(place(flown), place(rk2))
    assert flown.deviation.position_m < 1e-4
    assert 1e-3 < rk4.deviation.position_m < 0.5
    apart = np.linalg.norm((rk4.T_wb - flown.T_wb)[:3, 2]) * 0.25
    assert rk4.deviation.position_m == pytest.approx(apart, rel=0.05)


def test_what_its_weight_keeps_is_kept_and_a_hand_changes_it():
    running = simulation(replace(TOP, integrator="variational-exp"))
    lane = running.advance(5.0).lanes[0]
    assert lane.change("momentum_vertical") == pytest.approx(0.0, abs=1e-11)
    assert lane.change("momentum_axial") == pytest.approx(0.0, abs=1e-11)
    assert lane.scalar("momentum_vertical") == pytest.approx(lane.momentum_w[2], abs=1e-12)
    twisted = fly(running, 1.0, yaw=-1.0)
    # Half a step of 10 ms is how well the moment is known at which the hand takes hold.
    assert twisted.scalar("spin") == pytest.approx(lane.scalar("spin") + 10.0 / 1.1, abs=0.06)


def test_a_push_down_quickens_the_precession_and_a_push_ahead_lifts_the_tip():
    """As every gyroscope has it: it gives way at right angles."""
    spun = replace(
        TOP,
        vehicle=known_vehicle("heavy-top", gravity=9.81),
        start=replace(TOP.start, pitch_rad=0.9, omega_b=(0.0, 0.0, 200.0)),
    )

    def mean(**sticks):
        running = simulation(spun)
        fly(running, 2.0, **sticks)
        lane = running.snapshot.lanes[0]
        axis = lane.T_wb[:3, 2]
        return np.unwrap([0.0, np.arctan2(axis[1], axis[0])])[1], lane.scalar("lean")

    free, pushed, ahead = mean(), mean(pitch=1.0), mean(roll=-1.0)
    assert pushed[0] > 1.2 * free[0]
    assert ahead[1] < free[1] - 0.1


def test_the_scene_shows_what_its_text_says():
    """Ten seconds of heavy-top, untouched: lean of each lane, and which of them has diverged."""
    flown, rk4, rk2, euler = simulation(load_scene("heavy-top")).advance(10.0).lanes
    assert 45.0 < np.degrees(flown.scalar("lean")) < 58.5
    assert np.degrees(rk4.scalar("lean")) > 85.0
    assert np.degrees(rk2.scalar("lean")) < 40.0
    assert euler.status is LaneStatus.DIVERGED
    assert "energy past" in euler.status_text
    assert [lane.status for lane in (flown, rk4, rk2)] == [LaneStatus.RUNNING] * 3


def test_the_planner_refuses_a_place_for_what_goes_nowhere_and_a_spin_beyond_its_limits_in_one_line(tmp_path):
    top = sim.vehicle("heavy-top")
    state = top.default_state()
    with pytest.raises(
        sim.InputError, match="start is faster than the limits allow: it turns at 30 of 4 rad/s"
    ) as caught:
        sim.plan(top, Task(start=state, goal=Goal(state), duration_s=1.0))
    assert "\n" not in str(caught.value)
    scene = tmp_path / "turn.toml"
    scene.write_text('vehicle = "heavy-top"\n[plan]\n[plan.start]\nposition_m = [0, 0, 0]\n')
    with pytest.raises(sim.InputError, match=r"plan\.start\.position_m: unknown key; allowed: heading_deg"):
        sim.plan(None, scene)


def test_the_way_of_the_axis_is_known_between_two_pictures():
    """Half a second in one go at h = 1/20 s: the rows lie near one another, up to where the top is."""
    running = simulation(replace(TOP, integrator="variational-6", step_s=0.05))
    running.advance(1.0)
    lane = running.advance(0.5).lanes[0]
    times, axes = lane.trails["axis"][1:, 0], lane.trails["axis"][1:, 1:]
    assert np.all(np.diff(times) > 0.0)
    assert times[-1] <= lane.time_current_s
    np.testing.assert_allclose(np.linalg.norm(axes, axis=1), 1.0, rtol=0.0, atol=1e-12)  # measured 3e-16
    assert np.linalg.norm(axes[-1] - lane.T_wb[:3, 2]) < SPACING
    recent = axes[times > 1.0]
    assert len(recent) > 15
    assert np.linalg.norm(np.diff(recent, axis=0), axis=1).max() < 0.03
    # Between the steps, too, it is the way of the axis: 7e-5 away, 2.5e-3 where a moment is not a whole step of 1 ms.
    exact = simulation(replace(TOP, integrator="rkmk4", step_s=0.001))
    for time_s, axis in zip(times[times < 0.45], axes, strict=False):
        tip = exact.advance(time_s - exact.snapshot.clock_s).lanes[0].T_wb[:3, 2]
        assert np.linalg.norm(tip - axis) < 0.004
    assert list(simulation(helicopter_scene()).snapshot.lanes[0].trails) == ["omega"]
