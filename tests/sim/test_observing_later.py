"""What a trajectory tells is worked out when it is asked for: simulating alone needs the energies only."""

import pickle
from dataclasses import dataclass

import numpy as np
import pytest

import sim
from sim.compiler.kernel import Kernel
from sim.steppers.dynamics import stepper_of
from sim.vehicles.car import Car
from sim.vehicles.forms.observation import Observed

STEP_S, STEPS = 0.01, 60


@dataclass
class Calls:
    """How often nodes were observed."""

    count: int = 0


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    counted, observe_all = Calls(), Kernel.observe_all

    def counting(self: Kernel, *given: object) -> Observed:
        counted.count += 1
        return observe_all(self, *given)

    monkeypatch.setattr(Kernel, "observe_all", counting)
    return counted


def driven(steps: int = STEPS) -> sim.Trajectory:
    """A car whose controls change at every step."""
    vehicle = Car()
    at = np.linspace(0.0, 1.0, steps)[:, None]
    high = np.array([control.high for control in vehicle.controls])
    return sim.simulate(
        vehicle,
        step=STEP_S,
        duration=steps * STEP_S,
        initial=vehicle.state(theta=0.3, x=1.0, y=-2.0),
        controls=0.4 * high * np.hstack([np.cos(5.0 * at), np.sin(7.0 * at)]),
    )


def test_simulating_observes_nothing_and_asking_observes_once(calls: Calls) -> None:
    run = driven()
    assert run.diverged_at is None
    assert calls.count == 0
    assert len(run.bodies) > 1
    assert np.isfinite(run.energy).all()
    assert np.isfinite(run.momentum).all()
    assert run.observables
    assert calls.count == 1


def test_what_is_told_does_not_depend_on_when_it_is_asked_for() -> None:
    run = driven()
    kernel = stepper_of(run.vehicle, run.integrator)
    rows = kernel.observe_all(run.nodes, run.controls, run.vehicle.parameter_vector, STEP_S).rows
    assert np.array_equal(run.observed.rows, rows, equal_nan=True)
    assert np.array_equal(pickle.loads(pickle.dumps(driven().observed)).rows, rows, equal_nan=True)


def test_energies_alone_are_those_that_are_told() -> None:
    """To 1e-14 of the largest, as both may be rounded differently; measured 0."""
    run = driven()
    kernel = stepper_of(run.vehicle, run.integrator)
    alone = kernel.energies(run.nodes, run.vehicle.parameter_vector)
    assert np.abs(alone - run.energy).max() < 1e-14 * np.abs(run.energy).max()
