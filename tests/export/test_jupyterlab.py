"""A real JupyterLab in a real browser: what a cell shows there, and what the next cell makes of it."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from tests.export.browser import Browser, browser, installed
from tests.export.test_notebook import CELL, thrown
from tests.patience import wait_until

pytestmark = [
    pytest.mark.skipif(not installed(), reason="there is no chromedriver"),
    # Found, not imported: it runs in a process of its own, and takes seconds to import.
    pytest.mark.skipif(not all(map(find_spec, ("jupyterlab", "anywidget"))), reason="there is no JupyterLab"),
]
NOTEBOOK = "window.jupyterapp?.shell.currentWidget?.sessionContext"
VIEWER = "[...document.querySelectorAll('.jp-OutputArea div')].find((e) => e.holonomy)?.holonomy"
MOVED = "view.widget.playing = False\nview.widget.time_s = 0.77"
ASKED = "print(view.widget.playing, view.widget.time_s)"


@pytest.fixture
def laboratory(tmp_path: Path) -> Iterator[str]:
    """The address of one that has a notebook open, and nothing of the user's."""
    nbformat = pytest.importorskip("nbformat")
    shown = CELL.replace("sim.show(run, body", "view = sim.show(run, body") + "view"
    cells = [nbformat.v4.new_code_cell(text) for text in (shown, MOVED, ASKED)]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), tmp_path / "thrown.ipynb")
    own = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "RUNTIME")}
    own |= {f"JUPYTERLAB_{name}_DIR": str(tmp_path / name) for name in ("SETTINGS", "WORKSPACES")}
    own["PYTHONPATH"] = os.pathsep.join(path for path in sys.path if path)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"]
    command += ["--LabApp.expose_app_in_browser=True", f"--ServerApp.root_dir={tmp_path}"]
    with (tmp_path / "log").open("w") as log:
        server = subprocess.Popen(command, env={**os.environ, **own}, stdout=log, stderr=log)
    try:

        def written() -> str:
            assert server.poll() is None, (tmp_path / "log").read_text()
            return "".join(file.read_text() for file in (tmp_path / "RUNTIME").glob("jpserver-*.json"))

        told = json.loads(wait_until(lambda: (text := written()).endswith("}") and text))
        yield f"{told['url']}lab/tree/thrown.ipynb?token={told['token']}"
    finally:
        server.terminate()
        server.wait()


def until(page: Browser, script: str) -> None:
    wait_until(lambda: page.run(f"return Boolean({script})"), lambda: (script, page.complaints()))


def test_a_cell_of_jupyterlab_shows_the_viewer_that_other_cells_move_and_ask(laboratory: str) -> None:
    with browser() as page:
        page.go(laboratory)
        until(page, f"{NOTEBOOK}?.session?.kernel")
        run_cell = "jupyterapp.commands.execute('notebook:run-cell-and-select-next')"
        page.run(run_cell)
        until(page, f"{VIEWER}?.first_ms")
        page.run(run_cell)
        until(page, f"!{VIEWER}.playing && {VIEWER}.time === 0.77")
        found = np.array(page.run(f"return {VIEWER}.poses(0.77)[0]"))
        np.testing.assert_allclose(found, thrown().pose[77], atol=1e-4)
        page.run(f"const v = {VIEWER}; v.seek(1.25); v.play(true); v.play(false)")
        told = "[...document.querySelectorAll('.jp-OutputArea pre')].map((p) => p.textContent.trim())"

        def said() -> bool:
            """What the viewer says is sent on in its own time, and a cell may be run before it is there."""
            page.run("jupyterapp.commands.execute('notebook:run-cell')")
            return "False 1.25" in page.run(f"return {told}")

        wait_until(said, lambda: page.run(f"return {told}"), every_s=0.5)
        assert [line for line in page.complaints() if "Error" in line] == []
