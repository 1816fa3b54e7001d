"""All keys while one vehicle is flown; each can be another."""

from imgui_bundle import imgui

from ui import theme
from ui.control_requests import Listen, SettleKey, UsualKeys
from ui.input.binding import KeyBinding, groups, key_label
from ui.input.control_setup import Conflict
from ui.input.listening import ForKey
from ui.input.own_keys import VIEWER
from ui.panels.context import PanelContext
from ui.panels.widgets import button, heading, prose
from ui.requests import Request

KEYS_PX = 118.0


def draw(context: PanelContext) -> list[Request]:
    """What flies it, then what the viewer has; a conflict before both."""
    requests: list[Request] = []
    if context.controls.conflict is not None:
        requests += _conflict(context.controls.conflict, context)
    keymap = context.keymap
    for scope, table in ((context.vehicle, keymap.vehicle), (VIEWER, keymap.viewer)):
        for group, bindings in groups(table).items():
            heading(context, group)
            for binding in bindings:
                requests += _row(scope, binding, context)
    return requests


def _conflict(conflict: Conflict, context: PanelContext) -> list[Request]:
    imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.WARNING))
    imgui.text_wrapped(f"{key_label(conflict.key)} is taken: {conflict.label}")
    imgui.pop_style_color()
    if button(context, "keys/take", "Take it from there", "What had it loses it, and can be given another."):
        return [SettleKey(take=True)]
    imgui.same_line()
    return [SettleKey(take=False)] if button(context, "keys/leave", "Leave it") else []


def _row(scope: str, binding: KeyBinding, context: PanelContext) -> list[Request]:
    wanted = ForKey(scope, binding.action)
    waits = context.controls.listening == wanted
    own = (scope, binding.action) in context.controls.chosen_keys
    text = "press a key ..." if waits else "  ".join(key_label(key) for key in binding.keys) or "none"
    name = f"keys/{binding.action}"
    requests: list[Request] = []
    doc = f"{binding.label}. Click, then press the key that is to do it; Esc leaves it."
    if not binding.keys:
        imgui.push_style_color(imgui.Col_.text, imgui.ImVec4(*theme.WARNING))
    if button(context, name, text, doc, width=context.px(KEYS_PX), lit=waits or own):
        requests.append(Listen(None if waits else wanted))
    if not binding.keys:
        imgui.pop_style_color()
    imgui.same_line()
    if own:
        if button(context, f"{name}/usual", "usual", "The usual keys again."):
            requests.append(UsualKeys(scope, binding.action))
        imgui.same_line()
    prose(binding.label)
    return requests
