"""The way of a load's target over time: closed forms, or a smooth curve through waypoints. `[target]` of a scene."""

import math
from collections.abc import Callable, Hashable
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from sim.groups.numeric import upright
from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.vehicles import Vehicle
from sim.vehicles.forms.homogeneous import Leader, has_leader

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

MOST_WAYPOINTS = 64
_FARTHEST_M, _LONGEST_S = 1e5, 3600.0
_SAMPLES = 512
"""Of a path, where it is drawn and where its accelerations are checked."""


class Aim(NamedTuple):
    """A moment of a path, in the world: (3,) each."""

    place: np.ndarray
    velocity: np.ndarray
    acceleration: np.ndarray


class TargetPath(Hashable, Protocol):
    """Where the target is at any time until it ends."""

    @property
    def duration_s(self) -> float:
        """Of once along it."""
        ...

    @property
    def endless(self) -> bool:
        """It goes round: after `duration_s` it begins again."""
        ...

    def at(self, time_s: float) -> Aim:
        """Of a path that ends, not after its end."""
        ...


@dataclass(frozen=True)
class LoopPath:
    """A sine in each of three directions: circles, tilted or not, and figures of eight."""

    centre_w: tuple[float, float, float]
    amplitude_m: tuple[float, float, float]
    """Along the heading, to its left, and up."""
    cycles: tuple[int, int, int]
    """Of each sine in a period."""
    phase_rad: tuple[float, float, float]
    heading_rad: float
    duration_s: float
    endless: bool = True

    def at(self, time_s: float) -> Aim:
        rate = 2.0 * math.pi / self.duration_s * np.array(self.cycles)
        angle, amplitude = rate * time_s + self.phase_rad, np.array(self.amplitude_m)
        turn = upright(self.heading_rad)
        place = turn @ (amplitude * np.sin(angle))
        velocity = turn @ (amplitude * rate * np.cos(angle))
        return Aim(self.centre_w + place, velocity, turn @ (-amplitude * rate**2 * np.sin(angle)))


@dataclass(frozen=True)
class Parabola:
    """Steady acceleration, as in the mechanics survey."""

    place_w: tuple[float, float, float]
    velocity_w: tuple[float, float, float]
    acceleration_w: tuple[float, float, float]
    duration_s: float
    endless: bool = False

    def at(self, time_s: float) -> Aim:
        v, a = np.array(self.velocity_w), np.array(self.acceleration_w)
        return Aim(self.place_w + time_s * v + 0.5 * time_s**2 * a, v + time_s * a, a)


@dataclass(frozen=True)
class Waypoints:
    """The cubic spline through places at their times: at rest at both ends, or round and round."""

    times_s: tuple[float, ...]
    """From 0 on."""
    places_w: tuple[tuple[float, ...], ...]
    """Those of one that goes round end where they begin."""
    endless: bool

    @property
    def duration_s(self) -> float:
        return self.times_s[-1]

    @cached_property
    def _spline(self) -> "CubicSpline":
        from scipy.interpolate import CubicSpline  # takes a while, and few scenes have waypoints

        return CubicSpline(self.times_s, self.places_w, bc_type="periodic" if self.endless else "clamped")

    def at(self, time_s: float) -> Aim:
        return Aim(*(self._spline(time_s, order) for order in range(3)))


@lru_cache(maxsize=8)
def drawn_w(path: TargetPath) -> np.ndarray:
    """(n, 3) m: places along it; do not write to it."""
    return np.array([path.at(t).place for t in np.linspace(0.0, path.duration_s, _SAMPLES)])


def read_target(table: TomlTable, vehicle: Vehicle) -> TargetPath | None:
    """The scene's `[target]`, where there is one; vehicle: the scene's, with its parameters.

    Raises InputError, one line with file and key, also where the vehicle follows no target, or its controls cannot
    lead the target so fast.
    """
    if not table.has("target"):
        return None
    own = table.table("target")
    if not has_leader(vehicle):
        raise table.error(
            "target",
            f"{vehicle.name} follows none; allowed for: a vehicle whose controls accelerate a target",
        )
    path = _READERS[own.name("kind", _READERS, "circle")](own)
    own.finish()
    try:
        _check(path, vehicle)
    except InputError as error:
        raise table.error("target", str(error)) from None
    return path


