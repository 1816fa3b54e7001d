"""Laws of the page Sweep: what may go through a range, what is asked, and what is said of what came of it."""

import math
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import sim
from sim.commands import SetGain, SetParameter, SetStep
from sim.control.feedback import Pid
from sim.controllers import gains_of
from sim.platform.errors import InputError
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.world import load_world
from tests.patience import wait_until
from tests.ui import fakes
from tests.ui.bench import Bench
from tests.ui.test_controllers_panel import flying
from ui.features.sweep import (
    EndSweep,
    FlySweep,
    Number,
    SweepFields,
    SweepView,
    draw_sweep,
    numbers_of,
    said,
    usual,
)
from ui.features.sweep_actions import SweepActions


def flown(**changes):
    return fakes.snapshot(fakes.lane(mechanics=sim.vehicle("helicopter"), **changes))


def test_gains_parameters_and_the_step_may_go_through_their_ranges(bench: Bench) -> None:
    lane = flown(controller=flying(place=3.0)).lanes[0]
    known = {number.name: number for number in numbers_of(lane, bench.context)}
    gain = gains_of(Pid)["place"]
    assert (known["place"].now, known["place"].span) == (3.0, (gain.low, gain.high))
    mass = known["mass"]
    assert mass.span == (0.5 * mass.now, 2.0 * mass.now)
    assert known["place"].command(2.0, lane) == SetGain("place", 2.0, "flown")
    assert mass.command(2.0, lane) == SetParameter("mass", 2.0, "helicopter")
    assert known["step"].command(0.02, lane) == SetStep(0.02, "flown")
    assert list(known)[-1] == "step"
    assert all(number.low <= number.now <= number.high for number in known.values())


def test_the_button_asks_for_what_is_chosen_and_can_be_taken_back(bench: Bench) -> None:
    now = flown(controller=flying())
    bench.context.of(SweepFields).name = "mass"
    bench.context.of(SweepFields).count = 5
    (asked,) = bench.click("sweep/fly", draw_sweep, now)
    assert isinstance(asked, FlySweep)
    mass = asked.number.now
    np.testing.assert_allclose(asked.values, np.linspace(0.5 * mass, 2.0 * mass, 5), rtol=1e-3)
    bench.context.show(SweepView(asked, True, ({"position.z.final [m]": 1.0, "running": 1.0},)))
    assert bench.click("sweep/cancel", draw_sweep, now) == [EndSweep()]
    assert "sweep/fly" not in bench.context.rects
    bench.frame(draw_sweep, fakes.snapshot(fakes.lane(mechanics=None)))
    assert "sweep/cancel" not in bench.context.rects


def test_a_press_into_the_curve_chooses_a_value_which_is_flown_on_with(bench: Bench) -> None:
    now = flown(controller=flying())
    number = next(n for n in numbers_of(now.lanes[0], bench.context) if n.name == "place")
    values = (0.5, 1.0, 2.0, 3.0, 4.0)
    rows = tuple(
        {"running": 1.0, "error.rms [m]": 1.0 + (x - 2.0) ** 2, "position.z.final [m]": x} for x in values
    )
    bench.context.show(SweepView(FlySweep(number, values, 5.0), False, rows))
    bench.click("sweep/plot", draw_sweep, now, at=0.9)
    assert bench.context.of(SweepFields).value == 4
    assert bench.click("sweep/use", draw_sweep, now) == [SetGain("place", 4.0, "flown")]


def test_flights_are_flown_beside_the_window_as_what_flies_there_would() -> None:
    """A body to which the window has just given a weight: Newton knows where it ends."""
    scene = load_scene("plain", vehicle="rigid-body", integrator="rk4")
    start = replace(scene.start, pad="", position_w=(0.0, 0.0, 150.0), velocity_b=(0.0, 0.0, 0.0))
    scene = replace(
        scene, start=replace(start, omega_b=(0.0, 0.0, 0.0), pitch_rad=0.0, roll_rad=0.0), lanes=()
    )
    flight = Simulation(scene, load_world(scene.world, seed=scene.seed))
    flight.submit(SetParameter("gravity", 3.0))
    flight.advance(0.1)
    told: list[str] = []
    app = SimpleNamespace(scene=scene, simulation=flight, tell=lambda text, error=False: told.append(text))
    actions = SweepActions(app)
    try:
        number = Number("step", 0.01, 1e-4, 0.5, "s", "")
        actions.carry_out(FlySweep(number, (0.005, 0.02), 0.5))

        def over() -> bool:
            actions.poll(flight.snapshot)
            return not next(iter(actions.views(flight.snapshot))).running

        wait_until(over)
        (view,) = actions.views(flight.snapshot)
        assert told == []
        fallen = view.column("position.z.final [m]") - 150.0
        assert fallen == pytest.approx(-0.5 * 3.0 * 0.5**2, abs=1e-9)
        actions.carry_out(FlySweep(replace(number, name="nothing"), (1.0,), 0.5))
        with pytest.raises(InputError, match="unknown number 'nothing'"):  # which the window tells
            wait_until(lambda: actions.poll(flight.snapshot))
    finally:
        actions.close()


def test_what_is_said_leaves_out_what_stopped_and_what_was_refused() -> None:
    number = Number("k", 1.0, 0.0, 9.0, "1/s", "", gain=True)
    values, answers = np.array([1.0, 2.0, 3.0]), np.array([5.0, 0.1, 2.0])
    text = said(values, answers, np.array([False, True, False]), number)
    assert text == "Smallest, 2, at 3 1/s. 1 of 3 stopped before the end."
    assert said(values, np.full(3, math.nan), np.zeros(3, bool), number) == ""
    view = SweepView(None, False, ({}, {"running": 1.0, "a.final": 2.0}))
    assert view.columns == ["a.final"]
    assert np.isnan(view.column("a.final")[0])
    assert usual(["energy.final [J]", "position.z.final [m]", "error.rms [m]"]) == "error.rms [m]"
    assert usual(["energy.final [J]", "position.z.final [m]"]) == "position.z.final [m]"
