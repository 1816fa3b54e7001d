"""H.264 video through PyAV."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np

from export.output import OutputError


class VideoWriter:
    """Encodes equally large pictures at a constant rate; `finish` completes the file, `close` abandons it."""

    def __init__(self, path: Path, *, container: str, size_px: tuple[int, int], fps: int = 30) -> None:
        """`path`: written at once; `container`: muxer name; `size_px`: even (width, height)."""
        self._container: Any = None
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
        frame = av.VideoFrame.from_ndarray(np.ascontiguousarray(picture), format="rgb24")
        self._mux(frame)

    def finish(self) -> None:
        """Write what the encoder still holds and the index."""
        self._mux(None)
        try:
            self._container.close()
        except av.FFmpegError as error:
            raise OutputError(f"the video cannot be finished: {_reason(error)}") from None
        self._container = None

    def close(self) -> None:
        """Give up: releases the file without finishing it. Harmless after `finish`."""
        if self._container is not None:
            container, self._container = self._container, None
            try:
                container.close()
            except av.FFmpegError:
                return

    def _mux(self, frame: Any) -> None:
        try:
            for packet in self._stream.encode(frame):
                self._container.mux(packet)
        except av.FFmpegError as error:
            raise OutputError(f"the video cannot be written: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    """Without the temporary file's name."""
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
