"""What a lane has done lately: inputs and restart points in a ring, which costs the stepping thread next to nothing."""

from bisect import bisect_left
from collections import deque
from dataclasses import field
from itertools import groupby, pairwise

import numpy as np

from sim.environment.environment import Environment
from sim.platform.values import dataclass
from sim.recordings.playback import POINT_PERIOD_S, Playback
from sim.recordings.segment import PERIOD_S, SAME_S, ImpulseLog, Look, Moment, Segment, SolidsLog, moved_since
from sim.steppers.dynamics import Dynamics

KEPT_S = 300.0
"""Simulated time that is remembered."""
_SMALL = 1000
"""Numbers of an environment's state that may be kept at every restart point; of larger ones only ..."""
_MOST_LARGE = 3
"""... so many are kept ..."""
_LARGE_APART_S = 10.0
"""... at least so far apart."""


@dataclass(slots=True, eq=False)
class _Chunk:
    """From one restart point to the next. Only the last one of a recording grows."""

    dynamics: Dynamics
    since_s: float
    pivot_w: np.ndarray | None
    state: np.ndarray
    memory: np.ndarray
    steps: list[int]
    """From which on the controls of the same row act; the first is the restart point's."""
    rows: list[np.ndarray]
    environment: np.ndarray | None = None
    """Its state at the restart point, where one that moves is coupled."""
    push_steps: list[int] = field(default_factory=list)
    impulses: list[np.ndarray] = field(default_factory=list)
    looks: list[Look] = field(default_factory=list)
    """At bodies of the environment."""
    plans: list[tuple[int, int]] = field(default_factory=list)
    """(step that it was planned at, step at which it took over) of plans that were made in flight."""
    flown_by: list[tuple[int, str, dict[str, float]]] = field(default_factory=list)
    """(step from which on, class, gains) of a controller."""

    @property
    def begin_s(self) -> float:
        return self.since_s + self.steps[0] * self.dynamics.step_s


