"""A ship in head waves: heave and pitch at the speed and in the five waves of the KCS, Tokyo 2015 workshop, case 2.10.

The lines of that container ship and what was measured may not be handed on here. The hull has its main dimensions (a
model of 6.0702 m, block coefficient 0.651, gyradius a quarter of the length) and lines of its own, the same fore and
aft. The truth is linear potential flow of that hull, by panels, with diffraction, and with the terms of speed of
N. Salvesen, E. O. Tuck, O. Faltinsen, "Ship motions and sea loads", 1970: what works it out, by `capytaine`, an extra,
is `python -m studies.reference.ship_in_waves`. Ours is the law by which hulls that radiate meet waves here where it is
not known how waves push them, for small motions: pressure that fades with depth, and the motion in the hull's own axes
against that of the water about all of it, which changes as the hull meets it (`sim.water.carried`). It has no
diffraction but this. How waves push a hull at rest (`sim.water.excitation`) does not hold of one at this speed, which
scatters them at the frequency of encounter.
"""

from typing import Any

import numpy as np

import sim
from sim.water.carried import nearest_motion, wetted_areas
from sim.water.immersion import VERTEX_WIDTH
from studies.ledger.problem import Problem
from studies.reference.ship_in_waves import (
    DENSITY,
    DRAFT_M,
    GRAVITY,
    GYRADIUS,
    LENGTH_M,
    SPEED_MPS,
    displaced_m3,
    frequencies,
    panels,
    section,
)

RADIATED = np.array(
    [
        [1132.7, 1387.4, 1591.7, 5391.7],
        [1002.3, 2027.9, 1496.0, 5781.8],
        [997.85, 2860.9, 1716.3, 6845.1],
        [1039.0, 3195.9, 1876.7, 7183.1],
        [1167.0, 3742.8, 2793.7, 7514.2],
    ]
)
"""Added mass [kg], damping [kg/s] in heave, and moment [kg m^2] and damping [kg m^2/s] in pitch, at the frequencies of
encounter."""
HEAVE = (0.164, 0.070, 0.798, 0.904, 0.921)
PITCH = (0.057, 0.212, 0.936, 1.055, 1.164)
"""Of the truth: amplitudes over that of the wave and over that of its slope."""


def truth() -> np.ndarray:
    """(10,) heave, then pitch."""
    return np.array([*HEAVE, *PITCH])


def waters_motion(k: float, omega: float) -> tuple[complex, complex]:
    """Heave velocity and pitching rate of the water about the hull, of a wave of height 1 from ahead."""
    corners, faces = panels(56, 11)
    rows = np.zeros((len(corners), VERTEX_WIDTH))
    rows[:, :3], rows[:, 3] = corners, DRAFT_M
    areas, motion, found = np.zeros(len(rows)), np.zeros(6), np.zeros(6, complex)
    wetted_areas(rows, np.concatenate([faces[:, [0, 1, 2]], faces[:, [0, 2, 3]]]), areas)
    wave = np.exp(k * corners[:, 2] - 1j * k * corners[:, 0])
    for part in (1.0, 1j):
        rows[:, 4] = (-omega * wave / part).real
        rows[:, 6] = (-1j * omega * wave / part).real
        nearest_motion(rows, areas, motion)
        found += part * motion
    return complex(found[5]), complex(found[1])


def by_relative_motion() -> np.ndarray:
    """(10,) as hulls that radiate meet waves in the kernels, for small motions; pitch lowers the bow."""
    from numpy.polynomial.legendre import leggauss

    x, across = leggauss(120)
    t, down = leggauss(60)
    t, down = 0.5 * (t + 1.0), 0.5 * down
    half, power = section(x)
    k, omega, met = frequencies()
    mass = DENSITY * displaced_m3() * np.array([1.0, (GYRADIUS * LENGTH_M) ** 2])
    place, U = 0.5 * LENGTH_M * x, SPEED_MPS
    lengths = 0.5 * LENGTH_M * across
    stiff = DENSITY * GRAVITY * np.array([lengths @ (2.0 * half), lengths @ (2.0 * half * place**2)])
    found = []
    for each in range(len(k)):
        fading = np.exp(-k[each] * DRAFT_M * t) * power[:, None] * t ** (power[:, None] - 1.0)
        pressed = DENSITY * GRAVITY * 2.0 * half * (fading @ down) * np.exp(-1j * k[each] * place)
        A, B, A5, B5 = RADIATED[each]
        rate = -1j * met[each]
        heaving, pitching = waters_motion(float(k[each]), float(omega[each]))
        # Velocity along the hull's own axis is rate z + U pitch. Kirchhoff: the momentum A w turns it by U A w.
        through = rate * A + B
        system = np.diag(stiff + rate**2 * mass + [0.0, rate**2 * A5 + rate * B5]).astype(complex)
        system += np.outer([through, -U * A], [rate, U])
        force = [lengths @ pressed + through * heaving, -(lengths * place) @ pressed - U * A * heaving]
        moved = np.linalg.solve(system, force + np.array([0.0, (rate * A5 + B5) * pitching]))
        found.append((abs(moved[0]), abs(moved[1]) / k[each]))
    return np.array(found).T.ravel()


def under_way() -> dict[str, Any]:
    """The scene's boat, whose bow it puts into the waves, kept going, her hull in the waves alone."""
    boat = sim.vehicle("motorboat", waves=6.0, waves_direction=0.3, fetch=8e3)
    return {"vehicle": boat, "environment": None, "trim": {"u_left": 270.0, "u_right": 270.0}}


PROBLEMS = (
    Problem(
        name="ship-in-head-waves",
        title="A ship of the KCS's main dimensions in head waves (Tokyo 2015, case 2.10)",
        quantity="heave over wave height, then pitch over its slope, in waves of 0.65 to 1.95 of its length [1]",
        source="linear potential flow by panels, terms of speed of Salvesen, Tuck and Faltinsen 1970",
        truth=truth,
        known_digits=2,
        ours=by_relative_motion,
        step="fading pressure and relative motion",
        least_digits=0.9,
        scene="open-sea",
        shown=under_way,
        reason="diffraction is that of relative motion, and damping has no terms of speed: off by up to 0.13 of the "
        "wave, in waves shorter than the ship by more than is left of its motion",
        gives_up=True,
    ),
)
