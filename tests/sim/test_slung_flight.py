"""Laws of flying with a slung load: its swing is taken out, ground strikes it, what is recorded comes again."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import sim
from sim.commands import PilotInput, Pull, SetParameter, SetPilotInput
from sim.control import flight as swing
from sim.recordings.take import LaneStatus
from sim.scene import Start, load_scene
from sim.scene.conditions import Height
from sim.simulation import Simulation
from sim.simulation.runs.judge import Judge
from sim.vehicles.forms.impulses import struck
from sim.world import load_world
from tests.sim.simulation_scenes import fly, simulation
from tests.sim.test_slung_load_vehicle import generic_state, slung

DELIVERY = load_scene("delivery")
SIZE = DELIVERY.vehicle.changed
SCENE = replace(DELIVERY, world="plain", start=Start(position_w=(0.0, 0.0, 30.0)), goals=())


def swing_deg(lane):
    return float(np.degrees(lane.observables["swing"]))


def lowest_m(lane):
    return float(lane.bodies["load"][2, 3])


def test_an_impulse_adds_what_it_is_to_the_momenta_of_all_parts_together():
    """On carrier, load and the cable's upper links at once, generic state."""
    vehicle = slung(3)
    node, q = ca.SX.sym("node", vehicle.space.size), vehicle.symbols(ca.SX(vehicle.parameter_vector))
    bodies = vehicle.bodies(node, q)
    ends = ca.horzcat(*[bodies[name][:3, 3] for name in ("cable_3", "cable_1", "cable_2")])
    found = ca.Function("f", [node], [vehicle.spatial_momentum(node, q), ends])
    rng = np.random.default_rng(11)
    state, given = generic_state(vehicle, rng).node, rng.normal(size=15)
    after = struck(vehicle, state, given)
    change, at_w = np.array(found(after)[0] - found(state)[0]).ravel(), np.array(found(state)[1]).T
    R, x, forces = state[:9].reshape(3, 3).T, state[9:12], given[6:].reshape(3, 3)
    force = R @ given[3:6]
    torque = R @ given[:3] + np.cross(x, force) + np.cross(at_w, forces).sum(axis=0)
    np.testing.assert_allclose(change, [*torque, *(force + forces.sum(axis=0))], atol=1e-11)  # measured 3e-14
    q_w = after[18:].reshape(3, 6)
    np.testing.assert_allclose(np.sum(q_w[:, :3] * q_w[:, 3:], axis=1), 0.0, atol=1e-12)


def test_hands_off_the_swing_dies_and_without_the_damping_it_does_not(monkeypatch):
    """After two seconds of full roll; 9 s later 1.5 degrees are left, without the damping 15."""
    left = {}
    for damping in (swing.DAMPING, 0.0):
        monkeypatch.setattr(swing, "DAMPING", damping)
        running = simulation(SCENE)
        fly(running, 2.0, roll=1.0)
        assert swing_deg(fly(running, 0.5)) > 5.0
        fly(running, 9.0)
        left[damping] = max(swing_deg(fly(running, 0.5)) for _ in range(6))
    assert left[0.35] < 2.0
    assert left[0.0] > 2.0 * left[0.35]


def test_the_load_comes_to_rest_on_the_ground_and_is_lifted_again():
    """Its underside within 5 mm of the ground for as long as it lies there."""
    running = simulation(replace(SCENE, start=Start(position_w=(0.0, 0.0, 18.0))))
    radius = sim.vehicle("helicopter-with-load", **SIZE).load_radius_m
    fly(running, 9.0, throttle=-1.0)
    places = []
    for _ in range(6):
        lane = fly(running, 0.5, throttle=-1.0)
        places.append(lane.bodies["load"][:3, 3])
        assert lane.status is LaneStatus.RUNNING
        assert lane.height_above_ground_m > 8.0
    heights = np.array(places)[:, 2] - radius
    assert np.abs(heights).max() < 5e-3
    assert np.ptp(np.array(places)[:, :2], axis=0).max() < 0.05
    assert lowest_m(fly(running, 3.0, throttle=1.0)) > 2.0


def test_a_helicopter_that_comes_down_on_its_rotor_or_too_hard_is_wrecked():
    """Without lift: the load lies on the ground first, the cable's links fold up, and it falls down beside it."""
    running = simulation(replace(SCENE, flight_mode="raw", start=Start(position_w=(0.0, 0.0, 16.0))))
    lane = fly(running, 4.0, throttle=-0.9, roll=1.0)
    assert lane.status is LaneStatus.CRASHED
    assert "crashed at" in lane.status_text


