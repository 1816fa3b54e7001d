"""Judging the goals of a scene from its snapshots, one after the other."""

import math
from dataclasses import field, replace

import numpy as np

from sim.platform.values import dataclass
from sim.recordings.take import LaneStatus
from sim.scene.conditions import Situation
from sim.scene.goals import Account, Grade, SceneGoal, Touch
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from sim.vehicles import Vehicle
from sim.world import World

CLEAR_M = 1.0
"""Higher than this above the ground earlier touches are forgotten."""

OFF_NEUTRAL = 1e-6
"""In a control's own unit."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far somebody has come at a moment."""

    goals: tuple[SceneGoal, ...]
    at: int = 0
    """Index of the goal that is due; their number once all are done."""
    held: float = 0.0
    """Fraction of `hold_s` for which the due one holds by now, 0..1."""
    skipped: frozenset[int] = frozenset()
    graded: Grade | None = None
    """Of the latest goal that was graded."""
    marker_w: np.ndarray | None = None
    """(3,) where the due one is [m]; None where it is bound to no place."""
    distance_m: float = 0.0
    """Level, from the vehicle to where the due one is; of one that lies along the way, what is left of the way."""

    @property
    def due(self) -> SceneGoal | None:
        """None once all are done."""
        return self.goals[self.at] if self.at < len(self.goals) else None


@dataclass(frozen=True, slots=True)
class _Memory:
    """What is remembered from one snapshot to the next."""

    progress: Progress
    since_s: float | None = None
    """From when on the due goal holds."""
    touch: Touch = field(default_factory=Touch)
    falling: Touch = field(default_factory=Touch)
    """At the last snapshot in the air."""
    touching: bool = True
    account: Account = field(default_factory=Account)
    """Of the due goal since it holds."""


class Judge:
    """Is shown snapshots of one scene in their order. Where time has gone back, so has what was done since."""

    def __init__(self, goals: tuple[SceneGoal, ...], vehicle: Vehicle, world: World) -> None:
        """`vehicle`: the only one whose flights are judged."""
        self._vehicle, self._world = vehicle, world
        self._neutral = vehicle.neutral_controls
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
        if snapshot.look_back is not None or lane.vehicle != self._vehicle.name:
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
        now, time_s, place = self._situation(snapshot, goal.body), lane.time_current_s, goal.place
        progress = replace(
            memory.progress,
            marker_w=None if place is None else place.marker_w(now.world, now.x_w),
            distance_m=0.0 if place is None else place.left_m(now),
            held=0.0,
        )
        if not goal.holds(now):
            return replace(memory, progress=progress, since_s=None)
        since_s = time_s if memory.since_s is None else memory.since_s
        before = Account(put_mps=now.speed_mps) if memory.since_s is None else memory.account
        account = replace(
            before,
            off_m=0.0 if place is None else place.off_m(now),
            off_rad=goal.off_rad(now),
            touch=memory.touch,
            swing_rad=max(before.swing_rad, float(np.max(now.observables.get("swing", 0.0)))),
        )
        if time_s - since_s < goal.hold_s:
            held = replace(progress, held=(time_s - since_s) / goal.hold_s)
            return replace(memory, progress=held, since_s=since_s, account=account)
        graded = progress.graded if goal.grade is None else goal.grade.of(account)
        done = replace(progress, at=progress.at + 1, graded=graded)
        return replace(memory, progress=done, since_s=None)

    def _situation(self, snapshot: Snapshot, body: str) -> Situation:
        """Of the scene's vehicle, with place, height and speed of that body, of the main one where it has no name."""
        lane, race, world = snapshot.lanes[0], snapshot.race, self._world
        x_w, speed_mps = _motion(lane, body)
        nose_w = lane.T_wb[:3, 0]
        lanes = [each for each in snapshot.lanes if not each.measured]
        flies = _plan_flies(snapshot)
        off = np.abs(lane.controls - self._neutral)
        return Situation(
            world=world,
            running=lane.status is LaneStatus.RUNNING,
            clock_s=snapshot.clock_s,
            x_w=x_w,
            speed_mps=speed_mps,
            height_m=float(x_w[2] - world.surface_m(x_w[0], x_w[1])) if body else lane.height_above_ground_m,
            heading_rad=math.atan2(nose_w[1], nose_w[0]),
            turning_radps=float(np.linalg.norm(lane.twist_b[:3])),
            on_ground=lane.on_ground,
            observables=lane.observables,
            gates=0 if race is None else race.course.passages if race.laps else len(race.shown_splits_s),
            laps=0 if race is None else race.laps,
            lanes=len(lanes),
            stopped=any(each.status is LaneStatus.DIVERGED for each in lanes),
            plan_flies=flies,
            plan_flown=bool(snapshot.plan_outcome),
            steered=not (snapshot.demo or flies) and bool(np.any(off > OFF_NEUTRAL)),
            pulled=lane.pull is not None,
            hook_holds=getattr(snapshot.environment, "caught", -1) >= 0,
        )


def _plan_flies(snapshot: Snapshot) -> bool:
    mpc = snapshot.mpc
    flown_anew = mpc is not None and mpc.phase != "preparing"
    return snapshot.plan_flies or flown_anew


def _motion(lane: LaneSnapshot, body: str) -> tuple[np.ndarray, float]:
    """Place (3,) [m] and speed [m/s] of a body, of the main one where it has no name."""
    if not body:
        return lane.T_wb[:3, 3], float(np.linalg.norm(lane.twist_b[3:6]))
    x_w, span_s = lane.bodies[body][:3, 3], lane.time_current_s - lane.time_previous_s
    way_w = x_w - lane.bodies_previous[body][:3, 3]
    return x_w, float(np.linalg.norm(way_w)) / span_s if span_s > 0.0 else 0.0


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
