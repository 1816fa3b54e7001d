"""Laws of the water that splashes: rest, buoyancy, waves, momentum, volume, and what a dam lets go."""

import math

import numpy as np
import pytest

from sim.environment.environment import BodyState
from sim.environment.flip import Body, Box, Floating, Tank, TankWater
from sim.environment.flip.box import WATER_DENSITY
from sim.environment.flip.pressure import FULL, release
from sim.environment.hull import Hull
from sim.errors import InputError
from sim.groups.numeric import rotation_exp

G = 9.81
CELL_M = 0.15
BOX_M = (1.6, 1.0, 0.6)


def solid_box(share: float) -> np.ndarray:
    """(6, 6) inertia of the box with this share of the water's density."""
    mass = share * WATER_DENSITY * math.prod(BOX_M)
    squares = np.square(BOX_M)
    return np.diag([*(mass / 12 * (squares.sum() - squares)), mass, mass, mass])


def ball(radius_m: float) -> Hull:
    """Latitudes and longitudes."""
    polar, around = np.linspace(0, np.pi, 17), np.linspace(0, 2 * np.pi, 33)[:-1]
    points = [[0, 0, radius_m], [0, 0, -radius_m]]
    points += [
        [radius_m * np.sin(a) * np.cos(b), radius_m * np.sin(a) * np.sin(b), radius_m * np.cos(a)]
        for a in polar[1:-1]
        for b in around
    ]

    def at(row: int, column: int) -> int:
        return 2 + 32 * row + column % 32

    faces = [(0, at(0, c), at(0, c + 1)) for c in range(32)]
    faces += [(1, at(14, c + 1), at(14, c)) for c in range(32)]
    for r in range(14):
        for c in range(32):
            faces += [(at(r, c), at(r + 1, c), at(r + 1, c + 1)), (at(r, c), at(r + 1, c + 1), at(r, c + 1))]
    return Hull.of(points, faces)


def move(T_wb: np.ndarray, twist_w: np.ndarray, dt: float) -> np.ndarray:
    moved = T_wb.copy()
    moved[:3, 3] += dt * twist_w[3:]
    moved[:3, :3] = rotation_exp(dt * twist_w[:3]) @ T_wb[:3, :3]
    return moved


def at(x: float, y: float, z: float) -> np.ndarray:
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def test_water_at_rest_stays_at_rest() -> None:
    tank = Tank(Box((16, 16, 16), CELL_M), 1.27)
    begun = tank.place.mean(axis=0)
    for _ in range(150):
        tank.advance(1 / 30)
    speed_mps = np.linalg.norm(tank.velocity.astype(float), axis=1) * CELL_M
    deep = tank.place[:, 2] < 6.0
    assert math.sqrt(float((speed_mps[deep] ** 2).mean())) < 0.003  # measured 0.001
    assert (
        math.sqrt(float((speed_mps**2).mean())) < 0.025
    )  # measured 0.016: particles that settle at the surface
    assert np.abs(tank.place.mean(axis=0) - begun).max() < 0.02  # cells; measured 0.008
    inner = tank.density[2:7, 3:-3, 3:-3]
    assert inner.min() > 0.93
    assert inner.max() < 1.07
    assert tank.left <= 1e-3  # of the divergence before; measured 4e-5


