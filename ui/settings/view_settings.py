"""How the scene is looked at: state of the user interface, of no concern to the simulation."""

from dataclasses import dataclass, replace

from sim.scene import CAMERAS, Scene

SI, AIR = "SI", "kt, ft"
UNITS = (SI, AIR)
_IN_AIR = {"m/s": (1.0 / 0.514444, "kt"), "km/h": (1.0 / 1.852, "kt"), "m": (1.0 / 0.3048, "ft")}


def read(value: float, unit: str, units: str) -> tuple[float, str]:
    """A value in `unit` as it is read: (number, unit). What has no other unit in the air stays as it is."""
    factor, other = _IN_AIR.get(unit, (1.0, unit)) if units == AIR else (1.0, unit)
    return value * factor, other


def distance(metres: float, units: str) -> str:
    """'120 m' or '394 ft'."""
    value, unit = read(metres, "m", units)
    return f"{value:.0f} {unit}"


CAMERA_KINDS = CAMERAS
EXPOSURE_RANGE = (0.25, 4.0)


@dataclass(frozen=True, slots=True)
class ViewSettings:
    """Read by the app every frame, changed by keys and panels."""

    camera: str = "chase"
    trail: bool = True
    arrows: bool = False
    """Forces and torques as arrows."""
    axes: bool = False
    """Body frames as coloured axes."""
    inertia: bool = False
    """Centres of mass, and the ellipsoids of inertia."""
    joints: bool = False
    """Axes of hinges and slides."""
    contacts: bool = False
    """What of the vehicle touches the ground."""
    chosen: str = ""
    """Body of the flown vehicle that is looked into; empty: none."""
    hud: bool = True
    minimap: bool = True
    goals: bool = True
    """What is to be done, and where."""
    quality: str = "high"
    sharp: bool = False
    """Where there is too little time: fewer pictures a second, rather than less sharp ones."""
    exposure: float = 1.0
    """Relative to the scene's own."""
    hour: float | None = None
    """Of the day, by the sun; None: the scene's own light."""
    views: int = 1
    """1: all lanes in one picture; 2 to 4: linked pictures, one for each of the first lanes."""
    spread_m: float = 0.0
    """Lanes are drawn this far apart in the one picture."""
    solo: str = ""
    """Name of the only lane that is drawn; empty: all."""
    caption: bool = True
    """What the scene shows, in words over it."""
    plot_s: float = 20.0
    """How far back the plots look, in simulated time."""
    sound: bool = True
    volume: float = 0.6
    """0..1."""
    eye: tuple[float, float, float, float, float] | None = None
    """Where the free camera was last put: x, y, z [m], bearing and pitch [rad]."""
    eyes: int = 0
    """How often it was."""
    units: str = SI
    """Of speeds, heights and distances that a pilot reads: one of `ui.settings.view_settings.UNITS`."""
    framings: int = 0
    """How often the overview was asked to frame everything anew."""

    @property
    def loudness(self) -> float:
        """0..1, by which samples are multiplied: the ear hears powers of them."""
        return self.volume**2 if self.sound else 0.0


def overlooking(view: ViewSettings) -> ViewSettings:
    """The overview, framed anew where it is in use already."""
    return replace(view, camera="overview", framings=view.framings + 1)


def opened(view: ViewSettings, scene: Scene) -> ViewSettings:
    """The settings with which a scene opens: its own camera and arrangement of lanes, the user's picture."""
    told = bool(scene.comparison.caption)
    return replace(
        view,
        camera=scene.camera,
        views=scene.comparison.views,
        spread_m=scene.comparison.spread_m,
        solo="",
        chosen="",
        caption=True,
        hour=None,
        hud=not told,
        trail=view.trail,
    )
