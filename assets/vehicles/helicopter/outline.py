"""The outer skin: fuselage and cowling lofts, and the lines drawn on them (windows, doors, livery)."""

import numpy as np

from assets.scripts.cut import polygon
from assets.scripts.loft import Loft, stations
from assets.scripts.mesh import ACCENT_HALF_M, PAINT_FAR, FloatArray, Mesh
from assets.scripts.refine import refine

FUSELAGE = Loft(
    np.array(
        [
            # x, centre z, half width, above, below, exponent above, exponent below
            (2.780, -0.430, 0.010, 0.010, 0.010, 2.0, 2.0),
            (2.755, -0.430, 0.150, 0.080, 0.080, 2.0, 2.0),
            (2.660, -0.425, 0.315, 0.190, 0.165, 2.05, 2.1),
            (2.450, -0.400, 0.500, 0.365, 0.275, 2.1, 2.2),
            (2.100, -0.345, 0.665, 0.605, 0.400, 2.2, 2.35),
            (1.700, -0.280, 0.780, 0.830, 0.505, 2.3, 2.5),
            (1.250, -0.215, 0.855, 0.980, 0.590, 2.4, 2.7),
            (0.700, -0.170, 0.895, 1.020, 0.650, 2.5, 2.9),
            (0.000, -0.150, 0.905, 1.015, 0.680, 2.6, 3.0),
            (-0.700, -0.140, 0.890, 0.990, 0.685, 2.6, 2.9),
            (-1.300, -0.080, 0.800, 0.885, 0.670, 2.5, 2.7),
            (-1.900, 0.055, 0.610, 0.680, 0.600, 2.4, 2.5),
            (-2.450, 0.220, 0.425, 0.450, 0.480, 2.25, 2.3),
            (-3.000, 0.350, 0.295, 0.280, 0.335, 2.1, 2.1),
            (-3.600, 0.425, 0.235, 0.215, 0.245, 2.0, 2.0),
            (-4.800, 0.515, 0.190, 0.175, 0.185, 2.0, 2.0),
            (-6.050, 0.600, 0.145, 0.140, 0.140, 2.0, 2.0),
            (-6.350, 0.620, 0.120, 0.115, 0.115, 2.0, 2.0),
            (-6.470, 0.628, 0.070, 0.070, 0.070, 2.0, 2.0),
            (-6.500, 0.630, 0.010, 0.010, 0.010, 2.0, 2.0),
        ]
    )
)

COWLING = Loft(
    np.array(
        [
            (1.020, 0.730, 0.060, 0.020, 0.100, 2.2, 2.0),
            (0.960, 0.740, 0.240, 0.085, 0.120, 2.3, 2.0),
            (0.780, 0.760, 0.390, 0.200, 0.200, 2.4, 2.0),
            (0.400, 0.790, 0.475, 0.345, 0.250, 2.6, 2.0),
            (-0.100, 0.800, 0.515, 0.420, 0.300, 2.8, 2.0),
            (-0.700, 0.795, 0.530, 0.415, 0.300, 2.9, 2.0),
            (-1.300, 0.760, 0.500, 0.375, 0.350, 2.8, 2.0),
            (-1.850, 0.700, 0.415, 0.300, 0.350, 2.6, 2.0),
            (-2.350, 0.635, 0.310, 0.205, 0.300, 2.4, 2.0),
            (-2.800, 0.590, 0.205, 0.105, 0.200, 2.2, 2.0),
            (-3.100, 0.560, 0.110, 0.030, 0.120, 2.0, 2.0),
        ]
    )
)

LINING_M = 0.035
"""Thickness of the cabin wall."""
CABIN_X = (-0.98, 2.62)
"""From the bulkhead behind the rear bench to the nose [m]."""

WINDSCREEN = [(1.20, 0.685), (0.99, 0.66), (1.60, -0.14), (2.38, -0.23), (2.56, 0.05), (1.80, 0.685)]
FRONT_DOOR_WINDOW = [(0.90, 0.53), (0.42, 0.57), (0.42, -0.10), (1.42, -0.16)]
REAR_DOOR_WINDOW = [(0.30, 0.57), (-0.38, 0.55), (-0.56, 0.36), (-0.56, -0.06), (0.30, -0.10)]
QUARTER_WINDOW = [(-0.70, 0.40), (-0.95, 0.34), (-1.16, 0.16), (-1.16, 0.04), (-0.70, -0.02)]
FRONT_DOOR = [(0.98, 0.66), (0.36, 0.70), (0.36, -0.62), (1.24, -0.58), (1.62, -0.24)]
REAR_DOOR = [(0.345, 0.70), (-0.46, 0.66), (-0.63, 0.42), (-0.63, -0.64), (0.345, -0.62)]
BAGGAGE_DOOR = [(-0.98, 0.02), (-1.62, 0.06), (-1.62, -0.40), (-0.98, -0.52)]


_COARSE_X = (
    *(
        2.78,
        2.74,
        2.66,
        2.45,
        2.18,
        1.86,
        1.55,
        1.22,
        0.97,
        0.70,
        0.42,
        0.30,
        0.0,
        -0.28,
        -0.56,
        -0.70,
        -0.95,
    ),
    *(-1.20, -1.60, -2.05, -2.55, -3.2, -4.3, -5.4, -6.3, -6.44, -6.5),
)
"""Stations of the coarse skin, at the posts between the windows."""


