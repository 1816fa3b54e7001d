"""What is laid out on a level ground, as one mesh: solids first, then what is painted or paved, in layers.

Vertices (n, 11) float32: position 3 (world), normal 3, uv 2, kind, layer, open sky share s: 0..1, or 2 - s where lamps
shine in place of what is hidden. Kinds are rows of KINDS; layer 0 is solid, others lie in the ground's plane and are
drawn above lower ones. uv: (m along, m from the edge) of strips, (0, share of the height) of cones, metres on the face
of everything else.
"""

from itertools import pairwise

import moderngl
import numpy as np

from render.land.mapped import LevelSun
from render.land.mesh import Mesh, quad_indices
from render.land.room import Panel, kept_openness, panels_of
from render.passes.culling import Boxes
from render.passes.targets import PassContext
from render.programs import Programs, Resources, uniform, vertex_array
from render.room_light import RoomLight
from sim.contact.obstacles import ObstaclesPicture
from sim.contact.obstacles.cones import CENTRE_M
from sim.platform.values import dataclass
from sim.world.path import arc_length
from sim.world.props import (
    CONE_HEIGHT_M,
    CONE_RADIUS_M,
    Block,
    Grounds,
    Kerb,
    Mark,
    Paving,
    Room,
    Tunnel,
)

KINDS = (
    "asphalt",
    "slabs",
    "white",
    "yellow",
    "kerb",
    "cone",
    "concrete",
    "steel",
    "wood",
    "soil",
    "lamp",
    "lining",
    "floor",
    "wall",
    "roof",
    "pane",
    "iron",
    "machine",
    "crane",
)
PROP_FLOATS = 11
_CELL_M = 24.0
"""Of what is culled, and shaded, together."""
_ANYWHERE_M = 1e5
_PAVED = tuple(KINDS.index(kind) for kind in ("asphalt", "slabs", "floor"))
_WIDE = (*_PAVED, *(KINDS.index(kind) for kind in ("concrete", "wood", "wall", "roof")))
"""Kinds that cover so much of a picture that a program of their own is worth while."""
_ANY = -1
"""Of all other kinds."""
_CHAMFER_M = 0.025
_POST = 6.0
"""Blocks this many times as high as half as wide are posts."""
_CONE_SIDES = 14
_PORTAL_M = 0.7
_SHADE_M = 7.0
"""Light of the sky fades into a tunnel over this distance."""
_LEAST_SKY = 0.24
"""Share of the sky's light that is left deep inside."""


@dataclass(frozen=True, slots=True, eq=False)
class PropMesh(Mesh):
    """The mesh of a ground's things; `solid` indices (counted singly) come first and cast shadows."""

    solid: int
    cones: int = 0
    """Of them, the first in the mesh, each of `posed_cone`'s size."""
    room: Room | None = None
    """That it is within: then the last column of vertices is how open a place is to the room's light."""


def prop_mesh(grounds: Grounds) -> PropMesh:
    """Everything on a level ground."""
    room = grounds.room
    built = grounds.blocks if room is None else (*grounds.blocks, *room.fittings)
    solids = [_cone(x, y) for x, y in grounds.cones]
    solids += [
        _block(block, tunnels=grounds.tunnels, chamfered=room is None)
        for block in built
        if block.material != "wall"
    ]
    solids += [part for kerb in grounds.kerbs for part in _kerb(kerb)]
    solids += [part for tunnel in grounds.tunnels for part in _vault(tunnel)]
    flat = [_paving(paving, 1.0 + 0.25 * k, grounds.tunnels) for k, paving in enumerate(grounds.paving)]
    flat += [_mark(mark, grounds.tunnels) for mark in grounds.marks]
    for panel in () if room is None else panels_of(room):
        (solids if panel.kind in ("wall", "roof") else flat).append(_panel(panel))
    solid = _quads(solids)
    everything = np.concatenate([solid, _quads(flat)])
    vertices = everything.reshape(-1, PROP_FLOATS).astype(np.float32)
    if room is not None:
        vertices[:, 10] = kept_openness(vertices[:, :6], room, built)
    return PropMesh(vertices, quad_indices(len(everything)), 6 * len(solid), len(grounds.cones), room)


def _panel(panel: Panel) -> np.ndarray:
    layer = 1.0 if panel.kind == "floor" else 0.0
    return _rows(panel.corners_w, panel.normal_w, panel.uv_m, panel.kind, layer)


