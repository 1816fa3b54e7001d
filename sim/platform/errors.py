"""The one exception that users' mistakes raise, how it quotes what was given, and the checks of a script's numbers."""

import difflib
import inspect
import math
import reprlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import SupportsIndex

import numpy as np

MOST_CHARACTERS = 300
_TAIL = 100
_NAMES_CHARACTERS = 160
_QUOTE = 60


class InputError(ValueError):
    """Bad user input. The message is one clear line: what was given, what is allowed.

    What would not print is escaped, and the middle of what is longer than MOST_CHARACTERS is left out.
    """

    def __init__(self, message: str) -> None:
        super().__init__(shortened(message))


class UntrustedFile(InputError):
    """A file of a vehicle or a controller is run only with the user's word. Nothing of it has been run."""

    def __init__(self, message: str, file: Path) -> None:
        """`file`: links followed."""
        super().__init__(message)
        self.file = file


def shortened(text: str, most: int = MOST_CHARACTERS) -> str:
    """One printable line of at most so many characters: its beginning and its end."""
    if len(text) > most:
        tail = min(_TAIL, most // 3)
        text = f"{text[: most - tail - 5]} ... {text[-tail:]}"
    if not text.isprintable():
        escaped = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
        text = shortened("".join(escaped), most)
    return text


class _Quotes(reprlib.Repr):
    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = self.maxlong = _QUOTE
        self.maxlist = self.maxtuple = self.maxdict = 4
        self.maxlevel = 3

    def repr_int(self, x: int, level: int) -> str:
        return "a number of hundreds of digits" if x.bit_length() > 330 else repr(x)


_QUOTES = _Quotes()


def quote(value: object) -> str:
    """What was given, as it is written in Python, in few characters however large it is."""
    if type(value) is str and len(value) < _QUOTE // 2:
        return repr(value)  # as below, sooner: whatever is checked has its name quoted
    return _QUOTES.repr(value)


def one_of(names: Iterable[str], given: object = "") -> str:
    """Names for the end of a message: `a, b, c`; of many only the ones most like what was given."""
    known = tuple(names)
    if len(", ".join(known)) <= _NAMES_CHARACTERS:
        return ", ".join(known) or "nothing"
    told = given if isinstance(given, str) else quote(given)
    likeness = difflib.SequenceMatcher(b=told[:_QUOTE].casefold())

    def unlike(name: str) -> float:
        likeness.set_seq1(name.casefold())
        return -likeness.ratio()

    near = sorted(known, key=unlike)  # equally unlike ones stay in their order
    some = [name for k, name in enumerate(near) if len(", ".join(near[: k + 1])) <= _NAMES_CHARACTERS]
    return f"{', '.join(some)}, ... ({len(known)} in all)"


def numeric(value: object) -> np.ndarray:
    """Of real numbers; raises TypeError, ValueError or OverflowError for text, complex numbers and what is masked."""
    if type(value) is float:
        return np.asarray(value)
    array = np.asarray(value)
    # Where it is not loaded, or another thread is at it, nothing is masked; to load it takes a start's time.
    is_masked = getattr(sys.modules.get("numpy.ma"), "is_masked", None)
    if array.dtype.kind in "USc" or (is_masked is not None and is_masked(value)):
        raise TypeError(f"{array.dtype} is no real number")
    return np.asarray(array, float)


def numbers(what: str, value: object) -> np.ndarray:
    """Finite real ones, of any shape. Raises InputError that begins with `what`."""
    try:
        array = np.ascontiguousarray(numeric(value)) if np.ndim(value) else numeric(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} = {quote(value)} are not numeric; allowed: an array of numbers") from None
    if not np.isfinite(array).all():
        raise InputError(f"{what} have entries that are not finite; allowed: finite numbers")
    return array


def array_of(what: str, value: object, shape: tuple[int, ...]) -> np.ndarray:
    """Finite ones of that shape. Raises InputError that begins with `what`."""
    try:
        array = numeric(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} = {quote(value)} is not numeric") from None
    if array.shape != shape:
        raise InputError(f"{what} has shape {array.shape}, wanted {shape}")
    if not np.isfinite(array).all():
        raise InputError(f"{what} has entries that are not finite")
    return array


def number(what: str, value: object, *, low: float = -math.inf, above: float = -math.inf) -> float:
    """A finite one, not under `low` and above `above`. Raises InputError that begins with `what`."""
    try:
        x = float(numeric(value)) if np.ndim(value) == 0 else math.nan  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        x = math.nan
    if not (math.isfinite(x) and x >= low and x > above):
        bounds = (
            f"from {low:g}" if low > -math.inf else f"above {above:g}" if above > -math.inf else "a number"
        )
        raise InputError(f"{what} = {quote(value)} is refused; allowed: {bounds}")
    return x


def check_arguments(what: str, function: Callable[..., object], names: tuple[str, ...]) -> None:
    """Raises InputError that begins with `what` where a function cannot be called with that many arguments by place."""
    try:
        inspect.signature(function).bind(*names)
    except TypeError as error:
        raise InputError(f"{what}: {error}; allowed: a function of {', '.join(names)}") from None
    except ValueError:
        return  # what is written in C may not tell


def whole(what: str, value: object, unit: str, *, low: int = 1) -> int:
    """A whole number, not under `low`. Raises InputError that begins with `what`."""
    if isinstance(value, SupportsIndex) and not isinstance(value, bool | np.bool) and np.ndim(value) == 0:  # type: ignore[arg-type]
        try:
            count = value.__index__()
        except TypeError:
            count = low - 1
        if low <= count < 2**63:
            return count
    raise InputError(f"{what} = {quote(value)} is refused; allowed: {low} or more {unit}")
