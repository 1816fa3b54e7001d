"""Triangles of a chunk in an order that lets those under a height be left out, as a bed under deep water."""

from collections.abc import Sequence

import numpy as np

from render.geometry.mesh import ChunkedMesh


def sunken_last(mesh: ChunkedMesh, heights_m: Sequence[float]) -> tuple[np.ndarray, np.ndarray]:
    """Indices (m, 3) of the same chunks, and how many (heights, chunks) of each reach above a height: these come first.

    `heights_m`: falling. A triangle reaches as high as its highest corner; else they keep their order.
    """
    top = mesh.vertices[:, 2][mesh.indices].max(axis=1)
    rank = np.searchsorted(-np.asarray(heights_m), -top, side="right")
    counts = np.array([chunk.count // 3 for chunk in mesh.chunks])
    chunk = np.repeat(np.arange(len(counts)), counts)
    first = [chunk.first for chunk in mesh.chunks]
    if first != (3 * (np.cumsum(counts) - counts)).tolist():
        raise ValueError("chunks do not follow one another")
    order = np.lexsort((rank, chunk))
    above = [np.bincount(chunk[rank <= k], minlength=len(counts)) for k in range(len(heights_m))]
    return mesh.indices[order], 3 * np.array(above)
