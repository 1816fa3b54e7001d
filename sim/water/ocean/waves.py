"""The waves of a sea, which wind has raised: three square tiles that repeat, each with its own band of wavelengths.

A wave of wave number k over a level bed d down has the height Re a exp(i (k . x - omega t)), where
omega^2 = g k tanh(k d), in deep water g k (G. B. Airy, "Tides and waves", 1845). Its complex number a is normal with
the variance that the spectrum gives, drawn by the wave's own place in a counted stream (Philox), so that it depends
neither on the size of the grids nor on the other waves; as the sea changes, the same numbers are scaled.

The spectrum is JONSWAP over frequency (K. Hasselmann et al., "Measurements of wind-wave growth and swell decay during
the Joint North Sea Wave Project", 1973) and Hasselmann's law over direction (D. E. Hasselmann, M. Dunckel, J. A. Ewing,
"Directional wave spectra observed during JONSWAP", 1980). Over a bed it is that of E. Bouws et al., "Similarity of the
wind wave spectrum in finite depth water", 1985 (TMA): less by as much as a spectrum k^-3 is over frequencies there.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from sim.native.function import native
from sim.platform.errors import InputError
from sim.platform.values import dataclass

MOST_WIND_MPS = 32.0
GRAVITY_MPS2 = 9.81
DEEP_M = 4000.0
"""As oceans are: no wave of a sea feels that bed, to the last bit."""
DEEP_KD = 20.0
"""Wave number times depth from which a wave is one of deep water: 1 - tanh is below 1e-17."""


@dataclass(frozen=True, slots=True)
class Sea:
    """Waves under a steady wind. Raises InputError for numbers out of range."""

    wind_mps: float = 6.0
    """Ten metres above the water; none makes a calm sea."""
    direction_rad: float = 0.0
    """Where wind and waves go to, from world x towards y."""
    fetch_m: float = 60e3
    """The way over which the wind has blown."""
    choppiness: float = 1.0
    """Fraction of the waves' horizontal motion, which sharpens the crests: 0 none, 1 that of linear theory."""
    seed: int = 1
    depth_m: float = DEEP_M
    """Of a level bed under the mean surface."""

    def __post_init__(self) -> None:
        for name, low, high, unit in (
            ("wind_mps", 0.0, MOST_WIND_MPS, "m/s"),
            ("direction_rad", -4 * math.pi, 4 * math.pi, "rad"),
            ("fetch_m", 100.0, 2e6, "m"),
            ("choppiness", 0.0, 1.5, ""),
            ("seed", 0, 2**63 - 1, ""),
            ("depth_m", 1.0, 11e3, "m"),
        ):
            value = getattr(self, name)
            if not math.isfinite(value) or not low <= value <= high:
                raise InputError(
                    f"sea: {name} = {value!r} is out of range; allowed: {low:g} to {high:g} {unit}".rstrip()
                )

    @property
    def numbers(self) -> np.ndarray:
        """(4,) wind, direction, fetch, choppiness, as compiled functions take them."""
        return np.array([self.wind_mps, self.direction_rad, self.fetch_m, self.choppiness])


PEAK_ENHANCEMENT = 3.3
_LEAST_WIND_MPS = 0.05
_NARROWEST, _WIDEST = 30.0, 0.6


@native
def peak_radps(wind: float, fetch: float) -> float:
    """Angular frequency of the highest waves."""
    return 22.0 * (GRAVITY_MPS2 * GRAVITY_MPS2 / (wind * fetch)) ** (1.0 / 3.0)


@native
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


@native
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


@native
def spreading_scale(power: float) -> float:
    """By which the law integrates to one over a turn [1/rad]."""
    return math.exp(math.lgamma(power + 1.0) - math.lgamma(power + 0.5)) / (2.0 * math.sqrt(math.pi))


@native
def wave_variances(kx: float, ky: float, sea: np.ndarray, coth_kd: float) -> tuple[float, float]:
    """Variance of the height per area of wave number [m^4], of this wave and of its opposite.

    sea (4,): wind [m/s], direction [rad], fetch [m], choppiness; coth_kd: of wave number times depth, 1 in deep water.
    """
    k = math.hypot(kx, ky)
    omega = math.sqrt(GRAVITY_MPS2 * k / coth_kd)
    density = frequency_spectrum(omega, sea[0], sea[2])
    if density == 0.0:
        return 0.0, 0.0
    power = spreading_power(omega, sea[0], sea[2])
    # d omega / dk over k turns a density over (omega, angle) into one over the plane of wave numbers. Over a bed, what
    # is left of the spectrum there times it is tanh^2 of what they are in deep water.
    density *= 0.5 * omega / (k * k) * spreading_scale(power) / (coth_kd * coth_kd)
    along = (kx * math.cos(sea[1]) + ky * math.sin(sea[1])) / k
    ahead = max(0.5 * (1.0 + along), 0.0) ** power
    back = max(0.5 * (1.0 - along), 0.0) ** power
    return density * ahead, density * back


