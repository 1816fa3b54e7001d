"""LLVM modules as machine code of this processor, kept on disk by what they are made of."""

import contextlib
import hashlib
from functools import cache
from pathlib import Path

import llvmlite
import llvmlite.binding as llvm

from sim.cache import cache_dir
from sim.errors import InputError
from sim.replacing import replacing

_DIGEST = 32
_KEPT = 4000
"""Files, of which the oldest make room; some ten megabytes a hundred plans' shapes."""


@cache
def _prepared() -> llvm.Target:
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm.Target.from_default_triple()


@cache
def _processor() -> tuple[str, str]:
    """(name, features)."""
    return llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


def loaded(text: str) -> llvm.ExecutionEngine:
    """A module's machine code, from the disk where it is there. It is selected without optimising."""
    cpu, features = _processor()
    machine = _prepared().create_target_machine(
        cpu=cpu, features=features, opt=0, reloc="pic", codemodel="jitdefault"
    )
    place = _place(text)
    code = _read(place) if place else None
    if code is not None:
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        engine.finalize_object()
        return engine
    module = llvm.parse_assembly(text)
    module.verify()
    engine = llvm.create_mcjit_compiler(module, machine)
    if place:
        engine.set_object_cache(notify_func=lambda _, made: _write(place, made))
    engine.finalize_object()
    return engine


def _place(text: str) -> Path | None:
    """Where the code of a module is kept; None where there is no folder for it."""
    made_of = "\0".join([text, *_processor(), llvmlite.__version__])
    try:
        return cache_dir("nodes") / f"{hashlib.sha256(made_of.encode()).hexdigest()}.o"
    except InputError:
        return None


def _read(place: Path) -> bytes | None:
    """Code as it was written; damaged code would end the process."""
    try:
        kept = place.read_bytes()
    except OSError:
        return None
    digest, code = kept[:_DIGEST], kept[_DIGEST:]
    return code if hashlib.sha256(code).digest() == digest else None


def _write(place: Path, code: bytes) -> None:
    with contextlib.suppress(OSError, InputError):
        with replacing(place) as draft:
            draft.write_bytes(hashlib.sha256(code).digest() + code)
        files = list(place.parent.glob("*.o"))
        if len(files) > _KEPT:
            for old in sorted(files, key=lambda f: f.stat().st_mtime)[: _KEPT // 4]:
                old.unlink(missing_ok=True)
