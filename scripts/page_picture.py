"""Picture of an exported page, which Chromium shows: `python scripts/page_picture.py [FOLDER]` (docs/)."""

import subprocess
import sys
import tempfile
import time
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from sim.platform.replacing import replacing  # noqa: E402
from tests.export.browser import SOFTWARE_GL, browser  # noqa: E402

PICTURES = ("page",)
SECONDS, SHOWN_S = 20, 9.0
SETTLED_S = 2.0
"""In which the camera comes to rest."""


def main(folder: Path) -> None:
    """The helicopter over the canyon, nine seconds after its start."""
    with tempfile.TemporaryDirectory() as made, browser(*SOFTWARE_GL, "--window-size=1280,947") as shown:
        page, picture = Path(made) / "flight.html", Path(made) / "page.png"
        command = [
            "app.py",
            "canyon",
            "--headless",
            "--demo",
            "--seconds",
            str(SECONDS),
            "--export",
            str(page),
        ]
        subprocess.run([sys.executable, *command], cwd=ROOT, check=True)
        shown.open(page, "window.holonomy", "#fine")
        shown.run(f"holonomy.playing = false; holonomy.seek({SHOWN_S})")
        time.sleep(SETTLED_S)
        with Image.open(shown.picture(picture)) as seen, replacing(folder / "page.png") as temporary:
            seen.convert("RGB").quantize(200).save(temporary, format="png", optimize=True)
    print(f"wrote {folder / 'page.png'}")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs")
