"""Functions as machine code: they compute what Python does, take what they were made for, and say what they cannot."""

import math
import resource
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sim.native import function as native_function
from sim.native.function import Native, native, prepare_together
from sim.native.values import NotTranslated
from tests.patience import PATIENCE_S

some = settings(deadline=None, max_examples=40)
NUMBERS = np.array([0.5, -2.0, 3.25, 7.0, -0.125])


class Pair(NamedTuple):
    left: np.ndarray
    right: tuple[float, int]


@native
def whole(a: int, b: int) -> int:
    return (a // b) * 1000 + (a % b) * 100 + (a & 7) + (a ^ 5) + (a << 2) - (a >> 1) + abs(a) + max(a, b, 3)


@native
def real(x: float, y: float) -> float:
    out = x**3 - 2.0 * y / (1.0 + x * x) + min(x, y, 0.25) - (-x) ** 2 + math.hypot(x, y) + math.atan2(y, x)
    out += math.floor(x) + np.floor(y) + int(y) + (1.0 if 0.0 < x <= y < 3.0 else -1.0)
    return out + math.exp(-x * x) + np.sqrt(abs(y)) + math.cos(x) * np.sin(y)


@native
def flow(n: int, stop: int) -> float:
    total, last = 0.0, -1
    for i in range(n, -3, -2):
        if i % 5 == 1:
            continue
        for j in range(i):
            if j == stop:
                break
            total += j
        else:
            total += 0.5
        last = i
    k = 0
    while k < n and not (k * k > stop or k == 17):
        k += 1
    total += 100 * k + last
    for which, weight in ((n, 2.0), (stop, 3.0)):
        if which in (2, 3):
            total += weight
    return total


@native
def views(a: np.ndarray, rows: np.ndarray, k: int) -> tuple[float, int, float]:
    middle, column, last = a[1:-1], rows[:, 1], rows[-1]
    middle[0] += 10.0
    column[k] = a[-1] + len(middle) + column.size
    rows[0, :] = last
    rows[1] = 4.0
    a[3:100] = -1.0
    total = 0.0
    for x in a[k:]:
        total += x
    first, second = last[:2]
    return total + first * second, rows.shape[0] * rows.shape[1], (a[0], a[1], a[2])[k]


def twice(x: float, factor: float = 2.0) -> float:
    return factor * x


@native
def structs(pair: Pair, flags: np.ndarray, counts: np.ndarray) -> tuple[float, bool]:
    number, at = pair.right
    total = 0.0
    for i in range(pair.left.shape[0]):
        if flags[i] and counts[i] > 0:
            total += twice(pair.left[i]) + twice(number, factor=0.5)
    flags[at], counts[at] = True, -7
    room = np.zeros((2, 3))
    room[1, 2] = total
    return room[1, 2] + room[0, 0], flags[0] or at > 3


@native
def widens(n: int, x: float) -> float:
    out = 0
    for k in range(n):
        out = out + x * k  # whole at first, real from then on
    for k in range(3):
        out += k
    k = 0.5 * x
    return out + k


@native
def single(a: np.ndarray) -> float:
    return float((a[0] - a[1]) / (a[2] * 3.0))


@native
def rows_of(n: int, x: float) -> tuple[np.ndarray, np.ndarray]:
    rows, order = np.full((n, 2), x), np.empty(n, np.int64)
    for i in range(n):
        rows[i, 1] += i
        order[i] = n - i
    return rows, order[: n // 2]


@native
def gathered(n: int, x: float) -> tuple[np.ndarray, float, np.ndarray]:
    total, kept = 0.0, np.zeros((1, 2))
    for k in range(1, n):
        rows, order = rows_of(k, x)
        same = np.empty_like(rows)
        same[:] = rows
        rows[:] = -1.0  # what was copied stays
        total += kept[len(kept) - 1, 1] + same.ravel()[2 * k - 1] + len(order)
        kept = same.copy()
    ends = np.zeros(3)
    ends[1] = np.round(total)
    return kept, total, ends


@some
@given(st.integers(-1000, 1000), st.integers(-50, 50).filter(bool))
def test_whole_numbers_are_python_s(a: int, b: int) -> None:
    assert whole(a, b) == whole.py_func(a, b)


@some
@given(st.floats(-50, 50), st.floats(-50, 50))
def test_real_numbers_are_python_s(x: float, y: float) -> None:
    assert real(x, y) == pytest.approx(real.py_func(x, y), rel=1e-13, abs=1e-13)


@some
@given(st.integers(-3, 30), st.integers(-2, 30))
def test_loops_and_branches_go_python_s_way(n: int, stop: int) -> None:
    assert flow(n, stop) == flow.py_func(n, stop)


@some
@given(st.integers(0, 2))
def test_views_of_arrays_are_numpy_s(k: int) -> None:
    found, wanted = [], []
    for function, out in ((views, found), (views.py_func, wanted)):
        a, rows = NUMBERS.copy(), np.arange(12.0).reshape(4, 3)
        out += [*function(a, rows, k), *a, *rows.ravel()]
    np.testing.assert_array_equal(found, wanted)


def test_structs_flags_and_whole_arrays() -> None:
    results = []
    for function in (structs, structs.py_func):
        flags, counts = np.array([False, True, True]), np.array([1, -1, 2], np.int32)
        told = function(Pair(NUMBERS[:3].copy(), (3.0, 1)), flags, counts)
        results.append((*told, *flags, *counts))
    assert results[0] == results[1]


@some
@given(st.integers(2, 40), st.floats(-9, 9))
def test_arrays_that_functions_make_are_handed_on(n: int, x: float) -> None:
    for a, b in zip(gathered(n, x), gathered.py_func(n, x), strict=True):
        np.testing.assert_array_equal(a, b)
        assert np.asarray(a).dtype == np.asarray(b).dtype


def test_arrays_that_functions_make_are_given_back() -> None:
    def peak_kB() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    gathered(100, 1.0)
    before = peak_kB()
    for _ in range(2000):
        gathered(100, 1.0)  # 330 kB each
    assert peak_kB() - before < 20_000


@some
@given(st.integers(0, 9), st.floats(-9, 9))
def test_a_variable_that_is_whole_and_real_is_real(n: int, x: float) -> None:
    assert widens(n, x) == widens.py_func(n, x)


def test_single_precision_is_kept() -> None:
    a = np.array([1.0, 1e-7, 1 / 3], np.float32)
    assert single(a) == float((a[0] - a[1]) / (np.float64(a[2]) * 3.0))


@pytest.mark.parametrize("rows", [np.arange(24.0).reshape(4, 6)[:, ::2], np.arange(12.0).reshape(3, 4).T])
def test_arrays_with_gaps_are_taken(rows: np.ndarray) -> None:
    @native
    def weighted(rows: np.ndarray) -> float:
        total = 0.0
        for i in range(rows.shape[0]):
            for j in range(rows.shape[1]):
                total += (i + 10 * j) * rows[i, j]
        return total

    assert weighted(rows) == weighted.py_func(rows) != weighted(np.ascontiguousarray(rows[:, ::-1]))


def test_only_what_it_was_made_for_is_taken() -> None:
    @native("float64(float64[::1], float64)")
    def first(a: np.ndarray, x: float) -> float:
        return a[0] + x

    assert first(NUMBERS, 1) == 1.5
    for wrong in (NUMBERS.astype(np.float32), NUMBERS[::2], NUMBERS[None], [0.5], None, 3.0):
        with pytest.raises(TypeError, match="a is no 1-dimensional array of float64"):
            first(wrong, 1.0)
    for call in (lambda: first(NUMBERS, "1"), lambda: first(NUMBERS)):
        with pytest.raises(TypeError):
            call()
    with pytest.raises(TypeError, match="takes 3 arguments, not 1"):
        views(NUMBERS)


def test_functions_made_together_are_one_file_and_compute_as_each_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    @native(noinline=True)
    def shared(x: float) -> float:
        return math.sin(x) / (1.0 + x * x)

    @native
    def many(a: np.ndarray, out: np.ndarray) -> tuple[int, float]:
        for k in range(a.shape[0]):
            out[k] = shared(a[k])
        return a.shape[0], out[0]

    @native
    def one(x: float) -> float:
        return 2.0 * shared(x)

    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path))
    out, alone = np.zeros(5), np.zeros(5)
    prepare_together((many, (NUMBERS, out)), (one, (1.0,)))
    assert len(list((tmp_path / "nodes").iterdir())) == 1
    given_ = many(NUMBERS, out), one(0.75)
    assert len(list((tmp_path / "nodes").iterdir())) == 1
    assert given_ == (Native(many.py_func, {})(NUMBERS, alone), Native(one.py_func, {})(0.75))
    np.testing.assert_array_equal(out, alone)
    assert len(list((tmp_path / "nodes").iterdir())) == 3


