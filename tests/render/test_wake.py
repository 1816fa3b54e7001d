"""Laws of what moves on the water: wakes, splashes and the wind of rotors."""

import numpy as np
import pytest
from scipy.optimize import brentq

from render.frame import DrawnVehicle, Frame, Wake
from render.passes.targets import Canvas
from render.programs import Programs
from render.quality import PRESETS
from render.renderer import Renderer
from render.vehicles.left_behind import Splashes
from render.vehicles.wake import KEPT_S, WakeTrack, WaterBelow, wake_band
from render.water.marks import SPAN_M, WaterMarks, downwash, washes
from sim.vehicle_config import config_named
from sim.water.ocean.waves import DEEP_M, GRAVITY_MPS2, wave_number
from sim.water.ship_waves import edge_slope
from sim.world.path import Stream
from tests.render.small_world import small_frame, small_scenery, small_world
from tests.render.test_tracks import on_circle, pose

LENGTH_M = 3.5
HULL = config_named("boat").hull
AT_REST = np.zeros(6)
WEDGE_SLOPE = np.tan(np.arcsin(1.0 / 3.0))


def over_deep_water() -> WakeTrack:
    return over_water_that_runs(0.0, 0.0)


def over_water_that_runs(x_mps: float, y_mps: float) -> WakeTrack:
    return WakeTrack(lambda place: WaterBelow(DEEP_M, np.array([x_mps, y_mps])))


def followed(place, *, until_s: float, step_s: float = 0.1) -> WakeTrack:
    track = over_deep_water()
    for time_s in np.arange(0.0, until_s + 1e-9, step_s):
        track.extend(config_named("boat"), 1, float(time_s), place(float(time_s)), AT_REST)
    return track


def steady(speed_mps: float, heading: float = 0.0, seconds: float = 12.0, depth_m: float = DEEP_M) -> Wake:
    """Of a bow that has come straight to the origin."""
    age = np.linspace(seconds, 0.0, 160)
    ahead = np.array([np.cos(heading), np.sin(heading)])
    speed, depth = np.full(160, speed_mps), np.full(160, depth_m)
    return Wake(-speed_mps * age[:, None] * ahead, age, speed, depth, LENGTH_M, 0.85)


def marks_of(ctx, *wakes: Wake, vehicles: tuple[DrawnVehicle, ...] = ()) -> tuple[np.ndarray, np.ndarray]:
    """(n, n, 4) map of slopes, foam and air, rows along y, and (2,) m its middle."""
    quality = PRESETS["high"]
    programs = Programs(ctx, defines=quality.defines)
    marks = WaterMarks(ctx, programs, quality)
    marks.draw(Frame(small_frame((8, 8)).view, vehicles, wakes=wakes), 0.0)
    side = marks._map.width
    image = np.frombuffer(marks._map.read(), "f2").reshape(side, side, 4).astype(float)
    window = marks.window
    marks.release()
    programs.release()
    return image, np.array(window[:2])


