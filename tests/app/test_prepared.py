"""Laws of what is loaded beside the frames."""

import time
from contextlib import closing

import pytest

from sim.commands import SetPaused
from sim.platform.errors import InputError
from sim.platform.processes import CacheWorkers
from sim.platform.progress import Board
from sim.scene import load_scene
from ui.features.scenes.loader import Loader
from ui.features.scenes.preparation import Loaded, prepared


def plain(shown: str, *commands: object) -> Loaded:
    loaded = prepared(load_scene("plain"), "software", shown, commands, CacheWorkers(), Board())
    loaded.simulation.stop()
    loaded.planning.close()
    return loaded


def wait_for(loader: Loader) -> Loaded:
    while True:
        loaded = loader.take()
        if loaded is not None:
            return loaded
        time.sleep(0.01)


def test_the_meshes_of_another_world_come_with_a_scene_and_those_that_are_shown_do_not() -> None:
    other = plain("another world")
    assert other.scenery is not None
    assert len(other.scenery.terrain) > 0
    same = plain(other.world.key)
    assert same.scenery is None
    assert same.world.key == other.world.key
    for loaded in (other, same):
        assert loaded.simulation.snapshot.scene == "plain"


def test_commands_that_come_with_a_scene_are_carried_out_before_it_is_shown() -> None:
    assert not plain("").simulation.snapshot.paused
    assert plain("", SetPaused(True)).simulation.snapshot.paused


def test_the_board_tells_what_is_being_done_and_for_how_long_it_was() -> None:
    board = Board()
    with board.shown("first"):
        pass
    with board.shown("second") as tell:
        tell("start")
        tell("rollout")
        first, second = board.jobs
        assert (first.title, second.title) == ("first", "second")
        assert first.ended_s is not None
        assert first.ended_s >= first.began_s
        assert (second.function, second.functions, second.ended_s) == ("rollout", 2, None)
    assert board.jobs[1].ended_s is not None


def test_a_scene_that_cannot_work_is_told_once_and_another_one_can_be_asked_for() -> None:
    def refused() -> None:
        raise InputError("no such scene")

    with closing(Loader()) as loader:
        assert loader.take() is None
        for _ in range(2):
            loader.load(refused, "software")
            assert loader.busy
            with pytest.raises(InputError, match="no such scene"):
                wait_for(loader)
            assert not loader.busy
