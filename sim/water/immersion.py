"""What water and air do to a hull, and how deep it floats at rest.

The hull's surface is cut at the water's, and both parts are summed patch by patch. Buoyancy is the pressure of the
water column over each patch, rho g (surface height - z), integrated exactly over the cut triangles: on a level surface
it is Archimedes' force at the centroid of the submerged volume, down a wave's slope it pushes along the slope. Drag on
the patches is that of the vehicles paper's eq. 15, against the local velocity of the water; the paper's mean over the
area makes its coefficient that of the whole hull. Beside it stands a pressure where a patch runs into the water, as its
speed times the part of it along the normal: slamming, the lift of planing, and of a fin at a small angle.
"""

import math
from functools import lru_cache

import numpy as np

from sim.native.function import native, unordered
from sim.platform.errors import InputError
from sim.vehicle_config.config import HullMesh

WATER_DENSITY, AIR_DENSITY, GRAVITY = 1000.0, 1.225, 9.81
"""[kg/m^3], [kg/m^3], [m/s^2]; the water is fresh, as in the paper: a litre is a kilogram."""

# what a hull meets, by number
DRAG = 0  # [N s/m] against the velocity through the water, of the whole wetted hull
IMPACT = 1  # coefficient of the pressure on patches that run into the water
AREA = 2  # [m^2] wetted at rest
AIR = 3  # coefficient of the wind's force on patches that face it
LIFT = 4  # fraction of the pressure of the water column
RESISTANCES = 5

# what is found, by number
VOLUME = 0  # [m^3] under water
CENTROID = 1  # of that volume, world, relative to the body origin [m]
WET = 4  # [m^2]
FOUND = 5

_DEPTH = 3
VERTEX_WIDTH = 7
"""Of the working array, one row a vertex: world place relative to the origin, depth, water's velocity."""


@unordered
def _sum_patch(
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    motion_w: np.ndarray,
    resistances: np.ndarray,
    load_w: np.ndarray,
    damping: np.ndarray,
    found: np.ndarray,
) -> None:
    """Add one wholly wet triangle; rows as VERTEX_WIDTH says. Torque and force about the origin, world axes.

    load_w (6,) gets the pressure and what the stream drives; damping (6, 6), upper half, what is taken times the twist.
    """
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    nx, ny, nz = 0.5 * (uy * vz - uz * vy), 0.5 * (uz * vx - ux * vz), 0.5 * (ux * vy - uy * vx)
    area = math.sqrt(nx * nx + ny * ny + nz * nz)
    if area < 1e-12:
        return
    # The rule of the edges' middles is exact for squares: depth times arm.
    for corner in range(3):
        p, q = (a, b) if corner == 0 else ((b, c) if corner == 1 else (c, a))
        x, y, z = 0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1]), 0.5 * (p[2] + q[2])
        depth = 0.5 * (p[_DEPTH] + q[_DEPTH])
        push = -resistances[LIFT] * WATER_DENSITY * GRAVITY * depth / 3.0
        fx, fy, fz = push * nx, push * ny, push * nz
        load_w[0] += y * fz - z * fy
        load_w[1] += z * fx - x * fz
        load_w[2] += x * fy - y * fx
        load_w[3] += fx
        load_w[4] += fy
        load_w[5] += fz
        column = -nz * depth / 3.0
        found[VOLUME] += column
        found[CENTROID] += column * x
        found[CENTROID + 1] += column * y
        found[CENTROID + 2] += column * (z + 0.5 * depth)
    found[WET] += area

    third = 1.0 / 3.0
    x, y, z = third * (a[0] + b[0] + c[0]), third * (a[1] + b[1] + c[1]), third * (a[2] + b[2] + c[2])
    sx, sy, sz = third * (a[4] + b[4] + c[4]), third * (a[5] + b[5] + c[5]), third * (a[6] + b[6] + c[6])
    nx, ny, nz = nx / area, ny / area, nz / area
    rx = motion_w[3] + motion_w[1] * z - motion_w[2] * y - sx
    ry = motion_w[4] + motion_w[2] * x - motion_w[0] * z - sy
    rz = motion_w[5] + motion_w[0] * y - motion_w[1] * x - sz
    into = rx * nx + ry * ny + rz * nz
    speed = math.sqrt(rx * rx + ry * ry + rz * rz)
    along = resistances[DRAG] * area / resistances[AREA]
    facing = 0.5 * WATER_DENSITY * resistances[IMPACT] * area * speed if into > 0.0 else 0.0

    # the same in all directions: along * (1, and the cross products with the arm)
    damping[0, 0] += along * (y * y + z * z)
    damping[1, 1] += along * (x * x + z * z)
    damping[2, 2] += along * (x * x + y * y)
    damping[0, 1] -= along * x * y
    damping[0, 2] -= along * x * z
    damping[1, 2] -= along * y * z
    damping[3, 3] += along
    damping[4, 4] += along
    damping[5, 5] += along
    damping[0, 4] -= along * z
    damping[0, 5] += along * y
    damping[1, 3] += along * z
    damping[1, 5] -= along * x
    damping[2, 3] -= along * y
    damping[2, 4] += along * x
    load_w[0] += along * (y * sz - z * sy)
    load_w[1] += along * (z * sx - x * sz)
    load_w[2] += along * (x * sy - y * sx)
    load_w[3] += along * sx
    load_w[4] += along * sy
    load_w[5] += along * sz
    if facing > 0.0:
        tx, ty, tz = y * nz - z * ny, z * nx - x * nz, x * ny - y * nx
        driven = facing * (nx * sx + ny * sy + nz * sz)
        row = (tx, ty, tz, nx, ny, nz)
        for i in range(6):
            load_w[i] += driven * row[i]
            for j in range(i, 6):
                damping[i, j] += facing * row[i] * row[j]


