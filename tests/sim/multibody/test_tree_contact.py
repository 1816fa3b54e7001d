"""Laws of contact between trees and the ground: weight, depth, friction, and energy, which it never adds."""

import numpy as np
import pytest

import sim
from sim.contact.trees import FRICTION, TreeGround
from sim.integrators import integrator
from sim.multibody.shapes import Link
from sim.multibody.tree import Body, Joint, tree
from sim.recordings import load_take, save_take
from sim.scene import Scene, Start
from sim.steppers.dynamics import tree_stepper
from sim.vehicles import ArticulatedVehicle, known_vehicle
from sim.world.terrain import Terrain
from tests.sim.simulation_scenes import simulation, world

H = 0.005


def slope(rise: float) -> Terrain:
    """A plane that rises along x."""
    x = np.arange(-64.0, 65.0)
    return Terrain(np.tile((rise * x).astype(np.float32), (129, 1)), (-64.0, -64.0), 1.0)


class Sledge(ArticulatedVehicle):
    """A bar on two round feet with an upright that is hinged to it."""

    name = "sledge"
    parameters = ()

    def declare(self, q):
        bar = Body("bar", joint=Joint("free"), mass=3.0, inertia=(0.3, 0.3, 0.5))
        mast = Body(
            "mast", "bar", Joint(axis=(0.0, 1.0, 0.0), stiffness=40.0, damping=1.0), mass=0.5,
            centre=(0.0, 0.0, 0.1), inertia=(0.01, 0.01, 0.001),
        )  # fmt: skip
        return tree([bar, mast])

    def shapes(self):
        return tuple(Link("bar", (-0.5, y, -0.1), (0.5, y, -0.1), 0.05) for y in (-0.3, 0.3))


def run(vehicle, ground, start, seconds, method="riqn", h=H):
    """(nodes, forces of the ground (n, 3), least clearances, energies) at every step."""
    stepper, p = tree_stepper(vehicle, integrator(method)), vehicle.parameter_vector
    u, w = vehicle.neutral_controls, np.zeros(stepper.dim)
    y, told = stepper.start(start, u, p, h), []
    for _ in range(round(seconds / h)):
        done, status, _ = stepper.advance(y, u, w, p, h, 1, ground.env)
        assert (done, status) == (1, 0)
        node = stepper.node(y, u, p, h)
        energy = stepper.observe(node, u, p).energy_J
        told.append((node, ground.wrench_b[3:].copy(), ground.clearance_m(node), energy))
    return [np.array(column) for column in zip(*told, strict=True)]


def thrown(vehicle, height, seed=3):
    node, random = vehicle.default_state().node.copy(), np.random.default_rng(seed)
    node[4:7] = 0.0, 0.0, height
    at = vehicle.node_layout.velocity.start
    node[at : at + 6] = *(2.0 * random.normal(size=3)), 2.0, 1.0, 0.0
    return node


@pytest.mark.parametrize("method", ["riqn", "newton"])
def test_who_has_fallen_is_carried_by_its_weight_and_lies_still(method):
    """Measured after four seconds: force off by 2e-6 of the weight, 0.42 mm deep, 1e-7 J in the last half second."""
    person = sim.vehicle("ragdoll")
    ground = TreeGround.under(person, slope(0.0))
    _, forces, clearances, energies = run(person, ground, thrown(person, 2.0), 5.0, method)
    np.testing.assert_allclose(forces[-1], [0.0, 0.0, 75.0 * 9.81], atol=0.5)
    assert -1e-3 < clearances[-1] <= 1e-4
    assert np.ptp(energies[-100:]) < 1e-3


