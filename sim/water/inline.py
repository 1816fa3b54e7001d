"""Water as vehicles' generated kernels take it."""

from functools import cache
from typing import Any

from sim.compiler.inline import Inline
from sim.contact.ground import GROUND
from sim.vehicle_config.hull import Hull
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Support
from sim.water.ocean.sea import Sea
from sim.water.ocean.waves import LEAST_POINTS
from sim.water.water import Water
from sim.water.weather import Weather


def _floats(vehicle: Vehicle) -> bool:
    return vehicle.support is Support.WATER


def _type(rank: int, kind: str = "float64") -> str:
    return f"{kind}[{', '.join([':'] * (rank - 1) + ['::1'])}]"


def _tuple(*types: str) -> str:
    return f"Tuple(({', '.join(types)}))"


_HULL = _tuple(_type(2), _type(2, "int64"), _type(2))
_SEA = _tuple(
    _type(1, "int64"), _type(2, "int32"), _type(2), _type(2, "complex128"), _type(1), _type(1, "complex64")
)
_KEPT = _tuple(
    _type(2, "complex64"),
    _type(1),
    _type(4, "float32"),
    _type(2),
    _type(2),
    _type(5, "float32"),
    _type(4),
    _type(1, "int64"),
    _type(3),
)
_STREAM = _tuple(_type(3), _type(1))


@cache
def _nothing() -> tuple[Any, ...]:
    """`env` of a hull that feels nothing; made when it is wanted: its compiled functions cost ten seconds at first."""
    hull = Hull.box(1.0, 1.0, 1.0)
    env = Water.of(hull, Weather(Sea(0.0)), drag=0.0, mass=1.0, points=LEAST_POINTS).env
    return (False, *env[1:])


WATER = Inline(
    module="sim.water.feel",
    type=_tuple(
        "boolean",
        _HULL,
        _type(1),
        _type(1),
        _type(1),
        _SEA,
        _KEPT,
        _type(1),
        _type(1),
        _STREAM,
        GROUND.type,
        _type(1),
    ),
    wrench="feel_water",
    refuses="refuse_aground",
    undo="forget_step",
    serves=_floats,
    nothing=_nothing,
    smooth=True,
)
