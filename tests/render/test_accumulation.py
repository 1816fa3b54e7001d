"""Pictures of a moving window add up to more than each of them shows, and nothing stays where it was."""

from dataclasses import replace

import numpy as np
import pytest

from render.frame import DrawnVehicle, Frame, View, look_at, perspective
from render.passes.accumulation import halton, shifted
from render.passes.targets import Canvas
from render.renderer import Renderer
from sim.vehicle_config import config_named
from tests.render.small_world import small_frame, small_scenery, small_world

SIZE = (320, 200)
SAMPLES = 4


@pytest.fixture(scope="module")
def scenery():
    return small_scenery()


@pytest.fixture
def drawing(ctx, scenery):
    """Draws frames one after the other at an effort, as a window in motion; returns the last picture, 0..255."""

    def draw(frames: list[Frame], effort: float, *, adds_up: bool = True) -> np.ndarray:
        renderer = Renderer(ctx, SIZE, small_world(), quality="software", scenery=scenery)
        canvas = Canvas(ctx, SIZE)
        renderer.set_effort(effort)
        for frame in frames:
            renderer.draw(frame, canvas.framebuffer, adds_up=adds_up)
        image = canvas.image().astype(float)
        canvas.release()
        renderer.release()
        return image

    return draw


@pytest.fixture
def reference(ctx, scenery):
    """Of many samples a pixel."""

    def draw(frame: Frame) -> np.ndarray:
        size = SAMPLES * SIZE[0], SAMPLES * SIZE[1]
        renderer = Renderer(ctx, size, small_world(), quality="software", scenery=scenery)
        renderer.set_effort(2.0)
        canvas = Canvas(ctx, size)
        renderer.draw(frame, canvas.framebuffer)
        image = canvas.image().astype(float)
        canvas.release()
        renderer.release()
        return image.reshape(SIZE[1], SAMPLES, SIZE[0], SAMPLES, 3).mean(axis=(1, 3))

    return draw


def frame_at(aside_m: float, wall_s: float, *vehicles: DrawnVehicle) -> Frame:
    """Looks along the small canyon, from a little aside."""
    eye = np.array([2.0, aside_m, 34.0])
    view = look_at(eye, eye + np.array([60.0, -3.0, -9.0]))
    projection = perspective(np.radians(55.0), SIZE[0] / SIZE[1], 0.2, 20_000.0)
    return replace(small_frame(SIZE), view=View(eye, view, projection), vehicles=vehicles, wall_s=wall_s)


def hovering(x_m: float, y_m: float) -> DrawnVehicle:
    T_wb = np.eye(4)
    T_wb[:3, 3] = x_m, y_m, 31.0
    return DrawnVehicle(
        "helicopter", T_wb, np.zeros(4), np.zeros(0), time_s=0.2, config=config_named("helicopter")
    )


def off(image: np.ndarray, wanted: np.ndarray) -> float:
    """Root mean square, in steps of 8 bits; a frame of some pixels is left out, about which less is known."""
    inner = (slice(6, -6), slice(6, -6))
    return float(np.sqrt(np.mean((image[inner] - wanted[inner]) ** 2)))


@pytest.mark.parametrize("pace_m", [0.0, 0.013])
def test_pictures_add_up_to_more_than_one_shows(drawing, reference, pace_m):
    frames = [frame_at(pace_m * k, 0.01 * k) for k in range(24)]
    wanted = reference(frames[-1])
    one, several = drawing(frames[-1:], 0.5, adds_up=False), drawing(frames, 0.5)
    assert off(several, wanted) < 0.75 * off(one, wanted)  # 0.57 and 0.61


@pytest.mark.parametrize(
    ("effort", "pace_m", "count", "edge", "most"),
    [
        (0.6, 0.03, 14, slice(0, 2), 60.0),  # 38; 105 where looks between pixels swing below nothing
        (0.75, -0.03, 9, slice(-2, None), 16.0),  # 8; 24
    ],
)
def test_nothing_flares_up_at_the_edges_of_the_picture(drawing, reference, effort, pace_m, count, edge, most):
    """What comes in at a side has no past, beside what has much of it."""
    frames = [frame_at(pace_m * k, 0.01 * k) for k in range(count)]
    error = np.abs(drawing(frames, effort) - reference(frames[-1])).max(axis=2)
    assert error[:, edge].max() < most


