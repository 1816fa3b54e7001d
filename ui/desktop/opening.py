"""From the window's first frame to a scene that is ready."""

import time
from contextlib import closing
from typing import TYPE_CHECKING

from export.probe import Probe
from sim.platform.progress import Job
from ui.desktop.loader import Loader
from ui.opening import FRAME_S, OpeningScreen
from ui.window import AppWindow

if TYPE_CHECKING:
    from ui.desktop.preparation import Loaded


def opened(window: AppWindow, loader: Loader, title: str, probe: Probe | None) -> "Loaded | None":
    """What the loader was asked for; meanwhile the window shows how it comes along. None: it was closed first.

    Raises InputError where the scene cannot work.
    """
    screen = OpeningScreen(window, title)
    loaded: Loaded | None = None
    last: Job | None = None

    def frame(dt_s: float) -> None:
        nonlocal loaded, last
        if last is not None:
            window.leave()
        loaded = loaded or loader.take()
        if loaded is not None:
            # Stays to be seen while the caller makes textures and compiles shaders, which stops the frames.
            last = last or Job("Picture", time.perf_counter())
        jobs = loader.jobs if last is None else (*loader.jobs, last)
        began_s = time.perf_counter()
        screen.draw(dt_s, jobs)
        if last is None:
            loader.wait(began_s + FRAME_S - time.perf_counter())
        if probe is not None:
            probe.opening([job.title for job in jobs], window.get_size())

    with closing(screen):
        window.run(frame)
    return loaded if last is not None else None
