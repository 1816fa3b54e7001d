"""Tooltips name the keys of the table, whatever stands in it."""

import re
from collections.abc import Callable
from dataclasses import replace

import pytest

from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features import flight, view
from ui.features import help as help_panel
from ui.features.flight import draw_timeline, draw_transport
from ui.features.view import draw_view
from ui.input.keymap import VIEWER_KEYS, keymap_of
from ui.window import widgets

TOLD = {
    draw_transport: {
        "pause",
        "step",
        "reset",
        "slower",
        "faster",
        "back",
        "on",
        "retake",
        "now",
        "save_take",
    },
    draw_timeline: {"back", "on", "retake", "now", "save_take"},
    draw_view: {"camera", "overview", "trail", "arrows", "screenshot", "fullscreen"},
    help_panel.draw_help: {"help", "escape"},
}


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What panels would tell under the mouse, and in quiet words."""
    texts: list[str] = []
    for module in (widgets, view, flight, help_panel):
        for name in ("tooltip", "prose"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, lambda text, *_: texts.append(text))
    return texts


@pytest.mark.parametrize("draw", TOLD, ids=lambda draw: draw.__name__)
def test_a_panel_tells_the_keys_of_the_table_and_no_others(
    draw: Callable, bench: Bench, told: list[str]
) -> None:
    moved = tuple(replace(b, keys=(f"key of {b.action}",)) for b in VIEWER_KEYS)
    bench.context.keymap = replace(keymap_of("helicopter"), viewer=moved)
    panel = (lambda _, context: draw(context)) if draw is help_panel.draw_help else draw
    bench.frame(panel, fakes.snapshot(recorded_s=(0.0, 5.0)))
    text = " ".join(told)
    assert {name for name in TOLD[draw] if f"key of {name}" not in text} == set()
    assert re.findall(r"\((?:F\d+|[A-Z]|\[|\])\)|\bF\d+\b", text) == []
