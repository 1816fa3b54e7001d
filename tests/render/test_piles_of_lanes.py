"""Lanes compare methods on the same pile: each has props of its own, which are seen where they lie elsewhere."""

from dataclasses import replace

import numpy as np
import pytest

from render.frame import DrawnVehicle, View
from render.vehicles.scene_view import SceneView, ViewOptions
from sim.commands import BackToNow, PilotInput, Scrub, SetPilotInput
from sim.scene import load_scene
from sim.scene.tables import LaneSpec
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import Snapshot
from sim.world import load_world

VIEW = View(eye_w=np.zeros(3), view=np.eye(4), projection=np.eye(4))
COARSE = "coarse"


@pytest.fixture(scope="module")
def flown() -> tuple[Simulation, list[Snapshot]]:
    """A car through a wall of bricks, by two methods."""
    scene = load_scene("bowling")
    start = replace(scene.start, position_w=(-7.5, 0.4, 0.0), velocity_b=(10.0, 0.0, 0.0))
    lanes = (LaneSpec("rk4", 0.02, COARSE),)
    running = Simulation(replace(scene, start=start, lanes=lanes), load_world(scene.world, seed=scene.seed))
    running.submit(SetPilotInput(PilotInput(throttle=1.0)))
    return running, [running.advance(0.1) for _ in range(16)]


def _props(seen: Snapshot, **options: object) -> list[DrawnVehicle]:
    view = SceneView()
    view.observe(seen, seen.wall_s + 1.0)
    return [one for one in view.frame(VIEW, ViewOptions(**options)).vehicles if one.solids is not None]


def test_each_lane_is_told_with_a_pile_of_its_own_now_and_in_the_past(flown) -> None:
    running, seen = flown
    for snapshot in seen:
        assert list(snapshot.beside) == [COARSE]
    apart = [np.abs(s.beside[COARSE].poses_w - s.environment.poses_w).max() for s in seen]
    assert apart[0] < 1e-9
    assert apart[-1] > 0.5  # 1.9 m
    running.submit(Scrub(seen[6].clock_s))
    past = running.advance(0.0)
    running.submit(BackToNow())
    running.advance(0.0)
    np.testing.assert_allclose(past.beside[COARSE].poses_w, seen[6].beside[COARSE].poses_w, atol=1e-5)
    np.testing.assert_allclose(past.environment.poses_w, seen[6].environment.poses_w, atol=1e-5)


def test_what_lies_elsewhere_than_the_flown_ones_is_a_ghost_in_the_tint_of_its_lane(flown) -> None:
    seen = flown[1]
    (alone,) = _props(seen[0])
    assert not alone.ghost
    solid, ghost = _props(seen[-1])
    assert (solid.ghost, ghost.ghost) == (False, True)
    assert ghost.tint == seen[-1].lanes[1].tint
    lies = np.linalg.norm(ghost.solids.poses_w[:, :3, 3] - solid.solids.poses_w[:, :3, 3], axis=1)
    assert (ghost.presences[lies > ghost.solids.reach_m] == 1.0).all()
    assert (lies > ghost.solids.reach_m).sum() > 3
    still = (ghost.solids.poses_w == solid.solids.poses_w).all(axis=(1, 2))
    assert still.sum() > 3
    assert not ghost.presences[still].any()


def test_lanes_that_are_drawn_apart_or_alone_have_all_of_theirs(flown) -> None:
    last = flown[1][-1]
    own = {"flown": last.environment, COARSE: last.beside[COARSE]}
    apart = _props(last, spread_w=(0.0, 6.0, 0.0))
    for one, lane, side in zip(apart, last.lanes, (-3.0, 3.0), strict=True):
        assert not one.ghost
        assert one.presences is None
        np.testing.assert_array_equal(one.solids.poses_w[:, 1, 3], own[lane.name].poses_w[:, 1, 3] + side)
    (alone,) = _props(last, solo=COARSE, highlight=COARSE)
    assert not alone.ghost
    np.testing.assert_array_equal(alone.solids.poses_w, own[COARSE].poses_w)
