"""Keeping a camera above the ground and what lies on it, above the water, and where it can see what it looks at.

How much room each vehicle takes in a picture, and where its pilot's eyes are."""

import math
from dataclasses import replace
from typing import Protocol

import numpy as np

from render.land.ground_cover import place_shrubs, shrub_mesh
from sim.groups.numeric import median, upright
from sim.platform.values import dataclass
from sim.shapes.shape import Shape
from sim.vehicle_config import Camera as Framing
from sim.world import World
from sim.world.boulders import boulder_discs
from sim.world.props import Room


def framing_about(framing: Framing, reach_m: float, *, held: bool) -> Framing:
    """Of what is drawn from its bodies, which reach so far; what is held hangs below the subject's place, or stands on
    it, as its lift says, or is about it."""
    if reach_m <= 0.0:
        return framing
    if held:
        aside = math.copysign(0.46 * reach_m, framing.lift_m) if framing.lift_m else 0.0
        return replace(framing, distance_m=(1.75 if aside else 2.5) * reach_m, lift_m=aside)
    return replace(framing, distance_m=max(3.2 * reach_m, 1.0), lift_m=0.0)


class CameraInput(Protocol):
    """What mouse and arrow keys ask for in one frame; logical pixels, x right, y up."""

    @property
    def drag_px(self) -> tuple[float, float]: ...
    @property
    def pan_px(self) -> tuple[float, float]: ...
    @property
    def zoom(self) -> float: ...
    @property
    def orbit(self) -> tuple[float, float]: ...


@dataclass(frozen=True, slots=True)
class NoInput:
    """No motion asked for."""

    drag_px: tuple[float, float] = (0.0, 0.0)
    pan_px: tuple[float, float] = (0.0, 0.0)
    zoom: float = 0.0
    orbit: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True, slots=True)
class CameraSubject:
    """The followed vehicle in one frame."""

    T_wb: np.ndarray
    velocity_w: np.ndarray
    """(3,) m/s."""
    framing: Framing

    @property
    def position_w(self) -> np.ndarray:
        return self.T_wb[:3, 3]

    @property
    def aim_w(self) -> np.ndarray:
        """(3,) the point that outside cameras look at."""
        return self.T_wb[:3, 3] + np.array([0.0, 0.0, self.framing.lift_m])


@dataclass(frozen=True, slots=True)
class Shot:
    """A camera before it is kept out of the ground."""

    eye_w: np.ndarray
    forward_w: np.ndarray
    """(3,) unit."""
    up_w: np.ndarray
    fov_y_rad: float
    near_m: float = 0.4
    far_m: float = 12_000.0
    inside: bool = False
    aim_w: np.ndarray | None = None
    """(3,) what must stay in sight; None where the eye alone matters."""


def looking_at(eye_w: np.ndarray, aim_w: np.ndarray, fov_y_rad: float) -> Shot:
    """A level shot from `eye_w` to `aim_w`, each (3,)."""
    way = aim_w - eye_w
    return Shot(
        eye_w, way / max(np.linalg.norm(way), 1e-9), np.array([0.0, 0.0, 1.0]), fov_y_rad, aim_w=aim_w
    )


NEAR_M = 2.5
"""From the edge of a thing over which the eye rises to it."""
OVER_M = 0.4
"""Above its top."""
_STEEPEST = 0.35
"""Share of the way to the eye within which what hides counts as no nearer to what is looked at."""


class Bumps:
    """Things on the ground, seen from above as discs."""

    def __init__(self, discs: np.ndarray) -> None:
        """discs (k, 4): x, y, radius, z of the top [m]."""
        self._discs = discs[np.argsort(discs[:, 0])]
        self._widest_m = float(discs[:, 2].max(initial=0.0))

    def floor_z(self, eye_w: np.ndarray) -> float:
        """Least z [m] of an eye over this place; it comes and goes without a jump. -inf where nothing is near."""
        reach_m = self._widest_m + NEAR_M
        first, last = np.searchsorted(self._discs[:, 0], (eye_w[0] - reach_m, eye_w[0] + reach_m))
        strip = self._discs[first:last]
        found = strip[np.abs(strip[:, 1] - eye_w[1]) <= reach_m]
        if not len(found):
            return -np.inf
        off = np.hypot(*(found[:, :2] - eye_w[:2]).T) - found[:, 2]
        share = np.clip(1.0 - off / NEAR_M, 0.0, 1.0)
        lift = _eased(share) * (found[:, 3] + OVER_M - eye_w[2])
        return float(eye_w[2] + lift.max(initial=0.0))

    def sight_z(self, eye_w: np.ndarray, aim_w: np.ndarray) -> float:
        """Least z [m] of an eye over this place that sees the aim over what lies between; without a jump, too."""
        way = eye_w[:2] - aim_w[:2]
        length_m = float(np.hypot(*way))
        if length_m < 1e-6 or not len(self._discs):
            return -np.inf
        off = self._discs[:, :2] - aim_w[:2]
        along, aside = off @ way / length_m, np.abs(off @ [-way[1], way[0]]) / length_m
        radius = self._discs[:, 2]
        edge_m = np.maximum(along - radius, _STEEPEST * length_m)
        share = _eased(np.clip((1.6 * radius - aside) / np.maximum(0.6 * radius, 1e-6), 0.0, 1.0))
        share *= _eased(np.clip((along + radius) / NEAR_M, 0.0, 1.0))
        share *= _eased(np.clip((length_m - along + radius) / NEAR_M, 0.0, 1.0))
        needed = aim_w[2] + (self._discs[:, 3] + OVER_M - aim_w[2]) * length_m / edge_m
        lift = share * np.maximum(needed - eye_w[2], 0.0)
        return float(eye_w[2] + lift.max(initial=0.0))


