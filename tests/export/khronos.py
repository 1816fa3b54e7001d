"""The Khronos validator and three.js, out of npm: what others make of our glTF files."""

import json
import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

PACKAGES = ("gltf-validator@2.0.0-dev.3.10", "three@0.180.0")
SCRIPTS = Path(__file__).parent


@cache
def _folder() -> Path | str:
    """Where the packages are, or why they are not."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        return "npm and node are not there"
    folder = Path(os.environ.get("HOLONOMY_NPM", Path(tempfile.gettempdir()) / f"holonomy-npm-{os.getuid()}"))
    folder.mkdir(parents=True, exist_ok=True)
    if not all((folder / "node_modules" / name.split("@")[0]).is_dir() for name in PACKAGES):
        done = subprocess.run(
            ["npm", "install", "--no-audit", "--no-fund", *PACKAGES],
            cwd=folder, capture_output=True, text=True, timeout=1500,
        )  # fmt: skip
        if done.returncode:
            return f"npm cannot install {', '.join(PACKAGES)}"
    for script in SCRIPTS.glob("*.mjs"):
        shutil.copy(script, folder / script.name)
    return folder


def _node(script: str, *arguments: object) -> object:
    """What a script tells; the test is skipped where there is no npm."""
    folder = _folder()
    if isinstance(folder, str):
        pytest.skip(folder)
    done = subprocess.run(
        ["node", folder / script, *map(str, arguments)],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=1500,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def complaints(*files: Path) -> dict[str, list[str]]:
    """File -> errors and warnings of the validator, of files that have some."""
    told = _node("validate.mjs", *files)
    serious = {
        file: [
            f"{m['code']} {m['message']} {m.get('pointer', '')}"
            for m in issues["messages"]
            if m["severity"] < 2
        ]
        for file, issues in told.items()  # type: ignore[attr-defined]
    }
    return {file: messages for file, messages in serious.items() if messages}


def poses_in(file: Path, times: list[float], scratch: Path) -> dict[str, np.ndarray]:
    """Path of names of each node -> (times, 4, 4) in the world (z up), as three.js animates it."""
    asked = scratch / "times.json"
    asked.write_text(json.dumps(times))
    rows = _node("poses.mjs", file, asked)
    names = rows[0]  # type: ignore[index]
    return {
        name: np.array([row[name] for row in rows]).reshape(-1, 4, 4).swapaxes(1, 2)  # type: ignore[attr-defined]
        for name in names
    }
