"""Arrays come back from the cache as they went in, or not at all."""

from pathlib import Path

import numpy as np
import pytest

from sim.platform.cache import Arrays, cache_dir, cached_arrays, kept_arrays

RNG = np.random.default_rng(5)
KEPT: Arrays = {
    "heights": RNG.normal(size=(7, 5)).astype(np.float32),
    "by columns": np.asfortranarray(RNG.normal(size=(4, 3))),
    "land 0: map": RNG.integers(0, 256, (3, 2, 4)).astype(np.uint8),
    "scale": np.array(2.5),
    "level": np.array([True, False]),
    "none": np.zeros((0, 3)),
    "names": np.array(["start", "é"]),
}
EVERY = 7
"""Of so many bytes one is damaged."""


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path))
    cached_arrays("worlds", "some", lambda: KEPT)
    folder = cache_dir("worlds")
    assert folder is not None
    return folder / "some.npz"


def same(one: Arrays, other: Arrays) -> bool:
    return list(one) == list(other) and all(
        (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
        for a, b in zip(one.values(), other.values(), strict=True)
    )


def test_arrays_are_read_to_the_bit_as_numpy_reads_them_and_can_be_written(file: Path) -> None:
    read = kept_arrays("worlds", "some")
    assert read is not None
    assert same(read, KEPT)
    with np.load(file) as reference:
        assert same(read, dict(reference))
    assert all(array.flags.writeable for array in read.values())


def test_no_damaged_byte_and_no_missing_end_changes_an_array_that_is_read(file: Path) -> None:
    whole = file.read_bytes()
    for place in range(0, len(whole), EVERY):
        damaged = bytearray(whole)
        damaged[place] ^= 0x41
        for content in (damaged, whole[:place]):
            file.write_bytes(content)
            read = kept_arrays("worlds", "some")
            assert read is None or same(read, {name: KEPT[name] for name in read}), place


def test_what_cannot_be_read_is_made_anew(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])
    assert same(cached_arrays("worlds", "some", lambda: KEPT), KEPT)
    read = kept_arrays("worlds", "some")
    assert read is not None
    assert same(read, KEPT)
