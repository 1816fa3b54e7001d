"""A wave maker: a wall across the box that goes to and fro from the side where x is least."""

import math
from dataclasses import dataclass

import numpy as np

from sim.compiled import allocating_nothing
from sim.platform.errors import InputError

_BEGINS_OVER = 2.0
"""Periods over which it grows to its full stroke, so that it begins without a jerk."""


@dataclass(frozen=True, slots=True)
class Paddle:
    """Moves by half its stroke to either side of its middle. Raises InputError for numbers out of range."""

    stroke_m: float
    period_s: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.stroke_m) and 0.0 <= self.stroke_m <= 10.0):
            raise InputError(f"wave maker: stroke_m = {self.stroke_m!r} is refused; allowed: 0 to 10 m")
        if not (math.isfinite(self.period_s) and 0.1 <= self.period_s <= 60.0):
            raise InputError(f"wave maker: period_s = {self.period_s!r} is refused; allowed: 0.1 to 60 s")

    def place_m(self, time_s: float) -> float:
        """How far it stands from the box's side."""
        grown = min(time_s / (_BEGINS_OVER * self.period_s), 1.0)
        swing = 0.5 * self.stroke_m * grown * grown * (3.0 - 2.0 * grown)
        return 0.5 * self.stroke_m - swing * math.cos(2.0 * math.pi * time_s / self.period_s)


@allocating_nothing
def block_off(at: float, blocked: np.ndarray, room: np.ndarray) -> None:
    """Block what lies behind the paddle, which is at `at` cells from where the box begins."""
    _, nz, ny, nx = blocked.shape
    for c in range(3):
        for i in range(2 if c == 0 else 1, nx - 1):
            beyond = i + (0.0 if c == 0 else 0.5) - 1.0 - at
            if beyond >= 1.0:
                break
            share = np.float32(min(max(0.5 - beyond, 0.0), 1.0))
            s = min(max(beyond, -1.0), 1.0)
            free = np.float32(0.5 + s - 0.5 * s * abs(s))
            for k in range(nz):
                for j in range(ny):
                    blocked[c, k, j, i] = max(blocked[c, k, j, i], share)
                    room[c, k, j, i] = min(room[c, k, j, i], free)


@allocating_nothing
def displace(at: float, speed: float, diagonal: np.ndarray, right: np.ndarray) -> None:
    """Add what the paddle's motion [cells/s] takes from the room of the cells about it."""
    nz, ny, nx = diagonal.shape
    for i in range(1, nx - 1):
        beyond = i - 1.0 - at
        if beyond >= 1.0:
            break
        low = min(max(0.5 - beyond, 0.0), 1.0)
        top = min(max(-0.5 - beyond, 0.0), 1.0)
        gain = np.float32((low if i > 1 else 0.0) - top) * np.float32(speed)
        for k in range(1, nz - 1):
            for j in range(1, ny - 1):
                if diagonal[k, j, i] > 0.0:
                    right[k, j, i] += gain


@allocating_nothing
def keep_before(at: float, place: np.ndarray, count: int) -> None:
    """No particle stays behind the paddle."""
    least = np.float32(1.0 + at)
    for q in range(count):
        if place[q, 0] < least:
            place[q, 0] = least
