"""What is being made ready beside the frames, a scene or a swap: what is done for it, how far it is, and a way back."""

import time
from dataclasses import dataclass

from imgui_bundle import imgui

from sim.commands import GiveUpWaiting, SetIntegrator, SetVehicle
from sim.platform.progress import Job
from sim.snapshot import Snapshot, Waiting
from ui.features.scenes.files import FileDialog
from ui.features.scenes.trust import TrustQuestion, draw_trust
from ui.features.scenes.view import CancelLoading, OpenPath
from ui.window import theme
from ui.window.context import PanelContext
from ui.window.requests import Request
from ui.window.widgets import OVERLAY, button


@dataclass(frozen=True, slots=True)
class Coming:
    """The scene that is being made ready."""

    name: str = ""
    """Empty: none is."""
    jobs: tuple[Job, ...] = ()


def draw_what_comes(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """A scene or a swap that is made ready, a file that is chosen, a question about one: over all else."""
    coming, requests = context.of(Coming), list[Request]()
    if coming.name:
        requests += draw_coming(coming.name, coming.jobs, context)
    elif snapshot.waiting:
        requests += draw_waiting(snapshot.waiting, context)
    chosen = context.of(FileDialog).draw(context)
    if chosen:
        requests.append(OpenPath(chosen))
    question = context.find(TrustQuestion)
    if question is not None:
        requests += draw_trust(question, context)
    return requests


def draw_coming(name: str, jobs: tuple[Job, ...], context: PanelContext) -> list[Request]:
    """The scene of that name; what is flown goes on meanwhile."""
    return [CancelLoading()] if _drawn(f"Opening {name}", jobs, context) else []


def draw_waiting(waiting: tuple[Waiting, ...], context: PanelContext) -> list[Request]:
    """What was asked for and waits for its kernel; the old one flies on meanwhile."""
    now_s = time.perf_counter()
    jobs = tuple(each.job or Job(each.title, now_s) for each in waiting)
    return [GiveUpWaiting()] if _drawn(asked_for(waiting[-1]), jobs, context) else []


def asked_for(waiting: Waiting) -> str:
    """In words."""
    match waiting.command:
        case SetIntegrator(name) | SetVehicle(name):
            return f"{name} is coming"
    return "Compiling"


def _drawn(title: str, jobs: tuple[Job, ...], context: PanelContext) -> bool:
    """Over the lower part of the scene; whether it is to be given up."""
    x, y, width, height = context.scene_rect
    imgui.set_next_window_pos((x + width / 2.0, y + 0.8 * height), imgui.Cond_.always, (0.5, 0.5))
    imgui.set_next_window_bg_alpha(0.92)
    imgui.begin("##coming", None, OVERLAY)
    imgui.text_colored(imgui.ImVec4(*theme.ACCENT_BRIGHT), title)
    imgui.same_line()
    given_up = button(context, "coming/cancel", "Cancel", "What is shown stays.")
    done = sum(job.ended_s is not None for job in jobs)
    imgui.progress_bar(done / max(len(jobs), 1), (context.px(320.0), context.px(5.0)), "")
    for job in jobs:
        imgui.text_colored(imgui.ImVec4(*(theme.INK if job.ended_s is None else theme.MUTED)), told(job))
    imgui.end()
    return given_up


def told(job: Job) -> str:
    """In a line: what, which function of how many so far, for how long."""
    until_s = time.perf_counter() if job.ended_s is None else job.ended_s
    compiling = f", compiling {job.function} ({job.functions})" if job.function else ""
    return f"{job.title}{compiling}, {until_s - job.began_s:.1f} s"