def test_a_cable_that_is_let_down_straight_onto_the_ground_does_not_prop_the_helicopter_up():
    """No wind, no stick but half the lift: its links fold, and it falls as if it had none."""
    calm = SCENE.vehicle.with_parameters(wind=(0.0, 0.0, 0.0))
    start = Start(position_w=(0.0, 0.0, 14.0))
    running = simulation(replace(SCENE, flight_mode="raw", vehicle=calm, start=start))
    fly(running, 1.5, throttle=-0.5)
    fell = [fly(running, 0.25, throttle=-0.5) for _ in range(4)]
    assert max(lane.observables["hook_pull"] for lane in fell) < 100.0  # 34 N of 10,791
    speeds = [lane.twist_b[5] for lane in fell]
    lift = fell[0].controls[0]
    assert np.ptp(np.diff(speeds)) < 0.1
    assert np.diff(speeds)[0] / 0.25 == pytest.approx(lift / SIZE["mass"] - 9.81, rel=0.05)
    assert max(lane.observables["slack"] for lane in fell) > 0.0


@pytest.mark.parametrize(
    ("name", "value"),
    [("links", 9.0), ("links", 0.0), ("links", 2.5), ("cable_length", 0.0), ("load_mass", -1.0)],
)
def test_what_cannot_hang_changes_nothing_of_what_hangs(name, value):
    running, other = simulation(SCENE), simulation(SCENE)
    running.submit(SetParameter(name, value))
    shown = running.advance(0.4)
    assert f"{name} = " in shown.message
    assert "\n" not in shown.message
    assert running.run.vehicle.values == other.run.vehicle.values
    for body, T in other.advance(0.4).lanes[0].bodies.items():
        np.testing.assert_array_equal(shown.lanes[0].bodies[body], T)


@pytest.mark.parametrize("body", ["body", "load", "cable_1"])
def test_a_hand_pulls_the_helicopter_its_load_and_its_cable(body):
    running = simulation(SCENE)
    before = fly(running, 0.1)
    running.submit(Pull(before.name, body, (0.0, 0.0, 0.0), (0.0, 9.0, 30.0)))
    lane = fly(running, 0.5)
    assert lane.pull is not None
    assert lane.bodies[body][1, 3] - before.bodies[body][1, 3] > 0.5


class Carrier:
    """Knows the due goal, where its marker is, and the instruments: in position hold, a stick is a velocity."""

    def sticks(self, progress, lane):
        goal, R = progress.due, lane.T_wb[:3, :3]
        if progress.marker_w is None:
            return PilotInput(throttle=1.0)
        off = progress.marker_w[:2] - lane.T_wb[:2, 3]
        ahead = R[:2, 0] / np.hypot(*R[:2, 0])
        off_right = off @ [ahead[1], -ahead[0]]
        near = np.hypot(*off) < 3.0
        down = goal.find(Height) is not None and near and swing_deg(lane) < 5.0
        return PilotInput(
            pitch=0.0 if near else float(np.clip(0.012 * off @ ahead, -0.5, 0.5)),
            roll=0.0 if near else float(np.clip(0.02 * off_right, -0.5, 0.5)),
            throttle=-1.0 if down else 0.0,
        )


def test_whoever_follows_the_goals_puts_the_load_on_the_pad():
    """From 45 m before the far pad, in the scene's wind; graded by distance, touch and swing."""
    world = load_world("canyon", seed=7)
    pad = world.pad("landing").centre_w
    start = Start(position_w=(pad[0] - 45.0, pad[1] - 8.0, pad[2] + 28.0))
    scene = replace(DELIVERY, start=start, flight_mode="hold")
    running, pilot = Simulation(scene, world), Carrier()
    judge = Judge(scene.goals, scene.vehicle, world)
    progress = judge.observe(running.snapshot)
    while progress.due is not None and running.snapshot.clock_s < 120.0:
        running.submit(SetPilotInput(pilot.sticks(progress, running.snapshot.lanes[0])))
        progress = judge.observe(running.advance(0.1))
        assert running.snapshot.lanes[0].status is LaneStatus.RUNNING, running.snapshot.lanes[0].status_text
    assert progress.due is None
    assert progress.graded.grade in ("butter", "good", "fair")
    assert 0.01 < progress.graded.put_mps < 1.2
    assert running.snapshot.lanes[0].status is LaneStatus.RUNNING