def posed_cone(T_wb: np.ndarray, centre_m: float) -> np.ndarray:
    """(n, 11) float32 vertices of a cone; T_wb (4, 4) is the pose of its axis' point `centre_m` above its foot."""
    rows = _quads([_cone(0.0, 0.0)]).reshape(-1, PROP_FLOATS)
    rows[:, 2] -= centre_m
    rows[:, :3] = rows[:, :3] @ T_wb[:3, :3].T + T_wb[:3, 3]
    rows[:, 3:6] = rows[:, 3:6] @ T_wb[:3, :3].T
    return rows.astype(np.float32)


def _quads(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate(
        [part.reshape(-1, 4, PROP_FLOATS) for part in parts] or [np.zeros((0, 4, PROP_FLOATS))]
    )


def _rows(
    position: np.ndarray, normal: np.ndarray, uv: np.ndarray, kind: str, layer: float = 0.0, sky: object = 1.0
) -> np.ndarray:
    """(..., 11) vertices; arguments broadcast against `position` (..., 3)."""
    rows = np.empty((*position.shape[:-1], PROP_FLOATS))
    rows[..., :3], rows[..., 3:6], rows[..., 6:8] = position, normal, uv
    rows[..., 8], rows[..., 9], rows[..., 10] = KINDS.index(kind), layer, sky
    return rows


def _grid_quads(grid: np.ndarray) -> np.ndarray:
    """(k, 4, 11) quads of a vertex grid (rows, columns, 11)."""
    corners = [grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]]
    return np.stack(corners, axis=2).reshape(-1, 4, PROP_FLOATS)


