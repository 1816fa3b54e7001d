"""Plots that are linked, dragged into one another, drawn as spectrum or phase plot, and saved."""

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from imgui_bundle import imgui
from PIL import Image

from sim.scene import load_scene
from sim.simulation.lanes.snapshot import Snapshot
from tests.sim.simulation_scenes import simulation
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.desktop.plot_files import save_plot
from ui.features.plots.channels import control_key, offered
from ui.features.plots.curves import MOST_MOMENTS, Curves, Moments, observe_curves
from ui.features.plots.forms import ENDINGS, PHASE, SPECTRUM, Form, SavePlot, decades_of, figure_of, spectrum
from ui.features.plots.panel import draw_plots
from ui.features.plots.parts import PlotChoice, hovered_moment
from ui.features.recordings import PlotWindow
from ui.window.context import PanelContext, Request

HZ, RADPS = 2.5, 0.7


def at(time_s: float) -> Snapshot:
    """A lane that swings: its angular velocity is a sine, its energy the cosine."""
    phase = 2.0 * np.pi * HZ * time_s
    twist = np.array([0.0, 0.0, 2.0 + RADPS * np.sin(phase), 0.0, 0.0, 0.0])
    lane = fakes.lane(time_current_s=time_s, twist_b=twist, energy_J=1e3 + 50.0 * np.cos(phase))
    return replace(fakes.snapshot(lane), clock_s=time_s, recorded_s=(0.0, time_s))


@pytest.fixture
def now(bench: Bench) -> Snapshot:
    for time_s in np.arange(0.0, 10.0, 0.02):
        observe_curves(at(time_s), bench.context)
    return at(9.98)


def pointed(bench: Bench, now: Snapshot, name: str, share: float = 0.5) -> list:
    """Two frames with the mouse over a widget, which stays there."""
    bench.frame(draw_plots, now)
    x, y, width, height = bench.context.rects[name]
    imgui.get_io().add_mouse_pos_event(x + share * width, y + 0.5 * height)
    return bench.frame(draw_plots, now) + bench.frame(draw_plots, now)


def test_a_moment_under_the_mouse_is_shown_by_all_plots_and_gone_with_it(bench: Bench, now: Snapshot) -> None:
    for _ in range(3):
        pointed(bench, now, "plots/energy/area", 0.3)
    window, frame = bench.context.of(PlotWindow), imgui.get_frame_count()
    time_s = window.hovered_s(frame)
    assert time_s is not None
    ghost = hovered_moment(bench.context)
    assert ghost is not None
    assert ghost.ghost
    assert ghost.time_current_s == pytest.approx(time_s, abs=0.011)
    linked = [name for name in bench.context.rects if name.endswith("/linked")]
    assert "plots/omega/linked" in linked
    assert "plots/energy/linked" not in linked
    pointed(bench, now, "plots/choose")
    assert window.hovered_s(imgui.get_frame_count() + 1) is None
    assert not [name for name in bench.context.rects if name.endswith("/linked")]


def test_nothing_is_told_of_what_is_yet_to_come(bench: Bench, now: Snapshot) -> None:
    """The plots show more time than has been flown."""
    for _ in range(3):
        pointed(bench, now, "plots/energy/area", 0.9)
    assert bench.context.of(PlotWindow).hovered_s(imgui.get_frame_count()) == pytest.approx(9.98)
    ghost = hovered_moment(bench.context)
    assert ghost is not None
    assert ghost.time_current_s == pytest.approx(9.98, abs=0.03)


def test_moments_of_a_long_flight_reach_back_to_its_start_and_none_is_after_a_step_back() -> None:
    moments = Moments()
    for k in range(5 * MOST_MOMENTS):
        moments.append(fakes.lane(time_current_s=0.05 * k))
    end_s = 0.05 * (5 * MOST_MOMENTS - 1)
    apart_s = max(
        abs(found.time_current_s - time_s)
        for time_s in np.linspace(0.0, end_s - 1.0, 200)
        if (found := moments.at(time_s)) is not None
    )
    assert apart_s < 0.26  # 512 s in 1024 to 2048 moments; found 0.20
    assert moments.at(0.0) is not None
    assert moments.at(end_s + 1.0) is None
    moments.append(fakes.lane(time_current_s=100.0))
    assert moments.at(101.0) is None


def test_a_title_dragged_onto_another_plot_is_drawn_there_and_taken_out_again(
    bench: Bench, now: Snapshot
) -> None:
    io = imgui.get_io()
    pointed(bench, now, "plots/omega/title")
    io.add_mouse_button_event(0, True)
    bench.frame(draw_plots, now)
    for share in (0.3, 0.4, 0.5):
        pointed(bench, now, "plots/energy/area", share)
    io.add_mouse_button_event(0, False)
    bench.frame(draw_plots, now)
    bench.frame(draw_plots, now)
    assert bench.context.of(PlotChoice).form("energy").beside == ("omega",)
    bench.click("plots/energy/title", draw_plots, now)
    bench.click("plots/menu/drop/omega", draw_plots, now)
    assert bench.context.of(PlotChoice).form("energy").beside == ()


