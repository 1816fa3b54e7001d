"""Every kind of shape: its distances against an optimiser's, what plans see of it, what is drawn and written of it."""

import math
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import nnls

from sim.planner import Goal, Planner, Task
from sim.planner.result.store import task_of_values, task_values
from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.shapes import (
    KINDS,
    Box,
    Capsule,
    Cone,
    ConvexMesh,
    Cylinder,
    Drum,
    Ellipsoid,
    HeightField,
    Shape,
    Sphere,
)
from sim.vehicles import vehicle

WEDGE = ((0.0, 0.0, 0.0), (3.0, 0.0, 0.0), (3.0, 2.0, 0.0), (0.0, 2.0, 0.0), (3.0, 0.0, 1.5), (3.0, 2.0, 1.5))
MOUND = tuple(
    tuple(0.4 + 1.1 * math.exp(-((0.5 * i - 1.4) ** 2 + (0.5 * j - 1.0) ** 2) / 1.5) for i in range(8))
    for j in range(6)
)
"""Round, and cut off where it is not yet level."""
SHAPES = (
    Sphere((1.0, 2.0, 3.0), 1.5),
    Cylinder((1.0, 2.0, 0.0), 1.5),
    Capsule((0.0, 0.0, 0.0), (2.0, 1.0, 3.0), 0.7),
    Box((1.0, 0.0, 2.0), (1.0, 2.0, 0.5), 0.7),
    Drum((1.0, 0.0, 2.0), 1.5, 0.6),
    Cone((1.0, 1.0, -1.0), 1.5, 2.5),
    Cone((0.0, 0.0, 0.0), 0.4, 3.0),
    Ellipsoid((1.0, 0.0, 0.5), (1.5, 0.8, 0.6), 0.7),
    ConvexMesh(WEDGE),
    ConvexMesh(((0.0, 0.0, 0.0), (2.0, 0.0, 0.0), (0.0, 2.0, 0.0), (0.3, 0.3, 2.0))),
    HeightField((-1.0, -0.5, -0.3), 0.5, MOUND),
)
every_shape = pytest.mark.parametrize("shape", SHAPES, ids=lambda s: s.kind)


def test_every_kind_is_tried() -> None:
    assert {shape.kind for shape in SHAPES} == set(KINDS)
    assert all(KINDS[shape.kind] is type(shape) for shape in SHAPES)


def nearest_m(shape: Shape, x: np.ndarray) -> float:
    """Distance of a point outside to the convex hull of what is drawn, by an optimiser that knows nothing of kinds.

    What is not convex is taken triangle by triangle.
    """
    if isinstance(shape, HeightField):
        points, _, faces = shape.surface()
        weights = np.array([(i, j, 60 - i - j) for i in range(61) for j in range(61 - i)]) / 60.0
        return float(np.linalg.norm(weights @ points[faces] - x, axis=-1).min())
    points = np.unique(shape.between(-50.0, 50.0).surface()[0].round(12), axis=0)
    heavy = 1e4  # holds the weights to a sum of one
    weights, _ = nnls(np.vstack([(points - x).T, np.full(len(points), heavy)]), np.r_[0.0, 0.0, 0.0, heavy])
    return float(np.linalg.norm(weights @ points / weights.sum() - x))


@every_shape
def test_distances_outside_are_those_to_what_is_drawn(shape: Shape) -> None:
    rng = np.random.default_rng(3)
    points = rng.uniform(-4.0, 6.0, (400, 3))
    points = points[shape.distance(points) > 0.05][:12]
    # What is round is drawn by facets, within it by up to 1 - cos(pi / 32) of its radius, and with bevelled rims.
    exact = isinstance(shape, Box | ConvexMesh)
    for x in points:
        assert shape.distance(x[None])[0] == pytest.approx(nearest_m(shape, x), abs=1e-5 if exact else 0.06)


@every_shape
def test_distances_grow_by_the_way_and_no_faster(shape: Shape) -> None:
    """1-Lipschitz everywhere, and along the gradient by exactly the way that is made, inside too."""
    rng = np.random.default_rng(4)
    a, step = rng.uniform(-4.0, 6.0, (4000, 3)), rng.normal(0.0, 0.5, (4000, 3))
    change = np.abs(shape.distance(a + step) - shape.distance(a))
    assert (change <= np.linalg.norm(step, axis=1) + 1e-9).all()
    eps = 1e-6
    slope = np.stack([shape.distance(a + eps * e) - shape.distance(a - eps * e) for e in np.eye(3)]) / (
        2 * eps
    )
    steep = np.linalg.norm(slope, axis=0)
    assert np.median(np.abs(steep - 1.0)) < 1e-6
    assert (np.abs(steep - 1.0) < 1e-3).mean() > 0.98  # but on edges of what is nearest


@every_shape
def test_inside_is_where_the_drawn_surface_says(shape: Shape) -> None:
    points, normals, faces = shape.between(-3.0, 3.0).surface()
    corners = points[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(across, axis=1)
    kept = area > 1e-9
    assert (np.einsum("ij,ij->i", across[kept], normals[faces[kept, 0]]) > 0.0).all()
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, atol=1e-9)
    middles = corners[kept].mean(axis=1)
    whole = shape.between(-3.0, 3.0)
    assert (np.abs(whole.distance(middles)) < 0.06).all()
    outward = across[kept] / area[kept, None]
    assert (whole.distance(middles + 0.1 * outward) > 0.0).all()
    assert (whole.distance(middles - 0.1 * outward) < 0.0).all()


