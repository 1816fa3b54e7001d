"""What is read of a vehicle: by a pilot numbers, bars, the dial and curves, by a controller its sensors."""

import math
from collections.abc import Mapping
from dataclasses import field, fields, replace

from sim.platform.errors import one_of
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.vehicle_config.terms import Names, Term, read_term


@dataclass(frozen=True, slots=True)
class Readout:
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
    """From the unit in which it is observed to that one."""
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

    rows: tuple[Readout, ...] = ()
    bars: tuple[Bar, ...] = ()
    dial: Dial = field(default_factory=Dial)
    plots: tuple[Plotted, ...] = ()


FLIGHT_VALUES = ("speed", "climb", "height", "ahead", "turn", "turning")
"""What instruments may show beside the vehicle's own numbers: m/s, m/s, m, m/s, rad/s to the right, rad/s in all."""


MOST_BARS = 4


def read_instruments(table: TomlTable, known: Names, usual: Instruments) -> Instruments:
    readable = known.and_also(*FLIGHT_VALUES)
    rows = []
    for inner in table.tables("rows"):
        row = Readout(
            name=inner.text("name"),
            value=read_term(inner, "value", readable),
            unit=inner.text("unit"),
            decimals=inner.integer("decimals", 1, low=0, high=6),
            signed=inner.flag("signed", False),
            scientific=inner.flag("scientific", False),
        )
        inner.finish()
        rows.append(row)
    if len(rows) > 3:
        raise table.error("rows", f"{len(rows)} are refused; allowed: up to 3")
    plots = tuple(_read_plotted(inner, known) for inner in table.tables("plots"))
    single = table.optional("bar", lambda t: _read_bar(t, readable))
    bars = ([] if single is None else [single]) + [_read_bar(each, readable) for each in table.tables("bars")]
    if len(bars) > MOST_BARS:
        raise table.error("bars", f"{len(bars)} are refused; allowed: up to {MOST_BARS}")
    dial = table.optional("dial", lambda t: _read_dial(t, readable)) or Dial()
    return Instruments(tuple(rows) or usual.rows, tuple(bars), dial, plots or usual.plots)


def _read_plotted(table: TomlTable, known: Names) -> Plotted:
    of = table.text("of")
    if of not in PLOTTED and of not in known.observed:
        raise table.error("of", f'unknown "{of}"; allowed: {one_of((*PLOTTED, *known.observed), of)}')
    plotted = Plotted(
        of=of,
        title=table.text("title"),
        unit=table.text("unit"),
        times=table.number("times", 1.0, low=-1e9, high=1e9),
        change=table.flag("change", False),
        floor=table.number("floor", 0.0, low=0.0, high=1e9),
        text=table.text("text"),
    )
    table.finish()
    return plotted


def _read_bar(table: TomlTable, known: Names) -> Bar:
    full = table.number("full", 1.0, low=1e-9, high=1e9)
    low = table.number("low", 0.0, low=-1e9, high=0.0)
    mark = table.number("mark", 0.0 if low else 0.5 * full, low=low, high=full)
    bar = Bar(table.text("label"), read_term(table, "value", known), full, mark, low)
    table.finish()
    return bar


def _read_dial(table: TomlTable, known: Names) -> Dial:
    kind = table.name("kind", tuple(DIALS), "horizon")
    needed, further = DIALS[kind]
    terms = {name: read_term(table, name, known) for name in needed}
    terms |= {name: read_term(table, name, known) for name in further if table.has(name)}
    full, unit = 1.0, ""
    if kind == "speed":
        full, unit = table.number("full", 60.0, low=1e-3, high=1e6), table.text("unit")
    table.finish()
    return Dial(kind, terms, full, unit)


@dataclass(frozen=True, slots=True)
class Sensor:
    """What one measures how well."""

    rate_hz: float
    delay_s: float
    """From the moment that it measures to the one at which a controller has it."""
    noise: Mapping[str, float]
    """Standard deviation of a sample, by what is measured."""
    reach_m: float = math.inf
    """Farther than this it sees nothing."""


@dataclass(frozen=True, slots=True)
class Sensing:
    """The sensors of a vehicle; each stands in `[sensors.NAME]`."""

    imu: Sensor = Sensor(200.0, 0.0, {"gyro": 0.002, "accel": 0.05})
    gps: Sensor = Sensor(10.0, 0.1, {"place": 0.4, "speed": 0.05})
    range_finder: Sensor = Sensor(20.0, 0.02, {"distance": 0.02}, 40.0)
    encoder: Sensor = Sensor(200.0, 0.0, {"angle": 1e-3})


SENSORS = tuple(each.name for each in fields(Sensing))
_NOISES = {"gyro": "gyro_radps", "accel": "accel_mps2", "place": "place_m", "speed": "speed_mps"}
_NOISES |= {"distance": "distance_m", "angle": "angle_rad"}
"""Keys of standard deviations in files."""


def read_sensing(table: TomlTable) -> Sensing:
    """`[sensors]`: what is not there is as usual."""
    usual = Sensing()
    found = {
        name: _read_sensor(table.table(name), getattr(usual, name)) for name in SENSORS if table.has(name)
    }
    return replace(usual, **found)


def _read_sensor(table: TomlTable, usual: Sensor) -> Sensor:
    reach_m = usual.reach_m
    sensor = Sensor(
        rate_hz=table.number("rate_hz", usual.rate_hz, low=0.1, high=1e4),
        delay_s=table.number("delay_s", usual.delay_s, low=0.0, high=10.0),
        noise={
            kind: table.number(_NOISES[kind], size, low=0.0, high=1e3) for kind, size in usual.noise.items()
        },
        reach_m=table.number("reach_m", reach_m, low=0.0, high=1e5) if math.isfinite(reach_m) else reach_m,
    )
    table.finish()
    return sensor
