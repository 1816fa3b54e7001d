"""Files that a user brings along: read within bounds, and run only where their folder is trusted.

Whatever is wrong with a file is a refusal of one line. Folders whose programs may be run are remembered by path and
content: a file in a trusted folder may change, and the user's word holds as long as the folder is the one that it was
given for, or as long as the file still says what it said when it was last run. Where both have changed, something else
has taken the place.
"""

import builtins
import hashlib
import importlib.util
import json
import math
import operator
import os
import re
import stat
import sys
import threading
import time
import traceback
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, field
from pathlib import Path
from types import ModuleType
from typing import IO, Any, BinaryIO, TypeVar, get_type_hints
from weakref import WeakKeyDictionary
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import msgspec
import numpy as np

from sim.platform.cache import user_folder
from sim.platform.deadlines import TookTooLong, ended_after
from sim.platform.errors import InputError, UntrustedFile, shortened
from sim.platform.replacing import replacing
from sim.platform.values import dataclass

MOST_TEXT_BYTES = 1 << 20
"""Of a settings file or a scene."""
WORK_S = 10.0
"""For which a user's program may work as it is read, or what is in it as it is made."""
DEEPEST = 32
"""Brackets within brackets, or tables within tables."""

T = TypeVar("T")


@contextmanager
def refusals(path: str | Path, kind: str) -> Iterator[None]:
    """Within, everything that goes wrong becomes an InputError that begins with the path. kind: "no take".

    A damaged file can make any library fail in any way, so nothing is let through but what ends the program.
    """
    source = shortened(str(path), 120)
    try:
        yield
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror or f'is {kind}'}") from None
    except KeyError as error:
        raise InputError(f"{source}: is {kind} ({error} is missing)") from None
    except RecursionError:
        raise InputError(f"{source}: is {kind} (too deeply nested)") from None
    except MemoryError:
        raise InputError(f"{source}: is {kind} (larger than the memory)") from None
    except Exception as error:
        raise InputError(f"{source}: is {kind} ({str(error) or type(error).__name__})") from None


def opened(path: str | Path) -> BinaryIO:
    """An ordinary file, links followed. Never waits, as for a pipe; InputError for what is none, OSError."""
    if not stat.S_ISREG(os.stat(path).st_mode):
        raise InputError("is no ordinary file")
    # It may have been replaced meanwhile.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    file = os.fdopen(os.open(path, flags), "rb")
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise InputError("is no ordinary file")
    return file


def read_text(path: str | Path, most_bytes: int = MOST_TEXT_BYTES) -> str:
    """A text in UTF-8, with or without a mark of its encoding. Raises InputError, OSError or ValueError."""
    with opened(path) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise InputError(f"is too large; allowed: {most_bytes} bytes")
    return data.decode("utf-8-sig")


def json_value(text: str) -> Any:
    """What a JSON text says. Raises InputError, ValueError or RecursionError.

    Refused are nesting deeper than DEEPEST and texts that cannot be shown.
    """
    value = json.loads(text)
    left = [(value, 0)]
    while left:
        item, depth = left.pop()
        if depth > DEEPEST:
            raise InputError(f"too deeply nested; allowed: {DEEPEST} levels")
        if isinstance(item, str):
            item.encode()  # halves of characters, which JSON can write, are a ValueError
        elif isinstance(item, list):
            left += [(inner, depth + 1) for inner in item]
        elif isinstance(item, dict):
            left += [(inner, depth + 1) for pair in item.items() for inner in pair]
    return value


def require_finite(value: Any) -> None:
    """Raises ValueError where a number within is none, or without bounds: JSON as Python writes it has such."""
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{value} where a finite number belongs")
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        require_finite(inner)


def as_type(value: Any, kind: type[T]) -> T:
    """Lists, dicts and numbers out of a file as a dataclass with types of its own, or the like.

    Raises ValueError with the place where they do not fit.
    """
    return msgspec.convert(value, kind)


