"""Critically damped springs, stepped exactly, so that 30 and 240 frames a second give the same motion."""

import math

import numpy as np


class Spring:
    """Follows a target without overshoot; exact for a target that moves evenly during a step."""

    def __init__(self, rate_per_s: float):
        self._rate = rate_per_s
        self._value: np.ndarray | None = None
        self._velocity = np.zeros(0)
        self._target = np.zeros(0)

    @property
    def value(self) -> np.ndarray | None:
        """Where the spring is; None before the first step."""
        return self._value

    def snap(self, target: np.ndarray | float, velocity: np.ndarray | float = 0.0) -> np.ndarray:
        """Stand at the target at once, moving with it at `velocity`."""
        self._target = np.array(target, float)
        self._value = self._target.copy()
        self._velocity = np.broadcast_to(np.asarray(velocity, float), self._target.shape).copy()
        return self._value

    def step(self, target: np.ndarray | float, dt_s: float) -> np.ndarray:
        """Advance by `dt_s`, the target having moved evenly from its last place to `target`."""
        target = np.asarray(target, float)
        if self._value is None or self._value.shape != target.shape:
            return self.snap(target)
        if dt_s <= 0.0:
            return self._value
        target_velocity = (target - self._target) / dt_s
        offset = self._value - self._target
        closing = self._velocity - target_velocity + self._rate * offset
        fade = math.exp(-self._rate * dt_s)
        new_offset = (offset + closing * dt_s) * fade
        self._velocity = target_velocity + (closing - self._rate * (offset + closing * dt_s)) * fade
        self._target = target.copy()
        self._value = target + new_offset
        return self._value


def nearest_turn(angle_rad: float, reference_rad: float) -> float:
    """The angle plus whole turns that lies nearest to `reference_rad`."""
    return reference_rad + math.remainder(angle_rad - reference_rad, 2 * math.pi)


def decayed(value: float, dt_s: float, time_constant_s: float) -> float:
    """`value` after an exponential fall over `dt_s`."""
    return value * math.exp(-dt_s / time_constant_s)
