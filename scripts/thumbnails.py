"""The small pictures of the scenes that the gallery shows, drawn by the app itself.

`python scripts/thumbnails.py [NAME ...]` draws those that are named, by default those that are missing, into
assets/thumbnails; `python scripts/thumbnails.py --sheet` lays all of them out on one page, docs/scenes.jpg, and
`--ledger` draws those of the ledger's problems into docs/ledger, by default those that are missing there.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image, ImageDraw

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sim.scene import Scene, load_scene, scene_names  # noqa: E402
from studies.ledger import scenes as problems  # noqa: E402
from ui.features.scenes.gallery import SIZE_PX, path_of  # noqa: E402

SECONDS = {True: 4.0, False: 1.5}
"""Into a comparison, whose lanes have to come apart, and into any other scene or its plan."""
LEDGER = ROOT / "docs" / "ledger"
DRAWN = 4
"""Times the size, scaled down afterwards."""


def draw(scene: Scene, path: Path, size_px: tuple[int, int] = SIZE_PX) -> None:
    """One scene, some way into it: a comparison has to come apart, and what takes short steps or is shown slowly is
    fast."""
    seconds = min(SECONDS[bool(scene.lanes)] * min(scene.speed, 1.0), 300.0 * scene.step_s)
    size = f"{DRAWN * SIZE_PX[0]}x{DRAWN * SIZE_PX[1]}"
    with tempfile.TemporaryDirectory() as folder:
        shot = Path(folder) / "shot.png"
        options = [
            "--seconds",
            str(seconds),
            "--quality",
            "software",
            "--size",
            size,
            "--screenshot",
            str(shot),
            *(["--plan"] if scene.plan is not None and scene.camera == "overview" else []),
        ]
        subprocess.run(
            [sys.executable, str(ROOT / "app.py"), scene.name, "--headless", *options], check=True, cwd=folder
        )
        with Image.open(shot) as picture:
            small = picture.convert("RGB").resize(size_px, Image.Resampling.LANCZOS)
    small.save(path, quality=80, optimize=True)
    print(f"{path.relative_to(ROOT)}: {path.stat().st_size} bytes", flush=True)


def sheet(path: Path, columns: int = 6, line_px: int = 16) -> None:
    """All scenes on one page, each with its name below."""
    names = scene_names()
    width, height = SIZE_PX[0], SIZE_PX[1] + line_px
    page = Image.new("RGB", (columns * width, -(-len(names) // columns) * height), "black")
    pen = ImageDraw.Draw(page)
    for k, name in enumerate(names):
        x, y = k % columns * width, k // columns * height
        with Image.open(path_of(name)) as picture:
            page.paste(picture, (x, y))
        pen.text((x + 4, y + SIZE_PX[1] + 2), name, fill="white")
    page.save(path, quality=85, optimize=True)


def main() -> None:
    """Those that are named, or missing; or the sheet of all."""
    if sys.argv[1:] == ["--sheet"]:
        sheet(ROOT / "docs" / "scenes.jpg")
        return
    if sys.argv[1:2] == ["--ledger"]:
        LEDGER.mkdir(exist_ok=True)
        for name in sys.argv[2:] or problems.pictured():
            path = LEDGER / f"{name.removeprefix(problems.PREFIX)}.jpg"
            if sys.argv[2:] or not path.exists():
                draw(problems.scene_of(name), path, (2 * SIZE_PX[0], 2 * SIZE_PX[1]))
        return
    for name in sys.argv[1:] or [name for name in scene_names() if not path_of(name).exists()]:
        draw(load_scene(name), path_of(name))


if __name__ == "__main__":
    main()