class Recorder:
    """Told of every rollout before it; asked for what there was now and then."""

    def __init__(self, kept_s: float = KEPT_S) -> None:
        """kept_s: simulated time that is remembered at least, once there is as much."""
        self._kept_s = kept_s
        self._chunks: deque[_Chunk] = deque()
        self._full = 0
        """The step from which on the last chunk has a successor."""
        self._planned_s: float | None = None
        """When a plan was asked for that takes over with the next step."""
        self._seen: np.ndarray | None = None
        """Poses of the environment's bodies when they were looked at last."""

    def begins(self, step: int) -> bool:
        """Whether a step will be a restart point."""
        return not (0 < step < self._full and self._chunks)

    def wants_environment(self, step: int) -> bool:
        """Whether a step will be a restart point at which an environment's state is to be kept."""
        if not self.begins(step):
            return False
        kept = self._with_environment()
        if not kept or kept[-1].environment is None or kept[-1].environment.size <= _SMALL:
            return True
        return kept[-1].begin_s + _LARGE_APART_S <= self._chunks[-1].begin_s + POINT_PERIOD_S

    def _with_environment(self) -> list[_Chunk]:
        return [chunk for chunk in self._chunks if chunk.environment is not None]

    def note_impulse(self, step: int, impulse: np.ndarray) -> None:
        """An impulse at the start of a step that has been noted."""
        self._chunks[-1].push_steps.append(step)
        self._chunks[-1].impulses.append(impulse)

    def wants_solids(self, step: int) -> bool:
        """Whether bodies of the environment are to be looked at, before a step."""
        if self.begins(step) or not self._chunks[-1].looks:
            return True
        return step % max(round(PERIOD_S / self._chunks[-1].dynamics.step_s), 1) == 0

    def note_solids(self, step: int, poses: np.ndarray) -> None:
        """Where they are then, at a step that has been noted: (n, ROW) float32. A restart point has all of them."""
        looks = self._chunks[-1].looks
        which = moved_since(self._seen if looks else None, poses)
        self._seen = poses
        if len(which):
            looks.append((step, which, poses[which]))

    def note_controller(self, step: int, name: str, gains: dict[str, float]) -> None:
        """Who gives the controls from a step on that has been noted; without a name it is no controller."""
        flown_by = self._chunks[-1].flown_by
        if not flown_by or flown_by[-1][1:] != (name, gains):
            flown_by.append((step, name, gains))

    def await_plan(self, planned_s: float) -> None:
        """A plan that was asked for at that time takes over with the step that is noted next."""
        self._planned_s = planned_s

    def note(
        self,
        dynamics: Dynamics,
        since_s: float,
        step: int,
        controls: np.ndarray,
        state: np.ndarray,
        around: Environment,
        pivot_w: np.ndarray | None,
        environment: np.ndarray | None = None,
    ) -> None:
        """From this step on, counted from `since_s`, these controls act on this private state."""
        if self.begins(step):
            memory = around.checkpoint()
            chunk = _Chunk(dynamics, since_s, pivot_w, state.copy(), memory, [step], [controls], environment)
            self._begin(chunk)
            self._full = step + max(round(POINT_PERIOD_S / dynamics.step_s), 1)
        elif controls is not self._chunks[-1].rows[-1]:
            self._chunks[-1].steps.append(step)
            self._chunks[-1].rows.append(controls)
        if self._planned_s is not None:
            self._chunks[-1].plans.append((round((self._planned_s - since_s) / dynamics.step_s), step))
            self._planned_s = None

    def _begin(self, chunk: _Chunk) -> None:
        self._forget_old(chunk)
        self._chunks.append(chunk)
        if chunk.environment is not None and chunk.environment.size > _SMALL:
            for old in self._with_environment()[:-_MOST_LARGE]:
                old.environment = None

    def segments(self, until_s: float) -> tuple[Segment, ...]:
        """All that is remembered, up to the present moment; none before the first step."""
        groups = [
            list(g) for _, g in groupby(self._chunks, key=lambda chunk: (id(chunk.dynamics), chunk.since_s))
        ]
        ends_s = [*(following[0].begin_s for following in groups[1:]), until_s]
        return tuple(_segment(chunks, end_s) for chunks, end_s in zip(groups, ends_s, strict=False))

    @property
    def begin_s(self) -> float | None:
        """The first moment that is remembered."""
        return self._chunks[0].begin_s if self._chunks else None

    @classmethod
    def before(cls, moment: Moment, segments: tuple[Segment, ...], playback: Playback) -> "Recorder":
        """As if it had recorded these segments up to a moment of theirs."""
        recorder = cls()
        for segment in segments[: segments.index(moment.segment) + 1]:
            dynamics = Dynamics(segment.vehicle, playback.kernel(segment), segment.step_s, segment.every_step)
            end = moment.step if segment is moment.segment else segment.steps
            recorder._chunks.extend(_chunks(segment, dynamics, end))
        return recorder

    def _forget_old(self, chunk: _Chunk) -> None:
        """Forget what is too old, and everything where time has run back or another vehicle goes on."""
        chunks = self._chunks
        if chunks and (
            chunks[-1].begin_s >= chunk.begin_s - SAME_S
            or chunks[-1].dynamics.vehicle.name != chunk.dynamics.vehicle.name
        ):
            chunks.clear()
        while len(chunks) > 1 and chunks[1].begin_s <= chunk.begin_s - self._kept_s:
            chunks.popleft()


