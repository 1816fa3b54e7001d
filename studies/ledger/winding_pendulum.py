"""Huygens' pendulum whose string winds on a drum: the bob moves on the circle's involute.

C. Huygens, "Horologium Oscillatorium", Paris 1673, part III: what unwinds from a curve describes its evolvent. With phi
the angle of the point at which the string leaves a fixed drum of radius r, and l = C - r phi what hangs from there,

    l phi'' = r phi'^2 + g sin phi,

since the bob is at r e + l e', e = (cos phi, sin phi), and moves along -e alone, at l phi'. Here the bob is a mass on
two slides, and the string a tendon from a nail round the drum, whose length is held: none of this is told to the tree.
"""

import numpy as np
from scipy.integrate import solve_ivp

from sim.multibody.declaration import Body, Gear, Joint, Strand, Tendon, Wrap
from studies.ledger.mechanism import Mechanism
from studies.ledger.ropes import END_S, bob_in_both_ways

RADIUS_M, NAIL_M, HANGING_M, GRAVITY = 0.3, 0.8, 1.4, 9.81
BEGIN_RAD = 2.1
_NAIL_RAD = 0.5 * np.pi
"""Where the string comes upon the drum: from a nail as high as its top."""
_LENGTH_M = NAIL_M + RADIUS_M * (np.pi - _NAIL_RAD) + HANGING_M
"""Of the string; HANGING_M: what hangs straight down at rest."""
_SMALL = (1e-3, 1e-3, 1e-3)
"""Moments of what only slides: of no account."""


def place(phi: float) -> np.ndarray:
    """(2,) of the bob in the plane of x and z [m]."""
    left = HANGING_M + RADIUS_M * (np.pi - phi)
    return np.array(
        [
            RADIUS_M * np.cos(phi) - left * np.sin(phi),
            RADIUS_M * np.sin(phi) + left * np.cos(phi),
        ]
    )


def machine() -> Mechanism:
    """The drum's axis is the world's y; the bob hangs on the left of it."""
    x, z = place(BEGIN_RAD).tolist()
    drum = Wrap(
        "world", (0.0, 0.0, 0.0), RADIUS_M, axis=(0.0, 1.0, 0.0), side=(-1.5 * RADIUS_M, 0.0, 0.2 * RADIUS_M)
    )
    return Mechanism(
        bodies=[
            Body("across", joint=Joint("prismatic", axis=(1.0, 0.0, 0.0)), mass=0.0),
            Body("bob", "across", Joint("prismatic"), mass=1.0, inertia=_SMALL),
        ],
        gravity_w=(0.0, 0.0, -GRAVITY),
        tendons=[
            Tendon(
                [Strand([("world", (NAIL_M, 0.0, RADIUS_M)), drum, ("bob", (0.0, 0.0, 0.0))])],
                name="string",
            )
        ],
        gears=[Gear("string", coefficients=(_LENGTH_M,))],
        q={"across": x, "bob": z},
    )


MACHINE = machine()


def by_the_involute() -> np.ndarray:
    """(2,) place of the bob [m], by its own equation."""

    def rate(_: float, y: np.ndarray) -> list[float]:
        phi, turning = y
        left = HANGING_M + RADIUS_M * (np.pi - phi)
        return [turning, (RADIUS_M * turning**2 + GRAVITY * np.sin(phi)) / left]

    run = solve_ivp(rate, (0.0, END_S), [BEGIN_RAD, 0.0], method="DOP853", rtol=1e-13, atol=1e-14)
    return place(float(run.y[0, -1]))


PROBLEMS = bob_in_both_ways(
    "winding-pendulum",
    "Huygens' pendulum",
    "a string that winds on a drum",
    "its own equation on the involute (Huygens 1673)",
    by_the_involute,
    MACHINE,
)
