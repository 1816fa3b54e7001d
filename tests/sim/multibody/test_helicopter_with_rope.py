"""Laws of the helicopter whose cable is a rod: what rotors give the whole, how it hangs, how it swings."""

import math
from dataclasses import replace

import numpy as np
import pytest

import sim
from sim.commands import SetDemo
from sim.control import flight as swing
from sim.integrators import integrator
from sim.multibody.kinematics import move
from sim.scene import Start, load_scene
from sim.steppers.dynamics import tree_stepper
from tests.sim.simulation_scenes import fly, simulation

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


@pytest.mark.parametrize("method", ["riqn", "newton", "rk4"])
def test_with_next_to_nothing_under_it_it_turns_as_the_plain_helicopter_with_that_rotor(method):
    """A tilted disc, a tail force, a rotor whose momentum turns its way by 0.14 rad. Measured 2e-5."""
    own = {name: PLAIN[name] for name in ("mass", "inertia", "rotor_offset", "tail_offset")}
    u, turned = [9000.0, 300.0, 0.08, -0.06], {}
    for rotor in (0.0, 6000.0):
        plain = sim.vehicle("helicopter", rotor_momentum=rotor, **own)
        light = {
            "links": 4,
            "rope_mass": 0.05,
            "load_mass": 0.1,
            "bending": 0.0,
            "twist": 0.0,
            "damping": 0.0,
        }
        roped = carrier(rotor_momentum=rotor, **light)
        expected = sim.simulate(plain, "variational-exact", step=5e-3, duration=0.6, controls=u)
        found = sim.simulate(roped, method, step=5e-3, duration=0.6, controls=u)
        turned[rotor] = found.bodies["helicopter"][-1, :3, :3]
        (poses,) = expected.bodies.values()
        np.testing.assert_allclose(turned[rotor], poses[-1, :3, :3], atol=1e-4)
    assert np.abs(turned[0.0] - turned[6000.0]).max() > 0.1


def test_its_angular_momentum_with_the_rotors_is_kept():
    """Tumbling with its rope, no weight, no lift. Measured 7e-11 of 6000."""
    vehicle = carrier(rotor_momentum=6000.0, gravity=0.0, damping=0.0, links=4)
    start = vehicle.state(v={"helicopter wx": 0.4, "helicopter wy": 0.3, "helicopter vz": 1.0})
    run = sim.simulate(vehicle, "riqn", step=5e-3, duration=3.0, initial=start, controls=np.zeros(4))
    assert np.abs(run.bodies["helicopter"][-1, :3, :3] - np.eye(3)).max() > 0.2
    assert np.abs(run.momentum[0, :3]).max() > 5000.0
    np.testing.assert_allclose(run.momentum, np.broadcast_to(run.momentum[0], run.momentum.shape), atol=1e-7)


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


AIRY = {"drag": 6.0, "load_drag": 2.0, "wind": (9.0, -4.0, 1.0)}


def drag_w(run, name, drag):
    """(nodes, 3) force of the air in the world, by places that were recorded: outer nodes left out."""
    x, h = run.bodies[name][:, :3, 3], run.time[1] - run.time[0]
    v = (x[2:] - x[:-2]) / (2.0 * h) - np.array(AIRY["wind"])
    return -drag * np.linalg.norm(v, axis=1, keepdims=True) * v


@pytest.mark.parametrize("method", ["riqn", "rk4"])
def test_the_air_takes_from_the_momentum_what_its_force_on_fuselage_and_load_is(method):
    """A swinging load, a body that leans, a wind across: the error falls with the step's square. Measured 3.3e-4 N s of
    780 at 2 ms, by Runge-Kutta 1.6e-5, which is the trapezoids'."""
    vehicle = carrier(links=4, rope_mass=20.0, bending=0.0, twist=0.0, damping=0.0, gravity=0.0, **AIRY)
    start = vehicle.state({"rope 1 qw": math.cos(0.4), "rope 1 qx": math.sin(0.4)}, {"helicopter vx": 20.0})
    errors = []
    for h in (8e-3, 4e-3, 2e-3):
        run = sim.simulate(vehicle, method, step=h, duration=0.8, initial=start, controls=np.zeros(4))
        force = drag_w(run, "helicopter", AIRY["drag"]) + drag_w(run, "load", AIRY["load_drag"])
        impulse = h * (force.sum(axis=0) - 0.5 * (force[0] + force[-1]))
        gained = run.momentum[-2, 3:] - run.momentum[1, 3:]
        assert np.abs(gained).max() > 300.0
        errors.append(np.abs(gained - impulse).max())
    assert errors[-1] < 1e-3
    np.testing.assert_allclose(np.array(errors[:-1]) / errors[1:], 4.0, rtol=0.15)


