"""The user's folders, where each platform has them, and turns at what is kept in them.

Processes take turns at making what the cache lacks: one makes it, the others wait and find it there. The turns are
locks on bytes of one file, which the system gives back when a process ends, however it does. Where there are none
(another system, a cache that cannot be written) everybody makes his own. Generated arrays are named by what made them,
and written whole or not at all.
"""

import hashlib
import logging
import os
import stat
import struct
import sys
import threading
import time
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cache, partial
from io import FileIO
from pathlib import Path

import numpy as np
from numpy.lib.format import read_array_header_1_0, read_array_header_2_0, read_magic

from sim.platform.errors import InputError
from sim.platform.replacing import replacing


def user_place(variable: str, *, windows: str, library: str, xdg: str, home: str) -> Path | None:
    """Where the project's own files of one purpose belong; nothing is created. None where no home is known.

    variable: of the environment, overrides the platform's place. windows, xdg: variables that name that place;
    library: its name under macOS; home: what `xdg` defaults to. Empty variables count as missing ones, and so do
    relative ones of the platform, as its conventions have it.
    """
    override = os.environ.get(variable)
    if override:
        return Path(os.path.abspath(os.path.expanduser(override)))
    named = os.environ.get(windows if sys.platform == "win32" else xdg, "")
    if sys.platform != "darwin" and os.path.isabs(named):
        return Path(named) / "holonomy"
    own = _home()
    if own is None:
        return None
    if sys.platform == "win32":
        return own / "holonomy"
    return own / (f"Library/{library}" if sys.platform == "darwin" else home) / "holonomy"


def _home() -> Path | None:
    """Of the user; None where neither the environment nor the system knows one."""
    named = os.environ.get("HOME", "")
    if not named and sys.platform == "win32":
        named = os.path.expanduser("~")
    elif not named:
        import pwd

        with suppress(KeyError):
            named = pwd.getpwuid(os.getuid()).pw_dir
    return Path(named) if os.path.isabs(named) else None


def user_folder(variable: str, *, windows: str, library: str, xdg: str, home: str) -> Path:
    """As `user_place`, created on demand. Raises InputError where that cannot be."""
    folder = user_place(variable, windows=windows, library=library, xdg=xdg, home=home)
    if folder is None:
        raise InputError(f"no home folder is known; {variable} may name one that can be written")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        why = f"the folder {folder} cannot be made ({error.strerror})"
        raise InputError(f"{why}; {variable} may name one that can be written") from None
    return folder


MOST_BYTES = 1_500_000_000
"""Of one kind; what was not used for the longest time makes room."""
_DIGEST = 32
_DAY_S = 86_400.0
_log = logging.getLogger("holonomy")


def cache_dir(kind: str) -> Path | None:
    """Folder for one kind of generated file, created on demand; None, with one warning, where there can be none.

    `$HOLONOMY_CACHE` overrides the platform's cache folder.
    """
    return _usable(_place(), kind)


def found(kind: str, name: str) -> Path | None:
    """A file that was kept, where it is there and nobody else may have written it."""
    folder = cache_dir(kind)
    if folder is None:
        return None
    path = folder / name
    try:
        status = path.stat()
    except OSError:
        return None
    if not stat.S_ISREG(status.st_mode) or _open_to_others(status):
        return None
    if time.time() - status.st_mtime > _DAY_S:
        with suppress(OSError):
            os.utime(path)  # is still wanted
    return path


def keep(kind: str, name: str, write: Callable[[Path], object]) -> None:
    """Have a file for later: `write` is given the path to write to. A failure costs one warning."""
    folder = cache_dir(kind)
    if folder is None:
        return
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)  # may have been deleted meanwhile
        with replacing(folder / name, lasting=False) as draft:
            draft.chmod(0o600)
            write(draft)
        _drop_oldest(folder)
    except OSError as error:
        _warn(f"the cache {folder} cannot be written ({error.strerror or error}); starts take longer")


def read_checked(kind: str, name: str) -> bytes | None:
    """What `keep_checked` was given, to the bit; None where it is not there or damaged."""
    path = found(kind, name)
    try:
        kept = path.read_bytes() if path else b""
    except OSError:
        return None
    digest, content = kept[:_DIGEST], kept[_DIGEST:]
    return content if hashlib.sha256(content).digest() == digest else None


def keep_checked(kind: str, name: str, content: bytes) -> None:
    """As `keep`, with a checksum that `read_checked` holds it to."""
    keep(kind, name, lambda path: path.write_bytes(hashlib.sha256(content).digest() + content))


