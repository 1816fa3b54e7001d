"""What is recorded, as features know it: takes, moments that are marked, and what is asked of them."""

from collections.abc import Iterable
from dataclasses import field, replace
from pathlib import Path

from sim.planner.result.record import PlanRecord
from sim.platform.values import dataclass
from sim.recordings import Take
from sim.simulation.lanes.snapshot import LaneStatus, Snapshot
from ui.settings.view_settings import ViewSettings
from ui.window import theme
from ui.window.context import Action


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


WHOLE_S = 0.0
"""How far back the plots look, where it is the whole recording."""


LEAST_S, MOST_S = 0.2, 600.0
ZOOM = 1.25
"""A click of the wheel."""
MARKS = {"stop": theme.DANGER, "goal": theme.GOOD, "gate": theme.ACCENT_BRIGHT, "user": theme.INK}
"""Colour of a mark of each kind."""


@dataclass(frozen=True, slots=True)
class FlightMark:
    """A moment of the flight that is found again."""

    time_s: float
    text: str
    kind: str = "user"
    """`stop`, `goal`, `gate` or `user`."""


@dataclass(slots=True)
class PlotWindow:
    """Where the plots look, and the marks; belongs to the panels."""

    end_s: float | None = None
    """Latest moment that is shown; None: they follow the flight."""
    held: str = ""
    """The plot in which the mouse draws the playhead."""
    marks: list[FlightMark] = field(default_factory=list)
    hovered: tuple[float, int] = (0.0, -2)
    """Moment [s] under the mouse in one of the plots, and the frame in which it was there."""

    def hovered_s(self, frame: int) -> float | None:
        """The moment that all plots and the view show in this frame; None while the mouse is elsewhere."""
        time_s, seen = self.hovered
        return time_s if frame - seen <= 1 else None

    def span(self, begin_s: float, latest_s: float, looks_s: float) -> tuple[float, float]:
        """(from, to) [s] for a recording from `begin_s` to `latest_s`."""
        if looks_s == WHOLE_S and self.end_s is None:
            return begin_s, max(latest_s, begin_s + LEAST_S)
        looks_s = looks_s or max(latest_s - begin_s, LEAST_S)
        end_s = max(latest_s, looks_s) if self.end_s is None else self.end_s
        return end_s - looks_s, end_s

    def zoomed(
        self, view: ViewSettings, shown: tuple[float, float], at_s: float, clicks: float, latest_s: float
    ) -> ViewSettings:
        """By so many clicks of the wheel about a moment, which stays where it is."""
        start_s, end_s = shown
        looks_s = min(max((end_s - start_s) * ZOOM**-clicks, LEAST_S), MOST_S)
        share = (at_s - start_s) / (end_s - start_s)
        end_s = at_s + (1.0 - share) * looks_s
        self.end_s = None if end_s >= latest_s else end_s
        return replace(view, plot_s=looks_s)

    def panned(self, shown: tuple[float, float], by_s: float, latest_s: float) -> None:
        """To earlier moments (negative) or later ones; at the latest they follow the flight again."""
        end_s = shown[1] + by_s
        self.end_s = None if end_s >= latest_s else end_s

    def follow(self) -> None:
        """The flight again."""
        self.end_s = None

    def mark(self, time_s: float, text: str, kind: str = "user") -> None:
        """One more; the same one at the same time counts once."""
        if not any((m.text, m.kind) == (text, kind) and abs(m.time_s - time_s) < 1e-6 for m in self.marks):
            self.marks.append(FlightMark(time_s, text, kind))

    def forget_after(self, time_s: float) -> None:
        """What came after a moment from which the flight has gone on another way."""
        self.marks = [mark for mark in self.marks if mark.time_s <= time_s]


def within(marks: Iterable[FlightMark], start_s: float, end_s: float) -> list[FlightMark]:
    return [mark for mark in marks if start_s <= mark.time_s <= end_s]


def stop_of(snapshot: Snapshot) -> FlightMark | None:
    """How the flown lane has ended, if it has."""
    lane = snapshot.lanes[0]
    if lane.status is LaneStatus.RUNNING:
        return None
    return FlightMark(lane.time_current_s, lane.status_text or lane.status.value, "stop")


@dataclass(frozen=True, slots=True, eq=False)
class SaveTake(Action):
    """Write a take into the user's folder, under a name that is not taken."""

    take: Take | None = None
    """None: what is recorded now, or shown of it."""


@dataclass(frozen=True, slots=True)
class OpenTake(Action):
    """Read a take and show it, in its scene."""

    path: str


@dataclass(frozen=True, slots=True, eq=False)
class ShowTake(Action):
    """Show a take in its scene, which may have to be opened first."""

    take: Take


@dataclass(frozen=True, slots=True, eq=False)
class ExportPlan(Action):
    """Write a plan as a take into the user's folder."""

    plan: PlanRecord
