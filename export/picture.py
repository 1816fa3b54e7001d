"""Still pictures, alone or one a moment, and what motion blur makes of several."""

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from export.output import replacing


def write_png(path: Path, picture: np.ndarray) -> None:
    """Write (height, width, 3) uint8 sRGB, or (height, width, 4) with alpha, as PNG whatever the name of the file.

    The first row is on top.
    """
    Image.fromarray(picture).save(path, format="PNG", optimize=True)


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


def srgb(linear: np.ndarray) -> np.ndarray:
    """sRGB of linear light, both 0..1 (IEC 61966-2-1)."""
    low = linear <= 0.0031308
    return np.where(low, 12.92 * linear, 1.055 * np.maximum(linear, 0.0031308) ** (1 / 2.4) - 0.055)


_CODES = np.arange(256) / 255.0
_LINEAR = np.where(_CODES <= 0.04045, _CODES / 12.92, ((_CODES + 0.055) / 1.055) ** 2.4)
