"""Laws of the car's and the snakeboard's pilots, flown through the app's own simulation."""

import math
from dataclasses import replace

import numpy as np
import pytest

from sim.commands import PilotInput, SetPilotInput
from sim.control import DrivePilot, Sensed, default_mode, flight_modes
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus
from sim.vehicle_config import config_named
from sim.vehicles import VEHICLES
from sim.world import load_world

CAR = config_named("car").modes.driving
BOARD = config_named("snakeboard").modes.riding


def ride(scene: str, world: str, *stretches: tuple[PilotInput, float]) -> list[LaneSnapshot]:
    """The flown lane every tenth of a second under sticks held for so many seconds each."""
    simulation = Simulation(load_scene(scene), load_world(world))
    seen = []
    for sticks, seconds in stretches:
        simulation.submit(SetPilotInput(sticks))
        for _ in range(round(10 * seconds)):
            simulation.advance(0.1)
            seen.append(simulation.snapshot.lanes[0])
    return seen


def drive(*stretches: tuple[PilotInput, float]) -> list[LaneSnapshot]:
    return ride("drive", "plain", *stretches)


def skate(gait: str, seconds: float) -> list[LaneSnapshot]:
    return ride("skate", "plaza", (PilotInput(actions=frozenset({gait})), seconds))


def test_each_has_its_own_mode_and_the_direct_one() -> None:
    assert flight_modes(VEHICLES["car"]) == ("raw", "drive")
    assert flight_modes(VEHICLES["snakeboard"]) == ("raw", "ride")
    assert (default_mode(VEHICLES["car"]), default_mode(VEHICLES["snakeboard"])) == ("drive", "ride")


def test_full_throttle_reaches_the_speed_limit_and_holds_it() -> None:
    speeds = [lane.twist_b[3] for lane in drive((PilotInput(pitch=1.0), 12.0))]
    assert speeds[-1] == pytest.approx(CAR.speed_limit_mps, rel=1e-3)
    assert max(speeds) < CAR.speed_limit_mps * 1.001
    assert np.ptp(speeds[-30:]) < 0.01


def test_pedals_free_it_rolls_out_and_stands() -> None:
    lanes = drive((PilotInput(pitch=1.0), 2.0), (PilotInput(), 20.0))
    assert abs(lanes[-1].twist_b[3]) < 1e-3
    assert lanes[-1].T_wb[0, 3] - lanes[19].T_wb[0, 3] > 10.0


def test_the_brake_stops_it_and_then_reverses_within_its_own_limit() -> None:
    speeds = [lane.twist_b[3] for lane in drive((PilotInput(pitch=1.0), 3.0), (PilotInput(pitch=-1.0), 8.0))]
    assert min(abs(s) for s in speeds[30:60]) < 0.8
    assert speeds[-1] == pytest.approx(-CAR.reverse_limit_mps, rel=1e-2)


def test_a_released_wheel_centres_itself() -> None:
    turning = (PilotInput(pitch=0.5, roll=1.0), 2.0)
    lanes = drive(turning, (PilotInput(pitch=0.5), 2.0))
    assert lanes[19].shape[1] < -0.1
    assert abs(lanes[-1].shape[1]) < 1e-4


def test_the_wheel_turns_to_the_sticks_side_and_no_faster_than_the_car_bears() -> None:
    lanes = drive((PilotInput(pitch=1.0), 8.0), (PilotInput(pitch=1.0, roll=-1.0), 2.0))
    after = lanes[-1]
    assert after.twist_b[2] > 0.1
    assert after.twist_b[2] * after.twist_b[3] < 1.15 * CAR.side_limit_mps2


def test_the_drive_gait_moves_the_board_backwards_out_of_rest() -> None:
    lanes = skate("gait-drive", 8.0)
    assert lanes[-1].T_wb[0, 3] < -4.0
    assert abs(lanes[-1].T_wb[1, 3]) < 1.0