def test_a_vehicle_that_is_gone_leaves_no_ghost(drawing):
    near = hovering(20.0, -0.4)
    empty = [frame_at(0.0, 0.01 * k) for k in range(12)]
    after = [frame_at(0.0, 0.01 * k, *([near] if k < 10 else [])) for k in range(12)]
    never, gone, there = drawing(empty, 0.7), drawing(after, 0.7), drawing(after[:10], 0.7)
    place = np.abs(there - never).max(axis=2) > 24.0
    assert place.sum() > 300
    left, shown = (gone - never)[place], (there - never)[place]
    assert (
        abs((left * shown).sum() / (shown * shown).sum()) < 0.08
    )  # 0.05; 0.16 where the past is not clamped


def test_a_vehicle_that_the_camera_goes_with_is_as_sharp_as_one_at_rest(drawing, reference):
    """A picture of the ground before it would be of no use: its own place before is looked up."""
    riding = [frame_at(0.4 * k, 0.01 * k, hovering(20.0, 0.4 * k - 0.4)) for k in range(24)]
    resting = [frame_at(0.4 * 23, 0.01 * k, hovering(20.0, 0.4 * 23 - 0.4)) for k in range(24)]
    wanted = reference(riding[-1])
    place = np.abs(wanted - reference(replace(riding[-1], vehicles=()))).max(axis=2) > 24.0
    assert place.sum() > 300
    errors = [np.abs(drawing(frames, 0.5) - wanted)[place].mean() for frames in (resting, riding)]
    assert errors[1] < 1.45 * errors[0]  # 1.11; 1.77 where the ground behind it is looked up


@pytest.mark.parametrize("effort", [0.5, 0.8])
@pytest.mark.parametrize("pace_m", [0.0, 0.05])
def test_before_a_camera_that_stands_only_a_vehicle_is_looked_for_elsewhere(
    drawing, monkeypatch, effort, pace_m
):
    """What stands is where it was: the same picture as when every place is looked for."""
    frames = [frame_at(0.0, 0.01 * k, hovering(20.0, pace_m * k - 0.4)) for k in range(10)]
    near = drawing(frames, effort)
    monkeypatch.setattr("render.passes.accumulation._same", lambda way_back: False)
    np.testing.assert_allclose(near, drawing(frames, effort), atol=3.0)  # 2; 96 and 113 without the vehicle


def test_a_camera_put_elsewhere_begins_anew(drawing):
    here, there = frame_at(0.0, 0.0), frame_at(-14.0, 0.1)
    shown = drawing([here, here, there], 1.0)
    alone = drawing([there], 1.0)
    # Both are one sample a pixel, of other parts of it.
    assert off(shown, alone) < 9.0  # 5.1


def test_shifts_fill_a_pixel_evenly_and_move_the_picture_by_as_much():
    places = np.array([[halton(k, 2), halton(k, 3)] for k in range(1, 17)])
    np.testing.assert_allclose(places.mean(axis=0), 0.5, atol=0.06)
    apart = np.linalg.norm(places[:, None] - places[None], axis=2) + np.eye(16)
    assert apart.min() > 0.1
    view, point = frame_at(0.3, 0.0).view, np.array([40.0, -7.0, 31.0, 1.0])
    clips = [each.projection @ each.view @ point for each in (view, shifted(view, (0.3, -0.2), (90, 70)))]
    moved_px = [(c[:2] / c[3]) * [45.0, 35.0] for c in clips]
    np.testing.assert_allclose(moved_px[1] - moved_px[0], [0.3, -0.2], atol=1e-9)


def test_what_moves_fast_is_drawn_as_one_picture_until_it_is_slow_again(drawing):
    fast = [
        frame_at(0.8 * k, 0.05) for k in range(6)
    ]  # at one moment: clouds drift, some rows of the sky a picture
    np.testing.assert_array_equal(drawing(fast, 0.5), drawing(fast[-1:], 0.5, adds_up=False))
    slow = [frame_at(4.0 + 0.013 * k, 0.06 + 0.01 * k) for k in range(6)]
    one = drawing(slow[-1:], 0.5, adds_up=False)
    assert off(drawing([*fast, *slow], 0.5), one) > 1.0  # 6.4
