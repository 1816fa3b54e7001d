"""What stands on a level ground, in the plane of the vehicles: shapes for planner, tests and pictures alike."""

from dataclasses import field

import numpy as np

from sim.native.function import native
from sim.platform.values import dataclass
from sim.shapes import Box, ConvexMesh, Drum, Shape
from sim.world.path import arc_length
from sim.world.terrain import for_row_bands, fractal_noise, smoothstep

_WOBBLE_M = 9.0
"""By which its shore strays from a rectangle."""
_SEED_OFFSET = 21

_ROOF_M = 0.4
"""How thick the roof of a room is."""
_TALL_M = 0.75
"""Half the height of what is parked."""
_ARCH_STEPS = 20
"""Corners of a vault's half circle."""


@dataclass(frozen=True, slots=True)
class Lake:
    """Water over a level ground, whose bed is dug out of that."""

    centre_m: tuple[float, float]
    half_m: tuple[float, float]
    """Half extents along x and y of where the ground begins to fall."""
    level_m: float
    """z of the water surface."""
    depth_m: float
    """Of the bed below the ground around it."""
    shore_m: float
    """Distance over which the bed falls."""

    def dug(self, heights: np.ndarray, x: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
        """(len(y), len(x)) float32: heights with the bed in them."""
        dug = np.array(heights, float)
        shape = np.array([*self.centre_m, *self.half_m, self.depth_m, self.shore_m])
        for_row_bands(_bed_rows, len(y), x, y, shape, seed, dug)
        return dug.astype(np.float32)


@native
def _bed_rows(
    first: int, end: int, xs: np.ndarray, ys: np.ndarray, shape: np.ndarray, seed: int, heights: np.ndarray
) -> None:
    """Lower rows first..end of heights (len(ys), len(xs)); shape: centre, half extents, depth, shore."""
    for j in range(first, end):
        for i in range(xs.shape[0]):
            x, y = xs[i], ys[j]
            out_x, out_y = abs(x - shape[0]) - shape[2], abs(y - shape[1]) - shape[3]
            away = np.sqrt(max(out_x, 0.0) ** 2 + max(out_y, 0.0) ** 2) + min(max(out_x, out_y), 0.0)
            away += _WOBBLE_M * fractal_noise(x / 34.0, y / 34.0, 3, seed + _SEED_OFFSET)
            heights[j, i] -= shape[4] * smoothstep(0.0, shape[5], -away)


CONE_RADIUS_M = 0.19
CONE_HEIGHT_M = 0.72


@dataclass(frozen=True, slots=True, eq=False)
class Paving:
    """A level strip along a polyline."""

    points: np.ndarray
    """(n, 2) m; a closed strip repeats its first point."""
    half_width_m: float
    surface: str
    """"asphalt" or "slabs"."""


@dataclass(frozen=True, slots=True, eq=False)
class Mark:
    """A painted line."""

    points: np.ndarray
    """(n, 2) m."""
    width_m: float
    colour: str
    """"white" or "yellow"."""


@dataclass(frozen=True, slots=True, eq=False)
class Kerb:
    """A low kerb along a polyline, painted in two colours by turns."""

    points: np.ndarray
    """(n, 2) m."""
    width_m: float = 0.5
    height_m: float = 0.06


@dataclass(frozen=True, slots=True)
class Block:
    """A solid that stands on the ground."""

    centre_m: tuple[float, float]
    half_m: tuple[float, float]
    """Half extents along and across its heading."""
    height_m: float
    heading_rad: float = 0.0
    material: str = "concrete"
    """"concrete", "steel", "wood", "soil", "slabs" or "lamp"; of a hall "wall", "iron", "machine",
    "crane" or "roof"."""
    base_m: float = 0.0
    """Height of its underside."""

    @property
    def shape(self) -> Box:
        """As it stands in the way."""
        (x, y), (length, width), tall = self.centre_m, self.half_m, 0.5 * (self.height_m - self.base_m)
        return Box((x, y, self.base_m + tall), (length, width, tall), self.heading_rad)

    @property
    def corners(self) -> np.ndarray:
        """(4, 2) m, counter-clockwise."""
        local = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]) * self.half_m
        c, s = np.cos(self.heading_rad), np.sin(self.heading_rad)
        return local @ np.array([[c, s], [-s, c]]) + self.centre_m


@dataclass(frozen=True, slots=True)
class Tunnel:
    """A straight vault over a road."""

    centre_m: tuple[float, float]
    heading_rad: float
    length_m: float
    half_width_m: float
    """Of the clear way between the walls."""
    spring_m: float
    """Height at which the walls become the vault, a half circle."""
    wall_m: float = 0.9
    cutaway: bool = False
    """Drawn without its outside, so that one sees into it from above."""

    @property
    def walls(self) -> tuple[Block, Block]:
        """The two walls as obstacles."""
        c, s = np.cos(self.heading_rad), np.sin(self.heading_rad)
        off = self.half_width_m + 0.5 * self.wall_m
        left, right = (
            Block(
                (self.centre_m[0] - side * off * s, self.centre_m[1] + side * off * c),
                (0.5 * self.length_m, 0.5 * self.wall_m),
                self.spring_m,
                self.heading_rad,
            )
            for side in (1.0, -1.0)
        )
        return left, right

    @property
    def vault(self) -> tuple[ConvexMesh, ...]:
        """What spans from one wall to the other, in straight pieces as long as the tunnel."""
        c, s = np.cos(self.heading_rad), np.sin(self.heading_rad)
        rings = [self.arch(self.half_width_m), self.arch(self.half_width_m + self.wall_m)]
        aside, up = np.array(rings)[:, 1:-1].transpose(2, 1, 0)
        ends = []
        for along in (-0.5 * self.length_m, 0.5 * self.length_m):
            x, y = self.centre_m[0] + along * c + aside * s, self.centre_m[1] + along * s - aside * c
            ends.append(np.stack([x, y, up], axis=2))
        pieces = (np.concatenate([end[k : k + 2].reshape(4, 3) for end in ends]) for k in range(len(up) - 1))
        return tuple(ConvexMesh(tuple((x, y, z) for x, y, z in piece.tolist())) for piece in pieces)

    def arch(self, radius_m: float) -> np.ndarray:
        """(k, 2) m to the right of the way and up, from the right foot over the crown to the left."""
        turn = np.linspace(0.0, np.pi, _ARCH_STEPS)
        over = radius_m * np.stack([np.cos(turn), np.sin(turn)], axis=1) + (0.0, self.spring_m)
        return np.vstack([(radius_m, 0.0), over, (-radius_m, 0.0)])


