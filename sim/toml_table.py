"""Reading one table of a TOML file strictly: every refusal is one line with file, key and what is allowed."""

import math
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from sim.errors import InputError, one_of, quote, shortened
from sim.toml_bounds import check_bounds
from sim.toml_lines import line_of
from sim.user_files import read_text, refusals

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

    def beside(self, values: dict[str, Any]) -> "TomlTable":
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
