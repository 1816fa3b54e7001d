"""Part of the takes tab: what is shown into a file for others, and videos of what is seen."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.scene import CAMERAS
from sim.snapshot import Snapshot
from ui.panels.context import PanelContext
from ui.panels.widgets import Item, button, checkbox, heading, label, menu, note, prose
from ui.requests import CancelExport, ExportShown, RecordVideo, Request, StopVideo
from ui.sharing_view import BLURS, FORMATS, SCENES, VIDEO, FilmView


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
