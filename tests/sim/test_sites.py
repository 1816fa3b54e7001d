"""Where something may lie or grow on natural ground."""

import numpy as np

from sim.world import load_world
from sim.world.boulders import kept_free, sites


def test_what_is_strewn_over_the_ground_leaves_pads_and_what_is_built_free() -> None:
    world = load_world("plaza")
    at = sites(world, 20_000, np.random.default_rng(3))
    assert np.array_equal(at.z, world.terrain.height(at.x, at.y))
    assert world.grounds is not None
    length, width = world.grounds.half_m
    built = (np.abs(at.x) < length) & (np.abs(at.y) < width)
    near = np.zeros_like(built)
    for pad in world.pads:
        near |= np.hypot(*(np.stack([at.x, at.y]) - pad.centre_w[:2, None])) <= 16.0
    free = kept_free(world, at, 16.0)
    assert built.sum() > 100
    assert near.any()
    assert not (free & (built | near)).any()
    assert free.mean() > 0.9
