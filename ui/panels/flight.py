"""Flight mode, autopilot, plans in flight, and where the sticks are."""

from imgui_bundle import icons_fontawesome_6 as icons
from imgui_bundle import imgui

from sim.commands import SetDemo, SetFlightMode, StopPlan
from sim.control.autopilots import AUTOPILOTS
from sim.planner.service.requests import FlyShown
from sim.snapshot import Snapshot
from sim.vehicle_config import config_named
from ui import theme
from ui.panels import plan_pilot
from ui.panels.context import PanelContext
from ui.panels.widgets import Item, button, heading, note, right_edge, segmented, tooltip
from ui.requests import Request, RescanControllers

MODE_DOCS = {
    "raw": "Sticks move the controls of the equations of motion directly. Nothing is stabilised.",
    "rate": "Sticks set turn rates; centred, the body keeps its attitude.",
    "attitude": "Sticks set the tilt, the collective climbs, yaw is damped. Hands off it hovers.",
    "hold": "Sticks set the speed over ground; centred, the place is held.",
    "drive": "A pedal asks for a speed and the wheel centres itself; steering keeps within what the tyres hold.",
    "ride": "Torso and feet follow the sticks; gaits swing both while their keys are held.",
    "station": "Sticks set speed and turn; centred, she stays at her place in wind and waves.",
}


def draw(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """Modes of the flown vehicle, the autopilot, the sticks."""
    requests: list[Request] = []
    heading(context, "Flight")
    modes = [Item(mode, mode.capitalize(), MODE_DOCS.get(mode, "")) for mode in snapshot.flight_modes]
    chosen = segmented(context, "flight/mode", modes, snapshot.flight_mode)
    if chosen is not None and chosen != snapshot.flight_mode:
        requests.append(SetFlightMode(chosen))
    autopilot = AUTOPILOTS.get(config_named(snapshot.lanes[0].vehicle).modes.autopilot)
    if autopilot is not None:
        doc = f"{autopilot.does}{context.keymap.hint('demo')}"
        if button(context, "transport/demo", f"{icons.ICON_FA_ROBOT}  Autopilot", doc, lit=snapshot.demo):
            requests.append(SetDemo(not snapshot.demo))
        imgui.same_line()
    if context.plan is not None and context.plan.sailed_by:
        requests += _sail(snapshot, context)
        imgui.same_line()
    elif context.plan is not None:
        requests += plan_pilot.switch("flight/plan", "Plan", context.plan, context)
        imgui.same_line()
    requests += _devices(context)
    _sticks(context)
    return requests


def _sail(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """To the berth by plan, and the helm back."""
    on = snapshot.course is not None
    doc = "Plan a way to the berth from here and sail it." + context.keymap.hint("fly_plan")
    if button(context, "flight/sail", f"{icons.ICON_FA_SHIP}  Plan", doc, lit=on):
        return [StopPlan() if on else FlyShown()]
    return []


def _devices(context: PanelContext) -> list[Request]:
    names = ", ".join(device.name for device in context.controls.devices)
    doc = (
        f"Used: {names}." if names else "No gamepad or joystick is used. Gamepads are found when plugged in."
    )
    text = f"{icons.ICON_FA_GAMEPAD}  {len(context.controls.devices) or 'none'}"
    doc += " Click to look for joysticks again."
    return [RescanControllers()] if button(context, "flight/devices", text, doc) else []


def _sticks(context: PanelContext) -> None:
    """Two gates with a dot in each: yaw and throttle, roll and pitch."""
    size, pilot = context.px(44.0), context.pilot
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
