"""Laws of the water's motion about a hull, taken together as that of a rigid body."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.vehicle_config import config_named
from sim.water.carried import nearest_motion, wetted_areas
from sim.water.immersion import VERTEX_WIDTH

vectors = st.tuples(*[st.floats(-3.0, 3.0)] * 3).map(np.array)


def rows_at(places: np.ndarray, velocities: np.ndarray, depth_m: np.ndarray | float = 9.0) -> np.ndarray:
    rows = np.zeros((len(places), VERTEX_WIDTH))
    rows[:, :3], rows[:, 3], rows[:, 4:] = places, depth_m, velocities
    return rows


def nearest(rows: np.ndarray, areas: np.ndarray) -> np.ndarray:
    motion = np.zeros(6)
    nearest_motion(rows, areas, motion)
    return motion


@given(vectors, vectors, vectors, st.integers(0, 2**20))
def test_water_that_moves_as_a_rigid_body_is_met_as_that(omega, v, origin, seed):
    rng = np.random.default_rng(seed)
    places = origin + rng.normal(size=(20, 3))
    rows = rows_at(places, v + np.cross(omega, places))
    np.testing.assert_allclose(nearest(rows, rng.uniform(0.1, 1.0, 20)), [*omega, *v], atol=1e-10)  # 3e-14


@given(st.integers(0, 2**20))
def test_no_other_rigid_motion_is_nearer_to_the_waters(seed):
    rng = np.random.default_rng(seed)
    places, areas = rng.normal(size=(20, 3)), rng.uniform(0.1, 1.0, 20)
    velocities = rng.normal(size=(20, 3))
    found = nearest(rows_at(places, velocities), areas)

    def off(motion: np.ndarray) -> np.ndarray:
        return np.sqrt(areas)[:, None] * (velocities - motion[3:] - np.cross(motion[:3], places))

    columns = np.stack([(off(unit) - off(np.zeros(6))).ravel() for unit in np.eye(6)], axis=1)
    best = np.linalg.lstsq(columns, -off(np.zeros(6)).ravel(), rcond=None)[0]
    np.testing.assert_allclose(found, best, atol=1e-10)  # 4e-15


def test_what_lies_in_one_place_or_in_a_line_is_moved_along_and_what_is_dry_is_not() -> None:
    one = rows_at(np.full((4, 3), 0.5), np.tile([1.0, 2.0, 3.0], (4, 1)))
    np.testing.assert_allclose(nearest(one, np.ones(4)), [0.0, 0.0, 0.0, 1.0, 2.0, 3.0], atol=1e-12)
    assert not nearest(one, np.zeros(4)).any()


def test_the_wetted_area_is_that_of_the_hull_under_water() -> None:
    """Of a sphere of 5 m as panels have it, let down: by Archimedes' law of its area, 2 pi R times the depth."""
    mesh = config_named("wave-buoy").hull.surface
    middle = np.array([0.0, 0.0, 2.0])  # of the sphere, from the body's origin
    whole = areas_of(mesh.vertices, mesh.triangles, 99.0).sum()
    assert whole == pytest.approx(4.0 * np.pi * 25.0, rel=0.03)
    for down_m in (2.0, 5.0, 8.0):
        depths = down_m - 5.0 - (mesh.vertices - middle)[:, 2]
        assert areas_of(mesh.vertices, mesh.triangles, depths).sum() / whole == pytest.approx(
            down_m / 10.0, abs=0.02
        )


def areas_of(vertices: np.ndarray, triangles: np.ndarray, depth_m: np.ndarray | float) -> np.ndarray:
    areas = np.zeros(len(vertices))
    wetted_areas(rows_at(vertices, np.zeros(3), depth_m), triangles, areas)
    return areas
