"""Laws of a hull that runs aground: bed and shore hold it up, weight is shared with the water, and a take of it replays
to the bit."""

from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest

from sim.commands import KeepTake, PilotInput, SetPilotInput
from sim.contact.wrench import LOADS
from sim.environment.environment import TOLD, environment_of
from sim.recordings.playback import Playback
from sim.scene import Scene, Start, load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus
from sim.vehicle_config import config_named
from sim.vehicles import known_vehicle, vehicle
from sim.water.immersion import VOLUME, WATER_DENSITY
from sim.water.water import Afloat
from sim.water.wrench import CLOCK, INSIDE, REPORT
from sim.world import World, load_world

KG, G_MPS2 = 480.0, 9.81
SLOP_M = 2e-3
"""That points may sink in, and be slowly pushed out again."""


@pytest.fixture(scope="module")
def harbour() -> World:
    return load_world("harbour")


def towards_the_shore(x: float, speed_mps: float) -> Scene:
    """Calm air and water, bow to the beach in the west."""
    scene = load_scene("harbour")
    calm = {"waves": 0.0, "wind": (0.0, 0.0), "current": (0.0, 0.0), "gusts": 0.0}
    start = Start(position_w=(x, -12.0, -0.9), heading_rad=np.pi, velocity_b=(speed_mps, 0.0, 0.0))
    return replace(scene, start=start, vehicle=known_vehicle("motorboat", **calm), goals=())


def sailed(simulation: Simulation, seconds: float, thrust: float = 0.0) -> list[LaneSnapshot]:
    simulation.submit(SetPilotInput(PilotInput(pitch=thrust)))
    return [simulation.advance(0.05).lanes[0] for _ in range(round(seconds / 0.05))]


def over_ground_m(lane: LaneSnapshot, world: World) -> float:
    hull = config_named("motorboat").hull
    assert hull is not None
    assert hull.surface is not None
    x, y, z = (hull.surface.outermost @ lane.T_wb[:3, :3].T + lane.T_wb[:3, 3]).T
    return float((z - world.terrain.height(x, y)).min())


def test_a_hull_is_stopped_by_the_shore_and_not_sunk_in(harbour: World) -> None:
    """Driven at it by full thrust; measured: 0.7 mm in, at rest within 2 s, 0.6 m above where it floats."""
    simulation = Simulation(towards_the_shore(-34.0, 5.0), harbour)
    seen = sailed(simulation, 8.0, 0.6)
    assert min(over_ground_m(lane, harbour) for lane in seen) > -SLOP_M
    assert not seen[0].aground
    assert seen[-1].aground
    assert seen[-1].status is LaneStatus.RUNNING
    assert np.abs(seen[-1].twist_b).max() < 1e-3
    assert seen[-1].T_wb[2, 3] > -0.9 + 0.3


def test_ground_and_water_share_the_weight(harbour: World) -> None:
    """Half on the shore, rolling on her keel still by 1 degree: forces at the points and the weight of the water in the
    hull's place are m g. Measured: water and ground together within 0.4 %, the water's share 0.42."""
    simulation = Simulation(towards_the_shore(-39.5, 3.0), harbour)
    lane = sailed(simulation, 8.0)[-1]
    around = simulation.run.flown.footing.environment
    assert isinstance(around, Afloat)
    water = around.around
    assert water.ground is not None
    floated = WATER_DENSITY * G_MPS2 * water.report[INSIDE + VOLUME]
    borne = lane.environment_wrench_b[3:] @ lane.T_wb[:3, :3].T  # of water and ground, world
    np.testing.assert_allclose(borne, (0.0, 0.0, KG * G_MPS2), atol=0.01 * KG * G_MPS2)
    loads = water.ground.report[LOADS:-TOLD].reshape(-1, 3)[:, 0]  # normal to a shore that is nearly level
    assert 0.1 * KG * G_MPS2 < floated < 0.9 * KG * G_MPS2
    assert floated + loads.sum() == pytest.approx(KG * G_MPS2, rel=0.03)  # measured 0.987: the shore slopes


def test_one_that_touched_gently_backs_off(harbour: World) -> None:
    simulation = Simulation(towards_the_shore(-38.0, 1.5), harbour)
    assert any(lane.aground for lane in sailed(simulation, 8.0))
    off = sailed(simulation, 8.0, -1.0)[-1]
    assert not off.aground
    assert off.T_wb[0, 3] > -36.0


def test_shores_taken_at_speed_end_the_ride(harbour: World) -> None:
    """Dropped onto the beach from 3 m: 7 m/s, of the 5 that hulls bear."""
    scene = towards_the_shore(-60.0, 0.0)
    scene = replace(scene, start=replace(scene.start, position_w=(-60.0, -12.0, 3.5)))
    lane = sailed(Simulation(scene, harbour), 2.0)[-1]
    assert lane.status is LaneStatus.CRASHED
    assert "crashed at" in lane.status_text


def test_a_take_onto_the_shore_replays_to_the_bit(harbour: World) -> None:
    simulation = Simulation(towards_the_shore(-38.0, 3.0), harbour)
    assert sailed(simulation, 4.0, 0.5)[-1].aground
    reply: Future = Future()
    simulation.submit(KeepTake(reply))
    simulation.advance(0.0)
    segment = reply.result(timeout=10).segments[0]
    playback = Playback([segment], lambda: harbour)
    assert np.array_equal(playback.node(playback.moment(segment, segment.steps)), simulation.run.flown.node)


def test_water_that_knew_no_ground_is_remembered(harbour: World) -> None:
    """Takes that were kept before hulls met the ground."""
    boat = vehicle("motorboat")
    old = environment_of(boat, harbour).checkpoint()[:REPORT]
    old[CLOCK] = 3.0
    again = environment_of(boat, harbour)
    again.restore(old)
    np.testing.assert_array_equal(again.report[:REPORT], old)
    assert not again.report[REPORT:].any()
    assert not again.aground
