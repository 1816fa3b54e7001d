"""Laws of the hand that pulls: it brings what it holds to where it is, is recorded, and replays to the bit."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

import sim
from sim.commands import LetGo, Pull
from sim.recordings import load_take, save_take
from sim.scene import LaneSpec, Scene, Start
from sim.simulation.lanes.impulses import unpulled
from sim.simulation.lanes.snapshot import LaneStatus
from sim.steppers.dynamics import stepper_of
from sim.vehicles import VEHICLES, known_vehicle
from sim.vehicles.forms.form import TREES
from sim.vehicles.forms.impulses import at_points, struck
from sim.vehicles.forms.observation import layout_of
from tests.sim.simulation_scenes import simulation, spinning_scene, world


def scene_of(vehicle, integrator, *, z_m=0.0, parameters=None, lanes=(), **start) -> Scene:
    height = float(world().terrain.height(0.0, 0.0))
    return Scene(
        name="pulled", title="pulled", world="plain", vehicle=known_vehicle(vehicle, **(parameters or {})),
        integrator=integrator, step_s=0.005,
        flight_mode="raw", start=Start(position_w=(0.0, 0.0, height + z_m), **start), lanes=lanes,
    )  # fmt: skip


def point(lane, body, at_b=(0.0, 0.0, 0.0)):
    return (lane.bodies[body] @ (*at_b, 1.0))[:3]


def pulled(scene, body, way_w, seconds, at_b=(0.0, 0.0, 0.0)):
    """(simulation, target) after the body was pulled by a way."""
    running = simulation(scene)
    target = point(running.snapshot.lanes[0], body, at_b) + way_w
    running.submit(Pull("", body, at_b, tuple(target)))
    running.advance(seconds)
    return running, target


@pytest.mark.parametrize("method", ["riqn", "newton", "rk4", "semi-implicit-euler"])
def test_a_chain_follows_the_hand(method):
    """A light link of a hanging chain, 1.2 m aside; measured: 4 cm short after four seconds, which its weight bends."""
    scene = scene_of("chain", method, parameters={"links": 12.0, "damping": 0.05})
    running, target = pulled(scene, "link 12", np.array([-0.9, 0.5, 0.3]), 6.0)
    lane = running.snapshot.lanes[0]
    assert lane.status is LaneStatus.RUNNING
    assert np.linalg.norm(point(lane, "link 12") - target) < 0.25
    assert lane.pull == ("link 12", (0.0, 0.0, 0.0), tuple(target))
    running.submit(LetGo())
    assert running.advance(0.1).lanes[0].pull is None


@pytest.mark.parametrize(
    ("vehicle", "integrator", "body"),
    [
        ("rigid-body", "variational-exact", "body"),
        ("car", "variational", "body"),
        ("boat", "variational-exact", "body"),
        ("snakeboard", "variational", "body"),
        ("rolling-disc", "variational", "body"),
        ("quadrotor", "variational-exact", "body"),
    ],
)
def test_a_body_in_the_air_on_wheels_or_afloat_is_pulled_and_comes_to_rest_at_the_hand(
    vehicle, integrator, body
):
    """Along what wheels leave free."""
    flies = vehicle in ("rigid-body", "quadrotor")
    parameters = {"gravity": 0.0} if flies else {}
    scene = scene_of(vehicle, integrator, z_m=5.0 if flies else 0.0, parameters=parameters)
    running, target = pulled(scene, body, np.array([1.5, 0.0, 0.0]), 6.0)
    lane = running.snapshot.lanes[0]
    assert lane.status is LaneStatus.RUNNING
    off = point(lane, body) - target
    assert np.linalg.norm(off[:2]) < 0.05


def test_the_spring_is_critically_damped_with_the_whole_mass_at_its_end():
    """A free body pulled at its middle: x(t) of a critically damped oscillator; measured 3 per cent of the way off."""
    scene = scene_of("rigid-body", "variational-exact", z_m=50.0, parameters={"gravity": 0.0})
    running = simulation(scene)
    start = point(running.snapshot.lanes[0], "body")
    running.submit(Pull("", "body", (0.0, 0.0, 0.0), tuple(start + np.array([0.5, 0.0, 0.0]))))
    for _ in range(8):
        lane = running.advance(0.05).lanes[0]
        t = 7.0 * lane.time_current_s
        exact = 0.5 * (1.0 - (1.0 + t) * np.exp(-t))
        assert point(lane, "body")[0] - start[0] == pytest.approx(exact, abs=0.03)


@pytest.mark.parametrize(
    ("vehicle", "parameters", "method", "body"),
    [
        ("pendulum", {"links": 3.0}, "rkmk4", "rod_2"),
        ("quadrotors-with-load", {}, "rkmk4", "quadrotor_2"),
        ("quadrotors-with-load", {}, "rkmk4", "cable_1"),
        ("helicopter-with-load", {}, "rkmk4", "load"),
    ],
)
def test_what_a_group_moves_goes_to_the_hand_wherever_it_is_taken(vehicle, parameters, method, body):
    """From where it goes by itself, against rods, autopilot and weight; measured: 0.49 to 0.75 of the way
    in 0.4 s."""
    scene, at_b = scene_of(vehicle, method, z_m=12.0, parameters=parameters), (0.02, -0.03, -0.2)
    by_itself = point(simulation(scene).advance(0.4).lanes[0], body, at_b)
    running, way = simulation(scene), np.array([0.3, 0.4, 0.1])
    running.submit(Pull("", body, at_b, tuple(by_itself + way)))
    lane = running.advance(0.4).lanes[0]
    assert lane.status is LaneStatus.RUNNING
    assert lane.pull == (body, at_b, tuple(by_itself + way))
    gone = (point(lane, body, at_b) - by_itself) @ way / (way @ way)
    assert 0.3 < gone < 1.2


@pytest.mark.parametrize(
    "vehicle", ["chain", "cosserat-rope", "rigid-body", "car", "pendulum", "quadrotors-with-load"]
)
def test_a_pulled_flight_is_recorded_and_replays_to_the_bit(vehicle, tmp_path):
    parameters = {"chain": {"links": 10.0}, "pendulum": {"links": 3.0}}.get(vehicle, {})
    by_joints, by_group = ("chain", "cosserat-rope"), ("pendulum", "quadrotors-with-load")
    method = "riqn" if vehicle in by_joints else "rkmk4" if vehicle in by_group else "variational"
    body = {
        "chain": "link 7", "cosserat-rope": "rope 30", "pendulum": "bob_2", "quadrotors-with-load": "quadrotor_1"
    }.get(vehicle, "body")  # fmt: skip
    running, target = pulled(
        scene_of(vehicle, method, z_m=20.0, parameters=parameters), body, np.array([0.4, 0.5, 0.1]), 0.8
    )
    running.submit(Pull("", body, (0.0, 0.0, 0.0), tuple(target + np.array([0.1, -0.8, 0.0]))))
    running.advance(0.5)
    running.submit(LetGo())
    end = running.advance(0.4).lanes[0]
    (take,) = running.takes()
    assert len(take.segments[0].impulse_log.steps) == 130
    saved = load_take(save_take(take, tmp_path / "pulled.npz"))
    told = take.samples()
    np.testing.assert_array_equal(saved.samples().nodes, told.nodes)
    np.testing.assert_array_equal(saved.resimulate().samples().nodes, told.nodes)
    assert told.observed.energy[-1] == pytest.approx(end.energy_J, rel=1e-12)
    assert np.linalg.norm(end.twist_b) > 1e-3


@pytest.mark.parametrize("name", VEHICLES)
def test_every_body_of_every_vehicle_that_anything_moves_can_be_pulled_and_gets_the_power_of_the_force(name):
    """An impulse j at a point adds j . (v + v')/2 to the energy, v and v' of that point before and after: what a force
    does is force times the velocity of where it acts. Generic motion; wheels roll, loops stay closed."""
    vehicle = sim.vehicle(name)
    rng = np.random.default_rng(5)
    reached = AT_POINT[vehicle.form in TREES](vehicle, rng)
    layout = layout_of(vehicle)
    refused = [body for body in layout.bodies if unpulled(vehicle, body, layout)]
    assert set(refused) <= {"pivot", "target"}  # where it hangs; where it is wanted
    for body in (body for body in layout.bodies if body not in refused):
        at_b, force = rng.normal(size=3), rng.normal(size=3)
        v, after, energies = reached(body, at_b, force)
        gained = energies[1] - energies[0]
        assert gained == pytest.approx(force @ (v + after) / 2, abs=1e-9 * max(1.0, abs(energies[0])))


def of_a_node(vehicle, rng):
    node = vehicle.default_state().node.copy()
    node = struck(vehicle, node, 0.3 * rng.normal(size=vehicle.impulse_size))
    sym, p = ca.SX.sym("node", node.size), ca.SX(vehicle.parameter_vector)
    energy = ca.Function("energy", [sym], [vehicle.energy(sym, vehicle.symbols(p))])

    def reached(body, at_b, force):
        at = at_points(vehicle, node, (body,), at_b[None])
        hit = struck(vehicle, node, at.impulses @ force)
        return (
            at.velocity,
            at_points(vehicle, hit, (body,), at_b[None]).velocity,
            [float(energy(n)) for n in (node, hit)],
        )

    return reached


def of_a_tree(vehicle, rng):
    its, p, at = (
        stepper_of(vehicle, sim.integrators()["riqn"], None),
        vehicle.parameter_vector,
        vehicle.node_layout,
    )
    node = vehicle.default_state().node.copy()
    node[at.velocity] = its.answer(node[at.pose], 0.1 * rng.normal(size=vehicle.wrench_size), p)
    seen, u = its.observe(node, vehicle.neutral_controls, p), vehicle.neutral_controls

    def reached(body, at_b, force):
        R = seen.layout.named_poses(seen.row)[body][:3, :3]
        rows, hit = its.impulses_at(node[at.pose], body, at_b, R, p), node.copy()
        hit[at.velocity] += its.answer(node[at.pose], rows.T @ force, p)
        energies = [its.observe(n, u, p).energy_J for n in (node, hit)]
        return rows @ node[at.velocity], rows @ hit[at.velocity], energies

    return reached


AT_POINT = {False: of_a_node, True: of_a_tree}


@pytest.mark.parametrize(
    ("vehicle", "body"),
    [
        (sim.vehicle("pendulum", links=3), "rod_2"),
        (sim.vehicle("quadrotors-with-load", quadrotors=3), "quadrotor_2"),
        (sim.vehicle("helicopter-with-load", links=3), "cable_2"),
    ],
    ids=lambda value: getattr(value, "name", value),
)
def test_a_pull_adds_itself_and_its_moment_to_the_momentum(vehicle, body):
    """About the fixed point; of what flies freely the linear one, and the angular one where it is told."""
    rng = np.random.default_rng(8)
    node = struck(vehicle, vehicle.default_state().node.copy(), 0.3 * rng.normal(size=vehicle.impulse_size))
    sym, q = ca.SX.sym("node", node.size), vehicle.symbols(ca.SX(vehicle.parameter_vector))
    told = ca.Function("f", [sym], [vehicle.spatial_momentum(sym, q), vehicle.bodies(sym, q)[body]])
    at_b, force = np.array([0.0, 0.0, 0.3]), rng.normal(size=3)  # rods pass on no moment about themselves
    x_w = (np.array(told(node)[1]) @ (*at_b, 1.0))[:3]
    after = struck(vehicle, node, at_points(vehicle, node, (body,), at_b[None]).impulses @ force)
    expected = vehicle.twist_embedding.T @ np.r_[np.cross(x_w, force), force]
    np.testing.assert_allclose(np.array(told(after)[0] - told(node)[0]).ravel(), expected, atol=1e-12)


def test_a_take_that_tells_impulses_on_a_part_of_the_vehicle_alone_is_read(tmp_path):
    """As older ones do of carrier and load: nothing on the cable."""
    parameters = {"links": 2.0}
    running, _ = pulled(
        scene_of("helicopter-with-load", "rkmk4", z_m=20.0, parameters=parameters),
        "load",
        np.array([0.4, 0.5, 0.1]),
        1.1,
    )
    (take,) = running.takes()
    segment = take.segments[0]
    brief = replace(segment.impulse_log, impulses=segment.impulse_log.impulses[:, :9])
    older = save_take(
        replace(take, segments=(replace(segment, impulse_log=brief),)), tmp_path / "older.npz", brief=True
    )
    read = load_take(older).segments[0].impulse_log.impulses
    assert read.shape == segment.impulse_log.impulses.shape
    np.testing.assert_array_equal(read, np.pad(brief.impulses, ((0, 0), (0, 3))))


def test_the_hand_holds_one_body_of_one_lane():
    scene = scene_of(
        "chain", "riqn", parameters={"links": 10.0}, lanes=(LaneSpec("newton", 0.005, name="other"),)
    )
    running = simulation(scene)
    running.submit(Pull("", "link 4", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    running.submit(Pull("other", "link 9", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    first, second = running.advance(0.05).lanes
    assert first.pull is None
    assert second.pull is not None
    assert not np.allclose(first.T_wb, second.T_wb, atol=1e-9)


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (Pull("", "wing", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), "no body 'wing'; allowed: body"),
        (Pull("nobody", "body", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)), 'no lane "nobody"'),
        (Pull("", "body", (0.0, 0.0, 0.0), (np.nan, 0.0, 0.0)), "allowed: finite numbers"),
    ],
)
def test_what_cannot_be_pulled_is_told_in_a_line(command, words):
    running = simulation(replace(spinning_scene(), step_s=0.01))
    running.submit(command)
    message = running.advance(0.1).message
    assert words in message
    assert "\n" not in message
