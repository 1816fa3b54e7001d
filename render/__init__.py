"""Pictures from snapshots: moderngl, OpenGL 4.1 core.

`renderer` draws a `frame.Frame` of a world into a framebuffer; `vehicles.scene_view` makes frames out of snapshots.
"""
