"""Water on a deck: a film that spray and waves lay on it, that runs down as the hull leans, drains and dries.

Its plan is the hull as seen from above, in cells. What runs is a thin film: its speed grows with its thickness and with
the slope it runs down (Nusselt's film between two limits); over the rail it is gone."""

import math

import numpy as np

from render.frame import MOMENT_S
from render.water.sea_fields import STATIONS, WATERLINES, half_breadths
from sim.platform.values import dataclass
from sim.vehicle_config.config import HullMesh

ALONG, ACROSS = 24, 12
_LINES = 9
"""Places along a hull at which the water about it is looked at."""
_DRAINS_S, DRIES_S = 2.6, 7.0
_RUNS_MPS = 1.4
"""How fast a full film runs down a slope of one."""
_INWARD = np.array([1.0, 0.85, 1.0])
"""From a side to the cells beside it."""
_LAID = 0.30
"""Of a full film, by one drop that comes down in a cell, of a thousand that fly at most."""


@dataclass(frozen=True, slots=True, eq=False)
class DeckPlan:
    """A hull seen from above, and its sides."""

    corner_m: tuple[float, float]
    """Least x and y, body frame."""
    size_m: tuple[float, float]
    tops_m: np.ndarray
    """(ALONG, ACROSS) highest z of the hull in each cell; nan beside it."""
    lines_b: np.ndarray
    """(3, _LINES, 3) m: right side, keel line and left side, at z = 0."""
    _breadths: np.ndarray
    _box: tuple[float, float, float, float]
    _rails: np.ndarray
    """(STATIONS,) z of the rail."""
    _keels: np.ndarray

    @staticmethod
    def of(surface: HullMesh) -> "DeckPlan":
        """Of a hull's closed surface."""
        breadths, box = half_breadths(surface)
        breadths = breadths.astype(float)
        z = box[1] + (np.arange(WATERLINES) + 0.5) / WATERLINES * box[3]
        widest = breadths.max(axis=0)
        there = breadths > np.maximum(0.85 * widest, 1e-3)
        rails = np.where(there.any(axis=0), z[WATERLINES - 1 - there[::-1].argmax(axis=0)], box[1])
        wet = breadths > 0.01
        keels = np.where(wet.any(axis=0), z[wet.argmax(axis=0)], rails)
        half = float(widest.max())
        corner, size = (box[0], -half), (box[2], 2.0 * half)
        x = corner[0] + (np.arange(ALONG) + 0.5) / ALONG * size[0]
        y = corner[1] + (np.arange(ACROSS) + 0.5) / ACROSS * size[1]
        station = np.clip(((x - box[0]) / box[2] * STATIONS).astype(int), 0, STATIONS - 1)
        covers = breadths[:, station][:, :, None] > np.abs(y)[None, None]
        top = z[WATERLINES - 1 - covers[::-1].argmax(axis=0)]
        tops = np.where(covers.any(axis=0), top, np.nan)
        at = box[0] + np.linspace(0.02, 0.98, _LINES) * box[2]
        aside = np.interp(at, box[0] + (np.arange(STATIONS) + 0.5) / STATIONS * box[2], widest)
        lines = np.stack([np.column_stack([at, side * aside, np.zeros(_LINES)]) for side in (-1.0, 0.0, 1.0)])
        return DeckPlan(corner, size, tops, lines, breadths, box, rails, keels)

    @property
    def covered(self) -> np.ndarray:
        """(ALONG, ACROSS) where there is hull."""
        return np.asarray(np.isfinite(self.tops_m))

    @property
    def x_m(self) -> np.ndarray:
        """(ALONG,) middles of the cells, body frame."""
        return np.asarray(self.corner_m[0] + (np.arange(ALONG) + 0.5) / ALONG * self.size_m[0])

    def rail_at(self, x: np.ndarray) -> np.ndarray:
        """(n,) z of the rail at x (n,) [m]."""
        return np.asarray(self._rails[self._station(x)])

    def keel_at(self, x: np.ndarray) -> np.ndarray:
        """(n,) lowest z there."""
        return np.asarray(self._keels[self._station(x)])

    def side_at(self, x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(n,) half breadth [m] at x and z, and how it grows forward and upward."""
        row, station = self._row(z), self._station(x)
        dx, dz = self._box[2] / STATIONS, self._box[3] / WATERLINES
        fore, aft = np.minimum(station + 2, STATIONS - 1), np.maximum(station - 2, 0)
        over, under = np.minimum(row + 1, WATERLINES - 1), np.maximum(row - 1, 0)
        breadth = self._breadths
        forward = (breadth[row, fore] - breadth[row, aft]) / np.maximum((fore - aft) * dx, 1e-9)
        upward = (breadth[over, station] - breadth[under, station]) / np.maximum((over - under) * dz, 1e-9)
        return breadth[row, station], forward, upward

    def cell_of(self, place_b: np.ndarray) -> np.ndarray:
        """(n,) which cell a place (n, 3) lies in or over; -1 beside the hull."""
        i = np.floor((place_b[:, 0] - self.corner_m[0]) / self.size_m[0] * ALONG).astype(int)
        j = np.floor((place_b[:, 1] - self.corner_m[1]) / self.size_m[1] * ACROSS).astype(int)
        inside = (i >= 0) & (i < ALONG) & (j >= 0) & (j < ACROSS)
        cell = np.clip(i, 0, ALONG - 1) * ACROSS + np.clip(j, 0, ACROSS - 1)
        return np.where(inside & np.isfinite(self.tops_m.ravel()[cell]), cell, -1)

    def _station(self, x: np.ndarray) -> np.ndarray:
        return np.clip(((x - self._box[0]) / self._box[2] * STATIONS).astype(int), 0, STATIONS - 1)

    def _row(self, z: np.ndarray) -> np.ndarray:
        return np.clip(((z - self._box[1]) / self._box[3] * WATERLINES).astype(int), 0, WATERLINES - 1)


@dataclass(frozen=True, slots=True, eq=False)
class DeckFilm:
    """Of one hull at a moment."""

    plan: DeckPlan
    film: np.ndarray
    """(ALONG, ACROSS) 0..1 of water that runs."""
    damp: np.ndarray
    """(ALONG, ACROSS) 0..1 of what it leaves."""
    run_m: np.ndarray
    """(2,) how far what runs has come, body x and y."""

    @staticmethod
    def dry(plan: DeckPlan) -> "DeckFilm":
        """On a hull that nothing has come over."""
        return DeckFilm(plan, np.zeros((ALONG, ACROSS)), np.zeros((ALONG, ACROSS)), np.zeros(2))

    def stepped(
        self, R_wb: np.ndarray, above_m: np.ndarray, drops: np.ndarray, sides: tuple[np.ndarray, np.ndarray]
    ) -> "DeckFilm":
        """A moment later: at an attitude (3, 3), with water over the body's plane z = 0 as the plan's lines have it,
        with so many drops of a thousand come down in each cell, and with sides along which water is thrown up: at
        places (n, 3), by a share (n,)."""
        plan = self.plan
        slope = -R_wb[2, :2] / max(float(R_wb[2, 2]), 0.3)
        film = self.film
        for axis, cells in ((0, ALONG), (1, ACROSS)):
            share = _RUNS_MPS * float(slope[axis]) * MOMENT_S * cells / plan.size_m[axis]
            film = _run(film, axis, min(max(share, -0.9), 0.9))
        film = film * math.exp(-MOMENT_S / _DRAINS_S) + _LAID * drops
        film[self._over(above_m)] = 1.0
        film = np.where(plan.covered, np.minimum(film, 1.0), 0.0)
        damp = np.maximum(self.damp * math.exp(-MOMENT_S / DRIES_S), np.minimum(2.0 * film, 1.0))
        places, share_of = sides
        cell = plan.cell_of(places * _INWARD)
        np.maximum.at(damp.reshape(-1), cell[cell >= 0], share_of[cell >= 0])
        run_m = self.run_m + np.minimum(np.maximum(slope, -0.6), 0.6) * _RUNS_MPS * MOMENT_S
        return DeckFilm(plan, film, damp, run_m)

    def towards(self, after: "DeckFilm", share: float) -> "DeckFilm":
        """A share of the way to what is a moment later."""
        pairs = ((self.film, after.film), (self.damp, after.damp), (self.run_m, after.run_m))
        return DeckFilm(self.plan, *(a + share * (b - a) for a, b in pairs))

    def _over(self, above_m: np.ndarray) -> np.ndarray:
        """(ALONG, ACROSS) where the sea stands over the rail."""
        plan = self.plan
        rows = np.array([np.interp(plan.x_m, plan.lines_b[k, :, 0], above_m[k]) for k in range(3)])
        aside = np.linspace(-1.0, 1.0, ACROSS)
        level = rows[1] + np.abs(aside)[:, None] * np.where(
            aside[:, None] < 0.0, rows[0] - rows[1], rows[2] - rows[1]
        )
        return np.asarray(plan.covered & (plan.rail_at(plan.x_m)[:, None] < level.T))

    def texels(self) -> np.ndarray:
        """(ACROSS, ALONG, 2) float32: film and damp."""
        return np.ascontiguousarray(np.stack([self.film, self.damp], axis=-1).transpose(1, 0, 2), np.float32)


def _run(film: np.ndarray, axis: int, share: float) -> np.ndarray:
    """Moved by up to a cell along an axis: the thicker, the faster; what leaves at the end is gone."""
    leaves = film * abs(share) * (0.25 + 0.75 * film)
    moved = film - leaves
    into = np.roll(leaves, 1 if share > 0.0 else -1, axis)
    first = [slice(None)] * 2
    first[axis] = slice(0, 1) if share > 0.0 else slice(-1, None)
    into[tuple(first)] = 0.0
    return np.asarray(moved + into)
