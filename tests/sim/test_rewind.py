"""Laws of looking back: nothing is changed by it, and what is gone on from comes again bit for bit."""

from concurrent.futures import Future

import numpy as np
import pytest

import sim
from sim.commands import (
    AddLane,
    BackToNow,
    Command,
    KeepTake,
    PilotInput,
    PlayTake,
    RemoveLane,
    Reset,
    Resimulate,
    Retake,
    Scrub,
    SetFlightMode,
    SetIntegrator,
    SetParameter,
    SetPaused,
    SetPilotInput,
    SetVehicle,
    SingleStep,
)
from sim.recordings import Take
from sim.scene import LaneSpec, Scene
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import LaneStatus, Snapshot
from tests.patience import PATIENCE_S
from tests.sim.simulation_scenes import GatedKernels, helicopter_scene, simulation, spinning_scene


def stick(time_s: float) -> SetPilotInput:
    throttle = 0.7 if time_s < 1.0 else -0.4
    return SetPilotInput(PilotInput(0.2 * np.sin(3.0 * time_s), 0.2 * np.cos(5.0 * time_s), 0.1, throttle))


def flown(running: Simulation, until_s: float) -> list[Snapshot]:
    """Sticks that depend on time alone, every 20 ms; `raw` mode, so that pilots remember nothing."""
    rows = []
    for tick in range(round(running.snapshot.clock_s / 0.02), round(until_s / 0.02)):
        running.submit(stick(tick * 0.02))
        rows.append(running.advance(0.02))
    return rows


def kept(running: Simulation, lane: str = "") -> Take:
    reply: Future[Take] = Future()
    running.submit(KeepTake(reply, lane))
    running.advance(0.0)
    return reply.result(0)


def same_lanes(a: Snapshot, b: Snapshot) -> None:
    for one, other in zip(a.lanes, b.lanes, strict=True):
        assert one.name == other.name
        np.testing.assert_array_equal(one.T_wb, other.T_wb)
        np.testing.assert_array_equal(one.controls, other.controls)


RAW = {"flight_mode": "raw"}
BESIDE = (LaneSpec("rk4", 0.02), LaneSpec("rk2", 0.005), LaneSpec("variational", 0.04))


def test_scrubbing_shows_what_was_and_changes_nothing():
    running, untouched = (simulation(helicopter_scene(lanes=BESIDE, **RAW)) for _ in range(2))
    before = flown(running, 2.0)
    flown(untouched, 2.0)
    for index in (80, 20, 99, 3):
        running.submit(Scrub((index + 1) * 0.02))
        shown = running.advance(1.0 / 30.0)
        assert shown.paused
        assert shown.clock_s == pytest.approx((index + 1) * 0.02)
        assert shown.look_back is not None
        for lane, was in zip(shown.lanes, before[index].lanes, strict=True):
            # Who is within a step is shown on its way.
            if was.time_current_s == pytest.approx(shown.clock_s):
                np.testing.assert_array_equal(lane.T_wb, was.T_wb)
    running.submit(BackToNow())
    running.advance(0.0)
    running.submit(SetPaused(False))
    for a, b in zip(flown(running, 2.6), flown(untouched, 2.6), strict=True):
        same_lanes(a, b)
        assert a.look_back is None


@pytest.mark.parametrize("back_s", [0.5, 1.1, 1.93])
def test_a_retake_with_the_same_sticks_is_the_same_flight(back_s: float):
    running = simulation(helicopter_scene(lanes=BESIDE, **RAW))
    once = flown(running, 2.2)
    running.submit(Scrub(back_s))
    running.submit(Retake())
    at = running.advance(0.3)
    assert at.paused
    assert at.look_back is None
    assert at.clock_s == pytest.approx(back_s)
    running.submit(SetPaused(False))
    # To the next tick of the sticks first: until then those of that moment are held.
    tick = int(np.floor(back_s / 0.02 + 1e-6))
    running.submit(stick(tick * 0.02))
    running.advance((tick + 1) * 0.02 - back_s)
    for a, b in zip(flown(running, 2.2), once[tick + 1 :], strict=True):
        same_lanes(a, b)


