"""Laws of the autopilots: from a generic start, and disturbed, each comes to what it says that it does."""

import math
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from sim.commands import LetGo, PilotInput, Pull, SetDemo, SetParameter, SetPilotInput
from sim.compiler import compile_kernel
from sim.control import Mission, Sensed, vehicles_with_autopilot
from sim.control import balancing as roll_round
from sim.control.autopilots import AUTOPILOTS, along
from sim.control.driving import CIRCLE_M, LineDrive
from sim.control.load_leading import CIRCLE_M as CIRCLE_OF_LOAD_M
from sim.integrators import integrators
from sim.scene import Scene, load_scene
from sim.scene.conditions import OnGround, Plan
from sim.scene.tables import Start
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus
from sim.simulation.runs.judge import Judge
from sim.simulation.runs.scene_setup import mission_of, through
from sim.vehicle_config import config_named
from sim.vehicles import vehicle as make
from sim.world import load_world

NOWHERE = Mission(np.zeros((0, 3)), None, np.zeros((0, 2)), False, ())


def begun(name: str, **changes: object) -> Simulation:
    """A scene's flown lane alone, under its autopilot."""
    scene: Scene = replace(load_scene(name), lanes=(), environment=None, **changes)  # type: ignore[arg-type]
    simulation = Simulation(scene, load_world(scene.world, seed=scene.seed))
    simulation.submit(SetDemo(True))
    return simulation


def flown(simulation: Simulation, seconds: float, every_s: float = 0.5) -> Iterator[LaneSnapshot]:
    for _ in range(round(seconds / every_s)):
        lane = simulation.advance(every_s).lanes[0]
        assert lane.status is LaneStatus.RUNNING, lane.status_text
        yield lane


def place(lane: LaneSnapshot) -> np.ndarray:
    return np.asarray(lane.T_wb[:2, 3])


def off_line(line: np.ndarray, lane: LaneSnapshot) -> float:
    """From a closed polyline whose points lie close together [m]."""
    return float(np.linalg.norm(line - place(lane), axis=1).min())


def test_every_autopilot_is_some_vehicles() -> None:
    assert {config_named(name).modes.autopilot for name in vehicles_with_autopilot()} == set(AUTOPILOTS)


def test_the_car_finds_back_to_the_lap_and_stays_on_it() -> None:
    """It begins 11 m beside the line, rolling away from it."""
    start = Start(position_w=(-10.0, -23.0, 0.0), heading_rad=2.4, velocity_b=(4.0, 0.0, 0.0))
    simulation = begun("drive", start=start)
    lap = load_world("driving").grounds.lap
    list(flown(simulation, 14.0))
    lanes = list(flown(simulation, 45.0))
    assert max(off_line(lap, lane) for lane in lanes) < 0.8  # 0.42 measured; the cones stand at 3.3
    speeds = [lane.twist_b[3] for lane in lanes]
    assert min(speeds) > 8.0
    assert max(speeds) < config_named("car").modes.driving.speed_limit_mps
    assert np.ptp([place(lane)[0] for lane in lanes]) > 150.0


def test_without_a_line_the_car_is_brought_to_rest() -> None:
    simulation = begun("plan-car-parking", start=Start(velocity_b=(3.0, 0.0, 0.0)))
    *_, lane = flown(simulation, 5.0)
    assert isinstance(simulation.run.flown.pilot, LineDrive)
    assert np.linalg.norm(lane.twist_b) < 1e-2  # 1.1e-4 measured


def test_the_car_passes_all_gates_of_a_race_and_no_time_of_it_counts_as_steered() -> None:
    simulation = begun("race-slalom")
    assert simulation.advance(0.0).race is not None
    for _ in flown(simulation, 60.0):
        standing = simulation.snapshot.race
        assert standing is not None
        if standing.laps:
            break
    assert standing.laps == 1
    assert standing.lap is not None
    assert not standing.lap.counts


