"""How the scene is looked at, and where the user's settings live: the layout of the panels, the size of the
interface."""

import json
import logging
import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, field, replace
from functools import cache
from pathlib import Path
from typing import Any, Generic, TypeVar

from render.quality import PRESETS
from sim.platform.errors import InputError
from sim.platform.replacing import replacing
from sim.platform.user_files import as_type, config_folder, json_value, read_text, refusals, require_finite
from sim.platform.values import dataclass
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


LEAST_SCALE, LARGEST_SCALE = 0.5, 3.0
VARIABLE = "HOLONOMY_CONFIG"
AHEAD = "HOLONOMY_AHEAD"
_log = logging.getLogger("holonomy")


def config_dir() -> Path:
    """The user's configuration folder, created on demand. `$HOLONOMY_CONFIG` overrides the platform's.

    Where the platform's cannot be made, a temporary one serves this run, and the terminal is told. Raises InputError
    where the one that the variable names cannot be made.
    """
    try:
        return config_folder()
    except InputError as error:
        if os.environ.get(VARIABLE):
            raise
        return _of_this_run(str(error))


def exports_folder() -> Path:
    """Where a window puts what it writes for others: exports, pictures, tables. Need not be there yet."""
    return config_dir() / "exports"


def scenes_folder() -> Path:
    """Where scenes are saved that come from no file of the user's. Need not be there yet."""
    return config_dir() / "scenes"


@cache
def _of_this_run(reason: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="holonomy-"))
    _log.warning("holonomy: %s; settings, takes and plans of this run are in %s", reason, folder)
    return folder


def prepares_ahead() -> bool:
    """Whether kernels are compiled before they are asked for: unless `$HOLONOMY_AHEAD` is 0."""
    return os.environ.get(AHEAD) != "0"


def read_scale(folder: Path) -> float:
    """Interface scale of the last session; 1 where it was never set.

    A file that is damaged gets the ending `.damaged`, and it is 1.
    """
    path = folder / "interface.json"
    if not path.exists():
        return 1.0
    try:
        with refusals(path, "no settings"):
            scale = as_type(as_type(json_value(read_text(path)), dict[str, Any])["scale"], float)
            if not LEAST_SCALE <= scale <= LARGEST_SCALE:
                raise InputError(f"scale = {scale:g}; allowed: {LEAST_SCALE:g} to {LARGEST_SCALE:g}")
    except InputError:
        set_aside(path)
        return 1.0
    return scale


def set_aside(path: Path) -> None:
    """Give a damaged file the ending `.damaged`, where that can be."""
    with suppress(OSError):
        path.replace(path.with_name(f"{path.name}.damaged"))


def write_scale(folder: Path, scale: float) -> None:
    """Remember the interface scale; a folder that cannot be written costs only the memory."""
    with suppress(OSError), replacing(folder / "interface.json") as draft:
        draft.write_text(json.dumps({"scale": scale}))


Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class KeptFile(Generic[Kept]):
    """Where a dataclass is kept from one session to the next, in the folder of settings."""

    name: str
    kind: type[Kept]
    what: str
    """Of which there is none where a file is damaged: "settings"."""
    check: Callable[[Kept], None]
    """Raises InputError for what cannot be."""

    def read(self, folder: Path) -> Kept:
        """Its defaults where there is none; a file that is damaged or refused gets the ending `.damaged`."""
        path = folder / self.name
        if not path.exists():
            return self.kind()
        try:
            with refusals(path, f"no {self.what}"):
                value = json_value(read_text(path))
                require_finite(value)
                kept = as_type(value, self.kind)
                self.check(kept)
        except InputError:
            set_aside(path)
            return self.kind()
        return kept

    def write(self, folder: Path, kept: Any) -> None:
        """A folder that cannot be written costs only the memory."""
        with suppress(OSError), replacing(folder / self.name, lasting=False) as draft:
            draft.write_text(json.dumps(asdict(kept), indent=1), encoding="utf-8")


