"""Laws of work in processes beside this one."""

import importlib.util
import json
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import sim
from sim.compiler import robust, stepper
from sim.compiler.kernel import _compiled
from sim.integrators import Integrator
from sim.platform.processes import CacheWorkers, GivenUp
from sim.platform.progress import compilations_reported
from sim.scene import load_scene
from sim.simulation import KernelStore, Simulation, starting_methods
from sim.vehicles import Vehicle
from tests.patience import wait_until
from tests.sim.simulation_scenes import GatedKernels, world

ROOT = Path(sim.__file__).resolve().parents[1]


def test_work_is_done_once_and_what_fails_is_tried_again(cache: Path, tmp_path: Path) -> None:
    workers, made = CacheWorkers(), tmp_path / "made"
    for _ in range(2):
        workers.ensure("folder", os.mkdir, made / "inner")
    assert not made.exists()  # there was no folder to make it in
    made.mkdir()
    workers.ensure("folder", os.mkdir, made / "inner")
    assert (made / "inner").exists()
    (made / "inner").rmdir()
    workers.ensure("folder", os.mkdir, made / "inner")
    assert not (made / "inner").exists()


def _ended(pid: int) -> bool:
    """Whether the process is gone, or only its parent has not asked for its status yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.mark.skipif(sys.platform != "linux", reason="asks for a process by /proc")
def test_worker_ends_with_the_one_that_started_it_even_if_that_is_killed(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text("def turns():\n    while True:\n        pass\n")
    (tmp_path / "killed.py").write_text(
        "import time\n"
        "from endless import turns\n"
        "from sim.platform.processes import started\n"
        "if __name__ == '__main__':\n"
        "    print(started('endless', turns).pid, flush=True)\n"
        "    time.sleep(3600.0)\n"
    )
    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    with subprocess.Popen(
        [sys.executable, str(tmp_path / "killed.py")],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    ) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        try:
            assert not _ended(pid)
            parent.kill()
            parent.wait()
            wait_until(lambda: _ended(pid))
        finally:
            if not _ended(pid):
                os.kill(pid, signal.SIGKILL)


def test_closing_ends_what_runs_at_once_and_takes_no_more(cache: Path) -> None:
    workers, outcome = CacheWorkers(), []

    def wait() -> None:
        try:
            workers.ensure("sleep", time.sleep, 3600.0)
        except GivenUp as given_up:
            outcome.append(given_up)

    waiting = threading.Thread(target=wait)
    waiting.start()
    while not any(child.name == "cache" for child in multiprocessing.active_children()):
        time.sleep(0.01)
    workers.close()
    waiting.join(600.0)
    assert not waiting.is_alive()
    assert len(outcome) == 1
    assert not [child for child in multiprocessing.active_children() if child.name == "cache"]
    with pytest.raises(GivenUp):
        workers.ensure("another", time.sleep, 0.0)


def test_what_a_kernel_needs_is_compiled_aside_and_told_of_and_only_loaded_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vehicle, method = sim.vehicle("rigid-body"), sim.integrators()["variational"]
    others = robust.announced()  # what kernels of this process jump to
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "cache"))  # an empty one
    store, told = KernelStore(CacheWorkers()), []
    robust.announced.cache_clear()
    _compiled.cache_clear()
    monkeypatch.setattr(stepper._free, "_entries", {})  # as in a process that has called none
    monkeypatch.setattr(stepper._free, "_latest", stepper._free._first)
    robust.compiled.cache_clear()
    here: list[str] = []
    node, u, p = vehicle.default_state().node, vehicle.neutral_controls, vehicle.parameter_vector
    with compilations_reported(here.append):
        kernel = store.get(vehicle, method, contact=False, tell=told.append)
        store.close()
        assert {"_settle", "_solve", "_free"} <= {*told}
        assert others is not robust.announced()
        assert np.isfinite(kernel.node(kernel.start(node, u, p, 0.01), u, p, 0.01)).all()
        assert robust.compiled()  # as a hard step has them
    assert not here


def test_recursions_of_trees_are_compiled_aside_and_told_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "cache"))  # an empty one
    made: list[str] = []

    def make(vehicle: Vehicle, method: Integrator, inline: object) -> None:
        made.append(f"{vehicle.name} by {method.name} after {len(told)} functions")

    told: list[str] = []
    store = KernelStore(CacheWorkers(), make)
    store.get(sim.vehicle("chain"), "semi-implicit-euler", tell=told.append)
    assert {"accelerated_rollout", "observe_node"} <= {*told}
    again = len(told)
    store.get(sim.vehicle("ragdoll"), "semi-implicit-euler", tell=told.append)
    store.close()
    assert len(told) == again  # they are the same for all trees
    assert made == [f"{name} by semi-implicit-euler after {again} functions" for name in ("chain", "ragdoll")]


def test_the_kernels_that_a_scene_is_said_to_start_with_are_all_that_it_asks_for() -> None:
    scene = load_scene("blowup-racket")
    assert scene.lanes
    assert scene.comparison.reference
    store = GatedKernels()
    vehicle, methods = starting_methods(scene)
    for method in methods:
        store.get(vehicle, method)
    made = store.made
    Simulation(scene, world(scene.world), kernels=store)
    assert store.made == made == len(methods)


WORKERS = """
import json, os, sys, threading

def slept(job, tell):
    return job

def doubled(k):
    return {"double": 2 * k}

if __name__ == "__main__":
    import sim
    from sim.platform.processes import CacheWorkers
    from sim.platform.processes import run_in_process
    from sim.planner.service.worker import PlanWorker

    CacheWorkers().ensure("folder", os.mkdir, sys.argv[1])
    answer = run_in_process(slept, 3, name="work", progress=print, given_up=threading.Event(), allowed="none")
    worker = PlanWorker()
    alive = worker.alive
    worker.close()
    swept = sim.sweep(doubled, {"k": [1, 2]}, workers=1)["double"].tolist() if sys.argv[2] else [2, 4]
    found = sim.simulate("rigid-body", "lie-euler", step=0.1, duration=0.2).energy.shape
    print(json.dumps([answer, alive, swept, found, os.environ.get("PYTHONSAFEPATH")]))
"""


@pytest.mark.timeout(1200)
def test_nothing_in_the_current_folder_is_run_or_obeyed_by_any_worker(tmp_path: Path) -> None:
    """`python -c`, by which processes are started, looks there first."""
    shared, script = tmp_path / "shared", tmp_path / "own" / "work.py"
    for folder in (shared, script.parent):
        folder.mkdir()
    script.write_text(WORKERS)
    trap = "import os, pathlib; pathlib.Path(__file__).with_suffix('.ran').touch(); os._exit(9)\n"
    for name in ("multiprocessing", "sim", "numpy", "pickle", "yaml"):
        (shared / f"{name}.py").write_text(trap)
    before = sorted(path.name for path in shared.iterdir())
    swept = "" if importlib.util.find_spec("distributed") is None else "swept"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONSAFEPATH"}
    environment |= {"PYTHONPATH": str(ROOT), "HOLONOMY_CACHE": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "made"), swept],
        cwd=shared,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1000,
        check=False,
    )
    assert sorted(path.name for path in shared.iterdir()) == before
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == [3, True, [2, 4], [3], None]
    assert (tmp_path / "made").is_dir()
