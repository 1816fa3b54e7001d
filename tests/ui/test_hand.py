"""What is under the mouse is taken, pulled along the picture, and let go."""

from dataclasses import replace

import numpy as np
import pytest

from render.frame import look_at, perspective
from sim.commands import LetGo, Pull
from sim.scene import LaneSpec, Scene, load_scene
from sim.vehicles import known_vehicle
from tests.sim.simulation_scenes import simulation
from ui.features.plan.pointing import BodyPulling, Ray, gripped
from ui.window.context import SceneCamera

LONG = {"helicopter-with-load": {"cable_length": 12.0}}
"""Parameters by vehicle."""


def chain(*lanes: LaneSpec):
    scene = Scene(
        name="chain", title="chain", world="plain",
        vehicle=known_vehicle("chain", links=10.0), integrator="riqn", step_s=0.005,
        flight_mode="raw", lanes=lanes,
    )  # fmt: skip
    return simulation(scene).snapshot


def camera(snapshot):
    eye = snapshot.lanes[0].T_wb[:3, 3] + [1.0, -9.0, 1.0]
    return look_at(eye, snapshot.lanes[0].T_wb[:3, 3]), perspective(0.8, 1.6, 0.1, 100.0)


def seen_at(point_w, view, projection):
    x, y, _, w = projection @ view @ (*point_w, 1.0)
    return x / w, y / w


def through(view, projection):
    """Rays of a camera by places in its picture."""
    return lambda x, y: Ray.through(x, y, view, projection)


def test_a_ray_leads_through_what_is_seen_there():
    view, projection = camera(chain())
    point = np.array([0.7, 0.3, 2.0])
    ray = Ray.through(*seen_at(point, view, projection), view, projection)
    way = point - ray.origin_w
    np.testing.assert_allclose(np.cross(way, ray.direction_w), 0.0, atol=1e-9)
    np.testing.assert_allclose(ray.at_depth(float(way @ ray.forward_w)), point, atol=1e-9)


@pytest.mark.parametrize("shift", [0.0, 3.0])
def test_the_link_under_the_mouse_is_taken_where_it_is(shift):
    snapshot = chain()
    view, projection = camera(snapshot)
    lane, shifts = snapshot.lanes[0], {"flown": np.array([0.0, shift, 0.0])}
    T_wb = lane.bodies["link 7"]
    point = (T_wb @ [0.0, 0.0, -0.1, 1.0])[:3] + shifts["flown"]
    grip = gripped(Ray.through(*seen_at(point, view, projection), view, projection), snapshot, shifts)
    assert grip is not None
    assert (grip.lane, grip.body) == ("flown", "link 7")
    np.testing.assert_allclose(grip.at_b, [0.0, 0.0, -0.1], atol=0.02)


def test_what_moves_on_is_taken_where_the_picture_has_it():
    """A snapshot may be some metres further than the picture that is clicked."""
    now = chain()
    view, projection = camera(now)
    lane = now.lanes[0]
    moved = np.eye(4)
    moved[:3, 3] = (4.0, 2.0, 1.0)
    later = replace(lane, bodies={name: moved @ T_wb for name, T_wb in lane.bodies.items()})
    drawn = SceneCamera(view, projection, bodies_w={lane.name: lane.bodies})
    point = (lane.bodies["link 7"] @ [0.0, 0.0, -0.1, 1.0])[:3]
    ray = Ray.through(*seen_at(point, view, projection), view, projection)
    after = replace(now, lanes=(later,))
    grip = gripped(ray, drawn.as_drawn(after), {})
    assert grip is not None
    assert grip.body == "link 7"
    assert gripped(ray, after, {}) is None
    other = replace(later, name="another", bodies={"hull": moved})
    assert drawn.as_drawn(replace(now, lanes=(other,))).lanes[0].bodies["hull"] is moved


