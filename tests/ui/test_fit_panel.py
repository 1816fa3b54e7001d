"""Laws of the fit in the takes tab: what is chosen is asked for, what is found is said, and can be used."""

import numpy as np
import pytest

import sim
from sim.analysis.shooting import Identified
from sim.commands import SetParameter
from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.fit import CancelFit, FitChoice, FitTake, FitView, draw_fit, unidentified
from ui.features.vehicle import FlownParameters


def flying():
    return fakes.snapshot(recorded_s=(0.0, 12.0))


def found(**changes) -> Identified:
    vehicle = sim.vehicle("helicopter", mass=5.4)
    values = {
        "vehicle": vehicle, "values": {"mass": 5.4}, "standard_errors": {"mass": 0.02},
        "correlation": np.eye(1), "confounded": (), "initial": vehicle.default_state(),
        "noise": {"position": 0.02}, "iterations": 5, "converged": True,
    }  # fmt: skip
    return Identified(**{**values, **changes})


def test_the_chosen_parameters_are_asked_for_from_the_present_values(bench: Bench) -> None:
    bench.context.of(FlownParameters).values["mass"] = 6.0
    bench.click("fit/parameter/inertia", draw_fit, flying())
    (asked,) = bench.click("fit/begin", draw_fit, flying())
    assert isinstance(asked, FitTake)
    assert asked.unknown == ("mass", "inertia")
    assert asked.guess["mass"] == 6.0
    bench.click("fit/parameter/mass", draw_fit, flying())
    bench.click("fit/parameter/inertia", draw_fit, flying())
    assert bench.click("fit/begin", draw_fit, flying()) == []
    bench.click("fit/parameter/drag", draw_fit, flying())  # is 0: nothing to begin with
    assert bench.context.of(FitChoice).names == frozenset()
    bench.frame(draw_fit, fakes.snapshot(recorded_s=(0.0, 0.0)))
    assert "fit/begin" not in bench.context.rects


def test_a_search_shows_how_far_it_is_and_is_given_up(bench: Bench) -> None:
    bench.context.show(FitView(guess={"mass": 5.0}, running=True, iteration=3, values={"mass": 5.31}))
    assert bench.click("fit/cancel", draw_fit, flying()) == [CancelFit()]
    assert "fit/progress" in bench.context.rects
    assert "fit/begin" not in bench.context.rects


def test_what_is_found_is_used_as_an_edit_of_parameters_or_dropped(bench: Bench) -> None:
    bench.context.show(FitView(guess={"mass": 5.0}, found=found()))
    assert bench.click("fit/apply", draw_fit, flying()) == [SetParameter("mass", 5.4, "helicopter")]
    assert bench.context.of(FlownParameters).values["mass"] == 5.4
    bench.context.of(FlownParameters).flying = "rigid-body"  # a take of another vehicle is looked at
    assert bench.click("fit/apply", draw_fit, flying()) == []
    assert bench.click("fit/drop", draw_fit, flying()) == [CancelFit()]


@pytest.mark.parametrize(
    "names, said",
    [
        (("drag",), "drag: this take does not tell it."),
        (("mass", "gravity"), "mass, gravity: this take does not tell them apart."),
    ],
)
def test_what_the_data_do_not_tell_is_said(names: tuple[str, ...], said: str) -> None:
    assert unidentified(names) == said
