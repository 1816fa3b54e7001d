"""Laws of a crash's picture: what comes off flies as thrown bodies do, comes to rest, and can be seen again."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from render.frame import DrawnVehicle, View, look_at, perspective
from render.vehicles.crash_film import LIVE_S, REPLAYED_S, SLOWNESS, CrashFilm
from render.vehicles.scene_view import SceneView
from render.vehicles.struck import thrown_up
from render.vehicles.wreckage import HULL, Piece, Wreckage, blow_of, pieces_of
from sim.commands import PilotInput, Reset, Scrub, SetPilotInput
from sim.contact.bodies import Pile, Prop
from sim.contact.obstacles.prop_kinds import Placed
from sim.groups.numeric import rotation_exp
from sim.models.asset import load_model
from sim.recordings.take import FALLS_S
from sim.scene import Start, load_scene
from sim.shapes import Box
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import Snapshot
from sim.simulation.thrown import PERIOD_S, Around, Thrown
from sim.vehicle_config import config_named
from sim.vehicles import vehicle as vehicle_named
from sim.world import World
from sim.world.terrain import Terrain
from tests.patience import PATIENCE_S
from tests.sim.simulation_scenes import helicopter_scene, simulation, world

SLOPE = np.array([0.12, -0.2])
HIGH_W = np.array([0.0, 0.0, 500.0])


def shaped(height: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> World:
    """The plain with other ground within 40 m of the origin."""
    along = np.arange(-40.0, 40.5, 0.5)
    heights = height(*np.meshgrid(along, along)).astype(np.float32)
    return replace(world("plain"), terrain=Terrain(heights, (-40.0, -40.0), 0.5))


def slope(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 3.0 + SLOPE[0] * x + SLOPE[1] * y


def wall(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    return 8.0 * np.clip(x + 0.1 * y, 0.0, 10.0)


@cache
def wreckage(name: str) -> Wreckage:
    T_wb = np.eye(4)
    T_wb[:3, :3], T_wb[:3, 3] = rotation_exp(np.array([0.1, -0.2, 0.7])), (4.0, -3.0, 5.6)
    blow = blow_of(
        T_wb, np.array([0.2, -0.4, 0.1, 9.0, 1.0, -6.0]), np.array([0.0, 0, 0, 5.0, 0, 0]), wet=False
    )
    return Wreckage(blow, pieces_of(config_named(name).model, load_model(name)), shaped(slope))


def piece(half: tuple[float, float, float]) -> Piece:
    middle = (0.3, 0.0, 0.1)
    return Piece((), np.array(middle), np.array(half), np.zeros(3), Box(middle, half), 200.0)


def lowest_m(one: Placed, T_w: np.ndarray, height: Callable[[np.ndarray, np.ndarray], np.ndarray]) -> float:
    """Of its corners, above the ground, with its principal axes at T_w."""
    moved = one.at(T_w).prop
    points = moved.shape.surface()[0] - moved.shape.solid().T_w[:3, 3]
    points = points @ (moved.T_w[:3, :3] @ moved.shape.solid().T_w[:3, :3].T).T + T_w[:3, 3]
    return float((points[:, 2] - height(points[:, 0], points[:, 1])).min())


@contextmanager
def falling(left: Wreckage, there: World, *props: Placed) -> Iterator[Callable[[float], np.ndarray]]:
    """Gives principal axes (n, 4, 4) of props, pieces and chips so long after the blow."""
    thrown = Thrown(Around(there), lambda: (*props, *left.placed()), FALLS_S)

    def at(age_s: float) -> np.ndarray:
        found = thrown.bodies_w(age_s, wait=True)
        assert found is not None
        return found

    try:
        yield at
    finally:
        thrown.close()


@cache
def crashed() -> tuple[Simulation, tuple[Snapshot, ...]]:
    start = Start(position_w=(0.0, 0.0, 26.0), velocity_b=(16.0, 2.0, -2.0))
    running = simulation(helicopter_scene(start=start, flight_mode="raw"))
    running.submit(SetPilotInput(PilotInput(pitch=0.3, roll=0.1, throttle=-1.0)))
    seen = [running.advance(1.0 / 60.0)]
    while seen[-1].lanes[0].status.value == "running":
        seen.append(running.advance(1.0 / 60.0))
    return running, tuple(seen)


def filmed(film: CrashFilm, snapshots: tuple[Snapshot, ...], seconds: float = 0.0) -> CrashFilm:
    for snapshot in snapshots:
        film.observe(snapshot)
    for _ in range(round(seconds / 0.05)):
        film.go_on(0.05)
    return film


def eye() -> View:
    at = np.array([-20.0, 3.0, 9.0])
    return View(at, look_at(at, np.array([4.0, -3.0, 4.0])), perspective(0.8, 1.6, 0.1, 500.0))


def test_what_falls_is_heard_to_strike_once_and_seen_to_raise_dust_where_it_does() -> None:
    _, snapshots = crashed()
    film = CrashFilm(world("canyon"))
    filmed(film, snapshots)
    blows, dust = [], []
    for k in range(1, 100):
        film.go_on(0.06)
        assert film.wreck_age_s == pytest.approx(0.06 * k)
        blows += film.struck
        dust.append(len(thrown_up(film.blows, film.wreck_age_s, eye())))
        film.go_on(0.0)  # another picture at the same moment
    numbers, times = [blow.number for blow in blows], [blow.time_s for blow in blows]
    assert numbers == sorted(set(numbers))
    assert times == sorted(times)
    assert 50 < len(blows) < 200  # measured: 107
    assert {blow.of for blow in blows} == {"metal"}
    assert "ground" in {blow.on for blow in blows}
    struck_w = np.array([blow.place_w for blow in blows if blow.on == "ground"])
    ground_m = world("canyon").terrain.height(*struck_w[:, :2].T)
    # What runs fast over slopes is met before it touches; measured: 0.06 m.
    assert np.quantile(np.abs(struck_w[:, 2] - ground_m), 0.9) < 0.2
    assert max(dust) > 0


def test_every_node_of_a_model_belongs_to_the_hull_or_to_one_piece() -> None:
    for name, most in (("helicopter", 3), ("quadrotor", 4), ("car", 4), ("boat", 2), ("motorboat", 2)):
        asset, model = load_model(name), config_named(name).model
        pieces = pieces_of(model, asset)
        off = [node for piece in pieces[1:] for node in piece.nodes]
        assert len(pieces) == 1 + most
        assert len(set(off)) == len(off)
        assert set(off) < set(asset.nodes)


def test_blades_take_a_share_of_their_rotors_turning_along() -> None:
    spins = [piece.spin_b for piece in pieces_of(config_named("helicopter").model, load_model("helicopter"))]
    fastest = max(spins, key=lambda spin: float(np.abs(spin[2])))
    assert fastest[2] == pytest.approx(41.0)


def test_in_the_air_a_piece_falls_as_a_thrown_body() -> None:
    """Its middle, against a parabola through where it set out, over the first 0.3 s of what starts high up: of those
    that nothing meets, which most are."""
    T_wb = np.eye(4)
    T_wb[:3, 3] = HIGH_W
    blow = blow_of(T_wb, np.array([0.0, 0, 0, 8.0, -1.0, -3.0]), np.array([0.0, 0, 0, 1.0, 0, 0]), wet=False)
    left = Wreckage(blow, (piece((1.0, 0.4, 0.5)),), shaped(slope))
    with falling(left, shaped(slope)) as at:
        height = [at(age)[:, 2, 3] for age in (0.0, 0.15, 0.3)]
    fall = height[0] - 2.0 * height[1] + height[2]
    assert np.median(np.abs(fall / (-9.81 * 0.15**2) - 1.0)) < 1e-6


def test_all_that_flies_apart_in_the_air_keeps_its_momentum_across_gravity_whatever_meets() -> None:
    """Sum of masses times velocities along the ground of pieces and chips, as they are within each other, come out and
    strike; of differences over a period. Measured: 8e-11 N s, of 3 N s that are allowed for each m/s."""
    T_wb = np.eye(4)
    T_wb[:3, :3], T_wb[:3, 3] = rotation_exp(np.array([0.3, -0.5, 0.7])), HIGH_W
    blow = blow_of(
        T_wb, np.array([1.2, -0.4, 2.1, 9.0, 1.0, -6.0]), np.array([0.0, 0, 0, 5.0, 0, 0]), wet=False
    )
    left = Wreckage(blow, pieces_of(config_named("car").model, load_model("car")), shaped(slope))
    mass = np.array([one.prop.mass_kg for one in left.placed()])
    with falling(left, shaped(slope)) as at:
        x = np.array([at(k * PERIOD_S)[:, :2, 3] for k in range(60)])
    momentum = np.einsum("n,knc->kc", mass, np.diff(x, axis=0) / PERIOD_S)
    assert np.abs(np.diff(x, 2, axis=0)).max() > 1e-3  # some have met
    np.testing.assert_allclose(
        momentum, momentum[:1].repeat(len(momentum), 0), rtol=0.0, atol=1e-8 * mass.sum()
    )


@pytest.mark.parametrize("name", ["helicopter", "car", "quadrotor", "motorboat"])
def test_what_has_come_off_lies_on_the_ground_in_the_end_still_and_never_in_it(name: str) -> None:
    """Corners of all, once the first tenth of a second has brought them out. Measured: 0.03 mm deep at most; most lie
    within a micrometre, and have not moved in the last half second, nor has any hull."""
    left, there = wreckage(name), shaped(slope)
    placed = left.placed()
    with falling(left, there) as at:
        poses = {age: at(age) for age in (*np.arange(0.12, FALLS_S, 0.12), FALLS_S - 0.5, FALLS_S)}
    deepest = [
        lowest_m(one, T_w[k], slope)
        for T_w in poses.values()
        for k, one in enumerate(placed)
        if np.abs(T_w[k, :2, 3]).max() < 36.0
    ]
    late, later = poses[FALLS_S - 0.5], poses[FALLS_S]
    print(
        "M",
        min(deepest),
        [lowest_m(one, T_w, slope) for one, T_w in zip(placed, later, strict=True)],
        np.abs(later - late)[:, :3, 3].max(axis=1),
    )
    assert min(deepest) > -0.02
    above = [lowest_m(one, T_w, slope) for one, T_w in zip(placed, later, strict=True)]
    assert np.median(above) < 0.01
    assert np.median(np.abs(later - late)[:, :3, 3].max(axis=1)) < 0.01
    assert np.abs(later - late)[0, :3, 3].max() < 0.1
    for matrix in left.moved(later @ np.linalg.inv(poses[0.12])).values():
        np.testing.assert_allclose(matrix[:3, :3] @ matrix[:3, :3].T, np.eye(3), atol=1e-9)


def test_no_wreck_climbs_a_wall_higher_than_its_speed_would_throw_it() -> None:
    """The middle of a hull that hits it aslant, as long as it is seen, against the height of its kinetic energy."""
    T_wb, twist = np.eye(4), np.array([0.0, 0.3, 0.0, 12.0, 2.0, -3.0])
    T_wb[:3, 3] = (-3.5, 0.0, 4.0)
    blow = blow_of(T_wb, twist, np.array([0.0, 0, 0, 9.0, 0, 0]), wet=False)
    left = Wreckage(blow, (piece((2.5, 0.8, 0.9)),), shaped(wall))
    with falling(left, shaped(wall)) as at:
        heights = [at(age)[0, 2, 3] for age in np.arange(0.0, FALLS_S, 0.1)]
    assert max(heights) < 4.0 + float(twist[3:] @ twist[3:]) / (2.0 * 9.81)


def test_pieces_push_what_is_light_and_come_out_of_each_other_once() -> None:
    """A board of 4 kg stands beside a car that breaks. Measured: it is pushed 1.8 m on; pieces that have come out of
    each other stay out by 0.1 mm."""
    T_wb = np.eye(4)
    T_wb[:3, :3], T_wb[:3, 3] = rotation_exp(np.array([0.05, -0.1, 0.4])), (-3.0, 1.0, 0.9)
    blow = blow_of(
        T_wb, np.array([0.0, 0.3, 0.2, 14.0, 1.0, -1.0]), np.array([0.0, 0, 0, 9.0, 0, 0]), wet=False
    )
    flat = shaped(lambda x, y: 0.0 * x)
    left = Wreckage(blow, pieces_of(config_named("car").model, load_model("car")), flat)
    board = Placed(Prop(Box((-2.5, -2.0, 0.6), (2.5, 0.04, 0.6), 0.05), 4.0, 0.4), (0.5, 0.5, 0.5))
    pile = Pile([board.prop, *(one.prop for one in left.placed())])
    out, deepest = np.zeros((len(pile.props), len(pile.props)), np.bool_), 0.0
    with falling(left, flat, board) as at:
        for age in np.arange(0.0, 3.0, PERIOD_S):
            T_w = at(age)
            gaps = pile.gaps_m(np.concatenate([T_w[:, :3, :3].reshape(-1, 9), T_w[:, :3, 3]], axis=1))
            deepest = min(deepest, gaps[out].min(initial=0.0))
            out |= gaps > 2e-3
            np.fill_diagonal(out, False)
        assert deepest > -1e-3
        assert out.mean() > 0.5
        assert np.linalg.norm(at(3.0)[0, :2, 3] - at(0.0)[0, :2, 3]) > 0.2


def test_the_same_crash_breaks_in_the_same_way_to_the_bit_whatever_moments_are_asked_for() -> None:
    left, there = wreckage("helicopter"), shaped(slope)
    with falling(left, there) as one, falling(left, there) as other:
        for age in (0.2, 3.0, 0.7):
            other(age)
        np.testing.assert_array_equal(one(1.3), other(1.3))


def test_a_blow_from_ahead_throws_back_and_one_from_below_up() -> None:
    T_wb = np.eye(4)
    ahead = blow_of(T_wb, np.array([0.0, 0, 0, 12.0, 0, 0]), np.array([0.0, 0, 0, 2.0, 0, 0]), wet=False)
    np.testing.assert_allclose(ahead.impulse_w, [-1.15 * 12.0, 0.0, 0.0])
    below = blow_of(T_wb, np.array([0.0, 0, 0, 3.0, 0, -5.0]), np.array([0.0, 0, 0, 3.0, 0, -5.0]), wet=False)
    np.testing.assert_allclose(below.impulse_w, [0.0, 0.0, 1.15 * 5.0])


def test_dust_rises_and_settles() -> None:
    left = wreckage("helicopter")
    young, old = left.dust(0.5, eye()), left.dust(2.0, eye())
    assert young is not None
    assert old is not None
    assert old.corners_w[:, 2].max() > young.corners_w[:, 2].max() > slope(np.array(4.0), np.array(-3.0))
    assert np.max(old.alpha) < np.max(young.alpha)
    assert left.dust(10.0, eye()) is None


def test_it_breaks_is_seen_again_slowly_and_lies_there() -> None:
    running, seen = crashed()
    end = seen[-1].lanes[0]
    film = filmed(CrashFilm(running.run.world, replays=True), seen)
    assert film.on
    assert film.replay_s is None
    filmed(film, (), LIVE_S + 0.5 * SLOWNESS * REPLAYED_S)
    assert film.replay_s == pytest.approx(0.5 * REPLAYED_S, abs=0.05)
    shown = film.shown()
    assert shown is not None
    assert shown.lane.status.value == "running"
    before = next(each.lanes[0] for each in seen if each.lanes[0].time_current_s >= shown.time_s - 1e-9)
    np.testing.assert_allclose(shown.T_wb, before.T_wb, atol=0.4)  # within a sixtieth of a second's way
    filmed(film, (), 2.0 * SLOWNESS * REPLAYED_S)
    assert film.replay_s is None
    deadline_s = time.monotonic() + PATIENCE_S
    while (lying := film.shown()) is not None and time.monotonic() < deadline_s:
        if np.linalg.norm(lying.T_wb[:3, 3] - end.T_wb[:3, 3]) > 0.5:  # it is simulated meanwhile
            break
        time.sleep(0.05)
    assert lying is not None
    assert lying.lane is end
    assert np.linalg.norm(lying.T_wb[:3, 3] - end.T_wb[:3, 3]) > 0.5


def test_a_bicycle_that_fell_lies_on_its_side_and_is_never_seen_upright_again() -> None:
    """Its frame's own vertical, against the world's. Measured: 0.43 at the blow, 0.0003 where it lies."""
    scene = replace(load_scene("bicycle"), flight_mode="raw", start=Start(node=("bicycle", fallen())))
    running = simulation(scene)
    seen = [running.advance(1.0 / 60.0)]
    while seen[-1].lanes[0].status.value == "running":
        seen.append(running.advance(1.0 / 60.0))
    film = filmed(CrashFilm(running.run.world), tuple(seen))
    vehicle = DrawnVehicle(
        "bicycle",
        np.eye(4),
        np.zeros(0),
        np.zeros(0),
        seen[-1].lanes[0].config,
        bodies=seen[-1].lanes[0].bodies,
    )
    upright = []
    for _ in range(60):
        whole, *_ = film.broken(vehicle)
        upright.append(float((whole.pieces[HULL] @ whole.bodies["frame"])[2, 2]))
        filmed(film, (), 0.1)
    assert upright[0] == pytest.approx(np.cos(1.1), abs=0.05)
    assert max(upright) < 0.6
    assert abs(upright[-1]) < 0.3


def fallen() -> tuple[float, ...]:
    """A bicycle at 3 m/s that leans too far to be caught."""
    return tuple(vehicle_named("bicycle").riding(3.0, lean=0.6).node.tolist())


def test_a_new_start_and_the_past_show_no_wreck() -> None:
    running, seen = crashed()
    film = filmed(CrashFilm(running.run.world, replays=True), seen)
    running.submit(Scrub(seen[-1].lanes[0].time_current_s - 1.0))
    film.observe(running.advance(0.0))
    assert not film.on
    running.submit(Reset())
    film.observe(running.advance(0.0))
    assert not film.on
    crashed.cache_clear()


def test_pieces_and_chips_are_in_the_frame_and_only_of_what_has_crashed() -> None:
    running, seen = crashed()
    scene = SceneView(running.run.world)
    for snapshot in seen:
        scene.observe(snapshot, np.inf)
    scene.film.go_on(0.1)
    scene.observe(seen[-1], np.inf)
    whole, chips = scene.frame(eye()).vehicles
    assert set(whole.pieces) >= {HULL, "skids", "main_blades", "tail"}
    assert whole.wreck
    assert len(chips.links) == len(chips.bodies) > 5
    diverged = replace(seen[-1].lanes[0], status=type(seen[-1].lanes[0].status).DIVERGED)
    scene.observe(replace(seen[-1], lanes=(diverged,)), np.inf)
    (one,) = scene.frame(eye()).vehicles
    assert not one.pieces
    assert not one.wreck
