"""How what a crash throws falls after the end of a lane: worked out again from the lane's take."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from export.motion import EVERY_S, Columns, Fall, LaneMotion, SolidsMotion
from render.vehicles.crash import Crash, crash_of
from sim.contact.obstacles import PropsPicture
from sim.groups.numeric import poses_of
from sim.models.asset import has_model
from sim.multibody.shapes import Link
from sim.recordings import Take
from sim.recordings.take import FALLS_S, LaneStatus
from sim.simulation.lanes.kernels import KernelStore
from sim.simulation.lanes.snapshot import LaneLook, LaneSnapshot, Snapshot
from sim.simulation.runs.rewind import Replay
from sim.vehicle_config import VehicleConfig, config_of
from sim.vehicle_config.model import Model
from sim.world import World


def with_fall(
    motions: Sequence[LaneMotion], takes: Sequence[tuple[LaneSnapshot, Take]], seen: Snapshot, world: World
) -> list[LaneMotion]:
    """The same, that of the flown lane with the fall of its wreck where its take ends in a crash.

    takes: of lanes as they are seen at last.
    """
    flown = seen.lanes[0]
    take = next((take for lane, take in takes if lane is flown), None)
    if take is None or take.status is not LaneStatus.CRASHED:
        return list(motions)
    if (take.world, take.seed) != (world.name, world.seed):
        return list(motions)
    crash = _crash(take, world, seen.environment)
    try:
        return [_with(motion, crash) if motion.name == flown.name else motion for motion in motions]
    finally:
        crash.close()


def _crash(take: Take, world: World, solids: object) -> Crash:
    kernels, look = KernelStore(), LaneLook("flown", (1.0, 1.0, 1.0), ghost=False)
    replay = Replay(((look, take),), world, kernels)
    replay.seek(replay.end_s)
    lying = replay.solids(look.name)
    if isinstance(solids, PropsPicture) and lying is not None and len(lying) == len(solids.poses_w):
        solids = replace(solids, poses_w=poses_of(lying))
    return crash_of(replay.pictures(0, 0.0)[0], solids, world, kernels, waits=True)


def _with(motion: LaneMotion, crash: Crash) -> LaneMotion:
    if crash.wreckage is None:
        return motion
    ages_s = (EVERY_S * np.arange(1, round(FALLS_S / EVERY_S) + 1)).tolist()
    end_s, moves_w = float(motion.time[-1]), [crash.moves_w(age_s) for age_s in ages_s]
    time, moved = end_s + np.array(ages_s), [crash.wreckage.moved(moves) for moves in moves_w]
    chips = [crash.chips(moves) for moves in moves_w]
    bare = replace(motion.config, model=Model())
    beside = [_beside("chips", time, [poses for poses, _ in chips], bare, chips[0][1])]
    people = [limbs for age_s in ages_s if (limbs := crash.thrown(age_s)) is not None]
    rider = motion.config.model.rider if len(people) == len(ages_s) else None
    if rider is not None:
        name, links = rider.limbs.name, rider.limbs.links
        links = () if has_model(name) else links
        beside.append(_beside(name, time, people, config_of(rider.limbs), links))
    fall = Fall(time, _columns(moved), tuple(beside), frozenset(() if rider is None else rider.nodes))
    return replace(motion, fall=fall, solids=_pushed(motion.solids, crash, time, ages_s))


def _columns(rows: Sequence[Mapping[str, np.ndarray]]) -> Columns:
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def _beside(
    name: str,
    time: np.ndarray,
    poses_w: Sequence[Mapping[str, np.ndarray]],
    config: VehicleConfig,
    links: tuple[Link, ...],
) -> LaneMotion:
    """Of bodies that move by nobody's controls. A moment is told before they are seen."""
    count, bodies = len(time) + 1, _columns([poses_w[0], *poses_w])
    return LaneMotion(
        name=name,
        vehicle=name,
        config=config,
        time=np.append(2.0 * time[0] - time[1], time),
        bodies=bodies,
        twist=np.zeros((count, 6)),
        controls=np.zeros((count, 0)),
        shape=np.zeros((count, 0)),
        energy=np.zeros(count),
        wreck=np.zeros(count, bool),
        links=links,
    )


def _pushed(
    solids: SolidsMotion | None, crash: Crash, time: np.ndarray, ages_s: Sequence[float]
) -> SolidsMotion | None:
    """With props where what was thrown has pushed them."""
    seen = [crash.surroundings(age_s) for age_s in ages_s]
    pictures = [each for each in seen if isinstance(each, PropsPicture)]
    if solids is None or len(pictures) < len(seen):
        return solids
    poses_w = np.array([picture.poses_w for picture in pictures])
    if poses_w.shape[1:] != solids.poses_w.shape[1:]:
        return solids
    before = solids.time < time[0]
    return replace(
        solids,
        time=np.concatenate([solids.time[before], time]),
        poses_w=np.concatenate([solids.poses_w[before], poses_w]),
    )
