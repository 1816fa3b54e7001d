"""Wrench of moving water and wind on a hull, for kernels.

Within every step the hull is cut at the sea's surface, and what acts on it is summed once, at the pose at which the
step begins (vehicles paper, eqs. 10 and 15). What grows with the hull's own velocity is solved together with the
velocity that the step ends with, so that a stiff drag or a slam may take all of a motion but never turn it round. The
water that moves along (added mass) is part of the vehicle's inertia, which knows no stream; what the stream changes
about it is added here, so that a hull that drifts with a steady current feels nothing.

The sea is sampled on a small lattice that stands still in the world, at whole multiples of SLAB_S of time and of its
spacing in space, and between them in proportion. What a hull meets therefore depends on place and time alone, not on
the steps that led there. Everything is found within the step that first needs it, and kept for the next ones.

What a hull radiates is remembered: the force of the waves that it has made is -G^T x of a passive linear system
x' = F x + G v, v its motion through the water (`sim.vehicle_config.radiation`). Where it is known how waves push a
hull (`sim.water.excitation`), that water is the mean stream; else it is what goes with the waves, too, about all of
the hull (`sim.water.carried`). The state stands at the moments at which steps begin, the velocity between them: a
method with velocities between its nodes meets it at second order.

Gusts are a fixed sum of slow waves in time about the mean wind. Where the hull runs aground, bed and shore are met by
the contact of the ground, from the velocity that the water leaves it.
"""

import math
from typing import Any

import numpy as np

from sim.contact.ground import feel_ground, refuse_way
from sim.native.function import native, unordered
from sim.water.carried import carry_along, nearest_motion, turn_momentum, wetted_areas
from sim.water.excitation import push_of_waves
from sim.water.immersion import FOUND, LIFT, VERTEX_WIDTH, VOLUME, sum_hull
from sim.water.ocean.field import add_tile, changing, left_below, rest_place
from sim.water.ocean.synthesis import FIELDS, HEIGHT, RISE, SPEED_EAST, SPEED_NORTH, synthesise
from sim.water.ocean.waves import mean_wave_numbers, raise_waves
from sim.world.path import add_stream

SLAB_S = 1.0 / 20.0
LATTICE = 36
"""Points along its edge."""
SURFACE, FLOW, FADE = 0, 1, 4
"""What it tells: height of the surface, velocity of the water there, and how fast that fades below [rad/m]."""
SAMPLES = 5
KEY = 5
"""Of a time at which the sea is known: its number, and the sea (4,)."""


@native
def know_sea(
    number: int,
    sea: np.ndarray,
    start: np.ndarray,
    place: np.ndarray,
    waves: np.ndarray,
    drawn: np.ndarray,
    w: np.ndarray,
    heights: np.ndarray,
    raised: np.ndarray,
    work: np.ndarray,
    keys: np.ndarray,
    decays: np.ndarray,
    grids: np.ndarray,
) -> bool:
    """Have the sea of time `number` * SLAB_S in its slot; whether it was there already."""
    slot = number % 2
    key = keys[slot]
    same = key[0] == number
    for k in range(4):
        same = same and key[1 + k] == sea[k]
    if same:
        return True
    _raise(waves, drawn, sea, heights, raised)
    mean_wave_numbers(start, waves, heights, decays[slot])
    if _is_calm(heights):
        grids[slot] = 0.0
    else:
        synthesise(start, place, waves, heights, sea[3], number * SLAB_S, w, work, grids[slot])
    key[0] = number
    key[1:] = sea
    return False


@native
def _raise(
    waves: np.ndarray, drawn: np.ndarray, sea: np.ndarray, heights: np.ndarray, raised: np.ndarray
) -> None:
    if raised[0] != sea[0] or raised[1] != sea[1] or raised[2] != sea[2]:
        raise_waves(waves, drawn, sea, heights)
        raised[:] = sea


@native
def _is_calm(heights: np.ndarray) -> bool:
    calm = True
    for m in range(len(heights)):
        for part in range(4):
            calm = calm and heights[m, part] == 0.0
    return calm


