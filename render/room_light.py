"""The light that windows throw into a room.

Walls, floor and roof send light to and fro as patches do that see each other (radiosity, Goral et al. 1984); what
comes of it is kept at probes in the air, by the six directions of the axes (the ambient cube of McTaggart 2004).
"""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from sim.platform.values import dataclass
from sim.world.props import Opening, Room

_LUMA = np.array([0.2126, 0.7152, 0.0722])
_PATCH_M = 3.0
_ALBEDO = {"floor": (0.30, 0.29, 0.27), "roof": (0.42, 0.42, 0.41), "wall": (0.50, 0.49, 0.46)}
_GLASS = 0.95
"""Share of the sky's light that rippled glass scatters into the room."""
_SUN_SCATTERED = 0.30
_OUTSIDE = 0.40
"""Share of the light on level ground that the land sends to a window."""
_SUN_THROUGH = 0.58
"""Share of the sun that goes on as it came."""
_EYE_M = 2.0
"""Height over the middle of the floor where mirrors are taken to be, as in surface.glsl."""
_BOUNCES = 12
_PROBES = np.array([0.05, 0.35, 0.9])
"""Where they are, as shares of the height."""


@dataclass(frozen=True, slots=True)
class Face:
    """One of the six sides: origin at a corner, two axes along its edges, its normal into the room."""

    name: str
    origin_w: np.ndarray
    u_w: np.ndarray
    v_w: np.ndarray
    extent_m: tuple[float, float]
    normal_w: np.ndarray

    def at(self, u_m: np.ndarray, v_m: np.ndarray) -> np.ndarray:
        """(..., 3) points of it."""
        return self.origin_w + np.asarray(u_m)[..., None] * self.u_w + np.asarray(v_m)[..., None] * self.v_w

    def inside(self, opening: Opening) -> tuple[float, float, float, float]:
        """(u, u, v, v) of its edges."""
        u = np.array(opening.along_m) - self.origin_w @ np.abs(self.u_w)
        v = np.array(opening.up_m) - self.origin_w @ np.abs(self.v_w)
        return float(u[0]), float(u[1]), float(v[0]), float(v[1])


def faces_of(room: Room) -> tuple[Face, ...]:
    """Floor, roof, and the walls to the south, north, west and east."""
    (x, y), z = room.half_m, room.height_m
    i, j, k = np.eye(3)
    low, far = np.array([-x, -y, 0.0]), np.array([x, y, 0.0])
    return (
        Face("floor", low, i, j, (2 * x, 2 * y), k),
        Face("roof", low + z * k, i, j, (2 * x, 2 * y), -k),
        Face("south", low, i, k, (2 * x, z), j),
        Face("north", low + 2 * y * j, i, k, (2 * x, z), -j),
        Face("west", low, j, k, (2 * y, z), i),
        Face("east", far - 2 * y * j, j, k, (2 * y, z), -i),
    )


