"""A stranger's way from the start of the program to the first landing, counted: `python scripts/first_flight.py`.

The app is started in a window with fresh settings, `--cold` with empty caches too. Somebody who knows nothing but what
the window says goes by its keys, and presses no other, until the helicopter stands on the far pad. Printed is a row a
step: when it began, and what on the screen told what to press. `--strip FILE` keeps a picture a step, `--film FILE` an
MP4 of it all (Linux; Xvfb and xdotool).
"""

import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import click
import numpy as np
from PIL import Image, ImageDraw, ImageGrab

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from export.output import replacing
from export.pictures import VideoWriter
from tests.app.desktop import App, Probe, Screen
from tests.app.first_flight import Beginner

SIZE = (1280, 800)
STRIP_PX, LINE_PX, COLUMNS = (480, 300), 18, 3
FILM_PX, FILM_FPS, EVERY_S = (960, 600), 12, 0.5
"""A picture each half second: the film shows six seconds in one."""
LONGEST_S = 2400.0
PICTURE_AFTER_S = 3.0
"""Into a step, for its picture."""


@dataclass
class Step:
    """One thing that somebody has to do, or to wait for."""

    title: str
    began_s: float
    told: str
    keys: tuple[str, ...] = ()
    at_clock_s: float = 0.0
    shown: bool = True
    """Whether what is to be done stood on the screen from its first look on."""
    picture: Image.Image | None = None


@dataclass
class Film:
    """What the screen has shown: the way as steps, and its pictures."""

    screen: Screen
    writer: VideoWriter | None
    began_s: float
    steps: list[Step] = field(default_factory=list)
    _filmed_s: float = -np.inf

    @property
    def now_s(self) -> float:
        """Since the program was started."""
        return time.monotonic() - self.began_s

    def look(self) -> None:
        """A picture where one is due."""
        step = self.steps[-1] if self.steps else None
        wanted = step is not None and step.picture is None and self.now_s - step.began_s > PICTURE_AFTER_S
        due = self.writer is not None and self.now_s - self._filmed_s > EVERY_S
        if not (wanted or due):
            return
        picture = ImageGrab.grab(xdisplay=self.screen.display).convert("RGB")
        if wanted and step is not None:
            step.picture = picture
        if due and self.writer is not None:
            self._filmed_s = self.now_s
            self.writer.add(np.asarray(picture.resize(FILM_PX, Image.Resampling.LANCZOS)))

    def begin(self, step: Step) -> None:
        """The next step; the one before gets its picture now, if it was short."""
        if self.steps and self.steps[-1].picture is None:
            self.steps[-1].picture = ImageGrab.grab(xdisplay=self.screen.display).convert("RGB")
        self.steps.append(step)


@contextmanager
def film_of(path: Path | None) -> Iterator[VideoWriter | None]:
    """One that is whole once it has been left."""
    if path is None:
        yield None
        return
    with replacing(path) as temporary:
        writer = VideoWriter(temporary, container="mp4", size_px=FILM_PX, fps=FILM_FPS)
        try:
            yield writer
            writer.finish()
        finally:
            writer.close()


def wait_for_the_scene(app: App, film: Film) -> Probe:
    """Until it is shown."""
    while (seen := app.seen()) is None or seen["frames"] < 1:
        jobs = app.opening()
        assert app.process.poll() is None, app.log()
        if jobs is not None and not film.steps:
            film.begin(Step("The window is open", film.now_s, "steps that are named, the keys, tips"))
        film.look()
        time.sleep(0.02)
    return seen


def fly(app: App, film: Film) -> None:
    """By what the goals say, to the last of them."""
    seen, due, beginner = wait_for_the_scene(app, film), None, Beginner(app)
    try:
        while film.now_s < LONGEST_S:
            goals = seen["goals"]
            if goals["due"] != due:
                due = goals["due"]
                told = goals["words"] if due else "All done; F3 once more, F2 on to the next scene"
                step = Step(due or "All done", film.now_s, told, tuple(goals["keys"]), seen["clock_s"])
                film.begin(step)
                film.steps[-1].shown = "goals" in seen["widgets"]
            if not due:
                until_s = film.now_s + 2.0 * PICTURE_AFTER_S
                while film.now_s < until_s:
                    film.look()
                    time.sleep(0.1)
                return
            beginner.look(seen)
            film.look()
            drawn = seen["frames"]
            seen = app.wait_until(lambda p, n=drawn: p["frames"] > n, timeout_s=60, what="a frame")
        raise click.ClickException(f"not landed within {LONGEST_S} s; due: {due}")
    finally:
        beginner.let_go()


def table(steps: list[Step]) -> str:
    """As Markdown, a row a step."""
    names = ("step", "since the start", "flown", "told by", "keys told", "on the screen at once")
    rows = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for step in steps:
        keys, seen = " ".join(step.keys) or "none", "yes" if step.shown else "no"
        flown = f"{step.at_clock_s:.0f} s"
        rows.append(f"| {step.title} | {step.began_s:.1f} s | {flown} | {step.told} | {keys} | {seen} |")
    return "\n".join(rows)


def strip(steps: list[Step]) -> Image.Image:
    """A picture a step, with its title and time below."""
    width, height = STRIP_PX[0], STRIP_PX[1] + LINE_PX
    page = Image.new("RGB", (COLUMNS * width, -(-len(steps) // COLUMNS) * height), "black")
    pen = ImageDraw.Draw(page)
    for k, step in enumerate(steps):
        x, y = k % COLUMNS * width, k // COLUMNS * height
        if step.picture is not None:
            page.paste(step.picture.resize(STRIP_PX, Image.Resampling.LANCZOS), (x, y))
        pen.text((x + 4, y + STRIP_PX[1] + 3), f"{k + 1}. {step.title}", fill="white")
    return page


@click.command()
@click.option("--cold", is_flag=True, help="Begin with empty caches, as after an installation.")
@click.option("--quality", default="auto", help="Of the picture, as the app's option.")
@click.option("--strip", "strip_file", type=click.Path(path_type=Path), help="A picture a step, as JPEG.")
@click.option("--film", "film_file", type=click.Path(path_type=Path), help="All of it, as MP4.")
def main(cold: bool, quality: str, strip_file: Path | None, film_file: Path | None) -> None:
    """From the start to the first landing."""
    with (
        tempfile.TemporaryDirectory() as settings,
        tempfile.TemporaryDirectory() as cache,
        closing(Screen(*SIZE)) as screen,
        film_of(film_file) as writer,
    ):
        film = Film(screen, writer, time.monotonic())
        empty = {"HOLONOMY_CACHE": cache, "MESA_SHADER_CACHE_DIR": cache} if cold else {}
        options = ("canyon", "--quality", quality, "--size", "{}x{}".format(*SIZE))
        with closing(App(screen, Path(settings), *options, **empty)) as app:
            fly(app, film)
    print(table(film.steps))
    if strip_file is not None:
        with replacing(strip_file) as temporary:
            strip(film.steps).save(temporary, format="JPEG", quality=82, optimize=True)


if __name__ == "__main__":
    main()