def test_the_hand_pulls_while_it_is_closed_and_lets_go_once():
    snapshot = chain()
    view, projection = camera(snapshot)
    hand, point = BodyPulling(), (snapshot.lanes[0].bodies["link 10"] @ [0.0, 0.0, -0.1, 1.0])[:3]
    x, y = seen_at(point, view, projection)
    (first,) = hand.requests((x, y), through(view, projection), snapshot, {})
    assert isinstance(first, Pull)
    np.testing.assert_allclose(first.to_w, point, atol=0.05)
    assert hand.requests((x, y), through(view, projection), snapshot, {}) == []
    (second,) = hand.requests((x, y + 0.2), through(view, projection), snapshot, {})
    assert isinstance(second, Pull)
    assert (second.body, second.at_b) == (first.body, first.at_b)
    assert second.to_w[2] > first.to_w[2] + 0.3
    assert hand.requests(None, through(view, projection), snapshot, {}) == [LetGo()]
    assert hand.requests(None, through(view, projection), snapshot, {}) == []


def test_a_hand_at_rest_stays_in_the_world_while_the_camera_goes_on():
    snapshot = chain()
    view, projection = camera(snapshot)
    hand, point = BodyPulling(), (snapshot.lanes[0].bodies["link 10"] @ [0.0, 0.0, -0.1, 1.0])[:3]
    x, y = seen_at(point, view, projection)
    (first,) = hand.requests((x, y), through(view, projection), snapshot, {})
    eye = np.linalg.inv(view)[:3, 3]
    view = look_at(eye + np.array([0.5, -1.0, 3.0]), point + np.array([0.3, 0.0, 2.5]))
    assert hand.requests((x, y), through(view, projection), snapshot, {}) == []
    (second,) = hand.requests((x + 0.1, y), through(view, projection), snapshot, {})
    way = np.subtract(second.to_w, first.to_w)
    right, up, back = view[:3, :3]
    np.testing.assert_allclose([up @ way, back @ way], 0.0, atol=1e-9)
    width = 9.0 * np.tan(0.4) * 1.6  # half of the picture's, where it was taken
    assert 0.09 * width < right @ way < 0.12 * width


@pytest.mark.parametrize("vehicle", ["car", "car-with-trailers", "bicycle", "boat"])
def test_what_moves_in_a_plane_is_pulled_ahead_by_a_hand_that_goes_up_the_picture(vehicle):
    """Seen from behind, as the chase camera does: across the picture its wheels hold it."""
    scene = Scene(name="s", title="s", world="plain", vehicle=known_vehicle(vehicle), integrator="variational-exact"
                  if vehicle == "boat" else "variational", step_s=0.005, flight_mode="raw")  # fmt: skip
    running = simulation(scene)
    snapshot = running.snapshot
    T_wb = snapshot.lanes[0].T_wb
    eye = T_wb[:3, 3] - 7.0 * T_wb[:3, 0] + [0.0, 0.0, 2.5]
    view, projection = look_at(eye, T_wb[:3, 3]), perspective(0.8, 1.6, 0.1, 100.0)
    x, y = seen_at(T_wb[:3, 3] + [0.0, 0.0, 0.4], view, projection)
    hand = BodyPulling()
    (taken,) = hand.requests((x, y), through(view, projection), snapshot, {})
    for up in (0.2, 5.0):
        (pull,) = hand.requests((x, y + up), through(view, projection), snapshot, {})
        way = np.subtract(pull.to_w, taken.to_w)
        assert 1.0 < T_wb[:3, 0] @ way < 30.0
        assert abs(way[2]) < 0.3
        running.submit(pull)
        before = snapshot.lanes[0].T_wb[:3, 3]
        snapshot = running.advance(1.0)
        assert T_wb[:3, 0] @ (snapshot.lanes[0].T_wb[:3, 3] - before) > 0.5


