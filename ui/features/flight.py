"""Flight mode, autopilot, plans in flight, and where the sticks are."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import SetDemo, SetFlightMode, SetIntegrator, SetStep
from sim.control.autopilots import AUTOPILOTS
from sim.planner.service.requests import FlyByMpc, FlyShown, LeaveMpc
from sim.planner.service.session import PlanView
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicle_config.modes import FLIGHT_MODES
from ui.features.controls import ControlView
from ui.features.methods import method_menu
from ui.features.transport import draw_transport
from ui.settings.catalogue import IntegratorEntry
from ui.window import theme
from ui.window.context import PanelContext, Request, RescanControllers
from ui.window.widgets import (
    LABEL_WIDTH,
    Item,
    button,
    heading,
    label,
    log_slider,
    menu_text,
    note,
    right_edge,
    segmented,
    significant,
    swaps,
    tooltip,
)


def draw_flight(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Modes of the flown vehicle, the autopilot, the sticks."""
    plan = context.find(PlanView)
    requests: list[Request] = []
    heading(context, "Flight")
    modes = [Item(mode, mode.capitalize(), FLIGHT_MODES[mode].does) for mode in snapshot.flight_modes]
    mode = (
        snapshot.flight_mode if snapshot.lanes[0].controller is None else ""
    )  # which flies instead of the hand
    chosen = segmented(context, "flight/mode", modes, mode)
    if chosen is not None and chosen != mode:
        requests.append(SetFlightMode(chosen))
    autopilot = AUTOPILOTS.get(snapshot.lanes[0].config.modes.autopilot)
    if autopilot is not None:
        doc = f"{autopilot.does}{context.keymap.hint('demo')}"
        if button(context, "transport/demo", f"{icons.ICON_FA_ROBOT}  Autopilot", doc, lit=snapshot.demo):
            requests.append(SetDemo(not snapshot.demo))
        imgui.same_line()
    if plan is not None and plan.sailed_by:
        requests += _sail(snapshot, context)
        imgui.same_line()
    elif plan is not None:
        requests += pilot_switch("flight/plan", "Plan", plan, context)
        imgui.same_line()
    requests += _devices(context)
    _sticks(context)
    return requests


def _sail(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """To the berth by plan, and the helm back."""
    on = snapshot.mpc is not None
    doc = (
        "Plan a way to the berth from here, and sail by plans made anew all the time."
        + context.keymap.hint("fly_plan")
    )
    if button(context, "flight/sail", f"{icons.ICON_FA_SHIP}  Plan", doc, lit=on):
        return [LeaveMpc() if on else FlyShown()]
    return []


def _devices(context: PanelContext) -> list[Request]:
    controls = context.of(ControlView)
    names = ", ".join(device.name for device in controls.devices)
    doc = (
        f"Used: {names}." if names else "No gamepad or joystick is used. Gamepads are found when plugged in."
    )
    text = f"{icons.ICON_FA_GAMEPAD}  {len(controls.devices) or 'none'}"
    doc += " Click to look for joysticks again."
    return [RescanControllers()] if button(context, "flight/devices", text, doc) else []


def _sticks(context: PanelContext) -> None:
    """Two gates with a dot in each: yaw and throttle, roll and pitch."""
    size, pilot = context.px(44.0), context.of(ControlView).pilot
    draw_list = imgui.get_window_draw_list()
    imgui.same_line(right_edge() - 2.0 * size - context.px(6.0))
    start = imgui.get_cursor_screen_pos()
    for index, (x, y) in enumerate(((pilot.yaw, pilot.throttle), (pilot.roll, pilot.pitch))):
        left, top = start.x + index * (size + context.px(6.0)), start.y
        centre, reach = (left + size / 2.0, top + size / 2.0), size / 2.0 - context.px(6.0)
        draw_list.add_rect_filled(
            (left, top), (left + size, top + size), theme.packed(theme.FIELD), context.px(5.0)
        )
        line = theme.packed(theme.LINE)
        draw_list.add_line((left + 4, centre[1]), (left + size - 4, centre[1]), line)
        draw_list.add_line((centre[0], top + 4), (centre[0], top + size - 4), line)
        dot = (centre[0] + x * reach, centre[1] - y * reach)
        draw_list.add_circle_filled(dot, context.px(4.0), theme.packed(theme.ACCENT))
    imgui.dummy((2.0 * size + context.px(6.0), size))
    note(context, "flight/sticks")
    tooltip("Left: yaw and throttle. Right: roll and pitch, forward is up.")


DOC = (
    "Plans fly it, made anew many times a second from where it is. Click where it is to go, or drag the goal; "
    "obstacles and wind may change on the way."
)


def pilot_switch(
    name: str, words: str, plan: PlanView, context: PanelContext, *, width: float = 0.0
) -> list[Request]:
    """The button that hands the vehicle over to such plans, or takes it back."""
    view = plan.mpc
    on = view is not None and view.on
    text = f"{icons.ICON_FA_LOCATION_CROSSHAIRS}  {words}"
    if button(context, name, text, DOC, width=width, lit=on):
        return [LeaveMpc() if on else FlyByMpc()]
    return []


STEP_RANGE_S = (0.001, 0.5)
STEP_DOC = (
    "Step h of the integrator, 1 to 500 ms. Slow motion never changes it. "
    "Ctrl+click the slider, or use the field, to type a value."
)


def draw_method(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Menu, facts about the chosen method, and h."""
    lane = snapshot.lanes[0]
    requests: list[Request] = []
    heading(context, "Integrator")
    label(context, "Method", "Swapping keeps pose and velocity.")
    coming, _ = swaps(snapshot)
    chosen = method_menu(
        context, "integrator", lane.vehicle, lane.integrator, menu_text(lane.integrator, coming)
    )
    if chosen is not None and chosen != lane.integrator:
        requests.append(SetIntegrator(chosen))
    _facts(context, context.catalogue.integrators.get(lane.integrator))
    label(context, "Step h", STEP_DOC)
    step_s = step_field(context, "integrator/step", lane.step_s)
    if step_s is not None:
        requests.append(SetStep(step_s))
    return requests


def step_field(context: PanelContext, name: str, step_s: float) -> float | None:
    """Log slider and text field for a step; the new step [s] where it was changed.

    The slider keeps to the range; what is typed is handed on, so that a step that is refused is told why.
    """
    low, high = STEP_RANGE_S
    step_ms = log_slider(context, name, step_s * 1e3, (low * 1e3, high * 1e3), "%.4g ms", STEP_DOC)
    return None if step_ms is None else significant(step_ms * 1e-3)


def _facts(context: PanelContext, entry: IntegratorEntry | None) -> None:
    if entry is None:
        return
    imgui.set_cursor_pos_x(imgui.get_cursor_pos_x() + context.px(LABEL_WIDTH))
    imgui.text_colored(imgui.ImVec4(*theme.FAINT), entry.facts)
    tooltip(f"{entry.doc}\n{entry.source}")


def draw_simulation(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """What one reaches for in flight, in one window: time, the method, who flies."""
    requests: list[Request] = []
    for draw in (draw_transport, draw_method, draw_flight):
        requests += draw(snapshot, context)
    return requests