@every_shape
@pytest.mark.parametrize("margin", [0.0, 0.2, 1.0])
def test_what_plans_see_has_the_sign_of_the_true_distance(shape: Shape, margin: float) -> None:
    """And never a wider way: over corners of a mesh, and slopes of earth, it may be a narrower one."""
    rng = np.random.default_rng(1)
    x, q = ca.SX.sym("x", 3), ca.SX.sym("q", shape.size)
    gap = ca.Function("gap", [x, q], [KINDS[shape.kind].gap(x, q, ca.SX(margin))])
    points = rng.uniform(-4.0, 6.0, (3000, 3))
    told = np.array(gap.map(3000)(points.T, np.tile(shape.numbers()[:, None], 3000))).ravel()
    true = shape.distance(points) - margin
    assert (told[true < -0.03] < 0.0).all()
    if not isinstance(shape, ConvexMesh | HeightField):
        assert (told[true > 0.03] > 0.0).all()
    else:
        assert (told[true > 0.03 + 3.0 * margin] > 0.0).all()
    slope = ca.Function("slope", [x, q], [ca.jacobian(gap(x, q), x), ca.hessian(gap(x, q), x)[0]])
    for place in (points[0], np.array(shape.middle_w), np.array(shape.numbers()[:3])):
        assert all(np.isfinite(np.array(part)).all() for part in slope(place, shape.numbers()))


@every_shape
def test_moved_thickened_and_laid_on_a_plane(shape: Shape) -> None:
    rng = np.random.default_rng(2)
    points, by = rng.uniform(-4.0, 6.0, (500, 3)), (0.3, -0.7, 1.1)
    np.testing.assert_allclose(shape.moved(by).distance(points + by), shape.distance(points), atol=1e-9)
    assert shape.moved(by).middle_w == pytest.approx(np.add(shape.middle_w, by))
    thick = shape.thickened(2.0)
    assert thick.half_thickness_m >= 2.0 - 1e-9
    assert (thick.distance(points) <= shape.distance(points) + 1e-9).all()
    assert type(thick) is type(shape)
    flat = shape.on_plane()
    on = points * (1.0, 1.0, 0.0)
    if not isinstance(shape, Capsule | Sphere):  # those are met at the height of their middles
        seen = shape.between(-3.0, 3.0).surface()[0] * (1.0, 1.0, 0.0)
        shrunk = seen.mean(axis=0) + 0.98 * (seen - seen.mean(axis=0))
        assert (flat.distance(shrunk) < 0.03).all()
    assert np.isfinite(flat.distance(on)).all()


@every_shape
def test_text_and_values_come_back(shape: Shape) -> None:
    named = replace(shape, name="it", look="rock")
    table = TomlTable("a test", named.text())
    again = KINDS[shape.kind].read(table, "it", "rock")
    table.finish()
    np.testing.assert_allclose(again.numbers(), named.numbers(), atol=1e-12)
    assert (again.name, again.look) == ("it", "rock")
    body = vehicle("boat")
    task = Task(body.state(), Goal(body.state(x=20.0)), 10.0, obstacles=(named,))
    assert task_of_values(task_values(task), body).obstacles == (named,)


@pytest.mark.parametrize(
    ("points", "said"),
    [
        (((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 0.0)), "plane"),
        (tuple(map(tuple, np.random.default_rng(0).normal(size=(60, 3)).tolist())), "flat sides"),
    ],
)
def test_a_mesh_that_is_none_is_one_line(points, said: str) -> None:
    body = vehicle("quadrotor")
    task = Task(body.state(), Goal(body.state(x=(9.0, 0.0, 0.0))), 10.0, obstacles=(ConvexMesh(points),))
    with pytest.raises(InputError, match=rf"^[^\n]*{said}[^\n]*allowed[^\n]*$"):
        Planner().plan(body, task)


@pytest.mark.parametrize("name", ["quadrotor", "boat"])
@pytest.mark.parametrize(
    "obstacle",
    [
        Cone((5.0, 0.2, -1.0), 1.2, 3.0),
        Drum((5.0, 0.2, 0.0), 1.0, 1.5),
        ConvexMesh(tuple((x + 4.0, y - 0.8, z - 0.5) for x, y, z in WEDGE)),
        HeightField((3.6, -1.0, -0.6), 0.5, MOUND),
    ],
    ids=lambda o: o.kind,
)
def test_plans_go_around(name: str, obstacle: Shape) -> None:
    body = vehicle(name)
    goal = body.state(x=10.0) if name == "boat" else body.state(x=(10.0, 0.0, 0.0))
    task = Task(
        body.state(),
        Goal(goal),
        12.0 if name == "boat" else 5.0,
        steps=32,
        obstacles=(obstacle,),
        clearance_m=0.2,
        body=((0.0, 0.0, 0.0, 0.4),),
    )
    found = Planner().plan(body, task, starts=2)
    assert found.solved, found.message
    assert found.clearance_m >= 0.2 - 1e-3


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
@pytest.mark.parametrize("factor", [0.4, 2.5])
def test_a_scaled_shape_is_the_same_seen_from_nearer_or_farther(shape, factor):
    """There is a place that stays; distances from it, and of all points to the surface, grow by the factor."""
    larger = shape.scaled(factor)
    if isinstance(shape, HeightField):
        assert larger is shape
        return
    rng = np.random.default_rng(31)
    stays = (factor * np.array(shape.middle_w) - np.array(larger.middle_w)) / (factor - 1.0)
    points = stays + rng.normal(size=(50, 3)) * 3.0
    expected = factor * shape.distance(points)
    assert larger.distance(stays + factor * (points - stays)) == pytest.approx(expected, abs=1e-9)
