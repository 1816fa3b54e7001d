"""Functions as machine code that is kept on disk by what it is made of.

Numba's own cache lies beside the sources, looks only at the date of the function's own file, believes damaged
files, and ends the program where it cannot write. Here a file is named by a digest of the function, of all that it
calls and of the constants that it uses; it carries a checksum, and where there is no cache every start compiles.
"""

import hashlib
import io
import pickle
import platform
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from types import FunctionType
from typing import Any
from weakref import WeakKeyDictionary, ref

import llvmlite
import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment, _rebuild_env
from numba.core.runtime import rtsys
from numba.core.serialize import dumps
from numba.core.typeinfer import register_dispatcher
from numba.extending import intrinsic, typeof_impl

from sim.code_library import CodeLibrary, Pipeline, SuperwordPipeline
from sim.native.digest import digest
from sim.native.function import Native
from sim.platform.cache import keep_checked, read_checked
from sim.platform.file_lock import turn

_VERSIONS = (
    f"3 {sys.version} {platform.machine()} {numba.__version__} {np.__version__} {llvmlite.__version__}"
)


def compiled(signature: Any = None, **options: Any) -> Any:
    """Decorator: `numba.njit(signature, nogil=True, **options)`, kept in the project's cache. Also without brackets.

    With a signature the function is loaded or compiled at once, else when it is first called.
    """
    if isinstance(signature, FunctionType):
        return compiled(**options)(signature)

    def decorate(function: FunctionType) -> Any:
        ours: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, "pipeline_class": Pipeline}
        dispatcher = jitted(function, **{**ours, **options})
        dispatcher._cache = _Kept(dispatcher)
        dispatcher.compile = partial(_compile_in_turn, ref(dispatcher))
        if signature is not None:
            with register_dispatcher(dispatcher):
                dispatcher.compile(signature)
                dispatcher.disable_compile()
        return dispatcher

    return decorate


allocating_nothing = partial(compiled, _nrt=False)
"""Decorator: `compiled` for functions that make no array. Numba then counts no references to the arrays that it is
given, which costs short functions more than their work."""

inline = partial(allocating_nothing, forceinline=True)
"""Decorator: for short functions, or for those with one caller, whose call would cost more than their work: arrays are
handed over as seven numbers each."""

superword = partial(allocating_nothing, pipeline_class=SuperwordPipeline)
"""Decorator: the same for functions that do the same to numbers that lie beside each other: those go together."""


def jitted(function: Callable[..., Any], **options: Any) -> Any:
    """`numba.njit(**options)(function)`, whatever `NUMBA_DISABLE_JIT` says: that lets one look into functions of one's
    own while they run as Python, which compiled functions on pointers and records cannot do."""
    config: Any = numba.config
    disabled, config.DISABLE_JIT = config.DISABLE_JIT, 0
    try:
        return numba.njit(**options)(function)
    finally:
        config.DISABLE_JIT = disabled


def _compile_in_turn(dispatcher: ref[Any], signature: Any) -> Any:
    """In place of numba's method: what the cache lacks is compiled by one process at a time."""
    own = dispatcher()
    assert own is not None, "whose method this is"
    with global_compiler_lock, own._cache.turns():
        return type(own).compile(own, signature)


