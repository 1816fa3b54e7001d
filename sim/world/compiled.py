"""Compile kernels of this package with a disk cache that cannot go stale.

Numba's own cache looks only at the file of the cached function: change a function that it calls
from another file and the old machine code stays. Here the cache folder is named by a digest of
all sources of sim.world and sim.environment.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba.core import config

from sim.cache import cache_dir
from sim.world.store import source_digest

_CONFIG: Any = config
_FOLDERS = (Path(__file__).parent, Path(__file__).parents[1] / "environment")
KERNEL_DIGEST = source_digest(*(str(path) for folder in _FOLDERS for path in folder.glob("*.py")))
"""Digest of those sources: code that embeds these kernels should name its own cache by it."""


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """`numba.njit(nogil=True, cache=True)` with the cache under `cache_dir("kernels")`, by digest."""
    previous = _CONFIG.CACHE_DIR
    _CONFIG.CACHE_DIR = str(cache_dir("kernels") / f"world-{KERNEL_DIGEST}")
    try:
        return numba.njit(nogil=True, cache=True)(function)
    finally:
        _CONFIG.CACHE_DIR = previous
