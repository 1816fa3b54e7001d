"""What a scene's goals may ask for, one class each: how it is read, when it holds, and how it is said.

A class of this module is a condition as soon as it stands here: its keys are those of `[[goals]]` in the scene's file.
Conditions are judged on a `Situation`, plain numbers of one moment, so that nothing here knows the simulation.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import cached_property
from typing import ClassVar, Self

import numpy as np

from sim.platform.errors import one_of
from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.scene.race import MOST_GATES
from sim.vehicles import Vehicle
from sim.vehicles.forms.observation import ObservationLayout, layout_of
from sim.world import World
from sim.world.path import along_m, arc_length

FARTHEST_M = 1e5
AHEAD_M = 110.0
"""Along the way: what one goes to is this far ahead of where one is."""
_ABOVE_GROUND_M = 1.5
_WITHIN_M, _WITHIN_DEG = 10.0, 15.0


@dataclass(frozen=True, slots=True, eq=False)
class Situation:
    """What the scene's vehicle does at one moment, and what goes on around it."""

    world: World
    running: bool
    """Neither crashed nor out of bounds."""
    clock_s: float
    """Simulated time since the scene began."""
    x_w: np.ndarray
    """(3,) m: place of the body that counts."""
    speed_mps: float
    """Of that body, over all directions."""
    height_m: float
    """Of that body above ground or water."""
    heading_rad: float
    """Of the nose seen from above, about world z from +x."""
    turning_radps: float
    """Over all axes."""
    on_ground: bool
    observables: Mapping[str, float | np.ndarray]
    gates: int = 0
    """Of the race, passed in this lap; all of them once a lap is finished."""
    laps: int = 0
    """Of the race, finished."""
    lanes: int = 1
    """Simulated side by side, the flown one among them."""
    stopped: bool = False
    """Some of them has gone out of bounds."""
    plan_flies: bool = False
    plan_flown: bool = False
    """To its end."""
    steered: bool = False
    """Some control is off its neutral value, and nobody but the user moves it."""
    pulled: bool = False
    """The user drags a body."""
    hook_holds: bool = False
    """A prop hangs from the vehicle's hook."""


@dataclass(frozen=True)
class Subject:
    """What conditions are read for."""

    vehicle: Vehicle
    pads: tuple[str, ...]
    """Names of the places to land that a world has."""

    @cached_property
    def layout(self) -> ObservationLayout:
        """What can be observed of the vehicle; found out where it is asked for: that takes symbols."""
        return layout_of(self.vehicle)


class Condition(ABC):
    """Subclasses are frozen dataclasses, equal where they ask for the same."""

    keys: ClassVar[tuple[str, ...]]
    """In the scene's file, by which it is asked for."""

    @classmethod
    @abstractmethod
    def read(cls, table: TomlTable, subject: Subject) -> Self | None:
        """None where a goal does not ask for it. Raises InputError, one line with file and key."""

    @abstractmethod
    def holds(self, now: Situation) -> bool:
        """At this moment."""

    @property
    @abstractmethod
    def words(self) -> str:
        """What is asked for, as part of a sentence."""


class Place(Condition):
    """Be at a place of the world, which has a marker."""

    keys = ("pad", "at_m", "way_m")
    within_m: float

    @classmethod
    def read(cls, table: TomlTable, subject: Subject) -> "Place | None":  # type: ignore[override]
        """One of its kinds."""
        found = [key for key in cls.keys if table.has(key)]
        if len(found) > 1:
            raise table.error(found[1], f"cannot stand beside {found[0]}; allowed: one of pad, at_m, way_m")
        within_m = table.number("within_m", _WITHIN_M, low=0.01, high=FARTHEST_M)
        match found:
            case ["pad"]:
                return AtPad(table.name("pad", subject.pads, subject.pads[0]), within_m)
            case ["at_m"]:
                x, y = table.numbers("at_m", (), low=-FARTHEST_M, high=FARTHEST_M, count=2)
                return AtPoint((x, y), within_m)
            case ["way_m"]:
                return AlongWay(table.number("way_m", 0.0, low=0.0, high=FARTHEST_M), within_m)
        return None

    @abstractmethod
    def marker_w(self, world: World, x_w: np.ndarray) -> np.ndarray:
        """(3,) where to go [m] from `x_w` (3,)."""

    def fixed_w(self, world: World) -> tuple[float, float] | None:
        """(x, y) [m] where it is the same from everywhere."""
        x, y, _ = self.marker_w(world, np.zeros(3))
        return float(x), float(y)

    def off_m(self, now: Situation) -> float:
        """Level distance from the marker."""
        return float(np.linalg.norm(self.marker_w(now.world, now.x_w)[:2] - now.x_w[:2]))

    def left_m(self, now: Situation) -> float:
        """How far it is yet."""
        return self.off_m(now)

    def holds(self, now: Situation) -> bool:
        return self.left_m(now) <= self.within_m