def test_a_line_through_gates_passes_each_in_its_direction() -> None:
    for name in ("race-slalom", "race-drive"):
        course = load_scene(name).race
        assert course is not None
        line = through(course)
        ways = np.gradient(line, axis=0)
        for gate in course.gates:
            k = int(np.argmin(np.linalg.norm(line - gate.centre_w[:2], axis=1)))
            assert np.linalg.norm(line[k] - gate.centre_w[:2]) < 1.1  # half the spacing of the points
            assert ways[k] @ gate.frame()[0, :2] > 0.95 * np.linalg.norm(ways[k])


@pytest.mark.parametrize(("name", "seconds"), [("quadrotor", 30.0)])
def test_the_autopilot_comes_to_all_places_of_the_scenes_goals_in_their_order(
    name: str, seconds: float
) -> None:
    simulation, scene = begun(name), load_scene(name)
    places = [np.array(xy) for xy in mission_of(scene, load_world(scene.world)).places_w]
    reached = []
    for lane in flown(simulation, seconds):
        if places and np.linalg.norm(place(lane) - places[0]) < 4.0:
            reached.append(places.pop(0))
    assert not places
    assert np.linalg.norm(place(lane) - reached[-1]) < 2.0


def test_under_the_helicopters_autopilot_the_first_flight_is_done_from_take_off_to_landing() -> None:
    simulation, scene = begun("canyon"), load_scene("canyon")
    judge = Judge(scene.goals, scene.vehicle, load_world(scene.world, seed=scene.seed))
    for _ in flown(simulation, 130.0, every_s=0.1):  # 98.5 s measured
        if judge.observe(simulation.snapshot).due is None:
            break
    assert judge.progress.due is None
    assert not judge.progress.skipped


def test_under_the_quadrotors_autopilot_all_goals_in_the_air_are_done_in_their_order() -> None:
    simulation, scene = begun("quadrotor"), load_scene("quadrotor")
    in_the_air = tuple(goal for goal in scene.goals if goal.find(OnGround) is None)
    judge = Judge(in_the_air, scene.vehicle, load_world(scene.world))
    for _ in flown(simulation, 25.0, every_s=0.1):  # 12.4 s measured
        if judge.observe(simulation.snapshot).due is None:
            break
    assert judge.progress.due is None
    assert not judge.progress.skipped


def test_under_the_boats_autopilot_all_goals_of_the_harbour_that_need_no_plan_are_done() -> None:
    simulation, scene = begun("harbour"), load_scene("harbour")
    unplanned = tuple(goal for goal in scene.goals if goal.find(Plan) is None)
    judge = Judge(unplanned, scene.vehicle, load_world("harbour"))
    for _ in flown(simulation, 60.0):
        if judge.observe(simulation.snapshot).due is None:
            break
    assert judge.progress.due is None
    assert not judge.progress.skipped


def test_a_boat_that_was_blown_off_lies_still_where_she_stopped_while_the_wind_freshens_and_veers() -> None:
    start = Start(position_w=(6.0, -8.0, 0.0), heading_rad=3.5, velocity_b=(1.5, 0.4, 0.0))
    simulation = begun("plan-boat-station", start=start)
    list(flown(simulation, 1.0))
    held = place(simulation.snapshot.lanes[0])
    list(flown(simulation, 5.0))
    simulation.submit(SetParameter("wind", (-7.0, 1.0)))
    list(flown(simulation, 20.0))
    lanes = list(flown(simulation, 10.0))
    assert max(float(np.linalg.norm(place(lane) - held)) for lane in lanes) < 3.5  # 2.7 measured
    assert max(float(np.linalg.norm(lane.twist_b[3:])) for lane in lanes) < 0.4


def test_the_board_comes_to_its_place_and_goes_round_it() -> None:
    """From a start that looks elsewhere and rolls; no key is ever pressed."""
    start = Start(position_w=(6.0, -5.0, 0.0), heading_rad=1.2, velocity_b=(-0.3, 0.0, 0.0))
    simulation = begun("skate", start=start)
    list(flown(simulation, 45.0))
    lanes = list(flown(simulation, 20.0))
    away = [float(np.linalg.norm(place(lane) - (-3.0, 0.0))) for lane in lanes]
    assert min(away) > 0.85 * CIRCLE_M
    assert max(away) < 1.1 * CIRCLE_M
    assert min(-lane.twist_b[3] for lane in lanes) > 1.0


