"""What is being made ready beside the frames, for whoever waits for it to be told."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from time import perf_counter

from sim.platform.values import dataclass

Tell = Callable[..., None]
"""Called with what work reports while it goes on."""
TellShare = Callable[[str, float], None]
"""Called with what is being done now and the share that is done (0..1); what it raises ends the work."""


def unheard(text: str, share: float) -> None:
    """Who nobody listens to."""


_listening: ContextVar[Tell | None] = ContextVar("_listening", default=None)


@contextmanager
def compilations_reported(tell: Tell) -> Iterator[None]:
    """Within it, each function that this thread begins to compile by `sim.native` is reported by its name."""
    before = _listening.set(tell)
    try:
        yield
    finally:
        _listening.reset(before)


def report_compilation(function: str) -> None:
    """To whoever listens in this thread."""
    tell = _listening.get()
    if tell is not None:
        tell(function)


@dataclass(frozen=True, slots=True)
class Preparation:
    """One thing that is made ready. Times are of `time.perf_counter()`."""

    title: str
    began_s: float
    function: str = ""
    """Is being compiled for it just now."""
    functions: int = 0
    """How many have been, that one included."""
    ended_s: float | None = None


class Board:
    """What is being done, written by threads and read by the window."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._jobs: dict[str, Preparation] = {}

    @property
    def jobs(self) -> tuple[Preparation, ...]:
        """In the order in which they were begun."""
        with self._lock:
            return tuple(self._jobs.values())

    @contextmanager
    def shown(self, title: str) -> Iterator[Tell]:
        """A job from beginning to end; what is yielded takes the names of functions that are compiled for it."""
        began_s, functions = perf_counter(), 0

        def tell(function: str) -> None:
            nonlocal functions
            functions += 1
            self._put(Preparation(title, began_s, function, functions))

        self._put(Preparation(title, began_s))
        yield tell
        self._put(Preparation(title, began_s, functions=functions, ended_s=perf_counter()))

    def _put(self, job: Preparation) -> None:
        with self._lock:
            self._jobs[job.title] = job
