"""The camera that overlooks a number of places at once, such as a whole plan, from where most of them are seen."""

import math

import numpy as np

from render.cameras.clearance import (
    CameraInput,
    CameraSubject,
    Shot,
    Surroundings,
    clear_share,
    floor_z,
    indoor_share,
)
from render.cameras.following import FOV_RAD, Circling, Spring, nearest_turn, polar_offset

_ASIDE_DEG = (0.0, 35.0, -35.0, 70.0, -70.0, 180.0, 145.0, -145.0)
"""Bearings that are tried, off the one that has the way run from left to right."""
_ELEVATIONS_DEG = (30.0, 42.0, 54.0, 66.0, 80.0)
_FLAT_DEG, _CLIMBS = 14.0, 0.2
"""What is as high as that share of its length, over water alone, is seen as flat as this: before the horizon, which
nothing hides."""
_FILLED = 0.88
"""Share of the picture's width and height that the places take up."""
_RAYS = 20
_PAN_PER_PX = 1.2e-3
_WHOLE = np.array([[-1.0, 1.0], [-1.0, 1.0]])
"""Of a picture: x from left to right, y from below upwards."""
_LEAST = 0.5
"""Of the width and height of a picture, its middle in any case; what covers more is not kept clear of."""
_BLOCKED_PRICE, _NEAR_PRICE, _TURN_PRICE, _HEIGHT_PRICE = 1.0, 1.0, 0.3, 0.25
_FAR_M = 12_000.0


_UNCOVERED = np.zeros((0, 2, 2))


