"""Whether the pilot has begun to steer while an earlier moment is shown."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from imgui_bundle import imgui

from sim.commands import PilotInput, SetParameter, SetPilotInput
from sim.platform.errors import InputError
from sim.snapshot import Snapshot
from ui.bookmarks import BookmarkKeeper
from ui.input.control_setup import ControlSetup
from ui.input.desk import InputDesk, InputSample
from ui.input.sticks import AXES, same
from ui.input.viewer import request_of
from ui.overlays import Overlays
from ui.panels.context import PanelContext
from ui.requests import (
    BookmarkRequest,
    BrowseFiles,
    ControlRequest,
    EditChosen,
    Request,
    StepEdits,
    carried_out,
)
from ui.scene_tools import SceneTools
from ui.timeline import FLY_ON, in_past
from ui.view_settings import ViewSettings

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


class Keyed:
    """Remembers which sticks the simulation was told of last."""

    def __init__(self) -> None:
        self._sent, self._intervention = PilotInput(), Intervention()

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
        pressed = (request_of(action, snapshot, view) for action in actions)
        return requests + [request for request in pressed if request is not None]


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
        overlays: Overlays,
        controls: ControlSetup,
        bookmarks: BookmarkKeeper,
        desk: InputDesk,
        notify: Callable[..., None],
    ) -> None:
        """notify(text, error=...): tells the user."""
        self._context, self._tools, self._overlays = context, tools, overlays
        self._controls, self._bookmarks, self._desk = controls, bookmarks, desk
        self._notify = notify

    def resolved(self, request: Request, snapshot: Snapshot, view: ViewSettings) -> Sequence[Request]:
        """What it comes down to; the request itself where it is none of these."""
        try:
            if isinstance(request, StepEdits):
                return self._stepped(request.by)
            if isinstance(request, EditChosen):
                return self._tools.edited(request.action)
            if isinstance(request, BookmarkRequest):
                camera = self._tools.camera
                return self._bookmarks.resolved(
                    request, snapshot, view, None if camera is None else camera[0]
                )
            if isinstance(request, BrowseFiles):
                self._overlays.browse()
            elif isinstance(request, ControlRequest):
                told = carried_out(request, self._controls, self._desk.devices, self._context.vehicle)
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
        asked, told = self._context.edits.stepped(by, time.perf_counter())
        self._notify(told)
        for command in asked:
            if isinstance(command, SetParameter):
                self._context.parameters[command.name] = command.value
        return [*asked]
