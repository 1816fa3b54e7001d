"""What a frame of the user interface asks for: commands for the simulation, actions for the app, camera motion.

Keys and panels make the same requests, so that either can be tested without the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sim.commands import Command
from sim.planner.result.record import PlanRecord
from sim.planner.service.requests import PlanRequest
from sim.recordings import Take
from sim.vehicles.forms.parameters import Value
from ui.input.control_setup import Conflict, ControlSetup
from ui.input.listening import Listening
from ui.input.profile import DeviceNow, Profile
from ui.view_settings import ViewSettings


@dataclass(frozen=True, slots=True)
class LoadScene:
    """Leave this scene for another."""

    name: str


@dataclass(frozen=True, slots=True)
class SkipGoal:
    """Go on to the next goal of the scene."""


@dataclass(frozen=True, slots=True)
class RestartGoals:
    """The first goal of the scene is due again."""


@dataclass(frozen=True, slots=True)
class TakeScreenshot:
    """Write the picture with its panels to a file."""


@dataclass(frozen=True, slots=True)
class SaveCurves:
    """Write what the plots remember to a file."""


@dataclass(frozen=True, slots=True, eq=False)
class SaveTake:
    """Write a take into the user's folder, under a name that is not taken."""

    take: Take | None = None
    """None: what is recorded now, or shown of it."""


@dataclass(frozen=True, slots=True)
class ExportShown:
    """Write what is recorded of all lanes, or shown of it, for other programs."""

    ending: str
    """Of `ui.takes_view.FORMATS`."""
    ground: bool = False
    """Whether the ground about the ways goes along, into a scene."""
    camera: str = ""
    """Of a video; empty: the scene's own."""
    subframes: int = 1
    """Of a video: pictures that are averaged into each one."""


@dataclass(frozen=True, slots=True)
class CancelExport:
    """Give up the video that is being drawn."""


@dataclass(frozen=True, slots=True)
class RecordVideo:
    """Begin a video of what is seen."""


@dataclass(frozen=True, slots=True)
class StopVideo:
    """End it."""

    keep: bool


@dataclass(frozen=True, slots=True)
class FitTake:
    """Find parameters of the vehicle by what is recorded, or shown of it."""

    unknown: tuple[str, ...]
    guess: Mapping[str, Value]
    """Of all its parameters."""


@dataclass(frozen=True, slots=True)
class CancelFit:
    """Give it up, or forget what was found."""


@dataclass(frozen=True, slots=True, eq=False)
class ExportPlan:
    """Write a plan as a take into the user's folder."""

    plan: PlanRecord


@dataclass(frozen=True, slots=True)
class SaveTask:
    """Write the task as it is now as a scene of its own."""


@dataclass(frozen=True, slots=True)
class OpenPath:
    """Open what the user has named or dropped: a vehicle's folder, a scene or a take."""

    path: str


@dataclass(frozen=True, slots=True)
class BrowseFiles:
    """Have a file chosen that is to be opened."""


@dataclass(frozen=True, slots=True)
class SetBookmark:
    """Remember a place of this scene."""

    kind: str
    """`start` or `view`."""


@dataclass(frozen=True, slots=True)
class OpenBookmark:
    """Go there."""

    name: str


@dataclass(frozen=True, slots=True)
class DropBookmark:
    """Forget it."""

    name: str


@dataclass(frozen=True, slots=True)
class CancelLoading:
    """Give up the scene that is being made ready."""


@dataclass(frozen=True, slots=True)
class AnswerTrust:
    """Whether the folder of the file that was asked about is trusted."""

    trusted: bool


@dataclass(frozen=True, slots=True)
class OpenTake:
    """Read a take and show it, in its scene."""

    path: str


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
class ResetLayout:
    """Panels back to where a new user finds them."""


@dataclass(frozen=True, slots=True)
class SetInterfaceScale:
    """Size of text and widgets on top of the display's own scaling."""

    scale: float


@dataclass(frozen=True, slots=True)
class EditChosen:
    """Delete or duplicate the waypoint or the obstacle that is chosen in the view."""

    action: str


@dataclass(frozen=True, slots=True)
class StepEdits:
    """Undo (negative) or redo so many edits of parameters, lanes and the planner's task."""

    by: int


