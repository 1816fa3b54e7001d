"""Laws of machine code that calls other machine code: large functions are compiled once, whoever calls them."""

import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import sim
from sim.compiled import allocating_nothing, compiled, superword

ROOT = Path(sim.__file__).resolve().parents[1]


def polynomial(terms: int) -> str:
    """Text of a function of so many instructions and more."""
    lines = [f"    a = a * x{k % 3} + {k}.5 * x{(k + 1) % 3}" for k in range(terms)]
    return "\n".join(
        ["def polynomial(x):", "    x0, x1, x2 = x[0], x[1], x[2]", "    a = 1.0", *lines, "    return a"]
    )


def pair(terms: int) -> tuple[Callable[[np.ndarray], float], Callable[[np.ndarray, int], float]]:
    """(a function, one that sums it over so many points)."""
    space = {"__name__": __name__}
    exec(polynomial(terms), space)
    inner = compiled("float64(float64[::1])")(space["polynomial"])

    @compiled("float64(float64[::1], int64)")
    def summed(x, n):
        total = 0.0
        for k in range(n):
            x[0] = 0.1 * k
            total += inner(x)
        return total

    return inner, summed


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path))
    return tmp_path / "kernels"


def sizes(folder: Path, name: str) -> list[int]:
    return [path.stat().st_size for path in folder.glob(f"*{name}-*.nbc")]


def test_whoever_calls_a_large_function_does_not_compile_it_again(folder: Path) -> None:
    x = np.array([0.3, -0.2, 0.5])
    callers = []
    for terms in (200, 500):
        inner, summed = pair(terms)
        assert summed(x.copy(), 3) == sum(inner(np.array([0.1 * k, -0.2, 0.5])) for k in range(3))
        callers.append(set(sizes(folder, "summed")))
    few, many = callers
    (first,), (second,) = few, many - few or few
    assert abs(second - first) < 64  # digits of the sizes: nothing of the function is in there
    small, large = sorted(sizes(folder, "polynomial"))
    assert large > 1.5 * small


RUN = f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
import numpy as np
from tests.sim.test_code_library import pair
inner, summed = pair(200)
print(summed(np.array([0.3, -0.2, 0.5]), 3), *(sum(f.stats.cache_misses.values()) for f in (inner, summed)))
"""


def run(folder: Path) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(RUN)],
        env={"HOLONOMY_CACHE": str(folder.parent), "PATH": ""},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    return done.stdout.split()


def test_kept_code_finds_what_it_calls_in_another_process(folder: Path) -> None:
    first = run(folder)
    assert first[1:] == ["1", "1"]
    assert run(folder) == [first[0], "0", "0"]


def test_a_caller_whose_function_is_gone_from_the_cache_is_served_all_the_same(folder: Path) -> None:
    first = run(folder)
    for path in folder.glob("*polynomial-*"):
        path.unlink()
    assert run(folder) == [first[0], "1", "0"]


def test_numbers_beside_each_other_go_together_and_such_code_has_a_name_of_its_own(folder: Path) -> None:
    def scaled(x, w, out):
        for k in range(0, len(x), 4):
            out[k] = x[k] * w + 1.5
            out[k + 1] = x[k + 1] * w + 1.5
            out[k + 2] = x[k + 2] * w + 1.5
            out[k + 3] = x[k + 3] * w + 1.5

    x, w = np.linspace(-3.0, 5.0, 64, dtype=np.float32), np.float32(0.3)
    found = []
    for decorate in (allocating_nothing, superword):
        out = np.zeros_like(x)
        decorate(scaled)(x, w, out)
        found.append(out)
    np.testing.assert_allclose(found[0], found[1], rtol=1e-6)
    np.testing.assert_allclose(found[1], 0.3 * x + 1.5, rtol=1e-6, atol=1e-6)
    assert len(sizes(folder, "scaled")) == 2