class Overview:
    """Frames its places once, with the next shot after `frame` or `cut`; then it is the user's."""

    def __init__(self) -> None:
        self._circling = Circling(0.0)
        self._places_w = np.zeros((0, 3))
        self._covered = _UNCOVERED
        self._room_m: float | None = None
        self._framed, self._kept_clear = 0, 0
        """Places, and covered parts, that there were when they were framed; 0 places: not framed yet."""
        self._snaps = True
        self._bearing_rad, self._elevation_rad, self._distance_m = 0.0, 0.5, 10.0
        self._aim_w = np.zeros(3)
        self._aim, self._look = Spring(6.0), Spring(6.0)

    def watch(
        self,
        places_w: np.ndarray | None,
        covered: np.ndarray = _UNCOVERED,
        room_m: float | None = None,
    ) -> None:
        """What is to be overlooked, (n, 3) m along a way; None or nothing: the subject alone.

        room_m: about each place; None: as much as the subject takes. covered: (k, 2, 2) parts of the picture
        ((left, right), (lower, upper), each from -1 to 1) under which nothing of it is to lie.
        """
        self._places_w = np.zeros((0, 3)) if places_w is None else places_w
        self._covered, self._room_m = covered, room_m

    def frame(self) -> None:
        """Frame the places anew, with a sweep."""
        self._framed = 0

    def cut(self, subject: CameraSubject) -> None:
        """Frame them at once."""
        self._framed, self._snaps = 0, True

    def shot(
        self,
        subject: CameraSubject,
        motion: CameraInput,
        dt_s: float,
        world: Surroundings | None,
        aspect: float,
    ) -> Shot:
        """The picture of this frame."""
        follows = not len(self._places_w)
        places = subject.aim_w[None] if follows else self._places_w
        # Until the user takes hold of it, a way that is new or longer is framed, too.
        untouched = self._circling.idle_s > 1e8
        more = len(places) != self._framed or len(self._covered) > self._kept_clear
        if not self._framed or (untouched and more):
            self._choose(places, subject, world, aspect)
        self._circling.take(motion, dt_s)
        self._aim_w = subject.aim_w if follows else self._aim_w + self._panned(motion)
        bearing = self._bearing_rad + self._circling.turn_rad
        elevation = self._elevation_rad + self._circling.elevation_rad
        elevation = min(max(elevation, -1.2), 1.5)
        look = np.array([bearing, elevation, math.log(self._distance_m * self._circling.zoom)])
        if self._snaps:
            self._aim.snap(self._aim_w, subject.velocity_w if follows else 0.0)
            self._look.snap(look)
            self._snaps = False
        last = self._look.value
        if last is not None:
            look[0] = nearest_turn(look[0], float(last[0]))
        aim, look = self._aim.step(self._aim_w, dt_s), self._look.step(look, dt_s)
        offset = polar_offset(look[0], look[1], math.exp(look[2]))
        forward = -offset / np.linalg.norm(offset)
        return Shot(aim + offset, forward, np.array([0.0, 0.0, 1.0]), FOV_RAD, far_m=_FAR_M)

    def _panned(self, motion: CameraInput) -> np.ndarray:
        """(3,) the aim follows a pan, level and upwards."""
        bearing = self._bearing_rad + self._circling.turn_rad
        right = np.array([math.sin(bearing), -math.cos(bearing), 0.0])
        reach = _PAN_PER_PX * self._distance_m * self._circling.zoom
        return -reach * (motion.pan_px[0] * right + motion.pan_px[1] * np.array([0.0, 0.0, 1.0]))

    def _choose(
        self, places: np.ndarray, subject: CameraSubject, world: Surroundings | None, aspect: float
    ) -> None:
        """The direction from which most is seen; among equals the way runs from left to right, seen rather flat."""
        size_m = 0.35 * subject.framing.distance_m if self._room_m is None else self._room_m
        cloud = np.concatenate([places + size_m * step for step in _AROUND])
        across, free = _across(places, subject), free_part(self._covered)
        before_horizon = _climbs(places) and _over_water(places, world)
        heights = (_FLAT_DEG, *_ELEVATIONS_DEG) if before_horizon else _ELEVATIONS_DEG
        best = math.inf
        for aside in _ASIDE_DEG:
            for height in heights:
                bearing, elevation = across + math.radians(aside), math.radians(height)
                aim, distance = fitted(cloud, bearing, elevation, aspect)
                if _is_covered(seen_at(places, aim, bearing, elevation, distance, aspect), self._covered):
                    clear, off_m = fitted(cloud, bearing, elevation, aspect, free)
                    # In a room that is too small for that it is rather covered than out of the picture.
                    if indoor_share(world, clear, clear + polar_offset(bearing, elevation, off_m)) >= 1.0:
                        aim, distance = clear, off_m
                eye = aim + polar_offset(bearing, elevation, distance)
                indoors = indoor_share(world, aim, eye)  # rather too near than before a wall
                distance, eye = indoors * distance, aim + indoors * (eye - aim)
                price = _NEAR_PRICE * (1.0 - indoors) + _BLOCKED_PRICE * (
                    1.0 - _seen_share(places, eye, world)
                )
                price += _TURN_PRICE * abs(aside) / 90.0 + _HEIGHT_PRICE * (height - heights[0]) / 36.0
                price += 1.0 if eye[2] < floor_z(world, eye) else 0.0
                if price < best - 1e-9:
                    best = price
                    self._bearing_rad, self._elevation_rad = bearing, elevation
                    self._aim_w, self._distance_m = aim, distance
        self._circling = Circling(0.0)
        self._framed, self._kept_clear = len(places), len(self._covered)


