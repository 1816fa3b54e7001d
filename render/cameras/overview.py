"""The camera that overlooks a number of places at once, such as a whole plan, from where most of them are seen."""

import math

import numpy as np

from render.cameras.clearance import Surroundings, clear_share, floor_z
from render.cameras.following import FOV_RAD, Circling, Spring, nearest_turn, polar_offset
from render.cameras.framing import CameraInput, Shot, Subject

_ASIDE_DEG = (0.0, 35.0, -35.0, 70.0, -70.0, 180.0, 145.0, -145.0)
"""Bearings that are tried, off the one that has the way run from left to right."""
_ELEVATIONS_DEG = (30.0, 42.0, 54.0, 66.0, 80.0)
_FILLED = 0.88
"""Share of the picture's width and height that the places take up."""
_RAYS = 20
_PAN_PER_PX = 1.2e-3
_BLOCKED_PRICE, _TURN_PRICE, _HEIGHT_PRICE = 1.0, 0.3, 0.25
_FAR_M = 12_000.0


class Overview:
    """Frames its places once, with the next shot after `frame` or `cut`; then it is the user's."""

    def __init__(self) -> None:
        self._circling = Circling(0.0)
        self._places_w = np.zeros((0, 3))
        self._framed = 0
        """Places there were when they were framed; 0: not framed yet."""
        self._snaps = True
        self._bearing_rad, self._elevation_rad, self._distance_m = 0.0, 0.5, 10.0
        self._aim_w = np.zeros(3)
        self._aim, self._look = Spring(6.0), Spring(6.0)

    def watch(self, places_w: np.ndarray | None) -> None:
        """What is to be overlooked, (n, 3) m along a way; None or nothing: the subject alone."""
        self._places_w = np.zeros((0, 3)) if places_w is None else places_w

    def frame(self) -> None:
        """Frame the places anew, with a sweep."""
        self._framed = 0

    def cut(self, subject: Subject) -> None:
        """Frame them at once."""
        self._framed, self._snaps = 0, True

    def shot(
        self, subject: Subject, motion: CameraInput, dt_s: float, world: Surroundings | None, aspect: float
    ) -> Shot:
        """The picture of this frame."""
        follows = not len(self._places_w)
        places = subject.aim_w[None] if follows else self._places_w
        # Until the user takes hold of it, a way that is new or longer is framed, too.
        untouched = self._circling.idle_s > 1e8
        if not self._framed or (untouched and len(places) != self._framed):
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
        self, places: np.ndarray, subject: Subject, world: Surroundings | None, aspect: float
    ) -> None:
        """The direction from which most is seen; among equals the way runs from left to right, seen rather flat."""
        size_m = 0.35 * subject.framing.distance_m
        cloud = np.concatenate([places + size_m * step for step in _AROUND])
        across = _across(places, subject)
        best = math.inf
        for aside in _ASIDE_DEG:
            for height in _ELEVATIONS_DEG:
                bearing, elevation = across + math.radians(aside), math.radians(height)
                aim, distance = fitted(cloud, bearing, elevation, aspect)
                eye = aim + polar_offset(bearing, elevation, distance)
                price = _BLOCKED_PRICE * (1.0 - _seen_share(places, eye, world))
                price += (
                    _TURN_PRICE * abs(aside) / 90.0 + _HEIGHT_PRICE * (height - _ELEVATIONS_DEG[0]) / 36.0
                )
                price += 1.0 if eye[2] < floor_z(world, eye) else 0.0
                if price < best - 1e-9:
                    best = price
                    self._bearing_rad, self._elevation_rad = bearing, elevation
                    self._aim_w, self._distance_m = aim, distance
        self._circling = Circling(0.0)
        self._framed = len(places)


_AROUND = np.array([(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1)], float)


def fitted(
    places_w: np.ndarray, bearing_rad: float, elevation_rad: float, aspect: float
) -> tuple[np.ndarray, float]:
    """(aim (3,), distance [m]) of an eye that sees all places (n, 3), in the middle of its picture."""
    forward = -polar_offset(bearing_rad, elevation_rad, 1.0)
    right = np.array([math.sin(bearing_rad), -math.cos(bearing_rad), 0.0])
    up = np.cross(right, forward)
    half = _FILLED * math.tan(FOV_RAD / 2.0) * np.array([aspect, 1.0])
    aim, distance = 0.5 * (places_w.min(0) + places_w.max(0)), 1.0
    for _ in range(4):
        across = (places_w - aim) @ np.column_stack([right, up])
        depth = (places_w - aim) @ forward
        distance = float(max((np.abs(across) / half - depth[:, None]).max(), 1.0 - depth.min()))
        slopes = across / (distance + depth)[:, None]
        middle = 0.5 * (slopes.min(0) + slopes.max(0)) * distance
        aim = aim + middle[0] * right + middle[1] * up
    return aim, distance


def _across(places: np.ndarray, subject: Subject) -> float:
    """Bearing of who sees the way run from left to right; of one that goes nowhere, a front quarter of the subject."""
    way = places[-1, :2] - places[0, :2]
    if np.linalg.norm(way) < 0.5 * subject.framing.distance_m:
        nose = subject.T_wb[:2, 0]
        return math.atan2(nose[1], nose[0]) + math.radians(150.0)
    return math.atan2(way[1], way[0]) + 0.5 * math.pi


def _seen_share(places: np.ndarray, eye_w: np.ndarray, world: Surroundings | None) -> float:
    """Share of some of the places that no ground hides from the eye."""
    chosen = places[np.linspace(0, len(places) - 1, min(_RAYS, len(places))).astype(int)].copy()
    seen = 0
    for place in chosen:
        place[2] = max(place[2], floor_z(world, place))
        seen += clear_share(world, place, eye_w) >= 1.0
    return seen / len(chosen)
