"""A scene in a window: opened, flown until it is closed."""

import sys
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from export.probe import Probe
from export.request import Request
from render.errors import DisplayError
from render.quality import detect
from sim.commands import Command, SetDemo
from sim.scene import Scene
from ui.config import config_dir
from ui.desktop.loader import Loader
from ui.desktop.opening import opened
from ui.memory import read_memory
from ui.window import AppWindow

TURN_S = 1e-3
"""For which a thread keeps the interpreter from others. One that works out water comes back from compiled code some
sixty times a picture, and waits each time until whoever draws lets go."""


def run_window(
    scene: Scene,
    request: Request,
    probe: Path | None,
    at_first: tuple[Command, ...] = (),
    asked: tuple[str, Callable[..., Scene]] | None = None,
) -> str:
    """Open the window and fly until it is closed; returns why where there can be no window, else nothing.

    asked: another scene and what reads it, which is opened in place of the first once the user has trusted its program;
    `at_first` is for that one.
    """
    try:
        window = AppWindow(size=request.size_px, title=f"Holonomy: {scene.title}")
    except DisplayError as error:
        return str(error)
    sys.setswitchinterval(TURN_S)
    quality = request.quality
    if quality == "auto":
        quality = read_memory(config_dir()).quality or detect(window.ctx)
    watched = Probe(probe) if probe else None
    with ExitStack() as resources:
        resources.callback(window.close)
        loader = resources.enter_context(closing(Loader()))
        commands = (SetDemo(True), *at_first) if request.demo else at_first
        loader.load(lambda: scene, quality, commands=commands if asked is None else ())
        loaded = opened(window, loader, scene.title, watched)
        if loaded is not None:
            # Here, not above: these imports take longer than to open a window.
            from ui.desktop.session import Session

            session = resources.enter_context(closing(Session(window, loader, loaded)))
            if asked is not None:
                session.open(*asked, *commands)
            session.run(watched)
    return ""
