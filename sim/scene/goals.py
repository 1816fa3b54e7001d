"""Goals of a scene, read from `[[goals]]` of its file: what has to hold, where and how long, and how well it went."""

import math
from dataclasses import dataclass, replace

import numpy as np

from sim.platform.errors import one_of
from sim.platform.toml_table import TomlTable
from sim.scene.race import MOST_GATES
from sim.vehicle_config import config_of
from sim.vehicles import known_vehicle
from sim.vehicles.forms.observation import layout_of
from sim.world import World

LANDING_GRADES = (("butter", 0.5, 0.4, 1.5), ("good", 1.2, 1.0, 4.0), ("fair", 2.0, 2.0, 8.0))
"""(grade, most sink [m/s], most drift [m/s], farthest from the centre [m])."""
WORST = "rough"


@dataclass(frozen=True, slots=True)
class Landing:
    """Of the hardest touch since the vehicle was last well above the ground."""

    sink_mps: float
    """Downwards, at the last snapshot before the touch."""
    drift_mps: float
    """Level speed at that moment."""
    off_m: float
    """From the centre of where it was to land, once it stands."""

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

    off_m: float = 0.0
    """From the middle of the place."""
    put_mps: float = 0.0
    """Its speed when all that the goal asks for began to hold."""
    swing_deg: float = 0.0
    """Greatest angle of the cable since then."""

    def lying(self, off_m: float, swing_rad: float) -> "Delivery":
        """A moment later."""
        return replace(self, off_m=off_m, swing_deg=max(self.swing_deg, math.degrees(swing_rad)))

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

    off_m: float
    off_deg: float
    """Of the heading; 0 where none was asked for."""

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


MOST_GOALS = 24
_FARTHEST_M = 1e5
PLANS = ("flies", "flown")
HANDS = ("steers", "pulls")
ASKED = (
    "pad", "at_m", "way_m", "heading_deg", "height_m", "speed_mps", "turning_radps", "on_ground", "told",
    "gates", "laps", "plan", "lanes", "stopped", "watch_s", "hand",
)  # fmt: skip
"""Keys of which a goal has to have one."""


@dataclass(frozen=True, slots=True)
class Goal:
    """All of it has to hold at once, for `hold_s` of simulated time; what is None or empty is not asked for."""

    title: str
    """In a word or two."""
    text: str = ""
    """How it is done, for somebody who has never done it."""
    keys: tuple[str, ...] = ()
    """Actions of the vehicle (of its config's keys) that do it."""
    pad: str = ""
    """Be within `within_m` of this pad of the world ..."""
    at_w: tuple[float, float] | None = None
    """... or of this place (x, y) [m] ..."""
    way_m: float | None = None
    """... or, along the world's safe way, have come so far [m]."""
    within_m: float = 10.0
    """Level distance."""
    height_m: tuple[float, float] | None = None
    """Range of the height above the ground."""
    speed_mps: tuple[float, float] | None = None
    """Range of the speed over all directions."""
    heading_rad: float | None = None
    """The nose points there, about world z from +x, ..."""
    within_rad: float = math.radians(15.0)
    """... so nearly."""
    turning_radps: tuple[float, float] | None = None
    """Range of the turn rate over all axes."""
    on_ground: bool = False
    """Stand."""
    hold_s: float = 0.0
    gates: int | None = None
    """Have passed so many of a lap of the race."""
    laps: int | None = None
    """Have finished so many laps of the race."""
    plan: str = ""
    """'flies': a plan is being flown; 'flown': one has been flown to its end."""
    lanes: int | None = None
    """Have so many lanes side by side, the flown one among them."""
    stopped: bool = False
    """Some lane has gone out of bounds."""
    watch_s: float | None = None
    """Let the simulated clock come so far [s]."""
    hand: str = ""
    """'steers': the user moves a control; 'pulls': drags a body with the mouse."""
    landing: bool = False
    """The touch that led there is graded."""
    body: str = ""
    """Whose place, height and speed count; empty: the vehicle's main body."""
    told: tuple[tuple[str, float, float], ...] = ()
    """Observables and the ranges that they have to be in."""
    delivery: bool = False
    """Where the body was put, and how still, is graded."""
    docking: bool = False
    """Where it lies, and how it is turned, is graded."""


def read_goals(table: TomlTable, vehicle: str, pads: tuple[str, ...]) -> tuple[Goal, ...]:
    """The goals of a scene, in their order. InputError, one line, for what cannot be meant."""
    tables = table.tables("goals")
    if len(tables) > MOST_GOALS:
        raise table.error("goals", f"{len(tables)} are refused; allowed: {MOST_GOALS} at most")
    actions = tuple(binding.action for binding in config_of(vehicle).keys.held)
    return tuple(_read_goal(each, vehicle, actions, pads) for each in tables)


