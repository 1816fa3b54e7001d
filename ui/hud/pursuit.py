"""While plans fly that are made anew: how many a second, how old the one is that is flown, and what becomes of it."""

from sim.snapshot import PursuitPicture, Snapshot
from ui import theme
from ui.hud import plate
from ui.panels.context import PanelContext


def draw(snapshot: Snapshot, context: PanelContext) -> None:
    """Nothing where none fly, and while the past is shown."""
    if snapshot.pursuit is not None:
        plate.draw("hud/pursuit", told(snapshot.pursuit), colour(snapshot.pursuit), context)


def colour(seen: PursuitPicture) -> theme.Colour:
    return {"flying": theme.GOOD, "preparing": theme.ACCENT_BRIGHT}.get(seen.phase, theme.WARNING)


def told(seen: PursuitPicture) -> list[tuple[str, bool]]:
    """(line, whether it is the heading)."""
    late = f"; {seen.late} late" if seen.late else ""
    failed = f"; {seen.failed} not found" if seen.failed else ""
    figures = (
        f"{seen.solves_per_s:.0f} plans/s of {1e3 * seen.solve_s:.0f} ms, "
        f"{1e3 * seen.age_s:.0f} ms old{late}{failed}"
    )
    why = [(seen.told, False)] if seen.told else []
    match seen.phase:
        case "preparing":
            return [("Pilot: Plan. Making the planner ready, you fly", True), *why]
        case "flying":
            return [("Pilot: Plan. Click where to go, or drag the goal", True), (figures, False)]
        case "late":
            return [(f"Pilot: Plan. Late: the last one is tracked, {seen.age_s:.1f} s old", True), *why]
    return [("Pilot: Plan. No plan: stopped, and held here", True), *why]
