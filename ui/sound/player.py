"""The sound of one window, through pyglet's audio. Where there is no device nothing is made."""

import ctypes
import logging
import sys
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress

import numpy as np

from sim.snapshot import LaneStatus, Snapshot
from ui.input.jolts import Jolts
from ui.sound.listening import heard
from ui.sound.synthesis import RATE_HZ, SoundState, Tones, block, click, struck, thump

BUFFER_S = 0.15
"""Made ahead: less stutters, more is late."""
_log = logging.getLogger("holonomy")


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
        self._player = None
        # Beside the frames, from the first one on: to look for a device takes longer than one.
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="sound")
        self._looking: Future[object] | None = None
        self._looked = False

    def observe(self, snapshot: Snapshot, passed: object, volume: float) -> None:
        """Told once a frame. passed: whatever differs after a waypoint, a goal or a gate; volume: 0 for mute."""
        if not self._looked:
            self._looked, self._looking = True, self._worker.submit(audio_driver)
        if self._looking is not None and self._looking.done():
            self._player = _started(self._mixer) if self._looking.result() is not None else None
            self._looking = None
        if self._player is None:
            return
        strikes = []
        felt = self._jolts.felt(snapshot)
        if felt is not None:
            strikes.append(thump(felt[0]))
        if passed != self._passed:
            if self._passed is not None and snapshot.lanes[0].status is LaneStatus.RUNNING:
                strikes.append(click())
            self._passed = passed
        self._mixer.hear(heard(snapshot), volume, *strikes)

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


def _started(mixer: Mixer):
    """A player that plays; None where it cannot."""
    try:
        from pyglet.media import Player, StreamingSource
        from pyglet.media.codecs import AudioData, AudioFormat
        from pyglet.media.drivers.base import AbstractAudioPlayer

        AbstractAudioPlayer.audio_buffer_length = BUFFER_S

        class Endless(StreamingSource):
            """What the mixer makes."""

            def __init__(self) -> None:
                self.audio_format = AudioFormat(channels=1, sample_size=16, sample_rate=RATE_HZ)

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
