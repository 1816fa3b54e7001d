"""Coordinates of a vehicle that can be set one by one: its joints', and its shape coordinates.

A ball joint and the attitude of a free body have three each, the rotation vector in radians. What closes loops is
brought to where they are closed, while the coordinates that were set stay as they are, as far as the loops let them.
"""

import math
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from sim.groups.numeric import quaternion_of, rotation_exp, rotation_log
from sim.multibody.arrays import BALL, FREE, PRISMATIC
from sim.multibody.kinematics import move
from sim.multibody.loops import Closure
from sim.multibody.spatial import quaternion_matrix
from sim.platform.errors import InputError, one_of, quote
from sim.platform.values import dataclass
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Vehicle

CLOSED_M = 1e-9
"""Gap of loops that counts as none."""
_WAY = 0.05
"""Of coordinates, at a time, while loops are closed after each [rad or m]."""
_CORRECTIONS = 12
_AXES = "xyz"


@dataclass(frozen=True, slots=True)
class Coordinate:
    """One number of a configuration."""

    name: str
    unit: str
    """rad, m, or 1."""
    low: float
    high: float
    """Limits; infinite where there are none."""
    at: int
    """Where the node has it; of a rotation vector, where the node's quaternion begins."""
    rate_at: int
    """Where the node has its velocity."""
    axis: int = -1
    """Of a rotation vector: which component."""
    joint: str = ""
    """Name of the joint that it belongs to; empty: the vehicle's shape."""

    @property
    def limited(self) -> bool:
        """Whether it has a limit on either side."""
        return math.isfinite(self.low) and math.isfinite(self.high)


@lru_cache(maxsize=64)
def coordinates_of(vehicle: Vehicle) -> tuple[Coordinate, ...]:
    """In the order of the node; none where nothing of it moves against itself."""
    if isinstance(vehicle, ArticulatedVehicle):
        return tuple(_of_tree(vehicle))
    at = vehicle.node_layout
    return tuple(
        Coordinate(c.name, c.unit, c.low, c.high, at.shape.start + k, at.shape_velocity.start + k)
        for k, c in enumerate(vehicle.shape_coordinates)
    )


def _of_tree(vehicle: ArticulatedVehicle) -> list[Coordinate]:
    tree, nq = vehicle.tree, vehicle.tree.nq
    a, found = tree.arrays, list[Coordinate]()
    for kind, q_at, v_at in zip(a.kind.tolist(), a.q_at.tolist(), a.v_at.tolist(), strict=True):
        name = tree.coordinate_names[q_at]
        if kind not in (BALL, FREE):
            low, high = a.limits[v_at].tolist()
            unit = "m" if kind == PRISMATIC else "rad"
            found.append(Coordinate(name, unit, low, high, q_at, nq + v_at, joint=name))
            continue
        joint = name.removesuffix(" qw")
        for k, axis in enumerate(_AXES):
            turned = f"{joint} turn {axis}"
            found.append(Coordinate(turned, "rad", -math.pi, math.pi, q_at, nq + v_at + k, k, joint))
        for k, axis in enumerate(_AXES if kind == FREE else ()):
            place, rate = q_at + 4 + k, nq + v_at + 3 + k
            found.append(Coordinate(f"{joint} {axis}", "m", -math.inf, math.inf, place, rate, joint=joint))
    return found


def read_coordinates(vehicle: Vehicle, node: np.ndarray) -> dict[str, float]:
    """All of them at a flat node, by name."""
    found, turned = {}, dict[int, np.ndarray]()
    for c in coordinates_of(vehicle):
        if c.axis < 0:
            found[c.name] = float(node[c.at])
            continue
        if c.at not in turned:
            turned[c.at] = rotation_log(_rotation(node[c.at : c.at + 4]))
        found[c.name] = float(turned[c.at][c.axis])
    return found


@lru_cache(maxsize=16)
def first_coordinates(vehicle: Vehicle) -> Mapping[str, float]:
    """All of them where the vehicle is by itself."""
    return MappingProxyType(read_coordinates(vehicle, vehicle.default_state().node))


def posed(vehicle: Vehicle, node: np.ndarray, values: Mapping[str, float]) -> np.ndarray:
    """A flat node with some coordinates as they are given by name, and these at rest; a copy.

    Raises InputError for unknown names, for numbers beyond the limits, and where loops cannot be closed with them.
    """
    known = {c.name: c for c in coordinates_of(vehicle)}
    for name, value in values.items():
        if name not in known:
            raise InputError(
                f"{vehicle.name} has no coordinate {quote(name)}; allowed: {one_of(known, name) or 'none'}"
            )
        c = known[name]
        if not (math.isfinite(value) and c.low <= value <= c.high):
            raise InputError(f"{name} = {value:g} is refused; allowed: {c.low:g} to {c.high:g} {c.unit}")
    loops = vehicle.loops_with(vehicle.parameter_vector) if isinstance(vehicle, ClosedVehicle) else ()
    if not loops:
        return _written(node, known, values)
    assert isinstance(vehicle, ClosedVehicle)
    before, there = read_coordinates(vehicle, node), node
    farthest = max((abs(value - before[name]) for name, value in values.items()), default=0.0)
    count = max(math.ceil(farthest / _WAY), 1)
    closure = Closure(vehicle.tree, loops)
    held = [known[name].rate_at - vehicle.tree.nq for name in values]
    for k in range(1, count + 1):
        share = k / count
        on_the_way = {name: before[name] + share * (value - before[name]) for name, value in values.items()}
        there = _closed(vehicle, closure, _written(there, known, on_the_way), held)
    return there


def _written(node: np.ndarray, known: Mapping[str, Coordinate], values: Mapping[str, float]) -> np.ndarray:
    node, turned = node.copy(), dict[int, np.ndarray]()
    for name, value in values.items():
        c = known[name]
        node[c.rate_at] = 0.0
        if c.axis < 0:
            node[c.at] = value
            continue
        if c.at not in turned:
            turned[c.at] = rotation_log(_rotation(node[c.at : c.at + 4]))
        turned[c.at][c.axis] = value
    for at, vector in turned.items():
        node[at : at + 4] = quaternion_of(rotation_exp(vector))
    return node


def _rotation(quaternion: np.ndarray) -> np.ndarray:
    w, x, y, z = (quaternion / np.linalg.norm(quaternion)).tolist()
    return np.reshape(quaternion_matrix.py_func(w, x, y, z), (3, 3))


def _closed(vehicle: ClosedVehicle, closure: Closure, node: np.ndarray, held: list[int]) -> np.ndarray:
    """The node with its loops closed by the other joints, and at rest. Raises InputError where they cannot be."""
    nq, nv = vehicle.tree.nq, vehicle.tree.nv
    q = np.ascontiguousarray(node[:nq])
    others = [k for k in range(nv) if k not in held]
    for _ in range(_CORRECTIONS):
        gaps = closure.gaps(q)
        if np.abs(gaps).max() <= CLOSED_M:
            return np.concatenate([q, np.zeros(nv), node[nq + nv :]])
        slopes, _ = closure.slopes(q)
        way = np.zeros(nv)
        way[others] = np.linalg.lstsq(slopes[:, others], -gaps, rcond=1e-9)[0]
        if not np.isfinite(way).all():
            break
        move(vehicle.tree.arrays, q, way)
    raise InputError(f"{vehicle.name} cannot be put there: its loops would be open; allowed: nearer poses")
