"""Being asked to end."""

import signal

import pytest

from sim.signals import SAVING_S, ended_by_signals


def test_who_asks_again_is_heard_once_saving_had_its_time():
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    now_s = 100.0
    try:
        with ended_by_signals(lambda: now_s):
            with pytest.raises(SystemExit) as ending:
                signal.raise_signal(signal.SIGTERM)
            assert ending.value.code == 128 + signal.SIGTERM
            now_s += 0.9 * SAVING_S
            signal.raise_signal(signal.SIGTERM)  # while it is saved
            now_s += 0.2 * SAVING_S
            with pytest.raises(SystemExit):
                signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    finally:
        signal.signal(signal.SIGTERM, before)
