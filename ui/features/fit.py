"""Parameters of the vehicle fitted to the take that is shown: chosen in the panel, searched for beside the frames."""

import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import field
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import KeepTake, RemoveLane, Resimulate, Scrub, SetParameter
from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.recordings import Take
from sim.simulation import Simulation
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicles.forms.parameters import Parameter, Value
from ui.features.feature import Actions, App, Background, News
from ui.features.vehicle import FlownParameters, flat
from ui.window.context import Action, PanelContext, Request
from ui.window.widgets import button, checkbox, heading, label, note, prose

if TYPE_CHECKING:
    from sim.analysis.measured_flight import Recording
    from sim.analysis.shooting import Identified


@dataclass(frozen=True, slots=True)
class FitTake(Action):
    """Find parameters of the vehicle by what is recorded, or shown of it."""

    unknown: tuple[str, ...]
    guess: Mapping[str, Value]
    """Of all its parameters."""


@dataclass(frozen=True, slots=True)
class CancelFit(Action):
    """Give it up, or forget what was found."""


@dataclass(slots=True)
class FitChoice:
    """Names of the parameters that are to be found."""

    names: frozenset[str] = frozenset(("mass",))


_COLUMNS = 2
BEFORE, AFTER = "before the fit", "after the fit"
"""Names of the ghosts that fly the take's inputs with the guess, and with what was found."""


@dataclass(frozen=True, slots=True, eq=False)
class FitView:
    """Immutable; replaced as a whole."""

    guess: Mapping[str, Value] = field(default_factory=dict)
    """Where the search began: the present parameters."""
    running: bool = False
    iteration: int = 0
    values: Mapping[str, Value] = field(default_factory=dict)
    """Of the unknown parameters, so far."""
    found: "Identified | None" = None
    span_s: tuple[float, float] = (0.0, 0.0)
    """The part of the take that was fitted to."""


