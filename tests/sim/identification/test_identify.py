"""Laws of identification: known parameters come out of noisy flights, within what it says of its own errors."""

import threading
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sim
from export.file import export_motions
from export.motion import motion_of_trajectory
from sim.analysis.identify import identify_in_process
from sim.environment.environment import environment_of
from sim.integrators import DEFAULT, integrator
from sim.platform.errors import InputError
from sim.platform.processes import GivenUp
from sim.recordings import Take, save_take
from sim.recordings.segment import ImpulseLog
from sim.recordings.take import segment_of
from sim.vehicles.forms.form import Form
from sim.world import load_world
from tests.sim.identification.synthetic import NOISE, flown, measured

UNKNOWN = ("mass", "inertia", "drag", "rotor_offset")
UNMEASURED = [name for name in sim.vehicles() if sim.vehicle(name).form is Form.GROUP_ACTION]


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
    export_motions(tmp_path / "flight.csv", [motion_of_trajectory(run)])
    for name in ("flight.npz", "flight.csv"):
        found = sim.identify(first_guess(), tmp_path / name, ["mass"])
        # Other parameters are those of the guess, so that the mass is near, not right.
        assert found.values["mass"] == pytest.approx(5.4, rel=0.05)
    text = (tmp_path / "flight.csv").read_text().splitlines()
    (tmp_path / "gap.csv").write_text("\n".join([*text[:20], *text[23:]]))
    with pytest.raises(InputError, match="allowed: moments evenly apart"):
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
        (["mass"], {"noise": {"position": 0.0}}, "noise of position = 0.0 is refused; allowed: above 0"),
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


def test_recordings_that_do_not_fit_together_are_refused_in_one_line() -> None:
    run = flown(true_vehicle(), 1.0)

    def recording(**other: np.ndarray) -> sim.Recording:
        given = {"time": run.time, "nodes": run.nodes, "controls": run.controls}
        return sim.Recording(**{**given, **other}, measured=frozenset({"rotation", "velocity"}))  # type: ignore[arg-type]

    with pytest.raises(InputError, match="moments evenly apart"):
        recording(time=run.time[::-1])
    with pytest.raises(InputError, match="a recording of 51 moments, 7 states and 50 inputs"):
        recording(nodes=run.nodes[:7])
    with pytest.raises(InputError, match="51 states and 5 inputs"):
        recording(controls=run.controls[:5])
    gap = run.nodes.copy()
    gap[3, run.vehicle.node_layout.velocity.start] = np.nan  # omega, which was not measured
    assert sim.identify(first_guess(), recording(nodes=gap), ["mass"]).converged
    gap[4, run.vehicle.node_layout.velocity.stop - 1] = np.nan
    with pytest.raises(InputError, match=r"velocity at t = 0\.08 s is not finite"):
        sim.identify(first_guess(), recording(nodes=gap), ["mass"])
    within = sim.simulate("helicopter", step=0.02, duration=0.2, controls=lambda t, state: np.full(4, t))
    with pytest.raises(InputError, match="controls are a function, which changes within its steps"):
        sim.identify("helicopter", within, ["mass"])


def test_of_a_take_the_longest_flight_that_nothing_else_acts_on_is_believed() -> None:
    """A helicopter sinks onto the plain, lies there for a while and is lifted off; later it is struck."""
    true, world, h = true_vehicle(), load_world("plain", seed=7), 0.02
    x, y, z = world.pads[0].centre_w
    weight = 5.4 * 9.81
    t = h * np.arange(340)
    lift = np.where(t < 2.4, 0.95 * weight, np.where(t < 3.6, 0.0, 1.8 * weight))
    up = np.maximum(t - 3.8, 0.0)
    stirred = [0.1 * np.sin(2.3 * up), 0.01 * np.sin(4.7 * up), 0.01 * np.sin(3.9 * up)]
    controls = np.stack([lift, *stirred], axis=1)
    start = true.state(x=(x, y, z + 3.0), v=(0.2, 0.0, 0.0))
    on_pad = true.state(x=(x, y, z + 1.4))
    segment = segment_of(true, integrator(DEFAULT), h, start.node[None], controls)
    on_ground = replace(
        segment, contact=True, memories=np.zeros((1, environment_of(true, world).checkpoint().size))
    )
    take = Take(name="hop", segments=(on_ground,), world=world.name, seed=world.seed)
    recording = sim.Recording.of(take, true)
    assert 3.6 < recording.time[0] < 4.0
    assert recording.time[-1] == pytest.approx(take.end_s)
    found = sim.identify(first_guess(), take, UNKNOWN)
    assert found.values["mass"] == pytest.approx(5.4, rel=1e-8)  # measured: 1e-13
    nothing = np.zeros((0, 0)), np.zeros(0, np.int64)
    struck = ImpulseLog(np.array([330]), np.array([[0.0, 0.0, 0.0, 5.0, 0.0, 0.0]]), *nothing)
    short = sim.Recording.of(replace(take, segments=(replace(on_ground, impulse_log=struck),)), true)
    standing = replace(
        on_ground, steps=2, change_steps=segment.change_steps[:1], controls=segment.controls[:1]
    )
    standing = replace(
        standing, states=segment_of(true, segment.integrator, h, on_pad.node[None], controls).states
    )
    with pytest.raises(InputError, match='take "hop": ground or pushes act all the time'):
        sim.Recording.of(replace(take, segments=(standing,)), true)
    assert short.time[0] == recording.time[0]
    assert short.time[-1] == pytest.approx(330 * h)