def turned_rad(R_a: np.ndarray, R_b: np.ndarray) -> float:
    return math.acos(min(max((float(np.trace(R_a.T @ R_b)) - 1.0) / 2.0, -1.0), 1.0))


@pytest.mark.parametrize(
    ("name", "arm_b", "pull_w"),
    [("orbit", (2.0, 1.5, 0.5), (0.0, 60.0, 30.0)), ("plain", (0.4, 0.3, 0.0), (0.0, 2.0, 1.0))],
)
def test_turning_is_stopped_and_the_attitude_comes_back_after_a_pull(
    name: str, arm_b: tuple[float, float, float], pull_w: tuple[float, float, float]
) -> None:
    simulation = begun(name)
    for lane in flown(simulation, 20.0):
        held_R_wb = lane.T_wb[:3, :3].copy()
    assert np.linalg.norm(lane.twist_b[:3]) < 1e-2
    at_w = lane.T_wb[:3, 3] + held_R_wb @ np.array(arm_b)
    simulation.submit(Pull("", "body", arm_b, tuple(at_w + np.array(pull_w))))
    pulled = max(turned_rad(held_R_wb, lane.T_wb[:3, :3]) for lane in flown(simulation, 1.0, 0.1))
    simulation.submit(LetGo())
    list(flown(simulation, 20.0))
    lane = simulation.snapshot.lanes[0]
    assert pulled > 0.02
    assert turned_rad(held_R_wb, lane.T_wb[:3, :3]) < 0.1 * pulled
    assert np.linalg.norm(lane.twist_b[:3]) < 2e-3


def test_while_turning_is_stopped_energy_only_falls() -> None:
    """With torques far beyond their ranges: 3 rad/s of a craft whose torques give at most 1.5 rad/s^2."""
    start = Start(position_w=(300.0, 0.0, 260.0), omega_b=(2.0, -1.5, 1.8), roll_rad=0.7)
    simulation = begun("orbit", start=start)
    turning = []
    for lane in flown(simulation, 25.0):
        omega = lane.twist_b[:3]
        turning.append(float(omega @ (np.asarray(lane.parameters["inertia"]) * omega)))
    ends = next(k for k, value in enumerate(turning) if value < 1.0)
    assert all(b < a for a, b in pairwise(turning[:ends]))
    assert turning[-1] < 1e-3 * turning[0]


def test_a_top_is_calmed_by_a_torque_that_leaves_both_its_momenta_alone() -> None:
    """It ends in a steady precession about the vertical with those momenta, whatever it was left to nod about."""
    comparison = replace(load_scene("heavy-top").comparison, reference=False)
    simulation = begun("heavy-top", step_s=0.01, comparison=comparison)
    first = simulation.snapshot.lanes[0]
    leans, energies = [], []
    for lane in flown(simulation, 12.0, 0.02):
        leans.append(lane.scalar("lean"))
        energies.append(lane.energy_J)
    assert np.ptp(leans[:100]) > 0.1
    assert np.ptp(leans[-100:]) < 1e-3 * np.ptp(leans[:100])  # 1e-4
    assert all(b < a + 1e-4 for a, b in pairwise(energies))  # 2e-6 J up, of 2.0 J down
    for kept in ("momentum_vertical", "momentum_axial"):
        assert lane.scalar(kept) == pytest.approx(first.scalar(kept), rel=1e-4)  # 1.2e-5
    # Steady precession: I_t cos(lean) w^2 - L_a w + m g l = 0 with the axial momentum L_a; the slow root.
    inertia, moment = lane.parameters["inertia"][0], 24.0 * 9.81 * 0.25
    a, b = inertia * math.cos(leans[-1]), lane.scalar("momentum_axial")
    slow = (b - math.sqrt(b * b - 4.0 * a * moment)) / (2.0 * a)
    assert lane.scalar("precession") == pytest.approx(slow, rel=1e-3)  # 6e-5


