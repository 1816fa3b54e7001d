"""Laws of the clock: what is due does not depend on how wall time was cut into frames, nor on when it is paid."""

import math

import numpy as np
import pytest

from sim.simulation.lanes.lane import due_steps
from sim.simulation.runs.scene_run import MOST_DEBT_S, Clock


@pytest.mark.parametrize("step_s", [0.001, 0.0041, 0.01, 0.25, 0.5])
def test_due_steps_depend_on_elapsed_time_and_not_on_frames(step_s):
    rng = np.random.default_rng(1)
    for frames in (rng.uniform(0.001, 0.1, 400), np.full(1000, 1 / 60), np.full(40, 0.05)):
        clock = Clock()
        for frame in frames:
            clock.ask(frame)
            clock.time_s += clock.owed_s
            clock.pay(clock.owed_s)
        assert due_steps(clock.time_s, 0.0, step_s) == due_steps(math.fsum(frames), 0.0, step_s)


def test_a_step_is_due_when_its_time_is_up_and_not_before():
    assert due_steps(0.2499, 0.0, 0.25) == 0
    assert due_steps(0.25, 0.0, 0.25) == 1
    assert due_steps(0.1 + 0.2, 0.0, 0.1) == 3
    assert due_steps(7.0, 7.5, 0.1) == 0


def owed_after(clock: Clock, *wall_s: float) -> float:
    for seconds in wall_s:
        clock.ask(seconds)
    return clock.owed_s


def test_what_a_wake_could_not_pay_is_owed_by_the_next():
    rng = np.random.default_rng(2)
    clock, asked_s, done_s = Clock(speed=2.0), 0.0, 0.0
    for k in range(300):
        wall_s = rng.uniform(0.0, 0.03)
        clock.ask(wall_s)
        asked_s += 2.0 * wall_s
        paid_s = clock.owed_s if k % 7 == 6 else min(clock.owed_s, 0.01)
        clock.pay(paid_s)
        done_s += paid_s
    assert done_s + clock.owed_s == pytest.approx(asked_s, abs=1e-12)
    clock.pay(clock.owed_s)
    assert clock.owed_s == 0.0


def test_a_long_interruption_is_not_caught_up_with():
    assert owed_after(Clock(), 3600.0) == MOST_DEBT_S
    assert owed_after(Clock(speed=4.0), 3600.0, 1.0) == 4.0 * MOST_DEBT_S
    assert owed_after(Clock(), -1.0) == 0.0


def test_a_pause_or_a_new_start_owes_nothing():
    clock = Clock()
    clock.ask(0.1)
    clock.paused = True
    assert owed_after(clock, 0.1) == 0.0
    clock.forget()
    clock.paused = False
    assert clock.owed_s == 0.0


def test_speed_scales_time_and_pause_stops_it():
    assert owed_after(Clock(speed=1 / 32), 0.032) == pytest.approx(0.001)
    assert owed_after(Clock(speed=8.0, paused=True), 0.1) == 0.0


def test_real_time_factor_is_what_was_reached_of_what_was_asked():
    clock = Clock(speed=2.0)
    assert clock.real_time_factor == 1.0
    for _ in range(200):
        clock.record(0.02, 0.01)
    assert clock.real_time_factor == pytest.approx(0.25)
    clock.paused = True
    assert math.isnan(clock.real_time_factor)
