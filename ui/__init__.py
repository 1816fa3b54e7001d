"""Window, panels and input: reads snapshots, hands out commands. The only layer that knows imgui and pyglet.

pyglet reads its options when its window and gl modules are first imported, hence here. 'stretch' makes
window sizes and mouse positions logical and the framebuffer physical on every platform, which is what
imgui expects. There is one window, so no hidden one is needed to share objects with.

imgui_bundle takes GLFW's bindings along where there are any, which nobody here asks for, and which read C declarations
for a thirtieth of a start; and asyncio, for ways to run it that nobody takes here: it is loaded where one is used.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import pyglet

pyglet.options.debug_gl = False
pyglet.options.shadow_window = False
pyglet.options.dpi_scaling = "stretch"


class _Later(ModuleType):
    """Stands for a library that is loaded when something of it is asked for; not for what annotations name."""

    Task = object

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]
        return getattr(import_module(self.__name__), name)


_glfw, _asyncio = sys.modules.get("glfw"), _Later("asyncio")
sys.modules["glfw"] = None  # type: ignore[assignment]  # Python's way of saying that there is none
sys.modules.setdefault("asyncio", _asyncio)
import imgui_bundle  # noqa: E402, F401

if sys.modules.get("asyncio") is _asyncio:
    del sys.modules["asyncio"]
del sys.modules["glfw"]
if _glfw is not None:
    sys.modules["glfw"] = _glfw
