"""What a vehicle lists, checked by name and kind: names end up in generated source, file names and columns."""

import re

from sim.errors import InputError, quote
from sim.vehicles.parameter import Control, Parameter, ShapeCoordinate

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*")
_LONGEST = 60
_ALLOWED = f"letters, digits, - and _ of ASCII, a letter first, {_LONGEST} at most"
_LISTS = {"parameters": Parameter, "controls": Control, "shape_coordinates": ShapeCoordinate}


def is_name(text: object) -> bool:
    """Whether this can be the name of a vehicle, a parameter, a control or a shape coordinate."""
    return isinstance(text, str) and len(text) <= _LONGEST and _NAME.fullmatch(text) is not None


def check_listed(kind: type) -> None:
    """Raises InputError where a vehicle class or something that it lists has no usable name or is of another kind."""
    name = getattr(kind, "name", None)
    if not is_name(name):
        raise InputError(
            f"vehicle class {kind.__name__}: name = {quote(name)} is refused; allowed: {_ALLOWED}"
        )
    for attribute, wanted in _LISTS.items():
        items = getattr(kind, attribute)
        if not isinstance(items, tuple | list) or not all(isinstance(item, wanted) for item in items):
            raise InputError(
                f"vehicle {name!r}: {attribute} = {quote(items)} is refused; allowed: a tuple of {wanted.__name__}"
            )
        taken = set()
        for item in items:
            if not is_name(item.name) or item.name in taken:
                raise InputError(
                    f"vehicle {name!r}: {attribute}: name {quote(item.name)} is refused; allowed, once each: {_ALLOWED}"
                )
            taken.add(item.name)
