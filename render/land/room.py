"""Floor, walls, roof and panes of a room as rectangles, and how open its places are to light."""

import hashlib
from itertools import pairwise

import numpy as np

from render.room_light import faces_of
from sim.native.function import native
from sim.platform.cache import cached_arrays, source_digest
from sim.platform.values import dataclass
from sim.world.props import Block, Room
from sim.world.terrain import for_row_bands

_DIGEST = source_digest(__file__)
_FINE_M, _COARSE_M = 0.75, 1.5
"""Longest sides of the rectangles of the floor, and of all else."""
_REACH_M = 1.7
"""Beyond it nothing darkens a corner."""
_RAYS = 28


def _cells(edges: list[float], extent_m: float, most_m: float) -> np.ndarray:
    """Lines at all edges, no further apart than that."""
    lines = np.unique(np.round([0.0, extent_m, *edges], 4))
    parts = [np.linspace(a, b, max(int(np.ceil((b - a) / most_m)), 1) + 1)[:-1] for a, b in pairwise(lines)]
    return np.append(np.concatenate(parts), extent_m)


@dataclass(frozen=True, slots=True)
class Panel:
    """A rectangle of a face: (4, 3) corners, counter-clockwise from within, (4, 2) metres on the face."""

    corners_w: np.ndarray
    uv_m: np.ndarray
    normal_w: np.ndarray
    kind: str
    """"floor", "wall", "roof" or "pane"."""


def panels_of(room: Room) -> list[Panel]:
    """The whole shell, openings as panes."""
    found = []
    for face in faces_of(room):
        holes = [face.inside(o) for o in room.openings if o.wall == face.name]
        fine = _FINE_M if face.name == "floor" else _COARSE_M
        us = _cells([e for hole in holes for e in hole[:2]], face.extent_m[0], fine)
        vs = _cells([e for hole in holes for e in hole[2:]], face.extent_m[1], fine)
        kind = face.name if face.name in ("floor", "roof") else "wall"
        turns = np.cross(face.u_w, face.v_w) @ face.normal_w
        for u0, u1 in pairwise(us):
            for v0, v1 in pairwise(vs):
                u, v = 0.5 * (u0 + u1), 0.5 * (v0 + v1)
                hole = next((h for h in holes if h[0] < u < h[1] and h[2] < v < h[3]), None)
                if hole is not None and (u0 > hole[0] + 1e-6 or v0 > hole[2] + 1e-6):
                    continue  # one pane fills all of it
                a, b, c, d = (u0, u1, v0, v1) if hole is None else hole
                uv = np.array([(a, c), (b, c), (b, d), (a, d)])
                corners = face.at(uv[:, 0], uv[:, 1])
                if hole is not None:
                    uv = uv - (a, c)
                order = slice(None) if turns > 0.0 else slice(None, None, -1)
                found.append(
                    Panel(corners[order], uv[order], face.normal_w, kind if hole is None else "pane")
                )
    return found


@native
def _open_rows(
    first: int,
    end: int,
    points: np.ndarray,
    rays: np.ndarray,
    boxes: np.ndarray,
    reach: float,
    out: np.ndarray,
) -> None:
    """out[first:end]: share of light that boxes (k, 6) leave points (n, 6) with normals, by rays about +z (m, 3)."""
    for row in range(first, end):
        nx, ny, nz = points[row, 3], points[row, 4], points[row, 5]
        # A frame about the normal without branches that blow up (Duff et al. 2017).
        sign = 1.0 if nz >= 0.0 else -1.0
        a = -1.0 / (sign + nz)
        b = nx * ny * a
        light = 0.0
        for ray in range(rays.shape[0]):
            u, v, w = rays[ray, 0], rays[ray, 1], rays[ray, 2]
            dx = u * (1.0 + sign * nx * nx * a) + v * b + w * nx
            dy = u * sign * b + v * (sign + ny * ny * a) + w * ny
            dz = -u * sign * nx - v * ny + w * nz
            nearest = reach
            px, py, pz = points[row, 0] + 0.01 * nx, points[row, 1] + 0.01 * ny, points[row, 2] + 0.01 * nz
            for k in range(boxes.shape[0]):
                if abs(boxes[k, 0] - px) > boxes[k, 3] + reach or abs(boxes[k, 1] - py) > boxes[k, 4] + reach:
                    continue
                enter, leave = 0.0, nearest
                for axis in range(3):
                    d = dx if axis == 0 else (dy if axis == 1 else dz)
                    p = px if axis == 0 else (py if axis == 1 else pz)
                    step = d if abs(d) > 1e-9 else 1e-9
                    one = (boxes[k, axis] - boxes[k, 3 + axis] - p) / step
                    other = (boxes[k, axis] + boxes[k, 3 + axis] - p) / step
                    enter = max(enter, min(one, other))
                    leave = min(leave, max(one, other))
                if enter < leave and enter > 0.0:
                    nearest = enter
            light += nearest / reach
        out[row] = light / rays.shape[0]


def openness(points: np.ndarray, room: Room, blocks: tuple[Block, ...]) -> np.ndarray:
    """(n,) share of light that is left in corners and under things, of points (n, 6) with normals."""
    (x, y), z, thick = room.half_m, room.height_m, 0.5
    shell = [(0.0, 0.0, -thick, x, y, thick), (0.0, 0.0, z + thick, x, y, thick)]
    shell += [(0.0, s * (y + thick), 0.5 * z, x, thick, 0.5 * z) for s in (-1.0, 1.0)]
    shell += [(s * (x + thick), 0.0, 0.5 * z, thick, y, 0.5 * z) for s in (-1.0, 1.0)]
    stand = [
        (*b.centre_m, 0.5 * (b.base_m + b.height_m), *b.half_m, 0.5 * (b.height_m - b.base_m))
        for b in blocks
        if b.material != "wall"
    ]
    k = np.arange(_RAYS) + 0.5
    radius, turn = np.sqrt(k / _RAYS), k * np.pi * (3.0 - np.sqrt(5.0))
    rays = np.column_stack([radius * np.cos(turn), radius * np.sin(turn), np.sqrt(1.0 - radius**2)])
    rounded, back = np.unique(np.round(points, 4), axis=0, return_inverse=True)
    out = np.empty(len(rounded))
    for_row_bands(_open_rows, len(rounded), rounded, rays, np.array(shell + stand), _REACH_M, out)
    return out[back.ravel()]


def kept_openness(points: np.ndarray, room: Room, blocks: tuple[Block, ...]) -> np.ndarray:
    """`openness`, kept on disk: it takes half a second."""
    asked = hashlib.sha256(np.ascontiguousarray(points, "f4").tobytes() + repr((room, blocks)).encode())
    name = f"{_DIGEST}-{asked.hexdigest()[:24]}"
    return cached_arrays("room", name, lambda: {"open": openness(points.astype(float), room, blocks)})["open"]