@native
def fill_lattice(
    grids: np.ndarray,
    edges: np.ndarray,
    decay: np.ndarray,
    origin_x: int,
    origin_y: int,
    spacing: float,
    out: np.ndarray,
) -> None:
    """Write the samples of the lattice, out (LATTICE, LATTICE, SAMPLES), from the tiles of one time."""
    work = np.empty(FIELDS)
    for j in range(out.shape[0]):
        for i in range(out.shape[1]):
            x, y = (origin_x + i) * spacing, (origin_y + j) * spacing
            rest_x, rest_y = rest_place(grids, edges, x, y, work)
            out[j, i, SURFACE] = work[HEIGHT]
            out[j, i, FLOW] = work[SPEED_EAST]
            out[j, i, FLOW + 1] = work[SPEED_NORTH]
            out[j, i, FLOW + 2] = work[RISE]
            total = weighted = 0.0
            for tile in range(len(edges)):
                work[:] = 0.0
                add_tile(grids[tile], edges[tile], rest_x, rest_y, work)
                speed = math.sqrt(work[RISE] ** 2 + work[SPEED_EAST] ** 2 + work[SPEED_NORTH] ** 2)
                total += speed
                weighted += speed * decay[tile]
            out[j, i, FADE] = weighted / total if total > 0.0 else 0.0


@native
def between(lattices: np.ndarray, slot: int, fraction: float, now: np.ndarray) -> None:
    """The lattice at the present, that fraction of the way from one time to the next."""
    first, second = lattices[slot], lattices[1 - slot]
    for j in range(now.shape[0]):
        for i in range(now.shape[1]):
            for k in range(SAMPLES):
                now[j, i, k] = (1.0 - fraction) * first[j, i, k] + fraction * second[j, i, k]


@unordered
def water_at(
    now: np.ndarray, origin_x: int, origin_y: int, spacing: float, x: float, y: float, out: np.ndarray
) -> None:
    """The samples at world (x, y), out (SAMPLES,); beyond its edge the edge goes on."""
    u, v = x / spacing, y / spacing
    floor_u, floor_v = math.floor(u), math.floor(v)
    u -= floor_u
    v -= floor_v
    i = min(max(int(floor_u) - origin_x, 0), now.shape[1] - 2)
    j = min(max(int(floor_v) - origin_y, 0), now.shape[0] - 2)
    a, b, c, d = (1.0 - u) * (1.0 - v), u * (1.0 - v), (1.0 - u) * v, u * v
    for k in range(SAMPLES):
        out[k] = a * now[j, i, k] + b * now[j, i + 1, k] + c * now[j + 1, i, k] + d * now[j + 1, i + 1, k]


# what the water remembers and tells, by number; the first four as the ground's report has them
CLOCK = 4  # [s] since the sea began
SINCE = 5  # [s] when it last began to change
FROM = 6  # the sea (4,) from which it changes
TOWARDS = 10  # the sea (4,) to which
LEVEL = 14  # height of the surface under the origin over the mean [m]
STREAM = 15  # velocity of the water there, world
AIR = 18  # velocity of the air, world x, y
INSIDE = 20  # what `immersion` finds
REPORT = INSIDE + FOUND  # then what the hull has radiated, and the report of the ground, where there is any

# what weather and vehicle give, by number
WIND, GUSTS, CURRENT, SPACING, REACH, MEAN, DEPTH = 0, 2, 3, 5, 6, 7, 8
ABOUT = 9


PERIODS_S = np.array([3.1, 4.7, 7.3, 11.9, 19.1, 31.7])
"""No two in a simple ratio, so that gusts do not come at regular times."""
_PHASES = np.array([0.3, 2.1, 4.4, 1.2, 5.7, 3.6])


@native
def gusty(wind_x: float, wind_y: float, gusts: float, time_s: float) -> tuple[float, float]:
    """World wind [m/s] at a time: `gusts` is the standard deviation of its strength over the mean.

    Across the mean direction it varies half as much.
    """
    along = across = 0.0
    for k in range(len(PERIODS_S)):
        turn = 2.0 * math.pi * time_s / PERIODS_S[k]
        along += math.sin(turn + _PHASES[k])
        across += math.sin(1.31 * turn + 2.0 * _PHASES[k] + 1.0)
    fraction = gusts * math.sqrt(2.0 / len(PERIODS_S))
    along, across = 1.0 + fraction * along, 0.5 * fraction * across
    return along * wind_x - across * wind_y, along * wind_y + across * wind_x


@native
def sea_at(report: np.ndarray, time_s: float, out: np.ndarray) -> None:
    """The sea (4,) of a time, as the report tells it."""
    changing(report[FROM : FROM + 4], report[TOWARDS : TOWARDS + 4], report[SINCE], time_s, out)


