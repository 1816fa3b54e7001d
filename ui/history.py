"""The recent past of each lane for the plots: one contiguous row a channel."""

from dataclasses import dataclass

import numpy as np

from sim.snapshot import LaneSnapshot

CHANNELS = (
    "energy",
    "momentum",
    "omega",
    "newton",
    "cost",
    "energy_error",
    "momentum_error",
    "position_error",
    "rotation_error",
    "orthogonality",
    "cost_per_s",
    "slip",
    "momentum_p",
    "lean",
    "momentum_vertical",
    "momentum_axial",
)
"""Energy since the start [J], |momentum - start|, |omega| [rad/s], Newton iterations a step, step cost [us]; then
errors against the reference (energy and momentum: else against the start), ||R'R - I||, cost of a simulated second
[us], violation of the constraints [m/s] and nonholonomic momentum p; of a body about a fixed point its lean [deg] and
what its momenta about the vertical and about its axis have changed by [kg m^2/s]."""


COLUMNS = (
    "energy_change_J",
    "momentum_change",
    "omega_radps",
    "newton_iterations_per_step",
    "step_cost_us",
    "energy_error_J",
    "momentum_error",
    "position_error_m",
    "rotation_error_rad",
    "orthogonality_error",
    "cost_per_simulated_second_us",
    "constraint_residual_mps",
    "momentum_p",
    "lean_deg",
    "momentum_vertical_change",
    "momentum_axial_change",
)
"""The channels' names in tables, with units."""


def measured(lane: LaneSnapshot) -> np.ndarray:
    """(channels,) of one lane at its current time, in the order of CHANNELS."""
    energy_J = lane.energy_J - lane.energy_start_J
    changed = lane.momentum_w - lane.momentum_start_w
    # The weight of a body about a fixed point leaves the momentum about the vertical alone.
    momentum = float(np.linalg.norm(changed) if lane.pivot_w is None else abs(changed[2]))
    off = lane.deviation
    R = lane.T_wb[:3, :3]
    omega_b = lane.twist_b[:3]
    cost_us = lane.step_cost_s * 1e6
    return np.array(
        [
            energy_J,
            momentum,
            np.linalg.norm(omega_b),
            lane.newton_iterations,
            cost_us,
            energy_J if off is None else off.energy_J,
            momentum if off is None else off.momentum,
            np.nan if off is None else off.position_m,
            np.nan if off is None else off.rotation_rad,
            np.linalg.norm(R.T @ R - np.eye(3)),
            cost_us / lane.step_s,
            lane.told("slip"),
            signed_size(np.atleast_1d(lane.observables.get("momentum_p", ()))),
            np.degrees(lane.told("lean")),
            lane.change("momentum_vertical"),
            lane.change("momentum_axial"),
        ]
    )


def signed_size(momentum: np.ndarray) -> float:
    """The number itself where there is one, else the norm; nan without any."""
    if len(momentum) == 1:
        return float(momentum[0])
    return float(np.linalg.norm(momentum)) if len(momentum) else float("nan")


@dataclass(frozen=True, slots=True)
class Trace:
    """What a plot draws: equal, contiguous float64 arrays."""

    time_s: np.ndarray
    values: np.ndarray


class History:
    """A sliding window over the last `capacity` samples, laid out as (channel, time).

    The buffer is twice as long as the window and is moved back when full, so that a window is always
    one contiguous piece of memory and a sample costs a few stores.
    """

    def __init__(self, channels: int, capacity: int = 8192) -> None:
        self._capacity = capacity
        self._rows = np.zeros((channels + 1, 2 * capacity))
        self._end = 0

    def __len__(self) -> int:
        return min(self._end, self._capacity)

    def append(self, time_s: float, values: np.ndarray) -> None:
        """Add a sample. Time that does not advance is ignored; time that goes back starts anew."""
        if self._end and time_s == self._rows[0, self._end - 1]:
            return
        if self._end and time_s < self._rows[0, self._end - 1]:
            self.clear()
        if self._end == self._rows.shape[1]:
            self._rows[:, : self._capacity] = self._rows[:, self._capacity :]
            self._end = self._capacity
        self._rows[0, self._end] = time_s
        self._rows[1:, self._end] = values
        self._end += 1

    def clear(self) -> None:
        self._end = 0

    @property
    def latest_s(self) -> float:
        """Time of the last sample; 0 without one."""
        return float(self._rows[0, self._end - 1]) if self._end else 0.0

    def kept(self) -> tuple[np.ndarray, np.ndarray]:
        """Times (n,) and values (channels, n) of all that is remembered."""
        rows = self._rows[:, self._end - len(self) : self._end]
        return rows[0].copy(), rows[1:].copy()

    def at(self, channel: int, time_s: float) -> float:
        """The last value by that time; nan before the first one that is kept."""
        first_kept = self._end - len(self)
        index = int(np.searchsorted(self._rows[0, first_kept : self._end], time_s, "right")) - 1
        return float(self._rows[channel + 1, first_kept + index]) if index >= 0 else float("nan")

    def samples(self, channel: int, start_s: float, end_s: float) -> np.ndarray:
        """All samples of a channel within [start_s, end_s]."""
        first_kept = self._end - len(self)
        times = self._rows[0, first_kept : self._end]
        low, high = np.searchsorted(times, start_s, "left"), np.searchsorted(times, end_s, "right")
        return self._rows[channel + 1, first_kept + low : first_kept + high]

    def trace(self, channel: int, start_s: float, end_s: float, points: int = 400) -> Trace:
        """Samples of a channel within [start_s, end_s] and one on either side, thinned to about `points`."""
        first_kept = self._end - len(self)
        times = self._rows[0, first_kept : self._end]
        low = max(int(np.searchsorted(times, start_s, "left")) - 1, 0)
        high = min(int(np.searchsorted(times, end_s, "right")) + 1, len(times))
        values = self._rows[channel + 1, first_kept : self._end]
        return thinned(times[low:high], values[low:high], points)


def thinned(time_s: np.ndarray, values: np.ndarray, points: int) -> Trace:
    """At most about `points` samples that keep every bucket's smallest and largest value, in their order."""
    count = len(values)
    if count <= points:
        return Trace(np.ascontiguousarray(time_s), np.ascontiguousarray(values))
    buckets = max(points // 2, 1)
    size = -(-count // buckets)
    full = count // size
    block = values[: full * size].reshape(full, size)
    start = np.arange(full) * size
    picked = np.sort(np.stack([block.argmin(axis=1) + start, block.argmax(axis=1) + start], axis=1), axis=1)
    rest = np.arange(full * size, count)
    keep = np.unique(np.concatenate([picked.ravel(), rest, [0, count - 1]]))
    return Trace(time_s[keep], values[keep])
