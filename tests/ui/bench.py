"""imgui without a window: panels are built, clicked by name, and what they ask for is collected."""

from collections.abc import Callable

from imgui_bundle import imgui

from sim.simulation.lanes.snapshot import Snapshot
from tests.ui import fakes
from ui.features.vehicle import FlownParameters
from ui.settings.view_settings import ViewSettings
from ui.window import theme
from ui.window.backend import open_context
from ui.window.context import PanelContext, Request

SIZE = (1280.0, 800.0)


class Bench:
    """One imgui context; frames are `draw(snapshot, context)` within a window, or without one."""

    def __init__(self, scale: float = 1.0) -> None:
        self._close = open_context()
        io = imgui.get_io()
        # Somebody has to say that textures are looked after, or the font is never built.
        io.backend_flags |= imgui.BackendFlags_.renderer_has_textures.value
        io.display_size = SIZE
        io.delta_time = 1.0 / 60.0
        theme.apply(scale)
        self.context = PanelContext(
            fakes.catalogue(),
            theme.load_fonts(),
            ViewSettings(),
            ("software", "low", "medium", "high"),
            scale,
        )
        self.context.of(FlownParameters).values = fakes.catalogue().vehicles["helicopter"].defaults()
        self.context.scene_rect = (0.0, 0.0, 936.0, 628.0)

    def close(self) -> None:
        self._close()

    def frame(
        self,
        draw: Callable[[Snapshot, PanelContext], list[Request] | None],
        snapshot: Snapshot,
        *,
        height: float = SIZE[1],
    ) -> list:
        """One frame of a panel in a window of the right column's width."""
        imgui.get_io().display_size = (SIZE[0], height)
        self.context.rects.clear()
        imgui.new_frame()
        imgui.set_next_window_pos((936.0, 0.0))
        imgui.set_next_window_size((344.0, height))
        imgui.begin("bench")
        requests = draw(snapshot, self.context)
        imgui.end()
        imgui.render()
        return requests or []

    def click(self, name: str, draw: Callable, snapshot: Snapshot, *, at: float = 0.5) -> list[Request]:
        """Move to a widget's middle (or to a share `at` of its width), press, release; all requests of these frames."""
        for _ in range(3):
            self.frame(draw, snapshot)
        x, y, width, height = self.context.rects[name]
        io = imgui.get_io()
        requests: list[Request] = []
        io.add_mouse_pos_event(x + at * width, y + height / 2.0)
        requests += self.frame(draw, snapshot) + self.frame(draw, snapshot)
        for down in (True, False):
            io.add_mouse_button_event(0, down)
            requests += self.frame(draw, snapshot) + self.frame(draw, snapshot)
        return requests

    def type(self, text: str, draw: Callable, snapshot: Snapshot) -> list[Request]:
        """Into the active field, then Enter."""
        io = imgui.get_io()
        for key in (imgui.Key.mod_ctrl, imgui.Key.a):
            io.add_key_event(key, True)
        requests = self.frame(draw, snapshot)
        for key in (imgui.Key.a, imgui.Key.mod_ctrl):
            io.add_key_event(key, False)
        for character in text:
            io.add_input_character(ord(character))
        requests += self.frame(draw, snapshot) + self.frame(draw, snapshot)
        for down in (True, False):
            io.add_key_event(imgui.Key.enter, down)
            requests += self.frame(draw, snapshot) + self.frame(draw, snapshot)
        return requests


class InView(Bench):
    """The view alone, without a panel."""

    def frame(self, draw, snapshot, *, height=800.0):
        self.context.rects.clear()
        imgui.new_frame()
        requests = draw(snapshot, self.context)
        imgui.render()
        return requests
