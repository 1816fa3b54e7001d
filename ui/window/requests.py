"""What a frame of the user interface asks for: commands for the simulation, actions for the app, camera motion.

Keys and panels make the same requests, so that either can be tested without the other. What one feature alone is asked
for stands in that feature.
"""

from dataclasses import dataclass

from sim.commands import Command
from sim.planner.service.requests import PlanRequest
from ui.input.desk import CameraMotion
from ui.settings.view_settings import ViewSettings


class Action:
    """Asked of the app: carried out by the feature that declares it (`ui.features.feature.Actions`)."""

    __slots__ = ()


class Indirect:
    """Comes down to other requests, or is done by the shell; see `ui.shell.keys.OwnRequests`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class LoadScene(Action):
    """Leave this scene for another."""

    name: str


@dataclass(frozen=True, slots=True)
class TakeScreenshot(Action):
    """Write the picture with its panels to a file."""


@dataclass(frozen=True, slots=True)
class ChangeView:
    view: ViewSettings


@dataclass(frozen=True, slots=True)
class ToggleHelp:
    pass


@dataclass(frozen=True, slots=True)
class TogglePanels:
    pass


@dataclass(frozen=True, slots=True)
class TogglePlots:
    pass


@dataclass(frozen=True, slots=True)
class ToggleFullscreen:
    pass


@dataclass(frozen=True, slots=True)
class Escape:
    """Leave whatever is open: the help, then the full screen. Never the app."""


@dataclass(frozen=True, slots=True)
class ShowPhoto:
    """Begin or leave the photo mode: the simulation rests, and nothing lies over the scene but its bar."""

    on: bool


@dataclass(frozen=True, slots=True)
class ResetLayout:
    """Panels back to where a new user finds them."""


@dataclass(frozen=True, slots=True)
class SetInterfaceScale:
    """Size of text and widgets on top of the display's own scaling."""

    scale: float


@dataclass(frozen=True, slots=True)
class RescanControllers:
    """Look for joysticks that were plugged in after the start."""


OwnAction = (
    ChangeView
    | ToggleHelp
    | TogglePanels
    | TogglePlots
    | ToggleFullscreen
    | Escape
    | ShowPhoto
    | ResetLayout
    | SetInterfaceScale
    | RescanControllers
)
"""Done by the shell itself."""


@dataclass(frozen=True, slots=True)
class Output:
    """All requests of one frame, in the order they were made."""

    commands: tuple[Command, ...]
    actions: tuple[Action | PlanRequest, ...]
    camera: CameraMotion


Request = Command | PlanRequest | Action | OwnAction | Indirect
