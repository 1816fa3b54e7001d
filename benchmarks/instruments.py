"""A frame's instruments, timeline and sound: `python -m benchmarks.instruments [--scene canyon] [--frames 200]`.

CPU milliseconds of the window's own thread, medians over frames in flight; a display is needed (Xvfb will do). Sound is
made for a sixtieth of a second a frame, whether there is a device or not. Plots and the other panels stand beside them.
"""

import argparse
import time
from collections import defaultdict
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from statistics import median
from typing import Any

import ui.features.flight
import ui.shell.features
import ui.shell.shell
from render.quality import detect
from sim.commands import SetDemo
from sim.scene import load_scene
from ui.desktop.session import Session
from ui.desktop.window_run import opened
from ui.features.feature import Feature
from ui.features.scenes.loader import Loader
from ui.features.sound import RATE_HZ, Mixer, heard
from ui.shell.features import FEATURES
from ui.shell.shell import Shell
from ui.window.app_window import AppWindow
from ui.window.layout import PLOTS

FRAME_HZ, WANTED_MS = 60, 1.0
COUNTED = ("instruments, map, goals", "timeline", "sound")


class Clock:
    """Collects CPU milliseconds a frame by what they went to."""

    def __init__(self) -> None:
        self._frame: dict[str, float] = defaultdict(float)
        self.frames_ms: dict[str, list[float]] = defaultdict(list)

    def timed(self, name: str, work: Callable[..., Any]) -> Callable[..., Any]:
        """The same work, which is counted."""

        def counted(*arguments: Any, **named: Any) -> Any:
            begun = time.thread_time()
            try:
                return work(*arguments, **named)
            finally:
                self._frame[name] += 1e3 * (time.thread_time() - begun)

        return counted

    def watch(self, name: str, owner: Any, attribute: str) -> None:
        """Count what an attribute does from now on."""
        setattr(owner, attribute, self.timed(name, getattr(owner, attribute)))

    def end_frame(self, *, counts: bool) -> None:
        """Take up what the frame has taken, if it counts."""
        for name, spent_ms in self._frame.items() if counts else ():
            self.frames_ms[name].append(spent_ms)
        self._frame.clear()


def _watched(feature: Feature, clock: Clock) -> Feature:
    """The same feature, which is counted: what it lays over the scene, and its panel where that is the plots'."""
    if feature.overlay is not None:
        feature = replace(feature, overlay=clock.timed(COUNTED[0], feature.overlay))
    if feature.panel is not None and feature.name == PLOTS:
        feature = replace(feature, panel=clock.timed("plots", feature.panel))
    return feature


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scene", default="canyon")
    parser.add_argument("--frames", type=int, default=200)
    options = parser.parse_args()
    clock, mixer = Clock(), Mixer()
    watched = tuple(_watched(feature, clock) for feature in FEATURES)
    ui.shell.shell.FEATURES = ui.shell.shell.FEATURES = watched
    clock.watch(COUNTED[1], ui.features.flight, "draw_timeline")
    clock.watch("the whole interface", Shell, "build")

    def sound(session: Session) -> None:
        mixer.hear(heard(session._simulation.snapshot), 1.0)
        mixer.samples(RATE_HZ // FRAME_HZ)

    window = AppWindow(size=(1280, 800), title="instruments")
    with closing(window), closing(Loader()) as loader:
        scene = load_scene(options.scene)
        loader.load(lambda: scene, detect(window.ctx), commands=(SetDemo(True),))
        loaded = opened(window, loader, scene, None)
        assert loaded is not None
        with closing(Session(window, loader, loaded)) as session:
            frames = 0

            def frame(dt_s: float) -> None:
                nonlocal frames
                flies = not session._starts
                session._frame(dt_s, None)
                clock.timed(COUNTED[2], sound)(session)
                clock.end_frame(counts=flies)
                frames += flies

            window.run(frame, until=lambda: frames >= options.frames)
    print(f"{options.scene}, CPU ms a frame   median   worst")
    for name, spent_ms in clock.frames_ms.items():
        print(f"  {name:28s} {median(spent_ms):8.3f} {max(spent_ms):8.3f}")
    frames_ms = [
        clock.frames_ms[name][-options.frames :] for name in COUNTED
    ]  # a frame that is shown again has sound alone
    together = median(map(sum, zip(*frames_ms, strict=False)))
    print(f"  {', '.join(COUNTED[1:]) + ' and the first':28s} {together:8.3f}   (wanted: {WANTED_MS})")


if __name__ == "__main__":
    main()
