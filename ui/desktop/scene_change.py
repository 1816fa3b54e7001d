"""The scene that is coming: what was asked for, and the user's word where it runs a file of theirs."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sim.commands import Command
from sim.jobs import Job
from sim.platform.errors import UntrustedFile
from sim.scene import Scene, load_scene
from ui.desktop.loader import Loader
from ui.trust_question import TrustQuestion, question_of

if TYPE_CHECKING:
    from ui.desktop.preparation import Loaded


class SceneChange:
    """One scene at a time is made ready beside the frames; the shown one goes on until `take` has it."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._name = ""
        self._asked: str | Path = ""
        """By name or path; empty: it came with a take."""
        self.question: TrustQuestion | None = None
        """About it, where its vehicle's file needs the user's word."""

    @property
    def coming(self) -> str:
        """Its name; empty: nothing is coming."""
        return self._name if self._loader.busy else ""

    def open(self, asked: str | Path, quality: str, shown: str, *, trusted: Path | None = None) -> None:
        """By name or path. `shown`: key of the world that is there. `trusted`: an outside file it may run."""
        self.load(Path(asked).name, lambda: load_scene(asked, trusted=trusted or False), quality, shown)
        self._asked = asked

    def load(
        self, name: str, scene: Callable[[], Scene], quality: str, shown: str, *commands: Command
    ) -> None:
        """Whatever `scene` reads; its simulation carries the commands out before it is shown."""
        self._name, self._asked, self.question = name, "", None
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
        if self.question == question:  # else it was written to meanwhile
            self.open(self._asked, quality, shown, trusted=question.file)
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
        self.question = question_of(str(self._asked), file)