def lattice(side: int, middle: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    axis = (np.arange(side) + 0.5) / side * SPAN_M - 0.5 * SPAN_M
    return np.meshgrid(axis + middle[0], axis + middle[1])


@pytest.mark.parametrize("speed_mps", [2.3, 3.7, 5.5])
def test_waves_keep_within_kelvins_wedge_at_any_speed(ctx, speed_mps):
    image, middle = marks_of(ctx, steady(speed_mps))
    x, y = lattice(len(image), middle)
    steep = np.hypot(image[..., 0], image[..., 1])
    aft = (x < -3.0) & (x > -0.8 * 8.0 * speed_mps)
    outside = aft & (np.abs(y) > 0.85 + 1.12 * WEDGE_SLOPE * -x)
    inside = aft & (np.abs(y) < WEDGE_SLOPE * -x)
    assert outside.sum() > 1000
    assert steep[inside].mean() > 0.01  # measured 0.016 to 0.031
    assert steep[outside].max() < 0.03 * steep[inside].max()  # measured 0.0003 to 0.016


@pytest.mark.parametrize("speed_mps", [2.6, 3.4])
def test_waves_behind_the_stern_are_as_long_as_those_that_keep_up_with_the_hull(ctx, speed_mps):
    expected = 2.0 * np.pi * speed_mps**2 / GRAVITY_MPS2
    assert length_behind_the_stern(ctx, speed_mps, DEEP_M) == pytest.approx(expected, rel=2e-3)  # within 2e-5


def length_behind_the_stern(ctx, speed_mps: float, depth_m: float) -> float:
    """From zero crossing to zero crossing, whatever becomes of the height [m]."""
    image, middle = marks_of(ctx, steady(speed_mps, depth_m=depth_m))
    x, y = lattice(len(image), middle)
    row = int(np.argmin(np.abs(y[:, 0])))
    part = (x[row] < -4.0) & (x[row] > -22.0)
    slope = image[row, part, 0]
    change = np.flatnonzero(np.diff(np.sign(slope)) != 0)
    share = slope[change] / (slope[change] - slope[change + 1])
    crossings = x[row, part][change] + share * (SPAN_M / len(image))
    assert len(crossings) > 2
    return 2.0 * float(np.diff(crossings).mean())


@pytest.mark.parametrize(("speed_mps", "depth_m"), [(3.7, 1.7), (3.7, 1.55), (3.7, 0.9), (5.5, 1.6)])
def test_over_a_bed_waves_keep_within_the_wedge_of_its_depth(ctx, speed_mps, depth_m):
    """Froude numbers of depth 0.91, 0.95, 1.25 and 1.39: the wedge is up to 38 degrees and more to a side."""
    image, middle = marks_of(ctx, steady(speed_mps, depth_m=depth_m))
    x, y = lattice(len(image), middle)
    steep = np.hypot(image[..., 0], image[..., 1])
    slope = float(edge_slope(speed_mps / np.sqrt(GRAVITY_MPS2 * depth_m)))
    aft = (x < -3.0) & (x > -0.8 * 8.0 * speed_mps)
    outside = aft & (np.abs(y) > 0.85 + 1.12 * slope * -x)
    between = aft & (np.abs(y) < 0.9 * slope * -x) & (np.abs(y) > 1.2 * WEDGE_SLOPE * -x)
    assert outside.sum() > 1000
    assert steep[between].mean() > 0.01  # measured 0.024 to 0.046
    assert steep[outside].max() < 0.1 * steep[between].max()  # measured 0 to 0.065


@pytest.mark.parametrize(("speed_mps", "depth_m"), [(2.6, 0.9), (3.4, 1.5)])
def test_over_a_bed_waves_behind_the_stern_are_longer(ctx, speed_mps, depth_m):
    """Froude numbers of depth 0.88 and 0.89."""
    expected = 2.0 * np.pi / kept_up_with(speed_mps, depth_m)
    assert expected > 1.3 * 2.0 * np.pi * speed_mps**2 / GRAVITY_MPS2
    assert length_behind_the_stern(ctx, speed_mps, depth_m) == pytest.approx(
        expected, rel=2e-3
    )  # within 5e-5


def kept_up_with(speed_mps: float, depth_m: float) -> float:
    """Wave number whose phase speed, by the sea's own dispersion, is the hull's."""
    return float(
        brentq(lambda w: w / wave_number(w, depth_m) - speed_mps, 1e-3 * GRAVITY_MPS2, 20.0) / speed_mps
    )


def test_beyond_the_speed_of_long_waves_none_follow_on_the_course(ctx):
    on_course = []
    for depth_m in (DEEP_M, 0.9):
        image, middle = marks_of(ctx, steady(3.7, depth_m=depth_m))
        x, y = lattice(len(image), middle)
        row = int(np.argmin(np.abs(y[:, 0])))
        part = (x[row] < -6.0) & (x[row] > -22.0)
        on_course.append(np.abs(image[row, part, 0]).max())
    assert on_course[1] < 0.02 * on_course[0]  # measured 0


@pytest.mark.parametrize("heading", [0.4, 2.1])
def test_a_wake_turns_with_the_course(ctx, heading):
    straight, _ = marks_of(ctx, steady(3.0))
    turned, middle = marks_of(ctx, steady(3.0, heading))
    c, s = np.cos(heading), np.sin(heading)
    for back, aside in ((6.0, 1.0), (11.0, -2.5), (16.0, 4.0)):
        at = []
        for image, centre, (cc, ss) in (
            (straight, np.array([-12.0, 0.0]), (1.0, 0.0)),
            (turned, middle, (c, s)),
        ):
            place = -back * np.array([cc, ss]) + aside * np.array([-ss, cc])
            column, row = ((place - centre) / SPAN_M + 0.5) * len(image) - 0.5
            near = image[int(row) - 2 : int(row) + 4, int(column) - 2 : int(column) + 4].mean(axis=(0, 1))
            at.append([near[0] * cc + near[1] * ss, near[1] * cc - near[0] * ss, near[2]])
        np.testing.assert_allclose(*at, atol=0.03)  # measured 0.011, of up to 0.2


def test_the_track_of_the_bow_is_the_exact_circle_between_looks():
    track = followed(lambda t: on_circle(0.3 * t), until_s=6.0, step_s=1.5)
    wake = track.wake(6.0, on_circle(1.8), np.zeros(3))
    assert wake is not None
    assert len(wake.age_s) > 20
    radius = np.linalg.norm(wake.places_w - np.array([0.0, 8.0]), axis=1)
    np.testing.assert_allclose(radius, np.hypot(8.0, HULL.bow_m), rtol=1e-9)
    np.testing.assert_allclose(wake.speed_mps, 2.4, rtol=1e-9)  # along the arc


def test_a_boat_first_seen_under_way_has_come_the_arc_that_it_goes():
    seen, followed_from_rest = over_deep_water(), followed(lambda t: on_circle(0.3 * t), until_s=6.0)
    seen.extend(config_named("boat"), 3, 6.0, on_circle(1.8), np.array([0.0, 0.0, 0.3, 2.4, 0.0, 0.0]))
    first, whole = (track.wake(6.0, on_circle(1.8), np.zeros(3)) for track in (seen, followed_from_rest))
    assert first is not None
    assert whole is not None
    radius = np.linalg.norm(first.places_w - np.array([0.0, 8.0]), axis=1)
    np.testing.assert_allclose(radius, np.hypot(8.0, HULL.bow_m), rtol=1e-9)
    np.testing.assert_allclose(first.places_w[-1], whole.places_w[-1])
    assert first.age_s.max() > 5.0


def test_a_boat_going_astern_parts_the_water_with_its_stern():
    track = followed(lambda t: pose(0.0, -2.0 * t, 0.0), until_s=5.0)
    wake = track.wake(5.0, pose(0.0, -10.0, 0.0), np.zeros(3))
    assert wake is not None
    np.testing.assert_allclose(wake.places_w[-1], [-10.0 + HULL.stern_m, 0.0], atol=1e-9)


def along_in_a_current(current_w, *, until_s: float = 8.0) -> tuple[Wake | None, Wake | None]:
    """Of one hull that goes 3 m/s ahead through still water, and of one that does in water that runs."""
    still, running = over_deep_water(), over_water_that_runs(*current_w)
    drift, ahead = np.array([*current_w, 0.0]), np.array([0.0, 0.0, 0.0, 3.0, 0.0, 0.0])
    over_ground = ahead.copy()
    over_ground[3:] += pose(0.4, 0.0, 0.0)[:3, :3].T @ drift
    for time_s in np.arange(0.0, until_s + 1e-9, 0.1):
        T_wb = pose(0.4, 3.0 * np.cos(0.4) * time_s, 3.0 * np.sin(0.4) * time_s)
        still.extend(config_named("boat"), 1, float(time_s), T_wb, ahead)
        T_wb[:3, 3] += time_s * drift
        running.extend(config_named("boat"), 1, float(time_s), T_wb, over_ground)
    end = pose(0.4, 3.0 * np.cos(0.4) * until_s, 3.0 * np.sin(0.4) * until_s)
    afloat = end.copy()
    afloat[:3, 3] += until_s * drift
    return still.wake(until_s, end, np.zeros(3)), running.wake(until_s, afloat, -until_s * drift)


@pytest.mark.parametrize("current_w", [(0.7, -1.1), (-3.0 * np.cos(0.4), -3.0 * np.sin(0.4))])
def test_a_current_takes_hull_and_wake_along(current_w):
    """Galilei: seen from the water nothing is other than in still water; by the second one the hull keeps its place."""
    still, running = along_in_a_current(current_w)
    assert still is not None
    assert running is not None
    assert still.age_s.max() > 13.0
    for name in ("places_w", "age_s", "speed_mps", "depth_m"):
        np.testing.assert_allclose(getattr(running, name), getattr(still, name), atol=1e-9, err_msg=name)


def test_a_hull_that_drifts_leaves_no_wake():
    track = over_water_that_runs(2.0, 0.0)
    for time_s in np.arange(0.0, 8.0, 0.1):
        drifting = np.array([0.0, 0.0, 0.0, 2.0, 0.0, 0.0])
        track.extend(config_named("boat"), 1, float(time_s), pose(0.0, 2.0 * time_s, 0.0), drifting)
    assert track.wake(8.0, pose(0.0, 16.0, 0.0), np.zeros(3)) is None


def test_a_scrub_back_takes_the_wake_back_and_a_jump_starts_it_anew():
    track = followed(lambda t: pose(0.0, 3.0 * t, 0.0), until_s=8.0)
    whole = track.wake(8.0, pose(0.0, 24.0, 0.0), np.zeros(3))
    track.extend(config_named("boat"), 1, 4.0, pose(0.0, 12.0, 0.0), AT_REST)
    part = track.wake(4.0, pose(0.0, 12.0, 0.0), np.zeros(3))
    assert whole is not None
    assert part is not None
    assert part.places_w[:-1, 0].max() <= 12.0 + HULL.bow_m < whole.places_w[:, 0].max()
    track.extend(config_named("boat"), 2, 4.1, pose(0.0, 90.0, 0.0), AT_REST)
    assert track.wake(4.1, pose(0.0, 90.0, 0.0), np.zeros(3)) is None


def test_a_wake_ends_with_its_time_and_goes_on_opening_behind_a_hull_that_stops():
    track = followed(lambda t: pose(0.0, 3.0 * min(t, 6.0), 0.0), until_s=9.0)
    before = wake_band(track.wake(9.0, pose(0.0, 18.0, 0.0), np.zeros(3)))[0]
    later = wake_band(track.wake(12.0, pose(0.0, 18.0, 0.0), np.zeros(3)))[0]
    assert (later[:-1, 0, 4] > before[:-1, 0, 4]).mean() > 0.8
    for time_s in np.arange(9.0, 9.0 + KEPT_S + 7.0, 0.5):
        track.extend(config_named("boat"), 1, float(time_s), pose(0.0, 18.0, 0.0), AT_REST)
    left = track.wake(32.0, pose(0.0, 18.0, 0.0), np.zeros(3))
    assert left is None or left.speed_mps.max() < 0.1


def test_only_hulls_leave_wakes():
    track = over_deep_water()
    for k in range(20):
        track.extend(config_named("helicopter"), 1, 0.1 * k, pose(0.0, 0.5 * k, 0.0), np.ones(6))
    assert track.wake(2.0, pose(0.0, 10.0, 0.0), np.zeros(3)) is None


def lowered(z_m: float) -> np.ndarray:
    T_wb = pose(0.3, 4.0, -7.0)
    T_wb[2, 3] = z_m
    return T_wb


def test_a_splash_is_noted_once_where_the_water_is_entered():
    splashes = Splashes(-1.0, Stream.still())
    for k in range(30):
        splashes.extend(config_named("helicopter"), 1, 0.1 * k, lowered(4.0 - 0.3 * k), 1.4)
    (splash,) = splashes.present(2.9)
    assert splash.place_w == (4.0, -7.0)
    assert splash.speed_mps == pytest.approx(3.0)
    # The skids, 1.4 m below, are at the level of -1 m at 1.2 s.
    assert splash.age_s == pytest.approx(2.9 - 1.2, abs=0.101)
    splashes.extend(config_named("helicopter"), 1, 0.8, lowered(1.6), 1.4)
    assert splashes.present(0.8) == ()


def test_rings_of_a_splash_drift_with_the_river_as_its_wakes_do():
    """At the speed that the water has where they began."""
    river = Stream(np.tile([0.7, -0.2], (3, 3, 1)), np.array([-50.0, -50.0, 50.0]))
    still, carried = Splashes(-1.0, Stream.still()), Splashes(-1.0, river)
    for k in range(30):
        for splashes in (still, carried):
            splashes.extend(config_named("helicopter"), 1, 0.1 * k, lowered(4.0 - 0.3 * k), 1.4)
    (before,), (after,) = still.present(5.0), carried.present(5.0)
    gone = np.subtract(after.place_w, before.place_w)
    assert gone == pytest.approx(after.age_s * np.array([0.7, -0.2]))
    assert after.age_s > 3.0


def test_what_floats_or_stays_dry_makes_no_splash():
    for vehicle, lowest_m in (("boat", -1.2), ("helicopter", 0.6)):
        splashes = Splashes(-1.0, Stream.still())
        for k in range(20):
            splashes.extend(config_named(vehicle), 1, 0.1 * k, lowered(max(4.0 - 0.5 * k, lowest_m)), 1.4)
        assert splashes.present(1.9) == ()


def hovering(height_m: float, **look) -> DrawnVehicle:
    T_wb = np.eye(4)
    T_wb[:3, 3] = 120.0, River_y(120.0), height_m
    return DrawnVehicle(
        "helicopter", T_wb, np.zeros(4), np.zeros(0), time_s=1.0, **look, config=config_named("helicopter")
    )


def River_y(x_m: float) -> float:
    return float(small_world().river.centre(x_m))


def test_the_wind_of_a_rotor_fades_with_its_height_and_blows_along_its_axis():
    strength = [downwash(hovering(height), 0.0) for height in (2.0, 5.0, 9.0, 40.0)]
    assert strength[-1] is None
    falling = [found[2] for found in strength[:-1]]
    assert falling == sorted(falling, reverse=True)
    assert falling[0] > 0.95
    leaning = hovering(6.0)
    leaning.T_wb[:3, :3] = [[np.cos(0.2), 0, np.sin(0.2)], [0, 1, 0], [-np.sin(0.2), 0, np.cos(0.2)]]
    (x, _), _, _ = downwash(leaning, 0.0)
    assert x < 120.0  # nose down: it blows backwards
    assert downwash(hovering(4.0, ghost=True), 0.0) is None
    assert downwash(hovering(4.0, wreck=True), 0.0) is None


@pytest.mark.parametrize("quality", ["high", "software"])
def test_the_water_shows_what_moves_on_it_and_nothing_else_changes(ctx, quality):
    size = (320, 200)
    renderer = Renderer(ctx, size, small_world(), quality=quality, scenery=small_scenery())
    canvas = Canvas(ctx, size)
    plain = small_frame(size)
    wake = Wake(
        np.stack([np.linspace(70.0, 110.0, 80), River_y(90.0) + np.zeros(80)], axis=1),
        np.linspace(10.0, 0.0, 80),
        np.full(80, 4.0),
        np.full(80, DEEP_M),
        LENGTH_M,
        0.85,
    )
    pictures = []
    for frame in (plain, Frame(plain.view, (), wakes=(wake,), wall_s=plain.wall_s), plain):
        renderer.draw(frame, canvas.framebuffer)
        pictures.append(canvas.image().astype(int))
    canvas.release()
    renderer.release()
    changed = np.abs(pictures[1] - pictures[0]).max(axis=2) > 12
    assert 60 < changed.sum() < 0.2 * changed.size
    assert np.array_equal(pictures[0], pictures[2])


def thrusting(left: float, right: float, depth_m: float = 0.0) -> DrawnVehicle:
    T_wb = np.eye(4)
    T_wb[:3, 3] = 3.0, -2.0, -depth_m
    return DrawnVehicle(
        "motorboat", T_wb, np.array([left, right]), np.zeros(0), time_s=1.0, config=config_named("motorboat")
    )


def test_screws_throw_water_against_their_push_and_only_in_the_water():
    ahead = washes(thrusting(900.0, 450.0), 0.0)
    assert [wash.strength for wash in ahead] == pytest.approx([1.0, 0.5], rel=1e-4)
    assert [wash.along_w for wash in ahead] == [(-1.0, 0.0), (-1.0, 0.0)]
    assert ahead[0].place_w[0] < 3.0 - 1.3
    assert ahead[0].place_w[1] - ahead[1].place_w[1] == pytest.approx(1.0)
    assert [wash.along_w for wash in washes(thrusting(-300.0, 0.0), 0.0)] == [(1.0, 0.0)]
    assert washes(thrusting(0.0, 0.0), 0.0) == ()
    assert washes(thrusting(900.0, 900.0, depth_m=5.0), 0.0) == ()


def test_the_stream_of_a_screw_lies_astern_and_dies_away(ctx):
    image, middle = marks_of(ctx, vehicles=(thrusting(900.0, 900.0),))
    x, _ = lattice(len(image), middle)
    air = image[..., 3]
    ahead, near, far = (
        float(air[(x > low) & (x < high)].mean()) for low, high in ((2.5, 4.5), (-0.5, 1.5), (-4.5, -2.5))
    )
    assert ahead < 0.02 * near
    assert near > 2.0 * far > 0.0
