"""Gains are parameters: fitted to a flight, with how sure they are."""

from dataclasses import replace

import numpy as np
import pytest

import sim


class Hold(sim.Controller):
    """Keeps height and heading of a quadrotor by its lifts; one gain does nothing, two act as one."""

    stiffness = sim.Gain(4.0, 0.1, 20.0, "1/s^2")
    damping = sim.Gain(3.0, 0.1, 20.0, "1/s")
    idle = sim.Gain(1.0, 0.0, 2.0)
    left = sim.Gain(1.0, 0.5, 2.0)
    right = sim.Gain(1.0, 0.5, 2.0)
    rate_hz = 50

    def start(self, vehicle, state):
        return {"mass": vehicle.values["mass"], "height": state.x[2] + 1.0, "sum": 0.0}

    def control(self, t, state, sticks, memory):
        error = memory["height"] - state.x[2]
        memory["sum"] += error
        acceleration = 9.81 + self.stiffness * error - self.damping * (state.R @ state.v)[2]
        turn = 0.002 * np.sin(3.0 * t) * self.left * self.right
        return memory["mass"] * acceleration / 4.0 + turn * np.array([1.0, -1.0, -1.0, 1.0])


def flown(**gains: float) -> sim.Trajectory:
    return sim.simulate("quadrotor", step=0.01, duration=3.0, controller=Hold(**gains))


def test_gains_are_found_again_in_a_run_and_from_far_away() -> None:
    run = flown(stiffness=7.3, damping=4.4)
    found = sim.identify(
        run.vehicle, run, ["stiffness", "damping"], controller=Hold(stiffness=19.0, damping=0.2)
    )
    assert found.converged
    assert found.values["stiffness"] == pytest.approx(7.3, abs=1e-7)  # 1e-9
    assert found.values["damping"] == pytest.approx(4.4, abs=1e-7)
    assert np.array_equal(flown(**found.values).controls.round(6), run.controls.round(6))


def test_with_noise_gains_lie_within_their_standard_errors() -> None:
    off = []
    for seed in range(4):
        run = flown(stiffness=7.3, damping=4.4)
        noisy = run.controls + 0.05 * np.random.default_rng(seed).normal(size=run.controls.shape)
        found = sim.identify(
            run.vehicle, replace(run, controls=noisy), ["stiffness", "damping"], controller=Hold
        )
        off += [
            (found.values[name] - true) / found.standard_errors[name]
            for name, true in (("stiffness", 7.3), ("damping", 4.4))
        ]
    assert np.abs(off).max() < 4.0  # 2.1
    assert 0.4 < np.std(off) < 1.8  # 1.0


def test_what_a_flight_does_not_tell_is_said() -> None:
    run = flown()
    found = sim.identify(run.vehicle, run, ["stiffness", "idle"], controller=Hold)
    assert found.confounded == (("idle",),)
    assert np.isnan(found.standard_errors["idle"])
    assert "idle is not told by these data" in str(found)
    both = sim.identify(run.vehicle, run, ["left", "right"], controller=Hold)
    assert set(both.confounded[0]) == {"left", "right"}


@pytest.mark.parametrize(
    ("unknown", "said"),
    [
        (["stifness"], "unknown gain 'stifness'; allowed: stiffness"),
        ([], "unknown = \\[\\] is refused; allowed: a list of gains"),
        (["damping", "damping"], "each once"),
        (["mass"], "unknown gain 'mass'; allowed:"),
    ],
)
def test_what_is_no_gain_is_refused_in_a_line(unknown: list[str], said: str) -> None:
    with pytest.raises(sim.InputError, match=said) as refused:
        sim.identify("quadrotor", flown(), unknown, controller=Hold)
    assert "\n" not in str(refused.value)
