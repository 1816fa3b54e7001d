"""What pushes a boat, found out on the way: a current and a steady force, as far as her own motion tells them apart.

A Kalman filter over world axes: current (2,) [m/s], force (2,) [N], torque about the vertical [N m], all of which
wander slowly. What is measured are the changes of velocity that thrust and water at rest do not explain. Fast, the
hull's resistance tells of the water; slow, of the wind.
"""

import math

import numpy as np

from sim.pilot.planar_craft import CURRENT, THETA, TORQUE, R, U, V, rates

_EVERY_S = 0.1
_AT_FIRST = np.array([0.3, 0.3, 60.0, 60.0, 40.0])
"""Standard deviations."""
_WANDERS = np.array([0.02, 0.02, 10.0, 10.0, 6.0])
"""In a second."""
_WAVES = np.array([0.6, 0.9, 0.5])
"""What waves add to a measured acceleration: ahead and aside [m/s^2], turning [rad/s^2]; it evens out."""


class Disturbance:
    """Take in moments by `see`; `told` gives a boat's numbers with what has been found out."""

    def __init__(self) -> None:
        self._mean, self._spread = np.zeros(5), np.diag(_AT_FIRST**2)
        self._last: np.ndarray | None = None
        self._thrust, self._since_s = np.zeros(2), 0.0

    @property
    def current_w(self) -> np.ndarray:
        """(2,) [m/s]."""
        return self._mean[:2]

    @property
    def force_w(self) -> np.ndarray:
        """(2,) [N]."""
        return self._mean[2:4]

    def told(self, craft: np.ndarray) -> np.ndarray:
        """The boat's numbers in this current and under this force, world axes."""
        numbers = craft.copy()
        numbers[CURRENT : TORQUE + 1] = self._mean
        return numbers

    def see(self, craft: np.ndarray, ground: np.ndarray, thrust: np.ndarray, dt_s: float) -> None:
        """A moment; thrust (2,) acts from then on.

        ground (6,): place, heading, velocity over ground in the world, turn rate.
        """
        if self._last is None:
            self._last = ground.copy()
        self._thrust += thrust * dt_s
        self._since_s += dt_s
        if self._since_s < _EVERY_S - 1e-9:
            return
        self._learn(craft, self._last, ground, self._thrust / self._since_s, self._since_s)
        self._last, self._thrust, self._since_s = ground.copy(), np.zeros(2), 0.0

    def _learn(
        self, craft: np.ndarray, last: np.ndarray, now: np.ndarray, thrust: np.ndarray, span_s: float
    ) -> None:
        self._spread += np.diag(_WANDERS**2) * span_s
        turned = _turned(last[THETA])
        seen = np.array([*(turned.T @ (now[[U, V]] - last[[U, V]])), now[R] - last[R]]) / span_s
        expected, slope = self._expected(craft, last, thrust, self._mean), np.empty((3, 5))
        for k in range(5):
            shifted = self._mean.copy()
            shifted[k] += 1e-3 * _AT_FIRST[k]
            slope[:, k] = (self._expected(craft, last, thrust, shifted) - expected) / (1e-3 * _AT_FIRST[k])
        gain = self._spread @ slope.T @ np.linalg.inv(slope @ self._spread @ slope.T + np.diag(_WAVES**2))
        self._mean = self._mean + gain @ (seen - expected)
        self._spread = self._spread - gain @ slope @ self._spread
        self._spread = 0.5 * (self._spread + self._spread.T)

    def _expected(
        self, craft: np.ndarray, ground: np.ndarray, thrust: np.ndarray, pushed: np.ndarray
    ) -> np.ndarray:
        """(3,) acceleration over ground along the body's axes and of turning."""
        numbers, rate = craft.copy(), np.empty(3)
        numbers[CURRENT : TORQUE + 1] = pushed
        state = through_water(numbers, ground)
        rates(numbers, state, thrust, rate)
        # The velocity's own axes turn with her, those of the water stay.
        r = state[R]
        return rate + np.array([-r * state[V], r * state[U], 0.0])


def through_water(craft: np.ndarray, ground: np.ndarray) -> np.ndarray:
    """(6,) state of the planar boat from place, heading, velocity over ground in the world and turn rate."""
    state = ground.copy()
    state[[U, V]] = _turned(ground[THETA]).T @ (ground[[U, V]] - craft[CURRENT : CURRENT + 2])
    return state


def _turned(theta: float) -> np.ndarray:
    c, s = math.cos(theta), math.sin(theta)
    return np.array([[c, -s], [s, c]])
