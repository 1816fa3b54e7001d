"""The water of a world, at rest or as the waves of a frame's sea; a dry world has none and draws none."""

import math
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack

import moderngl
import numpy as np

from render.frame import DrawnVehicle, Frame
from render.ground_extent import material_water_level_m
from render.passes import PassContext
from render.programs import Programs
from render.quality import Quality
from render.sea.surface import SeaSurface
from render.targets import Targets
from render.water import WaterSurface
from sim.world import World


class Waters:
    """Draws the water over the opaque scene, and says where it stands about a vehicle."""

    def __init__(
        self, ctx: moderngl.Context, programs: Programs, world: World, quality: Quality, *, planar: bool
    ):
        """`planar`: what is mirrored in it is drawn into a map of its own."""
        self._ctx, self._programs, self._world, self._quality = ctx, programs, world, quality
        self._planar = planar
        self._resources = ExitStack()
        self.level_m = material_water_level_m(world)
        self._at_rest: WaterSurface | None = None
        if world.water_level_m is not None:
            self._at_rest = WaterSurface(ctx, programs, world, quality, planar=planar)
            self._resources.callback(self._at_rest.release)
        self.waves: SeaSurface | None = None
        """What draws waves in the place of still water; made when first asked for."""

    @property
    def wet(self) -> bool:
        return self._at_rest is not None

    def bind(self) -> None:
        """Keep the textures where the shaders look for them."""
        if self._at_rest is not None:
            self._at_rest.marks.bind()

    def prepare(
        self, frame: Frame, probe: Callable[[str], AbstractContextManager[object]], *, detail: float
    ) -> None:
        """Take up what a frame's vehicles leave on the water, and its waves, in that share of their full detail."""
        if self._at_rest is None:
            return
        with probe("marks on the water"):
            self._at_rest.marks.draw(frame, self.level_m)
        if frame.sea is not None:
            with probe("waves"):
                self._waves(self._at_rest).prepare(frame, detail)

    def plane_about(self, frame: Frame) -> Callable[[DrawnVehicle], tuple[float, float, float]] | None:
        """Of a vehicle: height at the world's origin [m] and slopes of the water that was prepared; None if dry."""
        if self._at_rest is None:
            return None
        if frame.sea is not None and self.waves is not None:
            return self.waves.plane_about
        return lambda vehicle: (self.level_m, 0.0, 0.0)

    def eye_under_m(self, frame: Frame) -> float:
        """How far below the waves the frame is looked at from; 0 over still water."""
        return self.waves.eye_under_m if frame.sea is not None and self.waves is not None else 0.0

    def hides_below_m(self, frame: Frame) -> float:
        """Height below which its waves hide all that lies there: where what is seen through them is not drawn."""
        if frame.sea is None or self.waves is None or self._quality.full_materials:
            return -math.inf
        return self.waves.hides_below_m

    def visible(self, frame: Frame, frustum: np.ndarray) -> bool:
        """Whether any of it may lie in the view."""
        return self._at_rest is not None and (frame.sea is not None or self._at_rest.visible(frustum))

    def draw(self, frame: Frame, context: PassContext, targets: Targets) -> None:
        """What has been prepared, into the scene of the targets."""
        if self._at_rest is None:
            return
        if frame.sea is None:
            self._at_rest.draw(context)
        else:
            self._waves(self._at_rest).draw(context, targets)

    def draw_spray(self, frame: Frame, context: PassContext) -> None:
        """What flies from the waves that have been prepared, in the blended pass."""
        if frame.sea is not None and self.waves is not None:
            self.waves.draw_spray(context)

    def _waves(self, at_rest: WaterSurface) -> SeaSurface:
        if self.waves is None:
            self.waves = SeaSurface(
                self._ctx, self._programs, self._world, self._quality, at_rest.marks, planar=self._planar
            )
            self._resources.callback(self.waves.release)
        return self.waves

    def release(self) -> None:
        """Free every GL object."""
        self._resources.close()
