"""A box of splashing water in the sea as the sea's shaders read it: height, slope and foam over its columns."""

import moderngl
import numpy as np

from render.programs import SAMPLER_UNITS
from sim.water.picture import BoxPicture

_SOFT = 0.6
"""By which heights are softened, in cells: particles make them uneven."""


class SplashingWater:
    """Owns the map of one box at a time."""

    def __init__(self, ctx: moderngl.Context) -> None:
        self._ctx = ctx
        self._map: moderngl.Texture | None = None
        self._shown: BoxPicture | None = None
        self.place = (0.0, 0.0, 0.0, 0.0)
        """World x and y where the box begins, and one over its edges [1/m]; zero where there is none."""

    def take_up(self, picture: BoxPicture | None) -> None:
        """Show a picture, or none."""
        if picture is None or not picture.in_sea:
            self.place, self._shown = (0.0, 0.0, 0.0, 0.0), None
            return
        if picture is self._shown:
            return
        rows, columns = picture.height_m.shape
        if self._map is None or self._map.size != (columns, rows):
            self.release()
            self._map = self._ctx.texture((columns, rows), 4, dtype="f4")
            self._map.repeat_x = self._map.repeat_y = False
        self._map.write(box_texels(picture))
        x, y, _ = picture.corner_w
        self.place = (x, y, 1.0 / picture.size_m[0], 1.0 / picture.size_m[1])
        self._shown = picture

    def bind(self) -> None:
        """Keep the map where the sea's shaders look for it."""
        if self._map is not None:
            self._map.use(SAMPLER_UNITS["box_map"])

    def release(self) -> None:
        """Free the map."""
        if self._map is not None:
            self._map.release()
            self._map = None


def box_texels(picture: BoxPicture) -> np.ndarray:
    """(ny, nx, 4) float32: world z of the surface [m], its slopes along x and y, foam 0..1."""
    from scipy.ndimage import gaussian_filter  # takes a while, and few scenes have such a box

    height = gaussian_filter(picture.height_m, _SOFT, mode="nearest")
    slope_y, slope_x = np.gradient(height, picture.cell_m)
    foam = gaussian_filter(picture.foam, _SOFT, mode="nearest")
    return np.ascontiguousarray(
        np.stack([picture.corner_w[2] + height, slope_x, slope_y, foam], axis=-1), np.float32
    )
