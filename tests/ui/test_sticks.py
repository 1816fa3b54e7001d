"""Laws of flying by keys: gentle, centred when let go, nothing stuck."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.commands import PilotInput
from ui.input.desk import HeldKeys
from ui.input.keymap import bindings, vehicle_keys
from ui.input.profile import AXES, RATES, RampRates, combined, moved, ramp, released, same, targets

RAMP = RampRates(away=2.0, back=4.0)
target = st.sampled_from((-1.0, 0.0, 1.0))


@given(st.floats(-1.0, 1.0), target, st.floats(0.0, 0.5))
def test_a_ramp_never_passes_its_target_nor_its_rate(value: float, goal: float, dt: float) -> None:
    new = ramp(value, goal, dt, RAMP)
    assert min(value, goal) - 1e-12 <= new <= max(value, goal) + 1e-12
    assert abs(new - value) <= RAMP.back * dt + 1e-12


@given(st.floats(-1.0, 1.0), target, st.floats(0.001, 0.2))
def test_a_ramp_does_not_depend_on_the_frame_rate(value: float, goal: float, dt: float) -> None:
    fine = value
    for _ in range(10):
        fine = ramp(fine, goal, dt / 10.0, RAMP)
    assert fine == pytest.approx(ramp(value, goal, dt, RAMP), abs=1e-9)


def test_a_tap_is_a_small_deflection_and_holding_a_full_one() -> None:
    tap = moved(PilotInput(), frozenset({"pitch+"}), 0.05)
    assert 0.0 < tap.pitch < 0.2
    held = moved(PilotInput(), frozenset({"pitch+"}), 2.0)
    assert held.pitch == 1.0


def test_letting_go_centres_every_axis_exactly() -> None:
    everything = frozenset(f"{axis}+" for axis in AXES)
    sticks = moved(PilotInput(), everything, 2.0)
    for _ in range(60):
        sticks = moved(sticks, frozenset(), 1.0 / 60.0)
    assert sticks == PilotInput()
    assert all(rates.back > rates.away for rates in RATES.values())


def test_both_sides_at_once_cancel_and_other_actions_are_held_by_name() -> None:
    assert targets(frozenset({"roll+", "roll-"}))["roll"] == 0.0
    assert moved(PilotInput(), frozenset({"brake", "yaw+"}), 0.1).actions == {"brake"}


def test_keyboard_and_stick_add_up_within_the_range() -> None:
    both = combined(PilotInput(roll=0.8, pitch=-0.2), PilotInput(roll=0.7, pitch=0.1))
    assert (both.roll, both.pitch) == (1.0, pytest.approx(-0.1))


def test_an_exact_return_to_the_centre_is_always_told() -> None:
    assert not same(PilotInput(), PilotInput(pitch=1e-6))
    assert same(PilotInput(pitch=0.5), PilotInput(pitch=0.50001))


def test_losing_the_focus_is_hands_off() -> None:
    assert released(PilotInput(pitch=1.0, actions=frozenset({"brake"}))) == PilotInput()


def test_an_action_lasts_while_any_of_its_keys_is_down() -> None:
    keys = HeldKeys(bindings(vehicle_keys("helicopter")))
    keys.press("R")
    keys.press("PAGEUP")
    keys.release("R")
    assert keys.actions == {"throttle+"}
    keys.release("PAGEUP")
    assert keys.actions == frozenset()


def test_unbound_keys_and_stray_releases_are_no_mistake() -> None:
    keys = HeldKeys(bindings(vehicle_keys("helicopter")))
    keys.press("Z")
    keys.release("W")
    assert keys.actions == frozenset()
    keys.press("W")
    keys.release_all()
    assert keys.actions == frozenset()