def test_a_retake_that_does_not_wait_is_the_one_that_does_with_time_running():
    waiting, going = simulation(helicopter_scene(**RAW)), simulation(helicopter_scene(**RAW))
    for running, retake in ((waiting, Retake()), (going, Retake(paused=False))):
        flown(running, 2.0)
        running.submit(Scrub(1.2))
        assert running.advance(0.1).clock_s == pytest.approx(1.2)
        running.submit(retake)
    waiting.submit(SetPaused(False))
    a, b = waiting.advance(0.4), going.advance(0.4)
    assert (b.paused, b.look_back, b.clock_s) == (False, None, pytest.approx(1.6))
    same_lanes(a, b)


def test_a_retake_remembers_what_came_before_it_and_the_old_flight_is_kept():
    running = simulation(helicopter_scene(**RAW))
    flown(running, 2.0)
    whole = kept(running)
    running.submit(Scrub(1.2))
    running.submit(Retake())
    running.submit(SetPaused(False))
    running.submit(SetPilotInput(PilotInput(throttle=1.0)))
    running.advance(0.8)
    again = kept(running)
    assert (again.begin_s, again.end_s) == pytest.approx((0.0, 2.0))
    old, new = whole.samples(), again.samples()
    np.testing.assert_array_equal(old.nodes[:120], new.nodes[:120])
    assert np.abs(old.nodes[-1] - new.nodes[-1]).max() > 0.1
    (former,) = running.snapshot.former
    np.testing.assert_array_equal(former.samples().nodes, old.nodes)


def blowup() -> Scene:
    return spinning_scene(LaneSpec("variational-cay", 0.25), step_s=0.25)


def test_a_diverged_lane_is_scrubbed_back_runs_again_and_diverges_as_before():
    running = simulation(blowup())
    running.submit(SetIntegrator("rk4"))
    snapshot = running.advance(20.0)
    assert snapshot.lanes[0].status is LaneStatus.DIVERGED
    why = snapshot.lanes[0].status_text
    end_s = snapshot.recorded_s[1]
    running.submit(Scrub(end_s))
    running.submit(Retake())
    refused = running.advance(0.0)
    assert "it ends here, diverged" in refused.message
    running.submit(Scrub(0.5 * end_s))
    shown = running.advance(0.0)
    assert shown.lanes[0].status is LaneStatus.RUNNING
    running.submit(Retake())
    running.submit(SetPaused(False))
    assert running.advance(0.0).lanes[0].status is LaneStatus.RUNNING
    snapshot = running.advance(20.0)
    assert snapshot.lanes[0].status_text == why
    assert snapshot.lanes[1].status is LaneStatus.RUNNING


def test_a_lane_that_came_later_starts_from_the_flown_one():
    running = simulation(helicopter_scene(**RAW))
    flown(running, 1.0)
    running.submit(AddLane("rk4", 0.01))
    flown(running, 1.6)
    running.submit(Scrub(0.5))
    assert len(running.advance(0.0).lanes) == 1
    running.submit(Retake())
    retaken = running.advance(0.0)
    flown_lane, beside = retaken.lanes
    np.testing.assert_allclose(beside.T_wb, flown_lane.T_wb, atol=1e-12)
    running.submit(SetPaused(False))
    assert running.advance(0.5).lanes[1].time_current_s == pytest.approx(1.0)


def test_a_resimulation_is_what_a_lane_beside_it_would_have_done():
    running = simulation(helicopter_scene(lanes=(LaneSpec("rk4", 0.01),), **RAW))
    flown(running, 1.5)
    running.submit(RemoveLane("none such"))
    running.submit(Resimulate("rk4", 0.01))
    running.submit(Scrub(1.5))
    shown = running.advance(0.0)
    _, beside, ghost = shown.lanes
    assert ghost.integrator == "rk4"
    np.testing.assert_array_equal(ghost.T_wb, beside.T_wb)
    running.submit(RemoveLane(ghost.name))
    assert len(running.advance(0.0).lanes) == 2


def test_ghosts_and_what_they_are_measured_from_are_read_along_all_their_way() -> None:
    running = simulation(helicopter_scene(**RAW))
    flown(running, 1.5)
    assert not running.advance(0.0).read
    running.submit(Resimulate("rk4", 0.02))
    read = running.advance(0.0).read
    (ghost,) = set(read) - {"flown"}
    for moments in read.values():
        times_s = [lane.time_current_s for lane in moments]
        # On steps of the take, the last that begin by then.
        assert (times_s[0], times_s[-1]) == (0.0, pytest.approx(1.5, abs=0.025))
        assert np.diff(times_s).max() < 0.025
    for index in (0, 40, 77, 12):
        was = read[ghost][index]
        running.submit(Scrub(was.time_current_s))
        shown = next(lane for lane in running.advance(0.0).lanes if lane.name == ghost)
        assert shown.time_current_s == pytest.approx(was.time_current_s)
        np.testing.assert_array_equal(shown.T_wb, was.T_wb)
        assert shown.energy_J == was.energy_J
    running.submit(RemoveLane(ghost))
    assert set(running.advance(0.0).read) == {"flown"}
    running.submit(BackToNow())
    assert not running.advance(0.0).read


