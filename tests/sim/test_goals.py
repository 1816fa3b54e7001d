"""Laws of goals: whoever follows the prompts gets there; judged is what was flown; mistakes are told in a line."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sim
from sim.commands import PilotInput, Reset, Retake, Scrub, SetPaused, SetPilotInput
from sim.control.mpc import MpcStatus
from sim.groups.numeric import heading_of, turn_between
from sim.scene import Scene, load_scene, scene_names
from sim.scene.conditions import (
    CONDITIONS,
    AlongWay,
    AtPad,
    Hand,
    Height,
    OnGround,
    Plan,
    Speed,
    Watched,
)
from sim.scene.goals import Docking, Landing, SceneGoal
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneStatus, Snapshot
from sim.simulation.runs.judge import Judge, Progress
from sim.vehicles import known_vehicle
from sim.world import load_world
from sim.world.path import along_m
from tests.ui import fakes

CANYON = load_world("canyon")
PLAIN = load_world("plain")
HELICOPTER = known_vehicle("helicopter")


def clipped(value: float) -> float:
    return min(max(value, -1.0), 1.0)


class Beginner:
    """Knows the due goal, where its marker is, and the instruments; nothing of the scene."""

    def sticks(self, progress: Progress, snapshot: Snapshot) -> PilotInput:
        lane, goal = snapshot.lanes[0], progress.due
        assert goal is not None
        v_w = lane.T_wb[:3, :3] @ lane.twist_b[3:6]
        heading = heading_of(lane.T_wb[:3, :3])
        ahead = np.array([math.cos(heading), math.sin(heading)])
        forward, right = float(v_w[:2] @ ahead), float(v_w[0] * ahead[1] - v_w[1] * ahead[0])
        height_m = lane.height_above_ground_m
        if progress.marker_w is None:
            height = goal.find(Height)
            up = height is not None and height_m < height.low + 2.0
            return PilotInput(throttle=1.0 if up and "throttle+" in goal.keys else 0.0)
        to_w = progress.marker_w - lane.T_wb[:3, 3]
        if goal.find(AlongWay) is not None:
            turn = turn_between(heading, math.atan2(float(to_w[1]), float(to_w[0])))
            return PilotInput(
                pitch=clipped((20.0 * max(math.cos(turn), 0.0) - forward) / 8.0),
                roll=clipped(-right / 8.0),
                yaw=clipped(-1.5 * turn),
                throttle=clipped(float(to_w[2]) / 10.0),
            )
        wanted = 0.25 * to_w[:2]
        wanted *= min(1.0, 8.0 / max(float(np.linalg.norm(wanted)), 1e-9))
        off = wanted - v_w[:2]
        over = progress.distance_m < 2.0 and float(np.linalg.norm(v_w[:2])) < 1.0
        down = goal.find(OnGround) is not None and (over or height_m < 2.0)
        sink = 0.2 if height_m < 2.5 else 0.6
        return PilotInput(
            pitch=clipped(0.25 * float(off @ ahead)),
            roll=clipped(0.25 * float(off[0] * ahead[1] - off[1] * ahead[0])),
            throttle=-sink if down else clipped((12.0 - height_m) / 10.0),
        )


def flown(simulation: Simulation, judge: Judge, longest_s: float, dt_s: float = 0.1) -> list[Progress]:
    """A beginner follows the prompts, looking ten times a second."""
    seen, pilot = [judge.observe(simulation.snapshot)], Beginner()
    while seen[-1].due is not None and simulation.snapshot.clock_s < longest_s:
        simulation.submit(SetPilotInput(pilot.sticks(seen[-1], simulation.snapshot)))
        seen.append(judge.observe(simulation.advance(dt_s)))
        assert simulation.snapshot.lanes[0].status is LaneStatus.RUNNING, simulation.snapshot.lanes[
            0
        ].status_text
    return seen


def test_the_guided_first_flight_is_done_by_following_its_prompts() -> None:
    scene = load_scene("canyon")
    simulation = Simulation(scene, CANYON)
    seen = flown(simulation, Judge(scene.goals, scene.vehicle, CANYON), 240.0)
    last = seen[-1]
    assert last.due is None
    assert [later.at for later, before in zip(seen[1:], seen, strict=False) if later.at > before.at] == [
        1,
        2,
        3,
        4,
        5,
    ]
    assert not last.skipped
    assert 60.0 < simulation.snapshot.clock_s < 180.0
    assert isinstance(last.graded, Landing)
    assert last.graded.off_m < 8.0
    assert last.graded.sink_mps < 2.0
    assert last.graded.grade != "rough"


def steered(progress: Progress, snapshot: Snapshot) -> PilotInput:
    """At a wheel or a helm: for the marker, slower towards it, or the key that is told."""
    lane, goal = snapshot.lanes[0], progress.due
    assert goal is not None
    if "gait-drive" in goal.keys:
        return PilotInput(actions=frozenset({"gait-drive"}))
    assert progress.marker_w is not None
    to_w = progress.marker_w - lane.T_wb[:3, 3]
    turn = turn_between(heading_of(lane.T_wb[:3, :3]), math.atan2(float(to_w[1]), float(to_w[0])))
    assert goal.place is not None
    stops = goal.find(Speed) is not None
    wanted_mps = (0.0 if progress.distance_m < 0.7 * goal.place.within_m else 2.5) if stops else 5.0
    off_mps = wanted_mps - float(lane.twist_b[3])
    return PilotInput(pitch=clipped(0.5 * off_mps), roll=clipped(-1.5 * turn))


def test_every_condition_is_said_and_one_of_a_kind_is_enough_for_a_goal(tmp_path: Path) -> None:
    asked = {
        "pad": '"start"', "at_m": "[1.0, 2.0]", "way_m": "100.0", "heading_deg": "90.0", "on_ground": "true",
        "height_m": "[1.0, 2.0]", "speed_mps": "[1.0, 2.0]", "turning_radps": "[1.0, 2.0]", "gates": "2",
        "told": "{ lift_over_weight = [1.0, 2.0] }", "laps": "3", "plan": '"flown"', "lanes": "2", "stopped": "true",
        "watch_s": "5.0", "hand": '"pulls"', "hook": '"holds"',
    }  # fmt: skip
    assert {key for kind in CONDITIONS for key in kind.keys} == asked.keys()
    said = set()
    for key, value in asked.items():
        goal = read_goal(f"{key} = {value}", tmp_path)
        (condition,) = goal.conditions
        assert key in type(condition).keys
        assert goal == read_goal(f"{key} = {value}", tmp_path)
        said.add(goal.words)
    assert len(said) == len(asked)
    assert read_goal("on_ground = true\nhold_s = 2.0", tmp_path).words == "On the ground, for 2 s"


@pytest.mark.parametrize("name", ["drive", "skate", "harbour", "storm"])
def test_the_goals_on_wheels_and_water_are_done_by_following_their_prompts(name: str) -> None:
    scene = load_scene(name)
    world = load_world(scene.world, seed=scene.seed)
    by_hand = tuple(goal for goal in scene.goals if goal.find(Plan) is None)
    running, judge = Simulation(scene, world), Judge(by_hand, scene.vehicle, world)
    progress = judge.observe(running.snapshot)
    while progress.due is not None and running.snapshot.clock_s < 240.0:
        running.submit(SetPilotInput(steered(progress, running.snapshot)))
        progress = judge.observe(running.advance(0.1))
        assert running.snapshot.lanes[0].status is LaneStatus.RUNNING, running.snapshot.lanes[0].status_text
    assert progress.due is None, f"{progress.due.title} is not done, {progress.distance_m:.1f} m off"
    assert not progress.skipped


def test_markers_along_the_way_stay_ahead_and_over_the_river() -> None:
    way = AlongWay(1360.0, within_m=60.0)
    assert CANYON.river is not None
    for arc_m in np.arange(0.0, 1200.0, 50.0):
        here = CANYON.path[int(np.searchsorted(CANYON.path[:, 0], 90.0 + 0.95 * arc_m))]
        aside = here + np.array([0.0, 15.0, -20.0])
        marker = way.marker_w(CANYON, aside)
        assert 60.0 < along_m(CANYON.path, marker) - along_m(CANYON.path, aside) < 130.0
        assert abs(float(marker[1]) - float(CANYON.river.centre(marker[0]))) < 60.0
        assert marker[2] > float(CANYON.terrain.height(marker[0], marker[1])) + 15.0


def test_what_is_left_of_the_way_is_told_not_how_far_ahead_its_marker_flies() -> None:
    goal = SceneGoal("on", conditions=(AlongWay(1360.0, within_m=60.0),))
    judge, left_m = Judge((goal,), HELICOPTER, CANYON), []
    for k, place_w in enumerate(CANYON.path[10:60:10]):
        T_wb = np.eye(4)
        T_wb[:3, 3] = place_w
        lane = fakes.lane(time_current_s=float(k), bodies={"body": T_wb}, bodies_previous={"body": T_wb})
        left_m.append(judge.observe(fakes.snapshot(lane)).distance_m)
        assert left_m[-1] == pytest.approx(1360.0 - along_m(CANYON.path, place_w))
    assert (np.diff(left_m) < -1.0).all()


STILL = (OnGround(), Speed(0.0, 0.5))
STAND = SceneGoal("stand", conditions=STILL, hold_s=1.0)
RISE = SceneGoal("rise", conditions=(Height(4.0, 100.0),))
LAND = SceneGoal("land", conditions=(AtPad("start", within_m=8.0), *STILL), hold_s=0.5, grade=Landing)


def at(
    time_s: float, *, height_m: float = 0.0, v_b: tuple = (0.0, 0.0, 0.0), x: tuple = (0.0, 0.0), **changes
):
    """A snapshot of a helicopter on a plain."""
    lane = fakes.lane(
        time_current_s=time_s,
        T_wb=fakes.pose(x=(*x, height_m)),
        twist_b=np.array([0.0, 0.0, 0.0, *v_b]),
        height_above_ground_m=height_m,
        on_ground=height_m <= 0.0,
        **changes,
    )
    return fakes.snapshot(lane, clock_s=time_s)


def test_a_goal_is_done_once_it_has_held_for_its_time_without_a_break() -> None:
    judge = Judge((STAND, RISE), HELICOPTER, PLAIN)
    for time_s, speed, due, held in (
        (0.0, 0.0, 0, 0.0), (0.9, 0.0, 0, 0.9), (1.0, 2.0, 0, 0.0),
        (1.1, 0.0, 0, 0.0), (2.0, 0.0, 0, 0.9), (2.1, 0.0, 1, 0.0),
    ):  # fmt: skip
        progress = judge.observe(at(time_s, v_b=(speed, 0.0, 0.0)))
        assert (progress.at, progress.held) == (due, pytest.approx(held))


def test_a_landing_is_graded_by_how_it_touched_and_where_it_stands() -> None:
    judge = Judge((RISE, LAND), HELICOPTER, PLAIN)
    judge.observe(at(0.0))
    judge.observe(at(1.0, height_m=5.0))
    judge.observe(at(2.0, height_m=0.3, v_b=(0.6, 0.0, -0.9), x=(2.5, 0.0)))
    judge.observe(at(2.1, v_b=(0.2, 0.0, 0.0), x=(3.0, 0.0)))
    judge.observe(at(2.6, x=(3.0, 0.0)))
    progress = judge.observe(at(3.2, x=(3.0, 0.0)))
    found = progress.graded
    assert isinstance(found, Landing)
    assert (found.sink_mps, found.drift_mps, found.off_m) == pytest.approx((0.9, 0.6, 3.0))
    assert found.grade == "good"
    assert Landing(0.3, 0.2, 1.0).grade == "butter"
    assert Landing(0.3, 0.2, 7.0).grade == "fair"
    assert Landing(2.9, 0.2, 0.0).grade == "rough"


def read_goal(text: str, folder: Path) -> SceneGoal:
    """Of a scene's file that has this one."""
    path = folder / "scene.toml"
    path.write_text(f'[[goals]]\ntitle = "x"\n{text}')
    (goal,) = load_scene(path).goals
    return goal


