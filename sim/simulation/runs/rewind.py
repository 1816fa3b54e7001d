"""Takes shown on one clock, as lanes are: looked into at any moment, while nothing is simulated."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from time import perf_counter

import numpy as np

from sim.control import PlannedPilot
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.recordings import Take
from sim.recordings.playback import Playback
from sim.recordings.segment import SAME_S, Moment, Segment
from sim.recordings.take import now
from sim.simulation.lanes.history import BEFORE_S, ControlHistory, RecentPoses
from sim.simulation.lanes.kernels import KernelStore
from sim.simulation.lanes.lane import Lane, lane_picture
from sim.simulation.lanes.placing import Footing
from sim.simulation.lanes.recorder import Recorder
from sim.simulation.lanes.snapshot import LaneLook, LaneSnapshot, LaneStatus, LookBack
from sim.steppers.dynamics import Dynamics
from sim.vehicles.forms.parameters import Value
from sim.world import World

_GAP_S = 0.5
"""Between two looks: a longer way is a jump, and nothing is drawn between its ends."""


@dataclass(slots=True, eq=False)
class _Shown:
    look: LaneLook
    take: Take
    playback: Playback
    lane: Lane
    """Never stepped: put to the moment that is shown, and pictured."""
    recent: RecentPoses
    """The latest that were shown, one after the other."""
    before_end_b: np.ndarray | None = None
    """(6,) twist of the main body before the blow at the end, once that has been looked at."""

    def put(self, moment: Moment, dynamics: Dynamics, footing: Footing) -> None:
        """The lane to that moment, and where it was before that."""
        self.lane.put(dynamics, footing, moment)
        poses_w, ahead_s = self.lane.poses_w, moment.time_s - self.recent.latest_s
        if not 0.0 <= ahead_s <= _GAP_S:
            self.recent = RecentPoses(moment.time_s, poses_w)
        self.recent.add(moment.time_s, poses_w)


CURVE_S, MOST_MOMENTS = 1.0 / 60.0, 1200
"""Between two moments that curves are drawn through, and how many there are at most: further apart in longer takes."""


@dataclass(slots=True, eq=False)
class _Reading:
    """What a take shows at even distances of time, as far as it has been read."""

    shown: _Shown
    """Of its own: what is looked at meanwhile is elsewhere."""
    moments: list[LaneSnapshot] = field(default_factory=list)
    over: bool = False


class Replay:
    """The first take is the one that is followed and gone on from.

    Raises InputError for a take that cannot be shown in this world, Compiling until its kernels are there.
    """

    def __init__(
        self,
        takes: tuple[tuple[LaneLook, Take], ...],
        world: World,
        kernels: KernelStore,
        *,
        opened: str = "",
    ) -> None:
        """`opened`: the title of what does not come from the present flight."""
        self._world, self._kernels, self.opened = world, kernels, opened
        self._lanes = [self._shown(look, take) for look, take in takes]
        self.time_s = self.begin_s
        self._readings: dict[str, _Reading] = {}
        if opened:
            self._read_along(self._lanes[0])

    @property
    def take(self) -> Take:
        """The one that is followed."""
        return self._lanes[0].take

    @property
    def begin_s(self) -> float:
        return self.take.begin_s

    @property
    def end_s(self) -> float:
        return max(shown.take.end_s for shown in self._lanes)

    @property
    def at_end(self) -> bool:
        return self.time_s >= self.end_s - SAME_S

    @property
    def looks(self) -> tuple[LaneLook, ...]:
        return tuple(shown.look for shown in self._lanes)

    def seek(self, time_s: float) -> None:
        """Look at that moment, or at the first or the last there is."""
        self.time_s = min(max(time_s, self.begin_s), self.end_s)

    def step(self, count: int) -> None:
        """So many steps of the followed take on."""
        segment = self._lanes[0].playback.at(self.time_s).segment
        self.seek(segment.since_s + (segment.step_at(self.time_s) + count) * segment.step_s)

    def named(self, name: str) -> Take:
        """Of a lane; empty for the one that is followed. Raises InputError where there is none."""
        shown = self._find(name) if name else self._lanes[0]
        if shown is None:
            raise InputError(f'no lane "{name}"; there are {", ".join(look.name for look in self.looks)}')
        return shown.take

    def resimulate(
        self, look: LaneLook, integrator: str, step_s: float | None, parameters: dict[str, Value]
    ) -> None:
        """Beside the original the same inputs under another method; Compiling until its kernel is there."""
        take = self.take.resimulate(
            integrator=integrator or None,
            step=step_s,
            parameters=parameters,
            world=lambda: self._world,
            kernels=self._kernels.get,
        )
        shown = self._shown(look, take)
        for one in (self._lanes[0], shown):  # ghosts are measured from what is followed
            if one.look.name not in self._readings:
                self._read_along(one)
        self._lanes.append(shown)

    def _read_along(self, shown: _Shown) -> None:
        self._readings[shown.look.name] = _Reading(self._shown(shown.look, shown.take))

    def read(self, generation: int, limit_s: float) -> None:
        """Go on reading the takes that nobody has flown here, for so much wall time, at even moments of the clock."""
        began, apart_s = perf_counter(), max(CURVE_S, (self.take.end_s - self.begin_s) / MOST_MOMENTS)
        for reading in self._readings.values():
            take, moments = reading.shown.take, reading.moments
            first = math.ceil((take.begin_s - self.begin_s - SAME_S) / apart_s)
            while not reading.over and perf_counter() - began < limit_s:
                time_s = self.begin_s + apart_s * (first + len(moments))
                reading.over = time_s > take.end_s - SAME_S
                if not reading.over:
                    picture = self._picture(reading.shown, time_s, generation, 0.0)
                    moments.append(replace(picture, trails={}))

    @property
    def moments(self) -> dict[str, tuple[LaneSnapshot, ...]]:
        """By lane, what has been read."""
        return {name: tuple(reading.moments) for name, reading in self._readings.items()}

    def remove(self, name: str) -> None:
        """Show a lane no more."""
        shown = self._find(name)
        if shown is None or shown is self._lanes[0]:
            raise InputError("the lane that is followed stays; allowed: any other that is shown")
        self._lanes.remove(shown)
        self._readings.pop(name, None)

    def pictures(self, generation: int, span_s: float) -> tuple[LaneSnapshot, ...]:
        """The lanes that have begun, at the moment that is looked at and `span_s` before."""
        first = self._lanes[0]
        begun = [s for s in self._lanes if s is first or s.take.begin_s <= self.time_s + SAME_S]
        return tuple(self._picture(shown, self.time_s, generation, span_s) for shown in begun)

    def moment(self) -> Moment:
        """Of the followed take. Raises InputError where it had come to a bad end by then."""
        take = self.take
        if take.status is not LaneStatus.RUNNING and self.time_s >= take.end_s - SAME_S:
            raise InputError(f"it ends here, {take.status.value}: go back a little, then fly on from there")
        return self._lanes[0].playback.at(self.time_s)

    def solids(self, name: str) -> np.ndarray | None:
        """(n, 7) where the bodies about a lane were, as `SolidsLog` has them; None where none were seen."""
        shown = self._find(name)
        if shown is None or shown.take.begin_s > self.time_s + SAME_S:
            return None
        playback = shown.playback
        segment = playback.segment_at(self.time_s)
        return None if segment.solids is None else segment.solids.at(segment.step_at(self.time_s))

    def put(self, lane: Lane, time_s: float) -> bool:
        """Put a lane to where the take of its name was then; whether there is one.

        One that had come to a bad end by then stays as it is.
        """
        shown = self._lanes[0] if not lane.look.ghost else self._find(lane.look.name)
        if shown is None or shown.take.begin_s > time_s + SAME_S:
            return False
        take = shown.take
        if take.status is LaneStatus.RUNNING or time_s < take.end_s - SAME_S:
            moment = shown.playback.at(time_s)
            lane.put(self._method(moment.segment), self._footing(moment.segment), moment)
            lane.recover(shown.playback, moment)
            lane.recorder = Recorder.before(moment, take.segments, shown.playback)
        return True

    def inputs(self, since_s: float, moment: Moment) -> list[tuple[float, np.ndarray]]:
        """(time, controls from then on) of the followed take before a moment of it, from `since_s` on."""
        segments = self.take.segments
        rows: list[tuple[float, np.ndarray]] = []
        for segment in segments[: segments.index(moment.segment) + 1]:
            end = moment.step if segment is moment.segment else segment.steps
            begin = segment.step_at(since_s)
            at = begin
            for controls, count in segment.stretches(begin, end) if begin < end else ():
                rows.append((segment.since_s + at * segment.step_s, controls))
                at += count
        return rows

    def _find(self, name: str) -> _Shown | None:
        return next((shown for shown in self._lanes if shown.look.name == name), None)

    def _shown(self, look: LaneLook, take: Take) -> _Shown:
        world = self._world
        if (take.world, take.seed) != (world.name, world.seed) and any(
            segment.feels_ground for segment in take.segments
        ):
            raise InputError(
                f'take "{take.name}" is from {take.world}, seed {take.seed}; here is {world.name}, seed {world.seed}'
            )
        playback = take.playback(lambda: world, kernels=self._kernels.get)
        for segment in take.segments:
            playback.kernel(segment)
            self._method(segment)
        start = playback.at(take.begin_s)
        dynamics, footing = self._method(start.segment), self._footing(start.segment)
        pilot = PlannedPilot(start.controls[None], start.segment.step_s)
        lane = Lane(
            look, dynamics, playback.node(start), pilot, footing, history=ControlHistory(), follows=True
        )
        return _Shown(look, take, playback, lane, RecentPoses(start.time_s, lane.poses_w))

    def _picture(self, shown: _Shown, time_s: float, generation: int, span_s: float) -> LaneSnapshot:
        take, over = shown.take, time_s >= shown.take.end_s - SAME_S
        before_b = self._before_end_b(shown) if over else None
        moment = shown.playback.at(time_s)
        shown.put(moment, self._method(moment.segment), self._footing(moment.segment))
        picture = lane_picture(shown.lane, 0.0)
        previous_s, previous_w, *_ = shown.recent.pair(max(span_s, picture.step_s))
        return replace(
            picture,
            twist_before_b=picture.twist_b if before_b is None else before_b,
            generation=generation,
            time_previous_s=previous_s,
            bodies_previous=dict(zip(picture.bodies, previous_w, strict=True)),
            step_cost_s=0.0,
            status=take.status if over else LaneStatus.RUNNING,
            status_text=take.ended if over else "",
        )

    def _before_end_b(self, shown: _Shown) -> np.ndarray:
        """(6,) as a lane that flies notes it: where its controls are evaluated."""
        if shown.before_end_b is not None:
            return shown.before_end_b
        time_s = shown.take.end_s - BEFORE_S
        segment = shown.playback.segment_at(time_s)
        dynamics, step = self._method(segment), segment.step_at(time_s)
        step = max(step - step % dynamics.control_steps, segment.first_step)
        shown.put(shown.playback.moment(segment, step), dynamics, self._footing(segment))
        shown.before_end_b = shown.lane.observation.twist_b.copy()
        return shown.before_end_b

    def _method(self, segment: Segment) -> Dynamics:
        """By which a lane shows it and goes on from it: on the ground, even where it had been planned without any."""
        kernel = self._kernels.get(segment.vehicle, segment.integrator)
        return Dynamics(segment.vehicle, kernel, segment.step_s, segment.every_step)

    def _footing(self, segment: Segment) -> Footing:
        footing = Footing(segment.vehicle, self._world)
        if segment.pivot_w is not None:
            footing.pivot_w = np.array(segment.pivot_w)
        return footing


MOST_FORMER = 6
"""Recordings that are kept after something has begun anew."""
WORTH_S = 1.0
"""A shorter one is not kept."""


class Rewind:
    """Belongs to a scene that runs. While there is a replay, the scene stands still."""

    def __init__(self, scene: str, world: World, kernels: KernelStore, lanes: Sequence[Lane]) -> None:
        self._scene, self._world, self._kernels, self._lanes = scene, world, kernels, lanes
        self.replay: Replay | None = None
        self.former: tuple[Take, ...] = ()
        """What had been recorded before the flight began anew, the latest last."""
        self._generation = 0

    def recorded(self, name: str = "") -> Take:
        """What is remembered of a lane; empty for the flown one. InputError where there is nothing yet."""
        lane = next((lane for lane in self._lanes if name in ("", lane.look.name)), None)
        take = None if lane is None else self._take(lane)
        if take is None:
            raise InputError("nothing has been recorded yet")
        return take

    def put_away(self) -> None:
        """Keep what the flown lane remembers: it begins anew."""
        flown = self._lanes[0]
        take, flown.recorder = self._take(flown), Recorder()
        if take is not None and take.duration_s >= WORTH_S:
            self.former = (*self.former, take)[-MOST_FORMER:]

    def look_back(self, time_s: float) -> None:
        """Show the present flight at a moment; what is shown already is shown at that one."""
        if self.replay is None:
            self.recorded()
            takes = [(lane.look, self._take(lane)) for lane in self._lanes]
            self._show(Replay(tuple((look, t) for look, t in takes if t), self._world, self._kernels))
        assert self.replay is not None
        self.replay.seek(time_s)

    def play(self, take: Take) -> None:
        """Show another take from its beginning."""
        look = self._lanes[0].look
        self._show(Replay(((look, take),), self._world, self._kernels, opened=take.name))

    def leave(self) -> None:
        """Back to the present."""
        self.replay = None

    @contextmanager
    def kept_at_failure(self) -> Iterator[None]:
        """Within, an exception leaves what is shown as it was."""
        shown = self.replay
        try:
            yield
        except BaseException:
            self.replay = shown
            raise

    def pictures(self, span_s: float) -> tuple[LaneSnapshot, ...]:
        """Of what is shown instead of the present, and `span_s` before."""
        return () if self.replay is None else self.replay.pictures(self._generation, span_s)

    def read(self, limit_s: float) -> None:
        """Go on reading what is shown, for so much wall time."""
        if self.replay is not None:
            self.replay.read(self._generation, limit_s)

    @property
    def moments(self) -> Mapping[str, tuple[LaneSnapshot, ...]]:
        """By lane, what has been read of it."""
        return {} if self.replay is None else self.replay.moments

    def environments(self) -> dict[str, object]:
        """By lane, a picture of what moves by itself about it: now, or, of bodies, at the moment that is shown."""
        if self.replay is None:
            coupled = ((lane, lane.coupling) for lane in self._lanes)
            return {lane.look.name: met.picture(lane.dynamics.vehicle) for lane, met in coupled if met}
        met = self._lanes[0].coupling
        environment = None if met is None else met.solids
        if environment is None:
            return {}
        count = len(environment.solids())
        seen = ((look.name, self.replay.solids(look.name)) for look in self.replay.looks)
        return {
            name: environment.picture_of(solids)
            for name, solids in seen
            if solids is not None and len(solids) == count
        }

    @property
    def view(self) -> LookBack | None:
        """What the user is to know of it."""
        r = self.replay
        return None if r is None else LookBack(r.opened, r.begin_s, r.end_s, r.time_s)

    @property
    def span_s(self) -> tuple[float, float]:
        """From when to when the present flight is remembered."""
        flown = self._lanes[0]
        begin_s = flown.recorder.begin_s
        return (flown.time_s if begin_s is None else begin_s), flown.time_s

    def _show(self, replay: Replay) -> None:
        self._generation -= 1
        self.replay = replay

    def _take(self, lane: Lane) -> Take | None:
        segments, stopped = lane.recorder.segments(lane.time_s), lane.termination
        if not segments:
            return None
        take = Take(
            name=self._scene,
            segments=segments,
            scene=self._scene,
            world=self._world.name,
            seed=self._world.seed,
        )
        return take.finished(now(), stopped.status, stopped.text) if stopped else take.finished(now())
