"""Laws of the kernels' cache: what is damaged costs a compilation, not the run."""

import sys
from pathlib import Path

import pytest

import sim
from sim.compiler import kernel_file, load_module

TEXT = """
from numba import njit


@njit("float64(float64)", cache=True)
def twice(x):
    return 2.0 * x
"""


@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_halves_of_compiled_functions_are_compiled_anew(
    ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "holonomy_half.py"
    path.write_text(TEXT)

    def result() -> float:
        monkeypatch.delitem(sys.modules, path.stem, raising=False)
        return load_module(path).twice(3.0)

    assert result() == 6.0
    (damaged,) = (tmp_path / "__pycache__").glob(f"*{ending}")
    whole = damaged.read_bytes()
    damaged.write_bytes(whole[: len(whole) // 2])
    assert result() == 6.0
    (again,) = (tmp_path / "__pycache__").glob(f"*{ending}")
    assert len(again.read_bytes()) == len(whole)


def test_half_a_text_is_written_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path))
    method = sim.integrators()["lie-euler"]
    path = kernel_file(sim.vehicle("rigid-body"), method).path
    whole = path.read_text()
    path.write_text(whole[: len(whole) // 2])
    assert kernel_file(sim.vehicle("rigid-body"), method).path == path
    assert path.read_text() == whole