@native
def have_water(
    x: float,
    y: float,
    about: np.ndarray,
    sea_arrays: Any,
    kept: Any,
    report: np.ndarray,
) -> None:
    """Have the water about world (x, y) at the report's clock in the lattice of the present."""
    start, place, waves, drawn, edges, w = sea_arrays
    heights, raised, work, keys, decays, grids, lattices, corner, now = kept
    number = math.floor(report[CLOCK] / SLAB_S)
    spacing, reach = about[SPACING], about[REACH]
    for axis in range(2):
        low = (x if axis == 0 else y) / spacing - corner[axis]
        room = reach / spacing + 1.0
        if corner[2] == 0 or low < room or low > LATTICE - 1 - room:
            corner[0] = math.floor(x / spacing) - LATTICE // 2
            corner[1] = math.floor(y / spacing) - LATTICE // 2
            corner[2], corner[3], corner[4] = 1, 0, 0
    sea = np.empty(4)
    for index in (number, number + 1):
        slot = index % 2
        sea_at(report, index * SLAB_S, sea)
        known = know_sea(
            index, sea, start, place, waves, drawn, w, heights, raised, work, keys, decays, grids
        )
        if not known or corner[3 + slot] == 0:
            fill_lattice(grids[slot], edges, decays[slot], corner[0], corner[1], spacing, lattices[slot])
            corner[3 + slot] = 1
    between(lattices, number % 2, report[CLOCK] / SLAB_S - number, now)


@native
def solve_definite(matrix: np.ndarray, right: np.ndarray) -> None:
    """Solve in place a system whose symmetric part is positive definite."""
    n = len(right)
    for k in range(n):
        for i in range(k + 1, n):
            factor = matrix[i, k] / matrix[k, k]
            for j in range(k + 1, n):
                matrix[i, j] -= factor * matrix[k, j]
            right[i] -= factor * right[k]
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            right[i] -= matrix[i, j] * right[j]
        right[i] /= matrix[i, i]


@native
def _radiate(
    F: np.ndarray, G: np.ndarray, state: np.ndarray, h: float, twist: np.ndarray, stream: np.ndarray
) -> None:
    """Have the radiated waves go on by h under a twist: the implicit midpoint of x' = F x + G v gains no energy."""
    n = len(state)
    matrix, right = np.empty((n, n)), np.empty(n)
    for i in range(n):
        right[i] = state[i]
        for j in range(n):
            matrix[i, j] = -0.5 * h * F[i, j]
            right[i] += 0.5 * h * F[i, j] * state[j]
        matrix[i, i] += 1.0
        for k in range(6):
            right[i] += h * G[i, k] * (twist[k] - stream[k])
    solve_definite(matrix, right)
    state[:] = right


@native
def _to_body(pose: np.ndarray, w: np.ndarray, out: np.ndarray) -> None:
    """Numbers along the world's axes, three and three, as those along the body's; pose[3 j + i] is the world's
    coordinate i of body axis j."""
    for k in range(len(w)):
        first, axis = k - k % 3, k % 3
        out[k] = (
            pose[3 * axis] * w[first] + pose[3 * axis + 1] * w[first + 1] + pose[3 * axis + 2] * w[first + 2]
        )


@native
def _to_world(pose: np.ndarray, b: np.ndarray, out: np.ndarray) -> None:
    """The other way round."""
    for k in range(len(b)):
        first, axis = k - k % 3, k % 3
        out[k] = pose[axis] * b[first] + pose[3 + axis] * b[first + 1] + pose[6 + axis] * b[first + 2]


@native
def _are_finite(numbers: np.ndarray) -> bool:
    finite = True
    for x in numbers:
        finite = finite and np.isfinite(x)
    return finite


