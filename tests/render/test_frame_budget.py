"""Laws of the frame budget, on a machine made up: a frame takes a fixed part and one that goes with the area."""

from itertools import pairwise

import pytest

from render.frame_budget import EFFORTS, FLUENT, LATE_S, SHARP, FrameBudget, detail, scale
from render.quality import PRESETS, Quality


def run(
    budget: FrameBudget, fixed_s: float, area_s: float, seconds: float, *, moves: bool = True
) -> list[float]:
    """The efforts of the frames, each as long as its effort makes it."""
    efforts, spent_s = [], 0.0
    while spent_s < seconds:
        frame_s = fixed_s + area_s * budget.effort**2
        spent_s += frame_s
        efforts.append(budget.observe(frame_s, moves=moves))
    return efforts


@pytest.mark.parametrize("area_s", [0.01, 0.03, 0.05, 0.08, 0.1])
def test_thirty_frames_a_second_are_held_where_an_effort_can_and_no_effort_is_given_away(
    area_s: float,
) -> None:
    fixed_s = 0.006
    last = run(FrameBudget(), fixed_s, area_s, 30.0)[-1]
    in_time = [effort for effort in EFFORTS if fixed_s + area_s * effort**2 <= 1.08 / 30.0]
    assert EFFORTS.index(last) - EFFORTS.index(in_time[0]) in (0, 1)  # at most one step below the best


def test_the_effort_settles() -> None:
    efforts = run(FrameBudget(), 0.006, 0.05, 40.0)
    half = efforts[len(efforts) // 2 :]
    assert sum(a != b for a, b in pairwise(half)) == 0


def test_a_picture_at_rest_is_whole_and_moving_takes_up_the_former_effort_at_once() -> None:
    budget = FrameBudget()
    moving = run(budget, 0.006, 0.09, 20.0)[-1]
    assert moving < 1.0
    assert run(budget, 0.006, 0.09, 2.0, moves=False)[-1] == 1.0
    assert run(budget, 0.006, 0.09, 0.01)[0] == moving


def test_a_picture_at_rest_gets_more_than_its_qualitys_own_scale_where_that_is_less_than_the_windows() -> (
    None
):
    budget = FrameBudget()
    moving = run(budget, 0.006, 0.09, 20.0)[-1]
    for _ in range(60):
        budget.observe(0.05, moves=False, whole=2.0)
    assert budget.effort == 2.0
    assert run(budget, 0.006, 0.09, 0.01)[0] == moving


@pytest.mark.parametrize("quality", PRESETS.values(), ids=PRESETS)
@pytest.mark.parametrize("size", [(320, 200), (1280, 800), (3840, 2160)])
def test_a_whole_picture_has_every_pixel_of_the_window(quality: Quality, size: tuple[int, int]) -> None:
    drawn = quality.scene_px(size, effort=quality.whole_effort(size))
    assert all(px >= shown for px, shown in zip(drawn, size, strict=True))


@pytest.mark.parametrize(("sharp", "kept"), [(True, SHARP), (False, FLUENT)])
def test_less_than_what_is_asked_for_is_for_fewer_than_fifteen_pictures_a_second(
    sharp: bool, kept: float
) -> None:
    """Of who wants sharp pictures four fifths of the scale, of who wants fluent ones half of it, which is the least."""
    for slow_s, less in ((0.06, False), (0.12, True)):  # at the effort kept, all of it by area
        budget = FrameBudget(sharp=sharp)
        for _ in range(2000):
            budget.observe(slow_s * (budget.effort / kept) ** 2, moves=True)
        assert (budget.effort < kept) == (less and sharp)
        assert budget.effort <= kept


def test_less_of_what_is_small_and_far_is_drawn_before_the_scale_falls_which_never_is_below_half() -> None:
    scales, details = [scale(effort) for effort in EFFORTS], [detail(effort) for effort in EFFORTS]
    assert scales == sorted(scales, reverse=True)
    assert details == sorted(details, reverse=True)
    first = next(k for k, each in enumerate(scales) if each < 1.0)
    assert details[first - 1] == min(details) < details[0]
    assert min(scales) == 0.5


def test_a_step_that_is_known_not_to_be_in_time_is_not_tried_again() -> None:
    """A power law has 0.8 in time where all but the scale's own part is fixed; once measured it is left alone."""
    budget, efforts = FrameBudget(), []
    for _ in range(6000):
        frame_s = 0.040 if budget.effort > 0.75 else 0.020
        efforts.append(budget.observe(frame_s, moves=True))
    changes = [b for a, b in pairwise(efforts) if a != b]
    assert changes[-1] == 0.7
    assert len([effort for effort in changes if effort > 0.75]) <= 4


def test_where_nothing_helps_it_is_told() -> None:
    budget = FrameBudget()
    run(budget, 0.2, 0.0, 30.0)
    assert budget.effort == EFFORTS[-1]
    assert budget.overspent


def test_a_quality_is_drawn_at_the_efforts_share_of_its_scale() -> None:
    assert PRESETS["software"].scene_px((1280, 800)) == (1280, 800)
    assert PRESETS["software"].scene_px((1280, 800), effort=0.5) == (640, 400)


def test_motion_that_is_late_gets_time_by_detail_first_then_by_pictures_beyond_fifteen_a_second() -> None:
    budget, share_s, efforts = FrameBudget(), 0.02, []
    for _ in range(2000):  # motion is in time where pictures leave it a share of every second
        frame_s = max(0.004 + 0.025 * budget.effort**2, budget.shortest_s)
        drawn_s = 0.004 + 0.025 * budget.effort**2
        late = frame_s - drawn_s < share_s and budget.shortest_s == 0.0
        efforts.append(budget.observe(frame_s, moves=True, late=late))
        if budget.shortest_s:
            break
    assert efforts[-1] == EFFORTS[-1]
    assert set(efforts) == set(EFFORTS)  # one step after the other
    assert budget.shortest_s == LATE_S


def test_pictures_take_no_more_again_before_motion_has_been_in_time_for_a_while() -> None:
    budget = FrameBudget()
    for _ in range(1500):
        budget.observe(0.01, moves=True, late=True)
    assert (budget.effort, budget.shortest_s) == (EFFORTS[-1], LATE_S)
    for _ in range(70):
        assert budget.observe(LATE_S, moves=True) == EFFORTS[-1]
    assert budget.shortest_s == LATE_S
    assert run(budget, 0.004, 0.01, 20.0)[-1] == EFFORTS[0]
    assert budget.shortest_s == 0.0


def test_where_time_stands_what_does_not_move_is_whole_with_the_next_picture() -> None:
    budget = FrameBudget()
    moving = run(budget, 0.006, 0.09, 20.0)[-1]
    assert budget.observe(0.04, moves=True, stands=True, whole=2.0) == moving
    assert budget.observe(0.04, moves=False, stands=True, whole=2.0) == 2.0
    assert budget.observe(0.04, moves=True, stands=True, whole=2.0) == moving
    assert budget.observe(0.04, moves=False, whole=2.0) == moving