_MOST_STEPS = 30


def frequency_radps(k: ArrayLike, depth_m: float) -> np.ndarray:
    """Of waves of wave numbers k [rad/m] over a level bed."""
    number = np.asarray(k, float)
    return np.sqrt(GRAVITY_MPS2 * number * np.tanh(number * depth_m))


def wave_number(omega_radps: float, depth_m: float) -> float:
    """Of a wave of a frequency over a level bed [rad/m], by Newton's method."""
    deep = omega_radps**2 / GRAVITY_MPS2
    # What it is in deep water and of long waves in shallow water: the first step leads from the greater one beyond.
    kd = max(deep * depth_m, math.sqrt(deep * depth_m))
    for _ in range(_MOST_STEPS):
        tanh = math.tanh(kd)
        step = (kd * tanh - deep * depth_m) / (tanh + kd * (1.0 - tanh * tanh))
        kd -= step
        if abs(step) <= 1e-15 * kd:
            break
    return kd / depth_m


def group_speed_mps(k: ArrayLike, depth_m: float) -> np.ndarray:
    """d omega / dk of waves of wave numbers k [rad/m]: by which their energy travels."""
    number = np.asarray(k, float)
    twice = 2.0 * np.minimum(number * depth_m, DEEP_KD)
    return 0.5 * frequency_radps(number, depth_m) / number * (1.0 + twice / np.sinh(twice))


def significant_height_m(sea: np.ndarray, shortest_m: float = 0.0, depth_m: float = DEEP_M) -> float:
    """Four standard deviations of the height, from the spectrum's integral; waves under `shortest_m` left out."""
    peak = peak_radps(max(float(sea[0]), _LEAST_WIND_MPS), float(sea[2]))
    last = math.sqrt(GRAVITY_MPS2 * 2 * math.pi / shortest_m) if shortest_m else 40.0 * peak
    omega = np.linspace(0.2 * peak, max(last, 0.21 * peak), 20001)
    density = np.array([frequency_spectrum(w, float(sea[0]), float(sea[2])) for w in omega])
    return 4.0 * math.sqrt(float(np.trapezoid(density * _left_over_a_bed(omega, depth_m), omega)))


def _left_over_a_bed(omega: np.ndarray, depth_m: float) -> np.ndarray:
    """What is left of a spectrum over frequencies (n,) (S. A. Kitaigorodskii et al., "On Phillips' theory of the
    equilibrium range in the spectra of wind-generated gravity waves", 1975)."""
    if depth_m * float(omega.min()) ** 2 > GRAVITY_MPS2 * DEEP_KD:
        return np.ones_like(omega)
    k = np.array([wave_number(w, depth_m) for w in omega])
    return np.tanh(k * depth_m) ** 2 * 0.5 * omega / k / group_speed_mps(k, depth_m)


TILES_M = (311.0, 73.0, 17.3)
"""Edges of the tiles: no common multiple within sight."""
_LONGEST_FRACTION = 5.5
"""A tile has no waves longer than its edge over this: the tile before has them."""
MOST_POINTS = 512
LEAST_POINTS = 16


