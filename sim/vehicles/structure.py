"""What of a vehicle its equations depend on: caches of compiled things are keyed by it."""

import pickle
from collections.abc import Hashable
from dataclasses import dataclass, field

from sim.vehicles.base import Vehicle


@dataclass(frozen=True, slots=True)
class Structure:
    """Vehicles with equal structures have the same equations, in which the parameters' values are arguments."""

    key: Hashable
    vehicle: Vehicle = field(compare=False, repr=False)
    """One of them."""

    @staticmethod
    def of(vehicle: Vehicle) -> "Structure":
        """Class, optional parameters that are off, structural ones, and what a class of one's own keeps beside them."""
        own = {k: v for k, v in vars(vehicle).items() if k not in _NOT_STRUCTURE}
        key = type(vehicle), vehicle.absent, vehicle.structural, _content(vehicle, own)
        return Structure(key, vehicle)


def _content(vehicle: Vehicle, own: dict[str, object]) -> Hashable:
    """Arrays and lists by what is in them; where that cannot be told, a vehicle is like no other."""
    try:
        return pickle.dumps(own) if own else b""
    except Exception:
        return id(vehicle)


_NOT_STRUCTURE = ("values", "parameters", "node_layout", "space", "action", "tree", "links", "angular")
