"""From snapshots to what is to be heard of the flown vehicle, by what it has: rotors, wheels, a hull. Pure."""

import ctypes
import logging
import math
import sys
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import field, fields, replace
from typing import Any

import numpy as np

from sim.contact.obstacles import PropsPicture
from sim.contact.obstacles.blows import Blow
from sim.platform.values import dataclass
from sim.simulation.lanes.snapshot import LaneSnapshot, LaneStatus, Snapshot
from sim.vehicle_config import VehicleConfig
from ui.features.achievements import Achievement
from ui.features.feature import Actions, App
from ui.features.goals import GoalsView
from ui.features.notices import CrashReplay
from ui.features.samples import BANDS_HZ, LOOP, RATE_HZ, chime, click, crash, knock, noise, thump
from ui.input.controllers import Jolts

HARMONICS = 12
ENGINE_HARDNESS = 0.55
_MOST_RINGING, _MOST_AT_ONCE, _FRESH_S = 24, 6, 0.5


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
        (state.at + count) % LOOP,
        tuple(still),
    )
    return np.tanh(total), after  # loud together, but never beyond the range


def struck(state: SoundState, sound: np.ndarray) -> SoundState:
    """With a sound that begins at the next block; of very many the oldest ends."""
    return replace(state, ringing=(*state.ringing[1 - _MOST_RINGING :], (sound, 0)))


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


FULL_WIND_MPS, FULL_WATER_MPS, FULL_WHEELS_MPS = 60.0, 9.0, 12.0
SLAP_MPS = 45.0
"""Of air speed at which blades beat hardest."""
SCREW_HZ = (14.0, 46.0)
ENGINE_HZ = (22.0, 130.0)
FULL_ENGINE_MPS = 25.0
PUSHED_KG = 150.0
"""What rolls and is heavier than this has an engine."""


def heard(snapshot: Snapshot) -> Tones:
    """Silent while it waits, looks back paused, or lies broken."""
    lane = snapshot.lanes[0]
    if snapshot.paused or lane.status is not LaneStatus.RUNNING or not np.isfinite(lane.twist_b).all():
        return Tones()
    config = lane.config
    speed_mps = float(np.linalg.norm(lane.twist_b[3:]))
    rotor_hz, rotor, slap = _rotor(lane, config, speed_mps)

    afloat, rolls = config.hull is not None, config.tracks is not None
    engine_hz, engine = 0.0, 0.0
    if afloat:
        effort = _effort(lane)
        engine_hz, engine = SCREW_HZ[0] + (SCREW_HZ[1] - SCREW_HZ[0]) * effort, 0.25 + 0.75 * effort
    elif rolls and _mass_kg(lane) > PUSHED_KG:
        gear = min(speed_mps / FULL_ENGINE_MPS, 1.0)
        engine_hz, engine = ENGINE_HZ[0] + (ENGINE_HZ[1] - ENGINE_HZ[0]) * gear, 0.3 + 0.5 * _effort(lane)
    rolling = min(speed_mps / FULL_WHEELS_MPS, 1.0) if rolls else 0.0
    return Tones(
        rotor_hz=rotor_hz,
        rotor=rotor,
        slap=slap,
        engine_hz=engine_hz,
        engine=engine,
        wind=min(speed_mps / FULL_WIND_MPS, 1.0) ** 2,
        water=min(speed_mps / FULL_WATER_MPS, 1.0) if afloat else 0.0,
        tyres=rolling if engine else 0.0,
        wheels=0.0 if engine else rolling,
    )


def _rotor(lane: LaneSnapshot, config: VehicleConfig, speed_mps: float) -> tuple[float, float, float]:
    """(blade passing frequency [Hz], level, slap) of the largest rotor: louder with thrust, harder with speed too."""
    if not config.model.rotors:
        return 0.0, 0.0, 0.0
    main = max(config.model.rotors, key=lambda rotor: rotor.radius_m)
    load = lane.scalar("lift_over_weight")
    load = min(max(load, 0.0), 3.0) if math.isfinite(load) else 1.0
    passing_hz = main.blades * abs(main.spin_radps) / (2.0 * math.pi)
    return passing_hz, level_of(load), min(0.25 * load + 0.5 * min(speed_mps / SLAP_MPS, 1.0), 1.0)


