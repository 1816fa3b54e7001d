"""The longest wait between two frames of the window: at its start, at every change of scene, at swaps and at a plan.

    python -m benchmarks.frame_gaps [--scenes canyon,drive,heavy-top,harbour,plan-car-parking,canyon]

The scenes are opened one after the other in one window; in each the method is changed, the hour and the quality, and
a plan is asked for where there is a task. Beside the wait stands the most CPU time that a frame took in that while, of
the thread that draws, and with those that shade for it: a busy machine is judged by that. Wants a display (Xvfb will
do). Kernels, worlds, meshes and still light are in the cache after a first run, which therefore tells of something
else: of a world never seen, the still light is baked besides, a share a frame.
"""

import argparse
import time
from contextlib import closing
from dataclasses import replace

from benchmarks.window_cost import cpu_ms
from render.quality import detect
from sim.commands import SetIntegrator
from sim.integrators import usual
from sim.planner.service.requests import StartPlanning
from sim.scene import load_scene
from sim.vehicles import known_vehicle
from ui.desktop.session import Session
from ui.desktop.window_run import opened
from ui.features.scenes.loader import Loader
from ui.window.app_window import AppWindow
from ui.window.context import LoadScene

WANTED_S = 1.0
WATCHED_S = 3.0
"""After each wish, at least."""
LONGEST_S = 60.0
OTHER_QUALITY = "low"


class Window(AppWindow):
    """Keeps the longest wait between two of its frames, and the most CPU time of one."""

    def begin(self) -> None:
        """Watch anew."""
        self.frames, self.longest_s = 0, 0.0
        self.drawing_ms = self.with_shading_ms = 0.0
        self._last = time.perf_counter(), 1e3 * time.thread_time(), cpu_ms()

    def flip(self) -> None:
        """A frame is there to be seen."""
        super().flip()
        now = time.perf_counter(), 1e3 * time.thread_time(), cpu_ms()
        wait_s, drawing_ms, with_shading_ms = (
            one - other for one, other in zip(now, self._last, strict=True)
        )
        self.frames, self._last = self.frames + 1, now
        self.longest_s = max(self.longest_s, wait_s)
        self.drawing_ms = max(self.drawing_ms, drawing_ms)
        self.with_shading_ms = max(self.with_shading_ms, with_shading_ms)


def watched(window: Window, session: Session, what: str, *, until: str = "") -> None:
    """Frames until the first picture of the scene of that name and a while longer; print the longest wait."""
    began_s = time.perf_counter()
    window.begin()
    due_s = began_s + WATCHED_S

    def seen() -> bool:
        nonlocal due_s
        now_s = time.perf_counter()
        if until and (session._scene.name != until or session._starts):
            due_s = now_s + WATCHED_S
        return now_s > min(due_s, began_s + LONGEST_S)

    window.run(lambda dt_s: session._frame(dt_s, None), until=seen)
    late = "" if window.longest_s <= WANTED_S else f"   above {WANTED_S} s"
    told(window, what, f"   {window.frames:4d} frames{late}")


def told(window: Window, what: str, more: str = "") -> None:
    """Print what the window has kept."""
    cpu = f"{window.drawing_ms:6.0f} ms drawing, {window.with_shading_ms:6.0f} ms with shading"
    print(f"  {what:44s} {window.longest_s:6.3f} s   {cpu}{more}", flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", default="canyon,drive,heavy-top,harbour,plan-car-parking,canyon")
    names = parser.parse_args().scenes.split(",")
    window = Window(size=(1280, 800), title="frames")
    window.begin()
    print("longest wait between two frames, and the most CPU time of one")
    with closing(window), closing(Loader()) as loader:
        scene = load_scene(names[0])
        loader.load(lambda: scene, detect(window.ctx))
        loaded = opened(window, loader, scene, None)
        assert loaded is not None
        with closing(Session(window, loader, loaded)) as session:
            window.run(lambda dt_s: session._frame(dt_s, None), until=lambda: not session._starts)
            told(window, f"start: {names[0]}")
            for place, name in enumerate(names):
                if place:
                    session.do(LoadScene(name))
                    watched(window, session, f"{names[place - 1]} to {name}", until=name)
                lane = session._simulation.snapshot.lanes[0]
                method = next(
                    m for m in usual(known_vehicle(lane.vehicle), lane.integrator) if m != lane.integrator
                )
                session._simulation.submit(SetIntegrator(method))
                watched(window, session, f"{name}: swap to {method}")
                view = session._shell.view
                session._shell.view = replace(view, hour=17.0)
                watched(window, session, f"{name}: another hour")
                for quality in (OTHER_QUALITY, view.quality):
                    session._shell.view = replace(view, hour=17.0, quality=quality)
                    watched(window, session, f"{name}: quality {quality}")
                session._shell.view = view
                if session._planning.view is not None:
                    session.do(StartPlanning())
                    watched(window, session, f"{name}: plan")


if __name__ == "__main__":
    main()
