"""A load on an elastic rope: statics and small swings in closed form, momenta of both ends, ground, and scenes."""

import math
from dataclasses import replace

import numpy as np
import pytest

from sim.environment.coupling import BodyState
from sim.environment.slung_load import Rope, SlungLoad
from sim.scene import Scene, Start, load_scene
from sim.simulation import Simulation
from sim.vehicles import vehicle
from tests.sim.simulation_scenes import simulation, world

G = 9.81
HEAVY = np.diag([1e12] * 6)
ROPE = Rope(
    mass_kg=40.0,
    length_m=5.0,
    stiffness_npm=2000.0,
    damping_nspm=800.0,
    hook_b=(0.3, -0.1, -0.5),
    radius_m=0.3,
)


def hung(rope: Rope = ROPE, height_m: float = 200.0) -> tuple[SlungLoad, np.ndarray]:
    T_wb = np.eye(4)
    T_wb[2, 3] = height_m
    return rope.begun(vehicle("rigid-body"), T_wb, world("plain")), T_wb


def held(load: SlungLoad, T_wb: np.ndarray, seconds: float, dt: float = 0.01) -> np.ndarray:
    """(n, 3) places under something that nothing moves."""
    body = BodyState(T_wb, np.zeros(6), HEAVY)
    places = []
    for k in range(round(seconds / dt)):
        load.exchange(k * dt, dt, {"body": body})
        places.append(load.checkpoint()[:3])
    return np.array(places)


def test_it_hangs_by_its_weight_over_the_ropes_stiffness() -> None:
    load, T_wb = hung()
    hook = T_wb[:3, 3] + ROPE.hook_b
    places = held(load, T_wb, 20.0)
    np.testing.assert_allclose(places[-1], hook - [0, 0, 5.0 + 40.0 * G / 2000.0], atol=1e-9)


def test_small_swings_have_the_period_of_the_pendulum() -> None:
    """Measured 0.1 % off: the grid of exchanges is coarse."""
    load, T_wb = hung(replace(ROPE, stiffness_npm=1e7))
    begin = load.checkpoint()
    begin[0] += 0.05
    load.restore(begin)
    x = held(load, T_wb, 40.0)[:, 0] - ROPE.hook_b[0]
    up = np.flatnonzero((x[:-1] < 0) & (x[1:] >= 0))
    at = up - x[up] / (x[up + 1] - x[up])
    period = 0.01 * (at[-1] - at[0]) / (len(at) - 1)
    assert period == pytest.approx(2 * math.pi * math.sqrt(5.0 / G), rel=4e-3)


@pytest.mark.parametrize("stiffness", [1.0, 2e3, 1e9])
def test_the_rope_gives_both_ends_opposite_momenta(stiffness: float) -> None:
    """Linear and about the origin, but for the load's weight; whatever its stiffness, and both stay finite."""
    load, T_wb = hung(replace(ROPE, stiffness_npm=stiffness))
    rng = np.random.default_rng(3)
    inertia = np.diag([3.0, 5.0, 7.0, 20.0, 20.0, 20.0])
    for k in range(50):
        state = load.checkpoint()
        state[:3] = T_wb[:3, 3] + rng.normal(0.0, 5.0, 3)
        state[3:6] = rng.normal(0.0, 8.0, 3)
        load.restore(state)
        body = BodyState(T_wb, rng.normal(0.0, 3.0, 6), inertia)
        given = load.exchange(0.01 * k, 0.01, {"body": body})["body"]
        after = load.checkpoint()
        gained = ROPE.mass_kg * (after[3:6] - state[3:6] + [0.0, 0.0, G * 0.01])
        np.testing.assert_allclose(gained, -given[3:], rtol=0, atol=1e-9 * (1 + np.abs(given).max()))
        about = np.cross(state[:3] - T_wb[:3, 3], gained)
        np.testing.assert_allclose(about, -given[:3], rtol=0, atol=1e-8 * (1 + np.abs(given).max()))
        # A rope of no give takes up its stretch of some metres within the hundredth of a second.
        assert np.abs(body.twist_b + np.linalg.solve(inertia, given)).max() < 1e4


def test_a_slack_rope_pushes_nothing_and_the_load_falls_freely() -> None:
    load, T_wb = hung()
    state = load.checkpoint()
    state[:3] = T_wb[:3, 3] + [0.0, 0.0, -1.0]
    load.restore(state)
    given = load.exchange(0.0, 0.01, {"body": BodyState(T_wb, np.zeros(6), HEAVY)})["body"]
    assert not given.any()
    assert load.checkpoint()[5] == pytest.approx(-G * 0.01)


def test_on_the_ground_it_comes_to_rest_at_its_radius() -> None:
    load, T_wb = hung(height_m=3.0)
    state = load.checkpoint()
    state[3:6] = 3.0, 1.0, 2.0
    load.restore(state)
    places = held(load, T_wb, 4.0)
    ground_m = float(world("plain").terrain.height(*places[-1][:2]))
    assert places[-1][2] == pytest.approx(ground_m + ROPE.radius_m, abs=1e-12)
    np.testing.assert_array_equal(places[-1], places[-20])


def test_both_together_fall_as_one() -> None:
    """Vehicle and load without controls: their momentum is their weight times the time. Measured 4e-11 of 8400."""
    free = Scene(
        name="dropped",
        title="dropped",
        world="plain",
        vehicle="rigid-body",
        integrator="variational-exact",
        parameters={"rigid-body": {"mass": 60.0, "inertia": (9.0, 14.0, 20.0), "gravity": G}},
        flight_mode="raw",
        start=Start(position_w=(0.0, 0.0, 900.0), omega_b=(0.6, -0.4, 0.9), velocity_b=(5.0, 2.0, -1.0)),
        environment=ROPE,
    )
    running = Simulation(free, world("plain"))
    load = running._stage.flown.coupling
    assert load is not None

    def momentum() -> np.ndarray:
        return running.snapshot.lanes[0].momentum_w[3:] + ROPE.mass_kg * load.environment.checkpoint()[3:6]

    begin = momentum()
    running.advance(8.0)
    fallen = begin - [0.0, 0.0, (60.0 + ROPE.mass_kg) * G * 8.0]
    np.testing.assert_allclose(momentum(), fallen, rtol=0, atol=1e-8)
    assert np.linalg.norm(running.snapshot.lanes[0].twist_b[:3] - [0.6, -0.4, 0.9]) > 0.05, (
        "the rope does pull"
    )


def test_the_scene_with_a_sling_lifts_its_load() -> None:
    from sim.commands import PilotInput, SetPilotInput

    running = simulation(load_scene("sling"))
    begin = running.snapshot.environment
    running.submit(SetPilotInput(PilotInput(throttle=0.6)))
    end = running.advance(8.0).environment
    assert end.x_w[2] - begin.x_w[2] > 5.0  # type: ignore[attr-defined]
