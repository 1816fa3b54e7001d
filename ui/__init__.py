"""Window, panels and input: reads snapshots, hands out commands. The only layer that knows imgui and pyglet.

pyglet reads its options when its window and gl modules are first imported, hence here. 'stretch' makes
window sizes and mouse positions logical and the framebuffer physical on every platform, which is what
imgui expects. There is one window, so no hidden one is needed to share objects with.
"""

import pyglet

pyglet.options.debug_gl = False
pyglet.options.shadow_window = False
pyglet.options.dpi_scaling = "stretch"
