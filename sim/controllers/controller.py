"""What a controller is: gains, a rate, what it measures, and a function from time and state to controls.

class Hover(sim.Controller):
    stiffness = sim.Gain(4.0, 0.1, 20.0, "1/s^2")
    rate_hz = 100

    def start(self, vehicle, state):
        return {"height_m": state.x[2]}

    def control(self, t, state, sticks, memory):
        error = memory["height_m"] - state.x[2]
        self.plot("error", error, "m")
        ...
        return controls

One of the user's own is a class in a Python file, named `hover.py:Hover`, taken up anew as the file is saved. Nothing
of a user's file is run that he has not trusted: `sim.platform.user_files`.
"""

import ast
import copy
import math
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, ClassVar, Self, TypeVar, overload

from sim.platform.deadlines import ended_after
from sim.platform.errors import InputError, number, one_of, quote
from sim.platform.user_files import (
    WORK_S,
    ends_program,
    error_line,
    file_and_class,
    found_file,
    keep_source,
    list_of,
    require_trust,
    run_own,
    without_replacing,
)
from sim.platform.values import dataclass
from sim.vehicles import State, Vehicle


@dataclass(frozen=True, slots=True)
class PilotInput:
    """Stick deflections, each in [-1, 1] unless said otherwise; what they do depends on vehicle and mode.

    Signs are the pilot's: pitch +1 nose down (stick forward), roll +1 right, yaw +1 nose right,
    throttle +1 up / forward.
    """

    pitch: float = 0.0
    roll: float = 0.0
    yaw: float = 0.0
    throttle: float = 0.0
    actions: frozenset[str] = field(default_factory=frozenset)
    """Held actions by name, e.g. 'brake', 'gait-drive'."""


class Gain:
    """A number of a controller that may be changed while it flies: a slider in the window.

    A class attribute; an instance has the number there. Raises InputError for a range that holds no default.
    """

    def __init__(self, default: float, low: float, high: float, unit: str = "", doc: str = "") -> None:
        self.name = ""
        self.low, self.high = _finite("low", low), _finite("high", high)
        self.default = _finite("default", default)
        self.unit, self.doc = str(unit), str(doc)
        if not self.low <= self.default <= self.high or self.low == self.high:
            raise InputError(
                f"gain: default = {default} in {low} to {high} is refused; allowed: low <= default <= high"
            )

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, controller: None, owner: type) -> Self: ...

    @overload
    def __get__(self, controller: "Controller", owner: type) -> float: ...

    def __get__(self, controller: "Controller | None", owner: type) -> "Self | float":
        return self if controller is None else changed_gains(controller).get(self.name, self.default)

    def __set__(self, controller: "Controller", value: float) -> None:
        changed_gains(controller)[self.name] = self.checked(type(controller).__name__, value)

    def kept(self, value: float | None) -> float | None:
        """A number that was set before, where it is still within the range."""
        return value if value is not None and self.low <= value <= self.high else None

    def checked(self, owner: str, value: object) -> float:
        """A number within the range. Raises InputError."""
        given = number(self.name, value)
        if not self.low <= given <= self.high:
            raise InputError(
                f"controller {owner}: {self.name} = {quote(value)} is out of range; allowed: "
                f"{self.low:g} to {self.high:g} {self.unit}".rstrip()
            )
        return given


def _finite(what: str, value: object) -> float:
    given = number(f"gain: {what}", value)
    if not math.isfinite(given):
        raise InputError(f"gain: {what} = {quote(value)} is refused; allowed: a finite number")
    return given


MOST_PLOTTED = 64
"""Numbers that a controller may have plotted."""


class Controller:
    """Base of the controllers of a user, and of the project's own. Keyword arguments set gains."""

    rate_hz: ClassVar[float] = 100.0
    """How often `control` is called; between two calls its controls are held."""
    sensors: ClassVar[tuple[str, ...]] = ()
    """What it measures, of imu, gps, range_finder, encoder; empty: it is given the exact state."""

    def __init__(self, **gains: float) -> None:
        for name, value in gains.items():
            _gain(type(self), name).__set__(self, value)

    def start(self, vehicle: Vehicle, state: State) -> Any:
        """Once, before the first call: returns the memory that every call is handed, {} where it returns nothing."""
        return {}

    def control(self, t: float, state: Any, sticks: PilotInput, memory: Any) -> Any:
        """(n_controls,) in the vehicle's order and units; they are kept within its ranges.

        t: simulated time [s]. state: the exact `State`, or the readings of `sensors`.
        """
        raise NotImplementedError("a controller needs a method control(self, t, state, sticks, memory)")

    def plot(self, name: str, value: float, unit: str = "1") -> None:
        """Have a number plotted over time, beside what the vehicle reports. Raises InputError for too many names."""
        plotted, key = plotted_by(self), str(name)[:60]
        if key not in plotted and len(plotted) >= MOST_PLOTTED:
            raise InputError(f"plot: {quote(key)} is one name too many; allowed: {MOST_PLOTTED} names")
        plotted[key] = (float(value), str(unit)[:20])


