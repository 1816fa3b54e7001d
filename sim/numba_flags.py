"""Numba's flags, compared by what is set of them.

Numba looks up what it has compiled by its flags, tens of thousands of times a kernel, and tells two sets of them apart
by reading all options of both through properties: a tenth of all that compiling takes. Here those that have been set
alike are alike, and only others are read.
"""

from typing import Any

from numba.core.targetconfig import TargetConfig


def compare_by_what_is_set() -> None:
    """For the rest of the process; what is equal stays so."""
    kind: Any = TargetConfig
    kind.__eq__, kind.__hash__ = _equal, _hash


def _equal(self: Any, other: object) -> bool:
    if not isinstance(other, TargetConfig):
        return NotImplemented
    if type(self) is type(other) and self._values == other._values:
        return True
    return bool(self.values() == other.values())


def _hash(self: Any) -> int:
    """Numba's is of the options' names, too, which all of a class share."""
    return hash(len(self.options))
