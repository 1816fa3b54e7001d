"""What is open and how things are shown, and what the shell's own requests do to it. Pure."""

from dataclasses import dataclass, replace
from typing import get_args

from ui.settings.view_settings import ViewSettings
from ui.window.requests import (
    ChangeView,
    Escape,
    OwnAction,
    RescanControllers,
    ResetLayout,
    SetInterfaceScale,
    ShowPhoto,
    ToggleFullscreen,
    ToggleHelp,
    TogglePanels,
    TogglePlots,
)


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
