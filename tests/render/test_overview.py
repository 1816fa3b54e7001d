"""Laws of the overview: all of a plan is in the picture, from where it is seen, and then the user has it."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from render.cameras.clearance import CameraSubject, NoInput
from render.cameras.overview import Overview
from render.cameras.rig import CameraRig
from render.frame import View
from render.plan.view import PlanScene
from render.vehicles.scene_view import SceneView
from render.vehicles.shown import ends_w
from sim.planner.api import task_of_scene
from sim.planner.service.session import PlanView
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.vehicle_config import config_named
from sim.world import load_world

AT_START = np.eye(4)
REST = np.zeros(6)
ASPECT = 1.5
ASIDE = np.array([0.0, 30.0, 0.0])


COVERED = np.array(
    [
        [[-0.97, -0.39], [0.34, 0.83]],
        [[-0.97, -0.35], [-0.95, -0.52]],
        [[0.64, 0.97], [-0.95, -0.47]],
        [[-0.38, 0.38], [0.86, 0.97]],
    ]
)
"""A card at the upper left, instruments at the lower left, a map at the lower right, a tape at the upper edge."""
IN_A_SMALL_WINDOW = np.array(
    [
        [[-0.96, -0.15], [0.12, 0.78]],
        [[-0.96, -0.23], [-0.95, -0.47]],
        [[0.58, 0.96], [-0.95, -0.42]],
        [[-0.44, 0.44], [0.82, 0.96]],
    ]
)
"""The same, in one of 1024 by 640 pixels."""


class Wall:
    """Flat ground with a ridge along x, 400 m high, to the right of who goes along +x."""

    def height(self, x_m, y_m):
        return np.where((np.asarray(y_m) < -15.0) & (np.asarray(y_m) > -60.0), 400.0, 0.0) + 0.0 * np.asarray(
            x_m
        )


class Cleft:
    """Ground 100 m high but for a cleft along the way, so narrow that little in it is seen from aside."""

    def height(self, x_m, y_m):
        x, y = np.asarray(x_m), np.asarray(y_m)
        return np.where((np.abs(y - 12.0 * np.sin(x / 24.0)) < 8.0) & (x > -8.0) & (x < 128.0), 0.0, 100.0)


@dataclass
class Country:
    terrain: Wall | Cleft
    water_level_m: float | None = None
    room: None = None


def way(count: int = 30) -> np.ndarray:
    """(count, 3) a bent climb of 120 m."""
    s = np.linspace(0.0, 1.0, count)
    return np.column_stack([120.0 * s, 12.0 * np.sin(5.0 * s), 5.0 + 20.0 * s])


def view_of(places: np.ndarray, rig: CameraRig | None = None, **options) -> View:
    rig = rig or CameraRig("overview")
    rig.watch(places)
    return rig.update(AT_START, REST, 1 / 60, aspect=ASPECT, **options)


def on_screen(view: View, places: np.ndarray) -> np.ndarray:
    """(n, 2) in -1..1 where it is in the picture; in front of the eye."""
    clip = np.c_[places, np.ones(len(places))] @ (view.projection @ view.view).T
    assert (clip[:, 3] > 0.0).all()
    return clip[:, :2] / clip[:, 3:]


def under(seen: np.ndarray, covered: np.ndarray) -> np.ndarray:
    """(n,) whether places (n, 2) of the picture lie under what covers it."""
    inside = (seen[:, None] > covered[None, ..., 0]) & (seen[:, None] < covered[None, ..., 1])
    return inside.all(axis=-1).any(axis=1)


@pytest.mark.parametrize("seed", range(6))
def test_every_place_is_in_the_picture_and_the_picture_is_filled(seed: int) -> None:
    rng = np.random.default_rng(seed)
    places = np.cumsum(rng.normal(size=(40, 3)) * [6.0, 4.0, 2.0], axis=0) + np.array([0.0, 0.0, 60.0])
    seen = on_screen(view_of(places), places)
    assert np.abs(seen).max() < 0.95
    assert np.ptp(seen, axis=0).max() > 1.0


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("covered", [COVERED, IN_A_SMALL_WINDOW], ids=["usual", "small"])
def test_nothing_of_a_plan_lies_under_what_covers_the_picture(seed: int, covered: np.ndarray) -> None:
    rng = np.random.default_rng(seed)
    places = np.cumsum(rng.normal(size=(40, 3)) * [6.0, 4.0, 2.0], axis=0) + np.array([0.0, 0.0, 60.0])
    rig = CameraRig("overview")
    rig.watch(places, covered)
    seen = on_screen(rig.update(AT_START, REST, 1 / 60, aspect=ASPECT), places)
    assert np.abs(seen).max() < 0.95
    assert not under(seen, covered).any()
    assert np.ptp(seen, axis=0).max() > (0.8 if covered is COVERED else 0.6)


def test_a_picture_that_is_covered_all_over_is_used_as_it_is() -> None:
    covered = np.array([[[-0.9, 0.9], [-0.9, 0.9]]])
    rig = CameraRig("overview")
    rig.watch(way(), covered)
    seen = on_screen(rig.update(AT_START, REST, 1 / 60, aspect=ASPECT), way())
    assert np.allclose(seen, on_screen(view_of(way()), way()))


def test_a_descent_over_open_water_is_seen_before_the_horizon_and_what_lies_on_it_from_above() -> None:
    class Bed:
        def height(self, x_m, y_m):
            return -20.0 + 0.0 * np.asarray(x_m) + 0.0 * np.asarray(y_m)

    def down_deg(places: np.ndarray, level_m: float | None) -> float:
        view = view_of(places, world=Country(Bed(), level_m))
        assert np.abs(on_screen(view, places)).max() < 0.95
        return float(np.degrees(np.arcsin(view.view[2, 2])))

    steep, flat = way() * [1.0, 1.0, 2.0], way() * [1.0, 1.0, 0.1]
    assert down_deg(steep, 0.0) == pytest.approx(14.0, abs=0.5)
    for places, level_m in ((steep, None), (steep, -30.0), (flat, 0.0)):
        assert down_deg(places, level_m) > 29.0


def test_the_way_runs_from_left_to_right() -> None:
    seen = on_screen(view_of(way()), way())
    assert seen[-1, 0] - seen[0, 0] > 1.0


def test_it_is_seen_from_the_side_that_nothing_hides() -> None:
    # Usually the eye would stand to the right of the way, where the ridge is.
    assert view_of(way()).eye_w[1] < -50.0
    places, eye = way(), view_of(way(), world=Country(Wall())).eye_w
    for place in places:
        ray = place + np.linspace(0.0, 1.0, 500)[:, None] * (eye - place)
        assert (ray[:, 2] > Wall().height(ray[:, 0], ray[:, 1])).all()


def test_where_little_is_seen_from_anywhere_the_eye_at_least_stays_above_the_ground() -> None:
    subject = CameraSubject(AT_START, np.zeros(3), config_named("helicopter").camera)

    def eye_in(country: Country | None) -> np.ndarray:
        overview = Overview()
        overview.watch(way())
        return overview.shot(subject, NoInput(), 1 / 60, country, ASPECT).eye_w

    assert eye_in(None)[2] < 100.0
    eye = eye_in(Country(Cleft()))
    assert eye[2] > Cleft().height(eye[0], eye[1])


def test_it_is_framed_anew_when_a_plan_comes_or_it_is_asked_for_and_not_while_one_is_dragged() -> None:
    rig = CameraRig("overview")
    before = view_of(way(2), rig)
    dragged = way(2) + ASIDE
    assert np.allclose(view_of(dragged, rig).view, before.view)
    for _ in range(240):
        after = view_of(dragged + 1.0, rig)
    assert np.allclose(after.view, before.view)
    for _ in range(240):
        after = view_of(way(31) + ASIDE, rig)
    assert np.abs(on_screen(after, way(31) + ASIDE)).max() < 0.95
    far = way(31) + 10.0 * ASIDE
    rig.frame_places()
    for _ in range(240):
        after = view_of(far, rig)
    assert np.abs(on_screen(after, far)).max() < 0.95


def test_who_has_turned_it_keeps_it() -> None:
    rig = CameraRig("overview")
    view_of(way(2), rig)
    view_of(way(2), rig, motion=replace(NoInput(), drag_px=(80.0, 0.0)))
    for _ in range(240):
        turned = view_of(way(2), rig)
    assert np.allclose(view_of(way(31), rig).eye_w, turned.eye_w, atol=0.05)


def test_a_turn_on_the_spot_is_looked_at_from_near() -> None:
    places = np.tile([0.0, 0.0, 5.0], (30, 1))
    assert (
        2.0
        < np.linalg.norm(view_of(places, framing=config_named("rigid-body").camera).eye_w - places[0])
        < 15.0
    )


@pytest.mark.parametrize("covered", [COVERED[:0], COVERED], ids=["free", "covered"])
def test_who_overlooks_a_way_through_a_hall_stays_inside(covered: np.ndarray) -> None:
    hall = load_world("hall")
    assert hall.room is not None
    way_w = np.column_stack([np.linspace(-10.0, 10.0, 15), 6.0 * np.sin(np.arange(15.0)), np.full(15, 1.5)])
    rig = CameraRig("overview")
    rig.watch(way_w, covered)
    view = rig.update(AT_START, REST, 1 / 60, aspect=ASPECT, world=hall)
    assert (np.abs(view.eye_w[:2]) < hall.room.half_m).all()
    assert 0.0 < view.eye_w[2] < hall.room.height_m
    assert np.abs(on_screen(view, way_w)).max() < 1.0


@pytest.mark.parametrize("name", ["bowling", "dominoes"])
def test_who_overlooks_bodies_sees_what_is_flown_and_where_they_stand(name: str) -> None:
    scene = load_scene(name)
    world = load_world(scene.world, seed=scene.seed)
    simulation = Simulation(scene, world)
    simulation.advance(0.0)
    drawn = SceneView(world, swell=scene.swell)
    subject = drawn.observe(simulation.snapshot, 0.0)
    bodies = np.array([one.prop.shape.middle_w for one in scene.environment.placed if one.prop.mass_kg])
    rig = CameraRig("overview")
    rig.watch(drawn.props_corners_w, COVERED)
    view = rig.update(subject.T_wb, REST, 1 / 60, aspect=ASPECT, framing=subject.config.camera)
    seen = on_screen(view, np.vstack([bodies, subject.T_wb[:3, 3]]))
    assert np.abs(seen).max() < 0.95
    assert not under(seen[-1:], COVERED).any()


@pytest.mark.parametrize("name", ["plan-push", "plan-arm", "plan-delta", "plan-linkage", "plan-corner"])
@pytest.mark.parametrize("covered", [None, IN_A_SMALL_WINDOW], ids=["whole", "small window"])
def test_all_of_a_robot_is_in_the_picture_of_its_plan_and_fills_it(
    name: str, covered: np.ndarray | None
) -> None:
    """Both ends of all links at the task's start and goal: not the tool's way alone, of which arms were cut off."""
    scene = load_scene(name)
    world = load_world(scene.world, seed=scene.seed)
    vehicle, task = task_of_scene(scene, world=world)
    simulation = Simulation(scene, world)
    flown = simulation.snapshot.lanes[0]
    view = PlanView(vehicle, task, tuple(flown.pivot_w))
    marks, rig = PlanScene(world), CameraRig("overview")
    rig.watch(marks.reach(view), covered, marks.room_m(view))
    subject = SceneView(world).observe(simulation.snapshot, np.inf)
    seen = on_screen(
        rig.update(
            subject.T_wb,
            subject.twist_b,
            1 / 60,
            framing=subject.config.camera,
            reach_m=subject.reach_m,
            held=subject.held,
            world=world,
            aspect=ASPECT,
        ),
        ends_w(flown.links, flown.bodies),
    )
    assert np.abs(seen).max() < 1.0
    if covered is None:
        assert np.ptp(seen, axis=0).max() > 0.5
