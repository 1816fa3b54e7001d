"""Laws of quadrotors that carry a load: mechanics against Newton's with multipliers, the law that holds the load."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import solve_ivp

import sim
from sim.commands import PilotInput, SetParameter, SetPilotInput
from sim.recordings.take import LaneStatus
from sim.scene import Scene, Start
from sim.vehicles import known_vehicle
from tests.sim.simulation_scenes import fly, simulation, world

G = np.array([0.0, 0.0, -9.81])


def survey_case(**more):
    """The survey's setting: cables of 0.6 and 0.8 m, 80 degrees off the vertical, a target that draws a parabola."""
    vehicle = sim.vehicle("quadrotors-with-load", cable_length=(0.6, 0.8), **{"thrust_limit": 1e3, **more})
    s, c = np.sin(np.radians(80)), np.cos(np.radians(80))
    start = vehicle.state(
        load=(-2, 0, 0),
        target=(-2.5, 0, 0.75),
        target_velocity=(1, 0, 5),
        direction=[[s, 0, -c], [-s, 0, -c]],
    )
    return vehicle, start


PARABOLA = np.array([0.0, 0.0, -2.0])


def generic_state(vehicle, rng):
    n = vehicle.number
    q = rng.normal(size=(n, 3)) - [0.0, 0.0, 2.0]
    q /= np.linalg.norm(q, axis=1)[:, None]
    R = np.array([np.linalg.qr(rng.normal(size=(3, 3)))[0] for _ in range(n)])
    R *= np.linalg.det(R)[:, None, None]
    return vehicle.state(
        load=rng.normal(size=3),
        load_velocity=rng.normal(size=3),
        target=rng.normal(size=3),
        direction=q,
        omega=np.cross(q, rng.normal(size=(n, 3))),
        R=R,
        Omega=rng.normal(size=(n, 3)),
    )


def numbers(vehicle, node, u, *names):
    """Of the law at a node."""
    y = ca.SX.sym("y", vehicle.space.size)
    q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    at = vehicle.law(y, ca.SX(u), q)
    acceleration, turning = vehicle.accelerations(at, q)
    found = {
        "acceleration": acceleration,
        "turning": ca.horzcat(*turning).T,
        **{
            name: ca.horzcat(*getattr(at, name)).T
            for name in ("pulls", "thrusts", "wanted", "directions", "turnings")
        },
    }
    return [np.array(ca.Function("f", [y], [found[name]])(node)) for name in names]


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_motion_is_that_of_points_on_rods_with_multipliers(count):
    """Newton's law for load and quadrotors with the cables' pulls as unknowns of one dense system; measured 3e-14."""
    rng = np.random.default_rng(count)
    vehicle = sim.vehicle(
        "quadrotors-with-load",
        quadrotors=count,
        mass=rng.uniform(0.5, 1.5, count),
        cable_length=rng.uniform(0.5, 1.5, count),
    )
    m, length = np.ravel(vehicle.values["mass"]), np.ravel(vehicle.values["cable_length"])
    for _ in range(3):
        node = generic_state(vehicle, rng).node
        u = rng.normal(size=3)
        acceleration, turning, thrust, q, w = numbers(
            vehicle, node, u, "acceleration", "turning", "thrusts", "directions", "turnings"
        )
        # Unknowns: a of the load, a_i of the quadrotors, pulls T_i; rows: Newton, and |x_i - x| = L_i twice derived.
        size = 3 + 3 * count + count
        A, b = np.zeros((size, size)), np.zeros(size)
        A[:3, :3], b[:3] = vehicle.values["load_mass"] * np.eye(3), vehicle.values["load_mass"] * G
        for i in range(count):
            own, pull, row = slice(3 + 3 * i, 6 + 3 * i), 3 + 3 * count + i, 3 + 3 * count + i
            A[:3, pull] = q[i]
            A[own, own], A[own, pull], b[own] = m[i] * np.eye(3), -q[i], m[i] * G + thrust[i]
            A[row, :3], A[row, own], b[row] = q[i], -q[i], -length[i] * (w[i] @ w[i])
        x = np.linalg.solve(A, b)
        np.testing.assert_allclose(acceleration.ravel(), x[:3], atol=1e-12 * np.abs(x).max())
        for i in range(count):
            swing = (x[:3] - x[3 + 3 * i : 6 + 3 * i]) / length[i]
            np.testing.assert_allclose(turning[i], np.cross(q[i], swing), atol=1e-11 * np.abs(x).max())
        told = sim.simulate(
            vehicle, "rkmk4", step=1e-6, duration=1e-6, initial=vehicle.state_at_node(node), controls=u
        )
        pulls = np.ravel(told.observables["tension"][0]) if count > 1 else told.observables["tension"][:1]
        np.testing.assert_allclose(pulls, x[3 + 3 * count :], atol=1e-10 * np.abs(x).max())


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_loads_acceleration_is_the_sum_of_the_pulls_by_its_mass_and_gravity(count):
    """Where thrusts are those that the law asks for; measured 4e-15 of the largest term."""
    rng = np.random.default_rng(10 + count)
    vehicle = sim.vehicle("quadrotors-with-load", quadrotors=count, attitude_loop=0, thrust_limit=1e6)
    for _ in range(5):
        node = generic_state(vehicle, rng).node
        acceleration, pulls = numbers(vehicle, node, rng.normal(size=3), "acceleration", "pulls")
        wanted = pulls.sum(0) / vehicle.values["load_mass"] + G
        np.testing.assert_allclose(acceleration.ravel(), wanted, atol=1e-13 * np.abs(pulls).max() * 10)


