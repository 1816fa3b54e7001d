"""Numba's pipeline for functions of thousands of instructions on plain numbers, as generated kernels are."""

import operator
from typing import Any

from numba import types
from numba.core.compiler import Compiler

from sim.code_library import CodeLibrary, PartLibrary, SuperwordLibrary

_OPERATORS = {id(getattr(operator, name)) for name in operator.__all__}
_PLAIN = (types.Number, types.Boolean, types.Array)


class Pipeline(Compiler):  # type: ignore[misc] # numba has no types
    """Numba's, into a library of ours, with operators whose types are found once."""

    library: type[Any] = CodeLibrary
    told = ""
    """What the names of kept code tell of it, beside what the function is made of."""

    def __init__(self, typing: Any, target: Any, *more: Any) -> None:
        super().__init__(typing, target, *more)
        self.state.typingctx = _Typing(self.state.typingctx)
        self.state.targetctx = self.state.targetctx.subtarget(typing_context=self.state.typingctx)

    def compile_extra(self, function: Any) -> Any:
        """The whole of it."""
        self.state.library = self.library(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class SuperwordPipeline(Pipeline):
    """The same for functions that do the same to numbers that lie beside each other."""

    library = SuperwordLibrary
    told = "superword"


class PartPipeline(Pipeline):
    """The same for functions that only compiled functions call."""

    library = PartLibrary

    def __init__(self, typing: Any, target: Any, *more: Any) -> None:
        super().__init__(typing, target, *more)
        self.state.targetctx.get_executable = _none_but_a_key


def _none_but_a_key(library: Any, fndesc: Any, env: Any) -> Any:
    """What numba finds a compiled function by, where there is nothing to call: a builtin of its own, which raises."""
    return set().pop


class _Operator(types.Function):  # type: ignore[misc] # numba has no types
    """Remembers what it makes of plain numbers and arrays. Numba asks all that may ever be multiplied, twice for each
    product of a function."""

    def __init__(self, template: Any) -> None:
        super().__init__(template)
        self._found: dict[tuple[Any, ...], Any] = {}

    def get_call_type(self, context: Any, args: Any, kws: Any) -> Any:
        """The signature."""
        if kws or not all(isinstance(a, _PLAIN) for a in args):
            return super().get_call_type(context, args, kws)
        if args not in self._found:
            self._found[args] = super().get_call_type(context, args, kws)
        return self._found[args]


_operators: dict[Any, _Operator] = {}


class _Typing:
    """Numba's typing context with these operators."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __getattr__(self, name: str) -> Any:
        return getattr(self._context, name)

    def resolve_value_type(self, value: Any) -> Any:
        """The type of a constant."""
        if id(value) not in _OPERATORS:
            return self._context.resolve_value_type(value)
        found = self._context._get_global_type(value)
        if found not in _operators:
            _operators[found] = _Operator(found.templates)
        return _operators[found]
