"""Laws of flying: what a beginner's sticks do to the helicopter, through the whole simulation."""

import math
from dataclasses import replace

import numpy as np
import pytest

import sim
from sim.commands import SetDemo
from sim.groups.numeric import heading_of, turn_between
from sim.integrators import default_for
from sim.scene import Start, load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneStatus
from tests.sim.simulation_scenes import fly, helicopter_scene, place, simulation, speed, world

MODEL_SIZE = {"drag": 0.05}


def standing(**changes):
    return simulation(helicopter_scene(**changes))


def airborne(**changes):
    """Climbed for some seconds, then hands off until it hovers."""
    running = standing(**changes)
    fly(running, 3.5, throttle=1.0)
    fly(running, 4.0)
    return running


def flown_until(running, holds, seconds: float, **sticks: float):
    """Sticks are held for so long at most: the flown lane after the first half second at whose end that holds."""
    for _ in range(round(2 * seconds)):
        lane = fly(running, 0.5, **sticks)
        if holds(lane):
            break
    return lane


def upright(lane) -> float:
    return math.degrees(math.acos(min(float(lane.T_wb[2, 2]), 1.0)))


@pytest.mark.parametrize("mode", ["rate", "attitude", "hold"])
@pytest.mark.parametrize("step_s", [0.002, 0.01, 0.05, 0.25])
def test_on_the_ground_with_the_throttle_down_it_stands_still(mode, step_s):
    running = standing(flight_mode=mode, step_s=step_s)
    start = running.snapshot.lanes[0]
    for throttle in (0.0, -1.0):
        lane = fly(running, 3.0, throttle=throttle, pitch=1.0, roll=-1.0, yaw=1.0)
        assert np.linalg.norm(place(lane) - place(start)) < 0.02
        assert upright(lane) < 0.5
        assert lane.on_ground
        assert lane.status is LaneStatus.RUNNING


@pytest.mark.parametrize("mode", ["rate", "attitude", "hold"])
@pytest.mark.parametrize("step_s", [0.01, 0.05])
def test_throttle_up_lifts_off_cleanly(mode, step_s):
    running = standing(flight_mode=mode, step_s=step_s)
    start = running.snapshot.lanes[0]
    for _ in range(40):
        lane = fly(running, 0.1, throttle=0.8)
        assert upright(lane) < 1.0
    assert lane.height_above_ground_m > 3.0
    assert not lane.on_ground
    assert np.linalg.norm((place(lane) - place(start))[:2]) < 0.1


@pytest.mark.parametrize("parameters", [None, MODEL_SIZE], ids=["full size", "model"])
@pytest.mark.parametrize("step_s", [0.005, 0.02, 0.05])
@pytest.mark.parametrize("mode", ["attitude", "hold"])
def test_hands_off_it_hovers(parameters, step_s, mode):
    changes = {"vehicle": sim.vehicle("helicopter", **parameters)} if parameters else {}
    running = airborne(step_s=step_s, flight_mode=mode, **changes)
    before = running.snapshot.lanes[0]
    after = fly(running, 10.0)
    assert np.linalg.norm(place(after) - place(before)) < 0.15
    assert speed(after) < 0.02
    assert upright(after) < 0.2


@pytest.mark.parametrize("parameters", [None, MODEL_SIZE], ids=["full size", "model"])
def test_stick_forward_flies_forward_and_letting_go_brakes(parameters):
    changes = {"vehicle": sim.vehicle("helicopter", **parameters)} if parameters else {}
    running = airborne(**changes)
    before = running.snapshot.lanes[0]
    flying = fly(running, 5.0, pitch=1.0)
    travelled = before.T_wb[:3, :3].T @ (place(flying) - place(before))
    assert flying.twist_b[3] > 12.0
    assert travelled[0] > 25.0
    assert abs(travelled[1]) < 1.0
    assert abs(travelled[2]) < 2.0
    stopped = fly(running, 12.0)
    assert speed(stopped) < 0.3
    assert abs(place(stopped)[2] - place(before)[2]) < 2.0


def serving_integrators() -> list[str]:
    helicopter = sim.vehicle("helicopter")
    return [name for name, method in sim.integrators().items() if not method.serves(helicopter)]


