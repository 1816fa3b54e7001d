"""What is shown of a crash of the flown vehicle: it breaks, then its last two seconds come again slowly, then it lies.

The lane has stopped, and its clock stands still. The film has a clock of its own, and what it throws is simulated
among the props, ahead of that.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from render.frame import DrawnVehicle, Surface, View
from render.vehicles.rigs import rig_pose, thrown_off, values_of
from render.vehicles.shown import ShownLane, drawn, moved
from render.vehicles.wreckage import HULL, LASTS_S, Wreckage, blow_of, hull_body, pieces_of
from sim.contact.obstacles.obstacles import PropsPicture
from sim.groups.numeric import poses_between
from sim.models.asset import has_model, load_model
from sim.multibody.shapes import DARK_STEEL, LIGHT, STEEL, Link
from sim.platform.values import dataclass
from sim.recordings.take import LaneStatus
from sim.simulation.lanes.kernels import KernelStore
from sim.simulation.lanes.snapshot import LaneSnapshot, Snapshot
from sim.simulation.thrown import PERIOD_S, Around, Thrown
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import State
from sim.world import World

if TYPE_CHECKING:
    from sim.contact.obstacles.prop_kinds import Placed

LIVE_S, REPLAYED_S, SLOWNESS = 1.5, 2.0, 3.0
"""Of wall time that it breaks before the replay begins; of simulated time that is replayed; how much slower."""
LEAST_S = 0.4
"""What is shorter is not shown again."""
_BEFORE_S = 0.04
"""The motion so long before the blow is that which it ended."""
_REPLAY_S = SLOWNESS * REPLAYED_S
_READY_S = 3.0
"""Of simulated time, before which nobody is expected to fall."""
_BREAKS_S = 1.2
"""Of the wreckage that is shown slowly, too."""


@dataclass(frozen=True, slots=True, eq=False)
class _Crash:
    lane: LaneSnapshot
    """As it came to its end."""
    before: tuple[LaneSnapshot, ...]
    """The last two seconds, the end with them."""
    wreckage: Wreckage | None
    """None for what has no model of its own to break."""
    fall: Thrown | None
    """Of that, and of who was on it."""
    waits: bool
    around: object
    """What is shown of the surroundings as it came to its end."""

    def thrown(self, age_s: float) -> Mapping[str, np.ndarray] | None:
        """(4, 4) by body of who was on it; None for nobody, or as long as nobody is seen falling."""
        return None if self.fall is None else self.fall.limbs(age_s, wait=self.waits)

    def moves_w(self, age_s: float) -> np.ndarray:
        """(n, 4, 4) of pieces and chips from where they were at the blow, as `Wreckage.moved` takes them."""
        assert self.wreckage is not None
        begin_w = end_w = None
        if self.fall is not None:
            begin_w, end_w = (self.fall.bodies_w(each, wait=self.waits) for each in (0.0, age_s))
        count = self.wreckage.count
        if begin_w is None or end_w is None or len(end_w) < count:
            return np.tile(np.eye(4), (count, 1, 1))
        return np.asarray(end_w[-count:] @ np.linalg.inv(begin_w[-count:]))

    def surroundings(self, age_s: float) -> object:
        """With props where what was thrown has pushed them."""
        if self.fall is None or not isinstance(self.around, PropsPicture) or not self.around.placed:
            return self.around
        poses_w = self.fall.bodies_w(age_s, wait=self.waits)
        if poses_w is None:
            return self.around
        count = len(self.around.placed)
        return replace(self.around, poses_w=poses_w[:count], contacts=np.zeros((0, 6)), blows=())


class CrashFilm:
    """Of one scene's flown lane."""

    def __init__(self, world: World | None, *, replays: bool = False) -> None:
        """replays: whether the last seconds are shown again; then nobody waits for what falls to be simulated."""
        self._world, self._replays = world, replays
        self._crash: _Crash | None = None
        self._ran: int | None = None
        self._kernels = KernelStore()
        self._ready: Thrown | None = None
        self._age_s = 0.0

    @property
    def on(self) -> bool:
        """Whether there is a wreck."""
        return self._crash is not None

    def go_on(self, dt_s: float) -> None:
        """Wall time passes."""
        self._age_s += min(max(dt_s, 0.0), 0.25)

    def observe(self, snapshot: Snapshot) -> None:
        """Told of every snapshot; a lane that had broken before nobody saw is a wreck at once."""
        lane = snapshot.lanes[0]
        crashed = lane.status is LaneStatus.CRASHED and np.isfinite(lane.T_wb).all()
        if snapshot.look_back is not None or not crashed:
            if self._crash is not None and self._crash.fall is not None:
                self._crash.fall.close()
            self._crash = None
            self._make_ready(lane, snapshot.environment)
            self._ran = lane.generation if snapshot.look_back is None else None
            return
        if self._crash is not None and self._crash.lane.generation == lane.generation:
            return
        samples = [each[0] for each in snapshot.samples if each[0].generation == lane.generation]
        before = tuple(each for each in samples if each.time_current_s > lane.time_current_s - REPLAYED_S)
        before = tuple(each for each in before if each.time_current_s < lane.time_current_s)
        wreckage = self._broken(lane, before)
        around = snapshot.environment
        fall = None if wreckage is None else self._thrown(lane, before, around, wreckage)
        self._crash = _Crash(lane, (*before, lane), wreckage, fall, not self._replays, around)
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
        return crash.lane.time_current_s - crash.before[0].time_current_s > LEAST_S

    @property
    def replay_s(self) -> float | None:
        """Simulated time before the blow that is shown at the moment; None where the present is."""
        if not self._replayed or not LIVE_S <= self._age_s < self._ends_s:
            return None
        return (self._ends_s - self._age_s) / SLOWNESS

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
    def _wreck_age_s(self) -> float:
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
            return _at(crash, crash.lane.time_current_s - back_s)
        if crash.wreckage is None:
            return None
        D = crash.wreckage.moved(crash.moves_w(self._wreck_age_s))[HULL]
        main, T_wb = next(iter(crash.lane.bodies)), D @ crash.lane.T_wb
        person = crash.thrown(self._wreck_age_s)
        if person is not None:
            T_wb[:3, 3] = 0.5 * (T_wb[:3, 3] + next(iter(person.values()))[:3, 3])
        bodies = {**crash.lane.bodies, main: T_wb}
        return ShownLane(crash.lane, crash.lane.time_current_s, bodies)

    def surroundings(self, around: object) -> object:
        """What is shown of the surroundings, which `around` are at present."""
        crash = self._crash
        if crash is None or self.replay_s is not None:
            return around
        return crash.surroundings(self._wreck_age_s)

    def broken(self, vehicle: DrawnVehicle) -> tuple[DrawnVehicle, ...]:
        """The flown vehicle with its parts where they are by now, and its chips."""
        crash = self._crash
        if crash is None or crash.wreckage is None or self.replay_s is not None:
            return (vehicle,)
        age_s, wreckage = self._wreck_age_s, crash.wreckage
        moves_w = crash.moves_w(age_s)
        names = [f"chip {k}" for k in range(wreckage.chips)]
        poses = dict(zip(names, wreckage.chip_poses(moves_w), strict=True))
        links = tuple(
            Link(
                name,
                (-half[0], 0.0, 0.0),
                (half[0], 0.0, 0.0),
                float(half[1]),
                (LIGHT, STEEL, DARK_STEEL)[k % 3],
            )
            for k, (name, half) in enumerate(zip(names, wreckage.chip_half_m.tolist(), strict=True))
        )
        chips = replace(
            vehicle, model="chips", T_wb=poses[names[0]], bodies=poses, links=links, time_s=None, wreck=False
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
        found = self._crash.wreckage.dust(self._wreck_age_s, view)
        return () if found is None else (found,)

    def _broken(self, lane: LaneSnapshot, before: tuple[LaneSnapshot, ...]) -> Wreckage | None:
        main = next(iter(lane.bodies))
        look = lane.config.look_of(main)
        name, config = (lane.vehicle, lane.config) if look is None else (look.name, look)
        if self._world is None or not has_model(name):
            return None
        twist_b = _before(lane, before).twist_b
        x, y = lane.T_wb[:2, 3].tolist()
        level_m, ground_m = self._world.water_level_m, float(self._world.terrain.height(x, y))
        wet = level_m is not None and level_m > ground_m
        asset = load_model(name)
        T_wb = lane.bodies.get(hull_body(config.model, asset), lane.T_wb)
        T_bh, from_w = np.linalg.solve(lane.T_wb, T_wb), np.linalg.inv(T_wb)
        before_b, after_b = (_seen_from(T_bh, twist) for twist in (twist_b, lane.twist_b))
        shown = ShownLane(lane, lane.time_current_s, lane.bodies)
        placed = {
            node: moved(lane.T_wb, lane.T_wb[:3, :3] @ at)
            for node, at in zip(asset.nodes, asset.pivots, strict=True)
        }
        if look is None:
            placed |= rig_pose(drawn(shown, shown)).placed
        pieces = pieces_of(config.model, asset, {node: from_w @ T for node, T in placed.items()})
        return Wreckage(blow_of(T_wb, before_b, after_b, wet=wet), pieces, self._world)

    def _thrown(
        self, lane: LaneSnapshot, before: tuple[LaneSnapshot, ...], around: object, wreckage: Wreckage
    ) -> Thrown:
        """Pieces, and who was on it, among the props."""
        assert self._world is not None
        weather = None
        if lane.sea is not None:
            from sim.water.water import weather_of  # has been loaded by what floats

            weather = weather_of(lane.parameters)
        return Thrown(
            Around(self._world, weather, lane.time_current_s),
            lambda: (*_lying(around), *wreckage.placed()),
            LASTS_S,
            _rider(lane, before),
            self._kernels,
        )

    def _make_ready(self, lane: LaneSnapshot, around: object) -> None:
        """Once it runs, what a fall needs is loaded, or compiled, before anybody falls."""
        due = self._replays and self._ready is None and lane.time_current_s > _READY_S
        if due and self._world is not None and has_model(lane.vehicle):
            rider = lane.config.model.rider
            who = None if rider is None else (rider.limbs, rider.limbs.default_state())
            self._ready = Thrown(
                Around(self._world), lambda: _lying(around) or _any(), PERIOD_S, who, self._kernels
            )


def _rider(lane: LaneSnapshot, before: tuple[LaneSnapshot, ...]) -> tuple[Vehicle, State] | None:
    """With the motion that the vehicle had before the blow, which reaches nobody who is not tied to it."""
    rider = lane.config.model.rider
    if rider is None:
        return None
    main, twist_b = lane.T_wb, _before(lane, before).twist_b
    T_wb = lane.bodies.get(rider.body, main)
    shown = ShownLane(lane, lane.time_current_s, lane.bodies)
    twist_b = _seen_from(np.linalg.solve(main, T_wb), twist_b)
    return rider.limbs, rider.state(T_wb, twist_b, values_of(drawn(shown, shown)))


def _lying(around: object) -> tuple["Placed", ...]:
    """Props as they lie."""
    if not isinstance(around, PropsPicture):
        return ()
    return tuple(one.at(T_w) for one, T_w in zip(around.placed, around.poses_w, strict=True))


def _any() -> tuple["Placed", ...]:
    from sim.contact.obstacles.prop_kinds import usual  # its kernels are loaded where bodies touch

    return (usual("ball"),)


def _before(lane: LaneSnapshot, before: tuple[LaneSnapshot, ...]) -> LaneSnapshot:
    """As it was before the blow that ended its motion."""
    earlier = [each for each in before if each.time_current_s < lane.time_current_s - _BEFORE_S]
    return earlier[-1] if earlier else lane


def _seen_from(T: np.ndarray, twist: np.ndarray) -> np.ndarray:
    """(6,) the twist of the same motion in a frame that stands at T (4, 4) in the one that it is given in."""
    R, omega = T[:3, :3], twist[:3]
    return np.r_[R.T @ omega, R.T @ (twist[3:] + np.cross(omega, T[:3, 3]))]


def _at(crash: _Crash, time_s: float) -> ShownLane:
    """The lane at an earlier moment."""
    times = [each.time_current_s for each in crash.before]
    later = min(int(np.searchsorted(times, time_s)), len(times) - 1)
    one, other = crash.before[max(later - 1, 0)], crash.before[later]
    span_s = other.time_current_s - one.time_current_s
    share = (time_s - one.time_current_s) / span_s if span_s > 0.0 else 1.0
    begin, end = (np.array([*each.bodies.values()]) for each in (one, other))
    bodies = dict(zip(other.bodies, poses_between(begin, end, min(max(share, 0.0), 1.0)), strict=True))
    running = other if other is not crash.lane else replace(other, status=LaneStatus.RUNNING)
    return ShownLane(running, time_s, bodies)
