"""What a pilot reads of a vehicle: numbers, bars, the dial, and the curves that plots begin with."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sim.outfit.term import Term


@dataclass(frozen=True, slots=True)
class Row:
    """A number beside the dial."""

    name: str
    value: Term
    unit: str = ""
    decimals: int = 1
    signed: bool = False
    scientific: bool = False
    """As a power of ten, without decimals."""


@dataclass(frozen=True, slots=True)
class Plotted:
    """A curve that the plots show until the user chooses others."""

    of: str
    """One of PLOTTED or an observable; of a column `axis.0`, its first component."""
    title: str = ""
    unit: str = ""
    times: float = 1.0
    """From what is told to that unit."""
    change: bool = False
    """Since the start."""
    floor: float = 0.0
    """Smallest range shown, in that unit; 0: as usual."""
    text: str = ""
    """What it is and who keeps it, for a tooltip; empty, like title and unit: as usual."""


PLOTTED = ("energy", "momentum", "omega", "newton", "cost")
"""What plots can show of any vehicle."""


@dataclass(frozen=True, slots=True)
class Bar:
    """An upright bar with a mark, filled from there."""

    label: str
    value: Term
    full: float
    """Value at its top."""
    mark: float
    low: float = 0.0
    """Value at its foot."""


@dataclass(frozen=True, slots=True)
class Dial:
    """The round instrument: what it shows is told by terms with the names that its kind has."""

    kind: str = "horizon"
    terms: Mapping[str, Term] = field(default_factory=dict)
    full: float = 1.0
    """Of a speed: value at the end of its scale."""
    unit: str = ""


DIALS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "horizon": ((), ()),
    "none": ((), ()),
    "speed": (("value",), ("steering",)),
    "compass": ((), ("wind_x", "wind_y", "current_x", "current_y")),
    "board": (("torso", "feet"), ()),
}
"""Kind -> names of the terms that it needs, and of those that it may have. Angles are in rad, winds in m/s."""


@dataclass(frozen=True, slots=True)
class Instruments:
    """What the pilot reads."""

    rows: tuple[Row, ...] = ()
    bars: tuple[Bar, ...] = ()
    dial: Dial = field(default_factory=Dial)
    plots: tuple[Plotted, ...] = ()
