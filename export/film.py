"""A video of what the window shows, at a steady rate however fast the frames come; encoded beside them."""

import threading
from pathlib import Path
from queue import Full, Queue

import numpy as np
from PIL import Image

from export.output import OutputError, replacing

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
        from export.video import VideoWriter  # the encoder takes a while, and few windows make a video

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
