"""Part of the takes tab: the vehicle's parameters out of the take that is shown, and how sure they are."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import SetParameter
from sim.snapshot import Snapshot
from sim.vehicles.parameter import Parameter, Value
from ui.fit_view import AFTER, BEFORE, FitView
from ui.panels.context import PanelContext
from ui.panels.vehicle import flat
from ui.panels.widgets import button, checkbox, heading, label, note, prose
from ui.requests import CancelFit, FitTake, Request

if TYPE_CHECKING:
    from sim.identification import Identified

_COLUMNS = 2


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Choice of parameters, the search under way, what was found."""
    entry = context.catalogue.vehicles.get(snapshot.lanes[0].vehicle)
    if entry is None or (snapshot.look_back is None and snapshot.recorded_s[1] <= snapshot.recorded_s[0]):
        return []
    heading(context, "Fit to this take")
    if context.fit.running:
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
        guess = {q.name: context.parameters.get(q.name, q.default) for q in offered}
        requests.append(FitTake(chosen, guess))
    if context.fit.found is not None:
        requests += _found(context.fit, context.fit.found, {q.name: q for q in offered}, context)
    return requests


def _choice(offered: Iterable[Parameter], context: PanelContext) -> tuple[str, ...]:
    left, width = imgui.get_cursor_pos_x(), imgui.get_content_region_avail().x / _COLUMNS
    chosen = []
    for index, parameter in enumerate(offered):
        if index % _COLUMNS:
            imgui.same_line(left + (index % _COLUMNS) * width)
        off = parameter.optional and not any(flat(context.parameters.get(parameter.name, parameter.default)))
        doc = (
            f"{parameter.doc}\nIt is 0, which leaves its effect out: set a guess first."
            if off
            else parameter.doc
        )
        wanted = parameter.name in context.fitted and not off
        imgui.begin_disabled(off)
        name = f"fit/parameter/{parameter.name}"
        if checkbox(context, name, parameter.name.replace("_", " "), wanted, doc):
            context.fitted ^= {parameter.name}
            wanted = not wanted
        imgui.end_disabled()
        if wanted:
            chosen.append(parameter.name)
    return tuple(chosen)


def _running(context: PanelContext) -> list[Request]:
    fit = context.fit
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
        prose(told_of(names))
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
    name, fits = found.vehicle.name, context.flying in ("", found.vehicle.name)
    doc = doc if fits else f"A {context.flying} is flown now: choose {name} in the tab Vehicle first"
    text = f"{icons.ICON_FA_CHECK}  Use"
    if button(context, "fit/apply", text, doc, width=width, lit=fits, enabled=fits):
        context.parameters.update(found.values)
        requests += [SetParameter(key, value, name) for key, value in found.values.items()]
    imgui.same_line(0.0, gap)
    if button(context, "fit/drop", f"{icons.ICON_FA_XMARK}  Drop", "Forget what was found", width=width):
        requests.append(CancelFit())
    return requests


def told_of(names: tuple[str, ...]) -> str:
    """What cannot be told of these numbers."""
    if len(names) == 1:
        return f"{names[0]}: this take does not tell it."
    return f"{', '.join(names)}: this take does not tell them apart."


def _sure(value: Value, error: Value) -> str:
    """'5.4 ± 0.02', a number each."""
    pairs = zip(flat(value), flat(error), strict=True)
    return ", ".join(f"{x:.5g} ± {e:.2g}" if np.isfinite(e) else f"{x:.5g} (not told)" for x, e in pairs)


def _text(value: Value) -> str:
    return ", ".join(f"{x:.4g}" for x in flat(value))
