"""Impulses on a vehicle: what one at a point of a body is among the vehicle's own, and what it changes at once.

Nothing is declared for it: where a point of a body is follows from `bodies`, with what it moves from
`configuration_rate`, and the masses behind its velocities from `energy`. Velocities w of a node jump by

    M dw + D' lambda = B' j,   D dw = 0,

M the second derivative of the energy by them, D of what keeps the node a point of its space (omega at right angles to a
rod), j the impulse, and B the derivative of the velocities that its components do work on, `conjugate_velocities`.
"""

from functools import lru_cache
from typing import NamedTuple

import casadi as ca
import numpy as np

from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.declaration import evaluated

_SMALL = 1e-9
"""Singular values below this fraction of the largest are of directions that no velocity has."""


class AtPoints(NamedTuple):
    """k points of bodies, in the axes that `bodies` has; three rows or columns a point."""

    velocity: np.ndarray
    """(3 k,) m/s."""
    impulses: np.ndarray
    """(impulse_size, 3 k) what unit impulses along x, y, z at the points are, as the vehicle's."""
    answers: np.ndarray
    """(3 k, 3 k) by how much each of these changes the points' velocities."""


def at_points(vehicle: Vehicle, node: np.ndarray, bodies: tuple[str, ...], at_b: np.ndarray) -> AtPoints:
    """Of a point each of k bodies, at_b (k, 3) in their frames, with a vehicle at a flat node."""
    structure, at = Structure.of(vehicle), list(vehicle.space.velocities)
    points = _points(structure, bodies)
    velocity, by_node, worked = evaluated(points, node, at_b, vehicle.parameter_vector)
    free = _free(structure, node.tobytes())
    J, B = by_node[:, at] @ free, worked[:, at] @ free
    impulses = np.linalg.lstsq(B.T, J.T, rcond=_SMALL)[0]
    return AtPoints(velocity.ravel(), impulses, by_node @ answers(vehicle, node, impulses))


def answers(vehicle: Vehicle, node: np.ndarray, impulses: np.ndarray) -> np.ndarray:
    """(node size, n) by how much impulses (impulse_size, n) change the numbers of a flat node."""
    structure, p = Structure.of(vehicle), vehicle.parameter_vector
    changes = np.zeros((len(node), impulses.shape[1]))
    if vehicle.takes_impulses:
        (by_impulse,) = evaluated(_struck(structure)[1], node, p)
        changes[:] = by_impulse @ impulses
    else:
        mobility = _mobility(structure, node.tobytes(), p.tobytes())
        changes[list(vehicle.space.velocities)] = mobility @ impulses
    return changes


def struck(vehicle: Vehicle, node: np.ndarray, impulse: np.ndarray) -> np.ndarray:
    """A flat node at once after an impulse (impulse_size,)."""
    if vehicle.takes_impulses:
        strike = _struck(Structure.of(vehicle))[0]
        return evaluated(strike, node, impulse, vehicle.parameter_vector)[0].ravel()
    return node + answers(vehicle, node, impulse[:, None])[:, 0]


def whole(impulses: np.ndarray, vehicle: Vehicle) -> np.ndarray:
    """(..., impulse_size) of impulses of which the first components are told; nothing on the others."""
    more = np.zeros((*impulses.shape[:-1], vehicle.impulse_size - impulses.shape[-1]))
    return np.concatenate([impulses, more], axis=-1)


def moves(vehicle: Vehicle, body: str) -> bool:
    """Whether any velocity of the vehicle's moves a body."""
    return _moves(Structure.of(vehicle), body)


@lru_cache(maxsize=4)
def _free(structure: Structure, node: bytes) -> np.ndarray:
    """(velocities, n) an orthonormal basis of how they may change."""
    (D,) = evaluated(_defects(structure), np.frombuffer(node))
    if not D.size:
        return np.eye(len(structure.vehicle.space.velocities))
    _, sizes, rows = np.linalg.svd(D)
    return rows[int(np.sum(sizes > _SMALL)) :].T


@lru_cache(maxsize=64)
def _defects(structure: Structure) -> ca.Function:
    """(node,) -> (n, velocities) by how much velocities change what is zero where a node is a point of its space."""
    space = structure.vehicle.space
    node = ca.SX.sym("node", space.size)
    D = ca.jacobian(space.defect(node), node)[:, list(space.velocities)]
    return ca.Function("defects", [node], [ca.densify(D[_rows(D), :])])


