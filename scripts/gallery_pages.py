"""Make a page that moves of every scene in the gallery: `python scripts/gallery_pages.py [NAME ...]` into out/live.
With `--all` of every scene that there is.

The site takes what is there: its pictures then lead to the pages, which browsers turn, scrub and plot.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "out" / "live"
PICTURE = re.compile(r"(!\[[^\]]*\]\([\w-]+\.png\))( `\./run ([\w-]+))")
"""A picture of the gallery, the command that stands behind it, and the scene that it opens."""


def scenes() -> list[str]:
    """Of the gallery, each once."""
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    return list(dict.fromkeys(found[2] for found in PICTURE.findall(text)))


def main(names: list[str]) -> int:
    """Those that are named, or all; gives how many could not be made."""
    PAGES.mkdir(parents=True, exist_ok=True)
    failed = 0
    names = [path.stem for path in sorted((ROOT / "scenes").glob("*.toml"))] if names == ["--all"] else names
    for name in names or scenes():
        page = PAGES / f"{name}.html"
        planned = name.startswith("plan-")
        # What no autopilot knows moves by itself.
        for how in (["--plan"],) if planned else (["--demo", "--seconds", "12"], ["--seconds", "12"]):
            command = [sys.executable, "app.py", name, "--headless", *how, "--export", str(page)]
            done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
            if done.returncode == 0:
                break
        lines = (done.stderr or done.stdout).strip().splitlines()
        failed += done.returncode != 0
        said = f"{page.stat().st_size / 1e6:.1f} MB" if done.returncode == 0 else (lines or ["failed"])[-1]
        print(f"{name}: {said}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
