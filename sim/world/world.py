"""The world a scene plays in: ground, pads, river and a safe way through, by name and seed."""

import math
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from sim.platform.cache import cached_arrays, package_digest, source_digest
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.world.canyon import grow_canyon
from sim.world.hall import grow_desert, hall_grounds
from sim.world.level_grounds import (
    driving_grounds,
    harbour_grounds,
    plaza_grounds,
    street_grounds,
    underpass_grounds,
)
from sim.world.path import Pad, River, Stream, canyon_path, headings, river_stream
from sim.world.props import Grounds, Room
from sim.world.terrain import Terrain, TerrainLayers

_FOLDERS = (Path(__file__).parent, Path(__file__).parents[1] / "contact")
KERNEL_DIGEST = source_digest(*(str(path) for folder in _FOLDERS for path in folder.glob("*.py")))
"""Of all that is compiled for worlds and for the contact with them: what they made should be named by it."""
_GENERATORS = ("canyon", "path", "smoothing", "terrain", "world")
_DIGEST = package_digest(__file__, _GENERATORS)
_GROUNDS_DIGEST = package_digest(__file__, (*_GENERATORS, "hall", "level_grounds", "props"))
_SOLES_M = 1.4
_SEA_BED_M = 60.0
_ORBIT_M = 400e3


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """Everything that is there before a vehicle arrives."""

    name: str
    seed: int
    key: str
    """Names this very ground (name, seed and version of the generator): for caches derived from it."""
    terrain: Terrain
    layers: TerrainLayers | None
    """None where the ground is featureless."""
    pads: tuple[Pad, ...]
    """The first is the start pad."""
    river: River | None
    path: np.ndarray
    """(n, 3) m: a way that can safely be flown, from above the first pad to above the last."""
    grounds: Grounds | None = None
    """What is laid out for wheeled vehicles, where something is."""
    open_sea_m: float | None = None
    """z of the surface of a sea without shores."""
    far_desert: bool = False
    """Table mountains are seen beyond the map, though the ground itself is featureless."""
    orbit_m: float | None = None
    """Height of z = 0 over the sea of a planet that all of it goes round; the ground is that sea."""

    @property
    def water_level_m(self) -> float | None:
        """z of the surface of river, lake or sea; None where there is no water."""
        if self.river is not None:
            return self.river.level_m
        lake = self.grounds.lake if self.grounds is not None else None
        return lake.level_m if lake is not None else self.open_sea_m

    @property
    def room(self) -> Room | None:
        """That it is the inside of."""
        return None if self.grounds is None else self.grounds.room

    @property
    def path_heading_rad(self) -> np.ndarray:
        """(n,) heading along `path`, about +z from +x, continuous."""
        return headings(self.path)

    @property
    def stream(self) -> Stream:
        """Current of the river; none where there is no river."""
        return _stream(self)

    def surface_m(self, x_m: np.ndarray | float, y_m: np.ndarray | float) -> np.ndarray:
        """z [m] of the ground, or of the water that stands above it, at world points that broadcast."""
        ground = self.terrain.height(x_m, y_m)
        return ground if self.water_level_m is None else np.maximum(ground, self.water_level_m)

    def depth_m(self, x_m: np.ndarray | float, y_m: np.ndarray | float) -> np.ndarray:
        """Depth of the water [m] at world points that broadcast; 0 where there is none."""
        level_m = -math.inf if self.water_level_m is None else self.water_level_m
        return np.maximum(level_m - self.terrain.height(x_m, y_m), 0.0)

    def pad(self, name: str) -> Pad:
        """The pad of that name; InputError names the pads there are."""
        for pad in self.pads:
            if pad.name == name:
                return pad
        raise InputError(
            f"world {self.name!r} has no pad {name!r}; it has {', '.join(p.name for p in self.pads)}"
        )

    def start_pose(self, pad: str = "start", height_m: float = _SOLES_M) -> np.ndarray:
        """(4, 4) T_wb standing on a pad; `height_m` is from the soles to the body origin."""
        return self.pad(pad).standing_pose(height_m)


@lru_cache(maxsize=2)
def _stream(world: World) -> Stream:
    river = world.river
    if river is None:
        return Stream.still()

    def arrays() -> dict[str, np.ndarray]:
        stream = river_stream(world.terrain, river)
        return {"velocity_w": stream.velocity_w, "frame": stream.frame}

    kept = cached_arrays("worlds", f"stream-{world.key}-{_DIGEST}", arrays)
    return Stream(kept["velocity_w"], kept["frame"])


def _canyon_arrays(seed: int) -> dict[str, np.ndarray]:
    terrain, layers, river, pads = grow_canyon(seed)
    return {
        "heights": terrain.heights,
        "origin": np.array(terrain.origin_m),
        "spacing": np.array(terrain.spacing_m),
        "sky_visibility": layers.sky_visibility,
        "loose": layers.loose,
        "curvature": layers.curvature,
        "pads": np.array([[*pad.centre_w, pad.radius_m, pad.heading_rad] for pad in pads]),
        "path": canyon_path(terrain, river, pads[0], pads[-1]),
    }


