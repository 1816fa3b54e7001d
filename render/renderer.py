"""The renderer: owns every pass and draws a Frame into a framebuffer."""

import math
from collections.abc import Callable, Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import replace
from functools import partial

import moderngl
import numpy as np

from render.frame import DrawnVehicle, Frame, View, mirror
from render.frame_budget import detail
from render.land.scenery import Scenery, ground_bounds_m, load_scenery
from render.land.still_world import StillWorld
from render.light import Sun
from render.passes.accumulation import carried_vehicle
from render.passes.culling import frustum_planes
from render.passes.finishing import Finishing
from render.passes.overlay import Overlay
from render.passes.post import Rectangle
from render.passes.shadows import SunShadows
from render.passes.sky import Sky
from render.passes.still_light import KeptLight, finish, kept_light, lit_from_cache, step
from render.passes.targets import PassContext, PassName, Targets, blend_over, cut_out, unbind
from render.passes.uniforms import FrameUniforms
from render.process import Flush, give_back
from render.programs import SAMPLER_UNITS, Programs, Resources
from render.quality import choose, require_gl
from render.vehicles.library import ModelLibrary
from render.vehicles.rigs import parked_vehicles
from render.water.waters import Waters
from sim.world import World

EXPOSURE = 0.60
_WATER_SCALE = 0.6
"""Where pictures in motion are drawn at a larger scale, water at rest is shaded at half of it."""
_MIRROR_SINK_M = 0.2
"""How far below the water the mirror image is cut, so that no gap opens along the shore."""
_ROUGHLY = 4
"""Times as long are the texels of a light map that is drawn to be there soon."""

Probe = Callable[[str], AbstractContextManager[object]]
Lighting = Generator[None, None, None]