def _eased(share: np.ndarray) -> np.ndarray:
    return share * share * (3.0 - 2.0 * share)


def parked_in(world: World) -> tuple[Shape, ...]:
    """What stands about in a world and hides what is behind it."""
    return () if world.grounds is None else tuple(each.shape for each in world.grounds.parked)


_LOW_M = 0.6
"""An eye is above what is no higher."""


def discs_of(shapes: tuple[Shape, ...]) -> np.ndarray:
    """(k, 4) discs as `Bumps` has them: a row of them along each shape that is not low."""
    rows = []
    for shape in shapes:
        x, y, length, width, heading, rounded = shape.footprint
        tall = shape.extremes_w[:, 2]
        if tall.max() - tall.min() < _LOW_M:
            continue
        if length < width:
            length, width, heading = width, length, heading + 0.5 * math.pi
        count = max(math.ceil(length / max(width, 1e-3)), 1) if length + width > 0.0 else 1
        along = (length - width) * np.linspace(-1.0, 1.0, count) if count > 1 else np.zeros(1)
        place = np.array([x, y]) + along[:, None] * [math.cos(heading), math.sin(heading)]
        size, top = np.full(count, 1.2 * width + rounded), np.full(count, tall.max())
        rows.append(np.column_stack([place, size, top]))
    return np.concatenate(rows) if rows else np.zeros((0, 4))


def bumps_of(world: World) -> Bumps | None:
    """What lies and grows in a world; None where the ground is bare."""
    if world.layers is None:
        return None
    shrubs = place_shrubs(world).instances[:, :4].astype(float)
    points = shrub_mesh(quads=10).vertices[:, :3]
    radius, top = median(np.hypot(points[:, 0], points[:, 1])), float(points[:, 2].max())
    size = shrubs[:, 3]
    grown = np.column_stack([shrubs[:, :2], radius * size, shrubs[:, 2] + top * size])
    return Bumps(np.concatenate([boulder_discs(world), grown]))


CLEARANCE_M = 1.2
"""Least height of an eye above ground or water, where it is not close to what it looks at."""
_CLOSE = 0.3
"""The same as a share of the distance to that: what is small is not looked down upon."""
_NEIGHBOURS = np.array([(0.0, 0.0), (1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)])


class HeightField(Protocol):
    """Of a world's terrain: height by place."""

    def height(self, x_m: np.ndarray, y_m: np.ndarray) -> np.ndarray: ...


class Surroundings(Protocol):
    """The parts of a world that a camera must respect."""

    @property
    def terrain(self) -> HeightField: ...
    @property
    def water_level_m(self) -> float | None: ...
    @property
    def room(self) -> Room | None: ...


def floor_z(world: Surroundings | None, point_w: np.ndarray, clearance_m: float = CLEARANCE_M) -> float:
    """Least z [m] of an eye at (x, y) of `point_w`; -inf without a world."""
    if world is None:
        return -np.inf
    around = point_w[:2] + clearance_m * _NEIGHBOURS
    ground = float(np.max(world.terrain.height(around[:, 0], around[:, 1])))
    level = world.water_level_m
    return (ground if level is None else max(ground, level)) + clearance_m


def clear_share(
    world: Surroundings | None, start_w: np.ndarray, end_w: np.ndarray, clearance_m: float = CLEARANCE_M
) -> float:
    """Share of the way from start to end that is free of ground, 1 where all of it is."""
    if world is None:
        return 1.0
    length = float(np.linalg.norm(end_w - start_w))
    shares = np.linspace(0.0, 1.0, min(max(int(length / 0.5), 8), 400))
    points = start_w + shares[:, None] * (end_w - start_w)
    free = points[:, 2] - world.terrain.height(points[:, 0], points[:, 1]) > 0.35 * clearance_m
    blocked = np.flatnonzero(~free)
    if len(blocked) == 0:
        return 1.0
    return float(shares[max(blocked[0] - 1, 0)])


