"""Numbers and a bar beside the horizon."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ui import theme
from ui.hud.flight_data import FlightData
from ui.hud.pen import Pen, Point

ROW = 34.0

Told = Mapping[str, Any]
"""Observables by name."""


def rows(data: FlightData) -> list[tuple[str, str, str]]:
    """(name, number, unit) from top to bottom."""
    if data.rows:
        return list(data.rows)
    if "precession" in data.observables:
        return _turning_rows(data.observables)
    if "slip" in data.observables:
        return _rolling_rows(data, data.observables)
    height = "\N{EM DASH}" if math.isnan(data.height_m) else f"{round(data.height_m, 1) + 0.0:.1f}"
    return [
        ("SPEED", f"{data.speed_mps * 3.6:.0f}", "km/h"),
        ("HEIGHT", height, "m"),
        ("CLIMB", f"{round(data.climb_mps, 1) + 0.0:+.1f}", "m/s"),
    ]


def _turning_rows(told: Told) -> list[tuple[str, str, str]]:
    slow_degps = math.degrees(told["precession"])
    round_trip = "\N{EM DASH}" if math.isnan(slow_degps) else f"{round(slow_degps):+d}"
    return [
        ("SPIN", f"{round(float(told['spin']), 1) + 0.0:.1f}", "rad/s"),
        ("LEAN", f"{math.degrees(told['lean']):.1f}\N{DEGREE SIGN}", ""),
        ("PRECESSION", round_trip, "\N{DEGREE SIGN}/s"),
    ]


def _rolling_rows(data: FlightData, told: Told) -> list[tuple[str, str, str]]:
    rows = [("SPEED", f"{data.speed_mps * 3.6:.0f}", "km/h")]
    if "steering" in told:
        rows.append(("STEER", f"{round(math.degrees(told['steering'])):+d}\N{DEGREE SIGN}", ""))
    if np.ndim(told.get("momentum_p", ())) == 0:
        p = round(float(told["momentum_p"]), 1) + 0.0
        return [*rows, ("MOMENTUM P", f"{p:.1f}", "kg m\N{SUPERSCRIPT TWO}/s")]
    return [*rows, ("SLIP", f"{told['slip']:.0e}" if told["slip"] else "0", "m/s")]


def draw_numbers(pen: Pen, corner: Point, width: float, data: FlightData) -> None:
    """Three rows below `corner`."""
    x, y = corner
    for name, number, unit in rows(data):
        pen.text((x, y), name, size=11.0, colour=theme.MUTED)
        unit_width = pen.text(
            (x + width, y + pen.px(15.0)), unit, size=12.0, colour=theme.MUTED, align=1.0, bold=False
        )
        pen.text((x + width - unit_width - pen.px(5.0), y + pen.px(8.0)), number, size=21.0, align=1.0)
        y += pen.px(ROW)


def draw_bar(pen: Pen, corner: Point, size: Point, data: FlightData) -> None:
    """An upright bar with a mark; nothing for vehicles without one, or while there is nothing to show."""
    if data.bar is None or math.isnan(data.bar_value):
        return
    (x, y), (width, height) = corner, size
    share = min(max(data.bar_value / data.bar.full, 0.0), 1.0)
    rounding = pen.px(3.0)
    pen.draw_list.add_rect_filled(
        (x, y), (x + width, y + height), theme.packed(theme.rgb(0x000000, 0.45)), rounding
    )
    top = y + height * (1.0 - share)
    pen.draw_list.add_rect_filled((x, top), (x + width, y + height), theme.packed(theme.ACCENT), rounding)
    mark = y + height * (1.0 - data.bar.mark / data.bar.full)
    pen.edged_line((x - pen.px(3.0), mark), (x + width + pen.px(3.0), mark), theme.INK, 1.4)
    label = data.bar.label
    pen.text((x + width / 2.0, y + height + pen.px(3.0)), label, size=10.0, colour=theme.MUTED, align=0.5)
