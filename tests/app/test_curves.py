"""Curves come back from their file as they were, and what cannot be written is said in one line."""

import csv

import numpy as np
import pytest

from export.output import OutputError
from export.tables import save_curves


def test_a_table_reads_back_to_the_bit(tmp_path) -> None:
    rng = np.random.default_rng(6)
    lanes = {
        name: (np.cumsum(rng.uniform(0.01, 0.1, n)), rng.normal(size=(2, n)) * 10.0 ** rng.integers(-9, 9))
        for name, n in (("flown", 30), ("rk4, h = 1/4 s", 7))
    }
    lanes["flown"][1][1, 3] = np.nan
    path = save_curves(tmp_path / "out", "canyon", ("a_m", "b_J"), lanes)
    with path.open(newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["time_s", "lane", "a_m", "b_J"]
    assert [row[3] for row in rows if row[1] == "flown"].index("") == 3, "what is not known is empty"
    assert path.name.startswith("canyon-plots-")
    for name, (times, values) in lanes.items():
        own = [row for row in rows if row[1] == name]
        read = np.array([[float(cell or "nan") for cell in (row[0], *row[2:])] for row in own]).T
        np.testing.assert_array_equal(read, np.vstack([times, values]))


def test_a_folder_that_cannot_be_made_is_told(tmp_path) -> None:
    (tmp_path / "out").write_text("in the way")
    with pytest.raises(OutputError, match="out"):
        save_curves(tmp_path / "out", "canyon", (), {})
