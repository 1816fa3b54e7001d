"""Where a vehicle's bodies are at its nodes, and what in a node is a velocity, whatever space it moves in."""

import re
from dataclasses import replace
from functools import lru_cache

import casadi as ca
import numpy as np

from sim.compiler.columns import ColumnKernel
from sim.groups import LieGroup
from sim.multibody.arrays import PRISMATIC, REVOLUTE
from sim.spaces import Space
from sim.vehicle_config import config_of
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.form import TREES, Form
from sim.vehicles.forms.parameters import Quantities

_PLACE = ("x_m", "y_m", "z_m")
_NUMBER = re.compile(r"_\d+$")
"""That equal parts of a space are told apart by."""
_MOVES, _TURNS = "_mps", "_radps"


def structure_of(vehicle: Vehicle) -> Structure:
    """What its equations depend on: of trees of joints the values of their parameters, too, which are numbers there."""
    structure = Structure.of(vehicle)
    if not jointed(vehicle):
        return structure
    return replace(structure, key=(structure.key, vehicle.parameter_vector.tobytes()))


def jointed(vehicle: Vehicle) -> bool:
    """It is a tree of bodies and joints."""
    return vehicle.form in TREES


def own_space(vehicle: Vehicle) -> bool:
    """It moves about a space of its own, and is where its bodies say."""
    return vehicle.form is Form.GROUP_ACTION or jointed(vehicle)


def stands(vehicle: Vehicle) -> bool:
    """It turns about a fixed point: its pose holds no place."""
    return not own_space(vehicle) and not vehicle.group.columns[vehicle.group.position]


def placed_by_bodies(vehicle: Vehicle) -> bool:
    """Where it is, its bodies say, and not its pose alone."""
    return own_space(vehicle) or stands(vehicle)


def planar(vehicle: Vehicle) -> bool:
    """It moves on a plane."""
    return not own_space(vehicle) and vehicle.group.turns == 1


_INSIDE_LIMITS = 1e-4
"""What coordinates of joints keep from their limits [rad or m]: at them the simulation has springs."""


def joint_ranges(vehicle: Vehicle) -> dict[str, tuple[float, float]]:
    """By the names of the coordinates of joints that have limits, what plans are left between these."""
    if not isinstance(vehicle, ArticulatedVehicle):
        return {}
    arrays, names = vehicle.tree.arrays, vehicle.space.columns
    found = {}
    for i in np.flatnonzero((arrays.kind == REVOLUTE) | (arrays.kind == PRISMATIC)):
        low, high = arrays.limits[arrays.v_at[i]]
        if np.isfinite([low, high]).any():
            found[names[arrays.q_at[i]]] = low + _INSIDE_LIMITS, high - _INSIDE_LIMITS
    return found


def turns(vehicle: Vehicle) -> int:
    """Dimensions of its main body's rotations."""
    return 3 if own_space(vehicle) else vehicle.group.turns


def arc_space(vehicle: Vehicle) -> LieGroup | Space:
    """What arcs between its poses are arcs of."""
    if isinstance(vehicle, ArticulatedVehicle):
        return vehicle.coordinates
    return vehicle.space if own_space(vehicle) else vehicle.group


@lru_cache(maxsize=64)
def _names(structure: Structure) -> tuple[str, ...]:
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    names = tuple(vehicle.bodies(node, vehicle.symbols(p)))
    # About a fixed point the body that is followed goes somewhere, its frame there does not.
    return tuple(sorted(names, key=lambda name: stands(vehicle) and name != config_of(vehicle).marker))


def body_names(vehicle: Vehicle) -> tuple[str, ...]:
    """Of all bodies, the main one first."""
    return _names(structure_of(vehicle))


def body_pose(vehicle: Vehicle, node: ca.SX, q: Quantities, name: str = "") -> ca.SX:
    """(4, 4) T_wb of a body, the main one if none is named."""
    if not placed_by_bodies(vehicle):
        return vehicle.group.embedded(node[vehicle.node_layout.pose])
    return vehicle.bodies(node, q)[name or body_names(vehicle)[0]]


@lru_cache(maxsize=64)
def _poses(structure: Structure, names: tuple[str, ...]) -> ColumnKernel:
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    q = vehicle.symbols(p)
    T = ca.vertcat(*(ca.vec(ca.densify(body_pose(vehicle, node, q, name))) for name in names))
    return ColumnKernel(ca.Function("pose", [node, p], [T], {"cse": True}), shared=(1,))


@lru_cache(maxsize=64)
def _of_vehicle(vehicle: Vehicle, names: tuple[str, ...]) -> tuple[ColumnKernel, np.ndarray]:
    """The kernel and the parameters, which both take time to find out."""
    return _poses(structure_of(vehicle), names), vehicle.parameter_vector


def body_poses(vehicle: Vehicle, nodes: np.ndarray, name: str = "") -> np.ndarray:
    """(n, 4, 4) T_wb at nodes (n, node size), or flat poses, of what is placed by its bodies."""
    return poses_of(vehicle, nodes, (name,))[:, 0]


def poses_of(vehicle: Vehicle, nodes: np.ndarray, names: tuple[str, ...]) -> np.ndarray:
    """(n, bodies, 4, 4) the same of several bodies."""
    kernel, numbers = _of_vehicle(vehicle, names)
    given = np.atleast_2d(nodes)
    whole = np.zeros((len(given), vehicle.node_layout.size))
    whole[:, : given.shape[1]] = given
    flat = kernel.rows(whole, numbers)
    return flat.reshape(-1, len(names), 4, 4).transpose(0, 1, 3, 2)


def columns(vehicle: Vehicle) -> tuple[str, ...]:
    """Names of a node's numbers, without the numbers of equal parts: they end in the unit, where there is one."""
    return tuple(_NUMBER.sub("", name) for name in vehicle.space.columns)


def velocities(vehicle: Vehicle) -> tuple[tuple[int, bool], ...]:
    """(index in a node, whether it is angular) of every velocity."""
    if isinstance(vehicle, ArticulatedVehicle):
        return tuple((vehicle.node_layout.velocity.start + i, bool(x)) for i, x in enumerate(vehicle.angular))
    if own_space(vehicle):
        named = enumerate(columns(vehicle))
        return tuple((i, name.endswith(_TURNS)) for i, name in named if name.endswith((_MOVES, _TURNS)))
    at = vehicle.node_layout.velocity
    return tuple((i, i - at.start < vehicle.group.turns) for i in range(at.start, at.stop))


def places(vehicle: Vehicle) -> tuple[np.ndarray, ...]:
    """Indices (3,) of each place in the world that is written in the node of what moves about a space of its own."""
    found, names = [], columns(vehicle)
    for i in range(len(names) - 2):
        stems = {name.removesuffix(end) for name, end in zip(names[i : i + 3], _PLACE, strict=True)}
        if len(stems) == 1 and all(map(str.endswith, names[i : i + 3], _PLACE)):
            found.append(np.arange(i, i + 3))
    return tuple(found)


def rotations(vehicle: Vehicle) -> tuple[int, ...]:
    """Where the nine entries of a rotation begin in a node, for each rotation."""
    if own_space(vehicle):
        return vehicle.space.rotations
    return (0,) if vehicle.group.turns == 3 else ()


def hangs(vehicle: Vehicle) -> bool:
    """It has rods or cables."""
    return own_space(vehicle) and bool(vehicle.space.directions)