def turned(heading_deg: float, *, off_m: float = 0.0, turning_radps: float = 0.0) -> Snapshot:
    """A helicopter so far from (3, 4), level, with its nose there."""
    T_wb = fakes.pose(x=(3.0 + off_m, 4.0, 5.0))
    c, s = math.cos(math.radians(heading_deg)), math.sin(math.radians(heading_deg))
    T_wb[:2, :2] = [[c, -s], [s, c]]
    return fakes.snapshot(fakes.lane(T_wb=T_wb, twist_b=np.array([0.0, 0.0, turning_radps, 0.0, 0.0, 0.0])))


@pytest.mark.parametrize(("nose_deg", "done"), [(170.0, 0), (176.0, 1), (-171.0, 1), (-160.0, 0), (0.0, 0)])
def test_a_heading_is_kept_within_its_bounds_on_both_sides_of_the_cut(
    nose_deg: float, done: int, tmp_path: Path
) -> None:
    goal = read_goal("heading_deg = 180.0\nwithin_deg = 9.5", tmp_path)
    assert Judge((goal,), HELICOPTER, PLAIN).observe(turned(nose_deg)).at == done


@pytest.mark.parametrize(("turning_radps", "done"), [(0.0, 0), (0.1, 1), (-0.2, 1), (0.5, 0)])
def test_a_turn_rate_counts_whichever_way_it_turns(turning_radps: float, done: int, tmp_path: Path) -> None:
    goal = read_goal("turning_radps = [0.05, 0.3]", tmp_path)
    assert Judge((goal,), HELICOPTER, PLAIN).observe(turned(0.0, turning_radps=turning_radps)).at == done