def indoor_share(world: Surroundings | None, start_w: np.ndarray, end_w: np.ndarray) -> float:
    """Share of the way from start to end that is within the room, clear of walls and roof; 1 under the open sky."""
    if world is None or world.room is None:
        return 1.0
    high = np.array([*world.room.half_m, world.room.height_m]) - 0.35 * CLEARANCE_M
    way = end_w - start_w
    to_wall = np.where(way > 0.0, high, -high) - start_w
    shares = to_wall[np.abs(way) > 1e-9] / way[np.abs(way) > 1e-9]
    return float(np.clip(shares.min(initial=1.0), 0.0, 1.0))


class GroundGuard:
    """Lifts an eye out of the ground, draws it in where rock hides the subject, and leads it round where that is not
    enough: before a cliff there is room on one side only. Eases out again."""

    _EASE_S = 0.6
    _ROUND_S = 0.35
    _TURNS_RAD = tuple(math.radians(turn) for turn in (0, 30, -30, 60, -60, 95, -95, 130, -130, 180))
    _TURN_PRICE = 0.08
    """A rad: the nearest way round that will do."""
    _HIDDEN, _FREE, _OPEN = 0.3, 0.55, 0.85
    """Room that is too little to stay, enough to go round to, and enough to come back to."""

    def __init__(self, bumps: Bumps | None = None) -> None:
        self._bumps, self._placed = bumps, Bumps(np.zeros((0, 4)))
        self._shapes: tuple[Shape, ...] = ()
        self.reset()

    def mind(self, shapes: tuple[Shape, ...]) -> None:
        """What has been put up besides, and is looked over."""
        if shapes != self._shapes:
            self._shapes, self._placed = shapes, Bumps(discs_of(shapes))

    def reset(self) -> None:
        """Forget former obstacles, after a cut."""
        self._drawn_in, self._lift_m = 0.0, 0.0
        self._turn_rad: float | None = None
        self._wanted_rad = 0.0

    def clear(
        self, world: Surroundings | None, eye_w: np.ndarray, aim_w: np.ndarray | None, dt_s: float
    ) -> np.ndarray:
        """(3,) the nearest eye that is outside the ground."""
        fade, clearance_m = float(np.exp(-dt_s / self._EASE_S)), CLEARANCE_M
        if aim_w is not None:
            clearance_m = min(clearance_m, _CLOSE * float(np.linalg.norm(eye_w - aim_w)))
            seen_from = aim_w.copy()
            if world is not None:
                ground_m = float(world.terrain.height(aim_w[0], aim_w[1]))
                seen_from[2] = max(seen_from[2], ground_m + 0.5 * clearance_m)
            offset = self._led_round(world, seen_from, eye_w - seen_from, dt_s, clearance_m)
            hidden = 1.0 - clear_share(world, seen_from, seen_from + offset, clearance_m)
            self._drawn_in = max(hidden, self._drawn_in * fade)
            eye_w = seen_from + max(1.0 - self._drawn_in, 0.12) * offset
        floor_m = floor_z(world, eye_w, clearance_m)
        for bumps in (self._bumps, self._placed):
            floor_m = floor_m if bumps is None else max(floor_m, bumps.floor_z(eye_w))
        if aim_w is not None:
            floor_m = max(floor_m, self._placed.sight_z(eye_w, aim_w))
        self._lift_m = max(floor_m - eye_w[2], self._lift_m * fade, 0.0)
        return eye_w + np.array([0.0, 0.0, self._lift_m])

    def _led_round(
        self,
        world: Surroundings | None,
        seen_from: np.ndarray,
        offset: np.ndarray,
        dt_s: float,
        clearance_m: float,
    ) -> np.ndarray:
        """The way to the eye, turned about the vertical as far as it takes to see."""

        def room(turn_rad: float) -> float:
            return _free_share(world, seen_from, upright(turn_rad) @ offset, clearance_m)

        if room(self._wanted_rad) < self._HIDDEN:
            best = max(self._TURNS_RAD, key=lambda turn: min(room(turn), 0.9) - self._TURN_PRICE * abs(turn))
            self._wanted_rad = best if room(best) > self._FREE else self._wanted_rad
        elif self._wanted_rad != 0.0 and room(0.0) > self._OPEN:
            self._wanted_rad = 0.0
        if self._turn_rad is None:
            self._turn_rad = self._wanted_rad
        left_rad = math.remainder(self._wanted_rad - self._turn_rad, 2.0 * math.pi)
        self._turn_rad += left_rad * (1.0 - math.exp(-dt_s / self._ROUND_S))
        return upright(self._turn_rad) @ offset


def _free_share(
    world: Surroundings | None, seen_from: np.ndarray, offset: np.ndarray, clearance_m: float
) -> float:
    """Share of the way to an eye that is free, less what the eye would have to be lifted at its end."""
    share = clear_share(world, seen_from, seen_from + offset, clearance_m)
    eye_w = seen_from + share * offset
    lift_m = max(floor_z(world, eye_w, clearance_m) - float(eye_w[2]), 0.0)
    return share - lift_m / max(float(np.linalg.norm(offset)), 1e-6)
