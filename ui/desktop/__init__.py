"""What wires a window: opening, loading, one session at work, its planner and its takes."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from export.request import Request
from sim.scene import Scene

if TYPE_CHECKING:
    from sim.commands import Command


def run_window(
    scene: Scene,
    request: Request,
    probe: Path | None,
    at_first: tuple["Command", ...],
    asked: tuple[str, Callable[..., Scene]] | None = None,
) -> str:
    """Fly in a window until it is closed; returns why where there can be no window, else nothing.

    asked: another scene and what reads it (`load_scene` with its name): the window asks whether its program may be run.
    """
    if sys.platform.startswith("linux") and not os.environ.get("DISPLAY"):
        return "no display was found (DISPLAY is not set)"
    from ui.desktop.window_run import run_window  # takes a second: refusals and lists do not wait for it

    return run_window(scene, request, probe, at_first, asked)
