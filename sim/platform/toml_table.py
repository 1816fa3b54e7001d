"""TOML files, read strictly and within bounds: short ones could keep a parser busy for hours, or lead it too deep."""

import math
import re
import tomllib
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from sim.platform.errors import InputError, one_of, quote, shortened
from sim.platform.user_files import DEEPEST, read_text, refusals

T = TypeVar("T")

MOST_WORD = 120
"""Characters of a number, a date or a key without quotes."""
MOST_PARTS = 32
"""Of a key, `a.b.c`."""
_TOKEN = re.compile(
    r'"""(?:[^"\\]|\\.|"(?!""))*+"""'
    r"|'''(?:[^']|'(?!''))*+'''"
    r'|"(?:[^"\\\n]|\\.)*+"'
    r"|'[^'\n]*+'"
    r"|#[^\n]*+"
    r"|(?P<open>[\[{])|(?P<close>[\]}])|(?P<end>[=,\n])|(?P<dot>\.)"
    r"|(?P<word>[^\s\"'#\[\]{}=,.]++)",
    re.DOTALL,
)


def check_bounds(text: str) -> None:
    """Raises InputError with the line for nesting, keys or numbers that no reasonable text has."""
    depth = parts = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "open":
            depth += 1
        elif kind == "close":
            depth -= 1
        if kind in ("open", "close", "end"):
            parts = 0
        elif kind == "dot":
            parts += 1
        if depth > DEEPEST:
            _refuse(text, token, f"brackets within brackets; allowed: {DEEPEST} deep")
        if parts >= MOST_PARTS:
            _refuse(text, token, f"a key of many parts; allowed: {MOST_PARTS}")
        if kind == "word" and token.end() - token.start() > MOST_WORD:
            _refuse(text, token, f"a number or a key that is very long; allowed: {MOST_WORD} characters")


def _refuse(text: str, token: re.Match[str], what: str) -> None:
    raise InputError(f"line {text.count(chr(10), 0, token.start()) + 1}: {what}")


_HEADER = re.compile(r"^\s*\[(\[?)\s*([^\[\]]+?)\s*\]?\]")
_INDEX = re.compile(r"\[(\d+)\]")


def line_of(text: str, key: str) -> int | None:
    """Line, from 1, of a full key such as `model.parts[2].moves[0].turn`; that of its table where it cannot be told.

    None where neither is there. Inline tables over several lines are looked through for the last name.
    """
    wanted = [part for part in _INDEX.sub("", key).split(".") if part]
    if not wanted:
        return None
    best, best_depth = None, 0
    here: list[str] = []
    counts: dict[str, int] = {}
    matches = True
    for number, line in enumerate(text.splitlines(), start=1):
        header = _HEADER.match(line)
        if header:
            here = [part.strip().strip("\"'") for part in header[2].split(".")]
            path = ".".join(here)
            if header[1]:
                counts[path] = counts.get(path, -1) + 1
            matches = here == wanted[: len(here)] and _indices_fit(key, here, counts)
            if matches and len(here) > best_depth:
                best, best_depth = number, len(here)
            if matches and here == wanted:
                return number
            continue
        if not matches:
            continue
        rest = wanted[len(here) :]
        for depth, name in enumerate(rest, start=len(here) + 1):
            told = re.search(rf"(?:^|[\s{{,])[\"']?{re.escape(name)}[\"']?\s*=", line)
            if told and depth > best_depth:
                best, best_depth = number, depth
    return best


def _indices_fit(key: str, here: list[str], counts: dict[str, int]) -> bool:
    """Whether the tables of lists that we are in are those that the key counts."""
    parts = key.split(".")[: len(here)]
    for k, part in enumerate(parts):
        index = _INDEX.search(part)
        if index and counts.get(".".join(here[: k + 1]), 0) != int(index[1]):
            return False
    return True


_LONGEST_TEXT = 4000


