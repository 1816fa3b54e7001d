"""pyglet's key symbols as imgui's keys."""

from imgui_bundle import imgui
from pyglet.window import key

NAMED = {
    "TAB": "tab", "BACKSPACE": "backspace", "RETURN": "enter", "ESCAPE": "escape", "INSERT": "insert",
    "DELETE": "delete", "SPACE": "space", "LEFT": "left_arrow", "RIGHT": "right_arrow", "UP": "up_arrow",
    "DOWN": "down_arrow", "PAGEUP": "page_up", "PAGEDOWN": "page_down", "HOME": "home", "END": "end",
    "NUM_ENTER": "keypad_enter", "NUM_DECIMAL": "keypad_decimal", "NUM_DIVIDE": "keypad_divide",
    "NUM_MULTIPLY": "keypad_multiply", "NUM_SUBTRACT": "keypad_subtract", "NUM_ADD": "keypad_add",
    "LCTRL": "left_ctrl", "RCTRL": "right_ctrl", "LSHIFT": "left_shift", "RSHIFT": "right_shift",
    "LALT": "left_alt", "RALT": "right_alt", "LCOMMAND": "left_super", "RCOMMAND": "right_super",
    "GRAVE": "grave_accent", "MINUS": "minus", "EQUAL": "equal", "BRACKETLEFT": "left_bracket",
    "BRACKETRIGHT": "right_bracket", "BACKSLASH": "backslash", "SEMICOLON": "semicolon",
    "APOSTROPHE": "apostrophe", "COMMA": "comma", "PERIOD": "period", "SLASH": "slash",
    **{letter: letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"},
    **{f"_{digit}": f"_{digit}" for digit in range(10)},
    **{f"NUM_{digit}": f"keypad{digit}" for digit in range(10)},
    **{f"F{number}": f"f{number}" for number in range(1, 13)},
}  # fmt: skip
IMGUI_KEYS: dict[int, imgui.Key] = {
    getattr(key, symbol): getattr(imgui.Key, name) for symbol, name in NAMED.items()
}
MODIFIERS = (
    (imgui.Key.mod_ctrl, key.MOD_CTRL, (key.LCTRL, key.RCTRL)),
    (imgui.Key.mod_shift, key.MOD_SHIFT, (key.LSHIFT, key.RSHIFT)),
    (imgui.Key.mod_alt, key.MOD_ALT, (key.LALT, key.RALT)),
    (imgui.Key.mod_super, key.MOD_COMMAND | key.MOD_WINDOWS, (key.LCOMMAND, key.RCOMMAND)),
)


def modifiers_of(symbol: int, modifiers: int, *, down: bool) -> list[tuple[imgui.Key, bool]]:
    """Which modifiers are held once this event has happened: its mask speaks of the moment before it."""
    return [(name, down if symbol in keys else bool(modifiers & mask)) for name, mask, keys in MODIFIERS]


def key_name(symbol: int) -> str:
    """pyglet's name of a key, as the key tables use it."""
    return key.symbol_string(symbol)
