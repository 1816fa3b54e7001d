"""What the line of a recording spans, and where one gets on it. Pure."""

from sim.commands import BackToNow, Retake, Scrub, SetPaused
from sim.snapshot import Snapshot

JUMP_S = 1.0
"""Of the keys and of the buttons beside the line."""
FLY_ON = Retake(paused=False)


def shown_s(snapshot: Snapshot) -> tuple[float, float, float]:
    """(begin, end, moment that is shown) of the line [s]."""
    look = snapshot.look_back
    if look is not None:
        return look.begin_s, look.end_s, look.time_s
    begin_s, end_s = snapshot.recorded_s
    return begin_s, end_s, end_s


def is_recorded(snapshot: Snapshot) -> bool:
    """Whether there is anything to look back at."""
    begin_s, end_s, _ = shown_s(snapshot)
    return end_s > begin_s


def in_past(snapshot: Snapshot) -> bool:
    """Whether an earlier moment of the present flight is shown, from which whatever is steered flies on."""
    return snapshot.look_back is not None and not snapshot.look_back.opened


def played_or_paused(snapshot: Snapshot) -> SetPaused | Retake:
    """Time stands still, or goes on: in the past of the present flight by flying on from there."""
    return FLY_ON if snapshot.paused and in_past(snapshot) else SetPaused(not snapshot.paused)


def jumped(snapshot: Snapshot, seconds: float) -> Scrub | BackToNow | None:
    """So far back or on along the line; on from its end is the present."""
    begin_s, end_s, at_s = shown_s(snapshot)
    look = snapshot.look_back
    if seconds > 0.0 and (look is None or at_s >= end_s):
        return BackToNow() if look is not None and not look.opened else None
    return Scrub(min(max(at_s + seconds, begin_s), end_s)) if is_recorded(snapshot) else None