@unordered
def immerse(
    vertices: np.ndarray,
    pose: np.ndarray,
    now: np.ndarray,
    corner: np.ndarray,
    about: np.ndarray,
    river: Any,
    there: np.ndarray,
    rows: np.ndarray,
    fades: bool,
) -> None:
    """Write where a hull's vertices are and what water is there, rows as VERTEX_WIDTH says.

    fades: a wave's pressure fades with depth as its velocity along the level does, for hulls as deep as it is short;
    else it is that of the whole column, and a depth is that under the surface.
    """
    for k in range(len(vertices)):
        for i in range(3):
            rows[k, i] = (
                vertices[k, 0] * pose[i] + vertices[k, 1] * pose[3 + i] + vertices[k, 2] * pose[6 + i]
            )
        water_at(
            now, corner[0], corner[1], about[SPACING], pose[9] + rows[k, 0], pose[10] + rows[k, 1], there
        )
        depth = about[MEAN] + there[SURFACE] - pose[11] - rows[k, 2]
        left, left_up = left_below(there[FADE], depth, there[SURFACE], about[DEPTH])
        rows[k, 3] = depth - there[SURFACE] * (1.0 - left) if fades else depth
        rows[k, 4] = left * there[FLOW] + about[CURRENT]
        rows[k, 5] = left * there[FLOW + 1] + about[CURRENT + 1]
        rows[k, 6] = left_up * there[FLOW + 2]
        add_stream(river[0], river[1], pose[9] + rows[k, 0], pose[10] + rows[k, 1], rows[k, 4:6])


@native
def _about_hull(
    hull: Any,
    pose: np.ndarray,
    motion_w: np.ndarray,
    earlier: np.ndarray,
    later: np.ndarray,
    corner: np.ndarray,
    about: np.ndarray,
    river: Any,
    stream_b: np.ndarray,
    rate_b: np.ndarray,
) -> None:
    """Write the water's motion about a hull (6,), whose rows are those of now, and how it changes along the hull's way.

    It changes as the hull meets it: added mass goes with the frequency of encounter (Salvesen, Tuck and Faltinsen).
    """
    vertices, triangles, rows = hull
    areas, there, moved = np.empty(len(rows)), np.empty(SAMPLES), np.empty(12)
    motion, change, met = np.empty(6), np.empty(6), np.empty((len(rows), VERTEX_WIDTH))
    wetted_areas(rows, triangles, areas)
    nearest_motion(rows, areas, motion)
    _to_body(pose, motion, stream_b)
    immerse(vertices, pose, earlier, corner, about, river, there, met, True)
    nearest_motion(met, areas, motion)
    for k in range(12):
        moved[k] = pose[k]
    for k in range(3):
        moved[9 + k] += SLAB_S * motion_w[3 + k]
    immerse(vertices, moved, later, corner, about, river, there, met, True)
    nearest_motion(met, areas, change)
    for k in range(6):
        change[k] = (change[k] - motion[k]) / SLAB_S
    _to_body(pose, change, rate_b)