def _read_goal(table: TomlTable, vehicle: str, actions: tuple[str, ...], pads: tuple[str, ...]) -> Goal:
    if not table.has("title"):
        raise table.error("title", "is missing; allowed: what is to be done, in a word or two")
    places = [key for key in ("pad", "at_m", "way_m") if table.has(key)]
    if len(places) > 1:
        raise table.error(places[1], f"cannot stand beside {places[0]}; allowed: one of pad, at_m, way_m")
    keys = table.texts("keys")
    for key in keys:
        if key not in actions:
            raise table.error("keys", f'unknown "{key}"; allowed: {", ".join(actions)}')
    at = table.numbers("at_m", (), low=-_FARTHEST_M, high=_FARTHEST_M, count=2)
    goal = Goal(
        title=table.text("title"),
        text=" ".join(table.text("text").split()),
        keys=keys,
        pad=table.name("pad", pads, pads[0]) if "pad" in places else "",
        at_w=(at[0], at[1]) if at else None,
        way_m=table.number("way_m", 0.0, low=0.0, high=_FARTHEST_M) if "way_m" in places else None,
        within_m=table.number("within_m", 10.0, low=0.01, high=_FARTHEST_M),
        height_m=_range(table, "height_m"),
        speed_mps=_range(table, "speed_mps"),
        heading_rad=math.radians(table.number("heading_deg", 0.0, low=-360.0, high=360.0))
        if table.has("heading_deg")
        else None,
        within_rad=math.radians(table.number("within_deg", 15.0, low=0.1, high=180.0)),
        turning_radps=_range(table, "turning_radps"),
        on_ground=table.flag("on_ground", False),
        hold_s=table.number("hold_s", 0.0, low=0.0, high=600.0),
        gates=table.integer("gates", 1, low=1, high=MOST_GATES) if table.has("gates") else None,
        laps=table.integer("laps", 1, low=1, high=1000) if table.has("laps") else None,
        plan=table.name("plan", PLANS, PLANS[0]) if table.has("plan") else "",
        lanes=table.integer("lanes", 2, low=2, high=8) if table.has("lanes") else None,
        stopped=table.flag("stopped", False),
        watch_s=table.number("watch_s", 1.0, low=0.1, high=3600.0) if table.has("watch_s") else None,
        hand=table.name("hand", HANDS, HANDS[0]) if table.has("hand") else "",
        landing=table.flag("landing", False),
        body=_body(table, vehicle) if table.has("body") else "",
        told=_told(table.table("told"), vehicle) if table.has("told") else (),
        delivery=table.flag("delivery", False),
        docking=table.flag("docking", False),
    )
    for name, graded in (("delivery", goal.delivery), ("docking", goal.docking)):
        if graded and not places:
            raise table.error(name, "needs a place; allowed: beside one of pad, at_m, way_m")
    asked = (
        goal.told or None,
        goal.height_m,
        goal.speed_mps,
        goal.heading_rad,
        goal.turning_radps,
        goal.gates,
        goal.laps,
        goal.lanes,
        goal.watch_s,
    )
    flags = (places, goal.on_ground, goal.plan, goal.stopped, goal.hand)
    if not (any(flags) or any(part is not None for part in asked)):
        raise table.error("title", f"asks for nothing; allowed: one of {', '.join(ASKED)}")
    table.finish()
    return goal


def _body(table: TomlTable, vehicle: str) -> str:
    bodies = tuple(layout_of(known_vehicle(vehicle)).bodies)
    return table.name("body", bodies, bodies[0])


def _told(table: TomlTable, vehicle: str) -> tuple[tuple[str, float, float], ...]:
    """Ranges by name, of observables that are one number."""
    observables = layout_of(known_vehicle(vehicle)).observables
    single = tuple(name for name, at in observables.items() if at.stop - at.start == 1)
    found = []
    for name in table.names():
        if name not in single:
            raise table.error(name, f"no such number; allowed: {one_of(single, name)}")
        low, high = table.numbers(name, (0.0, 0.0), low=-_FARTHEST_M, high=_FARTHEST_M, count=2)
        if low >= high:
            raise table.error(name, f"[{low:g}, {high:g}] is refused; allowed: the smaller number first")
        found.append((name, low, high))
    table.finish()
    return tuple(found)


def _range(table: TomlTable, key: str) -> tuple[float, float] | None:
    if not table.has(key):
        return None
    low, high = table.numbers(key, (0.0, 0.0), low=0.0, high=_FARTHEST_M, count=2)
    if low >= high:
        raise table.error(key, f"[{low:g}, {high:g}] is refused; allowed: the smaller number first")
    return low, high


AHEAD_M = 110.0
"""Along the way: what one flies to is this far ahead of where one is."""
_ABOVE_GROUND_M = 1.5


def marker_w(goal: Goal, world: World, x_w: np.ndarray) -> np.ndarray | None:
    """(3,) where to go [m] from `x_w` (3,); None where a goal is not bound to a place."""
    if goal.pad:
        return world.pad(goal.pad).centre_w
    if goal.at_w is not None:
        return np.array([*goal.at_w, float(world.surface_m(*goal.at_w)) + _ABOVE_GROUND_M])
    if goal.way_m is not None:
        arc_m = _arc(world.path)
        at_m = min(along_m(world, x_w) + AHEAD_M, max(goal.way_m, 0.0), float(arc_m[-1]))
        return np.array([np.interp(at_m, arc_m, world.path[:, k]) for k in range(3)])
    return None


def along_m(world: World, x_w: np.ndarray) -> float:
    """How far along the world's safe way the nearest point of it is, seen from above [m]."""
    path = world.path
    begin, by = path[:-1, :2], np.diff(path[:, :2], axis=0)
    length_2 = np.maximum((by**2).sum(axis=1), 1e-12)
    share = np.clip(((x_w[:2] - begin) * by).sum(axis=1) / length_2, 0.0, 1.0)
    off = np.linalg.norm(begin + share[:, None] * by - x_w[:2], axis=1)
    k = int(np.argmin(off))
    arc_m = _arc(path)
    return float(arc_m[k] + share[k] * (arc_m[k + 1] - arc_m[k]))


def _arc(path: np.ndarray) -> np.ndarray:
    return np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(path, axis=0), axis=1))]
