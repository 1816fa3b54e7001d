"""Sounds as samples: noises without a seam, and what is struck: clicks, crashes, chimes, bodies by material."""

import math
from collections.abc import Mapping
from functools import cache

import numpy as np

from sim.contact.obstacles.blows import GROUND, WATER, Blow

RATE_HZ = 44_100
LOOP = 3 * RATE_HZ
"""Samples of the noises."""
BANDS_HZ = {
    "wind": (60.0, 500.0),
    "water": (300.0, 3500.0),
    "tyres": (150.0, 1200.0),
    "wheels": (500.0, 5000.0),
}
"""Of each noise, where it is loud; it falls off by 12 dB an octave to either side."""
FULL_CRASH_MPS = 20.0
CHIME_HZ, CHIME_EVERY_S = (523.25, 659.26, 783.99, 1046.5), 0.11
CLICK_HZ, CLICK_S, THUMP_HZ, THUMP_S = 1250.0, 0.05, 70.0, 0.6


@cache
def noise(name: str) -> np.ndarray:
    """(n,) a loop without a seam: random phases under a given spectrum, RMS 0.5."""
    low, high = BANDS_HZ[name]
    frequency = np.fft.rfftfreq(LOOP, 1.0 / RATE_HZ)
    with np.errstate(divide="ignore"):
        magnitude = np.minimum(np.minimum((frequency / low) ** 2, (high / frequency) ** 2), 1.0)
    magnitude[0] = 0.0
    phase = np.random.default_rng(sum(map(ord, name))).uniform(0.0, 2.0 * math.pi, len(frequency))
    samples = np.fft.irfft(magnitude * np.exp(1j * phase), LOOP)
    return 0.5 * samples / np.sqrt(np.mean(samples**2))


def click() -> np.ndarray:
    """A quiet one: a waypoint or a gate."""
    t = np.arange(round(CLICK_S * RATE_HZ)) / RATE_HZ
    return 0.18 * np.sin(2.0 * math.pi * CLICK_HZ * t) * _struck(t, 0.002, 0.010)


def thump(strength: float) -> np.ndarray:
    """Something heavy strikes; 0..1."""
    t = np.arange(round(THUMP_S * RATE_HZ)) / RATE_HZ
    body = np.sin(2.0 * math.pi * THUMP_HZ * t * (1.0 - 0.25 * t / THUMP_S))
    crack = noise("tyres")[: len(t)] * np.exp(-t / 0.05)
    return 0.9 * strength * (0.7 * body + 0.6 * crack) * _struck(t, 0.003, 0.12)


def crash(speed_mps: float, wet: bool) -> np.ndarray:
    """Something breaks: a thud and a crack, pieces that clatter down, and scraping for as long as it slides."""
    force = min(speed_mps / FULL_CRASH_MPS, 1.0)
    t = np.arange(round((0.8 + 1.4 * force) * RATE_HZ)) / RATE_HZ
    total = np.zeros(len(t))
    blow = thump(0.55 + 0.45 * force)
    total[: len(blow)] += blow[: len(total)]
    scrape = noise("water" if wet else "wheels")[: len(t)]
    total += 0.5 * force * scrape * _struck(t, 0.03, 0.25 + 0.45 * force)
    random = np.random.default_rng(3)
    for at_s in random.uniform(0.08, 0.75 * t[-1], 0 if wet else round(5 + 12 * force)):
        since = np.clip(t - at_s, 0.0, None)
        ring = np.sin(2.0 * math.pi * random.uniform(350.0, 2600.0) * since)
        total += random.uniform(0.05, 0.16) * ring * np.exp(-since / random.uniform(0.01, 0.04)) * (t > at_s)
    return total * np.minimum(t / 0.002, 1.0) * _ending(t)