def as_fields(values: Any, kind: type, *, but: tuple[str, ...] = ()) -> dict[str, Any]:
    """The values that are fields of a dataclass, each as its type there, `but` some. Raises ValueError as `as_type`."""
    hints = get_type_hints(kind)
    given = as_type(values, dict[str, Any])
    if unknown := given.keys() - hints.keys():
        raise ValueError(f"unknown {min(unknown)}")
    return {name: as_type(value, hints[name]) for name, value in given.items() if name not in but}


MOST_ARRAYS = 65_534
"""More would need another kind of archive."""
MOST_BYTES = 1 << 29
"""Of all arrays of a file that are read, together."""
MOST_TEXT_CHARACTERS = 1 << 22
_END = b"PK\x05\x06"
_END_SIZE = 22
_CHUNK = 1 << 20
_HEADER_SIZE = 512
_HEADER = re.compile(
    rb"\{'descr': '([<>|=][fiub]\d|[<>=]U\d{1,9})', 'fortran_order': (True|False), "
    rb"'shape': \(((?:\d{1,15}, ?)*(?:\d{1,15})?)\), \} *\n"
)


class ArraysFile:
    """Arrays by name, each read when it is asked for."""

    def __init__(self, file: BinaryIO) -> None:
        """Raises ValueError for what numpy has not written, and whatever a damaged archive raises."""
        _check_directory(file)
        self._zip = ZipFile(file)
        self._left = MOST_BYTES
        self._entries = {info.filename.removesuffix(".npy"): info for info in self._zip.infolist()}

    def array(self, name: str) -> np.ndarray:
        """An array of numbers. KeyError where there is none of the name, ValueError where it is none."""
        info = self._entries[name]
        self._check_size(info)
        with self._zip.open(info) as entry:
            dtype, shape, fortran = _header(entry, info, name)
            data = bytearray()
            while chunk := entry.read(_CHUNK):
                data += chunk
        array = np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
        return array.astype(dtype.newbyteorder("="), copy=False)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def _check_size(self, info: ZipInfo) -> None:
        if info.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
            raise ValueError(f"{info.filename} is compressed in an unknown way")
        if info.file_size > self._left:
            raise ValueError(f"{info.filename} has {info.file_size} bytes; allowed: {MOST_BYTES} in all")
        self._left -= info.file_size

    def text(self, name: str) -> str:
        """An array that holds one text."""
        array = self.array(name)
        if array.dtype.kind != "U" or array.shape != ():
            raise ValueError(f"{name} is no text")
        return str(array)


@contextmanager
def arrays_in(path: str | Path) -> Iterator[ArraysFile]:
    """The arrays in a file."""
    with opened(path) as file:
        yield ArraysFile(file)


def _check_directory(file: BinaryIO) -> None:
    """The list of what is in it, at its end, is as large as it should be: all of it is read at once."""
    size = file.seek(0, 2)
    file.seek(max(size - _END_SIZE, 0))
    end = file.read()
    if len(end) < _END_SIZE or not end.startswith(_END) or end[-2:] != b"\0\0":
        raise ValueError("not an .npz file, or not all of it")
    count, listed = int.from_bytes(end[10:12], "little"), int.from_bytes(end[12:16], "little")
    file.seek(max(size - _END_SIZE - 20, 0))
    if count > MOST_ARRAYS or listed > 200 * (count + 1) or file.read(4) == b"PK\x06\x07":
        raise ValueError(f"too many arrays; allowed: {MOST_ARRAYS}")
    file.seek(0)


def _header(entry: IO[bytes], info: ZipInfo, name: str) -> tuple[np.dtype, tuple[int, ...], bool]:
    """(dtype, shape, whether columns come first) of what follows, which is as much as the archive says."""
    start = entry.read(10)
    length = int.from_bytes(start[8:10], "little")
    if start[:8] != b"\x93NUMPY\x01\x00" or length + 10 > _HEADER_SIZE:
        raise ValueError(f"{name} is no array")
    match = _HEADER.fullmatch(entry.read(length))
    if match is None:
        raise ValueError(f"{name} is no array of numbers")
    dtype = np.dtype(match[1].decode())
    shape = tuple(int(part) for part in match[3].decode().split(",") if part.strip())
    declared = dtype.itemsize * math.prod(shape)
    most = 4 * MOST_TEXT_CHARACTERS if dtype.kind == "U" else MOST_BYTES
    if declared != info.file_size - length - 10 or declared > most or len(shape) > 3:
        raise ValueError(f"{name} declares {shape} of {dtype}, which is not what follows")
    return dtype, shape, match[2] == b"True"


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


