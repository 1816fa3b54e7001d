"""Fits of parameters to takes, beside the frames of a window."""

import threading
from collections.abc import Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from sim.commands import KeepTake, RemoveLane, Resimulate, Scrub
from sim.platform.errors import InputError
from sim.platform.processes import GivenUp
from sim.recordings import Take
from sim.simulation import Simulation
from sim.vehicles.forms.parameters import Value
from ui.desktop.takes import News
from ui.requests import FitTake
from ui.takes_view import AFTER, BEFORE, FitView

if TYPE_CHECKING:
    from sim.analysis.measured_flight import Recording
    from sim.analysis.shooting import Identified


@dataclass(slots=True, eq=False)
class _Asked:
    """One fit."""

    request: FitTake
    title: str
    """Of the take that was shown when it was asked for."""
    reply: Future[Take]
    given_up: threading.Event
    outcome: "Future[tuple[Recording, Identified]] | None" = None
    heard: tuple[int, Mapping[str, Value]] = (0, MappingProxyType({}))
    """The latest iteration, and the values until then."""


class Fitting:
    """Lives as long as the window. One fit at a time; it has a process of its own."""

    def __init__(self) -> None:
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="fits")
        self._asked: _Asked | None = None
        self._view = FitView()

    @property
    def view(self) -> FitView:
        """For the panels."""
        if self._asked is None:
            return self._view
        iteration, values = self._asked.heard
        return FitView(guess=self._asked.request.guess, running=True, iteration=iteration, values=values)

    def begin(self, request: FitTake, simulation: Simulation) -> None:
        """Look at the take, and begin to fit to it."""
        self.cancel()
        snapshot = simulation.snapshot
        if snapshot.look_back is None:
            simulation.submit(Scrub(snapshot.recorded_s[1]))
        reply: Future[Take] = Future()
        simulation.submit(KeepTake(reply))
        title = snapshot.look_back.opened if snapshot.look_back is not None else ""
        self._asked = _Asked(request, title, reply, threading.Event())

    def cancel(self) -> None:
        """Give up what is under way, and forget what was found."""
        if self._asked is not None:
            self._asked.given_up.set()
        self._asked, self._view = None, FitView()

    def poll(self, simulation: Simulation) -> list[News]:
        """Once a frame: what is finished."""
        asked = self._asked
        if asked is None or not asked.reply.done():
            return []
        try:
            if asked.outcome is None:
                asked.outcome = self._worker.submit(self._fitted, asked, asked.reply.result())
            if not asked.outcome.done():
                return []
            recording, found = asked.outcome.result()
        except InputError as error:
            self.cancel()
            return [News(str(error), error=True)]
        self._asked = None
        span_s = float(recording.time[0]), float(recording.time[-1])
        self._view = FitView(guess=asked.request.guess, found=found, span_s=span_s)
        self._show(asked, found, simulation)
        return [News(f"Fitted to the take: {'; '.join(str(found).splitlines())}")]

    def close(self) -> None:
        """End what runs."""
        self.cancel()
        self._worker.shutdown(wait=True)

    def _fitted(self, asked: _Asked, take: Take) -> "tuple[Recording, Identified]":
        """On the thread, which waits for the process."""
        from sim.analysis.identify import identify_in_process  # with what fits, which few windows need
        from sim.analysis.measured_flight import Recording

        if asked.given_up.is_set():
            raise GivenUp
        vehicle = take.vehicle.with_parameters(**asked.request.guess)
        recording = Recording.of(take, vehicle)

        def tell(number: int, values: Mapping[str, Value]) -> None:
            asked.heard = number, values

        found = identify_in_process(
            vehicle, recording, asked.request.unknown, progress=tell, given_up=asked.given_up
        )
        return recording, found

    def _show(self, asked: _Asked, found: "Identified", simulation: Simulation) -> None:
        """The take's inputs with the guess and with what was found, where the take is still looked at."""
        snapshot = simulation.snapshot
        if snapshot.look_back is None or snapshot.look_back.opened != asked.title:
            return
        shown = {lane.name for lane in snapshot.lanes}
        for name, values in ((BEFORE, asked.request.guess), (AFTER, {**asked.request.guess, **found.values})):
            if name in shown:
                simulation.submit(RemoveLane(name))
            simulation.submit(Resimulate(parameters=tuple(values.items()), name=name))
