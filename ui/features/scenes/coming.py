"""What is being made ready beside the frames, a scene or a swap: what is done for it, how far it is, and a way back."""

from pathlib import Path
from time import perf_counter

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import GiveUpWaiting, SetIntegrator, SetVehicle
from sim.platform.errors import shortened
from sim.platform.progress import Preparation
from sim.platform.user_files import read_text, refusals
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import Snapshot, Waiting
from ui.features.scenes.files import FileDialog
from ui.features.scenes.gallery import SIZE_PX, Thumbnails
from ui.features.scenes.view import AnswerTrust, CancelLoading, OpenPath, PendingScene
from ui.hud.instruments import draw_plate
from ui.window import theme
from ui.window.context import PanelContext, Request
from ui.window.widgets import OVERLAY, button

SHOWN_LINES = 200
_LINE = 160


@dataclass(frozen=True, slots=True)
class TrustQuestion:
    """May this file be run?"""

    scene: str
    """Name or path of the scene that names it."""
    file: Path
    """Links followed."""
    lines: tuple[str, ...]
    """What would be run: each line printable, only the first SHOWN_LINES."""
    line_count: int

    @property
    def why(self) -> str:
        """The beginning of a sentence: what was opened, and what that has to do with the file."""
        itself = Path(self.scene).resolve() == self.file  # a controller
        return "What you open is" if itself else f"The scene {self.scene} asks for"


def question_of(scene: str, file: Path) -> TrustQuestion:
    """As it is now. Raises InputError for a file that cannot be read."""
    with refusals(file, "no program"):
        lines = read_text(file).splitlines()
    shown = tuple(shortened(line.expandtabs(4), _LINE) for line in lines[:SHOWN_LINES])
    return TrustQuestion(shortened(scene, _LINE), file, shown, len(lines))


WIDTH = 560.0
SOURCE_HEIGHT = 190.0
_MODAL = (
    imgui.WindowFlags_.no_title_bar
    | imgui.WindowFlags_.no_resize
    | imgui.WindowFlags_.no_move
    | imgui.WindowFlags_.no_saved_settings
    | imgui.WindowFlags_.always_auto_resize
)
_NAME = "Run this file?"


def draw_trust(question: TrustQuestion, context: PanelContext) -> list[AnswerTrust]:
    """In the middle of the window, before everything else. Esc refuses; no key trusts."""
    room = imgui.get_io().display_size
    if not imgui.is_popup_open(_NAME):
        imgui.open_popup(_NAME)
    width = min(context.px(WIDTH), 0.9 * room.x)
    imgui.set_next_window_pos((room.x / 2.0, room.y / 2.0), imgui.Cond_.always, (0.5, 0.5))
    imgui.push_style_var(imgui.StyleVar_.window_padding, (context.px(24.0), context.px(18.0)))
    imgui.push_style_color(imgui.Col_.border, imgui.ImVec4(*theme.WARNING))
    shown = imgui.begin_popup_modal(_NAME, None, _MODAL)[0]
    imgui.pop_style_color()
    imgui.pop_style_var()
    answers: list[AnswerTrust] = []
    if shown:
        # Before what brings itself to the front.
        imgui.internal.bring_window_to_display_front(imgui.internal.get_current_window())
        _tell(question, width, context)
        answers = _answers(context)
        if answers:
            imgui.close_current_popup()
        position, size = imgui.get_window_pos(), imgui.get_window_size()
        context.rects["trust"] = (position.x, position.y, size.x, size.y)
        imgui.end_popup()
    return answers


def _tell(question: TrustQuestion, width: float, context: PanelContext) -> None:
    imgui.push_text_wrap_pos(imgui.get_cursor_pos_x() + width)
    imgui.push_font(context.fonts.bold, theme.FONT_PX * 1.3)
    imgui.text_colored(
        imgui.ImVec4(*theme.WARNING), f"{icons.ICON_FA_TRIANGLE_EXCLAMATION}  Run {question.file.name}?"
    )
    imgui.pop_font()
    imgui.spacing()
    imgui.text_unformatted(f"{question.why} a program in a folder that you have not trusted:")
    imgui.text_colored(imgui.ImVec4(*theme.ACCENT_BRIGHT), str(question.file))
    imgui.text_unformatted(
        "To open this is to run the file, and a file that is run can do whatever you can do on this "
        "computer. Nothing of it has been run yet. Trust is remembered for the whole folder."
    )
    imgui.pop_text_wrap_pos()
    imgui.spacing()
    horizontal = imgui.WindowFlags_.horizontal_scrollbar.value
    imgui.begin_child(
        "##source", (width, context.px(SOURCE_HEIGHT)), imgui.ChildFlags_.borders.value, horizontal
    )
    imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.MUTED))
    for line in question.lines:
        imgui.text_unformatted(line)
    left = question.line_count - len(question.lines)
    if left:
        imgui.text_unformatted(f"... and {left} lines more")
    imgui.pop_style_color()
    imgui.end_child()
    imgui.spacing()


