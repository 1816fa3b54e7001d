"""Over a moment of a recording: how long ago it was, and what flies on from it."""

from sim.snapshot import Snapshot
from ui import theme
from ui.hud import plate
from ui.panels.context import PanelContext
from ui.timeline import in_past, shown_s


def draw(snapshot: Snapshot, context: PanelContext) -> None:
    """Nothing in the present."""
    if snapshot.look_back is None:
        return
    plate.draw("past", told(snapshot, context), theme.WARNING, context)


def told(snapshot: Snapshot, context: PanelContext) -> list[tuple[str, bool]]:
    """(line, whether it is the heading)."""
    look, keys = snapshot.look_back, context.keymap
    assert look is not None
    _, end_s, at_s = shown_s(snapshot)
    retake, now, pause = keys.first("retake"), keys.first("now"), keys.first("pause")
    if not in_past(snapshot):
        return [
            (f"Recording: {look.opened}", True),
            (f"{pause} plays, {retake} flies on from here, {now}: the present", False),
        ]
    playing = "" if snapshot.paused else ", playing"
    return [
        (f"Past: {end_s - at_s:.1f} s ago{playing}", True),
        (f"Any control or {retake} flies on from here, {now}: the present", False),
    ]
