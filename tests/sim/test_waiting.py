"""Laws of commands that wait for a kernel, and of kernels that are made before anybody asks."""

import multiprocessing
import threading
from concurrent.futures import CancelledError
from pathlib import Path

import numpy as np
import pytest

import sim
from sim.commands import GiveUpWaiting, SetIntegrator, SetReference, SetVehicle
from sim.integrators import INTEGRATORS, USUAL, usual
from sim.platform.processes import CacheWorkers, GivenUp
from sim.simulation import KernelStore, Simulation
from sim.simulation.lanes.kernels import Ahead, Compiling
from sim.vehicles import VEHICLES
from tests.patience import PATIENCE_S, wait_until
from tests.sim.simulation_scenes import GatedKernels, fly, helicopter_scene, simulation


def in_the_background(kernels: GatedKernels) -> Simulation:
    running = simulation(helicopter_scene(), kernels)
    kernels.shut()
    return running


def test_a_swap_that_is_given_up_changes_nothing_and_the_old_method_flies_on(kernels: GatedKernels) -> None:
    undisturbed = simulation(helicopter_scene())
    running = in_the_background(kernels)
    for flight in (undisturbed, running):
        fly(flight, 0.3, throttle=0.6, pitch=0.2)
    running.submit(SetIntegrator("rk2"))
    waiting = running.advance(0.2).waiting
    assert [each.command for each in waiting] == [SetIntegrator("rk2")]
    assert "rk2" in waiting[0].title
    running.submit(GiveUpWaiting())
    assert running.advance(0.0).waiting == ()
    kernels.gate.set()
    wait_until(lambda: not kernels.coming)
    after, straight = running.advance(0.5).lanes[0], undisturbed.advance(0.7).lanes[0]
    running.stop()
    assert after.integrator == straight.integrator != "rk2"
    assert after.generation == straight.generation
    np.testing.assert_array_equal(after.T_wb, straight.T_wb)


def test_of_two_swaps_of_a_lane_the_earlier_one_is_given_up(kernels: GatedKernels) -> None:
    running = in_the_background(kernels)
    for name in ("rk2", "rk4"):
        running.submit(SetIntegrator(name))
        running.advance(0.0)
    assert [each.command for each in running.snapshot.waiting] == [SetIntegrator("rk4")]
    assert len(kernels.coming) == 1
    kernels.gate.set()
    wait_until(lambda: running.advance(0.0).lanes[0].integrator == "rk4")
    running.stop()


def test_what_waits_for_one_kernel_after_another_tells_of_the_one_that_is_compiled(
    kernels: GatedKernels,
) -> None:
    """A tree flies with the method of trees, its reference with another."""
    running = in_the_background(kernels)
    running.submit(SetReference(True))
    kernels.gate.set()
    wait_until(lambda: running.advance(0.0).reference)
    kernels.gate.clear()
    running.submit(SetVehicle("chain"))
    told = []

    def arrived() -> bool:
        now = running.advance(0.0)
        if now.waiting and (not told or now.waiting[-1].title != told[-1][0]):
            told.append((now.waiting[-1].title, now.message))
            kernels.gate.set()
        return now.lanes[0].vehicle == "chain"

    wait_until(arrived)
    running.stop()
    methods = [title.partition("(")[2].rstrip(")") for title, _ in told]
    assert methods == ["riqn", "rk4"]
    assert [message for _, message in told] == [f"compiling {method} for chain ..." for method in methods]


def test_giving_up_ends_the_process_that_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "cache"))
    store = KernelStore(CacheWorkers())
    store.work_in_background()
    with pytest.raises(Compiling) as news:
        store.get(sim.vehicle("rigid-body"), "lie-euler", contact=False)
    coming = news.value.coming
    wait_until(lambda: bool(asides()) or coming.over)
    store.only(())
    wait_until(lambda: not asides())
    with pytest.raises((GivenUp, CancelledError)):
        coming.kernel.result(PATIENCE_S)
    store.close()


def asides() -> list[object]:
    return [child for child in multiprocessing.active_children() if child.name == "cache"]


def test_what_is_made_ahead_gives_way_to_whoever_waits_and_is_taken_up_again() -> None:
    begun, made, nobody_waits = [], [], threading.Event()

    def make(name: str, workers: CacheWorkers) -> None:
        begun.append(name)
        if name == "second" and begun.count(name) == 1:
            wait_until(lambda: workers.closed)
            raise GivenUp
        made.append(name)

    nobody_waits.set()
    ahead = Ahead(make, ["first", "second", "third"], idle=nobody_waits.is_set, first_s=0.0)
    wait_until(lambda: begun == ["first", "second"])
    nobody_waits.clear()
    ahead.give_way()
    assert made == ["first"]
    nobody_waits.set()
    wait_until(lambda: ahead.left == 0)
    ahead.close()
    ahead.join()
    assert made == ["first", "second", "third"]


def test_what_was_made_ahead_is_there_at_once() -> None:
    body, store = sim.vehicle("rigid-body"), KernelStore(CacheWorkers())
    store.work_in_background()
    methods = ["rk4", "no-such-method", "rkmk4"]
    store.ahead(body, methods, first_s=0.0, niceness=0)  # else a busy machine would never come to it
    wait_until(lambda: store.ready_ahead)
    assert {store.get(body, name).integrator.name for name in ("rk4", "rkmk4")} == {"rk4", "rkmk4"}
    store.close()


def test_the_usual_methods_of_a_vehicle_serve_it_and_begin_with_its_own() -> None:
    for kind in VEHICLES.values():
        vehicle = kind()
        own = next(name for name, method in INTEGRATORS.items() if not method.serves(vehicle))
        names = usual(vehicle, own)
        assert names[0] == own
        assert len(set(names)) == len(names) <= len(USUAL)
        assert not any(INTEGRATORS[name].serves(vehicle) for name in names)
