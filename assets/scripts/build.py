"""Writes the models: `python -m assets.scripts.build [NAME | FOLDER ...]` (all of them without a name).

A vehicle's folder holds `model.py`: `build(detail)` gives its nodes, MATERIALS their looks, DETAILS the detail of each
file that is written (`model`, and `far` for where it is small), CELL_M how finely occlusion is looked at;
`floating()`, where there is one, the closed pieces by which it floats.
"""

import sys
from collections.abc import Callable
from functools import partial
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from assets.scripts import cars, marks, ship
from assets.scripts.gltf import Node, to_bytes

ASSETS = Path(__file__).resolve().parent.parent
MODELS_DIR, VEHICLES_DIR = ASSETS / "models", ASSETS / "vehicles"
_REACH_CELLS = 24
"""How far occlusion is looked for, in cells, where the script does not say."""

Recipe = Callable[[], bytes]


def recipes() -> dict[Path, Recipe]:
    """File of each model of the project -> the function that makes it."""
    made = {}
    for script in sorted(VEHICLES_DIR.glob("*/model.py")):
        made.update(vehicle_recipes(script.parent))
    for end, detail in (("", 1.0), ("_far", 0.45)):
        made[MODELS_DIR / f"ship{end}.glb"] = partial(_made, ship, detail)
        for name, kind in cars.KINDS.items():
            made[MODELS_DIR / f"{name}{end}.glb"] = partial(_made, cars, detail, kind=kind)
    for each in (marks.buoy, marks.mast, marks.barrels, marks.crates, marks.rock):
        made[MODELS_DIR / f"{each.__name__}.glb"] = partial(_mark, each)
    return made


def vehicle_recipes(folder: Path) -> dict[Path, Recipe]:
    """File of each model of a vehicle's folder -> the function that makes it, by the folder's `model.py`."""
    script = script_of(folder)
    made: dict[Path, Recipe] = {
        folder / f"{name}.glb": partial(_made, script, detail) for name, detail in script.DETAILS.items()
    }
    if hasattr(script, "floating"):
        made[folder / "hull.obj"] = partial(_surface, script)
    return made


def script_of(folder: Path) -> ModuleType:
    """The `model.py` of a vehicle's folder."""
    path = folder / "model.py"
    spec = spec_from_file_location(f"model_of_{folder.name.replace('-', '_')}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _made(model: ModuleType, detail: float, **kind: object) -> bytes:
    reach_m = getattr(model, "REACH_M", _REACH_CELLS * model.CELL_M)
    return to_bytes(model.build(detail, **kind), model.MATERIALS, cell_m=model.CELL_M, reach_m=reach_m)


def _surface(model: ModuleType) -> bytes:
    """The pieces of a floating surface as a Wavefront file."""
    lines = ["# closed pieces in the body frame [m], written by assets.scripts.build"]
    first = 1
    for piece in model.floating():
        lines += [f"v {x:.6f} {y:.6f} {z:.6f}" for x, y, z in piece.positions]
        lines += [f"f {a + first} {b + first} {c + first}" for a, b, c in piece.triangles]
        first += len(piece.positions)
    return ("\n".join(lines) + "\n").encode()


def _mark(build: Callable[[], list[Node]]) -> bytes:
    return to_bytes(build(), marks.MATERIALS, cell_m=0.08, reach_m=1.5)


def _named(name: str, known: dict[Path, Recipe]) -> dict[Path, Recipe]:
    """By the name of a vehicle or a prop, or by a vehicle's folder."""
    folder = Path(name) if (Path(name) / "model.py").is_file() else VEHICLES_DIR / name
    if (folder / "model.py").is_file():
        return vehicle_recipes(folder)
    return {path: recipe for path, recipe in known.items() if path == MODELS_DIR / f"{name}.glb"}


def main(names: list[str]) -> int:
    known = recipes()
    chosen = {} if names else known
    for name in names:
        found = _named(name, known)
        if not found:
            allowed = [p.parent.name if p.parent != MODELS_DIR else p.stem for p in known]
            print(
                f"unknown model {name!r}; known: {', '.join(dict.fromkeys(allowed))}, or a folder",
                file=sys.stderr,
            )
            return 2
        chosen |= found
    for path, recipe in chosen.items():
        path.write_bytes(recipe())
        print(f"{path}: {path.stat().st_size / 1e6:.2f} MB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
