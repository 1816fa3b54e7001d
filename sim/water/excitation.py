"""How waves that come push a hull of which that is known, for kernels: linear potential flow, wave by wave.

A wave of height Re a exp(i (k . x - omega t)) that goes towards beta, counted from the hull's heading, does to a hull
which is held at x_w what Re a X(omega, beta) exp(i (k . x_w - omega t)) says: X has the Froude-Krylov wrench, of the
wave's own pressure, and that of the waves which the hull scatters (diffraction). The vehicle's folder has it
(`sim.vehicle_config.radiation`). It stands for the pressure of the waves about the hull, and for what water that moves
with them would do by added mass and memory: such a hull has these of its motion against the mean stream alone.

Its part along the vertical is that by which still water would lift the hull if it stood higher by some height. So high
stands the water that the hull is cut at, level as it is: a hull rides long waves of any height, and what low waves do
to it is X. Under way a hull scatters waves at the frequency at which it meets them: where the folder has X at speeds,
too, it is taken between them, by the speed ahead through the mean stream. Waves above the highest frequency of the
folder do nothing.
"""

import math
from typing import Any

import numpy as np

from sim.native.function import native, unordered
from sim.vehicle_config.radiation import Radiation
from sim.water.ocean.waves import GRAVITY_MPS2

FREQUENCIES, HEADINGS = 161, 128
"""Of the table that kernels read in proportion; between those of the folder it is a cubic spline and a Fourier sum."""


def remembered(
    radiation: Radiation | None, depth_m: float, waves: np.ndarray, lifted: np.ndarray
) -> tuple[np.ndarray, ...]:
    """What kernels know of a hull that makes waves over a bed and is pushed by those of a sea, waves as `Waves.number`.

    lifted (6,): the wrench of still water 1 m higher (`immersion.lift_per_height`), as longest waves have it. Returns F
    (n, n) and G (n, 6) of what it radiates; by speed the table (speeds, FREQUENCIES, HEADINGS, 12), real parts, then
    imaginary ones, of height [m] instead of the force upwards, and of what is left of the others [N m] and [N], for
    1 m, or (0, 0, 0, 12); which waves are felt (w,), and of each (w, 5) frequency [rad/s], wave number [rad/m] along x
    and y, and places in the table; the speeds [m/s]; and G^T F^-1 (6, n), by which the state tells the momentum of the
    water in the waves that the hull has made.
    """
    if radiation is None:
        F, G = np.zeros((0, 0)), np.zeros((0, 6))
    else:
        radiation = radiation.over(depth_m)
        F, G = radiation.system
    if radiation is None or radiation.excited is None:
        nothing = np.zeros((0, 0, 0, 12), np.float32), np.zeros(0, np.int64), np.zeros((0, 5)), np.zeros(0)
        return F, G, *nothing, _momentum(F, G)
    last = radiation.omega_radps[-1]
    omega, east, north = waves[:, 0], waves[:, 1], waves[:, 2]
    which = np.flatnonzero(omega < last)
    k = omega**2 / GRAVITY_MPS2 * waves[:, 4]
    place = omega / last * (FREQUENCIES - 1), np.arctan2(north, east) / (2.0 * np.pi) * HEADINGS
    # Neighbours in the table come one after the other: so it stays in the cache.
    which = which[np.argsort(place[0][which].astype(int) + (place[1][which] / HEADINGS + 0.5), kind="stable")]
    rows = np.stack([omega, k * east, k * north, *place], axis=1)[which]
    speeds, forces = zip((0.0, radiation.excited), *radiation.under_way, strict=True)
    table = np.stack([_table(radiation.omega_radps, X, lifted) for X in forces])
    return F, G, table, which, rows, np.array(speeds), _momentum(F, G)


def _momentum(F: np.ndarray, G: np.ndarray) -> np.ndarray:
    """The integral of G^T x over time, which begins at rest and is none again in the end."""
    return np.ascontiguousarray(np.linalg.solve(F.T, G).T)