class TomlTable:
    """A TOML table whose keys are taken one by one; what is left over at `finish` is refused."""

    def __init__(self, source: str, values: dict[str, Any], prefix: str = "", written: str = "") -> None:
        """`written`: the whole file, where refusals are to tell the line."""
        self.source, self._written = source, written
        self._values = dict(values)
        self._prefix = prefix
        self._known: list[str] = []

    @classmethod
    def read(cls, path: Path, source: str, *, lines: bool = False) -> "TomlTable":
        """Parse a file; raises InputError when it is missing, unreadable, out of bounds or not TOML.

        lines: refusals of its keys tell the line as well.
        """
        with refusals(source, "not valid TOML"):
            text = read_text(path)
            check_bounds(text)
            return cls(source, tomllib.loads(text), written=text if lines else "")

    def error(self, key: str, complaint: str) -> InputError:
        """The one-line refusal of a key of this table."""
        return InputError(f"{self.place(key)}: {complaint}")

    def place(self, key: str) -> str:
        """File, line where that is told, and full name of a key."""
        line = line_of(self._written, self._prefix + key) if self._written else None
        where = f", line {line}" if line else ""
        return f"{shortened(self.source, 120)}{where}: {shortened(self._prefix + key, 120)}"

    def _take(self, key: str) -> Any:
        self._known.append(key)
        return self._values.pop(key, None)

    def has(self, key: str) -> bool:
        self._known.append(key)
        return key in self._values

    def names(self) -> tuple[str, ...]:
        return tuple(self._values)

    def text(self, key: str, default: str = "") -> str:
        value = self._take(key)
        if value is None:
            return default
        if not isinstance(value, str):
            raise self.error(key, f"{quote(value)} is not a text; allowed: a text in quotes")
        if len(value) > _LONGEST_TEXT:
            raise self.error(key, f"{quote(value)} is too long; allowed: {_LONGEST_TEXT} characters")
        return value

    def name(self, key: str, allowed: Iterable[str], default: str) -> str:
        """One of the `allowed` names."""
        value = self.text(key, default)
        names = tuple(allowed)
        if value not in names:
            raise self.error(key, f'unknown "{value}"; allowed: {one_of(names, value)}')
        return value

    def flag(self, key: str, default: bool) -> bool:
        value = self._take(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise self.error(key, f"{quote(value)} is not a flag; allowed: true, false")
        return value

    def integer(self, key: str, default: int, *, low: int, high: int) -> int:
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.error(key, f"{quote(value)} is refused; allowed: a whole number from {low} to {high}")
        return value

    def number(self, key: str, default: float, *, low: float, high: float) -> float:
        """A finite number in [low, high]."""
        value = self._take(key)
        if value is None:
            return default
        if not _is_finite_number(value) or not low <= value <= high:
            raise self.error(key, f"{quote(value)} is refused; allowed: a number from {low:g} to {high:g}")
        return float(value)

    def numbers(
        self, key: str, default: tuple[float, ...], *, low: float, high: float, count: int | None = None
    ) -> tuple[float, ...]:
        """A list of `count` (None: any number of) finite numbers, each in [low, high]."""
        value = self._take(key)
        if value is None:
            return default
        fits = isinstance(value, list) and (count is None or len(value) == count)
        if not fits or not all(_is_finite_number(item) and low <= item <= high for item in value):
            length = "" if count is None else f"{count} "
            raise self.error(
                key, f"{quote(value)} is refused; allowed: {length}numbers from {low:g} to {high:g}"
            )
        return tuple(float(item) for item in value)

    def value(self, key: str) -> float | tuple[float, ...]:
        """A finite number or a list of them, whose range the caller checks."""
        value = self._take(key)
        if _is_finite_number(value):
            return float(value)
        if isinstance(value, list) and value and all(_is_finite_number(item) for item in value):
            return tuple(float(item) for item in value)
        raise self.error(
            key, f"{quote(value)} is refused; allowed: a finite number or a list of finite numbers"
        )

    def raw(self, key: str) -> Any:
        """What stands there, whose form the caller checks; None where nothing does."""
        return self._take(key)

    def inner(self, key: str, values: dict[str, Any]) -> "TomlTable":
        """A table that stands within the value of a key."""
        return TomlTable(self.source, values, f"{self._prefix}{key}.", self._written)

    def with_values(self, values: dict[str, Any]) -> "TomlTable":
        """Other values, as if they stood in this table."""
        return TomlTable(self.source, values, self._prefix, self._written)

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; an absent one is empty."""
        value = self._take(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.error(key, f"{quote(value)} is refused; allowed: a list of texts in quotes")
        return tuple(value)

    def again(self) -> "TomlTable":
        """The same table with what is left of it, to be read without touching this one."""
        return TomlTable(self.source, self._values, self._prefix, self._written)

    def table(self, key: str) -> "TomlTable":
        """A sub-table; an absent one is empty."""
        value = self._take(key)
        if value is not None and not isinstance(value, dict):
            raise self.error(key, f"{quote(value)} is not a table; allowed: [{self._prefix}{key}]")
        return TomlTable(self.source, value or {}, f"{self._prefix}{key}.", self._written)

    def optional(self, key: str, read: "Callable[[TomlTable], T]") -> "T | None":
        """What `read` makes of a sub-table, of which it has to take every key; None where there is none."""
        if not self.has(key):
            return None
        inner = self.table(key)
        found = read(inner)
        inner.finish()
        return found

    def tables(self, key: str) -> tuple["TomlTable", ...]:
        """An array of tables; an absent one is empty."""
        value = self._take(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.error(key, f"is not a list of tables; allowed: [[{self._prefix}{key}]]")
        return tuple(
            TomlTable(self.source, item, f"{self._prefix}{key}[{index}].", self._written)
            for index, item in enumerate(value)
        )

    def finish(self) -> None:
        """Refuse the keys that nobody took."""
        for key in self._values:
            raise self.error(key, f"unknown key; allowed: {one_of(dict.fromkeys(self._known), key)}")


def _is_finite_number(value: object) -> bool:
    """One that is finite as a float, which integers may be too large for."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        return False
