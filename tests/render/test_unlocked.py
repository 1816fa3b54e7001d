"""An unlocked draw call draws what moderngl draws, and lets other threads run."""

import ctypes
import sys
import threading
import time
from types import SimpleNamespace

import moderngl
import numpy as np
import pytest

from render.process import UnlockedDraw
from tests.patience import PATIENCE_S

VERTEX = """#version 410
in vec2 place;
void main() { gl_Position = vec4(place, 0.0, 1.0); }
"""
FRAGMENT = """#version 410
out vec4 colour;
void main() { colour = vec4(gl_FragCoord.xy / 16.0, 1.0, 1.0); }
"""


def test_it_draws_the_same_pixels(ctx):
    program = ctx.program(vertex_shader=VERTEX, fragment_shader=FRAGMENT)
    corners = np.array([-0.9, -0.7, 0.8, -0.5, 0.1, 0.9, 9.0, 9.0, 9.0, 9.0, 9.0, 9.0], "f4")
    array = ctx.vertex_array(program, [(ctx.buffer(corners.tobytes()), "2f", "place")])
    pictures = []
    for draw in (array.render, lambda mode, vertices: UnlockedDraw(ctx)(array, mode, vertices)):
        target = ctx.simple_framebuffer((16, 16))
        target.use()
        target.clear()
        ctx.enable_only(moderngl.NOTHING)
        draw(moderngl.TRIANGLES, 3)
        pictures.append(target.read(components=4))
    assert pictures[0] == pictures[1]
    assert len(set(pictures[1])) > 8


@pytest.mark.skipif(sys.platform == "win32", reason="usleep is POSIX")
def test_other_threads_run_during_the_call():
    usleep = ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p).value
    loader = SimpleNamespace(load_opengl_function=lambda name: usleep)
    draw = UnlockedDraw(SimpleNamespace(mglo=SimpleNamespace(_context=loader)))
    array = SimpleNamespace(render=lambda mode, vertices: None)
    go, ran = threading.Event(), threading.Event()

    def beside():
        go.wait()
        ran.set()

    thread = threading.Thread(target=beside)
    thread.start()
    switch_s = sys.getswitchinterval()
    sys.setswitchinterval(2.0 * PATIENCE_S)  # nobody is made to let go
    try:
        go.set()
        end_s = time.monotonic() + PATIENCE_S
        while not ran.is_set() and time.monotonic() < end_s:
            draw(array, 100_000, 0)  # the stand-in sleeps that many microseconds
        seen = ran.is_set()
    finally:
        sys.setswitchinterval(switch_s)
        thread.join()
    assert seen
