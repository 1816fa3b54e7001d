"""Framebuffers: those of one picture size, one to be read back, and what vehicles alone cover of a picture."""

from collections.abc import Callable, Sequence
from typing import cast

import moderngl
import numpy as np

from render.frame import DrawnVehicle
from render.passes.context import PassName, blend_over
from render.programs import Resources


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
        sea_block: int = 1,
    ):
        """`shade_late`: the sea is shaded once a pixel, or once in `sea_block` by so many."""
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
        self.sea_block = sea_block
        self._sea_places: moderngl.Framebuffer | None = None
        self._sea_shaded: moderngl.Framebuffer | None = None
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
        """Before the scene's own depths: where the sea is that is seen in a pixel, to be shaded once a pixel.

        Made when first asked for: most water has no waves.
        """
        if self._shade_late and self._sea_places is None:
            assert self.scene.depth_attachment is not None
            places = self._colour(self.size_px, dtype="f4")
            places.filter = (moderngl.NEAREST, moderngl.NEAREST)
            self._sea_places = self._framebuffer(places, self.scene.depth_attachment)
        return self._sea_places

    @property
    def sea_shaded(self) -> moderngl.Framebuffer:
        """What the sea is shaded into where that is not once a pixel; made when first asked for."""
        if self._sea_shaded is None:
            width, height = (-(-side // self.sea_block) for side in self.size_px)
            shaded = self._colour((width, height))
            shaded.filter = (moderngl.NEAREST, moderngl.NEAREST)
            self._sea_shaded = self._framebuffer(shaded)
        return self._sea_shaded

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
