"""What this window remembers: read at its start, kept while it is open."""

import os
import time
from dataclasses import replace
from pathlib import Path

from sim.scene import Scene
from ui.settings.files import read_memory, write_memory
from ui.settings.view_settings import ViewSettings, opened
from ui.window.state import ShellState

EVERY_S = 5.0
"""Changes are written no more often."""


class Memories:
    """Of one session. `quality`: what the machine or the command line has chosen for it."""

    def __init__(self, folder: Path, quality: str) -> None:
        self._folder, self._quality = folder, quality
        self.kept = self._written = read_memory(folder)
        self._written_s = time.perf_counter()

    def opened(self, view: ViewSettings, scene: Scene) -> ViewSettings:
        """The settings with which a scene opens that is the last one now."""
        name = scene.name if scene.path is None else ""
        if name:
            self.kept = self.kept.opened_scene(name)
        view = opened(view, scene)
        return replace(view, camera=self.kept.camera_of(name, view.camera))

    def opened_file(self, path: str) -> None:
        """Of whatever kind."""
        if os.path.exists(path):
            self.kept = self.kept.opened_file(os.path.abspath(path))

    def observe(self, state: ShellState, scene: Scene) -> None:
        """Told once a frame how things are shown."""
        view = state.view
        kept = replace(self.kept.looked_at(view), panels=state.panels, plots=state.plots)
        if view.quality != self._quality:
            self._quality = view.quality
            kept = replace(kept, quality=view.quality)
        if scene.path is None:
            kept = kept.with_camera(scene.name, view.camera, scene.camera)
        self.kept = kept
        if self.kept != self._written and time.perf_counter() - self._written_s > EVERY_S:
            self.keep()

    def keep(self) -> None:
        """Write it, where something has changed."""
        if self.kept != self._written:
            write_memory(self._folder, self.kept)
        self._written, self._written_s = self.kept, time.perf_counter()