def test_what_has_no_machine_code_is_one_line_with_its_place() -> None:
    def text(x: float) -> float:
        return float(f"{x}")

    def kinds(a: np.ndarray) -> float:
        for k in range(3):
            a[0] += a[1]
            a = 0.5 * k
        return a

    def deep(x: float) -> float:
        return deep_inside(x)

    def deep_inside(x: float) -> float:
        return sorted(x)

    for function, given_, told in (
        (text, 1.0, "has no machine code"),
        (kinds, NUMBERS, "'a' is now this, now that within a loop"),
        (deep, 1.0, "line .* of test_native.py: sorted has no machine code"),
    ):
        with pytest.raises(NotTranslated, match=told) as error:
            Native(function, {})(given_)
        assert "\n" not in str(error.value)
        assert function.__name__ in str(error.value)


def test_results_are_not_leaked() -> None:
    @native
    def several(x: float) -> tuple[float, int, bool]:
        return x, int(x), x > 0.0

    several(12345.5)
    before = sys.getallocatedblocks()
    for _ in range(2000):
        several(12345.5)
    assert sys.getallocatedblocks() - before < 200


def test_other_threads_run_meanwhile() -> None:
    @native
    def long(n: int) -> float:
        total = 0.0
        for k in range(n):
            total += math.sin(total + k)
        return total

    long(1)
    ticks, done = [], threading.Event()

    def count() -> None:
        while not done.is_set():
            ticks.append(time.monotonic())
            time.sleep(1e-3)

    thread = threading.Thread(target=count)
    thread.start()
    switch_s, begin = sys.getswitchinterval(), time.monotonic()
    sys.setswitchinterval(2.0 * PATIENCE_S)  # nobody is made to let go
    try:
        while not (seen := any(begin < t for t in ticks)) and time.monotonic() - begin < PATIENCE_S:
            long(200_000)
    finally:
        sys.setswitchinterval(switch_s)
        done.set()
        thread.join()
    assert seen


