"""Undo and redo over immutable setups: each point is a whole setup, a step leads from one to another."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sim.commands import Command
from sim.planner.service.requests import PlanRequest
from sim.planner.service.view import PlanView
from sim.snapshot import Snapshot
from ui.edits.setup import Setup, leading, named, setup_of

REST_S = 0.3
"""A setup that has stood still for so long, with no button down, is a point."""
PATIENCE_S = 8.0
"""So long what a step asked for may take to come about, where something is compiled for it."""
MOST = 100


@dataclass(frozen=True, slots=True)
class Point:
    """A setup, and what led to it."""

    setup: Setup
    name: str = "start"


class Edits:
    """Is shown the present once a frame; times are wall seconds."""

    def __init__(self) -> None:
        self._points: list[Point] = []
        self._at = 0
        self._last: Setup | None = None
        self._since_s = 0.0
        self._flew = False
        """A plan was flown when it was shown the present last."""
        self._awaited_until_s: float | None = None
        """While what was gone back to has still to come about."""

    @property
    def names(self) -> Sequence[str]:
        """Of all points, the oldest first; the first is where it began."""
        return [point.name for point in self._points]

    @property
    def at(self) -> int:
        """Index of the present point."""
        return self._at

    def observe(self, snapshot: Snapshot, plan: PlanView | None, now_s: float, *, busy: bool) -> None:
        """Take note of the present; `busy`: a button is down or a text is typed, so that nothing is over yet.

        What a recording shows and what a plan in flight brings along is no edit.
        """
        now = setup_of(snapshot, plan)
        if not self._points:
            self._points, self._last = [Point(now)], now
            return
        if snapshot.waiting and self._awaited_until_s is not None:
            self._awaited_until_s = now_s + PATIENCE_S
        if snapshot.look_back is not None or snapshot.plan_flies:
            known = self._last or self._present
            now = replace(known, task=now.task, method=now.method)
        elif self._flew:
            self._points[self._at] = replace(
                self._points[self._at],
                setup=replace(now, task=self._present.task, method=self._present.method),
            )
        self._flew = snapshot.plan_flies
        if self._last is None or not now.same(self._last):
            self._last, self._since_s = now, now_s
        self._settle(now, now_s, busy=busy)

    def stepped(self, by: int, now_s: float) -> tuple[list[Command | PlanRequest], str]:
        """As `step`, and what to tell of it."""
        at = self.at
        asked = self.step(by, now_s)
        low, high = sorted((at, self.at))
        if low == high:
            return asked, f"Nothing to {'undo' if by < 0 else 'do again'}"
        return asked, f"{'Undone' if by < 0 else 'Done again'}: {'; '.join(self.names[low + 1 : high + 1])}"

    def step(self, by: int, now_s: float) -> list[Command | PlanRequest]:
        """What has to be asked for to go so many points on (or back); nothing where there are none."""
        if not self._points:
            return []
        if self._awaited_until_s is None and self._last is not None and not self._last.same(self._present):
            self._add(self._last)
        to = min(max(self._at + by, 0), len(self._points) - 1)
        asked = leading(self._present, self._points[to].setup)
        if to != self._at:
            self._at, self._awaited_until_s = to, now_s + PATIENCE_S
        return asked

    def step_name(self, by: int) -> str:
        """What a step of one on or back would redo or undo; empty where there is none."""
        index = self._at if by < 0 else self._at + 1
        return self._points[index].name if 0 < index < len(self._points) else ""

    @property
    def _present(self) -> Setup:
        return self._points[self._at].setup

    def _settle(self, now: Setup, now_s: float, *, busy: bool) -> None:
        if now.same(self._present):
            self._awaited_until_s = None
            return
        if self._awaited_until_s is not None and now_s < self._awaited_until_s:
            return
        self._awaited_until_s = None
        if not busy and now_s - self._since_s >= REST_S:
            self._add(now)

    def _add(self, setup: Setup) -> None:
        point = Point(setup, named(self._present, setup))
        self._points = [*self._points[: self._at + 1], point][-MOST:]
        self._at = len(self._points) - 1
