"""Numbers that no motion reaches end it, with the quantity named, in scripts and in lanes."""

from dataclasses import replace

import numpy as np
import pytest

import sim
from sim.commands import SetIntegrator
from sim.recordings import Take
from sim.scene import Comparison
from sim.simulation.lanes.snapshot import LaneStatus
from sim.steppers.dynamics import PLACE, SPEED_MPS, TURN_RADPS, Bounds
from tests.sim.simulation_scenes import simulation, spinning_scene


@pytest.mark.parametrize("method", ["rk2", "rk4", "lie-euler"])
@pytest.mark.parametrize("step, spin", [(0.5, 8.0), (0.1, 30.0)])
def test_a_blow_up_ends_long_before_its_numbers_overflow(method, step, spin):
    """Without bounds the last finite angular velocity is 1e170 to 1e206 rad/s, its energy infinite."""
    body = sim.vehicle("rigid-body")
    start = body.state(omega=(0.3 * spin, spin, 0.1 * spin))
    run = sim.simulate(body, method, step=step, duration=60.0, initial=start)
    assert run.diverged_at is not None
    assert run.diverged_because.startswith("angular velocity past ")
    last = round(run.diverged_at / step)
    assert np.abs(run.velocity[: last + 1]).max() <= TURN_RADPS
    assert np.isfinite(run.energy[: last + 1]).all()
    assert np.isnan(run.nodes[last + 1 :]).all()
    assert np.isnan(run.energy[last + 1 :]).all()
    assert Take.of_trajectory(run).ended.startswith("angular velocity past ")


def test_a_thrust_without_end_is_told_by_its_velocity():
    body = sim.vehicle("rigid-body", mass=1e-3)
    run = sim.simulate(body, "rk4", step=0.01, duration=5.0, controls=(0, 0, 0, 100.0, 0, 0))
    assert run.diverged_because == f"velocity past {SPEED_MPS:.6g} m/s"
    assert run.diverged_at == pytest.approx(1.0, abs=0.011)  # v = 1e5 t


def test_what_a_motion_begins_with_is_no_divergence():
    body = sim.vehicle("rigid-body", inertia=(1.0, 1.0, 1.0))
    start = body.state(omega=(0, 0, 3e5), v=(4e5, 0, 0))
    run = sim.simulate(body, "variational-split", step=0.01, duration=1.0, initial=start)
    assert run.diverged_at is None
    assert run.diverged_because == ""


def test_a_shape_that_runs_away_is_told():
    car = sim.vehicle("car")
    node = car.default_state().node
    bounds = Bounds.of(car, node, 0.01)
    fast = node.copy()
    fast[car.node_layout.shape_velocity] = (2e5, 0.0)
    assert bounds.first_beyond(car, np.stack([node, fast]), np.zeros(2)) == (
        1,
        "shape velocity past 100000 /s",
    )
    assert bounds.first_beyond(car, node[None], np.array([np.inf])) == (0, "energy not finite")
    assert bounds.hold(node, 0.0)
    assert not bounds.hold(fast, 0.0)
    assert not bounds.hold(node, np.inf)
    far = node.copy()
    far[car.node_layout.shape] = (2e9, 0.0)
    assert bounds.first_beyond(car, np.stack([node, far]), np.zeros(2)) == (
        1,
        "position or shape past 1e+09",
    )
    assert not bounds.hold(far, 0.0)
    lost = node.copy()
    lost[0] = np.nan
    assert not bounds.hold(lost, 0.0)
    assert bounds.first_beyond(car, lost[None], np.zeros(1)) == (0, "position or shape not finite")


def test_a_target_that_runs_away_ends_the_motion_of_what_follows_it():
    """Its drag by the step is beyond what the method is stable for; without bounds it is past 1e100 m, and runs on."""
    vehicle = sim.vehicle("quadrotors-with-load", target_drag=76.0)
    run = sim.simulate(vehicle, "rkmk4", step=0.05, duration=30.0, controls=(0.5, 0.0, 0.0))
    assert run.diverged_at is not None
    assert run.diverged_because.startswith("position or shape past ")
    last = round(run.diverged_at / 0.05)
    assert np.abs(run.nodes[: last + 1]).max() <= PLACE
    assert np.isnan(run.nodes[last + 1 :]).all()


@pytest.mark.parametrize("step", [0.25, 0.1])
def test_a_lane_stops_at_the_same_bounds_and_names_the_quantity(step):
    scene = replace(spinning_scene(step_s=step), comparison=Comparison(energy_bound_J=1e300))
    running = simulation(scene)
    running.submit(SetIntegrator("lie-euler"))
    lane = running.advance(60.0).lanes[0]
    assert lane.status is LaneStatus.DIVERGED
    assert "velocity past " in lane.status_text
    assert np.abs(lane.twist_b).max() <= TURN_RADPS
