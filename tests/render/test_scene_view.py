"""Pictures lie on the group between two published poses, and never across a discontinuity."""

from dataclasses import replace

import numpy as np
import pytest

from render.frame import View
from render.land.birds import Birds
from render.vehicles.scene_view import SceneView, ViewOptions
from sim.commands import ShowMeasured
from sim.groups.numeric import pose_exp, rotation_exp
from sim.multibody.shapes import PAINTED, STAND, Link
from sim.scene import load_scene
from sim.scene.tables import Swell
from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus, Snapshot
from sim.simulation.opening import take_as_ghost
from sim.vehicle_config import config_named
from sim.vehicle_config.mechanism import half_axes_m
from sim.vehicles import known_vehicle
from sim.water.water import water_about
from sim.world import load_world
from tests.sim.simulation_scenes import simulation

TWIST = np.array([0.4, -0.9, 1.3, 5.0, -2.0, 1.0])
VIEW = View(eye_w=np.zeros(3), view=np.eye(4), projection=np.eye(4))


def _lane(start, end, *, generation=0, times=(1.0, 1.1), name="flown", **changes):
    values = {
        "name": name,
        "vehicle": "helicopter",
        "integrator": "variational",
        "step_s": 0.01,
        "tint": (1.0, 0.5, 0.1),
        "ghost": False,
        "generation": generation,
        "time_previous_s": times[0],
        "time_current_s": times[1],
        "bodies_previous": {"body": start},
        "bodies": {"body": end},
        "twist_b": np.zeros(6),
        "shape": np.zeros(0),
        "controls": np.array([1.0e4, 50.0, 0.0, 0.0]),
        "control_wrench_b": np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.0e4]),
        "environment_wrench_b": np.zeros(6),
        "energy_J": 0.0,
        "energy_start_J": 0.0,
        "momentum_w": np.zeros(6),
        "momentum_start_w": np.zeros(6),
        "newton_iterations": 1.0,
        "step_cost_s": 1e-7,
        "height_above_ground_m": 10.0,
        "on_ground": False,
        "status": LaneStatus.RUNNING,
        "status_text": "",
    }
    values = {**values, **changes}
    return LaneSnapshot(**{"config": config_named(values["vehicle"]), **values})


def _snapshot(*lanes, clock_s=1.1, wall_s=100.0, paused=False):
    return Snapshot(
        scene="test",
        lanes=lanes,
        clock_s=clock_s,
        wall_s=wall_s,
        paused=paused,
        speed=1.0,
        real_time_factor=1.0,
        flight_mode="raw",
        flight_modes=("raw",),
        demo=False,
        message="",
    )


def test_the_path_of_a_target_is_a_line_through_its_places():
    scene, lane = SceneView(), _lane(np.eye(4), np.eye(4))
    places = np.array([[0.0, 0.0, 2.0], [1.0, 0.0, 3.0], [2.0, 1.0, 2.0]])
    scene.observe(_snapshot(lane), 100.0)
    assert len(scene.frame(VIEW, ViewOptions(show_trail=False)).lines) == 0
    scene.observe(replace(_snapshot(lane), target_path_w=places), 100.0)
    lines = scene.frame(VIEW, ViewOptions(show_trail=False)).lines
    assert all(np.array_equal(line.points_w, places) for line in lines)
    assert lines


def _settled(lane):
    """A scene view that has already seen an earlier snapshot of the lane's generation."""
    scene = SceneView()
    earlier = _lane(lane.T_wb_previous, lane.T_wb_previous, generation=lane.generation, times=(0.9, 1.0))
    scene.observe(_snapshot(earlier, clock_s=1.0, wall_s=99.9), 99.9)
    return scene


def test_half_way_in_time_is_half_of_the_screw_motion():
    start = pose_exp(np.array([0.2, 0.1, -0.4, 3.0, 2.0, 1.0]))
    lane = _lane(start, start @ pose_exp(0.1 * TWIST))
    subject = _settled(lane).observe(_snapshot(lane), 100.05)
    assert np.allclose(subject.T_wb, start @ pose_exp(0.05 * TWIST), atol=1e-12)


