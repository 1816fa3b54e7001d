"""Laws of what lanes remember: a live flight comes back bit for bit, whatever was done to it on the way."""

import numpy as np
import pytest

import sim
from sim.commands import (
    AddLane,
    PilotInput,
    Reset,
    SetIntegrator,
    SetParameter,
    SetPilotInput,
    SetStep,
    SetVehicle,
)
from sim.environment.environment import TOLD
from sim.integrators import DEFAULT
from sim.recordings import Take
from sim.recordings.playback import POINT_PERIOD_S
from sim.simulation import Simulation
from sim.simulation.lanes.lane import Lane
from sim.simulation.lanes.recorder import Recorder
from tests.sim.simulation_scenes import helicopter_scene, simulation


def wobbling(running: Simulation, seconds: float) -> None:
    """Sticks that move all the time, up from the pad and down onto it again."""
    since = running.snapshot.clock_s
    while (time_s := running.snapshot.clock_s - since) < seconds - 1e-9:
        throttle = 0.6 if time_s < 1.2 else -0.5
        stick = PilotInput(
            pitch=0.2 * np.sin(3.0 * time_s), roll=0.2 * np.cos(5.0 * time_s), throttle=throttle
        )
        running.submit(SetPilotInput(stick))
        running.advance(min(0.017, seconds - time_s))


def lane(running: Simulation, index: int = 0) -> Lane:
    return running.run.lanes[index]


def take(running: Simulation, index: int = 0) -> Take:
    own = lane(running, index)
    return Take(name="test", segments=own.recorder.segments(own.time_s), world="plain")


def check_bits(running: Simulation, recorded: Take, index: int = 0) -> None:
    """The end of the take is where the lane is, private state and memory of contact included."""
    own, moment = lane(running, index), recorded.playback().at(recorded.end_s)
    assert moment.time_s == own.time_s
    np.testing.assert_array_equal(moment.state, own.state)
    if own.footing.environment.acts:
        np.testing.assert_array_equal(moment.memory[4:], own.footing.environment.report[4:-TOLD])


@pytest.mark.parametrize(("method", "step_s"), [("variational", 0.01), ("rk4", 0.003), ("rkmk54", 0.02)])
def test_a_flight_that_touches_the_ground_is_replayed_and_resimulated_to_the_bit(method: str, step_s: float):
    running = simulation(helicopter_scene(integrator=method, step_s=step_s))
    wobbling(running, 3.0)
    flight = take(running)
    heights = flight.samples().nodes[:, 11]
    assert heights.max() > heights[0] + 0.2, "it left the ground"
    assert np.abs(flight.segments[0].memories[0]).max() == 0.0
    assert np.abs(flight.segments[0].memories[1:, 16:]).max() > 0.0, "it stood on it"
    check_bits(running, flight)
    again = flight.resimulate()
    check_bits(running, again)
    np.testing.assert_array_equal(again.samples().nodes, flight.samples().nodes)


def test_a_change_of_method_step_and_parameters_begins_a_segment_and_keeps_the_bits():
    running = simulation(helicopter_scene())
    wobbling(running, 0.7)
    running.submit(SetIntegrator("rk4"))
    wobbling(running, 0.4)
    running.submit(SetStep(0.004))
    wobbling(running, 0.4)
    running.submit(SetParameter("mass", 1.05 * float(lane(running).dynamics.vehicle.values["mass"])))
    wobbling(running, 0.4)
    flight = take(running)
    assert [(segment.integrator.name, segment.step_s) for segment in flight.segments] == [
        (DEFAULT, 0.01), ("rk4", 0.01), ("rk4", 0.004), ("rk4", 0.004),
    ]  # fmt: skip
    check_bits(running, flight)
    for segment in flight.segments:
        assert flight.playback().at(segment.begin_s).segment is segment, "a segment's first moment is its own"
    again = flight.resimulate()
    np.testing.assert_array_equal(again.samples().nodes, flight.samples().nodes)


def test_a_recording_starts_anew_where_time_or_the_vehicle_does():
    running = simulation(helicopter_scene())
    running.submit(AddLane("rk4", 0.005))
    wobbling(running, 0.6)
    running.submit(Reset())
    running.advance(0.0)
    wobbling(running, 0.3)
    for index in (0, 1):
        assert take(running, index).end_s == pytest.approx(0.3)
    running.submit(SetVehicle("rigid-body"))
    running.advance(0.2)
    for index in (0, 1):
        assert take(running, index).vehicle.name == "rigid-body"
        assert take(running, index).begin_s == pytest.approx(0.3)
        check_bits(running, take(running, index), index)


def test_the_ring_forgets_what_is_old_and_keeps_exact_restarts():
    running = simulation(helicopter_scene())
    running.run.flown.recorder = Recorder(kept_s=1.0)
    wobbling(running, 3.2)
    flight = take(running)
    assert 1.0 <= flight.duration_s < 1.0 + 2 * POINT_PERIOD_S
    check_bits(running, flight)
    check_bits(running, flight.resimulate())


def test_what_is_remembered_goes_on_from_a_moment_of_a_take():
    running = simulation(helicopter_scene())
    wobbling(running, 1.3)
    flight = take(running)
    for time_s in (0.004, 0.5, 0.77, 1.3):
        moment = flight.playback().at(time_s)
        segments = Recorder.before(moment, flight.segments, flight.playback()).segments(moment.time_s)
        cut = Take(name="cut", segments=segments, world="plain") if segments else None
        if cut is None:
            assert moment.step == 0
            continue
        np.testing.assert_array_equal(cut.playback().at(time_s).state, moment.state)
        np.testing.assert_array_equal(cut.samples().nodes[:-1], flight.samples().nodes[: moment.step])


def test_nothing_is_remembered_before_the_first_step():
    assert lane(simulation(helicopter_scene())).recorder.segments(0.0) == ()
    with pytest.raises(sim.InputError):
        Take(name="empty", segments=())
