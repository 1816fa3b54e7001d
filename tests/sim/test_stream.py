"""Laws of the river's current: no water is lost, none goes through a bank, narrows are faster, boats go along."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from sim.groups.numeric import pose_matrix
from sim.integrators import integrator
from sim.recordings import Take
from sim.scene import Start, load_scene
from sim.simulation import Simulation
from sim.steppers.dynamics import stepper_of
from sim.vehicles import known_vehicle
from sim.water.water import Afloat, water_about
from sim.world import World, load_world
from sim.world.path import MEAN_MPS, Stream

STATIONS_M = np.linspace(20.0, 1500.0, 75)


@pytest.fixture(scope="module")
def canyon() -> World:
    return load_world("canyon", seed=7)


def section(world: World, x: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Across the river at right angles to its centre line: places (n, 2), depths (n,), unit tangent (2,)."""
    river = world.river
    assert river is not None
    slope = float(river.slope(x))
    tangent = np.array([1.0, slope]) / math.hypot(1.0, slope)
    off = np.linspace(-30.0, 30.0, 601)
    places = np.array([x, float(river.centre(x))]) + off[:, None] * [-tangent[1], tangent[0]]
    depth = np.maximum(river.level_m - world.terrain.height(*places.T), 0.0)
    middle = len(off) // 2
    dry = np.flatnonzero(depth <= 0.0)
    low, high = dry[dry < middle].max(initial=0), dry[dry > middle].min(initial=len(off) - 1)
    depth[: low + 1] = 0.0
    depth[high:] = 0.0
    return places, depth, tangent


def test_the_discharge_is_the_same_everywhere(canyon: World) -> None:
    flows = []
    for x in STATIONS_M:
        places, depth, tangent = section(canyon, x)
        velocity = np.array([canyon.stream.at(*place) for place in places])
        flows.append(np.sum(depth * (velocity @ tangent)) * 0.1)
    assert np.std(flows) < 0.03 * np.mean(flows)  # measured 0.014


def test_narrows_are_faster(canyon: World) -> None:
    areas, middle = [], []
    for x in STATIONS_M:
        _, depth, tangent = section(canyon, x)
        areas.append(depth.sum() * 0.1)
        river = canyon.river
        assert river is not None
        middle.append(float(canyon.stream.at(x, float(river.centre(x))) @ tangent))
    assert np.corrcoef(areas, middle)[0, 1] < -0.9  # measured -0.97
    assert min(middle) > 0.3 * MEAN_MPS


def test_it_follows_the_bed_and_rests_at_the_banks_and_beyond(canyon: World) -> None:
    for x in STATIONS_M:
        places, depth, tangent = section(canyon, x)
        velocity = np.array([canyon.stream.at(*place) for place in places])
        speed = np.linalg.norm(velocity, axis=1)
        deep = depth > 0.5 * depth.max()
        along = velocity[deep] @ tangent / speed[deep]
        assert along.min() > math.cos(0.3)  # measured 0.2 rad
        assert speed[depth < 0.05].max() < 0.5 * speed.max()  # measured 0.44: the bed is known by the metre
    river = canyon.river
    assert river is not None
    assert (canyon.stream.at(400.0, float(river.centre(400.0)) + 60.0) == 0.0).all()
    assert (load_world("harbour").stream.at(3.0, 4.0) == 0.0).all()
    assert (Stream.still().at(0.0, 0.0) == 0.0).all()


def test_what_floats_on_the_river_is_carried_down_its_bed(canyon: World) -> None:
    river = canyon.river
    assert river is not None
    x, heading = 300.0, math.atan(float(river.slope(300.0)))
    scene = load_scene("harbour")
    calm = {"waves": 0.0, "wind": (0.0, 0.0), "current": (0.0, 0.0), "gusts": 0.0}
    start = Start(position_w=(x, float(river.centre(x)), river.level_m), heading_rad=heading)
    scene = replace(scene, start=start, vehicle=known_vehicle("motorboat", **calm), goals=())
    running = Simulation(scene, canyon)
    places = [running.advance(1.0).lanes[0].T_wb[:2, 3].copy() for _ in range(90)]
    off = [abs(y - float(river.centre(x))) / math.hypot(1.0, float(river.slope(x))) for x, y in places]
    assert places[-1][0] > x + 35.0
    assert max(off) < 7.0
    # Let go from rest she has the speed of the water after a while, and next to none through it: measured 0.02.
    made = np.linalg.norm(places[-1] - places[-11]) / 10.0
    assert made == pytest.approx(np.linalg.norm(canyon.stream.at(*places[-6])), rel=0.15)
    lane = running.snapshot.lanes[0]
    assert np.linalg.norm(lane.twist_b[3:5]) > 0.5
    assert abs(lane.observables["speed_through_water"]) < 0.1
    assert abs(lane.observables["leeway"]) < 0.1
    own = running.run.flown
    take = Take(name="test", segments=own.recorder.segments(own.time_s), world="canyon", seed=7)
    samples = take.playback(lambda: canyon).samples()
    for name in ("speed_through_water", "leeway"):
        assert samples.observed.observables[name][-1] == lane.observables[name]


def test_speed_through_water_is_the_same_in_all_frames_that_drift_with_it() -> None:
    """A hull's motion beside uniform water, told in still water and in a stream with the stream added to it."""
    boat = known_vehicle("motorboat", current=(0.3, -0.2))
    stream = Stream(np.tile([0.8, -0.5], (3, 3, 1)), np.array([-100.0, -100.0, 100.0]))
    still, river = (Afloat(boat, water_about(boat, stream=at)) for at in (Stream.still(), stream))
    kernel, rng = stepper_of(boat, integrator("variational"), still.inline), np.random.default_rng(3)
    for beside_w in ((0.0, 0.0, 0.0), (1.5, -2.0, 0.4)):
        R = Rotation.random(random_state=rng).as_matrix()
        T_wb = pose_matrix(R, np.array([12.0, -31.0, 0.2]))
        seen = []
        for around, carried_w in ((still, (0.3, -0.2, 0.0)), (river, (1.1, -0.7, 0.0))):
            twist_b = np.concatenate([[0.1, 0.2, -0.3], R.T @ np.add(beside_w, carried_w)])
            node = boat.state_in_space(T_wb, twist_b).node
            row = kernel.observe(node, boat.neutral_controls, boat.parameter_vector).row
            told = around.told(kernel.layout, row)
            seen.append([kernel.layout.value(name, told) for name in ("speed_through_water", "leeway")])
        np.testing.assert_allclose(seen, np.tile((R.T @ beside_w)[:2], (2, 1)), atol=1e-12)
