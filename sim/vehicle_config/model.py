"""How a vehicle's model moves: nodes of `model.glb` turned, shifted and hidden by what is observed of the vehicle.

Who sits or stands on it is thrown off where it crashes: as a vehicle of limbs, in the model's pose.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from sim.groups.numeric import rotation_about
from sim.platform.errors import one_of, quote
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.vehicle_config.terms import Names, Term, constant, read_term, read_terms, term_of
from sim.vehicles import VEHICLES, vehicles
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.form import State

_SEAT_FAR_M = 10.0

Colour = tuple[float, float, float]


@dataclass(frozen=True, slots=True, eq=False)
class Rider:
    """A person of the model, and the tree of limbs that it is from the crash on, in the same pose."""

    limbs: ArticulatedVehicle
    nodes: tuple[str, ...]
    """Of the model; not drawn any more once it is thrown."""
    body: str
    """In whose frame the place is; empty: the main one."""
    place_m: tuple[float, float, float]
    """Of the pelvis."""
    turn_rad: tuple[float, float, float]
    """Of the pelvis: to the left, nose down, right side down, one after the other."""
    joints: tuple[tuple[str, Term], ...]
    """Angles [rad] by the names of the limbs' joints; others are at rest."""
    clothes: tuple[tuple[str, Colour], ...]
    """Linear RGB by names of materials of the limbs' model, in place of its own."""

    def state(self, T_wb: np.ndarray, twist_b: np.ndarray, values: Mapping[str, float]) -> State:
        """Of the limbs, with the rider's body at T_wb (4, 4) and moving with it by a twist (6,) in its frame.

        values: of what the joints' terms name.
        """
        heading, pitch, roll = self.turn_rad
        T_bp = np.eye(4)
        T_bp[:3, :3] = rotation_about(2, heading) @ rotation_about(1, pitch) @ rotation_about(0, roll)
        T_bp[:3, 3] = self.place_m
        R, omega = T_bp[:3, :3], twist_b[:3]
        twist_p = np.r_[R.T @ omega, R.T @ (twist_b[3:] + np.cross(omega, T_bp[:3, 3]))]
        angles = {name: term.value(values) for name, term in self.joints}
        placed = self.limbs.state_in_space(T_wb @ T_bp, twist_p)
        q = dict(zip(self.limbs.tree.coordinate_names, placed.pose.tolist(), strict=True))
        return self.limbs.state(
            q | {name: angle for name, angle in angles.items() if math.isfinite(angle)}, placed.velocity
        )


def read_rider(table: TomlTable, known: Names) -> Rider | None:
    """`[model.rider]`; None where it is absent."""
    if not table.names():
        return None
    nodes = table.texts("nodes")
    if not nodes:
        raise table.error("nodes", "is missing; allowed: a list of nodes of the model")
    limbs = VEHICLES[table.name("vehicle", VEHICLES, "")]()
    if not isinstance(limbs, ArticulatedVehicle) or not limbs.free:
        raise table.error("vehicle", f'"{limbs.name}" is refused; allowed: a tree of joints that is free')
    x, y, z = table.numbers("place_m", (0.0, 0.0, 1.0), low=-_SEAT_FAR_M, high=_SEAT_FAR_M, count=3)
    turns = table.numbers("turn_deg", (0.0, 0.0, 0.0), low=-360.0, high=360.0, count=3)
    heading, pitch, roll = map(math.radians, turns)
    joints, clothes = table.table("joints"), table.table("clothes")
    rider = Rider(
        limbs=limbs,
        nodes=nodes,
        body=table.name("body", ("", *known.bodies), "") if table.has("body") else "",
        place_m=(x, y, z),
        turn_rad=(heading, pitch, roll),
        joints=tuple((name, read_term(joints, name, known)) for name in joints.names()),
        clothes=tuple((name, _colour(clothes, name)) for name in clothes.names()),
    )
    free = limbs.tree.coordinate_names[7:]
    for name, _ in rider.joints:
        if name not in free:
            raise joints.error(name, f"no such joint; allowed: {one_of(free, name)}")
    for inner in (joints, clothes, table):
        inner.finish()
    return rider


def _colour(table: TomlTable, key: str) -> Colour:
    red, green, blue = table.numbers(key, (0.0, 0.0, 0.0), low=0.0, high=1.0, count=3)
    return red, green, blue


@dataclass(frozen=True, slots=True)
class Move:
    """One motion of a part: a turn about an axis, a shift, a scale, wheels that follow a curve, or staying upright."""

    kind: str
    """turn, shift, scale, steer, upright."""
    terms: tuple[Term, ...] = ()
    """turn: angle [rad]; shift, scale: x, y, z; steer: where the wheel is (x, y) [m], curvature of the path [1/m]."""
    axis: str = ""
    wreck_only: bool = False


@dataclass(frozen=True, slots=True)
class Part:
    """Nodes of the model that move alike, about their own pivots; the first move is the outermost."""

    nodes: tuple[str, ...]
    moves: tuple[Move, ...] = ()
    body: str = ""
    """The vehicle's body at whose origin their pivots are drawn; empty: where the model has them, on the main body."""
    hidden: frozenset[str] = frozenset()
    """When: wreck, ghost, turning (free-turning parts turn)."""
    shown_by: Term | None = None
    """Only while this is positive."""


@dataclass(frozen=True, slots=True)
class Rotor:
    """A rotor that turns too fast to be seen as blades: a disc, axis z, azimuth from x."""

    moves: tuple[Move, ...]
    """From the body frame to the disc."""
    radius_m: float
    root_m: float
    blades: int
    chord_m: float
    coning_rad: float
    spin_radps: float
    tip_band_m: float