class Renderer:
    """Draws one world. All GL objects live until `release`."""

    def __init__(
        self,
        ctx: moderngl.Context,
        size_px: tuple[int, int],
        world: World,
        *,
        quality: str | None = None,
        sun: Sun | None = None,
        supersampling: int = 1,
        scenery: Scenery | None = None,
        programs: Programs | None = None,
        lit_later: bool = False,
        probe: Probe = lambda name: nullcontext(),
    ):
        """`quality`: a preset's name, by default what suits the context. `supersampling` n: n x n samples a pixel, for
        stills. `scenery` takes the place of the world's own meshes. `programs`: of a renderer before, of the same
        quality; they stay the caller's. `lit_later`: made by `light_up`, too, which is called until it is `lit` before
        anything is asked of it, and before every later frame. `probe(name)` is entered around passes, for measurements.
        DisplayError where the context is too old or a shader does not compile.
        """
        require_gl(ctx)
        self._ctx, self._probe, self._supersampling, self._flush = ctx, probe, supersampling, Flush(ctx)
        self._effort, self._lit_later, self._cold, self._texture_bias = 1.0, lit_later, lit_later, 0.0
        self.lit = False
        """Whether there is light to draw by; where it lies in a map, `light_up` may have that come finer."""
        self.quality = choose(ctx, quality, supersampling=supersampling)
        self._resources, self._scaled = Resources(), ExitStack()
        self._resources.callback(self._scaled.close)
        self._programs = programs or self._resources.own(Programs(ctx, defines=self.quality.defines))
        self._light_by(self._made(size_px, world, scenery or load_scenery(world, self.quality), sun or Sun()))

    def light_up(self) -> bool:
        """Do a share of what a renderer that is `lit_later` still lacks; whether there was anything to do."""
        return step(self._lighting)

    def _light_by(self, steps: Lighting) -> None:
        """Once these have been taken the light is there."""
        self._lighting = steps
        if not self._lit_later:
            finish(steps)

    def _made(self, size_px: tuple[int, int], world: World, scenery: Scenery, sun: Sun) -> Lighting:
        """Every pass, one at a step, and then the light."""
        ctx, programs, quality, own = self._ctx, self._programs, self.quality, self._resources.own
        planar = world.water_level_m is not None and quality.reflection_scale > 0.0
        self._parked = parked_vehicles(world)
        light = kept_light(ctx, "" if self._parked else scenery.key, quality, sun)  # read while all is made
        kept = not quality.full_materials
        self._sky = own(Sky(ctx, programs, world.room, orbit_m=world.orbit_m, kept=kept))
        self._sky.begin(sun)  # is worked out while all else is made
        self._flush()
        yield
        self._still_world = own(StillWorld(ctx, scenery, quality))
        yield
        yield from self._still_world.made(programs, scenery)
        self._waters = own(Waters(ctx, programs, world, quality, planar=planar))
        self._mirror = mirror(self._waters.level_m) if planar else None
        self._models = own(ModelLibrary(ctx, programs if world.room is None else programs.where(ROOM=1)))
        self._overlay = own(Overlay(ctx, programs, self._supersampling))
        yield from self._waters.expect_waves()
        self._shadows = own(SunShadows(ctx, quality, ground_bounds_m(world)))
        self._uniforms = {name: own(FrameUniforms(ctx)) for name in ("picture", "mirror")}
        self._lit_by = own(FrameUniforms(ctx))
        adds_up = quality.adds_up and self._supersampling == 1
        self._finishing = own(Finishing(ctx, programs, quality, adds_up=adds_up))
        self.resize(size_px)
        yield
        yield from self._sun_steps(sun, light)

    def resize(self, size_px: tuple[int, int]) -> None:
        """Take up a new output size."""
        self.size_px = (max(size_px[0], 8), max(size_px[1], 8))
        self._rescale()

    def _rescale(self) -> None:
        """Make anew what is of the scene's size."""
        self._scaled.close()
        quality = self.quality
        scene_px = quality.scene_px(self.size_px, supersampling=self._supersampling, effort=self._effort)
        self._targets = Targets(
            self._ctx,
            scene_px,
            samples=quality.samples,
            mirror_scale=quality.reflection_scale if self._mirror is not None else 0.0,
            refraction=quality.full_materials and self._waters.wet,
            shade_late=not quality.full_materials and self._waters.wet,
            water_block=2 if self._effort <= 1.0 and scene_px[0] > _WATER_SCALE * self.size_px[0] else 1,
        )
        self._scaled.callback(self._targets.release)
        self._texture_bias = min(math.log2(self.scale), 0.0)
        self._finishing.take_up(self._targets, self.size_px)

    def set_effort(self, effort: float) -> None:
        """Draw with this much work (render/frame_budget.py): 1 is the quality's, more for pictures that have time."""
        if effort != self._effort:
            self._effort = effort
            self._rescale()

    @property
    def whole_effort(self) -> float:
        """The effort at which a picture has as many pixels as are shown."""
        return self.quality.whole_effort(self.size_px)

    @property
    def scale(self) -> float:
        """Of the scene, relative to the output."""
        return self._targets.size_px[0] / self.size_px[0]

    def set_sun(self, sun: Sun) -> None:
        """Move the sun: sky table, light, the canyon's shadow map and baked light are made anew.

        If `lit_later`, these follow by `light_up`, and all that is drawn before has the light before; a light map is
        drawn coarsely at first, so that the new light is there soon.
        """
        steps = self._sun_steps(sun)
        step(steps)
        self._light_by(steps)

    def _sun_steps(self, sun: Sun, kept: KeptLight | None = None) -> Lighting:
        """kept: where the last two come from, if they are there, and go to."""
        with self._probe("sun: sky table"):
            self._next_light = self._sky.light(sun)
        self._shadows.set_light(self._next_light, self._waters.level_m)
        yield
        if kept is not None:
            lit = {**self._shadows.lit, **self._still_world.lit}
            yield from lit_from_cache(kept, self._cast_and_bake, lit)
        else:
            yield from self._cast_and_bake()
        self._take_light()

    def _take_light(self) -> None:
        """What is drawn from now on has the light for which all has been made."""
        self._finishing.forget()
        self._light, self.lit = self._next_light, True
        self._sky.take()
        self._shadows.take()
        self._still_world.light_room(self._light.room)
        for uniforms in self._uniforms.values():
            uniforms.set_light(self._light, water_level_m=self._waters.level_m)

    def _cast_and_bake(self) -> Lighting:
        """The canyon's shadow map and baked light, for the sun and the still things that there are.

        Whatever else is drawn between two steps, the next one binds anew what it reads.
        """
        casting, more = self._shadows.cast_world(self._still(), self._context), True
        while more:
            self._bind_textures(lit=False)
            with self._probe("sun: canyon shadow"):
                more = step(casting)
            yield
        self._lit_by.set_light(self._next_light, water_level_m=self._waters.level_m)
        self._lit_by.set_shadows(self._shadows.next_frames)
        self._lit_by.upload()
        roughly = self._lit_later and self._still_world.mapped
        if roughly:
            yield from self._baked(self._still_world.bake(self._next_light, _ROUGHLY))
            yield
        yield from self._baked(self._still_world.bake(self._next_light, maps_only=roughly))

    def _baked(self, baking: Iterator[None]) -> Lighting:
        """What stands still in the light that is next, which then is drawn with."""
        more = True
        while more:
            self._bind_textures(lit=False)
            self._lit_by.bind()
            with self._probe("sun: bake"):
                more = step(baking)
            if more:
                yield
        self._take_light()

    def _still(self) -> Iterator[Callable[[PassContext], None]]:
        """What draws shares of all that stands still into the sun's map."""
        yield from self._still_world.cast()
        for vehicle in self._parked:
            yield partial(self._models.draw, vehicle)

    def draw(
        self,
        frame: Frame,
        target: moderngl.Framebuffer,
        viewport: Rectangle | None = None,
        *,
        again: bool = True,
        adds_up: bool = False,
    ) -> bool:
        """Draw `frame` into `viewport` (x, y, width, height) px of `target`, by default all of it.

        A frame that is like the last one is only copied; if not `again`, nothing is drawn then. Whether anything was.
        adds_up: one of many that follow one another, where the quality makes one picture of them.
        """
        return self.begin(frame, target, viewport, adds_up=adds_up)(again)

    def begin(
        self,
        frame: Frame,
        target: moderngl.Framebuffer,
        viewport: Rectangle | None = None,
        *,
        adds_up: bool = False,
    ) -> Callable[[bool], bool]:
        """As `draw`, in two parts: what is returned is told of `again`, and brings the scene drawn now into the target.
        Software GL shades the scene while its caller does something else."""
        viewport = viewport or (0, 0, *self.size_px)
        if self._finishing.has(frame):
            return lambda again: again and self._repeat(target, viewport)
        if cold := self._cold:
            with self._probe("warm up"):
                finish(self.warm_up(frame))
        self._finishing.forget()
        adds = adds_up and self._finishing.gains_by_the_past(frame.view)
        shift_px = self._draw_shifted(frame, adds=adds, one_of_many=adds_up)
        if cold and self._finishing.gains_by_the_past(frame.view):  # unseen, as later ones are: see `warm_up`
            if not adds:  # else what is returned does
                self._add_up(frame, shift_px, target, viewport)
            self._finish(frame, target, viewport, begins=False)
        if adds:
            return lambda again: self._add_up(frame, shift_px, target, viewport)
        return lambda again: self._finish(frame, target, viewport, begins=not adds_up)

    def _repeat(self, target: moderngl.Framebuffer, viewport: Rectangle, told: str = "repeat") -> bool:
        with self._probe(told):
            self._finishing.repeat(target, viewport)
        return True

    def _finish(
        self, frame: Frame, target: moderngl.Framebuffer, viewport: Rectangle, *, begins: bool
    ) -> bool:
        with self._probe("post"):
            about = self._models.rectangles(frame.vehicles, frame.view, self._targets.size_px)
            self._finishing.finish(frame, target, viewport, self._exposure(frame), about, begins=begins)
        return True

    def warm_up(self, frame: Frame) -> Iterator[None]:
        """Draw by programs that wait for motion, unseen, a share at a step: software GL compiles one where it is first
        drawn by. `draw` takes the shares that are left before its first picture."""
        self._begin_unseen(frame)
        self._ctx.enable_only(moderngl.DEPTH_TEST | moderngl.CULL_FACE)
        self._still_world.warm_up()
        self._models.warm_up(frame.vehicles, self._context("opaque", frame.view, self._targets.size_px))
        yield
        self._begin_unseen(frame)
        blend_over(self._ctx)
        self._ctx.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
        self._waters.warm_up(frame, self._targets)
        if frame.sea is not None:  # nobody dives into water at rest
            self._targets.scene.scissor = 0, 0, 1, 1
            self._targets.scene.use()
            self._draw_sky(under_water=True)
            self._targets.scene.scissor = None  # type: ignore[assignment]
        self._cold = False

    def _begin_unseen(self, frame: Frame) -> None:
        self._bind_textures()
        self._set_uniforms(frame)
        self._uniforms["picture"].bind()
        self._targets.scene.use()

    def _draw_shifted(self, frame: Frame, *, adds: bool, one_of_many: bool) -> tuple[float, float]:
        """Draw a frame, a part of a pixel apart where it is to be added; which part [px]."""
        view, shift_px = self._finishing.shift(frame.view) if adds else (frame.view, (0.0, 0.0))
        self._draw_targets(replace(frame, view=view), one_of_many=one_of_many)
        return shift_px

    def _add_up(
        self, frame: Frame, shift_px: tuple[float, float], target: moderngl.Framebuffer, viewport: Rectangle
    ) -> bool:
        with self._probe("add up"):
            vehicles = [vehicle for vehicle in frame.vehicles if vehicle is self._models.carried]
            about = self._models.rectangles(vehicles, frame.view, self.size_px)
            self._finishing.add(frame, shift_px, self._exposure(frame), about)
        return self._repeat(target, viewport, "post")

    def _exposure(self, frame: Frame) -> float:
        return EXPOSURE * self._light.exposure * frame.exposure

    def _draw_targets(self, frame: Frame, *, one_of_many: bool) -> None:
        """The scene of a frame, linear, before it is finished."""
        self._models.carried = carried_vehicle(frame)
        if self._still_world.clear_about(frame.vehicles):
            self._light_by(self._cast_and_bake())
        self._bind_textures()
        self._still_world.place_cones(frame.cones)
        with self._probe("vehicle shadow"):
            lately = one_of_many and not self.quality.full_materials
            self._shadows.cast_vehicles(frame.vehicles, self._models, self._context, one_of_many=lately)
        height_px = self._targets.size_px[1]
        self._waters.prepare(frame, self._probe, detail=detail(self._effort), height_px=height_px)
        self._models.water = self._waters.plane_about(frame)
        self._models.film = self._waters.film_about(frame)
        self._set_uniforms(frame)
        self._uniforms["picture"].bind()
        self._sky.prepare()
        if self._mirror is not None:
            with self._probe("reflection"):
                self._draw_mirror(frame)
        self._draw_scene(frame)

    def cutout(self, frame: Frame, target: moderngl.Framebuffer) -> np.ndarray:
        """Draw the vehicles alone into `target`; returns how much they cover, (height, width) 0..1, first row on top.

        The picture has their own colour up to the edge, for whatever is put behind.
        """
        self._bind_textures()
        self._shadows.cast_vehicles(frame.vehicles, self._models, self._context)
        self._set_uniforms(frame)
        targets = self._targets
        self._uniforms["picture"].bind()

        def draw(vehicle: DrawnVehicle, name: PassName) -> None:
            self._models.draw(vehicle, self._context(name, frame.view, targets.size_px))

        cover = cut_out(self._ctx, targets, frame.vehicles, draw)
        self._finishing.finish(frame, target, (0, 0, *self.size_px), self._exposure(frame), begins=False)
        self._finishing.forget()
        return cover[::-1]

    def _bind_textures(self, *, lit: bool = True) -> None:
        """`lit`: of the light that is drawn with; else of that for which all is being made."""
        self._sky.bind(filled_last=not lit)
        self._still_world.bind()
        self._shadows.bind(cast_last=not lit)
        self._waters.bind()
        maps = {"opaque_map": self._targets.opaque_map, "reflection_map": self._targets.mirror_map}
        for name, texture in maps.items():
            if texture is not None:
                texture.use(SAMPLER_UNITS[name])

    def _context(
        self,
        name: PassName,
        view: View,
        size_px: tuple[int, int],
        *,
        mirrored: bool = False,
        seen_above_m: float = -math.inf,
    ) -> PassContext:
        return PassContext(
            ctx=self._ctx,
            programs=self._programs,
            name=name,
            view=view,
            size_px=size_px,
            light=self._next_light if name == "shadow" else self._light,
            quality=self.quality,
            frustum=frustum_planes(view.projection @ view.view),
            near_vehicles=self._shadows.near_vehicles,
            stands=self._shadows.stands,
            detail=detail(self._effort),
            texture_bias=self._texture_bias,
            seen_above_m=seen_above_m,
            mirrored=mirrored,
        )

    def _set_uniforms(self, frame: Frame) -> None:
        picture = self._uniforms["picture"]
        picture.set_shadows(self._shadows.frames)
        picture.set_view(
            frame.view,
            self._targets.size_px,
            wall_s=frame.wall_s,
            under_m=self._waters.eye_under_m(frame),
            texture_bias=self._texture_bias,
        )
        picture.upload()

    def _draw_mirror(self, frame: Frame) -> None:
        frustum = frustum_planes(frame.view.projection @ frame.view.view)
        if self._mirror is None or self._targets.mirror is None or not self._waters.visible(frame, frustum):
            return
        view, below = frame.view.mirrored(self._mirror), self._uniforms["mirror"]
        keep_above = (0.0, 0.0, 1.0, _MIRROR_SINK_M - self._waters.level_m)
        below.set_shadows(self._shadows.frames)
        below.set_view(view, self._targets.mirror_px, wall_s=frame.wall_s, clip_plane=keep_above)
        below.upload()
        below.bind()
        self._targets.mirror.use()
        self._targets.mirror.clear(depth=1.0)
        self._draw_opaque(frame, self._context("opaque", view, self._targets.mirror_px, mirrored=True))
        self._draw_sky()

    def _draw_opaque(self, frame: Frame, context: PassContext) -> None:
        self._ctx.enable_only(moderngl.DEPTH_TEST)
        probe = self._probe if not context.mirrored else (lambda name: nullcontext())
        with probe("land, plants, blocks"):
            self._still_world.draw(context)
        with probe("vehicles"):
            for vehicle in (*frame.vehicles, *self._models.in_view(self._parked, context.frustum)):
                self._models.draw(vehicle, context)
        self._flush()

    def _draw_sky(self, *, under_water: bool = False) -> None:
        self._ctx.enable_only(moderngl.DEPTH_TEST)
        self._ctx.depth_func = "<="
        self._sky.draw(under_water=under_water)
        self._ctx.depth_func = "<"

    def _draw_scene(self, frame: Frame) -> None:
        ctx, targets = self._ctx, self._targets
        targets.scene.use()
        targets.scene.clear(depth=1.0)
        self._uniforms["picture"].bind()
        above_m = self._waters.hides_below_m(frame)
        self._draw_opaque(frame, self._context("opaque", frame.view, targets.size_px, seen_above_m=above_m))
        if self.quality.full_materials:  # else it is drawn where no water is
            with self._probe("sky"):
                self._draw_sky()
        context = self._context("blend", frame.view, targets.size_px)
        blend_over(ctx)
        if self._waters.visible(frame, context.frustum):
            with self._probe("water"):
                targets.copy_opaque()
                targets.scene.use()
                ctx.enable_only(moderngl.DEPTH_TEST | (0 if self.quality.full_materials else moderngl.BLEND))
                self._waters.draw(frame, context, targets)
        if not self.quality.full_materials:
            with self._probe("sky"):
                self._draw_sky(under_water=self._waters.eye_under_m(frame) > 0.0)
        with self._probe("blended"):
            ctx.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
            targets.scene.depth_mask = False
            self._draw_blended(frame, context)
            targets.scene.depth_mask = True

    def _draw_blended(self, frame: Frame, context: PassContext) -> None:
        vehicles = (*frame.vehicles, *self._models.in_view(self._parked, context.frustum))
        eye_w = frame.view.eye_w
        for vehicle in sorted(vehicles, key=lambda v: -float(np.linalg.norm(v.T_wb[:3, 3] - eye_w))):
            self._models.draw(vehicle, context)
        self._waters.draw_blended(frame, context)
        self._overlay.draw(frame, context)

    @property
    def strewn(self) -> int:
        """Plants and blocks of the world that nothing has taken the place of."""
        return self._still_world.strewn

    @property
    def drawn_triangles(self) -> dict[str, int]:
        """Triangles of the still world in the last frame, by part."""
        return self._still_world.drawn_triangles

    def release(self) -> None:
        """Free every GL object, and give the memory of the old world back."""
        self._lighting.close()  # what it has bound and made for itself goes while there is a context
        unbind(self._ctx)
        self._resources.close()
        give_back()