def test_picture_starts_at_the_previous_pose_and_waits_at_the_present_one():
    start = np.eye(4)
    lane = _lane(start, pose_exp(0.1 * TWIST))
    scene = _settled(lane)
    assert np.allclose(scene.observe(_snapshot(lane), 100.0).T_wb, start)
    assert np.allclose(scene.observe(_snapshot(lane), 107.0).T_wb, lane.T_wb)


@pytest.mark.parametrize("elapsed_s", [0.0, 0.03, 0.2])
def test_a_new_generation_is_never_mixed_with_the_old_pose(elapsed_s):
    lane = _lane(np.eye(4), np.eye(4))
    scene = _settled(lane)
    far = np.eye(4)
    far[:3, 3] = 500.0, 0.0, 0.0
    jumped = _lane(lane.T_wb, far, generation=1)
    assert np.array_equal(scene.observe(_snapshot(jumped), 100.0 + elapsed_s).T_wb, far)


def test_a_tops_trail_is_that_of_its_tip_and_the_camera_does_not_turn_with_it():
    scene = SceneView()
    poses = [pose_exp(np.array([0.0, 0.0, 0.1 * k, 0, 0, 0])) for k in range(40)]
    lean = pose_exp(np.array([0.6, 0.0, 0.0, 0, 0, 0]))
    for k in range(39):
        ends = {"start": poses[k] @ lean, "end": poses[k + 1] @ lean}
        lane = _lane(**ends, times=(0.1 * k, 0.1 * (k + 1)), vehicle="heavy-top", pivot_w=np.zeros(3))
        subject = scene.observe(_snapshot(lane, clock_s=0.1 * (k + 1)), 100.0)
    assert np.array_equal(subject.T_wb, np.eye(4))
    assert not subject.twist_b.any()
    tip = scene.frame(VIEW).lines[0].points_w
    assert len(tip) > 30
    assert np.allclose(np.linalg.norm(tip, axis=1), 0.52)
    assert np.allclose(tip[:, 2], 0.52 * np.cos(0.6))


def test_the_camera_goes_along_with_what_slides_away_from_its_stand():
    """A ball of links that turns: the camera stands still while it is within its reach, and is never left behind."""
    ball = tuple(
        Link("body", (0.0, 0.0, z), (0.0, 0.0, z), 0.2, PAINTED, (False, False)) for z in (-0.1, 0.3)
    )
    scene, seen, last = SceneView(), [], np.eye(4)
    for k in range(40):
        now = pose_exp(np.array([0.0, 0.0, 0.3 * k, 0, 0, 0]))
        now[:3, 3] = 0.1 * k, 0.0, 0.0
        times = (0.1 * k, 0.1 * (k + 1))
        lane = _lane(last, now, times=times, vehicle="heavy-top", pivot_w=np.zeros(3), links=ball)
        subject = scene.observe(_snapshot(lane, clock_s=times[1]), 100.0 + k)
        seen.append((scene.places_w()["flown"], subject.T_wb[:3, 3]))
        assert np.array_equal(subject.T_wb[:3, :3], np.eye(3))
        last = now
    places, targets = np.array(seen).swapaxes(0, 1)
    assert not targets[:3, :2].any()
    assert np.linalg.norm((places - targets)[:, :2], axis=1).max() < 0.31
    assert np.linalg.norm(np.diff(targets, axis=0), axis=1).max() < 0.11


def test_trail_starts_anew_with_a_generation():
    scene = SceneView()
    pose = np.eye(4)
    for k in range(20):
        nxt = pose @ pose_exp(np.array([0, 0, 0, 2.0, 0, 0]))
        lane = _lane(pose, nxt, times=(0.1 * k, 0.1 * (k + 1)))
        scene.observe(_snapshot(lane, clock_s=0.1 * (k + 1)), 100.0)
        pose = nxt
    line = scene.frame(VIEW).lines[0]
    assert len(line.points_w) > 15
    assert line.alpha[0] < line.alpha[10]
    assert line.alpha[-1] == 0.0
    assert scene.frame(VIEW, ViewOptions(show_trail=False)).lines == ()
    scene.observe(_snapshot(_lane(np.eye(4), np.eye(4), generation=3, times=(2.0, 2.1)), clock_s=2.1), 100.0)
    assert scene.frame(VIEW).lines == ()


