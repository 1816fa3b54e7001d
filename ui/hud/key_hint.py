"""What flies the present vehicle, over the scene: for a while after it has come."""

from ui import theme
from ui.hud.pen import Pen
from ui.panels.context import PanelContext
from ui.panels.placing import overlap

SHOWN_S, FADING_S = 14.0, 1.5
SIZE, ROW = 14.0, 22.0
MARGIN, GAP = 14.0, 16.0
LEAST_ROOM = 190.0
"""Between instruments and map; where there is less it is told above them."""


class KeyHint:
    """Remembers when the vehicle came."""

    def __init__(self) -> None:
        self._vehicle = ""
        self._since_s = 0.0

    def draw(self, vehicle: str, now_s: float, context: PanelContext) -> None:
        """At the lower edge, beside the instruments; nothing once it has been seen for long enough.

        Nor where a caption takes that edge: above it are the vehicles of split pictures.
        """
        if vehicle != self._vehicle:
            self._vehicle, self._since_s = vehicle, now_s
        opacity = min((self._since_s + SHOWN_S - now_s) / FADING_S, 1.0)
        if opacity <= 0.0:
            return
        pen = Pen.over(context, fitting=False)
        x, y, width, height = context.scene_rect
        numbers = context.rects.get("hud/numbers") if context.view.hud else None
        beside = 0.0 if numbers is None else numbers[0] + numbers[2] - x
        map_rect = context.rects.get("hud/minimap")
        free = width - beside - (0.0 if map_rect is None else x + width - map_rect[0])
        if free >= pen.px(LEAST_ROOM):
            width = beside + free
        elif numbers is not None:  # over the instruments
            beside, height = 0.0, min(numbers[1], numbers[1] if map_rect is None else map_rect[1]) - y
        lines = wrapped(pen, context.keymap.summary(), width - beside - pen.px(3.0 * MARGIN))
        widest, tall = max(_width(pen, line) for line in lines), pen.px(ROW) * len(lines) + pen.px(6.0)
        left, top = x + beside + (width - beside - widest) / 2.0, y + height - pen.px(MARGIN) - tall
        pane = (left - pen.px(MARGIN), top, widest + pen.px(2.0 * MARGIN), tall)
        if "caption" in context.rects and overlap(pane, context.rects["caption"]):
            return
        size = (left - pen.px(MARGIN), top), (left + widest + pen.px(MARGIN), top + tall)
        pen.draw_list.add_rect_filled(*size, theme.packed(theme.GROUND, 0.62 * opacity), pen.px(8.0))
        for number, line in enumerate(lines):
            at = left + (widest - _width(pen, line)) / 2.0
            for keys, word in line:
                row = top + pen.px(5.0) + number * pen.px(ROW)
                keyed = (*theme.ACCENT_BRIGHT[:3], opacity)
                at += pen.text((at, row), keys, size=SIZE, colour=keyed) + pen.px(5.0)
                told = (*theme.INK[:3], opacity)
                at += pen.text((at, row), word, size=SIZE, colour=told, bold=False) + pen.px(GAP)
        context.rects["key_hint"] = (*size[0], size[1][0] - size[0][0], size[1][1] - size[0][1])


def wrapped(pen: Pen, found: list[tuple[str, str]], room: float) -> list[list[tuple[str, str]]]:
    """As few lines as fit into `room` pixels."""
    lines: list[list[tuple[str, str]]] = [[]]
    for pair in found:
        if lines[-1] and _width(pen, [*lines[-1], pair]) > room:
            lines.append([])
        lines[-1].append(pair)
    return lines


def _width(pen: Pen, line: list[tuple[str, str]]) -> float:
    words = sum(pen.width(keys, SIZE) + pen.width(word, SIZE, bold=False) for keys, word in line)
    return words + len(line) * pen.px(5.0) + (len(line) - 1) * pen.px(GAP)
