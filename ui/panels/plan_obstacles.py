"""The task's obstacles by name: renamed, copied, deleted, added."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.planner.service.requests import EditTask
from sim.planner.service.view import PlanView
from sim.planner.task.difference import called
from sim.planner.task.handles import copied, renamed, with_obstacle, without
from ui.panels.context import PanelContext
from ui.panels.widgets import button, note, right_edge, tooltip
from ui.requests import Request


def draw(plan: PlanView, context: PanelContext) -> list[Request]:
    """One row an obstacle, then a button for one more."""
    requests: list[Request] = []
    width, gap = context.px(26.0), context.px(3.0)
    keys = context.keymap
    for index, obstacle in enumerate(plan.task.obstacles):
        handle = f"obstacle {index}"
        edge = right_edge()
        imgui.set_next_item_width(edge - imgui.get_cursor_pos_x() - 2.0 * (width + gap))
        flags = imgui.InputTextFlags_.enter_returns_true
        entered, name = imgui.input_text(f"##{handle}", called(obstacle), flags)
        note(context, f"plan/obstacle/name/{index}")
        tooltip("Type another name. Click its dot in the view, then drag its arrows: the plan follows.")
        if entered and name.strip():
            requests.append(EditTask(renamed(plan.task, index, name.strip())))
        imgui.same_line(0.0, gap)
        doc = "One more like it, beside it" + keys.hint("duplicate")
        if button(context, f"plan/obstacle/copy/{index}", icons.ICON_FA_COPY, doc, width=width):
            requests.append(EditTask(copied(plan.task, handle)))
        imgui.same_line(0.0, gap)
        doc = "Delete it" + keys.hint("delete")
        if button(context, f"plan/obstacle/remove/{index}", icons.ICON_FA_XMARK, doc, width=width):
            requests.append(EditTask(without(plan.task, handle)))
    text = f"{icons.ICON_FA_PLUS}  Obstacle"
    doc = "A pillar halfway to the goal. Click its dot in the view, then drag its arrows: the plan follows."
    if button(context, "plan/obstacle/add", text, doc, width=-1.0):
        requests.append(EditTask(with_obstacle(plan.vehicle, plan.task)))
    return requests