def test_the_load_comes_to_the_parabola_as_in_the_surveys_figures():
    """|e_y| of the order of 1e-4 at 4 s, cables in formation, |q| = 1 to rounding; measured 5.4e-5."""
    vehicle, start = survey_case(attitude_loop=0)
    run = sim.simulate(vehicle, "rkmk4", step=0.005, duration=5.0, initial=start, controls=PARABOLA)
    error = run.observables["load_error"]
    assert error[800] < 3e-4
    assert error[200] > 0.1
    assert run.observables["off_sphere"].max() < 1e-14
    assert run.observables["formation_error"][-1].max() < 1e-3
    assert 20.0 < run.observables["thrust"].max() < 40.0


def test_rkmk4_is_of_fourth_order_on_it():
    """Against a tight run of Dormand and Prince's pair by SciPy on the bare numbers; measured slope 4.0."""
    vehicle, start = survey_case(attitude_loop=1)
    y = ca.SX.sym("y", vehicle.space.size)
    q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    rate = ca.Function("f", [y], [vehicle.action.generator(y, vehicle.generator(y, ca.SX(PARABOLA), q))])
    exact = solve_ivp(
        lambda _, s: np.array(rate(s)).ravel(), (0, 0.5), start.node, method="DOP853", rtol=1e-12, atol=1e-12
    ).y[:, -1]
    errors = [
        np.linalg.norm(
            sim.simulate(vehicle, "rkmk4", step=h, duration=0.5, initial=start, controls=PARABOLA).nodes[-1]
            - exact
        )
        for h in (0.0025, 0.00125)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.2)


def test_what_the_law_asks_for_beyond_the_limit_is_clipped_and_told():
    """The peak of the first half second is 31 N; with 20 N the load arrives all the same."""
    vehicle, start = survey_case(thrust_limit=20.0)
    run = sim.simulate(vehicle, "rkmk4", step=0.005, duration=5.0, initial=start, controls=PARABOLA)
    assert run.observables["thrust"].max() <= 20.0 + 1e-12
    clipped = run.observables["thrust_clipped"]
    assert clipped[:100].max() > 5.0
    assert clipped[200:].max() == 0.0
    assert run.observables["load_error"][-1] < 0.01


@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_formation_holds_after_one_attitude_is_kicked_by_twenty_degrees(count):
    """Thrust acts along the body's axis, so the kick pushes the load; 9 s later it is off by 2.7 mm or less."""
    vehicle = sim.vehicle("quadrotors-with-load", quadrotors=count)
    a = np.radians(20.0)
    kick = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
    level = sim.simulate(vehicle, "rkmk4", step=0.005, duration=3.0).final.node
    at = vehicle.space.slices["attitude_1"]
    kicked = level.copy()
    kicked[at] = (kick @ level[at].reshape(3, 3).T).T.ravel()
    run = sim.simulate(vehicle, "rkmk4", step=0.005, duration=9.0, initial=vehicle.state_at_node(kicked))
    off = run.observables["load_error"]
    assert off.max() > 5e-3
    assert off[-1] < min(5e-3, 0.5 * off.max())
    assert np.abs(run.observables["formation_error"][-1]).max() < 5e-3
    back = run.nodes[-1, at].reshape(3, 3).T @ level[at].reshape(3, 3)
    assert np.arccos(np.clip((np.trace(back) - 1) / 2, -1, 1)) < 5e-3


def test_six_blocks_of_accelerations_belong_to_two_quadrotors():
    """y', v', Omega_1', Omega_2', omega_1', omega_2': and the kinematics beside them."""
    vehicle = sim.vehicle("quadrotors-with-load")
    assert vehicle.action.group.dim == 6 + 6 + 2 * 6 + 2 * 6
    assert vehicle.space.size == 6 + 6 + 2 * 12 + 2 * 6


