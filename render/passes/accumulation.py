"""Temporal accumulation: pictures of successive moments, each drawn a part of a pixel apart, add up at full size."""

import math
from collections.abc import Sequence

import moderngl
import numpy as np

from render.frame import DrawnVehicle, Frame, View
from render.passes.targets import colour_of, unbind
from render.process import UnlockedDraw
from render.programs import FIRST_FREE_UNIT, Programs, Resources, uniform
from sim.groups.numeric import median

_SOURCE_UNIT, _DEPTH_UNIT, _HISTORY_UNIT = FIRST_FREE_UNIT, FIRST_FREE_UNIT + 1, FIRST_FREE_UNIT + 2
_PERIOD = 16
"""Pictures after which the same part of a pixel comes again."""
_FAST_PX, _SLOW_PX = 0.5, 0.25
"""From one picture to the next: what moves faster gains nothing of what was before (`accumulate.frag`), and is added up
again once it moves slower than the latter."""
_MEAN_DEPTH_M = 40.0
"""At which what is seen is taken to be where it is asked how fast it moves."""
_CUT_M, _CUT_RAD = 8.0, 0.7
"""A camera that goes or turns farther between two pictures has been put elsewhere."""


def halton(index: int, base: int) -> float:
    """0..1: successive ones (from 1 on) fill the range evenly."""
    value, part = 0.0, 1.0
    while index:
        part /= base
        index, digit = divmod(index, base)
        value += part * digit
    return value


def shifted(view: View, shift_px: tuple[float, float], size_px: tuple[int, int]) -> View:
    """The same camera, whose picture of `size_px` comes to lie so far right and up."""
    apart = np.eye(4)
    apart[:2, 3] = 2.0 * shift_px[0] / size_px[0], 2.0 * shift_px[1] / size_px[1]
    return View(eye_w=view.eye_w, view=view.view, projection=apart @ view.projection, inside=view.inside)


def carried_vehicle(frame: Frame) -> DrawnVehicle | None:
    """The solid vehicle with a body of its own that is nearest to the eye: its picture is looked for where it was."""
    solid = [v for v in frame.vehicles if not (v.ghost or v.still or v.links) and np.isfinite(v.T_wb).all()]
    return min(solid, key=lambda v: float(np.linalg.norm(v.T_wb[:3, 3] - frame.view.eye_w)), default=None)


def pace_px(view: View, before: View, size_px: tuple[int, int]) -> float:
    """By how many pixels of a picture what is seen in it has moved since the one before: the median of nine places."""
    at = np.array([(x, y) for x in (-0.6, 0.0, 0.6) for y in (-0.6, 0.0, 0.6)])
    clip = view.projection @ (0.0, 0.0, -_MEAN_DEPTH_M, 1.0)
    now = np.column_stack([at, np.full(len(at), clip[2] / clip[3]), np.ones(len(at))])
    back = before.projection @ before.view @ np.linalg.inv(view.projection @ view.view)
    then = now @ back.T
    moved = (then[:, :2] / then[:, 3:] - at) * 0.5 * size_px
    return median(np.linalg.norm(moved, axis=1))