def _frames(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Left normals (n, 2), mitred at the ends of closed polylines, and arc length (n,)."""
    closed = np.allclose(points[0], points[-1]) and len(points) > 2
    around = np.vstack([points[-2], points, points[1]]) if closed else points
    step = np.gradient(around, axis=0)[1:-1] if closed else np.gradient(around, axis=0)
    step = step / np.linalg.norm(step, axis=1, keepdims=True)
    return np.stack([-step[:, 1], step[:, 0]], axis=1), arc_length(points)


def _strip(points: np.ndarray, half_width_m: float, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Positions (n, columns, 3) from right to left, and uv (n, columns, 2) = (along, from the edge)."""
    left, s = _frames(points)
    across = np.linspace(-half_width_m, half_width_m, columns)
    position = np.zeros((len(points), columns, 3))
    position[..., :2] = points[:, None] + across[None, :, None] * left[:, None]
    uv = np.empty((len(points), columns, 2))
    uv[..., 0], uv[..., 1] = s[:, None], half_width_m - np.abs(across)
    return position, uv


def _sky_share(xy: np.ndarray, tunnels: tuple[Tunnel, ...]) -> np.ndarray:
    """(...,) how much of the sky is seen from points (..., 2) on the ground: s, or 2 - s beneath a tunnel's lamps."""
    share = np.ones(xy.shape[:-1])
    for tunnel in tunnels:
        c, s = np.cos(tunnel.heading_rad), np.sin(tunnel.heading_rad)
        off = xy - tunnel.centre_m
        along = np.abs(off[..., 0] * c + off[..., 1] * s)
        aside = np.abs(off[..., 1] * c - off[..., 0] * s)
        depth = np.where(aside < tunnel.half_width_m + 0.6, 0.5 * tunnel.length_m - along, -1e3)
        share = np.minimum(share, np.clip(0.55 - depth / _SHADE_M, _LEAST_SKY, 1.0))
    return 2.0 - share


def _paving(paving: Paving, layer: float, tunnels: tuple[Tunnel, ...]) -> np.ndarray:
    points = paving.points
    if len(points) == 2:
        count = max(int(np.linalg.norm(points[1] - points[0])), 2)
        points = points[0] + np.linspace(0.0, 1.0, count)[:, None] * (points[1] - points[0])
    position, uv = _strip(points, paving.half_width_m, 5)
    sky = _sky_share(position[..., :2], tunnels)
    return _grid_quads(_rows(position, np.array([0.0, 0.0, 1.0]), uv, paving.surface, layer, sky))


def _mark(mark: Mark, tunnels: tuple[Tunnel, ...]) -> np.ndarray:
    position, uv = _strip(mark.points, 0.5 * mark.width_m, 2)
    sky = _sky_share(position[..., :2], tunnels)
    layer = 3.0 if mark.colour == "white" else 2.5
    return _grid_quads(_rows(position, np.array([0.0, 0.0, 1.0]), uv, mark.colour, layer, sky))


def _kerb(kerb: Kerb) -> list[np.ndarray]:
    """Slanting sides and a level top."""
    left, s = _frames(kerb.points)
    half, top = 0.5 * kerb.width_m, kerb.height_m
    profile = [(half, 0.0), (0.45 * half, top), (-0.45 * half, top), (-half, 0.0)]
    parts = []
    for (a, za), (b, zb) in pairwise(profile):
        position = np.zeros((len(s), 2, 3))
        for column, (across, z) in enumerate(((b, zb), (a, za))):
            position[:, column, :2] = kerb.points + across * left
            position[:, column, 2] = z
        rise = np.array([za - zb, a - b]) / np.hypot(za - zb, a - b)
        normal = np.concatenate([-rise[0] * left, np.full((len(s), 1), rise[1])], axis=1)[:, None]
        uv = np.stack([np.repeat(s[:, None], 2, axis=1), np.full((len(s), 2), half)], axis=-1)
        parts.append(_grid_quads(_rows(position, normal, uv, "kerb")))
    return parts


def _cone(x: float, y: float) -> np.ndarray:
    """A cone on a square foot."""
    turn = np.linspace(0.0, 2.0 * np.pi, _CONE_SIDES + 1)
    share = np.array([0.0, 0.5, 1.0])
    radius = CONE_RADIUS_M * (0.74 - 0.62 * share)
    position = np.empty((len(turn), 3, 3))
    position[..., 0] = x + np.cos(turn)[:, None] * radius
    position[..., 1] = y + np.sin(turn)[:, None] * radius
    position[..., 2] = 0.03 + (CONE_HEIGHT_M - 0.03) * share
    slope = 0.62 * CONE_RADIUS_M / CONE_HEIGHT_M
    normal = np.stack([np.cos(turn), np.sin(turn), np.full_like(turn, slope)], axis=1)[:, None]
    uv = np.stack(np.broadcast_arrays(np.zeros((len(turn), 3)), share), axis=-1)
    foot = Block((x, y), (CONE_RADIUS_M, CONE_RADIUS_M), 0.035)
    return np.concatenate([_grid_quads(_rows(position, normal, uv, "cone")), _block(foot, kind="cone")])


def _block(
    block: Block, kind: str | None = None, tunnels: tuple[Tunnel, ...] = (), *, chamfered: bool = True
) -> np.ndarray:
    """A box, its upper edges chamfered or sharp."""
    c, s = np.cos(block.heading_rad), np.sin(block.heading_rad)
    base, top = block.base_m, block.height_m
    cut = min(_CHAMFER_M, 0.3 * min(*block.half_m, top - base)) if chamfered else 0.0
    rings = []
    for z, inset in ((base, 0.0), (top - cut, 0.0), (top, cut)):
        corner = np.array([(-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0)]) * (
            np.array(block.half_m) - inset
        )
        rings.append(np.column_stack([corner, np.full(4, z)]))
    faces = [rings[2]]
    for low, high in ((rings[0], rings[1]), (rings[1], rings[2]))[: 2 if chamfered else 1]:
        faces += [np.array([low[k], low[(k + 1) % 4], high[(k + 1) % 4], high[k]]) for k in range(4)]
    faces += [rings[0][::-1]] if base > 0.0 else []
    # A lamp shines down alone: above a tunnel that is cut open none hangs in the air.
    local = np.stack(faces[-1:] if block.material == "lamp" else faces)
    normal = np.cross(local[:, 1] - local[:, 0], local[:, 3] - local[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    upright = np.abs(normal[:, None, 2]) > 0.5
    u = np.where(np.abs(normal[:, None, 0]) > 0.5, local[..., 1], local[..., 0])
    uv = np.stack([u, np.where(upright, local[..., 1], local[..., 2])], axis=-1)
    if top - base > _POST * max(block.half_m):
        uv = np.where(upright[..., None], uv, uv[..., ::-1])  # the grain of a post runs upwards
    turn = np.array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])
    position = local @ turn + np.array([*block.centre_m, 0.0])
    # Near the ground a wall sees less of the sky.
    sky = np.where(upright, 1.0, 0.62 + 0.38 * np.clip(local[..., 2] / 0.5, 0.0, 1.0))
    under = _sky_share(position[..., :2], tunnels)
    sky = np.where(under > 1.0, under, sky)
    return _rows(position, (normal @ turn)[:, None], uv, kind or block.material, 0.0, sky)


def _vault(tunnel: Tunnel) -> list[np.ndarray]:
    """A shell of even thickness, thicker at both portals."""
    half = 0.5 * tunnel.length_m
    spans = [
        (-half, -half + _PORTAL_M, 1.5),
        (-half + _PORTAL_M, half - _PORTAL_M, 1.0),
        (half - _PORTAL_M, half, 1.5),
    ]
    parts = []
    for low, high, thickness in spans:
        outer_m = tunnel.half_width_m + thickness * tunnel.wall_m
        inner, outer = _arch(tunnel, tunnel.half_width_m), _arch(tunnel, outer_m)
        along = np.linspace(low, high, max(int(high - low), 2))
        parts.append(_tube(tunnel, inner, along, inside=True))
        if thickness > 1.0 or not tunnel.cutaway:
            parts.append(_tube(tunnel, outer, along, inside=False))
        for at, facing in ((low, -1.0), (high, 1.0)):
            if abs(at) == half:
                parts.append(_portal(tunnel, inner[0], outer[0], at, facing))
            elif thickness > 1.0:  # the step from the portal down to the rest, or to nothing
                down = inner if tunnel.cutaway else _arch(tunnel, tunnel.half_width_m + tunnel.wall_m)
                parts.append(_portal(tunnel, down[0], outer[0], at, facing))
    return parts


def _arch(tunnel: Tunnel, radius_m: float) -> tuple[np.ndarray, np.ndarray]:
    """Outline (k, 2) across and up, from the right foot over the crown to the left, and outward normals (k, 2)."""
    outline = tunnel.arch(radius_m)
    round_part = (outline[1:-1] - (0.0, tunnel.spring_m)) / radius_m
    return outline, np.vstack([(1.0, 0.0), round_part, (-1.0, 0.0)])


def _tube(
    tunnel: Tunnel, arch: tuple[np.ndarray, np.ndarray], along: np.ndarray, *, inside: bool
) -> np.ndarray:
    outline, outward = arch
    position = _placed(tunnel, along[:, None], outline[None, :, 0], outline[None, :, 1])
    sign = -1.0 if inside else 1.0
    normal = _turned(tunnel, 0.0 * along[:, None], sign * outward[None, :, 0], sign * outward[None, :, 1])
    girth = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(outline, axis=0), axis=1))]
    uv = np.stack(np.broadcast_arrays(along[:, None], girth[None]), axis=-1)
    depth = 0.5 * tunnel.length_m - np.abs(along)
    sky = 2.0 - np.clip(0.6 - depth / _SHADE_M, _LEAST_SKY, 1.0)[:, None] if inside else 1.0
    kind = "lining" if inside and tunnel.cutaway else "concrete"
    quads = _grid_quads(_rows(position, normal, uv, kind, 0.0, sky))
    return quads if inside else quads[:, ::-1]


