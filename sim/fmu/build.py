"""Machine code of FMUs for several systems, by the C compiler that the package ziglang brings."""

import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from sim.platform.cache import cache_dir
from sim.platform.errors import InputError, one_of, quote

RUNTIME = Path(__file__).parent / "runtime"


@dataclass(frozen=True)
class Target:
    """A processor under a system."""

    name: str
    """As the compiler names it, with the oldest C library that will do."""
    folder: str
    """Of its machine code in a unit."""
    ending: str


_LINUX, _LINUX_ARM = "x86_64-linux-gnu.2.17", "aarch64-linux-gnu.2.17"
_TARGETS: dict[str, dict[str, tuple[Target, ...]]] = {
    "linux": {
        "2.0": (Target(_LINUX, "linux64", ".so"),),
        "3.0": (Target(_LINUX, "x86_64-linux", ".so"), Target(_LINUX_ARM, "aarch64-linux", ".so")),
    },
    "windows": {
        "2.0": (Target("x86_64-windows-gnu", "win64", ".dll"),),
        "3.0": (Target("x86_64-windows-gnu", "x86_64-windows", ".dll"),),
    },
    "macos": {
        "2.0": (Target("x86_64-macos", "darwin64", ".dylib"),),
        "3.0": (
            Target("x86_64-macos", "x86_64-darwin", ".dylib"),
            Target("aarch64-macos", "aarch64-darwin", ".dylib"),
        ),
    },
}
"""System -> version of FMI -> what is compiled for it."""
PLATFORMS = tuple(_TARGETS)


def targets_of(platforms: Sequence[str], version: str) -> list[Target]:
    """Of systems by name. Raises InputError for one that is unknown."""
    if isinstance(platforms, str):
        platforms = (platforms,)
    for name in platforms:
        if name not in PLATFORMS:
            raise InputError(f"platforms: unknown {quote(name)}; allowed: {one_of(PLATFORMS)}")
    if not platforms:
        raise InputError(f"platforms: none is refused; allowed: {one_of(PLATFORMS)}")
    return [target for name in dict.fromkeys(platforms) for target in _TARGETS[name][version]]


def check_compiler() -> None:
    """Raises InputError where it is not installed."""
    if find_spec("ziglang") is None:
        raise InputError('export_fmu: FMUs need ziglang, which is not there; pip install "holonomy[fmu]"')


def compiled(folder: Path, target: Target, library: str, version: str) -> Path:
    """A shared library out of the modules `*.ll` and `vehicle.h` in a folder. Raises InputError where that fails."""
    sources = [RUNTIME / name for name in ("model.c", f"fmi{version[0]}.c")]
    made = folder / target.folder
    made.mkdir()
    file = made / f"{library}{target.ending}"
    command = [
        *(sys.executable, "-m", "ziglang", "cc", "-shared", "-fPIC", "-O2", "-g0", "-s", "-std=c11"),
        *("-fvisibility=hidden", "-Wno-override-module", "-ffp-contract=off", "-target", target.name),
        *("-I", str(folder), "-o", str(file)),
        *map(str, [*sources, *sorted(folder.glob("*.ll"))]),
        *(["-lm"] if "linux" in target.name else []),
    ]
    kept = cache_dir("zig") or folder
    environment = os.environ | {
        "ZIG_GLOBAL_CACHE_DIR": str(kept),
        "ZIG_LOCAL_CACHE_DIR": str(folder / "zig"),
    }
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode or not file.exists():
        lines = [line for line in done.stderr.splitlines() if "error" in line] or done.stderr.splitlines()
        said = lines[0].strip() if lines else f"status {done.returncode}"
        raise InputError(f"export_fmu: {target.name} cannot be compiled for: {said}")
    return file