class _Kept(_Cache):  # type: ignore[misc] # numba has no types
    """One function's machine code, as numba asks for it."""

    def __init__(self, dispatcher: Any) -> None:
        self._dispatcher: ref[Any] = ref(dispatcher)  # which owns this
        function = dispatcher.py_func
        self._title = f"{function.__module__}.{function.__qualname__}".replace("<locals>", "")[-80:]
        self._turns = ExitStack()

    @contextmanager
    def turns(self) -> Iterator[None]:
        """Give back at the end what loading in vain has taken meanwhile."""
        outer, self._turns = self._turns, ExitStack()
        try:
            with self._turns:
                yield
        finally:
            self._turns = outer

    @property
    def cache_path(self) -> None:
        """Numba names it in statistics only."""

    def load_overload(self, signature: Any, target: Any) -> Any:
        """The machine code for the signature; None where it has to be made, and it is this process's turn.

        Numba would take in all that it can compile first, which only has to be there where something is compiled.
        """
        rtsys.initialize(target)
        name = self._name(signature, target.codegen())
        found = _loaded(name, target)
        if found is None:
            self._turns.enter_context(turn("kernels", name))
            found = _loaded(name, target)
        return found

    def save_overload(self, signature: Any, made: Any) -> None:
        """Keep it, unless it holds addresses of this process; and drop what its making needed."""
        name = self._name(signature, made.codegen)
        dispatcher = self._dispatcher()
        assert dispatcher is not None, "whose function was just made"
        inline = bool(dispatcher.targetoptions.get("forceinline"))
        code = made.library.settle(made.fndesc.llvm_func_name, name, inline=inline)
        if code is None:
            return
        made.fndesc.typemap = made.fndesc.calltypes = None
        lasting = made._replace(type_annotation="", metadata=None, referenced_envs=made.library.environments)
        dispatcher.overloads[tuple(made.signature.args)] = _present[name] = lasting
        if not (made.lifted or made.library.has_dynamic_globals):
            keep_checked("kernels", name, dumps((code, {part: getattr(lasting, part) for part in _KEPT})))

    def enable(self) -> None:
        """It always is."""

    def disable(self) -> None:
        """It never is."""

    def flush(self) -> None:
        """What is stale has another name."""

    def _name(self, signature: Any, codegen: Any) -> str:
        about = _VERSIONS, codegen.magic_tuple(), signature, digest(self._dispatcher())
        return f"{self._title}-{hashlib.sha256(repr(about).encode()).hexdigest()[:32]}.nbc"


_KEPT = ("fndesc", "environment", "signature", "objectmode", "lifted", "reload_init", "referenced_envs")
"""What numba has to know of a function beside its code."""
_present: dict[str, CompileResult] = {}
"""What has machine code in this process, by its file's name."""


def _loaded(name: str, target: Any) -> CompileResult | None:
    """Kept machine code, with all that it jumps to; None where it has to be made."""
    content = read_checked("kernels", name)
    if content is None:
        return None
    try:
        code, parts = _Reader(io.BytesIO(content)).load()
        if not all(other in _present or _loaded(other, target) for other in code.jumps_to):
            return None
        for begin in parts["reload_init"]:
            begin()
        library = CodeLibrary(target.codegen(), name)
        library.load(code, parts["fndesc"].llvm_func_name, name)
        entry_point = target.get_executable(library, parts["fndesc"], parts["environment"])
    except Exception:  # whatever it is, it can be made anew
        return None
    for environment in parts["referenced_envs"]:
        library.codegen.set_env(environment.env_name, environment)
    found = {**dict.fromkeys(CompileResult._fields), **parts, "type_annotation": ""}
    found |= {"target_context": target, "typing_context": target.typing_context}
    _present[name] = CompileResult(**found | {"library": library, "entry_point": entry_point})
    return _present[name]


class _Reader(pickle.Unpickler):
    """Takes kept machine code up without the modules of numba that it came from: of a sum alone it would load SciPy."""

    def find_class(self, module: str, name: str) -> Any:
        """As pickles name what they hold."""
        if (module, name) == (_rebuild_env.__module__, _rebuild_env.__name__):
            return _environment
        return super().find_class(module, name)


def _environment(module: str, constants: list[Any], name: str) -> Environment:
    """As numba's own, whose module only code in object mode looks into: there is none of that here."""
    found = Environment._memo.get(name)
    if found is not None:
        return found
    found = Environment(vars(sys.modules[module]) if module in sys.modules else {})
    found.consts[:] = constants
    found.env_name = name
    Environment._memo[name] = found
    return found


_numba: WeakKeyDictionary[Native, Any] = WeakKeyDictionary()


@typeof_impl.register(Native)
def _(function: Native, context: Any) -> Any:
    """Functions that are machine code elsewhere are numba's where its functions call them."""
    if function not in _numba:
        told = {name: x for name, x in function.options.items() if name != "superword"}
        options: dict[str, Any] = {"error_model": "numpy", **told, "fastmath": set(told.get("fastmath", ()))}
        _numba[function] = allocating_nothing(**options)(function.py_func)
    return types.Dispatcher(_numba[function])


@intrinsic
def _called(typing_context: Any, address: Any, table: Any, count: Any) -> Any:
    def generate(context: Any, builder: ir.IRBuilder, signature: Any, args: Any) -> ir.Value:
        number = ir.IntType(64)
        code = ir.FunctionType(number, [number, number])
        return builder.call(builder.inttoptr(args[0], code.as_pointer()), args[1:])

    return types.int64(types.int64, types.int64, types.int64), generate


called: Any = _called
"""In numba's functions: what the code at an address returns for the address of a table and a whole number."""
