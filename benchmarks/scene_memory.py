"""What a window grows by with every change of scene: `python -m benchmarks.scene_memory [--scenes a,b] [--changes 14]`.

Memory of the process after each change [MB], collected and given back, with the blocks that Python holds; then what a
change costs once caches are full: the slope over the second half. With `--what` it also tells which lines of Python
hold what the last two rounds have left. A display is needed (Xvfb will do).
"""

import argparse
import gc
import sys
import time
import tracemalloc
from contextlib import closing
from pathlib import Path

import numpy as np

from render.process import give_back
from sim.scene import load_scene
from ui.desktop.session import Session
from ui.desktop.window_run import opened
from ui.features.scenes.loader import Loader
from ui.window.app_window import AppWindow
from ui.window.context import LoadScene

FRAMES = 12
"""That a scene is shown for."""
LISTED = 14


def resident_mb() -> float:
    """Of this process: its anonymous memory, without the files that are mapped."""
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return float(fields["RssAnon"].split()[0]) / 1024.0


def shown(window: AppWindow, session: Session, name: str) -> None:
    """Frames until that scene is there, and some more."""
    left = FRAMES

    def seen() -> bool:
        nonlocal left
        left -= session.scene.name == name and not session._starts
        return not left

    window.run(lambda dt_s: session._frame(dt_s, None), until=seen)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scenes", default="canyon,delivery")
    parser.add_argument("--changes", type=int, default=14)
    parser.add_argument("--what", action="store_true")
    options = parser.parse_args()
    names = options.scenes.split(",")
    window = AppWindow(size=(800, 500), title="memory")
    found: list[tuple[float, int]] = []
    with closing(window), closing(Loader()) as loader:
        scene = load_scene(names[0])
        loader.load(lambda: scene, "software")
        loaded = opened(window, loader, scene, None)
        assert loaded is not None
        with closing(Session(window, loader, loaded)) as session:
            del loaded
            for change in range(options.changes + 1):
                name = names[change % len(names)]
                if change:
                    session.do(LoadScene(name))
                began_s = time.process_time()
                shown(window, session, name)
                gc.unfreeze()
                gc.collect()
                give_back()
                blocks = sys.getallocatedblocks()
                found.append((resident_mb(), blocks))
                print(
                    f"{change:3d} {name:12s} {found[-1][0]:8.1f} MB {blocks:9d} blocks"
                    f"  {time.process_time() - began_s:5.1f} s",
                    flush=True,
                )
                if options.what and change == options.changes - 2 * len(names):
                    tracemalloc.start(6)
                    before = tracemalloc.take_snapshot()
                if options.what and change == options.changes:
                    for line in tracemalloc.take_snapshot().compare_to(before, "traceback")[:LISTED]:
                        print(f"{line.size_diff / 1e3:9.1f} kB {line.count_diff:+6d}")
                        print("\n".join(line.traceback.format()[-4:]))
    half = len(found) // 2
    slope_mb = np.polyfit(np.arange(half, len(found)), [mb for mb, _ in found[half:]], 1)[0]
    print(f"a change costs {slope_mb:+.2f} MB over the last {len(found) - half}")


if __name__ == "__main__":
    main()
