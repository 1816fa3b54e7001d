"""How a channel is drawn: over time with others, its spectrum, or against another channel; and that as a figure.

Figures are plain numbers, which the panel draws and a file gets alike.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot
from ui.features.plots.channels import Channel
from ui.features.plots.curves import Curves, History
from ui.window.context import Action
from ui.window.theme import GOOD, SKY, Colour, line_colour
from ui.window.widgets import lane_text

TIME, SPECTRUM, PHASE = "time", "spectrum", "phase"
KINDS = {
    TIME: "Over time",
    SPECTRUM: "Spectrum",
    PHASE: "Against another",
}
_BESIDE: tuple[Colour, ...] = (SKY, GOOD)
MOST_BESIDE = len(_BESIDE)
"""Channels that are drawn into another's plot."""
_POINTS = 2048
ENDINGS = ("png", "svg", "csv")
"""Of files that a plot is written to."""


@dataclass(frozen=True, slots=True)
class Form:
    """Of one plot."""

    kind: str = TIME
    beside: tuple[str, ...] = ()
    """Channels that are drawn into it besides; of a phase plot the first one runs to the right."""

    def with_channel(self, key: str, own: str) -> "Form":
        """One more channel, the latest last; the plot's own and one that is there change nothing."""
        if key in (own, *self.beside):
            return self
        if self.kind == PHASE:
            return replace(self, beside=(key,))
        return replace(self, beside=(*self.beside, key)[-MOST_BESIDE:])


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """One line of a plot."""

    name: str
    x: np.ndarray
    y: np.ndarray
    colour: tuple[float, float, float]
    """RGB, 0..1."""
    other_axis: str = ""
    """What an axis of its own, on the right, says; empty: the plot's."""


@dataclass(frozen=True, slots=True, eq=False)
class PlotFigure:
    """Lines over one axis."""

    title: str
    x_label: str
    y_label: str
    curves: tuple[Curve, ...]
    log: bool = False
    """Both axes in decades."""


@dataclass(frozen=True, slots=True)
class SavePlot(Action):
    """Write one plot as it is shown to a file of this ending: png, svg or csv."""

    figure: PlotFigure
    ending: str


def spectrum(time_s: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(frequencies [Hz], amplitudes) of what is left without the mean, by Hann's window.

    Samples may be unevenly spaced; a sine's peak has its amplitude. Empty for fewer than eight finite samples.
    """
    finite = np.isfinite(values)
    time_s, values = time_s[finite], values[finite]
    if len(values) < 8 or time_s[-1] <= time_s[0]:
        return np.zeros(0), np.zeros(0)
    count = min(len(values), _POINTS)
    even_s = np.linspace(time_s[0], time_s[-1], count)
    window = np.hanning(count)
    even = np.interp(even_s, time_s, values)
    mean = float(window @ even) / float(window.sum())
    amplitudes = np.abs(np.fft.rfft((even - mean) * window)) * 2.0 / window.sum()
    return np.fft.rfftfreq(count, even_s[1] - even_s[0])[1:], amplitudes[1:]


def figure_of(
    own: Channel,
    form: Form,
    known: Mapping[str, Channel],
    lanes: Sequence[LaneSnapshot],
    curves: Curves,
    span_s: tuple[float, float],
) -> PlotFigure:
    """What a plot shows of a span of simulated time; known: all channels by key."""
    beside, labels = [known[key] for key in form.beside if key in known], _labels(lanes)
    title = own.title if len(lanes) != 1 else f"{own.title} \N{EM DASH} {lanes[0].integrator}"
    if form.kind == PHASE and beside:
        curves_xy = [
            Curve(
                labels[lane.name],
                *_pair(curves.histories[lane.name], beside[0], own, span_s),
                _rgb(line_colour(lane)),
            )
            for lane in lanes
        ]
        return PlotFigure(title, _axis(beside[0]), _axis(own), tuple(curves_xy))
    drawn = []
    for k, channel in enumerate((own, *beside)):
        for lane in lanes if k == 0 else lanes[:1]:
            time_s, values = _kept(curves.histories[lane.name], channel, span_s)
            name = labels[lane.name] if k == 0 else channel.title
            colour = line_colour(lane) if k == 0 else beside_colour(k - 1)
            pair = spectrum(time_s, values) if form.kind == SPECTRUM else (time_s, values)
            other = _axis(channel) if channel.unit != own.unit else ""
            drawn.append(Curve(name, *pair, _rgb(colour), other))
    if form.kind == SPECTRUM:
        return PlotFigure(title, "frequency [Hz]", _axis(own), tuple(drawn), log=True)
    return PlotFigure(title, "time [s]", _axis(own), tuple(drawn))


def _labels(lanes: Sequence[LaneSnapshot]) -> dict[str, str]:
    """By lane: what the legend calls it; those that it calls alike by their own names, too."""
    texts = [lane_text(lane) for lane in lanes]
    return {
        lane.name: text if texts.count(text) == 1 else f"{text} ({lane.name})"
        for lane, text in zip(lanes, texts, strict=True)
    }


def _rgb(colour: Colour) -> tuple[float, float, float]:
    return colour[0], colour[1], colour[2]


def beside_colour(number: int) -> Colour:
    """Of the channels that were dropped onto a plot, one after the other."""
    return _BESIDE[number]


def _axis(channel: Channel) -> str:
    return f"{channel.title} [{channel.unit}]" if channel.unit else channel.title


def decades_of(parts: Sequence[np.ndarray], floor: float) -> tuple[float, float]:
    """Limits in whole decades about what is above the floor, twelve of them at most; below it is rounding."""
    values = np.concatenate([*parts, np.zeros(0)])
    values = values[np.isfinite(values) & (values > floor)]
    if not len(values):
        low = float(10.0 ** np.floor(np.log10(floor)))
        return low, 10.0 * low
    high = np.ceil(np.log10(values.max()))
    low = min(max(np.floor(np.log10(values.min())), high - 12.0), high - 1.0)
    return float(10.0**low), float(10.0**high)


def positive_range(parts: Sequence[np.ndarray]) -> tuple[float, float]:
    """From the least to the largest positive number; a decade where there is none."""
    values = np.concatenate([*parts, np.zeros(0)])
    values = values[np.isfinite(values) & (values > 0.0)]
    low, high = (float(values.min()), float(values.max())) if len(values) else (1.0, 10.0)
    return low, max(high, 1.1 * low)


def round_frequencies(low: float, high: float, most: int) -> list[float]:
    """1, 2 and 5 times the powers of ten within a positive range, only 1 times or every other power where these would
    be more than `most` (one more at its end)."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    found: list[float] = []
    for steps, every in (((1.0, 2.0, 5.0), 1), ((1.0,), 1), ((1.0,), 2), ((1.0,), 4)):
        found = [step * 10.0**k for k in range(first, last + 1) if k % every == 0 for step in steps]
        found = [value for value in found if low <= value <= high]
        if len(found) <= most + 1:
            break
    return found


def _kept(history: History, channel: Channel, span_s: tuple[float, float]) -> tuple[np.ndarray, np.ndarray]:
    time_s, rows = history.kept((channel.key,))
    within = (time_s >= span_s[0]) & (time_s <= span_s[1])
    return time_s[within], channel.times * rows[0][within]


def _pair(
    history: History, x: Channel, y: Channel, span_s: tuple[float, float]
) -> tuple[np.ndarray, np.ndarray]:
    time_s, rows = history.kept((x.key, y.key))
    within = (time_s >= span_s[0]) & (time_s <= span_s[1])
    return x.times * rows[0][within], y.times * rows[1][within]
