"""One goal of a scene: what to do, where, and what has to hold for how long. From `[[goals]]` of a scene's file."""

from dataclasses import dataclass

from sim.outfit import outfit_of
from sim.toml_table import TomlTable

MOST_GOALS = 24
_FARTHEST_M = 1e5


@dataclass(frozen=True, slots=True)
class Goal:
    """All of it has to hold at once, for `hold_s` of simulated time; what is None or empty is not asked for."""

    title: str
    """In a word or two."""
    text: str = ""
    """How it is done, for somebody who has never done it."""
    keys: tuple[str, ...] = ()
    """Actions of the vehicle (of its outfit's keys) that do it."""
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
    on_ground: bool = False
    """Stand."""
    hold_s: float = 0.0
    landing: bool = False
    """The touch that led there is graded."""


def read_goals(table: TomlTable, vehicle: str, pads: tuple[str, ...]) -> tuple[Goal, ...]:
    """The goals of a scene, in their order. InputError, one line, for what cannot be meant."""
    tables = table.tables("goals")
    if len(tables) > MOST_GOALS:
        raise table.error("goals", f"{len(tables)} are refused; allowed: {MOST_GOALS} at most")
    actions = tuple(binding.action for binding in outfit_of(vehicle).keys.held)
    return tuple(_read_goal(each, actions, pads) for each in tables)


def _read_goal(table: TomlTable, actions: tuple[str, ...], pads: tuple[str, ...]) -> Goal:
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
        on_ground=table.flag("on_ground", False),
        hold_s=table.number("hold_s", 0.0, low=0.0, high=600.0),
        landing=table.flag("landing", False),
    )
    asked = (goal.height_m, goal.speed_mps, goal.on_ground or None, *places)
    if not any(part is not None for part in asked):
        raise table.error(
            "title", "asks for nothing; allowed: one of pad, at_m, way_m, height_m, speed_mps, on_ground"
        )
    table.finish()
    return goal


def _range(table: TomlTable, key: str) -> tuple[float, float] | None:
    if not table.has(key):
        return None
    low, high = table.numbers(key, (0.0, 0.0), low=0.0, high=_FARTHEST_M, count=2)
    if low >= high:
        raise table.error(key, f"[{low:g}, {high:g}] is refused; allowed: the smaller number first")
    return low, high
