"""Exports and videos for others: what the takes panel sees of them, asks for and draws."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.platform.values import dataclass
from sim.scene import CAMERAS
from sim.simulation.lanes.snapshot import Snapshot
from ui.window.context import Action, PanelContext, Request
from ui.window.widgets import Item, button, checkbox, heading, label, menu, note, prose

VIDEO, PAGE = ".mp4", ".html"
BLURS = {1: "none", 4: "4 sub-frames", 8: "8 sub-frames", 16: "16 sub-frames"}
"""Pictures that are averaged into one of a video."""


@dataclass(frozen=True, slots=True)
class ExportKind:
    """A kind of file that may be written."""

    ending: str
    text: str
    """What it is."""
    ground: bool
    """Whether it may hold the ground, where that is wanted."""
    live: bool = False
    """Whether it can be written while the window flies."""


@dataclass(frozen=True, slots=True)
class FilmView:
    """A video that is being recorded."""

    seconds: float
    share: float | None
    """Of the take that is played; None where there is no end to it."""


@dataclass(frozen=True, slots=True)
class Work:
    """How far an export is."""

    text: str = ""
    """What is being done."""
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class SharingView:
    """Immutable; replaced as a whole."""

    kinds: tuple[ExportKind, ...] = ()
    """Files that motions may be written into; a video comes last."""
    exporting: bool = False
    work: Work | None = None
    """How far an export is that takes long."""
    film: FilmView | None = None


@dataclass(frozen=True, slots=True)
class LogsView:
    """What is being written while the window flies."""

    names: tuple[str, ...] = ()
    """Of the files."""


@dataclass(frozen=True, slots=True)
class ListenView:
    """Whether other programs may take part."""

    page: str = ""
    """File that shows the window in a browser; empty: it does not listen."""


@dataclass(frozen=True, slots=True)
class Listen(Action):
    """Let other programs of this user give commands and see snapshots."""


@dataclass(frozen=True, slots=True)
class EndListening(Action):
    """Let go of them."""


@dataclass(frozen=True, slots=True)
class ExportShown(Action):
    """Write what is recorded of all lanes, or shown of it, for other programs."""

    ending: str
    """Of one of the kinds of `SharingView`."""
    ground: bool = False
    """Whether the ground about the ways goes along, into a scene."""
    camera: str = ""
    """Of a video; empty: the scene's own."""
    subframes: int = 1
    """Of a video: pictures that are averaged into each one."""


@dataclass(frozen=True, slots=True)
class CancelExport(Action):
    """Give up the export that is being written."""


@dataclass(frozen=True, slots=True)
class LogFlight(Action):
    """Write what flies from now on, as it flies."""

    ending: str
    """Of a kind of `SharingView` that is live."""


@dataclass(frozen=True, slots=True)
class EndLogs(Action):
    """Close the files that are being written."""


@dataclass(frozen=True, slots=True)
class RecordVideo(Action):
    """Begin a video of what is seen."""


@dataclass(frozen=True, slots=True)
class StopVideo(Action):
    """End it."""

    keep: bool


@dataclass(slots=True)
class ExportChoices:
    """What the next export is to be."""

    ending: str = ".glb"
    ground: bool = False
    """Whether the ground goes along into a scene."""
    camera: str = ""
    """Of a video; empty: the scene's own."""
    blur: int = 1
    """Of a video: pictures that are averaged into each one."""


