"""Framebuffers: those of one picture size, one to be read back, and what vehicles alone cover of a picture.

What a drawable is given: the pass it draws in, the camera of that pass and the programs to draw with."""

import math
from collections.abc import Callable, Sequence
from typing import Literal, cast

import moderngl
import numpy as np

from render.frame import DrawnVehicle, View
from render.light import Light
from render.programs import Programs, Resources
from render.quality import Quality, is_software
from sim.platform.values import dataclass

PassName = Literal["shadow", "opaque", "blend"]


@dataclass(frozen=True, slots=True)
class PassContext:
    """One pass over the scene, from one camera.

    State on entry: the pass's framebuffer, viewport and uniform block `Frame` are bound; depth test on, face
    culling off. "shadow" writes depth only, `view` is the light's; "opaque" writes linear colour, alpha = distance
    from the eye in metres (without full materials negative where the carried vehicle is, see accumulation.py);
    "blend" has alpha blending on and depth writes off. A drawable leaves the state as it found it.
    """

    ctx: moderngl.Context
    programs: Programs
    name: PassName
    view: View
    size_px: tuple[int, int]
    light: Light
    quality: Quality
    frustum: np.ndarray
    """(6, 4) planes (n, d) of the pass's camera, inside where n.x + d >= 0, n of unit length."""
    near_vehicles: np.ndarray | None = None
    """(6, 4) likewise of what the vehicles may cast a shadow on; None: on nothing."""
    stands: bool = False
    """What stands about casts a shadow there too."""
    detail: float = 1.0
    """Share of the quality's budgets of triangles and instances that there is time for."""
    texture_bias: float = 0.0
    """Of the level of textures: they are looked up as for 2^-bias times the pixels along each side."""
    seen_above_m: float = -math.inf
    """Height below which the water hides all."""
    mirrored: bool = False
    """The camera is reflected in the river: faces turn the other way, detail may be coarser."""

    @property
    def px_per_radian(self) -> float:
        """In the middle of the picture."""
        return float(self.view.projection[1, 1]) * self.size_px[1] * 0.5


def blend_over(ctx: moderngl.Context) -> None:
    """What is blended lies over the scene, whose own alpha it leaves alone."""
    over = moderngl.SRC_ALPHA, moderngl.ONE_MINUS_SRC_ALPHA, moderngl.ZERO, moderngl.ONE
    ctx.blend_func = over  # type: ignore[assignment]  # declared for two, works for four


def write_once(ctx: moderngl.Context) -> None:
    """Nothing is tested, and what is drawn takes the place of what was there: for maps that are drawn seldom.

    Software GL compiles a program twice for such a state, the second time for what covers whole tiles, unless it has
    to ask, at least, what is to be left of what was there.
    """
    if is_software(ctx):
        ctx.enable_only(moderngl.BLEND)
        ctx.blend_func = moderngl.ONE, moderngl.ZERO
    else:
        ctx.enable_only(moderngl.NOTHING)


def unbind(ctx: moderngl.Context) -> None:
    """Bind the default framebuffer: one that is released while bound makes the next one made an error."""
    ctx.detect_framebuffer(0).use()


class Canvas:
    """An encoded RGB framebuffer of one size."""

    def __init__(self, ctx: moderngl.Context, size_px: tuple[int, int]):
        self._ctx = ctx
        self._texture = ctx.texture(size_px, 4)
        self.framebuffer = ctx.framebuffer([self._texture])

    def image(self) -> np.ndarray:
        """(ny, nx, 3) uint8, top row first."""
        pixels = np.frombuffer(self.framebuffer.read(components=3, alignment=1), dtype=np.uint8)
        return pixels.reshape(self.framebuffer.height, self.framebuffer.width, 3)[::-1]

    def release(self) -> None:
        """Free the framebuffer."""
        unbind(self._ctx)
        self.framebuffer.release()
        self._texture.release()


def colour_of(framebuffer: moderngl.Framebuffer) -> moderngl.Texture:
    """What a framebuffer whose colour is a texture draws into."""
    return cast(moderngl.Texture, framebuffer.color_attachments[0])


_Attachment = moderngl.Texture | moderngl.Renderbuffer