def new_blows(snapshot: Snapshot, last: tuple[int, int]) -> tuple[list[Blow], tuple[int, int]]:
    """The hardest of those after the numbers of props' and the vehicle's own, and the last numbers now; none that are
    long ago."""
    props = snapshot.environment
    kinds = props.blows if isinstance(props, PropsPicture) else (), snapshot.lanes[0].blows
    new = [
        blow
        for blows, heard_of in zip(kinds, last, strict=True)
        for blow in blows
        if blow.number > heard_of and blow.time_s > snapshot.clock_s - _FRESH_S
    ]
    by_props, own = (blows[-1].number if blows else 0 for blows in kinds)
    return hardest(new), (by_props, own)


def hardest(blows: Iterable[Blow]) -> list[Blow]:
    """As many as are told apart at once."""
    by_force = sorted(
        blows, key=lambda blow: -blow.mass_kg * max(blow.struck_mps, 0.3 * math.hypot(*blow.slip_w))
    )
    return by_force[:_MOST_AT_ONCE]


def level_of(load: float) -> float:
    """Of a rotor that carries so many times the weight: heard when idle, and louder with every bit of thrust."""
    return 0.15 + 0.85 * (1.0 - math.exp(-load))


def _mass_kg(lane: LaneSnapshot) -> float:
    mass = lane.parameters.get("mass", 0.0)
    return 0.0 if isinstance(mass, tuple) else float(mass)


def _effort(lane: LaneSnapshot) -> float:
    """0..1 of what the controls do, against the largest that has any meaning to the ear."""
    force = float(np.abs(lane.controls).max(initial=0.0))
    return force / (force + 400.0)


BUFFER_S = 0.15
"""Made ahead: less stutters, more is late."""
_log = logging.getLogger("holonomy")


BEFORE = 6
"""Samples before a crash, of which the fastest tells how hard it was."""


class Mixer:
    """Asked for samples by the audio's thread, told what is to be heard by the window's."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._state, self._tones, self._volume = SoundState(), Tones(), 0.0
        self._strikes: list[np.ndarray] = []
        self._last_volume = 0.0

    def hear(self, tones: Tones, volume: float, *strikes: np.ndarray) -> None:
        """From the next block on. volume: 0..1."""
        with self._lock:
            self._tones, self._volume = tones, volume
            self._strikes += strikes

    def samples(self, count: int) -> np.ndarray:
        """(count,) int16: the next ones."""
        with self._lock:
            tones, volume, strikes = self._tones, self._volume, self._strikes
            self._strikes = []
        for sound in strikes:
            self._state = struck(self._state, sound)
        values, self._state = block(self._state, tones, count)
        gain = np.linspace(self._last_volume, volume, count)
        self._last_volume = volume
        return np.round(32767.0 * gain * values).astype(np.int16)


class Sound:
    """Lives as long as its window."""

    def __init__(self) -> None:
        self._mixer, self._jolts = Mixer(), Jolts()
        self._passed: object = None
        self._achieved, self._heard = 0, (0, 0)
        self._fallen: tuple[Blow, ...] = ()
        self._player: Any = None
        # Beside the frames: to look for a device takes longer than one.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="sound")
        self._looking: Future[object] | None = None
        self._looked = False

    def look(self) -> None:
        """For a device, the first time. Not before there is a picture, which the libraries of sound would come before:
        what they load holds the interpreter, and programs that they start to find more of them a processor."""
        if not self._looked:
            self._looked, self._looking = True, self._worker.submit(audio_driver)

    def observe(
        self,
        snapshot: Snapshot,
        passed: object,
        achieved: Achievement,
        volume: float,
        fallen: tuple[Blow, ...] = (),
    ) -> None:
        """Told once a frame. passed: whatever differs after a waypoint, a goal or a gate; volume: 0 for mute.

        fallen: what has struck since the picture before, of what falls after a crash.
        """
        if self._looking is not None and self._looking.done():
            self._player = _started(self._mixer) if self._looking.result() is not None else None
            self._looking = None
        if self._player is None:
            return
        strikes = []
        felt = self._jolts.felt(snapshot)
        lane = snapshot.lanes[0]
        if felt is not None and lane.status is LaneStatus.CRASHED:
            before = snapshot.samples[-BEFORE:] or (snapshot.lanes,)
            speed_mps = max(float(np.linalg.norm(each[0].twist_b[3:])) for each in before)
            strikes.append(crash(speed_mps, lane.config.hull is not None))
        elif felt is not None:
            strikes.append(thump(felt[0]))
        if achieved.number != self._achieved:
            self._achieved, self._passed = achieved.number, passed
            strikes.append(chime(achieved.height))
        if passed != self._passed:
            if self._passed is not None and snapshot.lanes[0].status is LaneStatus.RUNNING:
                strikes.append(click())
            self._passed = passed
        blows, self._heard = new_blows(snapshot, self._heard)
        if fallen is not self._fallen:  # of a picture that was not drawn anew they were heard
            self._fallen, blows = fallen, [*blows, *hardest(fallen)]
        self._mixer.hear(heard(snapshot), volume, *strikes, *map(knock, blows))

    def close(self) -> None:
        """Before the window closes."""
        self._worker.shutdown(wait=True)
        if self._player is not None:
            self._player.delete()
            self._player = None


def audio_driver() -> object:
    """The audio's; None without a device, whatever it is that is missing."""
    try:
        _quieten_alsa()
        from pyglet.media import get_audio_driver
        from pyglet.media.drivers.silent.adaptation import SilentDriver

        driver = get_audio_driver()
    except Exception as error:  # audio libraries fail in ways of their own; none of them stops a flight
        _log.warning("holonomy: no sound (%s)", error)
        return None
    return None if isinstance(driver, SilentDriver) else driver


@ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p)
def _ignore(file: bytes, line: int, function: bytes, error: int, form: bytes) -> None:
    """As ALSA's library wants what it tells of errors to; what it is asked for says whether it was had."""


def _quieten_alsa() -> None:
    """Where there is no sound card its library prints a dozen lines on the terminal, whoever asks it for one."""
    if not sys.platform.startswith("linux"):
        return
    with suppress(OSError, AttributeError):
        ctypes.CDLL("libasound.so.2").snd_lib_error_set_handler(_ignore)


def _started(mixer: Mixer) -> Any:
    """A player that plays; None where it cannot."""
    try:
        from pyglet.media import Player, StreamingSource
        from pyglet.media.codecs import AudioData, AudioFormat
        from pyglet.media.drivers.base import AbstractAudioPlayer

        AbstractAudioPlayer.audio_buffer_length = BUFFER_S

        class Endless(StreamingSource):
            """What the mixer makes."""

            def __init__(self) -> None:
                self.audio_format: Any = AudioFormat(channels=1, sample_size=16, sample_rate=RATE_HZ)

            def get_audio_data(self, num_bytes: int, compensation_time: float = 0.0) -> AudioData:
                count = max(num_bytes // 2, 1)
                data = mixer.samples(count).tobytes()
                return AudioData(data, len(data), 0.0, count / RATE_HZ, [])

        player = Player()
        player.queue(Endless())
        player.play()
    except Exception as error:  # as above
        _log.warning("holonomy: no sound (%s)", error)
        return None
    return player


class SoundActions(Actions):
    """What is heard of the scene that is shown."""

    def __init__(self, app: App) -> None:
        super().__init__(app)
        self._sound = Sound()

    def poll(self, snapshot: Snapshot) -> None:
        goals, race = self.app.context.of(GoalsView).progress, snapshot.race
        passed = (None if goals is None else goals.at, None if race is None else race.due)
        achieved = self.app.context.of(Achievement)
        fallen = self.app.context.of(CrashReplay).struck
        self._sound.observe(snapshot, passed, achieved, self.app.view.loudness, fallen)

    def drawn(self, snapshot: Snapshot, picture: Callable[[], np.ndarray]) -> None:
        self._sound.look()

    def close(self) -> None:
        self._sound.close()