VERSION = 1
MOST_SCENES, MOST_FILES = 60, 12
_LONGEST = 1024
"""Of a path."""
_PLOT_S = (1.0, 3600.0)


@dataclass(frozen=True, slots=True)
class ViewChoices:
    """Of `ViewSettings`, what is the user's and no scene's."""

    trail: bool = True
    arrows: bool = False
    axes: bool = False
    inertia: bool = False
    minimap: bool = True
    goals: bool = True
    exposure: float = 1.0
    plot_s: float = 20.0
    sound: bool = True
    volume: float = 0.6
    units: str = SI
    sharp: bool = False


@dataclass(frozen=True, slots=True)
class Remembered:
    """All of it."""

    version: int = VERSION
    look: ViewChoices = field(default_factory=ViewChoices)
    panels: bool = True
    plots: bool = True
    quality: str = ""
    """That the user has chosen; empty: what suits the machine."""
    cameras: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By scene (its own camera, the one that the user has chosen instead)."""
    scenes: tuple[str, ...] = ()
    """Names, the last one first."""
    files: tuple[str, ...] = ()
    """Paths that were opened, the last one first."""

    def view(self, quality: str) -> ViewSettings:
        """To begin with."""
        return ViewSettings(quality=quality, **asdict(self.look))

    def looked_at(self, view: ViewSettings) -> "Remembered":
        """With the user's look."""
        return replace(
            self, look=ViewChoices(**{name: getattr(view, name) for name in ViewChoices.__slots__})
        )

    def opened_scene(self, name: str) -> "Remembered":
        """It is the last one now."""
        return replace(self, scenes=_first(name, self.scenes, MOST_SCENES))

    def opened_file(self, path: str) -> "Remembered":
        """It is the last one now."""
        return replace(self, files=_first(path, self.files, MOST_FILES))

    def camera_of(self, scene: str, own: str) -> str:
        """The user's in that scene, else the scene's own."""
        before, chosen = self.cameras.get(scene, (own, own))
        return chosen if before == own else own  # another one was asked for at the start

    def with_camera(self, scene: str, camera: str, own: str) -> "Remembered":
        """What is the scene's own needs no memory."""
        others = {name: kind for name, kind in self.cameras.items() if name != scene}
        return replace(self, cameras=others if camera == own else {**others, scene: (own, camera)})


def _first(name: str, names: tuple[str, ...], most: int) -> tuple[str, ...]:
    return (name, *(other for other in names if other != name))[:most]


def _check(kept: Remembered) -> None:
    look = kept.look
    _within("version", kept.version, (VERSION, VERSION))
    _within("exposure", look.exposure, EXPOSURE_RANGE)
    _within("plot_s", look.plot_s, _PLOT_S)
    _within("volume", look.volume, (0.0, 1.0))
    if look.units not in UNITS:
        raise InputError("unknown units")
    if kept.quality not in ("", *PRESETS):
        raise InputError("an unknown quality")
    if not {kind for pair in kept.cameras.values() for kind in pair} <= set(CAMERAS):
        raise InputError("an unknown camera")
    _within("scenes", len(kept.scenes), (0, MOST_SCENES))
    _within("cameras", len(kept.cameras), (0, MOST_SCENES))
    _within("files", len(kept.files), (0, MOST_FILES))
    for name in (*kept.scenes, *kept.files, *kept.cameras):
        if len(name) > _LONGEST or not name.isprintable():
            raise InputError("a name that cannot be shown")


MEMORY = KeptFile("settings.json", Remembered, "settings", _check)
"""What is remembered of the last session."""


def _within(name: str, value: float, span: tuple[float, float]) -> None:
    if not span[0] <= value <= span[1]:
        raise InputError(f"{name} = {value:g}; allowed: {span[0]:g} to {span[1]:g}")