def can_keep(kind: str) -> bool:
    """Whether another process can leave something here for this one. Tried out once."""
    folder = cache_dir(kind)
    return folder is not None and _takes_files(folder)


@cache
def _takes_files(folder: Path) -> bool:
    try:
        with replacing(folder / "trial", lasting=False) as draft:
            draft.write_bytes(bytes(1 << 16))
        (folder / "trial").unlink(missing_ok=True)  # another process may try, too
    except OSError as error:
        _warn(f"the cache {folder} cannot be written ({error.strerror or error}); starts take longer")
        return False
    return True


def _place() -> Path | None:
    return user_place(
        "HOLONOMY_CACHE", windows="LOCALAPPDATA", library="Caches", xdg="XDG_CACHE_HOME", home=".cache"
    )


@cache
def _usable(root: Path | None, kind: str) -> Path | None:
    """Looked at once a process: a cache that comes and goes helps nobody."""
    remedy = "HOLONOMY_CACHE may name a folder; starts take longer"
    if root is None:
        _warn(f"there is no home for a cache; {remedy}")
        return None
    folder = root / kind
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        for path in (root, folder):
            status = path.stat()
            if _open_to_others(status) and not (path == root and status.st_mode & stat.S_ISVTX):
                _warn(
                    f"the cache {path} is not used: another user may write it (owner {status.st_uid}, "
                    f"mode {stat.S_IMODE(status.st_mode):o}); {remedy}"
                )
                return None
    except OSError as error:
        _warn(f"the cache {folder} cannot be made ({error.strerror or error}); {remedy}")
        return None
    return folder


def _open_to_others(status: os.stat_result) -> bool:
    """Whether somebody but this user and root may write it, as far as the system tells."""
    if os.name != "posix":
        return False
    return status.st_uid not in (0, os.geteuid()) or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


@cache
def _drop_oldest(folder: Path) -> None:
    """Once a process that writes."""
    files = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in folder.iterdir())
    size = sum(size for _, size, _ in files)
    for _, own, path in files:
        if size <= MOST_BYTES:
            return
        with suppress(OSError):
            path.unlink()
            size -= own


_warned = False


def _warn(message: str) -> None:
    """Once a process: what does not work here seldom fails once."""
    global _warned
    if not _warned:
        _warned = True
        _log.warning("holonomy: %s", message)


try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

LONGEST_S = 60.0
"""Whoever has waited for so long makes it himself: the other may have been stopped, or stand back for everything."""
_FIRST_LOOK_S, _LAST_LOOK_S = 0.002, 0.05


@contextmanager
def turn(kind: str, name: str) -> Iterator[None]:
    """Alone, among all processes of this cache, with what `sim.platform.cache.keep(kind, name, ...)` keeps.

    Whoever enters looks in the cache first: he may have waited for it. Turns may be nested where what is made never
    needs itself. Threads of one process do not wait for each other.
    """
    folder = cache_dir("turns")
    if fcntl is None or folder is None or not can_keep(kind):
        yield
        return
    place = folder / "taken"
    byte = int.from_bytes(hashlib.sha256(f"{kind}/{name}".encode()).digest()[:7])
    taken = _taken(place, byte)
    try:
        yield
    finally:
        if taken:
            _give_back(place, byte)


class _File:
    """Open while this process has turns: closing it gives all of them back."""

    def __init__(self, place: Path) -> None:
        self.number = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        self.turns: Counter[int] = Counter()
        """How many threads have which byte."""


_lock = threading.Lock()
held_files: dict[Path, _File] = {}
"""Of which this process has turns now."""


def _taken(place: Path, byte: int) -> bool:
    end_s, look_s = time.monotonic() + LONGEST_S, _FIRST_LOOK_S
    while True:
        with _lock:
            try:
                if _tried(place, byte):
                    return True
            except OSError:
                return False
        if time.monotonic() >= end_s:
            return False
        time.sleep(look_s)
        look_s = min(1.5 * look_s, _LAST_LOOK_S)


def _tried(place: Path, byte: int) -> bool:
    file = held_files.get(place) or _File(place)
    try:
        if byte not in file.turns:
            fcntl.lockf(file.number, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, byte)
    except (BlockingIOError, PermissionError):  # which of the two, the system chooses
        return False
    else:
        file.turns[byte] += 1
        held_files[place] = file
        return True
    finally:
        if not file.turns:
            os.close(file.number)


