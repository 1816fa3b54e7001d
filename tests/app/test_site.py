"""The documentation as a site: its tutorials run as they stand, and it is built without warnings and asks no host."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import app

ROOT = Path(app.__file__).resolve().parent
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))


@pytest.mark.parametrize("page", TUTORIALS, ids=lambda page: page.stem)
def test_the_code_of_every_tutorial_runs_as_it_stands(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    assert blocks
    names: dict[str, object] = {"__name__": "tutorial"}
    for number, block in enumerate(blocks, 1):
        text = block.replace('if __name__ == "__main__":', "if True:")
        exec(compile(text, f"block {number} of {page.name}", "exec"), names)


def test_the_notebook_runs_from_its_first_cell_to_its_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nbformat = pytest.importorskip("nbformat")
    book = nbformat.read(ROOT / "examples" / "first-flight.ipynb", as_version=4)
    nbformat.validate(book)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    names: dict[str, object] = {"__name__": "notebook"}
    cells = [cell.source for cell in book.cells if cell.cell_type == "code"]
    assert len(cells) >= 4
    for number, cell in enumerate(cells, 1):
        exec(compile(cell, f"cell {number}", "exec"), names)


def test_the_site_is_built_strictly_and_asks_nobody_for_anything(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    command = [
        sys.executable,
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--quiet",
        "--site-dir",
        str(tmp_path / "site"),
    ]
    # No way out: a proxy that nobody serves.
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    environment = {**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (done.stdout + done.stderr).strip() == ""
    pages = {
        path.relative_to(tmp_path / "site"): path.read_text() for path in (tmp_path / "site").rglob("*.html")
    }
    assert Path("reference/many.html") in pages
    fetched = re.compile(
        r'<(?:script|img|iframe|link rel="(?:stylesheet|preconnect)")[^>]*(?:src|href)="(?:https?:)?//'
    )
    for name, text in pages.items():
        assert not fetched.search(text), name
    assert "<math" in pages[Path("concepts.html")]
    assert "Integrate many lanes of a vehicle" in pages[Path("reference/many.html")]
    index = json.loads((tmp_path / "site" / "search" / "search_index.json").read_text())
    assert len(index["docs"]) > 100
