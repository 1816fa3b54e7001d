"""The picture of a window, without one."""

from dataclasses import replace
from types import SimpleNamespace

import moderngl
import numpy as np
import pytest

from render.frame import Frame
from render.land.scenery import load_scenery
from render.passes.targets import Canvas
from render.quality import preset
from render.renderer import Renderer
from render.still import view_from
from sim.commands import SetDemo
from sim.recordings.take import LaneStatus
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from sim.world import load_world
from ui.desktop.picture import Picture
from ui.input.desk import CameraMotion
from ui.settings.view_settings import ViewSettings

SIZE = (96, 64)


@pytest.mark.parametrize("name", ["canyon", "drive", "delivery"])
def test_what_is_paused_or_has_crashed_is_refined_to_every_pixel_and_drawn_no_more(
    ctx: moderngl.Context, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = load_scene(name)
    world = load_world(scene.world, seed=scene.seed)
    simulation = Simulation(scene, world)
    canvas = Canvas(ctx, SIZE)
    view = ViewSettings(quality="software", camera="orbit")
    monkeypatch.setattr(moderngl.Context, "screen", property(lambda self: canvas.framebuffer))
    window = SimpleNamespace(ctx=ctx, framebuffer_px=SIZE, apart_s=0.0)
    planning = SimpleNamespace(
        places_w=np.zeros((0, 3)), room_m=None, obstacles_w=(), added=lambda frame: frame
    )
    picture = Picture(window, scene, world, view, None)  # type: ignore[arg-type]
    while picture.comes_along():
        pass
    snapshot = simulation.snapshot
    crashed = tuple(replace(lane, status=LaneStatus.CRASHED) for lane in snapshot.lanes)
    rect = (0, 0, *SIZE)

    def scales(shown: Snapshot, motion: CameraMotion) -> list[float]:
        """Of the frames of six seconds, at the clock of the window."""
        found = []
        for _ in range(60):
            picture.draw(shown, view, rect, 0.1, motion, planning).show(True)  # type: ignore[arg-type]
            found.append(picture.pace.scale)
        return found

    paused, wrecked = replace(snapshot, paused=True), replace(snapshot, paused=False, lanes=crashed)
    # A wreck lies still once its fall is simulated, in a thread that the frames do not wait for.
    for shown, times in ((paused, 1), (wrecked, 100)):
        assert scales(shown, CameraMotion(orbit=(0.3, 0.0)))[-1] <= 0.5
        assert any(scales(shown, CameraMotion())[-1] == 1.0 for _ in range(times))
    picture.release()
    canvas.release()


def test_what_is_paused_in_flight_is_whole_three_pictures_later_and_its_camera_stands_until_it_is_moved(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = load_scene("canyon")
    world = load_world(scene.world, seed=scene.seed)
    simulation, canvas = Simulation(scene, world), Canvas(ctx, SIZE)
    simulation.advance(0.0)
    simulation.submit(SetDemo(True))
    monkeypatch.setattr(moderngl.Context, "screen", property(lambda self: canvas.framebuffer))
    window = SimpleNamespace(ctx=ctx, framebuffer_px=SIZE, apart_s=0.0)
    planning = SimpleNamespace(places_w=None, room_m=None, obstacles_w=(), added=lambda frame: frame)
    settings = ViewSettings(quality="software", camera="chase")
    picture = Picture(window, scene, world, settings, None)  # type: ignore[arg-type]
    while picture.comes_along():
        pass

    def drawn(shown: Snapshot, **moved: tuple[float, float]) -> tuple[np.ndarray, float]:
        """From where a frame at the window's clock was seen, and at which scale."""
        found = picture.draw(shown, settings, (0, 0, *SIZE), 0.1, CameraMotion(**moved), planning)  # type: ignore[arg-type]
        found.show(True)
        return found.view, picture.pace.scale

    for _ in range(30):
        simulation.advance(0.1)
        drawn(simulation.snapshot)
    assert picture.pace.scale <= 0.5
    paused = replace(simulation.snapshot, paused=True)
    first, *later = (drawn(paused) for _ in range(12))
    assert all(np.array_equal(view, first[0]) for view, _ in later)
    assert all(scale == 1.0 for _, scale in later[2:])
    turned, _ = drawn(paused, drag_px=(30.0, 0.0))
    assert np.abs(turned - first[0]).max() > 1e-3
    lifted = replace(paused, lanes=tuple(_moved_by(lane, 3.0) for lane in paused.lanes))
    followed = [drawn(lifted)[0] for _ in range(12)]
    assert not np.array_equal(followed[0], followed[5])
    assert np.array_equal(followed[10], followed[11])
    picture.release()
    canvas.release()


def _moved_by(lane: LaneSnapshot, x_m: float) -> LaneSnapshot:
    shift = np.eye(4)
    shift[0, 3] = x_m
    bodies = {name: shift @ T_wb for name, T_wb in lane.bodies.items()}
    return replace(lane, bodies=bodies, bodies_previous=bodies)


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
    first, frames = picture.renderer, 0
    while picture.renderer is first:
        picture.follow("low")
        draws(picture.renderer)
        frames += 1
    assert frames > 2
    second = picture.renderer
    assert second is not None
    assert second.quality.name == "low"
    picture._thread.submit(int).result()  # it has nothing left to do
    for wanted in ("software", "software", "low", "low"):  # given up half-way
        picture.follow(wanted)
        assert picture.renderer is second
        draws(second)
    picture.release()
    canvas.release()


def test_a_scene_is_made_in_shares_of_numbers_that_are_there_and_freed_if_left_half_way(
    ctx: moderngl.Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, kept = (load_scene(name) for name in ("canyon", "heavy-top"))
    first, second = (load_world(scene.world, seed=scene.seed) for scene in (left, kept))
    sceneries = [load_scenery(world, preset("software")) for world in (first, second)]
    monkeypatch.setattr("render.land.mapped.Refinement", None)  # what is worked out now keeps frames waiting
    made, freed = [], []
    init, release = Renderer.__init__, Renderer.release
    monkeypatch.setattr(
        Renderer, "__init__", lambda self, *given, **named: made.append(self) or init(self, *given, **named)
    )
    monkeypatch.setattr(Renderer, "release", lambda self: freed.append(self) or release(self))
    monkeypatch.setattr("ui.desktop.picture.COMING_S", 0.0)
    window = SimpleNamespace(ctx=ctx, framebuffer_px=SIZE)
    view = ViewSettings(quality="software")
    picture = Picture(window, left, first, view, sceneries[0])  # type: ignore[arg-type]
    for _ in range(4):
        assert picture.comes_along()
        assert picture.renderer is None
    assert len(made) == 1
    assert not made[0].lit
    picture.show(kept, second, view, sceneries[1])
    assert freed == made
    while picture.comes_along():
        pass
    assert picture.renderer is made[1]
    picture.release()
    assert freed == made
    assert ctx.error == "GL_NO_ERROR"
