"""What a function is made of, as a digest: its code and constants, and those of all functions that it calls."""

import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

_OUTSIDE = ("builtins", "llvmlite", "math", "numpy", "scipy")
"""Packages that no name but their version has to tell of."""


def digest(function: Any) -> str:
    """Of a function and of everything that it uses, directly or through others."""
    parts: dict[str, None] = {}
    waiting, seen = [function], {function}
    while waiting:
        own, used = _parts(waiting.pop())
        parts[own] = None
        waiting += [other for other in used if other not in seen]
        seen.update(used)
    return hashlib.sha256("".join(sorted(parts)).encode()).hexdigest()


_known: WeakKeyDictionary[Any, tuple[str, tuple[Any, ...]]] = WeakKeyDictionary()


def _parts(function: Any) -> tuple[str, tuple[Any, ...]]:
    """(digest of the function alone with its constants, functions that it uses)."""
    if function not in _known:
        used: list[Any] = []
        plain = plain_function(function)
        options = getattr(function, "options", {})
        told = repr(sorted((key, _stable_repr(value)) for key, value in options.items()))
        told += _code(plain.__code__) + "".join(_value(value, used) for value in _values(plain))
        _known[function] = hashlib.sha256(told.encode()).hexdigest(), tuple(used)
    return _known[function]


def plain_function(function: Any) -> FunctionType:
    """The function of Python that a compiled one is made of."""
    plain: FunctionType = getattr(function, "py_func", function)
    return plain


def _code(code: CodeType) -> str:
    """What a function does, wherever its text stands."""
    constants = [_code(c) if isinstance(c, CodeType) else _stable_repr(c) for c in code.co_consts]
    names = code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars
    return repr((code.co_code, names, constants))


def _stable_repr(value: Any) -> str:
    """The same in every process: the order of a set is not."""
    return repr(sorted(map(repr, value)) if isinstance(value, set | frozenset) else value)


def _values(function: FunctionType) -> Iterator[Any]:
    """Defaults, captured variables, and the globals that are named in the function or within it."""
    yield from function.__defaults__ or ()
    for cell in function.__closure__ or ():
        yield cell.cell_contents
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            yield function.__globals__[name]


def _names(code: CodeType) -> set[str]:
    inner = (_names(c) for c in code.co_consts if isinstance(c, CodeType))
    return set(code.co_names).union(*inner)


def _value(value: Any, used: list[Any]) -> str:
    """Text for a constant; functions of the project are put among the used."""
    if value is None or isinstance(value, bool | int | float | complex | str | bytes | set | frozenset):
        return _stable_repr(value)
    if isinstance(value, np.ndarray | np.generic):
        return f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    if isinstance(value, tuple | list):
        return f"({', '.join(_value(part, used) for part in value)})"
    if isinstance(value, ModuleType):
        return _source(value)
    home = getattr(value, "__module__", None) or type(value).__module__
    name = f"{home} {type(value).__qualname__} {getattr(value, '__qualname__', '')}"
    if home.split(".")[0] in _OUTSIDE:
        return name
    if isinstance(plain_function(value), FunctionType):
        used.append(value)
        return ""
    return name + _source(sys.modules[home])


@cache
def _source(module: ModuleType) -> str:
    file = getattr(module, "__file__", None)
    if module.__name__.split(".")[0] in _OUTSIDE or file is None:
        return module.__name__
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
