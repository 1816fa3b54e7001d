"""The docked windows: which panel is in which, and how much of the window they leave to the scene."""

from collections.abc import Callable

from imgui_bundle import imgui
from imgui_bundle.imgui import internal

from sim.snapshot import Snapshot
from ui import layout
from ui.panels import flight, integrator, lanes, plots, scene, transport, vehicle, view
from ui.panels.context import PanelContext
from ui.requests import Request
from ui.shell_state import ShellState

Panel = Callable[[Snapshot, PanelContext], list[Request]]


def simulation_window(snapshot: Snapshot, context: PanelContext) -> list[Request]:
    """What one reaches for in flight, in one window."""
    requests: list[Request] = []
    for panel in (transport, integrator, flight):
        requests += panel.draw(snapshot, context)
    return requests


WINDOWS: dict[str, Panel] = {
    layout.UPPER: simulation_window,
    "Vehicle": vehicle.draw,
    "Lanes": lanes.draw,
    "View": view.draw,
    "Scene": scene.draw,
    layout.PLOTS: plots.draw,
}


class Dock:
    """The dock space over the whole window; the scene shows through its middle."""

    def __init__(self, layouts_reset: int) -> None:
        self._layouts_built = layouts_reset
        self._raise_first_tab = 0

    def draw(self, snapshot: Snapshot, context: PanelContext, state: ShellState) -> list[Request]:
        """All windows that are shown. Leaves the scene's place in `context.scene_rect`."""
        viewport = imgui.get_main_viewport()
        size = (viewport.work_size.x, viewport.work_size.y)
        if not state.panels:
            # Keeps every window's place while none of them is submitted.
            imgui.dock_space_over_viewport(0, None, imgui.DockNodeFlags_.keep_alive_only.value)
            context.scene_rect = (0.0, 0.0, *size)
            return []
        dock_id = imgui.dock_space_over_viewport(0, None, imgui.DockNodeFlags_.passthru_central_node.value)
        if state.layouts_reset != self._layouts_built or not layout.is_built(dock_id):
            layout.build(dock_id, size, context.scale)
            self._layouts_built = state.layouts_reset
            self._raise_first_tab = 2
        context.scene_rect = layout.scene_rect(dock_id)
        requests: list[Request] = []
        for name, panel in WINDOWS.items():
            if state.plots or name != layout.PLOTS:
                requests += _window(name, panel, snapshot, context)
        self._raise_tab()
        return requests

    def _raise_tab(self) -> None:
        """A new layout opens with its first tab: known to imgui only once the windows have been drawn."""
        if self._raise_first_tab:
            self._raise_first_tab -= 1
            imgui.set_window_focus(layout.TABS[0])
            imgui.set_window_focus(None)


def _window(name: str, panel: Panel, snapshot: Snapshot, context: PanelContext) -> list[Request]:
    shown = imgui.begin(name, None, imgui.WindowFlags_.no_collapse.value)[0]
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
