"""Laws of the path along which the target of a load is led: its shape, its pilot, its takes, and what is refused."""

from concurrent.futures import Future
from pathlib import Path

import numpy as np
import pytest

from sim.commands import KeepTake, PilotInput, Reset, SetParameter, SetPilotInput, SetVehicle
from sim.platform.errors import InputError
from sim.recordings import Take, load_take, save_take
from sim.recordings.playback import Playback
from sim.scene import Scene, load_scene
from sim.simulation import Simulation
from tests.sim.simulation_scenes import simulation, world

KINDS = {
    "circle": 'kind = "circle"\ncentre_m = [1.0, 2.0, 6.0]\nradius_m = 2.0\nrise_m = 0.7\nperiod_s = 9.0',
    "figure-eight": """
kind = "figure-eight"
centre_m = [1.0, 2.0, 6.0]
half_m = [3.0, 1.2]
rise_m = 0.5
heading_deg = 35.0
period_s = 11.0
""",
    "parabola": """
kind = "parabola"
position_m = [-2.5, 0.5, 6.75]
velocity_mps = [1.0, 0.2, 5.0]
acceleration_mps2 = [0.0, 0.1, -2.0]
duration_s = 2.0
""",
    "waypoints": """
kind = "waypoints"
waypoints = [
  { position_m = [0.0, 0.0, 6.0] },
  { position_m = [2.0, 1.0, 7.0], time_s = 2.5 },
  { position_m = [3.0, -1.0, 6.5], time_s = 4.0 },
]
""",
    "waypoints that go round": """
kind = "waypoints"
closed = true
period_s = 7.0
waypoints = [
  { position_m = [0.0, 0.0, 6.0] },
  { position_m = [2.0, 1.0, 7.0], time_s = 2.5 },
  { position_m = [3.0, -1.0, 6.5], time_s = 4.0 },
]
""",
}
FLIGHT = """
vehicle = "quadrotors-with-load"
integrator = "rkmk4"
step_s = 0.005
flight_mode = "raw"
start.position_m = [0.0, 0.0, 6.0]
world.name = "plaza"
[parameters.quadrotors-with-load]
target_drag = 0.8
"""


def scene_with(target: str, folder: Path, head: str = FLIGHT) -> Scene:
    path = folder / "led.toml"
    path.write_text(f"{head}\n[target]\n{target}", encoding="utf-8")
    return load_scene(path)


def target_of(running: Simulation) -> np.ndarray:
    return running.snapshot.lanes[0].bodies["target"][:3, 3]


@pytest.mark.parametrize("kind", KINDS)
def test_velocity_and_acceleration_are_what_the_places_say(kind: str, tmp_path: Path) -> None:
    """By central differences; measured 2e-8 and 3e-5 at most."""
    path, h = scene_with(KINDS[kind], tmp_path).target, 1e-4
    for t in np.linspace(0.1, path.duration_s - 0.1, 17):
        before, now, after = (path.at(t + k * h) for k in (-1, 0, 1))
        np.testing.assert_allclose(now.velocity, (after.place - before.place) / (2 * h), atol=1e-6)
        np.testing.assert_allclose(now.acceleration, (after.velocity - before.velocity) / (2 * h), atol=1e-3)


def test_a_curve_passes_its_waypoints_in_time_and_rests_at_its_ends(tmp_path: Path) -> None:
    path = scene_with(KINDS["waypoints"], tmp_path).target
    np.testing.assert_allclose(path.at(2.5).place, [2.0, 1.0, 7.0], atol=1e-12)
    for end_s in (0.0, 4.0):
        np.testing.assert_allclose(path.at(end_s).velocity, 0.0, atol=1e-12)


def test_one_that_goes_round_is_smooth_where_it_begins_again(tmp_path: Path) -> None:
    path = scene_with(KINDS["waypoints that go round"], tmp_path).target
    for begun, over in zip(path.at(0.0), path.at(7.0), strict=True):
        np.testing.assert_allclose(begun, over, atol=1e-12)
    np.testing.assert_allclose(path.at(9.5).place, path.at(2.5).place, atol=1e-12)


@pytest.mark.parametrize(("kind", "lag_m"), [("figure-eight", 0.1), ("waypoints that go round", 0.8)])
def test_the_target_is_on_the_path_at_every_time_and_the_load_follows(
    kind: str, lag_m: float, tmp_path: Path
) -> None:
    """Controls are held for 10 ms, against the target's drag; the target is off by 1.5e-5 m at most.

    Two lean for what is across them, which takes its time: the load lags behind by 0.07 m, and 0.58 where it is flung.
    """
    scene = scene_with(KINDS[kind].replace("period_s = 11.0", "period_s = 24.0"), tmp_path)
    running = simulation(scene)
    off, lag = [], []
    for _ in range(30):
        lane = running.advance(0.5).lanes[0]
        off.append(np.abs(target_of(running) - scene.target.at(lane.time_current_s).place).max())
        lag.append(float(lane.scalar("load_error")))
    assert max(off) < 2e-4
    assert max(lag[10:]) < lag_m


def test_after_the_end_of_a_path_the_sticks_have_the_target_and_it_comes_to_rest(tmp_path: Path) -> None:
    running = simulation(scene_with(KINDS["waypoints"], tmp_path))
    running.advance(5.0)
    np.testing.assert_allclose(target_of(running), [3.0, -1.0, 6.5], atol=1e-3)
    running.submit(SetPilotInput(PilotInput(pitch=1.0)))
    running.advance(1.0)
    assert target_of(running)[0] > 3.5


