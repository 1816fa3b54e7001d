"""Blows, slides and dips of props are told when, where and as hard as mechanics says, and change nothing."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from sim.commands import BackToNow, PilotInput, Reset, Scrub, SetPilotInput
from sim.contact.bodies import Pile, Prop
from sim.contact.obstacles.blows import GROUND, WATER, Blow, Blows
from sim.scene import Scene, load_scene
from sim.shapes import Box, Sphere
from sim.simulation import Simulation
from sim.vehicles import vehicle
from sim.water.floating import FloatingBodies
from sim.world import load_world

H = 0.005


def told(pile: Pile, materials: tuple[str, ...], seconds: float) -> tuple[Blow, ...]:
    blows = Blows(pile, materials)
    for k in range(round(seconds / H)):
        before = pile.state[:, :18].copy()
        pile.step(H)
        blows.note(before, H, k * H, -1)
    return blows.kept


def test_what_falls_strikes_once_when_and_as_fast_as_it_has_fallen() -> None:
    """A ball from 2 m: t = sqrt(2 d / g), v = g t."""
    pile = Pile([Prop(Sphere((0.0, 0.0, 2.3), 0.3), 4.0)], load_world("plain").terrain)
    ground_m = float(load_world("plain").terrain.height(0.0, 0.0))
    way_m = 2.0 - ground_m
    (blow,) = told(pile, ("rubber",), 1.5)
    assert blow.struck_mps == pytest.approx(np.sqrt(2.0 * 9.81 * way_m), abs=2.0 * 9.81 * H)
    assert blow.time_s == pytest.approx(np.sqrt(2.0 * way_m / 9.81), abs=2.0 * H)
    assert (blow.of, blow.on, blow.mass_kg) == ("rubber", GROUND, 4.0)
    np.testing.assert_allclose(blow.place_w, (0.0, 0.0, ground_m), atol=0.02)


def test_of_two_that_meet_each_tells_what_the_other_is_made_of() -> None:
    """Without gravity, a heavy one against a light one at rest, which goes on together with it."""
    props = [
        Prop(Sphere((-1.0, 0.0, 0.0), 0.2), 3.0, velocity_w=(4.0, 0.0, 0.0)),
        Prop(Sphere((0.0, 0.0, 0.0), 0.2), 1.0),
    ]
    blows = told(Pile(props, gravity_mps2=0.0, sleeps=False), ("metal", "wood"), 0.5)
    assert {(blow.of, blow.on) for blow in blows} == {("metal", "wood"), ("wood", "metal")}
    by = {blow.of: blow.struck_mps for blow in blows}
    assert by == pytest.approx({"metal": 1.0, "wood": 3.0}, rel=1e-6)  # all go on at m v / (m + M) = 3 m/s


def test_a_box_that_slides_is_told_of_while_it_does_and_one_that_rests_never() -> None:
    half = (0.2, 0.2, 0.1)
    ground_m = float(load_world("plain").terrain.height(0.0, 0.0))
    props = [
        Prop(Box((0.0, 0.0, ground_m + 0.1), half), 5.0, friction=0.2, velocity_w=(5.0, 0.0, 0.0)),
        Prop(Box((0.0, 9.0, ground_m + 0.1), half), 5.0),
    ]
    blows = told(Pile(props, load_world("plain").terrain), ("metal", "wood"), 3.0)
    assert {blow.of for blow in blows} == {"metal"}
    slips = [float(np.hypot(*blow.slip_w[:2])) for blow in blows]
    assert all(blow.struck_mps == 0.0 for blow in blows)
    assert slips[0] == pytest.approx(5.0, abs=0.2)
    assert min(slips) < 1.8
    assert slips == sorted(slips, reverse=True)


def test_what_falls_into_water_is_told_and_what_floats_never() -> None:
    sea = load_world("sea")
    shapes = [Box((0.0, 0.0, 2.0), (0.3, 0.3, 0.3)), Box((3.0, 0.0, 0.0), (0.3, 0.3, 0.3))]
    props = [Prop(shape, 100.0) for shape in shapes]
    pile = Pile(props, sea.terrain, sleeps=False)
    water = FloatingBodies(sea, None, shapes)
    blows, forces = Blows(pile, ("wood", "wood")), np.zeros((2, 6))
    for k in range(round(3.0 / H)):
        forces[:] = 0.0
        water.wrenches(pile.state, pile.mass_kg, pile.inertia, k * H, H, forces)
        blows.dip(forces, k * H)
        pile.step(H, forces)
    assert {(blow.of, blow.on, round(blow.place_w[0], 3)) for blow in blows.kept} == {("wood", WATER, 0.0)}
    falls_mps = np.sqrt(2.0 * 9.81 * 1.7)
    assert blows.kept[0].struck_mps == pytest.approx(falls_mps, abs=2.0 * 9.81 * H)
    assert all(blow.struck_mps < 0.3 * falls_mps for blow in blows.kept[1:])  # it bobs out once


def _told_by_vehicle(scene: Scene, seconds: float, **sticks: float) -> tuple[Simulation, Mapping[int, Blow]]:
    """A simulation gone on for so long, and what its flown lane has told of, by number."""
    running = Simulation(scene, load_world(scene.world, seed=scene.seed))
    running.submit(SetPilotInput(PilotInput(**sticks)))
    found: dict[int, Blow] = {}
    for _ in range(round(seconds / 0.05)):
        found |= {blow.number: blow for blow in running.advance(0.05).lanes[0].blows}
    return running, found


def _falling() -> Scene:
    """A loose chain of three links that lies level, 4 m up."""
    scene = load_scene("drive")
    start = replace(scene.start, pad="", position_w=(3.0, 2.0, 4.0))
    chain = vehicle("chain", links=3, pinned=0)
    return replace(
        scene,
        vehicle=chain,
        world="plain",
        start=start,
        integrator="variational",
        goals=(),
        lanes=(),
        race=None,
    )


def test_links_that_fall_strike_the_ground_when_and_with_the_momentum_that_they_have() -> None:
    running, told = _told_by_vehicle(_falling(), 1.1)
    links = running.snapshot.lanes[0].links
    ground_m = float(load_world("plain").terrain.height(3.0, 2.0))
    way_m = 4.0 - ground_m - links[0].radius_m
    first = [blow for blow in told.values() if blow.time_s < 1.0]
    assert len(first) == 3
    assert {(blow.of, blow.on) for blow in first} == {("metal", GROUND)}
    fallen_s, fallen_mps = np.sqrt(2.0 * way_m / 9.81), np.sqrt(2.0 * way_m * 9.81)
    for blow in first:
        assert blow.time_s == pytest.approx(fallen_s, abs=0.021)
        assert blow.place_w[2] == pytest.approx(ground_m, abs=0.02)
    given_Ns = sum(blow.mass_kg * blow.struck_mps for blow in first)
    assert given_Ns == pytest.approx(0.9 * fallen_mps, rel=0.1)  # 6 % less: links rock on


def test_a_car_that_rolls_into_a_wall_tells_of_stone_and_of_what_the_wall_took() -> None:
    scene = load_scene("bowling")
    start = replace(scene.start, position_w=(24.0, -6.0, 0.0), velocity_b=(4.0, 0.0, 0.0))
    running, told = _told_by_vehicle(replace(scene, environment=None, start=start, goals=()), 2.0)
    blow = told[1]
    assert (blow.of, blow.on) == ("metal", "stone")
    assert blow.place_w[0] == pytest.approx(29.2, abs=0.02)
    car = running.snapshot.lanes[0]
    assert blow.mass_kg == pytest.approx(float(car.parameters["mass"]), rel=0.1)
    assert 2.0 < blow.struck_mps < 4.0


def test_the_past_tells_of_none_nor_does_a_start() -> None:
    running, told = _told_by_vehicle(_falling(), 1.1)
    assert told
    assert running.snapshot.lanes[0].blows
    running.submit(Scrub(0.95))
    assert running.advance(0.0).lanes[0].blows == ()
    running.submit(BackToNow())
    assert running.advance(0.0).lanes[0].blows
    running.submit(Reset())
    assert running.advance(0.05).lanes[0].blows == ()
