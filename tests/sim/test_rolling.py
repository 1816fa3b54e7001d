"""What the gauges of vehicles with wheels show is what the methods do."""

import numpy as np
import pytest

import sim
from sim.compiler import compile_kernel
from sim.simulation.method import Method
from sim.simulation.rolling import rolling
from sim.vehicles import NonholonomicVehicle

WHEELED = [name for name in sim.vehicles() if isinstance(sim.vehicle(name), NonholonomicVehicle)]


def gauge(name, method, h=0.02, **start):
    vehicle = sim.vehicle(name)
    m = Method(vehicle, compile_kernel(vehicle, sim.integrators()[method]), h)
    u = 0.02 * np.array([c.high for c in vehicle.controls])
    y = m.kernel.start(vehicle.state(**start).node, u, m.parameters, h)
    worst = 0.0
    for _ in range(50):
        m.kernel.step(y, u, np.zeros(3), m.parameters, h)
        read = rolling(m, y, u, m.kernel.node(y, u, m.parameters, h))
        worst = max(worst, read.slip_mps)
    return worst, read


STARTS = {
    "car": {"shape": (0.0, 0.3), "shape_velocity": (20.0, 0.0), "theta": 3.1},
    "snakeboard": {"shape": (0.0, 0.4), "shape_velocity": (2.0, 0.3), "momentum": (6.0,), "theta": 3.1},
    "rolling-disc": {"shape": (0.2, 0.0), "shape_velocity": (0.0, 6.0), "momentum": (3.0,), "theta": 3.1},
}


@pytest.mark.parametrize("name", WHEELED)
def test_variational_steps_roll_and_runge_kutta_steps_slip_a_little(name):
    """With exp to rounding; with the rational map a wheel rolls too far by w^6 / 100 800, w the turn in a step."""
    start = STARTS[name]
    assert gauge(name, "variational-exp-tln", **start)[0] < 5e-12
    assert gauge(name, "variational", **start)[0] < 1e-9
    assert gauge(name, "rk2", **start)[0] > 1e-5


def test_momentum_and_steering_are_the_vehicles():
    _, board = gauge("snakeboard", "variational", shape=(0.0, 0.4), momentum=(6.0,))
    assert board.momentum.shape == (1,)
    assert board.steering_rad > 0.3
    _, car = gauge("car", "variational", shape=(0.0, 0.5))
    assert car.momentum.shape == (0,)
    assert car.steering_rad > np.arctan(0.5)


def test_a_vehicle_without_constraints_has_no_gauge():
    body = sim.vehicle("rigid-body")
    m = Method(body, compile_kernel(body, sim.integrators()["variational"]), 0.01)
    node, u = body.state().node, np.zeros(6)
    assert rolling(m, m.kernel.start(node, u, m.parameters, 0.01), u, node) is None
