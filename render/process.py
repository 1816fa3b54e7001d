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

from render.quality import is_software

NICENESS = 2
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
_FLUSH = ctypes.CFUNCTYPE(None)


def _entry(ctx: moderngl.Context, name: str, kind: Any) -> Any:
    """A function of GL in one context, called through ctypes; None where moderngl does not tell where it is."""
    # Not part of moderngl's interface: a version may lack it.
    loader = getattr(ctx.mglo, "_context", None)
    return kind(loader.load_opengl_function(name)) if loader else None


class UnlockedDraw:
    """Draws vertex arrays that have no index buffer, in one context."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._draw = _entry(ctx, "glDrawArraysInstanced", _DRAW_ARRAYS)

    def __call__(self, array: moderngl.VertexArray, mode: int, vertices: int) -> None:
        """As `array.render(mode, vertices)`."""
        if self._draw is None:
            array.render(mode, vertices)
            return
        array.render(mode, vertices=0)  # binds program and array
        self._draw(mode, 0, vertices, 1)


class Flush:
    """Has software GL shade what was drawn so far, while more is drawn; waits for nothing.

    Left to itself it begins to shade a framebuffer when the next one is drawn into: until then its shading threads
    wait, and the thread that draws has worked out all vertices. Does nothing on a graphics card.
    """

    def __init__(self, ctx: moderngl.Context) -> None:
        self._flush = _entry(ctx, "glFlush", _FLUSH) if is_software(ctx) else None

    def __call__(self) -> None:
        """Of all framebuffers of the context."""
        if self._flush is not None:
            self._flush()
