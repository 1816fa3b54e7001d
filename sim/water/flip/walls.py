"""The sides of a box of water: velocities at and beyond them, the paddle that makes waves, and a hull that meets them.

The walls stop the corner of a hull that is farthest out, a cell before the glass: water in a thinner gap has no room on
the grid to flow out of it.
"""

import math
from dataclasses import dataclass

import numpy as np

from sim.environment.environment import BodyState
from sim.native.function import native
from sim.platform.errors import InputError
from sim.water.flip.box import TankBox

_RETURN = 0.2
"""Fraction of the way out that is taken back at each exchange ..."""
_RETURN_MPS = 0.3
"""... no faster than this."""


def wall_impulse(state: BodyState, vertices_b: np.ndarray, box: TankBox, dt_s: float) -> np.ndarray:
    """(6,) on the body, body frame, from the four sides and the floor: they only push, and nothing bounces."""
    R, x_w = state.T_wb[:3, :3], state.T_wb[:3, 3]
    corners_w = vertices_b @ R.T + x_w
    low = np.asarray(box.corner_w) + box.cell_m
    high = low + box.size_m - 2.0 * box.cell_m
    mobility = np.linalg.inv(state.inertia_b)
    total = np.zeros(6)
    twist = state.twist_b.copy()
    sides = [(0, 1.0, low[0]), (0, -1.0, high[0]), (1, 1.0, low[1]), (1, -1.0, high[1]), (2, 1.0, low[2])]
    for axis, inwards, place in sides:
        out = inwards * (place - corners_w[:, axis])
        farthest = int(out.argmax())
        if out[farthest] <= 0.0:
            continue
        normal_b = inwards * R[axis]
        lever = np.concatenate([np.cross(vertices_b[farthest], normal_b), normal_b])
        wanted = min(_RETURN * out[farthest] / dt_s, _RETURN_MPS)
        impulse = max((wanted - float(lever @ twist)) / float(lever @ mobility @ lever), 0.0) * lever
        twist += mobility @ impulse
        total += impulse
    return total


@native
def hold_border(faces: np.ndarray, border: np.ndarray) -> None:
    """Faces on the sides get the velocity across that `border` (3, nz + 2, ny + 2, nx + 2) has there; along the sides
    the water slips, so that what lies outside is the mirror image of what lies inside."""
    _, nz, ny, nx = faces.shape
    for k in range(nz):
        for j in range(ny):
            faces[0, k, j, 1] = border[0, k, j, 1]
            faces[0, k, j, nx - 1] = border[0, k, j, nx - 1]
            faces[0, k, j, 0] = faces[0, k, j, 1]
            for c in range(1, 3):
                faces[c, k, j, 0] = faces[c, k, j, 1]
                faces[c, k, j, nx - 1] = faces[c, k, j, nx - 2]
    for k in range(nz):
        for i in range(nx):
            faces[1, k, 1, i] = border[1, k, 1, i]
            faces[1, k, ny - 1, i] = border[1, k, ny - 1, i]
            faces[1, k, 0, i] = faces[1, k, 1, i]
            for c in range(0, 3, 2):
                faces[c, k, 0, i] = faces[c, k, 1, i]
                faces[c, k, ny - 1, i] = faces[c, k, ny - 2, i]
    for j in range(ny):
        for i in range(nx):
            faces[2, 1, j, i] = border[2, 1, j, i]
            faces[2, nz - 1, j, i] = border[2, nz - 1, j, i]
            faces[2, 0, j, i] = faces[2, 1, j, i]
            for c in range(2):
                faces[c, 0, j, i] = faces[c, 1, j, i]
                faces[c, nz - 1, j, i] = faces[c, nz - 2, j, i]


@native
def extrapolate(faces: np.ndarray, valid: np.ndarray, layers: int) -> None:
    """Carry velocities into faces that have none, `layers` faces far: each gets the mean of its known neighbours.

    valid (3, nz + 2, ny + 2, nx + 2) uint8: 1 where a velocity is known; gets 2, 3, ... layer by layer.
    """
    _, nz, ny, nx = faces.shape
    for layer in range(layers):
        known = layer + 1
        for c in range(3):
            for k in range(1, nz - 1):
                for j in range(1, ny - 1):
                    for i in range(1, nx - 1):
                        if valid[c, k, j, i] != 0:
                            continue
                        total, count = np.float32(0.0), 0
                        if 0 < valid[c, k, j, i - 1] <= known:
                            total += faces[c, k, j, i - 1]
                            count += 1
                        if 0 < valid[c, k, j, i + 1] <= known:
                            total += faces[c, k, j, i + 1]
                            count += 1
                        if 0 < valid[c, k, j - 1, i] <= known:
                            total += faces[c, k, j - 1, i]
                            count += 1
                        if 0 < valid[c, k, j + 1, i] <= known:
                            total += faces[c, k, j + 1, i]
                            count += 1
                        if 0 < valid[c, k - 1, j, i] <= known:
                            total += faces[c, k - 1, j, i]
                            count += 1
                        if 0 < valid[c, k + 1, j, i] <= known:
                            total += faces[c, k + 1, j, i]
                            count += 1
                        if count:
                            faces[c, k, j, i] = total / np.float32(count)
                            valid[c, k, j, i] = known + 1


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


@native
def block_off(at: float, blocked: np.ndarray, room: np.ndarray) -> None:
    """Block what lies behind the paddle, which is at `at` cells from where the box begins."""
    _, nz, ny, nx = blocked.shape
    for c in range(3):
        for i in range(2 if c == 0 else 1, nx - 1):
            beyond = i + (0.0 if c == 0 else 0.5) - 1.0 - at
            if beyond >= 1.0:
                break
            fraction = np.float32(min(max(0.5 - beyond, 0.0), 1.0))
            s = min(max(beyond, -1.0), 1.0)
            free = np.float32(0.5 + s - 0.5 * s * abs(s))
            for k in range(nz):
                for j in range(ny):
                    blocked[c, k, j, i] = max(blocked[c, k, j, i], fraction)
                    room[c, k, j, i] = min(room[c, k, j, i], free)


@native
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


@native
def keep_before(at: float, place: np.ndarray, count: int) -> None:
    """No particle stays behind the paddle."""
    least = np.float32(1.0 + at)
    for q in range(count):
        if place[q, 0] < least:
            place[q, 0] = least