def _portal(tunnel: Tunnel, inner: np.ndarray, outer: np.ndarray, at: float, facing: float) -> np.ndarray:
    ring = np.stack([inner, outer], axis=1)
    position = _placed(tunnel, np.array(at), ring[..., 0], ring[..., 1])
    normal = _turned(tunnel, np.array(facing), np.array(0.0), np.array(0.0))
    quads = _grid_quads(_rows(position, normal, ring, "concrete"))
    return quads if facing > 0.0 else quads[:, ::-1]


def _placed(tunnel: Tunnel, along: np.ndarray, across: np.ndarray, up: np.ndarray) -> np.ndarray:
    return _turned(tunnel, along, across, up) + np.array([*tunnel.centre_m, 0.0])


def _turned(tunnel: Tunnel, along: np.ndarray, across: np.ndarray, up: np.ndarray) -> np.ndarray:
    """(..., 3) world directions of components along, to the right of and above the way."""
    c, s = np.cos(tunnel.heading_rad), np.sin(tunnel.heading_rad)
    along, across, up = np.broadcast_arrays(along, across, up)
    return np.stack([along * c + across * s, along * s - across * c, up], axis=-1)


_FORMAT = ("3f 3f 2f 2f 1f", "position", "normal", "uv", "surface", "sky_share")


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Runs of a prop mesh's indices, each of one kind and in one square of the ground; solids first."""

    indices: np.ndarray
    """(m, 3) of the mesh, in this order."""
    kind: np.ndarray
    """(n,) of each run."""
    first: np.ndarray
    """(n,) in indices counted singly."""
    count: np.ndarray
    low: np.ndarray
    """(n, 3) m corners of what it draws."""
    high: np.ndarray

    @staticmethod
    def of(mesh: PropMesh) -> "Pieces":
        """Cut by kind and by squares of the ground."""
        corners = mesh.vertices[mesh.indices]
        kind = corners[:, 0, 8].astype(int)
        movable = kind == KINDS.index("cone")
        kind = np.where(np.isin(kind, _WIDE), kind, _ANY)
        column, row = np.floor(corners[..., :2].mean(axis=1) / _CELL_M).astype(int).T
        layered = np.arange(len(kind)) >= mesh.solid // 3
        order = np.lexsort((row, column, movable, kind, layered))
        key = np.stack([layered, kind, movable, column, row], axis=1)[order]
        begins = np.r_[True, (np.diff(key, axis=0) != 0).any(axis=1)][: len(order)]
        first = np.flatnonzero(begins)
        count = np.diff(np.append(first, len(order)))
        places = corners[order][..., :3]
        low, high = places.min(axis=1), places.max(axis=1)
        low = np.minimum.reduceat(low, first) if len(first) else low
        high = np.maximum.reduceat(high, first) if len(first) else high
        movable = key[first, 2] == 1
        low[movable], high[movable] = -_ANYWHERE_M, _ANYWHERE_M
        return Pieces(mesh.indices[order], key[first, 1], 3 * first, 3 * count, low, high)

    def runs(self, drawn: np.ndarray, shaded: np.ndarray) -> list[tuple[int, bool, int, int]]:
        """(kind, shaded, first, count) of the pieces that are `drawn` (n,) bool, those that follow each other and are
        alike as one."""
        chosen = np.flatnonzero(drawn)
        if not len(chosen):
            return []
        kind, shaded, end = self.kind[chosen], shaded[chosen], (self.first + self.count)[chosen]
        apart = (np.diff(kind) != 0) | (shaded[1:] != shaded[:-1]) | (np.diff(chosen) != 1)
        begins = np.flatnonzero(np.r_[True, apart])
        ends = end[np.append(begins[1:], len(chosen)) - 1]
        first = self.first[chosen][begins]
        columns = kind[begins], shaded[begins], first, ends - first
        return list(zip(*(column.tolist() for column in columns), strict=True))


