"""Pictures of snapshots without a window: an EGL context with camera, scene view and renderer."""

import math
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import moderngl
import numpy as np
from PIL import Image

from render.cameras.adaptation import Adaptation
from render.cameras.clearance import bumps_of, parked_in
from render.cameras.rig import CameraRig
from render.errors import DisplayError
from render.frame import Frame, View
from render.light import Sun
from render.panes import draw_panes, pane_rects, spread_along
from render.passes.targets import Canvas
from render.quality import detect
from render.renderer import Renderer
from render.vehicles.scene_view import SceneView, ViewOptions
from sim.scene import Scene
from sim.shapes.shape import Shape
from sim.simulation.lanes.snapshot import Snapshot
from sim.world import World

if TYPE_CHECKING:
    from sim.planner.service.session import PlanView

STILL_QUALITY = "high"
_MOST_STILL_PX = 4_500_000
"""A still of more pixels is crisp enough with one sample each."""


class Follower:
    """The scene's camera, following snapshots on the simulation's clock; needs no OpenGL."""

    def __init__(
        self,
        scene: Scene,
        world: World,
        places_w: np.ndarray | None = None,
        room_m: float | None = None,
        obstacles_w: tuple[Shape, ...] = (),
    ) -> None:
        """`places_w`, `room_m`: what the overview is of, as `CameraRig.watch` has them. An eye rises
        over `obstacles_w`."""
        self.scene_view, self._world = SceneView(world, swell=scene.swell), world
        self._rig = CameraRig(scene.camera, bumps_of(world))
        self._rig.watch(places_w, room_m=room_m)
        self._rig.mind((*parked_in(world), *obstacles_w))
        comparison = scene.comparison
        self.bearing_rad = math.radians(comparison.bearing_deg or 0.0)
        self._rig.frame_scene(
            distance=comparison.distance,
            bearing_rad=None if comparison.bearing_deg is None else self.bearing_rad,
        )

    def follow(self, snapshot: Snapshot, dt_s: float, aspect: float) -> View:
        """The view of the next moment, `dt_s` after the one before, for a picture of width over height `aspect`."""
        # A snapshot of a headless run is shown at its own end, not an interval late.
        self.scene_view.film.go_on(dt_s)
        subject = self.scene_view.observe(snapshot, math.inf)
        return self._rig.update(
            subject.T_wb,
            subject.twist_b,
            dt_s,
            framing=subject.config.camera,
            reach_m=subject.reach_m,
            held=subject.held,
            world=self._world,
            aspect=aspect,
        )


