"""`vehicle.toml`, read strictly: every refusal is one line with file, key and what is allowed."""

import dataclasses
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from sim.outfit import modes as mode_data
from sim.outfit.instruments import DIALS, PLOTTED, Bar, Dial, Instruments, Plotted, Row
from sim.outfit.key_reading import read_keys
from sim.outfit.model_reading import read_model, read_tracks
from sim.outfit.outfit import (
    Camera,
    Contact,
    Footprint,
    Hull,
    Mix,
    Modes,
    Outfit,
    Raw,
    Righting,
    Screw,
    Trail,
)
from sim.outfit.term import read_term
from sim.outfit.values import Declared, Names
from sim.platform.errors import one_of, quote
from sim.platform.toml_table import TomlTable
from sim.water.hull import Hull as Surface

STICKS = ("pitch", "roll", "yaw", "throttle", "ahead", "right")
FLIGHT_VALUES = ("speed", "climb", "height", "ahead", "turn", "turning")
"""What instruments may show beside the vehicle's own numbers: m/s, m/s, m, m/s, rad/s to the right, rad/s in all."""
MOST_BARS = 4
_FAR_M = 1e4

Numbers = TypeVar("Numbers")


def read_outfit(
    path: Path | None,
    source: str,
    folder: Path | None,
    vehicle: Declared | None,
    fallback: Outfit | None,
    others: Mapping[str, Callable[[], Outfit]] | None = None,
) -> Outfit:
    """The outfit in a file, checked against what the vehicle calls its numbers.

    path: None for a folder without the file. source: what refusals call it. fallback: stands in for the sections that
    are not there; None where there is none, then contact, keys,
    instruments and camera have to be. others: outfits that `like` may name, which then stand in for its place.
    Raises InputError.
    """
    table = TomlTable(source, {}) if path is None else TomlTable.read(path, source, lines=True)
    known = Names(vehicle)
    like = others[table.name("like", tuple(others), "")]() if others and table.has("like") else None
    fallback = like or fallback

    def section(name: str, read: Any, usual: Any) -> Any:
        """One section by its reader, or the usual one; sections are all or nothing."""
        if not table.has(name):
            if usual is None:
                raise table.error(name, f"is missing; allowed: [{name}]")
            return usual
        inner = table.table(name)
        found = read(inner)
        inner.finish()
        return found

    outfit = Outfit(
        folder=folder,
        contact=section("contact", _read_contact, fallback and fallback.contact),
        modes=section("modes", lambda t: _read_modes(t, vehicle), like.modes if like else Modes()),
        raw=section("raw", lambda t: _read_raw(t, vehicle, known), like.raw if like else Raw()),
        keys=section("keys", read_keys, fallback and fallback.keys),
        instruments=section(
            "instruments",
            lambda t: _read_instruments(t, known, fallback.instruments if fallback else Instruments()),
            fallback and fallback.instruments,
        ),
        camera=section("camera", _read_camera, fallback and fallback.camera),
        trail=section("trail", _read_trail, like.trail if like else Trail()),
        model=section("model", lambda t: read_model(t, known), fallback and fallback.model),
        hull=_optional(table, "hull", lambda t: _read_hull(t, folder, known)),
        tracks=_optional(table, "tracks", lambda t: read_tracks(t, known)),
        footprint=_optional(table, "footprint", _read_footprint),
    )
    table.finish()
    return outfit


def _optional(table: TomlTable, name: str, read: Any) -> Any:
    if not table.has(name):
        return None
    inner = table.table(name)
    found = read(inner)
    inner.finish()
    return found


def _read_footprint(table: TomlTable) -> Footprint:
    """What meets walls and cones."""
    x, y = table.numbers("centre_m", (0.0, 0.0), low=-_FAR_M, high=_FAR_M, count=2)
    length, width = table.numbers("half_m", (0.5, 0.5), low=1e-3, high=_FAR_M, count=2)
    return Footprint((x, y), (length, width), table.number("crash_mps", 8.0, low=0.0, high=1e6))


def _read_contact(table: TomlTable) -> Contact:
    """Points that it stands on, rings and points that break."""
    rows = [(*point, 0.0) for point in _points(table, "stands_on_m")]
    for ring in table.tables("ring"):
        x, y, z = ring.numbers("centre_m", (0.0, 0.0, 0.0), low=-_FAR_M, high=_FAR_M, count=3)
        radius_m = ring.number("radius_m", 1.0, low=0.0, high=_FAR_M)
        count = ring.integer("points", 12, low=3, high=64)
        broken = float(ring.flag("breaks", False))
        for angle in 2.0 * np.pi / count * np.arange(count):
            rows.append((x + radius_m * np.cos(angle), y + radius_m * np.sin(angle), z, broken))
        ring.finish()
    rows += [(*point, 1.0) for point in _points(table, "breaks_m")]
    if not rows:
        raise table.error("stands_on_m", "no point; allowed: a list of body points [m]")
    return Contact(np.array(rows, float), fragile=table.flag("fragile", False))


