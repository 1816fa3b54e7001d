"""Shapes that a vehicle tells of, as a model: closed, outward, on their bodies, in their colours."""

from dataclasses import replace

import numpy as np
import pytest

from render.frame import DrawnVehicle
from render.vehicles.library import ModelLibrary
from sim.models.solids import MAX_MATERIALS, MAX_NODES, solid_asset
from sim.multibody.observing import body_frames
from sim.multibody.robots.robot import Geom
from sim.multibody.shapes import STAND
from sim.scene import load_scene
from sim.shapes.surface import creased
from sim.vehicle_config import config_named
from tests.render.test_model_drawing import Studio, studio  # noqa: F401

CUBE = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_QUADS = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
CUBE_FACES = np.array([corners for a, b, c, d in _QUADS for corners in ((a, b, c), (a, c, d))])


def geom(shape: str, size=(0.3, 0.5, 0.7), *, body="b", rgba=(0.8, 0.2, 0.1, 1.0), mesh=False) -> Geom:
    vertices, faces = (CUBE, CUBE_FACES) if mesh else (np.zeros((0, 3)), np.zeros((0, 3), int))
    return Geom(body, shape, np.eye(4), np.array(size), rgba, True, True, vertices, faces)


@pytest.mark.parametrize(
    ("shape", "volume"),
    [
        (geom("sphere"), 4.0 / 3.0 * np.pi * 0.3**3),
        (geom("ellipsoid"), 4.0 / 3.0 * np.pi * 0.3 * 0.5 * 0.7),
        (geom("capsule"), np.pi * 0.09 * 1.0 + 4.0 / 3.0 * np.pi * 0.3**3),
        (geom("cylinder"), np.pi * 0.09 * 1.0),
        (geom("box"), 8.0 * 0.3 * 0.5 * 0.7),
        (geom("mesh", mesh=True), 1.0),
    ],
    ids=lambda value: value.shape if isinstance(value, Geom) else "",
)
def test_each_shape_is_closed_faces_outwards_and_has_its_volume(shape, volume):
    """Round ones are inscribed: measured 2.3 per cent less at most."""
    asset = solid_asset([shape])
    corners = asset.vertices[asset.opaque, :3].astype(float)
    a, b, c = corners.swapaxes(0, 1)
    filled = np.einsum("ij,ij->i", np.cross(a, b), c).sum() / 6.0
    assert 0.96 * volume < filled < 1.000001 * volume
    faces, normals = np.cross(b - a, c - a), asset.vertices[asset.opaque, 3:6].mean(axis=1)
    sized = np.linalg.norm(faces, axis=1) > 1e-9
    assert (np.einsum("ij,ij->i", faces, normals)[sized] > 0.0).all()
    assert np.abs(np.linalg.norm(asset.vertices[:, 3:6], axis=1) - 1.0).max() < 1e-5


def test_a_mesh_is_sharp_at_its_creases_and_smooth_elsewhere():
    _, normals, faces = creased(CUBE, CUBE_FACES)
    assert len(faces) == 12
    assert set(np.abs(normals).max(axis=1).round(9)) == {1.0}
    angle = np.linspace(0.0, 2.0 * np.pi, 25)[:-1]
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    points = np.vstack([np.column_stack([ring, np.zeros(24)]), np.column_stack([ring, np.ones(24)])])
    k, after = np.arange(24), (np.arange(24) + 1) % 24
    sides = np.vstack([np.column_stack([k, after, 24 + after]), np.column_stack([k, 24 + after, 24 + k])])
    places, normals, _ = creased(points, sides)
    np.testing.assert_allclose(normals[:, :2], places[:, :2], atol=0.02)


def test_more_bodies_and_colours_than_there_is_room_for_are_the_largest_and_the_nearest():
    shapes = [
        geom("sphere", (0.1 + k, 0.0, 0.0), body=f"b{k}", rgba=(k / 99.0, 0.5, 0.5, 1.0)) for k in range(99)
    ]
    asset = solid_asset(shapes)
    assert len(asset.nodes) == MAX_NODES
    assert asset.nodes[-1] == "b98"
    assert len(asset.materials) == MAX_MATERIALS
    assert len(solid_asset([geom("plane"), geom("mesh"), geom("sphere", rgba=(1.0, 1.0, 1.0, 0.0))]).vertices) == 0  # fmt: skip # noqa: E501


def test_what_can_be_seen_through_is_glass():
    asset = solid_asset([geom("box"), geom("sphere", rgba=(0.2, 0.2, 0.9, 0.4))])
    assert len(asset.opaque)
    assert len(asset.glass)
    assert asset.materials[1, 3, 3] == pytest.approx(0.4)


def test_a_robot_is_drawn_where_its_bodies_are_solid_and_as_a_ghost(studio: Studio):  # noqa: F811
    vehicle = load_scene("robot").vehicle
    poses = body_frames(vehicle.tree, vehicle.robot.start.q)
    places = {name: np.linalg.inv(poses["elbow"]) @ T for name, T in {STAND: np.eye(4), **poses}.items()}
    drawn = DrawnVehicle(
        vehicle.name,
        places["carousel"],
        np.zeros(6),
        np.zeros(0),
        bodies=places,
        links=vehicle.links,
        config=config_named(vehicle.name),
    )
    models = ModelLibrary(studio.ctx, studio.programs)
    solid = studio.draw(lambda context: models.draw(drawn, context), "opaque")
    assert np.count_nonzero(solid[..., :3].sum(axis=2)) > 300
    moved = {name: T if name != "upper arm" else T + 50.0 for name, T in places.items()}
    without = studio.draw(lambda context: models.draw(replace(drawn, bodies=moved), context), "opaque")
    assert np.count_nonzero(np.abs(without - solid).sum(axis=2)) > 50
    ghost = studio.draw(lambda context: models.draw(replace(drawn, ghost=True), context), "blend")
    # A ghost is of what moves: the stand is drawn where the solid one's is, and not again.
    moving = {name: T if name != STAND else T + 50.0 for name, T in places.items()}
    alone = studio.draw(lambda context: models.draw(replace(drawn, bodies=moving), context), "opaque")
    covered, expected = (image[..., :3].sum(axis=2) > 0.0 for image in (ghost, alone))
    assert np.count_nonzero(expected) > 200
    np.testing.assert_array_equal(covered, expected)
    models.release()
