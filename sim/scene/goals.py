"""Goals of a scene, read from `[[goals]]` of its file: a title, what has to hold and how long, and how well it went."""

import math
from typing import ClassVar, Protocol, TypeVar

from sim.platform.toml_table import TomlTable
from sim.platform.values import dataclass
from sim.scene.conditions import Condition, Heading, Place, Situation, Subject, read_conditions
from sim.vehicle_config import VehicleConfig
from sim.vehicles import Vehicle

MOST_GOALS = 24
WORST = "rough"

Kind = TypeVar("Kind", bound=Condition)


@dataclass(frozen=True, slots=True)
class Touch:
    """How a vehicle came down."""

    sink_mps: float = 0.0
    """Downwards, at the last snapshot before the touch."""
    drift_mps: float = 0.0
    """Level speed at that moment."""


@dataclass(frozen=True, slots=True)
class Account:
    """What is known when a goal is done, by which it may be graded."""

    off_m: float = 0.0
    """From the middle of the goal's place."""
    off_rad: float = 0.0
    """Of the heading; 0 where none is asked for."""
    touch: Touch = Touch()
    """The hardest since the vehicle was last well above the ground."""
    put_mps: float = 0.0
    """Speed of the goal's body when all that is asked for began to hold."""
    swing_rad: float = 0.0
    """Greatest angle of the cable since then."""


class Grade(Protocol):
    """How well a goal was done."""

    key: ClassVar[str]
    """In the scene's file, by which it is asked for."""
    needs_place: ClassVar[bool]

    @staticmethod
    def of(account: Account) -> "Grade":
        """When it was done."""

    @property
    def grade(self) -> str:
        """The best whose bounds are all kept."""

    @property
    def words(self) -> str:
        """In one line."""


LANDING_GRADES = (("butter", 0.5, 0.4, 1.5), ("good", 1.2, 1.0, 4.0), ("fair", 2.0, 2.0, 8.0))
"""(grade, most sink [m/s], most drift [m/s], farthest from the centre [m])."""


@dataclass(frozen=True, slots=True)
class Landing:
    """Of the hardest touch since the vehicle was last well above the ground."""

    key: ClassVar[str] = "landing"
    needs_place: ClassVar[bool] = False
    sink_mps: float
    """Downwards, at the last snapshot before the touch."""
    drift_mps: float
    """Level speed at that moment."""
    off_m: float
    """From the centre of where it was to land, once it stands."""

    @staticmethod
    def of(account: Account) -> "Landing":
        """Of a goal that is done."""
        return Landing(account.touch.sink_mps, account.touch.drift_mps, account.off_m)

    @property
    def grade(self) -> str:
        """The best whose three bounds are all kept."""
        for name, sink, drift, off in LANDING_GRADES:
            if self.sink_mps <= sink and self.drift_mps <= drift and self.off_m <= off:
                return name
        return WORST

    @property
    def words(self) -> str:
        """In one line."""
        return (
            f"Landing {self.grade}: sink {self.sink_mps:.1f} m/s, drift {self.drift_mps:.1f} m/s, "
            f"{self.off_m:.1f} m from the centre"
        )