@dataclass(frozen=True, slots=True)
class AtPad(Place):
    """Be within a level distance of a pad."""

    pad: str
    within_m: float = _WITHIN_M

    def marker_w(self, world: World, x_w: np.ndarray) -> np.ndarray:
        return world.pad(self.pad).centre_w

    @property
    def words(self) -> str:
        return f"within {self.within_m:g} m of the pad {self.pad}"


@dataclass(frozen=True, slots=True)
class AtPoint(Place):
    """Be within a level distance of a point (x, y) [m]."""

    at_w: tuple[float, float]
    within_m: float = _WITHIN_M

    def marker_w(self, world: World, x_w: np.ndarray) -> np.ndarray:
        return np.array([*self.at_w, float(world.surface_m(*self.at_w)) + _ABOVE_GROUND_M])

    @property
    def words(self) -> str:
        x, y = self.at_w
        return f"within {self.within_m:g} m of ({x:g}, {y:g}) m"


@dataclass(frozen=True, slots=True)
class AlongWay(Place):
    """Have come so far along the world's safe way [m], less `within_m`; its marker goes ahead."""

    way_m: float
    within_m: float = _WITHIN_M

    def marker_w(self, world: World, x_w: np.ndarray) -> np.ndarray:
        arc_m = arc_length(world.path)
        at_m = min(along_m(world.path, x_w) + AHEAD_M, max(self.way_m, 0.0), float(arc_m[-1]))
        return np.array([np.interp(at_m, arc_m, world.path[:, k]) for k in range(3)])

    def fixed_w(self, world: World) -> None:
        return None

    def left_m(self, now: Situation) -> float:
        return max(self.way_m - along_m(now.world.path, now.x_w), 0.0)

    def holds(self, now: Situation) -> bool:
        return along_m(now.world.path, now.x_w) >= self.way_m - self.within_m

    @property
    def words(self) -> str:
        return f"{self.way_m:g} m along the way"


@dataclass(frozen=True, slots=True)
class Heading(Condition):
    """The nose points there, about world z from +x."""

    keys = ("heading_deg",)
    heading_rad: float
    within_rad: float = math.radians(_WITHIN_DEG)

    @classmethod
    def read(cls, table: TomlTable, subject: Subject) -> Self | None:
        within_deg = table.number("within_deg", _WITHIN_DEG, low=0.1, high=180.0)
        if not table.has("heading_deg"):
            return None
        heading_deg = table.number("heading_deg", 0.0, low=-360.0, high=360.0)
        return cls(math.radians(heading_deg), math.radians(within_deg))

    def off_rad(self, now: Situation) -> float:
        """Of the nose, to either side."""
        return abs(math.remainder(now.heading_rad - self.heading_rad, 2.0 * math.pi))

    def holds(self, now: Situation) -> bool:
        return self.off_rad(now) <= self.within_rad

    @property
    def words(self) -> str:
        return f"heading {math.degrees(self.heading_rad):g} +- {math.degrees(self.within_rad):g} degrees"


@dataclass(frozen=True, slots=True)
class Range(Condition):
    """A number lies between two others."""

    low: float
    high: float
    unit: ClassVar[str]

    @classmethod
    def read(cls, table: TomlTable, subject: Subject) -> Self | None:
        if not table.has(cls.keys[0]):
            return None
        return cls(*read_range(table, cls.keys[0], 0.0))

    @abstractmethod
    def value(self, now: Situation) -> float:
        """The number."""

    def holds(self, now: Situation) -> bool:
        return self.low <= self.value(now) <= self.high

    @property
    def words(self) -> str:
        return f"{type(self).__name__.lower()} {self.low:g} to {self.high:g} {self.unit}"


class Height(Range):
    """Above ground or water."""

    keys, unit = ("height_m",), "m"

    def value(self, now: Situation) -> float:
        return now.height_m


class Speed(Range):
    """Over all directions."""

    keys, unit = ("speed_mps",), "m/s"

    def value(self, now: Situation) -> float:
        return now.speed_mps


class Turning(Range):
    """Over all axes."""

    keys, unit = ("turning_radps",), "rad/s"

    def value(self, now: Situation) -> float:
        return now.turning_radps


@dataclass(frozen=True, slots=True)
class Flag(Condition):
    """Something is so."""

    said: ClassVar[str]

    @classmethod
    def read(cls, table: TomlTable, subject: Subject) -> Self | None:
        return cls() if table.flag(cls.keys[0], False) else None

    @property
    def words(self) -> str:
        return self.said


class OnGround(Flag):
    """Stand."""

    keys, said = ("on_ground",), "on the ground"

    def holds(self, now: Situation) -> bool:
        return now.on_ground


@dataclass(frozen=True, slots=True)
class Observed(Condition):
    """Observables of the vehicle lie in ranges; of several numbers of a name, all of them."""

    keys = ("told",)
    ranges: tuple[tuple[str, float, float], ...]

    @classmethod
    def read(cls, table: TomlTable, subject: Subject) -> Self | None:
        if not table.has("told"):
            return None
        own, found = table.table("told"), []
        single = tuple(name for name, at in subject.layout.observables.items() if at.stop - at.start == 1)
        for name in own.names():
            if name not in single:
                raise own.error(name, f"no such number; allowed: {one_of(single, name)}")
            found.append((name, *read_range(own, name, -FARTHEST_M)))
        own.finish()
        return cls(tuple(found)) if found else None

    def holds(self, now: Situation) -> bool:
        told = ((np.asarray(now.observables[name]), low, high) for name, low, high in self.ranges)
        return all(bool(((low <= value) & (value <= high)).all()) for value, low, high in told)

    @property
    def words(self) -> str:
        return ", ".join(f"{name} {low:g} to {high:g}" for name, low, high in self.ranges)


