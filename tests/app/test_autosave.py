"""Laws of what is kept while it is flown: killing the app loses next to nothing, a folder that fails is told of."""

import gc
import logging
import os
import subprocess
import sys
import tempfile
import weakref
from pathlib import Path

import numpy as np
import pytest

from sim.commands import PilotInput, Reset, SetPilotInput
from sim.recordings import load_take
from sim.simulation import Simulation
from tests.patience import wait_until
from tests.sim.simulation_scenes import flown, helicopter_scene, simulation, world
from ui.features.takes import actions
from ui.features.takes.actions import AUTOSAVED, Takes


def written(desk: Takes, flying: Simulation, folder: Path, count: int) -> list[Path]:
    """Files once so many are there."""

    def there() -> list[Path]:
        flying.advance(0.0)
        desk.poll(flying)
        files = sorted(folder.glob("flying-*.npz"))
        return files if len(files) >= count else []

    return wait_until(there, every_s=0.05)


def orphaned(files: list[Path]) -> None:
    """As if another process, which is no more, had written them."""
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for file in files:
        file.rename(file.with_name(file.name.replace(str(os.getpid()), str(gone.pid))))


def test_a_flight_is_on_disk_while_it_is_flown_and_offered_where_its_app_was_killed(tmp_path: Path) -> None:
    flying, desk = flown(6.0), Takes(tmp_path, period_s=0.0)
    orphaned(written(desk, flying, tmp_path / AUTOSAVED, 1))
    again = Takes(tmp_path, period_s=0.0)
    (news,) = again.poll(simulation(helicopter_scene()))
    assert news.text == "The app ended unexpectedly: a flight was kept, see Takes, Autosaved"
    (kept,) = again.view.autosaved
    assert kept.path.stem.startswith("recovered-")
    final = load_take(kept.path).samples().nodes[-1]
    np.testing.assert_array_equal(final[9:12], flying.snapshot.lanes[0].T_wb[:3, 3])
    assert again.poll(simulation(helicopter_scene())) == []


def test_flights_that_have_ended_are_kept_as_well_each_in_its_file(tmp_path: Path) -> None:
    flying, desk = flown(6.0), Takes(tmp_path, period_s=0.0)
    written(desk, flying, tmp_path / AUTOSAVED, 1)
    flying.submit(Reset())
    flying.advance(0.1)
    flying.submit(SetPilotInput(PilotInput(throttle=0.2)))
    flying.advance(7.0)
    files = written(desk, flying, tmp_path / AUTOSAVED, 2)
    desk.close(flying, world("plain"))
    assert not any(file.exists() for file in files), "closed as it should be, it keeps them in the usual way"
    lengths = sorted(load_take(one.path).duration_s for one in Takes(tmp_path, period_s=0.0).view.autosaved)
    assert lengths == pytest.approx([6.1, 7.1])


def test_what_another_app_writes_just_now_is_left_to_it(tmp_path: Path) -> None:
    folder = tmp_path / AUTOSAVED
    flying, desk = flown(6.0), Takes(tmp_path, period_s=0.0)
    (file,) = written(desk, flying, folder, 1)
    other = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    file.rename(folder / f"flying-{other.pid}-0.npz")
    assert actions.recovered(folder) == 0
    other.communicate(b"\n")
    assert actions.recovered(folder) == 1


def test_nobody_steered_or_only_for_a_moment_and_nothing_is_written(tmp_path: Path) -> None:
    for flying in (flown(1.0), flown(6.0, throttle=0.0)):
        desk = Takes(tmp_path, period_s=0.0)
        for _ in range(5):
            flying.advance(0.0)
            desk.poll(flying)
        desk.close(flying, world("plain"))
    assert not (tmp_path / AUTOSAVED).exists()


def test_where_the_folder_fails_a_temporary_one_is_taken_and_the_terminal_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / AUTOSAVED).write_text("in the way")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "elsewhere"))
    flying, desk = flown(6.0), Takes(tmp_path, period_s=0.0)
    with caplog.at_level(logging.WARNING, "holonomy"):
        desk.close(flying, world("plain"))
    (folder,) = {path.parent for path in (tmp_path / "elsewhere").rglob("*.npz")}
    told = [record.getMessage() for record in caplog.records]
    assert any(f"cannot be kept in {tmp_path / AUTOSAVED}" in line for line in told)
    assert any(line.endswith(f"it is kept in {folder}") for line in told)
    assert all("\n" not in line for line in told)
    (kept,) = folder.glob("*.npz")
    assert load_take(kept).duration_s == pytest.approx(6.1)


@pytest.mark.parametrize("seconds", [3.0, 8.0, 40.0])
def test_of_a_flight_that_is_killed_at_any_time_the_first_seconds_are_kept(
    tmp_path: Path, seconds: float
) -> None:
    """At most half of it is lost, and at most what is flown between two copies."""
    now_s = 0.0
    flying, desk, files = flown(0.0), Takes(tmp_path, clock=lambda: now_s), tmp_path / AUTOSAVED
    while now_s < seconds:
        flying.advance(0.1)
        desk.poll(flying)
        now_s += 0.1

    def kept() -> list[float]:
        """Seconds of each copy; whoever writes them is another thread."""
        return [load_take(one).duration_s for one in files.glob("flying-*.npz")]

    wait_until(lambda: max(kept(), default=0.0) > max(seconds / 2.0, seconds - 15.0) - 0.5, kept)


def test_flights_of_scenes_that_were_left_are_not_held_in_memory(tmp_path: Path) -> None:
    saver = actions.Autosave(tmp_path, period_s=0.0)
    flying = flown(3.0)
    ended = flying.takes()
    held = [weakref.ref(take) for take in ended]
    saver.keep(ended)
    saver.keep(())  # as the next scene's simulation has it
    assert held
    del ended, flying

    def gone_from_memory() -> bool:
        gc.collect()
        return not any(one() for one in held)

    wait_until(gone_from_memory, every_s=0.05)
    assert len(list(tmp_path.glob("flying-*.npz"))) == len(held)