def fuselage(detail: float) -> Mesh:
    """The whole outer skin from the nose to the end of the boom, windows not yet cut."""
    if detail > 0.6:
        step = 1.0 / detail
        breaks = [2.78, 2.70, 2.45, -1.25, -3.2, -6.3, -6.5]
        x = stations(
            breaks, [0.012 * step, 0.035 * step, 0.085 * step, 0.13 * step, 0.30 * step, 0.05 * step]
        )
    else:
        x = np.array(_COARSE_X)
    skin = FUSELAGE.skin(FUSELAGE.parameter_at(x), _even(60 * detail), crease_deg=60.0)
    return refine(skin, window_distance, within_m=0.012, passes=1)


def lining(detail: float) -> Mesh:
    """Inner wall of the cabin, facing inwards."""
    x = stations([CABIN_X[1], CABIN_X[0]], [0.11 / detail])
    skin = FUSELAGE.skin(FUSELAGE.parameter_at(x), _even(44 * detail), inset_m=LINING_M, crease_deg=60.0)
    return refine(skin, lining_edge, within_m=0.012, passes=int(detail > 0.6)).flipped()


def cowling(detail: float) -> Mesh:
    x = stations([1.02, 0.9, -2.6, -3.1], [0.03 / detail, 0.11 / detail, 0.08 / detail])
    return COWLING.skin(COWLING.parameter_at(x), _even(48 * detail), crease_deg=60.0)


def window_distance(p: FloatArray, *, pillar_half_m: float = 0.030) -> FloatArray:
    """Signed distance [m] of body points (n, 3) to the nearest pane, negative on glass."""
    side, across = p[:, [0, 2]], np.abs(p[:, 1])
    screen = np.maximum(polygon(side, WINDSCREEN, rounding=0.07), pillar_half_m - across)
    panes = [screen]
    for corners in (FRONT_DOOR_WINDOW, REAR_DOOR_WINDOW, QUARTER_WINDOW):
        panes.append(np.maximum(polygon(side, corners, rounding=0.085), 0.40 - across))
    below = polygon(
        np.column_stack([p[:, 0], across]),
        [(2.30, 0.12), (2.18, 0.40), (1.66, 0.52), (1.66, 0.12)],
        rounding=0.08,
    )
    panes.append(np.maximum(below, p[:, 2] + 0.50))
    above = polygon(
        np.column_stack([p[:, 0], across]),
        [(0.88, 0.16), (0.88, 0.52), (0.42, 0.56), (0.42, 0.16)],
        rounding=0.07,
    )
    panes.append(np.maximum(above, 0.62 - p[:, 2]))
    return np.minimum.reduce(panes)


def lining_edge(p: FloatArray) -> FloatArray:
    """As `window_distance` on the inner wall, where the openings are wider and the middle pillar is a bar."""
    return window_distance(p, pillar_half_m=0.0) - 0.010


def body_paint(p: FloatArray) -> FloatArray:
    """(n, 4) livery distances [m] of the fuselage: window, panel line, second colour, accent."""
    side, across = p[:, [0, 2]], np.abs(p[:, 1])
    doors = [polygon(side, FRONT_DOOR, rounding=0.10), polygon(side, REAR_DOOR, rounding=0.10)]
    doors.append(polygon(side, BAGGAGE_DOOR, rounding=0.06))
    seam = np.maximum(np.minimum.reduce(doors), 0.30 - across)
    seam = np.where(across < 0.25, PAINT_FAR, seam)
    return np.column_stack([window_distance(p), seam, *livery(p)])


def cowling_paint(p: FloatArray) -> FloatArray:
    side = p[:, [0, 2]]
    panels = [polygon(side, [(0.30, 1.6), (-0.62, 1.6), (-0.62, 0.86), (0.30, 0.86)], rounding=0.05)]
    panels.append(polygon(side, [(-0.635, 1.6), (-1.62, 1.6), (-1.62, 0.84), (-0.635, 0.84)], rounding=0.05))
    return np.column_stack([np.full(len(p), PAINT_FAR), np.minimum.reduce(panels), *livery(p)])


def livery(p: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Signed distances: of the line below which the second colour lies, and of the accent stripe's middle."""
    x, z = p[:, 0], p[:, 2]
    knots_x = np.array([-6.6, -5.2, -3.6, -2.4, -1.4, 0.0, 1.4, 2.8])
    knots_z = np.array([1.60, 1.05, 0.52, 0.16, -0.12, -0.31, -0.40, -0.46])
    line = np.interp(x, knots_x, knots_z)
    smooth = sum(np.interp(x + d, knots_x, knots_z) for d in np.linspace(-0.7, 0.7, 15)) / 15
    line = np.where((x > -6.0) & (x < 2.2), smooth, line)
    slope = np.gradient(np.interp(np.linspace(-7, 3, 2001), knots_x, knots_z), np.linspace(-7, 3, 2001))
    scale = np.hypot(1.0, np.interp(x, np.linspace(-7, 3, 2001), slope))
    second = (z - line) / scale
    return second, (second - 0.075) * (ACCENT_HALF_M / 0.028)


def _even(count: float) -> int:
    return max(2 * round(count / 2), 8)


def on_roof(x_m: float, y_m: float) -> FloatArray:
    """(3,) point of the upper skin above (x, y)."""
    ring = FUSELAGE.rings(FUSELAGE.parameter_at(np.array([x_m])), 400)[0][:200]
    order = np.argsort(ring[:, 1])
    return np.array([x_m, y_m, np.interp(y_m, ring[order, 1], ring[order, 2])])