KEYS = Scene(
    name="quadrotors",
    title="quadrotors",
    world="plaza",
    vehicle=known_vehicle("quadrotors-with-load", target_drag=0.8),
    integrator="rkmk4",
    step_s=0.005,
    flight_mode="raw",
    start=Start(position_w=(0.0, 0.0, 8.0)),
)


@pytest.mark.parametrize("count", [1, 3])
def test_a_load_that_is_let_down_lies_on_the_ground_and_is_lifted_again(count):
    """Its underside within 5 mm of the ground, its target no deeper, and the quadrotors above; measured 0.1 mm."""
    start = Start(position_w=(0.0, 0.0, 4.0))
    size = known_vehicle("quadrotors-with-load", target_drag=0.8, quadrotors=count, cable_length=1.9)
    running = simulation(replace(KEYS, start=start, vehicle=size, world="plain"))
    load = next(shape for shape in sim.vehicle("quadrotors-with-load").links if shape.body == "load")
    floor_m = float(world("plain").terrain.height(0.0, 0.0))
    fly(running, 8.0, throttle=-1.0)
    for _ in range(4):
        lane = fly(running, 0.5, throttle=-1.0)
        assert lane.status is LaneStatus.RUNNING
        assert abs(lane.bodies["load"][2, 3] - floor_m - load.radius_m) < 5e-3
        assert lane.bodies["target"][2, 3] > floor_m - 5e-3
        assert lane.bodies["quadrotor_1"][2, 3] > floor_m + 1.0
    assert fly(running, 4.0, throttle=1.0).bodies["load"][2, 3] > floor_m + 2.0


def test_what_flies_without_lift_falls_onto_the_ground_and_stays_on_it():
    """Rotors that lift next to nothing: load and quadrotors lie on the plain; the deepest is 2 mm in it."""
    size = known_vehicle("quadrotors-with-load", target_drag=0.8, cable_length=1.9, thrust_limit=0.5)
    running = simulation(replace(KEYS, start=Start(position_w=(0.0, 0.0, 3.0)), vehicle=size, world="plain"))
    floor_m = float(world("plain").terrain.height(0.0, 0.0))
    fly(running, 4.0)
    for _ in range(6):
        lane = fly(running, 0.5)
        assert lane.status is LaneStatus.RUNNING
        for name in ("load", "quadrotor_1", "quadrotor_2"):
            assert floor_m - 0.05 < lane.bodies[name][2, 3] < floor_m + 1.0


def test_keys_fly_the_target_and_the_load_follows():
    running = simulation(KEYS)
    running.submit(SetPilotInput(PilotInput(pitch=1.0)))
    running.advance(2.0)
    running.submit(SetPilotInput(PilotInput()))
    lane = running.advance(6.0).lanes[0]
    assert lane.bodies["target"][0, 3] > 3.0
    np.testing.assert_allclose(lane.bodies["load"][:3, 3], lane.bodies["target"][:3, 3], atol=0.1)
    running.submit(SetParameter("quadrotors", 1.0))
    running.advance(0.01)
    alone = running.advance(0.05).lanes[0]
    assert [name for name in alone.bodies if name.startswith("quadrotor")] == ["quadrotor_1"]


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        ({"quadrotors": 5}, "quadrotors = 5 is out of range; allowed: whole numbers, 1 to 4"),
        ({"quadrotors": 0}, "quadrotors = 0 is out of range"),
        ({"cable_length": 0.0}, "cable_length = \\(0.0, 0.0\\) is out of range"),
        ({"cable_length": (1.0, -1.0)}, "out of range"),
    ],
)
def test_what_cannot_fly_is_refused_in_one_line(wrong, line):
    with pytest.raises(sim.InputError, match=line) as caught:
        sim.vehicle("quadrotors-with-load", **wrong)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [("quadrotors", 5.0), ("quadrotors", 1.5), ("cable_length", 0.0), ("cable_length", (1.0, -1.0))],
)
def test_what_cannot_fly_changes_nothing_of_what_flies(name, value):
    running, other = simulation(KEYS), simulation(KEYS)
    running.submit(SetParameter(name, value))
    shown = running.advance(0.5)
    assert f"{name} = " in shown.message
    assert "\n" not in shown.message
    assert running.run.vehicle.values == other.run.vehicle.values
    np.testing.assert_array_equal(shown.lanes[0].T_wb, other.advance(0.5).lanes[0].T_wb)


def test_states_off_the_space_are_refused():
    vehicle = sim.vehicle("quadrotors-with-load")
    with pytest.raises(sim.InputError, match="direction of cable 1 has length 2; allowed: 1"):
        vehicle.state(direction=(0, 0, -2))
    with pytest.raises(sim.InputError, match="omega of cable 1 turns it about itself"):
        vehicle.state(direction=(0, 0, -1), omega=(0, 0, 1))
