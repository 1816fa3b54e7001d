"""Scene files of the user's own: their cards in the gallery, and the small pictures that the window makes of them."""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np
from PIL import Image, ImageOps

from sim.platform.replacing import replacing
from ui.settings.catalogue import SceneEntry
from ui.settings.view_settings import config_dir

MINE = "My scenes"
_ENDING = ".toml"
_FOLDER = "pictures"
_QUALITY = 85


def own_scenes(files: Iterable[str]) -> list[SceneEntry]:
    """Those of these paths that are scenes."""
    return [SceneEntry(path, Path(path).stem, path, MINE) for path in files if is_own(path)]


def is_own(scene: str) -> bool:
    """Whether that is a path of a scene's file, and no name of a scene that comes with the project."""
    return scene.endswith(_ENDING)


def own_picture(path: str) -> Path:
    """Where the picture of a scene's file is kept, whether there is one or not."""
    digest = hashlib.sha256(os.path.abspath(path).encode()).hexdigest()[:24]
    return config_dir() / _FOLDER / f"{digest}.jpg"


def wants_picture(path: str) -> bool:
    """Whether there is none of it, or only one of what was in that file before."""
    try:
        return os.path.getmtime(own_picture(path)) < os.path.getmtime(path)
    except OSError:
        return True


def keep_picture(path: str, pixels: np.ndarray, size_px: tuple[int, int], files: Iterable[str]) -> None:
    """Have this (h, w, 3) be the picture of a scene's file, cut to that shape about its middle.

    files: those that are shown; pictures of any others go. A folder that cannot be written costs only the picture.
    """
    small = ImageOps.fit(Image.fromarray(pixels), size_px, Image.Resampling.LANCZOS)
    place = own_picture(path)
    with suppress(OSError):
        place.parent.mkdir(exist_ok=True)
        with replacing(place, lasting=False) as draft:
            small.save(draft, "JPEG", quality=_QUALITY)
        kept = {place, *(own_picture(file) for file in files if is_own(file))}
        for other in set(place.parent.glob(f"*{place.suffix}")) - kept:
            other.unlink()
