"""Things moved by hand in the view, whatever they are of: dots to choose one by, and arrows and rings upon it."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np
from imgui_bundle import imgui
from imgui_bundle.imguizmo import im_guizmo

from sim.planner.service.requests import EditTask
from sim.planner.service.session import PlanView
from sim.planner.task.handles import (
    copied,
    handles,
    moved,
    never_along,
    scaled,
    with_obstacle,
    without,
)
from sim.platform.values import dataclass
from sim.shapes.shape import Handle
from ui.window import theme
from ui.window.context import Indirect, PanelContext, Request, on_screen
from ui.window.widgets import Box, placed

_DOT_PX = 6.0
_APART_PX = 4.0
"""Of room about each dot."""
_NEAR_PX = 16.0
_SAID = {"prop": "body"}
_LINE_PX, _ARROW_PX = 4.0, 9.0
_DRAWN_RGB = (0x0000AA, 0x00AA00, 0xAA0000)
"""Of the axes x, y and z as ImGuizmo draws them (0xBBGGRR): too dark over rock and water, and its bindings set none."""
_RGB = 0xFFFFFF
_TURNING = {
    "x": im_guizmo.OPERATION.rotate_x,
    "y": im_guizmo.OPERATION.rotate_y,
    "z": im_guizmo.OPERATION.rotate_z,
}
_COLOURS = {
    "goal": theme.GOOD,
    "waypoint": theme.ACCENT_BRIGHT,
    "obstacle": theme.DANGER,
    "start": theme.ACCENT,
    "gate": theme.WARNING,
    "wind": theme.AXIS_Z,
}
SNAPS = {"off": None, "5 cm": (0.05, 5.0, 0.05), "25 cm": (0.25, 15.0, 0.25), "1 m": (1.0, 45.0, 1.0)}
"""By what is said of them: metres, degrees, and steps of a size that something is scaled to, by its present one."""
MOVE, SCALE = "move", "scale"
_SCALE_RANGE = (0.1, 10.0)
"""Of a drag."""
_AXIS, _EDGE_ON = 0.99, 0.02
"""Cosine from which on a direction is an axis; sine below which a ray lies in a plane."""


@dataclass(slots=True)
class GizmoFields:
    """What is chosen, and what the hand does to it."""

    chosen: str = ""
    """Its handle's name; empty: nothing."""
    mode: str = MOVE
    snap: str = "off"


class Movables(Protocol):
    """Things that can be moved: a value of the present frame, whose edits are requests."""

    @property
    def prefix(self) -> str:
        """Of the names that their dots have among the widgets."""

    @property
    def handles(self) -> Sequence[Handle]:
        """Where they are in the world."""

    def never_along(self, name: str) -> np.ndarray | None:
        """(3,) unit direction along which it stays where it is: up, of what keeps its level. None: it goes anywhere."""

    def dotted(self, name: str) -> bool:
        """Whether it is chosen by a dot; what has none is chosen otherwise."""

    def moved(self, name: str, T_w: np.ndarray) -> list[Request]:
        """One of them is to be at a pose (4, 4)."""

    def scaled(self, name: str, factor: float) -> list[Request]:
        """One of them is to be larger by a factor than it is in this value."""

    def without(self, name: str) -> list[Request]:
        """One of them is to go; nothing where it has to stay."""

    def copied(self, name: str) -> tuple[list[Request], str]:
        """There is to be another one; its name."""


