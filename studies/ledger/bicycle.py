"""Whipple's bicycle: its modes, the speeds at which it runs by itself, and how it comes upright after a kick.

Published by J. P. Meijaard, J. M. Papadopoulos, A. Ruina, A. L. Schwab, "Linearized dynamics equations for the balance
and steer of a bicycle: a benchmark and review", Proc. R. Soc. A 463, 2007.
"""

import numpy as np
from scipy.optimize import brentq

import sim
from sim.vehicles.bicycle import Bicycle
from studies.ledger.problem import Problem
from studies.ledger.wheels import DERIVED, ended, with_multipliers

PUBLISHED = (
    -14.07838969279822,
    -0.32286642900409,
    -0.77534188219585,
    4.46486771378823,
)
WEAVE_MPS, CAPSIZE_MPS = 4.29238253634111, 6.02426201538837


def modes_at(bicycle: Bicycle, speed_mps: float) -> np.ndarray:
    """(4,) eigenvalues that are not zero: castering, capsize, and the pair of weave's."""
    values = sim.linearise(bicycle, bicycle.riding(speed_mps)).eigenvalues
    return np.asarray(values[np.argsort(-np.abs(values))[:4]])


def eigenvalues() -> np.ndarray:
    """(4,) 1/s at 5 m/s: castering, capsize, weave's real and imaginary part."""
    values = modes_at(Bicycle(), 5.0)
    weave = values[values.imag > 1.0][0]
    real = np.sort(values[np.abs(values.imag) < 1.0].real)
    return np.array([*real, weave.real, weave.imag])


def bounds() -> np.ndarray:
    """(2,) m/s between which all decays by itself."""
    bicycle = Bicycle()

    def weave(speed: float) -> float:
        values = modes_at(bicycle, speed)
        return float(values[np.abs(values.imag).argmax()].real)

    def capsize(speed: float) -> float:
        values = modes_at(bicycle, speed)
        return float(values[np.abs(values).argmin()].real)

    return np.array([brentq(weave, 4.2, 4.4, xtol=1e-13), brentq(capsize, 5.8, 6.2, xtol=1e-13)])


def tilted(speed_mps: float = 5.0) -> tuple[Bicycle, sim.State]:
    """Kicked while it runs, by default within the speeds at which it comes upright by itself."""
    bicycle = Bicycle()
    return bicycle, bicycle.riding(speed_mps, lean=0.1, steer_rate=0.3)


PROBLEMS = (
    Problem(
        name="bicycle",
        title="Whipple's bicycle at 5 m/s, as a vehicle",
        quantity="castering, capsize and weave [1/s]",
        source="Meijaard et al. 2007, table 2",
        truth=lambda: PUBLISHED,
        known_digits=14,
        ours=eigenvalues,
        step="linearised",
        least_digits=12.0,
        scene=tilted,
    ),
    Problem(
        name="bicycle-bounds",
        title="Speeds between which a bicycle runs upright by itself",
        quantity="weave and capsize speed [m/s]",
        source="Meijaard et al. 2007, section 5",
        truth=lambda: (WEAVE_MPS, CAPSIZE_MPS),
        known_digits=15,
        ours=bounds,
        step="linearised",
        least_digits=11.0,
        scene=lambda: tilted(WEAVE_MPS),
        pictured_by="bicycle",
    ),
    Problem(
        name="bicycle-kicked",
        title="Whipple's bicycle, kicked",
        quantity="lean, pitch, steering, wheels' angles, heading and place at 2 s",
        source=DERIVED,
        truth=lambda: with_multipliers(tilted()[0], tilted()[1].node, 2.0),
        known_digits=12,
        ours=lambda: ended(*tilted(), 2.0, 2e-3, "rk4"),
        step="rk4, 2 ms",
        motion_s=2.0,
        least_digits=8.0,
        scene=tilted,
    ),
)
