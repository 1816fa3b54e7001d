"""Laws of spray as a surface: it lies where its drops are, what stands before them hides it, and it is made once."""

from dataclasses import replace

import moderngl
import numpy as np
import pytest

from render.frame import Frame
from render.passes.targets import Canvas
from render.renderer import Renderer
from render.water.tank import covered_px
from sim.water.picture import BoxPicture, Spray
from tests.render.small_world import small_frame, small_scenery, small_world

SIZE = (160, 100)


def sheet(frame: Frame, away_m: float) -> np.ndarray:
    """(n, 3) drops that fill a piece of the picture's middle, so far from the eye."""
    world_from_clip = np.linalg.inv(frame.view.projection @ frame.view.view)
    x, y = np.meshgrid(np.linspace(-0.5, 0.5, 60), np.linspace(-0.5, 0.5, 60))
    far = np.stack([x, y, np.full_like(x, 0.9), np.ones_like(x)], axis=-1).reshape(-1, 4) @ world_from_clip.T
    ways = far[:, :3] / far[:, 3:] - frame.view.eye_w
    return (frame.view.eye_w + away_m * ways / np.linalg.norm(ways, axis=1)[:, None]).astype(np.float32)


def box(drops: np.ndarray, *, small: bool = False) -> BoxPicture:
    flat = np.zeros((4, 4), np.float32)
    thrown = Spray(drops, np.zeros_like(drops)) if small else Spray.none()
    flying = drops[:0] if small else drops
    return BoxPicture(
        (0.0, 0.0, 0.0), 0.2, (0.8, 0.8, 0.8), flat, flat, None, flying, 0.0, in_sea=True, spray=thrown
    )


@pytest.mark.parametrize(
    ("quality", "small", "away_m"), [("software", False, 4.0), ("high", False, 4.0), ("software", True, 1.0)]
)
def test_spray_lies_where_its_drops_are_and_is_hidden_by_what_stands_before_them(
    ctx: moderngl.Context, quality: str, small: bool, away_m: float
) -> None:
    frame = small_frame(SIZE)
    renderer = Renderer(ctx, SIZE, small_world(), quality=quality, scenery=small_scenery())
    canvas = Canvas(ctx, SIZE)
    images = []
    clip = frame.view.projection @ frame.view.view
    near, far = sheet(frame, away_m), sheet(frame, 4000.0)
    for drops in (near[:0], near, far):
        renderer.draw(replace(frame, water_box=box(drops, small=small)), canvas.framebuffer)
        images.append(canvas.image().astype(float) / 255.0)
    canvas.release()
    renderer.release()
    changed = np.abs(images[1] - images[0]).max(axis=2) > 0.06
    covered = covered_px(near, clip, SIZE)
    assert covered is not None
    x, y, width, height = covered
    rows, columns = np.nonzero(changed)
    # The glow of what is bright, and the softening of edges, reach beyond.
    assert x - 8 <= columns.min() <= columns.max() < x + width + 8
    assert y - 8 <= (SIZE[1] - 1 - rows).min() <= (SIZE[1] - 1 - rows).max() < y + height + 8
    assert changed.mean() > 0.05
    # Behind the land nothing is seen of it.
    assert np.abs(images[2] - images[0])[-30:].max() < 0.02
    assert np.abs(images[1] - images[0])[-30:].max() > 0.06


def test_what_is_behind_the_eye_covers_nothing() -> None:
    frame = small_frame(SIZE)
    clip = frame.view.projection @ frame.view.view
    assert covered_px(np.zeros((0, 3)), clip, SIZE) is None
    behind = 2.0 * frame.view.eye_w - sheet(frame, 4.0)
    assert covered_px(behind, clip, SIZE) is None
