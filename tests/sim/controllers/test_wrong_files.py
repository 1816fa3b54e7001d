"""Whatever stands in a controller's file, what comes of it is controls or one line."""

from pathlib import Path

import numpy as np
import pytest

import sim
from sim.controllers.controller import holds_controller, load_controller

GOOD = '''import sim
import numpy as np

class Own(sim.Controller):
    """Hovers."""
    stiffness = sim.Gain(4.0, 0.1, 20.0, "1/s^2")
    rate_hz = 50
    sensors = ("imu", "gps")

    def start(self, vehicle, state):
        return {"hover": vehicle.values["mass"] * 9.81 / 4.0, "z": state.x[2]}

    def control(self, t, state, sticks, memory):
        z = memory["z"] if state.gps is None else state.gps.x_w[2]
        self.plot("error", memory["z"] - z, "m")
        return np.full(4, memory["hover"] + self.stiffness * (memory["z"] - z))
'''
SWAPS = (
    ("4.0, 0.1, 20.0", "4.0, 20.0, 0.1"),
    ("4.0, 0.1, 20.0", "'a', 0.1, 20.0"),
    ("4.0, 0.1, 20.0", "float('nan'), 0.1, 20.0"),
    ("rate_hz = 50", "rate_hz = 0"),
    ("rate_hz = 50", "rate_hz = 'often'"),
    ("rate_hz = 50", "rate_hz = -1e400"),
    ('("imu", "gps")', "3"),
    ('("imu", "gps")', '("sonar",)'),
    ('("imu", "gps")', "(None,)"),
    ("sim.Controller", "sim.Vehicle"),
    ("sim.Controller", "object"),
    ("sim.Controller", "sim.Controler"),
    ("import sim", "import simm"),
    ("np.full(4,", "np.full(3,"),
    ("np.full(4,", "np.full((4, 1),"),
    ("return np.full(4,", "return (4, "),
    ("return np.full(4,", "return 1j * np.full(4,"),
    ("return np.full(4,", "return str("),
    ("return np.full(4,", "raise KeyboardInterrupt or ("),
    ("return np.full(4,", "yield np.full(4,"),
    ("return np.full(4,", "raise type('\\n\\x1b[31m', (Exception,), {})("),
    ('return {"hover"', 'return 3 or {"hover"'),
    ("state.gps", "state.sgp"),
    ('"error"', "memory"),
    ('memory["z"] - z, "m")', 'object(), "m")'),
    ("def control(self, t,", "def control(self,"),
    ("def control(", "def contrl("),
    ("def start(self, vehicle, state)", "def start(self)"),
    ("class Own", "raise SystemExit(0)\nclass Own"),
    ("class Own", "class Own(sim.Controller): pass\nclass Other"),
    ("    def start", "    def __init__(self): 1 / 0\n    def start"),
    ("    def start", "    def __init__(self): pass\n    def start"),
    ("    def start", "    __slots__ = ('stiffness',)\n    def start"),
    ("    def start", "    def __getattribute__(self, name): raise ValueError(name)\n    def start"),
    ("    def start", "    plotted_by = changed_gains = plot = 3\n    def start"),
    ("    def start", "    def __copy__(self): 1 / 0\n    def start"),
)


def wrong_files() -> list[bytes]:
    """300: good ones with a part exchanged, cut off, repeated, or with bytes that are none of Python's."""
    rng = np.random.default_rng(11)
    found = [GOOD.replace(before, after, 1).encode() for before, after in SWAPS]
    found += [b"", b"\x00", b"\xff\xfe" + GOOD.encode(), ("(" * 5000).encode(), GOOD.encode("utf-16")]
    lines = GOOD.splitlines(keepends=True)
    while len(found) < 300:
        kind, at = rng.integers(4), int(rng.integers(1, len(GOOD)))
        if kind == 0:
            text = GOOD[:at]
        elif kind == 1:
            text = GOOD[:at] + chr(int(rng.integers(33, 127))) + GOOD[at + int(rng.integers(0, 3)) :]
        elif kind == 2:
            order = rng.permutation(len(lines))[: int(rng.integers(2, len(lines)))]
            text = "".join(lines[k] for k in sorted(order))
        else:
            text = GOOD[:at] + GOOD[max(at - 40, 0) :]
        found.append(text.encode())
    return found


@pytest.fixture(autouse=True)
def _own_config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLONOMY_CONFIG", str(tmp_path / "config"))


def _told_of(file: Path, vehicle: sim.Vehicle) -> str:
    """The refusal; empty where it flies."""
    try:
        kind, _ = load_controller(str(file), (file.parent,), trusted=True)
        traj = sim.simulate(vehicle, step=0.02, duration=0.3, controller=kind)
    except sim.InputError as error:
        return str(error)
    except KeyboardInterrupt:  # the user's own word, which ends programs
        return "interrupted" if b"KeyboardInterrupt" in file.read_bytes() else "\n"
    return "" if np.isfinite(traj.controls).all() else "\n"


@pytest.mark.filterwarnings("ignore::SyntaxWarning")
def test_three_hundred_wrong_files_end_in_single_lines(tmp_path: Path) -> None:
    vehicle, file, refused = sim.vehicle("quadrotor"), tmp_path / "own.py", 0
    for source in wrong_files():
        file.write_bytes(source)
        holds_controller(file)
        told = _told_of(file, vehicle)
        refused += bool(told)
        assert not told or told.isprintable(), source
        assert len(told) <= 300
    assert refused > 150
