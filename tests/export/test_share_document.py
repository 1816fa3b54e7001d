"""The blocks of the pages about files, measured flights and many runs run as they stand, page by page."""

import re
from pathlib import Path

import pytest

import app

DOCUMENTS = Path(app.__file__).resolve().parent / "docs"


@pytest.mark.parametrize("page", ["share.md", "measured.md", "many.md", "learning.md"])
def test_all_blocks_of_a_page_run_in_one_go(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "document"}
    text = (DOCUMENTS / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert blocks
    for number, block in enumerate(blocks, 1):
        exec(compile(block, f"block {number} of {page}", "exec"), names)
