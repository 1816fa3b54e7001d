"""Looking back: what lanes remember, and what is shown of it instead of the present."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import sim
from sim.recordings import Take
from sim.recordings.take import now
from sim.simulation.kernels import KernelStore
from sim.simulation.lane import Lane
from sim.simulation.recording import Recording
from sim.simulation.replay import Replay
from sim.snapshot import LaneSnapshot, LookBack
from sim.world import World

MOST_FORMER = 6
"""Recordings that are kept after something has begun anew."""
WORTH_S = 1.0
"""A shorter one is not kept."""


class Rewind:
    """Belongs to a stage. While there is a replay, the stage stands still."""

    def __init__(self, scene: str, world: World, kernels: KernelStore, lanes: Sequence[Lane]) -> None:
        self._scene, self._world, self._kernels, self._lanes = scene, world, kernels, lanes
        self.replay: Replay | None = None
        self.former: tuple[Take, ...] = ()
        """What had been recorded before the flight began anew, the latest last."""
        self._generation = 0

    def recorded(self, name: str = "") -> Take:
        """What is remembered of a lane; empty for the flown one. InputError where there is nothing yet."""
        lane = next((lane for lane in self._lanes if name in ("", lane.look.name)), None)
        take = None if lane is None else self._take(lane)
        if take is None:
            raise sim.InputError("nothing has been recorded yet")
        return take

    def put_away(self) -> None:
        """Keep what the flown lane remembers: it begins anew."""
        flown = self._lanes[0]
        take, flown.recording = self._take(flown), Recording()
        if take is not None and take.duration_s >= WORTH_S:
            self.former = (*self.former, take)[-MOST_FORMER:]

    def look_back(self, time_s: float) -> None:
        """Show the present flight at a moment; what is shown already is shown at that one."""
        if self.replay is None:
            self.recorded()
            takes = [(lane.look, self._take(lane)) for lane in self._lanes]
            self._show(Replay(tuple((look, t) for look, t in takes if t), self._world, self._kernels))
        assert self.replay is not None
        self.replay.seek(time_s)

    def play(self, take: Take) -> None:
        """Show another take from its beginning."""
        look = self._lanes[0].look
        self._show(Replay(((look, take),), self._world, self._kernels, opened=take.name))

    def leave(self) -> None:
        """Back to the present."""
        self.replay = None

    @contextmanager
    def kept_at_failure(self) -> Iterator[None]:
        """Within, an exception leaves what is shown as it was."""
        shown = self.replay
        try:
            yield
        except BaseException:
            self.replay = shown
            raise

    def pictures(self, span_s: float) -> tuple[LaneSnapshot, ...]:
        """Of what is shown instead of the present, and `span_s` before."""
        return () if self.replay is None else self.replay.pictures(self._generation, span_s)

    @property
    def view(self) -> LookBack | None:
        """What the user is to know of it."""
        r = self.replay
        return None if r is None else LookBack(r.opened, r.begin_s, r.end_s, r.time_s)

    @property
    def span_s(self) -> tuple[float, float]:
        """From when to when the present flight is remembered."""
        flown = self._lanes[0]
        begin_s = flown.recording.begin_s
        return (flown.time_s if begin_s is None else begin_s), flown.time_s

    def _show(self, replay: Replay) -> None:
        self._generation -= 1
        self.replay = replay

    def _take(self, lane: Lane) -> Take | None:
        legs, verdict = lane.recording.legs(lane.time_s), lane.verdict
        if not legs:
            return None
        take = Take(
            name=self._scene, legs=legs, scene=self._scene, world=self._world.name, seed=self._world.seed
        )
        return take.finished(now(), verdict.status, verdict.text) if verdict else take.finished(now())
