"""What the gauges of vehicles with wheels show is what the methods do."""

import casadi as ca
import numpy as np
import pytest

import sim
from sim.compiler import compile_kernel
from sim.steppers.dynamics import Dynamics
from sim.vehicles import NonholonomicVehicle
from sim.vehicles.car import Car
from sim.vehicles.forms.parameters import Parameter

WHEELED = [name for name in sim.vehicles() if isinstance(sim.vehicle(name), NonholonomicVehicle)]


class OffsetCar(Car):
    """The driven wheel is beside the middle of the axle, by a parameter that is off by default."""

    name = "offset-car"
    parameters = (*Car.parameters, Parameter("offset", "m", 0.0, -2.0, 2.0, "To the left.", optional=True))

    def constraints(self, r, q):
        beside = ca.horzcat(-q.wheel_radius, 0, -q.offset, 1, 0)
        return ca.vertcat(beside, super().constraints(r, q)[1:, :])


def gauge(vehicle, method, h=0.02, **start):
    vehicle = sim.vehicle(vehicle) if isinstance(vehicle, str) else vehicle
    m = Dynamics(vehicle, compile_kernel(vehicle, sim.integrators()[method]), h)
    u = 0.02 * np.array([c.high for c in vehicle.controls])
    y = m.kernel.start(vehicle.state(**start).node, u, m.parameters, h)
    worst = 0.0
    for _ in range(50):
        m.kernel.advance(y, u, np.zeros(3), m.parameters, h, 1)
        here, ahead = m.kernel.node(y, u, m.parameters, h), y.copy()
        m.kernel.advance(ahead, u, np.zeros(3), m.parameters, h, 1)
        after = m.kernel.node(ahead, u, m.parameters, h)
        read = m.kernel.observe_step(here, after, u, m.parameters, h).observables
        worst = max(worst, read["slip"])
    return worst, read


STARTS = {
    "car": {"shape": (0.0, 0.3), "shape_velocity": (20.0, 0.0), "theta": 3.1},
    "car-with-trailers": {
        "shape": (0.0, 0.3, 0.4, -0.5, 0.0, 0.0),
        "shape_velocity": (20.0, *(0.0,) * 5),
        "theta": 3.1,
    },
    "snakeboard": {"shape": (0.0, 0.4), "shape_velocity": (2.0, 0.3), "momentum": (6.0,), "theta": 3.1},
    "bicycle": {"shape_velocity": (0.2, 0.0, 0.3, 15.0, 0.0), "theta": 3.1},
    "rolling-disc": {"shape": (0.2, 0.0), "shape_velocity": (0.0, 6.0), "momentum": (3.0,), "theta": 3.1},
}


@pytest.mark.parametrize("name", WHEELED)
def test_variational_steps_roll_and_runge_kutta_steps_slip_a_little(name):
    """With exp to rounding; with the rational map a wheel rolls too far by w^6 / 100 800, w the turn in a step."""
    start = STARTS[name]
    assert gauge(name, "variational-exp-tln", **start)[0] < 5e-12
    assert gauge(name, "variational", **start)[0] < 1e-9
    assert gauge(name, "rk2", **start)[0] > 1e-5


def test_the_gauge_knows_parameters_that_are_on():
    """The wheel's way is the middle's less offset times turn: 0.6 m/s here, for a gauge that leaves it out."""
    start = STARTS["car"]
    assert gauge(OffsetCar(offset=0.4), "variational-exp-tln", **start)[0] < 5e-12
    assert gauge(OffsetCar(offset=0.4), "rk2", **start)[0] > 1e-5


def test_momentum_and_steering_are_the_vehicles():
    _, board = gauge("snakeboard", "variational", shape=(0.0, 0.4), momentum=(6.0,))
    assert isinstance(board["momentum_p"], float)
    assert board["steering"] > 0.3
    _, car = gauge("car", "variational", shape=(0.0, 0.5))
    assert "momentum_p" not in car
    assert car["steering"] > np.arctan(0.5)


def test_slip_is_told_of_steps_and_of_no_last_node():
    car = sim.vehicle("car")
    run = sim.simulate(car, "rk2", step=0.02, duration=1.0, controls=[300.0, 0.5])
    slip = run.observables["slip"]
    assert run.units["slip"] == "m/s"
    assert np.isfinite(slip[:-1]).all()
    assert np.isnan(slip[-1])


def test_a_vehicle_without_constraints_has_no_gauge():
    run = sim.simulate(sim.vehicle("rigid-body"), step=0.1, duration=0.1)
    assert run.observables == {}


