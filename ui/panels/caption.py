"""What a scene is about to show, in words over it, with what has happened to each lane so far."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.scene import Scene
from sim.snapshot import LaneSnapshot, LaneStatus, Snapshot
from ui import theme
from ui.colours import line_colour
from ui.panels.context import PanelContext
from ui.panels.labels import off_text, step_text
from ui.panels.notices import OVERLAY

WIDTH_PX, SMALL_PX = 430.0, 540.0
"""Over a scene that is lower than that nothing is told but what to look at, and what became of each lane."""
ASTRAY_M, ASTRAY_RAD = 0.1, 0.1
"""Off the reference by more than the eye takes for the same motion."""


def draw(scene: Scene, snapshot: Snapshot, context: PanelContext) -> None:
    """Over a part of the scene where nothing happens; nothing for scenes without a caption."""
    told = scene.comparison
    if not told_in(scene, snapshot):
        return
    x, y, width, height = context.scene_rect
    split, gap = context.view.views > 1, context.px(12.0)
    # Linked pictures have their vehicles in their middles: the words keep to the lower edge there.
    place, pivot = ((x + gap, y + height - gap), (0.0, 1.0)) if split else ((x + gap, y + gap), (0.0, 0.0))
    imgui.set_next_window_pos(place, imgui.Cond_.always, pivot)
    imgui.set_next_window_bg_alpha(0.72)
    imgui.begin("##caption", None, OVERLAY | imgui.WindowFlags_.no_inputs)
    room = width - 4.0 * gap
    imgui.push_text_wrap_pos(room if split else min(context.px(WIDTH_PX), room))
    imgui.push_font(context.fonts.bold, theme.FONT_PX * 1.1)
    imgui.text_unformatted(scene.title)
    imgui.pop_font()
    imgui.push_font(None, theme.FONT_PX * 0.93)
    _due(context)
    whole = height >= context.px(SMALL_PX)
    if whole:
        imgui.text_unformatted(told.caption)
    if not split:
        imgui.spacing()
        for lane in snapshot.lanes:
            _lane(lane)
    if whole and told.note:
        imgui.spacing()
        imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.WARNING))
        imgui.text_unformatted(told.note)
        imgui.pop_style_color()
    imgui.pop_font()
    imgui.pop_text_wrap_pos()
    corner, size = imgui.get_window_pos(), imgui.get_window_size()
    context.rects["caption"] = (corner.x, corner.y, size.x, size.y)
    imgui.end()


def told_in(scene: Scene, snapshot: Snapshot) -> bool:
    """Whether there is a caption."""
    return bool(scene.comparison.caption) and snapshot.scene == scene.name


def _due(context: PanelContext) -> None:
    """What to look at."""
    progress = context.goals
    if progress is None or not context.view.goals:
        return
    skip, onward = context.keymap.first("skip_goal"), context.catalogue.scenes.get(context.onward)
    if progress.due is not None:
        keys = context.keymap.keys_of(progress.due.keys)
        text = f"{progress.due.title}: {progress.due.text}{f' Keys: {keys}.' if keys else ''}"
    elif onward is not None:
        text = f"All seen. {skip}: on to \N{LEFT DOUBLE QUOTATION MARK}{onward.title}\N{RIGHT DOUBLE QUOTATION MARK}"
    else:
        return
    imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.ACCENT_BRIGHT))
    imgui.text_unformatted(f"{icons.ICON_FA_CHEVRON_RIGHT} {text}")
    imgui.pop_style_color()


def _lane(lane: LaneSnapshot) -> None:
    imgui.text_colored(imgui.ImVec4(*line_colour(lane)), icons.ICON_FA_CIRCLE)
    imgui.same_line()
    imgui.text_unformatted(f"{lane.integrator}, h = {step_text(lane.step_s)}:")
    imgui.same_line()
    colour = outcome_colour(lane)
    imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*colour))
    imgui.text_unformatted(outcome(lane))
    imgui.pop_style_color()


def outcome_colour(lane: LaneSnapshot) -> theme.Colour:
    """Good is only what also stays where the reference is, as far as there is one."""
    if lane.status is not LaneStatus.RUNNING:
        return theme.DANGER
    off = lane.deviation
    astray = off is not None and (off.position_m > ASTRAY_M or off.rotation_rad > ASTRAY_RAD)
    return theme.WARNING if astray else theme.GOOD


def outcome(lane: LaneSnapshot) -> str:
    """What has become of a lane, in a few words."""
    if lane.status is not LaneStatus.RUNNING:
        cause = lane.status_text.partition(": ")[2] or lane.status_text
        return f"{lane.status.value}, {cause}"
    if lane.deviation is None:
        return "holds"
    return f"holds, {off_text(lane)}"
