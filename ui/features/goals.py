"""The goals of a scene over the view: all of them in a list, and a mark where the due one is."""

from collections.abc import Iterable

from imgui_bundle import icons_fontawesome_6 as icons

from sim.platform.values import dataclass
from sim.scene import Scene
from sim.scene.conditions import AlongWay
from sim.scene.goals import SceneGoal
from sim.simulation.lanes.snapshot import Snapshot
from sim.simulation.runs.judge import Judge, Progress
from ui.features.feature import Actions
from ui.hud.instruments import HEIGHT
from ui.hud.pen import Pen, draw_marker
from ui.settings.view_settings import distance
from ui.window import theme
from ui.window.context import Action, LoadScene, PanelContext, Request, SceneCamera
from ui.window.widgets import has_caption


@dataclass(frozen=True, slots=True)
class GoalsView:
    """What is to be done in the scene, and how far it is."""

    progress: Progress | None = None
    """None where the scene has no goals."""
    onward: str = ""
    """Name of the scene that follows once all is done."""


WIDTH, PAD, MARGIN, TOP = 264.0, 10.0, 12.0, 12.0
SIZE_GOALS, ROW = 14.0, 19.0
TICK, SKIPPED, DUE, OPEN = (
    icons.ICON_FA_CHECK,
    icons.ICON_FA_MINUS,
    icons.ICON_FA_CHEVRON_RIGHT,
    "\N{MIDDLE DOT}",
)
HIGHEST = 0.36
"""Share of the scene's height that it may take; beyond it only the due goal is shown, and which of them it is."""

Line = tuple[str, str, theme.Colour, bool]
"""(mark, text, colour, bold)."""


def draw_goals(progress: Progress, context: PanelContext) -> None:
    """At the upper left, beside or below the heading tape; its place is left in `context.rects`."""
    pen = Pen.over(context, fitting=False)
    x, y, scene_width, scene_height = context.scene_rect
    wide = min(pen.px(WIDTH), scene_width - pen.px(2.0 * MARGIN))
    room = wide - pen.px(2.0 * PAD + 16.0)
    lines = goal_lines(progress, pen, room, context)
    if pen.px(ROW) * (len(lines) + 1) > HIGHEST * scene_height:
        lines = _due_only(lines, progress)
    tape = context.rects.get("hud/heading")
    left, top = x + pen.px(MARGIN), y + pen.px(TOP)
    if tape is not None and left + wide > tape[0] - pen.px(MARGIN):
        top = tape[1] + pen.px(HEIGHT + 8.0)
    tall = pen.px(ROW) * len(lines) + pen.px(2.0 * PAD)
    pen.draw_list.add_rect_filled(
        (left, top), (left + wide, top + tall), theme.packed(theme.GROUND, 0.72), pen.px(8.0)
    )
    for number, (mark, text, colour, bold) in enumerate(lines):
        row = top + pen.px(PAD) + number * pen.px(ROW)
        pen.text((left + pen.px(PAD), row), mark, size=SIZE_GOALS - 2.0, colour=colour)
        pen.text((left + pen.px(PAD + 16.0), row), text, size=SIZE_GOALS, colour=colour, bold=bold)
    way = None if progress.due is None else progress.due.find(AlongWay)
    if progress.due is not None and progress.held > 0.0:
        pen.bar((left, top + tall - pen.px(4.0)), wide, progress.held, theme.GOOD)
    elif way is not None:
        share = 1.0 - progress.distance_m / max(way.way_m, 1e-9)
        pen.bar((left, top + tall - pen.px(4.0)), wide, share, theme.ACCENT)
        context.rects["goals/way"] = (left, top + tall - pen.px(4.0), max(share, 0.0) * wide, pen.px(4.0))
    context.rects["goals"] = (left, top, wide, tall)


def _due_only(lines: list[Line], progress: Progress) -> list[Line]:
    number = f" ({progress.at + 1} of {len(progress.goals)})" if progress.due is not None else ""
    return [
        (mark, text + (number if mark == DUE else ""), colour, bold)
        for mark, text, colour, bold in lines
        if mark not in (TICK, SKIPPED, OPEN)
    ]