def test_a_docking_is_graded_by_its_place_and_heading_and_needs_a_place(tmp_path: Path) -> None:
    goal = read_goal("at_m = [3.0, 4.0]\nheading_deg = 30.0\nwithin_deg = 40.0\ndocking = true", tmp_path)
    grades = {}
    for off_m, nose_deg in ((0.2, 28.0), (0.8, 36.0), (2.0, 12.0), (6.0, 30.0)):
        found = Judge((goal,), HELICOPTER, PLAIN).observe(turned(nose_deg, off_m=off_m)).graded
        assert isinstance(found, Docking)
        assert (found.off_m, found.off_deg) == pytest.approx((off_m, abs(nose_deg - 30.0)))
        grades[off_m] = found.grade
    assert grades == {0.2: "butter", 0.8: "good", 2.0: "fair", 6.0: "rough"}
    with pytest.raises(sim.InputError, match="docking: needs a place"):
        read_goal("heading_deg = 30.0\ndocking = true", tmp_path)


def test_time_that_goes_back_takes_what_was_done_since_with_it() -> None:
    scene = Scene(
        "x", "x", world="plain", start=replace(Scene("y", "y").start, pad="start"), goals=(RISE, STAND)
    )
    simulation = Simulation(scene, PLAIN)
    judge = Judge(scene.goals, scene.vehicle, PLAIN)
    simulation.submit(SetPilotInput(PilotInput(throttle=1.0)))
    done = [judge.observe(simulation.advance(0.1)).at for _ in range(60)]
    assert done[-1] == 1
    simulation.submit(Scrub(0.5))
    assert judge.observe(simulation.advance(0.1)).at == 1  # looking back judges nothing
    simulation.submit(Retake(paused=False))
    assert judge.observe(simulation.advance(0.1)).at == 0
    again = [judge.observe(simulation.advance(0.1)).at for _ in range(60)]
    assert again[-1] == 1
    simulation.submit(Reset())
    simulation.submit(SetPaused(True))
    assert judge.observe(simulation.advance(0.0)).at == 0


