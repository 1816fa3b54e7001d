"""Judging the goals of a scene from its snapshots, one after the other."""

import math
from dataclasses import dataclass, field, replace

import numpy as np

from sim.lane_status import LaneStatus
from sim.scene.goals import Delivery, Docking, Goal, Landing, along_m, marker_w
from sim.snapshot import LaneSnapshot, Snapshot
from sim.vehicles import known_vehicle
from sim.world import World

CLEAR_M = 1.0
"""Higher than this above the ground earlier touches are forgotten."""

OFF_NEUTRAL = 1e-6
"""In a control's own unit."""


@dataclass(frozen=True, slots=True)
class Touch:
    """How it came down, in m/s."""

    sink_mps: float = 0.0
    drift_mps: float = 0.0


@dataclass(frozen=True, slots=True)
class Progress:
    """How far somebody has come at a moment."""

    goals: tuple[Goal, ...]
    at: int = 0
    """Index of the goal that is due; their number once all are done."""
    held: float = 0.0
    """Share of `hold_s` for which the due one holds by now, 0..1."""
    skipped: frozenset[int] = frozenset()
    landing: Landing | Delivery | Docking | None = None
    """Of the latest goal that was graded."""
    marker_w: np.ndarray | None = None
    """(3,) where the due one is [m]; None where it is bound to no place."""
    distance_m: float = 0.0
    """Level, from the vehicle to where the due one is; of one that lies along the way, what is left of the way."""

    @property
    def due(self) -> Goal | None:
        """None once all are done."""
        return self.goals[self.at] if self.at < len(self.goals) else None


@dataclass(frozen=True, slots=True)
class _Memory:
    """What is remembered from one snapshot to the next."""

    progress: Progress
    since_s: float | None = None
    """From when on the due goal holds."""
    touch: Touch = Touch()
    falling: Touch = Touch()
    """At the last snapshot in the air."""
    touching: bool = True
    put: Delivery = field(default_factory=Delivery)
    """Of the due goal's body since it holds."""


class Judge:
    """Is shown snapshots of one scene in their order. Where time has gone back, so has what was done since."""

    def __init__(self, goals: tuple[Goal, ...], vehicle: str, world: World) -> None:
        """`vehicle`: the only one whose flights are judged."""
        self._vehicle, self._world = vehicle, world
        self._time_s = 0.0
        self._begin = _Memory(Progress(goals))
        self._memories: list[tuple[float, _Memory]] = []
        """By time: one for every change of the due goal, and the latest."""

    @property
    def progress(self) -> Progress:
        """At the latest snapshot."""
        return self._now.progress

    @property
    def _now(self) -> _Memory:
        return self._memories[-1][1] if self._memories else self._begin

    def observe(self, snapshot: Snapshot) -> Progress:
        """Take note of a snapshot. What a recording shows and what another vehicle does is not judged."""
        lane = snapshot.lanes[0]
        if snapshot.look_back is not None or lane.vehicle != self._vehicle:
            return self.progress
        time_s = lane.time_current_s
        if time_s < self._time_s:
            self._memories = [entry for entry in self._memories if entry[0] <= time_s]
        self._time_s = time_s
        before = self._now
        after = self._judged(before, snapshot)
        if (
            len(self._memories) > 1
            and self._memories[-2][1].progress.at == before.progress.at == after.progress.at
        ):
            self._memories.pop()
        self._memories.append((time_s, after))
        return after.progress

    def skip(self) -> None:
        """Leave the due goal out."""
        memory = self._now
        progress = memory.progress
        if progress.due is not None:
            skipped = progress.skipped | {progress.at}
            self._put(replace(progress, at=progress.at + 1, held=0.0, skipped=skipped))

    def restart(self) -> None:
        """Begin with the first goal again, from wherever the vehicle is."""
        self._put(Progress(self.progress.goals))

    def _put(self, progress: Progress) -> None:
        self._memories.append((self._time_s, replace(self._now, progress=progress, since_s=None)))

    def _judged(self, memory: _Memory, snapshot: Snapshot) -> _Memory:
        lane = snapshot.lanes[0]
        memory = _touched(memory, lane)
        goal = memory.progress.due
        if goal is None:
            return replace(memory, progress=replace(memory.progress, marker_w=None))
        (x_w, speed_mps), time_s = _motion(lane, goal.body), lane.time_current_s
        place_w = marker_w(goal, self._world, x_w)
        off_m = 0.0 if place_w is None else float(np.linalg.norm(place_w[:2] - x_w[:2]))
        left_m = off_m if goal.way_m is None else max(goal.way_m - along_m(self._world, x_w), 0.0)
        progress = replace(memory.progress, marker_w=place_w, distance_m=left_m, held=0.0)
        if not (self._holds(goal, lane, off_m) and _around_holds(goal, snapshot)):
            return replace(memory, progress=progress, since_s=None)
        since_s = time_s if memory.since_s is None else memory.since_s
        before = Delivery(off_m, speed_mps) if memory.since_s is None else memory.put
        put = before.lying(off_m, float(lane.observables.get("swing", 0.0)))
        if time_s - since_s < goal.hold_s:
            held = replace(progress, held=(time_s - since_s) / goal.hold_s)
            return replace(memory, progress=held, since_s=since_s, put=put)
        landing: Landing | Delivery | Docking | None = put if goal.delivery else None
        if goal.landing:
            landing = Landing(memory.touch.sink_mps, memory.touch.drift_mps, off_m)
        if goal.docking:
            landing = Docking(off_m, math.degrees(_off_heading(goal, lane)))
        done = replace(progress, at=progress.at + 1, landing=landing or progress.landing)
        return replace(memory, progress=done, since_s=None)

    def _holds(self, goal: Goal, lane: LaneSnapshot, off_m: float) -> bool:
        x_w, speed_mps = _motion(lane, goal.body)
        height_m = lane.height_above_ground_m
        if goal.body:
            height_m = float(x_w[2] - self._world.surface_m(x_w[0], x_w[1]))
        if goal.way_m is not None:
            there = along_m(self._world, x_w) >= goal.way_m - goal.within_m
        else:
            there = off_m <= goal.within_m
        return (
            lane.status is LaneStatus.RUNNING
            and there
            and _within(height_m, goal.height_m)
            and _within(speed_mps, goal.speed_mps)
            and _off_heading(goal, lane) <= goal.within_rad
            and _within(float(np.linalg.norm(lane.twist_b[:3])), goal.turning_radps)
            and (lane.on_ground or not goal.on_ground)
            and all(_within(float(lane.observables[name]), (low, high)) for name, low, high in goal.told)
        )


