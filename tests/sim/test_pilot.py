"""Laws of the pilots' parts: rotations, allocation, gains, raw sticks."""

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import sim
from sim.commands import PilotInput
from sim.control import MODES, Sensed, default_mode, flight_modes
from sim.control.airframe import airframe_of
from sim.control.flight import Gains
from sim.groups.numeric import attitude_of, heading_of, level_axes, rotation_log, turn_between
from sim.scene import Start
from sim.vehicle_config import VEHICLE_FOLDER, config_named
from sim.vehicle_config.config import read_config
from sim.vehicle_config.modes import Flying
from sim.vehicle_config.registry import enter_config, fallback
from sim.vehicles import VEHICLES
from tests.sim.simulation_scenes import fly, helicopter_scene, simulation

FULL_SIZE = {
    "mass": 1100.0,
    "inertia": (560.0, 2300.0, 2000.0),
    "rotor_offset": 1.6,
    "tail_offset": 6.2,
}
HOVER = Sensed(np.eye(3), np.array([0.0, 0.0, 50.0]), np.zeros(3), np.zeros(3), 48.0)


@pytest.fixture(params=[{}, FULL_SIZE], ids=["model", "full size"])
def airframe(request):
    return airframe_of(sim.vehicle("helicopter", **request.param))


def paper_wrench(airframe, u):
    """F(gamma) u of the vehicles paper, 4.3.1."""
    lift, tail, pitch, roll = u
    forward, side = math.sin(pitch) * math.cos(roll) * lift, math.sin(roll) * lift
    d_t, d_r = airframe.rotor_offset_m, airframe.tail_offset_m
    up = math.cos(pitch) * math.cos(roll) * lift
    return np.array([d_t * side, d_t * forward, d_r * tail, forward, -side - tail, up])


def test_rotation_vector_inverts_the_exponential_up_to_half_a_turn():
    rng = np.random.default_rng(5)
    for angle in (0.0, 1e-9, 1e-4, 0.7, 2.0, 3.1, math.pi - 1e-5, math.pi):
        axis = rng.normal(size=3)
        R = Rotation.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
        found = rotation_log(R)
        assert np.linalg.norm(found) == pytest.approx(angle, abs=1e-7)
        np.testing.assert_allclose(Rotation.from_rotvec(found).as_matrix(), R, atol=1e-7)


def test_an_attitude_has_the_roof_and_the_heading_it_was_asked_for():
    for heading in (-3.0, 0.4, 2.9):
        up = np.array([0.3, -0.2, 0.9])
        up /= np.linalg.norm(up)
        R = attitude_of(up, heading)
        np.testing.assert_allclose(R.T @ R, np.eye(3), atol=1e-14)
        np.testing.assert_allclose(R[:, 2], up, atol=1e-14)
        assert abs(turn_between(heading, heading_of(R))) < 1e-12


def test_level_axes_exist_at_every_attitude():
    for R in (
        np.eye(3),
        *Rotation.random(50, random_state=2).as_matrix(),
        attitude_nose(1.0),
        attitude_nose(-1.0),
    ):
        ahead, left = level_axes(R)
        assert ahead[2] == left[2] == 0.0
        assert np.linalg.norm(ahead) == pytest.approx(1.0)
        np.testing.assert_allclose(np.cross([0.0, 0.0, 1.0], ahead), left, atol=1e-12)
        assert math.isfinite(heading_of(R))


def attitude_nose(up: float) -> np.ndarray:
    """Nose straight up or down."""
    return Rotation.from_rotvec([0.0, -up * math.pi / 2, 0.0]).as_matrix()


def test_allocated_controls_make_the_wanted_torque_and_lift(airframe):
    rng = np.random.default_rng(0)
    for _ in range(50):
        torque = 0.5 * airframe.angular_authority() * airframe.inertia * rng.uniform(-1, 1, 3)
        lift = airframe.weight_N * rng.uniform(0.8, 1.5)
        made = paper_wrench(airframe, airframe.allocate(torque, lift))
        np.testing.assert_allclose(made[:3], torque, rtol=1e-9, atol=1e-9 * airframe.weight_N)
        assert made[5] == pytest.approx(lift)


def test_allocated_controls_stay_in_range_whatever_is_asked(airframe):
    rng = np.random.default_rng(1)
    for _ in range(50):
        torque, lift = 1e9 * rng.normal(size=3), float(1e9 * rng.normal())
        controls = airframe.allocate(torque, lift)
        assert np.all(controls >= airframe.low)
        assert np.all(controls <= airframe.high)


@pytest.mark.parametrize("dt", [0.001, 0.01, 0.05, 0.25, 0.5])
def test_inner_loops_are_faster_than_outer_ones_and_slow_down_with_the_period(airframe, dt):
    gains = Gains.of(airframe, dt, Flying())
    assert gains.rate > 2.0 * gains.attitude > 4.0 * gains.velocity > 8.0 * gains.position > 0.0
    assert gains.rate * dt <= 0.4 + 1e-12
    assert gains.climb * dt <= 0.4 + 1e-12


@pytest.mark.parametrize("mode", flight_modes(VEHICLES["helicopter"]))
def test_every_mode_lifts_the_weight_in_a_hover_hands_off(mode):
    vehicle = sim.vehicle("helicopter", **FULL_SIZE)
    pilot = MODES[mode]()
    for _ in range(3):
        u = pilot.controls(PilotInput(), HOVER, vehicle, 0.01)
    np.testing.assert_allclose(u, [1100.0 * 9.81, 0.0, 0.0, 0.0], atol=1e-6)