def draw_sharing(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Export and video."""
    heading(context, "For others")
    requests: list[Request] = []
    if snapshot.look_back is None and snapshot.recorded_s[1] <= snapshot.recorded_s[0]:
        prose("What you fly can be exported, and filmed.")
    else:
        requests += _export(context)
    film = context.of(SharingView).film
    if film is not None:
        return requests + _film(film, context) + _log(context, -1.0) + _listen(context, -1.0)
    gap = context.px(4.0)
    width = (imgui.get_content_region_avail().x - 2.0 * gap) / 3.0
    for part in (_begin, _log, _listen):
        requests += part(context, width)
        imgui.same_line(0.0, gap)
    imgui.new_line()
    return requests


def _export(context: PanelContext) -> list[Request]:
    choices = context.of(ExportChoices)
    sharing = context.of(SharingView)
    label(context, "As")
    items = [Item(kind.ending, kind.ending, kind.text) for kind in sharing.kinds]
    chosen = menu(context, "sharing/format", items, choices.ending)
    choices.ending = chosen or choices.ending
    grounds = any(kind.ground for kind in sharing.kinds if kind.ending == choices.ending)
    if grounds:
        label(context, "")
        doc = "The ground about the ways, as a mesh with its colours"
        choices.ground ^= checkbox(context, "sharing/ground", "with the ground", choices.ground, doc)
    if choices.ending == VIDEO:
        _choose_video(context)
    if sharing.work is not None:
        return _at_work(sharing.work, context)
    text = f"{icons.ICON_FA_FILE_EXPORT}  {'Exporting ...' if sharing.exporting else 'Export'}"
    what = "What is recorded of all lanes, or the take that is shown with its ghosts,"
    doc = f"{what} to your folder of exports"
    page = (
        f"{what} as one HTML file that anybody opens in a browser, without network, to your folder of exports"
    )
    free, gap = not sharing.exporting, context.px(4.0)
    width = (imgui.get_content_region_avail().x - gap) / 2.0
    share = f"{icons.ICON_FA_SHARE_NODES}  Share"
    if button(context, "sharing/share", share, page, width=width, enabled=free):
        return [ExportShown(PAGE)]
    imgui.same_line(0.0, gap)
    if button(context, "sharing/export", text, doc, width=width, enabled=free):
        ground = choices.ground and grounds
        if choices.ending == VIDEO:
            return [ExportShown(VIDEO, camera=choices.camera, subframes=choices.blur)]
        return [ExportShown(choices.ending, ground)]
    return []


def _choose_video(context: PanelContext) -> None:
    """Camera and blur of a video that is drawn anew."""
    choices = context.of(ExportChoices)
    label(context, "Camera")
    own = "the scene's"
    cameras = [
        Item("", own, "The camera that the scene names"),
        *(Item(kind, kind, f"Seen by the {kind} camera") for kind in CAMERAS),
    ]
    chosen = menu(
        context,
        "sharing/camera",
        cameras,
        choices.camera,
        choices.camera or own,
    )
    choices.camera = choices.camera if chosen is None else chosen
    label(context, "Blur")
    blurs = [Item(str(n), told, "Moments that are averaged in a picture") for n, told in BLURS.items()]
    picked = menu(
        context,
        "sharing/blur",
        blurs,
        str(choices.blur),
        BLURS[choices.blur],
    )
    choices.blur = int(picked or choices.blur)


def _at_work(work: Work, context: PanelContext) -> list[Request]:
    """How far an export is, and how to give it up."""
    imgui.progress_bar(work.share, (-1.0, 0.0), f"{work.share:.0%}")
    note(context, "sharing/work")
    if work.text:
        prose(work.text)
    drop = f"{icons.ICON_FA_XMARK}  Cancel"
    stop = button(context, "sharing/give-up", drop, "No file after all", width=-1.0)
    return [CancelExport()] if stop else []


def _log(context: PanelContext, width: float) -> list[Request]:
    """Begin a log of the kind that is chosen, or of the first there is; end those that are written."""
    names = context.of(LogsView).names
    if names:
        text = f"{icons.ICON_FA_STOP}  End log"
        doc = f"What flies is being written to {', '.join(names)}"
        return [EndLogs()] if button(context, "sharing/end-log", text, doc, width=width, lit=True) else []
    kinds = [kind for kind in context.of(SharingView).kinds if kind.live]
    if not kinds:
        return []
    chosen = context.of(ExportChoices).ending
    kind = next((kind for kind in kinds if kind.ending == chosen), kinds[0])
    text = f"{icons.ICON_FA_FILE_WAVEFORM}  Log {kind.ending}"
    others = " or ".join(kind.ending for kind in kinds)
    doc = f"{kind.text}, written while you fly, to your folder of exports; {others}, as chosen above"
    return [LogFlight(kind.ending)] if button(context, "sharing/log", text, doc, width=width) else []


def _listen(context: PanelContext, width: float) -> list[Request]:
    """Open the window to other programs, or close it again."""
    page = context.of(ListenView).page
    text = f"{icons.ICON_FA_TOWER_BROADCAST}  {'Listening' if page else 'Listen'}"
    doc = (
        f"Ends it. A browser shows the window by {page}; programs connect by sim.connect()"
        if page
        else "Programs of yours on this computer may see and command it, and a browser shows it; nobody else may"
    )
    if not button(context, "sharing/listen", text, doc, width=width, lit=bool(page)):
        return []
    return [EndListening() if page else Listen()]


def _begin(context: PanelContext, width: float) -> list[Request]:
    text = f"{icons.ICON_FA_VIDEO}  Record"
    doc = "A video of what is seen, without panels, from now on; of a take that is played, to its and its wreck's end"
    return [RecordVideo()] if button(context, "sharing/record", text, doc, width=width) else []


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