def draw_fit(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Choice of parameters, the search under way, what was found."""
    fit = context.of(FitView)
    entry = context.catalogue.vehicles.get(snapshot.lanes[0].vehicle)
    if entry is None or (snapshot.look_back is None and snapshot.recorded_s[1] <= snapshot.recorded_s[0]):
        return []
    heading(context, "Fit to this take")
    if fit.running:
        return _running(context)
    offered = [q for q in entry.parameters if not q.structural]
    chosen = _choice(offered, context)
    requests: list[Request] = []
    doc = (
        "Find the values with which the recorded inputs lead to the recorded motion. It begins with the present "
        "ones; ground and pushes are left out: the longest free flight counts"
    )
    text = f"{icons.ICON_FA_BULLSEYE}  Fit"
    if button(context, "fit/begin", text, doc, width=-1.0, lit=True, enabled=bool(chosen)):
        guess = {q.name: context.of(FlownParameters).values.get(q.name, q.default) for q in offered}
        requests.append(FitTake(chosen, guess))
    if fit.found is not None:
        requests += _found(fit, fit.found, {q.name: q for q in offered}, context)
    return requests


def _choice(offered: Iterable[Parameter], context: PanelContext) -> tuple[str, ...]:
    fitted = context.of(FitChoice)
    left, width = imgui.get_cursor_pos_x(), imgui.get_content_region_avail().x / _COLUMNS
    chosen = []
    for index, parameter in enumerate(offered):
        if index % _COLUMNS:
            imgui.same_line(left + (index % _COLUMNS) * width)
        off = parameter.optional and not any(
            flat(context.of(FlownParameters).values.get(parameter.name, parameter.default))
        )
        doc = (
            f"{parameter.doc}\nIt is 0, which leaves its effect out: set a guess first."
            if off
            else parameter.doc
        )
        wanted = parameter.name in fitted.names and not off
        imgui.begin_disabled(off)
        name = f"fit/parameter/{parameter.name}"
        if checkbox(context, name, parameter.name.replace("_", " "), wanted, doc):
            fitted.names ^= {parameter.name}
            wanted = not wanted
        imgui.end_disabled()
        if wanted:
            chosen.append(parameter.name)
    return tuple(chosen)


def _running(context: PanelContext) -> list[Request]:
    fit = context.of(FitView)
    values = ", ".join(f"{name} {_text(value)}" for name, value in fit.values.items())
    prose(f"Iteration {fit.iteration}: {values}" if fit.iteration else "Reading the take ...")
    note(context, "fit/progress")
    cancel = f"{icons.ICON_FA_XMARK}  Cancel"
    if button(context, "fit/cancel", cancel, "Leave everything as it is", width=-1.0):
        return [CancelFit()]
    return []


def _found(
    fit: FitView, found: "Identified", parameters: dict[str, Parameter], context: PanelContext
) -> list[Request]:
    for name, value in found.values.items():
        unit = parameters[name].unit if name in parameters else ""
        label(context, name.replace("_", " "), f"Before: {_text(fit.guess[name])} {unit}".rstrip())
        imgui.text_unformatted(f"{_sure(value, found.standard_errors[name])} {unit}".rstrip())
        note(context, f"fit/found/{name}")
    for names in found.confounded:
        prose(unidentified(names))
    if not found.converged:
        prose("The search did not settle: values are as far as it came.")
    noise = ", ".join(f"{name.replace('_', ' ')} {sigma:.2g}" for name, sigma in found.noise.items())
    prose(f"From {fit.span_s[0]:.1f} s to {fit.span_s[1]:.1f} s. What is left: {noise} (rad, m, rad/s, m/s).")
    gap = context.px(4.0)
    width = (imgui.get_content_region_avail().x - gap) / 2.0
    requests: list[Request] = []
    doc = (
        f"Fly on with these values; the ghosts show the take with the old ones ({BEFORE}) and these ({AFTER})"
    )
    name, fits = found.vehicle.name, context.of(FlownParameters).flying in ("", found.vehicle.name)
    doc = (
        doc
        if fits
        else f"A {context.of(FlownParameters).flying} is flown now: choose {name} in the tab Vehicle first"
    )
    text = f"{icons.ICON_FA_CHECK}  Use"
    if button(context, "fit/apply", text, doc, width=width, lit=fits, enabled=fits):
        context.of(FlownParameters).values.update(found.values)
        requests += [SetParameter(key, value, name) for key, value in found.values.items()]
    imgui.same_line(0.0, gap)
    if button(context, "fit/drop", f"{icons.ICON_FA_XMARK}  Drop", "Forget what was found", width=width):
        requests.append(CancelFit())
    return requests


def unidentified(names: tuple[str, ...]) -> str:
    """Says that a take does not determine these numbers."""
    if len(names) == 1:
        return f"{names[0]}: this take does not tell it."
    return f"{', '.join(names)}: this take does not tell them apart."


def _sure(value: Value, error: Value) -> str:
    """'5.4 ± 0.02', a number each."""
    pairs = zip(flat(value), flat(error), strict=True)
    return ", ".join(f"{x:.5g} ± {e:.2g}" if np.isfinite(e) else f"{x:.5g} (not told)" for x, e in pairs)


def _text(value: Value) -> str:
    return ", ".join(f"{x:.4g}" for x in flat(value))


@dataclass(slots=True, eq=False)
class _Asked:
    """One fit."""

    request: FitTake
    title: str
    """Of the take that was shown when it was asked for."""
    reply: Future[Take]
    heard: tuple[int, Mapping[str, Value]] = (0, MappingProxyType({}))
    """The latest iteration, and the values until then."""


class Fitting:
    """Lives as long as the window. One fit at a time; it has a process of its own."""

    def __init__(self) -> None:
        self._search: Background[tuple[Recording, Identified]] = Background("fits")
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
        self._asked = _Asked(request, title, reply)

    def cancel(self) -> None:
        """Give up what is under way, and forget what was found."""
        self._search.give_up()
        self._asked, self._view = None, FitView()

    def poll(self, simulation: Simulation) -> list[News]:
        """Once a frame: what is finished."""
        asked = self._asked
        if asked is None or not asked.reply.done():
            return []
        try:
            if not self._search.busy:
                self._search.begin(partial(_fitted, asked, asked.reply.result()))
            outcome = self._search.take()
        except InputError as error:
            self.cancel()
            return [News(str(error), error=True)]
        if outcome is None:
            return []
        recording, found = outcome
        self._asked = None
        span_s = float(recording.time[0]), float(recording.time[-1])
        self._view = FitView(guess=asked.request.guess, found=found, span_s=span_s)
        self._show(asked, found, simulation)
        return [News(f"Fitted to the take: {'; '.join(str(found).splitlines())}")]

    def close(self) -> None:
        """End what runs."""
        self.cancel()
        self._search.close()

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


def _fitted(asked: _Asked, take: Take, given_up: threading.Event) -> "tuple[Recording, Identified]":
    """On the thread, which waits for the process."""
    from sim.analysis.identify import identify_in_process  # with what fits, which few windows need
    from sim.analysis.measured_flight import Recording

    vehicle = take.vehicle.with_parameters(**asked.request.guess)
    recording = Recording.of(take, vehicle)

    def tell(number: int, values: Mapping[str, Value]) -> None:
        asked.heard = number, values

    found = identify_in_process(vehicle, recording, asked.request.unknown, progress=tell, given_up=given_up)
    return recording, found


class FitActions(Actions):
    """Fits parameters to what is shown of a recording."""

    handles = (FitTake, CancelFit)

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._fitting = Fitting()

    def leave(self) -> None:
        self._fitting.cancel()

    def poll(self, snapshot: Snapshot) -> None:
        for news in self._fitting.poll(self.app.simulation):
            self.app.tell(news.text, error=news.error)

    def views(self, snapshot: Snapshot) -> Iterable[object]:
        return (self._fitting.view,)

    def carry_out(self, action: object) -> None:
        if isinstance(action, FitTake):
            self._fitting.begin(action, self.app.simulation)
        else:
            self._fitting.cancel()

    def close(self) -> None:
        self._fitting.close()
