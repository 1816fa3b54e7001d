"""What the takes panel sees of recordings: those in files, and flights that are in none yet."""

from dataclasses import dataclass
from pathlib import Path

from sim.recordings import Take
from ui.window.requests import Action


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


@dataclass(frozen=True, slots=True)
class OpenTake(Action):
    """Read a take and show it, in its scene."""

    path: str
