"""The scene that is being made ready beside the frames: what is done for it, how far it is, and a way back."""

import time

from imgui_bundle import imgui

from ui import theme
from ui.opening import Job
from ui.panels.context import PanelContext
from ui.panels.notices import OVERLAY
from ui.panels.widgets import button
from ui.requests import CancelLoading, Request


def draw(name: str, jobs: tuple[Job, ...], context: PanelContext) -> list[Request]:
    """Over the lower part of the scene; what is flown goes on meanwhile."""
    x, y, width, height = context.scene_rect
    imgui.set_next_window_pos((x + width / 2.0, y + 0.8 * height), imgui.Cond_.always, (0.5, 0.5))
    imgui.set_next_window_bg_alpha(0.92)
    imgui.begin("##coming", None, OVERLAY)
    imgui.text_colored(imgui.ImVec4(*theme.ACCENT_BRIGHT), f"Opening {name}")
    imgui.same_line()
    requests: list[Request] = []
    if button(context, "coming/cancel", "Cancel", "What is shown stays."):
        requests.append(CancelLoading())
    done = sum(job.ended_s is not None for job in jobs)
    imgui.progress_bar(done / max(len(jobs), 1), (context.px(320.0), context.px(5.0)), "")
    for job in jobs:
        imgui.text_colored(imgui.ImVec4(*(theme.INK if job.ended_s is None else theme.MUTED)), told(job))
    imgui.end()
    return requests


def told(job: Job) -> str:
    """In a line: what, which function of how many so far, for how long."""
    until_s = time.perf_counter() if job.ended_s is None else job.ended_s
    compiling = f", compiling {job.function} ({job.functions})" if job.function else ""
    return f"{job.title}{compiling}, {until_s - job.began_s:.1f} s"
