"""The clock, the recording as a line, flight mode, autopilot, plans in flight, and where the sticks are."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import (
    SPEED_RANGE,
    BackToNow,
    Reset,
    Scrub,
    SetDemo,
    SetFlightMode,
    SetIntegrator,
    SetPaused,
    SetSpeed,
    SetStep,
    SingleStep,
)
from sim.control.autopilots import AUTOPILOTS
from sim.planner.service.requests import FlyByMpc, FlyShown, LeaveMpc
from sim.planner.service.session import PlanView
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicle_config.modes import FLIGHT_MODES
from ui.features.controls import ControlView
from ui.features.methods import method_menu
from ui.features.recordings import MARKS, PlotWindow, SaveTake, TakesView, within
from ui.settings.catalogue import IntegratorEntry
from ui.window import theme
from ui.window.context import PanelContext, Request, RescanControllers
from ui.window.widgets import (
    FLY_ON,
    JUMP_S,
    LABEL_WIDTH,
    Item,
    button,
    doubled,
    halved,
    heading,
    in_past,
    is_recorded,
    jumped,
    label,
    log_slider,
    menu_text,
    note,
    played_or_paused,
    real_time,
    right_edge,
    segmented,
    shown_s,
    significant,
    speed_label,
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


LINE_DOC = (
    "Drag to look back: time stands still, and nothing that was simulated changes. "
    "The last five minutes are remembered."
)


def draw_timeline(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Two rows."""
    return _line(snapshot, context) + _buttons(snapshot, context)


