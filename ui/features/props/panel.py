"""Bodies of a scene put up, moved, turned, copied and deleted in the view, and saved into a scene of one's own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui
from imgui_bundle.imguizmo import im_guizmo

from sim.commands import SetProps
from sim.contact.obstacles import PropsPicture
from sim.simulation.lanes.snapshot import Snapshot
from sim.world import World
from ui.features.model.picking import Clicks
from ui.features.plan.gizmo import begin_gizmos, manipulated, on_screen
from ui.features.plan.pointing import Ray, on_ground, struck_prop
from ui.window import theme
from ui.window.context import PanelContext
from ui.window.requests import Action, Request
from ui.window.widgets import Item, button, label, prose, segmented

if TYPE_CHECKING:
    pass

PAGE = "window/Props"
KINDS = ("ball", "barrel", "brick", "domino", "plank", "ramp")
SNAPS = {"off": None, "5 cm": (0.05, 5.0), "25 cm": (0.25, 15.0), "1 m": (1.0, 45.0)}
_BESIDE_M = 0.1
"""Between a copy and what it is one of."""


@dataclass(frozen=True, slots=True)
class SaveProps(Action):
    """Write the scene with its props as they are."""


@dataclass(slots=True)
class PropFields:
    """What the page remembers."""

    chosen: int = -1
    snap: str = "off"
    kind: str = ""
    """That is put where the scene is clicked next; empty: a click chooses."""


def draw_props(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """What can be put up, and what is done with the chosen one."""
    fields, around = context.of(PropFields), snapshot.environment
    placed = around.placed if isinstance(around, PropsPicture) else ()
    requests: list[Request] = []
    prose(f"{len(placed)} bodies. Click one to choose it, or a kind and then the ground to put one up.")
    for k, kind in enumerate(KINDS):
        if k:
            imgui.same_line(0.0, context.px(4.0))
        if button(context, f"props/{kind}", kind, f"Click where a {kind} is to be", lit=fields.kind == kind):
            fields.kind = "" if fields.kind == kind else kind
    label(context, "Snap", "Whole multiples, while it is dragged: of lengths, and of angles")
    asked = segmented(context, "props/snap", [Item(name, name) for name in SNAPS], fields.snap)
    fields.snap = asked or fields.snap
    chosen = 0 <= fields.chosen < len(placed)
    for name, icon, doc in (
        ("duplicate", icons.ICON_FA_CLONE, "Put another one beside it"),
        ("delete", icons.ICON_FA_TRASH, "Take it away"),
    ):
        text, hint = f"{icon}  {name.capitalize()}", context.keymap.hint(name)
        if button(context, f"props/{name}", text, f"{doc}{hint}", enabled=chosen):
            requests += edited(name, snapshot, fields)
        imgui.same_line(0.0, context.px(4.0))
    text = f"{icons.ICON_FA_FLOPPY_DISK}  Save as a scene"
    if button(
        context, "props/save", text, "With all bodies where they are now, at rest", enabled=bool(placed)
    ):
        requests.append(SaveProps())
    return requests


def edited(action: str, snapshot: Snapshot, fields: PropFields) -> list[Request]:
    """What `delete` and `duplicate` do to the chosen one."""
    around = snapshot.environment
    if not isinstance(around, PropsPicture) or not 0 <= fields.chosen < len(around.placed):
        return []
    placed, k = around.placed, fields.chosen
    if action == "delete":
        fields.chosen = -1
        return [SetProps(placed[:k] + placed[k + 1 :])]
    T_w = around.poses_w[k].copy()
    T_w[1, 3] += float(np.ptp(placed[k].prop.shape.extremes_w[:, 1])) + _BESIDE_M
    fields.chosen = len(placed)
    return [SetProps((*placed, placed[k].at(T_w)))]


class PropTool:
    """Chooses a prop by a click while its page is open, and moves it by arrows and rings."""

    def __init__(self) -> None:
        self._clicks, self._active = Clicks(PAGE), False

    @property
    def wants_mouse(self) -> bool:
        """A press would move it, or does."""
        return self._active and (im_guizmo.is_using() or im_guizmo.is_over())

    def requests(
        self,
        ray_at: Callable[[float, float], Ray],
        camera: tuple[np.ndarray, np.ndarray],
        snapshot: Snapshot,
        world: World | None,
        context: PanelContext,
    ) -> list[Request]:
        """camera: view and projection (4, 4); ray_at: through window coordinates, origin top left."""
        fields, around = context.of(PropFields), snapshot.environment
        self._active = False
        if PAGE not in context.rects or snapshot.look_back is not None:
            return []
        ray = self._clicks.ray(ray_at, context)
        if ray is not None and fields.kind:
            return self._put(ray, fields, around, world)
        if not isinstance(around, PropsPicture):
            return []
        if ray is not None and not im_guizmo.is_over():
            struck = struck_prop(ray, around)
            fields.chosen = -1 if struck is None else struck.prop
        if not 0 <= fields.chosen < len(around.placed):
            return []
        self._active = True
        begin_gizmos(context)
        k, operations = fields.chosen, (im_guizmo.OPERATION.translate, im_guizmo.OPERATION.rotate)
        at = on_screen(around.poses_w[k][:3, 3], camera[1] @ camera[0], context.scene_rect)
        if at is not None:
            pen, size = imgui.get_background_draw_list(), context.px(5.0)
            pen.add_circle(at, size, theme.packed(theme.ACCENT_BRIGHT), thickness=context.px(2.0))
            context.rects["props/chosen"] = (at[0] - size, at[1] - size, 2.0 * size, 2.0 * size)
        T_w = manipulated(around.poses_w[k], operations, *camera, context, snap=SNAPS[fields.snap])
        if T_w is None:
            return []
        placed = around.placed
        return [SetProps((*placed[:k], placed[k].at(T_w), *placed[k + 1 :]))]

    def _put(self, ray: Ray, fields: PropFields, around: object, world: World | None) -> list[Request]:
        """One of a kind on the ground, or on what is under the mouse."""
        from sim.contact.obstacles.prop_kinds import usual  # kernels of bodies are loaded late

        struck = struck_prop(ray, around)
        place_w = None if world is None else on_ground(ray, world)
        if struck is not None:
            place_w = ray.origin_w + struck.distance_m * ray.direction_w
        if place_w is None:
            return []
        new = usual(fields.kind)
        T_w = new.prop.T_w
        place_w[2] += T_w[2, 3] - float(new.prop.shape.extremes_w[:, 2].min())
        T_w[:3, 3] = place_w
        placed = around.placed if isinstance(around, PropsPicture) else ()
        fields.kind, fields.chosen = "", len(placed)
        return [SetProps((*placed, new.at(T_w)))]
