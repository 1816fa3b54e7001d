"""What is asked for of scenes and of files that are opened."""

from sim.platform.progress import Preparation
from sim.platform.values import dataclass
from ui.window.context import Action, Indirect


@dataclass(frozen=True, slots=True)
class OpenPath(Action):
    """Open what the user has named or dropped: a vehicle's folder, a scene or a take."""

    path: str


@dataclass(frozen=True, slots=True)
class PendingScene:
    """The scene that is being made ready."""

    name: str = ""
    """Empty: none is."""
    jobs: tuple[Preparation, ...] = ()


@dataclass(frozen=True, slots=True)
class BrowseFiles(Indirect):
    """Have a file chosen that is to be opened."""


@dataclass(frozen=True, slots=True)
class CancelLoading(Action):
    """Give up the scene that is being made ready."""


@dataclass(frozen=True, slots=True)
class AnswerTrust(Action):
    """Whether the folder of the file that was asked about is trusted."""

    trusted: bool


@dataclass(frozen=True, slots=True)
class OpenControls(Action):
    """Have the profiles and keys of a file count from now on."""

    path: str
