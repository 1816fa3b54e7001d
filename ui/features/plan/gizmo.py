"""Goal, waypoints and obstacles of a task, moved by hand in the view."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
from imgui_bundle import imgui
from imgui_bundle.imguizmo import im_guizmo

from sim.planner.service.requests import EditTask
from sim.planner.service.view import PlanView
from sim.planner.task.bodies import planar
from sim.planner.task.handles import Handle, copied, handles, moved, without
from ui.window import theme
from ui.window.context import PanelContext, Rect
from ui.window.requests import Indirect

_DOT_PX = 6.0
_NEAR_PX = 16.0
_LINE_PX, _ARROW_PX = 4.0, 9.0
_DRAWN_RGB = (0x0000AA, 0x00AA00, 0xAA0000)
"""Of the axes x, y and z as ImGuizmo draws them (0xBBGGRR): too dark over rock and water, and its bindings set none."""
_RGB = 0xFFFFFF
_TURNING = {
    "x": im_guizmo.OPERATION.rotate_x,
    "y": im_guizmo.OPERATION.rotate_y,
    "z": im_guizmo.OPERATION.rotate_z,
}
_COLOURS = {"goal": theme.GOOD, "waypoint": theme.ACCENT_BRIGHT, "obstacle": theme.DANGER}


class Gizmo:
    """Dots to choose a handle by, and arrows on the chosen one. Wants the camera of the last frame drawn."""

    def __init__(self) -> None:
        self.chosen = ""
        self._hovered = ""

    @property
    def wants_mouse(self) -> bool:
        """A press would hit it, or it is held: the camera leaves the mouse alone."""
        return bool(self._hovered) or im_guizmo.is_using() or (bool(self.chosen) and im_guizmo.is_over())

    def edited(self, action: str, plan: PlanView) -> list[EditTask]:
        """What the keys `delete` and `duplicate` do to the chosen one; the goal stays, and stays alone."""
        if not self.chosen or self.chosen == "goal":
            return []
        if action == "duplicate":
            return [EditTask(copied(plan.task, self.chosen))]
        chosen, self.chosen = self.chosen, ""
        return [EditTask(without(plan.task, chosen))]

    def draw(
        self, plan: PlanView, view_matrix: np.ndarray, projection: np.ndarray, context: PanelContext
    ) -> list[EditTask]:
        """Everything that can be moved, over the scene; the task as it is where the hand has moved it.

        Matrices (4, 4) act on columns, as render.frame.View has them.
        """
        begin_gizmos(context)
        origin_w, mpc_flies = np.array(plan.origin_w), plan.mpc is not None and plan.mpc.on
        # Plans in flight have their goal pointed at.
        parts = tuple(
            replace(handle, T_w=_shifted(handle.T_w, origin_w))
            for handle in handles(plan.vehicle, plan.task)
            if not (mpc_flies and handle.name == "goal")
        )
        if self.chosen not in {handle.name for handle in parts}:
            self.chosen = ""
        self._dots(parts, projection @ view_matrix, context)
        for handle in parts:
            if handle.name == self.chosen:
                flat, operations = planar(plan.vehicle), [im_guizmo.OPERATION.translate]
                operations += [_TURNING[axis] for axis in handle.turns]
                T_w = manipulated(handle.T_w, operations, view_matrix, projection, context, flat=flat)
                if T_w is not None and flat:
                    T_w = on_level(T_w, float(handle.T_w[2, 3]), view_matrix)
                if T_w is not None:
                    T_w = _shifted(T_w, -origin_w)
                    return [EditTask(moved(plan.vehicle, plan.task, handle.name, T_w))]
        return []

    def _dots(self, parts: tuple[Handle, ...], clip_from_world: np.ndarray, context: PanelContext) -> None:
        mouse = imgui.get_mouse_pos()
        pen = imgui.get_background_draw_list()
        free = not imgui.get_io().want_capture_mouse and not im_guizmo.is_using()
        self._hovered = ""
        nearest = context.px(_NEAR_PX)
        for handle in parts:
            place = on_screen(handle.T_w[:3, 3], clip_from_world, context.scene_rect)
            if place is None:
                continue
            size = context.px(_DOT_PX)
            context.rects[f"plan/handle/{handle.name}"] = (
                place[0] - size,
                place[1] - size,
                2 * size,
                2 * size,
            )
            away = float(np.hypot(mouse.x - place[0], mouse.y - place[1]))
            if free and away < nearest and handle.name != self.chosen:
                self._hovered, nearest = handle.name, away
            if handle.name != self.chosen:
                colour = _COLOURS[handle.name.partition(" ")[0]]
                hot = handle.name == self._hovered
                pen.add_circle_filled(
                    place, size + context.px(4.0 if hot else 3.0), theme.packed(theme.GROUND, 0.8)
                )
                pen.add_circle_filled(place, size + context.px(2.0 if hot else 1.0), theme.packed(theme.INK))
                pen.add_circle_filled(place, size - context.px(1.0), theme.packed(colour))
        if self._hovered and imgui.is_mouse_clicked(imgui.MouseButton_.left.value):
            self.chosen = self._hovered


def begin_gizmos(context: PanelContext) -> None:
    """Once a frame, before anything is to be moved."""
    im_guizmo.begin_frame()
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
    flat: bool = False,
    snap: tuple[float, float] | None = None,
) -> np.ndarray | None:
    """The pose (4, 4) as the hand has moved it in this frame by arrows and rings upon it; None where it did not.

    flat: not along z. snap: whole multiples of so many metres and degrees.
    """
    pen = imgui.get_background_draw_list()
    begin = pen.vtx_buffer.size()
    im_guizmo.set_drawlist(pen)
    im_guizmo.set_rect(*context.scene_rect)
    im_guizmo.set_orthographic(False)
    camera, lens = matrix16(view_matrix), matrix16(projection)
    pose, changed = matrix16(T_w), False
    for index, operation in enumerate(operations):
        im_guizmo.push_id(index)
        moves = operation == im_guizmo.OPERATION.translate
        im_guizmo.set_axis_mask(False, False, flat and moves)
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


def on_level(T_w: np.ndarray, z_m: float, view_matrix: np.ndarray) -> np.ndarray:
    """The pose moved along the eye's ray through it to the height z: under the mouse still, but on the ground."""
    eye = -view_matrix[:3, :3].T @ view_matrix[:3, 3]
    ray = T_w[:3, 3] - eye
    share = (z_m - eye[2]) / ray[2] if abs(ray[2]) > 1e-6 else -1.0
    moved_T_w = T_w.copy()
    # A ray that leads upwards meets no ground: then the height alone is given up.
    moved_T_w[:3, 3] = eye + share * ray if share > 0.0 else [*T_w[:2, 3], z_m]
    return moved_T_w