@pytest.mark.parametrize("mode", flight_modes(VEHICLES["helicopter"]))
def test_sticks_have_the_pilots_signs(mode):
    vehicle = sim.vehicle("helicopter", **FULL_SIZE)

    def first(**sticks):
        pilot = MODES[mode]()
        pilot.controls(PilotInput(), HOVER, vehicle, 0.01)
        return pilot.controls(PilotInput(**sticks), HOVER, vehicle, 0.01)

    assert first(pitch=1.0)[2] > 0.0
    assert first(roll=1.0)[3] > 0.0
    assert first(yaw=1.0)[1] < 0.0
    assert first(throttle=1.0)[0] > 1100.0 * 9.81


def test_raw_sticks_move_a_rigid_body_about_its_own_axes():
    body = sim.vehicle("rigid-body")
    u = MODES["raw"]().controls(PilotInput(roll=1.0, yaw=1.0), HOVER, body, 0.01)
    assert u[0] > 0.0
    assert u[1] == 0.0
    assert u[2] < 0.0
    assert not u[3:].any()


def test_raw_sticks_drive_a_boat_ahead_and_turn_it_to_the_stick():
    boat = sim.vehicle("boat")
    sticks = {"ahead": {"pitch": 1.0}, "right": {"roll": 1.0}, "back": {"throttle": -1.0}}
    push = {name: MODES["raw"]().controls(PilotInput(**s), HOVER, boat, 0.01) for name, s in sticks.items()}
    assert push["ahead"].tolist() == [150.0, 150.0]
    assert push["back"].tolist() == [-75.0, -75.0]
    left_thruster, right_thruster = push["right"]
    assert left_thruster > 0.0 > right_thruster
    turned = sim.simulate(boat, step=0.01, duration=2.0, controls=push["right"])
    assert turned.velocity[-1, 0] < -0.1


def test_every_vehicle_has_modes_and_its_default_is_one_of_them():
    for name in sim.vehicles():
        assert default_mode(VEHICLES[name]) in flight_modes(VEHICLES[name])


TUNED = """
[modes.flight]
climb_mps = 2.0
[modes.rate]
yaw_radps = 0.4
[modes.attitude]
tilt_deg = 10.0
[modes.hold]
ahead_mps = 5.0
"""


@pytest.fixture
def tuned(tmp_path: Path) -> Iterator[Path]:
    """Reads the helicopter's config with other numbers of its modes; afterwards it is what it was."""
    before = config_named("helicopter")
    folder = VEHICLE_FOLDER / "helicopter"
    path = tmp_path / "vehicle.toml"
    path.write_text((folder / "vehicle.toml").read_text(encoding="utf-8") + TUNED, encoding="utf-8")
    yield path
    enter_config(type(sim.vehicle("helicopter")), before)


def _flown(mode: str, seconds: float, **sticks: float) -> np.ndarray:
    """(omega_b, v_w) after holding the sticks."""
    running = simulation(helicopter_scene(flight_mode=mode, start=Start(position_w=(0.0, 0.0, 60.0))))
    lane = fly(running, seconds, **sticks)
    return np.concatenate([lane.twist_b[:3], lane.T_wb[:3, :3] @ lane.twist_b[3:]])


def test_a_vehicles_data_tune_its_flight_modes(tuned: Path) -> None:
    """Speeds and rates at full stick are those that its file says, else the usual ones."""
    usual = _flown("hold", 12.0, pitch=1.0), _flown("rate", 2.0, yaw=1.0), _flown("hold", 4.0, throttle=1.0)
    kind = type(sim.vehicle("helicopter"))
    enter_config(kind, read_config(tuned, "vehicle.toml", VEHICLE_FOLDER / "helicopter", kind, fallback()))
    other = _flown("hold", 12.0, pitch=1.0), _flown("rate", 2.0, yaw=1.0), _flown("hold", 4.0, throttle=1.0)
    ahead, round_, up = ((a[k], b[k]) for a, b, k in zip(usual, other, (3, 2, 5), strict=True))
    np.testing.assert_allclose(ahead, (14.0, 5.0), rtol=0.05)
    np.testing.assert_allclose(round_, (-1.2, -0.4), rtol=0.05)
    np.testing.assert_allclose(up, (6.0, 2.0), rtol=0.05)
    tilt = math.radians(10.0)
    pilot = MODES["attitude"]()
    vehicle = sim.vehicle("helicopter", **FULL_SIZE)
    for _ in range(300):
        pilot.controls(PilotInput(pitch=1.0), HOVER, vehicle, 0.01)
    assert pilot._state is not None
    assert np.linalg.norm(pilot._state.level_w) == pytest.approx(9.81 * math.tan(tilt), rel=1e-6)


def test_a_number_of_a_mode_out_of_range_is_one_line(tuned: Path) -> None:
    text = tuned.read_text(encoding="utf-8").replace("ahead_mps = 5.0", "ahead_mps = -5.0")
    tuned.write_text(text, encoding="utf-8")
    with pytest.raises(
        sim.InputError, match=r"modes\.hold\.ahead_mps: -5.0 is refused; allowed: a number from 0"
    ):
        read_config(tuned, "vehicle.toml", None, type(sim.vehicle("helicopter")), fallback())
