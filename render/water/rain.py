"""Rain about the eye: drops as streaks, and the rings that they leave on a sea. Farther off it is haze."""

import moderngl

from render.passes.targets import PassContext
from render.programs import Programs, Resources
from render.water.sea import SeaSurface

_STREAKS, _RINGS = 3000, 900
"""In the heaviest rain."""
_CORNERS = 6
"""Vertices of each."""


class Rain:
    """Owns two programs that make everything up by number and time; there is nothing to be kept."""

    def __init__(self, ctx: moderngl.Context, programs: Programs) -> None:
        self._resources = Resources()
        self._ring_program = programs.load("rain_rings.vert", "rain_rings.frag")
        self._rings = self._resources.own(ctx.vertex_array(self._ring_program, []))
        streaks = programs.load("rain.vert", "rain.frag")
        self._streaks = self._resources.own(ctx.vertex_array(streaks, []))

    def draw(self, context: PassContext, sea: SeaSurface | None) -> None:
        """In the blended pass; rings only on a sea that has been prepared, and looked at from above."""
        amount = context.light.rain * context.detail
        if sea is not None and sea.eye_under_m <= 0.0:
            sea.bind()
            sea.describe_to(self._ring_program)
            self._rings.render(moderngl.TRIANGLES, vertices=_CORNERS * round(amount * _RINGS))
        if sea is None or sea.eye_under_m <= 0.0:
            self._streaks.render(moderngl.TRIANGLES, vertices=_CORNERS * round(amount * _STREAKS))

    def release(self) -> None:
        """Free what it owns."""
        self._resources.close()
