"""A small made-up canyon with every kind of thing in it, so that pictures take milliseconds."""

from dataclasses import dataclass

import numpy as np

from render.frame import Frame, View, look_at, perspective
from render.land.scenery import Scenery
from render.passes.culling import Ridges

LENGTH_M, HALF_M = 400.0, 160.0


@dataclass(frozen=True)
class Chunk:
    first: int
    count: int
    low: np.ndarray
    high: np.ndarray


@dataclass(frozen=True)
class Mesh:
    vertices: np.ndarray
    indices: np.ndarray
    chunks: tuple[Chunk, ...] = ()
    places: np.ndarray | None = None
    grid: tuple[int, int] = (0, 0)
    key: str = ""


@dataclass(frozen=True)
class Scatter:
    instances: np.ndarray
    cells: tuple[Chunk, ...]
    obstacles: np.ndarray


@dataclass(frozen=True)
class River:
    level_m: float = 0.0
    half_width_m: float = 13.0

    def centre(self, x_m):
        return 12.0 * np.sin(np.asarray(x_m) / 90.0)

    def slope(self, x_m):
        return 12.0 / 90.0 * np.cos(np.asarray(x_m) / 90.0)


def ground(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Bed at -2 m, walls on both sides up to about 90 m."""
    from_river = np.abs(y - River().centre(x))
    wall = 80.0 / (1.0 + np.exp(-(from_river - 55.0) / 6.0))
    return -2.0 + 0.12 * from_river + wall + 3.0 * np.sin(x / 17.0) * np.sin(y / 13.0) * (from_river > 25.0)


@dataclass(frozen=True)
class Terrain:
    heights: np.ndarray
    origin_m: tuple[float, float] = (0.0, -HALF_M)
    spacing_m: float = 2.0

    def height(self, x, y):
        return ground(np.asarray(x), np.asarray(y))


@dataclass(frozen=True)
class SmallWorld:
    terrain: Terrain
    river: River | None
    far_desert: bool = False
    orbit_m: float | None = None
    room: None = None

    @property
    def water_level_m(self) -> float | None:
        return self.river.level_m if self.river is not None else None


def small_world(*, river: bool = True) -> SmallWorld:
    """A world as the renderer asks for it: a terrain and a river."""
    x, y = np.arange(0.0, LENGTH_M + 1.0, 2.0), np.arange(-HALF_M, HALF_M + 1.0, 2.0)
    return SmallWorld(Terrain(ground(*np.meshgrid(x, y)).astype("f4")), River() if river else None)


def _grid(spacing: float, across: int = 2, along: int = 4) -> Mesh:
    """The ground in along x across chunks."""
    vertices, indices, chunks = [], [], []
    first = count = 0
    for i in range(along):
        for j in range(across):
            x0, x1 = LENGTH_M * i / along, LENGTH_M * (i + 1) / along
            y0, y1 = -HALF_M + 2 * HALF_M * j / across, -HALF_M + 2 * HALF_M * (j + 1) / across
            x, y = np.arange(x0, x1 + 0.1, spacing), np.arange(y0, y1 + 0.1, spacing)
            gx, gy = np.meshgrid(x, y, indexing="ij")
            z = ground(gx, gy)
            dx, dy = (ground(gx + 0.5, gy) - z) * 2, (ground(gx, gy + 0.5) - z) * 2
            n = np.stack([-dx, -dy, np.ones_like(z)], -1)
            n /= np.linalg.norm(n, axis=-1, keepdims=True)
            traits = np.stack([np.full_like(z, 0.7), np.zeros_like(z), np.full_like(z, 0.5), dx * 0], -1)
            number = count + np.arange(z.size).reshape(z.shape)
            a, b, c, d = number[:-1, :-1], number[1:, :-1], number[1:, 1:], number[:-1, 1:]
            triangles = np.stack([a, b, c, a, c, d], -1).reshape(-1, 3)
            vertices.append(np.concatenate([np.stack([gx, gy, z], -1), n, traits], -1).reshape(-1, 10))
            indices.append(triangles)
            chunks.append(
                Chunk(first, triangles.size, np.array([x0, y0, z.min()]), np.array([x1, y1, z.max()]))
            )
            first += triangles.size
            count += z.size
    joined = np.concatenate(vertices).astype("f4")
    places = (joined[:, :2] + (0.0, HALF_M)) / (LENGTH_M, 2 * HALF_M)
    size = round(LENGTH_M / spacing) + 1, round(2 * HALF_M / spacing) + 1
    return Mesh(joined, np.concatenate(indices).astype("u4"), tuple(chunks), places, size)


def _card(columns: int) -> Mesh:
    corners = np.zeros((4, columns), "f4")
    corners[:, :3] = [(-1, 0, 0), (1, 0, 0), (1, 0, 2), (-1, 0, 2)]
    corners[:, 4] = 1.0
    if columns == 8:
        corners[:, 6:] = [(0, 0), (1, 0), (1, 1), (0, 1)]
    return Mesh(corners, np.array([[0, 1, 2], [0, 2, 3]], "u4"))


def _scatter(count: int) -> Scatter:
    rng = np.random.default_rng(1)
    x, y = rng.uniform(10, LENGTH_M - 10, count), rng.uniform(-30, 30, count)
    place = np.stack([x, y, ground(x, y)], -1)
    rest = np.tile([1.0, 0.1, 0.12, 0.05, 0.3], (count, 1))
    cell = Chunk(0, count, place.min(axis=0) - 2.0, place.max(axis=0) + 3.0)
    return Scatter(np.hstack([place, rest]).astype("f4"), (cell,), np.zeros(count, dtype=bool))


def small_scenery() -> Scenery:
    """Three levels of ground, one pad, shrubs and blocks."""
    leaves = np.full((16, 16, 4), 160, np.uint8)
    leaves[:4, :, 3] = 0
    pad = _card(8)
    pad.vertices[:, :3] += (200.0, 30.0, 4.0)
    return Scenery(
        terrain=[_grid(spacing) for spacing in (2.0, 5.0, 10.0)],
        far=[],
        pads=[pad],
        shrub_levels=[_card(8)],
        shrubs=_scatter(400),
        boulder_levels=[[_card(6)]],
        boulders=[_scatter(100)],
        ridges=Ridges.of(small_world().terrain),
        leaves=leaves,
    )


def small_view(size_px: tuple[int, int]) -> View:
    """From above the river down the canyon."""
    eye = np.array([20.0, -4.0, 30.0])
    return View(
        eye_w=eye,
        view=look_at(eye, np.array([200.0, 6.0, 32.0])),
        projection=perspective(0.84, size_px[0] / size_px[1], 0.5, 5000.0),
    )


def small_frame(size_px: tuple[int, int]) -> Frame:
    """The view with nothing flying in it."""
    return Frame(view=small_view(size_px), vehicles=(), wall_s=2.0)
