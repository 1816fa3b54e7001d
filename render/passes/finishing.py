"""From the scene of a frame to the finished picture: by itself, or added to those before."""

from collections.abc import Sequence
from contextlib import ExitStack

import moderngl

from render.frame import Frame, View, alike
from render.passes.accumulation import Accumulation, shifted
from render.passes.post import Post, Rectangle
from render.passes.targets import Targets
from render.programs import Programs
from render.quality import Quality


class Finishing:
    """Owns what lies between the targets of a scene and the output, and knows what was finished last."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, quality: Quality, *, adds_up: bool) -> None:
        """adds_up: whether pictures of many may be added to those before."""
        self._ctx, self._programs, self._quality, self._adds_up = ctx, programs, quality, adds_up
        self._scaled = ExitStack()
        self._size_px = (0, 0)
        self._accumulation: Accumulation | None = None
        self._shown: Frame | None = None
        self._added_up = False
        """What was finished last, and whether that is one of several that add up."""

    def take_up(self, targets: Targets, size_px: tuple[int, int]) -> None:
        """Finish scenes that are drawn into these, for an output of that size."""
        self.forget()
        self._scaled.close()
        if size_px != self._size_px:
            self._size_px = size_px
            self._drop_past()
        self._targets = targets
        self._post = Post(self._ctx, self._programs, self._quality, targets, size_px)
        self._scaled.callback(self._post.release)

    def forget(self) -> None:
        """Whatever was finished last is not to be seen again."""
        self._shown = None

    def has(self, frame: Frame) -> bool:
        """Whether what was finished last is like that."""
        return self._shown is not None and alike(frame, self._shown)

    def repeat(self, target: moderngl.Framebuffer, viewport: Rectangle) -> None:
        """The picture that was finished last, once more."""
        if self._added_up and self._accumulation is not None:
            self._accumulation.show(target, viewport)
        else:
            self._post.repeat(target, viewport)

    def gains_by_the_past(self, view: View) -> bool:
        """Whether a picture of many is worth adding to those before."""
        if not self._adds_up:
            return False
        if self._accumulation is None:
            self._accumulation = Accumulation(self._ctx, self._programs, self._size_px)
        return self._accumulation.pays(view)

    def shift(self, view: View) -> tuple[View, tuple[float, float]]:
        """A view a part of a pixel apart, and which part [px]: of the next picture that is added."""
        assert self._accumulation is not None
        shift_px = self._accumulation.next_shift()
        return shifted(view, shift_px, self._targets.size_px), shift_px

    def add(
        self, frame: Frame, shift_px: tuple[float, float], exposure: float, about: Sequence[Rectangle]
    ) -> None:
        """Add the scene that was drawn so far apart to what was drawn before. about: as `Accumulation.add` has it."""
        assert self._accumulation is not None
        assert self._targets.depth_map is not None
        self._shown, self._added_up = frame, True
        encoded = self._post.encoded(self._targets.scene_map, exposure=exposure)
        self._accumulation.add(encoded, self._targets.depth_map, frame, shift_px, about)

    def finish(
        self,
        frame: Frame,
        target: moderngl.Framebuffer,
        viewport: Rectangle,
        exposure: float,
        about: Sequence[Rectangle] = (),
        *,
        begins: bool,
    ) -> None:
        """The scene of a frame by itself, with smooth edges `about` vehicles. begins: others may be added to it."""
        self._shown, self._added_up = frame, False
        self._targets.resolve()
        self._post.draw(self._targets.scene_map, target, viewport, exposure, about)
        if self._accumulation is not None and begins:
            self._post.repeat(self._accumulation.begin_with(frame), (0, 0, *self._size_px))

    def _drop_past(self) -> None:
        if self._accumulation is not None:
            self._accumulation.release()
        self._accumulation = None

    def release(self) -> None:
        """Free what it owns."""
        self._drop_past()
        self._scaled.close()