def test_beside_the_caller_the_same_is_found_and_an_end_is_heard_at_once() -> None:
    run, heard = flown(true_vehicle(), 2.0), []
    recording, given_up = measured(run, 1), threading.Event()
    here = sim.identify(first_guess(), recording, ["mass", "drag"])
    there = identify_in_process(
        first_guess(),
        recording,
        ("mass", "drag"),
        progress=lambda *told: heard.append(told),
        given_up=given_up,
    )
    assert there.values == here.values
    assert there.standard_errors == here.standard_errors
    assert [number for number, _ in heard] == list(range(1, here.iterations + 1))
    assert heard[0][1] == {"mass": 5.0, "drag": 0.05}
    with pytest.raises(InputError, match="unknown parameter 'weight'"):
        identify_in_process(
            first_guess(), recording, ("weight",), progress=lambda *told: None, given_up=given_up
        )
    given_up.set()
    with pytest.raises(GivenUp):
        identify_in_process(
            first_guess(), recording, ("mass",), progress=lambda *told: None, given_up=given_up
        )


def test_what_water_carries_is_refused() -> None:
    boat = sim.vehicle("motorboat")
    rows = np.repeat(boat.default_state().node[None], 4, axis=0)
    recording = sim.Recording(
        0.02 * np.arange(4), rows, np.zeros((3, len(boat.controls))), frozenset(["position"])
    )
    with pytest.raises(InputError, match="the water that carries a motorboat has no derivatives"):
        sim.identify(boat, recording, ["mass"])


@pytest.mark.parametrize("name", UNMEASURED)
def test_what_has_no_group_is_refused_in_one_line(name: str) -> None:
    vehicle = sim.vehicle(name)
    unknown = [q.name for q in vehicle.parameters][:1]
    with pytest.raises(InputError, match=rf"^[^\n]* {name} [^\n]*allowed: vehicles [^\n]*$"):
        sim.identify(vehicle, sim.simulate(vehicle, step=0.01, duration=0.1), unknown)


def test_how_tall_a_ragdoll_is_shows_in_how_it_flails() -> None:
    """A tree of more unknowns than are written out: its derivatives are those of compiled steps."""
    tall = sim.vehicle("ragdoll", stature=1.83)
    t = 0.01 * np.arange(20)
    controls = np.outer(np.cos(11.0 * t), np.linspace(2.0, 6.0, len(tall.controls)))
    run = sim.simulate(tall, step=0.01, duration=0.2, controls=controls)
    found = sim.identify(sim.vehicle("ragdoll", stature=1.7), run, ["stature"])
    assert found.values["stature"] == pytest.approx(1.83, rel=1e-6)


def test_a_pushers_forearm_is_identified_in_the_air() -> None:
    """Its mass, while both joints are turned and the box, which nothing touches without ground, falls."""
    t = 0.01 * np.arange(40)
    controls = np.stack([20.0 * np.cos(9.0 * t), 8.0 * np.cos(14.0 * t)], axis=1)
    arm = sim.vehicle("pusher", hold=0.0, forearm_mass=2.5)
    run = sim.simulate(arm, "riqn", step=0.01, duration=0.4, controls=controls)
    found = sim.identify(sim.vehicle("pusher", hold=0.0), run, ["forearm_mass"])
    assert found.values["forearm_mass"] == pytest.approx(2.5, rel=1e-9)


def test_a_quadrupeds_legs_are_identified_in_the_air() -> None:
    """Their mass, while hips and knees of both diagonals are turned against each other."""
    t = 0.01 * np.arange(20)
    turned = np.stack([1.5 * np.cos(20.0 * t), 0.8 * np.cos(25.0 * t)], axis=1)
    controls = np.concatenate([turned, turned, -turned, -turned], axis=1)
    run = sim.simulate(
        sim.vehicle("quadruped", leg_mass=1.5), "riqn", step=0.01, duration=0.2, controls=controls
    )
    found = sim.identify("quadruped", run, ["leg_mass"])
    assert found.values["leg_mass"] == pytest.approx(1.5, rel=1e-9)


def test_a_hoppers_leg_is_identified_in_the_air() -> None:
    """A planar tree that is free: of its leg the mass, while hip and leg are pushed to and fro between their stops."""
    t = 0.01 * np.arange(40)
    controls = np.stack([0.3 * np.cos(9.0 * t), 4.0 * np.cos(14.0 * t)], axis=1)
    run = sim.simulate(
        sim.vehicle("hopper", leg_mass=0.8), "riqn", step=0.01, duration=0.4, controls=controls
    )
    found = sim.identify("hopper", run, ["leg_mass"])
    assert found.values["leg_mass"] == pytest.approx(0.8, rel=1e-9)  # measured 2e-13
