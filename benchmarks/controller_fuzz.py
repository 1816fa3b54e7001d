"""Wrong controller files in a running simulation: `python -m benchmarks.controller_fuzz [COUNT] [SEED]`, 300 without.

Each is dropped onto a quadrotor that flies, or saved in place of one that flies it, as a window would have it: read,
made, flown for a while. Whatever stands in it, there come controls or one line; the simulation goes on, and afterwards
flies by hand. Of each file its ending is printed, with the line that is said of it; then a table of endings by kind of
file, and the longest time without a new snapshot. What a call into C does cannot be ended, so none among them works for
long. Names of Python itself, numpy, math and time, which all share, are put back by what runs them.
"""

import importlib
import os
import re
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sim
from sim.commands import FlyBy, Reset, SetFlightMode, SetPaused
from sim.controllers import made_controller
from sim.controllers.controller import holds_controller, load_controller
from sim.recordings.take import LaneStatus
from sim.scene import load_scene
from sim.simulation import Simulation
from sim.world import load_world
from ui.features.controllers import OwnControllers

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
STOPPED_CLOCKS = "import time; time.perf_counter = time.monotonic = time.sleep = None"
_RETURN = "return np.full(4, memory"
_GAIN = '4.0, 0.1, 20.0, "1/s^2"'
_SWAPS: dict[str, tuple[tuple[str, tuple[str, ...]], ...]] = {
    "gains": (
        (
            _GAIN,
            (
                "4.0, 20.0, 0.1",
                "'a', 0.1, 20.0",
                "float('nan'), 0.1, 20.0",
                "1, 1, 1",
                "0, -1e400, 1e400",
                "True, False, True",
                "",
                "4.0",
                "None, None, None",
                "4.0, 0.1, 20.0, unit='\\n\\x1b[31m' * 99",
                "4.0, 0.1, 20.0, doc='long ' * 99999",
                "10**400, 0, 10**401",
                "[4.0], [0.1], [20.0]",
                "np.zeros(3), 0, 1",
                "4j, 0, 1",
            ),
        ),
        (
            "    stiffness = ",
            (
                "    control = ",
                "    plot = ",
                "    rate_hz = ",
                "    start = ",
                "    _gains = ",
                "    __class__ = ",
                "    for k in range(2000): vars()[f'g{k}'] = sim.Gain(1, 0, 2)\n    stiffness = ",
                "    __init__ = ",
            ),
        ),
        (
            "        z = memory",
            (
                "        self.stiffness = 1e9\n        z = memory",
                "        self.stiffness = float('nan')\n        z = memory",
                "        del self.stiffness\n        z = memory",
                "        type(self).stiffness = sim.Gain(1, 0, 2)\n        z = memory",
                "        self.__dict__.clear()\n        z = memory",
                "        self.__dict__['_gains'] = 3\n        z = memory",
                "        self.__dict__['_plotted'] = []\n        z = memory",
            ),
        ),
    ),
    "rates": (
        (
            "rate_hz = 50",
            (
                "rate_hz = 0",
                "rate_hz = -1e400",
                "rate_hz = float('nan')",
                "rate_hz = 1e300",
                "rate_hz = 1e-300",
                "rate_hz = 'often'",
                "rate_hz = None",
                "rate_hz = [50]",
                "rate_hz = np.float32(50)",
                "rate_hz = 10**400",
                "rate_hz = True",
                "rate_hz = property(lambda self: 1 / 0)",
                "rate_hz = property(lambda self: np.random.rand() * 100)",
                "@property\n    def rate_hz(self):\n        while True: pass",
            ),
        ),
    ),
    "sensors": (
        (
            '("imu", "gps")',
            (
                "3",
                '("sonar",)',
                "(None,)",
                '"imu"',
                '{"imu": 1}',
                "iter(['imu', 'gps'])",
                '("gps", "gps")',
                "('imu',) * 10000",
                "[['gps']]",
            ),
        ),
        ("state.gps", ("state.sgp", "state.x", "state['gps']")),
    ),
    "answers": (
        (
            _RETURN,
            (
                "return np.full(3, memory",
                "return np.full((4, 1), memory",
                "return np.full(10**7, memory",
                "return [[[[]]]] or (memory",
                "return 1j * np.full(4, memory",
                "return str(memory",
                "return b'1234' or (memory",
                "return state or (memory",
                "return memory or (memory",
                "return (x for x in np.full(4, memory",
                "return {1: 2} and {1, 2, 3, 4} or (memory",
                "return np.array([1, 'a', None, 2], object) if 1 else (memory",
                "return np.ma.masked_all(4) if 1 else (memory",
                "return np.array(['a'] * 4) if 1 else (memory",
                "return np.datetime64('2020') if 1 else (memory",
                "return [float('nan')] * 4 if 1 else (memory",
                "return [1e400, -1e400, 1, 1] if 1 else (memory",
                "return [10**400] * 4 if 1 else (memory",
                "return type('L', (list,), {'__len__': lambda s: -1})([1, 2, 3, 4]) if 1 else (memory",
                "return type('A', (), {'__array__': lambda *a, **k: 1 / 0})() if 1 else (memory",
                "return type('A', (), {'__array__': lambda *a, **k: [1]})() if 1 else (memory",
                "return type('A', (), {'__repr__': lambda s: 1 / 0})() if 1 else (memory",
                "return type('A', (np.ndarray,), {'shape': (4,)})(0) if 1 else (memory",
                "return [type('F', (float,), {'__float__': lambda s: 1 / 0})()] * 4 if 1 else (memory",
                "return 'x' * 10**7 if 1 else (memory",
                "a = []; a.append(a)\n        return a if 1 else (memory",
                "yield np.full(4, memory",
                "return np.full(4, 10**12) if 1 else (memory",
                "return (True, False, True, False) if 1 else (memory",
                "return lambda: (memory",
            ),
        ),
    ),
    "errors": (
        (
            _RETURN,
            (
                "raise KeyboardInterrupt or (memory",
                "raise SystemExit(0) or (memory",
                "raise GeneratorExit or (memory",
                "raise StopIteration or (memory",
                "raise type('\\n\\x1b[31m', (Exception,), {}) or (memory",
                "raise type('E', (BaseException,), {})('own') or (memory",
                "raise ValueError('line\\n' * 10**5) or (memory",
                "raise ValueError('x' * 10**7) or (memory",
                "raise type('E', (Exception,), {'__str__': lambda s: 1 / 0})() or (memory",
                "raise type('E', (Exception,), {'__str__': lambda s: 3})() or (memory",
                "raise ExceptionGroup('g', [ValueError(1), KeyError(2)]) or (memory",
                "raise 3 or (memory",
                "raise MemoryError or (memory",
                "assert False, (memory",
                "return bytearray(10**15) or (memory",
                "import nothing_of_this_name\n        return (memory",
                "return self.control(t, state, sticks, memory) or (memory",
                "return undefined_name or (memory",
                "return sticks.lever or (memory",
                "return state.gps.x_w[7] or (memory",
                "return 1 / 0 or (memory",
                "exit()\n        return (memory",
                "raise sim.InputError('a\\nb\\x1b[31m' * 999) or (memory",
            ),
        ),
        (
            "class Own",
            (
                "raise SystemExit(0)\nclass Own",
                "raise KeyboardInterrupt\nclass Own",
                "raise GeneratorExit\nclass Own",
                "raise type('E', (BaseException,), {})('own')\nclass Own",
                "raise ValueError('a\\nb' * 10**5)\nclass Own",
                "import simm\nclass Own",
                "from . import beside\nclass Own",
                "def f(): f()\nf()\nclass Own",
                "exec('(' * 300)\nclass Own",
                "exit()\nclass Own",
            ),
        ),
    ),
    "classes": (
        ("sim.Controller", ("sim.Vehicle", "object", "sim.Controler", "sim.Gain", "sim.simulate")),
        (
            "class Own",
            (
                "class Own(sim.Controller): pass\nclass Other",
                "class Base(sim.Controller): pass\nclass Own(Base): pass\nclass Own",
                "import dataclasses, abc, enum\n@dataclasses.dataclass\nclass Own",
                "Own = 3\nclass Own",
                "def Own(c): return 3\n@Own\nclass Own",
            ),
        ),
        (
            "    def start",
            (
                "    def __init__(self): 1 / 0\n    def start",
                "    def __init__(self): pass\n    def start",
                "    def __init__(self, needed): pass\n    def start",
                "    def __new__(cls): return 3\n    def start",
                "    def __new__(cls): return None\n    def start",
                "    __slots__ = ('stiffness',)\n    def start",
                "    def __getattribute__(self, name): raise ValueError(name)\n    def start",
                "    def __getattr__(self, name): return getattr(self, name)\n    def start",
                "    def __setattr__(self, name, value): raise ValueError(name)\n    def start",
                "    plotted_by = changed_gains = plot = 3\n    def start",
                "    def __copy__(self): 1 / 0\n    def start",
                "    def __copy__(self): return 3\n    def start",
                "    def __del__(self): pass\n    def start",
                "    def __eq__(self, other): 1 / 0\n    def start",
                "    __hash__ = None\n    def start",
                "    def __bool__(self): 1 / 0\n    def start",
                "    def __repr__(self): 1 / 0\n    def start",
                "    def __init_subclass__(cls): 1 / 0\n    def start",
                "    __name__ = __module__ = 3\n    def start",
                "    __reduce__ = __deepcopy__ = 3\n    def start",
            ),
        ),
        ("def control(self, t,", ("def control(self,", "async def control(self, t,", "def control(t,")),
        (
            "    def control(",
            (
                "    def contrl(",
                "    @staticmethod\n    def control(",
                "    @classmethod\n    def control(",
                "    @property\n    def control(",
                "    import functools\n    @functools.lru_cache\n    def control(",
                "    control = 3\n    def other(",
            ),
        ),
        ("def start(self, vehicle, state)", ("def start(self)", "def start()", "async def start(self, *a)")),
    ),
    "memory": (
        (
            'return {"hover"',
            (
                'return 3 or {"hover"',
                'return None and {"hover"',
                'import threading\n        return {"lock": threading.Lock(), "hover"',
                'return {"f": open(__file__), "hover"',
                'return {"g": (x for x in [1]), "hover"',
                'return {"self": self, "vehicle": vehicle, "state": state, "hover"',
                'return {"c": type("C", (), {"__deepcopy__": lambda s, m: 1 / 0})(), "hover"',
                'return {"big": bytearray(10**8), "hover"',
            ),
        ),
        (
            "        z = memory",
            (
                "        memory.setdefault('leak', []).append(np.zeros(10**5))\n        z = memory",
                "        memory.clear()\n        z = memory",
                "        memory['me'] = memory\n        z = memory",
                "        memory['z'] = 'high'\n        z = memory",
                "        d = memory\n        for _ in range(10**5): d['d'] = {}; d = d['d']\n        z = memory",
            ),
        ),
    ),
    "plots": (
        (
            '"error", memory["z"] - z, "m"',
            (
                '"error", np.zeros(3), "m"',
                '"error", np.zeros((1, 1)), "m"',
                '"error", object(), "m"',
                '"error", "high", "m"',
                '"error", None, None',
                '"error", float("nan"), "m"',
                '"error", float("inf"), "m"',
                '"error", 10**400, "m"',
                '"error", 1j, "m"',
                'memory, 1.0, "m"',
                '"x" * 10**6, 1.0, "m" * 10**6',
                '"\\n\\x1b[31m\\0", 1.0, "\\n\\0"',
                'f"error {t}", 1.0, "m"',
                '"energy", 1.0, "m"',
                '"##", 1.0, "%s%n"',
                'type("S", (str,), {"__str__": lambda s: 1 / 0})("a"), 1.0',
                "",
                '"only a name"',
            ),
        ),
        (
            "        self.plot(",
            ("        for k in range(5000): self.plot(f'p{k}', k)\n        self.plot(",),
        ),
    ),
    "in place": (
        (
            "        z = memory",
            (
                "        state.gps.x_w[:] = np.nan\n        z = memory",
                "        state.imu.gyro_b *= 1e300\n        z = memory",
                "        sticks.pitch = 3\n        z = memory",
                "        object.__setattr__(sticks, 'pitch', 'x')\n        z = memory",
                "        state.__dict__.clear()\n        z = memory",
            ),
        ),
        (
            '        return {"hover"',
            (
                '        state.node[:] = np.nan\n        return {"hover"',
                '        state.R[:] = 0; state.x[:] = 1e9\n        return {"hover"',
                '        vehicle.values["mass"] = -1\n        return {"hover"',
                '        vehicle.values.clear()\n        return {"hover"',
                '        vehicle.parameter_vector[:] = np.nan\n        return {"hover"',
                '        vehicle.neutral_controls[:] = np.nan\n        return {"hover"',
                '        vehicle.controls = ()\n        return {"hover"',
                '        del vehicle.__dict__\n        return {"hover"',
            ),
        ),
        ('("imu", "gps")', ("()",)),
    ),
    "elsewhere": (
        (
            "class Own",
            (
                "import warnings; warnings.simplefilter('error')\nclass Own",
                "np.seterr(all='raise')\nclass Own",
                "import sys; sys.setrecursionlimit(5)\nclass Own",
                "import os; os.chdir('/')\nclass Own",
                "import sys; sys.stdout = None; print('x')\nclass Own",
                "import sys; sys.path[:] = []\nclass Own",
                "import signal; signal.signal(signal.SIGINT, None)\nclass Own",
                "import signal; signal.alarm(0)\nclass Own",
                "import builtins; builtins.input = None\nclass Own",
                "import gc; gc.disable()\nclass Own",
                "import logging; logging.basicConfig(level=0)\nclass Own",
                "np.random.seed(0)\nclass Own",
                "sim.Controller.rate_hz = 3\nclass Own",
                "np.float64 = None\nclass Own",
                "import builtins; builtins.len = builtins.isinstance = builtins.print = None\nclass Own",
                "np.array = np.clip = np.asarray = np.errstate = None\nclass Own",
            ),
        ),
        (
            "        z = memory",
            (
                "        np.seterr(all='raise'); z = 1\n        z = memory",
                "        import warnings; warnings.simplefilter('error')\n        z = memory",
                "        import sys; sys.setrecursionlimit(60)\n        z = memory",
                f"        {STOPPED_CLOCKS}\n        z = memory",
                "        print('x' * 100)\n        z = memory",
                "        import builtins; builtins.len = builtins.map = None\n        z = memory",
                "        np.array = np.isfinite = np.clip = None\n        z = memory",
            ),
        ),
    ),
    "threads": (
        (
            '        return {"hover"',
            (
                "        import threading, time\n        threading.Thread(target=time.sleep, args=(0.2,)).start()\n"
                '        return {"hover"',
                "        import threading\n        threading.Thread(target=lambda: 1 / 0, daemon=True).start()\n"
                '        return {"hover"',
                "        import threading, time\n        e = time.monotonic() + 0.5\n        def f():\n"
                "            while time.monotonic() < e: pass\n"
                "        for _ in range(4): threading.Thread(target=f, daemon=True).start()\n"
                '        return {"hover"',
                "        import subprocess\n        subprocess.run(['no such program'])\n"
                '        return {"hover"',
                '        import asyncio\n        asyncio.run(asyncio.sleep(0.01))\n        return {"hover"',
                "        import concurrent.futures as c\n        self.pool = c.ThreadPoolExecutor(2)\n"
                '        self.pool.submit(pow, 2, 3)\n        return {"hover"',
            ),
        ),
    ),
    "loops": (
        (
            "        z = memory",
            (
                "        while True: pass\n        z = memory",
                "        while True:\n            try: 1 / 0\n            except: pass\n        z = memory",
                "        while True:\n            try: 1 + 1\n            except BaseException: 0\n        z = memory",
                "        import time\n        while True: time.sleep(0.01)\n        z = memory",
                "        try:\n            while True: pass\n        finally: 1 / 0\n        z = memory",
                "        for k in iter(int, 1): memory[k] = k\n        z = memory",
            ),
        ),
        ('        return {"hover"', ('        while True: pass\n        return {"hover"',)),
        (
            "class Own",
            (
                "while True: pass\nclass Own",
                "while True:\n    try: import nothing_of_this_name\n    except: pass\nclass Own",
                "import time\nwhile True: time.sleep(0.05)\nclass Own",
            ),
        ),
        (
            "    def start",
            (
                "    def __init__(self):\n        while True: pass\n    def start",
                "    def __copy__(self):\n        while True: pass\n    def start",
                "    while True: pass\n    def start",
            ),
        ),
    ),
}
ENCODED: tuple[tuple[bytes, bool], ...] = (
    (b"\xef\xbb\xbf" + GOOD.encode(), True),
    (GOOD.replace("\n", "\r\n").encode(), True),
    (GOOD.replace("\n", "\r").encode(), True),
    (b"# -*- coding: latin-1 -*-\n# \xe9\n" + GOOD.encode(), True),
    (GOOD.replace("Hovers", "Schwebt, \N{LATIN SMALL LETTER U WITH DIAERESIS}ber dem Boden").encode(), True),
    (b"# \xe9\n" + GOOD.encode(), False),
    (b"# -*- coding: no-such -*-\n" + GOOD.encode(), False),
    (b"\xff\xfe" + GOOD.encode(), False),
    (GOOD.encode("utf-16"), False),
    (GOOD.encode() + b"\x00", False),
    (b"\x00", False),
    (b"", False),
    (("(" * 5000).encode(), False),
    ((GOOD + "# " + "x" * (1 << 20)).encode(), False),
    (GOOD.replace("    ", "\t", 3).encode(), False),
    (GOOD.replace("=", "\N{MINUS SIGN}").encode(), False),
)
"""Files as editors save them, and whether each is a controller."""
ENDINGS = ("flew", "refused", "fault in flight", "took too long", "internal error")
"""It flies; it is refused before it does; a call of it fails in flight; it, or a call of it, is ended for the time that
it takes; a mistake of the program, of which there must be none."""
_TOO_LONG = re.compile(r"(took|works for) more than [0-9.]+ s$")


