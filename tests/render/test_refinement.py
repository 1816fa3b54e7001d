"""Laws of the land's triangles, chosen for every view: on made-up rough grids that are no height fields."""

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from render.land.mesh import ChunkedMesh
from render.land.refinement import KINDS, LEVELS, STEEP, TRIANGLE_KINDS, Refinement
from render.land.terrain_mesh import CHUNKS, _cut, _mesh

SIZE = (2 * CHUNKS[0] + 1, 4 * CHUNKS[1] + 1)


def rough(seed: int) -> ChunkedMesh:
    """65 x 33 vertices over 650 x 330 m, pushed about in all directions, more in some places than in others, but so
    little that from high enough above all of it faces the eye."""
    rng = np.random.default_rng(seed)
    grid = np.zeros((*SIZE, 10), "f4")
    x, y = np.meshgrid(10.0 * np.arange(SIZE[0]), 10.0 * np.arange(SIZE[1]), indexing="ij")
    amount = 1.0 * np.exp(-(((x - rng.uniform(0, 650)) / 120) ** 2))
    waves = sum(rng.normal(0, 20 / k) * np.sin(x * k / 90 + rng.uniform(0, 6)) for k in (1, 2, 3))
    grid[..., :3] = np.stack([x, y, waves], -1) + amount[..., None] * rng.uniform(-2, 2, size=(*SIZE, 3))
    grid[..., 5] = 1.0
    return _mesh(_cut(grid, 0))


def split(mesh: ChunkedMesh, eye: np.ndarray, tolerance: float, **given: Any) -> np.ndarray:
    """(n, 3) rows of the mesh's vertices."""
    land = Refinement(mesh)
    out, keys = np.empty((5000, 3), np.int32), np.empty(5000, np.int32)
    end = land.split(np.arange(len(land.squares)), eye, tolerance, out, keys, **given)
    assert end >= 0
    return out[:end]


def about(place_m: tuple[float, float]) -> np.ndarray:
    """(4, 4) planes of a column of 60 x 60 m."""
    (x, y), half = place_m, 30.0
    return np.array(
        [[1, 0, 0, half - x], [-1, 0, 0, half + x], [0, 1, 0, half - y], [0, -1, 0, half + y]], float
    )


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 1000),
    eye=st.tuples(st.floats(-100, 750), st.floats(-100, 430), st.floats(3e3, 9e3)),
    tolerance=st.sampled_from([1e-5, 1e-4, 3e-4, 1e-3, 0.01]),
    touched_m=st.one_of(st.none(), st.tuples(st.floats(0, 650), st.floats(0, 330))),
)
def test_every_place_is_covered_once_and_no_gap_opens(
    seed: int, eye: tuple[float, float, float], tolerance: float, touched_m: tuple[float, float] | None
) -> None:
    mesh = rough(seed)
    assert mesh.places is not None
    finer = {} if touched_m is None else {"touched": about(touched_m), "least": 0.1 * tolerance}
    corners = np.rint(mesh.places[split(mesh, np.array(eye), tolerance, **finer)] * (64, 32)).astype(int)
    (ax, ay), (bx, by) = (corners[:, 1] - corners[:, 0]).T, (corners[:, 2] - corners[:, 0]).T
    assert (ax * by - ay * bx > 0).all(), "faces the other way"
    assert (ax * by - ay * bx).sum() == 2 * 64 * 32
    sides = Counter(
        frozenset((tuple(row[k]), tuple(row[(k + 1) % 3]))) for row in corners.tolist() for k in range(3)
    )
    for side, count in sides.items():
        (x0, y0), (x1, y1) = side
        border = (x0 == x1 and x0 in (0, 64)) or (y0 == y1 and y0 in (0, 32))
        assert count == (1 if border else 2), side