def _table(omega: np.ndarray, excited: np.ndarray, lifted: np.ndarray) -> np.ndarray:
    from scipy.interpolate import CubicSpline  # it loads for a while, and few hulls have such numbers

    headings = excited.shape[1]
    towards = 2.0 * np.pi * np.arange(HEADINGS) / HEADINGS
    orders = np.fft.fftfreq(headings, 1.0 / headings)
    turning = np.exp(1j * np.outer(towards, orders))
    fine = turning @ np.fft.fft(excited, axis=1) / headings
    longest = np.broadcast_to(lifted, fine[:1].shape)
    known = CubicSpline(np.r_[0.0, omega], np.concatenate([longest, fine]))
    found = known(np.linspace(0.0, omega[-1], FREQUENCIES))
    height = found[..., 5:] / lifted[5]
    found = np.concatenate([(found - height * lifted)[..., :5], height], axis=-1)
    return np.concatenate([found.real, found.imag], axis=-1).astype(np.float32)


@unordered
def _add_between(
    near: np.ndarray,
    beside: np.ndarray,
    far: np.ndarray,
    across: np.ndarray,
    weights: tuple[float, float, float, float],
    real: float,
    imaginary: float,
    total: np.ndarray,
) -> None:
    """Add the real part of a wave there times what lies between four rows of the table."""
    a, b, c, d = weights
    for k in range(6):
        total[k] += real * (a * near[k] + b * beside[k] + c * far[k] + d * across[k])
    for k in range(6):
        total[k] -= imaginary * (a * near[6 + k] + b * beside[6 + k] + c * far[6 + k] + d * across[6 + k])


@native
def push_of_waves(
    pose: np.ndarray,
    time_s: float,
    velocity_w: np.ndarray,
    stream_w: np.ndarray,
    heights: np.ndarray,
    radiation: Any,
    load_w: np.ndarray,
) -> float:
    """Write the wrench of waves on a hull, load_w (6,), torque and force about its origin, world axes, without the part
    which water has that stands higher over the mean level: by how much [m] is returned.

    velocity_w and stream_w (2 or more,): of the hull and of the mean stream [m/s]; heights (waves, 4) as
    `raise_waves` writes them; radiation as `remembered` has it.
    """
    table, which, rows, speeds = radiation[2], radiation[3], radiation[4], radiation[5]
    heading = math.atan2(pose[1], pose[0])
    turned = heading / (2.0 * math.pi) * HEADINGS
    total = np.zeros(6)
    ahead, aside = velocity_w[0] - stream_w[0], velocity_w[1] - stream_w[1]
    speed_mps = math.cos(heading) * ahead + math.sin(heading) * aside
    slow, faster = 0, 0.0
    for k in range(len(speeds) - 1):
        if speed_mps > speeds[k]:
            slow, faster = k, min((speed_mps - speeds[k]) / (speeds[k + 1] - speeds[k]), 1.0)
    for m in range(len(which)):
        omega, k_x, k_y, frequency, towards = rows[m]
        along, later = k_x * pose[9] + k_y * pose[10], omega * time_s
        i = int(frequency)
        p = frequency - i
        place = towards - turned
        floor = math.floor(place)
        q = place - floor
        weights = (1.0 - p) * (1.0 - q), (1.0 - p) * q, p * (1.0 - q), p * q
        for way in range(2):  # the wave, and its opposite
            real, imaginary = heights[which[m], 2 * way], heights[which[m], 2 * way + 1]
            if real == 0.0 and imaginary == 0.0:
                continue
            turn = (along if way == 0 else -along) - later
            cosine, sine = math.cos(turn), math.sin(turn)
            u, v = real * cosine - imaginary * sine, real * sine + imaginary * cosine
            j = (int(floor) + way * (HEADINGS // 2)) % HEADINGS
            for later_row in range(2):
                share = faster if later_row == 1 else 1.0 - faster
                if share > 0.0:
                    at = table[slow + later_row]
                    near, beside = at[i, j], at[i, (j + 1) % HEADINGS]
                    far, across = at[i + 1, j], at[i + 1, (j + 1) % HEADINGS]
                    _add_between(near, beside, far, across, weights, share * u, share * v, total)
    cosine, sine = math.cos(heading), math.sin(heading)
    for k in (0, 3):
        load_w[k] = cosine * total[k] - sine * total[k + 1]
        load_w[k + 1] = sine * total[k] + cosine * total[k + 1]
    load_w[2], load_w[5] = total[2], 0.0
    return total[5]
