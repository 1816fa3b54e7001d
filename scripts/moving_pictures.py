"""What a window without a graphics card shows in motion, beside an earlier checkout: `python scripts/moving_pictures.py
--before CHECKOUT [FOLDER]` (docs/moving).

Each scene is flown or driven in both on a virtual screen (Linux; Xvfb and xdotool), drawn by software, at last at a
sixteenth of the speed, lest a busy machine's pictures lie far apart; the middles of both windows are kept at their own
size, the earlier one on the left. A checkout with an environment of its own (`.venv`) runs in it. Printed are the share
of the window at which the scene was drawn and pictures a second, by the window's own words.
"""

import os
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import click
from PIL import Image, ImageGrab

SIZE, SHOWN = (1280, 800), (480, 400)
MIDDLE = (452, 330)
"""Of the part that the panels leave."""
UNDER_WAY_S = 5.0
SLOWED, SETTLED = 4, 24
"""Halvings of the speed, and frames drawn then, in which effort settles: of a machine that is busy with other things
pictures are as far apart as those of an idle one."""
ROOT = Path(__file__).resolve().parent.parent

SCENES: dict[str, tuple[str, ...]] = {
    "canyon": ("--demo",),
    "river": ("w",),
    "drive": ("w",),
    "skate": ("w",),
    "harbour": ("w",),
    "storm": ("w",),
    "open-sea": ("w",),
    "quadrotor": ("--demo",),
    "delivery": ("--demo",),
    "race-slalom": ("w",),
}
"""By name: how the app is asked to fly it by itself, or the key that is held."""


def take(name: str, path: Path) -> str:
    """Keep what the screen shows of a scene in motion; returns what the window says of it."""
    from tests.app.desktop import App, Screen  # of the checkout that is looked at

    (how,) = SCENES[name]
    flags = (how,) if how.startswith("-") else ()
    with tempfile.TemporaryDirectory() as settings, closing(Screen(*SIZE)) as screen:
        size = "{}x{}".format(*SIZE)
        asked = (name, *flags, "--quality", "software", "--size", size)
        with closing(App(screen, Path(settings), *asked)) as app:
            app.wait_until(lambda p: p["clock_s"] > 0.5, timeout_s=120.0, what="it moves")
            if not flags:
                screen.xdotool("keydown", how)
            time.sleep(UNDER_WAY_S)
            for _ in range(SLOWED):
                screen.xdotool("key", "comma")
            first = app.wait_frames(1)
            last = app.wait_frames(SETTLED)
            ImageGrab.grab(xdisplay=screen.display).save(path)
    rate = (last["frames"] - first["frames"]) / (last["wall_s"] - first["wall_s"])
    return f"at {last['scene_scale']:.2f} of the window, {rate:.1f} pictures a second"


def taken_in(checkout: Path, name: str, path: Path) -> str:
    """`take`, by the code of a checkout."""
    command = [str(interpreter(checkout)), str(Path(__file__).resolve()), "--take", name, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    found = subprocess.run(
        command, cwd=checkout, env=environment, check=False, capture_output=True, text=True
    )
    if found.returncode:
        raise click.ClickException(f"{checkout}, {name}: {found.stderr.strip() or found.stdout.strip()}")
    return found.stdout.strip()


def interpreter(checkout: Path) -> Path:
    """Of the checkout's own environment, `.venv`; by default the present one.

    Versions before have needed other packages: `python -m venv .venv && .venv/bin/pip install -e .` in the checkout.
    """
    own = checkout / ".venv" / "bin" / "python"
    return own.absolute() if own.exists() else Path(sys.executable)


def side_by_side(paths: tuple[Path, Path]) -> Image.Image:
    """The middles of two windows."""
    left, top = (middle - shown // 2 for middle, shown in zip(MIDDLE, SHOWN, strict=True))
    both = Image.new("RGB", (2 * SHOWN[0], SHOWN[1]))
    for number, path in enumerate(paths):
        part = Image.open(path).convert("RGB").crop((left, top, left + SHOWN[0], top + SHOWN[1]))
        both.paste(part, (number * SHOWN[0], 0))
    return both


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=ROOT / "docs" / "moving")
@click.option("--before", type=click.Path(path_type=Path, exists=True), help="The earlier checkout.")
@click.option("--only", type=click.Choice(list(SCENES)), multiple=True, help="As often as you like.")
@click.option("--take", "taken", type=click.Choice(list(SCENES)), hidden=True)
def main(folder: Path, before: Path | None, only: tuple[str, ...], taken: str | None) -> None:
    """One picture a scene."""
    if taken is not None:
        print(take(taken, folder))
        return
    if before is None:
        raise click.UsageError("--before is missing: a checkout of the project")
    folder.mkdir(parents=True, exist_ok=True)
    for name in only or SCENES:
        with tempfile.TemporaryDirectory() as temporary:
            paths = Path(temporary) / "before.png", Path(temporary) / "now.png"
            words = [taken_in(root, name, path) for root, path in zip((before, ROOT), paths, strict=True)]
            side_by_side(paths).save(folder / f"{name}.jpg", quality=86)
        print(f"{name}: {words[0]}; now {words[1]}", flush=True)


if __name__ == "__main__":
    main()
