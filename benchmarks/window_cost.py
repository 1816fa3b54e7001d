"""What a window costs beside its scene, and at rest: `python -m benchmarks.window_cost [--scenes canyon]`.

CPU time a frame of the thread that draws and of those that shade for it (Linux), by what it goes into, with a finish
around each, while the scene is flown and panels and plots are open; then memory of the process. Then the simulation is
paused: how long until the picture is whole, and what is drawn and looked at after that, untouched and while the mouse
moves over a panel. Aims: panels, plots and instruments 3 ms a frame, 600 MB; whole within 0.3 s, then nothing drawn,
30 looks a second at under 0.2 processors. A display is needed (Xvfb will do).
"""

import argparse
import os
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from typing import TypeVar

from benchmarks.scene_memory import resident_mb
from render.frame import Frame
from render.process import software_threads
from sim.commands import PilotInput, SetDemo, SetPaused, SetPilotInput
from sim.scene import load_scene
from ui.desktop.session import Session
from ui.desktop.window_run import opened
from ui.features.scenes.loader import Loader
from ui.window.app_window import AppWindow

SETTLING_S = 6.0
"""In which kernels are made ready and effort follows what frames take."""
RESTS_S = 1.0
"""Of pictures that have not changed."""
LONGEST_S = 10.0
"""For which that is waited for."""
_OF_A_THREAD = 0b110
"""Of the clock of a thread's CPU time, beside its number (linux/posix-timers.h)."""
Value = TypeVar("Value")


def cpu_ms() -> float:
    """Of the thread that draws and those that shade for it, since they began."""
    threads = threading.get_native_id(), *software_threads()
    clocks = ((~each << 3) | _OF_A_THREAD for each in threads)
    return sum(1e3 * time.clock_gettime(clock) for clock in clocks)


class Watch:
    """Tells what the frames of a session go into."""

    def __init__(self, window: AppWindow, session: Session) -> None:
        self._window, self._session = window, session
        self.spent_ms: dict[str, float] = defaultdict(float)
        self.frames, self.drawn, self.drawn_s = 0, 0, 0.0
        shell, picture = session._shell, session._picture
        for owner, name, what in (
            (session, "_poll", "features"),
            (shell, "begin_frame", "panels"),
            (shell, "build", "panels"),
            (shell, "render", "panels"),
            (picture, "draw", "scene"),
        ):
            setattr(owner, name, self._timed(getattr(owner, name), what))
        renderer = picture.renderer
        assert renderer is not None
        draw_targets = renderer._draw_targets

        def counted(frame: Frame, *, one_of_many: bool) -> None:
            self.drawn, self.drawn_s = self.drawn + 1, time.perf_counter()
            draw_targets(frame, one_of_many=one_of_many)

        vars(renderer)["_draw_targets"] = counted  # what is copied once more is not drawn

    def _timed(self, call: Callable[..., Value], what: str) -> Callable[..., Value]:
        def timed(*given: object, **named: object) -> Value:
            self._window.ctx.finish()
            began_ms = cpu_ms()
            value = call(*given, **named)
            self._window.ctx.finish()
            self.spent_ms[what] += cpu_ms() - began_ms
            return value

        return timed

    def run(self, until: Callable[[], bool], each: Callable[[], None] = lambda: None) -> float:
        """Frames until it is so after one; what all of them took [s]. each: called before every one."""
        self.spent_ms.clear()
        self.frames = self.drawn = 0
        began_s = time.perf_counter()

        def frame(dt_s: float) -> None:
            each()
            self._session._frame(dt_s, None)
            self.frames += 1

        self._window.run(frame, until=until)
        return time.perf_counter() - began_s


def passed(seconds: float) -> Callable[[], bool]:
    """Whether so much time has passed since it was asked for."""
    end_s = time.perf_counter() + seconds
    return lambda: time.perf_counter() > end_s


def at_rest(window: AppWindow, session: Session, watch: Watch, seconds: float) -> None:
    """Pause, and print what is drawn afterwards."""
    session.submit(SetPaused(True))
    watch.run(lambda: session.simulation.snapshot.paused)
    paused_s = watch.drawn_s = time.perf_counter()
    watch.run(lambda: time.perf_counter() > min(watch.drawn_s + RESTS_S, paused_s + LONGEST_S))
    renderer = session._picture.renderer
    assert renderer is not None
    print(f"  at rest whole after {watch.drawn_s - paused_s:.2f} s, at {renderer.scale:.2f} of the window")
    x, y, width, height = next(
        rect for name, rect in session._shell.widget_rects.items() if name.startswith("window/")
    )
    steps = iter(range(10**9))

    def move() -> None:
        along = (next(steps) % 40) / 40.0
        window.dispatch_event(
            "on_mouse_motion", int(x + along * width), window.height - int(y + 0.5 * height), 1, 0
        )

    for title, each in (("untouched", lambda: None), ("mouse over a panel", move)):
        began_s = time.process_time()
        passed_s = watch.run(passed(seconds), each)
        cores = (time.process_time() - began_s) / passed_s
        print(
            f"  {title:24s} {watch.frames / passed_s:6.1f} looks/s, {watch.drawn} pictures of the scene,"
            f" {cores:.2f} processors",
            flush=True,
        )


def measure(name: str, seconds: float, size: tuple[int, int]) -> None:
    """Print the lines of a scene."""
    window = AppWindow(size=size, title="cost")
    with closing(window), closing(Loader()) as loader:
        scene = load_scene(name)
        loader.load(lambda: scene, "software")
        loaded = opened(window, loader, scene, None)
        assert loaded is not None
        with closing(Session(window, loader, loaded)) as session:
            del loaded
            window.run(lambda dt_s: session._frame(dt_s, None), until=lambda: not session._starts)
            watch = Watch(window, session)
            fly = SetDemo(True) if name == "canyon" else SetPilotInput(PilotInput(pitch=0.8, roll=0.12))
            session.submit(fly)
            watch.run(passed(SETTLING_S))
            began_ms = cpu_ms()
            passed_s = watch.run(passed(seconds))
            whole_ms, frames = cpu_ms() - began_ms, watch.frames
            print(f"{name}, {size[0]}x{size[1]}, load average {os.getloadavg()[0]:.1f}")
            print(f"  {frames / passed_s:.1f} frames/s at {session._picture.pace.scale:.2f} of the window")
            spent_ms = {**watch.spent_ms, "rest": whole_ms - sum(watch.spent_ms.values())}
            for what, ms in spent_ms.items():
                print(f"  {what:24s} {ms / frames:6.2f} ms a frame")
            print(f"  {'memory':24s} {resident_mb():6.0f} MB")
            at_rest(window, session, watch, seconds)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", default="canyon,harbour")
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument(
        "--size", type=lambda text: tuple(int(n) for n in text.split("x")), default=(1280, 800)
    )
    options = parser.parse_args()
    for name in options.scenes.split(","):
        measure(name, options.seconds, options.size)


if __name__ == "__main__":
    main()
