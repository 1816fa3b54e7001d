"""Scenes made ready beside the frames: by a thread, and by processes where something has to be compiled or grown."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from importlib import import_module
from typing import TYPE_CHECKING

from sim.platform.processes import CacheWorkers
from sim.platform.progress import Board, Preparation
from sim.scene import Scene

if TYPE_CHECKING:
    from sim.commands import Command
    from ui.features.scenes.preparation import Loaded


_LIBRARIES = "ui.features.scenes.preparation"
"""What brings along all that scenes are made ready by."""


class Loader:
    """Makes one scene ready at a time; another one that is asked for takes its place.

    It loads its libraries from the beginning: that takes as long as to open a window, which may be done meanwhile.
    """

    def __init__(self) -> None:
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="loader")
        self._thread.submit(import_module, _LIBRARIES)
        self._coming: Future[Loaded] | None = None
        self._workers, self._board = CacheWorkers(), Board()

    def load(
        self,
        scene: Callable[[], Scene],
        quality: str,
        *,
        shown: str = "",
        commands: tuple["Command", ...] = (),
    ) -> None:
        """Begin. `scene` reads it, in the thread; its simulation carries the commands out before it is shown.

        shown: key of a world whose meshes are there already.
        """
        self.give_up()
        workers, board = CacheWorkers(), Board()
        self._workers, self._board = workers, board

        def load() -> "Loaded":
            with board.shown("Loading libraries"):
                from ui.features.scenes.preparation import prepared
            return prepared(scene(), quality, shown, commands, workers, board)

        self._coming = self._thread.submit(load)

    @property
    def busy(self) -> bool:
        """Whether something is coming that has not been taken."""
        return self._coming is not None

    @property
    def jobs(self) -> tuple[Preparation, ...]:
        """What has been done for it, and what is being done."""
        return self._board.jobs

    def wait(self, longest_s: float) -> None:
        """Until what was asked for is there, or has failed, but no longer than that."""
        if self._coming is not None:
            wait([self._coming], timeout=max(longest_s, 0.0))

    def take(self) -> "Loaded | None":
        """What was asked for, once, when it is there. Raises InputError where the scene cannot work."""
        if self._coming is None or not self._coming.done():
            return None
        coming, self._coming = self._coming, None
        return coming.result()

    def give_up(self) -> None:
        """Forget what is coming, and end its processes."""
        if self._coming is not None:
            self._coming.cancel()
            self._workers.close()
            self._coming = None

    def close(self) -> None:
        """Give up for good."""
        self.give_up()
        self._thread.shutdown(wait=False, cancel_futures=True)
