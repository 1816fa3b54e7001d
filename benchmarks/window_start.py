"""What a start of the window takes, from empty caches and from full ones: `python -m benchmarks.window_start`.

The app is started on a screen of its own (Linux; Xvfb) and looked at until it flies. Printed is a row for each of what
is shown first: the card, all grown and compiled, and the scene's first picture; seconds of the clock, CPU seconds of
the thread that draws, of the window's process, and of it with its workers. On a busy machine CPU seconds alone tell.
`--before DIR` starts another checkout in turn. `--flown SECONDS` lets a cold start fly on for so long, so that what is
made beside its frames, as the light on all of the land, is kept for the warm one.
"""

import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import click

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from tests.app.desktop import App, Screen
from tests.app.program import ROOT

SIZE = (1280, 800)
GROWN = "Setting it all up"
LOOK_S = 0.02
TICKS = os.sysconf("SC_CLK_TCK")


def times(folder: Path) -> tuple[int, float, float]:
    """(parent, CPU seconds of its own, of its children that have ended) of a process or a thread."""
    fields = (folder / "stat").read_text().rpartition(")")[2].split()
    own, ended = (sum(map(int, fields[k : k + 2])) / TICKS for k in (11, 13))
    return int(fields[1]), own, ended


def spent(process: int) -> tuple[float, float, float]:
    """CPU seconds of its first thread, of it, and of it with all that it has started."""
    everything: dict[int, tuple[int, float, float]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            everything[int(folder.name)] = times(folder)
        except OSError:  # it has ended meanwhile
            continue
    waiting, total = [process], 0.0
    while waiting:
        one = waiting.pop()
        total += sum(everything[one][1:])
        waiting += [number for number, (parent, *_) in everything.items() if parent == one]
    first = times(Path(f"/proc/{process}/task/{process}"))[1]
    return first, everything[process][1], total


def stages(app: App, begun_s: float) -> Iterator[tuple[str, tuple[float, ...]]]:
    """What is shown, and what has been spent until then."""
    due = ["card", "all is there", "first picture"]
    while due:
        if app.process.poll() is not None:
            raise click.ClickException(app.log())
        jobs, seen = app.opening(), app.seen()
        reached = 3 if seen is not None else 0 if jobs is None else 2 if GROWN in jobs else 1
        while len(due) > 3 - reached:
            yield due.pop(0), (time.monotonic() - begun_s, *spent(app.process.pid))
        time.sleep(LOOK_S)


@click.command()
@click.option("--scene", default="canyon")
@click.option("--quality", default="software")
@click.option("--rounds", default=1)
@click.option("--flown", "flown_s", default=0.0, help="Seconds.")
@click.option("--before", type=click.Path(path_type=Path, exists=True), help="Another checkout.")
def main(scene: str, quality: str, rounds: int, flown_s: float, before: Path | None) -> None:
    """Start, cold and then warm, and print."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    print(f"{'':8} {'':5} {'':14} {'clock':>7} {'drawing':>8} {'window':>8} {'all':>8}  [s]")
    with tempfile.TemporaryDirectory() as bytecode, closing(Screen(*SIZE)) as screen:
        for number in range(rounds + 1):  # the first one compiles Python's bytecode
            for name, root in (("now", ROOT), *((("before", before),) if before else ())):
                with tempfile.TemporaryDirectory() as cache:
                    for kind in ("cold", "warm"):
                        kept = {"HOLONOMY_CACHE": cache, "MESA_SHADER_CACHE_DIR": cache}
                        options = scene, "--quality", quality
                        on_s = flown_s if kind == "cold" else 0.0
                        rows = started(screen, root.resolve(), options, bytecode, kept, on_s)
                        for stage, seconds in rows if number else ():
                            told = " ".join(f"{s:8.2f}" for s in seconds)
                            print(f"{name:8} {kind:5} {stage:14}{told}", flush=True)


def started(
    screen: Screen, root: Path, options: tuple[str, ...], bytecode: str, kept: dict[str, str], flown_s: float
) -> list[tuple[str, tuple[float, ...]]]:
    """All stages of one start of a checkout, which flies for so long after its first picture."""
    with tempfile.TemporaryDirectory() as settings:
        begun_s = time.monotonic()
        kept = {"PYTHONPYCACHEPREFIX": bytecode, **kept}
        with closing(App(screen, Path(settings), *options, root=root, **kept)) as app:
            found = list(stages(app, begun_s))
            time.sleep(flown_s)
            return found


if __name__ == "__main__":
    main()
