"""A program whose own files nobody may write: it runs all the same, and tries to keep nothing beside them."""

import os
import subprocess
import sys
from pathlib import Path

from tests.app.program import ROOT

PROGRAM = """
import errno
import os
import sys

root, tried = sys.argv.pop(1) + os.sep, []
WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT
CHANGES = ("os.mkdir", "os.rename", "os.remove", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod")


def refuse(event, arguments):
    # As a file system that is mounted to be read only; whoever is root may write where permissions forbid it.
    if not (event in CHANGES or (event == "open" and arguments[2] & WRITING)):
        return
    for path in arguments[:2]:
        if isinstance(path, str | bytes) and os.path.abspath(os.fsdecode(path)).startswith(root):
            tried.append(os.fsdecode(path))
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), path)


sys.addaudithook(refuse)
import app

status = app.main()
print(status, [path for path in tried if "__pycache__" not in path])
"""


def test_it_flies_from_sources_that_cannot_be_written_and_leaves_nothing_beside_them(tmp_path: Path) -> None:
    """Python may try to keep what it makes of each file, and goes on without; nothing else is tried."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "DISPLAY"))}
    environment |= {"PYTHONPATH": str(ROOT), "HOLONOMY_CONFIG": str(tmp_path / "settings")}
    command = [sys.executable, "-c", PROGRAM, str(ROOT)]
    done = subprocess.run(
        [*command, "plain", "--headless", "--seconds", "0.2", "--csv", "flown.csv"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=1500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr
    assert done.stdout.splitlines()[-1] == "0 []"
    assert len((tmp_path / "flown.csv").read_text().splitlines()) > 2
