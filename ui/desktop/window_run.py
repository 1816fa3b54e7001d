"""A scene in a window: opened, flown until it is closed."""

import sys
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, closing
from importlib import import_module
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from export.request import Request
from render.errors import DisplayError
from render.programs import Programs
from render.quality import Quality, choose, detect
from sim.platform.progress import Preparation
from sim.scene import Scene
from ui.desktop.probing import Probe
from ui.features.scenes.loader import Loader
from ui.settings.view_settings import MEMORY, config_dir
from ui.window.app_window import AppWindow
from ui.window.opening_screen import FRAME_S, OpeningScreen

if TYPE_CHECKING:
    from sim.commands import Command
    from ui.features.scenes.preparation import Loaded


LAST_STEP = "Lighting the picture"
_NEXT = "ui.desktop.session"
"""The module that takes the window over."""
REHEARSED = "canyon"
"""The world that takes long to grow."""


def opened(
    window: AppWindow,
    loader: Loader,
    scene: Scene,
    probe: Probe | None,
    rehearsal: Iterator[bool] | None = None,
) -> "Loaded | None":
    """What the loader was asked for; meanwhile the window shows how it comes along. None: it was closed first.

    rehearsal: steps that are taken as long as something is compiled or grown in other processes, each of which tells
    whether it has drawn into the window. Raises InputError where the scene cannot work.
    """
    screen = OpeningScreen(window, scene)
    loaded: Loaded | None = None
    last: Preparation | None = None

    def frame(dt_s: float) -> None:
        nonlocal loaded, last
        spoilt = False
        if last is not None:
            window.leave()
        loaded = loaded or loader.take()
        if loaded is not None:
            # Stays to be seen while the caller makes textures and compiles shaders, which stops the frames.
            last = last or Preparation(LAST_STEP, perf_counter())
        elif rehearsal is not None and any(job.functions for job in loader.jobs):
            until_s = perf_counter() + FRAME_S
            for drawn in rehearsal:
                spoilt = spoilt or drawn
                if perf_counter() > until_s:
                    break
            window.ctx.screen.use()
            window.ctx.screen.viewport = 0, 0, *window.framebuffer_px
        jobs = loader.jobs if last is None else (*loader.jobs, last)
        began_s = perf_counter()
        screen.draw(dt_s, jobs, spoilt=spoilt)
        if last is None:
            if len(jobs) > 1:  # the loader has loaded what it shares with a session, and is at work
                import_module(_NEXT)
            loader.wait(began_s + FRAME_S - perf_counter())
        if probe is not None:
            probe.opening([job.title for job in jobs], window.get_size())

    with closing(screen):
        window.run(frame)
    return loaded if last is not None else None


def _rehearsal(window: AppWindow, scene: Scene, programs: Programs, quality: Quality) -> Generator[bool]:
    """Have the programs compiled by which the scene will be drawn, where its world takes long to grow."""
    if scene.world != REHEARSED:
        return
    from render.rehearsal import rehearsed  # takes a while, and is for who waits

    yield from rehearsed(window.ctx, window.ctx.screen, programs, quality, scene.vehicle.name, scene.config)


TURN_S = 1e-3
"""For which a thread keeps the interpreter from others. One that works out water comes back from compiled code some
sixty times a picture, and waits each time until whoever draws lets go."""


def run_window(
    scene: Scene,
    request: Request,
    probe: Path | None,
    at_first: tuple["Command", ...] = (),
    asked: tuple[str, Callable[..., Scene]] | None = None,
) -> str:
    """Open the window and fly until it is closed; returns why where there can be no window, else nothing.

    asked: another scene and what reads it, which is opened in place of the first once the user has trusted its program;
    `at_first` is for that one.
    """
    with ExitStack() as resources:
        loader = resources.enter_context(closing(Loader()))
        try:
            window = AppWindow(size=request.size_px, title=f"Holonomy: {scene.title}")
        except DisplayError as error:
            return str(error)
        resources.callback(window.close)
        sys.setswitchinterval(TURN_S)
        quality = request.quality
        if quality == "auto":
            quality = MEMORY.read(config_dir()).quality or detect(window.ctx)
        watched = Probe(probe) if probe else None
        commands = at_first
        if request.demo:
            from sim.commands import SetDemo  # loads what simulates, and is seldom asked for

            commands = (SetDemo(True), *at_first)
        chosen = choose(window.ctx, quality)
        programs = Programs(window.ctx, defines=chosen.defines)
        resources.callback(programs.release)
        loader.load(lambda: scene, quality, commands=commands if asked is None else ())
        with closing(_rehearsal(window, scene, programs, chosen)) as rehearsal:
            loaded = opened(window, loader, scene, watched, rehearsal)
        if loaded is not None:
            # Here, not above: the window does not wait for these imports.
            from ui.desktop.session import Session
            from ui.features.takes.live_actions import KeepLog
            from ui.features.takes.sharing import Listen

            session = resources.enter_context(closing(Session(window, loader, loaded, programs)))
            if request.listen:
                session.do(Listen())
            for path in request.exports:
                session.do(KeepLog(path))
            if asked is not None:
                session.open(*asked, *commands)
            session.run(watched)
    return ""
