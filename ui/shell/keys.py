"""Whether the pilot has begun to steer while an earlier moment is shown."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter

from imgui_bundle import imgui

from sim.commands import (
    BackToNow,
    PilotInput,
    Reset,
    SetDemo,
    SetFlightMode,
    SetParameter,
    SetPilotInput,
    SetSpeed,
    SingleStep,
    StopPlan,
)
from sim.planner.service.requests import FlyShown, LeaveMpc
from sim.platform.errors import InputError
from sim.scene import CAMERAS
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.controls import ControlRequest, carried_out
from ui.features.edits import Edits, StepEdits
from ui.features.goals import RestartGoals, SkipGoal
from ui.features.placing.gizmo import EditChosen
from ui.features.recordings import SaveTake
from ui.features.scenes.files import FileDialog
from ui.features.scenes.view import BrowseFiles
from ui.features.vehicle import FlownParameters
from ui.features.view import BookmarkKeeper, BookmarkRequest
from ui.input.control_setup import ControlSetup
from ui.input.desk import InputDesk, InputSample
from ui.input.profile import AXES, same
from ui.settings.view_settings import ViewSettings, overlooking
from ui.shell.features import SceneTools
from ui.window.context import (
    ChangeView,
    Escape,
    PanelContext,
    Request,
    ShowPhoto,
    TakeScreenshot,
    ToggleFullscreen,
    ToggleHelp,
    TogglePanels,
    TogglePlots,
)
from ui.window.widgets import FLY_ON, JUMP_S, doubled, halved, in_past, jumped, played_or_paused

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
            if snapshot.sails:
                return LeaveMpc()
            return StopPlan() if snapshot.plan_flies else FlyShown()
        case "mode":
            return SetFlightMode(following(snapshot.flight_modes, snapshot.flight_mode))
        case "camera":
            return ChangeView(replace(view, camera=following(CAMERAS, view.camera)))
        case "director":
            return ChangeView(replace(view, camera="chase" if view.camera == "director" else "director"))
        case "overview":
            return ChangeView(overlooking(view))
        case "goals":
            return ChangeView(replace(view, goals=not view.goals))
        case "arrows":
            return ChangeView(replace(view, arrows=not view.arrows))
        case "trail":
            return ChangeView(replace(view, trail=not view.trail))
    return None


def following(names: tuple[str, ...], current: str) -> str:
    """The name after `current`, round and round; the first where `current` is none of them."""
    if current not in names:
        return names[0] if names else current
    return names[(names.index(current) + 1) % len(names)]


LEAST = 0.12
"""Deflection, away from where a stick was, that is meant."""


class Intervention:
    """Told of the sticks once a frame; says once for each look back that somebody steers.

    What is held or leaves the centre by itself when the look back begins counts only once it goes further out.
    """

    def __init__(self) -> None:
        self._rest: dict[str, float] | None = None
        self._held: frozenset[str] = frozenset()
        self._over = False

    def begins(self, sticks: PilotInput, *, looking: bool) -> bool:
        """True in the first frame in which a control is moved outwards or an action is pressed."""
        if not looking:
            self._rest, self._over = None, False
            return False
        if self._rest is None:
            self._rest = {axis: getattr(sticks, axis) for axis in AXES}
            self._held = sticks.actions
            return False
        pressed = bool(sticks.actions - self._held)
        self._held &= sticks.actions
        moved = [self._moved(axis, getattr(sticks, axis), self._rest) for axis in AXES]
        if self._over or not (pressed or any(moved)):
            return False
        self._over = True
        return True

    @staticmethod
    def _moved(axis: str, value: float, rest: dict[str, float]) -> bool:
        """Whether the axis is further out than it rests; back towards the centre is a new rest."""
        if value * rest[axis] < 0.0:
            rest[axis] = 0.0
        if abs(value) < abs(rest[axis]):
            rest[axis] = value
        return abs(value - rest[axis]) > LEAST


_PICTURE = "screenshot"
HELD_S = 0.5
"""For which a key is down that means something else when it is held."""


class Keyed:
    """Remembers which sticks the simulation was told of last, and since when the key of pictures is down."""

    def __init__(self) -> None:
        self._sent, self._intervention = PilotInput(), Intervention()
        self._since_s: float | None = None

    def forget(self) -> None:
        """Another simulation knows of no sticks yet."""
        self._sent = PilotInput()

    def requests(self, sample: InputSample, snapshot: Snapshot, view: ViewSettings) -> list[Request]:
        """Of one frame. Escape closes what has dropped down before it does anything else."""
        requests: list[Request] = []
        steers = self._intervention.begins(sample.pilot, looking=in_past(snapshot))
        handed_over = in_past(snapshot) and "demo" in sample.pressed
        if steers or handed_over:
            requests.append(FLY_ON)
        if not same(sample.pilot, self._sent):
            self._sent = sample.pilot
            requests.append(SetPilotInput(sample.pilot))
        closes = "escape" in sample.pressed and _closed_menus()
        actions = (action for action in sample.pressed if not (closes and action == "escape"))
        pressed = [
            request_of(action, snapshot, view)
            for action in actions
            if action not in sample.held or action != _PICTURE
        ]
        return requests + self._pictured(sample) + [request for request in pressed if request is not None]

    def _pictured(self, sample: InputSample) -> list[Request]:
        """A key that is let go soon saves a picture; one that is held begins the photo mode."""
        now_s, since_s = perf_counter(), self._since_s
        down = _PICTURE in sample.held
        if down and _PICTURE in sample.pressed:
            self._since_s = now_s
        elif since_s is not None and down and now_s - since_s >= HELD_S:
            self._since_s = None
            return [ShowPhoto(on=True)]
        elif since_s is not None and not down:
            self._since_s = None
            return [PLAIN[_PICTURE]]
        return []


def _closed_menus() -> bool:
    """Close what has dropped down; whether anything had."""
    opened = imgui.is_popup_open("", imgui.PopupFlags_.any_popup.value)
    if opened:
        imgui.internal.close_popups_except_modals()
    return opened


class OwnRequests:
    """Each comes down to others, or is done. What cannot be done is told."""

    def __init__(
        self,
        context: PanelContext,
        tools: SceneTools,
        controls: ControlSetup,
        bookmarks: BookmarkKeeper,
        desk: InputDesk,
        notify: Callable[..., None],
    ) -> None:
        """notify(text, error=...): tells the user."""
        self._context, self._tools = context, tools
        self._controls, self._bookmarks, self._desk = controls, bookmarks, desk
        self._notify = notify

    def resolved(self, request: Request, snapshot: Snapshot, view: ViewSettings) -> Sequence[Request]:
        """What it comes down to; the request itself where it is none of these."""
        try:
            if isinstance(request, StepEdits):
                return self._stepped(request.by)
            if isinstance(request, EditChosen):
                return self._tools.edited(request.action, snapshot)
            if isinstance(request, BookmarkRequest):
                camera = self._tools.camera
                return self._bookmarks.resolved(
                    request, snapshot, view, None if camera is None else camera[0]
                )
            if isinstance(request, BrowseFiles):
                self._context.of(FileDialog).open(Path.cwd())
            elif isinstance(request, ControlRequest):
                told = carried_out(request, self._controls, self._desk.devices, snapshot.lanes[0].vehicle)
                if told:
                    self._notify(told)
            else:
                return [request]
        except InputError as error:
            self._notify(str(error), error=True)
        return []

    def open_controls(self, path: str) -> None:
        """A file that was exported: its profiles and keys count from now on. Raises InputError."""
        self._controls.take_over(Path(path))
        self._notify(f"Controls of {path}")

    def _stepped(self, by: int) -> list[Request]:
        """Undo or redo, and say what."""
        asked, told = self._context.of(Edits).stepped(by, perf_counter())
        self._notify(told)
        for command in asked:
            if isinstance(command, SetParameter):
                self._context.of(FlownParameters).values[command.name] = command.value
        return [*asked]