class Accumulation:
    """Owns what has been added up, at the size of the output."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, size_px: tuple[int, int]):
        self._ctx, self._size_px = ctx, size_px
        self._resources, self._draw = Resources(), UnlockedDraw(ctx)
        units = {"source_map": _SOURCE_UNIT, "depth_map": _DEPTH_UNIT, "history_map": _HISTORY_UNIT}
        self._adding = []
        """What moves, and what does not."""
        for still in (0, 1):
            program = programs.load("fullscreen.vert", "accumulate.frag", STILL=still)
            for name, unit in units.items():
                if name in program:
                    uniform(program, name).value = unit
            self._adding.append(self._resources.own(ctx.vertex_array(program, [])))
        sharpened = programs.load("fullscreen.vert", "sharpened.frag")
        uniform(sharpened, "source_map").value = _SOURCE_UNIT
        self._sharpened = self._resources.own(ctx.vertex_array(sharpened, []))
        self._now, self._past = (self._canvas() for _ in range(2))
        self._before: Frame | None = None
        self._view: View | None = None
        self._fast, self._cold = False, True
        self._index = 0

    def _canvas(self) -> moderngl.Framebuffer:
        texture = self._resources.own(self._ctx.texture(self._size_px, 4, dtype="f1"))
        texture.repeat_x = texture.repeat_y = False
        return self._resources.own(self._ctx.framebuffer([texture]))

    def next_shift(self) -> tuple[float, float]:
        """By how much the next picture is to be drawn apart, right and up: pixels of its own, within half of one."""
        self._index = self._index % _PERIOD + 1
        return halton(self._index, 2) - 0.5, halton(self._index, 3) - 0.5

    def pays(self, view: View) -> bool:
        """Whether a picture that is seen so, after the one that was asked about before, moves slowly enough to gain by
        what was added up; if not, what was is forgotten."""
        moved_px = 0.0 if self._view is None else pace_px(view, self._view, self._size_px)
        self._view = view
        self._fast = moved_px > (_SLOW_PX if self._fast else _FAST_PX)
        if self._fast:
            self._before = None
        return not self._fast

    def begin_with(self, frame: Frame) -> moderngl.Framebuffer:
        """What the whole picture of a frame is to be drawn into, to be gone on from."""
        self._before = frame
        return self._now

    def add(
        self,
        encoded: moderngl.Texture,
        depth: moderngl.Texture,
        frame: Frame,
        shift_px: tuple[float, float],
        vehicle: Sequence[tuple[int, int, int, int]] = (),
    ) -> None:
        """Add the picture of a frame that was drawn so far apart; its depths are of the same size.

        vehicle: left, bottom, width and height of what the carried one takes of the output; nothing: not known.
        """
        self._now, self._past = self._past, self._now
        before = None if self._before is None or _cut(frame.view, self._before.view) else self._before
        still, carried = _ways_back(frame, before or frame)
        moving, standing = self._adding
        for array in self._adding:
            uniform(array.program, "shift").value = shift_px
            uniform(array.program, "spread").value = self._size_px[0] / encoded.size[0]
            uniform(array.program, "begins").value = before is None
        uniform(moving.program, "before").write(np.ascontiguousarray(still.T, "f4"))
        uniform(moving.program, "before_carried").write(np.ascontiguousarray(carried.T, "f4"))
        self._ctx.enable_only(moderngl.NOTHING)
        self._now.use()
        encoded.use(_SOURCE_UNIT)
        depth.use(_DEPTH_UNIT)
        colour_of(self._past).use(_HISTORY_UNIT)
        stands = _same(still) and (bool(vehicle) or _same(carried))
        self._draw(standing if stands else moving, moderngl.TRIANGLES, 3)
        parts = vehicle if stands and not _same(carried) else ()
        if self._cold:
            self._cold, parts = (
                False,
                [(0, 0, 1, 1)],
            )  # software GL compiles a program where it is first drawn by
        for part in parts:
            self._now.scissor = part
            self._now.use()
            self._draw(moving if stands else standing, moderngl.TRIANGLES, 3)
            self._now.scissor = None  # type: ignore[assignment]  # the declaration lacks None
        self._before = frame

    def show(self, target: moderngl.Framebuffer, viewport: tuple[int, int, int, int]) -> None:
        """Draw what has been added up into a viewport of its size."""
        self._ctx.enable_only(moderngl.NOTHING)
        target.use()
        self._ctx.viewport = viewport
        colour_of(self._now).use(_SOURCE_UNIT)
        self._draw(self._sharpened, moderngl.TRIANGLES, 3)

    def release(self) -> None:
        """Free everything."""
        unbind(self._ctx)
        self._resources.close()


def _same(way_back: np.ndarray) -> bool:
    """Whether nothing has moved by so much as a hundredth of a pixel, at any depth."""
    return bool(np.abs(way_back / way_back[3, 3] - np.eye(4)).max() < 1e-5)


def _cut(view: View, before: View) -> bool:
    moved_m = float(np.linalg.norm(view.eye_w - before.eye_w))
    cosine = 0.5 * (float(np.trace(view.view[:3, :3] @ before.view[:3, :3].T)) - 1.0)
    return moved_m > _CUT_M or math.acos(min(max(cosine, -1.0), 1.0)) > _CUT_RAD


def _ways_back(frame: Frame, before: Frame) -> tuple[np.ndarray, np.ndarray]:
    """(4, 4) from the clip space of a frame to that of the one before: of what stands still, of the carried vehicle."""
    world_from_now = np.linalg.inv(frame.view.projection @ frame.view.view)
    then_from_world = before.view.projection @ before.view.view
    moved, earlier = np.eye(4), carried_vehicle(before)
    vehicle = carried_vehicle(frame)
    if vehicle is not None and earlier is not None and vehicle.model == earlier.model:
        moved = earlier.T_wb @ np.linalg.inv(vehicle.T_wb)
    return then_from_world @ world_from_now, then_from_world @ moved @ world_from_now