def test_no_end_of_a_thrown_body_sinks_in():
    """At 7 m/s; measured over twelve throws: 2.5 mm, on a slope 3 mm."""
    for rise in (0.0, 0.3):
        person = sim.vehicle("ragdoll")
        ground = TreeGround.under(person, slope(rise))
        _, _, clearances, _ = run(person, ground, thrown(person, 2.5), 3.0)
        assert clearances.min() > -0.006


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_contact_takes_energy_out_and_adds_none(seed):
    """Between any two steps; measured over twelve throws: 3e-6 J of 1700, though limits of many joints are reached."""
    person = sim.vehicle("ragdoll")
    ground = TreeGround.under(person, slope(0.0))
    _, forces, _, energies = run(person, ground, thrown(person, 2.0, seed), 3.0)
    touching = np.flatnonzero(np.abs(forces[1:]).max(axis=1) > 0.0)
    assert len(touching) > 100
    lowest = np.minimum.accumulate(energies)
    assert (energies - lowest).max() < 0.01
    assert energies[-1] < 0.2 * energies[0]


def test_a_sliding_body_stops_where_friction_says():
    """After v^2 / (2 mu g); measured 0.7 per cent short."""
    sledge, speed = Sledge(), 4.0
    ground = TreeGround.under(sledge, slope(0.0))
    start = sledge.state({"bar z": 0.15}, {"bar vx": speed}).node
    nodes, forces, _, _ = run(sledge, ground, start, 1.5)
    assert nodes[-1, 4] == pytest.approx(speed**2 / (2.0 * FRICTION * 9.81), rel=0.02)
    assert forces[40:60, 0].mean() == pytest.approx(-FRICTION * 3.5 * 9.81, rel=0.01)
    assert abs(forces[-1, 0]) < 1e-3


def test_what_is_less_steep_than_friction_holds_stands():
    sledge = Sledge()
    for rise, stands in ((0.6, True), (0.8, False)):
        ground = TreeGround.under(sledge, slope(rise))
        angle = np.arctan(rise)
        node = sledge.state({"bar qw": np.cos(angle / 2), "bar qy": -np.sin(angle / 2)}).node
        node[6] = 0.15 / np.cos(angle) + 1e-4
        nodes, _, _, _ = run(sledge, ground, node, 1.0)
        moved = abs(nodes[-1, 4])
        assert moved < 0.02 if stands else moved > 0.1


def test_a_thrown_person_is_played_again_to_the_bit(tmp_path):
    start = Start(
        position_w=(0.0, 0.0, float(world().terrain.height(0.0, 0.0)) + 1.6), omega_b=(1.0, 2.0, 0.3)
    )
    scene = Scene(
        name="thrown", title="thrown", world="plain", vehicle=known_vehicle("ragdoll"), integrator="riqn", step_s=0.005,
        flight_mode="raw", start=start,
    )  # fmt: skip
    running = simulation(scene)
    lane = running.advance(2.2).lanes[0]
    assert lane.on_ground
    (take,) = running.takes()
    saved = load_take(save_take(take, tmp_path / "thrown.npz"))
    assert saved.segments[0].feels_ground
    told = take.samples()
    np.testing.assert_array_equal(saved.samples().nodes, told.nodes)
    np.testing.assert_array_equal(saved.resimulate().samples().nodes, told.nodes)
    assert told.observed.energy[-1] == pytest.approx(lane.energy_J, rel=1e-12)


@pytest.mark.parametrize("method", ["rk4", "semi-implicit-euler", "riqn"])
def test_steps_on_the_ground_that_are_taken_at_once_are_those_taken_one_by_one(method):
    """To the bit: of the many ends that touch, none is taken for a moment of a step."""
    person = sim.vehicle("ragdoll")
    ground, p = TreeGround.under(person, slope(0.0)), person.parameter_vector
    stepper = tree_stepper(person, integrator(method))
    still, ends = np.zeros(stepper.dim), []
    u = np.tile(person.neutral_controls, len(stepper.moments))
    for parts in (1, 100):
        y = stepper.start(thrown(person, 1.2), person.neutral_controls, p, 1e-3)
        for _ in range(parts):
            assert stepper.advance(y, u, still, p, 1e-3, 1000 // parts, ground.env)[1] == 0
        assert ground.wrench_b[5] > 100.0
        ends.append(y)
    np.testing.assert_array_equal(*ends)