def _canyon(seed: int) -> World:
    key = f"canyon-{_DIGEST}-{seed}"
    a = cached_arrays("worlds", key, lambda: _canyon_arrays(seed))
    names = ("start", "landing")
    pads = tuple(Pad(n, r[:3], float(r[3]), float(r[4])) for n, r in zip(names, a["pads"], strict=True))
    terrain = Terrain(a["heights"], (float(a["origin"][0]), float(a["origin"][1])), float(a["spacing"]))
    layers = TerrainLayers(a["sky_visibility"], a["loose"], a["curvature"])
    return World("canyon", seed, key, terrain, layers, pads, River.meandering(seed), a["path"])


def _plain(seed: int) -> World:
    terrain = Terrain(np.zeros((257, 257), np.float32), (-2048.0, -2048.0), 16.0)
    pads = (
        Pad("start", np.zeros(3), 8.0, 0.0),
        Pad("landing", np.array([1200.0, 0.0, 0.0]), 8.0, 0.0),
    )
    x = np.arange(0.0, 1201.0, 10.0)
    path = np.stack([x, np.zeros_like(x), np.full_like(x, 22.0)], axis=1)
    return World("plain", seed, f"plain-{seed}", terrain, None, pads, None, path, far_desert=True)


def _sea(seed: int) -> World:
    terrain = Terrain(np.full((65, 65), -_SEA_BED_M, np.float32), (-2048.0, -2048.0), 64.0)
    path = np.array([(x, 0.0, 22.0) for x in np.arange(-600.0, 601.0, 10.0)])
    return World("sea", seed, f"sea-{seed}", terrain, None, (), None, path, open_sea_m=0.0)


def _orbit(seed: int) -> World:
    terrain = Terrain(np.full((65, 65), -_ORBIT_M, np.float32), (-64e3, -64e3), 2e3)
    path = np.array([(x, 0.0, 0.0) for x in np.arange(0.0, 601.0, 10.0)])
    return World("orbit", seed, f"orbit-{seed}", terrain, None, (), None, path, orbit_m=_ORBIT_M)


def _desert(name: str, grounds: Grounds, pads: tuple[Pad, Pad], seed: int) -> World:
    key = f"{name}-{_GROUNDS_DIGEST}-{seed}"

    def grown() -> dict[str, np.ndarray]:
        terrain, layers = grow_desert(grounds, seed)
        return {
            "heights": terrain.heights,
            "origin": np.array([*terrain.origin_m, terrain.spacing_m]),
            "sky_visibility": layers.sky_visibility,
            "loose": layers.loose,
            "curvature": layers.curvature,
        }

    a = cached_arrays("worlds", key, grown)
    x0, y0, spacing = (float(value) for value in a["origin"])
    layers = TerrainLayers(a["sky_visibility"], a["loose"], a["curvature"])
    ends = np.stack([pad.centre_w for pad in pads]) + np.array([0.0, 0.0, 22.0])
    fraction = np.linspace(0.0, 1.0, 41)[:, None]
    path = ends[0] + fraction * (ends[1] - ends[0])
    return World(name, seed, key, Terrain(a["heights"], (x0, y0), spacing), layers, pads, None, path, grounds)


def _helipads(x_m: float, y_m: float) -> tuple[Pad, Pad]:
    """Two pads on the level ground, at either end of it."""
    return (
        Pad("start", np.array([-x_m, y_m, 0.0]), 8.0, 0.0),
        Pad("landing", np.array([x_m, y_m, 0.0]), 8.0, 0.0),
    )


def _driving(seed: int) -> World:
    return _desert("driving", driving_grounds(), _helipads(112.0, 58.0), seed)


def _plaza(seed: int) -> World:
    return _desert("plaza", plaza_grounds(), _helipads(46.0, 32.0), seed)


def _harbour(seed: int) -> World:
    return _desert("harbour", harbour_grounds(), _helipads(86.0, 58.0), seed)


def _street(seed: int) -> World:
    return _desert("street", street_grounds(), _helipads(60.0, 40.0), seed)


def _hall(seed: int) -> World:
    grounds = hall_grounds()
    reach_m, spacing_m = 64.0, 2.0
    count = round(2.0 * reach_m / spacing_m) + 1
    terrain = Terrain(np.zeros((count, count), np.float32), (-reach_m, -reach_m), spacing_m)
    path = np.array([(x, 0.0, 3.0) for x in np.arange(-18.0, 18.1, 2.0)])
    return World("hall", seed, f"hall-{_GROUNDS_DIGEST}-{seed}", terrain, None, (), None, path, grounds)


def _underpass(seed: int) -> World:
    return _desert("underpass", underpass_grounds(), _helipads(80.0, 40.0), seed)


_WORLDS: dict[str, Callable[[int], World]] = {
    "canyon": _canyon,
    "plain": _plain,
    "driving": _driving,
    "plaza": _plaza,
    "hall": _hall,
    "harbour": _harbour,
    "street": _street,
    "underpass": _underpass,
    "sea": _sea,
    "orbit": _orbit,
}


def worlds() -> tuple[str, ...]:
    """Names that `load_world` knows."""
    return tuple(_WORLDS)


def load_world(name: str, *, seed: Any = 7) -> World:
    """A world by name: the same ground, byte for byte, for the same seed.

    The first call for a seed grows the canyon (seconds); later ones read it from the cache folder.
    Raises InputError for an unknown name or a seed that is not an integer from 0 to 2**31 - 1.
    """
    if name not in _WORLDS:
        raise InputError(f"unknown world {name!r}; known worlds: {', '.join(_WORLDS)}")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**31:
        raise InputError(f"world seed {seed!r} is not an integer from 0 to {2**31 - 1}")
    return _WORLDS[name](int(seed))
