"""Laws of takes in the window: nothing is overwritten, nothing is lost to an error, everything is answered."""

from pathlib import Path

import numpy as np
import pytest

from sim.commands import PilotInput, Reset, SetPilotInput
from sim.recordings import load_take
from sim.simulation import Simulation
from tests.patience import wait_until
from tests.sim.plan_samples import record
from tests.sim.simulation_scenes import flown, helicopter_scene, simulation, world
from ui.features.takes.actions import MOST_AUTOSAVED, News, Takes


@pytest.fixture
def running() -> Simulation:
    """A second and a half in the air."""
    flying = simulation(helicopter_scene())
    flying.submit(SetPilotInput(PilotInput(throttle=0.8)))
    flying.advance(1.5)
    return flying


def answered(desk: Takes, running: Simulation) -> News:
    """The first news there are."""

    def told() -> tuple[News, ...]:
        running.advance(0.0)
        return tuple(desk.poll(running))

    return wait_until(told, every_s=0.05)[0]


def test_what_is_recorded_is_saved_twice_and_opened_again(tmp_path: Path, running: Simulation) -> None:
    desk = Takes(tmp_path / "takes")
    for _ in range(2):
        desk.save(None, running, world("plain"))
        told = answered(desk, running)
        assert not told.error, told.text
    assert len(desk.view.stored) == 2
    assert desk.view.stored[0].doc.startswith(
        f"helicopter, {running.snapshot.lanes[0].integrator} h = 0.01 s"
    )
    desk.open(str(desk.view.stored[0].path))
    opened = answered(desk, running).opened
    assert opened is not None
    final = opened.trajectory.pose[-1]
    np.testing.assert_array_equal(final, running.snapshot.lanes[0].T_wb)
    desk.close(running, world("plain"))


def test_flights_that_began_anew_wait_until_they_are_saved(tmp_path: Path, running: Simulation) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    desk = Takes(blocked)
    running.submit(Reset())
    running.advance(0.0)
    desk.poll(running)
    (flight,) = desk.view.unsaved
    assert flight.end_s == pytest.approx(1.5)
    desk.save(flight, running, world("plain"))
    assert answered(desk, running).error
    assert desk.view.unsaved == (flight,), "it could not be written, so it stays"
    desk.close(running, world("plain"))
    desk = Takes(tmp_path / "takes")
    desk.leave(running)
    desk.poll(simulation(helicopter_scene()))
    (left,) = desk.view.unsaved
    desk.save(left, running, world("plain"))
    other = simulation(helicopter_scene())
    assert not answered(desk, other).error
    assert desk.view.unsaved == ()
    desk.close(running, world("plain"))


def test_a_plan_is_exported(tmp_path: Path, running: Simulation) -> None:
    desk = Takes(tmp_path)
    plan = record()
    desk.export(plan, running, world("plain"))
    assert not answered(desk, running).error
    take = load_take(desk.view.stored[0].path)
    assert take.vehicle.name == plan.vehicle.name
    np.testing.assert_array_equal(take.trajectory.controls, plan.controls[:-1])
    desk.close(running, world("plain"))


def test_what_cannot_be_is_answered_in_one_line(tmp_path: Path) -> None:
    desk, fresh = Takes(tmp_path), simulation(helicopter_scene())
    desk.save(None, fresh, world("plain"))
    assert answered(desk, fresh) == News("nothing has been recorded yet", error=True)
    (tmp_path / "other.npz").write_text("x")
    desk.open(str(tmp_path / "other.npz"))
    told = answered(desk, fresh)
    assert told.error
    assert "is no take" in told.text
    for path in ("~nobody-of-that-name/flight.npz", str(tmp_path), "a\0b.npz", "nothing-there.npz"):
        desk.open(path)
        told = answered(desk, fresh)
        assert told.error
        assert path.replace("\0", r"\x00") in told.text
    assert desk.view.stored == ()
    desk.close(fresh, world("plain"))


def test_closing_keeps_what_was_steered_for_a_while_and_the_latest_ten_of_it(tmp_path: Path) -> None:
    for seconds, throttle in ((1.5, 0.4), (5.5, 0.0)):
        Takes(tmp_path).close(flown(seconds, throttle), world("plain"))
    assert Takes(tmp_path).view.autosaved == (), "too short, or nobody steered"
    flying = flown(5.5, 0.4)
    Takes(tmp_path).close(flying, world("plain"))
    (kept,) = Takes(tmp_path).view.autosaved
    final = load_take(kept.path).trajectory.pose[-1]
    np.testing.assert_array_equal(final, flying.snapshot.lanes[0].T_wb)
    for _ in range(MOST_AUTOSAVED):
        desk = Takes(tmp_path)
        desk.leave(flying)
        desk.close(flying, world("plain"))
    view = Takes(tmp_path).view
    assert len(view.autosaved) == MOST_AUTOSAVED
    assert view.stored == ()


def test_what_is_asked_for_at_the_last_moment_is_written_and_bars_nothing(tmp_path: Path) -> None:
    flying, desk = flown(1.0, 0.4), Takes(tmp_path)
    desk.save(None, flying, world("plain"))
    flying.advance(0.0)
    desk.save(None, flying, world("plain"))  # comes too late to be answered
    desk.leave(flying)
    other = flown(1.0, 0.2)
    assert not answered(desk, other).error
    assert not desk.view.saving
    assert len(desk.view.stored) == 1
    desk.save(None, other, world("plain"))
    other.advance(0.0)
    desk.close(other, world("plain"))
    assert len(Takes(tmp_path).view.stored) == 2


def test_what_was_saved_by_hand_is_not_kept_a_second_time(tmp_path: Path) -> None:
    flying, desk = flown(5.5, 0.4), Takes(tmp_path)
    flying.submit(Reset())
    flying.advance(0.0)
    desk.poll(flying)
    desk.save(desk.view.unsaved[0], flying, world("plain"))
    desk.close(flying, world("plain"))
    view = Takes(tmp_path).view
    assert (len(view.stored), view.autosaved) == (1, ())
