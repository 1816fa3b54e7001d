"""Joints put by hand stay there, loops stay closed, held controls act, and a push is the momentum that it is."""

from dataclasses import replace

import numpy as np
import pytest

from sim.commands import HoldControl, Push, Reset, SetCoordinates, SetParameter, SetPaused
from sim.multibody.loops import Closure
from sim.scene import Scene, Start
from sim.simulation import Simulation
from sim.vehicle_config.mechanism import mechanism_of
from sim.vehicles import known_vehicle
from sim.vehicles.forms.coordinates import coordinates_of, first_coordinates, posed, read_coordinates
from sim.world import load_world


def _running(vehicle: str, integrator: str, start: Start | None = None) -> Simulation:
    scene = Scene("posing", "Posing", vehicle=known_vehicle(vehicle), integrator=integrator)
    scene = replace(scene, step_s=0.002, world="plain", flight_mode="raw", start=start or Start())
    return Simulation(scene, load_world("plain"))


@pytest.mark.parametrize("name", ["six-axis-arm", "chain", "ragdoll", "cosserat-rope", "car", "snakeboard"])
def test_coordinates_that_are_set_are_read_back_and_the_others_stay(name: str) -> None:
    vehicle = known_vehicle(name)
    node, rng = vehicle.default_state().node, np.random.default_rng(3)
    before = read_coordinates(vehicle, node)
    wanted = {}
    for c in coordinates_of(vehicle)[::3]:
        value = before[c.name] + rng.uniform(-0.3, 0.3)
        wanted[c.name] = float(np.clip(value, c.low, c.high))
    after = read_coordinates(vehicle, posed(vehicle, node, wanted))
    for c in coordinates_of(vehicle):
        assert after[c.name] == pytest.approx(wanted.get(c.name, before[c.name]), abs=1e-12)
    assert before == dict(first_coordinates(vehicle))


@pytest.mark.parametrize(
    ("name", "joint", "to"), [("four-bar-linkage", "crank", 1.9), ("delta-robot", "arm 2", 0.1)]
)
def test_loops_are_closed_by_the_other_joints(name: str, joint: str, to: float) -> None:
    vehicle = known_vehicle(name)
    node = posed(vehicle, vehicle.default_state().node, {joint: to})
    assert read_coordinates(vehicle, node)[joint] == pytest.approx(to, abs=1e-12)
    closure = Closure(vehicle.tree, vehicle.loops_with(vehicle.parameter_vector))
    assert np.abs(closure.gaps(node[: vehicle.tree.nq])).max() < 1e-9
    assert not node[vehicle.tree.nq :].any()


def test_what_cannot_be_set_is_refused_in_one_line_and_changes_nothing() -> None:
    running = _running("six-axis-arm", "riqn")
    before = running.advance(0.0).lanes[0].node
    c = coordinates_of(running.run.vehicle)[1]
    for values, said in (
        ((("tail", 0.1),), "no coordinate 'tail'"),
        (((c.name, c.high + 1.0),), f"allowed: {c.low:g} to {c.high:g} rad"),
        (((c.name, float("nan")),), "is refused"),
    ):
        running.submit(SetCoordinates(values))
        told = running.advance(0.0)
        assert said in told.message
        assert "\n" not in told.message
        np.testing.assert_array_equal(told.lanes[0].node, before)


def test_a_posed_arm_goes_on_from_its_pose_and_the_flight_replays_to_the_bit() -> None:
    running = _running("six-axis-arm", "riqn")
    running.advance(0.4)
    running.submit(SetPaused(True))
    running.submit(SetCoordinates((("elbow", 0.9), ("turn", -0.4)), "reaching"))
    assert running.advance(0.0).message == 'pose "reaching"'
    running.submit(SetCoordinates((("elbow", 0.9), ("turn", -0.4))))
    posed_there = running.advance(0.0).lanes[0]
    vehicle = running.run.vehicle
    there = read_coordinates(vehicle, posed_there.node)
    assert (there["elbow"], there["turn"]) == pytest.approx((0.9, -0.4), abs=1e-12)
    running.submit(SetPaused(False))
    flown = running.advance(0.7).lanes[0].node
    take = running.takes()[-1]
    replayed = take.playback(lambda: load_world("plain"))
    np.testing.assert_array_equal(replayed.node(replayed.at(take.end_s)), flown)


