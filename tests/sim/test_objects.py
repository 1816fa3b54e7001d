"""Machine code that is kept on disk is what was compiled, or is compiled anew."""

import ctypes

import pytest

from sim.native.objects import loaded

TEXT = "define double @double_of(double %x) {\n  %y = fadd double %x, %x\n  ret double %y\n}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path))
    return tmp_path / "nodes"


def doubled(x: float) -> float:
    engine = loaded(TEXT)
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(engine.get_function_address("double_of"))(x)


def test_code_is_kept_and_does_the_same_when_it_is_read(folder):
    assert doubled(1.5) == 3.0
    (kept,) = folder.glob("*.o")
    written = kept.stat().st_mtime_ns
    assert doubled(2.5) == 5.0
    assert kept.stat().st_mtime_ns == written


@pytest.mark.parametrize("damage", [lambda b: b[:-7], lambda b: b[:40] + b"\0" + b[41:], lambda b: b""])
def test_damaged_code_is_compiled_anew(folder, damage):
    doubled(1.0)
    (kept,) = folder.glob("*.o")
    sound = kept.read_bytes()
    kept.write_bytes(damage(sound))
    assert doubled(4.0) == 8.0
    assert kept.read_bytes() == sound


def test_without_a_folder_code_is_compiled_all_the_same(tmp_path, monkeypatch):
    occupied = tmp_path / "file"
    occupied.write_text("")
    monkeypatch.setenv("HOLONOMY_CACHE", str(occupied))
    assert doubled(3.0) == 6.0
