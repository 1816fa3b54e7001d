"""Progress on the terminal: one line a stage, with a bar while it runs."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

Report = Callable[[str, float], None]
"""Called with what is being done now and the share that is done (0..1)."""


@contextmanager
def shown(title: str) -> Iterator[Report]:
    """A bar on stderr that follows the reports and leaves one line with the time it took."""
    console = Console(stderr=True)
    started = time.perf_counter()
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=32),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("[dim]{task.fields[detail]}"),
        console=console,
        transient=True,
        disable=not console.is_terminal,
    )
    with bar:
        task = bar.add_task(title, total=None, detail="")

        def report(detail: str, share: float) -> None:
            bar.update(task, total=1.0, completed=share, detail=detail)

        yield report
    console.print(f"{title} [dim]{time.perf_counter() - started:.1f} s[/dim]", highlight=False)
