"""What panels see of takes, of exports and videos under way, and of a fit of parameters."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ui.window.requests import Action

if TYPE_CHECKING:
    pass

FORMATS = {
    ".glb": "glTF: models that move, for Blender and game engines",
    ".usdc": "USD: the same for film and robotics tools",
    ".csv": "A table: places, velocities, controls, observables",
    ".npz": "The same as arrays for numpy",
    ".mp4": "A video drawn anew: any camera, motion blur",
}
VIDEO = ".mp4"
BLURS = {1: "none", 4: "4 sub-frames", 8: "8 sub-frames", 16: "16 sub-frames"}
"""Pictures that are averaged into one of a video."""
SCENES = (".glb", ".usdc")
"""Of these, those that can hold a ground."""


@dataclass(frozen=True, slots=True)
class FilmView:
    """A video that is being recorded."""

    seconds: float
    share: float | None
    """Of the take that is played; None where there is no end to it."""


@dataclass(frozen=True, slots=True)
class SharingView:
    """Immutable; replaced as a whole."""

    exporting: bool = False
    drawn: float | None = None
    """Share of a video that is being drawn."""
    film: FilmView | None = None


@dataclass(frozen=True, slots=True)
class ExportShown(Action):
    """Write what is recorded of all lanes, or shown of it, for other programs."""

    ending: str
    """Of `ui.features.sharing.view.FORMATS`."""
    ground: bool = False
    """Whether the ground about the ways goes along, into a scene."""
    camera: str = ""
    """Of a video; empty: the scene's own."""
    subframes: int = 1
    """Of a video: pictures that are averaged into each one."""


@dataclass(frozen=True, slots=True)
class CancelExport(Action):
    """Give up the video that is being drawn."""


@dataclass(frozen=True, slots=True)
class RecordVideo(Action):
    """Begin a video of what is seen."""


@dataclass(frozen=True, slots=True)
class StopVideo(Action):
    """End it."""

    keep: bool
