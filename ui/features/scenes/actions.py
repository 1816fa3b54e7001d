"""The scene that is coming: what was asked for, and the user's word where it runs a file of theirs."""

import os
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sim.commands import Command, PlayTake, ShowMeasured
from sim.controllers.controller import holds_controller
from sim.platform.errors import UntrustedFile
from sim.platform.progress import Preparation
from sim.platform.user_files import found_file, require_trust
from sim.recordings import Take
from sim.scene import Scene, load_scene
from sim.scene.flight_log import READERS
from sim.scene.measured import Measured, load_measured
from sim.simulation.lanes.snapshot import Snapshot
from sim.simulation.opening import scene_of
from ui.features.controllers import FlyOwn
from ui.features.feature import Actions, App, Background
from ui.features.recordings import OpenTake, ShowTake
from ui.features.scenes.coming import TrustQuestion, question_of
from ui.features.scenes.gallery import SIZE_PX, Thumbnails
from ui.features.scenes.loader import Loader
from ui.features.scenes.own import is_own, keep_picture, wants_picture
from ui.features.scenes.view import (
    AnswerTrust,
    CancelLoading,
    OpenControls,
    OpenPath,
    PendingScene,
)
from ui.input.control_setup import ENDING as CONTROLS
from ui.settings.view_settings import Remembered
from ui.window.context import KeepPicture, LoadScene

if TYPE_CHECKING:
    from ui.features.scenes.preparation import Loaded


Read = Callable[..., Scene]
"""Reads a scene, given the user's word as `trusted`: `load_scene` with its name."""


class SceneChange:
    """One scene at a time is made ready beside the frames; the shown one goes on until `take` has it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._name = ""
        self._asked: tuple[str, Read, tuple[Command, ...]] | None = None
        """What `open` was given last."""
        self.question: TrustQuestion | None = None
        """About it, where its vehicle's file needs the user's word."""

    @property
    def coming(self) -> str:
        """Its name; empty: nothing is coming."""
        return self._name if self._loader.busy else ""

    def open(self, asked: str, read: Read, quality: str, shown: str, *commands: Command) -> None:
        """Whatever `read` reads, given what may be run. asked: its name or path. `shown`: key of the world that is
        there. Its simulation carries the commands out before it is shown."""
        self._open((asked, read, commands), quality, shown, trusted=False)

    def _open(
        self,
        asked: tuple[str, Read, tuple[Command, ...]],
        quality: str,
        shown: str,
        *,
        trusted: bool | Path,
    ) -> None:
        name, read, commands = asked
        self.load(Path(name).name, lambda: read(trusted=trusted), quality, shown, *commands)
        self._asked = asked

    def load(
        self, name: str, scene: Callable[[], Scene], quality: str, shown: str, *commands: Command
    ) -> None:
        """What `scene` reads, which may run nothing that is not trusted; else as `open`."""
        self._name, self._asked, self.question = name, None, None
        self._loader.load(scene, quality, shown=shown, commands=commands)

    def answer(self, quality: str, shown: str, *, trusted: bool) -> str:
        """Open the scene with the file that was asked about, or leave it; returns what is to be told.

        Raises InputError for a file that cannot be read any more.
        """
        question, self.question = self.question, None
        if question is None:
            return ""
        if not trusted:
            return f"{question.file.name} was not run; {question.scene} stays closed"
        self.question = self._question(question.file)
        if self.question == question and self._asked is not None:  # else it was written to meanwhile
            self._open(self._asked, quality, shown, trusted=question.file)
        return ""

    def take(self) -> "Loaded | None":
        """What was asked for, once, when it is there. Raises InputError where it cannot work or be read."""
        try:
            return self._loader.take()
        except UntrustedFile as refusal:
            self.question = self._question(refusal.file)
            return None

    @property
    def jobs(self) -> tuple[Preparation, ...]:
        """What has been done for it, and what is being done."""
        return self._loader.jobs

    def cancel(self) -> None:
        """Forget it; what is shown stays."""
        self._loader.give_up()

    def close(self) -> None:
        """Give up what is coming, for good."""
        self._loader.close()

    def _question(self, file: Path) -> TrustQuestion:
        """Whether the scene that was to be opened may run its vehicle's file."""
        return question_of(self._asked[0] if self._asked else self._name, file)


_SETTLED = 10
"""Pictures into a scene: bodies hang and stand by then as they do, and software draws sharply."""