@unordered
def _sum_dry(
    a: np.ndarray,
    b: np.ndarray,
    c: np.ndarray,
    motion_w: np.ndarray,
    wind_x: float,
    wind_y: float,
    coefficient: float,
    load_w: np.ndarray,
) -> None:
    """Add the wind's force on a dry triangle that faces it."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    nx, ny, nz = 0.5 * (uy * vz - uz * vy), 0.5 * (uz * vx - ux * vz), 0.5 * (ux * vy - uy * vx)
    third = 1.0 / 3.0
    x, y, z = third * (a[0] + b[0] + c[0]), third * (a[1] + b[1] + c[1]), third * (a[2] + b[2] + c[2])
    wx = wind_x - (motion_w[3] + motion_w[1] * z - motion_w[2] * y)
    wy = wind_y - (motion_w[4] + motion_w[2] * x - motion_w[0] * z)
    wz = -(motion_w[5] + motion_w[0] * y - motion_w[1] * x)
    facing = -(wx * nx + wy * ny + wz * nz)
    if facing <= 0.0:
        return
    push = 0.5 * AIR_DENSITY * coefficient * facing
    fx, fy, fz = push * wx, push * wy, push * wz
    load_w[0] += y * fz - z * fy
    load_w[1] += z * fx - x * fz
    load_w[2] += x * fy - y * fx
    load_w[3] += fx
    load_w[4] += fy
    load_w[5] += fz


@unordered
def _cut(a: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """The point of an edge at the surface."""
    fraction = a[_DEPTH] / (a[_DEPTH] - b[_DEPTH])
    for k in range(VERTEX_WIDTH):
        out[k] = a[k] + fraction * (b[k] - a[k])


@native
def sum_hull(
    rows: np.ndarray,
    triangles: np.ndarray,
    motion_w: np.ndarray,
    wind_x: float,
    wind_y: float,
    resistances: np.ndarray,
    cuts: np.ndarray,
    load_w: np.ndarray,
    damping: np.ndarray,
    found: np.ndarray,
) -> None:
    """Sum a hull's patches: load - damping @ motion is (torque, force) about the origin, world axes.

    rows (vertices, VERTEX_WIDTH): place relative to the origin, depth under the surface (negative above it), velocity
    of the water there, all in the world. motion_w (6,): angular velocity and velocity of the origin, world axes.
    found (FOUND,): volume, its centroid and the wetted area. cuts (2, VERTEX_WIDTH) is for what lies between.
    """
    load_w[:] = 0.0
    damping[:] = 0.0
    found[:] = 0.0
    for t in range(len(triangles)):
        i, j, k = triangles[t]
        under = (
            (1 if rows[i, _DEPTH] > 0.0 else 0)
            + (1 if rows[j, _DEPTH] > 0.0 else 0)
            + (1 if rows[k, _DEPTH] > 0.0 else 0)
        )
        if under == 3:
            _sum_patch(rows[i], rows[j], rows[k], motion_w, resistances, load_w, damping, found)
            continue
        if under == 0:
            if resistances[AIR] > 0.0:
                _sum_dry(rows[i], rows[j], rows[k], motion_w, wind_x, wind_y, resistances[AIR], load_w)
            continue
        # One corner is alone on its side of the surface.
        lone = 0
        for corner in range(3):
            if (rows[triangles[t, corner], _DEPTH] > 0.0) == (under == 1):
                lone = corner
        one, two, three = triangles[t, lone], triangles[t, (lone + 1) % 3], triangles[t, (lone + 2) % 3]
        _cut(rows[one], rows[two], cuts[0])
        _cut(rows[one], rows[three], cuts[1])
        if under == 1:
            _sum_patch(rows[one], cuts[0], cuts[1], motion_w, resistances, load_w, damping, found)
            if resistances[AIR] > 0.0:
                _sum_dry(cuts[0], rows[two], rows[three], motion_w, wind_x, wind_y, resistances[AIR], load_w)
                _sum_dry(cuts[0], rows[three], cuts[1], motion_w, wind_x, wind_y, resistances[AIR], load_w)
        else:
            _sum_patch(cuts[0], rows[two], rows[three], motion_w, resistances, load_w, damping, found)
            _sum_patch(cuts[0], rows[three], cuts[1], motion_w, resistances, load_w, damping, found)
            if resistances[AIR] > 0.0:
                _sum_dry(rows[one], cuts[0], cuts[1], motion_w, wind_x, wind_y, resistances[AIR], load_w)
    for i in range(6):
        for j in range(i):
            damping[i, j] = damping[j, i]
    if found[VOLUME] > 0.0:
        for axis in range(3):
            found[CENTROID + axis] /= found[VOLUME]


def at_rest(hull: HullMesh, mass: float) -> tuple[float, float]:
    """(height of the origin over still water [m], wetted area [m^2]) where a mass floats upright.

    Raises InputError where the hull is too small for it.
    """
    if WATER_DENSITY * hull.volume_m3 <= mass:
        raise InputError(
            f"{mass:g} kg sink: the hull holds {hull.volume_m3:.4g} m^3; allowed: less than its volume in water weighs"
        )
    rows = np.zeros((len(hull.vertices), VERTEX_WIDTH))
    rows[:, :3] = hull.vertices
    numbers, load, damping, found = np.ones(RESISTANCES), np.empty(6), np.empty((6, 6)), np.empty(FOUND)
    cuts = np.empty((2, VERTEX_WIDTH))
    low, high = -hull.reach_m, hull.reach_m
    for _ in range(60):
        height = 0.5 * (low + high)
        rows[:, 3] = -height - rows[:, 2]
        sum_hull(rows, hull.triangles, np.zeros(6), 0.0, 0.0, numbers, cuts, load, damping, found)
        low, high = (height, high) if WATER_DENSITY * found[VOLUME] > mass else (low, height)
    return height, float(found[WET])


_RAISED_M = 1e-4


def lift_per_height(hull: HullMesh, mass: float) -> np.ndarray:
    """(6,) wrench about the origin over the height of still water, level axes, where the mass floats at rest."""
    T, rows = afloat(hull, mass), np.zeros((len(hull.vertices), VERTEX_WIDTH))
    rows[:, :3] = hull.vertices @ T[:3, :3].T
    damping, found, cuts = np.empty((6, 6)), np.empty(FOUND), np.empty((2, VERTEX_WIDTH))
    numbers, loads = np.ones(RESISTANCES), np.zeros((2, 6))
    for load, height in zip(loads, (-_RAISED_M, _RAISED_M), strict=True):
        rows[:, 3] = height - T[2, 3] - rows[:, 2]
        sum_hull(rows, hull.triangles, np.zeros(6), 0.0, 0.0, numbers, cuts, load, damping, found)
    return (loads[1] - loads[0]) / (2.0 * _RAISED_M)


_NEWTON_STEPS = 60
_DIFFERENCE = 1e-5
_MOST_CHANGE = 0.05
"""Of a Newton step [m, rad]: moments of a deck that comes under water are far from linear."""
_LEFT = 1e-9
"""Fraction of the weight that may be left over."""


@lru_cache(maxsize=32)
def afloat(hull: HullMesh, mass: float) -> np.ndarray:
    """(4, 4) body to world of a mass that floats in equilibrium, its middle at the origin, near to upright; z = 0 is
    still water. Do not write to it.

    Heave, heel and trim make up for each other (Newton's method). Where the hull does not right itself within a
    radian, upright at its draft. Raises InputError where the hull is too small for the mass.
    """
    at = np.array([at_rest(hull, mass)[0], 0.0, 0.0])
    upright, weight = _posed(at), GRAVITY * mass
    for _ in range(_NEWTON_STEPS):
        left = _unbalanced(hull, mass, at)
        if np.abs(left).max() < _LEFT * weight:
            return _posed(at)
        beside = at + _DIFFERENCE * np.eye(3)
        slopes = np.column_stack([(_unbalanced(hull, mass, b) - left) / _DIFFERENCE for b in beside])
        change = -np.linalg.lstsq(slopes, left, rcond=1e-9)[0]
        at = at + change * min(1.0, _MOST_CHANGE / max(float(np.abs(change).max()), 1e-12))
        if np.abs(at[1:]).max() > 1.0:
            break
    return upright


def _posed(at: np.ndarray) -> np.ndarray:
    """(4, 4) for heave, and the turns about x, then y."""
    (cx, cy), (sx, sy), T = np.cos(at[1:]), np.sin(at[1:]), np.eye(4)
    T[:3, :3] = [[cy, sy * sx, sy * cx], [0.0, cx, -sx], [-sy, cy * sx, cy * cx]]
    T[2, 3] = at[0]
    return T


def _unbalanced(hull: HullMesh, mass: float, at: np.ndarray) -> np.ndarray:
    """(3,) force upwards [N] and moments about x and y [N m] of water and weight."""
    T, rows = _posed(at), np.zeros((len(hull.vertices), VERTEX_WIDTH))
    rows[:, :3] = hull.vertices @ T[:3, :3].T
    rows[:, 3] = -at[0] - rows[:, 2]
    load, damping, found = np.empty(6), np.empty((6, 6)), np.empty(FOUND)
    cuts = np.empty((2, VERTEX_WIDTH))
    sum_hull(rows, hull.triangles, np.zeros(6), 0.0, 0.0, np.ones(RESISTANCES), cuts, load, damping, found)
    return np.array([load[5] - GRAVITY * mass, load[0], load[1]])
