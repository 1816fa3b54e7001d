"""Laws of the simulation thread. Wall-clock bounds are wide: machines are shared."""

import threading
import time

import numpy as np
import pytest

from sim.commands import PilotInput, Reset, SetIntegrator, SetPaused, SetPilotInput
from sim.integrators import DEFAULT
from sim.simulation import Simulation
from sim.simulation.simulation import MOST_SAMPLES, SAMPLED_S
from tests.patience import wait_until
from tests.sim.simulation_scenes import helicopter_scene, place, simulation


@pytest.fixture
def running(kernels):
    simulated = simulation(helicopter_scene(), kernels)
    simulated.start()
    yield simulated
    kernels.gate.set()
    simulated.stop()


def wait_for(simulated: Simulation, condition):
    """The first snapshot that meets the condition."""

    def met():
        snapshot = simulated.snapshot
        return snapshot if condition(snapshot) else None

    return wait_until(met, lambda: simulated.snapshot.message, every_s=0.005)


def test_the_thread_is_never_ahead_of_wall_time_and_stops_without_a_trace():
    running = simulation(helicopter_scene())
    began = time.perf_counter()
    running.start()
    for clock_s in (0.2, 0.7):
        wait_for(running, lambda s, clock_s=clock_s: s.clock_s > clock_s)
        assert running.snapshot.clock_s <= 1.05 * (time.perf_counter() - began) + 0.1
    running.stop()
    names = [thread.name for thread in threading.enumerate()]
    assert not [name for name in names if name.startswith(("simulation", "kernels"))]
    stopped = running.snapshot.clock_s
    time.sleep(0.05)
    assert running.snapshot.clock_s == stopped


def test_stopping_twice_is_harmless_and_starting_again_works(running):
    running.stop()
    running.stop()
    running.start()
    clock = running.snapshot.clock_s
    wait_for(running, lambda s: s.clock_s > clock)
    with pytest.raises(RuntimeError):
        running.start()
    with pytest.raises(RuntimeError):
        running.advance(1.0)


def test_sticks_reach_the_vehicle_through_the_queue(running):
    running.submit(SetPilotInput(PilotInput(throttle=1.0)))
    snapshot = wait_for(running, lambda s: s.lanes[0].height_above_ground_m > 1.0)
    assert place(snapshot.lanes[0])[2] > 2.0


def test_a_paused_thread_publishes_but_does_not_move(running):
    running.submit(SetPaused(True))
    snapshot = wait_for(running, lambda s: s.paused)
    later = wait_for(running, lambda s: s.wall_s > snapshot.wall_s)
    assert later.clock_s == snapshot.clock_s


def test_lanes_go_on_while_a_kernel_is_being_compiled(running, kernels):
    kernels.gate.clear()
    before = running.snapshot.lanes[0].integrator
    running.submit(SetIntegrator("rk4"))
    snapshot = wait_for(running, lambda s: "compiling rk4" in s.message)
    wait_for(running, lambda s: s.clock_s > snapshot.clock_s + 0.1)
    assert running.snapshot.lanes[0].integrator == before == DEFAULT
    kernels.gate.set()
    wait_for(running, lambda s: s.lanes[0].integrator == "rk4")


def test_an_error_in_the_thread_becomes_a_message(running, monkeypatch):
    def broken(_):
        raise ZeroDivisionError("out of time")

    monkeypatch.setattr(running.run, "advance", broken)
    snapshot = wait_for(running, lambda s: "out of time" in s.message)
    assert wait_for(running, lambda s: s.wall_s > snapshot.wall_s).paused


def test_samples_for_curves_come_at_even_distances_of_simulated_time_and_are_of_the_run_that_is_shown():
    running = simulation(helicopter_scene())
    for _ in range(100):
        running.advance(0.005)
    times_s = np.array([lanes[0].time_current_s for lanes in running.snapshot.samples])
    assert times_s[0] == 0.0
    assert np.diff(times_s).min() >= SAMPLED_S - 1e-9
    assert np.diff(times_s).max() < 2.0 * SAMPLED_S
    for _ in range(2 * MOST_SAMPLES):
        running.advance(0.02)
    assert len(running.snapshot.samples) == MOST_SAMPLES
    running.submit(Reset())
    running.advance(0.0)
    running.advance(0.02)
    assert running.snapshot.samples[-1][0].generation == running.snapshot.lanes[0].generation