def test_with_no_tolerance_all_of_the_grid_is_drawn_and_it_falls_with_the_tolerance() -> None:
    mesh, eye = rough(3), np.array([100.0, 100.0, 3e3])
    counts = [len(split(mesh, eye, tolerance)) for tolerance in (0.0, 1e-4, 3e-4, 1e-3, 3e-3)]
    assert counts[0] == 2 * 64 * 32
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] < 0.25 * counts[0]


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_what_is_left_out_lies_within_a_few_tolerances_as_seen(seed: int) -> None:
    mesh, eye, tolerance = rough(seed), np.array([300.0, 160.0, 320.0]), 0.01
    assert mesh.places is not None
    land, rows = Refinement(mesh), split(mesh, eye, tolerance)
    corners = np.rint(mesh.places[rows] * (64, 32))
    grid = np.stack(np.meshgrid(np.arange(65), np.arange(33), indexing="ij"), -1).reshape(-1, 2)
    normals, worst = np.zeros((len(grid), 3)), 0.0
    normals[np.rint(mesh.places * (64, 32)).astype(int) @ (33, 1)] = mesh.vertices[:, 3:6]
    for at, triangle in zip(corners, rows, strict=True):
        weights = np.linalg.solve(np.vstack([at.T, np.ones(3)]), np.vstack([grid.T, np.ones(len(grid))]))
        inside = (weights > -1e-6).all(axis=0)
        off = land.places[inside] - weights[:, inside].T @ mesh.vertices[triangle, :3]
        away = np.linalg.norm(land.places[inside] - eye, axis=1)
        worst = max(worst, float((np.abs((off * normals[inside]).sum(axis=1)) / away).max()))
    assert 0.5 * tolerance < worst < 2.5 * tolerance


def test_what_may_be_touched_is_as_fine_as_asked_and_the_rest_is_not() -> None:
    mesh, eye, near = rough(4), np.array([325.0, 160.0, 4e3]), (320.0, 160.0)
    coarse, finer = split(mesh, eye, 0.01), split(mesh, eye, 0.01, touched=about(near), least=1e-4)
    fine = split(mesh, eye, 1e-4)

    def within(rows: np.ndarray, half_m: float) -> set[tuple[int, ...]]:
        off = np.abs(mesh.vertices[rows, :2] - near).max(axis=2)
        return set(map(tuple, rows[(off < half_m).all(axis=1)].tolist()))

    assert within(finer, 30.0) == within(fine, 30.0) != within(coarse, 30.0)
    assert len(coarse) < len(finer) < 0.7 * len(fine)


def test_what_lies_below_the_water_is_left_out_and_nothing_else() -> None:
    mesh, eye = rough(5), np.array([0.0, 0.0, 900.0])
    whole, above = split(mesh, eye, 0.001), split(mesh, eye, 0.001, above_m=2.0)
    top = mesh.vertices[whole, 2].max(axis=1)
    np.testing.assert_array_equal(whole[top > 2.0], above)
    assert 0 < len(above) < len(whole)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000),
    eye=st.tuples(st.floats(-100, 750), st.floats(-100, 430), st.floats(300, 3e3)),
    middle_m=st.tuples(st.floats(-20, 670), st.floats(-20, 350)),
    tolerance=st.sampled_from([1e-4, 1e-3, 0.01]),
)
def test_what_is_left_out_as_not_seen_lies_beyond_a_plane_and_the_rest_stays_as_it_is(
    seed: int, eye: tuple[float, float, float], middle_m: tuple[float, float], tolerance: float
) -> None:
    mesh, planes = rough(seed), about(middle_m)
    whole = split(mesh, np.array(eye), tolerance)
    off = mesh.vertices[whole, :3] @ planes[:, :3].T + planes[:, 3]
    beyond = (off < 0.0).all(axis=1).any(axis=1)
    kept = set(map(tuple, split(mesh, np.array(eye), tolerance, seen=planes).tolist()))
    rows = [tuple(row) for row in whole.tolist()]
    assert set(rows) >= kept >= {row for row, off in zip(rows, beyond, strict=True) if not off}
    if tolerance < 1e-3:  # else much of it lies in one ball with what might be seen
        assert len(rows) - len(kept) >= 0.6 * beyond.sum()
    squares = len(Refinement(mesh).squares)
    all_within = split(mesh, np.array(eye), tolerance, seen=planes, within=np.ones(squares, bool))
    np.testing.assert_array_equal(all_within, whole)