DELIVERY_GRADES = (("butter", 1.0, 0.3, 2.0), ("good", 2.5, 0.7, 5.0), ("fair", 5.0, 1.2, 10.0))
"""(grade, farthest from the middle [m], fastest put down [m/s], most swing [degrees])."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """Of a body that lies where it was to be put."""

    key: ClassVar[str] = "delivery"
    needs_place: ClassVar[bool] = True
    off_m: float
    """From the middle of the place."""
    put_mps: float
    """Its speed when all that the goal asks for began to hold."""
    swing_deg: float
    """Greatest angle of the cable since then."""

    @staticmethod
    def of(account: Account) -> "Delivery":
        """Of a goal that is done."""
        return Delivery(account.off_m, account.put_mps, math.degrees(account.swing_rad))

    @property
    def grade(self) -> str:
        """The best whose three bounds are all kept."""
        for name, off, put, swing in DELIVERY_GRADES:
            if self.off_m <= off and self.put_mps <= put and self.swing_deg <= swing:
                return name
        return WORST

    @property
    def words(self) -> str:
        """In one line."""
        return (
            f"Delivery {self.grade}: {self.off_m:.1f} m from the middle, put down at {self.put_mps:.1f} m/s, "
            f"swing {self.swing_deg:.0f} degrees"
        )


DOCKING_GRADES = (("butter", 0.3, 3.0), ("good", 1.0, 8.0), ("fair", 2.5, 20.0))
"""(grade, farthest from the place [m], most off the heading [degrees])."""


@dataclass(frozen=True, slots=True)
class Docking:
    """At the moment at which the goal was done."""

    key: ClassVar[str] = "docking"
    needs_place: ClassVar[bool] = True
    off_m: float
    off_deg: float
    """Of the heading; 0 where none was asked for."""

    @staticmethod
    def of(account: Account) -> "Docking":
        """Of a goal that is done."""
        return Docking(account.off_m, math.degrees(account.off_rad))

    @property
    def grade(self) -> str:
        """The best whose bounds are both kept."""
        for name, off_m, off_deg in DOCKING_GRADES:
            if self.off_m <= off_m and self.off_deg <= off_deg:
                return name
        return WORST

    @property
    def words(self) -> str:
        """In one line."""
        return f"Docking {self.grade}: {self.off_m:.1f} m from the place, {self.off_deg:.0f} degrees off the heading"


GRADES: dict[str, type[Grade]] = {kind.key: kind for kind in (Delivery, Landing, Docking)}
"""By key; where a goal asks for several, the last of them counts."""


@dataclass(frozen=True, slots=True)
class SceneGoal:
    """All its conditions have to hold at once, for `hold_s` of simulated time."""

    title: str
    """In a word or two."""
    text: str = ""
    """How it is done, for somebody who has never done it."""
    keys: tuple[str, ...] = ()
    """Actions of the vehicle (of its config's keys) that do it."""
    conditions: tuple[Condition, ...] = ()
    hold_s: float = 0.0
    body: str = ""
    """Whose place, height and speed count; empty: the vehicle's main body."""
    grade: type[Grade] | None = None
    """How well it was done is told, too."""
    of_table: int = -1
    """Which table of the scene's file it was read from; -1: none."""

    def find(self, kind: type[Kind]) -> Kind | None:
        """Its condition of that kind; None where it does not ask for it."""
        return next((condition for condition in self.conditions if isinstance(condition, kind)), None)

    @property
    def place(self) -> Place | None:
        """Where it has to be done; None where that is left open."""
        return self.find(Place)  # type: ignore[type-abstract]

    def holds(self, now: Situation) -> bool:
        """All that it asks for, of a vehicle that runs."""
        return now.running and all(condition.holds(now) for condition in self.conditions)

    def off_rad(self, now: Situation) -> float:
        """Of the heading; 0 where none is asked for."""
        heading = self.find(Heading)
        return 0.0 if heading is None else heading.off_rad(now)

    @property
    def words(self) -> str:
        """How it is done: in the scene's own words, or what it asks for."""
        held = [f"for {self.hold_s:g} s"] if self.hold_s else []
        said = ", ".join([*(condition.words for condition in self.conditions), *held])
        return self.text or said[:1].upper() + said[1:]


def read_goals(
    table: TomlTable, vehicle: Vehicle, config: VehicleConfig, pads: tuple[str, ...]
) -> tuple[SceneGoal, ...]:
    """The goals of a scene, in their order. InputError, one line, for what cannot be meant."""
    tables = table.tables("goals")
    if len(tables) > MOST_GOALS:
        raise table.error("goals", f"{len(tables)} are refused; allowed: {MOST_GOALS} at most")
    actions = tuple(binding.action for binding in config.keys.held)
    subject = Subject(vehicle, pads)
    return tuple(_read_goal(each, subject, actions, k) for k, each in enumerate(tables))


def _read_goal(table: TomlTable, subject: Subject, actions: tuple[str, ...], of_table: int) -> SceneGoal:
    if not table.has("title"):
        raise table.error("title", "is missing; allowed: what is to be done, in a word or two")
    keys = table.texts("keys")
    for key in keys:
        if key not in actions:
            raise table.error("keys", f'unknown "{key}"; allowed: {", ".join(actions)}')
    graded = [kind for key, kind in GRADES.items() if table.flag(key, False)]
    goal = SceneGoal(
        title=table.text("title"),
        text=" ".join(table.text("text").split()),
        keys=keys,
        conditions=read_conditions(table, subject),
        hold_s=table.number("hold_s", 0.0, low=0.0, high=600.0),
        body=_read_body(table, subject) if table.has("body") else "",
        grade=graded[-1] if graded else None,
        of_table=of_table,
    )
    for kind in graded:
        if kind.needs_place and goal.place is None:
            raise table.error(kind.key, "needs a place; allowed: beside one of pad, at_m, way_m")
    table.finish()
    return goal


def _read_body(table: TomlTable, subject: Subject) -> str:
    bodies = tuple(subject.layout.bodies)
    return table.name("body", bodies, bodies[0])
