"""Build the viewer of exported pages: `python scripts/bundle_viewer.py` makes assets/page/viewer.bundle.js anew.

Needs node and npm, which fetch three.js and esbuild into a folder that is thrown away. The bundle is kept in the
repository, so that nobody else needs them.
"""

import json
import shutil
import subprocess
import tempfile
from pathlib import Path

PAGE = Path(__file__).resolve().parents[1] / "assets" / "page"
SOURCES = ("viewer.js", "live.js", "wire.js", "frame.html", "viewer.css")
VERSIONS = {"three": "0.187.0", "esbuild": "0.28.2"}


def main() -> None:
    """Fetch, bundle, and put the notice beside the bundle."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        packages = {"private": True, "dependencies": VERSIONS}
        (folder / "package.json").write_text(json.dumps(packages), encoding="utf-8")
        subprocess.run(["npm", "install", "--silent", "--no-audit", "--no-fund"], cwd=folder, check=True)
        for name in SOURCES:
            shutil.copy(PAGE / name, folder)
        command = ["npx", "esbuild", "viewer.js", "--bundle", "--minify", "--format=iife", "--charset=utf8"]
        command += ["--global-name=holonomyViewer", "--loader:.html=text", "--loader:.css=text"]
        command += ["--legal-comments=none", "--outfile=viewer.bundle.js"]
        subprocess.run(command, cwd=folder, check=True)
        shutil.copy(folder / "viewer.bundle.js", PAGE)
        licence = (folder / "node_modules" / "three" / "LICENSE").read_text(encoding="utf-8")
        notice = f"viewer.bundle.js holds parts of three.js {VERSIONS['three']}:\n\n{licence}"
        (PAGE / "NOTICE.txt").write_text(notice, encoding="utf-8")
    print(f"{PAGE / 'viewer.bundle.js'}: {(PAGE / 'viewer.bundle.js').stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
