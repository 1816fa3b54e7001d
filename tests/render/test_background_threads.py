"""Shading threads give way, the others keep their priority."""

import os
import sys
import threading

import pytest

from render.process import NICENESS, give_way, software_threads

pytestmark = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="priorities of threads are Linux's"
)


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