@dataclass(frozen=True, slots=True)
class TaskMarks:
    """Goal, waypoints and obstacles of a plan's task."""

    plan: PlanView
    prefix: str = "plan/handle"

    @property
    def handles(self) -> Sequence[Handle]:
        plan = self.plan
        origin_w, mpc_flies = np.array(plan.origin_w), plan.mpc is not None and plan.mpc.on
        # Plans in flight have their goal pointed at.
        return [
            replace(handle, T_w=_shifted(handle.T_w, origin_w))
            for handle in handles(plan.vehicle, plan.task)
            if not (mpc_flies and handle.name == "goal")
        ]

    def never_along(self, name: str) -> np.ndarray | None:
        return never_along(self.plan.vehicle, self.plan.task, name)

    def dotted(self, name: str) -> bool:
        return True

    def moved(self, name: str, T_w: np.ndarray) -> list[Request]:
        T_w = _shifted(T_w, -np.array(self.plan.origin_w))
        return [EditTask(moved(self.plan.vehicle, self.plan.task, name, T_w))]

    def scaled(self, name: str, factor: float) -> list[Request]:
        return [EditTask(scaled(self.plan.task, name, factor))]

    def without(self, name: str) -> list[Request]:
        return [] if name == "goal" else [EditTask(without(self.plan.task, name))]

    def put_up(self, place_w: np.ndarray) -> tuple[list[Request], str]:
        """One more obstacle at a place (3,); and its name."""
        task, T_w = with_obstacle(self.plan.vehicle, self.plan.task), np.eye(4)
        T_w[:3, 3] = place_w - np.array(self.plan.origin_w)
        name = f"obstacle {len(task.obstacles) - 1}"
        return [EditTask(moved(self.plan.vehicle, task, name, T_w))], name

    def copied(self, name: str) -> tuple[list[Request], str]:
        return ([] if name == "goal" else [EditTask(copied(self.plan.task, name))]), name


