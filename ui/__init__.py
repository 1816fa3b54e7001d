"""Window, panels and input: reads snapshots, hands out commands. The only layer that knows imgui and pyglet.

pyglet reads its options when its window and gl modules are first imported, hence here. 'stretch' makes
window sizes and mouse positions logical and the framebuffer physical on every platform, which is what
imgui expects. There is one window, so no hidden one is needed to share objects with.

imgui_bundle takes GLFW's bindings along where there are any, which nobody here asks for, and which read C declarations
for a thirtieth of a start.
"""

import sys

import pyglet

pyglet.options.debug_gl = False
pyglet.options.shadow_window = False
pyglet.options.dpi_scaling = "stretch"

_glfw = sys.modules.get("glfw")
sys.modules["glfw"] = None  # type: ignore[assignment]  # Python's way of saying that there is none
import imgui_bundle  # noqa: E402, F401

del sys.modules["glfw"]
if _glfw is not None:
    sys.modules["glfw"] = _glfw
