"""Machine code of one compiled function, without what only its making needs.

Numba keeps the LLVM module of everything that it compiles; whoever calls a function takes in a copy of all that this
one is made of, and compiles it again. Here nothing stays but the machine code, and whoever calls a large function
jumps to it, as LLVM would not have inlined it. Small ones are inlined.
"""

from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

import llvmlite.binding as llvm
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.environment import lookup_environment

LARGE = 250
"""Instructions. LLVM inlines what costs up to 225 of its units, most instructions being five."""
_ANNOUNCED = "holonomy:"
"""Begins names by which code finds other code in a process."""
_ENVIRONMENT, _UNRESOLVED = "_ZN08NumbaEnv", ".numba.unresolved$"


@dataclass(frozen=True, slots=True)
class Code:
    """What a library is loaded from in another process."""

    object_code: bytes
    defines: tuple[str, ...]
    """Names that have an address in it."""
    jumps_to: tuple[str, ...]
    """Large functions, as they were announced."""
    callers_take: bytes = b""
    """Bitcode."""


class CodeLibrary(JITCodeLibrary):  # type: ignore[misc] # numba has no types
    """Numba's library of one function: made or loaded, its machine code comes from an object file in memory."""

    environments: tuple[Any, ...] = ()
    """Where numba keeps the Python objects of the functions just made."""
    _made: tuple[Any, Code] | None = None
    """What was just made: its LLVM module and its code."""
    _callers_take: bytes | None = None

    def load(self, code: Code, function: str, announced_as: str) -> None:
        """Fill an empty library. All that its code jumps to must have been announced; so is `function`."""
        self._callers_take = code.callers_take
        self._load(code)
        self._announce(function, announced_as)

    def settle(self, function: str, announced_as: str, *, inline: bool = False) -> Code | None:
        """Drop what the making needed; `function` names what callers call, `announced_as` does so in every process.

        inline: by callers, however large. None for what numba has to complete later, as functions that call
        themselves: that stays as it is.
        """
        if self._made is None:
            return None
        (module, code), self._made = self._made, None
        self._announce(function, announced_as)
        main = module.get_function(function)
        if not inline and _is_large(main):
            self._callers_take = _jump(main, announced_as)
        else:
            for f in module.functions:
                if not f.is_declaration and f.linkage == llvm.Linkage.external:
                    f.linkage = llvm.Linkage.linkonce_odr  # several callers may take it in
            self._callers_take = module.as_bitcode()
        return replace(code, callers_take=self._callers_take)

    def _get_module_for_linking(self) -> Any:
        if self._callers_take is None:
            return super()._get_module_for_linking()
        return llvm.parse_bitcode(self._callers_take)

    def _finalize_final_module(self) -> None:
        module = self._final_module
        variables, functions = list(module.global_variables), list(module.functions)
        if any(v.name.startswith(_UNRESOLVED) for v in variables):
            super()._finalize_final_module()
            return
        self._finalize_dynamic_globals()
        self._verify_declare_only_symbols()
        found = (lookup_environment(v.name) for v in variables if v.name.startswith(_ENVIRONMENT))
        self.environments = tuple(e for e in found if e is not None and e.can_cache())
        defines = tuple(v.name for v in (*variables, *functions) if not v.is_declaration)
        declared = (f.name for f in functions if f.is_declaration)
        jumps_to = tuple(n.removeprefix(_ANNOUNCED) for n in declared if n.startswith(_ANNOUNCED))
        code = Code(self._codegen._tm.emit_object(module), defines, jumps_to)
        self._made = module, code
        self._final_module = llvm.parse_assembly(str(self._codegen._create_empty_module(self.name)))
        self._load(code)

    def _announce(self, function: str, name: str) -> None:
        llvm.add_symbol(_ANNOUNCED + name, self.get_pointer_to_function(function))

    def _load(self, code: Code) -> None:
        """By an empty module for which numba finds the object code kept."""
        self.enable_object_caching()
        self._set_compiled_object(code.object_code)
        super()._finalize_final_module()
        self._codegen._engine._defined_symbols.update(code.defines)


class SuperwordLibrary(CodeLibrary):
    """The same with equal operations on neighbouring numbers put together into one on vectors, which numba leaves out
    (superword-level parallelism, S. Larsen, S. Amarasinghe, PLDI 2000)."""

    def _optimize_final_module(self) -> None:
        super()._optimize_final_module()
        passes, builder = self._codegen._module_pass_manager(slp_vectorize=True)
        passes.run(self._final_module, builder)


class Pipeline(Compiler):  # type: ignore[misc] # numba has no types
    """Numba's, into a library of ours."""

    library: type[Any] = CodeLibrary
    told = ""
    """What the names of kept code tell of it, beside what the function is made of."""

    def compile_extra(self, function: Any) -> Any:
        """The whole of it."""
        self.state.library = self.library(self.state.targetctx.codegen(), function.__qualname__)
        self.state.library.enable_object_caching()
        return super().compile_extra(function)


class SuperwordPipeline(Pipeline):
    """The same for functions that do the same to numbers that lie beside each other."""

    library = SuperwordLibrary
    told = "superword"


def _is_large(function: Any) -> bool:
    instructions = (instruction for block in function.blocks for instruction in block.instructions)
    return next(islice(instructions, LARGE, None), None) is not None


def _jump(function: Any, announced_as: str) -> bytes:
    """Bitcode of a function of the same name and type that calls what was announced."""
    types = [str(a.type) for a in function.arguments]
    taken = [
        " ".join([kind, *(attribute.decode() for attribute in a.attributes), f"%a{i}"])
        for i, (kind, a) in enumerate(zip(types, function.arguments, strict=True))
    ]
    given = ", ".join(f"{kind} %a{i}" for i, kind in enumerate(types))
    text = f"""
declare i32 @"{_ANNOUNCED}{announced_as}"({", ".join(types)})

define linkonce_odr i32 @"{function.name}"({", ".join(taken)}) alwaysinline {{
  %status = call i32 @"{_ANNOUNCED}{announced_as}"({given})
  ret i32 %status
}}
"""
    return llvm.parse_assembly(text).as_bitcode()
