"""Run a compiled per-row kernel on bands of rows in a few threads."""

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

BAND_ROWS = 64


def for_row_bands(kernel: Callable[..., None], rows: int, *arguments: object) -> None:
    """Call `kernel(first_row, end_row, *arguments)` for bands that cover `rows`.

    The kernel releases the GIL and writes only its own rows, so the result does not depend on the
    number of threads. Plain threads rather than numba's parallel regions: those abort on the
    fallback threading layer when the application calls them from two threads.
    """
    starts = range(0, rows, BAND_ROWS)
    with ThreadPoolExecutor(max_workers=min(os.cpu_count() or 1, 8)) as pool:
        jobs = [pool.submit(kernel, start, min(start + BAND_ROWS, rows), *arguments) for start in starts]
        for job in jobs:
            job.result()