class RoomLight:
    """What a sun and the sky outside make of a room."""

    def __init__(self, room: Room, direction_w: np.ndarray, sun: np.ndarray, harmonics: np.ndarray) -> None:
        """direction_w (3,) towards the sun, its irradiance (3,), and the sky's harmonics (9, 3) outside."""
        self.room, self._faces = room, faces_of(room)
        self._holes = [[face.inside(o) for o in room.openings if o.wall == face.name] for face in self._faces]
        self._direction_w, self._sun = np.asarray(direction_w, float), np.asarray(sun, float)
        self._sky = np.asarray(harmonics, float)
        self.sun = _SUN_THROUGH * self._sun
        """(3,) irradiance of what the sun reaches within."""
        self._solve()

    @cached_property
    def mean(self) -> np.ndarray:
        """(3,) irradiance of a level surface in the middle."""
        return self.irradiance(np.array([[0.0, 0.0, _EYE_M]]), np.array([[0.0, 0.0, 1.0]]))[0]

    def _glow(self, face: Face) -> np.ndarray:
        """(3,) exitance of a pane on its inner side."""
        out = -face.normal_w
        above = np.maximum(self._sky[0] + self._sky[2] + 2.0 * self._sky[6], 0.0)
        level = above + self._sun * max(float(self._direction_w[2]), 0.0)
        seen = _sky_irradiance(self._sky, out) + 0.5 * (1.0 - out[2]) * _OUTSIDE * level
        return _GLASS * seen + _SUN_SCATTERED * self._sun * max(float(out @ self._direction_w), 0.0)

    def _solve(self) -> None:
        centres, normals, areas, albedo, own, self._grids = [], [], [], [], [], []
        for face, holes in zip(self._faces, self._holes, strict=True):
            count = [max(round(extent / _PATCH_M), 1) for extent in face.extent_m]
            u, v = ((np.arange(n) + 0.5) / n * e for n, e in zip(count, face.extent_m, strict=True))
            at = face.at(*np.meshgrid(u, v, indexing="ij"))
            glazed = self._glazed(
                face, u, v, holes, [e / n for e, n in zip(face.extent_m, count, strict=True)]
            )
            tone = np.array(_ALBEDO.get(face.name, _ALBEDO["wall"]))
            lit = (
                self._sunlit(at, face.normal_w)[..., None]
                * self.sun
                * max(float(face.normal_w @ self._direction_w), 0.0)
            )
            own.append(
                (glazed[..., None] * self._glow(face) + (1.0 - glazed[..., None]) * tone * lit).reshape(-1, 3)
            )
            albedo.append(((1.0 - glazed[..., None]) * tone).reshape(-1, 3))
            centres.append(at.reshape(-1, 3))
            normals.append(np.broadcast_to(face.normal_w, at.shape).reshape(-1, 3))
            areas.append(np.full(at[..., 0].size, face.extent_m[0] * face.extent_m[1] / at[..., 0].size))
            self._grids.append(count)
        self._centres, self._normals = np.concatenate(centres), np.concatenate(normals)
        self._areas = np.concatenate(areas)
        to = self._received(self._centres, self._normals)
        source, rho = np.concatenate(own), np.concatenate(albedo)
        sent = source
        for _ in range(_BOUNCES):
            sent = source + rho * (to @ sent)
        self.sent = sent
        """(n, 3) exitance of the patches."""
        (x, y), z = self.room.half_m, self.room.height_m
        self._axes = [
            np.linspace(-x + 0.3, x - 0.3, 13),
            np.linspace(-y + 0.3, y - 0.3, 9),
            z * _PROBES,
        ]
        places = np.stack(np.meshgrid(*self._axes, indexing="ij"), axis=-1).reshape(-1, 3)
        ways, arrives = self._arrives(places)
        cube = [
            _of_all(arrives * np.maximum(sign * ways[k], 0.0)) @ sent
            for sign in (1.0, -1.0)
            for k in range(3)
        ]
        self._cube = np.stack(cube, axis=1).reshape(*(len(axis) for axis in self._axes), 6, 3)

    def _received(self, points: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """(n, patches) share of what leaves each patch, by its exitance, that points with normals get."""
        ways, arrives = self._arrives(points)
        return _of_all(arrives * np.maximum(_along(ways, normals.T[..., None]), 0.0))

    def _arrives(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Ways (3, n, patches) from points to the patches, and shares (n, patches) of what leaves each that come along
        them, for a normal of the way's length [1/m]."""
        ways = self._centres.T[:, None] - points.T[..., None]
        away2 = np.maximum(_along(ways, ways), 1e-6)
        leaves = np.maximum(-_along(ways, self._normals.T[:, None]), 0.0)
        return ways, leaves * self._areas / (away2 * (np.pi * away2 + self._areas))

    def _glazed(
        self, face: Face, u: np.ndarray, v: np.ndarray, holes: Sequence[tuple[float, ...]], size: list[float]
    ) -> np.ndarray:
        """(nu, nv) share of each patch that is glass."""
        share = np.zeros((len(u), len(v)))
        for u0, u1, v0, v1 in holes:
            along = (
                np.clip(np.minimum(u + size[0] / 2, u1) - np.maximum(u - size[0] / 2, u0), 0.0, None)
                / size[0]
            )
            up = (
                np.clip(np.minimum(v + size[1] / 2, v1) - np.maximum(v - size[1] / 2, v0), 0.0, None)
                / size[1]
            )
            share += along[:, None] * up
        return np.minimum(share, 1.0)

    def _sunlit(self, at: np.ndarray, normal_w: np.ndarray) -> np.ndarray:
        """Share (...) of patches that the sun reaches through an opening."""
        offs = (np.arange(4) - 1.5) / 4.0 * _PATCH_M
        tangents = np.eye(3)[np.abs(normal_w) < 0.5]
        share = np.zeros(at.shape[:-1])
        for a in offs:
            for b in offs:
                share += self._seen_from(at + a * tangents[0] + b * tangents[1], self._direction_w)[1] / 16.0
        return share

    def _seen_from(self, at: np.ndarray, ray: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of rays (..., 3) from points within: face number, whether an opening is met, and the point (..., 3)."""
        ray = np.broadcast_to(ray, at.shape)
        best, number = np.full(at.shape[:-1], np.inf), np.zeros(at.shape[:-1], int)
        for k, face in enumerate(self._faces):
            speed = ray @ face.normal_w
            with np.errstate(divide="ignore", invalid="ignore"):
                t = ((face.origin_w - at) @ face.normal_w) / speed
            ahead = (speed < -1e-9) & (t < best)
            best, number = np.where(ahead, t, best), np.where(ahead, k, number)
        met = at + np.where(np.isfinite(best), best, 0.0)[..., None] * ray
        opened = np.zeros(at.shape[:-1], bool)
        for k, (face, holes) in enumerate(zip(self._faces, self._holes, strict=True)):
            u, v = (met - face.origin_w) @ face.u_w, (met - face.origin_w) @ face.v_w
            for u0, u1, v0, v1 in holes:
                opened |= (number == k) & (u > u0) & (u < u1) & (v > v0) & (v < v1)
        return number, opened, met

    def table(self, rows: int, columns: int) -> np.ndarray:
        """(rows, columns, 4) float32 radiance by direction, seen from the middle, as the sky's table has it."""
        v = (np.arange(rows) + 0.5) / rows * 2.0 - 1.0
        elevation = np.sign(v) * v * v * np.pi / 2.0
        azimuth = (np.arange(columns) + 0.5) / columns * 2.0 * np.pi
        ray = np.stack(
            [
                np.cos(elevation)[:, None] * np.cos(azimuth),
                np.cos(elevation)[:, None] * np.sin(azimuth),
                np.broadcast_to(np.sin(elevation)[:, None], (rows, columns)),
            ],
            axis=-1,
        )
        number, opened, met = self._seen_from(np.broadcast_to(np.array([0.0, 0.0, _EYE_M]), ray.shape), ray)
        out = np.zeros((rows, columns, 4), "f4")
        first = 0
        for k, (face, (nu, nv)) in enumerate(zip(self._faces, self._grids, strict=True)):
            chosen = number == k
            u = ((met - face.origin_w) @ face.u_w)[chosen] / face.extent_m[0] * nu
            w = ((met - face.origin_w) @ face.v_w)[chosen] / face.extent_m[1] * nv
            grid = self.sent[first : first + nu * nv].reshape(nu, nv, 3)
            first += nu * nv
            solid = grid[np.clip(u.astype(int), 0, nu - 1), np.clip(w.astype(int), 0, nv - 1)]
            out[chosen, :3] = np.where(opened[chosen][:, None], self._glow(face), solid) / np.pi
        return out

    def irradiance(self, points: np.ndarray, normals: np.ndarray) -> np.ndarray:
        """(n, 3) from all but the sun itself, at points (n, 3) with normals (n, 3)."""
        weights = []
        for axis, x in zip(self._axes, points.T, strict=True):
            at = np.interp(x, axis, np.arange(len(axis)))
            low = np.minimum(at.astype(int), len(axis) - 2)
            weights.append((low, at - low))
        total = np.zeros((len(points), 6, 3))
        for corner in np.ndindex(2, 2, 2):
            share = np.ones(len(points))
            index = []
            for (low, part), one in zip(weights, corner, strict=True):
                share = share * (part if one else 1.0 - part)
                index.append(low + one)
            total += share[:, None, None] * self._cube[tuple(index)]
        towards = np.concatenate([np.maximum(normals, 0.0), np.maximum(-normals, 0.0)], axis=1) ** 2
        found: np.ndarray = np.einsum("nd,ndc->nc", towards, total)
        return found

    def shares(self, points: np.ndarray, normals: np.ndarray, panes: np.ndarray) -> np.ndarray:
        """(n,) brightness of the light at points, for panes (n,) bool what they send into the room."""
        light = self.irradiance(points, normals) @ _LUMA
        for face in self._faces:
            alike = panes & (normals @ face.normal_w > 0.9)
            light[alike] = float(self._glow(face) @ _LUMA)
        return light


def _along(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Products of vectors whose coordinates are the first axis."""
    product: np.ndarray = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    return product


def _of_all(shares: np.ndarray) -> np.ndarray:
    """Of a closed room, which is all that there is to see."""
    return shares / shares.sum(axis=1, keepdims=True)


def _sky_irradiance(h: np.ndarray, n: np.ndarray) -> np.ndarray:
    """(3,) as sky.glsl evaluates harmonics."""
    x, y, z = n
    basis = np.array([1.0, y, z, x, x * y, y * z, 3.0 * z * z - 1.0, x * z, x * x - y * y])
    return np.maximum(basis @ h, 0.0)
