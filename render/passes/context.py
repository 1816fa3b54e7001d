"""What a drawable is given: the pass it draws in, the camera of that pass and the programs to draw with."""

import math
from dataclasses import dataclass
from typing import Literal

import moderngl
import numpy as np

from render.frame import View
from render.light import Light
from render.programs import Programs
from render.quality import Quality

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
