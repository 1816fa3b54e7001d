"""Small pictures of the scenes, as textures: each read when it is first shown, one a frame."""

from contextlib import suppress
from pathlib import Path

import moderngl
import numpy as np
from PIL import Image

from sim.scene import SCENE_FOLDER

SIZE_PX = (192, 120)
FOLDER = SCENE_FOLDER.parent / "assets" / "thumbnails"


def path_of(scene: str) -> Path:
    """Where the picture of a scene lies that comes with the project."""
    return FOLDER / f"{scene}.jpg"


class Thumbnails:
    """Of one window, whose GL context has to be current."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        self._textures: dict[str, moderngl.Texture | None] = {}
        self._may_read = True

    def begin_frame(self) -> None:
        """One more may be read."""
        self._may_read = True

    def of(self, scene: str) -> int | None:
        """Its texture's number; None where there is no picture, or none yet."""
        if scene not in self._textures and self._may_read:
            self._may_read = False
            self._textures[scene] = self._read(path_of(scene))
        texture = self._textures.get(scene)
        return None if texture is None else texture.glo

    def release(self) -> None:
        """Before the window closes."""
        for texture in self._textures.values():
            if texture is not None:
                texture.release()
        self._textures.clear()

    def _read(self, path: Path) -> moderngl.Texture | None:
        # A picture that is missing or cannot be read is none: the gallery shows the title alone.
        with suppress(OSError, ValueError, Image.DecompressionBombError), Image.open(path) as picture:
            pixels = np.asarray(picture.convert("RGB").resize(SIZE_PX), np.uint8)
            return self._ctx.texture(SIZE_PX, 3, pixels.tobytes(), alignment=1)
        return None