class Props:
    """One mesh, of which only solids cast shadows. Cones may be moved."""

    def __init__(self, ctx: moderngl.Context, programs: Programs, mesh: PropMesh, *, by_kind: bool = False):
        """`by_kind`: programs of their own for what covers much of a picture, and for paving that no vehicle shades,
        in place of one that chooses by pixel."""
        self._resources = Resources()
        self._mesh, self._solid = mesh, mesh.solid
        self._vertices = vertices = self._resources.own(
            ctx.buffer(np.ascontiguousarray(mesh.vertices, "f4"), dynamic=True)
        )
        self._placed: dict[int, np.ndarray] = {}
        """Poses (4, 4) at which cones are drawn that do not stand where they stood at first."""
        self._pieces = Pieces.of(mesh) if by_kind else None
        order = mesh.indices if self._pieces is None else self._pieces.indices
        indices = self._resources.own(ctx.buffer(np.ascontiguousarray(order, "u4")))
        content = [(vertices, *_FORMAT)]
        programs = programs if mesh.room is None else programs.where(ROOM=1)

        def array(fragment: str, vertex: str = "prop.vert", /, **defines: int) -> moderngl.VertexArray:
            program = programs.load(vertex, fragment, **defines)
            return self._resources.own(vertex_array(ctx, program, content, indices))

        self._array, self._shadow = array, array("depth.frag", "terrain_depth.vert")
        self._opaque: dict[tuple[int, int], moderngl.VertexArray] = {}
        """By kind, and what else may shade it: 0 nothing, 1 vehicles, 2 what stands about too."""
        self.level_sun: LevelSun | None = None
        """What paving has of the sun, where it is looked up."""
        if self._pieces is None:
            return
        self._boxes = Boxes(self._pieces.low, self._pieces.high)
        self._paved = np.isin(self._pieces.kind, _PAVED)
        if self._paved.any():
            low, high = self._pieces.low[self._paved, :2], self._pieces.high[self._paved, :2]
            corners = np.array([low.min(axis=0), high.max(axis=0)])
            self.level_sun = self._resources.own(LevelSun(ctx, programs, corners))
        for kind in np.unique(self._pieces.kind).tolist():
            for under in (0, 1) if kind in _PAVED else (1,):
                self._looking_like(kind, under)

    def _looking_like(self, kind: int, under: int) -> moderngl.VertexArray:
        if (kind, under) not in self._opaque:
            own = {} if kind == _ANY else {"KIND": kind}
            if kind in _PAVED:
                own["PAVED"] = 1
            looks = self._opaque[kind, under] = self._array("prop.frag", UNDER_VEHICLE=under, **own)
            if kind in _PAVED and self.level_sun is not None:
                uniform(looks.program, "level_place").value = self.level_sun.place
        return self._opaque[kind, under]

    def place_cones(self, picture: ObstaclesPicture | None) -> None:
        """Put the cones that have moved where they are, and all others back; None: none has."""
        moved = {} if picture is None else {int(k): picture.poses[k] for k in np.flatnonzero(picture.moved)}
        for k, pose in moved.items():
            if k < self._mesh.cones and not (k in self._placed and np.array_equal(self._placed[k], pose)):
                self._write_cone(k, posed_cone(pose, CENTRE_M))
        for k in self._placed.keys() - moved.keys():
            size = len(posed_cone(np.eye(4), 0.0))
            self._write_cone(k, self._mesh.vertices[k * size : (k + 1) * size])
        self._placed = moved

    def light_room(self, light: RoomLight | None) -> None:
        """Have what a room's windows give."""
        if light is None:
            return
        rows = self._mesh.vertices.copy()
        panes = rows[:, 8] == KINDS.index("pane")
        shares = light.shares(rows[:, :3].astype(float), rows[:, 3:6].astype(float), panes)
        rows[:, 10] = np.where(panes, shares, rows[:, 10] * shares)
        self._vertices.write(np.ascontiguousarray(rows, "f4"))

    def _write_cone(self, k: int, rows: np.ndarray) -> None:
        data = np.ascontiguousarray(rows, "f4")
        self._vertices.write(data, offset=k * data.nbytes)

    def draw(self, context: PassContext) -> None:
        """Draw everything into an opaque pass, the solids into a shadow pass."""
        if context.name == "shadow":
            if self._solid:
                self._shadow.render(moderngl.TRIANGLES, vertices=self._solid)
            return
        if self.level_sun is not None:
            self.level_sun.bind()
        # In a mirror, from below, what lies in the ground would cover all that stands on it.
        end = self._solid if context.mirrored else self._mesh.indices.size
        if self._mesh.room is not None:  # from outside one looks in
            context.ctx.enable(moderngl.CULL_FACE)
        for kind, under, first, count in self._seen(context):
            if first < end:
                self._looking_like(kind, under).render(
                    moderngl.TRIANGLES, vertices=min(count, end - first), first=first
                )
        if self._mesh.room is not None:
            context.ctx.disable(moderngl.CULL_FACE)

    def _seen(self, context: PassContext) -> list[tuple[int, int, int, int]]:
        """(kind, what may shade it, first, count) of what is drawn."""
        if self._pieces is None:
            return [(_ANY, 2, 0, self._mesh.indices.size)]
        near = np.zeros(len(self._paved), bool)
        if context.near_vehicles is not None:
            near = self._boxes.visible(context.near_vehicles)
        shading = 2 if context.stands else 1
        runs = self._pieces.runs(self._boxes.visible(context.frustum), near | ~self._paved)
        return [(kind, shading if shaded else 0, first, count) for kind, shaded, first, count in runs]

    def release(self) -> None:
        """Free buffers and arrays."""
        self._resources.close()
