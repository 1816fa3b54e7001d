"""A screen of its own for window tests: Xvfb, xdotool and the app with its probe."""

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.app.program import ROOT
from ui.features.edits import REST_S

Probe = dict[str, Any]

PATIENCE = 10.0
"""Limits are given for an idle machine; a busy one takes as much longer. Nothing is waited for but its condition."""


class Screen:
    """A virtual X screen on a free display number."""

    def __init__(self, width: int = 1280, height: int = 800) -> None:
        for program in ("Xvfb", "xdotool"):
            assert shutil.which(program), f"{program} is needed; ./test installs it where it may"
        read, write = os.pipe()
        command = ["Xvfb", "-displayfd", str(write), "-screen", "0", f"{width}x{height}x24", "-noreset"]
        self._server = subprocess.Popen(
            command, pass_fds=[write], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        os.close(write)
        with os.fdopen(read) as pipe:
            number = pipe.readline().strip()
        assert number, "Xvfb did not start"
        self.display = f":{number}"

    def xdotool(self, *arguments: object) -> None:
        """One xdotool command on this screen."""
        environment = {**os.environ, "DISPLAY": self.display}
        subprocess.run(["xdotool", *map(str, arguments)], env=environment, check=True, timeout=20 * PATIENCE)

    def kill(self) -> None:
        """End the server at once, as a crash does."""
        self._server.kill()
        self._server.wait(20 * PATIENCE)

    def close(self) -> None:
        self._server.terminate()
        self._server.wait(20 * PATIENCE)


class App:
    """`python app.py` on a screen, watched through its probe file."""

    def __init__(
        self, screen: Screen, folder: Path, *arguments: str, root: Path = ROOT, **variables: str
    ) -> None:
        """`variables`: of its environment, beside the present ones; root: the checkout."""
        self.screen = screen
        self._file = folder / "probe.json"
        self._log = (folder / "log.txt").open("w+")
        environment = {**os.environ, "DISPLAY": screen.display, "HOLONOMY_CONFIG": str(folder), **variables}
        environment.pop("WAYLAND_DISPLAY", None)
        self.process = subprocess.Popen(
            [sys.executable, str(root / "app.py"), *arguments, "--probe", str(self._file)],
            env=environment,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )

    def seen(self) -> Probe | None:
        """What the window shows now; None before its scene's first frame."""
        shown = self._shown()
        return None if shown is None or "opening" in shown else shown

    def opening(self) -> list[str] | None:
        """What the window says it is making ready; None before its first frame and once a scene is shown."""
        shown = self._shown()
        return None if shown is None else shown.get("opening")

    def _shown(self) -> Probe | None:
        return json.loads(self._file.read_text()) if self._file.exists() else None

    def log(self) -> str:
        self._log.seek(0)
        return self._log.read()

    def wait_until(self, holds: Callable[[Probe], bool], *, timeout_s: float, what: str) -> Probe:
        """The first probe for which `holds`; fails with what was last seen."""
        end = time.monotonic() + PATIENCE * timeout_s
        while time.monotonic() < end:
            assert self.process.poll() is None, f"the app ended while waiting until {what}:\n{self.log()}"
            seen = self.seen()
            if seen is not None and holds(seen):
                return seen
            time.sleep(0.05)
        raise AssertionError(
            f"not within {PATIENCE * timeout_s} s: {what}; last seen {self.seen()}\n{self.log()}"
        )

    def wait_for_opening(self, job: str, *, timeout_s: float) -> None:
        """Until the window says that it makes this ready."""
        end = time.monotonic() + PATIENCE * timeout_s
        while job not in (self.opening() or ()):
            assert self.process.poll() is None, f"the app ended before {job}:\n{self.log()}"
            assert self.seen() is None, f"the scene is shown, and there was no {job}"
            assert time.monotonic() < end, (
                f"not within {PATIENCE * timeout_s} s: {job}; last {self.opening()}\n{self.log()}"
            )
            time.sleep(0.02)

    def wait_frames(self, count: int) -> Probe:
        """Wait until `count` more frames have been drawn, however slow the machine is."""
        now = self.wait_until(lambda p: True, timeout_s=5, what="a probe")["frames"]
        return self.wait_until(lambda p: p["frames"] >= now + count, timeout_s=60, what="frames go on")

    def rest(self) -> Probe:
        """Wait until what was dragged has rested, by the window's own clock, for twice as long as makes it one edit."""
        begun_s = self.wait_frames(2)["wall_s"]
        return self.wait_until(
            lambda p: p["wall_s"] > begun_s + 2.0 * REST_S, timeout_s=60, what="what was dragged has rested"
        )

    def click(self, widget: str) -> None:
        """Left click on the middle of a widget, once its place has settled."""
        x, y, width, height = self._settled(widget)
        self.press(x + width / 2, y + height / 2)

    def press(self, x: float, y: float) -> None:
        """Left click at a place of the window; each event gets frames of its own."""
        self.screen.xdotool("mousemove", round(x), round(y))
        for event in ("mousedown", "mouseup"):
            self.wait_frames(2)
            self.screen.xdotool(event, 1)
        self.wait_frames(2)

    def drag(self, widget: str, by_px: tuple[int, int]) -> None:
        """From the middle of a widget so far right and down with the left button, in some moves."""
        x, y, width, height = self._settled(widget)
        x, y = round(x + width / 2), round(y + height / 2)
        self.screen.xdotool("mousemove", x, y)
        self.wait_frames(2)
        self.screen.xdotool("mousedown", 1)
        self.wait_frames(2)
        for k in range(1, 5):
            self.screen.xdotool("mousemove", x + by_px[0] * k // 4, y + by_px[1] * k // 4)
            self.wait_frames(2)
        self.screen.xdotool("mouseup", 1)
        self.wait_frames(2)

    def _settled(self, widget: str) -> list[float]:
        """Its rectangle, once it has hardly moved: what is bound to the scene moves with the camera."""
        before: list[float] = []
        for _ in range(10):
            self.wait_until(lambda p: widget in p["widgets"], timeout_s=30, what=f"{widget} is shown")
            place = self.wait_frames(2)["widgets"].get(widget, [])
            if before and place and max(abs(a - b) for a, b in zip(place, before, strict=True)) < 2.0:
                break
            before = place
        return place

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(60 * PATIENCE)
        self._log.close()