class Gizmo:
    """Of a kind of things. Wants the camera of the last frame drawn."""

    def __init__(self) -> None:
        self._hovered = ""
        self._active = False
        self._scales: Movables | None = None
        """As they were when a drag that scales began."""

    @property
    def wants_mouse(self) -> bool:
        """A press would hit it, or it is held: the camera leaves the mouse alone."""
        over = im_guizmo.is_over() and not imgui.get_io().key_ctrl
        return bool(self._hovered) or (self._active and (im_guizmo.is_using() or over))

    @staticmethod
    def edited(action: str, sources: Sequence[Movables], fields: GizmoFields) -> list[Request]:
        """What `delete` and `duplicate` do to the chosen one."""
        for things in sources:
            if fields.chosen in {handle.name for handle in things.handles}:
                if action == "duplicate":
                    requests, fields.chosen = things.copied(fields.chosen)
                    return requests
                requests = things.without(fields.chosen)
                fields.chosen = "" if requests else fields.chosen
                return requests
        return []

    def draw(
        self,
        sources: Sequence[Movables],
        view_matrix: np.ndarray,
        projection: np.ndarray,
        context: PanelContext,
    ) -> list[Request]:
        """Everything that can be moved, over the scene; what is asked for where the hand has moved it.

        Matrices (4, 4) act on columns, as render.frame.View has them.
        """
        begin_gizmos(context)
        fields = context.of(GizmoFields)
        parts = [(things, handle) for things in sources for handle in things.handles]
        self._dots(parts, fields, projection @ view_matrix, context)
        # Of what a press has just chosen the gizmo is there in the same frame: it takes the press, and drags at once.
        found = next((part for part in parts if part[1].name == fields.chosen), None)
        self._active = found is not None
        if found is None:
            return []
        things, chosen = found
        if fields.mode == SCALE:
            return self._scaled(things, chosen, view_matrix, projection, context)
        still, operations = things.never_along(chosen.name), [im_guizmo.OPERATION.translate]
        operations += [_TURNING[axis] for axis in chosen.turns]
        T_w = manipulated(
            chosen.T_w, operations, view_matrix, projection, context, still=still, snap=SNAPS[fields.snap]
        )
        if T_w is None:
            return []
        if still is not None:
            T_w = on_plane(T_w, chosen.T_w[:3, 3], still, view_matrix)
        return things.moved(chosen.name, T_w)

    def _scaled(
        self,
        things: Movables,
        chosen: Handle,
        view_matrix: np.ndarray,
        projection: np.ndarray,
        context: PanelContext,
    ) -> list[Request]:
        if self._scales is None or not im_guizmo.is_using():
            self._scales = things
        # What grows rises or falls meanwhile: the hand's way counts from where it was taken hold of.
        held = next((each for each in self._scales.handles if each.name == chosen.name), chosen)
        operation = (im_guizmo.OPERATION.scale,)
        T_w = manipulated(held.T_w, operation, view_matrix, projection, context)
        if T_w is None:
            return []
        factors = np.linalg.norm(T_w[:3, :3], axis=0)
        factor = float(factors[np.argmax(np.abs(np.log(np.maximum(factors, 1e-9))))])
        snap = SNAPS[context.of(GizmoFields).snap]
        return self._scales.scaled(chosen.name, scaling(factor, None if snap is None else snap[2]))

    def _dots(
        self,
        parts: Sequence[tuple[Movables, Handle]],
        fields: GizmoFields,
        clip_from_world: np.ndarray,
        context: PanelContext,
    ) -> None:
        mouse = imgui.get_mouse_pos()
        pen = imgui.get_background_draw_list()
        io = imgui.get_io()
        free = not (io.want_capture_mouse or io.key_ctrl or im_guizmo.is_using())
        self._hovered = ""
        nearest = context.px(_NEAR_PX)
        size, taken = context.px(_DOT_PX), list[Box]()
        # The chosen one first: where others are in the same place, it is they that have to stand beside.
        for things, handle in sorted(parts, key=lambda part: part[1].name != fields.chosen):
            chosen = handle.name == fields.chosen
            place = on_screen(handle.T_w[:3, 3], clip_from_world, context.scene_rect)
            if place is None or not (chosen or things.dotted(handle.name)):
                continue
            room = nearest if chosen else size + context.px(_APART_PX)
            box = placed(_about(place, room), context.scene_rect, taken, step=0.5 * size)
            taken.append(box)
            if not chosen:
                place = box[0] + 0.5 * box[2], box[1] + 0.5 * box[3]
            rect = _about(place, size)
            context.rects[f"{things.prefix}/{handle.name}"] = rect
            colour = _COLOURS.get(handle.name.partition(" ")[0], theme.INK)
            if handle.points_to_w is not None:
                end = on_screen(handle.points_to_w, clip_from_world, context.scene_rect)
                if end is not None:
                    pen.add_line(place, end, theme.packed(theme.GROUND, 0.8), context.px(6.0))
                    pen.add_line(place, end, theme.packed(colour), context.px(3.0))
            away = float(np.hypot(mouse.x - place[0], mouse.y - place[1]))
            if free and away < nearest and not chosen:
                self._hovered, nearest = handle.name, away
            if chosen:
                context.rects[f"{things.prefix}/chosen"] = rect
                continue
            hot = handle.name == self._hovered
            pen.add_circle_filled(
                place, size + context.px(4.0 if hot else 3.0), theme.packed(theme.GROUND, 0.8)
            )
            pen.add_circle_filled(place, size + context.px(2.0 if hot else 1.0), theme.packed(theme.INK))
            pen.add_circle_filled(place, size - context.px(1.0), theme.packed(colour))
        if self._hovered:
            imgui.set_tooltip(said_of(self._hovered))
            if imgui.is_mouse_clicked(imgui.MouseButton_.left.value):
                fields.chosen = self._hovered


def said_of(name: str) -> str:
    """What a thing is called, with its number where there are several."""
    kind, _, index = name.partition(" ")
    return _SAID.get(kind, kind).capitalize() + (f" {int(index) + 1}" if index else "")


def _about(place: tuple[float, float], room: float) -> Box:
    return place[0] - room, place[1] - room, 2 * room, 2 * room


def scaling(factor: float, step: float | None) -> float:
    """A factor by which something is scaled, within what one drag may do; in whole steps from 1 on where there are any,
    below it as fractions whose inverse is one of these."""
    factor = min(max(factor, _SCALE_RANGE[0]), _SCALE_RANGE[1])
    if step is None:
        return factor
    larger = max(factor, 1.0 / factor)
    snapped = 1.0 + step * round((larger - 1.0) / step)
    return snapped if factor >= 1.0 else 1.0 / snapped


def begin_gizmos(context: PanelContext) -> None:
    """Once a frame, before anything is to be moved. With Ctrl held a press pulls what lies there instead."""
    im_guizmo.begin_frame()
    im_guizmo.enable(not imgui.get_io().key_ctrl or im_guizmo.is_using())
    style = im_guizmo.get_style()
    style.translation_line_thickness = style.rotation_line_thickness = context.px(_LINE_PX)
    style.translation_line_arrow_size = context.px(_ARROW_PX)