def test_a_touch_of_the_sticks_takes_the_target_until_all_begins_anew(tmp_path: Path) -> None:
    scene = scene_with(KINDS["circle"], tmp_path)
    running = simulation(scene)
    running.advance(1.0)
    running.submit(SetPilotInput(PilotInput(throttle=0.5)))
    running.advance(0.5)
    running.submit(SetPilotInput(PilotInput()))
    running.advance(8.0)
    left = target_of(running).copy()
    running.advance(2.0)
    np.testing.assert_allclose(target_of(running), left, atol=0.02)
    running.submit(Reset())
    lane = running.advance(2.0).lanes[0]
    np.testing.assert_allclose(target_of(running), scene.target.at(lane.time_current_s).place, atol=2e-4)


def test_a_target_that_is_off_its_path_comes_back_to_it(tmp_path: Path) -> None:
    """As after other parameters have let it drift; 10 s from 4 m aside."""
    scene = scene_with(KINDS["circle"], tmp_path)
    running = simulation(scene)
    lane = running.run.flown
    node = lane.node.copy()
    node[lane.dynamics.vehicle.space.slices["target"].start] += 4.0
    lane.restart(node, lane.pilot, 0.0)
    at = running.advance(10.0).lanes[0].time_current_s
    np.testing.assert_allclose(target_of(running), scene.target.at(at).place, atol=1e-3)


def test_a_take_of_what_is_led_is_kept_in_a_file_and_replays_to_the_bit(tmp_path: Path) -> None:
    running = simulation(scene_with(KINDS["figure-eight"], tmp_path))
    running.advance(2.0)
    running.submit(SetPilotInput(PilotInput(roll=1.0)))
    running.advance(0.5)
    reply: Future[Take] = Future()
    running.submit(KeepTake(reply))
    running.advance(0.0)
    take = load_take(save_take(reply.result(timeout=10), tmp_path / "led.npz"))
    playback = Playback(take.segments, lambda: world("plaza"))
    segment = take.segments[-1]
    end = playback.node(playback.moment(segment, segment.steps))
    np.testing.assert_array_equal(end, running.run.flown.node)
    again = take.resimulate(world=lambda: world("plaza"))
    np.testing.assert_array_equal(again.trajectory.nodes, take.trajectory.nodes)


def test_the_path_is_shown_while_what_follows_it_flies(tmp_path: Path) -> None:
    scene = scene_with(KINDS["waypoints"], tmp_path)
    running = simulation(scene)
    shown = running.advance(0.1).target_path_w
    np.testing.assert_allclose(shown[[0, -1]], [[0.0, 0.0, 6.0], [3.0, -1.0, 6.5]], atol=1e-12)
    running.submit(SetParameter("target_drag", 0.0))
    assert running.advance(0.1).target_path_w is not None
    running.submit(SetVehicle("quadrotor"))
    for _ in range(600):
        if running.advance(0.05).lanes[0].vehicle == "quadrotor":
            break
    assert running.snapshot.target_path_w is None


CIRCLE = 'kind = "circle"\ncentre_m = [0.0, 0.0, 5.0]'
REFUSED = {
    "unknown kind": ('kind = "spiral"', 'target.kind: unknown "spiral"; allowed: circle'),
    "no centre": ('kind = "circle"', "target.centre_m: is missing; allowed: 3 numbers"),
    "unknown key": (f"{CIRCLE}\nradius = 2.0", "target.radius: unknown key; allowed: .*radius_m"),
    "negative radius": (f"{CIRCLE}\nradius_m = -1.0", "target.radius_m: -1.0 is refused"),
    "no time to go round": (
        f"{CIRCLE}\nperiod_s = 0.0",
        "target.period_s: 0.0 is refused; allowed: a number from",
    ),
    "key of another kind": (f"{CIRCLE}\nduration_s = 4.0", "target.duration_s: unknown key"),
    "too fast": (
        f"{CIRCLE}\nradius_m = 4.0\nperiod_s = 4.0",
        "target: needs -.* m/s\\^2 of target_x at .* s; allowed: from -5 to 5",
    ),
    "one waypoint": (
        'kind = "waypoints"\nwaypoints = [{ position_m = [0.0, 0.0, 5.0] }]',
        "target.waypoints: 1 are refused; allowed: 2 to 64",
    ),
    "a waypoint without a place": (
        'kind = "waypoints"\nwaypoints = [{ position_m = [0.0, 0.0, 5.0] }, { time_s = 2.0 }]',
        "target.waypoints\\[1\\].position_m: is missing",
    ),
    "time that goes back": (
        'kind = "waypoints"\nwaypoints = [{ position_m = [0, 0, 5] }, { position_m = [1, 0, 5], time_s = 3 },'
        " { position_m = [2, 0, 5], time_s = 3 }]",
        "target.waypoints\\[2\\].time_s: 3 is refused; allowed: more than 3",
    ),
    "a first one that is late": (
        'kind = "waypoints"\nwaypoints = [{ position_m = [0, 0, 5], time_s = 1 },'
        " { position_m = [1, 0, 5], time_s = 3 }]",
        "target.waypoints\\[0\\].time_s: 1 is refused; allowed: 0 of the first one",
    ),
    "a way round that ends too early": (
        KINDS["waypoints that go round"].replace("7.0", "3.0", 1),
        "target.period_s: 3 is refused; allowed: more than 4",
    ),
    "an end that is nothing": (
        KINDS["parabola"].replace("duration_s = 2.0", "duration_s = nan"),
        "target.duration_s: nan is refused",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_path_is_refused_in_one_line(case: str, tmp_path: Path) -> None:
    target, line = REFUSED[case]
    with pytest.raises(InputError, match=line) as caught:
        scene_with(target, tmp_path)
    assert "led.toml" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_follows_no_target_is_given_no_path(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"led\.toml: target: helicopter follows none; allowed for"):
        scene_with(KINDS["circle"], tmp_path, head='vehicle = "helicopter"')
