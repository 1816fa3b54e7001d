"""Huygens' pendulum whose string winds on a drum: the bob moves on the circle's involute.

C. Huygens, "Horologium Oscillatorium", Paris 1673, part III: what unwinds from a curve describes its evolvent. With phi
the angle of the point at which the string leaves a fixed drum of radius r, and l = C - r phi what hangs from there,

    l phi'' = r phi'^2 + g sin phi,

since the bob is at r e + l e', e = (cos phi, sin phi), and moves along -e alone, at l phi'. Here the bob is a mass on
two slides, and the string a tendon from a nail round the drum, whose length is held: none of this is told to the tree.
"""

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

from sim.multibody.declaration import Body, Gear, Joint, Strand, Tendon, Wrap
from sim.scene import Comparison
from studies.ledger.composed import ORDER_8
from studies.ledger.mechanism import Mechanism
from studies.ledger.problem import Problem

RADIUS_M, NAIL_M, HANGING_M, GRAVITY = 0.3, 0.8, 1.4, 9.81
BEGIN_RAD, END_S, STEP_S = 2.1, 2.0, 2e-3
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


def by_stages() -> np.ndarray:
    """(2,) place of the bob [m], by steps of eighth order with the string's length held."""
    return np.asarray(
        MACHINE.moved_explicitly(END_S, STEP_S, MACHINE.angles, every=round(END_S / STEP_S))[-1][:2]
    )


def composed() -> np.ndarray:
    """The same by the variational method."""
    return MACHINE.moved(END_S, STEP_S, ORDER_8)[0][:2]


def _problem(name: str, title: str, ours: Callable[[], np.ndarray], step: str, way_of: str = "") -> Problem:
    return Problem(
        name=name,
        title=title,
        quantity="place of the bob at 2 s [m]",
        source="its own equation on the involute (Huygens 1673), SciPy's DOP853",
        truth=by_the_involute,
        known_digits=12,
        ours=ours,
        step=step,
        motion_s=END_S,
        least_digits=11.5,
        scene=lambda: MACHINE.opened(f"ledger-{name}"),
        shown=lambda: {"comparison": Comparison(bearing_deg=80.0, distance=0.8)},
        pictured_by=way_of,
        another_way_of=way_of,
    )


PROBLEMS = (
    _problem(
        "winding-pendulum",
        "Huygens' pendulum: a string that winds on a drum",
        by_stages,
        "Dormand and Prince with a tendon held to its length, order 8, 2 ms",
    ),
    _problem(
        "winding-pendulum-composed",
        "Huygens' pendulum by the variational method composed",
        composed,
        "riqn with a tendon held to its length, composed, order 8, 2 ms",
        "winding-pendulum",
    ),
)
