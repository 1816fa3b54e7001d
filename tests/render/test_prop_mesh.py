"""Laws of the mesh of a level ground's things."""

import numpy as np
import pytest

from render.geometry.props import KINDS, PROP_FLOATS, PropMesh, prop_mesh
from sim.world.grounds import driving_grounds, plaza_grounds


@pytest.fixture(scope="module", params=["driving", "plaza"])
def mesh(request: pytest.FixtureRequest) -> PropMesh:
    return prop_mesh(driving_grounds() if request.param == "driving" else plaza_grounds())


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
    solid = mesh.indices.ravel()[: mesh.solid]
    assert not mesh.vertices[flat, 2].any()
    assert (mesh.vertices[flat, 9] >= 1.0).all()
    assert not mesh.vertices[solid, 9].any()
    assert (mesh.vertices[:, 2] >= 0.0).all()


def test_paint_lies_above_paving(mesh: PropMesh) -> None:
    kind, layer = mesh.vertices[:, 8], mesh.vertices[:, 9]
    paving = np.isin(kind, [KINDS.index(name) for name in ("asphalt", "slabs")])
    paint = np.isin(kind, [KINDS.index(name) for name in ("white", "yellow")])
    assert layer[paint].min() > layer[paving].max()