def _points(table: TomlTable, key: str) -> list[tuple[float, float, float]]:
    value = table.raw(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise table.error(key, f"{quote(value)} is refused; allowed: a list of [x, y, z]")
    wrapped = table.beside({f"{key}[{k}]": item for k, item in enumerate(value)})
    found = (wrapped.numbers(name, (), low=-_FAR_M, high=_FAR_M, count=3) for name in wrapped.names())
    return [(x, y, z) for x, y, z in found]


def _read_modes(table: TomlTable, vehicle: Declared | None) -> Modes:
    declared = {q.name for q in vehicle.parameters} if vehicle is not None else set()
    names = table.texts("names") or ("raw",)
    for name in names:
        if name not in mode_data.MODES:
            raise table.error("names", f'unknown "{name}"; allowed: {", ".join(mode_data.MODES)}')
        _check_needs(table, "names", name, _needs(mode_data.NEEDS[name], vehicle), declared)
    autopilot = table.name("autopilot", ("", *mode_data.AUTOPILOT_NEEDS), "")
    if autopilot:
        needs = _needs(mode_data.AUTOPILOT_NEEDS[autopilot], vehicle)
        _check_needs(table, "autopilot", autopilot, needs, declared)
    return Modes(
        names=names,
        default=table.name("default", names, names[0]),
        autopilot=autopilot,
        flying=_read_numbers(table.table("flight"), mode_data.Flying(), low=0.0),
        rates=_read_numbers(table.table("rate"), mode_data.Rates(), low=0.0),
        tilting=_read_numbers(table.table("attitude"), mode_data.Tilting(), low=0.0),
        holding=_read_numbers(table.table("hold"), mode_data.Holding(), low=0.0),
        driving=_read_numbers(table.table("drive"), mode_data.Driving()),
        riding=_read_riding(table.table("ride")),
        cycle=_read_cycle(table.table("cycle"), vehicle, needed=autopilot == "cycle"),
    )


def _needs(needs: tuple[str, ...], vehicle: Declared | None) -> tuple[str, ...]:
    """With those of a lift that tilts, where flying has one."""
    tilts = vehicle is not None and vehicle.planned_inputs == "thrust vector"
    return (*needs, *mode_data.TILTED_LIFT) if needs is mode_data.FLYING and tilts else needs


def _check_needs(table: TomlTable, key: str, mode: str, needs: tuple[str, ...], declared: set[str]) -> None:
    missing = [name for name in needs if name not in declared]
    if missing:
        raise table.error(
            key, f'"{mode}" needs the parameter "{missing[0]}"; allowed: for vehicles with {", ".join(needs)}'
        )


def _read_riding(table: TomlTable) -> mode_data.Riding:
    gaits = []
    for inner in table.tables("gaits"):
        usual = mode_data.Gait(inner.text("action"), 0.0, 1.0, 0.0, 1.0)
        gaits.append(_read_numbers(inner, usual))
    return dataclasses.replace(_read_numbers(table, mode_data.Riding()), gaits=tuple(gaits))


def _read_cycle(table: TomlTable, vehicle: Declared | None, *, needed: bool) -> mode_data.Cycle:
    """Each pose has a number for each control."""
    count = len(vehicle.controls) if vehicle is not None else None
    poses = []
    for inner in table.tables("poses"):
        poses.append(inner.numbers("off", (), low=-_FAR_M, high=_FAR_M, count=count))
        if not poses[-1]:
            raise inner.error("off", "is missing; allowed: a number for each control")
        inner.finish()
    if needed and not poses:
        raise table.error("poses", 'is missing; allowed: tables with "off", one for each pose')
    pose_s = table.number("pose_s", mode_data.Cycle().pose_s, low=0.2, high=3600.0)
    table.finish()
    return mode_data.Cycle(pose_s, tuple(poses))


def _read_numbers(table: TomlTable, usual: Numbers, *, low: float = -1e6) -> Numbers:
    """A dataclass of numbers from `low` on, each under its own name; what is not there is as usual."""
    given = {}
    for each in dataclasses.fields(usual):  # type: ignore[arg-type]
        value = getattr(usual, each.name)
        if isinstance(value, float):
            given[each.name] = table.number(each.name, value, low=low, high=1e6)
    table.finish()
    return dataclasses.replace(usual, **given)  # type: ignore[type-var]


def _read_raw(table: TomlTable, vehicle: Declared | None, known: Names) -> Raw:
    controls = tuple(c.name for c in vehicle.controls) if vehicle is not None else ()
    vectors = tuple(q.name for q in vehicle.parameters if q.size == 3) if vehicle is not None else ()
    mixes = []
    inner = table.table("controls")
    for name in inner.names():
        if name not in controls:
            raise inner.error(name, f"unknown control; allowed: {', '.join(controls)}")
        mix = inner.table(name)
        sticks = tuple((s, mix.number(s, 0.0, low=-10.0, high=10.0)) for s in STICKS if mix.has(s))
        reach = read_term(mix, "reach", known) if mix.has("reach") else None
        rest = read_term(mix, "rest", known) if mix.has("rest") else None
        mix.finish()
        mixes.append(Mix(name, sticks, reach, rest))
    inner.finish()
    righting = _optional(table, "righting", lambda t: _read_righting(t, controls))
    return Raw(tuple(mixes), table.name("pushed_axle", ("", *vectors), ""), righting)


def _read_righting(table: TomlTable, controls: tuple[str, ...]) -> Righting:
    x, y, z = table.numbers("axis_b", (0.0, 0.0, 1.0), low=-1.0, high=1.0, count=3)
    torques = table.texts("torques")
    signed = tuple((t.removeprefix("-"), -1.0 if t.startswith("-") else 1.0) for t in torques)
    if len(signed) != 3 or any(name not in controls for name, _ in signed):
        raise table.error("torques", f"{list(torques)} is refused; allowed: three of {', '.join(controls)}")
    return Righting(table.text("action"), (x, y, z), signed)


def _read_instruments(table: TomlTable, known: Names, usual: Instruments) -> Instruments:
    readable = known.and_also(*FLIGHT_VALUES)
    rows = []
    for inner in table.tables("rows"):
        row = Row(
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
    single = _optional(table, "bar", lambda t: _read_bar(t, readable))
    bars = ([] if single is None else [single]) + [_read_bar(each, readable) for each in table.tables("bars")]
    if len(bars) > MOST_BARS:
        raise table.error("bars", f"{len(bars)} are refused; allowed: up to {MOST_BARS}")
    dial = _optional(table, "dial", lambda t: _read_dial(t, readable)) or Dial()
    return Instruments(tuple(rows) or usual.rows, tuple(bars), dial, plots or usual.plots)


def _read_plotted(table: TomlTable, known: Names) -> Plotted:
    of = table.text("of")
    if of not in PLOTTED and of not in known.told:
        raise table.error("of", f'unknown "{of}"; allowed: {one_of((*PLOTTED, *known.told), of)}')
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


def _read_camera(table: TomlTable) -> Camera:
    x, y, z = table.numbers("eye_m", (0.0, 0.0, 0.8), low=-_FAR_M, high=_FAR_M, count=3)
    return Camera(
        distance_m=table.number("distance_m", 7.0, low=0.1, high=_FAR_M),
        lift_m=table.number("lift_m", 0.3, low=-_FAR_M, high=_FAR_M),
        eye_b=(x, y, z),
        enclosed=table.flag("enclosed", False),
    )


def _read_trail(table: TomlTable) -> Trail:
    usual = Trail()
    x, y, z = table.numbers("point_m", usual.point_b, low=-_FAR_M, high=_FAR_M, count=3)
    return Trail(
        point_b=(x, y, z),
        along=table.text("along"),
        kept_s=table.number("kept_s", usual.kept_s, low=0.1, high=600.0),
        spacing_m=table.number("spacing_m", usual.spacing_m, low=1e-4, high=100.0),
        clear_m=table.number("clear_m", 0.0, low=0.0, high=100.0) or None,
        alpha=table.number("alpha", usual.alpha, low=0.0, high=1.0),
        fading=table.number("fading", usual.fading, low=0.0, high=10.0),
    )


def _read_hull(table: TomlTable, folder: Path | None, known: Names) -> Hull:
    name = table.text("surface")
    if name and (folder is None or Path(name).name != name):
        raise table.error("surface", f"{quote(name)} is refused; allowed: a file of the vehicle's folder")
    return Hull(
        bow_m=table.number("bow_m", 1.0, low=-_FAR_M, high=_FAR_M),
        stern_m=table.number("stern_m", -1.0, low=-_FAR_M, high=_FAR_M),
        half_beam_m=table.number("half_beam_m", 0.5, low=0.0, high=_FAR_M),
        surface=Surface.read(folder / name) if name and folder is not None else None,
        screws=tuple(_read_screw(screw, known) for screw in table.tables("screws")),
    )


def _read_screw(table: TomlTable, known: Names) -> Screw:
    """What throws water astern."""
    x, y, z = table.numbers("at_m", (0.0, 0.0, 0.0), low=-_FAR_M, high=_FAR_M, count=3)
    screw = Screw((x, y, z), read_term(table, "push", known))
    table.finish()
    return screw
