"""What a vehicle's methods declare, as expressions of the wanted shape: each mistake is one line.

Says which vehicle, which method, where in the user's file, and what was expected.
"""

import sys
import traceback
from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from sim.platform.errors import InputError
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.form import Observable
from sim.vehicles.forms.parameters import Quantities

Shape = tuple[int | None, int | None]
"""Rows and columns; None is any number."""

_SIM = Path(__file__).resolve().parents[2]
_HINT = {
    "list": "; join numbers by ca.vertcat(...)",
    "tuple": "; join numbers by ca.vertcat(...)",
    "NoneType": "; is there a return?",
}


def refused(vehicle: Vehicle, text: str) -> InputError:
    """An error that begins with the vehicle."""
    return InputError(f"vehicle {vehicle.name!r}: {text}")


def direction(vehicle: Vehicle, index: int) -> str:
    """Name of a component of the body velocity."""
    names = vehicle.group.directions
    return names[index] if names else f"xi[{index}]"


def piece(vehicle: Vehicle, method: str, arguments: Mapping[str, ca.SX | Quantities], shape: Shape) -> ca.SX:
    """What a method declares for symbolic arguments, by name in order, as SX.

    Raises InputError where it fails, is of another shape, or depends on a symbol that it was not given.
    """
    value = called(vehicle, method, lambda: getattr(vehicle, method)(*arguments.values()))
    try:
        if value is None or isinstance(value, str | list | tuple):
            raise TypeError
        value = ca.SX(value)
    except (TypeError, NotImplementedError):  # CasADi's, of what it cannot take
        kind = type(value).__name__
        what = "None" if value is None else f"a {kind}"
        raise refused(
            vehicle, f"{method} returns {what}, wanted a CasADi expression{_HINT.get(kind, '')}"
        ) from None
    wanted = tuple(actual if w is None else w for w, actual in zip(shape, value.shape, strict=True))
    if value.shape != wanted:
        text = " x ".join("n" if n is None else str(n) for n in shape)
        raise refused(
            vehicle,
            f"{method} is {value.shape[0]} x {value.shape[1]}, wanted {text}{_other_group(vehicle, value)}",
        )
    given = [s for a in arguments.values() for s in (vars(a).values() if isinstance(a, Quantities) else [a])]
    known = {x.element_hash() for s in given for x in ca.symvar(ca.SX(s))}
    foreign = [x.name() for x in ca.symvar(value) if x.element_hash() not in known]
    if foreign:
        takes = ", ".join(arguments)
        raise refused(
            vehicle, f"{method} depends on {foreign[0]!r}, which is none of its arguments ({takes})"
        )
    return value


def called(vehicle: Vehicle, what: str, call: Callable[[], Any]) -> Any:
    """Its result; what goes wrong in a user's method is told with the file and the line."""
    try:
        return call()
    except InputError:
        raise
    except Exception as error:
        said = str(error).strip().splitlines() or [""]
        text = (
            f"{what} cannot be evaluated{_place(vehicle, error)}: {type(error).__name__}: {said[-1].strip()}"
        )
        raise refused(vehicle, text) from error


def _place(vehicle: Vehicle, error: Exception) -> str:
    """The innermost line that the vehicle's author wrote."""
    home = getattr(sys.modules.get(type(vehicle).__module__), "__file__", None)
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if f.filename == home or not _is_library(Path(f.filename))]
    return f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""


def _is_library(file: Path) -> bool:
    return _SIM in file.parents or "site-packages" in file.parts or not file.is_file()


def _other_group(vehicle: Vehicle, value: ca.SX) -> str:
    """What the group has to do with a size that is wrong."""
    if value.shape[0] == vehicle.group.dim or value.shape[0] not in (3, 6):
        return ""
    other = "SE3" if value.shape[0] == 6 else "SE2, or SO3 about a fixed point"
    return f"; the group is {vehicle.group.name}, {value.shape[0]} rows belong to {other}"


def evaluated(f: ca.Function, *arguments: np.ndarray) -> list[np.ndarray]:
    """Results of a function whose outputs are dense, arguments flat in columns; a tenth of what calling it costs."""
    buffer, evaluate = f.buffer()
    held = [np.ascontiguousarray(a, float) for a in arguments]
    out = [np.empty(f.size_out(i)[::-1]) for i in range(f.n_out())]
    for i, a in enumerate(held):
        if a.size:
            buffer.set_arg(i, a.data)  # type: ignore[call-arg] # its stub wants a size, it takes none
    for i, x in enumerate(out):
        if x.size:
            buffer.set_res(i, x.data)  # type: ignore[call-arg]
    evaluate()
    return [x.T for x in out]


@lru_cache(maxsize=128)
def check_shown(structure: Structure) -> None:
    """Raises InputError where the bodies and observables of a vehicle are not of the wanted kind."""
    vehicle = structure.vehicle
    node, u = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("u", len(vehicle.controls))
    q = vehicle.symbols(ca.SX.sym("p", vehicle.parameter_count))
    bodies = called(vehicle, "bodies", lambda: vehicle.bodies(node, q))
    if not isinstance(bodies, Mapping) or not bodies:
        raise refused(vehicle, f"bodies returns a {type(bodies).__name__}, wanted a dict of name: T_wb")
    for name, T_wb in bodies.items():
        shape = getattr(T_wb, "shape", ())
        if shape != (4, 4):
            raise refused(vehicle, f"bodies: {name!r} has shape {shape}, wanted a matrix T_wb (4, 4)")
    told = called(vehicle, "observables", lambda: vehicle.observables(node, u, q))
    if not isinstance(told, tuple) or not all(isinstance(x, Observable) for x in told):
        raise refused(vehicle, f"observables returns a {type(told).__name__}, wanted a tuple of Observable")


def check_finite(vehicle: Vehicle, what: str, where: str, *arrays: np.ndarray) -> None:
    """Raises InputError for nan and infinity."""
    for array in arrays:
        if not np.isfinite(array).all():
            row = int(np.argwhere(~np.isfinite(np.atleast_1d(array)))[0][0]) + 1
            raise refused(vehicle, f"{what} is not finite {where} (row {row})")
