"""The swinging Atwood machine: a weight that rises and falls lifts one that swings, by a rope over two rollers.

N. B. Tufillaro, T. A. Abbott, D. J. Griffiths, "Swinging Atwood's Machine", American Journal of Physics 52, 1984. Its
equations are those of a mass on a rope of changing length,

    (1 + mu) r'' = r theta'^2 + g (cos theta - mu),   r theta'' = -2 r' theta' - g sin theta,

mu the weight's mass over that of the bob. Here the bob is a mass on two slides, the weight one on a third, and the rope
a tendon through two points of the world, whose length is held: none of these equations is told to the tree.
"""

from collections.abc import Callable

import numpy as np
from scipy.integrate import solve_ivp

from sim.multibody.declaration import Body, Gear, Joint, Strand, Tendon
from sim.scene import Comparison
from studies.ledger.composed import ORDER_8
from studies.ledger.mechanism import Mechanism
from studies.ledger.problem import Problem

BOB_KG, RATIO, GRAVITY = 40.0, 2.394, 9.81
BEGIN_M, BEGIN_RAD, APART_M, ROPE_M = 1.0, 0.5 * np.pi, 2.0, 5.0
END_S, STEP_S = 2.0, 2e-3
_SMALL = (1e-3, 1e-3, 1e-3)
"""Moments of what only slides: of no account."""


def machine() -> Mechanism:
    """Rollers at the world's origin and beside it; the bob swings in the plane of x and z."""
    down = BEGIN_M * np.cos(BEGIN_RAD)
    return Mechanism(
        bodies=[
            Body("across", joint=Joint("prismatic", axis=(1.0, 0.0, 0.0)), mass=0.0),
            Body("bob", "across", Joint("prismatic"), mass=BOB_KG, inertia=_SMALL),
            Body(
                "weight",
                joint=Joint("prismatic"),
                position=(-APART_M, 0.0, 0.0),
                mass=RATIO * BOB_KG,
                inertia=_SMALL,
            ),
        ],
        gravity_w=(0.0, 0.0, -GRAVITY),
        tendons=[
            Tendon(
                [
                    Strand(
                        [
                            ("weight", (0.0, 0.0, 0.0)),
                            ("world", (-APART_M, 0.0, 0.0)),
                            ("world", (0.0, 0.0, 0.0)),
                            ("bob", (0.0, 0.0, 0.0)),
                        ]
                    )
                ],
                name="rope",
            )
        ],
        gears=[Gear("rope", coefficients=(ROPE_M,))],
        q={"across": BEGIN_M * np.sin(BEGIN_RAD), "bob": -down, "weight": BEGIN_M + APART_M - ROPE_M},
    )


MACHINE = machine()


def by_polar_coordinates() -> np.ndarray:
    """(2,) place of the bob [m], by its own equations."""

    def rate(_: float, y: np.ndarray) -> list[float]:
        r, theta, speed, turning = y
        rising = (r * turning**2 + GRAVITY * (np.cos(theta) - RATIO)) / (1.0 + RATIO)
        return [speed, turning, rising, -(2.0 * speed * turning + GRAVITY * np.sin(theta)) / r]

    begin = [BEGIN_M, BEGIN_RAD, 0.0, 0.0]
    run = solve_ivp(rate, (0.0, END_S), begin, method="DOP853", rtol=1e-13, atol=1e-14)
    r, theta = run.y[:2, -1]
    return np.array([r * np.sin(theta), -r * np.cos(theta)])


def bob_in_both_ways(
    name: str, title: str, what: str, source: str, truth: Callable[[], np.ndarray], machine: Mechanism
) -> tuple[Problem, Problem]:
    """Place of what a machine's first two slides carry, whose tendon is held to its length: by explicit stages, and by
    the variational method composed, both of eighth order.

    title, what: of the first, with a colon between; source: of the truth, (2,) [m].
    """

    def by_stages() -> np.ndarray:
        steps = round(END_S / STEP_S)
        return np.asarray(machine.moved_explicitly(END_S, STEP_S, machine.angles, every=steps)[-1][:2])

    def composed() -> np.ndarray:
        return machine.moved(END_S, STEP_S, ORDER_8)[0][:2]

    def problem(
        own: str, called: str, ours: Callable[[], np.ndarray], step: str, way_of: str = ""
    ) -> Problem:
        return Problem(
            name=own,
            title=f"{title}{called}",
            quantity=f"place of the bob at {END_S:g} s [m]",
            source=f"{source}, SciPy's DOP853",
            truth=truth,
            known_digits=12,
            ours=ours,
            step=f"{step}, order 8, {1e3 * STEP_S:g} ms",
            motion_s=END_S,
            least_digits=11.5,
            scene=lambda: machine.opened(f"ledger-{own}"),
            shown=lambda: {"comparison": Comparison(bearing_deg=80.0, distance=0.8)},
            pictured_by=way_of,
            another_way_of=way_of,
        )

    held = "with a tendon held to its length"
    return (
        problem(name, f": {what}", by_stages, f"Dormand and Prince {held}"),
        problem(
            f"{name}-composed",
            " by the variational method composed",
            composed,
            f"riqn {held}, composed",
            name,
        ),
    )


PROBLEMS = bob_in_both_ways(
    "swinging-atwood",
    "The swinging Atwood machine",
    "a rope over two rollers",
    "its own equations in polar coordinates (Tufillaro and others 1984)",
    by_polar_coordinates,
    MACHINE,
)
