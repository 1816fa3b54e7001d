"""Quality levels: what a frame may cost, as frozen presets."""

import math
from dataclasses import replace
from typing import Literal

import moderngl

from render.errors import DisplayError
from render.frame_budget import scale as effort_scale
from sim.platform.values import dataclass

QualityName = Literal["high", "medium", "low", "software"]

SOFTWARE_RENDERERS = ("llvmpipe", "softpipe", "swiftshader", "software rasterizer", "microsoft basic render")


_MOST_SAMPLES = 2_600_000
"""Of a picture at rest that is drawn with several a pixel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """One preset. Counts are bounds a frame keeps to, wherever the camera stands."""

    name: QualityName
    resolution_scale: float
    """Of the scene; the picture is scaled up to the window afterwards."""
    most_pixels: int
    """Of the scene: a larger window is drawn at a smaller scale."""
    samples: int
    """Multisampling of the scene; 1 for none."""
    fxaa: bool
    bloom: bool
    adds_up: bool
    """Pictures in motion are each drawn a part of a pixel apart, and add up at the window's own size."""
    full_materials: bool
    """Rock, leaves and water per pixel; else colour baked per vertex and haze per vertex."""
    static_shadow_px: tuple[int, int]
    """Of the whole canyon, (along, across)."""
    vehicle_shadow_px: int
    shadow_taps: int
    reflection_scale: float
    """Of the planar reflection of the river, relative to the scene; 0 for sky and baked walls only."""
    terrain_error_px: float
    """Tolerated screen error of a terrain chunk's level of detail."""
    terrain_triangles: int
    """Budget of the terrain in one view."""
    finest_level: int
    """Of the terrain mesh levels, the finest that is loaded."""
    shrub_quads: tuple[int, ...]
    """Leaf cards of a shrub's levels of detail, finest first."""
    shrub_reach_m: tuple[float, ...]
    """How far each level but the last is drawn."""
    shrubs: int
    """Bound on shrubs drawn, nearest first."""
    tuft_cards: tuple[int, ...]
    """Of a tuft of grass, at its levels of detail."""
    tuft_reach_m: tuple[float, ...]
    tufts: int
    """Bound on tufts drawn, nearest first."""
    boulder_details: tuple[int, ...]
    """Subdivisions of a block's levels of detail, finest first."""
    boulder_reach_m: tuple[float, ...]
    boulders: int
    """Bound on blocks drawn, but for those that can be run into and are near: they are drawn at every quality."""
    anisotropy: float
    sea_cells: tuple[int, int]
    """Rings and columns of the mesh of a sea with waves."""
    sea_spray: int
    """Puffs of spray from its crests that fly in a gale."""

    def scene_px(
        self, output_px: tuple[int, int], *, supersampling: int = 1, effort: float = 1.0
    ) -> tuple[int, int]:
        """Size at which the scene of a picture of `output_px` is drawn; `effort`: as a frame budget has them."""
        scale = self.resolution_scale * supersampling
        if supersampling == 1:
            scale = min(scale, math.sqrt(self.most_pixels / (output_px[0] * output_px[1])))
        scale *= effort_scale(effort)
        return max(round(output_px[0] * scale), 8), max(round(output_px[1] * scale), 8)

    def whole_effort(self, output_px: tuple[int, int]) -> float:
        """The effort at which a picture is drawn at the window's own size, 1 at least.

        Where pictures add up one at rest has up to four samples a pixel.
        """
        area = output_px[0] * output_px[1]
        scale = min(self.resolution_scale, math.sqrt(self.most_pixels / area))
        along = max(min(math.sqrt(_MOST_SAMPLES / area), 2.0), 1.0) if self.adds_up else 1.0
        return max(along / scale, 1.0)

    @property
    def defines(self) -> dict[str, int]:
        """Preprocessor names that every shader sees."""
        return {"FULL_MATERIALS": int(self.full_materials), "SHADOW_TAPS": self.shadow_taps}