@dataclass(frozen=True, slots=True, eq=False)
class Waves:
    """The waves of all tiles, tile after tile, each with its opposite: what does not change with the sea."""

    start: np.ndarray
    """(tiles + 1,) where each tile's waves begin."""
    place: np.ndarray
    """(n, 4) int32: row and column in the tile's transform, and those of the opposite wave."""
    number: np.ndarray
    """(n, 5) float64: omega [rad/s], unit vector of the wave number, edge of its cell in the plane of those [rad/m],
    and coth of wave number times depth, 1 in deep water."""
    drawn: np.ndarray
    """(n, 4) float64: real and imaginary parts of the wave and of its opposite, variance one."""

    @staticmethod
    def of(seed: int, points: int, depth_m: float) -> "Waves":
        """As many as grids of that many points can have: wave numbers in a disc."""
        starts, places, numbers, draws = [0], [], [], []
        cuts = [2 * math.pi / edge * _LONGEST_FRACTION for edge in TILES_M[1:]]
        for tile, (edge, least, most) in enumerate(
            zip(TILES_M, [0.0, *cuts], [*cuts, math.inf], strict=True)
        ):
            index = np.arange(points) - points // 2
            iy, ix = (a.ravel() for a in np.meshgrid(index, index, indexing="ij"))
            dk, size = 2 * math.pi / edge, np.hypot(ix, iy)
            half = (iy > 0) | ((iy == 0) & (ix > 0))
            inside = half & (size < points // 2) & (dk * size >= least) & (dk * size < most)
            iy, ix, size = iy[inside], ix[inside], size[inside]
            drawn = draw(seed, tile, points)
            places.append(np.stack([iy % points, ix % points, -iy % points, -ix % points], axis=1))
            tanh = np.tanh(dk * size * depth_m)
            omega = np.sqrt(GRAVITY_MPS2 * dk * size * tanh)
            numbers.append(np.stack([omega, ix / size, iy / size, np.full(len(ix), dk), 1.0 / tanh], axis=1))
            draws.append(np.stack([drawn[iy, ix], drawn[-iy, -ix]], axis=1).view(float))
            starts.append(starts[-1] + len(ix))
        return Waves(
            np.array(starts),
            np.concatenate(places).astype(np.int32),
            np.concatenate(numbers),
            np.concatenate(draws),
        )


def draw(seed: int, tile: int, points: int) -> np.ndarray:
    """(points, points) complex, each part normal with variance one half; row and column count waves as FFTs do.

    Row iy, column ix is the wave number 2 pi / edge (ix, iy), the upper half negative.
    """
    # Rings about the longest wave, counted outwards: more points only add rings.
    half = points // 2
    raw = np.random.Philox(key=[seed, tile]).random_raw(2 * points * points)
    uniform = ((raw >> np.uint64(11)).astype(float) + 0.5) * 2.0**-53
    radius, turn = np.sqrt(-np.log(uniform[0::2])), 2 * math.pi * uniform[1::2]
    drawn = radius * np.exp(1j * turn)
    index = np.arange(points) - half
    iy, ix = np.meshgrid(index, index, indexing="ij")
    out = np.empty((points, points), complex)
    out[iy % points, ix % points] = drawn[_place(ix, iy)]
    return out


def _place(ix: np.ndarray, iy: np.ndarray) -> np.ndarray:
    """Where a wave's numbers stand in the stream: rings -r <= ix, iy < r one after the other."""
    ring = np.maximum(np.maximum(ix + 1, -ix), np.maximum(iy + 1, -iy))
    inside = (2 * (ring - 1)) ** 2
    low, high = -ring, ring - 1
    side = 2 * ring
    along = np.where(
        iy == low,
        ix - low,
        np.where(
            iy == high,
            side + ix - low,
            np.where(ix == low, 2 * side + iy - low - 1, 3 * side - 2 + iy - low - 1),
        ),
    )
    return inside + along


@native
def raise_waves(number: np.ndarray, drawn: np.ndarray, sea: np.ndarray, out: np.ndarray) -> None:
    """Write the heights `a` [m] of waves and opposites, out (n, 4): real part and imaginary part of each.

    drawn (n, 4) of `Waves`; sea (4,) as in `wave_variances`.
    """
    for m in range(len(number)):
        omega, east, north, dk, coth_kd = number[m]
        k = omega * omega / GRAVITY_MPS2 * coth_kd
        ahead, back = wave_variances(k * east, k * north, sea, coth_kd)
        along, against = dk * math.sqrt(2.0 * ahead), dk * math.sqrt(2.0 * back)
        out[m, 0], out[m, 1] = drawn[m, 0] * along, drawn[m, 1] * along
        out[m, 2], out[m, 3] = drawn[m, 2] * against, drawn[m, 3] * against


@native
def mean_wave_numbers(start: np.ndarray, number: np.ndarray, heights: np.ndarray, out: np.ndarray) -> None:
    """Write each tile's mean wave number [rad/m], by the energy of motion: how fast its motion fades below."""
    for tile in range(len(out)):
        total = weighted = 0.0
        for m in range(start[tile], start[tile + 1]):
            deep = number[m, 0] ** 2 / GRAVITY_MPS2
            energy = 0.0
            for part in range(4):
                energy += deep * float(heights[m, part]) ** 2
            total += energy
            weighted += energy * (deep * number[m, 4])
        out[tile] = weighted / total if total > 0.0 else 0.0
