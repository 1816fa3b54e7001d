"""What follows the scene: a picture by itself, or added to those before, as a whole or of the vehicle alone."""

from collections.abc import Callable
from contextlib import AbstractContextManager

import moderngl
import numpy as np

from render.frame import DrawnVehicle, Frame, alike
from render.passes.accumulation import Accumulation, Part, carried_vehicle, seen_part
from render.passes.post import Post
from render.passes.targets import Targets
from render.programs import Programs
from render.quality import Quality

_STEPS_SCALE = 0.75
"""Up to which steps along the edges of a vehicle are mended, where a picture in motion is drawn singly: those of a
larger one are as small as the window's."""


class Shown:
    """Owns what makes a picture of the scene's linear light, at one size of the output; remembers the last one."""

    def __init__(
        self,
        ctx: moderngl.Context,
        programs: Programs,
        quality: Quality,
        size_px: tuple[int, int],
        probe: Callable[[str], AbstractContextManager[object]],
        *,
        adds_up: bool,
    ):
        """adds_up: whether pictures that follow one another are ever made one."""
        self._ctx, self._programs, self._quality = ctx, programs, quality
        self._size_px, self._probe, self._adds_up = size_px, probe, adds_up
        self._post: Post | None = None
        self._accumulation: Accumulation | None = None
        self._last: Frame | None = None
        self._scale = 1.0
        self._whole = False
        """Whether the last picture was added to those before."""
        self._part: Part | None = None
        """Where its vehicle alone was."""

    @property
    def post(self) -> Post:
        """At the scene's size."""
        assert self._post is not None
        return self._post

    def take_size(self, scene_px: tuple[int, int]) -> None:
        """Scenes are of this size from now on."""
        self.forget()
        if self._post is not None:
            self._post.release()
        self._scale = scene_px[0] / self._size_px[0]
        self._post = Post(
            self._ctx, self._programs, self._quality, scene_px=scene_px, output_px=self._size_px
        )

    def forget(self) -> None:
        """The last picture is not what would be drawn of its frame any more."""
        self._last = None

    def has(self, frame: Frame) -> bool:
        """Whether the last picture is one of such a frame."""
        return self._last is not None and alike(frame, self._last)

    def shift_px(
        self, frame: Frame, corners_w: Callable[[DrawnVehicle], np.ndarray]
    ) -> tuple[float, float] | None:
        """By how much, right and up, the scene of a frame is to be drawn apart, one of many that follow one another;
        None where it gains nothing by those before. corners_w: (n, 3) about a vehicle."""
        self._whole, self._part = False, None
        if not self._adds_up:
            return None
        if self._accumulation is None:
            self._accumulation = Accumulation(self._ctx, self._programs, self._size_px)
        self._whole = self._accumulation.pays(frame.view)
        vehicle = carried_vehicle(frame)
        if not self._whole and vehicle is not None and self._scale <= _STEPS_SCALE:
            self._part = seen_part(frame.view, corners_w(vehicle), self._size_px)
        if self._whole:
            return self._accumulation.next_shift()
        return None if self._part is None else self._accumulation.next_whole_shift(self._scale)

    def finish_one(
        self,
        frame: Frame,
        targets: Targets,
        target: moderngl.Framebuffer,
        viewport: Part,
        *,
        exposure: float,
    ) -> None:
        """Show what was drawn by itself, which later ones are added to."""
        self._whole, self._part = False, None
        self.finish(frame, targets, target, viewport, None, exposure=exposure)
        if self._accumulation is not None:
            self.post.repeat(self._accumulation.begin_with(frame), (0, 0, *self._size_px))

    def finish(
        self,
        frame: Frame,
        targets: Targets,
        target: moderngl.Framebuffer,
        viewport: Part,
        shift_px: tuple[float, float] | None,
        *,
        exposure: float,
    ) -> None:
        """Show what was drawn as `shift_px` has told."""
        self._last = frame
        apart = shift_px or (0.0, 0.0)
        with self._probe("post"):
            targets.resolve()
            if self._whole:
                self.post.encode(targets.scene_map, exposure=exposure)
            else:
                self.post.draw(targets.scene_map, target, viewport, exposure=exposure, shift_px=apart)
        if shift_px is not None:
            added, depths = self._accumulation, targets.depth_map
            assert added is not None
            assert depths is not None
            with self._probe("add up"):
                added.add(self.post.encoded_map, depths, frame, apart, self._part)
                added.show(target, viewport)

    def warm_up(self, frame: Frame, targets: Targets, target: moderngl.Framebuffer) -> None:
        """Draw by all programs, unseen."""
        everything = 0, 0, *self._size_px
        for self._whole, self._part in ((True, None), (False, everything)):
            self.finish(frame, targets, target, everything, (0.0, 0.0), exposure=1.0)
        self.finish_one(frame, targets, target, everything, exposure=1.0)
        self.forget()

    def repeat(self, target: moderngl.Framebuffer, viewport: Part) -> None:
        """The last picture once more."""
        if not self._whole:
            self.post.repeat(target, viewport)
        if self._accumulation is not None and (self._whole or self._part is not None):
            self._accumulation.show(target, viewport)

    def release(self) -> None:
        """Free everything."""
        for part in (self._post, self._accumulation):
            if part is not None:
                part.release()
