"""Laws of identification: known parameters come out of noisy flights, within what it says of its own errors."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sim
from export.channels import write_csv
from export.motion import motion_of_trajectory
from sim.errors import InputError
from sim.take import Take, save_take
from tests.sim.identification.synthetic import NOISE, flown, measured

UNKNOWN = ("mass", "inertia", "drag", "rotor_offset")


def true_vehicle() -> sim.Vehicle:
    return sim.vehicle("helicopter", mass=5.4, inertia=(0.17, 0.33, 0.31), drag=0.12, rotor_offset=0.36)


def first_guess() -> sim.Vehicle:
    return sim.vehicle("helicopter", drag=0.05)


def errors(found: sim.Identified, true: sim.Vehicle) -> np.ndarray:
    """Of all numbers, in standard errors."""
    parts = [
        (np.array(found.values[n]) - np.array(true.values[n])) / np.array(found.standard_errors[n])
        for n in UNKNOWN
    ]
    return np.concatenate([np.atleast_1d(part) for part in parts])


def test_known_parameters_are_recovered_within_three_standard_errors() -> None:
    """Of ten flights with noise; the study of a hundred is `python -m benchmarks.identification`."""
    true, run = true_vehicle(), flown(true_vehicle())
    rows = []
    for seed in range(10):
        found = sim.identify(first_guess(), measured(run, seed), UNKNOWN)
        assert found.converged
        assert found.confounded == ()
        rows.append(errors(found, true))
    within = np.abs(rows) < 3.0
    assert within.all(axis=1).sum() >= 9
    # Errors are as large as they are said to be: their mean square is 1, here of 60; measured 0.83.
    assert 0.5 < np.mean(np.square(rows)) < 1.8


def test_noise_that_is_not_given_turns_out() -> None:
    found = sim.identify(first_guess(), measured(flown(true_vehicle()), 3), UNKNOWN)
    for name, sigma in NOISE.items():
        assert found.noise[name] == pytest.approx(sigma, rel=0.1)  # 600 numbers each: 3 %


def test_poses_alone_are_enough_for_the_same_parameters_told_less_surely() -> None:
    true, recording = true_vehicle(), measured(flown(true_vehicle()), 2)
    whole = sim.identify(first_guess(), recording, UNKNOWN, noise=NOISE)
    poses = sim.identify(first_guess(), recording, UNKNOWN, noise=NOISE, measured=("rotation", "position"))
    assert (np.abs(errors(poses, true)) < 4.0).all()
    assert poses.standard_errors["mass"] > whole.standard_errors["mass"]  # type: ignore[operator]


def test_without_noise_every_digit_comes_back() -> None:
    run = flown(true_vehicle())
    found = sim.identify(first_guess(), run, UNKNOWN)
    for name in UNKNOWN:
        # Measured: 4e-13.
        assert found.values[name] == pytest.approx(true_vehicle().values[name], rel=1e-8)
    assert found.initial.node == pytest.approx(run.nodes[0], abs=1e-8)


def test_what_the_data_cannot_tell_apart_is_said() -> None:
    """A level climb under constant lift tells lift / mass - gravity, and nothing of either."""
    vehicle = sim.vehicle("helicopter", mass=5.2, gravity=9.7)
    run = sim.simulate(vehicle, step=0.02, duration=3.0, controls=[55.0, 0.0, 0.0, 0.0])
    found = sim.identify("helicopter", measured(run, 5), ["mass", "gravity"])
    assert found.confounded == (("mass", "gravity"),)
    assert np.isnan(found.standard_errors["mass"])
    assert "mass and gravity are not told apart by these data" in str(found)
    # What can be told is right: the acceleration.
    values = {name: float(np.max(value)) for name, value in found.values.items()}
    assert 55.0 / values["mass"] - values["gravity"] == pytest.approx(55.0 / 5.2 - 9.7, abs=0.02)
    spinning = sim.vehicle("rigid-body", inertia=(0.2, 0.5, 0.6), gravity=0.0)
    free = sim.simulate(spinning, step=0.02, duration=4.0, initial=spinning.state(omega=(1.0, 2.0, 0.5)))
    alone = sim.identify(spinning, measured(free, 1), ["mass"])
    assert alone.confounded == (("mass",),)
    assert str(alone).endswith("mass is not told by these data")


def test_a_take_and_a_table_are_recordings(tmp_path: Path) -> None:
    run = flown(true_vehicle(), 2.0)
    save_take(Take.of_trajectory(run), tmp_path / "flight.npz")
    write_csv(tmp_path / "flight.csv", [motion_of_trajectory(run)])
    for name in ("flight.npz", "flight.csv"):
        found = sim.identify(first_guess(), tmp_path / name, ["mass"])
        # Other parameters are those of the guess, so that the mass is near, not right.
        assert found.values["mass"] == pytest.approx(5.4, rel=0.05)
    text = (tmp_path / "flight.csv").read_text().splitlines()
    (tmp_path / "gap.csv").write_text("\n".join([*text[:20], *text[23:]]))
    with pytest.raises(InputError, match="allowed: rows evenly apart"):
        sim.identify(first_guess(), tmp_path / "gap.csv", ["mass"])
    (tmp_path / "poor.csv").write_text("\n".join([text[0].replace("u_c", "lift"), *text[1:]]))
    with pytest.raises(InputError, match="u_c is missing"):
        sim.identify(first_guess(), tmp_path / "poor.csv", ["mass"])


def test_a_car_is_identified_on_its_plane() -> None:
    true = sim.vehicle("car", wheelbase=2.9, mass=7.0)
    t = 0.02 * np.arange(200)
    controls = np.stack([0.6 * np.cos(0.9 * t), 0.3 * np.sin(1.7 * t)], axis=1)
    run = sim.simulate(true, step=0.02, duration=4.0, controls=controls)
    rng = np.random.default_rng(4)
    noisy = run.nodes + rng.normal(0.0, 0.003, run.nodes.shape)
    recording = sim.Recording(run.time, noisy, run.controls, frozenset({"rotation", "position", "shape"}))
    found = sim.identify(sim.vehicle("car", mass=7.0), recording, ["wheelbase"])
    error = float(np.max(found.standard_errors["wheelbase"]))
    assert error < 0.2
    assert abs(float(np.max(found.values["wheelbase"])) - 2.9) < 4.0 * error


@pytest.mark.parametrize(
    "unknown, more, told",
    [
        (["mess"], {}, "unknown parameter 'mess'; allowed: mass"),
        ([], {}, "allowed: a list of parameters"),
        (["mass", "mass"], {}, "names a parameter twice"),
        (["rotor_momentum"], {}, "rotor_momentum is 0 in this vehicle"),
        (["mass"], {"noise": {"position": 0.0}}, "standard deviations above 0"),
        (["mass"], {"measured": ["shape"]}, "'shape' was not measured; allowed: rotation, position"),
        (["mass"], {"method": "rkmk54"}, "rkmk54 divides its steps"),
    ],
)
def test_what_cannot_be_identified_is_refused_in_one_line(
    unknown: list[str], more: dict[str, object], told: str
) -> None:
    recording = measured(flown(true_vehicle(), 1.0), 0)
    with pytest.raises(InputError, match=told):
        sim.identify(first_guess(), recording, unknown, **more)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="not one of a car"):
        sim.identify("car", recording, ["mass"])
    short = replace(
        recording, time=recording.time[:2], nodes=recording.nodes[:2], controls=recording.controls[:1]
    )
    with pytest.raises(InputError, match="allowed: three or more"):
        sim.identify(first_guess(), short, ["mass"])