def test_force_arrow_points_along_the_thrust_in_the_world():
    T = np.eye(4)
    T[:3, :3] = rotation_exp(np.array([0.3, 0.0, 0.0]))
    scene = SceneView()
    scene.observe(_snapshot(_lane(T, T)), 100.0)
    arrows = scene.frame(VIEW, ViewOptions(show_forces=True)).arrows
    direction = arrows[0].vector_w / np.linalg.norm(arrows[0].vector_w)
    assert np.allclose(direction, T[:3, 2])
    assert len(scene.frame(VIEW, ViewOptions(show_frame=True)).arrows) == 3


@pytest.mark.parametrize("vehicle", ["motorboat", "boat", "helicopter", "rolling-disc"])
def test_no_force_arrow_is_longer_than_the_view_of_its_vehicle(vehicle: str):
    """A hull bears a hundred times what drives it."""
    lift, thrust = np.array([0.0, 0.0, 0.0, 0.0, 0.0, 5000.0]), np.array([0.0, 0.0, 0.0, 40.0, 0.0, 0.0])
    lane = replace(_lane(np.eye(4), np.eye(4)), vehicle=vehicle, config=config_named(vehicle))
    scene = SceneView()
    scene.observe(_snapshot(replace(lane, control_wrench_b=thrust, environment_wrench_b=lift)), 100.0)
    arrows = scene.frame(VIEW, ViewOptions(show_forces=True)).arrows[:2]
    lengths = [float(np.linalg.norm(arrow.vector_w)) for arrow in arrows]
    assert 0.1 < max(lengths) / config_named(vehicle).camera.distance_m < 0.5  # 0.3
    assert lengths[1] / lengths[0] == pytest.approx(125.0)


def test_a_lane_without_a_finite_pose_is_left_out_and_a_crashed_one_is_a_wreck():
    broken = np.full((4, 4), np.nan)
    crashed = _lane(np.eye(4), np.eye(4), name="crashed", status=LaneStatus.CRASHED)
    scene = SceneView()
    scene.observe(_snapshot(_lane(broken, broken), crashed), 100.0)
    vehicles = scene.frame(VIEW).vehicles
    assert [vehicle.wreck for vehicle in vehicles] == [True]


def test_rotors_turn_with_simulated_time_and_stand_while_paused():
    lane = _lane(np.eye(4), np.eye(4))
    scene = _settled(lane)
    spins = []
    for paused, now in ((False, 100.0), (False, 100.05), (True, 100.2), (True, 100.3)):
        scene.observe(_snapshot(lane, paused=paused), now)
        spins.append(scene.frame(VIEW).vehicles[0].time_s)
    assert spins[0] != spins[1]
    assert spins[2] == spins[3]


def test_a_ghost_is_seen_the_more_the_further_it_is_from_the_flown_vehicle():
    flown = pose_exp(TWIST)
    shares = []
    for size in (0.0, 0.02, 0.1, 0.3, 3.0):
        away = flown @ pose_exp(size * TWIST)
        scene = SceneView()
        lanes = (_lane(flown, flown), _lane(away, away, name="other", ghost=True))
        scene.observe(_snapshot(*lanes), 100.0)
        solid, ghost = scene.frame(VIEW).vehicles
        assert solid.presence == 1.0
        shares.append(ghost.presence)
        (_, apart) = scene.frame(VIEW, ViewOptions(spread_w=(9.0, 0.0, 0.0))).vehicles
        assert apart.presence == 1.0
    assert shares == sorted(shares)
    assert shares[0] < 0.2
    assert shares[-1] == 1.0


