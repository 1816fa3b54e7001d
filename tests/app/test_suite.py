"""The suite itself: asked to end it ends, and leaves nothing running."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.app.program import ROOT
from tests.patience import PATIENCE_S, wait_until

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="ends by signals")

ENDLESS = """
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sim.platform.signals import ended_by_signals


@pytest.fixture(scope="module")
def child():
    process = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(3600)"])
    Path(__file__).with_suffix(".child").write_text(str(process.pid))
    yield process
    process.kill()
    process.wait()


def test_never_ends(child):
    with ended_by_signals():
        Path(__file__).with_suffix(".begun").touch()
        while True:
            try:
                time.sleep(0.01)
            except Exception:
                pass  # as a lane stops at whatever fails, and the rest goes on
"""


def runs(process: int) -> bool:
    """Whether it still does; one that has ended may wait for somebody to take note of it."""
    try:
        os.kill(process, 0)
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


@pytest.mark.parametrize("workers", [0, 2])
def test_being_asked_to_end_ends_all_of_it(workers: int, tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(
        "from tests.conftest import pytest_configure, pytest_sessionfinish\n"
    )
    for name in ("test_a", "test_b"):
        (tmp_path / f"{name}.py").write_text(ENDLESS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", str(workers)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    for name in ("PYTEST_XDIST_WORKER", "PYTEST_XDIST_WORKER_COUNT", "PYTEST_XDIST_TESTRUNUID"):
        environment.pop(name, None)
    suite = subprocess.Popen([*command, str(tmp_path)], cwd=tmp_path, env=environment, stdout=subprocess.PIPE)
    try:
        wait_until(lambda: suite.poll() is not None or len(list(tmp_path.glob("*.begun"))) >= max(workers, 1))
        assert suite.poll() is None, suite.communicate()[0].decode()
        suite.send_signal(signal.SIGTERM)
        suite.communicate(timeout=PATIENCE_S)
    finally:
        suite.kill()
    assert suite.returncode == 128 + signal.SIGTERM
    # Workers end a moment after the one that they work for.
    for file in tmp_path.glob("*.child"):
        wait_until(lambda file=file: not runs(int(file.read_text())))
