"""Functions as machine code, kept on disk by what they are made of.

A function is translated for the types that it is called with (translator.py), with all that it calls in one module,
which LLVM optimises as a whole. Nothing is translated where its machine code is on the disk already.
"""

import hashlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from threading import Lock
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from sim.native.types import Type, read_type, type_of
from sim.platform.progress import report_compilation

if TYPE_CHECKING:
    from sim.native.objects import Engine


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


class Native:
    """A function that is machine code to whoever calls it: Python, or other such functions, which take it in."""

    def __init__(self, function: FunctionType, options: dict[str, Any], signature: str | None = None) -> None:
        self.py_func, self.options = function, options
        self.__name__, self.__qualname__ = function.__name__, function.__qualname__
        self.__module__, self.__doc__ = function.__module__, function.__doc__
        self._takes: Sequence[Type] | None = None
        if signature is not None:
            self._takes = read_type(signature).takes
        self._count, self._defaults = function.__code__.co_argcount, function.__defaults__ or ()
        self._entries: dict[Any, Callable[..., Any]] = {}
        self._owned: list[object] = []
        self._making = Lock()
        self._latest: Callable[..., Any] = self._first

    def __call__(self, *given: Any) -> Any:
        missing = self._count - len(given)
        if 0 < missing <= len(self._defaults):
            given += self._defaults[-missing:]
        try:
            return self._latest(*given)
        except TypeError:
            return self._first(*given)

    def _first(self, *given: Any) -> Any:
        """Of a call with other types than the one before."""
        self._latest = self._entry(self._takes_of(given))
        return self._latest(*given)

    @property
    def names(self) -> tuple[str, ...]:
        """Of its arguments."""
        code = self.py_func.__code__
        return code.co_varnames[: code.co_argcount]

    def prepare(self, *takes: Type) -> None:
        """Have the machine code for such arguments, or for those of the signature."""
        self._entry(tuple(takes or self._takes or ()))

    def _takes_of(self, given: Sequence[Any]) -> Sequence[Type]:
        if self._takes is not None:
            return self._takes
        told = self.py_func.__annotations__
        if len(given) != len(self.names):
            raise TypeError(f"{self.__qualname__} takes {len(self.names)} arguments, not {len(given)}")
        return tuple(type_of(x, told.get(name)) for name, x in zip(self.names, given, strict=True))

    def _entry(self, takes: Sequence[Type]) -> Callable[..., Any]:
        with self._making:  # of threads that call it at once, one makes it
            if takes not in self._entries:
                self._enter(takes, _engine([(self, takes)], "Python", _text), 0)
            return self._entries[takes]

    def _enter(self, takes: Sequence[Type], engine: "Engine", number: int) -> None:
        from sim.native.entry import python_function

        self._entries[takes], owned = python_function(engine, self.__name__, number)
        self._owned.append(owned)

    def _is_made(self, takes: Sequence[Type]) -> bool:
        return takes in self._entries


Called = tuple[Native, Sequence[Type]]


def prepare_together(*calls: tuple[Native, Sequence[Any]]) -> None:
    """Have the machine code of functions for such arguments in one module: what they share is compiled once."""
    called = [(function, function._takes_of(given)) for function, given in calls]
    if all(function._is_made(takes) for function, takes in called):
        return
    engine = _engine(called, "Python", _text)
    for number, (function, takes) in enumerate(called):
        with function._making:
            function._enter(takes, engine, number)


def _engine(called: Sequence[Called], caller: str, text: Callable[[Sequence[Called]], str]) -> "Engine":
    """Machine code of functions' text for that caller, which is made, and reported, only where the disk has none."""
    from sim.native.objects import loaded

    told = " ".join(f"{digest(function)} {takes}" for function, takes in called)
    made_of = f"{versions()} {told} {caller}"

    def reported() -> str:
        for function, _ in called:
            report_compilation(function.__name__)
        return text(called)

    known_as = hashlib.sha256(made_of.encode()).hexdigest()
    superword = any(function.options.get("superword") for function, _ in called)
    scalar = all(function.options.get("scalar") for function, _ in called)
    return loaded(reported, optimised=True, superword=superword, scalar=scalar, known_as=known_as)


def _text(called: Sequence[Called]) -> str:
    """With what Python calls them by."""
    from sim.native.entry import entries_text
    from sim.native.translator import Program
    from sim.native.values import NotTranslated

    program, entries = Program(), []
    for function, takes in called:
        try:
            inner, returns = program.function(function, takes)
        except NotTranslated as error:
            raise NotTranslated(f"{function.__module__}.{function.__qualname__}, {error}") from None
        entries.append((inner, function.names, takes, returns))
    return f"{program.text}\n{entries_text(entries)}"


@cache
def versions() -> str:
    """Of all that makes machine code of functions."""
    import platform

    import llvmlite

    sources = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    own = hashlib.sha256(sources).hexdigest()
    return f"{own} {sys.version} {platform.machine()} {np.__version__} {llvmlite.__version__}"


def native(signature: Any = None, **options: Any) -> Any:
    """Decorator: machine code of the function. Also without brackets.

    signature: of what Python calls, as `void(float64[:, ::1], int64)`; without one it is made for the types of the
    arguments. forceinline: whoever calls it takes it in, however large. noinline: nobody does, where many copies would
    be compiled for longer than calls take. fastmath: LLVM's flags of arithmetic.
    superword: equal operations on numbers that lie beside each other go together, in what Python calls. scalar: loops
    are short, and no vectors are made of their rounds, where all that Python calls of a module is so.
    """
    if isinstance(signature, FunctionType):
        return Native(signature, options)
    return lambda function: Native(function, options, signature)


def exported(functions: Mapping[str, Called]) -> str:
    """LLVM's text of functions of numbers as C calls them, by their names there."""
    from sim.native.translator import Program

    program, entries = Program(), []
    for name, (function, takes) in functions.items():
        inner, returns = program.function(function, takes)
        (result,) = returns.parts
        given = ", ".join(f"{kind.parts[0]} %a{k}" for k, kind in enumerate(takes))
        call = f'  %x = call {result} @"{inner}"({given})'
        entries.append(f"define {result} @{name}({given}) {{\n{call}\n  ret {result} %x\n}}")
    return "\n".join([program.text, *entries])


def compiled_for_c(functions: Mapping[str, Called]) -> "Engine":
    """What owns the machine code of functions of numbers, which C calls by their names here."""
    names = tuple(functions)

    def text(called: Sequence[Called]) -> str:
        return exported(dict(zip(names, called, strict=True)))

    return _engine(list(functions.values()), f"C {names}", text)


inline = partial(native, forceinline=True)
"""Decorator: for short functions, or for those with one caller, whose call would cost more than their work."""
fastmath = partial(native, fastmath=("arcp", "contract"))
"""Decorator: sums of products may be rounded once, and several divisions by one number may become products with its
inverse."""
unordered = partial(native, fastmath=("fast",))
"""Decorator: sums may be taken in any order, several at once; for numbers that are finite."""
inline_fastmath = partial(fastmath, forceinline=True)
"""Decorator: the same for what is `inline`."""
