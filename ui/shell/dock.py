"""The docked windows: which panel is in which, and how much of the window they leave to the scene."""

from imgui_bundle import imgui
from imgui_bundle.imgui import internal

from sim.simulation.lanes.snapshot import Snapshot
from ui.features.feature import BELOW, Draw
from ui.shell.features import FEATURES, PLACES
from ui.window.context import PanelContext
from ui.window.layout import (
    ERRORS,
    LANES,
    PLAN,
    PLOTS,
    TABS,
    UPPER,
    build,
    is_built,
    scene_rect,
)
from ui.window.requests import Request
from ui.window.state import ShellState

# Without the second flag imgui paints its background over the whole window.
_KEPT = imgui.DockNodeFlags_.keep_alive_only.value | imgui.DockNodeFlags_.passthru_central_node.value
# What comes back does not push itself before the tab that was in front.
_WINDOW = imgui.WindowFlags_.no_collapse.value | imgui.WindowFlags_.no_focus_on_appearing.value


class Dock:
    """The dock space over the whole window; the scene shows through its middle."""

    def __init__(self, layouts_reset: int) -> None:
        self._layouts_built = layouts_reset
        self._front: tuple[str, ...] = (UPPER, TABS[0], PLOTS)
        self._to_raise: list[str] = []
        """Names for the coming frames; empty for none, and to give the focus back."""

    def open_with(self, *, comparison: bool, plan: bool) -> None:
        """Bring the tabs to the front that a scene needs first."""
        lower, below = (LANES, ERRORS) if comparison else (TABS[0], PLOTS)
        self._front = (UPPER, lower, below)
        if plan:
            self._front = (PLAN, PLOTS)
        self._raise_front()

    def _raise_front(self) -> None:
        self._to_raise = ["", *self._front, ""]

    def draw(self, snapshot: Snapshot, context: PanelContext, state: ShellState) -> list[Request]:
        """All windows that are shown. Leaves the scene's place in `context.scene_rect`."""
        viewport = imgui.get_main_viewport()
        size = (viewport.work_size.x, viewport.work_size.y)
        if not state.panels:
            # Keeps every window's place while none of them is submitted.
            imgui.dock_space_over_viewport(0, None, _KEPT)
            context.scene_rect = (0.0, 0.0, *size)
            return []
        dock_id = imgui.dock_space_over_viewport(0, None, imgui.DockNodeFlags_.passthru_central_node.value)
        if state.layouts_reset != self._layouts_built or not is_built(dock_id):
            build(dock_id, size, context.scale, PLACES)
            self._layouts_built = state.layouts_reset
            self._raise_front()
        context.scene_rect = scene_rect(dock_id)
        requests: list[Request] = []
        for feature in FEATURES:
            if feature.panel is not None and (state.plots or feature.place != BELOW):
                requests += _window(feature.name, feature.panel, snapshot, context)
        self._raise_tab()
        return requests

    def _raise_tab(self) -> None:
        """Bring one tab after the other to the front; imgui takes up a focus only with the next frame."""
        if not self._to_raise:
            return
        name = self._to_raise.pop(0)
        imgui.set_window_focus(name or None)


def _window(name: str, panel: Draw, snapshot: Snapshot, context: PanelContext) -> list[Request]:
    shown = imgui.begin(name, None, _WINDOW)[0]
    requests: list[Request] = []
    _note_tab(name, context)
    if shown:
        position, size = imgui.get_window_pos(), imgui.get_window_size()
        context.rects[f"window/{name}"] = (position.x, position.y, size.x, size.y)
        requests = panel(snapshot, context)
    imgui.end()
    return requests


def _note_tab(name: str, context: PanelContext) -> None:
    tab = internal.get_current_window().dc.dock_tab_item_rect
    if tab.max.x > tab.min.x:
        context.rects[f"tab/{name}"] = (tab.min.x, tab.min.y, tab.max.x - tab.min.x, tab.max.y - tab.min.y)
