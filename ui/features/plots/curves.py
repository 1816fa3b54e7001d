"""The recent past of each lane for the plots: one contiguous row a channel."""

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from itertools import takewhile

import numpy as np

from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from ui.features.goals import GoalsView
from ui.features.plots.channels import columns, measured
from ui.features.recordings import PlotWindow, stop_of
from ui.window.context import Action, PanelContext


@dataclass(slots=True)
class Curves:
    """What the plots remember of one scene."""

    histories: "dict[str, History]" = field(default_factory=dict)
    """By lane name, of what is shown: the present flight, or a take that is open."""
    flights: "tuple[History, ...]" = ()
    """Of the flown lane before it began anew or went on from an earlier moment, the latest last."""
    present: "dict[str, History]" = field(default_factory=dict)
    """While a take is open: what was remembered of the present."""
    opened: str = ""
    """Title of that take."""
    latest: "dict[str, LaneSnapshot]" = field(default_factory=dict)
    """By lane name, at its last sample."""
    moments: "Moments" = field(default_factory=lambda: Moments())
    """Of the flown lane, or of the take that is open."""
    filled: tuple[LaneSnapshot, ...] = ()
    """The last sample that was taken up."""
    goals_done: int = 0
    read: "dict[str, tuple[LaneSnapshot, int]]" = field(default_factory=dict)
    """By lane of what is looked back at: the first moment that was read of it, and how many have been taken up."""
    until_s: float = math.inf
    """Where a take is open: the moment that is shown, up to which the plots follow it [s]."""


MOST_MOMENTS = 2048
_APART_S = 0.02


class Moments:
    """How a lane looked at moments of its past: about equally far apart, fewer the longer it flies."""

    def __init__(self) -> None:
        self._times_s: list[float] = []
        self._lanes: list[LaneSnapshot] = []
        self._apart_s = _APART_S

    def append(self, lane: LaneSnapshot) -> None:
        """Time that goes back cuts off what came after it."""
        time_s = lane.time_current_s
        cut = bisect_left(self._times_s, time_s)
        del self._times_s[cut:], self._lanes[cut:]
        if self._times_s and time_s < self._times_s[-1] + self._apart_s:
            return
        if len(self._times_s) == MOST_MOMENTS:
            del self._times_s[1::2], self._lanes[1::2]
            self._apart_s = 0.99 * (self._times_s[-1] - self._times_s[0]) / (len(self._times_s) - 1)
        self._times_s.append(time_s)
        self._lanes.append(replace(lane, trails={}, ghost=True))

    def at(self, time_s: float) -> LaneSnapshot | None:
        """The nearest one, as a ghost; None before the first and after the last."""
        if not self._times_s or not self._times_s[0] <= time_s <= self._times_s[-1]:
            return None
        later = bisect_left(self._times_s, time_s)
        nearer = later and time_s - self._times_s[later - 1] < self._times_s[later] - time_s
        return self._lanes[later - 1 if nearer else later]


_FIRST = 1024
"""Samples that there is room for at first."""


@dataclass(frozen=True, slots=True)
class Trace:
    """What a plot draws: equal, contiguous float64 arrays."""

    time_s: np.ndarray
    values: np.ndarray