def test_a_hand_at_rest_ahead_of_a_car_is_come_up_with():
    """Though the camera follows from behind: it is a place on the ground, not a tow rope."""
    scene = Scene(name="s", title="s", world="plain", vehicle=known_vehicle("car"), integrator="variational",
                  step_s=0.005, flight_mode="raw")  # fmt: skip
    running = simulation(scene)
    snapshot, projection, hand, px = running.snapshot, perspective(0.8, 1.6, 0.1, 100.0), BodyPulling(), None
    places = []
    for frame in range(400):
        T_wb = snapshot.lanes[0].T_wb
        view = look_at(T_wb[:3, 3] - 7.0 * T_wb[:3, 0] + [0.0, 0.0, 2.5], T_wb[:3, 3])
        px = px or seen_at(T_wb[:3, 3] + [0.0, 0.0, 0.4], view, projection)
        at = px if frame < 10 else (px[0], px[1] + 0.15)
        for request in hand.requests(at, through(view, projection), snapshot, {}):
            places.append(request.to_w)
            running.submit(request)
        snapshot = running.advance(0.02)
    assert len(places) == 2
    lane, way = snapshot.lanes[0], np.subtract(places[1], places[0])
    assert abs(np.linalg.norm(lane.T_wb[:2, 3]) - np.linalg.norm(way)) < 0.1
    assert abs(lane.twist_b[3]) < 0.05


def test_an_empty_hand_takes_nothing_on_its_way():
    snapshot = chain()
    view, projection = camera(snapshot)
    hand = BodyPulling()
    assert hand.requests((-0.9, 0.9), through(view, projection), snapshot, {}) == []
    point = snapshot.lanes[0].bodies["link 5"][:3, 3]
    assert hand.requests(seen_at(point, view, projection), through(view, projection), snapshot, {}) == []
    assert hand.requests(None, through(view, projection), snapshot, {}) == []


def test_a_shape_that_is_drawn_by_a_model_is_taken_as_well():
    snapshot = simulation(load_scene("robot")).snapshot
    view, projection = camera(snapshot)
    point = (snapshot.lanes[0].bodies["gripper"] @ [0.1, 0.06, 0.0, 1.0])[:3]
    grip = gripped(Ray.through(*seen_at(point, view, projection), view, projection), snapshot, {})
    assert grip is not None
    assert grip.body == "gripper"


@pytest.mark.parametrize(
    ("vehicle", "body"),
    [
        ("quadrotors-with-load", "quadrotor_2"),
        ("quadrotors-with-load", "load"),
        ("helicopter-with-load", "body"),
        ("helicopter-with-load", "cable_1"),
        ("pendulum", "bob"),
    ],
)
def test_what_has_a_model_is_taken_beside_what_is_drawn_of_links(vehicle, body):
    scene = Scene(name="s", title="s", world="plain", vehicle=known_vehicle(vehicle, **LONG.get(vehicle, {})),
                  integrator="rkmk4", step_s=0.005, flight_mode="raw")  # fmt: skip
    snapshot = simulation(scene).snapshot
    view, projection = camera(snapshot)
    T_wb = snapshot.lanes[0].bodies[body]
    point = (T_wb @ [0.02, 0.01, 0.03 if body != "cable_1" else 0.9, 1.0])[:3]
    grip = gripped(Ray.through(*seen_at(point, view, projection), view, projection), snapshot, {})
    assert grip is not None
    assert grip.body == body


def test_the_mark_at_which_a_load_is_wanted_is_not_taken_for_a_body():
    scene = Scene(name="s", title="s", world="plain", vehicle=known_vehicle("quadrotors-with-load"), integrator="rkmk4",
                  step_s=0.005, flight_mode="raw")  # fmt: skip
    snapshot = simulation(scene).snapshot
    view, projection = camera(snapshot)
    point = (snapshot.lanes[0].bodies["target"] @ [0.2, 0.0, 0.0, 1.0])[:3]
    grip = gripped(Ray.through(*seen_at(point, view, projection), view, projection), snapshot, {})
    assert grip is not None
    assert grip.body in ("load", "quadrotor_1", "quadrotor_2")
