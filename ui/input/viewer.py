"""What a viewer key asks for, given what the app shows. Pure."""

from dataclasses import replace

from sim.commands import (
    SPEED_RANGE,
    BackToNow,
    Reset,
    SetDemo,
    SetFlightMode,
    SetSpeed,
    SingleStep,
    StopPlan,
)
from sim.planner.service.requests import FlyShown
from sim.snapshot import Snapshot
from ui.requests import (
    ChangeView,
    EditChosen,
    Escape,
    Request,
    RestartGoals,
    SaveTake,
    SkipGoal,
    StepEdits,
    TakeScreenshot,
    ToggleFullscreen,
    ToggleHelp,
    TogglePanels,
    TogglePlots,
)
from ui.timeline import FLY_ON, JUMP_S, jumped, played_or_paused
from ui.view_settings import CAMERA_KINDS, ViewSettings, overlooking

PLAIN: dict[str, Request] = {
    "help": ToggleHelp(),
    "panels": TogglePanels(),
    "plots": TogglePlots(),
    "fullscreen": ToggleFullscreen(),
    "screenshot": TakeScreenshot(),
    "escape": Escape(),
    "reset": Reset(),
    "step": SingleStep(),
    "retake": FLY_ON,
    "now": BackToNow(),
    "save_take": SaveTake(),
    "skip_goal": SkipGoal(),
    "goals_again": RestartGoals(),
    "undo": StepEdits(-1),
    "redo": StepEdits(1),
    "delete": EditChosen("delete"),
    "duplicate": EditChosen("duplicate"),
}
"""Actions that ask for the same whatever is shown."""


def request_of(action: str, snapshot: Snapshot, view: ViewSettings) -> Request | None:
    """The request that a pressed viewer key makes; None for held actions."""
    if action in PLAIN:
        return PLAIN[action]
    match action:
        case "pause":
            return played_or_paused(snapshot)
        case "back":
            return jumped(snapshot, -JUMP_S)
        case "on":
            return jumped(snapshot, JUMP_S)
        case "slower":
            return SetSpeed(halved(snapshot.speed))
        case "faster":
            return SetSpeed(doubled(snapshot.speed))
        case "demo":
            return SetDemo(not snapshot.demo)
        case "fly_plan":
            return StopPlan() if snapshot.plan_flies or snapshot.course is not None else FlyShown()
        case "mode":
            return SetFlightMode(following(snapshot.flight_modes, snapshot.flight_mode))
        case "camera":
            return ChangeView(replace(view, camera=following(CAMERA_KINDS, view.camera)))
        case "overview":
            return ChangeView(overlooking(view))
        case "goals":
            return ChangeView(replace(view, goals=not view.goals))
        case "arrows":
            return ChangeView(replace(view, arrows=not view.arrows))
        case "trail":
            return ChangeView(replace(view, trail=not view.trail))
    return None


def halved(speed: float) -> float:
    """The next lower speed, a power of two."""
    return max(speed / 2.0, SPEED_RANGE[0])


def doubled(speed: float) -> float:
    """The next higher speed, a power of two."""
    return min(speed * 2.0, SPEED_RANGE[1])


def following(names: tuple[str, ...], current: str) -> str:
    """The name after `current`, round and round; the first where `current` is none of them."""
    if current not in names:
        return names[0] if names else current
    return names[(names.index(current) + 1) % len(names)]


def orbit_of(held: frozenset[str]) -> tuple[float, float]:
    """Camera rate (right, up) from held arrow keys."""
    right = float("orbit_right" in held) - float("orbit_left" in held)
    up = float("orbit_up" in held) - float("orbit_down" in held)
    return right, up
