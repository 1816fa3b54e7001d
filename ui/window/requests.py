"""What a frame of the user interface asks for: commands for the simulation, actions for the app, camera motion.

Keys and panels make the same requests, so that either can be tested without the other. What one feature alone is asked
for stands in that feature. The shell's own requests change `ShellState`: what is open and how things are shown.
"""

from dataclasses import dataclass, replace
from typing import get_args

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


@dataclass(frozen=True, slots=True)
class ShellState:
    """Immutable; every request makes the next one."""

    view: ViewSettings
    help: bool = False
    panels: bool = True
    plots: bool = True
    photo: bool = False
    """Nothing lies over the scene but what a photo is taken by."""
    scale: float = 1.0
    fullscreen: bool = False
    layouts_reset: int = 0
    """How often a fresh layout was asked for."""
    followed: bool = False
    """Whether the camera has gone from the plan's overview to the vehicle that flies it, once in this scene."""
    rescans: int = 0
    """How often joysticks were to be looked for."""


OWN = get_args(OwnAction)


def following(state: ShellState, *, flies: bool) -> ShellState:
    """Once a plan is flown, its overview gives way to the vehicle; whoever wants the overview back keeps it."""
    if not flies or state.followed:
        return state
    view = replace(state.view, camera="chase") if state.view.camera == "overview" else state.view
    return replace(state, view=view, followed=True)


def applied(state: ShellState, request: object) -> ShellState:
    """The state after one of the shell's own requests."""
    match request:
        case ChangeView(view):
            return replace(state, view=view)
        case ToggleHelp():
            return replace(state, help=not state.help)
        case TogglePanels():
            return replace(state, panels=not state.panels)
        case TogglePlots():
            return replace(state, plots=not state.plots, panels=True)
        case ToggleFullscreen():
            return replace(state, fullscreen=not state.fullscreen)
        case SetInterfaceScale(scale):
            return replace(state, scale=scale, layouts_reset=state.layouts_reset + 1)
        case ResetLayout():
            return replace(state, layouts_reset=state.layouts_reset + 1, plots=True)
        case RescanControllers():
            return replace(state, rescans=state.rescans + 1)
        case ShowPhoto(on):
            return replace(state, photo=on, help=False)
        case Escape() if state.photo:
            return replace(state, photo=False)
        case Escape():
            # One thing at a time: the help first, the full screen only when no help was open.
            return replace(state, help=False, fullscreen=state.fullscreen and state.help)
    raise TypeError(f"not a request of the shell: {request!r}")
