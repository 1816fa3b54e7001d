"""A real browser without a window, asked by WebDriver: what it shows of a page, and what it complains of."""

import base64
import json
import shutil
import socket
import subprocess
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.patience import PATIENCE_S, wait_until

FLAGS = (
    "--headless=new", "--no-sandbox", "--no-first-run", "--disable-background-networking", "--disable-sync",
    "--disable-component-update", "--disable-quic", "--window-size=900,700",
)  # fmt: skip
SOFTWARE_GL = ("--use-angle=swiftshader", "--enable-unsafe-swiftshader")


def installed() -> bool:
    """Whether there is one."""
    return shutil.which("chromedriver") is not None


class Browser:
    """One window of it."""

    def __init__(self, port: int, flags: Sequence[str], profile: str) -> None:
        self._root = f"http://127.0.0.1:{port}"
        options = {"args": [*FLAGS, *flags, f"--user-data-dir={profile}"]}
        wanted = {
            "browserName": "chrome",
            "goog:chromeOptions": options,
            "goog:loggingPrefs": {"browser": "ALL"},
        }
        made = self._call("POST", "/session", {"capabilities": {"alwaysMatch": wanted}})
        self._root += f"/session/{made['sessionId']}"

    def _call(self, method: str, path: str, body: object = None) -> Any:
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(
            self._root + path, data, {"Content-Type": "application/json"}, method=method
        )
        with urllib.request.urlopen(asked, timeout=PATIENCE_S) as answer:
            return json.load(answer)["value"]

    def open(self, path: Path, ready: str, how: str = "") -> None:
        """Show a file; comes back when the script `ready` gives what counts as true. how: behind its name, "#fine"."""
        self.go(path.absolute().as_uri() + how)
        wait_until(lambda: self.run(f"return Boolean({ready})"), self.complaints)

    def go(self, place: str) -> None:
        """Show what lies there."""
        self._call("POST", "/url", {"url": place})

    def run(self, script: str) -> Any:
        """What a script returns."""
        return self._call("POST", "/execute/sync", {"script": script, "args": []})

    def as_phone(self, width_px: int, height_px: int) -> None:
        """From now on a screen of this size that is touched."""
        size = {"width": width_px, "height": height_px, "deviceScaleFactor": 2, "mobile": True}
        self.tell("Emulation.setDeviceMetricsOverride", **size)
        self.tell("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)

    def tell(self, command: str, **parameters: object) -> Any:
        """A command of the DevTools protocol."""
        return self._call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def complaints(self) -> list[str]:
        """Warnings and errors of its console since the last look."""
        return [entry["message"] for entry in self._call("POST", "/se/log", {"type": "browser"})]

    def picture(self, path: Path) -> Path:
        """A PNG of what it shows."""
        path.write_bytes(base64.b64decode(self._call("GET", "/screenshot")))
        return path

    def close(self) -> None:
        self._call("DELETE", "")


@contextmanager
def browser(*flags: str) -> Iterator[Browser]:
    """A browser with further flags, closed afterwards."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    driver = subprocess.Popen(["chromedriver", f"--port={port}"], stdout=subprocess.DEVNULL)
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            _wait_for(port)
            made = Browser(port, flags or SOFTWARE_GL, profile)
            try:
                yield made
            finally:
                made.close()
    finally:
        driver.terminate()
        driver.wait()


def _wait_for(port: int) -> None:
    def answers() -> bool:
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{port}/status", timeout=PATIENCE_S).close()
        except OSError:
            return False
        return True

    wait_until(answers)
