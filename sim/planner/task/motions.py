"""How what a task is about moves by itself: goals that come and go, obstacles that cross, as functions of time.

The optimiser is given a cubic spline of such a function, of which it needs value and derivatives at the nodes' moments
alone; what a plan is checked by is the function.
"""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from sim.groups.numeric import rotation_about
from sim.native.function import native
from sim.platform.errors import InputError, quote
from sim.platform.values import dataclass
from sim.symbolic import shift, turn_about

CHANNELS = 6
"""Displacement x, y, z [m], then heading, pitch, roll [rad]."""
PIECES = 384
"""Of a spline over all the time that a task may take."""
Vector = tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Sway:
    """A sine of time, as of a swell: amplitude x sin(2 pi t / period + phase)."""

    period_s: float
    amplitude_m: Vector = (0.0, 0.0, 0.0)
    """Of the displacement along x, y, z."""
    amplitude_rad: Vector = (0.0, 0.0, 0.0)
    """Of heading, pitch, roll."""
    phase_rad: float = 0.0


@dataclass(frozen=True)
class Motion:
    """How goal and obstacles move together, from where the task has them: about a pivot that goes along a circle, a
    table or nowhere, and sways."""

    moves: tuple[str, ...]
    """"goal", and names of obstacles."""
    pivot_w: Vector = (0.0, 0.0, 0.0)
    """What is turned about."""
    velocity_mps: Vector = (0.0, 0.0, 0.0)
    """Of the pivot at first; it turns with the heading."""
    turn_radps: float = 0.0
    """Of the heading."""
    sways: tuple[Sway, ...] = ()
    table: tuple[tuple[float, ...], ...] = ()
    """Rows (time [s], x, y, z [m], heading, pitch, roll [rad]) of displacements, by cubic splines; at rest before and
    after."""
    begun_s: float = 0.0
    """How long it has been under way when the task begins."""

    def channels(self, time_s: np.ndarray) -> np.ndarray:
        """(n, 6) displacements and angles at moments (n,) of the task."""
        t = np.asarray(time_s, float) + self.begun_s
        out = np.zeros((len(t), CHANNELS))
        out[:, 3] = turned = self.turn_radps * t
        # Along an arc, whose chord is sin(a/2)/(a/2) of it and points half as far around.
        chord, half = t * np.sinc(turned / (2 * np.pi)), turned / 2
        vx, vy, vz = self.velocity_mps
        out[:, 0] = chord * (np.cos(half) * vx - np.sin(half) * vy)
        out[:, 1] = chord * (np.sin(half) * vx + np.cos(half) * vy)
        out[:, 2] = vz * t
        for sway in self.sways:
            wave = np.sin(2 * np.pi * t / sway.period_s + sway.phase_rad)
            out += wave[:, None] * np.r_[sway.amplitude_m, sway.amplitude_rad]
        return out + _tabled(self.table, t) if self.table else out

    def poses(self, time_s: np.ndarray) -> np.ndarray:
        """(n, 4, 4) that take places of the task to where they are at moments (n,)."""
        c, pivot = self.channels(time_s), np.array(self.pivot_w)
        T = np.zeros((len(c), 4, 4))
        T[:, :3, :3] = rotation_about(2, c[:, 3]) @ rotation_about(1, c[:, 4]) @ rotation_about(0, c[:, 5])
        T[:, :3, 3] = pivot + c[:, :3] - T[:, :3, :3] @ pivot
        T[:, 3, 3] = 1.0
        return T

    def later(self, by_s: float) -> "Motion":
        """As it is for a task that begins later."""
        return replace(self, begun_s=self.begun_s + by_s)

    @property
    def level(self) -> bool:
        """It keeps to a plane, turned about the vertical alone."""
        tilts = [sway.amplitude_rad[1:] + sway.amplitude_m[2:] for sway in self.sways]
        rows = [row[3:4] + row[5:] for row in self.table]
        return not (self.velocity_mps[2] or any(map(any, tilts)) or any(map(any, rows)))

    @staticmethod
    def of(flown: Any, moves: Sequence[str]) -> "Motion":
        """As another vehicle moves by a plan, a trajectory or a take; what moves with it stands where it begins.

        Raises InputError for what has no pose of its own.
        """
        motion = getattr(flown, "trajectory", flown)
        if not all(hasattr(motion, name) for name in ("vehicle", "time", "nodes")):
            raise InputError(
                f"a motion of {quote(flown)} is refused; allowed: a plan, a trajectory, or a take"
            )
        T = motion.vehicle.poses(motion.nodes)
        if T.shape[1] == 3:
            flat, T = T, np.tile(np.eye(4), (len(T), 1, 1))
            T[:, :2, :2], T[:, :2, 3] = flat[:, :2, :2], flat[:, :2, 2]
        first, R = T[0], T[:, :3, :3] @ T[0, :3, :3].T
        angles = np.unwrap(
            np.stack(
                [
                    np.arctan2(R[:, 1, 0], R[:, 0, 0]),
                    np.arcsin(np.clip(-R[:, 2, 0], -1.0, 1.0)),
                    np.arctan2(R[:, 2, 1], R[:, 2, 2]),
                ],
                axis=1,
            ),
            axis=0,
        )
        rows = np.c_[motion.time - motion.time[0], T[:, :3, 3] - first[:3, 3], angles]
        x, y, z = first[:3, 3].tolist()
        return Motion(tuple(moves), (x, y, z), table=tuple(map(tuple, rows.tolist())))