def goal_lines(progress: Progress, pen: Pen, room: float, context: PanelContext) -> list[Line]:
    """Its lines."""
    lines: list[Line] = []
    for index, goal in enumerate(progress.goals):
        if index == progress.at:
            lines.append((DUE, goal.title, theme.ACCENT_BRIGHT, True))
            for told in context.keymap.told_of(goal.keys):
                lines += [("", part, theme.ACCENT_BRIGHT, True) for part in wrapped(pen, told, room)]
            lines += [("", text, theme.INK, False) for text in wrapped(pen, goal.words, room)]
            if progress.marker_w is not None:
                units, way = context.view.units, goal.find(AlongWay)
                told = f"{distance(progress.distance_m, units)} to the marker"
                if way is not None:  # whose marker goes ahead
                    done_m = max(way.way_m - progress.distance_m, 0.0)
                    told = f"{distance(done_m, units)} along the way, {distance(progress.distance_m, units)} left"
                lines.append(("", told, theme.INK, True))
        else:
            left_out = index in progress.skipped
            mark = SKIPPED if left_out else TICK if index < progress.at else OPEN
            colour = theme.GOOD if mark == TICK else theme.MUTED
            lines.append((mark, goal.title, colour, False))
    if progress.graded is not None:
        text = progress.graded.words
        lines += [("", part, theme.GOOD, True) for part in wrapped(pen, text, room)]
    skip, again, hide = (context.keymap.first(name) for name in ("skip_goal", "goals_again", "goals"))
    if progress.due is None:
        lines.append((DUE, f"All done. {again}: once more", theme.ACCENT_BRIGHT, True))
        onward = context.catalogue.scenes.get(context.of(GoalsView).onward)
        if onward is not None:
            text = (
                f"{skip}: on to \N{LEFT DOUBLE QUOTATION MARK}{onward.title}\N{RIGHT DOUBLE QUOTATION MARK}"
            )
            lines += [("", part, theme.ACCENT_BRIGHT, True) for part in wrapped(pen, text, room)]
    else:
        lines.append(("", f"{skip} skips, {again} begins again, {hide} hides", theme.MUTED, False))
    return lines


def wrapped(pen: Pen, text: str, room: float) -> list[str]:
    """Lines of whole words that fit into `room` pixels."""
    lines: list[str] = []
    for word in text.split():
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and pen.width(longer, SIZE_GOALS) <= room:
            lines[-1] = longer
        else:
            lines.append(word)
    return lines


@dataclass(frozen=True, slots=True)
class SkipGoal(Action):
    """Go on to the next goal of the scene."""


@dataclass(frozen=True, slots=True)
class RestartGoals(Action):
    """The first goal of the scene is due again."""


def draw_goals_over(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """List and marker, while the scene's own vehicle is flown in the present."""
    progress, scene, view = context.of(GoalsView).progress, context.find(Scene), context.view
    if progress is None or scene is None or not view.goals or snapshot.look_back is not None:
        return []
    if snapshot.lanes[0].vehicle != scene.vehicle.name:
        return []
    if not (view.caption and has_caption(scene, snapshot)):  # a caption has what is due in its own words
        draw_goals(progress, context)
    camera = context.find(SceneCamera)
    if progress.marker_w is not None and camera is not None and view.views == 1:
        text = distance(progress.distance_m, view.units)
        draw_marker("goal_marker", progress.marker_w, text, theme.ACCENT_BRIGHT, camera, context)
    return []


class GoalActions(Actions):
    """Judges the goals of the scene."""

    handles = (SkipGoal, RestartGoals)

    def begin(self) -> None:
        self._judge_by(self.app.scene.goals)
        self._progress: Progress | None = None

    def _judge_by(self, goals: tuple[SceneGoal, ...]) -> None:
        self._goals = goals
        self._judge = Judge(goals, self.app.scene.vehicle, self.app.world)

    def poll(self, snapshot: Snapshot) -> None:
        layout = snapshot.layout
        if layout is not None and layout.goals != self._goals:
            self._judge_by(layout.goals)
        self._progress = self._judge.observe(snapshot) if self._goals else None

    def views(self, snapshot: Snapshot) -> Iterable[object]:
        return (GoalsView(self._progress, self.app.scene.onward),)

    def carry_out(self, action: object) -> None:
        scene = self.app.scene
        if isinstance(action, RestartGoals):
            self._judge.restart()
            return
        if scene.onward and self._goals and self._judge.progress.due is None:
            self.app.do(LoadScene(scene.onward))
        self._judge.skip()