def own_dict(controller: Controller) -> dict[str, Any]:
    """What an instance holds, whatever its class makes of asking for it."""
    found: dict[str, Any] = object.__getattribute__(controller, "__dict__")
    return found


def plotted_by(controller: Controller) -> dict[str, tuple[float, str]]:
    """(number, unit) by name, as they were given last. No method: a user's class may call anything so."""
    return _kept_in(controller, "_plotted")


def changed_gains(controller: Controller) -> dict[str, float]:
    """By name, those that are not what the class says."""
    return _kept_in(controller, "_gains")


def _kept_in(controller: Controller, name: str) -> dict[str, Any]:
    """A dict of an instance, anew where a user's class has put something else there."""
    own = own_dict(controller)
    if not isinstance(own.get(name), dict):
        own[name] = {}
    found: dict[str, Any] = own[name]
    return found


def gain_values(controller: Controller) -> dict[str, float]:
    """Of all its gains, by name."""
    changed = changed_gains(controller)
    return {name: changed.get(name, gain.default) for name, gain in gains_of(type(controller)).items()}


C = TypeVar("C", bound=Controller)


def gains_of(kind: type[Controller]) -> dict[str, Gain]:
    """By name, in the order in which they are declared, a base's first."""
    found: dict[str, Gain] = {}
    for base in reversed(kind.__mro__):
        found |= {name: value for name, value in vars(base).items() if isinstance(value, Gain)}
    return found


def made_controller(kind: type[Controller], gains: Mapping[str, float] = MappingProxyType({})) -> Controller:
    """One of a class, with some gains; whatever its own constructor raises becomes an InputError of one line."""
    try:
        made = ended_after(WORK_S, without_replacing, kind)
    except InputError:
        raise
    except BaseException as error:
        if ends_program(error):
            raise
        raise InputError(f"controller {kind.__name__}: cannot be made: {error_line(error)}") from error
    if not isinstance(made, Controller):
        raise InputError(f"controller {kind.__name__}: its constructor gives {quote(made)}, which is none")
    return with_gains(made, gains) if gains else made


def with_gains(controller: C, gains: Mapping[str, float]) -> C:
    """The same controller with other gains, and nothing of what it has plotted. Raises InputError."""
    kind = type(controller)
    try:
        new = ended_after(WORK_S, without_replacing, copy.copy, controller)
    except BaseException as error:
        if ends_program(error):
            raise
        raise InputError(f"controller {kind.__name__}: cannot be copied: {error_line(error)}") from error
    own_dict(new).update(_gains=dict(changed_gains(controller)), _plotted={})
    for name, value in gains.items():
        _gain(kind, name).__set__(new, value)
    return new


def _gain(kind: type[Controller], name: str) -> Gain:
    known = gains_of(kind)
    if name not in known:
        raise InputError(
            f"controller {kind.__name__}: unknown gain {quote(name)}; allowed: {one_of(known, name)}"
        )
    return known[name]


_MOST_BYTES = 1 << 20


def holds_controller(path: Path) -> bool:
    """Whether a Python file declares a controller, by its text alone: nothing of it is run."""
    with suppress(OSError, ValueError, SyntaxError, RecursionError, MemoryError):
        if path.suffix == ".py" and path.is_file() and path.stat().st_size <= _MOST_BYTES:
            bases = [
                base
                for node in ast.walk(ast.parse(path.read_bytes()))
                if isinstance(node, ast.ClassDef)
                for base in node.bases
            ]
            return any(ast.unparse(base).rpartition(".")[2] == Controller.__name__ for base in bases)
    return False


def load_controller(
    reference: str, folders: Sequence[Path], *, trusted: bool | Path = False
) -> tuple[type[Controller], Path]:
    """(the class that `FILE.py:CLASS` names, its file), looked for in `folders`; without a class the file's only one.

    The file is run, as it is now. trusted: the user's word, as in `sim.scene.load_scene`. Raises InputError in one line
    for a missing file or class and for an error in the file, UntrustedFile where it may not be run.
    """
    file, class_name = file_and_class(reference)
    path = found_file("controller", file, folders)
    require_trust(path, trusted)
    try:
        source = path.read_bytes()
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    if len(source) > _MOST_BYTES:
        raise InputError(f"{path}: {len(source)} bytes are refused; allowed: {_MOST_BYTES}")
    module = run_own("controller", reference, path, source)
    found = {name: kind for name, kind in vars(module).items() if _is_own(kind, module)}
    if not class_name and len(found) == 1:
        (class_name,) = found
    if class_name not in found:
        raise InputError(
            f"controller {reference!r}: {path.name} has no controller {class_name!r}; it has: {list_of(found)}"
        )
    keep_source(found[class_name], source)
    return found[class_name], path


def own_file(kind: type[Controller]) -> Path | None:
    """Where a class of the user's is written; None for the project's, whose files nobody changes while they fly."""
    file = getattr(sys.modules.get(kind.__module__), "__file__", None)
    return None if file is None or kind.__module__.startswith("sim.") else Path(file)


def _is_own(value: object, module: ModuleType) -> bool:
    return isinstance(value, type) and issubclass(value, Controller) and value.__module__ == module.__name__
