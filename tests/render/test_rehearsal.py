"""Programs are compiled in a small valley before there is a canyon: the very ones, and nothing of it is left."""

import moderngl
import numpy as np
import pytest

from render.frame import DrawnVehicle, Frame
from render.passes.still_light import finish
from render.passes.targets import Canvas
from render.programs import Programs
from render.quality import choose
from render.rehearsal import rehearsed
from render.renderer import Renderer
from render.still import view_from
from sim.vehicle_config import config_named
from sim.world import load_world

SIZE = (320, 200)


@pytest.mark.parametrize("quality", ["software", "low"])
def test_a_flight_through_the_canyon_is_drawn_by_no_program_that_was_not_drawn_by_before(
    ctx: moderngl.Context, quality: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, canvas, used = choose(ctx, quality), Canvas(ctx, SIZE), set[int]()
    programs, config = Programs(ctx, defines=chosen.defines), config_named("helicopter")
    render = moderngl.VertexArray.render

    def noted(array: moderngl.VertexArray, *arguments: object, **named: object) -> None:
        used.add(array.program.glo)
        render(array, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(moderngl.VertexArray, "render", noted)
    finish(rehearsed(ctx, canvas.framebuffer, programs, chosen, "helicopter", config))
    before = set(used)
    world = load_world("canyon")
    renderer = Renderer(ctx, SIZE, world, quality=quality, programs=programs)
    T_wb = world.pads[0].standing_pose(1.4)
    place_w = T_wb[:3, 3]
    flown = DrawnVehicle("helicopter", T_wb, np.zeros(4), np.zeros(0), config, time_s=0.0)
    view = view_from(place_w + np.array([-18.0, 0.0, 6.0]), place_w, SIZE)
    for k, adds_up in enumerate((True, True, False)):
        renderer.draw(Frame(view, (flown,), wall_s=0.1 * k), canvas.framebuffer, adds_up=adds_up)
    assert len(before) >= 20
    assert used == before
    assert np.ptp(canvas.image()) > 0
    for thing in (renderer, canvas, programs):
        thing.release()


def test_what_no_flight_through_the_canyon_shows_is_not_rehearsed(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, canvas, linked, used = choose(ctx, "software"), Canvas(ctx, SIZE), set[str](), set[int]()
    programs, load, render = Programs(ctx, defines=chosen.defines), Programs.load, moderngl.VertexArray.render

    def noted(self: Programs, vertex: str, fragment: str, **defines: object) -> moderngl.Program:
        linked.update((vertex, fragment))
        return load(self, vertex, fragment, **defines)

    def drawn(array: moderngl.VertexArray, *arguments: object, **named: object) -> None:
        used.add(array.program.glo)
        render(array, *arguments, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(Programs, "load", noted)
    monkeypatch.setattr(moderngl.VertexArray, "render", drawn)
    finish(rehearsed(ctx, canvas.framebuffer, programs, chosen, "helicopter", config_named("helicopter")))
    sky_under_water = programs.load("fullscreen.vert", "sky.frag", FLAT=0, LOOKED_UP=0)
    assert "water.frag" in linked
    assert not linked & {"water_box.frag", "tank_frame.frag", "glass.frag", "spray_surface.frag", "drop.frag"}
    assert sky_under_water.glo not in used
    canvas.release()
    programs.release()


def test_one_that_is_given_up_leaves_what_is_drawn_later_as_it_is(ctx: moderngl.Context) -> None:
    chosen, canvas = choose(ctx, "software"), Canvas(ctx, SIZE)
    config = config_named("helicopter")
    world = load_world("plain")
    frame = Frame(view_from(np.array([-18.0, 0.0, 6.0]), np.zeros(3), SIZE), ())
    pictures = []
    for shares in (0, 1, 2, 5, 20):
        programs = Programs(ctx, defines=chosen.defines)
        rehearsal = rehearsed(ctx, canvas.framebuffer, programs, chosen, "helicopter", config)
        for _ in range(shares):
            next(rehearsal)
        rehearsal.close()
        renderer = Renderer(ctx, SIZE, world, quality="software", programs=programs)
        renderer.draw(frame, canvas.framebuffer)
        pictures.append(canvas.image())
        renderer.release()
        programs.release()
    assert all(np.array_equal(picture, pictures[0]) for picture in pictures)
    canvas.release()
