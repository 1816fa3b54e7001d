"""Reading `.npz` files that anybody may have written: nothing is allocated before it is known to be there.

`numpy.load` believes an array's header, which may declare a million times what follows.
"""

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np

from sim.user_files import opened

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
        self._check_room(info)
        with self._zip.open(info) as entry:
            dtype, shape, fortran = _header(entry, info, name)
            data = bytearray()
            while chunk := entry.read(_CHUNK):
                data += chunk
        array = np.frombuffer(data, dtype).reshape(shape, order="F" if fortran else "C")
        return array.astype(dtype.newbyteorder("="), copy=False)

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def _check_room(self, info: ZipInfo) -> None:
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
