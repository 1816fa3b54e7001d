"""From linear light to the picture: bloom, tone, anti-aliasing, scaling."""

from collections.abc import Sequence
from contextlib import ExitStack

import moderngl

from render.passes.targets import Targets, colour_of
from render.process import UnlockedDraw
from render.programs import FIRST_FREE_UNIT, Programs, uniform
from render.quality import Quality

_SOURCE_UNIT, _BLOOM_UNIT, _DEPTH_UNIT = FIRST_FREE_UNIT, FIRST_FREE_UNIT + 1, FIRST_FREE_UNIT + 2
_REACH_PX = 18
"""Around what is smoothed, in which edges are followed (`present.frag`)."""

Rectangle = tuple[int, int, int, int]
"""Left, bottom, width, height in pixels."""

_Stage = tuple[moderngl.Program, moderngl.VertexArray]


class Post:
    """Owns what lies between the scene's linear texture and the target's encoded pixels, at one size."""

    def __init__(
        self,
        ctx: moderngl.Context,
        programs: Programs,
        quality: Quality,
        targets: Targets,
        output_px: tuple[int, int],
    ):
        self._ctx = ctx
        self._resources = ExitStack()
        self._scene_px, self._draw = targets.size_px, UnlockedDraw(ctx)
        scene_px = targets.size_px
        self._bloom = quality.bloom
        self._depth_map = None if quality.full_materials else targets.depth_map
        """Where edges are smoothed about vehicles only, and looked for by depth."""
        fxaa = quality.fxaa and scene_px[0] <= output_px[0]
        # One pass from the scene to the target, where nothing is done to the encoded picture.
        self._fused = scene_px == output_px and not (fxaa or quality.bloom)
        self._tone = self._pass(programs, "tonemap.frag", **({"BLOOM": 1} if quality.bloom else {}))
        if self._fused:
            return
        enlarged = scene_px[0] < output_px[0]
        self._carry = self._pass(
            programs, "present.frag", **({"SAME_SIZE": 1} if scene_px == output_px else {})
        )
        self._lift = self._pass(programs, "present.frag", LIFTED=1) if enlarged else None
        self._smooth = self._pass(programs, "present.frag", FXAA=1) if fxaa else None
        self._mark = self._pass(programs, "present.frag", MARK=1) if fxaa and self._depth_map else None
        if quality.bloom:
            self._down = self._pass(programs, "bloom_down.frag")
            self._blur = self._pass(programs, "bloom_blur.frag")
            small = (max(scene_px[0] // 4, 1), max(scene_px[1] // 4, 1))
            self._glow = [self._target(small, dtype="f2") for _ in range(2)]
        self._encoded = self._target(scene_px, dtype="f1", depth=self._mark is not None)
        self._lifted = self._target(scene_px, dtype="f1") if enlarged else None
        self._smoothed: moderngl.Framebuffer | None = None
        if self._smooth is not None and self._mark is None and scene_px != output_px:
            self._smoothed = self._target(scene_px, dtype="f1")
        self._stepped: moderngl.Framebuffer | None = None
        """What of the encoded picture is smoothed there, as it was before."""
        if self._mark is not None:
            self._copy = self._pass(programs, "present.frag", COPY=1)
            self._stepped = self._target(scene_px, dtype="f1")
        self._finished: moderngl.Framebuffer | None = None
        """The last picture, where it is kept beside the target that it went to."""

    def _pass(self, programs: Programs, fragment: str, **defines: int) -> _Stage:
        program = programs.load("fullscreen.vert", fragment, **defines)
        array = self._ctx.vertex_array(program, [])
        self._resources.callback(array.release)
        uniform(program, "source_map").value = _SOURCE_UNIT
        if "bloom_map" in program:
            uniform(program, "bloom_map").value = _BLOOM_UNIT
        if "depth_map" in program:
            uniform(program, "depth_map").value = _DEPTH_UNIT
        return program, array

    def _target(self, size_px: tuple[int, int], *, dtype: str, depth: bool = False) -> moderngl.Framebuffer:
        texture = self._ctx.texture(size_px, 4, dtype=dtype)
        texture.repeat_x = texture.repeat_y = False
        depths = self._ctx.depth_renderbuffer(size_px) if depth else None
        framebuffer = self._ctx.framebuffer([texture], depths)
        for each in (texture, depths):
            if each is not None:
                self._resources.callback(each.release)
        self._resources.callback(framebuffer.release)
        return framebuffer

    def _make_glow(self, scene: moderngl.Texture) -> moderngl.Texture:
        first, second = self._glow
        width, height = self._scene_px
        program, array = self._down
        uniform(program, "texel").value = (1.0 / width, 1.0 / height)
        first.use()
        scene.use(_SOURCE_UNIT)
        self._draw(array, moderngl.TRIANGLES, 3)
        program, array = self._blur
        for radius in (1.0, 2.5):
            for target, source, step in (
                (second, first, (radius / first.width, 0.0)),
                (first, second, (0.0, radius / first.height)),
            ):
                target.use()
                colour_of(source).use(_SOURCE_UNIT)
                uniform(program, "step_uv").value = step
                self._draw(array, moderngl.TRIANGLES, 3)
        return colour_of(first)

    def draw(
        self,
        scene: moderngl.Texture,
        target: moderngl.Framebuffer,
        viewport: Rectangle,
        exposure: float,
        vehicles: Sequence[Rectangle] = (),
    ) -> None:
        """Finish `scene` (linear, scene size) into `viewport` of `target`; vehicles: what they take of the scene."""
        self._ctx.enable_only(moderngl.NOTHING)
        if self._bloom:
            self._make_glow(scene).use(_BLOOM_UNIT)
        uniform(self._tone[0], "exposure").value = exposure
        if self._fused:
            self._scene = scene
            self.repeat(target, viewport)
            return
        source = self._encode(scene)
        straight = False
        if self._smooth is not None:
            uniform(self._smooth[0], "texel").value = (1.0 / self._scene_px[0], 1.0 / self._scene_px[1])
            if self._mark is not None:
                self._smooth_about(vehicles)
            elif self._smoothed is not None:
                self._smoothed.use()
                self._run(self._smooth, colour_of(source))
                source = self._smoothed
            else:
                straight = True
        if self._lift is not None and self._lifted is not None:
            self._lifted.use()
            self._run(self._lift, colour_of(source))
            source = self._lifted
        self._finished = None if straight else source
        target.use()
        self._ctx.viewport = viewport
        self._run(self._smooth if straight and self._smooth is not None else self._carry, colour_of(source))

    def encoded(self, scene: moderngl.Texture, *, exposure: float) -> moderngl.Texture:
        """`scene` as it is to be seen, at its own size; alpha 1 where the carried vehicle is. For smaller ones."""
        self._ctx.enable_only(moderngl.NOTHING)
        uniform(self._tone[0], "exposure").value = exposure
        return colour_of(self._encode(scene))

    def _smooth_about(self, vehicles: Sequence[Rectangle]) -> None:
        """Smooth the edges of the encoded picture within these."""
        assert self._smooth is not None
        assert self._mark is not None
        assert self._depth_map is not None
        assert self._stepped is not None
        target, source = self._encoded, colour_of(self._stepped)
        # Drawn, not copied: to copy, software GL waits for all that it has still to shade.
        for left, bottom, width, height in vehicles:
            self._stepped.scissor = (
                left - _REACH_PX,
                bottom - _REACH_PX,
                width + 2 * _REACH_PX,
                height + 2 * _REACH_PX,
            )
            self._stepped.use()
            self._run(self._copy, colour_of(target))
        self._depth_map.use(_DEPTH_UNIT)
        # Software GL works out all of a shader where its quick depth test lets a pixel pass, and else nothing.
        self._ctx.enable_only(moderngl.DEPTH_TEST)
        for each in vehicles:
            target.scissor, target.color_mask = each, (False, False, False, False)
            target.use()
            target.clear(depth=1.0)
            self._run(self._mark, source)
            target.color_mask = True, True, True, True
            target.use()
            self._ctx.depth_func = "=="
            self._run(self._smooth, source)
            self._ctx.depth_func = "<"
        target.scissor = None  # type: ignore[assignment]  # the declaration lacks None
        self._ctx.enable_only(moderngl.NOTHING)

    def _encode(self, scene: moderngl.Texture) -> moderngl.Framebuffer:
        uniform(self._tone[0], "origin").value = 0, 0
        self._encoded.use()
        self._run(self._tone, scene)
        return self._encoded

    def repeat(self, target: moderngl.Framebuffer, viewport: Rectangle) -> None:
        """The picture that was drawn last, once more."""
        self._ctx.enable_only(moderngl.NOTHING)
        if self._fused:
            target.use()
            self._ctx.viewport = viewport
            uniform(self._tone[0], "origin").value = viewport[:2]
            self._run(self._tone, self._scene)
            return
        if self._finished is None:
            if self._smoothed is None:
                self._smoothed = self._target(self._scene_px, dtype="f1")
            assert self._smooth is not None
            self._smoothed.use()
            self._run(self._smooth, colour_of(self._encoded))
            self._finished = self._smoothed
        target.use()
        self._ctx.viewport = viewport
        self._run(self._carry, colour_of(self._finished))

    def _run(self, stage: _Stage, source: moderngl.Texture) -> None:
        source.use(_SOURCE_UNIT)
        self._draw(stage[1], moderngl.TRIANGLES, 3)

    def release(self) -> None:
        """Free targets and arrays."""
        self._resources.close()
