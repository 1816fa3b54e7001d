"""What acts on props beside gravity and what they touch: a hand that pulls one of them, and what is about them.

A hook at the end of a vehicle that catches the slings of props: it closes by itself, and opens when the load stands.

A sling is a cord of some length from the top of a prop. While no hook has it, it stands up. Hooks of this kind are used
where nobody is below: a spring closes them about what is led in, and they open once nothing has hung for a moment."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np

from sim.contact.bodies import Pile
from sim.environment.environment import Grip
from sim.vehicles.forms.base import Vehicle

CATCHES_M = 0.7
"""Between the hook and the end of a sling."""
_CARRIES_S, _STANDS_S = 1.0, 1.0
"""It has to have hung for so long, and to have stood for so long, before it is let go."""
_AWAY_M = 2.5
"""So far the hook has to be from what it has let go before it catches again."""
_TAUT_M = 2e-3


class Hook:
    """state (4,): which prop it has or -1, for how long that has hung, and stood [s], which it must not catch or -1."""

    def __init__(self, slings: Mapping[int, tuple[np.ndarray, float]]) -> None:
        """slings: of props by number, where they are fixed in the prop's axes (3,), and their length [m]."""
        self.slings = slings
        self.state = np.array([-1.0, 0.0, 0.0, -1.0])

    @property
    def caught(self) -> int:
        """The prop that hangs from it; -1: none."""
        return int(self.state[0])

    def cords(self, hook: int, hook_w: np.ndarray, poses: np.ndarray, dt_s: float) -> np.ndarray:
        """(k, 9) as `Mechanism.cords` has them, for the next dt: hook (3,) is where it is now, at that body.

        poses (n, 12): of the props.
        """
        state = self.state
        if state[3] >= 0 and float(np.linalg.norm(hook_w - self._end_w(int(state[3]), poses))) > _AWAY_M:
            state[3] = -1.0
        if state[0] < 0:
            for k in self.slings:
                within = np.linalg.norm(hook_w - self._eye_w(k, poses)) < self.slings[k][1]
                if k != state[3] and within and np.linalg.norm(hook_w - self._end_w(k, poses)) < CATCHES_M:
                    state[:3] = k, 0.0, 0.0
                    break
            else:
                return np.zeros((0, 9))
        k = int(state[0])
        eye_b, length_m = self.slings[k]
        taut = float(np.linalg.norm(hook_w - self._eye_w(k, poses))) > length_m - _TAUT_M
        state[1] += dt_s if taut else 0.0
        state[2] = 0.0 if taut else state[2] + dt_s
        if state[1] > _CARRIES_S and state[2] > _STANDS_S:
            state[:] = -1.0, 0.0, 0.0, k
            return np.zeros((0, 9))
        return np.array([[k, hook, *eye_b, 0.0, 0.0, 0.0, length_m]])

    def near(self, hook_w: np.ndarray, poses: np.ndarray) -> bool:
        """Whether it has something, or may get it."""
        if self.caught >= 0 or self.state[3] >= 0:
            return True
        return any(np.linalg.norm(hook_w - self._end_w(k, poses)) < 2.0 * CATCHES_M for k in self.slings)

    def lines_w(self, hook_w: np.ndarray, poses: np.ndarray) -> np.ndarray:
        """(k, 2, 3) of all slings: up from where they are fixed, or to the hook (3,)."""
        found = np.zeros((len(self.slings), 2, 3))
        for ends, k in zip(found, self.slings, strict=True):
            ends[0], ends[1] = self._eye_w(k, poses), self._end_w(k, poses)
            if k == self.caught:
                ends[1] = hook_w
        return found

    def _eye_w(self, k: int, poses: np.ndarray) -> np.ndarray:
        found: np.ndarray = poses[k, :9].reshape(3, 3) @ self.slings[k][0] + poses[k, 9:12]
        return found

    def _end_w(self, k: int, poses: np.ndarray) -> np.ndarray:
        return self._eye_w(k, poses) + np.array([0.0, 0.0, self.slings[k][1]])


RATE_RADPS = 30.0
"""Of the hand's spring with the body's mass at its end: its stiffness is mass times the square of that."""
STRONGEST_MPS2 = 400.0
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
