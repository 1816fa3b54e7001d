"""A vehicle's file may be wrong in any way: it is one line and exit status 2, in a script and on the command line."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import app
import sim
from sim.platform.errors import InputError
from sim.vehicles import VEHICLES, enter_own

START = """
import casadi as ca
from sim.vehicles import Control, HolonomicVehicle, Parameter, ShapeCoordinate

class Odd(HolonomicVehicle):
    name = "odd"
"""
BODY = "    def inertia(self, q): return ca.SX.eye(6)\n"

ODD = {
    "a constructor that raises": (
        "    def __init__(self, **values): raise KeyError('no\\nmore')\n",
        "cannot be made: KeyError",
    ),
    "a constructor that takes nothing": ("    def __init__(self, wheels): pass\n", "cannot be made: TypeError"),
    "controls that are a text": ('    controls = "abc"\n', "controls = 'abc' is refused; allowed: a tuple of Control"),
    "no parameters": ("    parameters = None\n", "parameters = None is refused; allowed: a tuple of Parameter"),
    "controls that are parameters": (
        '    controls = (Parameter("a", "m", 1.0, 0.0, 2.0, ""),)\n',
        "is refused; allowed: a tuple of Control",
    ),
    "a parameter in the place of the tuple": (
        '    parameters = Parameter("a", "m", 1.0, 0.0, 2.0, "")\n',
        "is refused; allowed: a tuple of Parameter",
    ),
    "two parameters of one name": (
        '    parameters = (Parameter("a", "m", 1.0, 0.0, 2.0, ""),) * 2\n',
        "parameters: name 'a' is refused; allowed, once each",
    ),
    "a control with a name of two words": (
        '    controls = (Control("a b", "N", 0, 1, ""),)\n',
        "controls: name 'a b' is refused",
    ),
    "a shape of numbers": ("    shape_coordinates = (1, 2)\n", "allowed: a tuple of ShapeCoordinate"),
    "a name of two words": ('    name = "a b"\n', "name = 'a b' is refused"),
    "a name that is a number": ("    name = 3\n", "has no name"),
    "a class that raises": ("    name = 1 / 0\n", "cannot be run: ZeroDivisionError: division by zero"),
    "an end of the program": ("import sys\nsys.exit(0)\n", "cannot be run: SystemExit: 0"),
    "a quiet end of the program": ("raise SystemExit\n", "cannot be run: SystemExit"),
    "text that is no Python": ("class class\n", "cannot be run: SyntaxError"),
    "bytes that are no text": (b"\xff\xfe\x00", "cannot be run: "),
    "a zero byte": (b"\x00", "cannot be run: "),
    "brackets without end": ("(" * 10_000, "cannot be run: "),
    "a recursion without end": ("def f(): f()\nf()\n", "cannot be run: RecursionError"),
    "an exception of many lines": ("raise ValueError('a' * 10_000 + '\\nb')\n", "cannot be run: ValueError: aaa"),
}  # fmt: skip


def without_line(text: str) -> str:
    """The place in the file left out."""
    return re.sub(r" \((odd\.py, )?line \d+\)", "", text)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    VEHICLES.pop("odd", None)


@pytest.mark.parametrize("case", ODD)
def test_an_odd_vehicle_is_refused_in_one_line_with_status_2(
    case: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content, answer = ODD[case]
    body = content if isinstance(content, bytes) else content.encode()
    (folder / "odd.py").write_bytes(START.encode() + body)
    (folder / "odd.toml").write_text('vehicle = "odd.py:Odd"\n')
    for make in (enter_own, sim.vehicle):
        with pytest.raises(InputError) as refusal:
            make("odd.py:Odd")
        assert answer in without_line(str(refusal.value))
        assert str(refusal.value).isprintable()
    assert "odd" not in VEHICLES
    for arguments in (["odd.toml", "--headless"], ["plain", "--vehicle", "odd.py:Odd", "--headless"]):
        assert app.main([*arguments, "--trust"]) == 2
        printed = capsys.readouterr()
        assert answer in without_line(printed.err)
        assert printed.err.count("\n") == 1


def test_a_constructor_that_raises_later_is_told_in_one_line(folder: Path) -> None:
    """Parameters come from scenes and panels, too."""
    body = "    def __init__(self, **values):\n        if values: raise OSError('no')\n        super().__init__()\n"
    (folder / "odd.py").write_text(START + BODY + body)
    assert enter_own("odd.py:Odd") == "odd"
    with pytest.raises(InputError, match=r"vehicle 'odd': cannot be made.*: OSError: no"):
        sim.vehicle("odd", mass=1.0)


@pytest.mark.parametrize(
    "reference", ["a\0.py:X", "a" * 5000 + ".py:X", ".py:X", "..py", "/.py:X", "x.py:", "x.py"]
)
def test_a_file_that_cannot_be_is_not_there(reference: str, folder: Path) -> None:
    with pytest.raises(InputError, match=r"vehicle file .* is not there"):
        enter_own(reference)
