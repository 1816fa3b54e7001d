"""What panels see of takes, of exports and videos under way, and of a fit of parameters."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from sim.recordings import Take
from sim.vehicles.forms.parameters import Value

if TYPE_CHECKING:
    from sim.analysis.shooting import Identified


@dataclass(frozen=True, slots=True)
class StoredTake:
    """A file."""

    path: Path
    doc: str
    """Vehicle, method, date."""


@dataclass(frozen=True, slots=True)
class TakesView:
    """Immutable; replaced as a whole."""

    folder: Path | None = None
    stored: tuple[StoredTake, ...] = ()
    """The latest first."""
    autosaved: tuple[StoredTake, ...] = ()
    """Were flown before the window was closed last, and not saved by hand; the latest first."""
    unsaved: tuple[Take, ...] = ()
    """Flights that have begun anew, and are in no file; the latest first."""
    saving: bool = False


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


BEFORE, AFTER = "before the fit", "after the fit"
"""Names of the ghosts that fly the take's inputs with the guess, and with what was found."""


@dataclass(frozen=True, slots=True, eq=False)
class FitView:
    """Immutable; replaced as a whole."""

    guess: Mapping[str, Value] = field(default_factory=dict)
    """Where the search began: the present parameters."""
    running: bool = False
    iteration: int = 0
    values: Mapping[str, Value] = field(default_factory=dict)
    """Of the unknown parameters, so far."""
    found: "Identified | None" = None
    span_s: tuple[float, float] = (0.0, 0.0)
    """The part of the take that was fitted to."""