def _around_holds(goal: Goal, snapshot: Snapshot) -> bool:
    """What is asked of the race, of plans and of the lanes beside."""
    race, lanes = snapshot.race, [lane for lane in snapshot.lanes if not lane.measured]
    passed = 0 if race is None else race.course.passages if race.laps else len(race.told_s)
    return (
        (goal.gates is None or passed >= goal.gates)
        and (goal.laps is None or (race is not None and race.laps >= goal.laps))
        and (goal.lanes is None or len(lanes) >= goal.lanes)
        and (not goal.stopped or any(lane.status is LaneStatus.DIVERGED for lane in lanes))
        and (goal.plan != "flies" or _plan_flies(snapshot))
        and (goal.plan != "flown" or bool(snapshot.plan_verdict))
        and (goal.watch_s is None or snapshot.clock_s >= goal.watch_s)
        and (goal.hand != "steers" or _steered(snapshot))
        and (goal.hand != "pulls" or snapshot.lanes[0].pull is not None)
    )


def _plan_flies(snapshot: Snapshot) -> bool:
    pursuit = snapshot.pursuit
    flown_anew = pursuit is not None and pursuit.phase != "preparing"
    return snapshot.plan_flies or snapshot.course is not None or flown_anew


def _steered(snapshot: Snapshot) -> bool:
    """Some control is off its neutral, and nobody but the user moves it."""
    lane = snapshot.lanes[0]
    off = lane.controls - known_vehicle(lane.vehicle).neutral_controls
    return not (snapshot.demo or _plan_flies(snapshot)) and bool(np.any(np.abs(off) > OFF_NEUTRAL))


def _motion(lane: LaneSnapshot, body: str) -> tuple[np.ndarray, float]:
    """Place (3,) [m] and speed [m/s] of a body, of the main one where it has no name."""
    if not body:
        return lane.T_wb[:3, 3], float(np.linalg.norm(lane.twist_b[3:6]))
    x_w, span_s = lane.bodies[body][:3, 3], lane.time_current_s - lane.time_previous_s
    way_w = x_w - lane.bodies_previous[body][:3, 3]
    return x_w, float(np.linalg.norm(way_w)) / span_s if span_s > 0.0 else 0.0


def _off_heading(goal: Goal, lane: LaneSnapshot) -> float:
    """Of the nose, seen from above [rad]; 0 where none is asked for."""
    if goal.heading_rad is None:
        return 0.0
    nose_w = lane.T_wb[:3, 0]
    return abs(math.remainder(math.atan2(nose_w[1], nose_w[0]) - goal.heading_rad, 2.0 * math.pi))


def _within(value: float, bounds: tuple[float, float] | None) -> bool:
    return bounds is None or bounds[0] <= value <= bounds[1]


def _touched(memory: _Memory, lane: LaneSnapshot) -> _Memory:
    """Note how it falls while it is in the air, and with what speed it touched."""
    if lane.on_ground:
        touch = memory.touch
        if not memory.touching:
            sink_mps = max(touch.sink_mps, memory.falling.sink_mps)
            touch = Touch(sink_mps, max(touch.drift_mps, memory.falling.drift_mps))
        return replace(memory, touch=touch, touching=True)
    v_w = lane.T_wb[:3, :3] @ lane.twist_b[3:6]
    falling = Touch(max(float(-v_w[2]), 0.0), float(np.linalg.norm(v_w[:2])))
    forgotten = lane.height_above_ground_m > CLEAR_M
    return replace(memory, touch=Touch() if forgotten else memory.touch, falling=falling, touching=False)
