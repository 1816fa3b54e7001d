"""Tables of the documents are what the code says, and the tests that they name exist."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ERRATA = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")


def test_every_test_that_the_errata_name_exists():
    named = re.findall(r"`([\w/]+\.py)::(\w+)`", ERRATA)
    assert len(named) > 20
    for file, test in named:
        path = ROOT / "tests" / "sim" / file
        assert f"\ndef {test}(" in path.read_text(encoding="utf-8"), f"{file}::{test}"


def test_the_errata_are_all_there_each_with_a_test_or_the_reason_why_not():
    rows = re.findall(r"^\| (E\d+) \|.*\| ([^|]+) \|$", ERRATA, flags=re.MULTILINE)
    assert [name for name, _ in rows] == [f"E{k}" for k in range(1, 36)]
    assert all("::" in shown or shown.startswith(("when", "nothing")) for _, shown in rows)


def test_what_methods_keep_in_the_guide_is_what_they_say():
    command = [sys.executable, str(ROOT / "scripts" / "methods_table.py")]
    table = subprocess.run(command, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    assert table.strip() in (ROOT / "docs" / "lab.md").read_text(encoding="utf-8")
