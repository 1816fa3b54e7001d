"""Numba's settings: none from a file in the current folder.

Numba obeys a `.numba_config.yaml` in the folder where a program happens to be started, when it is imported and whenever
it compiles. `disable_jit: 1` there is enough to stop every kernel, so such a file is not read here. What the
environment says (`NUMBA_...`) counts as ever.
"""

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import ModuleType
from typing import Any

_CONFIG = "numba.core.config"
_MISSING = object()


class _ConfigFinder(MetaPathFinder):
    """Has numba's settings loaded without their file."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname != _CONFIG:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and isinstance(spec.loader, SourceFileLoader):
            spec.loader = _ConfigLoader(spec.loader.name, spec.loader.path)
        return spec


class _ConfigLoader(SourceFileLoader):
    def exec_module(self, module: ModuleType) -> None:
        """As ever, but nothing there can read YAML, and afterwards no file has the name that is looked for."""
        with _without("yaml"), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it tells that it cannot
            super().exec_module(module)
        module.__dict__["_config_fname"] = ""


@contextmanager
def _without(name: str) -> Iterator[None]:
    """Within, a module that is not loaded yet cannot be imported, nor one that is be imported again."""
    modules: dict[str, Any] = sys.modules
    before = modules.get(name, _MISSING)
    modules[name] = None
    try:
        yield
    finally:
        if before is _MISSING:
            del modules[name]
        else:
            modules[name] = before


def read_no_config_file() -> None:
    """For the rest of the process; to be called before numba is imported, else numba has read it already."""
    if _CONFIG not in sys.modules:
        sys.meta_path.insert(0, _ConfigFinder())


read_no_config_file()  # whoever imports this may import numba next
