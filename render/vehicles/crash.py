"""A crash of the flown vehicle: what breaks, what is thrown, and how it falls among the props.

All follows from the vehicle's last motion, what is about and a seed: worked out again, of the flight or of its take, it
falls the same way, to the bit.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from render.vehicles.rigs import rig_pose, values_of
from render.vehicles.shown import ShownLane, drawn, moved
from render.vehicles.wreckage import Wreckage, blow_of, hull_body, pieces_of
from sim.contact.obstacles.obstacles import PropsPicture
from sim.models.asset import has_model, load_model
from sim.multibody.shapes import DARK_STEEL, LIGHT, STEEL, Link
from sim.platform.values import dataclass
from sim.recordings.take import FALLS_S
from sim.simulation.lanes.kernels import KernelStore
from sim.simulation.lanes.snapshot import LaneSnapshot
from sim.simulation.thrown import Around, Thrown
from sim.vehicles import Vehicle
from sim.vehicles.forms.form import State
from sim.world import World

if TYPE_CHECKING:
    from sim.contact.obstacles.blows import Blow
    from sim.contact.obstacles.prop_kinds import Placed


@dataclass(frozen=True, slots=True, eq=False)
class Crash:
    """One that has happened."""

    lane: LaneSnapshot
    """As it came to its end."""
    wreckage: Wreckage | None
    """None for what has no model of its own to break."""
    fall: Thrown | None
    """Of that, and of who was on it."""
    waits: bool
    """Who looks waits until it is simulated."""
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

    def blows(self, age_s: float) -> "tuple[Blow, ...]":
        """What pieces, chips and props have struck in the last seconds; times are counted from the crash."""
        return () if self.fall is None else self.fall.blows(age_s, wait=self.waits)

    def chips(self, moves_w: np.ndarray) -> tuple[dict[str, np.ndarray], tuple[Link, ...]]:
        """Poses (4, 4) of chips by name, by moves as `moves_w` gives them, and what they look like."""
        assert self.wreckage is not None
        names = [f"chip {k}" for k in range(self.wreckage.chips)]
        halves = zip(names, self.wreckage.chip_half_m.tolist(), strict=True)
        links = tuple(
            Link(name, (-x, 0.0, 0.0), (x, 0.0, 0.0), y, (LIGHT, STEEL, DARK_STEEL)[k % 3])
            for k, (name, (x, y, _)) in enumerate(halves)
        )
        return dict(zip(names, self.wreckage.chip_poses(moves_w), strict=True)), links

    def close(self) -> None:
        """Nobody looks any more."""
        if self.fall is not None:
            self.fall.close()


def crash_of(
    lane: LaneSnapshot, around: object, world: World | None, kernels: KernelStore, *, waits: bool
) -> Crash:
    """Of a lane that has come to its end, among what is shown of its surroundings there.

    kernels: are kept there for the next one. waits: who looks waits until it is simulated.
    """
    wreckage = None if world is None else _broken(lane, world)
    if world is None or wreckage is None:
        return Crash(lane, None, None, waits, around)
    left, weather = wreckage, None
    if lane.sea is not None:
        from sim.water.water import weather_of  # has been loaded by what floats

        weather = weather_of(lane.parameters)
    fall = Thrown(
        Around(world, weather, lane.time_current_s),
        lambda: (*lying(around), *left.placed()),
        FALLS_S,
        _rider(lane),
        kernels,
    )
    return Crash(lane, wreckage, fall, waits, around)


def _broken(lane: LaneSnapshot, world: World) -> Wreckage | None:
    main = next(iter(lane.bodies))
    look = lane.config.look_of(main)
    name, config = (lane.vehicle, lane.config) if look is None else (look.name, look)
    if not has_model(name):
        return None
    x, y = lane.T_wb[:2, 3].tolist()
    level_m, ground_m = world.water_level_m, float(world.terrain.height(x, y))
    wet = level_m is not None and level_m > ground_m
    asset = load_model(name)
    T_wb = lane.bodies.get(hull_body(config.model, asset), lane.T_wb)
    T_bh, from_w = np.linalg.solve(lane.T_wb, T_wb), np.linalg.inv(T_wb)
    before_b, after_b = (_seen_from(T_bh, twist) for twist in (lane.twist_before_b, lane.twist_b))
    shown = ShownLane(lane, lane.time_current_s, lane.bodies)
    placed = {
        node: moved(lane.T_wb, lane.T_wb[:3, :3] @ at)
        for node, at in zip(asset.nodes, asset.pivots, strict=True)
    }
    if look is None:
        placed |= rig_pose(drawn(shown, shown)).placed
    pieces = pieces_of(config.model, asset, {node: from_w @ T for node, T in placed.items()})
    return Wreckage(blow_of(T_wb, before_b, after_b, wet=wet), pieces, world)


def _rider(lane: LaneSnapshot) -> tuple[Vehicle, State] | None:
    """With the motion that the vehicle had before the blow, which reaches nobody who is not tied to it."""
    rider = lane.config.model.rider
    if rider is None:
        return None
    T_wb = lane.bodies.get(rider.body, lane.T_wb)
    shown = ShownLane(lane, lane.time_current_s, lane.bodies)
    twist_b = _seen_from(np.linalg.solve(lane.T_wb, T_wb), lane.twist_before_b)
    return rider.limbs, rider.state(T_wb, twist_b, values_of(drawn(shown, shown)))


def lying(around: object) -> tuple["Placed", ...]:
    """Props as they lie."""
    if not isinstance(around, PropsPicture):
        return ()
    return tuple(one.at(T_w) for one, T_w in zip(around.placed, around.poses_w, strict=True))


def _seen_from(T: np.ndarray, twist: np.ndarray) -> np.ndarray:
    """(6,) the twist of the same motion in a frame that stands at T (4, 4) in the one that it is given in."""
    R, omega = T[:3, :3], twist[:3]
    return np.r_[R.T @ omega, R.T @ (twist[3:] + np.cross(omega, T[:3, 3]))]
