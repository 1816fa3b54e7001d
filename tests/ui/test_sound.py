"""Laws of the sound: the blades' frequency and no other, louder with thrust, and no border that is heard."""

import ctypes.util
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest

from sim.contact.obstacles import PropsPicture
from sim.contact.obstacles.blows import GROUND, WATER, Blow
from sim.simulation.lanes.snapshot import LaneStatus
from sim.vehicle_config import config_named
from sim.vehicle_config.config import MATERIALS
from tests.patience import PATIENCE_S
from tests.ui import fakes
from ui.features.samples import BANDS_HZ, RATE_HZ, chime, click, crash, knock, noise, thump
from ui.features.sound import Mixer, SoundState, Tones, block, heard, level_of, new_blows, struck

ROOT = Path(__file__).resolve().parents[2]


def made(tones: Tones, seconds: float, size: int = 1024) -> np.ndarray:
    """From a state that has come to the tones already."""
    state, parts = SoundState(tones), []
    for _ in range(round(seconds * RATE_HZ / size)):
        part, state = block(state, tones, size)
        parts.append(part)
    return np.concatenate(parts)


def spectrum(samples: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(frequency [Hz], magnitude)."""
    windowed = samples * np.hanning(len(samples))
    return np.fft.rfftfreq(len(samples), 1.0 / RATE_HZ), np.abs(np.fft.rfft(windowed))


def test_a_helicopter_is_heard_at_its_blade_passing_frequency_and_its_multiples_only() -> None:
    now = fakes.snapshot(fakes.lane(observables={"lift_over_weight": 1.0}))
    tones = heard(now)
    main = max(config_named("helicopter").model.rotors, key=lambda rotor: rotor.radius_m)
    passing_hz = main.blades * abs(main.spin_radps) / (2.0 * np.pi)
    assert tones.rotor_hz == pytest.approx(passing_hz)
    frequency, magnitude = spectrum(made(replace(tones, wind=0.0), 4.0))
    assert frequency[np.argmax(magnitude)] == pytest.approx(passing_hz, abs=0.3)
    off = np.abs(frequency / passing_hz - np.round(frequency / passing_hz)) * passing_hz > 2.0
    assert magnitude[off].max() < 1e-3 * magnitude.max()  # measured: 1.3e-6


@pytest.mark.parametrize("slap", [0.0, 0.4, 1.0])
def test_more_thrust_is_louder(slap: float) -> None:
    loads = np.linspace(0.0, 2.5, 8)
    power = [np.std(made(Tones(rotor_hz=19.6, rotor=level_of(load), slap=slap), 1.0)) for load in loads]
    assert np.all(np.diff(power) > 0.0)


def test_no_border_of_blocks_is_heard_whatever_their_size() -> None:
    """The same tones in one block and in many are the same samples; what changes, changes without a step."""
    tones = Tones(19.6, 0.7, 0.4, 60.0, 0.5, 0.3, 0.4, 0.2, 0.2)
    whole, _ = block(SoundState(tones), tones, 8192)
    assert np.abs(made(tones, 8192 / RATE_HZ, 256) - whole).max() < 1e-9  # measured: 4e-12
    state, parts = SoundState(), []
    for each in (tones, Tones(), replace(tones, rotor_hz=25.0), replace(tones, rotor=0.0)):
        part, state = block(state, each, 2048)
        parts.append(part)
    steps = np.abs(np.diff(np.concatenate(parts)))
    at_borders = [steps[2048 * k - 1] for k in (1, 2, 3)]
    assert max(at_borders) <= np.quantile(steps, 0.999)


@pytest.mark.parametrize("name", BANDS_HZ)
def test_a_noise_has_no_seam_and_its_own_band(name: str) -> None:
    loop = noise(name)
    steps = np.abs(np.diff(loop))
    assert abs(loop[0] - loop[-1]) <= steps.max()
    frequency, magnitude = spectrum(loop)
    low, high = BANDS_HZ[name]
    inside = (frequency > low) & (frequency < high)
    assert np.sum(magnitude[inside] ** 2) > 0.6 * np.sum(magnitude**2)  # least measured: 0.75 or more


@pytest.mark.parametrize(
    "sound",
    [click(), thump(1.0), crash(14.0, False), crash(3.0, True), chime(2)],
    ids=["click", "thump", "crash", "splash", "chime"],
)
def test_a_blow_begins_and_ends_in_silence_and_goes_on_over_borders(sound: np.ndarray) -> None:
    assert abs(sound[0]) < 1e-3
    assert abs(sound[-1]) < 1e-3
    state, parts = struck(SoundState(), sound), []
    while state.ringing:
        part, state = block(state, Tones(), 500)
        parts.append(part)
    assert np.abs(np.concatenate(parts)[: len(sound)] - np.tanh(sound)).max() == 0.0


def test_nothing_is_heard_of_what_waits_or_lies_broken_and_nothing_leaves_the_range() -> None:
    assert heard(fakes.snapshot(paused=True)) == Tones()
    assert heard(fakes.snapshot(fakes.lane(status=LaneStatus.CRASHED))) == Tones()
    loudest = Tones(**{each.name: 1.0 for each in fields(Tones)})
    assert np.abs(made(replace(loudest, rotor_hz=30.0, engine_hz=90.0), 1.0)).max() <= 1.0


def test_the_volume_changes_without_a_step_and_mute_is_silence() -> None:
    mixer = Mixer()
    mixer.hear(Tones(wind=1.0), 1.0)
    assert np.abs(np.diff(mixer.samples(4096).astype(int)))[:20].max() < 200
    mixer.hear(Tones(wind=1.0), 0.0)
    mixer.samples(4096)
    assert not mixer.samples(4096).any()


OPENS_A_CARD = """
import ctypes, sys
if sys.argv[1:]:
    from ui.features.sound import audio_driver
    audio_driver()
ctypes.CDLL("libasound.so.2").snd_pcm_open(ctypes.byref(ctypes.c_void_p()), b"hw:31", 0, 0)
"""


@pytest.mark.skipif(ctypes.util.find_library("asound") is None, reason="ALSA's library is not there")
def test_alsas_library_prints_nothing_where_there_is_no_card() -> None:
    def printed(*arguments: str) -> str:
        command = [sys.executable, "-c", OPENS_A_CARD, *arguments]
        return subprocess.run(
            command, capture_output=True, text=True, check=True, cwd=ROOT, timeout=PATIENCE_S
        ).stderr

    assert "ALSA lib" in printed(), "by itself it does"
    assert printed("quiet") == ""


BLOW = Blow(1, 0.0, (0.0, 0.0, 0.0), 2.0, 5.0, (0.0, 0.0, 0.0), "metal", "stone", 0.3)


def test_a_harder_blow_is_louder_and_a_larger_body_is_lower() -> None:
    loud, soft = knock(replace(BLOW, struck_mps=6.0)), knock(replace(BLOW, struck_mps=0.5))
    assert np.abs(loud).max() > 1.3 * np.abs(soft).max() > 0.0

    def middle_hz(sound: np.ndarray) -> float:
        frequency, magnitude = spectrum(sound)
        return float((frequency * magnitude**2).sum() / (magnitude**2).sum())

    assert middle_hz(knock(replace(BLOW, size_m=1.2))) < 0.6 * middle_hz(knock(BLOW))


def test_metal_rings_longer_than_wood_and_nothing_ends_with_a_click() -> None:
    def half_s(sound: np.ndarray) -> float:
        energy = np.cumsum(sound**2)
        return float(np.searchsorted(energy, 0.9 * energy[-1])) / RATE_HZ

    metal, wood = (knock(replace(BLOW, of=of, on=of)) for of in ("metal", "wood"))
    assert half_s(metal) > 3.0 * half_s(wood)
    for of in (*MATERIALS,):
        for on in (*MATERIALS, GROUND, WATER):
            sound = knock(replace(BLOW, of=of, on=on))
            assert abs(sound[0]) < 1e-3
            assert abs(sound[-1]) < 1e-3
            assert np.abs(sound).max() < 1.0


def test_each_blow_is_heard_once_the_hardest_first_and_none_that_is_long_ago() -> None:
    blows = tuple(replace(BLOW, number=k, time_s=0.1 * k, struck_mps=1.0 + k % 3) for k in range(1, 31))
    nothing = np.zeros((0, 4, 4))
    props = PropsPicture((), nothing, nothing, (), None, blows=blows)
    snapshot = replace(fakes.snapshot(fakes.lane()), clock_s=3.0, environment=props)
    new, last = new_blows(snapshot, (26, 0))
    assert (last, {blow.number for blow in new}) == ((30, 0), {27, 28, 29, 30})
    assert new[0].struck_mps == max(blow.struck_mps for blow in new)
    assert new_blows(snapshot, last) == ([], (30, 0))
    assert all(blow.time_s > 2.5 for blow in new_blows(snapshot, (0, 0))[0])
    assert new_blows(replace(snapshot, environment=None), last) == ([], (0, 0))


def test_blows_of_the_vehicle_are_heard_beside_those_of_props_each_once() -> None:
    own = tuple(replace(BLOW, number=k, time_s=2.9, struck_mps=9.0) for k in (3, 4))
    nothing = np.zeros((0, 4, 4))
    props = PropsPicture((), nothing, nothing, (), None, blows=(replace(BLOW, number=4, time_s=2.9),))
    lane = replace(fakes.lane(), blows=own)
    snapshot = replace(fakes.snapshot(lane), clock_s=3.0, environment=props)
    new, last = new_blows(snapshot, (3, 3))
    assert new == [own[1], props.blows[0]]
    assert last == (4, 4)
    assert new_blows(snapshot, last) == ([], (4, 4))