@dataclass(frozen=True, slots=True)
class Model:
    """How `model.glb` moves; `far.glb`, where there is one, is drawn for it where it is small."""

    parts: tuple[Part, ...] = ()
    rotors: tuple[Rotor, ...] = ()
    occupants: tuple[str, ...] = ("pilot", "driver")
    """Nodes that are not drawn for the eye that sits in them."""
    not_in_ghosts: tuple[str, ...] = ("interior", "pilot", "glass")
    comes_off: tuple[tuple[str, ...], ...] = ()
    """Nodes that break off together in a crash."""
    rider: Rider | None = None
    """Who is thrown off in a crash."""
    clear_around_m: float = 0.0
    """It stands on the ground where it is put: plants and blocks within this go."""
    wears: tuple[tuple[str, str], ...] = ()
    """(bodies, vehicle): bodies called so, or so with a number, look like that vehicle."""
    box_half_m: tuple[float, float, float] = (0.5, 0.5, 0.5)
    """Half extents of the box that stands in where there is no model."""

    @property
    def turns(self) -> bool:
        """Whether any part turns with time, whatever the state."""
        terms = [term for part in self.parts for move in part.moves for term in move.terms]
        terms += [part.shown_by for part in self.parts if part.shown_by is not None]
        return bool(self.rotors) or any(term.spin_radps is not None for term in terms)

    def look_of(self, body: str) -> str | None:
        """The vehicle that a body of this name looks like, where that is one of its own."""
        for called, look in self.wears:
            if re.fullmatch(rf"{re.escape(called)}(_\d+)?", body):
                return look
        return None


def moved(
    moves: tuple[Move, ...], values: Mapping[str, float], time_s: float | None, T_wb: np.ndarray, wreck: bool
) -> np.ndarray:
    """(4, 4) all moves, the first one outermost, with these named values on a vehicle at T_wb.

    time_s: by which free-turning parts turn; None: they rest.
    """
    matrix = np.eye(4)
    for move in moves:
        if move.wreck_only and not wreck:
            continue
        numbers = (term.value(values, time_s) for term in move.terms)
        terms = [number if math.isfinite(number) else 0.0 for number in numbers]
        matrix = matrix @ _move(move, terms, T_wb)
    return matrix


def _move(move: Move, terms: list[float], T_wb: np.ndarray) -> np.ndarray:
    """(4, 4) of one move with its numbers."""
    match move.kind:
        case "turn":
            return turn(move.axis, terms[0])
        case "shift":
            return shift(*terms)
        case "scale":
            return np.diag([*terms, 1.0])
        case "steer":
            # The body turns about (0, 1 / curvature).
            x, y, curvature = terms
            return turn("z", math.atan2(x * curvature, 1.0 - y * curvature))
        case _:
            upright = np.eye(4)
            upright[:3, :3] = T_wb[:3, :3].T
            return upright


def turn(axis: str, angle_rad: float) -> np.ndarray:
    """(4, 4) rotation about a coordinate axis."""
    matrix = np.eye(4)
    matrix[:3, :3] = rotation_about("xyz".index(axis), angle_rad)
    return matrix


def shift(x: float, y: float, z: float) -> np.ndarray:
    """(4, 4) translation."""
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix


@dataclass(frozen=True, slots=True)
class TracksConfig:
    """What wheels leave on the ground."""

    wheels: tuple[tuple[Term, Term], ...]
    """Where they touch it, body x and y [m]."""
    width_m: float
    strength: float
    """How dark, 0..1."""


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
        wears=_read_looks(table.table("wears"), known),
        comes_off=tuple(_read_group(inner) for inner in table.tables("comes_off")),
        rider=read_rider(table.table("rider"), known),
        clear_around_m=table.number("clear_around_m", 0.0, low=0.0, high=100.0),
        box_half_m=(hx, hy, hz),
    )


def _read_looks(table: TomlTable, known: Names) -> tuple[tuple[str, str], ...]:
    looks = tuple((body, table.text(body)) for body in table.names())
    for body, vehicle in looks:
        if body not in known.bodies and f"{body}_1" not in known.bodies:
            raise table.error(
                body, f"no such body; allowed: {one_of(known.bodies, body)}, without the number"
            )
        if vehicle not in vehicles():
            raise table.error(body, f'unknown "{vehicle}"; allowed: {one_of(vehicles(), vehicle)}')
    table.finish()
    return looks


def _read_nodes(table: TomlTable) -> tuple[str, ...]:
    nodes = table.texts("nodes")
    if not nodes:
        raise table.error("nodes", "is missing; allowed: a list of nodes of the model")
    return nodes


def _read_group(table: TomlTable) -> tuple[str, ...]:
    nodes = _read_nodes(table)
    table.finish()
    return nodes


def _read_part(table: TomlTable, known: Names) -> Part:
    nodes = _read_nodes(table)
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
    return read_terms(table.with_values({kind: value}), kind, known, 3, (constant(0.0),) * 3)


def read_tracks(table: TomlTable, known: Names) -> TracksConfig:
    """`[tracks]`."""
    value = table.raw("wheels_m")
    if not isinstance(value, list) or not value:
        raise table.error("wheels_m", f"{quote(value)} is refused; allowed: a list of [x, y]")
    rows = (table.inner("wheels_m", {f"[{k}]": item}) for k, item in enumerate(value))
    wheels = [read_terms(row, f"[{k}]", known, 2) for k, row in enumerate(rows)]
    return TracksConfig(
        wheels=tuple((x, y) for x, y in wheels),
        width_m=table.number("width_m", 0.1, low=1e-3, high=10.0),
        strength=table.number("strength", 0.4, low=0.0, high=1.0),
    )
