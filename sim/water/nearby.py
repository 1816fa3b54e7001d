"""The water about a hull: the sea on a small lattice that stands still in the world, at two times about the present.

The sea is known at whole multiples of SLAB_S and between them in proportion; so is the lattice in space, whose points
are whole multiples of its spacing. What a hull meets therefore depends on place and time alone, not on the steps that
led there. Everything is found within the step that first needs it, and kept for the next ones.
"""

import math

import numpy as np

from sim.compiled import allocating_nothing, compiled
from sim.water.ocean.sampling import add_tile, rest_place
from sim.water.ocean.synthesis import FIELDS, HEIGHT, RISE, SPEED_EAST, SPEED_NORTH, synthesise
from sim.water.ocean.waves import mean_wave_numbers, raise_waves

SLAB_S = 1.0 / 20.0
LATTICE = 36
"""Points along its edge."""
SURFACE, FLOW, FADE = 0, 1, 4
"""What it tells: height of the surface, velocity of the water there, and how fast that fades below [rad/m]."""
TOLD = 5
KEY = 5
"""Of a time at which the sea is known: its number, and the sea (4,)."""


@compiled
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
    if raised[0] != sea[0] or raised[1] != sea[1] or raised[2] != sea[2]:
        raise_waves(waves, drawn, sea, heights)
        raised[:] = sea
    mean_wave_numbers(start, waves, heights, decays[slot])
    if _is_calm(heights):
        grids[slot] = 0.0
    else:
        synthesise(start, place, waves, heights, sea[3], number * SLAB_S, w, work, grids[slot])
    key[0] = number
    key[1:] = sea
    return False


@allocating_nothing
def _is_calm(heights: np.ndarray) -> bool:
    calm = True
    for m in range(len(heights)):
        calm = calm and heights[m, 0] == 0.0 and heights[m, 1] == 0.0
    return calm


@compiled
def fill_lattice(
    grids: np.ndarray,
    edges: np.ndarray,
    decay: np.ndarray,
    origin_x: int,
    origin_y: int,
    spacing: float,
    out: np.ndarray,
) -> None:
    """Write what the lattice tells, out (LATTICE, LATTICE, TOLD), from the tiles of one time."""
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


@allocating_nothing
def between(lattices: np.ndarray, slot: int, share: float, now: np.ndarray) -> None:
    """The lattice at the present, that share of the way from one time to the next."""
    first, second = lattices[slot], lattices[1 - slot]
    for j in range(now.shape[0]):
        for i in range(now.shape[1]):
            for k in range(TOLD):
                now[j, i, k] = (1.0 - share) * first[j, i, k] + share * second[j, i, k]


@allocating_nothing(fastmath=True)
def water_at(
    now: np.ndarray, origin_x: int, origin_y: int, spacing: float, x: float, y: float, out: np.ndarray
) -> None:
    """What the lattice tells at world (x, y), out (TOLD,); beyond its edge the edge goes on."""
    u, v = x / spacing, y / spacing
    floor_u, floor_v = math.floor(u), math.floor(v)
    u -= floor_u
    v -= floor_v
    i = min(max(int(floor_u) - origin_x, 0), now.shape[1] - 2)
    j = min(max(int(floor_v) - origin_y, 0), now.shape[0] - 2)
    a, b, c, d = (1.0 - u) * (1.0 - v), u * (1.0 - v), (1.0 - u) * v, u * v
    for k in range(TOLD):
        out[k] = a * now[j, i, k] + b * now[j, i + 1, k] + c * now[j + 1, i, k] + d * now[j + 1, i + 1, k]