@dataclass(frozen=True, slots=True)
class RescanControllers:
    """Look for joysticks that were plugged in after the start."""


Action = (
    LoadScene
    | SkipGoal
    | RestartGoals
    | OpenPath
    | CancelLoading
    | AnswerTrust
    | TakeScreenshot
    | SaveCurves
    | SaveTask
    | SaveTake
    | OpenTake
    | ExportPlan
    | ExportShown
    | CancelExport
    | RecordVideo
    | StopVideo
    | FitTake
    | CancelFit
    | PlanRequest
)
"""For the app."""

OwnAction = (
    ChangeView
    | ToggleHelp
    | TogglePanels
    | TogglePlots
    | ToggleFullscreen
    | Escape
    | ResetLayout
    | SetInterfaceScale
    | RescanControllers
)
"""Done by the shell itself."""

BookmarkRequest = SetBookmark | OpenBookmark | DropBookmark


@dataclass(frozen=True, slots=True)
class CameraMotion:
    """What mouse and arrow keys ask of the camera in one frame; logical pixels, x right, y up."""

    drag_px: tuple[float, float] = (0.0, 0.0)
    """Left-button drag that began in the scene."""
    pan_px: tuple[float, float] = (0.0, 0.0)
    """The same with the middle or right button."""
    zoom: float = 0.0
    """Scroll clicks, positive nearer."""
    orbit: tuple[float, float] = (0.0, 0.0)
    """Held arrow keys (right, up), -1..1, a rate."""


@dataclass(frozen=True, slots=True)
class Output:
    """All requests of one frame, in the order they were made."""

    commands: tuple[Command, ...]
    actions: tuple[Action, ...]
    camera: CameraMotion


@dataclass(frozen=True, slots=True)
class Listen:
    """What is moved or pressed next is assigned to this; None: to nothing."""

    what: Listening | None


@dataclass(frozen=True, slots=True)
class SetProfile:
    """What the axes and buttons of a kind of controller do."""

    profile: Profile


@dataclass(frozen=True, slots=True)
class ForgetProfile:
    """A kind of controller does the usual again."""

    guid: str


@dataclass(frozen=True, slots=True)
class SettleKey:
    """Whether a key that another action has is taken from it."""

    take: bool


@dataclass(frozen=True, slots=True)
class UsualKeys:
    """An action has its usual keys again."""

    scope: str
    action: str


@dataclass(frozen=True, slots=True)
class ExportControls:
    """Write profiles and keys to a file that others can open."""


ControlRequest = Listen | SetProfile | ForgetProfile | SettleKey | UsualKeys | ExportControls


@dataclass(frozen=True, slots=True)
class ControlView:
    """The controls in one frame."""

    devices: tuple[DeviceNow, ...] = ()
    profiles: Mapping[str, Profile] = field(default_factory=dict)
    """By guid, where they are not the usual."""
    listening: Listening | None = None
    conflict: Conflict | None = None
    chosen_keys: frozenset[tuple[str, str]] = frozenset()
    """(scope, action) whose keys are the user's."""


def control_view(setup: ControlSetup, devices: tuple[DeviceNow, ...]) -> ControlView:
    """For this frame."""
    chosen = frozenset((own.scope, own.action) for own in setup.keys.chosen)
    return ControlView(devices, setup.profiles, setup.listening, setup.conflict, chosen)


def carried_out(
    request: ControlRequest, setup: ControlSetup, devices: tuple[DeviceNow, ...], vehicle: str
) -> str:
    """Do it; returns what is to be told. Raises InputError where a file cannot be written."""
    match request:
        case Listen(what):
            setup.listen(what, devices)
        case SetProfile(profile):
            setup.set_profile(profile)
        case ForgetProfile(guid):
            setup.forget(guid)
        case SettleKey(take):
            setup.settle(vehicle, take=take)
        case UsualKeys(scope, action):
            setup.usual_keys(scope, action)
        case ExportControls():
            return f"Controls saved: {setup.export(devices[0].name if devices else 'keys')}"
    return ""


Request = (
    Command | Action | OwnAction | BookmarkRequest | StepEdits | EditChosen | BrowseFiles | ControlRequest
)