def file_and_class(reference: str) -> tuple[str, str]:
    """Of `FILE.py:CLASS`, the class empty where none is said: colons of drives are the file's."""
    file, _, name = reference.rpartition(":")
    return (file, name) if file and name.isidentifier() else (reference.removesuffix(":"), "")


def found_file(what: str, file: str, folders: Sequence[Path]) -> Path:
    """A file that a user names, looked for in `folders`, links followed. InputError where there is none.

    what: the kind of thing that is in it, for the message. A whole path is looked for where it says.
    """
    for folder in folders:
        with suppress(OSError, ValueError, RuntimeError):  # what no system can look for is not there
            path = (folder / file).resolve()
            if path.is_file():
                return path
    looked_in = list_of(dict.fromkeys(str(f.resolve()) for f in folders))
    where = "" if Path(file).is_absolute() else f"; looked in {looked_in}"
    raise InputError(f"{what} file {file!r} is not there{where}")


def list_of(names: Iterable[str]) -> str:
    """For the end of a message."""
    return ", ".join(names) or "none"


def run_own(what: str, reference: str, path: Path, source: bytes) -> ModuleType:
    """Run a user's program, which has to be trusted; whatever it raises becomes an InputError of one line."""
    try:
        # By the whole path: many folders have a file of that name.
        name = f"holonomy_{what}_{path.stem}_{zlib.crc32(str(path).encode()):08x}"
        return ended_after(WORK_S, without_replacing, run_module, name, path, source)
    except InputError:
        raise
    except BaseException as error:
        if ends_program(error):
            raise
        line = line_in(path, error)
        at = f" (line {line})" if line else ""
        raise InputError(
            f"{what} {reference!r}: {path.name} cannot be run{at}: {error_line(error)}"
        ) from error


_SHARED = tuple((module.__name__, vars(module)) for module in (builtins, math, np, time))
"""Names that all programs of this Python share."""
_MISTAKE = Exception
_ALL, _LEN, _MAP, _IS = all, len, map, operator.is_


class ReplacesNames(Exception):
    """A program of the user's has replaced what others need."""


def without_replacing(function: Callable[..., T], *given: Any) -> T:
    """The function's answer; raises ReplacesNames where it has replaced names that are shared, which are put back.

    Nothing in here may need one of them before they are.
    """
    before = [(module, names, names.copy()) for module, names in _SHARED]
    replaced, fault = [], None
    try:
        answer = function(*given)
    except _MISTAKE as error:
        fault = error
    finally:
        for module, names, kept in before:
            if _LEN(names) >= _LEN(kept) and _ALL(_MAP(_IS, names.values(), kept.values())):
                continue  # as nearly always; a name that was put back stands last
            for name, value in kept.items():
                if names.get(name) is not value:
                    names[name] = value
                    replaced += [f"{module}.{name}"]
    if replaced:
        told = ReplacesNames(f"it replaces {list_of(replaced)}; allowed: names of its own")
        raise told.with_traceback(None if fault is None else fault.__traceback__)
    if fault is not None:
        raise fault
    return answer


_SOURCES: WeakKeyDictionary[type, bytes] = WeakKeyDictionary()


def keep_source(kind: type, source: bytes) -> None:
    """Remember what the file of a user's class said when it was run."""
    _SOURCES[kind] = source


def source_of(kind: type) -> bytes:
    """What the file of a user's class said when it was run; empty for the project's."""
    return _SOURCES.get(kind, b"")


Stamp = tuple[float, int]
"""When a file was last written, and its size."""


def stamp_of(path: Path) -> Stamp:
    """What tells whether a file has been saved since; (-inf, 0) for one that is not there."""
    try:
        status = path.stat()
    except OSError:
        return (-math.inf, 0)
    return (status.st_mtime, status.st_size)


