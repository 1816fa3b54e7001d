"""Writes the models: `python -m assets.scripts.build [NAME ...]` (all of them without a name)."""

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType

from assets.scripts import boat, car, disc, heavy_top, marks, saloon, slab, snakeboard, spacecraft
from assets.scripts.gltf import Node, to_bytes
from assets.scripts.helicopter import model as helicopter

MODELS_DIR = Path(__file__).resolve().parent.parent / "models"


def recipes() -> dict[str, Callable[[], bytes]]:
    """Name of each model -> the function that makes its file."""
    return {
        "helicopter": partial(_helicopter, 1.0),
        "helicopter_low": partial(_helicopter, 0.22),
        "rigid-body": partial(_plain, slab, 1.0, 0.04),
        "spacecraft": partial(_plain, spacecraft, 1.0, 0.05),
        "spacecraft_low": partial(_plain, spacecraft, 0.35, 0.05),
        "car": partial(_plain, car, 1.0, 0.035),
        "car_low": partial(_plain, car, 0.4, 0.035),
        "boat": partial(_plain, boat, 1.0, 0.04),
        "boat_low": partial(_plain, boat, 0.4, 0.04),
        "saloon": partial(_plain, saloon, 1.0, 0.05),
        "saloon_low": partial(_plain, saloon, 0.45, 0.05),
        **{
            each.__name__: partial(_mark, each)
            for each in (marks.buoy, marks.mast, marks.barrels, marks.crates, marks.rock)
        },
        "heavy-top": partial(_plain, heavy_top, 1.0, 0.012),
        "rolling-disc": partial(_plain, disc, 1.0, 0.02),
        "snakeboard": partial(_plain, snakeboard, 1.0, 0.02),
    }


def _helicopter(detail: float) -> bytes:
    return to_bytes(helicopter.build(detail), helicopter.MATERIALS, cell_m=0.05, reach_m=1.5)


def _plain(model: ModuleType, detail: float, cell_m: float) -> bytes:
    return to_bytes(model.build(detail), model.MATERIALS, cell_m=cell_m, reach_m=24 * cell_m)


def _mark(build: Callable[[], list[Node]]) -> bytes:
    return to_bytes(build(), marks.MATERIALS, cell_m=0.08, reach_m=1.5)


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
