"""Pictures of the window for the documentation: `python scripts/window_pictures.py [FOLDER] [--only NAME]` (docs/).

The app runs on a virtual screen and is used by mouse and keys, as the window tests do it (Linux; Xvfb and xdotool).
"""

import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import click
from PIL import ImageGrab

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from sim.platform.replacing import replacing
from tests.app.desktop import App, Probe, Screen

SIZE = (1280, 800)
SOLVE_S = 60.0
REST_FRAMES = 100


def fly_the_canyon(app: App) -> None:
    """Until the autopilot is down the river."""
    app.wait_until(lambda p: p["clock_s"] > 45.0, timeout_s=200.0, what="it is under way")
    hold(app)


def let_lanes_blow_up(app: App) -> None:
    """Until two lanes have stopped, with the tables and curves of lanes in front."""
    if app.wait_frames(1)["paused"]:
        app.click("transport/play")
    for tab in ("tab/Lanes", "tab/Errors", "tab/Polhode"):
        app.click(tab)

    def two_have_stopped(p: Probe) -> bool:
        return sum(lane["status"] == "diverged" for lane in p["lanes"]) >= 2

    app.wait_until(two_have_stopped, timeout_s=60.0, what="two lanes have stopped")
    hold(app)


def hold(app: App) -> None:
    """Pause, until the camera is at rest too: what moves is drawn with less detail where frames are late."""
    app.screen.xdotool("key", "space")  # the button may be behind another tab
    app.wait_until(lambda p: p["paused"], timeout_s=30.0, what="it is held")
    app.screen.xdotool("mousemove", 600, 400)
    app.wait_frames(REST_FRAMES)


def compare_plans(app: App) -> None:
    """The best plan was kept, beside another way."""
    plan(app)
    app.click("plan/page/plans")
    app.click("plan/keep")
    if "plan/way/0" in app.wait_frames(2)["widgets"]:
        app.click("plan/way/0")
        app.wait_frames(4)
        app.click("plan/keep")


def give_too_little_time(app: App) -> None:
    """Until what would help is offered."""
    plan(app)
    x, y, width, height = app.wait_frames(3)["widgets"]["plan/time"]
    app.screen.xdotool("mousemove", round(x + 0.33 * width), round(y + height / 2))
    app.wait_frames(2)
    app.screen.xdotool("click", 1)
    app.wait_until(lambda p: "plan/remedy/0" in p["widgets"], timeout_s=SOLVE_S, what="a way out is offered")


def plan(app: App) -> None:
    """By the button, until it is solved."""
    app.click("plan/start")
    app.wait_until(planned, timeout_s=SOLVE_S, what="it is planned")


def planned(probe: Probe) -> bool:
    """Whether there is a plan of the task as it is."""
    now = probe["plan"]
    return bool(now["phase"] == "idle" and now["status"] == "solved" and not now["stale"])


PICTURES: dict[str, tuple[tuple[str, ...], Callable[[App], None]]] = {
    "panel": (("canyon", "--demo"), fly_the_canyon),
    "blowup": (("blowup",), let_lanes_blow_up),
    "plan-window": (("plan-boat-docking",), compare_plans),
    "plan-failed": (("plan-boat-docking",), give_too_little_time),
}
"""Name -> arguments of the app, and what is done before the picture is taken."""


@click.command()
@click.argument(
    "folder", type=click.Path(path_type=Path), default=Path("docs"), help="Where the pictures go."
)
@click.option("--only", default="", help="One picture by name; all without.")
def main(folder: Path, only: str) -> None:
    """One picture a use of the window."""
    if only and only not in PICTURES:
        raise click.BadParameter(f"{only!r}; allowed: {', '.join(PICTURES)}")
    folder.mkdir(parents=True, exist_ok=True)
    for name in [only] if only else PICTURES:
        take(name, folder / f"{name}.png")
        print(f"wrote {folder / name}.png", flush=True)


def take(name: str, path: Path) -> None:
    """Use the window as the picture wants it, and keep what the screen shows."""
    arguments, use = PICTURES[name]
    with (
        tempfile.TemporaryDirectory() as settings,
        closing(Screen(*SIZE)) as screen,
        closing(
            App(screen, Path(settings), *arguments, "--quality", "high", "--size", "{}x{}".format(*SIZE))
        ) as app,
    ):
        app.wait_until(lambda p: p["frames"] > 3, timeout_s=120.0, what="the window is drawn")
        use(app)
        app.wait_frames(8)
        with replacing(path) as temporary:
            ImageGrab.grab(xdisplay=screen.display).save(temporary, format="png")


if __name__ == "__main__":
    main()
