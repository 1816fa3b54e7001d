"""What the instruments and plots show of vehicles on wheels."""

import math

from tests.ui import fakes
from ui.history import CHANNELS, measured
from ui.hud.flight_data import flight_data
from ui.hud.readouts import rows
from ui.panels.plots import PLOTS, channels

CAR = {"slip": 3e-15, "steering": -0.5}
BOARD = {"slip": 1e-14, "momentum_p": -7.25, "steering": 0.2}
DISC = {"slip": 2e-3, "momentum_p": 1.0}


def shown(wheels):
    return rows(flight_data(fakes.lane(observables=wheels)))


def test_a_car_tells_speed_steering_and_slip():
    assert [name for name, _, _ in shown(CAR)] == ["SPEED", "STEER", "SLIP"]
    assert shown(CAR)[1][1:] == ("-29°", "")
    assert shown(CAR)[2][1] == "3e-15"


def test_a_board_tells_its_momentum_instead():
    assert shown(BOARD)[2][:2] == ("MOMENTUM P", "-7.2")
    assert [name for name, _, _ in shown(DISC)] == ["SPEED", "MOMENTUM P"]


def test_plots_are_those_that_concern_the_vehicle():
    assert "slip" in channels(fakes.lane(observables=CAR))
    assert "momentum_p" not in channels(fakes.lane(observables=CAR))
    assert "momentum_p" in channels(fakes.lane(observables=BOARD))
    assert "slip" not in channels(fakes.lane())
    assert all(
        c in PLOTS and c in CHANNELS
        for wheels in ({}, CAR, BOARD)
        for c in channels(fakes.lane(observables=wheels))
    )


def test_a_history_keeps_slip_and_signed_momentum():
    values = dict(zip(CHANNELS, measured(fakes.lane(observables=BOARD)), strict=True))
    assert values["slip"] == 1e-14
    assert values["momentum_p"] == -7.25
    without = dict(zip(CHANNELS, measured(fakes.lane()), strict=True))
    assert math.isnan(without["slip"])
    assert math.isnan(without["momentum_p"])
