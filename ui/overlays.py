"""What lies over the scene: instruments, the map, goals, captions, news, and what waits for an answer."""

import time
from pathlib import Path

import numpy as np

from sim.platform.progress import Job
from sim.scene import Scene
from sim.snapshot import Snapshot
from ui import hud
from ui.file_dialog import FileDialog
from ui.hud import minimap, race
from ui.hud.goals import draw_goal_marker, draw_goals
from ui.hud.key_hint import KeyHint
from ui.hud.notice_plates import draw_mpc, draw_past
from ui.panels import caption, coming, trust
from ui.panels import help as help_panel
from ui.panels.context import PanelContext
from ui.panels.notices import draw_banner, draw_toasts
from ui.requests import OpenPath, Request
from ui.shell_state import ShellState
from ui.toasts import Toasts


class Overlays:
    """Drawn after the panels and before what has to be seen through everything."""

    def __init__(self, context: PanelContext, toasts: Toasts) -> None:
        self._context, self._toasts = context, toasts
        self._files, self._key_hint = FileDialog(), KeyHint()
        self.coming: tuple[str, tuple[Job, ...]] = ("", ())
        """The scene that is being made ready; no name: none is."""

    def browse(self) -> None:
        """Let the user choose a file."""
        self._files.open(Path.cwd())

    def draw(
        self,
        snapshot: Snapshot,
        state: ShellState,
        scene: Scene,
        camera: tuple[np.ndarray, np.ndarray] | None,
    ) -> list[Request]:
        """camera: view and projection (4, 4) of the scene as it was drawn last."""
        context, view, now_s = self._context, state.view, time.perf_counter()
        if view.hud:
            hud.draw(snapshot, context)
            if view.minimap and view.views == 1 and "hud/heading" in context.rects:
                self._draw_map(snapshot)  # what goes nowhere needs none
        hidden = snapshot.look_back is not None or not view.goals
        if not hidden and snapshot.lanes[0].vehicle == scene.vehicle:
            told = not (view.caption and caption.told_in(scene, snapshot))
            self._draw_goals(camera if view.views == 1 else None, listed=told)
        draw_past(snapshot, context)
        draw_mpc(snapshot, context)
        race.draw(snapshot, context)
        if view.caption:
            caption.draw(scene, snapshot, context)
        self._key_hint.draw(snapshot.lanes[0].vehicle, now_s, context)
        requests = draw_banner(snapshot, context)
        draw_toasts(self._toasts.visible(now_s), now_s, context)
        if state.help:
            requests += help_panel.draw(context)
        if self.coming[0]:
            requests += coming.draw(*self.coming, context)
        elif snapshot.waiting:
            requests += coming.draw_waiting(snapshot.waiting, context)
        chosen = self._files.draw(context)
        if chosen:
            requests.append(OpenPath(chosen))
        if context.question is not None:
            requests += trust.draw(context.question, context)
        return requests

    def _draw_map(self, snapshot: Snapshot) -> None:
        context = self._context
        if context.outlines is not None:
            due = context.goals.marker_w if context.goals is not None else None
            minimap.draw(context.outlines, snapshot, due, context)

    def _draw_goals(self, camera: tuple[np.ndarray, np.ndarray] | None, *, listed: bool) -> None:
        """listed: in a pane of their own; a caption has what is due in its own words."""
        progress = self._context.goals
        if progress is None:
            return
        if listed:
            draw_goals(progress, self._context)
        if progress.marker_w is not None and camera is not None:
            draw_goal_marker(progress.marker_w, progress.distance_m, *camera, self._context)
