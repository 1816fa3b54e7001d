"""Laws of races: a gate is passed when the motion crosses its opening, in its direction, between steps too; what is
flown on from an earlier moment does not count; what is kept is read with care; mistakes are told in a line."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import sim
from sim.commands import PilotInput, RaceAgainst, Reset, Retake, Scrub, SetPilotInput
from sim.scene import Scene, Start, load_scene
from sim.scene.measured import Measured
from sim.scene.race import (
    Course,
    Gate,
    Instant,
    Lap,
    Rival,
    Standing,
    Timing,
    best_file,
    crossing_s,
    passages_s,
    read_best,
    write_best,
)
from sim.simulation import Simulation
from sim.vehicles import known_vehicle
from tests.sim.simulation_scenes import world

GATE = Gate((3.0, -1.0, 5.0), 0.7, 4.0, 3.0)


def helix(time_s: float) -> Instant:
    """A helix about the vertical: neither planar nor straight."""
    angle, radius, rise = 0.9 * time_s + 0.3, 12.0, 0.8
    x = np.array([radius * math.cos(angle), radius * math.sin(angle), rise * time_s])
    v = np.array([-0.9 * radius * math.sin(angle), 0.9 * radius * math.cos(angle), rise])
    return Instant(time_s, x, v)


def at_angle(angle: float, z: float, half_width_m: float = 2.0, half_height_m: float = 1.0) -> Gate:
    """Across the helix, in its direction."""
    centre = (12.0 * math.cos(angle), 12.0 * math.sin(angle), z)
    return Gate(centre, angle + 0.5 * math.pi, half_width_m, half_height_m)


@pytest.mark.parametrize("dt_s", [0.01, 0.02, 0.05])
def test_a_passage_between_two_steps_is_that_of_the_closed_form_to_the_fourth_order(dt_s: float) -> None:
    angle = 1.234
    exact_s = (angle - 0.3) / 0.9
    gate = at_angle(angle, 0.8 * exact_s)
    steps = [(helix(k * dt_s), helix((k + 1) * dt_s)) for k in range(int(2.0 / dt_s))]
    found = [t for before, after in steps if (t := crossing_s(gate, before, after)) is not None]
    assert len(found) == 1
    # The cubic's error is dt^4 / 384 of the fourth derivative, here 7.9 m/s^4 along a passage at 10.8 m/s.
    assert abs(found[0] - exact_s) < 2e-3 * dt_s**4 + 1e-13  # measured 0.3 of that at 0.05 s


def test_a_fall_is_timed_exactly_whatever_the_step() -> None:
    g = np.array([0.0, 0.0, -9.81])
    x0, v0 = np.array([-4.0, 1.0, 9.0]), np.array([6.0, -2.0, 3.0])
    n = GATE.frame()[0]
    ends = [Instant(t, x0 + v0 * t + 0.5 * g * t * t, v0 + g * t) for t in (0.0, 1.7)]
    exact_s = float(
        n @ (np.array(GATE.centre_w) - x0) / (n @ v0)
    )  # level gravity is none: the gate is upright
    found = crossing_s(GATE, *ends)
    assert found == pytest.approx(exact_s, abs=1e-13)  # measured 2e-16


def test_a_gate_is_not_passed_backwards_beside_above_or_below_it() -> None:
    through = np.array(GATE.centre_w)
    ahead, left, up = GATE.frame()

    def passed(offset: np.ndarray, way: np.ndarray) -> bool:
        ends = [Instant(t, through + offset + (t - 0.4) * way, way) for t in (0.0, 1.0)]
        return crossing_s(GATE, *ends) is not None

    assert passed(0.0 * ahead, 9.0 * ahead)
    assert passed(3.9 * left - 2.9 * up, 9.0 * ahead + 0.05 * left)
    assert not passed(0.0 * ahead, -9.0 * ahead)
    for offset in (4.1 * left, -4.1 * left, 3.1 * up, -3.1 * up):
        assert not passed(offset, 9.0 * ahead)


def test_however_long_a_step_what_flies_through_passes_once_and_what_ends_at_a_gate_passes_in_one_interval() -> (
    None
):
    ahead = GATE.frame()[0]
    middle = np.array(GATE.centre_w)
    speed = 300.0 * ahead
    at = [Instant(t, middle + (t - 1.0) * speed, speed) for t in (0.0, 1.0, 2.0)]
    found = [crossing_s(GATE, at[0], at[1]), crossing_s(GATE, at[1], at[2])]
    assert sum(t is not None for t in found) == 1
    assert next(t for t in found if t is not None) == pytest.approx(1.0, abs=1e-12)
    assert crossing_s(GATE, at[0], at[2]) == pytest.approx(1.0, abs=1e-12)


COURSE = Course(tuple(at_angle(a, 0.8 * (a - 0.3) / 0.9, half_height_m=9.0) for a in (0.5, 1.7, 3.1, 5.0)))
CLOSED = replace(COURSE, closed=True)


def shown(timing: Timing, begin_s: float, end_s: float, *, by_hand: bool = True, dt_s: float = 0.02) -> None:
    for k in range(round(begin_s / dt_s), round(end_s / dt_s) + 1):
        instant = helix(k * dt_s)
        T_wb = np.eye(4)
        T_wb[:3, 3] = instant.x_w
        timing.note(k * dt_s, T_wb, np.concatenate([np.zeros(3), instant.v_w]), by_hand=by_hand)


def test_a_lap_has_the_times_of_its_gates_and_a_closed_one_begins_where_the_last_ended() -> None:
    timing = Timing(COURSE)
    shown(timing, 0.0, 7.0)
    exact = np.array([(a - 0.3) / 0.9 for a in (0.5, 1.7, 3.1, 5.0)])
    lap = timing.standing.lap
    assert lap is not None
    assert lap.counts
    assert np.array(lap.splits_s) == pytest.approx(exact - exact[0], abs=1e-9)  # measured 2e-10
    assert lap.time[0] <= 0.0 < lap.time[1]
    assert lap.time[-2] < lap.lap_s <= lap.time[-1]
    assert not timing.standing.running
    closed = Timing(CLOSED)
    shown(closed, 0.0, 9.0)
    turn_s = 2.0 * math.pi / 0.9
    assert closed.standing.lap is not None
    assert closed.standing.lap.lap_s == pytest.approx(turn_s, abs=1e-9)
    assert closed.standing.start_s == pytest.approx(exact[0] + turn_s, abs=1e-9)
    assert closed.standing.due == 2  # the next lap runs, its second gate at 8.54 s has been passed


def test_a_gate_left_out_keeps_the_next_ones_waiting_and_the_first_one_begins_anew() -> None:
    skipped = replace(CLOSED, gates=(COURSE.gates[0], at_angle(1.7, 99.0), *COURSE.gates[2:]))
    timing = Timing(skipped)
    shown(timing, 0.0, 6.5)
    assert timing.standing.due == 1
    first_s = timing.standing.start_s
    shown(timing, 6.52, 8.0)
    assert timing.standing.start_s == pytest.approx(first_s + 2.0 * math.pi / 0.9, abs=1e-9)
    assert timing.standing.laps == 0


def test_time_taken_back_takes_passages_with_it_and_such_a_lap_does_not_count() -> None:
    timing = Timing(COURSE)
    shown(timing, 0.0, 3.2)
    assert timing.standing.due == 3
    timing.back_to(2.0)
    assert timing.standing.due == 2
    shown(timing, 2.0, 7.0)
    lap = timing.standing.lap
    assert lap is not None
    assert not lap.counts
    assert np.array(lap.splits_s) == pytest.approx((np.array([0.5, 1.7, 3.1, 5.0]) - 0.5) / 0.9, abs=1e-9)
    assert np.all(np.diff(lap.time) > 0.0)
    helped = Timing(COURSE)
    shown(helped, 0.0, 2.0)
    shown(helped, 2.02, 7.0, by_hand=False)
    assert helped.standing.lap is not None
    assert not helped.standing.lap.counts


def test_a_rival_passes_the_first_gate_at_zero_and_one_that_misses_a_gate_is_refused() -> None:
    time = np.linspace(0.0, 7.0, 141)
    poses = np.tile(np.eye(4), (141, 1, 1))
    poses[:, :3, 3] = [helix(t).x_w for t in time]
    motion = Measured("x", time, poses)
    exact = np.array([(a - 0.3) / 0.9 for a in (0.5, 1.7, 3.1, 5.0)])
    assert np.array(passages_s(COURSE, motion)) == pytest.approx(
        exact, abs=2e-4
    )  # velocities by differences: 3e-5
    rival = Rival.of_motion("plan", COURSE, motion)
    assert rival.splits_s[0] == 0.0
    assert rival.motion.at(0.0)[0][:3, 3] == pytest.approx(helix(exact[0]).x_w, abs=5e-3)
    with pytest.raises(sim.InputError, match="misses gate 3 of 4"):
        Rival.of_motion("plan", COURSE, Measured("x", time[:40], poses[:40]))


FLIGHT = Scene(
    "gates", "gates", world="plain", vehicle=known_vehicle("rigid-body", gravity=9.81), flight_mode="raw", step_s=0.01,
    start=Start(position_w=(0.0, 0.0, 400.0), omega_b=(0.3, 1.0, 0.2), velocity_b=(20.0, 3.0, 1.0)),
    race=Course(tuple(Gate((x, 0.15 * x, 400.0), 0.0, 20.0, 100.0) for x in (10.0, 30.0, 70.0))),
)  # fmt: skip


def test_a_flight_through_gates_is_timed_in_its_simulation_however_that_is_divided() -> None:
    seen = []
    for piece_s in (0.013, 0.1, 4.5):
        simulation = Simulation(FLIGHT, world("plain"))
        for _ in range(round(4.5 / piece_s)):
            snapshot = simulation.advance(piece_s)
        assert snapshot.race is not None
        seen.append(snapshot.race.shown_splits_s)
    assert seen[0] == seen[1] == seen[2]
    v = 20.0  # along x nothing pushes
    assert np.array(seen[0]) == pytest.approx([0.0, 20.0 / v, 60.0 / v], abs=1e-9)  # measured 4e-12


def test_a_rival_is_shown_from_the_first_gate_on_and_a_retake_and_a_reset_move_the_clock() -> None:
    simulation = Simulation(FLIGHT, world("plain"))
    time = np.linspace(-0.5, 3.0, 36)
    poses = np.tile(np.eye(4), (36, 1, 1))
    poses[:, 0, 3], poses[:, 2, 3] = 10.0 + 25.0 * time, 400.0
    rival = Rival("other", (0.0, 0.8, 2.4), Measured("other", time, poses))
    simulation.submit(RaceAgainst(rival))
    waiting = simulation.advance(0.4)
    assert waiting.lanes[-1].T_wb[0, 3] == pytest.approx(-2.5)
    running = simulation.advance(1.2)
    assert running.race is not None
    assert running.lanes[-1].name == "other"
    assert running.lanes[-1].measured
    assert running.lanes[-1].integrator == "planned"
    assert running.lanes[-1].T_wb[0, 3] == pytest.approx(10.0 + 25.0 * (1.6 - 0.5), abs=1e-9)
    assert running.race.due == 2
    assert running.race.behind_s(rival) == pytest.approx(1.0 - 0.8, abs=1e-9)
    simulation.submit(Scrub(1.0))
    simulation.submit(Retake(paused=False))
    back = simulation.advance(0.0)
    assert back.race is not None
    assert back.race.due == 1
    simulation.submit(Reset())
    anew = simulation.advance(0.0)
    assert anew.race is not None
    assert (anew.race.due, len(anew.race.rivals)) == (0, 1)


def test_a_best_lap_comes_back_as_it_was_and_damage_is_a_line(tmp_path: Path) -> None:
    timing = Timing(COURSE)
    shown(timing, 0.0, 7.0)
    lap = timing.standing.lap
    assert lap is not None
    path = best_file(tmp_path / "bests", "a/b", "car", COURSE)
    assert read_best(path, COURSE) is None
    write_best(path, lap)
    again = read_best(path, COURSE)
    assert again is not None
    assert again.splits_s == lap.splits_s
    assert np.array_equal(again.time, lap.time)
    assert np.array_equal(again.poses, lap.poses)
    assert best_file(tmp_path, "a", "car", CLOSED) != best_file(tmp_path, "a", "car", COURSE)
    for spoilt, told in (
        (replace(lap, splits_s=lap.splits_s[:3]), "no lap of 4 gates"),
        (replace(lap, splits_s=(0.0, 2.0, 1.0, 3.0)), "do not increase"),
        (replace(lap, poses=2.0 * lap.poses), "its poses are none"),
        (replace(lap, time=np.full(len(lap.time), math.nan)), "not finite"),
    ):
        write_best(path, spoilt)
        with pytest.raises(sim.InputError) as refusal:
            read_best(path, COURSE)
        assert told in str(refusal.value)
        assert "\n" not in str(refusal.value)
    path.write_bytes(path.read_bytes()[:200])
    with pytest.raises(sim.InputError, match="no lap"):
        read_best(path, COURSE)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[race]", "0 are refused; allowed: 2 to 64"),
        ("[[race.gates]]\n[[race.gates]]", "race.gates[0].position_m: is missing"),
        ("[[race.gates]]\nposition_m = [1.0, 2.0]\n[[race.gates]]", "3 numbers"),
        ("[[race.gates]]\nposition_m = [1.0, 2.0, 3.0]\nwide = 3\n[[race.gates]]", "unknown key"),
        ('[race]\nclosed = "yes"\n' + "[[race.gates]]\nposition_m = [1.0, 2.0, 3.0]\n" * 2, "true, false"),
        ("race = 3", "not a table"),
    ],
)
def test_a_mistake_in_a_race_is_one_line_with_file_and_key(text: str, told: str, tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    path.write_text(text)
    with pytest.raises(sim.InputError) as refusal:
        load_scene(path)
    assert told in str(refusal.value)
    assert str(path) in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_a_beginner_at_full_throttle_passes_the_first_gate_of_the_races_that_are_there() -> None:
    for name in ("race-drive", "race-slalom"):
        scene = load_scene(name)
        simulation = Simulation(scene, world(scene.world))
        simulation.submit(SetPilotInput(PilotInput(pitch=1.0)))
        for _ in range(40):
            snapshot = simulation.advance(0.1)
        assert snapshot.race is not None
        assert snapshot.race.running


def test_a_lap_knows_its_time() -> None:
    assert Lap((0.0, 1.0, 2.5), np.zeros(2), np.zeros((2, 4, 4))).lap_s == 2.5


def test_what_is_done_of_a_lap_is_told_from_gate_to_gate() -> None:
    corners = ((0.0, 0.0, 1.0), (30.0, 0.0, 1.0), (30.0, 40.0, 1.0))
    course = Course(tuple(Gate(corner, 0.3, 2.0, 1.0) for corner in corners), closed=True)
    between = np.array([30.0, 12.0, 1.0])
    assert Standing(course).done_m(between) == (0.0, 120.0)
    assert Standing(course, due=2).done_m(between) == pytest.approx((42.0, 120.0))
    assert Standing(course, due=3).done_m(np.array([15.0, 20.0, 1.0])) == pytest.approx((95.0, 120.0))
    assert Standing(course, due=1).done_m(np.array([-80.0, 0.0, 1.0])) == (0.0, 120.0)  # away from it
