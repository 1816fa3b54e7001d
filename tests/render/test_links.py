"""Bodies without a model are capsules, all links of a vehicle in one draw call."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import sim
from render.frame import DrawnVehicle
from render.vehicles.library import ModelLibrary
from render.vehicles.links import PIECES, capsule_mesh, instances_of
from render.vehicles.shown import middle_m, reach_m
from sim.integrators import integrator
from sim.multibody.shapes import ROPE, STAND, Link
from sim.steppers.dynamics import tree_stepper
from sim.vehicle_config import config_named
from tests.render.test_model_drawing import Studio, studio  # noqa: F401


def chain(links: int) -> DrawnVehicle:
    vehicle = sim.vehicle("chain", links=links, pinned=0)
    stepper, p = tree_stepper(vehicle, integrator("rk4")), vehicle.parameter_vector
    seen = stepper.observe(vehicle.default_state().node, np.zeros(0), p)
    bodies = dict(zip(seen.layout.bodies, seen.poses, strict=True))
    return DrawnVehicle(
        "chain",
        seen.poses[0],
        np.zeros(0),
        np.zeros(0),
        bodies=bodies,
        links=vehicle.links,
        config=config_named("chain"),
    )


def test_a_capsule_is_closed_and_faces_outwards():
    mesh = capsule_mesh()
    assert np.abs(np.linalg.norm(mesh.vertices[:, :3], axis=1) - 1.0).max() < 1e-6
    placed = mesh.vertices[:, :3] + mesh.vertices[:, 6:] * [0.0, 0.0, 2.0]
    a, b, c = placed[mesh.indices].swapaxes(0, 1)
    volume = np.einsum("ij,ij->i", np.cross(a, b), c).sum() / 6.0
    exact = np.pi * 4.0 + 4.0 / 3.0 * np.pi
    assert 0.85 * exact < volume < exact  # inscribed: measured 0.92
    outward = np.einsum("ij,ij->i", np.cross(b - a, c - a), (a + b + c) / 3.0 * [1.0, 1.0, 0.0])
    assert outward.min() > -1e-9


def test_instances_stand_where_their_bodies_are():
    T_wb = np.array([[0.0, -1.0, 0.0, 5.0], [1.0, 0.0, 0.0, 6.0], [0.0, 0.0, 1.0, 7.0], [0.0, 0.0, 0.0, 1.0]])
    links = (
        Link("b", (1.0, 0.0, 0.0), (1.0, 2.0, 0.0), 0.1, 2),
        Link("b", (0.3, 0.2, 0.1), (0.3, 0.2, 0.1), 0.4, 1),
    )
    vehicle = DrawnVehicle(
        "tree",
        T_wb,
        np.zeros(0),
        np.zeros(0),
        bodies={"a": np.eye(4), "b": T_wb},
        links=links,
        config=config_named("tree"),
    )
    for row, shape in zip(instances_of(vehicle), links, strict=True):
        T, (radius, half, finish) = row[:12].reshape(3, 4), row[12:]
        for sign, end in ((-1.0, shape.begin_b), (1.0, shape.end_b)):
            np.testing.assert_allclose(T @ [0.0, 0.0, sign * half, 1.0], (T_wb @ (*end, 1.0))[:3], atol=1e-6)
        assert np.linalg.det(T[:, :3]) == pytest.approx(1.0, abs=1e-6)
        assert (radius, finish) == (pytest.approx(shape.radius_m), shape.finish)
    assert reach_m(links, {"b": T_wb}, T_wb[:3, 3]) == pytest.approx(np.sqrt(5.0))


def test_what_stands_about_its_place_is_looked_at_in_its_middle_and_what_hangs_or_stands_on_it_is_not():
    bodies, place = {"b": np.eye(4)}, np.array([0.0, 0.0, 1.0])
    for low, high, lift, middle in (
        (0.0, 2.6, 0.3, 0.3),
        (-2.0, 1.0, -0.3, 0.0),
        (1.0, 3.0, 0.3, 0.0),
        (-2.0, 1.5, -1.0, 0.0),
        (-2.0, 1.0, 0.3, -1.5),
        (1.0, 3.0, -0.3, 1.0),
    ):
        links = (
            Link("b", (0.0, 0.0, low), (0.0, 0.0, high), 0.1, 2),
            Link(STAND, (0, 0, -9), (0, 0, 9), 1, 1),
        )
        assert middle_m(links, bodies, place, lift) == pytest.approx(middle)


def test_all_links_are_drawn_at_once_solid_or_as_a_ghost(studio: Studio):  # noqa: F811
    models = ModelLibrary(studio.ctx, studio.programs)
    drawn = chain(200)
    centre, radius = models.ball(drawn)
    assert radius == pytest.approx(15.0, rel=0.1)
    nearer = {name: T - np.pad(centre[:, None], ((0, 1), (3, 0))) for name, T in drawn.bodies.items()}
    drawn = replace(drawn, bodies=nearer, T_wb=next(iter(nearer.values())))
    calls = []
    array = models._links._capsules._arrays["opaque"]
    render = array.render
    models._links._capsules._arrays["opaque"] = type("Counting", (), {"render": lambda self, *a, **k: (calls.append(k), render(*a, **k)), "release": array.release})()  # fmt: skip # noqa: E501
    solid = studio.draw(lambda context: models.draw(drawn, context), "opaque")
    assert calls == [{"instances": len(drawn.links)}]
    assert np.count_nonzero(solid[..., :3].sum(axis=2)) > 300
    ghost = studio.draw(lambda context: models.draw(replace(drawn, ghost=True), context), "blend")
    assert np.count_nonzero(ghost[..., :3].sum(axis=2)) > 300
    assert not studio.draw(lambda context: models.draw(drawn, context), "blend")[..., :3].any()
    models.release()


def test_a_rope_is_one_smooth_tube_through_the_ends_of_its_links():
    """Of links on a circle the curve stays on the circle between them; measured 2.7e-5 of its radius."""
    angles, each = np.linspace(0.0, 1.5, 9), 2.0 * np.sin(1.5 / 16.0)
    bodies, links = {}, []
    for k, (here, after) in enumerate(pairwise(angles)):
        a, b = (np.array([np.cos(t), np.sin(t), 0.0]) for t in (here, after))
        x = (b - a) / each
        bodies[f"n{k}"] = np.block([[np.column_stack([x, [-x[1], x[0], 0.0], [0.0, 0.0, 1.0]]), a[:, None]], [np.zeros(3), 1.0]])  # fmt: skip # noqa: E501
        links.append(Link(f"n{k}", (0.0, 0.0, 0.0), (each, 0.0, 0.0), 0.02, ROPE))
    steel = Link("n0", (0.0, 0.0, 0.0), (1.0, 0.0, 0.0), 0.3, 1)
    drawn = DrawnVehicle(
        "rope",
        bodies["n0"],
        np.zeros(0),
        np.zeros(0),
        bodies=bodies,
        links=(steel, *links),
        config=config_named("rope"),
    )
    rows = instances_of(drawn)
    assert len(rows) == 1 + PIECES * len(links)
    T, half = rows[1:, :12].reshape(-1, 3, 4).astype(float), rows[1:, 13].astype(float)
    ends = [T[:, :, 3] + sign * half[:, None] * T[:, :, 2] for sign in (-1.0, 1.0)]
    np.testing.assert_allclose(ends[0][1:], ends[1][:-1], atol=1e-6)
    inner = np.linalg.norm(ends[0][PIECES:-PIECES], axis=1)
    np.testing.assert_allclose(inner, 1.0, atol=1e-4)
    np.testing.assert_allclose(ends[0][::PIECES], [T[:3, 3] for T in bodies.values()], atol=1e-6)
    assert set(rows[1:, 14]) == {ROPE}


@pytest.mark.parametrize(("links", "models"), [(1, 1), (2, 0)])
def test_a_model_of_other_bodies_is_not_drawn_beside_links(studio: Studio, monkeypatch, links, models):  # noqa: F811
    """A single rod has a model; of two the rods are links alone, with no third one below the last bob."""
    vehicle = sim.vehicle("pendulum", links=links)
    run = sim.simulate(vehicle, "rkmk4", step=0.01, duration=0.01)
    bodies = {**{name: T[0] for name, T in run.bodies.items()}, STAND: np.eye(4)}
    T_wb = next(iter(bodies.values()))
    drawn = DrawnVehicle(
        "pendulum",
        T_wb,
        np.zeros(0),
        np.zeros(2),
        bodies=bodies,
        links=vehicle.links,
        config=config_named("pendulum"),
    )
    library, calls = ModelLibrary(studio.ctx, studio.programs), []
    monkeypatch.setattr(library, "_draw_model", lambda one, _: calls.append(one.model))
    studio.draw(lambda context: library.draw(drawn, context), "opaque")
    assert len(calls) == models
    library.release()
