"""Takes: what is shown and kept, files and videos for others, and parameters fitted to what is shown."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import PlayTake, RemoveLane, Resimulate, SetParameter
from sim.recordings import Take
from sim.scene import CAMERAS
from sim.snapshot import Snapshot
from sim.vehicles.forms.parameters import Parameter, Value
from ui.colours import line_colour
from ui.panels.context import PanelContext
from ui.panels.integrator import items, step_field
from ui.panels.vehicle import flat
from ui.panels.widgets import (
    Item,
    button,
    checkbox,
    heading,
    label,
    menu,
    note,
    prose,
    right_edge,
    significant,
    tooltip,
)
from ui.requests import (
    CancelExport,
    CancelFit,
    ExportShown,
    FitTake,
    OpenTake,
    RecordVideo,
    Request,
    SaveTake,
    StopVideo,
)
from ui.takes_view import AFTER, BEFORE, BLURS, FORMATS, SCENES, VIDEO, FilmView, FitView, StoredTake

if TYPE_CHECKING:
    from sim.analysis.shooting import Identified


_COLUMNS = 2


def draw_fit(snapshot: Snapshot, context: PanelContext) -> list[Request]:
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


def draw_sharing(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Export and video."""
    heading(context, "For others")
    requests: list[Request] = []
    if snapshot.look_back is None and snapshot.recorded_s[1] <= snapshot.recorded_s[0]:
        prose("What you fly can be exported, and filmed.")
    else:
        requests += _export(context)
    film = context.sharing.film
    return requests + (_film(film, context) if film is not None else _begin(context))


def _export(context: PanelContext) -> list[Request]:
    label(context, "As")
    items = [Item(ending, ending, doc) for ending, doc in FORMATS.items()]
    chosen = menu(context, "sharing/format", items, context.export_format)
    context.export_format = chosen or context.export_format
    if context.export_format in SCENES:
        label(context, "")
        doc = "The ground about the ways, as a mesh with its colours"
        context.export_ground ^= checkbox(
            context, "sharing/ground", "with the ground", context.export_ground, doc
        )
    if context.export_format == VIDEO:
        _choose_video(context)
    if context.sharing.drawn is not None:
        return _drawn(context.sharing.drawn, context)
    text = f"{icons.ICON_FA_FILE_EXPORT}  {'Exporting ...' if context.sharing.exporting else 'Export'}"
    doc = (
        "What is recorded of all lanes, or the take that is shown with its ghosts, to your folder of exports"
    )
    free = not context.sharing.exporting
    if button(context, "sharing/export", text, doc, width=-1.0, enabled=free):
        ground = context.export_ground and context.export_format in SCENES
        if context.export_format == VIDEO:
            return [ExportShown(VIDEO, camera=context.export_camera, subframes=context.export_blur)]
        return [ExportShown(context.export_format, ground)]
    return []


def _choose_video(context: PanelContext) -> None:
    """Camera and blur of a video that is drawn anew."""
    label(context, "Camera")
    own = "the scene's"
    cameras = [
        Item("", own, "The camera that the scene names"),
        *(Item(kind, kind, f"Seen by the {kind} camera") for kind in CAMERAS),
    ]
    chosen = menu(context, "sharing/camera", cameras, context.export_camera, context.export_camera or own)
    context.export_camera = context.export_camera if chosen is None else chosen
    label(context, "Blur")
    blurs = [Item(str(n), told, "Moments that are averaged in a picture") for n, told in BLURS.items()]
    picked = menu(context, "sharing/blur", blurs, str(context.export_blur), BLURS[context.export_blur])
    context.export_blur = int(picked or context.export_blur)


def _drawn(share: float, context: PanelContext) -> list[Request]:
    """How far a video is, and how to give it up."""
    imgui.progress_bar(share, (-1.0, 0.0), f"{share:.0%}")
    note(context, "sharing/drawn")
    drop = f"{icons.ICON_FA_XMARK}  Cancel"
    stop = button(context, "sharing/give-up", drop, "No video after all", width=-1.0)
    return [CancelExport()] if stop else []


def _begin(context: PanelContext) -> list[Request]:
    text = f"{icons.ICON_FA_VIDEO}  Record video"
    doc = "Of what is seen, without panels, from now on; of a take that is played, to its end"
    return [RecordVideo()] if button(context, "sharing/record", text, doc, width=-1.0) else []


def _film(film: FilmView, context: PanelContext) -> list[Request]:
    """How far it is, and how to end it."""
    share = film.share if film.share is not None else (0.5 * film.seconds) % 1.0
    imgui.progress_bar(share, (-1.0, 0.0), f"{film.seconds:.1f} s")
    note(context, "sharing/progress")
    gap = context.px(4.0)
    width = (imgui.get_content_region_avail().x - gap) / 2.0
    requests: list[Request] = []
    keep = f"{icons.ICON_FA_STOP}  Stop, keep"
    if button(context, "sharing/keep", keep, "The video ends here", width=width, lit=True):
        requests.append(StopVideo(keep=True))
    imgui.same_line(0.0, gap)
    drop = f"{icons.ICON_FA_XMARK}  Cancel"
    if button(context, "sharing/cancel", drop, "No video after all", width=width):
        requests.append(StopVideo(keep=False))
    return requests


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
    chosen = context.resimulation
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
    entry, chosen = context.catalogue.vehicles.get(vehicle), context.resimulation
    scalars = [] if entry is None else [q for q in entry.parameters if q.size == 1]
    parameter = next((q for q in scalars if q.name == chosen.parameter), None)
    label(context, "Change", "A number of the vehicle that is to differ")
    entries = [Item("", "nothing"), *(Item(q.name, q.name, f"{q.doc} {q.allowed}") for q in scalars)]
    name = menu(context, "takes/parameter", entries, chosen.parameter if parameter else "nothing")
    if name is not None:
        known = context.parameters.get(name)
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
    requests: list[Request] = []
    if context.takes.unsaved:
        heading(context, "Earlier flights, not saved")
    for index, take in enumerate(context.takes.unsaved):
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
            enabled=not context.takes.saving,
        ):  # fmt: skip
            requests.append(SaveTake(take))
    return requests


def _stored(context: PanelContext) -> list[Request]:
    heading(context, "Saved takes")
    requests: list[Request] = []
    takes = context.takes
    requests += _files(context, "stored", takes.stored)
    if not takes.stored:
        prose("None yet. Save, under the clock, writes one.")
    width, gap = context.px(62.0), context.px(4.0)
    imgui.set_next_item_width(imgui.get_content_region_avail().x - width - gap)
    _, context.take_path = imgui.input_text_with_hint(
        "##take_path", "path of another take", context.take_path
    )
    note(context, "takes/path")
    imgui.same_line(0.0, gap)
    if button(
        context, "takes/open", "Open", "A file anywhere", width=width, enabled=bool(context.take_path.strip())
    ):
        requests.append(OpenTake(context.take_path.strip()))
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