def _line(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    begin_s, end_s, at_s = shown_s(snapshot)
    looking, there = snapshot.look_back is not None, is_recorded(snapshot)
    small, gap, keys = context.px(26.0), context.px(3.0), context.keymap
    doc = "A second back" + keys.hint("back")
    back = button(context, "timeline/back", icons.ICON_FA_ANGLE_LEFT, doc, width=small, enabled=there)
    imgui.same_line(0.0, gap)
    imgui.set_next_item_width(imgui.get_content_region_avail().x - small - gap)
    imgui.begin_disabled(not there)
    imgui.push_style_color(imgui.Col_.slider_grab, imgui.ImVec4(*(theme.ACCENT if looking else theme.MUTED)))
    flags = imgui.SliderFlags_.always_clamp | imgui.SliderFlags_.no_input
    # Counted from its begin, so that single precision is enough.
    length_s = max(end_s - begin_s, 1e-3)
    text = f"{at_s:.2f} s" if looking else f"{end_s - begin_s:.0f} s recorded"
    moved, value = imgui.slider_float("##timeline", at_s - begin_s, 0.0, length_s, text, flags)
    imgui.pop_style_color()
    imgui.end_disabled()
    note(context, "timeline/line")
    _marks(begin_s, end_s, context)
    tooltip(LINE_DOC)
    if moved:
        requests.append(Scrub(begin_s + value))
    imgui.same_line(0.0, gap)
    doc = "A second on" + keys.hint("on")
    on = button(context, "timeline/on", icons.ICON_FA_ANGLE_RIGHT, doc, width=small, enabled=looking)
    if back or on:
        request = jumped(snapshot, JUMP_S if on else -JUMP_S)
        requests += [] if request is None else [request]
    return requests


def _marks(begin_s: float, end_s: float, context: PanelContext) -> None:
    """Over the line, where something is marked."""
    low, high = imgui.get_item_rect_min(), imgui.get_item_rect_max()
    grab = imgui.get_style().grab_min_size
    room, pen = high.x - low.x - grab, imgui.get_window_draw_list()
    for mark in within(context.of(PlotWindow).marks, begin_s, end_s):
        x = low.x + 0.5 * grab + room * (mark.time_s - begin_s) / max(end_s - begin_s, 1e-3)
        pen.add_line((x, low.y), (x, low.y + 0.4 * (high.y - low.y)), theme.packed(MARKS[mark.kind]), 2.0)


def _buttons(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    look, gap, keys = snapshot.look_back, context.px(4.0), context.keymap
    small = context.px(30.0)
    width = (imgui.get_content_region_avail().x - small - 3.0 * gap) / 3.0
    doc = "Time goes on from the moment that is shown; what came after it is kept as an earlier flight"
    doc += keys.hint("retake")
    looking = look is not None
    if button(context, "timeline/retake", "Fly from here", doc, width=width, lit=looking, enabled=looking):
        requests.append(FLY_ON)
    imgui.same_line(0.0, gap)
    playing = looking and not snapshot.paused
    icon = icons.ICON_FA_PAUSE if playing else icons.ICON_FA_FILM
    doc = "Watch the recording from the moment that is shown, or hold it"
    if button(context, "timeline/play", icon, doc, width=small, lit=playing, enabled=looking):
        requests.append(SetPaused(playing))
    imgui.same_line(0.0, gap)
    doc = "Back to the present" + keys.hint("now")
    if button(context, "timeline/now", "Now", doc, width=width, enabled=looking):
        requests.append(BackToNow())
    imgui.same_line(0.0, gap)
    doc = "Write what is recorded to your folder of takes" + keys.hint("save_take")
    free = is_recorded(snapshot) and not context.of(TakesView).saving and not (look and look.opened)
    if button(context, "timeline/save", f"{icons.ICON_FA_FLOPPY_DISK}  Save", doc, width=width, enabled=free):
        requests.append(SaveTake())
    return requests


def draw_transport(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Buttons in one row, the clock in the next, then the recording."""
    requests: list[Request] = []
    wide, small = context.px(46.0), context.px(32.0)
    icon = icons.ICON_FA_PLAY if snapshot.paused else icons.ICON_FA_PAUSE
    keys = context.keymap
    going_on = "Fly on from here" if in_past(snapshot) else "Continue"
    doc = (going_on if snapshot.paused else "Pause") + keys.hint("pause")
    if button(context, "transport/play", icon, doc, width=wide, lit=snapshot.paused):
        requests.append(played_or_paused(snapshot))
    imgui.same_line(0.0, context.px(4.0))
    doc = "One step, then stay paused" + keys.hint("step")
    if button(context, "transport/step", icons.ICON_FA_FORWARD_STEP, doc, width=small):
        requests.append(SingleStep())
    imgui.same_line(0.0, context.px(4.0))
    doc = "Back to the start" + keys.hint("reset")
    if button(context, "transport/reset", icons.ICON_FA_ROTATE_LEFT, doc, width=small):
        requests.append(Reset())
    requests += _speed(snapshot, context)
    _clock(snapshot, context)
    return requests + draw_timeline(snapshot, context)


def _speed(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    requests: list[Request] = []
    small, field = context.px(30.0), context.px(52.0)
    imgui.same_line(right_edge() - 2.0 * small - field - context.px(6.0))
    doc = "Half the speed" + context.keymap.hint("slower")
    slower = button(
        context, "transport/speed_down", icons.ICON_FA_BACKWARD, doc, width=small,
        enabled=snapshot.speed > SPEED_RANGE[0],
    )  # fmt: skip
    if slower:
        requests.append(SetSpeed(halved(snapshot.speed)))
    imgui.same_line(0.0, context.px(3.0))
    if imgui.button(f"{speed_label(snapshot.speed)}##speed", (field, 0.0)):
        requests.append(SetSpeed(1.0))
    note(context, "transport/speed")
    tooltip(
        "Simulated seconds per second, 1/32 to 8. Slow motion takes fewer steps, never shorter ones. Click for 1."
    )
    imgui.same_line(0.0, context.px(3.0))
    doc = "Twice the speed" + context.keymap.hint("faster")
    faster = button(
        context, "transport/speed_up", icons.ICON_FA_FORWARD, doc, width=small,
        enabled=snapshot.speed < SPEED_RANGE[1],
    )  # fmt: skip
    if faster:
        requests.append(SetSpeed(doubled(snapshot.speed)))
    return requests


def _clock(snapshot: Snapshot, context: PanelContext) -> None:
    imgui.text_colored(imgui.ImVec4(*theme.MUTED), "t")
    imgui.same_line(0.0, context.px(6.0))
    imgui.push_font(context.fonts.bold, 0.0)
    imgui.text_unformatted(f"{snapshot.clock_s:.2f} s")
    imgui.pop_font()
    text, colour = real_time(snapshot)
    width = imgui.calc_text_size(text).x
    imgui.same_line(right_edge() - width)
    imgui.text_colored(imgui.ImVec4(*colour), text)
    note(context, "transport/rtf")
    tooltip(
        "Simulated seconds per second, as achieved. Below what is asked for the machine cannot keep up and time is "
        "given up."
    )