def pose_of_channels(c: ca.SX, pivot_w: ca.SX) -> ca.SX:
    """(4, 4) as `Motion.poses` of channels (6,)."""
    turned = turn_about("z", c[3]) @ turn_about("y", c[4]) @ turn_about("x", c[5])
    return shift(*ca.vertsplit(pivot_w + c[:3])) @ turned @ shift(*ca.vertsplit(-pivot_w))


# Splines.


@lru_cache(maxsize=32)
def spline(motion: Motion, until_s: float) -> np.ndarray:
    """(PIECES + 3, 6) coefficients of a cubic B-spline with even knots through the motion's channels, from 0 to
    `until_s`; its ends are smooth to the third derivative."""
    values = motion.channels(np.linspace(0.0, until_s, PIECES + 1))
    return np.asarray(_interpolation() @ np.vstack([np.zeros(CHANNELS), values, np.zeros(CHANNELS)]))


def spline_error(motion: Motion, until_s: float) -> float:
    """How far the spline is from the motion, at most, in the middle between its knots [m or rad]."""
    c = spline(motion, until_s)
    middles = (c[:-3] + 23.0 * (c[1:-2] + c[2:-1]) + c[3:]) / 48.0
    moments = (np.arange(PIECES) + 0.5) * (until_s / PIECES)
    return float(np.abs(middles - motion.channels(moments)).max())


@lru_cache(maxsize=1)
def _interpolation() -> np.ndarray:
    A = np.zeros((PIECES + 3, PIECES + 3))
    for k in range(PIECES + 1):
        A[k + 1, k : k + 3] = 1 / 6, 4 / 6, 1 / 6
    A[0, :5] = A[-1, -5:] = 1.0, -4.0, 6.0, -4.0, 1.0
    return np.linalg.inv(A)


@native
def spline_jets_in_time(
    coefficients: np.ndarray, spacing_s: float, time_s: np.ndarray, first: int, out: np.ndarray
) -> None:
    """Values and the three derivatives by time of splines (motions, PIECES + 3, 6) at moments (n,), into columns of out
    (n, first + motions x 4 x 6) from the first on."""
    pieces, channels = coefficients.shape[1] - 3, coefficients.shape[2]
    for k in range(time_s.size):
        where = time_s[k] / spacing_s
        floor = np.floor(where)
        # Asked this way round, a number that is none gets a piece too.
        if not floor >= 0.0:
            floor = 0.0
        if floor > pieces - 1.0:
            floor = pieces - 1.0
        piece = int(floor)
        s = where - floor
        for m in range(coefficients.shape[0]):
            for c in range(channels):
                p0 = coefficients[m, piece, c]
                p1 = coefficients[m, piece + 1, c]
                p2 = coefficients[m, piece + 2, c]
                p3 = coefficients[m, piece + 3, c]
                a = (p3 - p0) / 6.0 + (p1 - p2) / 2.0
                b = (p0 - 2.0 * p1 + p2) / 2.0
                d = (p2 - p0) / 2.0
                e = (p0 + 4.0 * p1 + p2) / 6.0
                at = first + 4 * channels * m + c
                out[k, at] = ((a * s + b) * s + d) * s + e
                out[k, at + channels] = ((3.0 * a * s + 2.0 * b) * s + d) / spacing_s
                out[k, at + 2 * channels] = (6.0 * a * s + 2.0 * b) / spacing_s**2
                out[k, at + 3 * channels] = 6.0 * a / spacing_s**3


@lru_cache(maxsize=16)
def _table_spline(table: tuple[tuple[float, ...], ...]) -> Any:
    from scipy.interpolate import CubicSpline  # when one is wanted: it loads for a while

    rows = np.array(table, float)
    return CubicSpline(rows[:, 0], rows[:, 1:], bc_type="natural")


def _tabled(table: tuple[tuple[float, ...], ...], time_s: np.ndarray) -> np.ndarray:
    inside = np.clip(time_s, table[0][0], table[-1][0])
    return np.asarray(_table_spline(table)(inside))