class Ending(NamedTuple):
    """What became of a file, one of `ENDINGS`, and the line that is said of it: empty where it flew."""

    how: str
    line: str


def wrong_files(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    """(kind, what stands in it): first all that are listed above, then such by chance, and texts that are broken."""
    listed = [("encodings", source) for source, _ in ENCODED]
    for kind, swaps in _SWAPS.items():
        for before, afters in swaps:
            assert before in GOOD, before
            listed += [(kind, GOOD.replace(before, after, 1).encode()) for after in afters]
    yield from listed[:count]
    rng = np.random.default_rng(seed)
    quick = [kind for kind in _SWAPS if kind != "loops"]
    for _ in range(count - len(listed)):
        if rng.random() < 0.5:
            yield "texts", _broken(rng).encode()
            continue
        kinds, text = [str(kind) for kind in rng.choice(quick, 2, replace=False)], GOOD
        for kind in kinds:
            before, afters = _SWAPS[kind][int(rng.integers(len(_SWAPS[kind])))]
            text = text.replace(before, afters[int(rng.integers(len(afters)))], 1)
        yield " and ".join(kinds), text.encode()


def _broken(rng: np.random.Generator) -> str:
    """A good text that is cut off, with a letter changed, lines lost, or a part repeated."""
    lines, at = GOOD.splitlines(keepends=True), int(rng.integers(1, len(GOOD)))
    match int(rng.integers(4)):
        case 0:
            return GOOD[:at]
        case 1:
            return GOOD[:at] + chr(int(rng.integers(33, 127))) + GOOD[at + int(rng.integers(0, 3)) :]
        case 2:
            order = rng.permutation(len(lines))[: int(rng.integers(2, len(lines)))]
            return "".join(lines[k] for k in sorted(order))
    return GOOD[:at] + GOOD[max(at - 40, 0) :]


@contextmanager
def undone() -> Iterator[None]:
    """Within, a program may change settings that it shares with all others; afterwards they are as they were."""
    filters, errors, limit = warnings.filters[:], np.geterr(), sys.getrecursionlimit()
    place, paths, out, rate = Path.cwd(), sys.path[:], sys.stdout, sim.Controller.rate_hz
    try:
        yield
    finally:
        warnings.filters[:] = filters
        np.seterr(**errors)
        sys.setrecursionlimit(limit)
        sys.path[:], sys.stdout, sim.Controller.rate_hz = paths, out, rate
        os.chdir(place)
        importlib.import_module("gc").enable()


class Trial:
    """A quadrotor over the plain, and files that are dropped onto it."""

    FLOWN_S = 0.3
    """Simulated time for which each is watched."""
    PATIENCE_S = 120.0

    def __init__(self, folder: Path) -> None:
        scene = load_scene("plain", vehicle="quadrotor")
        start = replace(scene.start, pad="", position_w=(0.0, 0.0, 112.0))
        scene = replace(scene, start=start, lanes=(), step_s=0.01)
        self.simulation = Simulation(scene, load_world(scene.world, seed=scene.seed))
        self._folder, self._own, self._count = folder, OwnControllers(), 0
        self._beside = ThreadPoolExecutor(1)
        self.longest_s = 0.0
        """Without a new snapshot."""

    def ending(self, source: bytes, *, saved: bool) -> Ending:
        """What becomes of a file. saved: in place of one that flies."""
        self._count += 1
        file = self._folder / f"own_{self._count}.py"
        if saved:
            file.write_text(GOOD, encoding="utf-8")
            kind, _ = load_controller(str(file), (file.parent,), trusted=True)
            self.simulation.ask(FlyBy(made_controller(kind))).result(self.PATIENCE_S)
            self._until(lambda: True, 0.1)
            self._look()
        file.write_bytes(source)
        try:
            if saved:
                self._taken_up()
            else:
                made = self._beside.submit(_dropped, file).result(self.PATIENCE_S)
                self.simulation.ask(FlyBy(made)).result(self.PATIENCE_S)
        except sim.InputError as error:
            return Ending("took too long" if _TOO_LONG.search(str(error)) else "refused", str(error))
        self._until(self._fault, self.FLOWN_S)
        line = self._fault()
        if line.startswith("internal error"):
            return Ending("internal error", line)
        return Ending(
            "took too long" if _TOO_LONG.search(line) else "fault in flight" if line else "flew", line
        )

    def let_go(self) -> None:
        """Nobody calls what the file has left any more."""
        with suppress(sim.InputError):
            self.simulation.ask(SetFlightMode("attitude")).result(self.PATIENCE_S)

    def by_hand_again(self) -> None:
        """It flies on, whatever was there. Raises AssertionError where it does not."""
        self.simulation.ask(Reset()).result(self.PATIENCE_S)
        self.simulation.ask(SetFlightMode("attitude")).result(self.PATIENCE_S)
        self.simulation.ask(SetPaused(False)).result(self.PATIENCE_S)
        before_s = self.simulation.snapshot.clock_s
        self._until(lambda: self.simulation.snapshot.clock_s > before_s, np.inf)
        assert not self._fault(), self._fault()

    def _fault(self) -> str:
        now = self.simulation.snapshot
        flying = now.lanes[0].controller
        if now.message.startswith("internal error"):
            return now.message
        if flying is not None and flying.fault:
            return flying.fault
        return "" if now.lanes[0].status is LaneStatus.RUNNING else now.lanes[0].status_text

    def _until(self, holds: Callable[[], object], simulated_s: float) -> None:
        """Or until it has flown for so long."""
        begun_s, end_s, seen = self.simulation.snapshot.clock_s, _now_s() + self.PATIENCE_S, None
        seen_s = _now_s()
        while not holds() and self.simulation.snapshot.clock_s - begun_s < simulated_s:
            if self.simulation.snapshot is not seen:
                seen, seen_s = self.simulation.snapshot, _now_s()
            self.longest_s = max(self.longest_s, _now_s() - seen_s)
            assert _now_s() < end_s, "the simulation does not answer"
            _sleep(0.005)

    def _look(self) -> list[object]:
        """As a window does once a frame."""
        flying = self.simulation.snapshot.lanes[0].controller
        return list(self._own.poll([] if flying is None else [flying.kind], np.inf))

    def _taken_up(self) -> None:
        """The file that flies, as it is now. Raises InputError for what is told of it."""
        end_s = _now_s() + self.PATIENCE_S
        while not (renewed := self._look()):
            if self._own.mistakes:
                raise sim.InputError(self._own.mistakes[0])
            assert _now_s() < end_s, "the file is not taken up"
            _sleep(0.01)
        self.simulation.ask(renewed[0]).result(self.PATIENCE_S)


def _dropped(file: Path) -> sim.Controller:
    holds_controller(file)
    return made_controller(load_controller(str(file), (file.parent,), trusted=True)[0])


_now_s, _sleep = time.monotonic, time.sleep
"""As they were: some files exchange them."""


def table(counts: Counter[tuple[str, str]]) -> str:
    """Of each kind of file, a line with how many ended in which of `ENDINGS`. counts: (kind, ending) -> files."""
    kinds = [*dict.fromkeys(kind for kind, _ in counts), "all"]
    for (_, how), files in list(counts.items()):
        counts["all", how] += files
    width = max(map(len, kinds))
    lines = [" ".join([" " * width, *(f"{how:>{len(how) + 1}}" for how in ENDINGS)])]
    for kind in kinds:
        lines.append(
            " ".join([f"{kind:{width}}", *(f"{counts[kind, how]:{len(how) + 1}d}" for how in ENDINGS)])
        )
    return "\n".join(lines)


def main() -> None:
    """Print how each file ended, and how many of each kind in which way."""
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    counts = Counter[tuple[str, str]]()
    with tempfile.TemporaryDirectory() as name:
        os.environ["HOLONOMY_CONFIG"] = str(Path(name) / "config")
        trial = Trial(Path(name))
        trial.simulation.start()
        began_s = _now_s()
        for k, (kind, source) in enumerate(wrong_files(count, seed)):
            with undone(), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                ending = trial.ending(source, saved=bool(k % 2))
                trial.let_go()
            print(
                f"{k + 1} {kind}, {'saved' if k % 2 else 'dropped'}: {': '.join(filter(None, ending))}",
                flush=True,
            )
            assert not ending.line or (ending.line.isprintable() and len(ending.line) <= 400), (
                source,
                ending,
            )
            counts["two of these" if " and " in kind else kind, ending.how] += 1
            trial.by_hand_again()
        trial.simulation.stop()
    print(table(counts))
    print(
        f"{count} files in {_now_s() - began_s:.0f} s; longest time without a new snapshot {trial.longest_s:.1f} s"
    )


if __name__ == "__main__":
    main()