def manipulated(
    T_w: np.ndarray,
    operations: Iterable[im_guizmo.OPERATION],
    view_matrix: np.ndarray,
    projection: np.ndarray,
    context: PanelContext,
    *,
    still: np.ndarray | None = None,
    snap: tuple[float, float, float] | None = None,
) -> np.ndarray | None:
    """The pose (4, 4) as the hand has moved it in this frame by arrows and rings upon it; None where it did not.

    still: (3,) unit direction, of which there is no arrow where it is an axis. snap: whole multiples of so many metres
    and degrees; the third number is of scaling.
    """
    pen = imgui.get_background_draw_list()
    begin = pen.vtx_buffer.size()
    im_guizmo.set_drawlist(pen)
    im_guizmo.set_rect(*context.scene_rect)
    im_guizmo.set_orthographic(False)
    camera, lens = matrix16(view_matrix), matrix16(projection)
    pose, changed = matrix16(T_w), False
    without = [False] * 3 if still is None else [bool(abs(along) > _AXIS) for along in still]
    for index, operation in enumerate(operations):
        im_guizmo.push_id(index)
        moves = operation == im_guizmo.OPERATION.translate
        im_guizmo.set_axis_mask(*(moves and hidden for hidden in without))
        step = None if snap is None else im_guizmo.Matrix3([snap[0] if moves else snap[1]] * 3)
        changed |= im_guizmo.manipulate(camera, lens, operation, im_guizmo.MODE.world, pose, None, step)
        im_guizmo.pop_id()
    recolour_axes(pen, begin)
    return from_matrix16(pose) if changed else None


def recolour_axes(pen: imgui.ImDrawList, begin: int) -> None:
    """Give all that was drawn of an axis, from the vertex `begin` on, the theme's colour of that axis."""
    axes = zip(_DRAWN_RGB, (theme.AXIS_X, theme.AXIS_Y, theme.AXIS_Z), strict=True)
    paints = {drawn: theme.packed(colour) & _RGB for drawn, colour in axes}
    vertices = pen.vtx_buffer
    for index in range(begin, vertices.size()):
        paint = paints.get(vertices[index].col & _RGB)
        if paint is not None:
            vertices[index].col = vertices[index].col & ~_RGB | paint


def on_plane(
    T_w: np.ndarray, through_w: np.ndarray, normal_w: np.ndarray, view_matrix: np.ndarray
) -> np.ndarray:
    """The pose moved along the eye's ray through it to a plane: under the mouse still, but on the ground, say."""
    eye = -view_matrix[:3, :3].T @ view_matrix[:3, 3]
    ray = T_w[:3, 3] - eye
    along = float(ray @ normal_w)
    share = (
        float((through_w - eye) @ normal_w) / along if abs(along) > _EDGE_ON * np.linalg.norm(ray) else -1.0
    )
    moved_T_w = T_w.copy()
    # A ray that leads away meets none, one along it meets it anywhere: then what is across the plane is given up.
    off = float((through_w - T_w[:3, 3]) @ normal_w)
    moved_T_w[:3, 3] = eye + share * ray if share > 0.0 else T_w[:3, 3] + off * normal_w
    return moved_T_w


def matrix16(matrix: np.ndarray) -> im_guizmo.Matrix16:
    """A (4, 4) matrix that acts on columns, one column after the other."""
    return im_guizmo.Matrix16([float(x) for x in np.asarray(matrix).T.ravel()])


def from_matrix16(values: im_guizmo.Matrix16) -> np.ndarray:
    """The inverse of `matrix16`, in double precision."""
    return np.array(values.values, float).reshape(4, 4).T


def _shifted(T_w: np.ndarray, by_w: np.ndarray) -> np.ndarray:
    T_w = T_w.copy()
    T_w[:3, 3] += by_w
    return T_w


@dataclass(frozen=True, slots=True)
class EditChosen(Indirect):
    """Delete or duplicate what is chosen in the view."""

    action: str
