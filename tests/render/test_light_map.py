"""Laws of the land's light map."""

import moderngl
import numpy as np
import pytest

from render.geometry.mesh import ChunkedMesh
from render.geometry.terrain_mesh import _cut, _mesh
from render.light_map import LightMap


@pytest.fixture(scope="module")
def meshes() -> list[ChunkedMesh]:
    """Two levels of one made-up ground of 33 x 17 vertices; x tells the row, y the column."""
    rows, columns = np.meshgrid(np.arange(33.0), np.arange(17.0), indexing="ij")
    grid = np.zeros((33, 17, 10), "f4")
    grid[..., 0], grid[..., 1], grid[..., 5] = rows, columns, 1.0
    return [_mesh(_cut(np.ascontiguousarray(grid[::step, ::step]), 0)) for step in (1, 2)]


def test_a_vertex_knows_its_place_in_the_grid_and_a_skirt_that_of_its_border(
    meshes: list[ChunkedMesh],
) -> None:
    for mesh in meshes:
        np.testing.assert_allclose(mesh.places * (32, 16), mesh.vertices[:, :2], atol=1e-5)


def test_every_level_finds_the_light_of_the_finest_one_at_its_vertices(
    ctx: moderngl.Context, meshes: list[ChunkedMesh]
) -> None:
    finest, coarse = meshes
    light = LightMap(ctx, finest)
    row, column = finest.vertices[:, 0], finest.vertices[:, 1]
    on_top = finest.vertices[:, 2] == 0.0
    ambient = np.column_stack([row / 32.0, column / 16.0, 0.0 * row]).astype("f4") * on_top[:, None]
    sun = np.column_stack([0.0 * row, 0.0 * row, 1.0 + column / 16.0]).astype("f4")
    seen = (row > 10.0).astype("f4")
    light.write(ambient, sun, seen)
    assert light.scale == 2.0
    texels = np.frombuffer(light._texture.read(), "u1").reshape(33, 17, 4) / 255.0
    uv = light.uv(coarse)
    at = np.rint(uv * (17, 33) - 0.5).astype(int)
    np.testing.assert_allclose(uv * (17, 33) - 0.5, at, atol=1e-4)  # middles of texels
    found = texels[at[:, 1], at[:, 0]]
    i, j = coarse.vertices[:, 0], coarse.vertices[:, 1]
    lit = (i > 10.0) * (1.0 + j / 16.0)
    radiance = found[:, :3] ** 2 * light.scale
    np.testing.assert_allclose(
        radiance, np.column_stack([i / 32.0, j / 16.0, lit]), atol=0.012
    )  # measured 0.0078
    luma = 0.2126 * i / 32.0 + 0.7152 * j / 16.0 + 0.0722 * lit
    np.testing.assert_allclose(
        found[:, 3], 0.0722 * lit / np.maximum(luma, 1e-9), atol=0.003
    )  # a step is 0.004
    light.release()
