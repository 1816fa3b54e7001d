"""What a vehicle lists, checked by name and kind: names end up in generated source, file names and columns."""

import math
import re
from collections.abc import Iterable
from itertools import count

import numpy as np

from sim.groups import LieGroup
from sim.platform.errors import InputError, quote
from sim.vehicles.form import Form
from sim.vehicles.parameter import Control, Parameter, ShapeCoordinate

_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(-[A-Za-z0-9_]+)*")
_LONGEST = 60
_ALLOWED = f"letters, digits, - and _ of ASCII, a letter first, {_LONGEST} at most"
_ON_A_GROUP = (Form.EULER_POINCARE, Form.REDUCED_DALEMBERT)
_LISTS = {"parameters": Parameter, "controls": Control, "shape_coordinates": ShapeCoordinate}


def is_name(text: object) -> bool:
    """Whether this can be the name of a vehicle, a parameter, a control or a shape coordinate."""
    return isinstance(text, str) and len(text) <= _LONGEST and _NAME.fullmatch(text) is not None


def usable(names: Iterable[str]) -> list[str]:
    """Names that can be used, as near as may be to those of a file, which may be any; all different."""
    taken: dict[str, None] = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[: _LONGEST - 5]
        plain = plain if plain[:1].isalpha() else f"n{plain}"
        candidates = (plain if k == 1 else f"{plain}_{k}" for k in count(1))
        taken[next(candidate for candidate in candidates if candidate not in taken)] = None
    return [*taken]


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
            fault = _fault(item)
            if fault:
                raise InputError(f"vehicle {name!r}: {attribute}: {item.name}: {fault}")
    structural = [q.name for q in kind.parameters if q.structural]  # type: ignore[attr-defined]
    for control in kind.controls:  # type: ignore[attr-defined]
        if control.only is not None and control.only[0] not in structural:
            raise InputError(
                f"vehicle {name!r}: controls: {control.name}: only = {quote(control.only)} is refused; allowed: "
                f"(structural parameter, its value), of {', '.join(structural) or 'which it has none'}"
            )
    group = getattr(kind, "group", None)
    if getattr(kind, "form", None) in _ON_A_GROUP and not isinstance(group, LieGroup):
        raise InputError(
            f"vehicle {name!r}: group = {group!r} is refused; allowed: SE3, SE2, SO3 of sim.groups"
        )


def _fault(item: Parameter | Control | ShapeCoordinate) -> str:
    """What is wrong with its numbers."""
    try:
        low, high = float(item.low), float(item.high)
        at = {Parameter: "default", Control: "neutral"}.get(type(item))
        values = np.atleast_1d(np.asarray(getattr(item, at), float)) if at else np.zeros(0)
    except (TypeError, ValueError):
        return "a default, neutral, low or high that is not a number"
    if math.isnan(low) or math.isnan(high):
        return f"low = {low:g}, high = {high:g}; allowed: numbers"
    if low > high:
        return f"low = {low:g} is above high = {high:g}"
    if at and (values.ndim != 1 or not values.size):
        return f"{at} has to be a number or a tuple of numbers"
    if at and not ((values >= low) & (values <= high)).all():
        return (
            f"{at} = {getattr(item, at)!r} is out of range; allowed: {low:g} to {high:g} {item.unit}".rstrip()
        )
    return ""