def test_what_is_resimulated_may_have_other_parameters():
    running = simulation(helicopter_scene(**RAW))
    flown(running, 1.5)
    mass = float(sim.vehicle("helicopter").values["mass"])
    take = kept(running)
    heavier = 1.1 * float(take.vehicle.values["mass"])
    assert heavier > mass
    running.submit(Resimulate(parameters=(("mass", heavier),)))
    running.submit(Scrub(1.0))
    original, ghost = running.advance(0.0).lanes
    assert ghost.ghost
    assert ghost.T_wb[2, 3] < original.T_wb[2, 3]
    np.testing.assert_array_equal(ghost.controls, original.controls)


def test_a_take_is_played_to_its_end_while_the_present_waits():
    recorded = simulation(helicopter_scene(**RAW))
    flown(recorded, 1.0)
    take = kept(recorded)
    running = simulation(helicopter_scene())
    running.submit(SetPilotInput(PilotInput(throttle=1.0)))
    present = running.advance(0.6)
    running.submit(PlayTake(take))
    at_first = running.advance(0.0)
    assert at_first.look_back is not None
    assert at_first.look_back.opened == take.name
    np.testing.assert_allclose(at_first.lanes[0].T_wb[:3, 3], take.samples().nodes[0, 9:12], atol=1e-12)
    assert running.advance(0.5).clock_s == pytest.approx(0.5)
    end = running.advance(9.0)
    assert end.paused
    assert end.clock_s == pytest.approx(1.0)
    np.testing.assert_array_equal(end.lanes[0].T_wb, recorded.snapshot.lanes[0].T_wb)
    running.submit(SetPaused(False))
    assert running.advance(0.25).clock_s == pytest.approx(0.25), "from the beginning again"
    running.submit(BackToNow())
    np.testing.assert_array_equal(running.advance(0.0).lanes[0].T_wb, present.lanes[0].T_wb)


def test_a_take_made_in_free_space_is_shown_over_the_ground_and_flown_on_from():
    vehicle = sim.vehicle("helicopter", mass=1100.0, inertia=(560.0, 2300.0, 2000.0))
    hover = np.array([1100.0 * 9.81, 0.0, 0.0, 0.0])
    start = vehicle.state(x=(3.0, 4.0, 40.0), v=(5.0, 0.0, 0.0))
    run = sim.simulate(vehicle, step=0.02, duration=2.0, initial=start, controls=hover)
    running = simulation(helicopter_scene(**RAW))
    running.submit(PlayTake(Take.of_trajectory(run)))
    running.submit(Scrub(1.0))
    shown = running.advance(0.0).lanes[0]
    np.testing.assert_allclose(shown.T_wb, run.pose[50], rtol=0.0, atol=1e-11)
    assert 30.0 < shown.height_above_ground_m < 45.0
    running.submit(Retake())
    running.submit(SetPaused(False))
    running.advance(1.0)
    again = kept(running)
    assert (again.begin_s, again.end_s) == pytest.approx((0.0, 2.0))
    np.testing.assert_array_equal(again.resimulate().samples().nodes, again.samples().nodes)


def test_one_flies_on_from_a_take_of_another_vehicle():
    recorded = simulation(helicopter_scene(**RAW))
    flown(recorded, 1.0)
    running = simulation(spinning_scene())
    running.submit(PlayTake(kept(recorded)))
    running.submit(Scrub(0.7))
    running.submit(Retake())
    running.submit(SetPaused(False))
    assert running.advance(0.0).lanes[0].vehicle == "helicopter"
    running.advance(0.4)
    again = kept(running)
    assert again.vehicle.name == "helicopter"
    assert (again.begin_s, again.end_s) == pytest.approx((0.0, 1.1))


