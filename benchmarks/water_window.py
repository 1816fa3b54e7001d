"""Scenes with the window open, the boat's if none are named: `python -m benchmarks.water_window --scenes canyon,drive`.

The window opens on a screen of its own (Xvfb), 1280x800, and draws by software where there is no graphics card, while
the vehicle is under way, at full thrust or by its autopilot. Told are pictures a second, at which share of the window
the scene is drawn, the real-time factor and, since the splashing water goes with the clock by periods of 1/30 s, how
many of these are worked out a second. CPU time is that of all threads: of two cores there are 2000 ms a second.
"""

import argparse
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, closing
from pathlib import Path

from sim.scene import load_scene
from tests.app.desktop import App, Probe, Screen

UNDER_WAY = {"canyon": ("key", "p"), "drive": ("key", "p"), "harbour": ("key", "p")}
"""What xdotool does so that a scene moves as it is meant to, by the autopilot, where it is not to hold a key down."""
SETTLING_S = 12.0
"""Until effort has followed what frames take, and kernels of other methods have been made ready."""
PERIODS_PER_S = 30.0


def cpu_s(process: int) -> float:
    """Of all its threads since it began [s] (proc(5))."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def look(app: App) -> tuple[Probe, float]:
    """What a probe newly written shows, and the CPU time until then."""
    before = app.wait_until(lambda p: True, timeout_s=60.0, what="a probe")["wall_s"]
    shown = app.wait_until(lambda p: p["wall_s"] > before, timeout_s=60.0, what="another probe")
    return shown, cpu_s(app.process.pid)


def measure(scene: str, seconds: float) -> None:
    """Print one line of a scene."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        screen = opened.enter_context(closing(Screen()))
        app = opened.enter_context(closing(App(screen, folder, scene, "--quality", "software")))
        app.wait_until(lambda p: p["clock_s"] > 0.5, timeout_s=120.0, what="time runs")
        screen.xdotool(*UNDER_WAY.get(scene, ("keydown", "w")))
        time.sleep(SETTLING_S)
        (first, first_cpu_s), factors, scales = look(app), [], []
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            time.sleep(0.25)
            shown = app.seen()
            if shown is not None:
                factors.append(shown["real_time_factor"])
                scales.append(shown["scene_scale"])
        last, last_cpu_s = look(app)
        screen.xdotool("keyup", "w")
    passed_s, cpu_ms = last["wall_s"] - first["wall_s"], 1e3 * (last_cpu_s - first_cpu_s)
    frames = last["frames"] - first["frames"]
    told = [
        f"{frames / passed_s:.1f} pictures/s at {statistics.median(scales):.2f} of the window",
        f"real time x {statistics.median(factors):.3f} (at least {min(factors):.3f})",
        f"{cpu_ms / passed_s:.0f} ms CPU/s, {cpu_ms / frames:.0f} ms a picture with all that goes on beside it",
    ]
    if load_scene(scene).environment is not None:
        rate = (last["clock_s"] - first["clock_s"]) / passed_s
        told.append(f"{PERIODS_PER_S * rate:.1f} periods of water/s")
    print(f"{scene}: {', '.join(told)}")


def one_after_the_other(
    measure: Callable[[str, float], None], told: str, *, scenes: str, seconds: float
) -> None:
    """The scenes that the command line names, `scenes` where it names none. told: what is measured."""
    parser = argparse.ArgumentParser(description=told)
    parser.add_argument("--scenes", default=scenes)
    parser.add_argument("--seconds", type=float, default=seconds)
    asked = parser.parse_args()
    print(f"load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    for scene in asked.scenes.split(","):
        measure(scene, asked.seconds)


if __name__ == "__main__":
    one_after_the_other(measure, __doc__.splitlines()[0], scenes="harbour,open-sea", seconds=15.0)
