"""Laws of the helicopter whose cable is a rod: what rotors give the whole, how it hangs, how it swings."""

import math

import numpy as np
import pytest

import sim

PLAIN = {
    "mass": 1100.0,
    "inertia": (560.0, 2300.0, 2000.0),
    "rotor_offset": 1.6,
    "tail_offset": 6.2,
    "links": 16,
}


def carrier(**values):
    return sim.vehicle("helicopter-with-rope", **{**PLAIN, **values})


def weight(vehicle):
    return 9.81 * float(vehicle.tree.arrays.mass.sum())


def test_a_lift_that_is_the_weight_of_all_holds_it_where_it_is():
    """Measured 1e-15 m after two seconds."""
    vehicle = carrier()
    run = sim.simulate(vehicle, "riqn", step=5e-3, duration=2.0, controls=[weight(vehicle), 0.0, 0.0, 0.0])
    assert np.abs(run.bodies["helicopter"][-1, :3, 3]).max() < 1e-7
    assert run.bodies["load"][-1, 2, 3] == pytest.approx(-12.8, abs=1e-7)


def test_momentum_gains_the_impulse_of_lift_weight_and_tail_alone():
    """The rotors' force turns with the body: without gravity its momentum is the sum of R f h. Measured 4e-15."""
    vehicle = carrier(gravity=0.0, damping=0.0)
    u = np.array([9000.0, 40.0, 0.05, -0.03])
    h = 5e-3
    run = sim.simulate(vehicle, "riqn", step=h, duration=1.0, controls=u)
    lift, tail, pitch, roll = u
    side, forward = math.sin(roll) * lift, math.sin(pitch) * math.cos(roll) * lift
    force = np.array([forward, -side - tail, math.cos(pitch) * math.cos(roll) * lift])
    pushes = run.bodies["helicopter"][:, :3, :3] @ force
    impulse = h * (0.5 * pushes[:-1] + 0.5 * pushes[1:]).sum(axis=0)
    np.testing.assert_allclose(run.momentum[-1, 3:], impulse, rtol=1e-12, atol=1e-9)


def test_its_load_swings_as_two_masses_on_a_light_cable_do():
    """Of a load under a carrier that gives way and whose hook is at its middle: w^2 = g/L (1 + m/M)."""
    vehicle = carrier(rope_mass=0.1, hook=(0.0, 0.0, 0.0), bending=0.0, twist=0.0, damping=0.0, links=8)
    lean = 0.02
    start = vehicle.state({"rope 1 qw": math.cos(0.5 * lean), "rope 1 qy": math.sin(0.5 * lean)})
    omega = math.sqrt(9.81 / 12.0 * (1.0 + 300.0 / 1100.0))
    run = sim.simulate(
        vehicle,
        "riqn",
        step=5e-3,
        duration=1.3 * math.tau / omega,
        initial=start,
        controls=[weight(vehicle), 0.0, 0.0, 0.0],
    )
    way = run.bodies["load"][:, 0, 3] - run.bodies["helicopter"][:, 0, 3]
    crossed = np.flatnonzero(np.diff(np.sign(way)) != 0)
    at = run.time[crossed] + 5e-3 * way[crossed] / (way[crossed] - way[crossed + 1])
    assert math.pi / (at[1] - at[0]) == pytest.approx(omega, rel=0.01)
