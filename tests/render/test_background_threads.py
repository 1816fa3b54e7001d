"""Shading threads give way, the others keep their priority."""

import os
import sys
import threading
import time

import moderngl
import pytest

from render.passes.targets import unbind
from render.process import NICENESS, Flush, give_way, software_threads
from tests.patience import wait_until

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="priorities of threads are Linux's"
)
EVERYWHERE = """#version 410
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }
"""
SLOW = """#version 410
out vec4 colour;
void main() {
    float x = gl_FragCoord.x;
    for (int k = 0; k < 500; ++k) x = fract(x * 1.7 + 0.3);
    colour = vec4(x);
}
"""
SHADED_S = 0.005
"""Of processor time that it takes at least: measured 0.02."""


def shading_s() -> float:
    """CPU time of the shading threads (linux/posix-timers.h)."""
    return sum(time.clock_gettime((~thread << 3) | 0b110) for thread in software_threads())


def test_shading_threads_give_way_and_no_other(ctx):
    if "llvmpipe" not in ctx.info["GL_RENDERER"]:
        pytest.skip("drawn by a graphics card")
    own = threading.get_native_id()
    before = os.getpriority(os.PRIO_PROCESS, own)
    shading = software_threads()
    assert shading
    assert own not in shading
    give_way()
    assert all(os.getpriority(os.PRIO_PROCESS, thread) >= NICENESS for thread in shading)
    assert os.getpriority(os.PRIO_PROCESS, own) == before
    give_way()


def test_what_is_flushed_is_shaded_though_nobody_waits_for_it(ctx):
    """Before that the shading threads have done nothing: software GL begins a framebuffer with the next one."""
    if not software_threads():
        pytest.skip("drawn by a graphics card")
    program = ctx.program(vertex_shader=EVERYWHERE, fragment_shader=SLOW)
    array, target = ctx.vertex_array(program, []), ctx.simple_framebuffer((256, 256))
    target.use()
    ctx.enable_only(moderngl.NOTHING)
    array.render(moderngl.TRIANGLES, vertices=3)
    ctx.finish()  # the program is compiled
    begun_s = shading_s()
    array.render(moderngl.TRIANGLES, vertices=3)
    time.sleep(0.05)
    assert shading_s() - begun_s < 0.2 * SHADED_S
    Flush(ctx)()
    wait_until(lambda: shading_s() - begun_s > SHADED_S)
    unbind(ctx)
    for held in (array, program, target):
        held.release()
