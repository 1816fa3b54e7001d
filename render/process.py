"""What drawing asks of its process, so that whoever steps a simulation in it does not have to wait.

Software GL shades with a thread a processor; these get a lower priority. It finishes a picture inside the draw call
that first reads it: tens of milliseconds in which moderngl holds the interpreter's lock, while a call through ctypes
lets go of it.
"""

import ctypes
import os
import sys
from functools import cache
from pathlib import Path
from typing import Any

import moderngl

NICENESS = 10
_NAME = "llvmpipe"


def software_threads() -> list[int]:
    """Kernel ids of this process's shading threads; none on a graphics card, or where they cannot be told apart."""
    if not sys.platform.startswith("linux"):
        return []
    found = []
    for task in Path("/proc/self/task").iterdir():
        try:
            if (task / "comm").read_text().startswith(_NAME):
                found.append(int(task.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def give_way() -> None:
    """Give the shading threads that there are now a lower priority than the other threads of this process."""
    for thread in software_threads():
        try:
            os.setpriority(os.PRIO_PROCESS, thread, max(NICENESS, os.getpriority(os.PRIO_PROCESS, thread)))
        except OSError:
            continue


def give_back() -> None:
    """Memory that a scene has freed goes back to the system; takes some milliseconds.

    The C library keeps what is freed for later, in pieces between what is still in use: with worlds that are made by
    other threads the process grows by some thirty megabytes a scene, though nothing of the old ones is left. Does
    nothing where the C library has no such call.
    """
    trim = _trim()
    if trim is not None:
        trim(0)


@cache
def _trim() -> Any:
    """`malloc_trim` of glibc; None elsewhere."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        return ctypes.CDLL(None).malloc_trim
    except (OSError, AttributeError):
        return None


_DRAW_ARRAYS = ctypes.CFUNCTYPE(None, ctypes.c_uint, ctypes.c_int, ctypes.c_int, ctypes.c_int)


class UnlockedDraw:
    """Draws vertex arrays that have no index buffer, in one context."""

    def __init__(self, ctx: moderngl.Context) -> None:
        # Not part of moderngl's interface: where a version lacks it, arrays are drawn as ever.
        loader = getattr(ctx.mglo, "_context", None)
        self._draw = _DRAW_ARRAYS(loader.load_opengl_function("glDrawArraysInstanced")) if loader else None

    def __call__(self, array: moderngl.VertexArray, mode: int, vertices: int) -> None:
        """As `array.render(mode, vertices)`."""
        if self._draw is None:
            array.render(mode, vertices)
            return
        array.render(mode, vertices=0)  # binds program and array
        self._draw(mode, 0, vertices, 1)
