"""A window with its shell and a made-up snapshot, driven through its event handlers; run by test_window.py.

Without a display: pyglet's headless window. Arguments: the settings folder,
and which parts to play. Prints one JSON object with what was seen.
"""

import json
import math
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from imgui_bundle import imgui
from pyglet.window import key, mouse

from sim.commands import SetPilotInput
from sim.scene import Scene, load_scene
from sim.simulation.lanes.snapshot import Snapshot
from sim.vehicles import known_vehicle
from tests.ui import fakes
from ui.shell.shell import Shell
from ui.window.app_window import AppWindow

SCENE = Scene("canyon", "The canyon", vehicle=known_vehicle("helicopter", mass=1100.0))

SCENE_COLOUR = 0.3, 0.5, 0.7
COARSE = 20
"""Steps of colour in a headless window's 16 bits a pixel, in which what is blended is rounded every time."""


class Session:
    """One window; `frames(n)` runs n of them and collects what is asked for."""

    def __init__(
        self, folder: Path, size: tuple[int, int] = (1280, 800), panels_hz: float = math.inf
    ) -> None:
        self.window = AppWindow(size)
        catalogue = fakes.catalogue()
        self.shell = Shell(
            self.window, scene=SCENE, config_folder=folder, catalogue=catalogue, panels_hz=panels_hz
        )
        self.built: list[bool] = []
        self.snapshot: Snapshot = fakes.snapshot()
        self.commands: list = []
        self.actions: list = []
        self.drags: list = []
        self.errors: set[str] = set()
        self.wants_picture = False
        self.picture = self.direct = None
        """The window, and as imgui draws it by itself."""

    def frames(self, count: int) -> None:
        self.window.run(self._frame, frames=count)

    def _frame(self, dt_s: float) -> None:
        self.built.append(self.shell.begin_frame(dt_s, self.snapshot))
        output = self.shell.build(self.snapshot)
        self._clear_scene()
        self.shell.render()
        if self.wants_picture:
            self.picture = self.window.screenshot()
            self.direct = self._drawn_directly()
        self.commands += output.commands
        self.actions += output.actions
        self.drags.append(self.shell.motion.drag_px)
        self.errors.add(self.window.ctx.error)

    def _clear_scene(self) -> None:
        """As a scene that is drawn anew would: the panels around it are left as they are."""
        screen = self.window.ctx.screen
        screen.scissor = self.shell.scene_rect_px
        screen.clear(*SCENE_COLOUR)
        screen.scissor = None

    def _drawn_directly(self) -> np.ndarray:
        """What imgui has of this frame, in a picture beside the window: about the scene, on the ground of windows."""
        ctx, size_px = self.window.ctx, self.window.framebuffer_px
        beside = ctx.framebuffer([ctx.renderbuffer(size_px)])
        beside.use()
        ground = imgui.get_style_color_vec4(imgui.Col_.window_bg)
        beside.clear(ground.x, ground.y, ground.z)
        beside.clear(*SCENE_COLOUR, viewport=self.shell.scene_rect_px)
        imgui.backends.opengl3_render_draw_data(imgui.get_draw_data())
        pixels = np.frombuffer(beside.read(alignment=1), np.uint8).reshape(size_px[1], size_px[0], 3)[::-1]
        ctx.screen.use()
        beside.color_attachments[0].release()
        beside.release()
        return pixels

    def off(self) -> float:
        """Share of the last picture that is not as imgui draws it by itself."""
        return float((abs(self.picture.astype(int) - self.direct) > COARSE).any(axis=2).mean())

    def at(self, name: str) -> tuple[int, int]:
        """Middle of a widget, in pyglet's coordinates."""
        x, y, width, height = self.shell.widget_rects[name]
        return round(x + width / 2), round(self.window.get_size()[1] - y - height / 2)

    def click(self, name: str) -> None:
        place = self.at(name)
        self.window.dispatch_event("on_mouse_motion", *place, 0, 0)
        self.frames(2)
        self.window.dispatch_event("on_mouse_press", *place, mouse.LEFT, 0)
        self.frames(2)
        self.window.dispatch_event("on_mouse_release", *place, mouse.LEFT, 0)
        self.frames(2)

    def press(self, symbol: int) -> None:
        self.window.dispatch_event("on_key_press", symbol, 0)
        self.window.dispatch_event("on_key_release", symbol, 0)
        self.frames(1)

    def taken(self) -> list[str]:
        """Commands since the last call, as text, sticks left out."""
        texts = [repr(c) for c in self.commands if not isinstance(c, SetPilotInput)]
        self.commands.clear()
        return texts

    def close(self) -> None:
        self.shell.release()
        self.window.close()


