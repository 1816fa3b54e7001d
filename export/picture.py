"""Still pictures."""

from pathlib import Path

import numpy as np
from PIL import Image


def write_png(path: Path, picture: np.ndarray) -> None:
    """Write (height, width, 3) uint8 sRGB, first row on top, as PNG whatever the name of the file."""
    Image.fromarray(picture).save(path, format="PNG", optimize=True)
