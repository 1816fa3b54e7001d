"""Pictures of snapshots without a window: an EGL context with camera, scene view and renderer."""

import math
from contextlib import ExitStack

import moderngl
import numpy as np

from render.camera import CameraRig
from render.canvas import Canvas
from render.errors import DisplayError
from render.frame import View
from render.light import Sun
from render.renderer import Renderer
from render.scene_view import SceneView
from sim.scene import Scene
from sim.snapshot import Snapshot
from sim.world import World


class Studio:
    """Draws snapshots into pictures. Its clock is that of the simulation, so equal runs look equal."""

    def __init__(self, scene: Scene, world: World, *, size_px: tuple[int, int], quality: str) -> None:
        """`quality`: name of a preset or "auto". Raises DisplayError where there is no OpenGL 4.1."""
        self._resources = ExitStack()
        self._world = world
        self._wall_s = 0.0
        ctx = offscreen_context()
        self._resources.callback(ctx.release)
        sun = Sun(math.radians(scene.sun.azimuth_deg), math.radians(scene.sun.elevation_deg))
        preset = None if quality == "auto" else quality
        self._renderer = Renderer(ctx, size_px, world, quality=preset, sun=sun)
        self._resources.callback(self._renderer.release)
        self._canvas = Canvas(ctx, size_px)
        self._resources.callback(self._canvas.release)
        self._scene_view, self._rig = SceneView(), CameraRig(scene.camera)
        self._view: View

    def follow(self, snapshot: Snapshot, dt_s: float) -> None:
        """Take in the next moment, `dt_s` after the one before: trails and camera move on."""
        self._wall_s += dt_s
        # A snapshot of a headless run is shown at its own end, not an interval late.
        subject = self._scene_view.observe(snapshot, math.inf)
        self._view = self._rig.update(
            subject.T_wb,
            subject.twist_b,
            dt_s,
            model=subject.model,
            world=self._world,
            aspect=self._canvas.framebuffer.width / self._canvas.framebuffer.height,
        )

    def picture(self) -> np.ndarray:
        """(height, width, 3) uint8 sRGB of the moment last followed, first row on top."""
        frame = self._scene_view.frame(self._view, wall_s=self._wall_s)
        self._renderer.draw(frame, self._canvas.framebuffer)
        return self._canvas.image()

    def release(self) -> None:
        """Free everything."""
        self._resources.close()


def offscreen_context() -> moderngl.Context:
    """A context without a window; DisplayError says what went wrong where there is none."""
    try:
        return moderngl.create_context(standalone=True, backend="egl", require=410)
    except Exception as error:
        raise DisplayError(f"no OpenGL 4.1 without a window: {error}") from None
