"""Software GL shades with a thread a processor; whoever steps a simulation must not have to wait for them."""

import os
import sys
from pathlib import Path

NICENESS = 10
_NAME = "llvmpipe"


def software_threads() -> list[int]:
    """Kernel ids of this process's shading threads; none on a graphics card, or where they cannot be told apart."""
    if not sys.platform.startswith("linux"):
        return []
    found = []
    for task in Path("/proc/self/task").iterdir():
        try:
            if (task / "comm").read_text().startswith(_NAME):
                found.append(int(task.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


def give_way() -> None:
    """Give the shading threads that there are now a lower priority than the other threads of this process."""
    for thread in software_threads():
        try:
            os.setpriority(os.PRIO_PROCESS, thread, max(NICENESS, os.getpriority(os.PRIO_PROCESS, thread)))
        except OSError:
            continue
