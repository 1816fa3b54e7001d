"""Plans in flight: on and off, how far each looks ahead, how much it wants the goal, how many a second."""

from dataclasses import replace

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import SetParameter
from sim.planner.service.mpc_control import MpcView
from sim.planner.service.requests import FlyByMpc, LeaveMpc, SetMpc
from sim.planner.service.view import PlanView
from sim.planner.task.mpc import HORIZON_S, WEIGHT
from sim.snapshot import Snapshot
from ui.hud.notice_plates import mpc_text
from ui.panels.context import PanelContext
from ui.panels.widgets import button, label, log_slider, note, prose, significant, tooltip
from ui.requests import Request

RATE_HZ = (1.0, 60.0)
WIND_MPS = 20.0
DOC = (
    "Plans fly it, made anew many times a second from where it is. Click where it is to go, or drag the goal; "
    "obstacles and wind may change on the way."
)


def switch(
    name: str, words: str, plan: PlanView, context: PanelContext, *, width: float = 0.0
) -> list[Request]:
    """The button that hands the vehicle over to such plans, or takes it back."""
    view = plan.mpc
    on = view is not None and view.on
    text = f"{icons.ICON_FA_LOCATION_CROSSHAIRS}  {words}"
    if button(context, name, text, DOC, width=width, lit=on):
        return [LeaveMpc() if on else FlyByMpc()]
    return []


def draw(plan: PlanView, snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """The switch, the numbers, and how it goes."""
    requests = switch("plan/pilot", "Pilot: Plan", plan, context, width=-1.0)
    view = plan.mpc
    if view is None:
        return requests
    requests += _numbers(view, context)
    requests += _wind(snapshot, context)
    if snapshot.mpc is None:
        prose("Off: you fly. The goal is where such plans lead; obstacles are those of the task.")
    else:
        for text, _ in mpc_text(snapshot.mpc):
            prose(text)
        prose(f"A plan takes over {1e3 * snapshot.mpc.lag_s:.0f} ms after it was asked for.")
    return requests


def _numbers(view: MpcView, context: PanelContext) -> list[Request]:
    how, rate_hz = view.how, view.rate_hz
    doc = "How far ahead each plan looks; it ends at rest."
    label(context, "Horizon", doc)
    horizon_s = log_slider(context, "pilot/horizon", how.horizon_s, HORIZON_S, "%.2f s", doc)
    doc = "What the square of a metre that is missed at a plan's end costs: more makes it hurry."
    label(context, "Goal", doc)
    weight = log_slider(context, "pilot/weight", how.goal_weight, WEIGHT, "%.3g", doc)
    doc = "Plans a second at most; they follow one another no faster than they are found."
    label(context, "Rate", doc)
    rate = log_slider(context, "pilot/rate", rate_hz, RATE_HZ, "%.0f /s", doc)
    if horizon_s is None and weight is None and rate is None:
        return []
    how = replace(how, horizon_s=horizon_s or how.horizon_s, goal_weight=weight or how.goal_weight)
    return [SetMpc(how, rate or rate_hz)]


def _wind(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Which plans know as soon as they are made anew."""
    wind = snapshot.lanes[0].parameters.get("wind")
    if not isinstance(wind, tuple):
        return []
    requests: list[Request] = []
    for axis, name in enumerate(("x", "y")):
        doc = f"Along the world's {name}; plans reckon with it as soon as they are made anew."
        label(context, f"Wind {name}", doc)
        flags = imgui.SliderFlags_.always_clamp.value
        moved, value = imgui.slider_float(
            f"##wind_{name}", wind[axis], -WIND_MPS, WIND_MPS, "%.1f m/s", flags
        )
        note(context, f"pilot/wind/{name}")
        tooltip(doc)
        if moved:
            blown = (*wind[:axis], significant(value), *wind[axis + 1 :])
            context.parameters["wind"] = blown
            requests.append(SetParameter("wind", blown))
    return requests