def test_the_quadrotor_comes_back_to_its_place_after_a_pull() -> None:
    simulation = begun("quadrotor", goals=())
    for lane in flown(simulation, 15.0):
        held_w = lane.T_wb[:3, 3].copy()
    simulation.submit(Pull("", "body", (0.2, 0.1, 0.0), tuple(held_w + np.array((1.5, -1.0, 0.4)))))
    pulled = max(float(np.linalg.norm(lane.T_wb[:3, 3] - held_w)) for lane in flown(simulation, 2.0))
    simulation.submit(LetGo())
    list(flown(simulation, 25.0))
    assert pulled > 0.3
    assert np.linalg.norm(simulation.snapshot.lanes[0].T_wb[:3, 3] - held_w) < 0.25


@pytest.mark.parametrize("with_way", [True, False])
def test_the_load_is_led_along_the_scenes_way_or_round_a_circle_though_the_sticks_are_moved(
    with_way: bool,
) -> None:
    """After a flight by hand that left the target off its way and moving."""
    path = load_scene("quadrotors").target
    assert path is not None
    simulation = begun("quadrotors", target=path if with_way else None)
    simulation.submit(SetDemo(False))
    simulation.submit(SetPilotInput(PilotInput(pitch=0.7, roll=-0.4, throttle=0.3)))
    list(flown(simulation, 1.5))
    simulation.submit(SetDemo(True))
    began = simulation.snapshot.lanes[0].bodies["target"][:3, 3].copy()
    lanes = list(flown(simulation, 20.0))
    for lane in lanes[16:]:
        load, target = (lane.bodies[name][:3, 3] for name in ("load", "target"))
        if with_way:
            off = target - path.at(lane.time_current_s).place
        else:
            out = target - began - (0.0, CIRCLE_OF_LOAD_M, 0.0)
            off = np.array([np.hypot(*out[:2]) - CIRCLE_OF_LOAD_M, out[2]])
        assert np.linalg.norm(off) < 0.02
        assert np.linalg.norm(load - target) < 0.1
        assert np.abs(lane.controls).max() <= 5.0


def test_a_rod_with_motors_is_swung_up_and_stands_and_again_after_a_fall() -> None:
    """Motors of half the moment that holds it level; it begins going round, and is turned by hand out of the plane."""
    simulation = begun("plan-pendulum-swing-up")
    list(flown(simulation, 8.0))  # 4.9 s measured
    for _ in range(2):
        for lane in flown(simulation, 3.0):
            assert lane.observables["swing"] > math.pi - 0.01
        assert np.abs(lane.controls).max() < 0.5
        simulation.submit(SetDemo(False))
        simulation.submit(SetPilotInput(PilotInput(pitch=0.4, roll=1.0)))
        list(flown(simulation, 1.5))
        simulation.submit(SetPilotInput(PilotInput()))
        simulation.submit(SetDemo(True))
        assert min(float(lane.observables["swing"]) for lane in flown(simulation, 10.0)) < 2.0


@pytest.mark.parametrize(("name", "left_rad"), [("pendula", 0.03), ("pendulum", 0.15)])
def test_a_hand_calms_a_chain_of_rods_and_its_energy_only_falls(name: str, left_rad: float) -> None:
    """Two and five rods, let go in a spiral, and pushed by the keys before.

    Five keep a swing of the uppermost rods in which the last bob, at which the hand is, hardly moves.
    """
    simulation = begun(name)
    simulation.submit(SetDemo(False))
    simulation.submit(SetPilotInput(PilotInput(pitch=0.5, roll=-0.3)))
    list(flown(simulation, 1.0))
    simulation.submit(SetDemo(True))
    energies = [simulation.advance(0.0).lanes[0].energy_J]
    for lane in flown(simulation, 25.0):
        energies.append(lane.energy_J)
        assert np.abs(lane.controls).max() <= 20.0
    assert all(b < a + 1e-6 for a, b in pairwise(energies))
    assert np.max(lane.observables["swing"]) < left_rad