def test_goals_are_skipped_and_begun_again_and_another_vehicle_is_not_judged() -> None:
    judge = Judge((RISE, STAND), HELICOPTER, PLAIN)
    judge.observe(at(0.0))
    judge.skip()
    assert (judge.progress.at, judge.progress.skipped) == (1, {0})
    judge.observe(at(0.1, vehicle="boat"))
    assert judge.observe(at(5.0, vehicle="boat")).at == 1
    judge.restart()
    assert (judge.progress.at, judge.progress.skipped) == (0, frozenset())
    crashed = judge.observe(at(6.0, height_m=9.0, status=LaneStatus.CRASHED))
    assert crashed.at == 0
    for _ in range(5):
        judge.skip()
    assert judge.progress.due is None
    assert judge.observe(at(7.0)).due is None


def test_a_hand_counts_while_it_steers_or_pulls_and_nobody_else_does(tmp_path: Path) -> None:
    steers, pulls = (read_goal(f'hand = "{what}"\nhold_s = 0.5', tmp_path) for what in ("steers", "pulls"))
    neutral = fakes.snapshot().lanes[0].controls
    pressed, held = neutral + 0.1, ("body", (0.0, 0.0, 0.0), (1.0, 0.0, 2.0))
    for goal, changes, around, done in (
        (steers, {"controls": sim.vehicle("helicopter").neutral_controls}, {}, 0),
        (steers, {"controls": pressed}, {}, 1),
        (steers, {"controls": pressed}, {"demo": True}, 0),
        (steers, {"controls": pressed}, {"plan_flies": True}, 0),
        (pulls, {"controls": pressed}, {}, 0),
        (pulls, {"pull": held}, {}, 1),
    ):
        judge = Judge((goal,), HELICOPTER, PLAIN)
        for time_s in (0.0, 0.4, 0.6):
            progress = judge.observe(replace(at(time_s, **changes), **around))
        assert progress.at == done, (goal.find(Hand), changes, around)