def _check(path: TargetPath, vehicle: Vehicle) -> None:
    """Whether the controls reach the accelerations."""
    leader, node = Leader.of(vehicle), vehicle.default_state().node
    for t in np.linspace(0.0, path.duration_s, _SAMPLES):
        aim = path.at(float(t))
        wanted = leader.controls(leader.put(node, aim.place, aim.velocity), aim.acceleration)
        for control, value in zip(vehicle.controls, wanted, strict=True):
            if not control.low <= value <= control.high:
                raise InputError(
                    f"needs {value:.3g} {control.unit} of {control.name} at {t:.3g} s; "
                    f"allowed: from {control.low:g} to {control.high:g}"
                )


def _read_circle(table: TomlTable) -> TargetPath:
    radius_m = table.number("radius_m", 2.0, low=0.0, high=_FARTHEST_M)
    return LoopPath(
        _needed(table, "centre_m"),
        (radius_m, radius_m, table.number("rise_m", 0.0, low=-_FARTHEST_M, high=_FARTHEST_M)),
        (1, 1, 1),
        (0.5 * math.pi, 0.0, 0.0),
        *_way_round(table),
    )


def _read_eight(table: TomlTable) -> TargetPath:
    along, across = table.numbers("half_m", (3.0, 1.5), low=0.0, high=_FARTHEST_M, count=2)
    return LoopPath(
        _needed(table, "centre_m"),
        (along, across, table.number("rise_m", 0.0, low=-_FARTHEST_M, high=_FARTHEST_M)),
        (1, 2, 1),
        (0.0, 0.0, 0.0),
        *_way_round(table),
    )


def _read_parabola(table: TomlTable) -> TargetPath:
    return Parabola(
        _needed(table, "position_m"),
        _vector(table, "velocity_mps"),
        _vector(table, "acceleration_mps2"),
        _seconds(table, "duration_s", 5.0),
    )


def _read_waypoints(table: TomlTable) -> TargetPath:
    tables, endless = table.tables("waypoints"), table.flag("closed", False)
    least = 3 if endless else 2
    if not least <= len(tables) <= MOST_WAYPOINTS:
        raise table.error("waypoints", f"{len(tables)} are refused; allowed: {least} to {MOST_WAYPOINTS}")
    times, places = list[float](), list[tuple[float, float, float]]()
    for each in tables:
        places.append(_needed(each, "position_m"))
        times.append(each.number("time_s", 0.0, low=0.0, high=_LONGEST_S))
        if len(times) == 1 and times[0]:
            raise each.error("time_s", f"{times[0]:g} is refused; allowed: 0 of the first one")
        if len(times) > 1 and times[-1] <= times[-2]:
            raise each.error("time_s", f"{times[-1]:g} is refused; allowed: more than {times[-2]:g}")
        each.finish()
    if endless:
        back_s = _seconds(table, "period_s", 2.0 * times[-1] - times[-2])
        if back_s <= times[-1]:
            raise table.error("period_s", f"{back_s:g} is refused; allowed: more than {times[-1]:g}")
        times, places = [*times, back_s], [*places, places[0]]
    return Waypoints(tuple(times), tuple(places), endless)


_READERS: dict[str, Callable[[TomlTable], TargetPath]] = {
    "circle": _read_circle,
    "figure-eight": _read_eight,
    "parabola": _read_parabola,
    "waypoints": _read_waypoints,
}


def _way_round(table: TomlTable) -> tuple[float, float]:
    """Heading [rad] and period [s]."""
    heading_rad = math.radians(table.number("heading_deg", 0.0, low=-360.0, high=360.0))
    return heading_rad, _seconds(table, "period_s", 12.0)


def _seconds(table: TomlTable, key: str, default: float) -> float:
    return table.number(key, default, low=0.1, high=_LONGEST_S)


def _needed(table: TomlTable, key: str) -> tuple[float, float, float]:
    if not table.has(key):
        raise table.error(key, "is missing; allowed: 3 numbers, a place in the world")
    return _vector(table, key)


def _vector(table: TomlTable, key: str) -> tuple[float, float, float]:
    x, y, z = table.numbers(key, (0.0, 0.0, 0.0), low=-_FARTHEST_M, high=_FARTHEST_M, count=3)
    return x, y, z
