"""Laws of controllers of one's own in a run without a window."""

import copy
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import sim
from sim.controllers import ControlLoop, PilotInput, gains_of, with_gains
from sim.controllers.controller import holds_controller, load_controller

QUADROTOR = sim.vehicle("quadrotor", mass=0.9, inertia=(0.08, 0.07, 0.13))
START = QUADROTOR.state(R=np.eye(3), x=(1.3, -0.4, 2.1), omega=(0.2, -0.1, 0.3), v=(0.5, 0.2, -0.7))


class Climb(sim.Controller):
    """Lifts all rotors alike, by a height's error and its rate."""

    stiffness = sim.Gain(4.0, 0.1, 20.0, "1/s^2", "Acceleration by error.")
    damping = sim.Gain(3.0, 0.1, 20.0, "1/s")
    rate_hz = 50

    def start(self, vehicle, state):
        return {"mass": vehicle.values["mass"], "calls": 0}

    def control(self, t, state, sticks, memory):
        memory["calls"] += 1
        error, rate = 3.0 - state.x[2], (state.R @ state.v)[2]
        self.plot("error", error, "m")
        return np.full(4, memory["mass"] * (9.81 + self.stiffness * error - self.damping * rate) / 4.0)


def flown(controller, **more):
    """A trajectory of 2 s."""
    return sim.simulate(
        QUADROTOR, "variational", step=0.004, duration=2.0, initial=START, controller=controller, **more
    )


def test_a_controller_comes_to_what_it_wants() -> None:
    calm = QUADROTOR.state(x=(1.3, -0.4, 2.1))
    traj = sim.simulate(QUADROTOR, step=0.004, duration=8.0, initial=calm, controller=Climb())
    assert abs(traj.pose[-1, 2, 3] - 3.0) < 1e-4  # 1.4e-5 measured


def test_controls_are_held_between_calls_at_the_controllers_rate() -> None:
    traj = flown(Climb())
    changes = np.flatnonzero(np.any(np.diff(traj.controls, axis=0) != 0.0, axis=1)) + 1
    assert (changes % 5 == 0).all(), "20 ms of 4 ms steps"
    assert len(changes) == 99


def test_recorded_controls_lead_to_the_same_bits_without_the_controller() -> None:
    traj = flown(Climb(stiffness=6.0))
    again = sim.simulate(
        QUADROTOR, "variational", step=0.004, duration=2.0, initial=START, controls=traj.controls
    )
    assert np.array_equal(again.nodes, traj.nodes)


def test_what_it_plots_is_there_at_every_node_but_the_last() -> None:
    traj = flown(Climb)
    error = traj.plotted["error"]
    assert np.isnan(error[-1])
    assert np.array_equal(error[:-1:5], 3.0 - traj.pose[:-1:5, 2, 3])


def test_gains_are_numbers_within_their_ranges() -> None:
    assert list(gains_of(Climb)) == ["stiffness", "damping"]
    assert Climb(stiffness=7.5).stiffness == 7.5
    changed = with_gains(Climb(stiffness=7.5), {"damping": 2.0})
    assert (changed.stiffness, changed.damping) == (7.5, 2.0)
    for wrong, answer in (
        (
            {"stiffness": 21.0},
            "controller Climb: stiffness = 21.0 is out of range; allowed: 0.1 to 20 1/s\\^2",
        ),
        ({"stiffnes": 1.0}, "unknown gain 'stiffnes'; allowed: stiffness, damping"),
        ({"damping": "much"}, "damping"),
    ):
        with pytest.raises(sim.InputError, match=answer):
            Climb(**wrong)
    with pytest.raises(sim.InputError, match="low <= default <= high"):
        sim.Gain(3.0, 4.0, 5.0)


def test_controls_are_kept_within_their_ranges() -> None:
    class Wild(sim.Controller):
        def control(self, t, state, sticks, memory):
            return (1e9, -1e9, 2.0, 3.0)

    assert flown(Wild).controls[7].tolist() == [8.0, 0.0, 2.0, 3.0]


@pytest.mark.parametrize(
    ("body", "answer"),
    [
        ("return 1.0 / 0.0", r"controller Own \(own.py, line 6\): ZeroDivisionError: float division by zero"),
        ("return (1.0, 2.0)", r"control\(\) gave \(1.0, 2.0\); allowed: 4 numbers for front_left"),
        ("return (1.0, 2.0, 3.0, float('nan'))", "numbers that are not finite"),
        ("return 'up'", "gave 'up'; allowed: 4 numbers"),
        ("raise SystemExit(3)", r"line 6\): SystemExit: 3"),
        ("return state.gps.x_w", r"line 6\): AttributeError: 'State' object has no attribute 'gps'"),
    ],
)
def test_what_goes_wrong_is_one_line_with_its_place(tmp_path: Path, body: str, answer: str) -> None:
    file = tmp_path / "own.py"
    head = "import sim\n\n\nclass Own(sim.Controller):\n    def control(self, t, state, sticks, memory):\n"
    file.write_text(f"{head}        {body}\n", encoding="utf-8")
    kind, _ = load_controller(str(file), (tmp_path,), trusted=True)
    with pytest.raises(sim.InputError, match=answer):
        flown(kind)


