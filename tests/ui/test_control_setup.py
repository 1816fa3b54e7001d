"""Laws of the user's own controls: what an axis does, whose a key is, and that files come back as they were."""

import json
from pathlib import Path

import pytest

import sim
from sim.platform.errors import InputError
from ui.input.control_setup import FILE, ControlSetup, read_controls
from ui.input.keymap import VIEWER, VIEWER_KEYS, OwnKeys, keymap_of, vehicle_keys
from ui.input.profile import (
    AxisUse,
    Calibration,
    DeviceNow,
    ForAxis,
    ForKey,
    ForRange,
    Profile,
    Response,
    flown,
)

LEVER = AxisUse("z", "throttle", Calibration(-0.2, 0.1, 0.9), Response(deadzone=0.0, expo=0.0))


def stick(**axes: float) -> DeviceNow:
    return DeviceNow("guid", "Stick", False, dict(axes), set(axes), buttons=("0",))


def test_a_lever_that_holds_moves_what_it_is_assigned_to_and_leaves_it_there() -> None:
    profile = Profile(
        "guid", "Stick", (AxisUse("z", "throttle", LEVER.calibration, LEVER.response, holds=True),)
    )
    held: dict[str, float] = {}
    for _ in range(50):
        pilot = flown(stick(z=0.5), profile, vehicle_keys(""), held, 0.01)
    assert pilot.throttle == pytest.approx(0.8 * 0.5 * 0.5)  # rate x deflection x time
    assert flown(stick(z=0.1), profile, vehicle_keys(""), held, 0.01).throttle == pilot.throttle
    for _ in range(500):
        pilot = flown(stick(z=0.9), profile, vehicle_keys(""), held, 0.01)
    assert pilot.throttle == 1.0


def test_an_axis_has_one_meaning_and_a_meaning_one_axis() -> None:
    profile = Profile("guid", "Stick", (LEVER, AxisUse("x", "roll")))
    assert {use.source: use.target for use in profile.with_axis(AxisUse("x", "throttle")).axes} == {
        "x": "throttle"
    }


def test_what_is_moved_far_is_assigned_and_its_range_is_learnt(tmp_path: Path) -> None:
    setup, device = ControlSetup(tmp_path), stick(x=0.05, rx=0.0)
    setup.listen(ForAxis("yaw"), (device,))
    device.axes["x"] = 0.4  # not far enough
    setup.hear((device,))
    device.axes["rx"] = 0.7
    setup.hear((device,))
    use = next(use for use in setup.profiles["guid"].axes if use.target == "yaw")
    assert (use.source, use.response.inverted, setup.listening) == ("rx", False, None)
    device.axes["rx"] = 0.02
    setup.listen(ForRange("guid", "rx"), (device,))
    for value in (-0.6, 0.8, 0.1):
        device.axes["rx"] = value
        setup.hear((device,))
    use = next(use for use in setup.profiles["guid"].axes if use.target == "yaw")
    assert use.calibration == Calibration(-0.6, 0.02, 0.8)
    assert ControlSetup(tmp_path).profiles == setup.profiles


@pytest.mark.parametrize("vehicle", sim.vehicles())
def test_whatever_key_is_chosen_no_key_stands_twice(vehicle: str) -> None:
    for scope, action in ((vehicle, keymap_of(vehicle).vehicle[0].action if keymap_of(vehicle).vehicle else ""),
                          (VIEWER, "pause"), (VIEWER, "trail")):  # fmt: skip
        for key in ("W", "SPACE", "L", "F5", "CTRL+Z"):
            keymap = keymap_of(vehicle, OwnKeys().with_keys(scope, action, (key,)))
            keys = [k for table in (keymap.vehicle, keymap.viewer) for b in table for k in b.keys]
            assert len(keys) == len(set(keys))
            bound = keymap.binding(scope, action)
            taken = scope == VIEWER and any(key in b.keys for b in keymap.vehicle)
            if bound is not None:
                assert bound.keys == (() if taken else (key,))


def test_a_taken_key_is_a_conflict_until_it_is_settled(tmp_path: Path) -> None:
    setup = ControlSetup(tmp_path)
    pause = next(b for b in VIEWER_KEYS if b.action == "pause")
    setup.listen(ForKey("helicopter", "yaw+"), ())
    assert setup.hear_key("SPACE", "helicopter")
    assert setup.conflict is not None
    assert setup.conflict.label == pause.label
    setup.settle("helicopter", take=False)
    assert setup.keys == OwnKeys()
    setup.listen(ForKey("helicopter", "yaw+"), ())
    setup.hear_key("SPACE", "helicopter")
    setup.settle("helicopter", take=True)
    keymap = keymap_of("helicopter", setup.keys)
    assert keymap.keys_of(("yaw+",)) == "Space"
    assert keymap.first("pause") == "K"
    setup.usual_keys(VIEWER, "pause")
    setup.usual_keys("helicopter", "yaw+")
    assert keymap_of("helicopter", setup.keys) == keymap_of("helicopter")


def test_exported_controls_come_back_as_they_were(tmp_path: Path) -> None:
    setup = ControlSetup(tmp_path)
    setup.set_profile(Profile("guid", "Stick", (LEVER,), {"0": "pause"}))
    setup.keys = OwnKeys().with_keys("car", "yaw+", ("J",))
    path = setup.export("my stick", tmp_path / "out")
    (tmp_path / "other").mkdir()
    other = ControlSetup(tmp_path / "other")
    other.take_over(path)
    assert (other.profiles, other.keys) == (setup.profiles, setup.keys)


GOOD = {
    "version": 1,
    "profiles": [{"guid": "g", "name": "n", "axes": [{"source": "x", "target": "roll"}], "buttons": {}}],
    "keys": [{"scope": "", "action": "pause", "keys": ["J"]}],
}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"version": 2}, "allowed: 1"),
        ({"keys": [{"scope": "", "action": "pause", "keys": ["rm -rf"]}]}, "allowed: a key's name"),
        ({"keys": [{"scope": "", "action": a, "keys": ["J"]} for a in ("pause", "step")]}, "stands twice"),
        ({"profiles": [{"guid": "g", "name": "n", "axes": [{"source": "x", "target": "warp"}]}]}, "allowed: pitch"),
        ({"profiles": [{"guid": "g", "name": "n", "axes": [
            {"source": "x", "target": "roll", "response": {"deadzone": 1e300}}]}]}, "allowed: 0 to 0.9"),
        ({"profiles": [{"guid": "g" * 500, "name": "n"}]}, "printable"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_is_refused_in_one_line(change: dict, told: str, tmp_path: Path) -> None:
    path = tmp_path / "a.controls.json"
    path.write_text(json.dumps(GOOD))
    read_controls(path)
    path.write_text(json.dumps({**GOOD, **change}))
    with pytest.raises(InputError, match=told) as refusal:
        read_controls(path)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize("text", ["", "[" * 5000, '{"version": 1}', '{"version": NaN}', "\x00"])
def test_broken_controls_are_set_aside_and_the_usual_ones_count(text: str, tmp_path: Path) -> None:
    (tmp_path / FILE).write_text(text)
    setup = ControlSetup(tmp_path)
    assert (setup.profiles, setup.keys) == ({}, OwnKeys())
    assert [path.name for path in tmp_path.iterdir()] == [f"{FILE}.damaged"]
