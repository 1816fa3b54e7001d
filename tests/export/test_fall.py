"""Laws of what files hold of a crash: the wreck falls in them as it is seen falling, and from its take as in flight."""

from concurrent.futures import Future
from functools import cache

import numpy as np
from scipy.spatial.transform import Rotation

from export.fall import with_fall
from export.motion import EVERY_S, LaneMotion, MotionRecorder, motions_of_takes
from export.nodes import Node, nodes_of
from render.vehicles.crash_film import CrashFilm
from render.vehicles.wreckage import HULL
from sim.commands import KeepTake, PilotInput, PlayTake, SetPilotInput
from sim.recordings import Take
from sim.recordings.take import FALLS_S
from sim.scene import Start
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import Snapshot
from tests.sim.simulation_scenes import helicopter_scene, simulation


@cache
def crashed() -> tuple[Simulation, tuple[Snapshot, ...], Take, LaneMotion]:
    """A helicopter that strikes the ground obliquely, what was seen, its take, and its motion with the fall."""
    start = Start(position_w=(0.0, 0.0, 20.0), velocity_b=(14.0, 3.0, -3.0))
    running = simulation(helicopter_scene(start=start, flight_mode="raw"))
    running.submit(SetPilotInput(PilotInput(pitch=0.2, roll=0.3, throttle=-1.0)))
    recorder, seen = MotionRecorder(), [running.advance(1.0 / 60.0)]
    while seen[-1].lanes[0].status.value == "running":
        recorder.add(seen[-1])
        seen.append(running.advance(1.0 / 60.0))
    recorder.add(seen[-1])
    reply: Future[Take] = Future()
    running.submit(KeepTake(reply))
    last = running.advance(0.0)
    take = reply.result(0)
    (fallen,) = with_fall(recorder.motions()[:1], [(last.lanes[0], take)], last, running.run.world)
    return running, tuple(seen), take, fallen


def poses_w(nodes: list[Node], age_s: float, end_s: float) -> dict[str, np.ndarray]:
    """(4, 4) of nodes of the helicopter's model and of chips in the world, at a moment that has a key."""
    found: list[np.ndarray] = []
    for node in nodes:
        T = np.eye(4)
        T[:3, 3] = node.at_m
        if node.track is not None:
            k = int(np.abs(node.track.time - end_s - age_s).argmin())
            T[:3, :3] = Rotation.from_quat(node.track.rotation[k]).as_matrix() * node.track.scale[k]
            T[:3, 3] = node.track.translation[k]
        found.append(T if node.parent is None else found[node.parent] @ T)
    return {node.name: T for node, T in zip(nodes, found, strict=True)}


def test_files_hold_the_wreck_where_it_is_seen_and_where_its_take_leads() -> None:
    """Nodes in the world, by what the picture moves them by since the blow. Measured: 1e-14 m, of up to 28 m."""
    running, seen, _, fallen = crashed()
    film = CrashFilm(running.run.world)
    for snapshot in seen:
        film.observe(snapshot)
    lane, age_s = seen[-1].lanes[0], 60 * EVERY_S
    nodes, end_s = nodes_of([fallen]), lane.time_current_s
    begin, then = (poses_w(nodes, each, end_s) for each in (0.0, age_s))
    for _ in range(40):
        film.go_on(age_s / 40.0)
    moves_w = film.moves_w
    assert len(moves_w) > 2
    for node in (n.name for n in nodes if n.asset is not None and n.name in begin and "link" not in n.name):
        move = moves_w.get(node, moves_w[HULL])
        if not node.startswith("chip"):
            assert np.abs(then[node] - move @ begin[node]).max() < 1e-9, node
    assert fallen.end_s == np.float64(end_s + FALLS_S)


def test_chips_are_not_seen_before_the_blow() -> None:
    _, seen, _, fallen = crashed()
    end_s, chips = seen[-1].lanes[0].time_current_s, 0
    for node in nodes_of([fallen]):
        if node.name.startswith("chip") and node.track is not None:
            chips += 1
            assert not node.track.shown[node.track.time <= end_s].any()
            assert node.track.shown[node.track.time > end_s].all()
    assert chips == 16


def test_a_take_that_is_played_ends_in_the_same_fall_to_the_bit() -> None:
    _, seen, take, fallen = crashed()
    again = simulation(helicopter_scene(flight_mode="raw"))
    again.submit(PlayTake(take))
    film = CrashFilm(again.run.world)
    while not film.on:
        film.observe(again.advance(0.07))
    played = again.snapshot
    assert played.look_back is not None
    assert np.array_equal(played.lanes[0].twist_before_b, seen[-1].lanes[0].twist_before_b)
    motions = motions_of_takes([(played.lanes[0], take)], again.run.world)
    (other,) = with_fall(motions, [(played.lanes[0], take)], played, again.run.world)
    assert fallen.fall is not None
    assert other.fall is not None
    assert all(np.array_equal(other.fall.moves_w[k], v) for k, v in fallen.fall.moves_w.items())
    assert take.shown_s == take.duration_s + FALLS_S