def test_the_way_to_the_load_changes_at_the_rate_that_is_told():
    """By differences, generic state."""
    vehicle, rng = carrier(links=4), np.random.default_rng(5)
    node = vehicle.state(v=0.3 * rng.normal(size=vehicle.tree.nv)).node
    node[: vehicle.tree.nq] += 0.1 * rng.normal(size=vehicle.tree.nq)
    for at in vehicle.quaternions:
        node[at] /= np.linalg.norm(node[at])
    nq, eps = vehicle.tree.nq, 1e-6
    ends = []
    for sign in (-1.0, 1.0):
        moved = node.copy()
        q = moved[:nq].copy()
        move(vehicle.tree.arrays, q, sign * eps * node[nq:])
        moved[:nq] = q
        ends.append(vehicle.load_off_hook(moved)[0])
    np.testing.assert_allclose(vehicle.load_off_hook(node)[1], (ends[1] - ends[0]) / (2 * eps), atol=1e-7)


def test_hands_off_the_swing_of_the_rope_dies_and_without_the_damping_it_does_not(monkeypatch):
    """After two seconds of full roll; 9 s later 1.4 degrees are left, without the damping 14."""
    left = {}
    scene = replace(load_scene("longline"), world="plain", start=Start(position_w=(0.0, 0.0, 60.0)), goals=())
    for damping in (swing.DAMPING, 0.0):
        monkeypatch.setattr(swing, "DAMPING", damping)
        running = simulation(scene)
        fly(running, 2.0, roll=1.0)
        fly(running, 9.0)
        vehicle = scene.vehicle
        leans = []
        for _ in range(6):
            lane = fly(running, 0.5)
            hook = lane.bodies["helicopter"] @ np.r_[np.asarray(vehicle.values["hook"], float), 1.0]
            way = lane.bodies["load"][:3, 3] - hook[:3]
            leans.append(math.degrees(math.atan2(math.hypot(way[0], way[1]), -way[2])))
        left[damping] = max(leans)
    assert left[0.35] < 2.0
    assert left[0.0] > 2.0 * left[0.35]


def test_the_swing_that_is_told_is_that_of_the_line_from_hook_to_load():
    vehicle, rng = carrier(links=4), np.random.default_rng(7)
    node = vehicle.state(v=0.1 * rng.normal(size=vehicle.tree.nv)).node
    move(vehicle.tree.arrays, node[: vehicle.tree.nq], 0.3 * rng.normal(size=vehicle.tree.nv))
    way, _ = vehicle.load_off_hook(node)
    seen = tree_stepper(vehicle, integrator("riqn")).observe(node, np.zeros(4), vehicle.parameter_vector)
    lean = math.acos(-way[2] / np.linalg.norm(way))
    assert lean > 0.1
    assert seen.observables["swing"] == pytest.approx(lean, abs=1e-12)


def test_in_hold_it_stays_where_it_stops_and_the_autopilot_hovers_with_the_load_off_the_ground():
    """In wind; measured 0.16 m and 0.1 degrees off, then the load at 4.2 m and 0.1 degrees."""
    start = Start(position_w=(0.0, 0.0, 20.0))
    scene = replace(load_scene("longline"), world="plain", start=start, goals=(), flight_mode="hold")
    running = simulation(scene)
    lane = fly(running, 10.0)
    assert np.abs(lane.bodies["helicopter"][:3, 3] - start.position_w).max() < 0.5
    assert math.degrees(lane.observables["swing"]) < 1.0
    running.submit(SetDemo(True))
    lane = running.advance(6.0).lanes[0]
    assert lane.bodies["load"][2, 3] == pytest.approx(4.3, abs=0.7)
    assert math.degrees(lane.observables["swing"]) < 4.0
