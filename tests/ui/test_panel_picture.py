"""Panels stay in the window as they are while nothing is drawn over them."""

import numpy as np
import pytest
from imgui_bundle import imgui

from tests.ui import fakes
from tests.ui.bench import Bench
from ui.features.feature import BELOW, LOWER, UPPER, Feature
from ui.settings.view_settings import ViewSettings
from ui.shell import shell
from ui.window import theme
from ui.window.backend import _raw, within
from ui.window.context import ShellState

SCENE = (12.0, 30.0, 700.0, 500.0)


@pytest.mark.parametrize(
    "ends, clipped, seen_within",
    [
        (((20.0, 40.0), (600.0, 500.0)), False, True),
        (((20.0, 40.0), (900.0, 700.0)), False, False),
        (((20.0, 40.0), (900.0, 700.0)), True, True),
    ],
    ids=["within", "beyond", "beyond, and cut off"],
)
def test_what_its_clip_cuts_off_is_not_over_the_panels(
    bench: Bench, ends: tuple[tuple[float, float], tuple[float, float]], clipped: bool, seen_within: bool
) -> None:
    x, y, width, height = SCENE
    imgui.new_frame()
    pen = imgui.get_background_draw_list()
    if clipped:
        pen.push_clip_rect((x, y), (x + width, y + height))
    pen.add_line(*ends, 0xFFFFFFFF, 2.0)
    if clipped:
        pen.pop_clip_rect()
    pen.add_circle_filled((300.0, 200.0), 9.0, 0xFFFFFFFF)
    imgui.render()
    lists = [drawn for drawn in imgui.get_draw_data().cmd_lists if drawn._owner_name == "##Background"]
    assert lists
    assert all(within(drawn, SCENE) for drawn in lists) is seen_within


def _ground_px() -> float:
    """So much of the window imgui has to cover with the ground of windows."""
    ground, covered = theme.packed(theme.SURFACE), 0.0
    for drawn in imgui.get_draw_data().cmd_lists:
        vertices = _raw(drawn.vtx_buffer, imgui.VERTEX_SIZE, np.float32)
        numbers = _raw(drawn.idx_buffer, imgui.INDEX_SIZE, np.dtype(f"u{imgui.INDEX_SIZE}")).ravel()
        corners = vertices[numbers].reshape(-1, 3, vertices.shape[1])
        corners = corners[corners.view(np.uint32)[:, 0, 4] == ground]
        a, b = corners[:, 1, :2] - corners[:, 0, :2], corners[:, 2, :2] - corners[:, 0, :2]
        covered += 0.5 * float(np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum())
    return covered


@pytest.mark.parametrize("bare", [True, False])
def test_what_is_docked_leaves_its_ground_to_the_picture_and_what_floats_keeps_it(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, bare: bool
) -> None:
    places = {"Simulation": UPPER, "Scene": LOWER, "Plots": BELOW}
    features = tuple(Feature(name, panel=lambda s, c: [], place=place) for name, place in places.items())
    monkeypatch.setattr(shell, "FEATURES", features)
    monkeypatch.setattr(shell, "PLACES", places)
    dock, state = shell.Dock(-1, bare=bare), ShellState(ViewSettings())

    def frames(count: int) -> float:
        for _ in range(count):
            imgui.new_frame()
            dock.draw(fakes.snapshot(), bench.context, state)
            imgui.render()
        return _ground_px()

    covered_px = frames(8)
    _, _, width, height = bench.context.scene_rect
    around_px = 1280.0 * 800.0 - width * height
    assert 0.3e6 < around_px < 0.6e6
    assert (covered_px < 0.02 * around_px) is bare
    imgui.internal.dock_builder_dock_window("Scene", 0)
    floating_px = frames(4)
    _, _, width, height = bench.context.rects["window/Scene"]
    assert floating_px > 0.8 * width * height
    assert not bare or floating_px < 1.1 * width * height