def test_plans_that_are_made_in_flight_fly_once_there_is_one(tmp_path: Path) -> None:
    goal = read_goal('plan = "flies"', tmp_path)
    for phase, done in (("preparing", 0), ("flying", 1)):
        picture = MpcStatus(phase, 0.1, 0.1, 20.0, 0.01, 9, 0, 0, "", None)  # type: ignore[arg-type]
        snapshot = replace(at(1.0), mpc=picture)
        assert Judge((goal,), HELICOPTER, PLAIN).observe(snapshot).at == done


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[[goals]]\ntitle = "x"\nhand = "waves"', 'unknown "waves"; allowed: steers, pulls'),
        ('[[goals]]\ntext = "x"', "goals[0].title: is missing"),
        ('[[goals]]\ntitle = "x"', "asks for nothing"),
        ('[[goals]]\ntitle = "x"\non_ground = true\nkeys = ["fly"]', 'unknown "fly"'),
        ('[[goals]]\ntitle = "x"\npad = "moon"', 'unknown "moon"; allowed: start, landing'),
        ('[[goals]]\ntitle = "x"\npad = "start"\nat_m = [1.0, 2.0]', "cannot stand beside pad"),
        ('[[goals]]\ntitle = "x"\nheight_m = [5.0, 5.0]', "the smaller number first"),
        ('[[goals]]\ntitle = "x"\nat_m = [1.0]', "2 numbers"),
        ('[[goals]]\ntitle = "x"\non_ground = true\nhold = 1.0', "unknown key"),
        ("goals = 3", "list of tables"),
        ('[[goals]]\ntitle = "x"\non_ground = true\n' * 25, "24 at most"),
    ],
)
def test_a_mistake_in_a_goal_is_one_line_with_file_key_and_what_is_allowed(
    text: str, told: str, tmp_path: Path
) -> None:
    path = tmp_path / "scene.toml"
    path.write_text(text)
    with pytest.raises(sim.InputError) as refusal:
        load_scene(path)
    assert told in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert str(path) in str(refusal.value)


@pytest.mark.parametrize("name", ["pendula", "pendulum", "blowup-boat", "dominoes", "heavy-top", "push"])
def test_goals_that_only_watch_are_done_by_themselves(name: str) -> None:
    """Also of vehicles that tell the swing of several bodies."""
    scene = load_scene(name)
    watched = scene.goals[0].find(Watched)
    assert watched is not None
    world = load_world(scene.world, seed=scene.seed)
    judge, running = Judge(scene.goals, scene.vehicle, world), Simulation(scene, world)
    for _ in range(round(watched.seconds / 0.5) + 3):
        judge.observe(running.advance(0.5))
    assert judge.progress.at == 1


def test_who_stops_short_of_a_place_is_told_how_to_go_on_as_who_comes_too_fast_is() -> None:
    """A goal at a place and slow names both keys of each of its axes: brakes alone leave who braked early standing."""
    other = str.maketrans("+-", "-+")
    for name in scene_names():
        for goal in load_scene(name).goals:
            if goal.place is None or goal.find(Speed) is None:
                continue
            lone = [key for key in goal.keys if key[-1] in "+-" and key.translate(other) not in goal.keys]
            assert not lone, (name, goal.title, lone)


def test_goals_of_the_projects_scenes_say_how_and_none_is_done_at_the_start() -> None:
    for name in scene_names():
        scene = load_scene(name)
        assert scene.goals, name
        assert all(goal.text for goal in scene.goals)
        assert scene.onward != name
        watched = scene.goals[0].find(Watched)
        if scene.goals[0].find(Plan) is not None or (watched is not None and watched.seconds > 2.0):
            continue  # which nothing does by itself so early
        world = load_world(scene.world, seed=scene.seed)
        judge, running = Judge(scene.goals, scene.vehicle, world), Simulation(scene, world)
        for _ in range(20):
            assert judge.observe(running.advance(0.1)).at == 0