@native
def feel_water(
    pose: np.ndarray, free: np.ndarray, inertia: np.ndarray, h: float, env: Any, wrench_b: np.ndarray
) -> bool:
    """Mean wrench of water, air and ground in a step of h; the clock goes on by h. Acts always.

    Arguments as `Inline.wrench` has them.
    """
    _, hull, about, resistances, added, sea_arrays, kept, report, before, river, ground, radiation, _ = env
    before[:] = report
    wrench_b[:] = 0.0
    if not (_are_finite(pose) and _are_finite(free)):
        return True
    vertices, triangles, rows = hull
    have_water(pose[9], pose[10], about, sea_arrays, kept, report)
    corner, now = kept[7], kept[8]
    spacing = about[SPACING]
    there = np.empty(SAMPLES)
    F, G, table, momentum = radiation[0], radiation[1], radiation[2], radiation[6]
    immerse(vertices, pose, now, corner, about, river, there, rows, len(F) > 0)
    pushed_w, motion_w = np.zeros(6), np.empty(6)
    _to_world(pose, free, motion_w)
    if len(table) > 0:
        # Waves of the later of the two times that lie about this one, whatever was asked for before.
        sea = np.empty(4)
        sea_at(report, (math.floor(report[CLOCK] / SLAB_S) + 1) * SLAB_S, sea)
        _raise(sea_arrays[2], sea_arrays[3], sea, kept[0], kept[1])
        stream = there[FLOW : FLOW + 2]
        stream[0], stream[1] = about[CURRENT], about[CURRENT + 1]
        add_stream(river[0], river[1], pose[9], pose[10], stream)
        level = about[MEAN] + push_of_waves(
            pose, report[CLOCK], motion_w[3:5], stream, kept[0], radiation, pushed_w
        )
        for k in range(len(rows)):
            rows[k, 3] = level - pose[11] - rows[k, 2]
    air_x, air_y = gusty(about[WIND], about[WIND + 1], about[GUSTS], report[CLOCK])
    load_w, load_b = np.empty(6), np.empty(6)
    damping_w, damping_b, turned, found = (
        np.empty((6, 6)),
        np.empty((6, 6)),
        np.empty((6, 6)),
        np.empty(FOUND),
    )
    cuts = np.empty((2, VERTEX_WIDTH))
    sum_hull(rows, triangles, motion_w, air_x, air_y, resistances, cuts, load_w, damping_w, found)
    if found[VOLUME] > 0.0:
        for k in range(6):
            load_w[k] += resistances[LIFT] * pushed_w[k]
    _to_body(pose, load_w, load_b)
    for k in range(6):
        _to_body(pose, damping_w[k], turned[k])  # it is symmetric, and so is what it becomes
    for k in range(6):
        _to_body(pose, turned[:, k], damping_b[k])

    water_at(now, corner[0], corner[1], spacing, pose[9], pose[10], there)
    report[LEVEL] = there[SURFACE]
    report[STREAM], report[STREAM + 1] = there[FLOW] + about[CURRENT], there[FLOW + 1] + about[CURRENT + 1]
    report[STREAM + 2] = there[FLOW + 2]
    add_stream(river[0], river[1], pose[9], pose[10], report[STREAM : STREAM + 2])
    stream_b, rate_b = np.zeros(6), np.zeros(6)
    if len(table) > 0 and found[VOLUME] > 0.0:
        for k in range(3):
            there[FLOW + k] = report[STREAM + k] - there[FLOW + k]
        _to_body(pose, there[FLOW : FLOW + 3], stream_b[3:])
    elif found[VOLUME] > 0.0:
        lattices = kept[6]
        first = math.floor(report[CLOCK] / SLAB_S) % 2
        later, earlier = np.empty(SAMPLES), np.empty(SAMPLES)
        if len(F) > 0:
            _about_hull(
                hull,
                pose,
                motion_w,
                lattices[first],
                lattices[1 - first],
                corner,
                about,
                river,
                stream_b,
                rate_b,
            )
        else:
            water_at(lattices[1 - first], corner[0], corner[1], spacing, pose[9], pose[10], later)
            water_at(lattices[first], corner[0], corner[1], spacing, pose[9], pose[10], earlier)
            for k in range(FLOW, FLOW + 3):
                later[k] = (later[k] - earlier[k]) / SLAB_S
            _to_body(pose, later[FLOW : FLOW + 3], rate_b[3:])
            _to_body(pose, report[STREAM : STREAM + 3], stream_b[3:])

    radiated = report[REPORT : REPORT + len(F)]
    for i in range(len(F)):
        for k in range(6):
            load_b[k] -= G[i, k] * radiated[i]
    if len(F) > 0:
        turn_momentum(momentum, radiated, stream_b, damping_b, load_b)

    # (I + h D) xi = I free + h load
    right = np.empty(6)
    for k in range(6):
        right[k] = inertia[k] * free[k] + h * load_b[k]
        for j in range(6):
            damping_b[k, j] *= h
        damping_b[k, k] += inertia[k]
    solve_definite(damping_b, right)
    carry_along(added, inertia, h, stream_b, rate_b, right)
    _radiate(F, G, radiated, h, right, stream_b)
    for k in range(6):
        wrench_b[k] = (right[k] - free[k]) * inertia[k] / h
    if ground[0]:
        contact_b, touched = np.empty(6), report[REPORT + len(F) :]
        touched[0] = touched[3] = 0.0
        feel_ground(pose, right, inertia, h, ground, contact_b)
        for k in range(6):
            wrench_b[k] += contact_b[k]
        report[0], report[3] = max(report[0], touched[0]), max(report[3], touched[3])
    report[1] = 1.0 if found[VOLUME] > 0.0 else 0.0
    report[2] = pose[11] - about[MEAN] - there[SURFACE]
    report[AIR], report[AIR + 1] = air_x, air_y
    report[INSIDE:REPORT] = found
    report[CLOCK] += h
    return True


@native
def refuse_aground(begin: np.ndarray, end: np.ndarray, env: Any) -> bool:
    """Water parts; the ground does not."""
    ground = env[10]
    return ground[0] and refuse_way(begin, end, ground)


@native
def forget_step(env: Any) -> None:
    """The report as it was before the last wrench was found."""
    report, before = env[7], env[8]
    report[:] = before
