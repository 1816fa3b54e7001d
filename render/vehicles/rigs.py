"""How the parts of each model move, as its config says: from named values and time to node poses."""

import math
from collections.abc import Mapping
from dataclasses import field, replace
from functools import lru_cache

import numpy as np

from render.frame import DrawnVehicle
from sim.multibody.shapes import STAND
from sim.platform.values import dataclass
from sim.vehicle_config import Rotor, config_named, named_values
from sim.vehicle_config.model import Rider, moved, turn
from sim.vehicles import VEHICLES
from sim.world import World

_NOTHING = np.zeros(0)


@dataclass(frozen=True, slots=True)
class Disc:
    """A rotor that turns too fast to be seen as blades."""

    T_bd: np.ndarray
    """(4, 4) disc frame (axis z, azimuth from x) in the body frame."""
    rotor: Rotor
    spin_rad: float


@dataclass(frozen=True, slots=True)
class RigPose:
    """What moves and what is hidden, for one picture."""

    nodes: dict[str, np.ndarray] = field(default_factory=dict)
    """Node name -> (4, 4) turn about its own pivot; others rest."""
    placed: dict[str, np.ndarray] = field(default_factory=dict)
    """Node name -> (4, 4) world pose of its pivot, of nodes that go with a body of their own."""
    hidden: frozenset[str] = frozenset()
    discs: tuple[Disc, ...] = ()


@lru_cache(maxsize=64)
def rig_pose(vehicle: DrawnVehicle) -> RigPose:
    """The parts of one vehicle in one picture; every pass over it asks for the same."""
    model = vehicle.config.model
    if not model.parts and not model.rotors:
        return RigPose()
    values = values_of(vehicle)
    turning = vehicle.time_s is not None and not vehicle.wreck
    now = {"wreck": vehicle.wreck, "ghost": vehicle.ghost, "turning": turning}
    time_s = vehicle.time_s if turning else None
    nodes: dict[str, np.ndarray] = {}
    placed: dict[str, np.ndarray] = {}
    hidden: set[str] = set()
    for part in model.parts:
        shown = part.shown_by is None or part.shown_by.value(values, time_s) > 0.0
        stands = vehicle.ghost and part.body == STAND  # where the solid one's does
        if stands or not shown or any(now[condition] for condition in part.hidden):
            hidden.update(part.nodes)
        elif part.body in vehicle.bodies:
            matrix = vehicle.bodies[part.body] @ moved(
                part.moves, values, time_s, vehicle.T_wb, vehicle.wreck
            )
            placed.update(dict.fromkeys(part.nodes, matrix))
        elif part.moves:
            matrix = moved(part.moves, values, time_s, vehicle.T_wb, vehicle.wreck)
            nodes.update(dict.fromkeys(part.nodes, matrix))
    discs: tuple[Disc, ...] = ()
    if time_s is not None:
        discs = tuple(
            Disc(
                moved(rotor.moves, values, time_s, vehicle.T_wb, vehicle.wreck),
                rotor,
                (rotor.spin_radps * time_s) % math.tau,
            )
            for rotor in model.rotors
        )
    return RigPose(nodes, placed, frozenset(hidden), discs)


@lru_cache(maxsize=64)
def dressed_bodies(vehicle: DrawnVehicle) -> tuple[DrawnVehicle, ...]:
    """Those of its bodies that look like vehicles of their own, as such."""
    return tuple(
        replace(
            vehicle,
            model=look.name,
            config=look,
            T_wb=T_wb,
            controls=vehicle.controls if flown_alike(vehicle.model, look.name) else _NOTHING,
            parameters={},
            observables={},
            bodies={},
            pieces=vehicle.pieces if name == next(iter(vehicle.bodies)) else {},
            links=(),
        )
        for name, T_wb in vehicle.bodies.items()
        if (look := vehicle.config.look_of(name)) is not None
    )


def thrown_off(vehicle: DrawnVehicle, rider: Rider, bodies: Mapping[str, np.ndarray]) -> DrawnVehicle:
    """Who was on a vehicle, in their clothes, with these poses (4, 4) of their limbs."""
    return replace(
        vehicle,
        model=rider.limbs.name,
        config=config_named(rider.limbs.name),
        T_wb=next(iter(bodies.values())),
        controls=_NOTHING,
        shape=_NOTHING,
        parameters={},
        observables={},
        bodies=bodies,
        links=(),
        clothes=rider.clothes,
        wreck=False,
    )


def flown_alike(model: str, look: str) -> bool:
    """Whether both have the same controls, so that what moves by them does so on either."""
    return model in VEHICLES and VEHICLES[model].controls == VEHICLES[look].controls


def values_of(vehicle: DrawnVehicle) -> dict[str, float]:
    """What the terms of its config may name; 0 for what is missing or not finite."""
    return named_values(
        VEHICLES.get(vehicle.model),
        controls=vehicle.controls,
        shape=vehicle.shape,
        parameters=vehicle.parameters,
        observables=vehicle.observables,
        finite=True,
    )


def parked_vehicles(world: World) -> tuple[DrawnVehicle, ...]:
    """All that stand or lie on the world's grounds."""
    grounds = getattr(world, "grounds", None)
    vehicles = []
    for parked in grounds.parked if grounds is not None else ():
        T_wb = turn("z", parked.heading_rad)
        T_wb[:3, 3] = parked.position_w
        vehicles.append(
            DrawnVehicle(
                model=parked.model,
                config=config_named(parked.model),
                T_wb=T_wb,
                controls=np.zeros(0),
                shape=np.zeros(0),
                tint=parked.paint or (1.0, 1.0, 1.0),
            )
        )
    return tuple(vehicles)