def test_the_spin_gait_turns_it_nearly_on_the_spot() -> None:
    last = skate("gait-spin", 5.0)[-1]
    heading = math.atan2(last.T_wb[1, 0], last.T_wb[0, 0])
    assert abs(heading) > 0.5
    assert math.hypot(*last.T_wb[:2, 3]) < 1.0


def test_the_parallel_gait_goes_further_aside_than_along() -> None:
    last = skate("gait-parallel", 10.0)[-1]
    assert abs(last.T_wb[1, 3]) > 0.25
    assert abs(last.T_wb[0, 3]) < abs(last.T_wb[1, 3])


@pytest.mark.parametrize("gait", [gait.action for gait in BOARD.gaits])
def test_limits_keep_the_axles_from_standing_across(gait: str) -> None:
    lanes = ride(
        "skate",
        "plaza",
        (PilotInput(actions=frozenset({gait}), roll=1.0), 5.0),
        (PilotInput(roll=-1.0, pitch=1.0, actions=frozenset({gait})), 5.0),
    )
    assert all(lane.status is LaneStatus.RUNNING for lane in lanes)
    assert all(math.cos(lane.shape[1]) > math.cos(BOARD.feet_limit_rad + 0.2) for lane in lanes)


def test_sticks_released_the_board_rolls_on_and_the_rider_stands_still() -> None:
    lanes = ride("skate", "plaza", (PilotInput(actions=frozenset({"gait-drive"})), 5.0), (PilotInput(), 3.0))
    assert lanes[-1].twist_b[3] < -0.5
    assert np.abs(lanes[-1].shape).max() < 0.02


@pytest.mark.parametrize("roll", [-1.0, 1.0])
def test_the_steering_turns_the_way_of_the_board_to_the_sticks_side_going_backwards(roll: float) -> None:
    driven = (PilotInput(actions=frozenset({"gait-drive"})), 5.0)
    lanes = ride("skate", "plaza", driven, (PilotInput(), 1.0), (PilotInput(roll=roll), 2.0))
    assert lanes[-1].twist_b[3] < -0.4
    assert roll * lanes[-1].twist_b[2] < -0.2


def test_who_rolls_faster_than_the_limit_is_slowed() -> None:
    """As after a bend train has swung out; asked ahead, it must not pull further."""
    car = VEHICLES["car"]()
    fast = car.state(shape_velocity=(60.0, 0.0))
    sensed = Sensed(np.eye(3), np.zeros(3), np.zeros(3), np.array([19.2, 0.0, 0.0]), node=fast.node)
    torque, _ = DrivePilot().controls(PilotInput(pitch=1.0), sensed, car, 0.01)
    assert torque < 0.0


@pytest.mark.parametrize("seed", range(2))
def test_a_train_that_backs_is_kept_in_line_whatever_keys_are_pressed(seed: int) -> None:
    """For a minute; measured: 22 degrees. By the car's own wheel the trailers are folded within 4 s."""
    keys = np.random.default_rng(seed).integers(-1, 2, 100)
    stretches = [(PilotInput(pitch=-1.0, roll=float(key)), 0.6) for key in keys]
    for mode, bound in (("tow", True), ("drive", False)):
        scene = replace(load_scene("trailers"), flight_mode=mode, goals=())
        simulation, most = Simulation(scene, load_world("plain")), 0.0
        for sticks, seconds in stretches if bound else stretches[:8]:
            simulation.submit(SetPilotInput(sticks))
            simulation.advance(seconds)
            most = max(most, float(np.abs(simulation.snapshot.lanes[0].shape[2:4]).max()))
        assert (most < 0.5) if bound else (most > 1.5)


def test_a_skater_who_keeps_driving_into_a_wall_is_thrown_off() -> None:
    """From rest by the key alone. Measured: at 4.5 m/s after 14.6 s, 2.5 m/s of them towards the wall."""
    last = skate("gait-drive", 20.0)[-1]
    assert last.status is LaneStatus.CRASHED
    assert last.time_current_s < 18.0
