"""Run the example notebooks and keep what their cells give: `python scripts/notebooks.py [NAME ...]`.

Outputs are kept as any browser shows them: pictures, text, runs as pages in frames. Widgets need a
kernel and are left out.
"""

import sys
from pathlib import Path

import nbclient
import nbformat

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
_WIDGET = "application/vnd.jupyter.widget-view+json"


def run(path: Path) -> nbformat.NotebookNode:
    """The notebook with the outputs of its cells; raises nbclient's CellExecutionError for a cell that fails."""
    book = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        book,
        timeout=300,
        startup_timeout=300,
        kernel_name="python3",
        record_timing=False,
        store_widget_state=False,
    ).execute()
    for cell in book.cells:
        for output in cell.get("outputs", ()):
            output.get("data", {}).pop(_WIDGET, None)
    book.metadata = {key: book.metadata[key] for key in ("kernelspec",)}
    return book


def main(names: list[str]) -> None:
    """Those that are named, or all."""
    for path in [EXAMPLES / f"{name}.ipynb" for name in names] or sorted(EXAMPLES.glob("*.ipynb")):
        book = run(path)
        nbformat.write(book, path)
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
