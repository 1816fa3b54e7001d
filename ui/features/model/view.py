"""Choosing a body by a click in the view, while the model's page is open; what that page asks for, and poses that are
kept by name, in a file of the user's."""

from collections.abc import Callable
from dataclasses import field, replace

import numpy as np
from imgui_bundle import imgui

from sim.platform.errors import InputError, quote
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicle_config.mechanism import mechanism_of
from ui.features.plan.pointing import CLICK_PX, Ray, gripped
from ui.hud.pen import Pen
from ui.settings.view_settings import KeptFile
from ui.window import theme
from ui.window.context import Action, ChangeView, PanelContext, Request, SceneCamera, on_screen

PAGE = "window/Model"
_LEFT = imgui.MouseButton_.left.value


class Clicks:
    """Clicks in the scene that move no camera, while a page is open."""

    def __init__(self, page: str) -> None:
        self._page = page
        self._pressed_px: tuple[float, float] | None = None

    def ray(self, ray_at: Callable[[float, float], Ray], context: PanelContext) -> Ray | None:
        """Through what has just been clicked; ray_at: through window coordinates, origin top left."""
        io, mouse = imgui.get_io(), imgui.get_mouse_pos()
        if self._page not in context.rects:
            self._pressed_px = None
            return None
        if imgui.is_mouse_clicked(_LEFT):
            x, y, width, height = context.scene_rect
            inside = x <= mouse.x < x + width and y <= mouse.y < y + height
            free = inside and not (io.want_capture_mouse or io.key_ctrl)
            self._pressed_px = (mouse.x, mouse.y) if free else None
        pressed = self._pressed_px
        if pressed is None or not imgui.is_mouse_released(_LEFT):
            return None
        self._pressed_px = None
        if float(np.hypot(mouse.x - pressed[0], mouse.y - pressed[1])) > context.px(CLICK_PX):
            return None
        return ray_at(*pressed)


class BodyPicker:
    """A click chooses what is under the mouse; one beside everything chooses nothing."""

    def __init__(self) -> None:
        self._clicks = Clicks(PAGE)

    def requests(
        self,
        ray_at: Callable[[float, float], Ray],
        snapshot: Snapshot,
        shifts_w: dict[str, np.ndarray],
        context: PanelContext,
    ) -> list[Request]:
        """ray_at: through window coordinates, origin top left."""
        ray = self._clicks.ray(ray_at, context)
        if ray is None:
            return []
        flown = replace(snapshot, lanes=snapshot.lanes[:1], environment=None, beside={})
        grip = gripped(ray, flown, shifts_w)
        chosen = "" if grip is None else str(grip.body)
        return [] if chosen == context.view.chosen else [ChangeView(replace(context.view, chosen=chosen))]


def draw_choice(snapshot: Snapshot, context: PanelContext) -> None:
    """The name of the chosen body beside its centre of mass."""
    chosen, camera = context.view.chosen, context.find(SceneCamera)
    if not chosen or camera is None or context.view.views > 1:
        return
    lane = camera.as_drawn(snapshot).lanes[0]
    if chosen not in lane.bodies:
        return
    mass = None if lane.mechanics is None else mechanism_of(lane.mechanics).mass_of(chosen)
    T_wb, centre_b = lane.bodies[chosen], np.zeros(3) if mass is None else mass.centre_b
    place_w = T_wb[:3, :3] @ centre_b + T_wb[:3, 3] + camera.shifts_w.get(lane.name, np.zeros(3))
    at = on_screen(place_w, camera.projection @ camera.view, context.scene_rect)
    if at is None:
        return
    pen = Pen.over(context, fitting=False)
    width, height = pen.width(chosen, 13.0) + pen.px(12.0), pen.px(20.0)
    left, top = at[0] + pen.px(18.0), at[1] - 0.5 * height
    low, high = (left, top), (left + width, top + height)
    pen.draw_list.add_line(at, (left, at[1]), theme.packed(theme.ACCENT), pen.px(1.5))
    pen.draw_list.add_rect_filled(low, high, theme.packed(theme.GROUND, 0.85), pen.px(4.0))
    pen.text((left + pen.px(6.0), top + pen.px(2.5)), chosen, size=13.0, colour=theme.ACCENT_BRIGHT)
    context.rects["model/chosen"] = (left, top, width, height)


@dataclass(frozen=True, slots=True)
class KeepPose(Action):
    """The flown vehicle's present coordinates, under a name."""

    name: str


@dataclass(frozen=True, slots=True)
class DropPose(Action):
    """Forget one of the flown vehicle's."""

    name: str


@dataclass(frozen=True, slots=True)
class RenamePose(Action):
    """Call one of the flown vehicle's otherwise."""

    name: str
    new: str


@dataclass(frozen=True, slots=True)
class SetRoot(Action):
    """Let the root of the flown robot float, or fix it to the world as its file has it."""

    free: bool


MOST, MOST_VEHICLES, MOST_COORDINATES = 24, 60, 600
"""Of one vehicle; vehicles; numbers of one pose."""
LONGEST = 40
"""Of a name."""


@dataclass(frozen=True, slots=True)
class Poses:
    """All of them: vehicle -> name -> coordinate -> value [rad or m]."""

    vehicles: dict[str, dict[str, dict[str, float]]] = field(default_factory=dict)

    def of(self, vehicle: str) -> dict[str, dict[str, float]]:
        """In the order in which they were kept."""
        return self.vehicles.get(vehicle, {})

    def with_one(self, vehicle: str, name: str, values: dict[str, float]) -> "Poses":
        """One more, or another one under that name. Raises InputError for what is no name, and where there are too
        many."""
        name, here = _name(name), self.of(vehicle)
        full = len(here) >= MOST and name not in here
        if full or (not here and len(self.vehicles) >= MOST_VEHICLES):
            raise InputError(f"no more than {MOST} poses of a vehicle, of {MOST_VEHICLES} vehicles")
        return replace(self, vehicles={**self.vehicles, vehicle: {**here, name: values}})

    def renamed(self, vehicle: str, name: str, new: str) -> "Poses":
        """One under another name, in its place. Raises InputError for what is no name, and for another one's."""
        new, here = _name(new), self.of(vehicle)
        if new != name and new in here:
            raise InputError(f"there is a pose {quote(new)} already; allowed: a name that no other pose has")
        poses = {new if other == name else other: values for other, values in here.items()}
        return replace(self, vehicles={**self.vehicles, vehicle: poses}) if name in here else self

    def without(self, vehicle: str, name: str) -> "Poses":
        """All but that one."""
        left = {other: pose for other, pose in self.of(vehicle).items() if other != name}
        others = {other: poses for other, poses in self.vehicles.items() if other != vehicle}
        return replace(self, vehicles={**others, vehicle: left} if left else others)


def _name(text: str) -> str:
    name = text.strip()
    if not name or len(name) > LONGEST or not name.isprintable():
        raise InputError(f"a pose wants a name of 1 to {LONGEST} printable characters")
    return name


def _check(kept: Poses) -> None:
    if len(kept.vehicles) > MOST_VEHICLES or any(len(poses) > MOST for poses in kept.vehicles.values()):
        raise InputError("too many")
    for name, pose in (item for poses in kept.vehicles.values() for item in poses.items()):
        if len(pose) > MOST_COORDINATES or len(name) > LONGEST or not name.isprintable():
            raise InputError("a pose that cannot be")


POSES = KeptFile("poses.json", Poses, "poses", _check)
