"""Bodies as the inside of a smooth function of place: parts that flow into one another, then a mesh over them.

A `Field` gives signed distances [m], negative inside, of points (n, 3); only its sign and its slope near zero matter.
"""

from collections.abc import Callable, Sequence

import numpy as np

from assets.scripts.mesh import FloatArray, Mesh, no_paint

Field = Callable[[FloatArray], FloatArray]
Point = Sequence[float] | FloatArray

_SLOPE_M = 1e-3
_STEPS = 4
_COARSE, _NEAR = 4, 1.5
_CORNERS = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), axis=-1).reshape(-1, 3)
_EDGES = [(a, b) for a in range(8) for b in range(a) if np.abs(_CORNERS[a] - _CORNERS[b]).sum() == 1]


def bone(a: Point, b: Point, start_m: float, end_m: float) -> Field:
    """A limb from a to b, round, with these radii at its ends."""
    root, way = np.asarray(a, float), np.asarray(b, float) - np.asarray(a, float)
    square = float(way @ way)

    def distance(p: FloatArray) -> FloatArray:
        t = np.clip((p - root) @ way / square, 0.0, 1.0)
        return np.linalg.norm(p - root - t[:, None] * way, axis=1) - start_m - (end_m - start_m) * t

    return distance


def blob(middle: Point, radii_m: Point, axes: FloatArray | None = None) -> Field:
    """An ellipsoid whose axes are the columns of a rotation; None: those of the frame."""
    at, radii = np.asarray(middle, float), np.asarray(radii_m, float)
    turn = np.eye(3) if axes is None else axes

    def distance(p: FloatArray) -> FloatArray:
        q = (p - at) @ turn
        near = np.linalg.norm(q / radii, axis=1)
        return near * (near - 1.0) / np.maximum(np.linalg.norm(q / radii**2, axis=1), 1e-9)

    return distance


def blended(parts: Sequence[Field], within_m: float) -> Field:
    """The union, rounded where parts are nearer than this to each other."""

    def distance(p: FloatArray) -> FloatArray:
        total = parts[0](p)
        for part in parts[1:]:
            other = part(p)
            share = np.clip(0.5 + 0.5 * (total - other) / within_m, 0.0, 1.0)
            total = total + (other - total) * share - within_m * share * (1.0 - share)
        return total

    return distance


def cut(field: Field, at: Point, beyond: Point) -> Field:
    """What of it does not lie beyond a plane through a point, in that direction."""
    place, way = np.asarray(at, float), np.asarray(beyond, float) / np.linalg.norm(beyond)
    return lambda p: np.maximum(field(p), (p - place) @ way)


def without(field: Field, other: Field, within_m: float) -> Field:
    """With a rounded dent where the other is."""
    inverse = blended([lambda p: -field(p), other], within_m)
    return lambda p: -inverse(p)


def grown(field: Field, by_m: float) -> Field:
    """Thicker by that."""
    return lambda p: field(p) - by_m


def folded(field: Field, at: Point, along: Point, reach_m: float, depth_m: float = 0.004) -> Field:
    """With folds of cloth across a direction, deepest at a point."""
    place, way = np.asarray(at, float), np.asarray(along, float) / np.linalg.norm(along)
    side = np.cross(way, [0.31, 0.87, 0.38])
    side /= np.linalg.norm(side)

    def distance(p: FloatArray) -> FloatArray:
        q = p - place
        s, t = q @ way, q @ side
        uneven = 0.55 + 0.45 * np.sin(31.0 * t + 9.0 * s + 0.7)
        wave = uneven * np.sin(2.0 * np.pi * (s + 0.45 * t) / 0.061 + 2.1 * np.sin(17.0 * t))
        wave += 0.5 * np.sin(2.0 * np.pi * (s - 0.7 * t) / 0.097 + 1.3)
        faded: FloatArray = np.exp(-np.einsum("ij,ij->i", q, q) / reach_m**2)
        return field(p) + depth_m * faded * wave

    return distance


def slope(field: Field, p: FloatArray) -> FloatArray:
    """(n, 3) derivative of a field."""
    steps = _SLOPE_M * np.eye(3)
    return np.stack([field(p + d) - field(p - d) for d in steps], axis=1) / (2.0 * _SLOPE_M)


