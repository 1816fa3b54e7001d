"""Python files that are run as modules by their path: generated kernels, users' vehicles."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def run_module(name: str, path: Path, source: bytes | None = None) -> ModuleType:
    """Run a file as the module `name`, in place of one that has the name and keeps it where that fails.

    source: what stands in the file, where it may have changed since it was last run; without it, compiled code that
    Python has kept of it will do.

    The name is entered first: compiled code and pickles look their module up by it.
    """
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module
    try:
        if source is None:
            spec.loader.exec_module(module)
        else:
            exec(compile(source, str(path), "exec"), module.__dict__)
    except BaseException:
        if before is None:
            del sys.modules[name]
        else:
            sys.modules[name] = before
        raise
    return module
