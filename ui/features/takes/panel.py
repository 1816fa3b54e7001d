"""Takes: what is shown and kept, files and videos for others, and parameters fitted to what is shown."""

from typing import TYPE_CHECKING

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import PlayTake, RemoveLane, Resimulate
from sim.platform.values import dataclass
from sim.recordings import Take
from sim.simulation.lanes.snapshot import Snapshot
from ui.features.fit import draw_fit
from ui.features.flight import step_field
from ui.features.methods import items
from ui.features.recordings import OpenTake, SaveTake, StoredTake, TakesView
from ui.features.takes.sharing import draw_sharing
from ui.features.vehicle import FlownParameters
from ui.window.context import PanelContext, Request
from ui.window.theme import line_colour
from ui.window.widgets import (
    Item,
    button,
    heading,
    label,
    menu,
    note,
    prose,
    right_edge,
    significant,
    tooltip,
)

if TYPE_CHECKING:
    pass


@dataclass(slots=True)
class TakesFields:
    """What is typed into the takes panel."""

    path: str = ""


def draw_takes(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """The whole tab."""
    requests = _resimulation(snapshot, context)
    requests += draw_fit(snapshot, context)
    requests += draw_sharing(snapshot, context)
    requests += _unsaved(context)
    return requests + _stored(context)


def title_of(take: Take) -> str:
    """What tells takes apart: vehicle and length."""
    return f"{take.vehicle.name}, {take.duration_s:.1f} s"


def _resimulation(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    heading(context, "Once more, another way")
    look = snapshot.look_back
    if look is None and snapshot.recorded_s[1] <= snapshot.recorded_s[0]:
        prose("Everything is recorded. Fly a little: then the same inputs can be simulated anew.")
        return []
    requests: list[Request] = []
    chosen = context.of(Resimulation)
    flown = snapshot.lanes[0]
    label(context, "Method")
    name = menu(context, "takes/integrator", items(context.catalogue, flown.vehicle), chosen.integrator)
    if name is not None:
        chosen.integrator = name
    label(context, "Step h")
    step_s = step_field(context, "takes/step", chosen.step_s)
    if step_s is not None:
        chosen.step_s = step_s
    parameters = _parameter(flown.vehicle, context)
    text = f"{icons.ICON_FA_GHOST}  Resimulate"
    doc = "The recorded inputs from the same start under this method, as a ghost beside the original"
    if button(context, "takes/resimulate", text, doc, width=-1.0, lit=True):
        requests.append(Resimulate(chosen.integrator, chosen.step_s, parameters))
    if look is not None:
        requests += _ghosts(snapshot, context)
    return requests


def _parameter(vehicle: str, context: PanelContext) -> tuple[tuple[str, float], ...]:
    """One number of the vehicle that is to differ, or none."""
    entry, chosen = context.catalogue.vehicles.get(vehicle), context.of(Resimulation)
    scalars = [] if entry is None else [q for q in entry.parameters if q.size == 1]
    parameter = next((q for q in scalars if q.name == chosen.parameter), None)
    label(context, "Change", "A number of the vehicle that is to differ")
    entries = [Item("", "nothing"), *(Item(q.name, q.name, f"{q.doc} {q.allowed}") for q in scalars)]
    name = menu(context, "takes/parameter", entries, chosen.parameter if parameter else "nothing")
    if name is not None:
        known = context.of(FlownParameters).values.get(name)
        chosen.parameter = name
        chosen.value = next((float(q.default) for q in scalars if q.name == name), 0.0)  # type: ignore[arg-type]
        if isinstance(known, int | float):
            chosen.value = float(known)
    if parameter is None:
        return ()
    label(context, f"  [{parameter.unit}]", parameter.doc)
    changed, value = imgui.input_float("##takes/value", chosen.value, 0.0, 0.0, "%.6g")
    note(context, "takes/value")
    if changed:
        chosen.value = min(max(significant(value), parameter.low), parameter.high)
    return ((parameter.name, chosen.value),)


def _ghosts(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    for lane in snapshot.lanes[1:]:
        edge, width = right_edge(), context.px(26.0)
        imgui.align_text_to_frame_padding()
        imgui.text_colored(imgui.ImVec4(*line_colour(lane)), icons.ICON_FA_GHOST)
        imgui.same_line()
        imgui.text_unformatted(lane.name)
        note(context, f"takes/ghost/{lane.name}")
        tooltip(lane.status_text)
        imgui.same_line(edge - width)
        if button(context, f"takes/remove/{lane.name}", icons.ICON_FA_XMARK, "Show it no more", width=width):
            requests.append(RemoveLane(lane.name))
    return requests


def _unsaved(context: PanelContext) -> list[Request]:
    takes = context.of(TakesView)
    requests: list[Request] = []
    if takes.unsaved:
        heading(context, "Earlier flights, not saved")
    for index, take in enumerate(takes.unsaved):
        edge, width, gap = right_edge(), context.px(26.0), context.px(3.0)
        imgui.align_text_to_frame_padding()
        imgui.text_unformatted(title_of(take))
        tooltip(f"{take.scene}, until {take.created}\n{take.ended}".strip())
        imgui.same_line(edge - 2.0 * width - gap)
        name = f"takes/unsaved/{index}"
        if button(context, f"{name}/play", icons.ICON_FA_PLAY, "Show it", width=width):
            requests.append(PlayTake(take))
        imgui.same_line(0.0, gap)
        if button(
            context, f"{name}/save", icons.ICON_FA_FLOPPY_DISK, "To your folder of takes", width=width,
            enabled=not takes.saving,
        ):  # fmt: skip
            requests.append(SaveTake(take))
    return requests


def _stored(context: PanelContext) -> list[Request]:
    fields = context.of(TakesFields)
    heading(context, "Saved takes")
    requests: list[Request] = []
    takes = context.of(TakesView)
    requests += _files(context, "stored", takes.stored)
    if not takes.stored:
        prose("None yet. Save, under the clock, writes one.")
    width, gap = context.px(62.0), context.px(4.0)
    imgui.set_next_item_width(imgui.get_content_region_avail().x - width - gap)
    _, fields.path = imgui.input_text_with_hint("##take_path", "path of another take", fields.path)
    note(context, "takes/path")
    imgui.same_line(0.0, gap)
    if button(
        context,
        "takes/open",
        "Open",
        "A file anywhere",
        width=width,
        enabled=bool(fields.path.strip()),
    ):
        requests.append(OpenTake(fields.path.strip()))
    if takes.autosaved:
        heading(context, "Autosaved")
    return requests + _files(context, "autosaved", takes.autosaved)


def _files(context: PanelContext, kind: str, files: tuple[StoredTake, ...]) -> list[Request]:
    """One row a file, each opened by a button."""
    requests: list[Request] = []
    for index, stored in enumerate(files):
        edge, width = right_edge(), context.px(26.0)
        imgui.align_text_to_frame_padding()
        imgui.text_unformatted(stored.path.stem)
        note(context, f"takes/{kind}/{index}")
        tooltip(f"{stored.path}\n{stored.doc}")
        imgui.same_line(edge - width)
        if button(context, f"takes/{kind}/{index}/play", icons.ICON_FA_PLAY, "Open and show it", width=width):
            requests.append(OpenTake(str(stored.path)))
    return requests


@dataclass(slots=True)
class Resimulation:
    """What the takes panel is about to resimulate with."""

    integrator: str = "rk4"
    step_s: float = 0.02
    parameter: str = ""
    """That is to differ; empty: none."""
    value: float = 0.0
