"""Props that are put elsewhere in a scene that runs, and written into its file."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.commands import Reset, SetProps
from sim.contact.bodies import Prop
from sim.contact.obstacles.prop_kinds import Placed, scene_with_props, usual
from sim.groups.numeric import rotation_exp
from sim.scene import load_scene
from sim.shapes import Shape
from sim.simulation import Simulation
from sim.world import load_world
from tests.sim.simulation_scenes import SHAPES

NUMBERS = st.floats(-3.0, 3.0)
SCENE = """
vehicle = "car"
step_s = 0.01  # kept
[world]
name = "plain"
[start]
position_m = [-20.0, 0.0, 0.0]
[[props]]
kind = "ball"
at_m = [3.0, 0.0, 0.25]
"""


def _gaps(one: Placed, points_w: np.ndarray) -> np.ndarray:
    """Signed distances of points to it, where it stands."""
    T, (R, x) = one.prop.shape.solid().T_w, (one.prop.T_w[:3, :3], one.prop.T_w[:3, 3])
    gaps: np.ndarray = one.prop.shape.distance((points_w - x) @ R @ T[:3, :3].T + T[:3, 3])
    return gaps


@given(st.sampled_from(SHAPES), st.tuples(NUMBERS, NUMBERS, NUMBERS), st.tuples(NUMBERS, NUMBERS, NUMBERS))
@settings(max_examples=60, deadline=None)
def test_a_prop_that_is_put_somewhere_is_there(
    shape: Shape, turned: tuple[float, ...], x: tuple[float, ...]
) -> None:
    """Distances of points about it are those of the points that one move in space has taken along."""
    one = Placed(Prop(shape, 2.0, 0.3, 0.4, 0.01, 0.02, 0.3, -0.2, yaw_rad=0.1), (0.1, 0.2, 0.3))
    T_w = np.eye(4)
    T_w[:3, :3], T_w[:3, 3] = rotation_exp(np.array(turned)), x
    put, M = one.at(T_w), T_w @ np.linalg.inv(one.prop.T_w)
    points = one.prop.T_w[:3, 3] + np.random.default_rng(1).normal(size=(50, 3)) * 0.4
    np.testing.assert_allclose(put.prop.T_w[:3, 3], x, atol=1e-9)
    np.testing.assert_allclose(_gaps(put, points @ M[:3, :3].T + M[:3, 3]), _gaps(one, points), atol=1e-6)


def test_a_scene_is_written_with_its_props_and_read_again(tmp_path) -> None:
    rng, placed = np.random.default_rng(5), []
    for shape in SHAPES:
        T_w = np.eye(4)
        T_w[:3, :3], T_w[:3, 3] = rotation_exp(rng.normal(size=3)), rng.normal(size=3)
        placed.append(Placed(Prop(shape, float(rng.uniform(0.5, 9.0)), 0.3), (0.1, 0.2, 0.3)).at(T_w))
    path = tmp_path / "written.toml"
    path.write_text(scene_with_props(SCENE, placed))
    assert "# kept" in path.read_text()
    again = load_scene(path).environment.placed
    assert len(again) == len(placed)
    for one, other in zip(placed, again, strict=True):
        np.testing.assert_allclose(other.prop.T_w[:3, 3], one.prop.T_w[:3, 3], atol=1e-9)
        points = one.prop.T_w[:3, 3] + rng.normal(size=(50, 3)) * 0.4
        np.testing.assert_allclose(_gaps(other, points), _gaps(one, points), atol=1e-8)
        assert other.prop.mass_kg == pytest.approx(one.prop.mass_kg)
        assert other.colour == one.colour


def test_editing_leaves_the_others_where_they_are_and_a_reset_begins_as_it_was_edited(tmp_path) -> None:
    path = tmp_path / "edited.toml"
    path.write_text(SCENE)
    running = Simulation(load_scene(path), load_world("plain"))
    running.advance(0.5)
    before = running.snapshot.environment
    T_w = np.eye(4)
    T_w[:3, 3] = (6.0, 1.0, 2.0)
    running.submit(SetProps((*before.placed, usual("barrel").at(T_w))))
    after = running.advance(0.0).environment
    np.testing.assert_array_equal(after.poses_w[0], before.poses_w[0])
    np.testing.assert_allclose(after.poses_w[1], T_w, atol=1e-12)
    fallen = running.advance(2.0).environment
    assert fallen.poses_w[1, 2, 3] == pytest.approx(0.45, abs=2e-3)
    running.submit(Reset())
    np.testing.assert_allclose(running.advance(0.0).environment.poses_w[1], T_w, atol=1e-12)
    running.submit(SetProps(()))
    assert len(running.advance(0.1).environment.placed) == 0
