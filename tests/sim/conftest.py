"""What several laws of the simulation are tried with."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.sim.simulation_scenes import GatedKernels


@pytest.fixture
def kernels() -> Iterator[GatedKernels]:
    """They come once their gate is opened, at the latest after the test."""
    store = GatedKernels()
    yield store
    store.gate.set()


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of compiled code, empty: there is none yet."""
    monkeypatch.setenv("HOLONOMY_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"
