"""Python files that are run as modules by their path: generated kernels, users' vehicles."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def run_module(name: str, path: Path) -> ModuleType:
    """Run a file as the module `name`, in place of one that has the name and keeps it where that fails.

    The name is entered first: compiled code and pickles look their module up by it.
    """
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        raise
    return module
