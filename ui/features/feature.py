"""What a feature of the window is: a panel, what lies over the scene, and what is done for it; registered once.

A feature's panel and its actions know each other by values alone. `Actions.views` shows values, which the panel finds
by their type (`PanelContext.of`); the panel asks by requests, which reach the actions that handle their type.
"""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import ClassVar, Generic, Protocol, TypeVar

import numpy as np

from sim.commands import Command
from sim.planner.service.requests import PlanRequest
from sim.platform.processes import GivenUp
from sim.platform.values import dataclass
from sim.recordings import Take
from sim.scene import Scene
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import Snapshot
from sim.world import World
from ui.settings.view_settings import ViewSettings
from ui.window.context import Action, PanelContext, Request

UPPER, LOWER, BELOW = "upper", "lower", "below"
"""Where a new user finds a panel: in the column's upper or lower part, or below the scene."""

T = TypeVar("T")
Draw = Callable[[Snapshot, PanelContext], list[Request]]
"""Builds widgets for a frame; returns what the user asked for by them."""


class App(Protocol):
    """The window's session, as the actions of a feature see it."""

    @property
    def scene(self) -> Scene:
        """That is open."""

    @property
    def world(self) -> World:
        """In which it takes place."""

    @property
    def simulation(self) -> Simulation:
        """Of that scene."""

    @property
    def context(self) -> PanelContext:
        """What panels see and remember."""

    @property
    def view(self) -> ViewSettings:
        """How the scene is looked at."""

    @property
    def scene_size_px(self) -> tuple[int, int]:
        """(width, height) of the part of the window that shows the scene."""

    def submit(self, *commands: Command) -> None:
        """To the simulation."""

    def tell(self, text: str, *, error: bool = False) -> None:
        """Tell the user in passing."""

    def do(self, action: Action | PlanRequest) -> None:
        """Have it carried out by the feature that handles it; what cannot be is told."""


class Actions:
    """What a feature does beside its panel; a window makes one of each. Every method may be left as it is.

    InputError and OutputError that come out of `poll` and `carry_out` are told to the user.
    """

    handles: ClassVar[tuple[type, ...]] = ()
    """Types of the actions that `carry_out` gets."""

    def __init__(self, app: App) -> None:
        self.app = app

    def begin(self) -> None:
        """Another scene is there; its simulation has not started yet."""

    def leave(self) -> None:
        """The scene is left, and its simulation has been stopped."""

    def poll(self, snapshot: Snapshot) -> None:
        """Once a frame, before the panels are built."""

    def views(self, snapshot: Snapshot) -> Iterable[object]:
        """What its panel is to see in this frame: one value of a type."""
        return ()

    def carry_out(self, action: object) -> None:
        """One of those that it handles."""

    def drawn(self, snapshot: Snapshot, picture: Callable[[], np.ndarray]) -> None:
        """Once a frame, when the scene has been drawn and the panels have not; `picture` reads the scene, (h, w, 3)."""

    def close(self) -> None:
        """The window closes; the simulation has been stopped."""


class Background(Generic[T]):
    """One piece of work at a time beside the frames, in a thread that most often waits for a process."""

    def __init__(self, name: str) -> None:
        """name: of the thread, as `threading` lists it."""
        self._thread = ThreadPoolExecutor(1, thread_name_prefix=name)
        self._outcome: Future[T] | None = None
        self._given_up = threading.Event()

    @property
    def busy(self) -> bool:
        """Whether something was begun that has not been taken."""
        return self._outcome is not None

    def begin(self, work: Callable[[threading.Event], T]) -> None:
        """Give up what is under way for this. The event is set when this is given up in its turn."""
        self.give_up()
        given_up = self._given_up = threading.Event()

        def unless_given_up() -> T:
            if given_up.is_set():
                raise GivenUp
            return work(given_up)

        self._outcome = self._thread.submit(unless_given_up)

    def take(self) -> T | None:
        """What has come of it, once, when it is there. Raises what the work raised."""
        if self._outcome is None or not self._outcome.done():
            return None
        outcome, self._outcome = self._outcome, None
        return outcome.result()

    def give_up(self) -> None:
        """Forget what is under way; nothing comes of it."""
        self._given_up.set()
        self._outcome = None

    def close(self) -> None:
        """Give up for good, and wait until the thread has ended."""
        self.give_up()
        self._thread.shutdown(wait=True)


@dataclass(frozen=True, slots=True)
class News:
    """What has come of a request."""

    text: str
    error: bool = False
    opened: Take | None = None
    """Was read, and waits to be shown."""
    saved: Take | None = None
    """Is in a file now."""


@dataclass(frozen=True, slots=True)
class Feature:
    """All of one, for `ui.shell.features`."""

    name: str
    """Title of its panel."""
    panel: Draw | None = None
    place: str = LOWER
    """UPPER, LOWER or BELOW."""
    observe: Callable[[Snapshot, PanelContext], None] | None = None
    """Takes note of every snapshot, also while the panels rest."""
    overlay: Draw | None = None
    """Over the scene, after what stands before it in the list."""
    actions: type[Actions] | None = None
    of_scene: tuple[type, ...] = ()
    """Types of what its panel remembers of one scene, and forgets with it."""