@pytest.mark.parametrize("integrator", serving_integrators())
def test_under_every_integrator_it_takes_off_hovers_and_lands(integrator):
    running = airborne(integrator=integrator, step_s=0.005, vehicle=sim.vehicle("helicopter"))
    before = running.snapshot.lanes[0]
    hovering = fly(running, 5.0)
    assert np.linalg.norm(place(hovering) - place(before)) < 0.3
    landed = flown_until(running, lambda lane: lane.on_ground and speed(lane) < 1e-3, 12.0, throttle=-1.0)
    assert landed.status is LaneStatus.RUNNING, landed.status_text
    assert landed.on_ground


def test_yaw_alone_flies_a_coordinated_turn():
    running = airborne()
    fly(running, 4.0, pitch=1.0)
    for _ in range(30):
        lane = fly(running, 0.1, pitch=0.4, yaw=0.6)
    forward, sideways = float(lane.twist_b[3]), float(lane.twist_b[4])
    assert forward > 8.0
    assert lane.twist_b[2] < -0.12
    assert abs(sideways) < 0.25 * forward


@pytest.mark.parametrize("mode", ["attitude", "hold"])
@pytest.mark.parametrize("seed", range(6))
def test_from_any_attitude_and_spin_it_recovers_hands_off(mode, seed):
    rng = np.random.default_rng(seed)
    start = Start(
        position_w=(0.0, 0.0, 400.0),
        heading_rad=float(rng.uniform(-3, 3)),
        pitch_rad=float(rng.uniform(-3, 3)),
        roll_rad=math.pi if seed == 0 else float(rng.uniform(-3, 3)),
        omega_b=tuple(rng.uniform(-1.0, 1.0, 3)),
        velocity_b=tuple(rng.uniform(-10.0, 10.0, 3)),
    )
    running = standing(start=start, flight_mode=mode)

    def hovers(lane) -> bool:
        return speed(lane) < 0.5 and upright(lane) < 2.0

    flown_until(running, hovers, 36.0)
    for _ in range(4):  # and goes on doing so
        lane = fly(running, 1.0)
        assert lane.status is LaneStatus.RUNNING, lane.status_text
        assert hovers(lane), (speed(lane), upright(lane))
    assert lane.height_above_ground_m > 50.0


def test_holding_the_stick_does_not_run_away():
    running = airborne()
    fly(running, 40.0, pitch=1.0)
    lane = fly(running, 5.0, pitch=1.0)
    assert speed(lane) < 50.0
    assert lane.height_above_ground_m > 5.0


@pytest.mark.parametrize("step_s", [0.01, 0.05])
def test_throttle_down_lands_softly_and_the_rotor_stops(step_s):
    running = airborne(step_s=step_s)
    lane = fly(running, 20.0, throttle=-1.0)
    assert lane.status is LaneStatus.RUNNING, lane.status_text
    assert lane.on_ground
    assert speed(lane) < 1e-3
    assert lane.controls[0] == 0.0
    lifted = fly(running, 4.0, throttle=1.0)
    assert lifted.height_above_ground_m > 5.0


def test_a_free_fall_is_a_crash_at_the_speed_of_free_fall():
    start = Start(position_w=(0.0, 0.0, 1.4 + 3.0))
    running = standing(flight_mode="raw", start=start)
    lane = fly(running, 3.0, throttle=-1.0)
    assert lane.status is LaneStatus.CRASHED
    words = lane.status_text.split()
    assert words[:2] == ["crashed", "at"]
    assert float(words[2]) == pytest.approx(math.sqrt(2.0 * 9.81 * 3.0), abs=0.25)
    assert lane.time_current_s < 1.5
    again = fly(running, 1.0, throttle=1.0)
    np.testing.assert_array_equal(again.T_wb, lane.T_wb)


def test_a_rotor_that_meets_the_ground_is_a_crash():
    start = Start(position_w=(0.0, 0.0, 8.0), roll_rad=math.radians(100.0))
    lane = fly(standing(start=start, flight_mode="raw"), 4.0, throttle=-1.0)
    assert lane.status is LaneStatus.CRASHED
    assert "rotor or hull" in lane.status_text


def over_the_river(height_m: float) -> tuple[Simulation, float]:
    """A helicopter at rest over the middle of the river, and the water's level [m]."""
    river = world("canyon").river
    at = (420.0, float(river.centre(420.0)), river.level_m + height_m)
    scene = replace(helicopter_scene(), world="canyon", start=Start(position_w=at), flight_mode="raw")
    return simulation(scene), river.level_m