@pytest.mark.parametrize("share", [0.12, 0.25, 0.5])
@pytest.mark.parametrize("rate", [60, 30])
def test_a_box_floats_at_archimedes_draft_and_stays_stable(share: float, rate: int) -> None:
    depth = 1.2
    tank = Tank(Box((24, 24, 16), CELL_M), depth, floating=Floating.of(Hull.box(*BOX_M), CELL_M))
    T, V, inertia = at(1.8, 1.8, depth + BOX_M[2] * (0.5 - share)), np.zeros(6), solid_box(share)
    tank.make_room(T)
    heights = []
    for _ in range(4 * rate):
        impulse = tank.advance(1 / rate, Body(T, V, inertia))
        turned = np.kron(np.eye(2), T[:3, :3])
        V = V + turned @ np.linalg.solve(inertia, turned.T @ impulse)
        V[5] -= G / rate
        T = move(T, V, 1 / rate)
        heights.append(T[2, 3])
        assert np.isfinite(T).all()
        assert np.abs(V).max() < 5.0
    draft = depth - (np.mean(heights[len(heights) // 3 :]) - BOX_M[2] / 2)
    assert draft == pytest.approx(share * BOX_M[2], abs=0.5 * CELL_M)  # measured within 0.1 cells


def test_sloshing_has_the_frequency_of_linear_waves() -> None:
    length, depth = 32 * 0.1, 1.2
    x = (np.arange(32) + 0.5) * 0.1
    tank = Tank(Box((32, 8, 24), 0.1), np.broadcast_to(depth + 0.08 * np.cos(np.pi * x / length), (8, 32)))
    dt, tilt = 1 / 60, []
    for _ in range(240):
        tank.advance(dt)
        tilt.append(float(tank.place[:, 0].mean()))
    tilt_about = np.array(tilt) - np.mean(tilt)
    crossings = np.nonzero(np.diff(np.sign(tilt_about)))[0]
    at_zero = crossings + tilt_about[crossings] / (tilt_about[crossings] - tilt_about[crossings + 1])
    omega = math.pi / (np.diff(at_zero).mean() * dt)
    k = math.pi / length
    assert omega == pytest.approx(
        math.sqrt(G * k * math.tanh(k * depth)), rel=0.03
    )  # measured 1.1 %: amplitude, cells


def test_impulse_on_body_water_and_walls_is_zero() -> None:
    x = np.arange(24) / 24
    depth = np.broadcast_to(1.2 + 0.3 * np.cos(2 * np.pi * x), (16, 24))
    tank = Tank(Box((24, 16, 16), CELL_M), depth, floating=Floating.of(Hull.box(*BOX_M), CELL_M))
    T = move(at(1.7, 1.3, 1.25), np.array([0.2, -0.3, 0.5, 0, 0, 0]), 1.0)
    body = Body(T, np.array([0.3, 0.1, -0.2, 0.5, -0.4, -0.8]), solid_box(0.4))
    tank.make_room(T)
    for _ in range(3):
        tank.advance(1 / 60, body)
    p, wet, blocked, density = tank.pressure.astype(float), tank.diagonal > 0, tank.blocked, tank.density
    still = np.zeros_like(tank.faces)
    release(density, tank.diagonal, blocked, tank.pressure, still, np.zeros(still.shape, np.uint8))
    water = np.zeros(3)
    for c in range(3):
        axis = 2 - c
        lower_wet, upper_wet = np.roll(wet, 1, axis), wet
        lower, upper = np.roll(density, 1, axis), density
        share = np.ones(density.shape)
        for full, other, one in (
            (lower, upper, lower_wet & ~upper_wet),
            (upper, lower, upper_wet & ~lower_wet),
        ):
            cut = one & (other < FULL)
            share[cut] = np.clip((full[cut] - FULL) / (full[cut] - other[cut]), 0.1, 1.0)
        # The water about a face reaches to the surface only.
        water[c] = (still[c] * (1.0 - blocked[c]) * share).sum()
    walls = np.array(
        [
            p[:, :, -2].sum() - p[:, :, 1].sum(),
            p[:, -2, :].sum() - p[:, 1, :].sum(),
            p[-2].sum() - p[1].sum(),
        ]
    )
    scale = WATER_DENSITY * CELL_M**4
    total = water + walls + tank.impulse[3:] / scale
    assert (
        np.abs(total).max() < 1e-3 * np.abs(walls).max()
    )  # measured 7e-5: single precision; nearly closed faces are left out
    assert np.abs(tank.impulse[3:]).min() > 1.0


def test_what_oscillates_has_the_added_mass_of_a_ball() -> None:
    radius = 0.5
    tank = Tank(Box((32, 32, 40), 0.1), 3.6, floating=Floating.of(ball(radius), 0.1))
    T = at(1.6, 1.6, 1.7)
    tank.make_room(T)
    held = np.diag([1e9] * 6)
    dt, pushed = 1 / 60, []
    for step in range(24):
        before, after = (0.4 * math.sin(2 * np.pi * (step + s) / 12) for s in (0.0, 1.0))
        # A heavy body takes any motion; its weight is taken off before.
        V = np.array([0, 0, 0, after, 0, G * dt])
        impulse = tank.advance(dt, Body(T, V, held))
        T = move(T, np.array([0, 0, 0, after, 0, 0]), dt)
        pushed.append((after - before, impulse[3]))
    change, impulse = np.array(pushed[6:]).T
    added = -(change @ impulse) / (change @ change)
    theory = 2 / 3 * np.pi * radius**3 * WATER_DENSITY
    assert added == pytest.approx(theory, rel=0.15)  # measured 1.04 between walls


def test_a_dam_breaks_as_it_was_measured() -> None:
    """J. C. Martin, W. J. Moyce, "An experimental study of the collapse of liquid columns", 1952, n^2 = 2."""
    when = np.array([0.84, 1.43, 1.83, 2.2, 2.51, 2.83, 3.11])
    where = np.array([1.22, 1.67, 2.11, 2.56, 3.0, 3.44, 3.89])
    cells, a = 12, 1.0
    depth = np.zeros((8, 64))
    depth[:, :cells] = 2 * a
    tank = Tank(Box((64, 8, 32), a / cells), depth)
    dt, times, front = 1 / 60, [], []
    for step in range(48):
        tank.advance(dt)
        column = tank.density[1:-1, 1:-1, 1:-1].mean(axis=1).sum(axis=0) / cells
        last = int(np.nonzero(column >= 0.1)[0].max())
        share = (column[last] - 0.1) / (column[last] - column[last + 1])
        front.append((last + 0.5 + share) / cells)
        times.append((step + 1) * dt * math.sqrt(2 * G / a))
    assert np.interp(when, times, front) == pytest.approx(
        where, rel=0.1
    )  # measured 3 to 7 % ahead, without bed friction


def test_volume_is_kept_while_water_splashes() -> None:
    x = np.arange(24) / 24
    tank = Tank(Box((24, 8, 16), CELL_M), np.broadcast_to(1.0 + 0.6 * np.cos(np.pi * x), (8, 24)))
    volumes = []
    for step in range(1800):
        tank.advance(1 / 30)
        if step % 10 == 0:
            volumes.append(float(np.minimum(tank.density, 1.0).sum()))
    drift = np.mean(volumes[-40:]) / np.mean(volumes[20:60]) - 1.0
    assert abs(drift) < 0.01  # measured 0.0009
    assert np.isfinite(tank.place).all()


def test_a_tank_goes_on_to_the_bit_from_a_checkpoint() -> None:
    def run(water: TankWater, steps: range) -> list[np.ndarray]:
        got = []
        for n in steps:
            body = BodyState(at(1.2 + 0.01 * n, 1.2, 1.25), np.array([0, 0, 0.1, 1.0, 0, 0]), solid_box(0.4))
            got.append(water.exchange(0.01 * n, 0.01, {"hull": body})["hull"])
        return got

    def water() -> TankWater:
        return TankWater(Tank(Box((16, 16, 16), CELL_M), 1.2, floating=Floating.of(Hull.box(*BOX_M), CELL_M)))

    first, second = water(), water()
    begun = run(first, range(13))
    kept = first.checkpoint()
    went_on = run(first, range(13, 30))
    second.restore(kept)
    assert np.array_equal(run(second, range(13, 30)), went_on)
    assert np.abs(begun).max() > 0.0


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Box((16, 10, 16), 0.1), "10 cells along y"),
        (lambda: Box((16, 16, 16), 0.0), "cell_m = 0.0"),
        (lambda: Box((256, 256, 256), 0.1), "MB"),
        (lambda: Tank(Box((16, 16, 16), 0.1), 1.7), "depth"),
        (lambda: Tank(Box((16, 16, 16), 0.1), math.nan), "depth"),
    ],
)
def test_a_box_that_cannot_be_is_refused_in_one_line(make, says: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match=says) as refused:
        make()
    assert "\n" not in str(refused.value)