@dataclass(frozen=True, slots=True)
class Count(Condition):
    """So many of something, or more."""

    least: int
    lowest: ClassVar[int] = 1
    highest: ClassVar[int]

    @classmethod
    def read(cls, table: TomlTable, subject: Subject) -> Self | None:
        (key,) = cls.keys
        return cls(table.integer(key, 1, low=cls.lowest, high=cls.highest)) if table.has(key) else None

    @abstractmethod
    def count(self, now: Situation) -> int:
        """How many there are."""

    def holds(self, now: Situation) -> bool:
        return self.count(now) >= self.least

    @property
    def words(self) -> str:
        return f"{self.least} {self.keys[0]}"


class Gates(Count):
    """Of a lap of the race, passed."""

    keys, highest = ("gates",), MOST_GATES

    def count(self, now: Situation) -> int:
        return now.gates


class Laps(Count):
    """Of the race, finished."""

    keys, highest = ("laps",), 1000

    def count(self, now: Situation) -> int:
        return now.laps


@dataclass(frozen=True, slots=True)
class Choice(Condition):
    """One of several words, each of which asks for something else."""

    what: str
    said: ClassVar[Mapping[str, str]]
    """Word in the scene's file -> how it is said."""

    @classmethod
    def read(cls, table: TomlTable, subject: Subject) -> Self | None:
        key, kinds = cls.keys[0], tuple(cls.said)
        return cls(table.name(key, kinds, kinds[0])) if table.has(key) else None

    @property
    def words(self) -> str:
        return self.said[self.what]


class Plan(Choice):
    """A plan is being flown, or has been flown to its end."""

    keys = ("plan",)
    said: ClassVar = {"flies": "a plan is being flown", "flown": "a plan has been flown to its end"}

    def holds(self, now: Situation) -> bool:
        return now.plan_flies if self.what == "flies" else now.plan_flown


class Lanes(Count):
    """Simulated side by side, the flown one among them."""

    keys, lowest, highest = ("lanes",), 2, 8

    def count(self, now: Situation) -> int:
        return now.lanes


class Stopped(Flag):
    """Some lane has gone out of bounds."""

    keys, said = ("stopped",), "a lane has gone out of bounds"

    def holds(self, now: Situation) -> bool:
        return now.stopped


@dataclass(frozen=True, slots=True)
class Watched(Condition):
    """The simulated clock has come so far."""

    keys = ("watch_s",)
    seconds: float

    @classmethod
    def read(cls, table: TomlTable, subject: Subject) -> Self | None:
        return cls(table.number("watch_s", 1.0, low=0.1, high=3600.0)) if table.has("watch_s") else None

    def holds(self, now: Situation) -> bool:
        return now.clock_s >= self.seconds

    @property
    def words(self) -> str:
        return f"{self.seconds:g} s have passed"


class Hand(Choice):
    """The user moves a control, or drags a body with the mouse."""

    keys = ("hand",)
    said: ClassVar = {"steers": "a control is moved by hand", "pulls": "a body is dragged with the mouse"}

    def holds(self, now: Situation) -> bool:
        return now.steered if self.what == "steers" else now.pulled


class Hook(Choice):
    """A prop hangs from the vehicle's hook, or none."""

    keys = ("hook",)
    said: ClassVar = {"holds": "something hangs from the hook", "empty": "the hook is empty"}

    def holds(self, now: Situation) -> bool:
        return now.hook_holds == (self.what == "holds")


CONDITIONS: tuple[type[Condition], ...] = tuple(
    kind
    for kind in list(globals().values())
    if isinstance(kind, type) and issubclass(kind, Condition) and isinstance(vars(kind).get("keys"), tuple)
)
"""By what a goal may ask for, in the order in which that is told."""


def read_conditions(table: TomlTable, subject: Subject) -> tuple[Condition, ...]:
    """All that one goal asks for. Raises InputError, one line, for what cannot be meant."""
    found = (kind.read(table, subject) for kind in CONDITIONS)
    conditions = tuple(condition for condition in found if condition is not None)
    if not conditions:
        keys = ", ".join(key for kind in CONDITIONS for key in kind.keys)
        raise table.error("title", f"asks for nothing; allowed: one of {keys}")
    return conditions


def read_range(table: TomlTable, key: str, lowest: float) -> tuple[float, float]:
    """Two numbers, the smaller one first."""
    low, high = table.numbers(key, (0.0, 0.0), low=lowest, high=FARTHEST_M, count=2)
    if low >= high:
        raise table.error(key, f"[{low:g}, {high:g}] is refused; allowed: the smaller number first")
    return low, high
