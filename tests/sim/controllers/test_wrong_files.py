"""Whatever stands in a controller's file, what comes of it is controls or one line, and the simulation goes on."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sim
from benchmarks.controller_fuzz import ENCODED, GOOD, STOPPED_CLOCKS, Trial, undone, wrong_files
from sim.control.pilot import ControllerPilot
from sim.controllers import ControlLoop, PilotInput, made_controller
from sim.controllers.controller import holds_controller, load_controller
from sim.platform import user_files
from tests.patience import PATIENCE_S, wait_until

COUNT = 330
QUICK_S = 0.3


@pytest.fixture(autouse=True)
def _own_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path / "config"))


@pytest.fixture
def trial(tmp_path: Path) -> Iterator[Trial]:
    made = Trial(tmp_path)
    made.PATIENCE_S = PATIENCE_S
    made.simulation.start()
    yield made
    made.simulation.stop()


@pytest.mark.filterwarnings("ignore")
def test_wrong_files_end_in_single_lines_and_it_flies_on_by_hand(trial: Trial) -> None:
    """A part of what `benchmarks.controller_fuzz` tries: without loops, and of each kind every third."""
    files = [file for file in wrong_files(COUNT, 7) if "loops" not in file[0] and "elsewhere" not in file[0]]
    refused = 0
    for k, (kind, source) in enumerate(files[::3]):
        with undone():
            how, told = trial.ending(source, saved=bool(k % 2))
            trial.let_go()
        refused += how != "flew"
        assert how != "internal error", (kind, source, told)
        assert not told or told.isprintable(), (kind, source)
        assert len(told) <= 400, kind
        trial.by_hand_again()
    assert refused > 40


def _read(file: Path, source: bytes) -> type[sim.Controller]:
    file.write_bytes(source)
    assert holds_controller(file) or not source
    return load_controller(str(file), (file.parent,), trusted=True)[0]


@pytest.mark.parametrize("source", [source for source, good in ENCODED if good])
def test_files_as_editors_save_them_fly(source: bytes, tmp_path: Path) -> None:
    run = sim.simulate("quadrotor", step=0.02, duration=0.1, controller=_read(tmp_path / "own.py", source))
    usual = sim.simulate(
        "quadrotor", step=0.02, duration=0.1, controller=_read(tmp_path / "b.py", GOOD.encode())
    )
    assert np.array_equal(run.nodes, usual.nodes)


@pytest.mark.parametrize(
    "before, after",
    [
        ("class Own", "while True: pass\nclass Own"),
        ("class Own", "while True:\n    try: 1 + 1\n    except: pass\nclass Own"),
        ("    def start", "    def __init__(self):\n        while True: pass\n    def start"),
        ("    def start", "    def __init__(self): raise GeneratorExit\n    def start"),
        ("    def start", "    def __new__(cls): return None\n    def start"),
        ("class Own", "raise GeneratorExit\nclass Own"),
    ],
)
def test_reading_and_making_end_in_a_line(
    before: str, after: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(user_files, "WORK_S", QUICK_S)
    monkeypatch.setattr("sim.controllers.controller.WORK_S", QUICK_S)
    with pytest.raises(sim.InputError) as refusal:
        made_controller(_read(tmp_path / "own.py", GOOD.replace(before, after, 1).encode()))
    assert str(refusal.value).isprintable()


def test_a_call_that_catches_its_end_is_ended_all_the_same(
    trial: Trial, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ControllerPilot, "DEADLINE_S", QUICK_S)
    caught = (
        "        while True:\n            try: 1 + 1\n            except BaseException: 0\n        z = memory"
    )
    ending = trial.ending(GOOD.replace("        z = memory", caught, 1).encode(), saved=False)
    assert ending.how == "took too long"
    assert ending.line.endswith("a call took more than 0.3 s")
    trial.by_hand_again()
    wait_until(lambda: all(thread.name != "watch over a call" for thread in threading.enumerate()))


SHARED = {
    "time.perf_counter, time.sleep, time.monotonic": STOPPED_CLOCKS,
    "builtins.len, builtins.isinstance": "import builtins; builtins.len = builtins.isinstance = None",
    "numpy.array, numpy.clip": "np.array = np.clip = None",
}


@pytest.mark.parametrize("names", SHARED)
@pytest.mark.parametrize(
    "before", ["        z = memory", "        return {", "class Own"], ids=["call", "start", "file"]
)
def test_who_replaces_what_all_share_is_told_so_and_stops_alone(
    trial: Trial, names: str, before: str
) -> None:
    """The names are there again at once, for the simulation and everybody else."""
    now = time.perf_counter, time.monotonic, time.sleep, len, isinstance, np.array, np.clip
    indent = " " * (len(before) - len(before.lstrip()))
    spoilt = GOOD.replace(before, f"{indent}{SHARED[names]}\n{before}", 1)
    told = trial.ending(spoilt.encode(), saved=False).line
    assert "it replaces " in told
    assert all(name in told for name in names.split(", "))
    assert now == (time.perf_counter, time.monotonic, time.sleep, len, isinstance, np.array, np.clip)
    trial.let_go()
    trial.by_hand_again()


def test_what_is_handed_over_may_be_changed_and_changes_nothing_else(tmp_path: Path) -> None:
    spoilt = GOOD.replace("        return {", "        vehicle.values['mass'] *= 2\n        return {", 1)
    spoilt = spoilt.replace(
        "        z = memory", "        object.__setattr__(sticks, 'pitch', 'x')\n        z = memory", 1
    )
    sticks, vehicle = PilotInput(pitch=0.5), sim.vehicle("quadrotor")
    kind = _read(tmp_path / "own.py", spoilt.encode())
    loop = ControlLoop(made_controller(kind), vehicle)
    loop.controls(0.0, vehicle.state(), sticks)
    assert vehicle.values["mass"] == sim.vehicle("quadrotor").values["mass"]
    assert sticks == PilotInput(pitch=0.5)
