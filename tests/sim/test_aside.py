"""Laws of work in processes beside this one."""

import multiprocessing
import os
import sys
import threading
import time
from pathlib import Path

import pytest
from numba.core import event

import sim
from sim.aside import Aside, GivenUp
from sim.compiler import kernel_text
from sim.scene import load_scene
from sim.simulation import KernelStore, Simulation, starting_methods
from tests.sim.simulation_scenes import world


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty one."""
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_work_is_done_once_and_what_fails_is_tried_again(cache: Path, tmp_path: Path) -> None:
    aside, made = Aside(), tmp_path / "made"
    for _ in range(2):
        aside.ensure("folder", os.mkdir, made / "inner")
    assert not made.exists()  # there was no folder to make it in
    made.mkdir()
    aside.ensure("folder", os.mkdir, made / "inner")
    assert (made / "inner").exists()
    (made / "inner").rmdir()
    aside.ensure("folder", os.mkdir, made / "inner")
    assert not (made / "inner").exists()


def test_closing_ends_what_runs_at_once_and_takes_no_more(cache: Path) -> None:
    aside, outcome = Aside(), []

    def wait() -> None:
        try:
            aside.ensure("sleep", time.sleep, 3600.0)
        except GivenUp as given_up:
            outcome.append(given_up)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while not any(child.name == "aside" for child in multiprocessing.active_children()):
        time.sleep(0.01)
    aside.close()
    waiting.join(600.0)
    assert not waiting.is_alive()
    assert len(outcome) == 1
    assert not [child for child in multiprocessing.active_children() if child.name == "aside"]
    with pytest.raises(GivenUp):
        aside.ensure("another", time.sleep, 0.0)


def test_a_kernel_that_is_compiled_aside_is_told_of_and_only_loaded_here(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vehicle, method = sim.vehicle("rigid-body"), sim.integrators()["lie-euler"]
    name = kernel_text(vehicle, method).name
    monkeypatch.delitem(sys.modules, name, raising=False)
    store, told = KernelStore(Aside()), []
    with event.install_recorder("numba:compile") as here:
        kernel = store.get(vehicle, method, contact=False, tell=told.append)
    store.close()
    assert "rollout" in told
    assert not here.buffer
    assert kernel.module.__name__ == name


def test_the_kernels_that_a_scene_is_said_to_start_with_are_all_that_it_asks_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    scene = load_scene("blowup-racket")
    assert scene.lanes
    assert scene.comparison.reference
    store = KernelStore()
    vehicle, methods = starting_methods(scene)
    for method in methods:
        store.get(vehicle, method)
    asked: list[str] = []
    monkeypatch.setattr(KernelStore, "_compiled", lambda store, vehicle, method, *_: asked.append(method))
    Simulation(scene, world(scene.world), kernels=store)
    assert asked == []