def test_a_fall_into_the_river_ends_at_its_surface():
    running, level_m = over_the_river(6.0)
    lane = fly(running, 4.0, throttle=-1.0)
    assert lane.status is LaneStatus.CRASHED
    words = lane.status_text.split()
    assert words[:2] == ["ditched", "at"]
    # The cabin, 0.8 m below the origin, has fallen 5.2 m.
    assert float(words[2]) == pytest.approx(math.sqrt(2.0 * 9.81 * 5.2), abs=0.25)
    assert lane.T_wb[2, 3] - level_m == pytest.approx(0.8, abs=0.2)


def test_skids_may_touch_the_water():
    running, _ = over_the_river(1.2)
    assert fly(running, 0.02, throttle=1.0).status is LaneStatus.RUNNING


def test_a_gentle_touch_is_not_a_crash():
    start = Start(position_w=(0.0, 0.0, 1.4 + 0.3))
    lane = fly(standing(flight_mode="raw", start=start), 2.0, throttle=-1.0)
    assert lane.status is LaneStatus.RUNNING
    assert lane.on_ground


def test_keys_alone_fly_the_canyon():
    """Full deflections of pitch, yaw and throttle, chosen four times a second, and nothing else."""
    canyon = world("canyon")
    running = simulation(replace(helicopter_scene(), world="canyon"))
    path = canyon.path
    fly(running, 5.0, throttle=1.0)
    for _ in range(600):
        lane = running.snapshot.lanes[0]
        here = place(lane)
        at = int(np.argmin(np.linalg.norm((path - here)[:, :2], axis=1)))
        if at >= len(path) - 5:
            break
        ahead = path[min(at + 4, len(path) - 1)] - here
        off = turn_between(heading_of(lane.T_wb[:3, :3]), math.atan2(ahead[1], ahead[0]))
        climb = path[min(at + 2, len(path) - 1)][2] - here[2]
        lane = fly(
            running,
            0.25,
            throttle=float(np.sign(climb)) if abs(climb) > 3.0 else 0.0,
            yaw=-float(np.sign(off)) if abs(off) > 0.12 else 0.0,
            pitch=1.0 if lane.twist_b[3] < 18.0 else 0.0,
        )
        assert lane.status is LaneStatus.RUNNING, lane.status_text
    assert at >= len(path) - 5


@pytest.mark.parametrize("step_s", [0.01, 0.05])
def test_the_autopilot_flies_the_canyon_and_lands_on_the_far_pad(step_s):
    canyon = world("canyon")
    running = simulation(replace(helicopter_scene(step_s=step_s), world="canyon"))
    running.submit(SetDemo(True))
    fastest, lowest, end = 0.0, math.inf, canyon.pads[-1]
    for second in range(150):
        lane = running.advance(1.0).lanes[0]
        assert lane.status is LaneStatus.RUNNING, lane.status_text
        fastest = max(fastest, speed(lane))
        if second > 15.0 and np.linalg.norm((place(lane) - end.centre_w)[:2]) > 60.0:
            lowest = min(lowest, lane.height_above_ground_m)
        if second > 20 and lane.on_ground and lane.controls[0] == 0.0:
            break
    assert lane.on_ground
    assert np.linalg.norm((place(lane) - end.centre_w)[:2]) < 0.7 * end.radius_m
    assert 18.0 < fastest < 26.0
    assert lowest > 4.0


@pytest.mark.parametrize("vehicle", ["helicopter", "helicopter-with-load", "ragdoll", "rigid-body"])
def test_heights_count_from_what_it_would_come_down_on(vehicle):
    """The sea's level is the plain's: the same pose is as high over both."""
    rng = np.random.default_rng(31)
    for _ in range(3):
        at = *rng.uniform(-200.0, 200.0, 2).tolist(), float(rng.uniform(20.0, 80.0))
        over = {
            name: simulation(
                replace(
                    load_scene("canyon"),
                    world=name,
                    vehicle=sim.vehicle(vehicle),
                    integrator=default_for(sim.vehicle(vehicle)),
                    start=Start(position_w=at),
                )
            )
            for name in ("plain", "sea")
        }
        plain, sea = (running.snapshot.lanes[0].height_above_ground_m for running in over.values())
        assert sea == pytest.approx(plain, abs=1e-3)
        assert 0.0 < sea < at[2]
