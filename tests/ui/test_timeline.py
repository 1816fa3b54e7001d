"""Laws of the recording's line and of the takes panel: what is pressed is what is asked for."""

from dataclasses import replace
from pathlib import Path

import pytest

import sim
from sim.commands import BackToNow, PlayTake, RemoveLane, Resimulate, Retake, Scrub, SetPaused
from sim.recordings import Take
from sim.simulation.lanes.snapshot import LookBack, Snapshot
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.flight import draw_timeline, draw_transport
from ui.features.notices import REWIND_S, draw_banner
from ui.features.recordings import OpenTake, SaveTake, StoredTake, TakesView
from ui.features.takes.panel import Resimulation, TakesFields, draw_takes
from ui.hud.instruments import draw_past, past_text
from ui.settings.view_settings import ViewSettings
from ui.shell.keys import request_of
from ui.window.widgets import jumped


def flying(**changes) -> Snapshot:
    """Ten seconds are remembered."""
    return fakes.snapshot(recorded_s=(2.0, 12.0), clock_s=12.0, **changes)


def looking(time_s: float, opened: str = "") -> Snapshot:
    return flying(look_back=LookBack(opened, 2.0, 12.0, time_s), paused=True)


def test_the_line_leads_to_the_moment_under_the_mouse(bench: Bench) -> None:
    *_, last = bench.click("timeline/line", draw_timeline, flying(), at=0.5)
    assert isinstance(last, Scrub)
    assert last.time_s == pytest.approx(7.0, abs=0.3)


def test_the_buttons_ask_for_what_they_say(bench: Bench) -> None:
    assert bench.click("timeline/back", draw_timeline, flying()) == [Scrub(11.0)]
    shown = looking(5.0)
    assert bench.click("timeline/back", draw_timeline, shown) == [Scrub(4.0)]
    assert bench.click("timeline/on", draw_timeline, shown) == [Scrub(6.0)]
    assert bench.click("timeline/retake", draw_timeline, shown) == [Retake(paused=False)]
    assert bench.click("timeline/play", draw_timeline, shown) == [SetPaused(False)]
    assert bench.click("timeline/now", draw_timeline, shown) == [BackToNow()]
    (asked,) = bench.click("timeline/save", draw_timeline, flying())
    assert isinstance(asked, SaveTake)
    assert asked.take is None


def test_nothing_is_asked_for_where_there_is_nothing(bench: Bench) -> None:
    fresh = fakes.snapshot(recorded_s=(0.0, 0.0))
    for name in ("back", "line", "on", "retake", "now", "save"):
        assert bench.click(f"timeline/{name}", draw_timeline, fresh) == []
    for name in ("on", "retake", "play", "now"):
        assert bench.click(f"timeline/{name}", draw_timeline, flying()) == []


def test_jumps_stay_on_the_line_and_lead_on_to_the_present() -> None:
    assert jumped(looking(2.4), -1.0) == Scrub(2.0)
    assert jumped(looking(11.5), 1.0) == Scrub(12.0)
    assert jumped(looking(12.0), 1.0) == BackToNow()
    assert jumped(looking(12.0, "another flight"), 1.0) is None
    assert jumped(flying(), 1.0) is None
    assert jumped(flying(), -1.0) == Scrub(11.0)


def test_a_wreck_offers_the_way_back(bench: Bench) -> None:
    from sim.simulation.lanes.snapshot import LaneStatus

    crashed = flying(lanes=(fakes.lane(status=LaneStatus.CRASHED, status_text="crashed at 9 m/s"),))
    assert bench.click("banner/back", draw_banner, crashed) == [Scrub(12.0 - REWIND_S)]


def test_going_on_flies_on_in_ones_own_past_and_plays_what_was_opened(bench: Bench) -> None:
    assert bench.click("transport/play", draw_transport, looking(5.0)) == [Retake(paused=False)]
    opened = looking(5.0, "another flight")
    assert bench.click("transport/play", draw_transport, opened) == [SetPaused(False)]
    playing = replace(looking(5.0), paused=False)
    assert bench.click("transport/play", draw_transport, playing) == [SetPaused(True)]
    assert request_of("pause", looking(5.0), ViewSettings()) == Retake(paused=False)


def test_the_past_is_told_of_over_the_view(bench: Bench) -> None:
    lines = [text for text, _ in past_text(looking(9.0), bench.context)]
    assert lines[0].startswith("Past: 3.0 s ago")
    assert "F7" in lines[1]
    assert "F10" in lines[2]
    (heading, *_), *_ = past_text(looking(9.0, "another flight"), bench.context)
    assert "another flight" in heading
    bench.frame(lambda snapshot, context: draw_past(snapshot, context), looking(9.0))
    assert "past" in bench.context.rects
    bench.frame(lambda snapshot, context: draw_past(snapshot, context), flying())
    assert "past" not in bench.context.rects


def test_what_was_flown_is_resimulated_under_the_chosen_method(bench: Bench) -> None:
    chosen = bench.context.of(Resimulation)
    assert bench.click("takes/resimulate", draw_takes, flying()) == [Resimulate("rk4", chosen.step_s)]
    chosen.parameter, chosen.value = "mass", 3.0
    (asked,) = bench.click("takes/resimulate", draw_takes, flying())
    assert asked == Resimulate("rk4", chosen.step_s, (("mass", 3.0),))
    ghost = looking(5.0)
    ghost = fakes.snapshot(fakes.lane(), fakes.lane("rk4 20 ms"), look_back=ghost.look_back)
    assert bench.click("takes/remove/rk4 20 ms", draw_takes, ghost) == [RemoveLane("rk4 20 ms")]
    bench.frame(draw_takes, fakes.snapshot(recorded_s=(0.0, 0.0)))
    assert "takes/resimulate" not in bench.context.rects


def test_flights_and_files_are_listed_shown_and_saved(bench: Bench) -> None:
    vehicle = sim.vehicle("rigid-body")
    take = Take.of_trajectory(sim.simulate(vehicle, "rk4", step=0.01, duration=0.1))
    path = Path("folder/flight-1.npz")
    bench.context.show(TakesView(Path("folder"), (StoredTake(path, "helicopter"),), unsaved=(take,)))
    (played,) = bench.click("takes/unsaved/0/play", draw_takes, flying())
    assert isinstance(played, PlayTake)
    assert played.take is take
    (saved,) = bench.click("takes/unsaved/0/save", draw_takes, flying())
    assert isinstance(saved, SaveTake)
    assert saved.take is take
    assert bench.click("takes/stored/0/play", draw_takes, flying()) == [OpenTake(str(path))]
    bench.context.of(TakesFields).path = "  elsewhere.npz "
    assert bench.click("takes/open", draw_takes, flying()) == [OpenTake("elsewhere.npz")]