@pytest.mark.parametrize("run_s", [0.0, 0.1])
def test_what_is_posed_while_time_stands_is_seen_there(run_s: float) -> None:
    running = _running("six-axis-arm", "riqn")
    running.submit(SetPaused(True))
    if run_s:
        running.submit(SetPaused(False))
        running.advance(run_s)
        running.submit(SetPaused(True))
    before = running.advance(0.0).lanes[0].bodies["gripper"].copy()
    for turn in (0.4, 0.9):
        running.submit(SetCoordinates((("turn", turn), ("elbow", 0.9))))
        seen = running.advance(0.0).lanes[0]
        there = running.run.flown.poses_w
        for bodies in (seen.bodies, seen.bodies_previous):
            np.testing.assert_array_equal(np.array([*bodies.values()]), there)
    assert np.linalg.norm(seen.bodies["gripper"][:3, 3] - before[:3, 3]) > 0.1


def test_a_held_control_acts_whoever_flies_and_starts_over_with_it() -> None:
    running = _running("six-axis-arm", "riqn")
    name = running.run.vehicle.controls[1].name
    running.submit(HoldControl(name, 7.5))
    assert running.advance(0.0).message == f"{name} is held at 7.5 N m"
    for _ in range(2):
        lane = running.advance(0.05).lanes[0]
        assert (lane.controls[1], dict(lane.held)) == (7.5, {name: 7.5})
        running.submit(Reset())
    running.submit(HoldControl(name, None))
    lane = running.advance(0.05).lanes[0]
    assert (lane.controls[1], dict(lane.held)) == (0.0, {})
    running.submit(HoldControl(name, 1e9))
    assert "is refused; allowed:" in running.advance(0.0).message
    running.submit(HoldControl("rudder", 0.0))
    assert "has no control 'rudder'" in running.advance(0.0).message


@pytest.mark.parametrize(("vehicle", "integrator"), [("rigid-body", "variational"), ("ragdoll", "riqn")])
def test_a_push_is_the_momentum_that_it_is(vehicle: str, integrator: str) -> None:
    """Against no push at all, in the air: linear momentum differs by the impulse."""
    ended, impulse = [], np.array([3.0, -2.0, 1.0])
    for pushed in (False, True):
        running = _running(vehicle, integrator, start=Start(position_w=(0.0, 0.0, 60.0)))
        if vehicle == "ragdoll":
            running.submit(SetCoordinates((("pelvis z", 60.0),)))
        body = next(iter(running.advance(0.0).lanes[0].bodies))
        if pushed:
            running.submit(Push("", body, (0.1, 0.2, 0.0), tuple(impulse.tolist())))
        ended.append(running.advance(0.02).lanes[0].momentum_w)
    np.testing.assert_allclose(ended[1][3:] - ended[0][3:], impulse, rtol=1e-6, atol=1e-6)


def test_masses_and_axes_of_bodies_are_those_that_a_tree_declares() -> None:
    """Moments and axes against the declared inertia of each link, turned and shifted by an own formula."""
    vehicle = known_vehicle("six-axis-arm")
    mechanism = mechanism_of(vehicle)
    assert sum(each.mass_kg for each in mechanism.masses) == pytest.approx(
        float(vehicle.tree.arrays.mass.sum())
    )
    assert [axis.joint for axis in mechanism.axes] == list(vehicle.tree.velocity_names)
    for each in mechanism.masses:
        assert each.half_m is not None
        assert (each.half_m > 0.0).all()
        np.testing.assert_allclose(each.R_b.T @ each.R_b, np.eye(3), atol=1e-12)


def test_a_body_of_a_robot_weighs_what_it_is_told_and_its_inertia_grows_with_it() -> None:
    running = _running("six-axis-arm", "riqn")
    mass = next(q for q in running.run.vehicle.parameters if q.body and q.unit == "kg")
    before = mechanism_of(running.run.vehicle).mass_of(mass.body)
    running.submit(SetParameter(mass.name, 2.0 * float(mass.default)))
    lane = running.advance(0.02).lanes[0]
    assert lane.parameters[mass.name] == 2.0 * float(mass.default)
    after = mechanism_of(running.run.vehicle).mass_of(mass.body)
    assert before is not None
    assert after is not None
    assert after.mass_kg == pytest.approx(2.0 * before.mass_kg)
    np.testing.assert_allclose(np.array(after.half_m), np.array(before.half_m), rtol=1e-9)
    np.testing.assert_allclose(after.centre_b, before.centre_b, atol=1e-12)
