"""Further pages of the site, a hook of mkdocs: notebooks of examples/ with the outputs that are stored in them, and
what `scripts/gallery_pages.py` has made, to which the gallery's pictures lead.
"""

import html
import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from scripts.gallery_pages import PAGES, PICTURE

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
THUMBNAILS = ROOT / "assets" / "thumbnails"
SHEET = "![All scenes](scenes.jpg)\n\n*`python scripts/thumbnails.py --sheet`*"
"""What stands in the gallery where no scene has a page."""


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """mkdocs calls this before pages are read: each notebook is one more, `notebooks/NAME.md`; so are live ones."""
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        text = page_of(nbformat.read(path, as_version=4))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
    for path in sorted(PAGES.glob("*.html")):
        files.append(File.generated(config, f"live/{path.name}", abs_src_path=str(path)))
    if any(PAGES.glob("*.html")):
        for path in sorted(THUMBNAILS.glob("*.jpg")):
            files.append(File.generated(config, f"thumbnails/{path.name}", abs_src_path=str(path)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """mkdocs calls this for every page."""
    if page.file.src_uri != "gallery.md":
        return markdown
    return leading(markdown, {path.stem for path in PAGES.glob("*.html")})


def leading(gallery: str, live: Collection[str]) -> str:
    """The gallery with pictures that lead to pages of these scenes, where they move; the sheet of all, too."""

    def linked(found: re.Match[str]) -> str:
        picture, command, scene = found.groups()
        return f"[{picture}](live/{scene}.html){command}" if scene in live else found[0]

    return PICTURE.sub(linked, gallery.replace(SHEET, _sheet(live)) if live else gallery)


def _sheet(live: Collection[str]) -> str:
    """Of all scenes a picture with the name below, in as many columns as there is room for."""
    shown = []
    for path in sorted(THUMBNAILS.glob("*.jpg")):
        style = 'alt="" loading="lazy" style="width: 100%; display: block"'
        picture = f'<img src="thumbnails/{path.name}" {style}>{path.stem}'
        shown.append(
            f'<a href="live/{path.stem}.html">{picture}</a>' if path.stem in live else f"<div>{picture}</div>"
        )
    grid = "display: grid; grid-template-columns: repeat(auto-fill, minmax(150px, 1fr)); gap: 8px; font-size: small"
    return f'<div style="{grid}">{"".join(shown)}</div>'


def page_of(book: nbformat.NotebookNode) -> str:
    """Its cells one after the other, as Markdown."""
    parts = []
    for cell in book.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            parts.append(f"```python\n{cell.source}\n```")
            parts += [_shown(output) for output in cell.outputs]
    return "\n\n".join(parts)


def _shown(output: nbformat.NotebookNode) -> str:
    data = output.get("data", {})
    if "text/html" in data:
        return str(data["text/html"]).replace("\n", "&#10;")  # a line of Markdown
    if "image/png" in data:
        return f'<img alt="" src="data:image/png;base64,{data["image/png"].strip()}">'
    return f"<pre>{html.escape(output.get('text') or data.get('text/plain', ''))}</pre>"
