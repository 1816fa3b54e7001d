"""Being asked to end."""

import signal
import subprocess
import sys

import pytest

from sim.platform.signals import SAVING_S, ended_by_signals
from tests.patience import PATIENCE_S


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


def test_an_interrupt_that_a_callback_swallows_is_raised_at_the_next_check() -> None:
    script = """
import ctypes, signal, sys
from sim.platform.signals import interrupts_heard
signal.signal(signal.SIGINT, signal.default_int_handler)
callback = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))
with interrupts_heard() as check:
    check()
    callback()  # what is raised within is printed and lost
    try:
        check()
    except KeyboardInterrupt:
        sys.exit(0 if signal.getsignal(signal.SIGINT) is not signal.default_int_handler else 2)
sys.exit(1)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], timeout=PATIENCE_S, check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr


def test_a_plan_is_interrupted_however_deep_in_a_library_it_is_when_asked() -> None:
    script = """
import ctypes, signal, sys, time
import sim.planner.service.planner as planner
from tests.sim.planner_tasks import forest
signal.signal(signal.SIGINT, signal.default_int_handler)
build = planner.build_nodes
def interrupted(shape):
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))()
    return build(shape)
planner.build_nodes = interrupted
vehicle, task = forest(8)
try:
    planner.Planner().plan(vehicle, task)
except KeyboardInterrupt:
    sys.exit(0 if signal.getsignal(signal.SIGINT) is signal.default_int_handler else 2)
sys.exit(1)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], timeout=PATIENCE_S, check=False, capture_output=True
    )
    assert done.returncode == 0, done.stderr
