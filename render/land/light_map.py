"""The land's surface in its light as one picture: what it sends out in every place, without haze and vehicles.

Drawn over the grid that the meshes are cut from, finer than the finest of them: so that a fragment of the land is
one look into it, and coarse meshes are lit and grained as finely.
"""

import math

import moderngl
import numpy as np

from render.land.mesh import ChunkedMesh
from render.passes.targets import colour_of
from render.programs import SAMPLER_UNITS

TEXEL_M = 0.6
MOST_TEXELS = 4_600_000
"""With its coarser levels 5.3 bytes each."""
_ALBEDO = 0.95
"""Of the brightest rock, nearly."""


def mean_steps_m(mesh: ChunkedMesh) -> np.ndarray:
    """(2,) m between neighbours of the grid that a mesh is cut from, along its rows' axis and its columns' axis."""
    assert mesh.places is not None
    ends = mesh.indices[:50_000][:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    apart = np.abs(mesh.places[ends[:, 1]] - mesh.places[ends[:, 0]])
    length_m = np.linalg.norm(mesh.vertices[ends[:, 1], :3] - mesh.vertices[ends[:, 0], :3], axis=1)
    along = [(apart[:, axis] > 0.0) & (apart[:, 1 - axis] == 0.0) for axis in (0, 1)]
    return np.array([np.median(length_m[sides]) for sides in along])


class LightMap:
    """Roots of the radiance in red, green and blue, and in alpha the sun's share of it."""

    def __init__(self, ctx: moderngl.Context, finest: ChunkedMesh):
        self._ctx = ctx
        cells = np.array(finest.grid) - 1
        self.extent_m = np.maximum(cells * mean_steps_m(finest), TEXEL_M)
        """(2,) of the grid, along rows and columns."""
        coarser = max(math.sqrt(self.extent_m.prod() / TEXEL_M**2 / MOST_TEXELS), 1.0)
        rows, columns = np.clip(np.rint(self.extent_m / (TEXEL_M * coarser)), 1, 8192).astype(int)
        self.size_px = int(columns), int(rows)
        self.texel_m = math.sqrt(float(self.extent_m.prod()) / (int(rows) * int(columns)))
        self._shown = self.canvas()
        self.scale = 1.0
        """Radiance of a full texel."""

    @property
    def _texture(self) -> moderngl.Texture:
        return colour_of(self._shown)

    @staticmethod
    def fitting_scale(sun_irradiance: np.ndarray, sky_irradiance: np.ndarray) -> float:
        """Radiance that nothing in this light exceeds."""
        return _ALBEDO / math.pi * max(float((sun_irradiance + sky_irradiance).max()), 1e-6)

    def canvas(self, coarser: int = 1) -> moderngl.Framebuffer:
        """A new picture to draw another light into; `take` makes it the one that is looked at, or it is `dropped`.

        Its texels are `coarser` times as long as can be.
        """
        columns, rows = (max(count // coarser, 1) for count in self.size_px)
        texture = self._ctx.texture((columns, rows), 4, dtype="f1")
        texture.filter = moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR
        texture.repeat_x = texture.repeat_y = False
        fresh = self._ctx.framebuffer([texture])
        fresh.clear()
        return fresh

    def take(self, drawn: moderngl.Framebuffer, scale: float) -> None:
        """Have what has been drawn into a canvas."""
        before, self._shown, self.scale = self._shown, drawn, scale
        self.drop(before)
        self._average()

    @staticmethod
    def drop(drawn: moderngl.Framebuffer) -> None:
        """Free a canvas that is not taken, which must not be bound."""
        texture = drawn.color_attachments[0]
        drawn.release()
        texture.release()

    @property
    def image(self) -> np.ndarray:
        """(rows, columns, 4) uint8 as it is looked at."""
        columns, rows = self._texture.size
        return np.frombuffer(self._texture.read(), "u1").reshape(rows, columns, 4)

    def show(self, image: np.ndarray, scale: float) -> None:
        """Have these texels, of which a full one is this radiance."""
        self.scale = scale
        self._texture.write(np.ascontiguousarray(image))
        self._average()

    def _average(self) -> None:
        self._texture.build_mipmaps()
        self._texture.filter = moderngl.LINEAR_MIPMAP_NEAREST, moderngl.LINEAR

    def bind(self) -> None:
        """Keep it where the land looks for it."""
        self._texture.use(SAMPLER_UNITS["light_map"])

    def release(self) -> None:
        """Free the picture."""
        self.drop(self._shown)
