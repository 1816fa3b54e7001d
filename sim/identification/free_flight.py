"""The part of a take that a model without ground can explain."""

import numpy as np

from sim.contact.ground import Ground
from sim.environment.surroundings import surroundings
from sim.recordings import Take
from sim.recordings.leg import Leg
from sim.recordings.playback import Samples, world_of
from sim.world import World

_CLEAR_M = 0.02


def longest_free(take: Take) -> tuple[Samples, int, int]:
    """All steps of one leg, and the first and the last node of its longest stretch without touch or push."""
    world = world_of(take.world, take.seed)
    best: tuple[Samples, int, int] | None = None
    for leg in take.legs:
        seen = take.playback(world, legs=(leg,)).samples()
        acts = np.zeros(max(len(seen.time) - 1, 0), bool)
        if leg.pushes is not None:
            at = leg.pushes.steps - leg.first_step
            acts[at[(at >= 0) & (at < len(acts))]] = True
        if leg.feels_ground:
            acts |= _touching(leg, seen.nodes, world())
        begin, end = _longest(~acts)
        if best is None or end - begin > best[2] - best[1]:
            best = seen, begin, end
    assert best is not None
    return best


def _touching(leg: Leg, nodes: np.ndarray, world: World) -> np.ndarray:
    """(steps,) whether a point of a body is so near the ground that it may touch within the step."""
    felt = surroundings(leg.vehicle, world)
    if not isinstance(felt, Ground):
        return np.zeros(len(nodes) - 1, bool)
    layout = leg.vehicle.node_layout
    pose = nodes[:, layout.pose]
    R_wb, x_w = pose[:, :9].reshape(-1, 3, 3).swapaxes(1, 2), pose[:, 9:]
    points_w = np.einsum("nij,kj->nki", R_wb, felt.points[:, :3]) + x_w[:, None]
    clear_m = (points_w[..., 2] - world.terrain.height(points_w[..., 0], points_w[..., 1])).min(axis=1)
    moved_m = np.linalg.norm(np.diff(points_w, axis=0), axis=2).max(axis=1)
    return np.minimum(clear_m[:-1], clear_m[1:]) < _CLEAR_M + moved_m


def _longest(free: np.ndarray) -> tuple[int, int]:
    """First and last node of the longest run of steps that are free."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], free, [False]]).astype(np.int8)))
    if not len(edges):
        return 0, 0
    begins, ends = edges[::2], edges[1::2]
    k = int(np.argmax(ends - begins))
    return int(begins[k]), int(ends[k])