@dataclass(frozen=True, slots=True)
class Bay:
    """One marked parking place."""

    centre_m: tuple[float, float]
    heading_rad: float
    """Of a car that stands in it, nose in."""
    half_m: tuple[float, float]
    """Half its depth and half its width."""


@dataclass(frozen=True, slots=True)
class Parked:
    """A vehicle that stays where it is."""

    model: str
    position_w: tuple[float, float, float]
    heading_rad: float
    paint: tuple[float, float, float] | None = None
    """Linear RGB; None: as the model is."""
    half_m: tuple[float, float] = (2.1, 0.9)
    """Half its length and half its width."""
    round: bool = False
    """Seen from above it is a disc of half its length."""

    @property
    def shape(self) -> Shape:
        """As it stands in the way, as high as a car."""
        (x, y, z), (length, width) = self.position_w, self.half_m
        centre_w = (x, y, z + _TALL_M)
        if self.round:
            return Drum(centre_w, length, _TALL_M)
        return Box(centre_w, (length, width, _TALL_M), self.heading_rad)


@dataclass(frozen=True, slots=True)
class Opening:
    """A window in a wall of a room, or a light in its roof: a rectangle of rippled glass."""

    wall: str
    """"south" (towards -y), "north", "west" (towards -x), "east" or "roof"."""
    along_m: tuple[float, float]
    """First and last x, of "west" and "east" y."""
    up_m: tuple[float, float]
    """First and last z, of "roof" y."""


@dataclass(frozen=True, slots=True)
class Room:
    """Four walls and a flat roof about the middle of a level ground."""

    half_m: tuple[float, float]
    """Half extents along x and y, within the walls."""
    height_m: float
    openings: tuple[Opening, ...] = ()
    fittings: tuple[Block, ...] = ()
    """What nobody runs into: it is only seen, and casts shadows."""

    @property
    def roof(self) -> Block:
        """As it stops what flies up; its edges lie on the walls."""
        x, y = self.half_m
        top_m = self.height_m + _ROOF_M
        return Block((0.0, 0.0), (x + _ROOF_M, y + _ROOF_M), top_m, 0.0, "roof", self.height_m)


@dataclass(frozen=True, slots=True, eq=False)
class Grounds:
    """A level ground at z = 0 and all that is on it."""

    half_m: tuple[float, float]
    """Half extents along x and y of the level part."""
    lap: np.ndarray
    """(n, 2) m: centre line of the marked way, closed; no rows where there is none."""
    lap_half_width_m: float
    """Clear to either side of the centre line."""
    paving: tuple[Paving, ...] = ()
    marks: tuple[Mark, ...] = ()
    kerbs: tuple[Kerb, ...] = ()
    blocks: tuple[Block, ...] = ()
    tunnels: tuple[Tunnel, ...] = ()
    bays: tuple[Bay, ...] = ()
    cones: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))
    """(k, 2) m."""
    parked: tuple[Parked, ...] = ()
    lake: Lake | None = None
    room: Room | None = None

    @property
    def standing(self) -> tuple[Shape, ...]:
        """All that stays where it is: what is built, tunnels' walls and vaults, roofs, what is parked or moored."""
        roofs = () if self.room is None else (self.room.roof,)
        built = (*self.blocks, *(wall for tunnel in self.tunnels for wall in tunnel.walls), *roofs)
        vaults = (piece for tunnel in self.tunnels for piece in tunnel.vault)
        return (*(block.shape for block in built), *(parked.shape for parked in self.parked), *vaults)

    def clear_of(self, x_m: np.ndarray, y_m: np.ndarray, margin_m: float) -> np.ndarray:
        """Whether points lie at least `margin_m` outside the level part."""
        out_x, out_y = np.abs(x_m) - self.half_m[0], np.abs(y_m) - self.half_m[1]
        return np.maximum(out_x, out_y) > margin_m


def offset(points: np.ndarray, left_m: float) -> np.ndarray:
    """(n, 2) polyline shifted to its left; closed ones (first point repeated) stay closed."""
    closed = np.allclose(points[0], points[-1])
    around = np.vstack([points[-2], points, points[1]]) if closed else points
    step = np.gradient(around, axis=0)
    step = step[1:-1] if closed else step
    step /= np.linalg.norm(step, axis=1, keepdims=True)
    return points + left_m * np.stack([-step[:, 1], step[:, 0]], axis=1)


def resampled(points: np.ndarray, at_m: np.ndarray) -> np.ndarray:
    """(k, 2) points of a polyline at these arc lengths."""
    s = arc_length(points)
    return np.stack([np.interp(at_m, s, points[:, 0]), np.interp(at_m, s, points[:, 1])], axis=1)
