"""The page that puts up, moves, scales, copies and deletes what a scene has in its world, and the tool in the view."""

from collections.abc import Callable, Sequence

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui
from imgui_bundle.imguizmo import im_guizmo

from sim.planner.service.session import PlanView
from sim.platform.values import dataclass
from sim.scene.layout import START
from sim.shapes.shape import Handle
from sim.simulation.lanes.snapshot import Snapshot
from sim.world import World
from ui.features.model.view import Clicks
from ui.features.placing.gizmo import MOVE, SCALE, SNAPS, Gizmo, GizmoFields, Movables, TaskMarks, said_of
from ui.features.placing.things import MARKS, PROPS, WIND, SceneThings
from ui.features.plan.pointing import Ray, on_ground, struck_prop
from ui.window.context import Action, PanelContext, Request
from ui.window.widgets import button, label, note, prose, significant, tooltip

PAGE = "window/Placing"
_MODES = (
    (MOVE, "Move and turn", "Arrows move along the axes of the world, rings turn"),
    (SCALE, "Scale", "Drag any of the handles: it grows about its middle, of the same density"),
)
_FIELD_PX, _STEP = 74.0, 0.05
OBSTACLE = "obstacle"
_ALONE = {
    START: "Where the vehicle starts",
    WIND: "Velocity of the air; its arrow stands some metres over the start",
}
_WHAT_FOR = {
    "gate": "gates make a race in their order",
    "goal": "goals are done in their order",
    OBSTACLE: "plans keep clear of it",
}


@dataclass(frozen=True, slots=True)
class SaveLayout(Action):
    """Write the scene with all that was placed as it is."""


@dataclass(slots=True)
class PlacingFields:
    """What the page remembers."""

    kind: str = ""
    """That is put where the scene is clicked next; empty: a click chooses."""


def movables(snapshot: Snapshot, context: PanelContext) -> Sequence[Movables]:
    """All that there is now: marks of a plan always, the rest while its page is open."""
    plan, world = context.find(PlanView), context.find(World)
    marks: list[Movables] = [] if plan is None else [TaskMarks(plan)]
    if (
        PAGE in context.rects
        and world is not None
        and snapshot.look_back is None
        and snapshot.layout is not None
    ):
        marks.append(SceneThings(snapshot, world))
    return marks