def _segment(chunks: list[_Chunk], end_s: float) -> Segment:
    first = chunks[0]
    dynamics, pivot_w = first.dynamics, first.pivot_w
    rows = np.array([row for chunk in chunks for row in chunk.rows])
    steps = np.array([step for chunk in chunks for step in chunk.steps], np.int64)
    # A restart point within a stretch changes nothing.
    kept = np.append(True, np.any(np.diff(rows, axis=0) != 0.0, axis=1))
    return Segment(
        vehicle=dynamics.vehicle,
        integrator=dynamics.kernel.integrator,
        step_s=dynamics.step_s,
        since_s=first.since_s,
        steps=max(round((end_s - first.since_s) / dynamics.step_s), int(steps[-1])),
        change_steps=steps[kept],
        controls=rows[kept],
        point_steps=np.array([chunk.steps[0] for chunk in chunks], np.int64),
        states=np.array([chunk.state for chunk in chunks]),
        memories=np.array([chunk.memory for chunk in chunks]),
        contact=dynamics.kernel.inline is not None,
        every_step=dynamics.every_step,
        pivot_w=None if pivot_w is None else tuple(pivot_w.tolist()),
        impulse_log=_impulse_log(chunks),
        solids=SolidsLog.of([look for chunk in chunks for look in chunk.looks]),
        plans=np.array([plan for chunk in chunks for plan in chunk.plans], np.int64).reshape(-1, 2),
        flown_by=_flown_by([since for chunk in chunks for since in chunk.flown_by]),
    )


def _flown_by(
    found: list[tuple[int, str, dict[str, float]]],
) -> tuple[tuple[int, str, dict[str, float]], ...]:
    """Those that differ from the one before: each chunk begins with its own. At first nobody flies."""
    before = [("", {}), *(since[1:] for since in found)]
    return tuple(since for since, last in zip(found, before, strict=False) if since[1:] != last)


def _impulse_log(chunks: list[_Chunk]) -> ImpulseLog | None:
    kept = {k: chunk.environment for k, chunk in enumerate(chunks) if chunk.environment is not None}
    steps = [step for chunk in chunks for step in chunk.push_steps]
    if not (kept or steps):
        return None
    impulses = [row for chunk in chunks for row in chunk.impulses]
    states = np.zeros((len(kept), max(map(len, kept.values()), default=0)))
    for row, state in zip(states, kept.values(), strict=True):
        row[: len(state)] = state  # of water that flows in and out: what follows is not read
    dim = chunks[0].dynamics.vehicle.impulse_size
    points = np.array(list(kept), np.int64)
    return ImpulseLog(np.array(steps, np.int64), np.array(impulses).reshape(len(steps), dim), states, points)


def _chunks(segment: Segment, dynamics: Dynamics, end: int) -> list[_Chunk]:
    """Of the steps before `end`."""
    pivot_w = None if segment.pivot_w is None else np.array(segment.pivot_w)
    changes, chunks = segment.change_steps.tolist(), []
    bounds = [*(step for step in segment.point_steps.tolist() if step < end), end]
    for point, (begin, until) in enumerate(pairwise(bounds)):
        own = range(bisect_left(changes, begin + 1), bisect_left(changes, until))
        steps = [begin, *(changes[k] for k in own)]
        rows = [segment.controls_at(begin), *(segment.controls[k] for k in own)]
        state, memory = segment.states[point], segment.memories[point]
        chunk = _Chunk(dynamics, segment.since_s, pivot_w, state, memory, steps, rows)
        if segment.impulse_log is not None:
            first, last = np.searchsorted(segment.impulse_log.steps, (begin, until))
            chunk.push_steps, chunk.impulses = (
                segment.impulse_log.steps[first:last].tolist(),
                [*segment.impulse_log.impulses[first:last]],
            )
            kept = np.flatnonzero(segment.impulse_log.points == point)
            chunk.environment = segment.impulse_log.environments[kept[0]] if kept.size else None
        if segment.solids is not None:
            chunk.looks = segment.solids.looks(begin, until)
        chunk.plans = [
            (planned, since) for planned, since in segment.plans.tolist() if begin <= since < until
        ]
        flown = [since for since in segment.flown_by if since[0] < until]
        chunk.flown_by = [(max(since[0], begin), *since[1:]) for since in flown if since[0] >= begin]
        if flown and (not chunk.flown_by or chunk.flown_by[0][0] > begin):
            before = [since for since in flown if since[0] < begin]
            chunk.flown_by[:0] = [(begin, *before[-1][1:])] if before else []
        chunks.append(chunk)
    return chunks
