"""How a sea's energy is spread over its waves: JONSWAP over frequency, Hasselmann's law over direction.

K. Hasselmann et al., "Measurements of wind-wave growth and swell decay during the Joint North Sea Wave Project", 1973;
D. E. Hasselmann, M. Dunckel, J. A. Ewing, "Directional wave spectra observed during JONSWAP", 1980. Waves are of deep
water: omega^2 = g k.
"""

import math

import numpy as np

from sim.compiled import compiled
from sim.water.ocean.sea import GRAVITY_MPS2

PEAK_ENHANCEMENT = 3.3
_LEAST_WIND_MPS = 0.05
_NARROWEST, _WIDEST = 30.0, 0.6


@compiled
def peak_radps(wind: float, fetch: float) -> float:
    """Angular frequency of the highest waves."""
    return 22.0 * (GRAVITY_MPS2 * GRAVITY_MPS2 / (wind * fetch)) ** (1.0 / 3.0)


@compiled
def frequency_spectrum(omega: float, wind: float, fetch: float) -> float:
    """Variance of the height per angular frequency [m^2 s/rad]."""
    if wind < _LEAST_WIND_MPS or omega <= 0.0:
        return 0.0
    peak = peak_radps(wind, fetch)
    alpha = 0.076 * (wind * wind / (fetch * GRAVITY_MPS2)) ** 0.22
    width = 0.07 if omega <= peak else 0.09
    near = math.exp(-((omega - peak) ** 2) / (2.0 * (width * peak) ** 2))
    steep = math.exp(-1.25 * (peak / omega) ** 4)
    return alpha * GRAVITY_MPS2**2 / omega**5 * steep * PEAK_ENHANCEMENT**near


@compiled
def spreading_power(omega: float, wind: float, fetch: float) -> float:
    """Exponent s of the law cos(angle / 2)^(2 s)."""
    peak = peak_radps(max(wind, _LEAST_WIND_MPS), fetch)
    ratio = omega / peak
    if ratio < 1.0:
        power = 6.97 * ratio**4.06
    else:
        # The younger the waves, the more the shorter ones are spread.
        age = max(wind, _LEAST_WIND_MPS) * peak / GRAVITY_MPS2
        power = 9.77 * ratio ** (-2.33 - 1.45 * (age - 1.17))
    return min(max(power, _WIDEST), _NARROWEST)


@compiled
def spreading_scale(power: float) -> float:
    """By which the law integrates to one over a turn [1/rad]."""
    return math.exp(math.lgamma(power + 1.0) - math.lgamma(power + 0.5)) / (2.0 * math.sqrt(math.pi))


@compiled
def wave_variances(kx: float, ky: float, sea: np.ndarray) -> tuple[float, float]:
    """Variance of the height per area of wave number [m^4], of this wave and of its opposite.

    sea (4,): wind [m/s], direction [rad], fetch [m], choppiness.
    """
    k = math.hypot(kx, ky)
    omega = math.sqrt(GRAVITY_MPS2 * k)
    density = frequency_spectrum(omega, sea[0], sea[2])
    if density == 0.0:
        return 0.0, 0.0
    power = spreading_power(omega, sea[0], sea[2])
    # d omega / dk over k turns a density over (omega, angle) into one over the plane of wave numbers.
    density *= 0.5 * omega / (k * k) * spreading_scale(power)
    along = (kx * math.cos(sea[1]) + ky * math.sin(sea[1])) / k
    ahead = max(0.5 * (1.0 + along), 0.0) ** power
    back = max(0.5 * (1.0 - along), 0.0) ** power
    return density * ahead, density * back


def significant_height_m(sea: np.ndarray, shortest_m: float = 0.0) -> float:
    """Four standard deviations of the height, from the spectrum's integral; waves under `shortest_m` left out."""
    peak = peak_radps(max(float(sea[0]), _LEAST_WIND_MPS), float(sea[2]))
    last = math.sqrt(GRAVITY_MPS2 * 2 * math.pi / shortest_m) if shortest_m else 40.0 * peak
    omega = np.linspace(0.2 * peak, max(last, 0.21 * peak), 20001)
    density = [frequency_spectrum(w, float(sea[0]), float(sea[2])) for w in omega]
    return 4.0 * math.sqrt(float(np.trapezoid(density, omega)))