def draw_placing(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """What can be put up, and what is done with the chosen one."""
    fields, gizmo, requests = context.of(PlacingFields), context.of(GizmoFields), list[Request]()
    prose(
        "Click a dot or a body in the view to choose it, or a kind here and then the ground to put one up."
        + ("" if snapshot.paused else " Bodies fall while time goes on: pause to build in the air.")
    )
    marks = MARKS if context.find(PlanView) is None else (*MARKS, OBSTACLE)
    for title, kinds, doc in (
        ("Bodies", PROPS, "Click where a {} is to be"),
        ("Marks", marks, "Click where this is to be: {}"),
    ):
        _go_on(context, title, begins=kinds is PROPS)
        imgui.align_text_to_frame_padding()
        imgui.text_disabled(title)
        for kind in kinds:
            _go_on(context, kind)
            said = _WHAT_FOR.get(kind, kind)
            if button(context, f"place/{kind}", kind, doc.format(said), lit=fields.kind == kind):
                fields.kind = "" if fields.kind == kind else kind
    _choices(snapshot, context)
    for mode, text, doc in _MODES:
        _go_on(context, text, begins=mode == MOVE)
        if button(context, f"place/mode/{mode}", text, doc, lit=gizmo.mode == mode):
            gizmo.mode = mode
    _go_on(context, "Snap")
    imgui.align_text_to_frame_padding()
    imgui.text_disabled("Snap")
    tooltip("Whole multiples, while it is dragged: of lengths, and of angles")
    for name in SNAPS:
        _go_on(context, name)
        if button(context, f"place/snap/{name}", name, lit=gizmo.snap == name):
            gizmo.snap = name
    sources = movables(snapshot, context)
    found = [
        (things, handle) for things in sources for handle in things.handles if handle.name == gizmo.chosen
    ]
    things, chosen = found[0][0] if found else None, gizmo.chosen
    more = things is not None and bool(things.copied(chosen)[0])
    less = things is not None and bool(things.without(chosen))
    for name, icon, doc, can in (
        ("duplicate", icons.ICON_FA_CLONE, "Put another one beside it", more),
        ("delete", icons.ICON_FA_TRASH, "Take it away", less),
    ):
        text, hint = f"{icon}  {name.capitalize()}", context.keymap.hint(name)
        _go_on(context, text, begins=name == "duplicate")
        if button(context, f"place/{name}", text, f"{doc}{hint}", enabled=can):
            requests += Gizmo.edited(name, sources, gizmo)
    lowered = things.grounded(chosen) if isinstance(things, SceneThings) else []
    text = f"{icons.ICON_FA_ARROW_DOWN}  To the ground"
    _go_on(context, text)
    if button(
        context, "place/ground", text, "Straight down, or up, until it stands there", enabled=bool(lowered)
    ):
        requests += lowered
    text = f"{icons.ICON_FA_FLOPPY_DISK}  Save as a scene"
    _go_on(context, text)
    if button(
        context,
        "place/save",
        text,
        "With everything where it is now, at rest; it is found under My scenes",
    ):
        requests.append(SaveLayout())
    if found:
        requests += _numbers(*found[0], context)
    return requests


def _choices(snapshot: Snapshot, context: PanelContext) -> None:
    """What a scene has one of, and what may be out of the picture."""
    gizmo = context.of(GizmoFields)
    there = {handle.name for things in movables(snapshot, context) for handle in things.handles}
    for number, name in enumerate(name for name in _ALONE if name in there):
        if not number:
            _go_on(context, "Choose")
            imgui.align_text_to_frame_padding()
            imgui.text_disabled("Choose")
        _go_on(context, name)
        if button(context, f"place/choose/{name}", name, _ALONE[name], lit=gizmo.chosen == name):
            gizmo.chosen = "" if gizmo.chosen == name else name


def _go_on(context: PanelContext, text: str, *, begins: bool = False) -> None:
    """In the same line, where the next button has room in it; `begins`: in a new one."""
    wide = imgui.calc_text_size(text).x + 2.0 * imgui.get_style().frame_padding.x + context.px(4.0)
    right = imgui.get_window_pos().x + imgui.get_window_width() - imgui.get_style().window_padding.x
    if not begins and imgui.get_item_rect_max().x + wide < right - imgui.get_style().scrollbar_size:
        imgui.same_line(0.0, context.px(4.0))


def _numbers(things: Movables, handle: Handle, context: PanelContext) -> list[Request]:
    """The place of the chosen one, of the wind its velocity, to be dragged or typed."""
    T_w, wind_w = handle.T_w.copy(), None
    if isinstance(things, SceneThings) and handle.name == WIND:
        wind_w = things.wind_w
    doc = "Where it is in the world: x, y, z [m]" if wind_w is None else "Velocity of the air: x, y, z [m/s]"
    label(context, said_of(handle.name), doc, width=_FIELD_PX)
    told = T_w[:3, 3] if wind_w is None else wind_w
    changed, place = imgui.drag_float3(
        "##place/at", (np.round(told, 4) + 0.0).tolist(), _STEP, 0.0, 0.0, "%.2f"
    )
    note(context, "place/at")
    tooltip("Drag, or double-click to type")
    if not changed:
        return []
    if wind_w is not None:
        assert isinstance(things, SceneThings)
        return things.blown(np.array([significant(x) for x in place]))
    T_w[:3, 3] = [significant(x) for x in place]
    return things.moved(handle.name, T_w)


def _put_up(
    kind: str, ray: Ray, sources: Sequence[Movables], scene: SceneThings
) -> tuple[list[Request], str]:
    """One more of a kind where a ray meets the ground; and its name."""
    if kind != OBSTACLE:
        return scene.put_up(kind, ray)
    place_w = on_ground(ray, scene.world)
    task = next((things for things in sources if isinstance(things, TaskMarks)), None)
    return ([], "") if task is None or place_w is None else task.put_up(place_w)


class PlacingTool:
    """Chooses by a click, puts up what the page has in hand, and moves what is chosen."""

    def __init__(self) -> None:
        self._clicks, self._gizmo = Clicks(PAGE), Gizmo()

    @property
    def wants_mouse(self) -> bool:
        """A press would move something, or does."""
        return self._gizmo.wants_mouse

    @staticmethod
    def edited(action: str, snapshot: Snapshot, context: PanelContext) -> list[Request]:
        """What the keys `delete` and `duplicate` do to the chosen one."""
        return Gizmo.edited(action, movables(snapshot, context), context.of(GizmoFields))

    def draw(
        self,
        ray_at: Callable[[float, float], Ray],
        camera: tuple[np.ndarray, np.ndarray],
        snapshot: Snapshot,
        context: PanelContext,
        *,
        views: int,
    ) -> list[Request]:
        """camera: view and projection (4, 4); ray_at: through window coordinates, origin top left."""
        fields, gizmo, sources = (
            context.of(PlacingFields),
            context.of(GizmoFields),
            movables(snapshot, context),
        )
        scene = next((things for things in sources if isinstance(things, SceneThings)), None)
        ray = self._clicks.ray(ray_at, context) if views == 1 else None
        if ray is not None and scene is not None and not self._gizmo.wants_mouse and not im_guizmo.is_over():
            if fields.kind:
                requests, gizmo.chosen = _put_up(fields.kind, ray, sources, scene)
                fields.kind = ""
                return requests
            struck = struck_prop(ray, snapshot.environment)
            gizmo.chosen = gizmo.chosen if struck is None and not gizmo.chosen.startswith("prop") else ""
            if struck is not None:
                gizmo.chosen = f"prop {struck.prop}"
        return self._gizmo.draw(sources, *camera, context)