@pytest.mark.parametrize("name", WHEELED)
def test_what_is_put_down_at_speed_is_caught_as_by_a_plastic_impact(name):
    """It rolls on, and only wheels, blades and motors have given it impulses (measured 2e-15 of them beside)."""
    vehicle, at = sim.vehicle(name), sim.vehicle(name).node_layout
    T_wb, twist_b = np.eye(4), np.array([0.0, 0.0, 0.4, 7.0, -0.8, 0.0])
    T_wb[:2, 3] = 3.0, -2.0
    node = vehicle.state_in_space(T_wb, twist_b).node
    n, q = len(vehicle.shape_coordinates), vehicle.symbols(ca.SX(vehicle.parameter_vector))
    r, v = ca.SX(node[at.shape]), ca.SX.sym("v", n + vehicle.group.dim)
    before = np.concatenate([np.zeros(n), vehicle.group.twist_embedding.T @ twist_b])
    after = np.concatenate([node[at.shape_velocity], node[at.velocity]])
    W = np.array(ca.DM(ca.densify(vehicle.constraints(r, q))))
    energy = ca.Function("energy", [v], [vehicle.lagrangian(r, v[:n], v[n:], q)])
    mass = np.array(ca.DM(ca.substitute(ca.hessian(energy(v), v)[0], v, 0.0 * v)))
    assert np.abs(W @ after).max() < 1e-12 * np.abs(W).max() * np.abs(after).max()
    held = [i for i, shape in enumerate(vehicle.shape_coordinates) if shape.name in vehicle.commanded]
    givers, impulse = np.vstack([W, np.eye(len(after))[held]]).T, mass @ (after - before)
    beside = impulse - givers @ np.linalg.lstsq(givers, impulse, rcond=None)[0]
    assert np.abs(beside).max() < 1e-11 * np.abs(impulse).max()
    assert 0.3 < after @ mass @ after / (before @ mass @ before) <= 1.0


def test_a_bicycle_has_the_energy_of_its_four_bodies_and_rolls_without_slip():
    """Against velocities out of the poses that it shows, at any lean and steering: energy to 1e-12 (2e-16), speeds of
    the material points at both contacts to 1e-12 m/s (4e-15)."""
    vehicle, rng = sim.vehicle("bicycle"), np.random.default_rng(4)
    at, value = vehicle.node_layout, vehicle.values
    node, rate = ca.SX.sym("node", at.size), ca.SX.sym("rate", 8)
    q = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    poses = vehicle.bodies(node, q)
    back = [*range(at.pose.start, at.pose.stop), *range(at.shape.start, at.shape.stop)]
    names = ("rear_wheel", "frame", "fork", "front_wheel")
    parts = [(poses[x], ca.reshape(ca.jtimes(ca.vec(poses[x]), node[back], rate), 4, 4)) for x in names]
    moving = ca.Function("poses", [node, rate], [matrix for pair in parts for matrix in pair])

    def tensor(xx, yy, zz, xz=0.0):
        return np.array([[xx, 0, xz], [0, yy, 0], [xz, 0, zz]])

    def wheel(which):
        across, about = value[f"{which}_inertia"]
        return value[f"{which}_mass"], np.zeros(3), tensor(across, about, across)

    def rigid(which):
        x, z = value[f"{which}_centre"]
        return value[f"{which}_mass"], np.array([x, 0.0, z]), tensor(*value[f"{which}_inertia"])

    masses = [wheel("rear"), rigid("frame"), rigid("fork"), wheel("front")]
    for _ in range(5):
        lean, steer = rng.uniform(-0.6, 0.6, 2)
        start = vehicle.riding(
            rng.uniform(-6, 6), lean, steer, lean_rate=rng.normal(), steer_rate=rng.normal()
        ).node
        theta, xi = start[0], start[at.velocity]
        turned = np.array([[np.cos(theta), -np.sin(theta)], [np.sin(theta), np.cos(theta)]]) @ xi[1:]
        found = [x.full() for x in moving(start, [xi[0], *turned, *start[at.shape_velocity]])]
        total = 0.0
        for (mass, centre, inertia), T, change in zip(masses, found[::2], found[1::2], strict=True):
            W = T[:3, :3].T @ change[:3, :3]
            omega, v = np.array([W[2, 1], W[0, 2], W[1, 0]]), change[:3, :3] @ centre + change[:3, 3]
            height = (T[:3, :3] @ centre + T[:3, 3])[2]
            total += (mass * v @ v + omega @ inertia @ omega) / 2 + mass * value["gravity"] * height
        energy = ca.Function("E", [node], [vehicle.energy(node, q)])
        assert abs(float(energy(start)) - total) < 1e-12 * abs(total)
        for radius, T, change in ((value["rear_radius"], *found[:2]), (value["front_radius"], *found[6:])):
            across = T[:3, 1]
            down = across[2] * across - np.array([0, 0, 1.0])
            point = T[:3, :3].T @ (radius * down / np.linalg.norm(down))
            assert np.abs(change[:3, :3] @ point + change[:3, 3]).max() < 1e-12