@pytest.mark.parametrize(
    ("name", "pull"),
    [
        ("robot", ("hand", (0.05, 0.0, 0.0), (0.3, -0.2, 0.25))),
        ("delta", ("platform", (0.0, 0.0, 0.0), (0.5, 0.3, -0.2))),
    ],
)
def test_the_cycle_of_a_robot_repeats_itself_and_comes_back_to_that_after_a_pull(
    name: str, pull: tuple[str, tuple[float, float, float], tuple[float, float, float]]
) -> None:
    simulation, scene = begun(name), load_scene(name)
    cycle = scene.config.modes.cycle
    most = np.array([control.high for control in scene.vehicle.controls])
    body, at_b, by_w = pull

    def way(of: str) -> np.ndarray:
        """(n, 3) places of the body, ten a pose, once round."""
        places = []
        for lane in flown(simulation, len(cycle.poses) * cycle.pose_s, cycle.pose_s / 10.0):
            places.append(lane.bodies[of][:3, 3].copy())
            assert np.all(np.abs(lane.controls) < most)
        return np.array(places)

    way(body)
    kept = way(body)
    pose_w = simulation.snapshot.lanes[0].bodies[body]
    simulation.submit(Pull("", body, at_b, tuple(pose_w[:3, 3] + np.array(by_w))))
    list(flown(simulation, cycle.pose_s, cycle.pose_s))
    pulled = np.linalg.norm(simulation.snapshot.lanes[0].bodies[body][:3, 3] - kept[9])
    simulation.submit(LetGo())
    list(flown(simulation, (len(cycle.poses) - 1) * cycle.pose_s, cycle.pose_s))
    assert np.abs(way(body) - kept).max() < 0.01 * np.ptp(kept, axis=0).max()
    assert pulled > 0.05 * np.ptp(kept, axis=0).max()
    assert np.all(np.ptp(kept, axis=0) > 0.1)


def test_between_poses_a_cycle_has_no_jump_of_place_nor_of_speed() -> None:
    poses = ((0.3, -1.0), (0.9, 0.4), (-0.2, 0.1))
    h = 1e-4
    for time_s in np.linspace(h, 14.0, 701):
        rate = along(poses, 2.0, float(time_s))[1]
        ahead, behind = along(poses, 2.0, float(time_s) + h)[0], along(poses, 2.0, float(time_s) - h)[0]
        assert np.allclose((ahead - behind) / (2.0 * h), rate, atol=1e-5)
    for k in range(6):
        assert np.allclose(along(poses, 2.0, 2.0 * k + 1.9)[0], poses[k % 3])


@pytest.mark.parametrize(
    "start",
    [
        {"shape": (0.2, 0.0), "shape_velocity": (0.0, 6.0), "momentum": (3.0,), "theta": 1.0},
        {"shape": (-0.3, 0.0), "shape_velocity": (0.5, 2.0), "momentum": (-1.0,)},
    ],
)
def test_a_disc_that_leans_and_turns_comes_to_roll_round_its_circle_and_back_to_it_after_a_push(
    start: dict[str, object],
) -> None:
    disc, h = make("rolling-disc"), 0.01
    kernel = compile_kernel(disc, integrators()["variational"])
    p, at, pilot = disc.parameter_vector, disc.node_layout, roll_round.RollRoundPilot(NOWHERE)
    most = np.array([control.high for control in disc.controls])
    u, leans, radii, speeds = np.zeros(2), [], [], []
    y = kernel.start(disc.state(**start).node, u, p, h)
    for k in range(3000):
        node = kernel.node(y, u, p, h)
        u = pilot.controls(
            PilotInput(), Sensed(np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3), node=node), disc, h
        )
        assert np.all(np.abs(u) <= most)
        push = h * np.array([10.0, 20.0, -10.0]) if 1500 <= k < 1550 else np.zeros(3)
        kernel.advance(y, u, push, p, h, 1)
        turn, speed = node[at.velocity][:2]
        leans.append(abs(node[at.shape][0]))
        radii.append(speed / turn)
        speeds.append(speed)
    assert max(leans) < 0.5
    for settled in (slice(1300, 1500), slice(2800, 3000)):
        assert np.allclose(radii[settled], roll_round.CIRCLE_M, rtol=0.01)
        assert np.allclose(speeds[settled], roll_round.SPEED_MPS, rtol=1e-3)
    assert max(abs(radius - roll_round.CIRCLE_M) for radius in radii[1500:1600]) > 0.2
