"""Wheels whose constraints bind velocities of the shape to each other: trailers, and a bicycle's pitch."""

from typing import ClassVar

import numpy as np
import pytest

import sim
from sim.planner import Goal, Task
from studies.ledger.trailers import CarWithTrailers
from studies.ledger.wheels import ended, with_multipliers

START = {"shape": (0.0, 0.2, 0.4, -0.6), "shape_velocity": (9.0, 0.0, 0.0, 0.0), "theta": 0.3}


def test_velocities_of_trailers_follow_from_the_car() -> None:
    """By hand: a trailer's axle does not move along itself."""
    car = CarWithTrailers()
    state = car.state(**START)  # type: ignore[arg-type]
    v, sigma = 0.32 * 9.0, 0.2
    turning = v * sigma / 2.4
    first = -v * np.sin(0.4) / 2.0 - turning
    second = -v * np.cos(0.4) * np.sin(-0.6) / 1.6 - turning - first
    assert state.shape_velocity == pytest.approx([9.0, 0.0, first, second], rel=1e-13)


@pytest.mark.parametrize(("method", "order"), [("variational-exp", 2), ("variational", 2), ("rk4", 4)])
def test_trailers_move_by_the_equations_with_multipliers(method: str, order: int) -> None:
    """Errors at 3 s fall by the method's order."""
    car = CarWithTrailers()
    start = car.state(**START)  # type: ignore[arg-type]
    truth = with_multipliers(car, start.node, 3.0)
    steps = (0.01, 0.005) if order == 2 else (0.12, 0.06)
    errors = [np.abs(ended(car, start, 3.0, h, method) - truth).max() for h in steps]
    assert errors[1] < (1e-3 if order == 2 else 1e-5)
    assert np.log2(errors[0] / errors[1]) > order - 0.25


def test_coasting_with_trailers_keeps_energy_and_slips_nowhere() -> None:
    """Over 1,000 steps; measured: 1e-4 of the energy at 20 ms, no drift, and 1e-14 m/s of slip."""
    car = CarWithTrailers()
    run = sim.simulate(car, "variational-exp", step=0.02, duration=20.0, initial=car.state(**START))  # type: ignore[arg-type]
    assert np.ptp(run.energy) < 1e-3 * run.energy[0]
    assert np.nanmax(run.observables["slip"][:-1]) < 1e-10


def test_what_is_dependent_has_to_be_named_and_to_follow() -> None:
    class Unnamed(CarWithTrailers):
        name = "unnamed"
        dependent: ClassVar = ("first",)

    class Wrong(CarWithTrailers):
        name = "wrong"
        dependent: ClassVar = ("first", "third")

    class Commanded(CarWithTrailers):
        name = "commanded"
        dependent: ClassVar = ("first", "sigma")

    for kind, said in (
        (Unnamed, r"bind 2 shape velocities.*dependent names 1 \(first\), allowed: that many"),
        (Wrong, "dependent names 'third', which is no shape coordinate"),
        (Commanded, "dependent names 'sigma', which is commanded"),
    ):
        with pytest.raises(sim.InputError, match=said):
            kind()


def test_plans_with_a_dependent_shape_are_refused_in_one_line() -> None:
    car = CarWithTrailers()
    goal = Goal(car.state(x=5.0))
    with pytest.raises(sim.InputError, match=r"dependent shape \(first, second\).*no part of plans"):
        sim.plan(car, Task(car.state(), goal, 5.0, 16))