def test_single_steps_walk_through_a_recording():
    running = simulation(helicopter_scene(**RAW))
    flown(running, 1.0)
    running.submit(Scrub(0.4))
    running.submit(SingleStep(3))
    assert running.advance(0.0).clock_s == pytest.approx(0.43)
    running.submit(SetPaused(False))
    assert running.advance(5.0).clock_s == pytest.approx(1.0)
    running.submit(SetPaused(False))
    assert running.advance(0.1).clock_s == pytest.approx(1.1), "at its end the flight goes on"


def test_commands_for_the_present_go_back_to_it_first():
    running = simulation(helicopter_scene(**RAW))
    flown(running, 1.2)
    running.submit(Scrub(0.4))
    running.submit(SetVehicle("rigid-body"))
    snapshot = running.advance(0.0)
    assert snapshot.look_back is None
    assert snapshot.lanes[0].vehicle == "rigid-body"
    running.submit(Reset())
    assert [take.vehicle.name for take in running.advance(0.0).former] == ["helicopter"]


def test_starting_over_out_of_a_look_back_flies_at_once_and_out_of_a_pause_waits() -> None:
    running = simulation(helicopter_scene(**RAW))
    flown(running, 1.2)
    running.submit(Scrub(0.4))
    running.submit(Reset())
    snapshot = running.advance(0.3)
    assert (snapshot.look_back, snapshot.paused) == (None, False)
    assert snapshot.clock_s == pytest.approx(0.3)
    running.submit(SetPaused(True))
    running.submit(Reset())
    assert running.advance(0.3).clock_s == 0.0


def test_what_cannot_be_is_refused_in_words():
    running = simulation(helicopter_scene(**RAW))
    running.submit(Scrub(1.0))
    assert "nothing has been recorded yet" in running.advance(0.0).message
    running.submit(Retake())
    assert "nothing is shown to go on from" in running.advance(0.0).message
    flown(running, 0.5)
    running.submit(Resimulate("no-such-method"))
    assert "unknown integrator" in running.advance(0.0).message
    running.submit(Resimulate("rk4", 9.0))
    assert "h = 9 s is refused" in running.advance(0.0).message
    running.submit(Scrub(0.1))
    with pytest.raises(sim.InputError, match="no lane"):
        kept(running, "nobody")


@pytest.mark.parametrize(
    "refused",
    [
        SetIntegrator("rk5"),
        SetVehicle("zeppelin"),
        SetFlightMode("magic"),
        AddLane("rk4", 9.0),
        SetParameter("x", 1.0),
    ],
    ids=lambda command: type(command).__name__,
)
def test_a_refused_command_leaves_what_is_looked_at(refused: Command) -> None:
    running = simulation(helicopter_scene(**RAW))
    flown(running, 1.0)
    running.submit(Scrub(0.4))
    before = running.advance(0.0)
    running.submit(refused)
    after = running.advance(0.0)
    assert after.message != before.message
    assert after.look_back == before.look_back
    same_lanes(before, after)


def test_a_resimulation_that_is_refused_leaves_the_present() -> None:
    running = simulation(helicopter_scene(**RAW))
    flown(running, 1.0)
    running.submit(Resimulate("rk5"))
    after = running.advance(0.0)
    assert "rk5" in after.message
    assert after.look_back is None
    assert not after.paused


@pytest.mark.parametrize("command", [SetIntegrator("rk2"), AddLane("rk2", 0.01), Resimulate("rk2")])
def test_a_command_that_waits_for_its_kernel_is_not_asked_for_again_and_changes_nothing_meanwhile(
    command: Command, kernels: GatedKernels
) -> None:
    running = simulation(helicopter_scene(**RAW), kernels)
    flown(running, 1.0)
    kernels.shut()
    running.submit(Scrub(0.4))
    before = running.advance(0.0)
    running.submit(command)
    assert "compiling rk2" in running.advance(0.0).message
    kernels.asked.clear()
    for _ in range(20):
        waiting = running.advance(0.0)
        assert waiting.look_back == before.look_back
        same_lanes(before, waiting)
    assert "rk2" not in kernels.asked
    coming = kernels.coming
    kernels.gate.set()
    for each in coming:
        each.kernel.result(PATIENCE_S)
    after = running.advance(0.0)
    running.stop()
    assert "rk2" in {lane.integrator for lane in after.lanes}
    assert (after.look_back is None) == (not isinstance(command, Resimulate))
