"""Pictures and videos as files: PNG, alone or one a moment, and H.264 by PyAV, of runs and of what a window shows."""

import re
import threading
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from queue import Full, Queue
from typing import Any, cast

import numpy as np
from PIL import Image

from export.output import OutputError, replacing

_LARGE, _SWIFT = 1 << 23, 3
"""Numbers of a picture from which on the smallest file would take tens of seconds, and zlib's level for those."""


def write_png(path: Path, picture: np.ndarray) -> None:
    """Write (height, width, 3) uint8 sRGB, or (height, width, 4) with alpha, as PNG whatever the name of the file.

    The first row is on top.
    """
    small = picture.size < _LARGE
    Image.fromarray(picture).save(path, format="PNG", optimize=small, compress_level=9 if small else _SWIFT)


class FrameFiles:
    """One file a picture: `#` in the name, as often as it stands there, is the picture's number from 1."""

    def __init__(self, pattern: Path) -> None:
        self._pattern, self._count = pattern, 0

    def add(self, picture: np.ndarray) -> None:
        """Write the next one, whole or not at all. Raises OutputError."""
        self._count += 1
        name = re.sub(r"#+", lambda run: f"{self._count:0{len(run[0])}d}", self._pattern.name, count=1)
        with replacing(self._pattern.with_name(name), lasting=False) as temporary:
            write_png(temporary, picture)


def averaged(pictures: Sequence[np.ndarray]) -> np.ndarray:
    """The mean of equally large uint8 sRGB pictures in linear light; alpha weighs what it belongs to."""
    if len(pictures) == 1:
        return pictures[0]
    linear = np.zeros((*pictures[0].shape[:2], 3))
    cover = np.zeros((*pictures[0].shape[:2], 1))
    for picture in pictures:
        alpha = picture[..., 3:] / 255.0 if picture.shape[2] == 4 else np.ones(cover.shape)
        linear += alpha * _LINEAR[picture[..., :3]]
        cover += alpha
    encoded = np.round(255.0 * srgb(linear / np.maximum(cover, 1e-9))).astype(np.uint8)
    if pictures[0].shape[2] == 3:
        return encoded
    return np.concatenate([encoded, np.round(255.0 * cover / len(pictures)).astype(np.uint8)], axis=2)


class MeanPicture:
    """The mean of sRGB pictures in linear light, one after the other: as `averaged`, without keeping them."""

    _ROWS = 256

    def __init__(self, size: tuple[int, int]) -> None:
        """Height and width [px]."""
        self._sum, self._count = np.zeros((*size, 3), np.float32), 0

    def add(self, picture: np.ndarray) -> None:
        """(height, width, 3) uint8."""
        table = _LINEAR.astype(np.float32)
        for row in range(0, len(picture), self._ROWS):
            part = slice(row, row + self._ROWS)
            self._sum[part] += table[picture[part]]
        self._count += 1

    def picture(self) -> np.ndarray:
        """(height, width, 3) uint8."""
        made = np.empty(self._sum.shape, np.uint8)
        for row in range(0, len(made), self._ROWS):
            part = slice(row, row + self._ROWS)
            made[part] = np.round(255.0 * srgb(self._sum[part] / max(self._count, 1)))
        return made


def srgb(linear: np.ndarray) -> np.ndarray:
    """sRGB of linear light, both 0..1 (IEC 61966-2-1)."""
    low = linear <= 0.0031308
    return np.where(low, 12.92 * linear, 1.055 * np.maximum(linear, 0.0031308) ** (1 / 2.4) - 0.055)


_CODES = np.arange(256) / 255.0
_LINEAR = np.where(_CODES <= 0.04045, _CODES / 12.92, ((_CODES + 0.055) / 1.055) ** 2.4)


