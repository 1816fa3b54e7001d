"""The sections of `vehicle.toml` that say how a model moves and what it leaves behind."""

from typing import Any

from sim.outfit.moving_model import Model, Move, Part, Rotor
from sim.outfit.outfit import Tracks
from sim.outfit.term import Term, constant, read_term, read_terms, term_of
from sim.outfit.values import Names
from sim.platform.errors import one_of, quote
from sim.platform.toml_table import TomlTable
from sim.vehicles import vehicles

HIDDEN_WHEN = ("wreck", "ghost", "turning")
MOVES = ("turn", "shift", "scale", "steer", "upright")
_FAR_M = 1e4


def read_model(table: TomlTable, known: Names) -> Model:
    """`[model]` with its `[[model.parts]]` and `[[model.rotors]]`"""
    usual = Model()
    hx, hy, hz = table.numbers("box_half_m", usual.box_half_m, low=1e-3, high=_FAR_M, count=3)
    return Model(
        parts=tuple(_read_part(inner, known) for inner in table.tables("parts")),
        rotors=tuple(_read_rotor(inner, known) for inner in table.tables("rotors")),
        occupants=table.texts("occupants") if table.has("occupants") else usual.occupants,
        not_in_ghosts=table.texts("not_in_ghosts") if table.has("not_in_ghosts") else usual.not_in_ghosts,
        wears=_read_worn(table.table("wears"), known),
        clear_around_m=table.number("clear_around_m", 0.0, low=0.0, high=100.0),
        box_half_m=(hx, hy, hz),
    )


def _read_worn(table: TomlTable, known: Names) -> tuple[tuple[str, str], ...]:
    worn = tuple((body, table.text(body)) for body in table.names())
    for body, vehicle in worn:
        if body not in known.bodies and f"{body}_1" not in known.bodies:
            raise table.error(
                body, f"no such body; allowed: {one_of(known.bodies, body)}, without the number"
            )
        if vehicle not in vehicles():
            raise table.error(body, f'unknown "{vehicle}"; allowed: {one_of(vehicles(), vehicle)}')
    table.finish()
    return worn


def _read_part(table: TomlTable, known: Names) -> Part:
    nodes = table.texts("nodes")
    if not nodes:
        raise table.error("nodes", "is missing; allowed: a list of nodes of the model")
    hidden = table.texts("hidden")
    for name in hidden:
        if name not in HIDDEN_WHEN:
            raise table.error("hidden", f'unknown "{name}"; allowed: {", ".join(HIDDEN_WHEN)}')
    part = Part(
        nodes=nodes,
        moves=_read_moves(table, known),
        body=table.name("body", ("", *known.bodies), "") if table.has("body") else "",
        hidden=frozenset(hidden),
        shown_by=read_term(table, "shown_by", known) if table.has("shown_by") else None,
    )
    table.finish()
    return part


def _read_rotor(table: TomlTable, known: Names) -> Rotor:
    def length(key: str, usual: float) -> float:
        return table.number(key, usual, low=0.0, high=_FAR_M)

    rotor = Rotor(
        moves=_read_moves(table, known),
        radius_m=length("radius_m", 1.0),
        root_m=length("root_m", 0.1),
        blades=table.integer("blades", 2, low=1, high=16),
        chord_m=length("chord_m", 0.1),
        coning_rad=table.number("coning_rad", 0.0, low=-1.0, high=1.0),
        spin_radps=table.number("spin_radps", 40.0, low=-1e4, high=1e4),
        tip_band_m=length("tip_band_m", 0.0),
    )
    table.finish()
    return rotor


def _read_moves(table: TomlTable, known: Names) -> tuple[Move, ...]:
    return tuple(_read_move(inner, known) for inner in table.tables("moves"))


def _read_move(table: TomlTable, known: Names) -> Move:
    kinds = [kind for kind in MOVES if table.has(kind)]
    if len(kinds) != 1:
        raise table.error(kinds[1] if kinds else "turn", f"allowed: one of {', '.join(MOVES)} in a move")
    (kind,) = kinds
    wreck_only = table.flag("wreck_only", False)
    if kind == "turn":
        axis = table.name("turn", ("x", "y", "z"), "x")
        move = Move(kind, (read_term(table, "by", known),), axis, wreck_only)
    elif kind == "steer":
        inner = table.table("steer")
        place = read_terms(inner, "at_m", known, 2)
        move = Move(kind, (*place, read_term(inner, "curvature", known)), wreck_only=wreck_only)
        inner.finish()
    elif kind == "upright":
        table.flag("upright", True)
        move = Move(kind, wreck_only=wreck_only)
    else:
        move = Move(kind, _read_xyz(table, kind, known), wreck_only=wreck_only)
    table.finish()
    return move


def _read_xyz(table: TomlTable, kind: str, known: Names) -> tuple[Term, ...]:
    """Three terms; a scale may be one for all."""
    value: Any = table.raw(kind)
    if kind == "scale" and not isinstance(value, list):
        return (term_of(table, kind, value, known),) * 3
    return read_terms(table.beside({kind: value}), kind, known, 3, (constant(0.0),) * 3)


def read_tracks(table: TomlTable, known: Names) -> Tracks:
    """`[tracks]`."""
    value = table.raw("wheels_m")
    if not isinstance(value, list) or not value:
        raise table.error("wheels_m", f"{quote(value)} is refused; allowed: a list of [x, y]")
    rows = (table.inner("wheels_m", {f"[{k}]": item}) for k, item in enumerate(value))
    wheels = [read_terms(row, f"[{k}]", known, 2) for k, row in enumerate(rows)]
    return Tracks(
        wheels=tuple((x, y) for x, y in wheels),
        width_m=table.number("width_m", 0.1, low=1e-3, high=10.0),
        strength=table.number("strength", 0.4, low=0.0, high=1.0),
    )
