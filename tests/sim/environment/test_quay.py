"""Laws of a hull against what reaches through the water: it is stopped and not leapt over, momentum and energy are only
taken, wood and concrete rub, and a take of it replays to the bit."""

import math
from concurrent.futures import Future
from dataclasses import replace

import numpy as np
import pytest

from sim.commands import KeepTake, PilotInput, SetPilotInput
from sim.contact.obstacles import obstacles_in, solids_afloat, solids_of
from sim.environment.environment import BodyState
from sim.groups.numeric import rotation_exp
from sim.recordings.playback import Playback
from sim.scene import Scene, Start, load_scene
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus
from sim.vehicle_config import config_named
from sim.vehicles import known_vehicle, vehicle
from sim.world import load_world

FACE_Y_M = 26.0 - 3.2
"""Of the mole, towards the open water."""


def before(place: tuple[float, float], heading: float, speed_mps: float = 0.0, **weather: object) -> Scene:
    """The harbour in calm air and water, under way from a place."""
    scene = load_scene("harbour")
    calm = {"waves": 0.0, "wind": (0.0, 0.0), "current": (0.0, 0.0), "gusts": 0.0, **weather}
    start = Start(position_w=(*place, -0.9), heading_rad=heading, velocity_b=(speed_mps, 0.0, 0.0))
    return replace(scene, start=start, vehicle=known_vehicle("motorboat", **calm), goals=())


def corners_w(lane: LaneSnapshot) -> np.ndarray:
    footprint = config_named("motorboat").footprint
    assert footprint is not None
    x, y, length, width = footprint.array
    local = np.array([(x + a * length, y + b * width) for a in (-1, 1) for b in (-1, 1)])
    return local @ lane.T_wb[:2, :2].T + lane.T_wb[:2, 3]


def sailed(simulation: Simulation, seconds: float, thrust: float = 0.0) -> list[LaneSnapshot]:
    simulation.submit(SetPilotInput(PilotInput(pitch=thrust)))
    return [simulation.advance(0.02).lanes[0] for _ in range(round(seconds / 0.02))]


def test_the_mole_is_in_the_way_of_boats_and_not_of_cars() -> None:
    world = load_world("harbour")
    mole = np.array([-5.0, 26.0, 57.0, 3.2, 0.0, 0.0])
    assert (solids_afloat(world).standing == mole).all(axis=1).any()
    assert not (solids_of(world).standing == mole).all(axis=1).any()
    assert (solids_afloat(world).standing[:, 5] > 0.0).sum() == 3
    assert not solids_afloat(load_world("plain"))


def test_a_hull_is_stopped_by_the_mole_and_may_leave_it() -> None:
    simulation = Simulation(before((4.0, 17.0), 1.9, 1.0), load_world("harbour"))
    seen = sailed(simulation, 6.0, 0.25)
    assert max(corners_w(lane)[:, 1].max() for lane in seen) < FACE_Y_M + 0.02
    assert seen[-1].status is LaneStatus.RUNNING
    assert corners_w(seen[-1])[:, 1].max() > FACE_Y_M - 0.05
    away = sailed(simulation, 4.0, -1.0)
    assert corners_w(away[-1])[:, 1].max() < FACE_Y_M - 1.0


def test_an_impulse_of_the_mole_takes_energy_from_a_hull_that_pitches_and_rolls() -> None:
    """M (xi' - xi) = J, so the energy changes by J (xi + xi') / 2."""
    boat, random, met = vehicle("motorboat"), np.random.default_rng(3), 0
    obstacles = obstacles_in(load_world("harbour"), boat)
    assert obstacles is not None
    obstacles.renew(boat, 0.0)
    values = boat.values
    inertia = np.diag(
        [
            *np.add(values["inertia"], values["added_inertia"]),
            *(values["mass"] + np.array(values["added_mass"])),
        ]
    )
    for _ in range(120):
        T_wb = np.eye(4)
        T_wb[:3, :3] = rotation_exp(np.array([0.0, 0.0, random.uniform(0.0, math.pi)])) @ rotation_exp(
            random.uniform(-0.2, 0.2, 3)
        )
        T_wb[:3, 3] = random.uniform(-20.0, 20.0), random.uniform(20.3, 20.9), random.uniform(-1.1, -0.7)
        twist_b = random.uniform(-1.0, 1.0, 6)
        given = obstacles.exchange(0.0, 0.05, {"body": BodyState(T_wb, twist_b, inertia)}).get("body")
        if given is None:
            continue
        met += 1
        after = twist_b + np.linalg.solve(inertia, given)
        before_J, after_J = 0.5 * twist_b @ inertia @ twist_b, 0.5 * after @ inertia @ after
        assert after_J < before_J + 1e-9
        assert (T_wb[:3, :3] @ given[3:])[1] < 0.0  # away from the mole
    assert met > 5


def test_a_buoy_turns_her_aside_and_is_not_sailed_through() -> None:
    simulation = Simulation(before((38.0, -8.7), 0.0, 2.0), load_world("harbour"))
    seen = sailed(simulation, 6.0, 0.3)
    off = min(np.linalg.norm(corners_w(lane) - (44.0, -8.0), axis=1).min() for lane in seen)
    assert off > 0.98 - 0.02
    assert max(abs(lane.twist_b[2]) for lane in seen) > 0.1


def test_what_is_met_too_fast_ends_the_ride() -> None:
    simulation = Simulation(before((4.0, 12.0), 0.5 * np.pi, 8.0), load_world("harbour"))
    lane = sailed(simulation, 3.0, 1.0)[-1]
    assert lane.status is LaneStatus.CRASHED
    assert "crashed at" in lane.status_text


@pytest.mark.parametrize("waves", [0.0, 6.0])
def test_a_take_along_the_mole_replays_to_the_bit(waves: float) -> None:
    world = load_world("harbour")
    simulation = Simulation(before((4.0, 19.0), 1.2, 1.5, waves=waves), world)
    sailed(simulation, 3.0, 0.4)
    reply: Future = Future()
    simulation.submit(KeepTake(reply))
    simulation.advance(0.0)
    take = reply.result(timeout=10)
    segment = take.segments[0]
    assert segment.impulse_log is not None
    assert len(segment.impulse_log.steps) > 0
    playback = Playback(take.segments, lambda: world)
    assert np.array_equal(playback.node(playback.moment(segment, segment.steps)), simulation.run.flown.node)