class VideoWriter:
    """Encodes equally large pictures at a constant rate; `finish` completes the file, `close` abandons it."""

    def __init__(self, path: Path, *, container: str, size_px: tuple[int, int], fps: int = 30) -> None:
        """`path`: written at once; `container`: muxer name; `size_px`: even (width, height)."""
        import av  # takes a while to load, and few windows make a video

        self._av, self._container = av, cast(Any, None)
        try:
            self._container = av.open(str(path), "w", format=container)
            self._stream: Any = self._container.add_stream("libx264", rate=fps)
        except (av.FFmpegError, ValueError) as error:
            self.close()
            raise OutputError(f"the video cannot be encoded: {_reason(error)}") from None
        self._stream.width, self._stream.height = size_px
        self._stream.pix_fmt = "yuv420p"
        self._stream.time_base = Fraction(1, fps)
        self._stream.options = {"crf": "19", "preset": "veryfast"}

    def add(self, picture: np.ndarray) -> None:
        """Append one picture, (height, width, 3) uint8 sRGB, first row on top."""
        frame = self._av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
        self._mux(frame)

    def finish(self) -> None:
        """Write what the encoder still holds and the index."""
        self._mux(None)
        try:
            self._container.close()
        except self._av.FFmpegError as error:
            raise OutputError(f"the video cannot be finished: {_reason(error)}") from None
        self._container = None

    def close(self) -> None:
        """Give up: releases the file without finishing it. Harmless after `finish`."""
        if self._container is not None:
            container, self._container = self._container, None
            try:
                container.close()
            except self._av.FFmpegError:
                return

    def _mux(self, frame: Any) -> None:
        try:
            for packet in self._stream.encode(frame):
                self._container.mux(packet)
        except self._av.FFmpegError as error:
            raise OutputError(f"the video cannot be written: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """Without the temporary file's name."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


FPS = 30
_WAITING = 90
"""Pictures that may wait to be encoded."""


class Film:
    """Begins at once. Every method but `picture` returns immediately; the file appears complete or not at all."""

    def __init__(self, path: Path, size_px: tuple[int, int]) -> None:
        """`size_px`: of what is seen now; later pictures are scaled to it."""
        self.path, self.error = path, ""
        width, height = size_px
        self._size_px = (max(width // 2 * 2, 16), max(height // 2 * 2, 16))
        self._queue: Queue[np.ndarray | None] = Queue(_WAITING)
        self._cancelled = threading.Event()
        self._count = 0
        self._thread = threading.Thread(target=self._encode, name="film", daemon=True)
        self._thread.start()

    @property
    def seconds(self) -> float:
        """Length up to now."""
        return self._count / FPS

    @property
    def done(self) -> bool:
        """Whether the file is there, or will never be."""
        return not self._thread.is_alive()

    def due(self, elapsed_s: float) -> bool:
        """Whether a picture is wanted, so long after the beginning."""
        return not self.done and self._count <= elapsed_s * FPS

    def picture(self, picture: np.ndarray, elapsed_s: float) -> None:
        """What is seen now, (height, width, 3) uint8, as often as the rate asks for."""
        height, width = picture.shape[:2]
        if (width, height) != self._size_px:
            cut = picture[: self._size_px[1], : self._size_px[0]]
            picture = cut if cut.shape[1::-1] == self._size_px else self._scaled(picture)
        while self.due(elapsed_s):
            self._count += 1
            self._put(picture)

    def finish(self) -> None:
        """No more pictures: write the file."""
        self._put(None)

    def cancel(self) -> None:
        """No file."""
        self._cancelled.set()
        self._put(None)

    def join(self) -> None:
        """Wait until it is done."""
        self._thread.join()

    def _scaled(self, picture: np.ndarray) -> np.ndarray:
        return np.asarray(Image.fromarray(picture).resize(self._size_px, Image.Resampling.BILINEAR))

    def _put(self, picture: np.ndarray | None) -> None:
        while not self.done:
            try:
                self._queue.put(picture, timeout=0.2)
            except Full:
                continue
            return

    def _encode(self) -> None:

        try:
            with replacing(self.path) as temporary:
                writer = VideoWriter(temporary, container="mp4", size_px=self._size_px, fps=FPS)
                try:
                    while (picture := self._queue.get()) is not None and not self._cancelled.is_set():
                        writer.add(picture)
                    if self._cancelled.is_set():
                        raise _Cancelled
                    writer.finish()
                finally:
                    writer.close()
        except _Cancelled:
            return
        except OutputError as error:
            self.error = str(error)


class _Cancelled(Exception):
    """The user wants no video."""
