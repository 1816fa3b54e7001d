"""Ropes as smooth tubes: a curve through the ends of their links, cut into short capsules."""

import numpy as np

from sim.multibody.shapes import ROPE, Capsule

PIECES = 5
"""Of a link."""


def runs_of(links: tuple[Capsule, ...]) -> list[tuple[Capsule, ...]]:
    """What hangs together, one after the other."""
    runs: list[list[Capsule]] = []
    follows = False
    for link in links:
        if link.finish == ROPE:
            if not follows:
                runs.append([])
            runs[-1].append(link)
        follows = link.finish == ROPE
    return [tuple(run) for run in runs]


def smooth(nodes: np.ndarray) -> np.ndarray:
    """(PIECES (n - 1) + 1, 3) points of the Catmull-Rom curve through nodes (n, 3), n > 1."""
    slopes = np.gradient(nodes, axis=0)
    t = np.linspace(0.0, 1.0, PIECES + 1)[:-1, None]
    a, b, c, d = 2 * t**3 - 3 * t**2 + 1, t**3 - 2 * t**2 + t, 3 * t**2 - 2 * t**3, t**3 - t**2
    begin, end, out, into = nodes[:-1, None], nodes[1:, None], slopes[:-1, None], slopes[1:, None]
    curve = (a * begin + b * out + c * end + d * into).reshape(-1, 3)
    return np.vstack([curve, nodes[-1]])


def along(begin: np.ndarray, end: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """((n, 3, 4) poses of the middles with z along, (n,) lengths) of segments (n, 3)."""
    way = end - begin
    length = np.linalg.norm(way, axis=1)
    z = np.where(length[:, None] > 0.0, way / np.maximum(length, 1e-12)[:, None], np.array([0.0, 0.0, 1.0]))
    aside = np.where(np.abs(z[:, :1]) < 0.8, np.array([1.0, 0.0, 0.0]), np.array([0.0, 1.0, 0.0]))
    x = np.cross(aside, z)
    x /= np.linalg.norm(x, axis=1)[:, None]
    return np.stack([x, np.cross(z, x), z, begin + 0.5 * way], axis=-1), length


def strand_rows(run: tuple[Capsule, ...], T_wb: np.ndarray) -> np.ndarray:
    """(k, 15) instances as `links.instances_of` has them, of links whose bodies are at (n, 4, 4)."""
    begin, tip = np.array([link.begin_b for link in run]), np.array(run[-1].end_b)
    nodes = np.einsum("nij,nj->ni", T_wb[:, :3, :3], begin) + T_wb[:, :3, 3]
    points = smooth(np.vstack([nodes, T_wb[-1, :3, :3] @ tip + T_wb[-1, :3, 3]]))
    poses, length = along(points[:-1], points[1:])
    size = np.column_stack([np.full(len(length), run[0].radius_m), 0.5 * length, np.full(len(length), ROPE)])
    return np.concatenate([poses.reshape(-1, 12), size], axis=1)