def layout(session: Session) -> dict:
    session.frames(6)
    rects = {k: v for k, v in session.shell.widget_rects.items() if k.startswith("window/")}
    return {"windows": rects, "scene_px": session.shell.scene_rect_px, "size": session.window.get_size()}


def clicks(session: Session) -> dict:
    session.click("integrator/combo")
    session.click("integrator/item/rk4")
    session.click("transport/play")
    return {"commands": session.taken(), "drags": [d for d in session.drags if d != (0.0, 0.0)]}


def keys(session: Session) -> dict:
    session.press(key.SPACE)
    session.press(key.ESCAPE)
    session.press(key.F1)
    session.frames(3)
    seen = {"commands": session.taken(), "help": "help" in session.shell.widget_rects}
    session.press(key.ESCAPE)
    session.frames(1)
    seen["help_after_escape"] = "help" in session.shell.widget_rects
    session.click("integrator/combo")
    seen["menu"] = "integrator/item/rk4" in session.shell.widget_rects
    session.press(key.F1)
    session.press(key.ESCAPE)
    session.frames(2)
    seen["menu_after_escape"] = "integrator/item/rk4" in session.shell.widget_rects
    seen["help_beside_menu"] = "help" in session.shell.widget_rects
    session.press(key.ESCAPE)
    session.frames(1)
    session.press(key.F12)
    seen["actions"] = [repr(action) for action in session.actions]
    session.window.dispatch_event("on_key_press", key.W, 0)
    session.frames(8)
    seen["flown"] = any(isinstance(c, SetPilotInput) and c.pilot.pitch > 0.0 for c in session.commands)
    session.window.dispatch_event("on_deactivate")
    session.frames(1)
    seen["after_focus_loss"] = session.commands[-1].pilot.pitch
    session.window.dispatch_event("on_activate")
    session.frames(1)
    return seen


def typing(session: Session) -> dict:
    session.click("integrator/step_field")
    session.commands.clear()
    session.window.dispatch_event("on_key_press", key.W, 0)
    session.press(key.SPACE)
    session.frames(5)
    silent = not session.commands
    session.window.dispatch_event("on_key_release", key.W, 0)
    for event, symbol in (("press", key.LCTRL), ("press", key.A), ("release", key.A), ("release", key.LCTRL)):
        session.window.dispatch_event(f"on_key_{event}", symbol, key.MOD_CTRL)
    session.frames(1)
    session.window.dispatch_event("on_text", "25")
    session.window.dispatch_event("on_text", "\r")
    session.frames(2)
    session.press(key.RETURN)
    session.frames(2)
    return {"silent": silent, "commands": session.taken()}


def hurried(session: Session) -> dict:
    """A click on a tab in two pictures, behind keys of which imgui takes one a frame."""
    session.frames(6)
    place = session.at("tab/Takes")
    before = "window/Takes" in session.shell.widget_rects
    for _ in range(4):
        session.window.dispatch_event("on_key_press", key.LCTRL, 0)
        session.window.dispatch_event("on_key_release", key.LCTRL, key.MOD_CTRL)
    session.window.dispatch_event("on_mouse_motion", *place, 0, 0)
    session.frames(1)
    session.window.dispatch_event("on_mouse_press", *place, mouse.LEFT, 0)
    session.window.dispatch_event("on_mouse_release", *place, mouse.LEFT, 0)
    session.frames(20)
    return {"before": before, "after": "window/Takes" in session.shell.widget_rects}


def slow(session: Session) -> dict:
    """A click on a button in pictures that take half a second, while panels that nobody touches rest."""
    session.frames(6)
    place = session.at("transport/play")
    session.window.dispatch_event("on_mouse_motion", *place, 0, 0)
    session.frames(2)
    session.taken()
    session.window.dispatch_event("on_mouse_press", *place, mouse.LEFT, 0)
    session.window.dispatch_event("on_mouse_release", *place, mouse.LEFT, 0)
    for _ in range(3):
        session.frames(1)
        time.sleep(0.5)
    return {"commands": session.taken()}