PRESETS: dict[QualityName, Quality] = {
    "high": Quality(
        name="high",
        resolution_scale=1.0,
        most_pixels=16_000_000,
        samples=4,
        fxaa=True,
        bloom=True,
        adds_up=False,
        full_materials=True,
        static_shadow_px=(8192, 4096),
        vehicle_shadow_px=1024,
        shadow_taps=8,
        reflection_scale=0.5,
        terrain_error_px=1.0,
        terrain_triangles=3_000_000,
        finest_level=0,
        shrub_quads=(96, 32, 10),
        shrub_reach_m=(55.0, 150.0),
        shrubs=12_000,
        tuft_cards=(7, 4),
        tuft_reach_m=(25.0,),
        tufts=6_000,
        boulder_details=(2, 1),
        boulder_reach_m=(90.0,),
        boulders=6_000,
        anisotropy=8.0,
        sea_cells=(400, 320),
        sea_spray=12_000,
    ),
    "medium": Quality(
        name="medium",
        resolution_scale=1.0,
        most_pixels=4_000_000,
        samples=1,
        fxaa=True,
        bloom=True,
        adds_up=False,
        full_materials=True,
        static_shadow_px=(4096, 2048),
        vehicle_shadow_px=1024,
        shadow_taps=4,
        reflection_scale=0.0,
        terrain_error_px=2.0,
        terrain_triangles=1_000_000,
        finest_level=1,
        shrub_quads=(64, 24, 10),
        shrub_reach_m=(45.0, 120.0),
        shrubs=5_000,
        tuft_cards=(5, 3),
        tuft_reach_m=(18.0,),
        tufts=2_500,
        boulder_details=(2, 1),
        boulder_reach_m=(70.0,),
        boulders=3_000,
        anisotropy=4.0,
        sea_cells=(288, 224),
        sea_spray=8_000,
    ),
    "low": Quality(
        name="low",
        resolution_scale=0.75,
        most_pixels=2_000_000,
        samples=1,
        fxaa=True,
        bloom=False,
        adds_up=False,
        full_materials=True,
        static_shadow_px=(4096, 2048),
        vehicle_shadow_px=512,
        shadow_taps=1,
        reflection_scale=0.0,
        terrain_error_px=4.0,
        terrain_triangles=400_000,
        finest_level=1,
        shrub_quads=(40, 10),
        shrub_reach_m=(40.0,),
        shrubs=1_500,
        tuft_cards=(4, 2),
        tuft_reach_m=(14.0,),
        tufts=800,
        boulder_details=(1, 0),
        boulder_reach_m=(40.0,),
        boulders=1_000,
        anisotropy=1.0,
        sea_cells=(192, 144),
        sea_spray=4_000,
    ),
    "software": Quality(
        name="software",
        resolution_scale=1.0,
        most_pixels=1_100_000,
        samples=1,
        fxaa=True,
        bloom=False,
        adds_up=True,
        full_materials=False,
        static_shadow_px=(4096, 2048),
        vehicle_shadow_px=512,
        shadow_taps=1,
        reflection_scale=0.0,
        terrain_error_px=2.0,
        terrain_triangles=16_000,
        finest_level=1,
        shrub_quads=(14, 5),
        shrub_reach_m=(36.0,),
        shrubs=600,
        tuft_cards=(2,),
        tuft_reach_m=(),
        tufts=250,
        boulder_details=(1, 0),
        boulder_reach_m=(26.0,),
        boulders=300,
        anisotropy=1.0,
        sea_cells=(224, 96),
        sea_spray=2_500,
    ),
}


def preset(name: str) -> Quality:
    """The preset called `name`; DisplayError names those that exist."""
    for known, quality in PRESETS.items():
        if known == name:
            return quality
    raise DisplayError(f"unknown quality {name!r}; there are {', '.join(PRESETS)}")


def is_software(ctx: moderngl.Context) -> bool:
    """Whether the context draws on the CPU."""
    renderer = ctx.info["GL_RENDERER"].lower()
    return any(name in renderer for name in SOFTWARE_RENDERERS)


def detect(ctx: moderngl.Context) -> QualityName:
    """The preset that suits the context's renderer."""
    return "software" if is_software(ctx) else "high"


def require_gl(ctx: moderngl.Context) -> None:
    """Raise DisplayError, saying what was found, where the context is older than OpenGL 4.1."""
    if ctx.version_code < 410:
        found = f"OpenGL {ctx.version_code // 100}.{ctx.version_code // 10 % 10} ({ctx.info['GL_RENDERER']})"
        raise DisplayError(f"OpenGL 4.1 or newer is needed, found {found}; update the graphics driver")


def choose(ctx: moderngl.Context, name: str | None = None, *, supersampling: int = 1) -> Quality:
    """The preset `name`, by default the detected one, as far as the context can carry it.

    Supersampling takes the place of multisampling and FXAA. Software renderers get neither anisotropy nor
    multisampling: there each costs many times the picture itself.
    """
    quality = preset(name or detect(ctx))
    if is_software(ctx):
        quality = replace(quality, anisotropy=1.0, samples=1)
    if supersampling > 1:
        return replace(quality, samples=1, fxaa=False, resolution_scale=1.0)
    return replace(quality, samples=min(quality.samples, ctx.max_samples))