class SavedFile:
    """A class's file and those beside it, looked at from time to time: are they to be taken up anew?

    What was saved between the class's making and the first look counts as saved.
    """

    def __init__(self, kind: type, path: Path, beside: Iterable[Path] = ()) -> None:
        """kind: the class that was made of the file at `path`."""
        self._paths = (path, *beside)
        self._seen: tuple[Stamp, ...] = self._stamps()  # before the file is read: what comes after is seen
        self._taken: tuple[Stamp, ...] = self._seen
        with suppress(OSError):
            if path.read_bytes() != source_of(kind):
                self._taken = ()

    def saved(self) -> bool:
        """Whether the files are others than those taken up last, and have stayed the same for one look."""
        before, self._seen = self._seen, self._stamps()
        return self._seen == before and self._seen != self._taken

    def take(self) -> None:
        """The files as they were last looked at are taken up, or refused."""
        self._taken = self._seen

    def _stamps(self) -> tuple[Stamp, ...]:
        return tuple(stamp_of(path) for path in self._paths)


def ends_program(error: BaseException) -> bool:
    """Whether it is the user's word from outside, which no handler is to keep: threads other than the first go on."""
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()


def line_in(path: Path, error: BaseException) -> int | None:
    """Where in a file it went wrong."""
    if isinstance(error, SyntaxError) and error.filename == str(path):
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == str(path)]
    return lines[-1] if lines else None


def error_line(error: BaseException) -> str:
    """The kind of an error and the first line of what it says."""
    if isinstance(error, TookTooLong):
        return f"it works for more than {WORK_S:g} s"
    if isinstance(error, ReplacesNames):
        return str(error)
    try:
        said = (error.msg if isinstance(error, SyntaxError) else str(error)).strip().splitlines()
    except Exception:  # an error of the user's own, which cannot say itself
        said = []
    return ": ".join([type(error).__name__, *said[:1]])


MOST_FOLDERS = 1000
"""That are remembered; the oldest word goes first."""
_FILE = "trusted.json"


@dataclass(frozen=True, slots=True)
class _Word:
    """Of the user, for one folder."""

    identity: int = 0
    """The folder's own number in its file system."""
    files: dict[str, str] = field(default_factory=dict)
    """SHA-256 of each file that was run, by name, as it was then."""


def require_trust(file: Path, word: bool | Path, say: Callable[[str], str] = str) -> None:
    """Returns where a user's program may be run; raises UntrustedFile, in the words of `say`, where it may not.

    file: links followed. word: the user's, now: True for whatever is asked for, or for this file only. It is
    remembered for the file's folder.
    """
    words = _words()
    before = words.pop(str(file.parent), None)
    try:
        identity, digest = file.parent.stat().st_ino, hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from None
    known = before is not None and (before.identity == identity or before.files.get(file.name) == digest)
    if not known and word is not True and word != file:
        raise UntrustedFile(
            say(f"{file} is a program in a folder that you have not trusted; allowed: --trust, once"), file
        )
    files = dict(before.files) if known and before is not None else {}
    now = _Word(identity, files | {file.name: digest})
    if now != before:
        words[str(file.parent)] = now
        _remember(words)


def config_folder() -> Path:
    """The user's, created on demand. Raises InputError where it cannot be made."""
    return user_folder(
        "HOLONOMY_CONFIG",
        windows="APPDATA",
        library="Application Support",
        xdg="XDG_CONFIG_HOME",
        home=".config",
    )


def _words() -> dict[str, _Word]:
    """By folder, the oldest first; none where the file is damaged."""
    with suppress(InputError):
        path = config_folder() / _FILE
        if path.exists():
            with refusals(path, "no list of trusted folders"):
                return as_type(json_value(read_text(path)), dict[str, _Word])
    return {}


def _remember(words: dict[str, _Word]) -> None:
    """A folder that cannot be written costs only the memory."""
    kept = {folder: asdict(words[folder]) for folder in list(words)[-MOST_FOLDERS:]}
    with suppress(InputError, OSError), replacing(config_folder() / _FILE) as draft:
        draft.write_text(json.dumps(kept, indent=1), encoding="utf-8")
