"""What every panel gets besides the snapshot: choices, settings, and where to note what was drawn where."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from render.light import Day, Sun
from sim.commands import PilotInput
from sim.planner.service.view import PlanView
from sim.simulation.judge import Progress
from sim.vehicles.forms.parameters import Value
from sim.world.plan_view import PlanOutlines
from ui.bookmarks import Bookmark
from ui.catalogue import Catalogue
from ui.edits import Edits
from ui.history import History
from ui.input.keymap import Keymap, keymap_of
from ui.pace import Pace
from ui.plot_window import PlotWindow
from ui.requests import ControlView
from ui.takes_view import FitView, SharingView, TakesView
from ui.theme import Fonts
from ui.trust_question import TrustQuestion
from ui.view_settings import ViewSettings

Rect = tuple[float, float, float, float]
"""(x, y, w, h) in window coordinates, logical units, origin top left."""


@dataclass(slots=True)
class NewLane:
    """The comparison lane that the lanes panel is about to add."""

    integrator: str = "rk4"
    step_s: float = 0.005


@dataclass(slots=True)
class Resimulation:
    """What the takes panel is about to resimulate with."""

    integrator: str = "rk4"
    step_s: float = 0.02
    parameter: str = ""
    """That is to differ; empty: none."""
    value: float = 0.0


@dataclass(slots=True)
class PlanChoices:
    """What is open in the planning panel, and the wind that the next flight of a plan meets."""

    page: str = "task"
    wind_mps: float = 0.0
    wind_deg: float = 90.0
    """Where it blows to, counter-clockwise from the world's x."""

    @property
    def wind_w(self) -> tuple[float, float]:
        """World x and y [m/s]."""
        bearing = math.radians(self.wind_deg)
        return self.wind_mps * math.cos(bearing), self.wind_mps * math.sin(bearing)


@dataclass(slots=True)
class PanelContext:
    """Owned by the shell; panels read it and change only what they edit."""

    catalogue: Catalogue
    fonts: Fonts
    view: ViewSettings
    qualities: tuple[str, ...]
    scale: float = 1.0
    """The user's interface scale."""
    parameters: dict[str, Value] = field(default_factory=dict)
    """Known parameter values of the flown vehicle; edited by the vehicle panel."""
    flying: str = ""
    """Name of the vehicle that is flown in the present, whatever is shown; empty until it is known."""
    keymap: Keymap = field(default_factory=lambda: keymap_of(""))
    """The keys while the present vehicle is flown."""
    pilot: PilotInput = field(default_factory=PilotInput)
    """Where the sticks are, for show."""
    day: Day = field(default_factory=lambda: Day.of(Sun()))
    """That the scene's own light belongs to."""
    bookmarks: tuple[Bookmark, ...] = ()
    """Of this scene."""
    hour: float | None = None
    """Of that day, while its slider is held."""
    pace: Pace = field(default_factory=Pace)
    """How the frames do."""
    controls: ControlView = field(default_factory=ControlView)
    """Controllers, and what is being assigned."""
    controls_page: str = "sticks"
    """Open in the controls panel."""
    shown_axis: str = ""
    """Whose response is open there."""
    vehicle: str = ""
    """That is flown, by its registry name."""
    histories: dict[str, History] = field(default_factory=dict)
    """By lane name, of what is shown: the present flight, or a take that is open."""
    flights: tuple[History, ...] = ()
    """Of the flown lane before it began anew or went on from an earlier moment, the latest last."""
    plot_window: PlotWindow = field(default_factory=PlotWindow)
    """Which part of time the plots show, and what is marked in it."""
    plotted: dict[str, tuple[str, ...]] = field(default_factory=dict)
    """By vehicle: the channels that the user has chosen to see; the others have those of their config."""
    plan: PlanView | None = None
    """What there is to plan; None where the scene has no task."""
    edits: Edits = field(default_factory=Edits)
    """What can be undone."""
    outlines: PlanOutlines | None = None
    """Of the world, for the map; None where there is nothing to find one's way by."""
    goals: Progress | None = None
    """What is to be done; None where the scene has no goals."""
    onward: str = ""
    """Name of the scene that follows once all is done."""
    planning: PlanChoices = field(default_factory=PlanChoices)
    new_lane: NewLane = field(default_factory=NewLane)
    takes: TakesView = field(default_factory=TakesView)
    """What there is of takes."""
    sharing: SharingView = field(default_factory=SharingView)
    """What is being exported and filmed."""
    export_format: str = ".glb"
    """Chosen in the takes panel."""
    export_ground: bool = False
    export_camera: str = ""
    export_blur: int = 1
    """Likewise: whether the ground goes along into a scene."""
    fit: FitView = field(default_factory=FitView)
    """What has come of fitting parameters to a take."""
    fitted: frozenset[str] = frozenset(("mass",))
    """Names of the parameters that are to be found, chosen in the takes panel."""
    resimulation: Resimulation = field(default_factory=Resimulation)
    question: TrustQuestion | None = None
    """What has to be answered before anything else."""
    take_path: str = ""
    """Typed into the takes panel."""
    scene_search: str = ""
    """Typed into the gallery of scenes."""
    last_scenes: tuple[str, ...] = ()
    """Names, the last one first."""
    recent_files: tuple[str, ...] = ()
    """Paths that were opened, the last one first."""
    thumbnail: Callable[[str], int | None] = lambda scene: None
    """Number of the texture with a scene's small picture; None where there is none."""
    open_path: str = ""
    """Typed into the scene panel."""
    rects: dict[str, Rect] = field(default_factory=dict)
    """Named widgets of this frame, for tests and guided tours."""
    scene_rect: Rect = (0.0, 0.0, 0.0, 0.0)
    """The part of the window that shows the scene."""

    def px(self, length: float) -> float:
        """A length at scale 1, at the user's scale."""
        return length * self.scale