def overtaken(session: Session) -> dict:
    """A key right after a click on a field, both behind keys of which imgui takes one a frame."""
    session.frames(6)
    place = session.at("integrator/step_field")
    session.window.dispatch_event("on_mouse_motion", *place, 0, 0)
    session.frames(2)
    session.taken()
    for _ in range(6):
        session.window.dispatch_event("on_key_press", key.LCTRL, 0)
        session.window.dispatch_event("on_key_release", key.LCTRL, key.MOD_CTRL)
    session.window.dispatch_event("on_mouse_press", *place, mouse.LEFT, 0)
    session.window.dispatch_event("on_mouse_release", *place, mouse.LEFT, 0)
    session.press(key.K)
    session.frames(30)
    return {"commands": session.taken(), "typing": imgui.get_io().want_text_input}


def chosen(session: Session) -> dict:
    """A scene that plans comes while the panel is in use in which it was chosen."""
    session.frames(6)
    session.click("tab/Takes")
    session.click("tab/Scene")
    session.click("window/Scene")
    session.shell.begin_scene(load_scene("plan-quadrotor-gates"), None)
    session.frames(8)
    return {"plan": "window/Plan" in session.shell.widget_rects}


def dragging(session: Session) -> dict:
    session.drags.clear()
    session.window.dispatch_event("on_mouse_motion", 400, 400, 0, 0)
    session.frames(2)
    session.window.dispatch_event("on_mouse_press", 400, 400, mouse.LEFT, 0)
    session.window.dispatch_event("on_mouse_drag", 1200, 410, 800, 10, mouse.LEFT, 0)
    session.frames(2)
    session.window.dispatch_event("on_mouse_release", 1200, 410, mouse.LEFT, 0)
    session.frames(2)
    return {"drags": [d for d in session.drags if d != (0.0, 0.0)], "commands": session.taken()}


def hiding(session: Session) -> dict:
    session.press(key.H)
    session.frames(3)
    hidden = (session.shell.scene_rect_px, [k for k in session.shell.widget_rects if k.startswith("window/")])
    session.wants_picture = True
    session.frames(1)
    colours = [session.picture[y, x].tolist() for y, x in ((300, 500), (300, 1100))]
    session.wants_picture = False
    session.press(key.H)
    session.frames(6)
    fronts = sorted(k for k in session.shell.widget_rects if k.startswith("window/"))
    return {"hidden": hidden, "colours": colours, "back": session.shell.scene_rect_px, "fronts": fronts}


def look(session: Session) -> dict:
    session.wants_picture = True
    session.frames(1)
    picture = session.picture
    return {
        "scene": picture[300, 500].tolist(),
        "panel": picture[780, 1260].tolist(),
        "bright_in_panel": int((picture[:, 940:].min(axis=2) > 170).sum()),
    }


def sparing(session: Session) -> dict:
    """In a window whose panels are built anew once in ten seconds, and that takes long to start."""
    time.sleep(0.6)
    session.frames(6)
    time.sleep(0.6)
    session.built.clear()
    session.wants_picture, pictures = True, []
    for _ in range(4):
        session.frames(1)
        pictures.append(session.picture)
    seen = {
        "off": [session.off()],
        "untouched": list(session.built),
        "same": [bool((p == pictures[0]).all()) for p in pictures],
    }
    session.built.clear()
    session.press(key.SPACE)
    seen |= {"touched": list(session.built), "commands": session.taken()}
    before = session.picture
    session.press(key.M)
    session.frames(2)
    seen["off"].append(session.off())
    seen["changed"] = bool((session.picture != before).any())
    session.window.dispatch_event("on_key_press", key.W, 0)
    time.sleep(0.6)
    session.built.clear()
    session.commands.clear()
    session.frames(3)
    seen["held"] = list(session.built)
    seen["flown"] = sum(isinstance(c, SetPilotInput) and c.pilot.pitch > 0.0 for c in session.commands)
    return seen


PARTS: tuple[Callable[[Session], dict], ...] = (
    layout,
    clicks,
    keys,
    typing,
    dragging,
    hiding,
    look,
    sparing,
    hurried,
    slow,
    overtaken,
    chosen,
)


def main(folder: Path, names: list[str]) -> None:
    session = Session(folder, panels_hz=0.1 if {"sparing", "slow"} & {*names} else math.inf)
    seen = {part.__name__: part(session) for part in PARTS if part.__name__ in names}
    seen["errors"] = sorted(session.errors)
    session.close()
    seen["files"] = sorted(path.name for path in folder.iterdir())
    print(json.dumps(seen))


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
