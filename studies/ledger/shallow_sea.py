"""Waves over a level bed: how fast a sea's go by, what is left of them at the bed, and how wide those of hulls spread.

G. B. Airy, "Tides and waves", 1845; H. Lamb, "Hydrodynamics", section 229. The periods are measured, by the phase of
each wave in the surface that pictures and hulls have, at moments up to a quarter of an hour apart. The wedge behind a
hull ends where two stationary waves become one (T. H. Havelock, "The propagation of groups of waves in dispersive
media", 1908); beyond the speed of long waves it is Mach's.
"""

import math

import numpy as np

import sim
from sim.vehicles import State, Vehicle
from sim.water.ocean import Ocean, Sea
from sim.water.ocean.synthesis import HEIGHT
from sim.water.ocean.waves import GRAVITY_MPS2, TILES_M
from sim.water.ship_waves import edge_slope
from studies.ledger.problem import Problem

DEPTH_M = 6.0
ROUND = (2, 4, 7, 12, 20)
"""How many of each wave go into the longest tile."""
DEPTHS_M = (2.0, 6.0, 20.0, 60.0)
_POINTS = 64


def numbers() -> np.ndarray:
    """(5,) rad/m"""
    return 2.0 * np.pi / TILES_M[0] * np.array(ROUND)


def periods_truth() -> np.ndarray:
    """(5,) s"""
    k = numbers()
    return 2.0 * np.pi / np.sqrt(GRAVITY_MPS2 * k * np.tanh(k * DEPTH_M))


def _running_east(depth_m: float, rounds: tuple[int, ...]) -> Ocean:
    """A sea with nothing but waves that run along x."""
    ocean = Ocean(Sea(9.0, 0.0, 80e3, 1.0, depth_m=depth_m), points=_POINTS)
    ocean.heights[:] = 0.0
    for wave, (row, column, _, _) in enumerate(ocean.waves.place[: ocean.waves.start[1]]):
        if row == 0 and column in rounds:
            ocean.heights[wave, 0] = 0.01
            ocean.decay[0] = 2.0 * np.pi / TILES_M[0] * column
    return ocean


def periods() -> np.ndarray:
    """(5,) s"""
    ocean = _running_east(DEPTH_M, ROUND)

    def phases(time_s: float) -> np.ndarray:
        return np.angle(np.fft.fft(ocean.grids(time_s)[0, 0, :, HEIGHT].astype(float))[list(ROUND)])

    begun, omega = phases(0.0), np.zeros(len(ROUND))
    for time_s in 0.5 * 2.0 ** np.arange(12):  # each tells how often it went round until the next
        turned = begun - phases(time_s)
        omega = (turned + 2.0 * np.pi * np.round((omega * time_s - turned) / (2.0 * np.pi))) / time_s
    return 2.0 * np.pi / omega


def bed_truth() -> np.ndarray:
    """(4,)"""
    return 1.0 / np.cosh(2.0 * np.pi / TILES_M[0] * ROUND[0] * np.array(DEPTHS_M))


def at_the_bed() -> np.ndarray:
    """(4,)"""
    found = []
    for depth_m in DEPTHS_M:
        ocean = _running_east(depth_m, ROUND[:1])
        surface_m = float(ocean.height(0.0, 0.0, 0.0))
        above, below = ocean.velocity([[0.0, 0.0, surface_m], [0.0, 0.0, -depth_m]], 0.0)
        found.append(below[0] / above[0])
    return np.array(found)


CUSPS_KD = (6.0, 2.5, 1.5, 1.0, 0.7)
"""Wave number times depth of the waves at the edge: Froude numbers of depth from 0.50 to 0.95."""
BEYOND = (1.05, 1.3, 2.0)


def cusp(kd: float) -> tuple[float, float]:
    """Froude number of depth, and y / x, of the edge whose waves have that k d: there d(y / x) / dk is zero.

    With T the square of the tangent at which they run, that is a quadratic equation of closed forms in k d.
    """
    m = 2.0 * kd / math.sinh(2.0 * kd)
    change = m / kd * (1.0 - 2.0 * kd / math.tanh(2.0 * kd)) / (1.0 + m)
    b = (1.0 - m) / kd
    two, none = 4.0 * change - 2.0 * b, b * (1.0 - m)
    one = 4.0 * change + none - 2.0 * b
    T = (-one - math.sqrt(one * one - 4.0 * two * none)) / (2.0 * two)
    return math.sqrt((1.0 + T) * math.tanh(kd) / kd), (1.0 + m) * math.sqrt(T) / (1.0 - m + 2.0 * T)


def wedge_truth() -> np.ndarray:
    """(8,) rad"""
    return np.array([*(math.atan(cusp(kd)[1]) for kd in CUSPS_KD), *(math.asin(1.0 / F) for F in BEYOND)])


def wedge() -> np.ndarray:
    """(8,) rad"""
    return np.arctan(edge_slope([*(cusp(kd)[0] for kd in CUSPS_KD), *BEYOND]))


def under_way() -> tuple[Vehicle, State]:
    """A boat near the speed of long waves over 1.5 m."""
    boat = sim.vehicle("motorboat", waves=0.0, depth=1.5)
    return boat, boat.state(v=(3.6, 0.0, 0.0))


def afloat() -> tuple[Vehicle, State]:
    """A boat on such a sea."""
    boat = sim.vehicle("motorboat", waves=8.0, fetch=60e3, waves_direction=math.pi, depth=DEPTH_M)
    return boat, sim.simulate(boat, step=0.01, duration=0.0).initial


PROBLEMS = (
    Problem(
        name="shallow-periods",
        title="Waves from 16 to 156 m over a bed of 6 m",
        quantity="periods [s]",
        source="closed form, Airy 1845",
        truth=periods_truth,
        known_digits=14,
        ours=periods,
        step="phases of the surface up to 1024 s apart",
        least_digits=8.0,
        scene=afloat,
    ),
    Problem(
        name="shallow-bed",
        title="Under the crest of a wave of 156 m, over beds of 2 to 60 m",
        quantity="velocity at the bed over that at the surface [1]",
        source="closed form, Airy 1845",
        truth=bed_truth,
        known_digits=14,
        ours=at_the_bed,
        step="read from the surface's tiles",
        least_digits=12.0,
        scene=afloat,
        pictured_by="shallow-periods",
    ),
    Problem(
        name="shallow-wedge",
        title="How wide the waves of a hull spread, at 0.5 to 2 times the speed of long waves",
        quantity="half angles of the wedge [rad]",
        source="closed form, Havelock 1908; Mach's angle",
        truth=wedge_truth,
        known_digits=15,
        ours=wedge,
        step="stationary waves",
        least_digits=14.0,
        scene=under_way,
        held={"u_left": 270.0, "u_right": 270.0},
    ),
)
