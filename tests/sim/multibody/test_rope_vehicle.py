"""Laws of the rope that is hung: how it swings, what it keeps, how it lies."""

import math

import numpy as np
import pytest
from scipy.special import j0, j1, jn_zeros

import sim
from sim.commands import SetParameter
from sim.multibody.shapes import ROPE
from sim.scene import load_scene
from sim.simulation.lanes.snapshot import LaneStatus
from tests.sim.simulation_scenes import simulation

LENGTH, GRAVITY = 3.0, 9.81


def node_of(vehicle, angles):
    """A node at rest whose links lean by these angles from straight down, in the plane of x and z."""
    turns = np.diff(np.asarray(angles), prepend=0.0)
    q = {}
    for name, turn in zip(vehicle.tree.names, turns, strict=False):
        q[f"{name} qw"], q[f"{name} qy"] = math.cos(0.5 * turn), -math.sin(0.5 * turn)
    return vehicle.state(q)


def tips(run):
    return run.bodies["load"][:, 0, 3]


@pytest.mark.parametrize(("mode", "tolerance"), [(1, 1e-3), (2, 5e-4)])
def test_a_heavy_rope_swings_as_bessel_has_it(mode, tolerance):
    """Small swings of a hanging rope, Daniel Bernoulli's: omega = j / 2 sqrt(g / L), j the zeros of J0.

    Measured 3.0e-4 and 9.5e-5 with 40 links and a load of 1/2000 of the rope.
    """
    vehicle = sim.vehicle(
        "cosserat-rope", links=40, length=LENGTH, mass=20.0, bending=0.0, twist=0.0, damping=0.0, load=0.01
    )
    zero = jn_zeros(0, mode)[-1]
    omega = 0.5 * zero * math.sqrt(GRAVITY / LENGTH)
    below = LENGTH * (1.0 - (np.arange(40) + 0.5) / 40)  # from the lower end to each link's middle
    slope = j1(zero * np.sqrt(below / LENGTH)) * zero / (2.0 * np.sqrt(below * LENGTH))
    run = sim.simulate(
        vehicle, "riqn", step=1e-3, duration=1.3 * math.tau / omega, initial=node_of(vehicle, -0.002 * slope)
    )
    tip = tips(run)
    assert abs(tip[0]) == pytest.approx(0.002 * j0(0.0), rel=0.05)
    falls = np.flatnonzero(np.diff(np.sign(tip)) != 0)
    at = run.time[falls] + 1e-3 * tip[falls] / (tip[falls] - tip[falls + 1])
    assert math.pi / (at[1] - at[0]) == pytest.approx(omega, rel=tolerance)


def test_a_stiff_rope_keeps_its_energy_in_a_band_and_a_damped_one_loses_it():
    """Of 100 J that swing; measured 0.011 J and a loss of 0.154 J."""
    kept = sim.simulate(
        sim.vehicle("cosserat-rope", bending=0.3, damping=0.0), "riqn", step=1e-3, duration=3.0
    )
    lost = sim.simulate(
        sim.vehicle("cosserat-rope", bending=0.3, damping=0.004), "riqn", step=1e-3, duration=3.0
    )
    assert np.ptp(kept.energy) < 0.03
    assert lost.energy[-1] < kept.energy[-1] - 0.1


def test_the_scene_opens_and_a_rope_that_is_let_go_of_lies_on_the_ground():
    running = simulation(load_scene("rope"))
    held = running.advance(0.3).lanes[0]
    assert held.pivot_w is not None
    assert [link.finish for link in held.links].count(ROPE) == 30
    running.submit(SetParameter("held", 0.0))
    running.submit(SetParameter("links", 12.0))
    lane = running.advance(4.0).lanes[0]
    assert lane.status is LaneStatus.RUNNING
    assert lane.environment_wrench_b[5] == pytest.approx(4.5 * GRAVITY, rel=0.05)
    assert lane.height_above_ground_m > -2e-3
