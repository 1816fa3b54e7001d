"""The closed surface by which a vehicle floats: triangles in the body frame, normals outwards."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from sim.platform.errors import InputError

MOST_TRIANGLES = 20000
_SAME_M = 1e-6


@dataclass(frozen=True, slots=True, eq=False)
class HullMesh:
    """Triangles (n, 3) into vertices (k, 3) [m]; several closed pieces may lie side by side."""

    vertices: np.ndarray
    triangles: np.ndarray

    @staticmethod
    def of(vertices: ArrayLike, triangles: ArrayLike, where: str = "hull") -> "HullMesh":
        """Vertices at the same place become one.

        Raises InputError, naming the edge, where the surface is open or folded onto itself, and where it is inside out.
        """
        points, faces = np.array(vertices, float), np.array(triangles, np.int64)
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            raise InputError(f"{where}: vertices are (k, 3) finite numbers, not {points.shape}")
        if faces.ndim != 2 or faces.shape[1] != 3 or not 4 <= len(faces) <= MOST_TRIANGLES:
            raise InputError(f"{where}: {len(faces)} triangles; allowed: 4 to {MOST_TRIANGLES}")
        if faces.min() < 0 or faces.max() >= len(points):
            raise InputError(f"{where}: a triangle names vertex {int(faces.max())} of {len(points)}")
        _, first, inverse = np.unique(
            np.round(points / _SAME_M).astype(np.int64), axis=0, return_index=True, return_inverse=True
        )
        points, faces = points[first], inverse.ravel()[faces]
        distinct = (faces != np.roll(faces, 1, axis=1)).all(axis=1)
        faces = faces[distinct]
        _check_closed(points, faces, where)
        hull = HullMesh(np.ascontiguousarray(points), np.ascontiguousarray(faces))
        if hull.volume_m3 <= 0.0:
            raise InputError(
                f"{where}: its triangles face inwards; allowed: counter-clockwise seen from outside"
            )
        return hull

    @staticmethod
    def box(
        length: float, beam: float, height: float, *, cells: tuple[int, int, int] = (1, 1, 1)
    ) -> "HullMesh":
        """A box about the origin, its faces divided into that many cells along x, y, z."""
        vertices: list[np.ndarray] = []
        triangles: list[np.ndarray] = []
        half = 0.5 * np.array([length, beam, height])
        for axis in range(3):
            a, b = (axis + 1) % 3, (axis + 2) % 3
            u, v = (np.linspace(-1.0, 1.0, cells[k] + 1) for k in (a, b))
            for side in (-1.0, 1.0):
                grid = np.zeros((len(u), len(v), 3))
                grid[..., a], grid[..., b], grid[..., axis] = u[:, None], v[None, :], side
                index = np.arange(grid[..., 0].size).reshape(len(u), len(v)) + sum(map(len, vertices))
                corner = [index[:-1, :-1], index[1:, :-1], index[1:, 1:], index[:-1, 1:]]
                first, second, third, fourth = (c.ravel() for c in corner)
                quads = [np.stack([first, second, third], 1), np.stack([first, third, fourth], 1)]
                faces = np.concatenate(quads)
                triangles.append(faces if side > 0 else faces[:, ::-1])
                vertices.append(grid.reshape(-1, 3) * half)
        return HullMesh.of(np.concatenate(vertices), np.concatenate(triangles))

    @staticmethod
    def read(path: Path) -> "HullMesh":
        """From a Wavefront file: `v` and `f` lines, faces of three corners or more.

        Raises InputError with the line for what cannot be read, and as `of` does.
        """
        vertices: list[list[float]] = []
        faces: list[tuple[int, int, int]] = []
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{path}: cannot be read: {error}") from None
        for number, line in enumerate(lines, 1):
            kind, *words = line.split() or [""]
            try:
                if kind == "v":
                    vertices.append([float(word) for word in words[:3]])
                elif kind == "f":
                    corner = [int(word.split("/")[0]) - 1 for word in words]
                    faces += [(corner[0], corner[k], corner[k + 1]) for k in range(1, len(corner) - 1)]
            except ValueError:
                raise InputError(f"{path}: line {number}: not a vertex or face: {line.strip()!r}") from None
        return HullMesh.of(vertices, faces, str(path))

    @property
    def volume_m3(self) -> float:
        a, b, c = (self.vertices[self.triangles[:, k]] for k in range(3))
        return float(np.einsum("ij,ij->", a, np.cross(b, c)) / 6.0)

    @property
    def outermost(self) -> np.ndarray:
        """(k, 3) [m] the vertices that lie farthest out in one of 98 directions: what touches a flat ground first."""
        steps = np.array([n for n in np.ndindex(5, 5, 5) if max(abs(k - 2) for k in n) == 2]) - 2
        farthest = np.argmax(self.vertices @ steps.T, axis=0)
        return np.ascontiguousarray(self.vertices[np.unique(farthest)])

    @property
    def reach_m(self) -> float:
        """Greatest distance of a point from the body origin."""
        return float(np.linalg.norm(self.vertices, axis=1).max())


def _check_closed(points: np.ndarray, faces: np.ndarray, where: str) -> None:
    """Every edge has one face on either side."""
    edges = Counter((int(a), int(b)) for face in faces for a, b in zip(face, np.roll(face, -1), strict=True))
    for (a, b), count in edges.items():
        if count != edges.get((b, a), 0):
            ends = " to ".join("(" + ", ".join(f"{x:g}" for x in points[k]) + ")" for k in (a, b))
            raise InputError(
                f"{where}: the surface is not closed at the edge from {ends} m: a face is missing or turned round there"
            )
