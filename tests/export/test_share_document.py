"""The blocks of docs/share.md run as they stand, one after the other."""

import re
from pathlib import Path

import pytest

import app

DOCUMENT = Path(app.__file__).resolve().parent / "docs" / "share.md"
BLOCKS = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), flags=re.DOTALL)


def test_all_blocks_run_in_one_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {"__name__": "document"}
    for number, block in enumerate(BLOCKS, 1):
        exec(compile(block, f"block {number} of {DOCUMENT.name}", "exec"), names)
