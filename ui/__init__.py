"""Window, panels and input: reads snapshots, hands out commands. The only layer that knows imgui and pyglet."""