def test_a_call_that_does_not_come_back_is_ended_and_nothing_follows_it() -> None:
    class Endless(sim.Controller):
        def control(self, t, state, sticks, memory):
            while True:
                with suppress(Exception):  # would swallow what is no BaseException
                    t += 1.0

    loop = ControlLoop(Endless(), QUADROTOR, deadline_s=0.05)
    for call in range(3):
        with pytest.raises(
            sim.InputError, match=r"controller Endless \(test_controller.py, line \d+\): a call took"
        ):
            loop.controls(float(call), START, PilotInput())
    sum(range(100_000))  # an exception that came late would come here


@pytest.mark.skipif(not hasattr(time, "pthread_getcpuclockid"), reason="tells no time of a thread")
def test_a_call_that_other_programs_hold_up_is_not_ended_and_one_that_sleeps_on_is() -> None:
    class Waiting(sim.Controller):
        def control(self, t, state, sticks, memory):
            end_s = time.monotonic() + t
            while time.monotonic() < end_s:
                time.sleep(0.005)
            return np.full(4, 1.0)

    loop = ControlLoop(Waiting(), QUADROTOR, deadline_s=0.05)
    assert np.array_equal(loop.controls(0.2, START, PilotInput()), np.full(4, 1.0))
    with pytest.raises(sim.InputError, match="a call took more than"):
        loop.controls(20.0, START, PilotInput())


def test_a_copy_goes_on_by_itself_with_the_memory_as_it_is() -> None:
    loop = ControlLoop(Climb(), QUADROTOR)
    first = loop.controls(0.0, START, PilotInput())
    other = copy.deepcopy(loop)
    assert np.array_equal(other.controls(0.0, START, PilotInput()), first), "held"
    other.controls(0.02, START, PilotInput())
    assert (loop.memory["calls"], other.memory["calls"]) == (1, 2)


def test_a_file_is_known_for_a_controllers_without_being_run(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text("raise SystemExit\nclass A(sim.Controller): pass\n", encoding="utf-8")
    assert holds_controller(file)
    file.write_text("class A(sim.Vehicle): pass\n", encoding="utf-8")
    assert not holds_controller(file)
    file.write_text("class A(sim.Controller:\n", encoding="utf-8")
    assert not holds_controller(file)


def test_nothing_of_a_file_is_run_that_is_not_trusted(tmp_path: Path) -> None:
    file = tmp_path / "own.py"
    file.write_text(f"open({str(tmp_path / 'ran')!r}, 'w')\n", encoding="utf-8")
    with pytest.raises(sim.InputError, match="not trusted"):
        load_controller(str(file), (tmp_path,))
    assert not (tmp_path / "ran").exists()


class Measuring(sim.Controller):
    """Hovers open loop, and keeps what it was given."""

    sensors = ("imu", "gps", "range_finder", "encoder")

    def start(self, vehicle, state):
        return {"hover": vehicle.values["mass"] * 9.81 / 4.0, "read": []}

    def control(self, t, state, sticks, memory):
        memory["read"].append((t, state))
        return np.full(4, memory["hover"])


def test_sensors_measure_late_at_their_rates_with_noise_that_repeats() -> None:
    runs = []
    for _ in range(2):
        loop = ControlLoop(Measuring(), QUADROTOR)
        still = QUADROTOR.state(x=(1.3, -0.4, 2.1))
        for k in range(400):
            loop.controls(k * 0.01, still, PilotInput(), 2.0)
        runs.append(loop.memory["read"])
    one, other = runs
    assert all(
        np.array_equal(a.imu.accel_b, b.imu.accel_b) for (_, a), (_, b) in zip(one, other, strict=True)
    )
    assert one[5][1].gps is None, "0.1 s late"
    assert len({state.gps.time_s for _, state in one[20:]}) == 38, "10 Hz over 3.8 s"
    for t, state in one[20:]:
        assert 0.1 - 1e-9 <= t - state.gps.time_s < 0.2 + 1e-9
    accel = np.array([state.imu.accel_b for _, state in one])
    assert (
        np.abs(accel.mean(axis=0) - [0.0, 0.0, 9.81]).max() < 0.01
    )  # 0.05 of a sample: 0.0025 of their mean
    assert abs(accel.std() - np.array([0.0, 0.0, 9.81]).std()) < 0.05
    places = np.array([state.gps.x_w for _, state in one[20:]])
    assert 0.2 < np.std(places - [1.3, -0.4, 2.1]) < 0.6  # 0.4 as the vehicle says


def test_sensors_of_a_vehicle_are_data_of_its_file(tmp_path: Path) -> None:
    from sim.platform.toml_table import TomlTable
    from sim.vehicle_config.instruments import read_sensing

    sensing = read_sensing(TomlTable("own", {"gps": {"rate_hz": 5.0, "place_m": 2.0}}))
    assert (sensing.gps.rate_hz, sensing.gps.noise["place"], sensing.gps.delay_s) == (5.0, 2.0, 0.1)
    with pytest.raises(sim.InputError, match="gps"):
        read_sensing(TomlTable("own", {"gps": {"place_mm": 2.0}}))
    with pytest.raises(sim.InputError, match=r"the pendulum carries no imu; allowed: encoder"):
        ControlLoop(Measuring(), sim.vehicle("pendulum"))
