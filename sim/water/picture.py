"""What there is to be drawn of a box of water and of the drops above it, whatever moves them."""

from dataclasses import field

import numpy as np

from sim.platform.values import dataclass

MOST_DROPS = 12000
_GRAVITY_MPS2 = 9.81


@dataclass(frozen=True, slots=True, eq=False)
class Spray:
    """Drops in the world."""

    place_w: np.ndarray
    """(n, 3) float32 [m]."""
    velocity_w: np.ndarray
    """(n, 3) float32 [m/s]."""

    @staticmethod
    def none() -> "Spray":
        return Spray(np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32))

    def gone_on(
        self, dt_s: float, corner_w: tuple[float, float, float], cell_m: float, height_m: np.ndarray
    ) -> "Spray":
        """dt_s later: those over a box's columns (ny, nx) that are still above its surface, and those beside it."""
        v = self.velocity_w.copy()
        v[:, 2] -= np.float32(_GRAVITY_MPS2 * dt_s)
        place = self.place_w + np.float32(0.5 * dt_s) * (self.velocity_w + v)
        ny, nx = height_m.shape
        at = np.floor((place[:, :2] - np.array(corner_w[:2], np.float32)) / np.float32(cell_m)).astype(int)
        over = ((at >= 0) & (at < (nx, ny))).all(axis=1)
        i, j = at[over].T
        flies = np.zeros(len(place), bool)
        flies[over] = place[over, 2] > corner_w[2] + height_m[j, i]
        return Spray(place[flies], v[flies])

    def and_more(self, other: "Spray") -> "Spray":
        """Both, the newest MOST_DROPS of them."""
        place, v = (
            np.concatenate(pair)[-MOST_DROPS:]
            for pair in ((self.place_w, other.place_w), (self.velocity_w, other.velocity_w))
        )
        return Spray(place, v)


MOST_SPRAY = 20000
"""Drops that are shown at most."""


@dataclass(frozen=True, slots=True, eq=False)
class BoxPicture:
    """The water of one moment."""

    corner_w: tuple[float, float, float]
    """Where the box begins [m]."""
    cell_m: float
    size_m: tuple[float, float, float]
    height_m: np.ndarray
    """(ny, nx) float32 of the surface over the middle of each column of cells, above the box's bottom."""
    foam: np.ndarray
    """(ny, nx) float32 0..1: how much of each column's surface has been broken lately."""
    paddle_m: float | None
    """How far the wave maker stands from where the box begins, along x."""
    spray_w: np.ndarray
    """(n, 3) float32 places of particles that fly [m]."""
    time_s: float
    in_sea: bool = False
    """Whether the sea goes on about it, with no walls."""
    spray: Spray = field(default_factory=Spray.none)
    """Drops that a torn surface has thrown."""
