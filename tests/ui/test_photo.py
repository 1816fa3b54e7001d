"""Photo mode: a held key begins it, the lens keeps one distance sharp, and its bar takes the picture."""

from dataclasses import replace

import numpy as np
import pytest

from export.pictures import MeanPicture, averaged
from render.frame import View
from sim.controllers.controller import PilotInput
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.photo import LENS_POINTS, Developing, TakePhoto, draw_photo, lens_points
from ui.input.desk import CameraMotion, InputSample
from ui.settings.view_settings import ViewSettings
from ui.shell import keys
from ui.shell.keys import Keyed
from ui.window.context import Escape, ShellState, ShowPhoto, TakeScreenshot, applied


@pytest.mark.parametrize("seed", range(5))
def test_only_what_stands_in_the_focus_stays_where_it_is(seed: int) -> None:
    rng = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    eye_w = rng.normal(size=3) * 10.0
    view_matrix = np.eye(4)
    view_matrix[:3, :3], view_matrix[:3, 3] = turn, -turn @ eye_w
    projection = np.diag([1.2, 2.0, -1.0, 0.0])
    projection[2, 3], projection[3, 2] = -0.2, -1.0
    view, focus_m = View(eye_w, view_matrix, projection), rng.uniform(2.0, 30.0)

    def seen(camera: View, x: float, y: float, depth_m: float) -> np.ndarray:
        place_w = turn.T @ (np.array([x, y, -depth_m])) + eye_w
        clip = camera.projection @ camera.view @ (*place_w, 1.0)
        return clip[:2] / clip[3]

    for point in lens_points(LENS_POINTS):
        moved = view.through_lens(0.3 * point, focus_m)
        assert np.linalg.norm(moved.eye_w - eye_w) == pytest.approx(0.3 * np.linalg.norm(point))
        assert (moved.view @ (*moved.eye_w, 1.0))[:3] == pytest.approx(np.zeros(3), abs=1e-12)
        x, y = rng.normal(size=2)
        assert seen(moved, x, y, focus_m) == pytest.approx(seen(view, x, y, focus_m), abs=1e-12)
        apart = seen(moved, x, y, 2.0 * focus_m) - seen(view, x, y, 2.0 * focus_m)
        blur = np.diag(projection)[:2] * 0.3 * point / (2.0 * focus_m)  # circle of confusion behind the focus
        assert apart == pytest.approx(blur, rel=1e-9, abs=1e-12)


def test_the_mean_of_pictures_one_by_one_is_that_of_all() -> None:
    pictures = list(np.random.default_rng(3).integers(0, 256, (5, 300, 40, 3), dtype=np.uint8))
    mean = MeanPicture((300, 40))
    for picture in pictures:
        mean.add(picture)
    assert (
        np.abs(mean.picture().astype(int) - averaged(pictures)).max() <= 1
    )  # single against double precision


def test_a_key_let_go_saves_a_picture_and_a_held_one_begins_the_photo_mode(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = [0.0]
    monkeypatch.setattr(keys, "perf_counter", lambda: clock[0])
    keyed, now, view = Keyed(), fakes.snapshot(), ViewSettings()
    up = InputSample(PilotInput(), (), CameraMotion())
    down = replace(up, held=frozenset({"screenshot"}))
    press = replace(down, pressed=("screenshot",))
    told = [keyed.requests(press, now, view)]
    clock[0] = 0.2
    told += [keyed.requests(down, now, view), keyed.requests(up, now, view)]
    assert told == [[], [], [TakeScreenshot()]]
    told = [keyed.requests(press, now, view)]
    clock[0] = 0.9
    told += [keyed.requests(down, now, view), keyed.requests(down, now, view), keyed.requests(up, now, view)]
    assert told == [[], [ShowPhoto(on=True)], [], []]
    # A button of a controller is never held.
    assert keyed.requests(replace(up, pressed=("screenshot",)), now, view) == [TakeScreenshot()]


def test_the_bar_takes_a_photo_and_escape_leaves(bench: Bench) -> None:
    def draw(_, context):
        return draw_photo(context)

    now = fakes.snapshot()
    bench.click("photo/size/2", draw, now)
    (taken,) = bench.click("photo/take", draw, now)
    assert (taken.times, type(taken)) == (2, TakePhoto)
    assert taken.blur > 0.0
    bench.context.show(Developing(3, 24))
    bench.frame(draw, now)
    assert "photo/progress" in bench.context.rects
    assert "photo/take" not in bench.context.rects
    bench.context.show(Developing(24, 24, told="canyon.png"))
    assert bench.click("photo/close", draw, now) == [ShowPhoto(on=False)]
    state = applied(ShellState(ViewSettings(), fullscreen=True), ShowPhoto(on=True))
    assert state.photo
    left = applied(state, Escape())
    assert (left.photo, left.fullscreen) == (False, True)
