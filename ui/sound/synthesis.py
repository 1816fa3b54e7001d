"""Samples from levels and pitches. Pure: what a block begins with is the state that the last one has ended in.

Tones are sums of harmonics whose phase goes on from block to block; noises are read out of loops that have no seam;
levels and pitches move in straight lines across a block. So no border between blocks is heard.
"""

import math
from dataclasses import dataclass, field, fields, replace
from functools import cache

import numpy as np

RATE_HZ = 44_100
HARMONICS = 12
ENGINE_HARDNESS = 0.55
LOOP_S = 3.0
"""Length of the noises."""
BANDS_HZ = {
    "wind": (60.0, 500.0),
    "water": (300.0, 3500.0),
    "tyres": (150.0, 1200.0),
    "wheels": (500.0, 5000.0),
}
"""Of each noise, where it is loud; it falls off by 12 dB an octave to either side."""
CLICK_HZ, CLICK_S, THUMP_HZ, THUMP_S = 1250.0, 0.05, 70.0, 0.6


@dataclass(frozen=True, slots=True)
class Tones:
    """What is to be heard at one moment; levels 0..1."""

    rotor_hz: float = 0.0
    """Blade passing frequency of the main rotor."""
    rotor: float = 0.0
    slap: float = 0.0
    """How hard each blade's blow is: from a hum to a beat."""
    engine_hz: float = 0.0
    engine: float = 0.0
    wind: float = 0.0
    water: float = 0.0
    tyres: float = 0.0
    wheels: float = 0.0


@dataclass(frozen=True, slots=True)
class SoundState:
    """Where everything stands at the border of two blocks."""

    tones: Tones = Tones()
    rotor_turns: float = 0.0
    """Phase of the blade passing, and of the engine's firing, 0..1."""
    engine_turns: float = 0.0
    at: int = 0
    """Place in the loops of noise."""
    ringing: tuple[tuple[np.ndarray, int], ...] = field(default=())
    """What was struck, and how much of it has been heard."""


def block(state: SoundState, now: Tones, count: int) -> tuple[np.ndarray, SoundState]:
    """(samples (count,) within -1..1, the next state): from the state's tones to `now`."""
    share = (np.arange(count) + 1.0) / count
    levels = {
        each.name: getattr(state.tones, each.name)
        + share * (getattr(now, each.name) - getattr(state.tones, each.name))
        for each in fields(Tones)
    }
    rotor_turns = state.rotor_turns + np.cumsum(levels["rotor_hz"]) / RATE_HZ
    engine_turns = state.engine_turns + np.cumsum(levels["engine_hz"]) / RATE_HZ
    total = np.zeros(count)
    if levels["rotor"].any():
        total += 0.5 * levels["rotor"] * _beat(rotor_turns, share, state.tones.slap, now.slap)
    if levels["engine"].any():
        total += 0.3 * levels["engine"] * _beat(engine_turns, share, ENGINE_HARDNESS, ENGINE_HARDNESS)
    for name in BANDS_HZ:
        if levels[name].any():
            total += 0.35 * levels[name] * _on(noise(name), state.at, count)
    still: list[tuple[np.ndarray, int]] = []
    for sound, heard in state.ringing:
        part = sound[heard : heard + count]
        total[: len(part)] += part
        if heard + count < len(sound):
            still.append((sound, heard + count))
    after = SoundState(
        now,
        float(rotor_turns[-1] % 1.0),
        float(engine_turns[-1] % 1.0),
        (state.at + count) % _loop_samples(),
        tuple(still),
    )
    return np.tanh(total), after  # loud together, but never beyond the range


def struck(state: SoundState, sound: np.ndarray) -> SoundState:
    """With a sound that begins at the next block."""
    return replace(state, ringing=(*state.ringing, (sound, 0)))


def _on(loop: np.ndarray, at: int, count: int) -> np.ndarray:
    """(count,) of a loop, from a place on."""
    if at + count <= len(loop):
        return loop[at : at + count]
    return loop[(at + np.arange(count)) % len(loop)]


def _beat(turns: np.ndarray, share: np.ndarray, before: float, now: float) -> np.ndarray:
    """Harmonics of a beat: the harder, the slower they fall off. Of about unit power.

    Their amplitudes move in straight lines from those of the hardness `before` to those of `now`, by `share` 0..1.
    """
    first, last = _amplitudes(before), _amplitudes(now)
    begins, ends = np.zeros(len(turns)), np.zeros(len(turns))
    angle = 2.0 * math.pi * turns
    once = np.cos(angle)
    twice, lower, harmonic = 2.0 * once, np.ones(len(turns)), once
    for k in range(HARMONICS):
        begins += first[k] * harmonic
        if before != now:
            ends += last[k] * harmonic
        harmonic, lower = (
            twice * harmonic - lower,
            harmonic,
        )  # cos((k + 1) a) = 2 cos(a) cos(k a) - cos((k - 1) a)
    return begins if before == now else begins + share * (ends - begins)


def _amplitudes(hardness: float) -> list[float]:
    """Of the harmonics, of unit power together."""
    falling = [float(k) ** (-2.5 + 1.7 * hardness) for k in range(1, HARMONICS + 1)]
    power = math.sqrt(sum(amplitude**2 for amplitude in falling))
    return [amplitude / power for amplitude in falling]


@cache
def noise(name: str) -> np.ndarray:
    """(n,) a loop without a seam: random phases under a given spectrum, RMS 0.5."""
    low, high = BANDS_HZ[name]
    count = _loop_samples()
    frequency = np.fft.rfftfreq(count, 1.0 / RATE_HZ)
    with np.errstate(divide="ignore"):
        magnitude = np.minimum(np.minimum((frequency / low) ** 2, (high / frequency) ** 2), 1.0)
    magnitude[0] = 0.0
    phase = np.random.default_rng(sum(map(ord, name))).uniform(0.0, 2.0 * math.pi, len(frequency))
    samples = np.fft.irfft(magnitude * np.exp(1j * phase), count)
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


def _struck(t: np.ndarray, rise_s: float, fall_s: float) -> np.ndarray:
    """Of a blow: from nothing, up, and to nothing at the end."""
    ending = np.minimum((t[-1] - t) / (0.1 * t[-1]), 1.0)
    return np.minimum(t / rise_s, 1.0) * np.exp(-t / fall_s) * ending


def _loop_samples() -> int:
    return round(LOOP_S * RATE_HZ)