def _below_the_scene(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Plots where they stand in the window, so that menus of titles open upwards, over the bar."""
    imgui.set_next_window_pos((0.0, 560.0))
    imgui.set_next_window_size((900.0, 220.0))
    imgui.begin("plots below")
    requests = draw_plots(snapshot, context)
    imgui.end()
    return requests


@pytest.mark.parametrize("ending", ENDINGS)
def test_every_plot_is_saved_by_its_menu_which_stays_before_the_bar(
    bench: Bench, now: Snapshot, ending: str
) -> None:
    bench.frame(_below_the_scene, now)
    titles = [name for name in bench.context.rects if name.endswith("/title")]
    for title in titles:
        bench.click(title, _below_the_scene, now)
        asked = bench.click(f"plots/menu/save/{ending}", _below_the_scene, now)
        assert [r.ending for r in asked if isinstance(r, SavePlot)] == [ending], title


def test_a_phase_plot_shows_the_moment_that_is_looked_at_in_another_plot(bench: Bench, now: Snapshot) -> None:
    bench.context.of(PlotChoice).forms["omega"] = Form(kind=PHASE, beside=("energy",))
    for _ in range(4):
        pointed(bench, now, "plots/energy/area", 0.3)
    assert bench.context.of(PlotWindow).hovered_s(imgui.get_frame_count()) is not None


def test_a_saved_plot_names_its_curves_as_the_legend_does(bench: Bench) -> None:
    other = fakes.lane("lie", integrator="lie-euler", step_s=0.002)
    same = fakes.lane("kept", integrator="lie-euler", step_s=0.002)
    both = fakes.snapshot(fakes.lane(step_s=0.01), other, same)
    for time_s in (0.0, 0.02):
        observe_curves(replace(both, clock_s=time_s), bench.context)
    known = offered(both.lanes[0])
    figure = figure_of(known["energy"], Form(), known, both.lanes, bench.context.of(Curves), (0.0, 1.0))
    first = f"{both.lanes[0].integrator} 10 ms"
    assert [curve.name for curve in figure.curves] == [first, "lie-euler 2 ms (lie)", "lie-euler 2 ms (kept)"]


def test_a_plot_becomes_a_spectrum_and_a_phase_plot_and_is_saved_as_it_is_shown(
    bench: Bench, now: Snapshot, tmp_path: Path
) -> None:
    bench.click("plots/omega/title", draw_plots, now)
    bench.click("plots/menu/spectrum", draw_plots, now)
    assert bench.context.of(PlotChoice).form("omega").kind == SPECTRUM
    (saved,) = (r for r in bench.click("plots/menu/save/png", draw_plots, now) if isinstance(r, SavePlot))
    curve = saved.figure.curves[0]
    assert curve.x[np.argmax(curve.y)] == pytest.approx(HZ, abs=0.06)
    bench.click("plots/omega/title", draw_plots, now)
    bench.click("plots/menu/phase", draw_plots, now)
    assert bench.context.of(PlotChoice).form("omega").kind == PHASE
    (saved,) = (r for r in bench.click("plots/menu/save/csv", draw_plots, now) if isinstance(r, SavePlot))
    for ending in ENDINGS:
        path = save_plot(tmp_path, "canyon", saved.figure, ending)
        if ending == "png":
            with Image.open(path) as picture:
                assert len(np.unique(np.asarray(picture.convert("L").resize((70, 40))))) > 20
        elif ending == "svg":
            assert "</svg>" in path.read_text()
        else:
            rows = list(csv.reader(path.read_text().splitlines()))
            x, y = (np.array([float(row[k]) for row in rows[1:]]) for k in (1, 2))
            shown = saved.figure.curves[0]
            assert np.array_equal(x, shown.x)
            assert np.array_equal(y, shown.y)


@pytest.mark.parametrize("seed", range(5))
def test_a_sine_in_uneven_samples_has_its_amplitude_at_its_frequency(seed: int) -> None:
    rng = np.random.default_rng(seed)
    hertz, amplitude = rng.uniform(0.5, 8.0), rng.uniform(1e-3, 1e3)
    time_s = np.cumsum(rng.uniform(0.005, 0.02, 2000))
    values = rng.normal() * amplitude + amplitude * np.sin(2.0 * np.pi * hertz * time_s + rng.uniform(0, 6))
    f_hz, found = spectrum(time_s, values)
    peak = int(np.argmax(found))
    assert f_hz[peak] == pytest.approx(hertz, abs=f_hz[1] - f_hz[0])
    # Hann's window loses 15 % at most half way between two frequencies; lines between samples some more.
    assert found[peak] == pytest.approx(amplitude, rel=0.2)


def test_a_spectrum_has_its_decades_above_what_is_rounding() -> None:
    low, high = decades_of([np.array([1e-24, 3e-5, 2e-2]), np.array([np.nan])], 1e-6)
    assert (low, high) == (pytest.approx(1e-5), pytest.approx(0.1))
    assert decades_of([np.array([1e-24, 3e-22])], 1e-6) == (pytest.approx(1e-6), pytest.approx(1e-5))


@pytest.mark.parametrize("name", ["robot", "canyon", "drive", "quadrotor", "crane"])
def test_a_control_is_plotted_by_its_own_name_in_its_own_unit(name: str) -> None:
    """Units may have spaces: N m."""
    lane = simulation(load_scene(name)).snapshot.lanes[0]
    assert lane.mechanics is not None
    known = offered(lane)
    for control in lane.mechanics.controls:
        channel = known[control_key(control)]
        assert channel.unit == control.unit
        assert channel.title.lower() == f"{control.name.replace('_', ' ')} (control)".lower()
