"""The one uniform block every shader reads: camera, light, haze and shadow matrices."""

import moderngl
import numpy as np

from render.frame import View
from render.light import Light, horizon_rad
from render.programs import FRAME_BINDING
from sim.platform.values import dataclass

_LAYOUT = np.dtype(
    [
        ("clip_from_world", "f4", (4, 4)),
        ("world_from_clip", "f4", (4, 4)),
        ("sun_shadow", "f4", (4, 4)),
        ("vehicle_shadow", "f4", (4, 4)),
        ("eye", "f4", 4),
        ("sun_direction", "f4", 4),
        ("sun_irradiance", "f4", 4),
        ("haze", "f4", 4),
        ("viewport", "f4", 4),
        ("clip_plane", "f4", 4),
        ("shadow_texel", "f4", 4),
        ("water", "f4", 4),
        ("still_shadow", "f4", 4),
        ("room", "f4", 4),
        ("orbit", "f4", 4),
        ("sky_harmonics", "f4", (9, 4)),
    ]
)
"""As shaders/frame.glsl declares it; only vec4 and mat4, so that std140 and packed layouts agree."""

_SUN_BIAS_M, _ROOM_BIAS_M, _SUN_BIAS_TEXELS = 0.25, 0.02, 0.6
"""Depth by which a surface is spared its own shadow: what the mesh strays, and what one texel spans."""
_HAZE = (1.7, 1.0 / 900.0, 0.0)
"""Density relative to a clear mountain day, how it falls off [1/m], and the height where it is so dense [m]."""
_RAIN_HAZE = 70.0
"""How much denser the heaviest rain makes it: at the usual density 2 % of green light is left after 0.76 km."""
NO_CLIP = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShadowFrames:
    """Where the shadow maps lie: world to texture coordinates and depth, each 0..1."""

    sun: np.ndarray
    vehicle: np.ndarray
    sun_depth_m: float
    sun_texel: tuple[float, float]
    sun_texel_m: float
    """Of the longer side."""
    vehicle_texel: float
    vehicle_depth_m: float
    """Depth range of the vehicle map; its middle is at the vehicles."""
    vehicle_span_m: float
    """Width of the vehicle map; 0 when nothing casts into it."""
    still: tuple[float, float, float, float]
    """From the vehicle map to that of what stands about: factor of x and y, 0 without one; what is added then."""


class FrameUniforms:
    """One camera's uniform block: filled once a frame, bound when a pass begins."""

    def __init__(self, ctx: moderngl.Context):
        self._values = np.zeros((), _LAYOUT)
        self._buffer = ctx.buffer(reserve=_LAYOUT.itemsize, dynamic=True)

    def set_light(self, light: Light, *, water_level_m: float) -> None:
        """Sun, sky and haze; unchanged until the sun moves."""
        values = self._values
        values["sun_direction"] = (*light.direction_w, light.clouds)
        values["sun_irradiance"][:3] = light.sun_irradiance
        values["sky_harmonics"][:, :3] = light.sky_harmonics
        values["haze"][:3] = _HAZE
        values["haze"][0] *= 1.0 + _RAIN_HAZE * light.rain
        values["orbit"][3] = light.rain
        values["water"][0] = water_level_m
        if light.room is not None:
            values["room"] = (*light.room.room.half_m, light.room.room.height_m, 1.0)
        if light.orbit_m is not None:
            values["orbit"] = (light.orbit_m, horizon_rad(light.orbit_m), 1.0, 0.0)
            values["haze"][0] = 0.0

    def set_shadows(self, shadows: ShadowFrames) -> None:
        """Matrices and texel sizes of both shadow maps."""
        values = self._values
        values["sun_shadow"] = shadows.sun.T
        values["vehicle_shadow"] = shadows.vehicle.T
        values["shadow_texel"] = (*shadows.sun_texel, shadows.vehicle_texel, shadows.vehicle_span_m)
        bias_m = _ROOM_BIAS_M if values["room"][3] else _SUN_BIAS_M
        values["water"][1] = (bias_m + _SUN_BIAS_TEXELS * shadows.sun_texel_m) / shadows.sun_depth_m
        values["water"][2] = shadows.vehicle_depth_m
        values["still_shadow"] = shadows.still

    def set_view(
        self,
        view: View,
        size_px: tuple[int, int],
        *,
        wall_s: float = 0.0,
        clip_plane: tuple[float, float, float, float] = NO_CLIP,
        under_m: float = 0.0,
        texture_bias: float = 0.0,
    ) -> None:
        """Camera, picture size, the half space (n, d), n.x + d >= 0, that is drawn; how deep the eye is in the sea.

        texture_bias: levels by which textures are looked up finer, negative, where pictures add up to a larger one.
        """
        values = self._values
        clip_from_world = view.projection @ view.view
        values["clip_from_world"] = clip_from_world.T
        values["world_from_clip"] = np.linalg.inv(clip_from_world).T
        values["eye"][:3] = view.eye_w
        values["eye"][3] = wall_s
        values["viewport"] = (*size_px, 1.0 / size_px[0], 1.0 / size_px[1])
        values["clip_plane"] = clip_plane
        values["water"][3] = max(under_m, 0.0)
        values["haze"][3] = texture_bias

    def upload(self) -> None:
        """Send the block to the GL."""
        self._buffer.write(self._values)

    def bind(self) -> None:
        """Make it the block that programs read."""
        self._buffer.bind_to_uniform_block(FRAME_BINDING)

    def release(self) -> None:
        """Free the buffer."""
        self._buffer.release()
