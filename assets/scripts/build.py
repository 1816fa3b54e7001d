"""Writes the models: `python -m assets.scripts.build [NAME ...]` (all of them without a name)."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

from assets.scripts.gltf import to_bytes
from assets.scripts.helicopter import model as helicopter

MODELS_DIR = Path(__file__).resolve().parent.parent / "models"


def recipes() -> dict[str, Callable[[], bytes]]:
    """Name of each model -> the function that makes its file."""
    return {
        "helicopter": partial(_helicopter, 1.0),
        "helicopter_low": partial(_helicopter, 0.22),
    }


def _helicopter(detail: float) -> bytes:
    return to_bytes(helicopter.build(detail), helicopter.MATERIALS, cell_m=0.05, reach_m=1.5)


def main(names: list[str]) -> int:
    chosen = names or list(recipes())
    unknown = [name for name in chosen if name not in recipes()]
    if unknown:
        print(f"unknown model {unknown[0]!r}; known: {', '.join(recipes())}", file=sys.stderr)
        return 2
    for name in chosen:
        path = MODELS_DIR / f"{name}.glb"
        path.write_bytes(recipes()[name]())
        print(f"{path.name}: {path.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
