"""The scene that is coming: what was asked for, and the user's word where it runs a file of theirs."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sim.commands import Command
from sim.platform.errors import UntrustedFile
from sim.platform.progress import Job
from sim.scene import Scene
from ui.desktop.loader import Loader
from ui.trust_question import TrustQuestion, question_of

if TYPE_CHECKING:
    from ui.desktop.preparation import Loaded


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
        self._ask(question.file)
        if self.question == question and self._asked is not None:  # else it was written to meanwhile
            self._open(self._asked, quality, shown, trusted=question.file)
        return ""

    def take(self) -> "Loaded | None":
        """What was asked for, once, when it is there. Raises InputError where it cannot work or be read."""
        try:
            return self._loader.take()
        except UntrustedFile as refusal:
            self._ask(refusal.file)
            return None

    @property
    def jobs(self) -> tuple[Job, ...]:
        """What has been done for it, and what is being done."""
        return self._loader.jobs

    def cancel(self) -> None:
        """Forget it; what is shown stays."""
        self._loader.give_up()

    def close(self) -> None:
        """Give up what is coming, for good."""
        self._loader.close()

    def _ask(self, file: Path) -> None:
        """Whether the scene that was to be opened may run its vehicle's file."""
        self.question = question_of(self._asked[0] if self._asked else self._name, file)
