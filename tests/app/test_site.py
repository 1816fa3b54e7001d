"""The documentation as a site: its tutorials run as they stand, and it is built without warnings and asks no host."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import app
from scripts.check_docs import ABOUT_PX, SHORT_PAGES, screens
from tests.export.browser import browser, installed

ROOT = Path(app.__file__).resolve().parent
NOTEBOOKS = sorted((ROOT / "examples").glob("*.ipynb"))
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


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_in_a_kernel_and_gives_what_is_stored_in_it(path: Path) -> None:
    nbformat = pytest.importorskip("nbformat")
    pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    from scripts.notebooks import run

    stored = nbformat.read(path, as_version=4)
    nbformat.validate(stored)

    def kinds(book: nbformat.NotebookNode) -> list[list[object]]:
        """Of every cell what it gave: names of streams, and forms that a browser shows."""
        return [
            [output.get("name") or sorted(output.get("data", [])) for output in cell.get("outputs", ())]
            for cell in book.cells
        ]

    given = run(path)
    outputs = [output for cell in given.cells for output in cell.get("outputs", ())]
    assert [output["text"] for output in outputs if output.get("name") == "stderr"] == []
    assert kinds(given) == kinds(stored)
    forms = [form for cell in kinds(stored) for output in cell for form in output]
    assert {"image/png", "text/html"} <= set(forms)


def test_pictures_of_the_gallery_lead_to_the_pages_that_there_are() -> None:
    pytest.importorskip("mkdocs")
    from scripts.gallery_pages import scenes
    from scripts.site_pages import leading

    gallery = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    known = {path.stem for path in (ROOT / "scenes").glob("*.toml")}
    assert len(scenes()) >= 15
    assert set(scenes()) <= known
    assert leading(gallery, ()) == gallery
    found = leading(gallery, {"storm", "rope"})
    assert found.count("](live/") == 2
    assert "[![The motor boat in a gale](storm.png)](live/storm.html) `./run storm`" in found
    assert "scenes.jpg" not in found
    assert '<a href="live/rope.html"><img src="thumbnails/rope.jpg"' in found
    assert found.count("thumbnails/") == len(list((ROOT / "assets" / "thumbnails").glob("*.jpg")))
    assert found.count('<a href="live/') == 2
    whole = leading(gallery, scenes())
    assert whole.count("](live/") == len(re.findall(r"\.png\) `\./run ", gallery))


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built strictly."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("built") / "site"
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    # No way out: a proxy that nobody serves.
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    environment = {**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert (done.stdout + done.stderr).strip() == ""
    return folder


def test_the_site_asks_nobody_for_anything(site: Path) -> None:
    pages = {path.relative_to(site): path.read_text() for path in site.rglob("*.html")}
    assert Path("reference/many.html") in pages
    fetched = re.compile(
        r'<(?:script|img|iframe|link rel="(?:stylesheet|preconnect)")[^>]*(?:src|href)="(?:https?:)?//'
    )
    for name, text in pages.items():
        assert not fetched.search(text), name
    assert "<math" in pages[Path("concepts.html")]
    assert "Integrate many lanes of a vehicle" in pages[Path("reference/many.html")]
    index = json.loads((site / "search" / "search_index.json").read_text())
    assert len(index["docs"]) > 100


@pytest.mark.skipif(not installed(), reason="there is no Chromium")
def test_pages_about_doors_are_two_screens_at_most_in_a_browser(site: Path) -> None:
    """And what is told without one is within a seventh of that; measured a twelfth."""
    with browser() as shown:
        shown.tell(
            "Emulation.setDeviceMetricsOverride", width=1920, height=1080, deviceScaleFactor=1, mobile=False
        )
        for name in SHORT_PAGES:
            shown.open(site / f"{name}.html", "document.readyState === 'complete'")
            whole, article = shown.run(
                "return [document.documentElement.scrollHeight, document.querySelector('article').scrollHeight]"
            )
            assert whole <= 2 * 1080, name
            told = screens((ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8"))
            assert told * 1080 == pytest.approx(article + ABOUT_PX, rel=0.15), name
