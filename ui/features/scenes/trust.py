"""What is asked before a scene runs a program from a folder that is not trusted yet. Pure."""

from dataclasses import dataclass
from pathlib import Path

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.platform.errors import shortened
from sim.platform.user_files import read_text, refusals
from ui.features.scenes.view import AnswerTrust
from ui.window import theme
from ui.window.context import PanelContext
from ui.window.widgets import button

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


def question_of(scene: str, file: Path) -> TrustQuestion:
    """As it is now. Raises InputError for a file that cannot be read."""
    with refusals(file, "no vehicle's file"):
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
    imgui.text_unformatted(
        f"The scene {question.scene} takes its vehicle from a program in a folder that you have not trusted:"
    )
    imgui.text_colored(imgui.ImVec4(*theme.ACCENT_BRIGHT), str(question.file))
    imgui.text_unformatted(
        "To open the scene is to run this file, and a file that is run can do whatever you can do on this "
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
