"""What acts on props beside gravity and what they touch: a hand that pulls one of them, and what is about them."""

from typing import Protocol

import numpy as np

from sim.contact.bodies import Pile
from sim.environment.coupling import Grip
from sim.vehicles.forms.base import Vehicle

RATE_RADPS = 20.0
"""Of the hand's spring with the body's mass at its end: its stiffness is mass times the square of that."""
STRONGEST_MPS2 = 250.0
"""What it gives the body's mass at most, however far the hand is: what lies in a pile is held by many times its
weight."""


class Surroundings(Protocol):
    """What acts on all props, as water does; it has a state of its own."""

    def wrenches(
        self,
        state: np.ndarray,
        mass_kg: np.ndarray,
        inertia: np.ndarray,
        time_s: float,
        h: float,
        out: np.ndarray,
    ) -> None:
        """Add mean torques and forces over h, in the world, to out (n, 6); arguments as of a pile."""

    def renew(self, vehicle: Vehicle, time_s: float) -> None:
        """The vehicle, which says what weather there is, has other numbers from then on."""

    def checkpoint(self) -> np.ndarray:
        """(k,) its whole state, always of one length."""

    def restore(self, checkpoint: np.ndarray) -> None:
        """Back to a state that `checkpoint` gave."""


def hand_wrench(pile: Pile, grip: Grip, h: float) -> np.ndarray:
    """(6,) mean torque and force over h on the body that is held, in the world.

    The spring is that of its end, and critically damped with all of the mass there: the velocity that its own impulse
    leads to is within, so that no body is too light for it.
    """
    row, (inverse_mass, inverse_inertia_w) = pile.state[grip.body], pile.answer(grip.body)
    if inverse_mass == 0.0:
        return np.zeros(6)
    r = row[:9].reshape(3, 3) @ np.array(grip.at_b)
    arm = np.array([[0.0, -r[2], r[1]], [r[2], 0.0, -r[0]], [-r[1], r[0], 0.0]])
    velocity = row[15:18] - arm @ row[12:15]
    answer = inverse_mass * np.eye(3) - arm @ inverse_inertia_w @ arm
    stiffness, damping = RATE_RADPS**2 / inverse_mass, 2.0 * RATE_RADPS / inverse_mass
    way = np.array(grip.to_w) - row[9:12] - r
    way *= min(1.0, STRONGEST_MPS2 / RATE_RADPS**2 / max(float(np.linalg.norm(way)), 1e-12))
    wanted = stiffness * (way - h * velocity) - damping * velocity
    force = np.linalg.solve(np.eye(3) + h * (damping + h * stiffness) * answer, wanted)
    return np.concatenate([arm @ force, force])