def _give_back(place: Path, byte: int) -> None:
    with _lock:
        file = held_files[place]
        file.turns[byte] -= 1
        if file.turns[byte]:
            return
        del file.turns[byte]
        if file.turns:
            with suppress(OSError):
                fcntl.lockf(file.number, fcntl.LOCK_UN, 1, byte)
        else:
            del held_files[place]
            os.close(file.number)


Arrays = dict[str, np.ndarray]


def source_digest(*places: str | Path, others: str = "") -> str:
    """Short digest of source files, and of all that stand in folders: a cache named by it can never outlive the code
    that filled it. others: what else it hangs on."""
    digest = hashlib.sha256(others.encode())
    files = (_sources_in(each) if os.path.isdir(each) else [str(each)] for each in places)
    for path in sorted(file for found in files for file in found):
        with open(path, "rb", buffering=0) as file:
            digest.update(file.read())
    return digest.hexdigest()[:12]


def _sources_in(folder: str | Path) -> Iterator[str]:
    for entry in os.scandir(folder):
        if entry.is_dir():
            yield from _sources_in(entry.path)
        elif entry.name.endswith(".py"):
            yield entry.path


def package_digest(package_init: str, names: Iterable[str]) -> str:
    """`source_digest` of the named sibling modules of a package's file.

    To be taken when a module is imported: later the files may no longer be the code that runs.
    """
    folder = Path(package_init).parent
    return source_digest(*(str(folder / f"{name}.py") for name in names))


def kept_arrays(kind: str, name: str) -> Arrays | None:
    """The arrays stored as `name` in the cache folder `kind`; None when absent or unreadable."""
    path = found(kind, f"{name}.npz")
    if path is None:
        return None
    try:
        with path.open("rb", buffering=0) as file, zipfile.ZipFile(file) as members:
            return {each.filename.removesuffix(".npy"): _read(file, each) for each in members.infolist()}
    except Exception:  # a damaged file can make the libraries fail in any way
        return None


_NAMES = struct.Struct("<26xHH")
"""Of what precedes a member of a zip file: lengths of its name and of more that is told of it."""


def _read(file: FileIO, member: zipfile.ZipInfo) -> np.ndarray:
    """An array of an uncompressed .npz file, by one copy, while which other threads go on: NumPy's own takes three, in
    pieces between which it keeps them from it. Raises ValueError where it is not what was written."""
    file.seek(member.header_offset)
    name_bytes, more_bytes = _NAMES.unpack(file.read(_NAMES.size))
    name = file.read(name_bytes)
    begin = file.seek(more_bytes, os.SEEK_CUR)
    read_header = {(1, 0): read_array_header_1_0, (2, 0): read_array_header_2_0}[read_magic(file)]
    shape, by_columns, kind = read_header(file)
    header_bytes = file.tell() - begin
    file.seek(begin)
    digest = zlib.crc32(file.read(header_bytes))
    if name != member.filename.encode() or kind.hasobject or member.compress_type != zipfile.ZIP_STORED:
        raise ValueError
    array = np.empty(shape, kind, order="F" if by_columns else "C")
    content = (array.T if by_columns else array).reshape(-1).view(np.uint8).data
    filled = 0
    while filled < len(content) and (count := file.readinto(content[filled:])):
        filled += count
    if (filled, zlib.crc32(content, digest)) != (member.file_size - header_bytes, member.CRC):
        raise ValueError
    return array


def cached_arrays(kind: str, name: str, make: Callable[[], Arrays]) -> Arrays:
    """The arrays stored as `name` in the cache folder `kind`; made and stored when absent or unreadable.

    Uncompressed, so that loading costs little more than reading the bytes. A folder that cannot be
    written only costs the time to make the arrays again.
    """
    return cached_family(kind, name, lambda: {name: make()})


def cached_family(kind: str, name: str, make: Callable[[], dict[str, Arrays]]) -> Arrays:
    """Like `cached_arrays` for things that are made together: `make` returns all of them by name."""
    arrays = kept_arrays(kind, name)
    if arrays is not None:
        return arrays
    with turn(kind, f"{name}.npz"):
        arrays = kept_arrays(kind, name)
        if arrays is not None:
            return arrays
        family = make()
        for member, made in family.items():
            keep(kind, f"{member}.npz", partial(_write, arrays=made))
        return family[name]


def _write(path: Path, arrays: Arrays) -> None:
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)
