"""Points of a sweep and its results: a column a quantity, a row a point, in memory or in a folder that grows."""

import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from sim.platform.errors import InputError, one_of, quote
from sim.platform.replacing import replacing
from sim.platform.values import dataclass

_ABOUT, _DONE = "sweep.json", "sweep.done.npy"
"""Files of a folder that no result has the name of."""
Column = np.dtype
Results = Mapping[str, np.ndarray]
"""Name -> (points, ...)."""


@dataclass(frozen=True, eq=False)
class SweepGrid:
    """Points by number, made when they are asked for."""

    axes: Mapping[str, Any]
    """Name -> (k,) values."""
    paired: bool = False
    """The k-th point has the k-th value of every axis; else there is a point for every combination, the last axis
    running fastest."""

    def __post_init__(self) -> None:
        """Raises InputError for axes that are empty, no list, or differ in length where they are paired."""
        if not isinstance(self.axes, Mapping):
            raise InputError(f"over = {quote(self.axes)} is refused; allowed: a dict of axes, or a Grid")
        axes = {}
        for name, values in self.axes.items():
            try:
                array = np.asarray(values)
            except ValueError:  # lists of several lengths
                array = np.empty(0)
            if array.ndim != 1 or not array.size or array.dtype.kind not in "biufU":
                raise InputError(
                    f"axis {quote(name)} = {quote(values)} is refused; allowed: numbers or names in a list"
                )
            axes[name] = array
        if not axes:
            raise InputError("a sweep over nothing; allowed: one axis or more")
        lengths = {len(array) for array in axes.values()}
        if self.paired and len(lengths) > 1:
            raise InputError(
                f"paired axes of {', '.join(map(str, sorted(lengths)))} values; allowed: as many on each"
            )
        object.__setattr__(self, "axes", axes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Values on each axis; of pairs their number."""
        sizes = tuple(len(array) for array in self.axes.values())
        return sizes[:1] if self.paired else sizes

    def __len__(self) -> int:
        """How many points there are."""
        return math.prod(self.shape)

    def columns(self, begin: int, end: int) -> dict[str, np.ndarray]:
        """Name -> (end - begin,) values of these points."""
        numbers = np.arange(begin, end)
        if self.paired:
            return {name: array[numbers] for name, array in self.axes.items()}
        places = np.unravel_index(numbers, self.shape)
        return {name: array[at] for (name, array), at in zip(self.axes.items(), places, strict=True)}

    @cached_property
    def digest(self) -> str:
        """Of names and values: tells whether results belong to these points."""
        told = hashlib.sha256(repr((tuple(self.axes), self.paired)).encode())
        for array in self.axes.values():
            told.update(str(array.dtype).encode() + array.tobytes())
        return told.hexdigest()[:16]


@dataclass(eq=False)
class Table:
    """Points and what came of them; rows that have not been run are nan (or 0, as long as all are whole numbers)."""

    grid: SweepGrid
    chunk: int
    """Points that are run, and stored, together."""
    folder: Path | None = None
    columns: dict[str, np.ndarray] = field(default_factory=dict)
    """Name -> (points, ...); files of the folder, where there is one."""
    done: np.ndarray = field(default_factory=lambda: np.zeros(0, bool))
    """(chunks,) which have been run."""

    def __getitem__(self, name: str) -> np.ndarray:
        """A column of results, or an axis at every point. Raises InputError for another name."""
        if name in self.columns:
            return self.columns[name]
        if name in self.grid.axes:
            return self.grid.columns(0, len(self.grid))[name]
        known = (*self.grid.axes, *self.columns)
        raise InputError(f"no column {quote(name)}; allowed: {one_of(known, name)}")

    def __len__(self) -> int:
        return len(self.grid)

    @property
    def finished(self) -> bool:
        """Whether all points have been run."""
        return bool(self.done.all())

    def bounds(self, chunk: int) -> tuple[int, int]:
        """First point of a chunk, and the one after its last."""
        return chunk * self.chunk, min((chunk + 1) * self.chunk, len(self.grid))

    def put(self, chunk: int, results: Results) -> None:
        """Store a chunk: its rows first, then that it is done.

        Raises InputError for columns that do not fit, and where the folder cannot be written.
        """
        begin, end = self.bounds(chunk)
        for name, values in results.items():
            rows = np.asarray(values)
            if rows.shape[:1] != (end - begin,) or rows.dtype.kind not in "biuf":
                raise InputError(
                    f"result {quote(name)} is {rows.dtype} {rows.shape}; allowed: numbers, {end - begin} rows"
                )
            if name in self.grid.axes:
                raise InputError(f"result {quote(name)} has the name of an axis; allowed: another name")
            if name not in self.columns:
                self.columns[name] = self._new(name, rows)
            column = self.columns[name]
            if column.shape[1:] != rows.shape[1:]:
                raise InputError(f"result {quote(name)} was {column.shape[1:]}, now it is {rows.shape[1:]}")
            if rows.dtype.kind == "f" and column.dtype.kind != "f":
                column = self.columns[name] = self._with_fractions(name, column)
            if isinstance(column, np.memmap):
                self._write(name, column, begin, [rows.astype(column.dtype)])
            else:
                column[begin:end] = rows
        self.done[chunk] = True
        if isinstance(self.done, np.memmap):
            self.done.flush()

    def _new(self, name: str, rows: np.ndarray) -> np.ndarray:
        shape = (len(self.grid), *rows.shape[1:])
        kind = np.dtype(np.float64) if rows.dtype.kind == "f" else np.dtype(np.int64)
        if self.folder is None:
            return np.full(shape, np.nan) if kind.kind == "f" else np.zeros(shape, kind)
        try:
            column = np.lib.format.open_memmap(self._path(name), "w+", kind, shape)
        except OSError as error:
            raise _unwritten(self.folder, error) from None
        if kind.kind == "f":
            self._write(name, column, 0, self._parts(np.broadcast_to(np.nan, shape)))
        return column

    def _with_fractions(self, name: str, whole: np.ndarray) -> np.ndarray:
        """A column of which only whole numbers had come. Raises InputError."""
        if self.folder is None:
            return np.concatenate(list(self._parts(whole)))
        try:
            with replacing(self._path(name)) as temporary:
                np.lib.format.open_memmap(temporary, "w+", np.dtype(np.float64), whole.shape)
                column = np.load(temporary, mmap_mode="r+")
                self._write(name, column, 0, self._parts(whole), temporary)
            return np.load(self._path(name), mmap_mode="r+")
        except OSError as error:
            raise _unwritten(self.folder, error) from None

    def _parts(self, column: np.ndarray) -> Iterator[np.ndarray]:
        """Chunk by chunk as real numbers, nan where none has been run."""
        for chunk, done in enumerate(self.done):
            begin, end = self.bounds(chunk)
            yield (
                column[begin:end].astype(float) if done else np.full((end - begin, *column.shape[1:]), np.nan)
            )

    def _write(
        self,
        name: str,
        column: np.memmap,
        begin: int,
        parts: Iterable[np.ndarray],
        path: Path | None = None,
    ) -> None:
        """Rows from `begin` on, through the file: what is written to where it is mapped stays in memory, and ends the
        program on a full disk. Raises InputError."""
        try:
            with (path or self._path(name)).open("r+b") as file:
                file.seek(column.offset + begin * column.strides[0])
                for rows in parts:
                    file.write(np.ascontiguousarray(rows).data)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise _unwritten(self.folder, error) from None

    def _path(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{_file(name)}.npy"

    def to_xarray(self) -> Any:
        """An `xarray.Dataset`: axes are coordinates, or, where they are paired, variables along `point`.

        Its `to_zarr` and `to_netcdf` write what other programs read. Raises InputError without xarray.
        """
        try:
            import xarray
        except ImportError:
            raise InputError('a table as xarray needs it: pip install "holonomy[cluster]"') from None
        axes = self.grid.axes
        if self.grid.paired:
            beside = {name: ("point", np.asarray(values)) for name, values in axes.items()}
            own = {n: (("point", *_inner(n, c)), np.asarray(c)) for n, c in self.columns.items()}
            return xarray.Dataset({**beside, **own})
        shaped = {
            name: (
                (*axes, *_inner(name, column)),
                np.asarray(column).reshape(*self.grid.shape, *column.shape[1:]),
            )
            for name, column in self.columns.items()
        }
        return xarray.Dataset(shaped, coords=dict(axes))

    def save(self, path: str | Path) -> Path:
        """Axes and columns as one `.npz`. Raises OSError."""
        path = Path(path)
        columns = {**self.grid.columns(0, len(self.grid)), **self.columns}
        # Not by numpy.savez, whose own arguments are names that a column may have.
        with replacing(path) as temporary, ZipFile(temporary, "w", ZIP_DEFLATED) as archive:
            for name, column in columns.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                    np.lib.format.write_array(file, np.asarray(column), allow_pickle=False)
        return path


def opened(grid: SweepGrid, chunk: int, folder: Path | None, *, other_chunk: bool = False) -> Table:
    """A table to be filled; what a folder has already is kept, by its own chunks where those may be others.

    Raises InputError where that is of another sweep, or damaged.
    """
    chunks = -(-len(grid) // chunk)
    if folder is None:
        return Table(grid, chunk, done=np.zeros(chunks, bool))
    about, told = folder / _ABOUT, {"points": grid.digest, "chunk": chunk}
    try:
        begun = about.is_file()
    except (OSError, ValueError) as error:  # a name that no file can have
        raise InputError(f"store = {quote(str(folder))} is refused: {error}; allowed: a folder") from None
    if begun:
        known = _known(about)
        if other_chunk and known is not None:
            told["chunk"] = known["chunk"]
        if known != told:
            raise InputError(
                f"{folder} has results of another sweep; allowed: an empty folder, or the same points"
            )
        paths = [path for path in sorted(folder.glob("*.npy")) if path.name != _DONE]
        return _of_folder(Table(grid, known["chunk"], folder), paths)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        done = np.lib.format.open_memmap(folder / _DONE, "w+", np.dtype(bool), (chunks,))
        with replacing(about) as temporary:
            temporary.write_text(json.dumps(told), encoding="utf-8")
    except OSError as error:
        raise _unwritten(folder, error) from None
    return Table(grid, chunk, folder, done=done)


def _known(about: Path) -> dict[str, Any] | None:
    """What a folder's sweep is of; None where that cannot be read."""
    try:
        known = json.loads(about.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    fits = isinstance(known, dict) and isinstance(known.get("chunk"), int) and known["chunk"] > 0
    return known if fits else None


def _of_folder(table: Table, paths: list[Path]) -> Table:
    """With what the files of its folder have. Raises InputError for one that is damaged."""
    points = len(table.grid)
    assert table.folder is not None
    for path in (table.folder / _DONE, *paths):
        length = -(-points // table.chunk) if path.name == _DONE else points
        try:
            column = np.load(path, mmap_mode="r+")
            kind = "b" if path.name == _DONE else "if"
            if column.shape[:1] != (length,) or column.dtype.kind not in kind:
                raise ValueError(f"{column.dtype} {column.shape}")
        except (OSError, ValueError, EOFError) as error:
            raise InputError(
                f"{path} is no column of this sweep ({str(error).splitlines()[0]}); allowed: an empty folder"
            ) from None
        if path.name == _DONE:
            table.done = column
        else:
            table.columns[path.stem] = column
    return table


def _unwritten(folder: Path | None, error: OSError) -> InputError:
    return InputError(f"{folder}: cannot be written: {error.strerror or error}")


def _inner(name: str, column: np.ndarray) -> tuple[str, ...]:
    """Names of what dimensions a result has of its own."""
    return tuple(f"{name}_{k}" for k in range(column.ndim - 1))


def _file(name: str) -> str:
    if not name.replace("_", "").replace("-", "").isalnum():
        raise InputError(f"result {quote(name)} names no file; allowed: letters, digits, - and _")
    return name