class SceneActions(Actions):
    """Opens what the user names: scenes, and files of every kind that the window can show."""

    handles = (LoadScene, OpenPath, CancelLoading, AnswerTrust, ShowTake, KeepPicture)

    def __init__(self, app: App) -> None:
        super().__init__(app)
        loader = app.context.find(Loader)
        assert loader is not None
        self._change, self._log = SceneChange(loader), Background[Measured]("measured poses")
        self._unpictured: set[str] = set()
        """Paths of scenes whose picture is the next one drawn."""
        self._drawn = 0

    def begin(self) -> None:
        self._unpictured.clear()
        self._drawn = 0

    def drawn(self, snapshot: Snapshot, picture: Callable[[], np.ndarray]) -> None:
        self._drawn += 1
        path = str(self.app.scene.path or "")
        if self._drawn == _SETTLED and is_own(path) and wants_picture(path):
            self._unpictured.add(os.path.abspath(path))
        for path in self._unpictured:
            keep_picture(path, picture(), SIZE_PX, self.app.context.of(Remembered).files)
            thumbnails = self.app.context.find(Thumbnails)
            if thumbnails is not None:
                thumbnails.renew(path)
        self._unpictured.clear()

    def poll(self, snapshot: Snapshot) -> None:
        measured = self._log.take()
        if measured is not None:
            self.app.submit(ShowMeasured(measured))

    def leave(self) -> None:
        self._log.give_up()  # it was asked for beside what is left

    def take(self) -> "Loaded | None":
        """A scene that is ready to be changed over to, once. Raises InputError where it cannot work."""
        return self._change.take()

    def views(self, snapshot: Snapshot) -> Iterable[object]:
        question = self._change.question
        return (
            PendingScene(self._change.coming, self._change.jobs),
            *(() if question is None else (question,)),
        )

    def carry_out(self, action: object) -> None:
        match action:
            case LoadScene(name):
                again = self.app.scene.path if name == self.app.scene.name else None
                self._open_scene(again or name)
            case OpenPath(path):
                self._open_path(os.path.expanduser(path))
            case CancelLoading():
                self._change.cancel()
            case AnswerTrust(trusted):
                told = self._change.answer(self.app.view.quality, self.app.world.key, trusted=trusted)
                if told:
                    self.app.tell(told)
            case KeepPicture(path):
                self._unpictured.add(path)
            case ShowTake(take):
                self._show_take(take)

    def open(self, asked: str, read: Read, *commands: Command) -> None:
        """Show another scene as soon as it is ready, and its program trusted; then it gets the commands."""
        self._change.open(asked, read, self.app.view.quality, self.app.world.key, *commands)

    def close(self) -> None:
        self._change.close()
        self._log.close()

    def _open_scene(self, asked: str | Path) -> None:
        self.open(str(asked), partial(load_scene, asked))

    def _open_path(self, path: str) -> None:
        """A vehicle's folder, a scene, a take, a table of poses or controls, as the user has named it."""
        if os.path.exists(path):
            self.app.context.show(self.app.context.of(Remembered).opened_file(os.path.abspath(path)))
        if path.endswith(".npz"):
            self.app.do(OpenTake(path))
        elif Path(path).suffix.lower() in (".csv", *READERS):
            self.app.tell(f"Reading {os.path.basename(path)}")
            self._log.begin(lambda _: load_measured(path))
        elif path.endswith(CONTROLS):
            self.app.do(OpenControls(path))
        elif holds_controller(Path(path)):
            self._fly_by(path)
        else:
            self._open_scene(path)

    def _fly_by(self, path: str) -> None:
        """By the controller in a file, in flight; where it needs the user's word, from the scene's start."""
        try:
            require_trust(found_file("controller", path, (Path.cwd(),)), word=False)
        except UntrustedFile:
            scene = self.app.scene
            read = partial(load_scene, scene.path or scene.name, vehicle=scene.vehicle.name, controller=path)
            self.open(path, read)
        else:
            self.app.do(FlyOwn(Path(path)))

    def _show_take(self, take: Take) -> None:
        """In its world, which may have to be loaded first."""
        world = self.app.world
        if (take.world, take.seed) == (world.name, world.seed):
            self.app.submit(PlayTake(take))
            return
        name, quality = take.scene or take.world, self.app.view.quality
        self._change.load(name, lambda: scene_of(take), quality, world.key, PlayTake(take))