def _answers(context: PanelContext) -> list[AnswerTrust]:
    answers = []
    if button(
        context, "trust/folder", "Trust this folder", "Run it now and from now on, also when it has changed"
    ):
        answers.append(AnswerTrust(trusted=True))
    imgui.same_line()
    refused = button(
        context, "trust/refuse", "Refuse", "The scene stays closed, and nothing is run", lit=True
    )
    if not answers and (refused or imgui.is_key_pressed(imgui.Key.escape)):
        answers.append(AnswerTrust(trusted=False))
    return answers


@dataclass(frozen=True, slots=True)
class PictureComes:
    """Whether the scene itself cannot be drawn yet: shaders are compiled, the world is uploaded. Its drawer says so."""

    yes: bool = False
    since_s: float = 0.0
    """When that began."""

    def now(self, *, yes: bool) -> "PictureComes":
        """As it is from now on."""
        return PictureComes(yes, self.since_s if self.yes else perf_counter())


def draw_arrival(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """The scene's small picture in its place until the large one is there; soon it is said why it is not."""
    thumbnails, comes = context.find(Thumbnails), context.of(PictureComes)
    if not comes.yes:
        return []
    waited_s = perf_counter() - comes.since_s
    if waited_s > _PATIENT_S:
        lines = [(f"The picture is being made ready, {waited_s:.0f} s", True)]
        draw_plate("arriving", [*lines, ("Time waits for it.", False)], theme.ACCENT_BRIGHT, context)
    texture = None if thumbnails is None else thumbnails.of(snapshot.scene)
    if texture is None:
        return []
    x, y, width, height = context.scene_rect
    size = max(width / SIZE_PX[0], height / SIZE_PX[1])
    # Cut where the shapes differ, about the middle.
    u, v = 0.5 * width / (size * SIZE_PX[0]), 0.5 * height / (size * SIZE_PX[1])
    pen, shade = imgui.get_background_draw_list(), imgui.get_color_u32(_ARRIVING)
    ends = (x, y), (x + width, y + height)
    pen.add_image(imgui.ImTextureRef(texture), *ends, (0.5 - u, 0.5 - v), (0.5 + u, 0.5 + v), shade)
    context.rects["scene/arriving"] = context.scene_rect
    return []


_PATIENT_S = 0.7
"""So long nobody asks."""
_ARRIVING = (0.75, 0.75, 0.75, 1.0)


def draw_what_comes(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """A scene or a swap that is made ready, a file that is chosen, a question about one: over all else."""
    coming, requests = context.of(PendingScene), list[Request]()
    if coming.name:
        requests += draw_coming(coming.name, coming.jobs, context)
    elif snapshot.waiting:
        requests += draw_waiting(snapshot.waiting, context)
    chosen = context.of(FileDialog).draw(context)
    if chosen:
        requests.append(OpenPath(chosen))
    question = context.find(TrustQuestion)
    if question is not None:
        requests += draw_trust(question, context)
    return requests


def draw_coming(name: str, jobs: tuple[Preparation, ...], context: PanelContext) -> list[Request]:
    """The scene of that name; what is flown goes on meanwhile."""
    return [CancelLoading()] if _drawn(f"Opening {name}", jobs, context) else []


def draw_waiting(waiting: tuple[Waiting, ...], context: PanelContext) -> list[Request]:
    """What was asked for and waits for its kernel; the old one flies on meanwhile."""
    now_s = perf_counter()
    jobs = tuple(each.job or Preparation(each.title, now_s) for each in waiting)
    return [GiveUpWaiting()] if _drawn(asked_for(waiting[-1]), jobs, context) else []


def asked_for(waiting: Waiting) -> str:
    """In words."""
    match waiting.command:
        case SetIntegrator(name) | SetVehicle(name):
            return f"{name} is coming"
    return "Compiling"


def _drawn(title: str, jobs: tuple[Preparation, ...], context: PanelContext) -> bool:
    """Over the lower part of the scene; whether it is to be given up."""
    x, y, width, height = context.scene_rect
    imgui.set_next_window_pos((x + width / 2.0, y + 0.8 * height), imgui.Cond_.always, (0.5, 0.5))
    imgui.set_next_window_bg_alpha(0.92)
    imgui.begin("##coming", None, OVERLAY)
    imgui.align_text_to_frame_padding()
    imgui.text_colored(imgui.ImVec4(*theme.ACCENT_BRIGHT), title)
    imgui.same_line()
    given_up = button(context, "coming/cancel", "Cancel", "What is shown stays.")
    done = sum(job.ended_s is not None for job in jobs)
    imgui.progress_bar(done / max(len(jobs), 1), (context.px(320.0), context.px(5.0)), "")
    for job in jobs:
        imgui.text_colored(imgui.ImVec4(*(theme.INK if job.ended_s is None else theme.MUTED)), job_line(job))
    imgui.end()
    return given_up


def job_line(job: Preparation) -> str:
    """In a line: what, how many parts of it have been compiled so far, for how long."""
    until_s = perf_counter() if job.ended_s is None else job.ended_s
    compiled = f", {job.functions} parts" if job.functions else ""
    return f"{job.title}{compiled}, {until_s - job.began_s:.1f} s"
