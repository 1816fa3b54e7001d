"""Pages in a browser: `python -m benchmarks.page [FILE ...]`. How long one takes to open, and pictures a second of it.

Pages that are named, or a minute of flight, alone and over the canyon, and of a chain that whips, opened in turn in a
Chromium without a window. Told are medians: from the start of loading to the first picture, the processor's time of all
of the browser until then, both of each picture while it plays, and what is left to the processor of a picture with all
its pixels and shadows where a graphics card draws: everything but the calls that draw, which do nothing; how many they
are, and of how many triangles. Without a card pictures are drawn by software, as the first line says.
Needs chromedriver, and psutil for the processor's time.
"""

import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import psutil

import sim
from export.file import export_motions
from export.ground import ground_under
from export.motion import motion_of_trajectory
from sim.world import load_world
from tests.export.browser import SOFTWARE_GL, Browser, browser

ROUNDS = 5
PLAYED_S = 4.0
_DRAWN = "window.holonomy && window.holonomy.first_ms"
_UNDRAWN_MS = 1000
_UNDRAWN = f"""
const gl = holonomy.renderer.getContext(), idle = ["clear"];
for (const name in gl) if (name.startsWith("draw") && typeof gl[name] === "function") idle.push(name);
for (const name of idle) gl[name] = () => {{}};
const begun = performance.now();
let count = 0;
for (; performance.now() < begun + {_UNDRAWN_MS}; count++) {{
  holonomy.seek((0.01 * count) % holonomy.about.duration_s);
  holonomy.draw(0);
}}
const ms = (performance.now() - begun) / count;
for (const name of idle) delete gl[name];
const {{ calls, triangles }} = holonomy.renderer.info.render;
return [ms, calls, triangles];
"""
_FINE = "holonomy.fineness = 0; holonomy.resize()"
"""As with a graphics card: all pixels, and shadows."""
_CARD = (
    "const gl = document.createElement('canvas').getContext('webgl2');"
    "return gl.getParameter(gl.getExtension('WEBGL_debug_renderer_info').UNMASKED_RENDERER_WEBGL)"
)


def main() -> None:
    """Print a line a page."""
    with tempfile.TemporaryDirectory() as name, browser(*SOFTWARE_GL) as window:
        print(window.run(_CARD))
        named = {Path(file).stem: Path(file).resolve() for file in sys.argv[1:]}
        pages = named or {what: _page(Path(name), what) for what in ("helicopter", "canyon", "chain")}
        measured: dict[str, list[tuple[float, ...]]] = {what: [] for what in pages}
        for _ in range(ROUNDS):
            for what, page in pages.items():
                measured[what].append(_opened(window, page))
        for what, page in pages.items():
            first, spent, picture, drawn, own, calls, triangles = np.median(measured[what], axis=0)
            print(
                f"{what:20} {page.stat().st_size / 1e6:5.2f} MB: first picture after {first:6.0f} ms, {spent:6.0f} ms "
                f"of the processor; then {picture:5.1f} ms a picture, {drawn:5.1f} of the processor; "
                f"{own:.2f} beside {calls:.0f} calls that draw {triangles:.0f} triangles"
            )


def _opened(window: Browser, page: Path) -> tuple[float, ...]:
    """ms to the first picture, by the clock and of the processor, and likewise of a picture while it plays."""
    window.go("data:text/html,nothing")
    time.sleep(0.5)
    before = _spent_s()
    window.open(page, _DRAWN)
    opened = _spent_s()
    drawn, at_ms = window.run("return [holonomy.pictures, performance.now()]")
    time.sleep(PLAYED_S)
    more, then_ms = window.run("return [holonomy.pictures, performance.now()]")
    pictures = max(more - drawn, 1)
    return (
        window.run(f"return {_DRAWN}"),
        1e3 * (opened - before),
        (then_ms - at_ms) / pictures,
        1e3 * (_spent_s() - opened) / pictures,
        *window.run(f"{_FINE}; {_UNDRAWN}"),
    )


def _spent_s() -> float:
    """Processor time of the browser's processes."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        try:
            total += sum(process.cpu_times()[:2])
        except psutil.NoSuchProcess:
            continue
    return total


def _page(folder: Path, what: str) -> Path:
    """A minute of a helicopter's flight; of the canyon with its land; of a chain."""
    if what == "chain":
        whips = sim.simulate("chain", step=0.01, duration=60.0)
        return export_motions(folder / "chain.html", [motion_of_trajectory(whips)], title=what)
    vehicle = sim.vehicle("helicopter")
    start = vehicle.state(x=(0.0, 0.0, 60.0), v=(5.0, 0.0, 0.0))
    run = sim.simulate(vehicle, step=0.01, duration=60.0, initial=start, controls=[48.9, 0.0, 0.0, 0.0])
    motions = [motion_of_trajectory(run, "flown")]
    ground = ground_under(load_world("canyon"), motions) if what == "canyon" else None
    return export_motions(folder / f"{what}.html", motions, title=what, ground=ground)


if __name__ == "__main__":
    main()