@pytest.mark.parametrize("step_m", [0.0, 9.0])
def test_a_moment_of_the_past_is_drawn_where_its_lane_is(step_m):
    """Lanes are perhaps drawn apart: then it is with its own lane, not at that lane's true place."""
    now, then = np.eye(4), np.eye(4)
    then[:3, 3] = (0.0, 3.0, 0.5)
    scene, options = SceneView(load_world("plain")), ViewOptions(spread_w=(step_m, 0.0, 0.0))
    lanes = [_lane(now, now, name=name, times=(1.1, 1.1)) for name in ("flown", "one", "two")]
    scene.observe(_snapshot(*lanes), 100.0)
    places = [vehicle.T_wb[:3, 3] for vehicle in scene.frame(VIEW, options).vehicles]
    seen = scene.moment(replace(lanes[0], bodies={"body": then}, ghost=True), options)
    np.testing.assert_allclose(seen.T_wb[:3, 3] - then[:3, 3], places[0], atol=1e-12)
    assert places[0][0] == -step_m
    assert seen.ghost
    assert seen.presence > 0.1


@pytest.mark.parametrize("step_m", [0.0, 3.0])
def test_a_take_of_what_hangs_from_a_stand_is_drawn_beside_the_flight_with_its_stand(step_m):
    running = simulation(load_scene("pendulum"))
    running.advance(3.0)
    running.submit(ShowMeasured(take_as_ghost(running.takes()[0], "before")))
    snapshot = running.advance(0.1)
    scene = SceneView(load_world("plain"))
    scene.observe(snapshot, 100.0)
    frame = scene.frame(VIEW, ViewOptions(spread_w=(step_m, 0.0, 0.0)))
    assert len(frame.vehicles) == len(snapshot.lanes)
    places = [vehicle.bodies[STAND][:3, 3] for vehicle in frame.vehicles]
    for vehicle, place_w in zip(frame.vehicles, places, strict=True):
        assert {link.body for link in vehicle.links} <= set(vehicle.bodies)
        np.testing.assert_allclose(place_w[1:], places[0][1:], atol=1e-9)


def test_a_scenes_swell_is_the_sea_that_such_a_wind_raises_under_a_boat():
    boat = known_vehicle("motorboat", waves=7.5, waves_direction=np.radians(160.0), fetch=25e3)
    carrying = water_about(boat, 0.0).state
    scene = SceneView(load_world("sea"), swell=Swell(7.5, 160.0, 25e3))
    lane = _lane(np.eye(4), np.eye(4))
    scene.observe(_snapshot(lane), 100.0)
    seen = scene.frame(VIEW).sea.state
    np.testing.assert_allclose(seen.numbers(3.0), carrying.numbers(3.0), rtol=1e-15)
    for one, other in zip(seen.waves, carrying.waves, strict=True):
        np.testing.assert_array_equal(one, other)
    scene.observe(_snapshot(replace(lane, sea=carrying)), 100.0)
    assert scene.frame(VIEW).sea.state is carrying  # what floats has its own


def test_a_wake_lies_in_the_water_that_runs_down_a_river_besides_the_current():
    world, steady_w = load_world("canyon"), np.array([0.3, 0.1])
    middle = np.array([0.0, float(world.river.centre(0.0))])
    current_w = world.stream.at(*middle) + steady_w
    assert np.linalg.norm(current_w) > 0.9
    wakes = []
    for sea in (water_about(known_vehicle("motorboat"), 0.0).state, None):
        scene, there = SceneView(world), np.eye(4)
        there[:3, 3] = *middle, world.water_level_m
        for time_s in np.arange(0.0, 4.0, 0.25):  # it keeps its place over ground
            moored = {"vehicle": "motorboat", "sea": sea, "parameters": {"current": tuple(steady_w)}}
            lane = _lane(there, there, times=(time_s, time_s), **moored)
            scene.observe(_snapshot(lane, clock_s=time_s), 100.0)
            wake = scene.frame(VIEW).wakes
        wakes.append(wake)
    assert wakes[1] == ()  # what knows of no water that moves
    ((wake,), _) = wakes
    np.testing.assert_allclose(wake.speed_mps, current_w[0], rtol=1e-9)
    at_stern = world.stream.at(middle[0] + config_named("motorboat").hull.stern_m, middle[1]) + steady_w
    drifted = wake.places_w[0] - wake.places_w[-1]
    np.testing.assert_allclose(drifted, wake.age_s[0] * at_stern, rtol=1e-9)


