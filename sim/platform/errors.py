"""The one exception that users' mistakes raise, and how it quotes what was given."""

import difflib
import reprlib
from collections.abc import Iterable
from pathlib import Path

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
    """A scene names a vehicle's file that is run only with the user's word. Nothing of it has been run."""

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
    likeness = difflib.SequenceMatcher(b=(given if isinstance(given, str) else quote(given))[:_QUOTE])

    def unlike(name: str) -> float:
        likeness.set_seq1(name)
        return -likeness.ratio()

    near = sorted(known, key=unlike)  # equally unlike ones stay in their order
    some = [name for k, name in enumerate(near) if len(", ".join(near[: k + 1])) <= _NAMES_CHARACTERS]
    return f"{', '.join(some)}, ... ({len(known)} in all)"
