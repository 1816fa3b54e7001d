"""How a vehicle's model moves: nodes of `model.glb` turned, shifted and hidden by what is told of the vehicle."""

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sim.outfit.term import Term


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
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    k = "xyz".index(axis)
    i, j = (k + 1) % 3, (k + 2) % 3
    matrix = np.eye(4)
    matrix[i, i], matrix[i, j], matrix[j, i], matrix[j, j] = c, -s, s, c
    return matrix


def shift(x: float, y: float, z: float) -> np.ndarray:
    """(4, 4) translation."""
    matrix = np.eye(4)
    matrix[:3, 3] = x, y, z
    return matrix
