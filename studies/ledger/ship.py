"""A ship in head waves: heave and pitch at the speed and in the five waves of the KCS, Tokyo 2015 workshop, case 2.10.

The lines of that container ship and what was measured may not be handed on here. The hull has its main dimensions (a
model of 6.0702 m, block coefficient 0.651, gyradius a quarter of the length) and lines of its own, the same fore and
aft. The truth is linear potential flow of that hull, by panels, with diffraction, and with the terms of speed of
N. Salvesen, E. O. Tuck, O. Faltinsen, "Ship motions and sea loads", 1970: what works it out, by `capytaine`, an extra,
is `python -m studies.reference.ship_in_waves`. Ours is the law by which hulls meet waves here: pressure that fades with
depth, and the motion against the water where the hull's middle is.
"""

import numpy as np

from studies.ledger.problem import Problem
from studies.reference.ship_in_waves import (
    DENSITY,
    DRAFT_M,
    GRAVITY,
    GYRADIUS,
    LENGTH_M,
    displaced_m3,
    frequencies,
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


def by_relative_motion() -> np.ndarray:
    """(10,) as hulls meet waves in the kernels, for small motions."""
    from numpy.polynomial.legendre import leggauss

    x, across = leggauss(120)
    t, down = leggauss(60)
    t, down = 0.5 * (t + 1.0), 0.5 * down
    half, power = section(x)
    k, omega, met = frequencies()
    mass = DENSITY * displaced_m3()
    place = 0.5 * LENGTH_M * x
    lengths = 0.5 * LENGTH_M * across
    plane, second = lengths @ (2.0 * half), lengths @ (2.0 * half * place**2)
    found = []
    for each in range(len(k)):
        fading = np.exp(-k[each] * DRAFT_M * t) * power[:, None] * t ** (power[:, None] - 1.0)
        pressed = DENSITY * GRAVITY * 2.0 * half * (fading @ down) * np.exp(-1j * k[each] * place)
        A, B, A5, B5 = RADIATED[each]
        heave = lengths @ pressed - omega[each] ** 2 * A - 1j * omega[each] * B
        pitch = -(lengths * place) @ pressed
        w = met[each]
        z = heave / (DENSITY * GRAVITY * plane - w**2 * (mass + A) - 1j * w * B)
        turned = pitch / (
            DENSITY * GRAVITY * second - w**2 * (mass * (GYRADIUS * LENGTH_M) ** 2 + A5) - 1j * w * B5
        )
        found.append((abs(z), abs(turned) / k[each]))
    return np.array(found).T.ravel()


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
        least_digits=0.0,
        scene="open-sea",
        reason="no diffraction of its own, the water's motion where its middle is alone, and no terms of speed: off by "
        "up to 0.4 of the wave in waves shorter than the ship",
        gives_up=True,
    ),
)