def test_too_little_room_is_told_and_a_grid_that_cannot_be_halved_is_refused() -> None:
    land, out, keys = Refinement(rough(1)), np.empty((100, 3), np.int32), np.empty(100, np.int32)
    assert land.split(np.arange(len(land.squares)), np.array([0.0, 0.0, 200.0]), 1e-3, out, keys) == -1
    mesh = rough(1)
    odd = ChunkedMesh(mesh.vertices, mesh.indices, mesh.chunks, mesh.places, (66, 33))
    with pytest.raises(ValueError, match="65 x 32 cells"):
        Refinement(odd)


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 1000), eye=st.tuples(st.floats(0, 650), st.floats(0, 330), st.floats(-30, 200)))
def test_what_faces_the_eye_is_drawn_and_each_triangle_knows_how_fine_a_texture_is_seen_on_it(
    seed: int, eye: tuple[float, float, float]
) -> None:
    mesh, e = rough(seed), np.array(eye)
    land, texels = Refinement(mesh), 0.02
    out, keys = np.empty((5000, 3), np.int32), np.empty(5000, np.int32)
    squares = np.arange(len(land.squares))
    kinds = np.column_stack([squares % KINDS] * 2)
    count = land.split(squares, e, 0.0, out, keys, kinds=kinds, texels=texels)
    a, b, c = (mesh.vertices[out[:count, k], :3].astype(float) for k in range(3))
    normal, towards = np.cross(b - a, c - a), e - (a + b + c) / 3.0
    away = np.linalg.norm(towards, axis=1)
    facing = (normal * towards).sum(axis=1) / np.linalg.norm(normal, axis=1) / away
    assert (facing > 0.0).all()
    texels_a_pixel = texels * away / np.sqrt(np.maximum(facing, 0.1))
    wanted = np.clip(np.log2(texels_a_pixel), 0, LEVELS - 1)
    assert (np.abs(keys[:count] // TRIANGLE_KINDS - wanted) < 0.5 + 1e-3).all()
    assert set(keys[:count] % TRIANGLE_KINDS) <= set(range(KINDS))
    every = land.split(squares, np.array([300.0, 160.0, 1e4]), 0.0, out, keys)
    a, b, c = (mesh.vertices[out[:every, k], :3].astype(float) for k in range(3))
    seen = ((np.cross(b - a, c - a) * (e - a)).sum(axis=1) > 0.0).sum()
    assert every == 2 * 64 * 32
    assert count == seen


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 1000),
    middle=st.tuples(st.floats(0, 650), st.floats(0, 330), st.floats(-30, 30)),
    half_m=st.floats(5.0, 150.0),
)
def test_what_reaches_between_planes_is_of_the_kind_for_that_and_nothing_else(
    seed: int, middle: tuple[float, float, float], half_m: float
) -> None:
    mesh, eye = rough(seed), np.array([300.0, 160.0, 400.0])
    land, planes = Refinement(mesh), np.zeros((6, 4))
    planes[:3, :3], planes[3:, :3] = np.eye(3), -np.eye(3)  # a box
    planes[:, 3] = np.concatenate([half_m - np.array(middle), half_m + np.array(middle)])
    out, keys = np.empty((5000, 3), np.int32), np.empty(5000, np.int32)
    squares = np.arange(len(land.squares))
    kinds = np.column_stack([np.full(len(squares), 1), np.full(len(squares), 0)])
    count = land.split(squares, eye, 0.0, out, keys, kinds=kinds, touched=planes)
    corners = mesh.vertices[out[:count], :3].astype(float)
    kind = keys[:count] % TRIANGLE_KINDS % STEEP
    low, high = np.array(middle) - half_m, np.array(middle) + half_m
    beyond = (corners.max(axis=1) < low).any(axis=1) | (corners.min(axis=1) > high).any(axis=1)
    np.testing.assert_array_equal(kind == 1, ~beyond)


def test_one_steep_vertex_does_not_make_the_ground_about_it_steep():
    grid = np.zeros((*SIZE, 10), "f4")
    grid[..., 0], grid[..., 1] = np.meshgrid(
        10.0 * np.arange(SIZE[0]), 10.0 * np.arange(SIZE[1]), indexing="ij"
    )
    grid[..., 5] = 1.0
    grid[30, 12, 5] = 0.0  # a wall
    grid[40:, :, 5] = 0.6  # a slope
    mesh = _mesh(_cut(grid, 0))
    upward, (i, j) = Refinement(mesh).mean_upward(4), np.rint(mesh.vertices[:, :2].T / 10.0).astype(int)
    np.testing.assert_allclose(upward[(i == 30) & (j == 12)], 80 / 81)
    np.testing.assert_allclose(upward[i < 26], 1.0)
    np.testing.assert_allclose(upward[i >= 44], 0.6, rtol=1e-6)
