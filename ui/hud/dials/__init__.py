"""The round instrument of each kind of vehicle: what its outfit chooses."""

from collections.abc import Callable

from ui.hud.dials import board, compass, horizon, speed
from ui.hud.flight_data import FlightData
from ui.hud.pen import Pen, Point

_DRAWN: dict[str, Callable[[Pen, Point, float, FlightData], None]] = {
    "horizon": horizon.draw,
    "speed": speed.draw,
    "compass": compass.draw,
    "board": board.draw,
}


def draw(pen: Pen, centre: Point, radius: float, data: FlightData) -> None:
    """The one that the data name, of `radius` pixels."""
    _DRAWN[data.dial.kind](pen, centre, radius, data)