def test_rings_run_on_about_a_vehicle_that_the_water_has_stopped():
    scene = SceneView(replace(load_world("plain"), open_sea_m=0.0))
    ages = []
    for k, height in enumerate((3.0, 2.0, 0.5, 0.5, 0.5)):
        there = np.eye(4)
        there[2, 3] = height
        status = LaneStatus.RUNNING if height > 1.0 else LaneStatus.CRASHED
        at_s = min(1.0 + k, 3.0)
        lane = _lane(there, there, times=(at_s, at_s), status=status)
        scene.observe(_snapshot(lane, clock_s=at_s), 100.0)
        ages.append([splash.age_s for splash in scene.frame(VIEW, wall_s=50.0 + k).splashes])
    assert ages == [[], [], [0.0], [1.0], [2.0]]


def test_the_ellipsoid_of_inertia_has_the_mass_and_the_moments_that_are_told() -> None:
    """Against the moments of a body that is summed up from points spread evenly over it."""
    mass, moments = 7.0, (1.3, 2.1, 2.6)
    half = half_axes_m(mass, np.array(moments))
    assert half is not None
    rng = np.random.default_rng(2)
    points = rng.uniform(-1.0, 1.0, (400_000, 3))
    points = half * points[(points**2).sum(axis=1) < 1.0]
    squares = mass * (points**2).mean(axis=0)
    np.testing.assert_allclose(squares.sum() - squares, moments, rtol=6e-3)
    assert half_axes_m(mass, np.array((1.0, 1.0, 5.0))) is None
    vehicle = known_vehicle("rigid-body", mass=mass, inertia=moments)
    lane = replace(_lane(np.eye(4), np.eye(4)), mechanics=vehicle)
    scene = SceneView()
    scene.observe(_snapshot(lane), 100.0)
    plain, shown = (scene.frame(VIEW, ViewOptions(show_inertia=on)) for on in (False, True))
    assert len(shown.surfaces) == len(plain.surfaces) + 1
    reach = np.abs(shown.surfaces[-1].corners_w).max(axis=0)
    np.testing.assert_allclose(reach, half, rtol=0.02)


def test_birds_fly_along_the_canyon_wings_level_in_pairs_and_as_fast_as_birds_at_any_time() -> None:
    canyon = load_world("canyon", seed=7)
    birds, eye = Birds(canyon), np.array([40.0, 20.0, 60.0])

    def places(time_s: float, eye_w: np.ndarray = eye) -> np.ndarray:
        (shown,) = birds.surfaces(time_s, eye_w)
        each = shown.corners_w.reshape(-1, 24, 3)
        np.testing.assert_allclose(  # wings are alike: their tips are as far from the body
            np.linalg.norm(each[:, 14] - each[:, 0], axis=1), np.linalg.norm(each[:, 23] - each[:, 0], axis=1)
        )
        assert np.linalg.norm(each[:, 14] - each[:, 23], axis=1).max() < 1.75
        return each.mean(axis=1)

    for time_s in (0.0, 17.3, 401.7):
        now, later = places(time_s), places(time_s + 0.05)
        speed = np.linalg.norm(later - now, axis=1) / 0.05
        assert 6.0 < speed.min() < speed.max() < 16.0  # 8.5 to 13.1 measured
        above_m = now[:, 2] - canyon.terrain.height(now[:, 0], now[:, 1])
        assert (above_m > 0.0).mean() > 0.9  # a wall may hide one
    np.testing.assert_array_equal(places(17.3), places(17.3))
    assert birds.surfaces(3.0, np.array([0.0, 0.0, 5000.0])) == ()
    assert Birds(load_world("plain")).surfaces(3.0, eye) == ()
