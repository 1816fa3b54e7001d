"""The still world on the GPU: land, plants, blocks, pads and the textures they share."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial

import moderngl
import numpy as np

from render.frame import DrawnVehicle
from render.land.mapped import LevelSun, MappedLand
from render.land.props import Props
from render.land.scatter import BOULDER, SHRUB, ScatterField
from render.land.scenery import Pads, Scenery
from render.land.terrain import Land
from render.land.textures import (
    band_contrast,
    leaf_texture,
    material_images,
    ramp_texture,
    strata_ramp,
    tiled_texture,
)
from render.light import Light
from render.passes.still_light import Lit
from render.passes.targets import PassContext
from render.process import Flush
from render.programs import SAMPLER_UNITS, Programs, Resources
from render.quality import Quality
from render.room_light import RoomLight
from sim.contact.obstacles import ObstaclesPicture

FAR_SPACING_M = (40.0,)


class StillWorld:
    """Owns everything that does not move and draws it into any pass.

    Plants and blocks keep one choice of instances for each camera (`views`), so that the river's mirror image does not
    undo the choice made for the picture.
    """

    def __init__(self, ctx: moderngl.Context, scenery: Scenery, quality: Quality):
        """All but what `made` makes."""
        self._ctx, self._quality = ctx, quality
        self._resources, self._flush = Resources(), Flush(ctx)
        self._cleared = np.zeros((0, 3))
        self._textures = self._make_textures(ctx, scenery, quality)
        self._land: list[Land | MappedLand] = []
        self.terrain: Land | MappedLand | None = None
        self._pads: Pads | None = None
        self._props: Props | None = None
        self._baked: list[Land | MappedLand | LevelSun] = []
        self._fields: dict[str, list[ScatterField]] = {"picture": []}
        if quality.reflection_scale > 0.0:
            self._fields["mirror"] = []

    def made(self, programs: Programs, scenery: Scenery) -> Iterator[None]:
        """Make what is drawn, a part at a step: the programs of each have to be linked."""
        ctx, quality, own = self._ctx, self._quality, self._resources.own
        if scenery.terrain:
            self.terrain = own(
                Land(ctx, programs, scenery.terrain, scenery.ridges, quality=quality)
                if quality.full_materials
                else MappedLand(ctx, programs, scenery.mapped_ground, quality=quality)
            )
            self._land.append(self.terrain)
            yield
        if scenery.far:
            far = Land(ctx, programs, scenery.far, scenery.ridges, quality=quality, spacing_m=FAR_SPACING_M)
            self._land.append(own(far))
            yield
        self._pads = own(Pads(ctx, programs, scenery.pads))
        self._baked += self._land
        if scenery.props is not None:
            self._props = own(Props(ctx, programs, scenery.props, by_kind=not quality.full_materials))
            if self._props.level_sun is not None:
                self._baked.append(self._props.level_sun)
            yield
        for fields in self._fields.values():
            for field in self._scatter(programs, scenery):
                fields.append(own(field))
                yield

    def _make_textures(
        self, ctx: moderngl.Context, scenery: Scenery, quality: Quality
    ) -> dict[str, moderngl.Texture]:
        full = quality.full_materials
        tiled = partial(tiled_texture, ctx, anisotropy=quality.anisotropy, smooth_levels=full)
        textures = {name: tiled(images) for name, images in material_images(full=full).items()}
        textures["strata_map"] = ramp_texture(ctx, strata_ramp())
        textures["band_map"] = ramp_texture(ctx, band_contrast(strata_ramp()))
        textures["leaf_map"] = leaf_texture(ctx, scenery.leaves, smooth_levels=full)
        return {name: self._resources.own(texture) for name, texture in textures.items()}

    def _scatter(self, programs: Programs, scenery: Scenery) -> Iterator[ScatterField]:
        quality = self._quality
        field = partial(ScatterField, self._ctx, programs)
        # Where there are reeds, too, both have the room of one.
        tufts = quality.tuft_reach_m, quality.tufts // (1 if scenery.reeds is None else 2)
        plants = (
            (scenery.shrub_levels, scenery.shrubs, quality.shrub_reach_m, quality.shrubs),
            (scenery.tuft_levels, scenery.tufts, *tufts),
            (scenery.reed_levels, scenery.reeds, *tufts),
        )
        for levels, placed, reach_m, budget in plants:
            if placed is not None:
                yield field(SHRUB, levels, placed, scenery.ridges, reach_m=reach_m, budget=budget)
        reach_m, budget = quality.boulder_reach_m, quality.boulders // max(len(scenery.boulders), 1)
        for levels, placed in zip(scenery.boulder_levels, scenery.boulders, strict=False):
            yield field(BOULDER, levels, placed, scenery.ridges, reach_m=reach_m, budget=budget)

    def clear_about(self, vehicles: Sequence[DrawnVehicle]) -> bool:
        """Leave out plants and blocks where stands have been put up; whether that changes anything."""
        room = ((v.T_wb, v.config.model.clear_around_m) for v in vehicles)
        stands = [(*T_wb[:2, 3], radius_m) for T_wb, radius_m in room if radius_m and np.isfinite(T_wb).all()]
        places = np.round(np.array(stands, float).reshape(-1, 3), 1)
        if np.array_equal(places, self._cleared):
            return False
        self._cleared, radius_m = places, float(places[:, 2].max(initial=0.0))
        fields = [field for fields in self._fields.values() for field in fields]
        changed = [field.clear(places[:, :2], radius_m) for field in fields]
        return any(changed)

    def place_cones(self, picture: ObstaclesPicture | None) -> None:
        """Draw the world's cones where they are."""
        if self._props is not None:
            self._props.place_cones(picture)

    def light_room(self, light: RoomLight | None) -> None:
        """Have the light of the room that all is in."""
        if self._props is not None:
            self._props.light_room(light)

    def bind(self) -> None:
        """Keep the shared textures where every material looks for them."""
        for name, texture in self._textures.items():
            texture.use(SAMPLER_UNITS[name])

    @property
    def lit(self) -> Mapping[str, Lit]:
        """What is baked, by name."""
        return {f"land {number}": land for number, land in enumerate(self._baked)}

    @property
    def mapped(self) -> bool:
        """Whether light lies in a map, which can be drawn coarsely at first."""
        return any(part.mapped for part in self._baked)

    def bake(self, light: Light, coarser: int = 1, *, maps_only: bool = False) -> Iterator[None]:
        """Take up a new light where it is kept, a share at a step; with the last one all of it is there.

        `coarser`: texels of maps are so many times as long. `maps_only`: all else has this light already.
        """
        with ExitStack() as given_up:
            takes = []
            for part in self._baked:
                if part.mapped or not maps_only:
                    takes.append((yield from part.bake(light, given_up, coarser)))
            for take in takes:
                take()

    def cast(self) -> Iterator[Callable[[PassContext], None]]:
        """To be called with the shadow pass, each for a share of what casts one; the far land does not."""
        if self._props is not None:
            yield self._props.draw
        if self.terrain is not None:
            yield from self.terrain.cast()
        if self._pads is not None:
            yield self._pads.draw
        for field in self._fields["picture"]:
            yield field.draw

    def draw(self, context: PassContext) -> None:
        """Draw all that the pass's camera sees."""
        if self._props is not None:
            self._props.draw(context)  # before the land that it covers, which then need not be shaded
            self._flush()
        for land in self._land:
            land.draw(context)
            self._flush()
        if self._pads is not None:
            self._pads.draw(context)
        for field in self._fields["mirror" if context.mirrored else "picture"]:
            field.draw(context)
            self._flush()

    def warm_up(self) -> None:
        """Have the programs of the opaque pass compiled that wait for a vehicle or for distance."""
        for land in self._land:
            land.warm_up()

    @property
    def strewn(self) -> int:
        """Plants and blocks that there are, in view or not."""
        return sum(field.count for field in self._fields["picture"])

    @property
    def drawn_triangles(self) -> dict[str, int]:
        """Triangles of the last draw, by part."""
        return {
            "terrain": sum(land.drawn_triangles for land in self._land),
            "scatter": sum(field.drawn_triangles for field in self._fields["picture"]),
        }

    def release(self) -> None:
        """Free everything."""
        self._resources.close()
