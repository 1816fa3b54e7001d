"""Notebooks of examples/ as pages of the site, with the outputs that are stored in them: a hook of mkdocs."""

import html
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """mkdocs calls this before pages are read: each notebook is one more, `notebooks/NAME.md`."""
    for path in sorted(EXAMPLES.glob("*.ipynb")):
        text = page_of(nbformat.read(path, as_version=4))
        files.append(File.generated(config, f"notebooks/{path.stem}.md", content=text))
    return files


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
