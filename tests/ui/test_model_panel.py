"""The page of a vehicle's parts: sliders ask for what they show, poses are kept, bodies are chosen and pushed."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sim.commands import HoldControl, Push, SetCoordinates
from sim.platform.errors import InputError
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicles import known_vehicle
from sim.vehicles.forms.coordinates import coordinates_of, first_coordinates
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.model.panel import ModelFields, actuator_span, draw_model, shown_in
from ui.features.model.view import MOST, POSES, DropPose, KeepPose, Poses, RenamePose
from ui.settings.view_settings import ViewSettings
from ui.window.context import ChangeView

ARM = known_vehicle("six-axis-arm")
BODIES = {name: np.eye(4) for name in ARM.tree.names}


def _shown(**changes: object) -> Snapshot:
    lane = fakes.lane(
        vehicle=ARM.name, mechanics=ARM, node=ARM.default_state().node, controls=ARM.neutral_controls,
        bodies_previous=BODIES, bodies=BODIES, **changes,
    )  # fmt: skip
    return fakes.snapshot(lane, paused=True)


def test_a_joints_slider_sets_it_within_its_limits_and_a_button_sets_it_back(bench: Bench) -> None:
    asked = bench.click("model/joint/shoulder", draw_model, _shown(), at=0.9)
    assert asked
    assert isinstance(asked[-1], SetCoordinates)
    ((name, value),) = asked[-1].values
    limits = next(c for c in coordinates_of(ARM) if c.name == "shoulder")
    assert name == "shoulder"
    assert 0.75 < (value - limits.low) / (limits.high - limits.low) < 1.0
    back = bench.click("model/joint/shoulder/reset", draw_model, _shown())
    assert back == [SetCoordinates((("shoulder", first_coordinates(ARM)["shoulder"]),))]


def test_what_has_no_unit_is_read_without_one_and_angles_in_degrees() -> None:
    roll, steering = coordinates_of(known_vehicle("car"))
    assert (roll.unit, steering.unit) == ("rad", "1")
    assert shown_in(steering) == (1.0, "")
    assert shown_in(roll)[1] == "\N{DEGREE SIGN}"


def test_a_push_that_nobody_has_sized_is_felt_whatever_weighs(bench: Bench) -> None:
    car = known_vehicle("car")
    lane = fakes.lane(
        vehicle=car.name, mechanics=car, node=car.default_state().node, controls=car.neutral_controls,
        bodies_previous={"body": np.eye(4)}, bodies={"body": np.eye(4)}, parameters={"mass": 800.0},
    )  # fmt: skip
    bench.context.view = ViewSettings(chosen="body")
    (push,) = bench.click("model/push/+x", draw_model, fakes.snapshot(lane, paused=True))
    assert push.impulse_w == (400.0, 0.0, 0.0)


def test_an_actuator_is_held_or_springs_back(bench: Bench) -> None:
    control = ARM.controls[0].name
    held = bench.click(f"model/actuator/{control}", draw_model, _shown(), at=0.75)
    assert isinstance(held[0], HoldControl)
    assert held[0].value is not None
    assert held[0].value > 0.0
    assert held[-1].value is not None
    assert bench.click("model/actuators/spring", draw_model, _shown()) == []
    sprung = bench.click(
        f"model/actuator/{control}", draw_model, _shown(held={control: held[0].value}), at=0.75
    )
    assert sprung[-1] == HoldControl(control, None)


def test_a_held_actuators_slider_stays_where_it_was_put_while_time_stands(bench: Bench) -> None:
    control = ARM.controls[0]
    held = _shown(held={control.name: 0.5 * control.high})
    asked = bench.click(f"model/actuator/{control.name}", draw_model, held, at=0.75)
    assert asked == [], "a click on the grab moves nothing"


def test_a_force_slider_reaches_what_a_hand_can_choose_and_what_is_held_beyond() -> None:
    craft = known_vehicle("helicopter")
    lift, tail, pitch, _ = craft.controls
    weight_N = 9.81 * float(next(q.default for q in craft.parameters if q.name == "mass"))
    low, high = actuator_span(lift, 0.0, weight_N / 9.81)
    assert (low, high) == (0.0, pytest.approx(2.5 * weight_N))
    assert actuator_span(lift, 9e5, weight_N / 9.81) == (0.0, 9e5)
    assert actuator_span(tail, -9e4, weight_N / 9.81)[0] == pytest.approx(min(-9e4, -2.5 * weight_N))
    assert actuator_span(pitch, 0.0, weight_N / 9.81) == (pitch.low, pitch.high)
    assert actuator_span(lift, 0.0, 0.0) == (lift.low, lift.high)


def test_poses_are_kept_opened_and_dropped_by_name(bench: Bench) -> None:
    bench.context.of(ModelFields).pose = "low"
    assert bench.click("model/pose/keep", draw_model, _shown()) == [KeepPose("low")]
    kept = Poses().with_one(ARM.name, "low", {"elbow": 0.4, "tail": 1.0})
    bench.context.show(kept)
    assert bench.click("model/pose/low", draw_model, _shown()) == [SetCoordinates((("elbow", 0.4),), "low")]
    assert bench.click("model/pose/low/drop", draw_model, _shown()) == [DropPose("low")]


def test_a_pose_gets_another_name_in_its_place(bench: Bench) -> None:
    kept = Poses().with_one(ARM.name, "low", {"elbow": 0.4}).with_one(ARM.name, "high", {"elbow": 1.0})
    bench.context.show(kept)
    assert bench.click("model/pose/low/rename", draw_model, _shown()) == []
    assert bench.context.of(ModelFields).pose == "low"
    bench.context.of(ModelFields).pose = "crouched"
    assert bench.click("model/pose/keep", draw_model, _shown()) == [RenamePose("low", "crouched")]
    again = kept.renamed(ARM.name, "low", " crouched ")
    assert list(again.of(ARM.name).items()) == [("crouched", {"elbow": 0.4}), ("high", {"elbow": 1.0})]
    for name in ("high", " ", "a\nb"):
        with pytest.raises(InputError):
            kept.renamed(ARM.name, "low", name)


def test_a_chosen_body_is_pushed_by_the_impulse_that_is_set(bench: Bench) -> None:
    body = ARM.tree.names[2]
    bench.context.view = replace(ViewSettings(), chosen=body)
    bench.context.of(ModelFields).impulse_Ns = 2.5
    (push,) = bench.click("model/push/-y", draw_model, _shown())
    assert isinstance(push, Push)
    assert (push.body, push.impulse_w) == (body, (0.0, -2.5, 0.0))
    (changed,) = bench.click("model/show/joints", draw_model, _shown())
    assert isinstance(changed, ChangeView)
    assert changed.view.joints


def test_what_is_not_simulated_has_nothing_to_take_hold_of(bench: Bench) -> None:
    assert bench.frame(draw_model, fakes.snapshot()) == []
    assert not [name for name in bench.context.rects if name.startswith("model/")]


def test_poses_come_back_from_their_file_and_a_damaged_one_is_put_aside(tmp_path: Path) -> None:
    kept = Poses().with_one("arm", " up ", {"elbow": 0.25})
    POSES.write(tmp_path, kept)
    assert POSES.read(tmp_path) == kept
    assert list(kept.of("arm")) == ["up"]
    assert kept.without("arm", "up") == Poses()
    for name in ("", "  ", "a\nb", "x" * 99):
        with pytest.raises(InputError):
            kept.with_one("arm", name, {})
    for k in range(MOST - 1):
        kept = kept.with_one("arm", f"pose {k}", {})
    with pytest.raises(InputError):
        kept.with_one("arm", "one more", {})
    (tmp_path / "poses.json").write_text('{"vehicles": 3}')
    assert POSES.read(tmp_path) == Poses()
    assert (tmp_path / "poses.json.damaged").exists()
