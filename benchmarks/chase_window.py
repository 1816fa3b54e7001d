"""Plans made in flight with the window open: `python -m benchmarks.chase_window [--scenes chase-helicopter,...]`.

The window opens on a screen of its own (Xvfb), 1280x800, and draws by software where there is no graphics card; the
goal is dragged by the mouse on a circle about where it was. Told are plans a second, how old the one that is flown is,
how many came late or were not found, as the window itself tells, and the goal's mean speed.
"""

import math
import statistics
import tempfile
import time
from contextlib import ExitStack, closing
from itertools import pairwise
from pathlib import Path

from benchmarks.water_window import one_after_the_other
from tests.app.desktop import App, Screen

SETTLING_S = 12.0
"""Until effort has followed what frames take."""
TURN_S, REACH_PX = 12.0, 70.0
"""Of the circle on which the hand goes, and its radius."""


def measure(scene: str, seconds: float) -> None:
    """Print one line of a scene."""
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        screen = opened.enter_context(closing(Screen()))
        app = opened.enter_context(closing(App(screen, folder, scene, "--quality", "software")))
        app.wait_until(lambda p: _mpc(p).get("phase") == "flying", timeout_s=120.0, what="plans fly it")
        time.sleep(SETTLING_S)
        x, y, width, height = app.wait_until(
            lambda p: "plan/handle/goal" in p["widgets"], timeout_s=60.0, what="its goal is in the picture"
        )["widgets"]["plan/handle/goal"]
        x, y = x + 0.5 * width, y + 0.5 * height
        screen.xdotool("mousemove", round(x), round(y))
        time.sleep(0.5)
        screen.xdotool("mousedown", 1)
        began, seen = time.perf_counter(), []
        while (now := time.perf_counter() - began) < seconds:
            turn = 2.0 * math.pi * now / TURN_S
            right, down = REACH_PX * math.sin(turn), REACH_PX * 0.5 * (1.0 - math.cos(turn))
            screen.xdotool("mousemove", round(x + right), round(y + down))
            time.sleep(0.05)
            probe = app.seen()
            if probe is not None and (not seen or probe["wall_s"] > seen[-1]["wall_s"]):
                seen.append(probe)
        screen.xdotool("mouseup", 1)
    passed_s = seen[-1]["wall_s"] - seen[0]["wall_s"]
    way_m = sum(math.dist(a["plan"]["goal_w"], b["plan"]["goal_w"]) for a, b in pairwise(seen))
    first, last = _mpc(seen[0]), _mpc(seen[-1])
    plans, late, failed = (last[name] - first[name] for name in ("asked", "late", "failed"))
    ages_ms = sorted(1e3 * _mpc(p)["age_s"] for p in seen)
    factor = statistics.median(p["real_time_factor"] for p in seen)
    frames = seen[-1]["frames"] - seen[0]["frames"]
    print(
        f"{scene}: {plans / passed_s:.1f} plans/s, flown ones {statistics.median(ages_ms):.0f} ms old "
        f"(nine in ten at most {ages_ms[9 * len(ages_ms) // 10]:.0f}), {late} late and {failed} not found of {plans}, "
        f"goal at {way_m / passed_s:.1f} m/s, {frames / passed_s:.1f} pictures/s, real time x {factor:.3f}",
        flush=True,
    )


def _mpc(probe: dict) -> dict:
    return (probe.get("plan") or {}).get("mpc") or {}


if __name__ == "__main__":
    scenes = "chase-helicopter,chase-boat,chase-car,chase-quadrotor"
    one_after_the_other(measure, __doc__.splitlines()[0], scenes=scenes, seconds=20.0)
