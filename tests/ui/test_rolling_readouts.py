"""What the instruments and plots show of vehicles on wheels: as their configs say."""

from tests.ui import fakes
from ui.features.plots.channels import measured, offered, shown_at_first
from ui.hud.dial import flight_data

CAR = {"slip": 3e-15, "steering": -0.5, "wheel_roll": 3.0}
BOARD = {"slip": 1e-14, "momentum_p": -7.25, "steering": 0.2, "rotor": 0.1}


def shown(vehicle, told):
    return flight_data(fakes.lane(vehicle=vehicle, observables=told)).rows


def test_a_car_tells_speed_sideways_acceleration_and_slip():
    assert [name for name, _, _ in shown("car", CAR)] == ["SPEED", "SIDEWAYS", "SLIP"]
    # To the left: 21 m/s, turning at 0.2 rad/s.
    assert shown("car", CAR)[1][1:] == ("-0.43", "g")
    assert shown("car", CAR)[2][1] == "0"  # which is what rounding is to who drives; the plot has it
    assert shown("car", CAR | {"slip": 2e-3})[2][1] == "2e-03"
    assert shown("car", {**CAR, "slip": 0.0})[2][1] == "0"


def test_a_board_tells_its_momentum_instead():
    assert shown("snakeboard", BOARD)[2][:2] == ("MOMENTUM P", "-7.2")


def test_plots_are_those_that_concern_the_vehicle():
    car = fakes.lane(vehicle="car", observables=CAR)
    assert "slip" in shown_at_first(car)
    assert "momentum_p" not in offered(car)
    assert "momentum_p" in shown_at_first(fakes.lane(vehicle="snakeboard", observables=BOARD))
    assert "slip" not in offered(fakes.lane())


def test_a_history_keeps_slip_and_signed_momentum():
    values = measured(fakes.lane(vehicle="snakeboard", observables=BOARD))
    assert values["slip"] == 1e-14
    assert values["momentum_p"] == -7.25
