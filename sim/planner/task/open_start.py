"""Starts that are found with the motion, and what of the state ends as it begins: gaits and closed laps."""

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from sim.planner.task.bodies import directions, quaternions, rotations, velocities
from sim.planner.task.check_numbers import vector
from sim.planner.task.check_own import met_columns
from sim.planner.task.refusal import GOAL, START, refused
from sim.planner.task.task import DEMANDED, Task
from sim.platform.errors import one_of
from sim.platform.values import dataclass
from sim.vehicles.forms.articulated import ClosedVehicle
from sim.vehicles.forms.base import Vehicle


@dataclass(frozen=True)
class OpenStart:
    """Indices of a node's numbers. Rotations in space and velocities are found whole or not at all."""

    found: frozenset[int] = frozenset()
    ranges: tuple[tuple[int, float, float], ...] = ()
    """(index, low, high)."""
    periodic: frozenset[int] = frozenset()
    """End as they begin."""


def open_start(vehicle: Vehicle, task: Task) -> OpenStart:
    """Of a task. KeyError for a name that is none."""
    if not (task.start_within or task.periodic):
        return OpenStart()
    periodic = _whole(vehicle, task.periodic)
    ranges = tuple(
        (vehicle.space.columns.index(name), float(low), float(high))
        for name, (low, high) in task.start_within.items()
    )
    turning = frozenset(_without_stops(vehicle, task))
    return OpenStart(_whole(vehicle, task.start_within) | periodic - turning, ranges, periodic)


def _check_closed(vehicle: Vehicle, task: Task) -> None:
    """Joints in loops begin where these are closed: given, or where the period ends."""
    found, placed = open_start(vehicle, task), vehicle.node_layout.pose
    begins = (found.found - found.periodic).intersection(range(placed.start, placed.stop))
    if isinstance(vehicle, ClosedVehicle) and begins:
        raise refused(
            task,
            f"loops of {vehicle.name} are closed where it begins; allowed: joints that are found are periodic, too",
            START,
        )


def _without_stops(vehicle: Vehicle, task: Task) -> list[int]:
    """Coordinates of the shape that may turn for ever: where such a one begins changes nothing."""
    begin, stops = vehicle.node_layout.shape.start, task.limits.shape
    return [
        begin + i
        for i, coordinate in enumerate(vehicle.shape_coordinates)
        if not np.isfinite([coordinate.low, coordinate.high]).any() and coordinate.name not in stops
    ]


def is_lap(vehicle: Vehicle, task: Task) -> bool:
    """Whether it ends in the place where it begins, which it finds itself."""
    at = vehicle.node_layout.pose
    return bool(task.periodic) and bool(open_start(vehicle, task).periodic & set(range(at.start, at.stop)))


def _whole(vehicle: Vehicle, names: Iterable[str]) -> frozenset[int]:
    """Indices of columns and parts by name, with all that is found with them."""
    slices, everything = vehicle.space.slices, range(vehicle.node_layout.size)
    found = {
        i
        for name in names
        for i in (everything[slices[name]] if name in slices else (vehicle.space.columns.index(name),))
    }
    groups = [set(range(begin, begin + 9)) for begin in rotations(vehicle)]
    groups += [set(everything[turning]) for turning in quaternions(vehicle)]
    groups += [set(everything[turning]) for turning in directions(vehicle)]
    groups += [set(everything[vehicle.node_layout.pose])] if isinstance(vehicle, ClosedVehicle) else []
    groups += [_moving(vehicle)]
    for group in groups:
        found |= group if found & group else set()
    return frozenset(found)


def _moving(vehicle: Vehicle) -> set[int]:
    at = vehicle.node_layout
    return {i for i, _ in velocities(vehicle)} | set(range(at.shape_velocity.start, at.shape_velocity.stop))


def with_start(vehicle: Vehicle, task: Task, node: np.ndarray) -> Task:
    """With the start that was found: the first of a motion's nodes."""
    return replace(task, start=vehicle.state_at_node(node)) if task.start_within or task.periodic else task


def check_open_start(vehicle: Vehicle, task: Task) -> None:
    """Raises TaskRefused for names that are none, ranges that are empty, and goals that ask for what is periodic."""
    if not (task.start_within or task.periodic):
        return
    names = vehicle.space.columns
    for what, given, allowed in (
        ("start_within", task.start_within, names),
        ("periodic", task.periodic, (*vehicle.space.slices, *names)),
    ):
        for name in given:
            if name not in allowed:
                raise refused(task, f"unknown {what} {name!r}; allowed: {one_of(allowed, str(name))}", START)
    for name, bounds in task.start_within.items():
        low, high = vector(task, f"start_within {name}", bounds, 2)
        if not low <= high:
            raise refused(
                task, f"start_within {name} is {low:g} to {high:g}; allowed: a range from low to high", START
            )
    if len(rotations(vehicle)) > 1:
        raise refused(
            task,
            f"the attitudes of {vehicle.name} follow its load by a law of their own, and its start is given; "
            "allowed: vehicles that no law leads",
            START,
        )
    _check_closed(vehicle, task)
    anyhow = {name: "free" if getattr(task.goal, name) == "free" else "fixed" for name in DEMANDED}
    exactly = replace(task, goal=replace(task.goal, **anyhow))  # type: ignore[arg-type]
    asked = sorted(open_start(vehicle, task).periodic & met_columns(vehicle, exactly))
    if asked:
        raise refused(
            task,
            f"goal asks for {names[asked[0]]}, which ends as it begins; allowed: a goal that leaves it free",
            GOAL,
        )
