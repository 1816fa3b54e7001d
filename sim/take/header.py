"""The text of a take's file, as types: what is of another kind or out of range is refused."""

from dataclasses import dataclass
from datetime import datetime
from typing import Annotated

from msgspec import Meta

from sim.arrays_file import ArraysFile
from sim.errors import InputError, one_of, quote
from sim.lane_status import LaneStatus
from sim.scene import WORLDS
from sim.user_files import as_type, json_value, require_finite

FORMAT, VERSION = "holonomy take", 2
READ = (1, 2)
"""Versions that can be read; of the first one private states of some methods are made anew from the nodes."""
_LEAST_S = 1e-12
_FAR_S, _MOST_STEPS, _MOST_LEGS = 1e9, 1_000_000_000, 13_000
_Seconds = Annotated[float, Meta(ge=-_FAR_S, le=_FAR_S)]
_Text = Annotated[str, Meta(max_length=1000)]


@dataclass(frozen=True, kw_only=True)
class LegHeader:
    """What is told of a leg beside its arrays, as `sim.take.leg.Leg` has it."""

    integrator: _Text
    options: dict[str, float]
    parameters: dict[str, float | tuple[float, ...]]
    step_s: Annotated[float, Meta(ge=_LEAST_S, le=_FAR_S)]
    since_s: _Seconds
    steps: Annotated[int, Meta(ge=0, le=_MOST_STEPS)]
    contact: bool
    every_step: bool
    pivot_w: tuple[float, float, float] | None
    pushed: bool = False


@dataclass(frozen=True, kw_only=True)
class TakeHeader:
    """What is told of a take, as `sim.take.take.Take` has it."""

    name: _Text
    scene: _Text
    world: _Text
    created: _Text
    ended: _Text
    seed: Annotated[int, Meta(ge=0, lt=2**31)]
    status: LaneStatus
    vehicle: _Text
    legs: Annotated[tuple[LegHeader, ...], Meta(min_length=1, max_length=_MOST_LEGS)]
    version: int
    note: _Text = ""


def read_header(file: ArraysFile) -> TakeHeader:
    """Raises InputError for another version or world, and whatever a damaged file raises."""
    values = json_value(file.text("header"))
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise ValueError("its header is that of something else")
    if values["version"] not in READ:
        allowed = ", ".join(map(str, READ))
        raise InputError(f"version {quote(values['version'])} is unknown; allowed: {allowed}")
    require_finite(values)
    header = as_type(values, TakeHeader)
    if header.world not in WORLDS:
        raise InputError(f"unknown world {quote(header.world)}; allowed: {one_of(WORLDS, header.world)}")
    if header.created:
        datetime.fromisoformat(header.created)
    return header
