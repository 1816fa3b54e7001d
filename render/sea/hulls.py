"""The inside of hulls, where no water is drawn: half breadths by length and height."""

import numpy as np

from sim.vehicle_config.hull import Hull

STATIONS, WATERLINES = 64, 32


def half_breadths(hull: Hull) -> tuple[np.ndarray, tuple[float, float, float, float]]:
    """(WATERLINES, STATIONS) float32 [m] at the middles of cells, zero outside the hull, and where these lie in the
    body frame: least x, least z, length, height [m].
    """
    low, high = hull.vertices.min(axis=0), hull.vertices.max(axis=0)
    x = low[0] + (np.arange(STATIONS) + 0.5) / STATIONS * (high[0] - low[0])
    z = low[2] + (np.arange(WATERLINES) + 0.5) / WATERLINES * (high[2] - low[2])
    breadth = np.zeros((WATERLINES, STATIONS))
    for face in hull.vertices[hull.triangles]:
        a, b, c = face[:, [0, 2]]
        twice = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        if abs(twice) < 1e-12:
            continue
        columns = np.flatnonzero((x >= face[:, 0].min()) & (x <= face[:, 0].max()))
        rows = np.flatnonzero((z >= face[:, 2].min()) & (z <= face[:, 2].max()))
        if not columns.size or not rows.size:
            continue
        at_x, at_z = np.meshgrid(x[columns], z[rows])
        v = ((at_x - a[0]) * (c[1] - a[1]) - (at_z - a[1]) * (c[0] - a[0])) / twice
        w = ((b[0] - a[0]) * (at_z - a[1]) - (b[1] - a[1]) * (at_x - a[0])) / twice
        inside = (v >= 0.0) & (w >= 0.0) & (v + w <= 1.0)
        reach = np.abs(face[0, 1] + v * (face[1, 1] - face[0, 1]) + w * (face[2, 1] - face[0, 1]))
        part = breadth[np.ix_(rows, columns)]
        breadth[np.ix_(rows, columns)] = np.where(inside, np.maximum(part, reach), part)
    return breadth.astype(np.float32), (float(low[0]), float(low[2]), *(high - low)[[0, 2]].tolist())
