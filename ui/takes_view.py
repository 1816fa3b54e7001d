"""What there is of takes, as the panels show it."""

from dataclasses import dataclass
from pathlib import Path

from sim.recordings import Take


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