_AROUND = np.array([(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], float)


def free_part(covered: np.ndarray) -> np.ndarray:
    """((left, right), (lower, upper)) of a picture that none of its covered parts (k, 2, 2) reaches into.

    Of each that does one side is cut away, that which costs least; what would leave too little is left covered.
    """
    free = _WHOLE.copy()
    for part in covered[np.argsort(-np.prod(np.diff(covered)[..., 0], axis=-1))]:
        if (part[:, 0] >= free[:, 1]).any() or (part[:, 1] <= free[:, 0]).any():
            continue
        cuts = []
        for axis in (0, 1):
            for side, edge in ((0, part[axis, 1]), (1, part[axis, 0])):
                cut = free.copy()
                cut[axis, side] = edge
                cuts.append(cut)
        large = [cut for cut in cuts if (np.diff(cut) >= 2.0 * _LEAST).all()]
        free = max(large, key=lambda cut: float(np.prod(np.diff(cut))), default=free)
    return free


def _frame(bearing_rad: float, elevation_rad: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit vectors to the right, up and ahead of who looks from there."""
    forward = -polar_offset(bearing_rad, elevation_rad, 1.0)
    right = np.array([math.sin(bearing_rad), -math.cos(bearing_rad), 0.0])
    return right, np.cross(right, forward), forward


def seen_at(
    places_w: np.ndarray,
    aim_w: np.ndarray,
    bearing_rad: float,
    elevation_rad: float,
    distance_m: float,
    aspect: float,
) -> np.ndarray:
    """(n, 2) where places are in the picture, each from -1 to 1 within it."""
    right, up, forward = _frame(bearing_rad, elevation_rad)
    across = (places_w - aim_w) @ np.column_stack([right, up])
    depth = distance_m + (places_w - aim_w) @ forward
    return across / np.maximum(depth, 1e-6)[:, None] / (math.tan(FOV_RAD / 2.0) * np.array([aspect, 1.0]))


def _is_covered(seen: np.ndarray, covered: np.ndarray) -> bool:
    """Whether any place (n, 2) lies under what covers the picture."""
    inside = (seen[:, None] > covered[None, ..., 0]) & (seen[:, None] < covered[None, ..., 1])
    return bool(inside.all(axis=-1).any())


def fitted(
    places_w: np.ndarray, bearing_rad: float, elevation_rad: float, aspect: float, part: np.ndarray = _WHOLE
) -> tuple[np.ndarray, float]:
    """(aim (3,), distance [m]) of an eye that sees all places (n, 3), in the middle of a part of its picture."""
    right, up, forward = _frame(bearing_rad, elevation_rad)
    slope = math.tan(FOV_RAD / 2.0) * np.array([aspect, 1.0])
    centre, half = part.mean(axis=1) * slope, _FILLED * 0.5 * np.diff(part)[:, 0] * slope
    aim, distance = 0.5 * (places_w.min(0) + places_w.max(0)), 1.0
    for _ in range(4 if not centre.any() else 8):
        across = (places_w - aim) @ np.column_stack([right, up])
        depth = (places_w - aim) @ forward
        away = np.maximum(across / (centre + half), across / (centre - half)) - depth[:, None]
        distance = float(max(away.max(), 1.0 - depth.min()))
        slopes = across / (distance + depth)[:, None]
        middle = (0.5 * (slopes.min(0) + slopes.max(0)) - centre) * distance
        aim = aim + middle[0] * right + middle[1] * up
    return aim, distance


def _across(places: np.ndarray, subject: CameraSubject) -> float:
    """Bearing of who sees the way run from left to right; of one that goes nowhere, a front quarter of the subject."""
    way = places[-1, :2] - places[0, :2]
    if np.linalg.norm(way) < 0.5 * subject.framing.distance_m:
        nose = subject.T_wb[:2, 0]
        return math.atan2(nose[1], nose[0]) + math.radians(150.0)
    return math.atan2(way[1], way[0]) + 0.5 * math.pi


def _climbs(places: np.ndarray) -> bool:
    x_m, y_m, z_m = np.ptp(places, axis=0).tolist()
    return bool(z_m > _CLIMBS * math.hypot(x_m, y_m))


def _over_water(places: np.ndarray, world: Surroundings | None) -> bool:
    """Whether no ground comes out of the water below any of the places."""
    if world is None or world.water_level_m is None:
        return False
    return bool((world.terrain.height(places[:, 0], places[:, 1]) < world.water_level_m).all())


def _seen_share(places: np.ndarray, eye_w: np.ndarray, world: Surroundings | None) -> float:
    """Share of some of the places that no ground hides from the eye."""
    chosen = places[np.linspace(0, len(places) - 1, min(_RAYS, len(places))).astype(int)].copy()
    seen = 0
    for place in chosen:
        place[2] = max(place[2], floor_z(world, place))
        seen += clear_share(world, place, eye_w) >= 1.0
    return seen / len(chosen)
