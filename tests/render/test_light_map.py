"""Laws of the land's light map."""

import moderngl
import numpy as np
import pytest

from render.land.mapped import TEXEL_M, LightMap
from render.land.mesh import ChunkedMesh
from render.land.refinement import grid_extent_m
from render.land.terrain_mesh import _cut, _mesh
from render.land.textures import levels


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


@pytest.mark.parametrize("spacing_m", [1.0, 3.0])
def test_a_place_of_the_map_shows_what_was_drawn_there_and_it_is_no_coarser_than_wanted(
    ctx: moderngl.Context, spacing_m: float
) -> None:
    rows, columns = np.meshgrid(np.arange(33.0), np.arange(17.0), indexing="ij")
    grid = np.zeros((33, 17, 10), "f4")
    grid[..., 0], grid[..., 1], grid[..., 5] = spacing_m * rows, spacing_m * columns, 1.0
    extent_m = grid_extent_m(_mesh(_cut(grid, 0)))
    np.testing.assert_allclose(extent_m, (32 * spacing_m, 16 * spacing_m), rtol=1e-5)
    light = LightMap(ctx, extent_m)
    texel_m = extent_m[::-1] / light.size_px
    np.testing.assert_allclose(texel_m, TEXEL_M, rtol=0.02)  # whole numbers of texels
    texels = np.random.default_rng(1).integers(0, 256, (*light.size_px[::-1], 4)).astype("u1")
    coarser = levels(texels)
    light.take_light({"map": texels, **{f"map {k}": level for k, level in enumerate(coarser, start=1)}})
    np.testing.assert_array_equal(light.image, texels)
    drawn = light.canvas()
    drawn.clear(0.2, 0.4, 0.6, 0.8)
    np.testing.assert_array_equal(light.image, texels)
    light.average(drawn)
    light.take(drawn)
    lit = light.lit()
    assert [level.shape for level in lit.values()] == [texels.shape, *(level.shape for level in coarser)]
    for level in lit.values():
        assert (level == (51, 102, 153, 204)).all()
    light.release()
    assert ctx.error == "GL_NO_ERROR"


def test_no_radiance_of_rock_exceeds_the_maps_scale() -> None:
    for elevation_rad in (0.05, 0.7, 1.5):
        sun, sky = np.array([18.0, 16.0, 13.0]) * np.sin(elevation_rad), np.array([1.1, 1.9, 3.3])
        brightest = 0.56 * 1.28 * (sun + sky) / np.pi
        assert (brightest <= LightMap.fitting_scale(sun, sky)).all()