def test_kept_machine_code_is_found_without_translating(monkeypatch: pytest.MonkeyPatch) -> None:
    def tripled(x: float) -> float:
        return 3.0 * x

    assert Native(tripled, {})(2.0) == 6.0

    def never(*_: object) -> str:
        raise AssertionError

    monkeypatch.setattr(native_function, "_text", never)
    assert Native(tripled, {})(2.0) == 6.0
    with pytest.raises(AssertionError):
        Native(tripled, {"fastmath": ("contract",)})(2.0)


@native
def hashed(key: int, state: np.ndarray) -> np.float32:
    h = np.uint64(key + 0x200000) * np.uint64(0x9E3779B97F4A7C15)
    h ^= h >> np.uint64(29)
    h += np.uint64(7) * state[0]
    state[0] = h
    return np.float32(h >> np.uint64(40)) * np.float32(2.0**-24)


@some
@given(st.integers(-1000, 1000), st.integers(0, 2**64 - 1))
def test_unsigned_numbers_go_round_as_numpy_s_do(key: int, begin: int) -> None:
    state, wanted = np.array([begin], np.uint64), np.array([begin], np.uint64)
    with np.errstate(over="ignore"):
        assert hashed(key, state) == hashed.py_func(key, wanted)
    assert state[0] == wanted[0]


@native
def reshaped(cube: np.ndarray, small: np.ndarray, scale: np.float32) -> np.float32:
    flat, square = cube.reshape(-1), cube[1:].reshape(3, -1)
    total = np.float32(0.0)
    for k in range(flat.size):
        total += -scale * np.float32(np.int32(flat[k])) * square[k % 3, k % square.shape[1]]
    for k in range(len(small)):
        small[k] += k + 250
        total += small[k]
    return total


def test_other_shapes_short_numbers_and_bytes() -> None:
    found = []
    for function in (reshaped, reshaped.py_func):
        cube = np.linspace(-9.0, 9.0, 36, dtype=np.float32).reshape(3, 4, 3)
        small = np.array([1, 3, 255], np.uint8)
        with np.errstate(over="ignore"):
            found += [function(cube, small, np.float32(0.3)), *small]
    assert found[:4] == pytest.approx(found[4:], rel=1e-6)
    with pytest.raises(NotTranslated, match="with gaps"):
        reshaped(np.zeros((3, 4, 6), np.float32)[:, :, ::2], np.zeros(1, np.uint8), np.float32(1.0))


def test_numbers_beside_each_other_go_together() -> None:
    def scaled(x: np.ndarray, w: np.float32, out: np.ndarray) -> None:
        for k in range(0, len(x), 4):
            out[k] = x[k] * w + 1.5
            out[k + 1] = x[k + 1] * w + 1.5
            out[k + 2] = x[k + 2] * w + 1.5
            out[k + 3] = x[k + 3] * w + 1.5

    x = np.linspace(-3.0, 5.0, 64, dtype=np.float32)
    for options in ({}, {"superword": True}, {"superword": True, "fastmath": ("fast",)}):
        out = np.zeros_like(x)
        Native(scaled, options)(x, np.float32(0.3), out)
        np.testing.assert_allclose(out, 0.3 * x + 1.5, rtol=1e-6, atol=1e-6)


def test_tuples_of_another_length_are_other_arguments() -> None:
    @native
    def summed(parts: tuple[np.ndarray, ...]) -> float:
        total = 0.0
        for k in range(len(parts)):
            total += parts[k][0]
        return total

    for count in (2, 3, 1):
        assert summed((NUMBERS,) * count) == 0.5 * count
    for wrong in ((3.0,), ((NUMBERS,), 1)):
        with pytest.raises(TypeError):
            summed(*wrong)
