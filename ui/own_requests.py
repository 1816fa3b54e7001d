"""Requests that the interface answers itself: undo and redo, bookmarks, marks of a plan, files, controls."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path

from sim.commands import SetParameter
from sim.platform.errors import InputError
from sim.snapshot import Snapshot
from ui.bookmark_keeper import BookmarkKeeper
from ui.control_requests import ControlRequest, carried_out
from ui.input.control_setup import ControlSetup
from ui.input.desk import InputDesk
from ui.overlays import Overlays
from ui.panels.context import PanelContext
from ui.requests import BookmarkRequest, BrowseFiles, EditChosen, Request, StepEdits
from ui.scene_tools import SceneTools
from ui.view_settings import ViewSettings


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
