"""Light on the land as a picture of its finest grid, so that coarser meshes are lit as finely."""

import moderngl
import numpy as np

from render.geometry.mesh import ChunkedMesh
from render.mip_levels import build_levels
from render.programs import SAMPLER_UNITS

_LUMA = np.array([0.2126, 0.7152, 0.0722], "f4")


class LightMap:
    """A texel for each vertex of a grid: root of the radiance that goes out, and the share of it that is the sun's."""

    def __init__(self, ctx: moderngl.Context, finest: ChunkedMesh):
        assert finest.places is not None
        self._ctx = ctx
        self._rows, self._columns = finest.grid
        self._texture = ctx.texture((self._columns, self._rows), 4, dtype="f1")
        self._texture.filter = moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR
        self._texture.repeat_x = self._texture.repeat_y = False
        at = np.rint(finest.places * (self._rows - 1, self._columns - 1)).astype(int)
        texel = at[:, 0] * self._columns + at[:, 1]
        self._vertex = np.zeros(self._rows * self._columns, int)
        self._vertex[texel[::-1]] = np.arange(len(texel))[
            ::-1
        ]  # the first of several: the others are of skirts
        self.scale = 1.0
        """Radiance of a full texel."""
        self.image = np.zeros((self._rows, self._columns, 4), "u1")
        """What has been written."""

    def uv(self, mesh: ChunkedMesh) -> np.ndarray:
        """(n, 2) float32: where the vertices of a mesh over the same ground find their light."""
        assert mesh.places is not None
        size = np.array([self._rows, self._columns])
        return (((mesh.places * (size - 1) + 0.5) / size)[:, ::-1]).astype("f4")

    def write(self, ambient: np.ndarray, sun: np.ndarray, visibility: np.ndarray) -> None:
        """Radiance (n, 3) by the vertices of the finest mesh, of sky and sun; how much of the sun is seen (n,)."""
        ambient, lit = ambient[self._vertex], (sun * visibility[:, None])[self._vertex]
        total = ambient + lit
        self.scale = max(float(total.max()), 1e-6)
        share = (lit @ _LUMA) / np.maximum(total @ _LUMA, 1e-9)
        texels = np.column_stack([np.sqrt(total / self.scale), share])
        image = np.rint(255.0 * texels.clip(0.0, 1.0)).astype("u1").reshape(self._rows, self._columns, 4)
        self.show(image, self.scale)

    def show(self, image: np.ndarray, scale: float) -> None:
        """Have these texels (rows, columns, 4), of which a full one is this radiance."""
        self.image, self.scale = image, scale
        self._texture.write(np.ascontiguousarray(image))
        build_levels(self._ctx, self._texture, image)

    def bind(self) -> None:
        """Keep it where the land looks for it."""
        self._texture.use(SAMPLER_UNITS["light_map"])

    def release(self) -> None:
        """Free the texture."""
        self._texture.release()
