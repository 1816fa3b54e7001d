"""What is shown of a crash of the flown vehicle: it breaks, then its last two seconds come again slowly, then it lies.

The lane has stopped, and its clock stands still. The film has a clock of its own, and what it throws is simulated
among the props, ahead of that.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from render.frame import DrawnVehicle, Surface, View
from render.vehicles.crash import Crash, crash_of, lying
from render.vehicles.rigs import thrown_off
from render.vehicles.shown import ShownLane
from render.vehicles.wreckage import HULL
from sim.groups.numeric import poses_between
from sim.models.asset import has_model
from sim.recordings.take import FALLS_S, LaneStatus
from sim.simulation.lanes.kernels import KernelStore
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from sim.simulation.thrown import PERIOD_S, Around, Thrown
from sim.world import World

if TYPE_CHECKING:
    from sim.contact.obstacles.blows import Blow
    from sim.contact.obstacles.prop_kinds import Placed

LIVE_S, REPLAYED_S, SLOWNESS = 1.5, 2.0, 3.0
"""Of wall time that it breaks before the replay begins; of simulated time that is replayed; how much slower."""
LEAST_S = 0.4
"""What is shorter is not shown again."""
_REPLAY_S = SLOWNESS * REPLAYED_S
_READY_S = 3.0
"""Of simulated time, before which nobody is expected to fall."""
_BREAKS_S = 1.2
"""Of the wreckage that is shown slowly, too."""


class CrashFilm:
    """Of one scene's flown lane."""

    def __init__(self, world: World | None, *, replays: bool = False) -> None:
        """replays: whether the last seconds are shown again; then nobody waits for what falls to be simulated."""
        self._world, self._replays = world, replays
        self._crash: Crash | None = None
        self._before: tuple[LaneSnapshot, ...] = ()
        """The last two seconds, the end with them."""
        self._ran: int | None = None
        self._kernels = KernelStore()
        self._ready: Thrown | None = None
        self._age_s = 0.0
        self.struck: tuple[Blow, ...] = ()
        """What has been struck while time passed last: in a replay once more."""

    @property
    def on(self) -> bool:
        """Whether there is a wreck."""
        return self._crash is not None

    def go_on(self, dt_s: float) -> None:
        """Wall time passes."""
        before_s = self.wreck_age_s
        self._age_s += min(max(dt_s, 0.0), 0.25)
        if dt_s > 0.0:
            self.struck = tuple(blow for blow in self.blows if blow.time_s > before_s)

    def observe(self, snapshot: Snapshot) -> None:
        """Told of every snapshot; a lane that had broken before nobody saw is a wreck at once."""
        lane = snapshot.lanes[0]
        crashed = lane.status is LaneStatus.CRASHED and np.isfinite(lane.T_wb).all()
        if not crashed:
            if self._crash is not None:
                self._crash.close()
            self._crash, self._before = None, ()
            self._make_ready(lane, snapshot.environment)
            self._ran = lane.generation
            return
        if self._crash is not None and self._crash.lane.generation == lane.generation:
            return
        samples = [each[0] for each in snapshot.samples if each[0].generation == lane.generation]
        before = tuple(each for each in samples if each.time_current_s > lane.time_current_s - REPLAYED_S)
        before = tuple(each for each in before if each.time_current_s < lane.time_current_s)
        self._before = (*before, lane)
        self._crash = crash_of(
            lane, snapshot.environment, self._world, self._kernels, waits=not self._replays
        )
        seen = self._ran == lane.generation
        self._age_s = 0.0 if seen else self._ends_s + 60.0

    @property
    def _ends_s(self) -> float:
        """When the replay is over."""
        return LIVE_S + _REPLAY_S if self._replayed else 0.0

    @property
    def _replayed(self) -> bool:
        crash = self._crash
        if crash is None or not self._replays or crash.wreckage is None:
            return False
        return crash.lane.time_current_s - self._before[0].time_current_s > LEAST_S

    @property
    def replay_s(self) -> float | None:
        """Simulated time before the blow that is shown at the moment; None where the present is."""
        if not self._replayed or not LIVE_S <= self._age_s < self._ends_s:
            return None
        return (self._ends_s - self._age_s) / SLOWNESS

    @property
    def falls(self) -> bool:
        """Whether there is more to be seen of a wreck than how it lies."""
        if self._crash is None or self._crash.wreckage is None:
            return False
        return self.replay_s is not None or self.wreck_age_s < FALLS_S

    @property
    def act(self) -> int:
        """Another number wherever the camera has to be placed anew: no crash, breaking, replay and what follows."""
        if not self.on:
            return 0
        return 1 if self._age_s < LIVE_S or not self._replayed else 2

    @property
    def velocity_w(self) -> np.ndarray:
        """(3,) m/s before the blow; zero without one."""
        if self._crash is None or self._crash.wreckage is None:
            return np.zeros(3)
        blow = self._crash.wreckage.blow
        return np.array(blow.T_wb[:3, :3] @ blow.twist_b[3:])

    @property
    def blows(self) -> "tuple[Blow, ...]":
        """Of what falls, in the last seconds up to `wreck_age_s`."""
        if self._crash is None or self.replay_s is not None:
            return ()
        return self._crash.blows(self.wreck_age_s)

    @property
    def wreck_age_s(self) -> float:
        """Since what is shown broke."""
        if not self._replayed or self._age_s < LIVE_S:
            return self._age_s
        since = self._age_s - self._ends_s
        slow = min(since, SLOWNESS * _BREAKS_S)
        return slow / SLOWNESS + since - slow

    def shown(self) -> ShownLane | None:
        """The flown lane as the film has it; None where the present is shown as it is."""
        crash = self._crash
        if crash is None:
            return None
        back_s = self.replay_s
        if back_s is not None:
            return _at(self._before, crash.lane.time_current_s - back_s)
        if crash.wreckage is None:
            return None
        D = self.moves_w[HULL]
        main, T_wb = next(iter(crash.lane.bodies)), D @ crash.lane.T_wb
        person = crash.thrown(self.wreck_age_s)
        if person is not None:
            T_wb[:3, 3] = 0.5 * (T_wb[:3, 3] + next(iter(person.values()))[:3, 3])
        bodies = {**crash.lane.bodies, main: T_wb}
        return ShownLane(crash.lane, crash.lane.time_current_s, bodies)

    def surroundings(self, around: object) -> object:
        """What is shown of the surroundings, which `around` are at present."""
        crash = self._crash
        if crash is None or self.replay_s is not None:
            return around
        return crash.surroundings(self.wreck_age_s)

    @property
    def moves_w(self) -> Mapping[str, np.ndarray]:
        """(4, 4) by which nodes, and all others under HULL, have moved since the blow, in the world; none without a
        wreck."""
        crash = self._crash
        if crash is None or crash.wreckage is None:
            return {}
        return crash.wreckage.moved(crash.moves_w(self.wreck_age_s))

    def broken(self, vehicle: DrawnVehicle) -> tuple[DrawnVehicle, ...]:
        """The flown vehicle with its parts where they are by now, and its chips."""
        crash = self._crash
        if crash is None or crash.wreckage is None or self.replay_s is not None:
            return (vehicle,)
        age_s, wreckage = self.wreck_age_s, crash.wreckage
        moves_w = crash.moves_w(age_s)
        poses, links = crash.chips(moves_w)
        chips = replace(
            vehicle,
            model="chips",
            T_wb=next(iter(poses.values())),
            bodies=poses,
            links=links,
            time_s=None,
            wreck=False,
        )
        whole = replace(vehicle, pieces=wreckage.moved(moves_w), T_wb=crash.lane.T_wb)
        person, rider = crash.thrown(age_s), vehicle.config.model.rider
        if person is None or rider is None:
            return (whole, chips)
        return (replace(whole, absent=frozenset(rider.nodes)), thrown_off(vehicle, rider, person), chips)

    def dust(self, view: View) -> tuple[Surface, ...]:
        """What hangs in the air."""
        if self._crash is None or self._crash.wreckage is None or self.replay_s is not None:
            return ()
        found = self._crash.wreckage.dust(self.wreck_age_s, view)
        return () if found is None else (found,)

    def _make_ready(self, lane: LaneSnapshot, around: object) -> None:
        """Once it runs, what a fall needs is loaded, or compiled, before anybody falls."""
        due = self._replays and self._ready is None and lane.time_current_s > _READY_S
        if due and self._world is not None and has_model(lane.vehicle):
            rider = lane.config.model.rider
            who = None if rider is None else (rider.limbs, rider.limbs.default_state())
            self._ready = Thrown(
                Around(self._world), lambda: lying(around) or _any(), PERIOD_S, who, self._kernels
            )


def _any() -> tuple["Placed", ...]:
    from sim.contact.obstacles.prop_kinds import usual  # its kernels are loaded where bodies touch

    return (usual("ball"),)


def _at(before: tuple[LaneSnapshot, ...], time_s: float) -> ShownLane:
    """The lane at an earlier moment. before: what is known of it, its end with it."""
    times = [each.time_current_s for each in before]
    later = min(int(np.searchsorted(times, time_s)), len(times) - 1)
    one, other = before[max(later - 1, 0)], before[later]
    span_s = other.time_current_s - one.time_current_s
    share = (time_s - one.time_current_s) / span_s if span_s > 0.0 else 1.0
    begin, end = (np.array([*each.bodies.values()]) for each in (one, other))
    bodies = dict(zip(other.bodies, poses_between(begin, end, min(max(share, 0.0), 1.0)), strict=True))
    running = other if other is not before[-1] else replace(other, status=LaneStatus.RUNNING)
    return ShownLane(running, time_s, bodies)