def _rows(D: ca.SX) -> list[int]:
    """Those that are not empty."""
    return sorted(set(D.sparsity().get_triplet()[0]))


@lru_cache(maxsize=128)
def _points(structure: Structure, bodies: tuple[str, ...]) -> ca.Function:
    """(node, points (3, k), parameters) -> their velocities (3 k,), the derivative of these by the node and that of
    the velocities that an impulse does work on (impulse_size, node size)."""
    node, at_b, p, velocity, by_node = _of_points(structure, bodies)
    worked = ca.jacobian(structure.vehicle.conjugate_velocities(node, structure.vehicle.symbols(p)), node)
    told = [ca.densify(part) for part in (velocity, by_node, worked)]
    return ca.Function("points", [node, at_b, p], told)


@lru_cache(maxsize=128)
def _moves(structure: Structure, body: str) -> bool:
    """Whether any velocity moves a body."""
    *_, by_node = _of_points(structure, (body,))
    return any(by_node.has_nz(i, j) for i in range(3) for j in structure.vehicle.space.velocities)


def _of_points(structure: Structure, bodies: tuple[str, ...]) -> tuple[ca.SX, ...]:
    """A node, points of bodies (3, k), parameters, the points' velocities (3 k,), and these by the node's."""
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    at_b, q = ca.SX.sym("at_b", 3, len(bodies)), vehicle.symbols(p)
    poses = vehicle.bodies(node, q)
    places = [(poses[body] @ ca.vertcat(at_b[:, k], 1))[:3] for k, body in enumerate(bodies)]
    velocity = ca.jtimes(ca.vertcat(*places), node, vehicle.configuration_rate(node, q))
    velocities = list(vehicle.space.velocities)
    by_node = ca.SX(velocity.numel(), node.numel())
    by_node[:, velocities] = ca.jacobian(velocity, node)[:, velocities]
    return node, at_b, p, velocity, by_node


@lru_cache(maxsize=64)
def _slopes(structure: Structure) -> tuple[ca.Function, ca.Function]:
    """(nodes, parameters) -> by how much energy changes with each velocity, of as many nodes as there are velocities
    and one more, a column each; and (node, parameters) -> derivative of what impulses do work on, by the node."""
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    q, at = vehicle.symbols(p), list(vehicle.space.velocities)
    slope = ca.gradient(vehicle.energy(node, q), node)[at]
    worked = ca.jacobian(vehicle.conjugate_velocities(node, q), node)
    one = ca.Function("slope", [node, p], [ca.densify(slope)])
    return one.map(len(at) + 1), ca.Function("worked", [node, p], [ca.densify(worked)])


@lru_cache(maxsize=4)
def _mobility(structure: Structure, node: bytes, p: bytes) -> np.ndarray:
    """(velocities, impulse_size) by which velocities answer impulses, at a node with parameters.

    Energy is quadratic in velocities: differences of its slopes from those at rest are exact, and cost less than the
    derivative's expression, which grows with the cube of their number. A pull asks for it and then acts with it.
    """
    parameters, at = np.frombuffer(p), list(structure.vehicle.space.velocities)
    slopes, worked = _slopes(structure)
    here, count = np.frombuffer(node), len(at)
    nodes = np.tile(here, (count + 1, 1))
    nodes[:, at] = np.eye(count + 1, count)
    (found,) = evaluated(slopes, nodes, np.tile(parameters, (count + 1, 1)))
    masses, free = found[:, :-1] - found[:, -1:], _free(structure, node)
    B = evaluated(worked, here, parameters)[0][:, at] @ free
    mobility: np.ndarray = free @ np.linalg.solve(free.T @ masses @ free, B.T)
    return mobility


@lru_cache(maxsize=64)
def _struck(structure: Structure) -> tuple[ca.Function, ca.Function]:
    """(node, impulse, parameters) -> the node after it, and (node, parameters) -> its derivative by the impulse."""
    vehicle = structure.vehicle
    node, p = ca.SX.sym("node", vehicle.node_layout.size), ca.SX.sym("p", vehicle.parameter_count)
    impulse = ca.SX.sym("impulse", vehicle.impulse_size)
    after = vehicle.struck(node, impulse, vehicle.symbols(p))
    by_impulse = ca.substitute(ca.jacobian(after, impulse), impulse, ca.SX.zeros(impulse.numel()))
    return (
        ca.Function("struck", [node, impulse, p], [ca.densify(after)]),
        ca.Function("answers", [node, p], [ca.densify(by_impulse)]),
    )
