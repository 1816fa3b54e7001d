"""LLVM modules as machine code of this processor, kept on disk by what they are made of.

It is called at its address, from Python or from compiled functions, which it may call back.
"""

import hashlib
import threading
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache

import llvmlite
import llvmlite.binding as llvm

from sim.platform.cache import keep_checked, read_checked, turn

Engine = llvm.ExecutionEngine
"""Owns machine code."""


@cache
def _prepared() -> llvm.Target:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()


@cache
def _processor() -> tuple[str, str]:
    """(name, features)."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def loaded(
    text: str | Callable[[], str],
    *,
    optimised: bool = False,
    superword: bool = False,
    scalar: bool = False,
    known_as: str = "",
) -> llvm.ExecutionEngine:
    """A module's machine code, from the disk where it is there.

    optimised: passes over the whole of it, which take seconds; else it is selected as it stands. superword: they put
    equal operations on neighbouring numbers together (S. Larsen, S. Amarasinghe, PLDI 2000). scalar: they make no
    vectors of a loop's rounds. known_as: what the module is made of, where its text is made only when it is wanted.
    """
    machine = _machine(optimised=optimised)
    told = known_as or text
    name = _name(f"{told}; optimised" if optimised else f"{told}")
    engine = _kept(name, machine)
    if engine is not None:
        return engine
    with turn("nodes", name):
        return _kept(name, machine) or _made(
            name,
            text if isinstance(text, str) else text(),
            machine,
            optimised=optimised,
            superword=superword,
            scalar=scalar,
        )


_LARGE = 100_000
"""Characters of a module that is worth a thread."""


class Loading:
    """A module that may still be in the making, on a thread that ends with it: LLVM leaves Python its turns."""

    def __init__(self, text: str) -> None:
        self._made: Future[llvm.ExecutionEngine] = Future()
        self._thread = threading.Thread(target=self._load, args=(text,), name="compiling")
        if len(text) < _LARGE:
            self._thread.run()
        else:
            self._thread.start()

    def _load(self, text: str) -> None:
        try:
            self._made.set_result(loaded(text))
        except BaseException as error:
            self._made.set_exception(error)

    @property
    def engine(self) -> llvm.ExecutionEngine:
        """Its machine code, once it is there."""
        engine = self._made.result()
        if self._thread.is_alive():
            self._thread.join()
        return engine


def assembly(text: str) -> str:
    """A module's machine code after all passes, in the processor's words: to be read by people."""
    machine = _machine(optimised=True)
    return str(machine.emit_assembly(_optimised(llvm.parse_assembly(text), machine)))


def _machine(*, optimised: bool) -> llvm.TargetMachine:
    cpu, features = _processor()
    return _prepared().create_target_machine(
        cpu=cpu, features=features, opt=3 if optimised else 0, reloc="pic", codemodel="jitdefault"
    )


def _optimised(
    module: llvm.ModuleRef, machine: llvm.TargetMachine, *, superword: bool = False, scalar: bool = False
) -> llvm.ModuleRef:
    options = llvm.create_pipeline_tuning_options(3)
    options.slp_vectorization = superword
    options.loop_vectorization = options.loop_interleaving = not scalar
    passes = llvm.create_pass_builder(machine, options)
    passes.getModulePassManager().run(module, passes)
    return module


def _kept(name: str, machine: llvm.TargetMachine) -> llvm.ExecutionEngine | None:
    code = read_checked("nodes", name)  # damaged code would end the process
    if code is None:
        return None
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return engine


def _made(
    name: str, text: str, machine: llvm.TargetMachine, *, optimised: bool, superword: bool, scalar: bool
) -> llvm.ExecutionEngine:
    module = llvm.parse_assembly(text)
    module.verify()
    if optimised:
        _optimised(module, machine, superword=superword, scalar=scalar)
    engine = llvm.create_mcjit_compiler(module, machine)
    engine.set_object_cache(notify_func=lambda _, made: keep_checked("nodes", name, made))
    engine.finalize_object()
    return engine


def _name(text: str) -> str:
    made_of = "\0".join([text, *_processor(), llvmlite.__version__])
    return f"{hashlib.sha256(made_of.encode()).hexdigest()}.o"
