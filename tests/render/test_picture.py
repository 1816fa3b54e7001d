"""The picture of a window, without one."""

from types import SimpleNamespace

import moderngl
import numpy as np

from render.canvas import Canvas
from render.frame import Frame
from render.renderer import Renderer
from render.still import view_from
from sim.scene import load_scene
from sim.world import load_world
from ui.desktop.picture import Picture
from ui.view_settings import ViewSettings

SIZE = (96, 64)


def test_the_present_quality_is_drawn_until_another_one_is_ready(ctx: moderngl.Context) -> None:
    scene = load_scene("heavy-top")
    world = load_world(scene.world, seed=scene.seed)
    canvas = Canvas(ctx, SIZE)
    frame = Frame(view_from(np.array([6.0, 0.0, 3.0]), np.zeros(3), SIZE), ())

    def draws(renderer: Renderer | None) -> None:
        assert renderer is not None
        renderer.draw(frame, canvas.framebuffer)
        assert np.ptp(canvas.image()) > 0
        assert ctx.error == "GL_NO_ERROR"

    window = SimpleNamespace(ctx=ctx, framebuffer_px=SIZE)
    picture = Picture(window, scene, world, ViewSettings(quality="software"), None)  # type: ignore[arg-type]
    while picture.comes_along():
        pass
    first, frames = picture._renderer, 0
    while picture._renderer is first:
        picture._follow("low")
        draws(picture._renderer)
        frames += 1
    assert frames > 2
    second = picture._renderer
    assert second is not None
    assert second.quality.name == "low"
    picture._thread.submit(int).result()  # it has nothing left to do
    for wanted in ("software", "software", "low", "low"):  # given up half-way
        picture._follow(wanted)
        assert picture._renderer is second
        draws(second)
    picture.release()
    canvas.release()
