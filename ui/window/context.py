"""What panels and instruments get besides the snapshot, where they note what was drawn where, and what a frame of the
user interface asks for: commands for the simulation, actions for the app, camera motion.

Keys and panels make the same requests, so that either can be tested without the other. What one feature alone is asked
for stands in that feature. The shell's own requests change `ShellState`: what is open and how things are shown."""

from collections.abc import Mapping
from dataclasses import field, replace
from typing import TypeVar, get_args

import numpy as np

from sim.commands import Command
from sim.planner.service.requests import PlanRequest
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import Snapshot
from ui.input.keymap import Keymap, keymap_of
from ui.settings.catalogue import Catalogue
from ui.settings.view_settings import ViewSettings
from ui.window.theme import Fonts


class Action:
    """Asked of the app: carried out by the feature that declares it (`ui.features.feature.Actions`)."""

    __slots__ = ()


class Indirect:
    """Comes down to other requests, or is done by the shell; see `ui.shell.keys.OwnRequests`."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class KeepPicture(Action):
    """Have the next picture that is drawn be that of a scene's file in the gallery."""

    path: str


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


def flies_off(snapshot: Snapshot) -> bool:
    """A plan is flown by something that goes places: what is held at a point stays in its overview."""
    flies = snapshot.look_back is None and (snapshot.plan_flies or snapshot.sails)
    return flies and snapshot.lanes[0].pivot_w is None


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


SLOW_S = 3.0
"""So long has something to lag before it is told of."""
KEEPS_UP = 0.9
_IN_TIME = 0.97


@dataclass(frozen=True, slots=True)
class Pace:
    """Of the frames."""

    frame_s: float = 0.0
    """Wall seconds; 0 before it is known."""
    scale: float = 1.0
    """Of the scene, relative to the window."""
    overspent: bool = False
    """Not even the smallest scale is in time."""

    @property
    def words(self) -> str:
        """As they are shown."""
        rate = f"{1.0 / self.frame_s:.0f} fps, " if self.frame_s else ""
        return f"{rate}scene at {self.scale:.0%} of the window"


def is_late(snapshot: Snapshot) -> bool:
    """Whether the motion falls behind a clock that runs no faster than wall time."""
    return not snapshot.paused and snapshot.speed <= 1.0 and 0.0 < snapshot.real_time_factor < _IN_TIME


class Offers:
    """Told of every frame; says once what would help, until it has been well again."""

    def __init__(self) -> None:
        self._behind_s = self._late_s = 0.0

    def heard(self, pace: Pace, snapshot: Snapshot, dt_s: float, *, lesser: str, slower: str) -> str:
        """What is to be told now, or nothing. lesser: the next lower quality; slower: the key that halves the speed."""
        runs = not snapshot.paused and snapshot.look_back is None
        behind = runs and 0.0 < snapshot.real_time_factor < KEEPS_UP
        self._behind_s, tell_behind = _lasting(self._behind_s, dt_s, behind)
        self._late_s, tell_late = _lasting(self._late_s, dt_s, pace.overspent)
        if tell_behind and slower:
            return (
                f"The simulation keeps up with {snapshot.real_time_factor:.2g} of real time: "
                f"{slower} shows it at half the speed"
            )
        if tell_late and lesser:
            return f"{pace.words}: quality {lesser} would be faster (View)"
        return ""


def _lasting(for_s: float, dt_s: float, lasts: bool) -> tuple[float, bool]:
    """(seconds for which it lasts, whether it is to be told of in this frame)."""
    if not lasts:
        return 0.0, False
    return for_s + dt_s, for_s <= SLOW_S < for_s + dt_s


T = TypeVar("T")

Rect = tuple[float, float, float, float]
"""(x, y, w, h) in window coordinates, logical units, origin top left."""


@dataclass(frozen=True, slots=True, eq=False)
class SceneCamera:
    """Of the scene as it was drawn last, so that what is in it can be found and moved by hand."""

    view: np.ndarray
    """(4, 4) world to camera."""
    projection: np.ndarray
    """(4, 4) camera to clip."""
    shifts_w: Mapping[str, np.ndarray] = field(default_factory=dict)
    """By lane, (3,) m by which it was drawn apart from its true place."""
    bodies_w: Mapping[str, Mapping[str, np.ndarray]] = field(default_factory=dict)
    """By lane and body, (4, 4) at the moment of the picture, without that shift: later snapshots know it farther on."""

    def as_drawn(self, snapshot: Snapshot) -> Snapshot:
        """With bodies where the picture has them: there they are seen, and clicked."""
        lanes = [
            replace(lane, bodies=seen)
            if (seen := self.bodies_w.get(lane.name)) is not None and seen.keys() == lane.bodies.keys()
            else lane
            for lane in snapshot.lanes
        ]
        return replace(snapshot, lanes=tuple(lanes))


@dataclass(slots=True)
class PanelContext:
    """Owned by the shell. What belongs to one feature is found by its type: what the feature shows (a value that is
    replaced as a whole), and what its panel remembers (an object that it changes)."""

    catalogue: Catalogue
    fonts: Fonts
    view: ViewSettings
    qualities: tuple[str, ...]
    scale: float = 1.0
    """The user's interface scale."""
    keymap: Keymap = field(default_factory=lambda: keymap_of(""))
    """The keys while the present vehicle is flown."""
    rects: dict[str, Rect] = field(default_factory=dict)
    """Named widgets of this frame, for tests and guided tours."""
    scene_rect: Rect = (0.0, 0.0, 0.0, 0.0)
    """The part of the window that shows the scene."""
    parts: dict[type, object] = field(default_factory=dict)
    """By type: what features show, and what their panels remember."""

    def show(self, *values: object) -> None:
        """Each takes the place of the one of its type."""
        for value in values:
            self.parts[type(value)] = value

    def forget(self, *kinds: type) -> None:
        """There is nothing of these types, or it begins anew."""
        for kind in kinds:
            self.parts.pop(kind, None)

    def find(self, kind: type[T]) -> T | None:
        """What there is of this type."""
        found = self.parts.get(kind)
        assert found is None or isinstance(found, kind)
        return found

    def of(self, kind: type[T]) -> T:
        """The same; where there is none, as the type begins by itself, from now on."""
        found = self.find(kind)
        if found is None:
            found = self.parts[kind] = kind()
        return found

    def px(self, length: float) -> float:
        """A length at scale 1, at the user's scale."""
        return length * self.scale


def on_screen(place_w: np.ndarray, clip_from_world: np.ndarray, rect: Rect) -> tuple[float, float] | None:
    """Window coordinates (origin top left) of a place; None behind the eye or outside the scene."""
    clip = clip_from_world @ np.append(place_w, 1.0)
    if clip[3] <= 1e-6:
        return None
    x, y = clip[:2] / clip[3]
    if abs(x) > 1.0 or abs(y) > 1.0:
        return None
    return rect[0] + 0.5 * (1.0 + float(x)) * rect[2], rect[1] + 0.5 * (1.0 - float(y)) * rect[3]