def surface(field: Field, low: Point, high: Point, cell_m: float) -> Mesh:
    """The closed surface within a box, by surface nets: a vertex in each cell that it passes through, put onto it.

    Normals are those of the field, so that what is finer than a cell still shades.
    """
    origin = np.asarray(low, float)
    counts = np.ceil((np.asarray(high, float) - origin) / cell_m).astype(int) + 1
    value = _sampled(field, origin, counts, cell_m)
    corners = np.stack(
        [
            value[tuple(slice(c, n - 1 + c) for c, n in zip(corner, counts, strict=True))]
            for corner in _CORNERS
        ],
        axis=-1,
    )
    inside = corners < 0.0
    mixed = inside.any(axis=-1) & ~inside.all(axis=-1)
    cells, found = np.argwhere(mixed), corners[mixed]
    total, crossed = np.zeros((len(cells), 3)), np.zeros(len(cells))
    for a, b in _EDGES:
        passes = (found[:, a] < 0.0) != (found[:, b] < 0.0)
        share = (found[passes, a] / (found[passes, a] - found[passes, b]))[:, None]
        total[passes] += _CORNERS[a] + share * (_CORNERS[b] - _CORNERS[a])
        crossed[passes] += 1.0
    points = origin + cell_m * (cells + total / crossed[:, None])
    start = points.copy()
    for _ in range(_STEPS):
        way = slope(field, points)
        square = np.maximum(np.einsum("ij,ij->i", way, way), 0.05)
        points = points - way * (field(points) / square)[:, None]
        points = start + np.clip(points - start, -0.6 * cell_m, 0.6 * cell_m)
    number = np.full(mixed.shape, -1)
    number[mixed] = np.arange(len(cells))
    triangles = np.concatenate([_faces(value, number, axis) for axis in range(3)])
    return Mesh(points, _normals(field, points, triangles), triangles, no_paint(len(points)))


def _normals(field: Field, points: FloatArray, triangles: FloatArray) -> FloatArray:
    """(n, 3) of the field; where that is finer than the cells, so that faces turn against it, those of the faces."""
    normals = slope(field, points)
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-9)
    corners = points[triangles]
    faces = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    against = np.einsum("tc,tc->t", faces, normals[triangles].sum(axis=1)) <= 0.0
    mean = np.zeros_like(points)
    for k in range(3):
        np.add.at(mean, triangles[:, k], faces)
    rough = np.unique(triangles[against])
    normals[rough] = mean[rough] / np.maximum(np.linalg.norm(mean[rough], axis=1, keepdims=True), 1e-12)
    return normals


def _sampled(field: Field, origin: FloatArray, counts: FloatArray, cell_m: float) -> FloatArray:
    """(counts) values at the grid's points; far from the surface those of a coarse grid, for their sign alone."""
    coarse_m = _COARSE * cell_m
    blocks = -(-counts // _COARSE)
    middle = origin + coarse_m * (np.argwhere(np.ones(blocks, bool)) + 0.5)
    rough = field(middle).reshape(blocks)
    near = np.kron(np.abs(rough) < _NEAR * coarse_m, np.ones((_COARSE,) * 3, bool))
    value = np.kron(rough, np.ones((_COARSE,) * 3))
    near, value = (whole[tuple(map(slice, counts))] for whole in (near, value))
    value[near] = field(origin + cell_m * np.argwhere(near))
    return value


def _faces(value: FloatArray, number: FloatArray, axis: int) -> FloatArray:
    """(t, 3) across the grid's edges along an axis, between the four cells about each."""
    u, v = (axis + 1) % 3, (axis + 2) % 3
    ahead = [slice(None)] * 3
    ahead[axis] = slice(1, None)
    back = [slice(None)] * 3
    back[axis] = slice(None, -1)
    outwards = value[tuple(back)] < 0.0
    at = np.argwhere(outwards != (value[tuple(ahead)] < 0.0))
    shape = np.array(number.shape)
    at = at[(at[:, u] > 0) & (at[:, v] > 0) & (at[:, u] < shape[u]) & (at[:, v] < shape[v])]
    quads = []
    for du, dv in ((1, 1), (0, 1), (0, 0), (1, 0)):
        cell = at.copy()
        cell[:, u] -= du
        cell[:, v] -= dv
        quads.append(number[tuple(cell.T)])
    a, b, c, d = quads
    turned = ~outwards[tuple(at.T)]
    b, d = np.where(turned, d, b), np.where(turned, b, d)
    return np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
