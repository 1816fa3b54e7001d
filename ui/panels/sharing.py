"""Part of the takes tab: what is shown into a file for others, and videos of what is seen."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.snapshot import Snapshot
from ui.panels.context import PanelContext
from ui.panels.widgets import Item, button, checkbox, heading, label, menu, note, prose
from ui.requests import ExportShown, RecordVideo, Request, StopVideo
from ui.sharing_view import FORMATS, SCENES, FilmView


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
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
    text = f"{icons.ICON_FA_FILE_EXPORT}  {'Exporting ...' if context.sharing.exporting else 'Export'}"
    doc = (
        "What is recorded of all lanes, or the take that is shown with its ghosts, to your folder of exports"
    )
    free = not context.sharing.exporting
    if button(context, "sharing/export", text, doc, width=-1.0, enabled=free):
        ground = context.export_ground and context.export_format in SCENES
        return [ExportShown(context.export_format, ground)]
    return []


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
