"""Declared orders of what joints and cables hold together, under inputs that change: rows that are held, functions of
time and of the state. Of single bodies: test_inputs.py."""

from functools import cache

import numpy as np
import pytest

import sim
from sim.integrators import INTEGRATORS

DURATION_S, BLOCKS = 0.4, 4
JOINTED, LINKED = "six-axis-arm", "pendulum"
REFERENCE = {JOINTED: ("rk4", 640), LINKED: ("cf4", 640)}
"""A method of fourth order on other equations than those of the variational ones, and its steps."""


@cache
def start_of(name):
    vehicle = sim.vehicle(name, **({"links": 2} if name == LINKED else {}))
    if name == JOINTED:
        return vehicle, vehicle.default_state()
    rng = np.random.default_rng(3)
    q = rng.normal(size=(2, 3))
    q /= np.linalg.norm(q, axis=1)[:, None]
    return vehicle, vehicle.state(direction=q, omega=np.cross(q, rng.normal(size=(2, 3))))


def inputs(name, kind, steps):
    """As `sim.simulate` takes them."""
    vehicle, start = start_of(name)
    count = len(vehicle.controls)
    swing = np.minimum([c.high for c in vehicle.controls], 20.0) * 0.2
    phases, size = 1.3 * np.arange(count), start.node.size
    if kind == "blocks":
        rows = swing * np.cos(2.0 * np.arange(BLOCKS * count)).reshape(BLOCKS, count)
        return np.repeat(rows, steps // BLOCKS, axis=0)
    if kind == "smooth":
        return lambda t, state: swing * np.sin(5.0 * t + phases)
    return lambda t, state: swing * np.sin(state.node[size // 2] + phases + 3.0 * t)


@cache
def end(name, method, kind, steps):
    vehicle, start = start_of(name)
    run = sim.simulate(
        vehicle,
        method,
        step=DURATION_S / steps,
        duration=DURATION_S,
        initial=start,
        controls=inputs(name, kind, steps),
    )
    assert run.diverged_at is None
    return run.nodes[-1]


@pytest.mark.parametrize("kind", ["blocks", "smooth", "feedback"])
@pytest.mark.parametrize(
    ("name", "method"),
    [
        (JOINTED, "riqn"),
        (JOINTED, "riqn-variable"),
        (JOINTED, "semi-implicit-euler"),
        (JOINTED, "rk4"),
        (LINKED, "variational-spheres"),
        (LINKED, "cf4"),
    ],
)
def test_the_order_is_the_declared_one_under_rows_and_two_at_least_under_functions(name, method, kind):
    """Under functions of time, too. Without its own moments `rk4` of joints had slope 1.99 there."""
    order = INTEGRATORS[method].order
    least = min(order, 2) if kind == "feedback" else order
    steps = (16, 32) if least > 2 else (40, 80)
    reference, fine = REFERENCE[name]
    exact = end(name, reference, kind, fine)
    errors = [np.abs(end(name, method, kind, n) - exact).max() for n in steps]
    assert np.log2(errors[0] / errors[1]) > least - 0.3, errors
    assert errors[1] < 0.05