class Targets:
    """Linear scene (multisampled or not), its copy for refraction, the river's mirror image."""

    def __init__(
        self,
        ctx: moderngl.Context,
        size_px: tuple[int, int],
        *,
        samples: int,
        mirror_scale: float,
        refraction: bool,
        shade_late: bool,
        water_block: int = 1,
    ):
        """`shade_late`: a sea in waves is shaded once a pixel. Water at rest is, once in `water_block` by so many."""
        self._ctx = ctx
        self._resources = Resources()
        self.size_px = size_px
        self.scene_map = self._colour(size_px)
        self.depth_map: moderngl.Texture | None = None
        """Of the scene, where that is not multisampled."""
        if samples > 1:
            self.scene = self._framebuffer(
                ctx.renderbuffer(size_px, 4, samples=samples, dtype="f2"),
                ctx.depth_renderbuffer(size_px, samples=samples),
            )
            self._resolved: moderngl.Framebuffer | None = self._framebuffer(self.scene_map)
        else:
            self.depth_map = self._resources.own(ctx.depth_texture(size_px))
            self.depth_map.compare_func = ""
            self.depth_map.filter = (moderngl.NEAREST, moderngl.NEAREST)
            self.scene = self._framebuffer(self.scene_map, self.depth_map)
            self._resolved = None
        self._shade_late = shade_late
        self.water_block = water_block
        self._sea_places: moderngl.Framebuffer | None = None
        self._sea_shaded: moderngl.Framebuffer | None = None
        self._water_shaded: moderngl.Framebuffer | None = None
        self.opaque_map = self._colour(size_px) if refraction else None
        self._opaque = None if self.opaque_map is None else self._framebuffer(self.opaque_map)
        self.mirror_px = (max(int(size_px[0] * mirror_scale), 1), max(int(size_px[1] * mirror_scale), 1))
        self.mirror_map: moderngl.Texture | None = None
        self.mirror: moderngl.Framebuffer | None = None
        if mirror_scale > 0.0:
            self.mirror_map = self._colour(self.mirror_px)
            self.mirror = self._framebuffer(self.mirror_map, ctx.depth_renderbuffer(self.mirror_px))

    def _colour(self, size_px: tuple[int, int], *, dtype: str = "f2") -> moderngl.Texture:
        texture = self._resources.own(self._ctx.texture(size_px, 4, dtype=dtype))
        texture.repeat_x = texture.repeat_y = False
        return texture

    def _framebuffer(self, colour: _Attachment, depth: _Attachment | None = None) -> moderngl.Framebuffer:
        for renderbuffer in (colour, depth):
            if isinstance(renderbuffer, moderngl.Renderbuffer):
                self._resources.own(renderbuffer)
        return self._resources.own(self._ctx.framebuffer([colour], depth))

    @property
    def sea_places(self) -> moderngl.Framebuffer | None:
        """Before the scene's own depths: where the sea is that is seen in a pixel, and the haze and the foam there, to
        be shaded once a pixel.

        Made when first asked for: most water has no waves.
        """
        if self._shade_late and self._sea_places is None:
            assert self.scene.depth_attachment is not None
            maps = [self._colour(self.size_px, dtype=dtype) for dtype in ("f4", "f2")]
            for each in maps:
                each.filter = (moderngl.NEAREST, moderngl.NEAREST)
            self._sea_places = self._resources.own(self._ctx.framebuffer(maps, self.scene.depth_attachment))
        return self._sea_places

    @property
    def sea_shaded(self) -> moderngl.Framebuffer:
        """The scene's colours before depths of their own, which are to tell where `sea_places` has any; made when first
        asked for."""
        if self._sea_shaded is None:
            self._sea_shaded = self._framebuffer(self.scene_map, self._ctx.depth_renderbuffer(self.size_px))
        return self._sea_shaded

    @property
    def water_shaded(self) -> moderngl.Framebuffer:
        """What water at rest is shaded into where that is not once a pixel; made when first asked for."""
        if self._water_shaded is None:
            width, height = (-(-side // self.water_block) for side in self.size_px)
            shaded = self._colour((width, height))
            shaded.filter = (moderngl.NEAREST, moderngl.NEAREST)
            self._water_shaded = self._framebuffer(shaded)
        return self._water_shaded

    def copy_opaque(self) -> None:
        """Keep the scene as drawn so far for what is seen through water."""
        if self._opaque is not None:
            self._ctx.copy_framebuffer(self._opaque, self.scene)

    def resolve(self) -> None:
        """Make `scene_map` hold the scene."""
        if self._resolved is not None:
            self._ctx.copy_framebuffer(self._resolved, self.scene)

    def release(self) -> None:
        """Free everything."""
        unbind(self._ctx)
        self._resources.close()


Draw = Callable[[DrawnVehicle, PassName], None]


def cut_out(
    ctx: moderngl.Context, targets: Targets, vehicles: Sequence[DrawnVehicle], draw: Draw
) -> np.ndarray:
    """Leave their own colour up to the edge in the scene's map; returns the cover (height, width) 0..1, from below."""
    scene = targets.scene_map
    before, behind = (_before(ctx, targets, vehicles, draw, level) for level in (0.0, 1.0))
    cover = np.clip(1.0 - (behind - before).mean(axis=-1), 0.0, 1.0)
    straight = np.ones((*cover.shape, 4), "f2")
    straight[..., :3] = before / np.maximum(cover, 1e-3)[..., None]
    scene.write(straight.tobytes())
    return cover


def _before(
    ctx: moderngl.Context, targets: Targets, vehicles: Sequence[DrawnVehicle], draw: Draw, level: float
) -> np.ndarray:
    """(height, width, 3) linear light of the vehicles before a grey wall, bottom row first."""
    targets.scene.use()
    targets.scene.clear(level, level, level, 1.0, depth=1.0)
    ctx.enable_only(moderngl.DEPTH_TEST)
    for vehicle in vehicles:
        draw(vehicle, "opaque")
    blend_over(ctx)
    ctx.enable_only(moderngl.DEPTH_TEST | moderngl.BLEND)
    targets.scene.depth_mask = False
    for vehicle in vehicles:
        draw(vehicle, "blend")
    targets.scene.depth_mask = True
    targets.resolve()
    width, height = targets.size_px
    read = np.frombuffer(targets.scene_map.read(), "f2").reshape(height, width, 4)
    return read[..., :3].astype("f4")
