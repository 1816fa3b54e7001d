"""Laws of the mesh of a level ground's things."""

from dataclasses import replace

import numpy as np
import pytest

from render.land.props import KINDS, PROP_FLOATS, Pieces, PropMesh, prop_mesh
from sim.world.hall import hall_grounds
from sim.world.level_grounds import (
    driving_grounds,
    harbour_grounds,
    plaza_grounds,
    street_grounds,
    underpass_grounds,
)

GROUNDS = {
    "driving": driving_grounds,
    "plaza": plaza_grounds,
    "hall": hall_grounds,
    "harbour": harbour_grounds,
    "street": street_grounds,
    "underpass": underpass_grounds,
}


@pytest.fixture(scope="module", params=sorted(GROUNDS))
def mesh(request: pytest.FixtureRequest) -> PropMesh:
    return prop_mesh(GROUNDS[request.param]())


def test_vertices_are_finite_and_normals_have_unit_length(mesh: PropMesh) -> None:
    assert mesh.vertices.shape[1] == PROP_FLOATS
    assert np.isfinite(mesh.vertices).all()
    np.testing.assert_allclose(np.linalg.norm(mesh.vertices[:, 3:6], axis=1), 1.0, atol=2e-2)


def test_triangles_face_where_their_normals_point(mesh: PropMesh) -> None:
    corners = mesh.vertices[mesh.indices]
    face = np.cross(corners[:, 1, :3] - corners[:, 0, :3], corners[:, 2, :3] - corners[:, 0, :3])
    area = np.linalg.norm(face, axis=1)
    real = area > 1e-9
    facing = (face * corners[:, :, 3:6].mean(axis=1)).sum(axis=1)[real] / area[real]
    assert (np.abs(facing) > 0.5).mean() > 0.99


def test_solids_come_first_and_what_is_painted_lies_in_the_ground(mesh: PropMesh) -> None:
    flat = mesh.indices.ravel()[mesh.solid :]
    flat = flat[
        mesh.vertices[flat, 8] != KINDS.index("pane")
    ]  # which are not in the ground, and cast no shadow
    solid = mesh.indices.ravel()[: mesh.solid]
    assert not mesh.vertices[flat, 2].any()
    assert (mesh.vertices[flat, 9] >= 1.0).all()
    assert not mesh.vertices[solid, 9].any()
    assert (mesh.vertices[flat, 2] >= 0.0).all()


def test_paint_lies_above_paving(mesh: PropMesh) -> None:
    kind, layer = mesh.vertices[:, 8], mesh.vertices[:, 9]
    paving = np.isin(kind, [KINDS.index(name) for name in ("asphalt", "slabs", "floor")])
    paint = np.isin(kind, [KINDS.index(name) for name in ("white", "yellow")])
    assert layer[paint].min() > layer[paving].max()


@pytest.mark.parametrize("name", ["driving", "underpass"])
def test_no_two_faces_of_a_vault_share_a_plane_and_look_opposite_ways(name: str) -> None:
    """They would flicker: which of them is lit changes from pixel to pixel."""
    grounds = GROUNDS[name]()
    mesh = prop_mesh(replace(grounds, cones=np.zeros((0, 2)), blocks=(), kerbs=(), paving=(), marks=()))
    corners = mesh.vertices[mesh.indices]
    middle, normal = corners[:, :, :3].mean(axis=1), corners[:, 0, 3:6]
    near = np.linalg.norm(middle[:, None] - middle[None], axis=-1) < 0.02
    assert (np.einsum("ic,jc->ij", normal, normal)[near] > -0.9).all()


def test_pieces_hold_every_triangle_once_within_their_boxes_solids_first(mesh: PropMesh) -> None:
    pieces = Pieces.of(mesh)
    solid = mesh.solid // 3
    for whole, cut in (
        (mesh.indices[:solid], pieces.indices[:solid]),
        (mesh.indices[solid:], pieces.indices[solid:]),
    ):
        np.testing.assert_array_equal(np.sort(whole[:, 0]), np.sort(cut[:, 0]))
    np.testing.assert_array_equal(pieces.first, np.cumsum(pieces.count) - pieces.count)
    assert pieces.count.sum() == mesh.indices.size
    for first, count, low, high in zip(pieces.first, pieces.count, pieces.low, pieces.high, strict=True):
        places = mesh.vertices[pieces.indices.ravel()[first : first + count], :3]
        assert (places >= low).all()
        assert (places <= high).all()


def test_runs_of_pieces_draw_what_is_wanted_and_no_more(mesh: PropMesh) -> None:
    pieces, rng = Pieces.of(mesh), np.random.default_rng(3)
    for share in (0.0, 0.3, 1.0):
        drawn, shaded = (rng.random(len(pieces.kind)) < part for part in (share, 0.5))
        runs = pieces.runs(drawn, shaded)
        told = [set(range(first, first + count)) for _, _, first, count in runs]
        spans = zip(pieces.first[drawn].tolist(), pieces.count[drawn].tolist(), strict=True)
        wanted = [set(range(first, first + count)) for first, count in spans]
        assert set().union(*told) == set().union(*wanted)
        assert sum(map(len, told)) == sum(map(len, wanted))
    assert len(pieces.runs(np.ones(len(pieces.kind), bool), np.ones(len(pieces.kind), bool))) <= 2 * len(
        KINDS
    )


@pytest.mark.parametrize("ground", ("driving", "underpass", "street"))
def test_lamps_shine_down_alone(ground: str) -> None:
    """So that none of a tunnel hangs in the air where its near wall is left out."""
    vertices = prop_mesh(GROUNDS[ground]()).vertices
    lamps = vertices[vertices[:, 8] == KINDS.index("lamp")]
    assert len(lamps) > 8
    assert (lamps[:, 5] < -0.99).all()