class History:
    """A sliding window over the last `capacity` samples of named channels, laid out as (channel, time).

    The buffer grows with what is in it, up to twice the window, and is moved back when full, so that a window is always
    one contiguous piece of memory and a sample costs a few stores.
    """

    def __init__(self, channels: Sequence[str] = (), capacity: int = 16384) -> None:
        self._capacity = capacity
        self._rows = np.zeros((len(channels) + 1, min(2 * capacity, _FIRST)))
        self._keys = tuple(channels)
        self._end = 0

    def __len__(self) -> int:
        return min(self._end, self._capacity)

    @property
    def channels(self) -> tuple[str, ...]:
        """Names, in the order of their rows."""
        return self._keys

    def append(self, time_s: float, values: Mapping[str, float], *, anew: bool = False) -> None:
        """Add a sample. Time that does not advance is ignored, unless it is seen anew: then the last sample gives way.
        Time that goes back cuts off what came after it.

        Where there are other channels than before, those that stay keep their past.
        """
        if tuple(values) != self._keys:
            self._name(tuple(values))
        if self._end and time_s == self._rows[0, self._end - 1]:
            if not anew:
                return
            self._end -= 1
        if self._end and time_s < self._rows[0, self._end - 1]:
            self._end = int(np.searchsorted(self._rows[0, : self._end], time_s, "left"))
        if self._end == self._rows.shape[1]:
            self._shift_rows()
        self._rows[0, self._end] = time_s
        self._rows[1:, self._end] = tuple(values.values())
        self._end += 1

    def _shift_rows(self) -> None:
        if self._end < 2 * self._capacity:
            more = np.zeros((len(self._rows), min(self._end, 2 * self._capacity - self._end)))
            self._rows = np.hstack([self._rows, more])
            return
        self._rows[:, : self._capacity] = self._rows[:, self._capacity :]
        self._end = self._capacity

    def copy(self) -> "History":
        """As it is now, to be kept."""
        kept = History(self._keys, self._capacity)
        first = self._end - len(self)
        kept._rows, kept._end = self._rows[:, first : self._end].copy(), len(self)
        return kept

    def clear(self) -> None:
        self._end = 0

    def _name(self, keys: tuple[str, ...]) -> None:
        rows = np.full((len(keys) + 1, self._rows.shape[1]), np.nan)
        rows[0] = self._rows[0]
        for k, key in enumerate(keys):
            if key in self._keys:
                rows[k + 1] = self._row(key)
        self._rows, self._keys = rows, keys

    def _row(self, channel: str) -> np.ndarray:
        return self._rows[self._keys.index(channel) + 1]

    @property
    def begin_s(self) -> float:
        """Time of the first sample that is kept; 0 without one."""
        return float(self._rows[0, self._end - len(self)]) if self._end else 0.0

    @property
    def latest_s(self) -> float:
        """Time of the last sample; 0 without one."""
        return float(self._rows[0, self._end - 1]) if self._end else 0.0

    def kept(self, channels: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        """Times (n,) and values (channels, n) of all that is remembered; nan for channels that there are not."""
        own = slice(self._end - len(self), self._end)
        unknown = np.full(len(self), np.nan)
        rows = [self._row(key)[own] if key in self._keys else unknown for key in channels]
        return self._rows[0, own].copy(), np.array(rows).reshape(len(channels), len(self))

    def at(self, channel: str, time_s: float) -> float:
        """The last value by that time; nan before the first one that is kept, and of what there is not."""
        if channel not in self._keys:
            return float("nan")
        first_kept = self._end - len(self)
        index = int(np.searchsorted(self._rows[0, first_kept : self._end], time_s, "right")) - 1
        return float(self._row(channel)[first_kept + index]) if index >= 0 else float("nan")

    def trace(self, channel: str, start_s: float, end_s: float, points: int = 400) -> Trace:
        """Samples of a channel within [start_s, end_s] and one on either side, thinned to about `points`.

        Empty for a channel that there is not.
        """
        if channel not in self._keys:
            return Trace(np.zeros(0), np.zeros(0))
        first_kept = self._end - len(self)
        times = self._rows[0, first_kept : self._end]
        low = max(int(np.searchsorted(times, start_s, "left")) - 1, 0)
        high = min(int(np.searchsorted(times, end_s, "right")) + 1, len(times))
        values = self._row(channel)[first_kept : self._end]
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


@dataclass(frozen=True, slots=True)
class SaveCurves(Action):
    """Write what the plots remember to a file."""


MOST_FLIGHTS = 3
"""That are drawn behind the present one."""
_AGAIN_S = 0.5
"""Less far back nothing has begun anew."""


def observe_curves(snapshot: Snapshot, context: PanelContext) -> None:
    """The present as it comes, and waiting while its past is shown; a take that is open as it is played."""
    curves, look, flown = context.of(Curves), snapshot.look_back, snapshot.lanes[0]
    opened = look.opened if look is not None else ""
    if opened != curves.opened:
        if not curves.opened:
            curves.present = curves.histories
        curves.histories = {} if opened else curves.present
        curves.moments, curves.filled = Moments(), ()
        curves.opened = opened
    curves.until_s = look.time_s if look is not None and opened else math.inf
    _read(curves, snapshot)
    if look is not None and not opened:
        return
    for gone in set(curves.histories) - {lane.name for lane in snapshot.lanes}:
        del curves.histories[gone]
    known = curves.histories.get(flown.name)
    if known is not None and not opened and flown.time_current_s < known.latest_s - _AGAIN_S:
        curves.flights = (*curves.flights, known.copy())[-MOST_FLIGHTS:]
        context.of(PlotWindow).forget_after(flown.time_current_s)
    if not opened:
        _fill(curves, snapshot)
    for lane in snapshot.lanes:
        history = curves.histories.setdefault(lane.name, History())
        if opened and lane.name in snapshot.read:
            continue
        if not opened or not len(history) or lane.time_current_s > history.latest_s:
            before = curves.latest.get(lane.name)
            if before is lane and len(history):
                continue
            posed = before is not None and before.generation != lane.generation
            history.append(lane.time_current_s, _sampled(lane, curves, flown), anew=posed)
    curves.moments.append(flown)
    _mark(curves, snapshot, context)


def _read(curves: Curves, snapshot: Snapshot) -> None:
    """What has been read of takes that are shown, and of ghosts; the present flight's own curves are there already."""
    flown = snapshot.lanes[0]
    curves.read = {name: known for name, known in curves.read.items() if name in snapshot.read}
    followed = snapshot.read.get(flown.name, ())
    for name, moments in snapshot.read.items():
        if not moments or (name == flown.name and not curves.opened):
            continue
        first, taken = curves.read.get(name, (moments[0], 0))
        if first is not moments[0] or not taken:
            taken, curves.histories[name] = 0, History()
        history, offset = curves.histories[name], _begun(followed, moments[0])
        for k in range(taken, len(moments)):
            before, now = moments[k - 1] if k else None, moments[k]
            beside = followed[k + offset] if k + offset < len(followed) else None
            history.append(now.time_current_s, measured(now, before, beside))
        curves.read[name] = moments[0], len(moments)


def _begun(followed: Sequence[LaneSnapshot], first: LaneSnapshot) -> int:
    """How many moments of what is followed there are before a lane's first one."""
    half_s = 0.5 * (followed[1].time_current_s - followed[0].time_current_s) if len(followed) > 1 else 0.0
    return bisect_left(followed, first.time_current_s - half_s, key=lambda lane: lane.time_current_s)


def _fill(curves: Curves, snapshot: Snapshot) -> None:
    """What has been between the last snapshot that was seen and this one: frames come when they can."""
    now = {lane.name: lane for lane in snapshot.lanes}
    fresh = list(takewhile(lambda lanes: lanes is not curves.filled, reversed(snapshot.samples)))
    curves.filled = snapshot.samples[-1] if snapshot.samples else ()
    for lanes in reversed(fresh):
        for lane in lanes:
            known, history = now.get(lane.name), curves.histories.get(lane.name)
            if known is None or history is None or lane.generation != known.generation:
                continue
            if history.latest_s < lane.time_current_s < known.time_current_s:
                history.append(lane.time_current_s, _sampled(lane, curves, lanes[0]))
        if lanes and lanes[0].generation == snapshot.lanes[0].generation:
            curves.moments.append(lanes[0])


def _sampled(lane: LaneSnapshot, curves: Curves, flown: LaneSnapshot) -> dict[str, float]:
    """Its rows; at the time of the last sample they are as they were."""
    before = curves.latest.get(lane.name)
    curves.latest[lane.name] = lane
    return measured(lane, before, flown)


def _mark(curves: Curves, snapshot: Snapshot, context: PanelContext) -> None:
    """Goals that are reached, gates that are passed, and how it ended."""
    window, goals, race = context.of(PlotWindow), context.of(GoalsView).progress, snapshot.race
    stop = stop_of(snapshot)
    if stop is not None:
        window.mark(stop.time_s, stop.text, stop.kind)
    done = 0 if goals is None else goals.at
    if goals is not None and done > curves.goals_done:
        window.mark(snapshot.clock_s, goals.goals[done - 1].title, "goal")
    curves.goals_done = done
    if race is not None and race.running:
        for gate, split_s in enumerate((0.0, *race.splits_s)):
            window.mark(race.start_s + split_s, f"gate {gate + 1}", "gate")


def table_of(
    context: PanelContext, units: Mapping[str, str]
) -> tuple[tuple[str, ...], dict[str, tuple[np.ndarray, np.ndarray]]]:
    """(columns of a table, by lane its times (n,) and values (columns, n)): all that the plots remember.

    units: of the observables, by name.
    """
    histories = context.of(Curves).histories
    keys = tuple(dict.fromkeys(key for history in histories.values() for key in history.channels))
    return columns(keys, units), {name: history.kept(keys) for name, history in histories.items()}
