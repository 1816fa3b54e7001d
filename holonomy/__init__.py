"""Holonomy under one name: `from holonomy import sim`; `python -m holonomy` is the app.

Its packages sim, render, ui and export import each other by these names. In a checkout they lie beside this folder.
Installed they lie in its folder lib, so that site-packages gets one name. There is one copy of each: `holonomy.sim`
is the module `sim`.
"""

import importlib
import sys
from pathlib import Path
from types import ModuleType

_HERE = Path(__file__).resolve().parent
FOLDER = _HERE / "lib" if (_HERE / "lib").is_dir() else _HERE.parent
"""Where the packages are."""
_LAYERS = ("sim", "render", "ui", "export")

if str(FOLDER) not in sys.path:
    sys.path.append(str(FOLDER))  # last: what the user has under such a name stays what it is


def __getattr__(name: str) -> ModuleType:
    if name not in _LAYERS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = importlib.import_module(name)
    if Path(module.__file__ or "").resolve().parent != FOLDER / name:
        raise ImportError(f"{module.__file__} hides Holonomy's own {name}")
    return module