class Studio:
    """Draws snapshots into pictures. Its clock is that of the simulation, so equal runs look equal."""

    def __init__(
        self,
        scene: Scene,
        world: World,
        *,
        size_px: tuple[int, int],
        quality: str,
        planned: "PlanView | None" = None,
    ) -> None:
        """`quality`: name of a preset, or "auto": what the machine draws swiftly for pictures of a video, and
        the best for a still. `planned`: a task, and a plan of it, that is in the pictures. Raises DisplayError where
        there is no OpenGL 4.1.
        """
        self._resources = ExitStack()
        self._world, self._size_px, self._quality = world, size_px, quality
        self._sun = Sun.of(scene.sun)
        self._ctx = offscreen_context()
        self._resources.callback(self._ctx.release)
        self._canvas = Canvas(self._ctx, size_px)
        self._resources.callback(self._canvas.release)
        self._renderer: Renderer | None = None
        self._drawn_with = ("", 1)
        self._added: Callable[[Frame], Frame] = lambda frame: frame
        reach_w, room_m = None, None
        if planned is not None:
            from render.plan.view import PlanScene  # with all that plans: not for every picture

            marks = PlanScene(world)
            reach_w, room_m = marks.reach(planned), marks.room_m(planned)
            self._added = lambda frame: marks.added(frame, planned, self._wall_s)
        self._follower = Follower(
            scene, world, reach_w, room_m, () if planned is None else planned.obstacles_w
        )
        self._adaptation = Adaptation(world)
        self._views = scene.comparison.views
        spread_w = spread_along(self._follower.bearing_rad, scene.comparison.spread_m)
        self._options = ViewOptions(spread_w=spread_w)
        self._rects: tuple[tuple[int, int, int, int], ...] = ((0, 0, *size_px),)
        self._wall_s = 0.0
        self._view: View
        self._lanes: tuple[str, ...] = ()

    def follow(self, snapshot: Snapshot, dt_s: float) -> None:
        """Take in the next moment, `dt_s` after the one before: trails and camera move on."""
        self._wall_s += dt_s
        self._lanes = tuple(lane.name for lane in snapshot.lanes)
        size_px = (self._canvas.framebuffer.width, self._canvas.framebuffer.height)
        self._rects = pane_rects((0, 0, *size_px), self._views, self._lanes)
        self._view = self._follower.follow(snapshot, dt_s, self._rects[0][2] / self._rects[0][3])
        self._adaptation.go_on(self._view.eye_w, dt_s)

    def picture(self) -> np.ndarray:
        """(height, width, 3) uint8 sRGB of the moment last followed, first row on top."""
        return self._draw(detect(self._ctx) if self._quality == "auto" else self._quality)

    def still(self) -> np.ndarray:
        """As `picture`, for looking at rather than for a video."""
        quality = STILL_QUALITY if self._quality == "auto" else self._quality
        fine = quality == STILL_QUALITY and self._size_px[0] * self._size_px[1] <= _MOST_STILL_PX
        return self._draw(quality, supersampling=2 if fine else 1)

    def cutout(self) -> np.ndarray:
        """(height, width, 4) uint8 sRGB with straight alpha: the vehicles of the moment last followed, alone."""
        quality = detect(self._ctx) if self._quality == "auto" else self._quality
        renderer = self._ready(quality, 1)
        options = replace(self._options, show_trail=False)
        if renderer.size_px != self._size_px:
            renderer.resize(self._size_px)
        frame = self._follower.scene_view.frame(
            self._view, options, wall_s=self._wall_s, exposure=self._adaptation.gain
        )
        cover = renderer.cutout(frame, self._canvas.framebuffer)
        alpha = Image.fromarray(np.round(255.0 * cover).astype(np.uint8)).resize(
            self._size_px, Image.Resampling.BOX
        )
        return np.concatenate([self._canvas.image(), np.asarray(alpha)[..., None]], axis=2)

    def _draw(self, quality: str, *, supersampling: int = 1) -> np.ndarray:
        _, show = draw_panes(
            self._ready(quality, supersampling),
            self._canvas.framebuffer,
            self._follower.scene_view,
            self._view,
            self._options,
            self._rects,
            self._lanes,
            wall_s=self._wall_s,
            exposure=self._adaptation.gain,
            add=self._added,
        )
        show(True)
        return self._canvas.image()

    def _ready(self, quality: str, supersampling: int) -> Renderer:
        """The renderer, made anew where it has to be another."""
        if self._renderer is None or self._drawn_with != (quality, supersampling):
            self._release_renderer()
            self._renderer = Renderer(
                self._ctx,
                self._size_px,
                self._world,
                quality=quality,
                sun=self._sun,
                supersampling=supersampling,
            )
            self._drawn_with = (quality, supersampling)
        return self._renderer

    def _release_renderer(self) -> None:
        if self._renderer is not None:
            self._renderer.release()
            self._renderer = None

    def release(self) -> None:
        """Free everything."""
        self._release_renderer()
        self._resources.close()


def offscreen_context() -> moderngl.Context:
    """A context without a window; DisplayError says what was found where there is no OpenGL 4.1."""
    try:
        return moderngl.create_context(standalone=True, backend="egl", require=410)  # type: ignore[arg-type]
    except Exception as error:  # of several kinds, by driver and platform
        raise DisplayError(f"no OpenGL 4.1 without a window ({error}); {_what_there_is()}") from None


def _what_there_is() -> str:
    try:
        ctx = moderngl.create_context(standalone=True, backend="egl")  # type: ignore[arg-type]
    except Exception:  # as above
        return "no OpenGL at all was found"
    found = (
        f"found OpenGL {ctx.version_code // 100}.{ctx.version_code // 10 % 10} ({ctx.info['GL_RENDERER']})"
    )
    ctx.release()
    return found
