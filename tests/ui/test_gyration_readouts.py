"""What the instruments and plots show of a body about a fixed point."""

import math

import numpy as np
import pytest

from tests.ui import fakes
from ui.features.plots.channels import measured, offered, shown_at_first
from ui.hud.dial import flight_data

NAMES = ("lean", "spin", "precession", "momentum_vertical", "momentum_axial")
START = dict(zip(NAMES, (0.8, 30.0, 0.0, 20.0, 33.0), strict=True))
NOW = dict(zip(NAMES, (math.radians(52.0), 29.9, -1.744, 20.25, 32.5), strict=True))
TOP = {"vehicle": "heavy-top", "observables": NOW, "observables_start": START, "pivot_w": np.zeros(3)}


def test_a_top_tells_spin_lean_and_precession_and_no_airspeed() -> None:
    shown = flight_data(fakes.lane(**TOP)).rows
    assert [name for name, _, _ in shown] == ["SPIN", "LEAN", "PRECESSION"]
    assert [number for _, number, _ in shown] == ["29.9", "52.0", "-100"]
    upright = {**TOP, "observables": {**NOW, "precession": math.nan}}
    assert flight_data(fakes.lane(**upright)).rows[2][1] == "\N{EM DASH}"


def test_its_plots_are_what_its_weight_keeps() -> None:
    lane = fakes.lane(
        **TOP,
        momentum_w=np.array([5.0, 4.0, 20.25, 0.0, 0.0, 0.0]),
        momentum_start_w=np.array([0.0, 0.0, 20.0, 0.0, 0.0, 0.0]),
    )
    known = offered(lane)
    assert shown_at_first(lane) == (
        "energy",
        "lean",
        "momentum_vertical change",
        "momentum_axial change",
        "cost",
    )
    values = measured(lane)
    lean = known["lean"]
    assert (lean.times * values["lean"], lean.unit) == (pytest.approx(52.0), "\N{DEGREE SIGN}")
    assert (values["momentum_vertical change"], values["momentum_axial change"]) == (0.25, -0.5)
    # Without a reference the error is that of the one component which is kept.
    assert values["momentum_error"] == 0.25