def chime(height: int) -> np.ndarray:
    """Something has come off: two to four notes upwards, the more the better it was (0 to 2)."""
    notes = CHIME_HZ[: 2 + min(max(height, 0), 2)]
    t = np.arange(round((CHIME_EVERY_S * len(notes) + 0.7) * RATE_HZ)) / RATE_HZ
    total = np.zeros(len(t))
    for k, hz in enumerate(notes):
        since = np.clip(t - CHIME_EVERY_S * k, 0.0, None)
        tone = np.sin(2.0 * math.pi * hz * since) + 0.35 * np.sin(4.0 * math.pi * hz * since)
        total += 0.13 * tone * np.minimum(since / 0.006, 1.0) * np.exp(-since / 0.28)
    return total * _ending(t)


_VOICES: Mapping[str, tuple[float, float, float, tuple[float, ...]]] = {
    "wood": (420.0, 0.055, 0.25, (1.0, 2.57, 4.30)),
    "stone": (900.0, 0.022, 0.55, (1.0, 1.83, 3.10)),
    "metal": (520.0, 0.420, 0.15, (1.0, 1.51, 2.37, 3.49, 4.90)),
    "rubber": (150.0, 0.080, 0.08, (1.0, 1.90)),
    GROUND: (90.0, 0.050, 0.35, (1.0,)),
    WATER: (240.0, 0.200, 1.00, ()),
}
"""Of a material: lowest frequency [Hz] of a body of 30 cm, time in which that dies away [s], share of noise, and its
frequencies by the lowest one: a free bar's, a block's, a plate's. On the ground and in water nothing else rings."""
_LEAST_Ns = 0.05


def loudness(impulse_Ns: float) -> float:
    """0..1 of a blow: as much more whenever it is ten times as hard."""
    return min(0.25 * math.log10(1.0 + impulse_Ns / _LEAST_Ns), 1.0)


def knock(blow: Blow) -> np.ndarray:
    """What is heard of bodies that strike, slide or fall into water: of both, by material, size and impulse."""
    slides = blow.struck_mps == 0.0
    speed_mps = math.hypot(*blow.slip_w) if slides else blow.struck_mps
    level = (0.25 if slides else 0.6) * loudness(blow.mass_kg * speed_mps)
    octave = round(2.0 * math.log2(max(blow.size_m, 1e-3) / 0.3)) / 2.0
    return level * _rung(blow.of, blow.on, octave, slides)


@cache
def _rung(of: str, on: str, octave: float, slides: bool) -> np.ndarray:
    """(n,) of unit loudness, of a body so many octaves larger than 30 cm."""
    longest_s = max(_VOICES[each][1] for each in (of, on) if on != WATER or each == WATER)
    t = np.arange(round(min(6.0 * longest_s + 0.05, 1.2) * RATE_HZ)) / RATE_HZ
    total = np.zeros(len(t))
    for material, share in ((of, 0.0 if on == WATER else 1.0), (on, 0.6 if on == of else 1.0)):
        lowest_hz, fall_s, noisy, modes = _VOICES[material]
        hz = lowest_hz * 2.0 ** (-0.8 * octave) * (1.0 if share == 1.0 else 1.06)
        part = (
            noisy * noise("water" if material == WATER else "tyres")[: len(t)] * np.exp(-t / (0.7 * fall_s))
        )
        for k, ratio in enumerate(modes):
            if ratio * hz < 0.4 * RATE_HZ:
                fall = np.exp(-t * ratio**0.7 / fall_s)
                part += (1.0 - noisy) / (k + 1.0) * np.sin(2.0 * math.pi * ratio * hz * t) * fall
        total += 0.6 * share * part
    if slides:  # rubbed: noise with a little of the body in it
        total = 0.3 * total + noise("wheels")[: len(t)] * np.exp(-t / 0.05)
    return total * np.minimum(t / (0.02 if slides or on == WATER else 0.001), 1.0) * _ending(t)


def _ending(t: np.ndarray) -> np.ndarray:
    """To nothing at the end."""
    ended: np.ndarray = np.minimum((t[-1] - t) / (0.1 * t[-1]), 1.0)
    return ended


def _struck(t: np.ndarray, rise_s: float, fall_s: float) -> np.ndarray:
    """Of a blow: from nothing, up, and to nothing at the end."""
    return np.minimum(t / rise_s, 1.0) * np.exp(-t / fall_s) * _ending(t)