def matrix16(matrix: np.ndarray) -> im_guizmo.Matrix16:
    """A (4, 4) matrix that acts on columns, one column after the other."""
    return im_guizmo.Matrix16([float(x) for x in np.asarray(matrix).T.ravel()])


def from_matrix16(values: im_guizmo.Matrix16) -> np.ndarray:
    """The inverse of `matrix16`, in double precision."""
    return np.array(values.values, float).reshape(4, 4).T


def on_screen(place_w: np.ndarray, clip_from_world: np.ndarray, rect: Rect) -> tuple[float, float] | None:
    """Window coordinates (origin top left) of a place; None behind the eye or outside the scene."""
    clip = clip_from_world @ np.append(place_w, 1.0)
    if clip[3] <= 1e-6:
        return None
    x, y = clip[:2] / clip[3]
    if abs(x) > 1.0 or abs(y) > 1.0:
        return None
    return rect[0] + 0.5 * (1.0 + float(x)) * rect[2], rect[1] + 0.5 * (1.0 - float(y)) * rect[3]


def _shifted(T_w: np.ndarray, by_w: np.ndarray) -> np.ndarray:
    T_w = T_w.copy()
    T_w[:3, 3] += by_w
    return T_w


@dataclass(frozen=True, slots=True)
class EditChosen(Indirect):
    """Delete or duplicate the waypoint or the obstacle that is chosen in the view."""

    action: str
