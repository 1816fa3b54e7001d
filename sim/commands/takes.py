"""What has been recorded: looking back at it, going on from it, handing it out."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from concurrent.futures import Future

    from sim.take import Take


@dataclass(frozen=True, slots=True)
class Scrub:
    """Pause and show the recording at a moment [s of simulated time]; what is simulated waits."""

    time_s: float


@dataclass(frozen=True, slots=True)
class BackToNow:
    """Show the present again; it stays paused."""


@dataclass(frozen=True, slots=True)
class Retake:
    """Go on from the moment that is shown: all lanes are put back to it, to the bit."""

    paused: bool = True
    """Wait there; else time goes on at once."""


@dataclass(frozen=True, slots=True, eq=False)
class PlayTake:
    """Show a take instead of the present, from its beginning."""

    take: "Take"
    paused: bool = False


@dataclass(frozen=True, slots=True)
class Resimulate:
    """The inputs of what is shown under another method, as a ghost beside it."""

    integrator: str = ""
    """Empty: its own."""
    step_s: float | None = None
    """None: its own."""
    parameters: tuple[tuple[str, float | tuple[float, ...]], ...] = ()
    """(name, value) of those that differ."""
    name: str = ""
    """Of the ghost; empty: it is named after what differs."""


@dataclass(frozen=True, slots=True, eq=False)
class KeepTake:
    """Hand out what is recorded of a lane, or of what is shown."""

    reply: "Future[Take]"
    """Gets the take, or an InputError."""
    lane: str = ""
    """Empty: the flown one."""
