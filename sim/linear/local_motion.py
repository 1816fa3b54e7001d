"""A vehicle's motion near one of its nodes, in coordinates that vanish there: what is linearised, by form.

Coordinates of a pose are displacements in the body's frame, which moves along with the motion that is looked at. So a
motion that turns, rolls or goes on for ever has constant coefficients where all its moments are alike.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from sim.groups.numeric import skew
from sim.multibody.arrays import BALL, FREE
from sim.multibody.loops import Closure
from sim.multibody.tree import Tree
from sim.platform.values import dataclass
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.reduced_mechanics import ReducedMotion

INDEPENDENT = 1e-9
"""Of the largest singular value: a direction that has less of it is none."""


@dataclass(frozen=True)
class Coordinate:
    """A number by which a motion near another one is given, zero on that one."""

    name: str
    unit: str


@dataclass(frozen=True, eq=False)
class LocalMotion:
    """Equations near a node x with controls u: the coordinates e (n,) change by the rate less bracket e."""

    coordinates: tuple[Coordinate, ...]
    node: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    """(x, u, e) -> node, with loops closed."""
    forced: Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
    """(x, u) -> rate (n,), and by the controls (n, n_controls), both at e = 0."""
    varied: Callable[[np.ndarray, np.ndarray], np.ndarray]
    """(x, u) -> rate by the coordinates (n, n), less the bracket, at e = 0."""
    still: np.ndarray
    """(n,) which rates vanish where a motion is steady; the others are velocities, which it may keep."""
    reading: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None
    """(x, u) -> (n, n) from e to the numbers that the coordinates' names are about; None: e itself."""
    admissible: Callable[[np.ndarray], np.ndarray] | None = None
    """x -> (m, n) rows that vanish on the coordinates that constraints leave; None: all."""


Equations = Callable[[np.ndarray], LocalMotion]
"""The local motion with these parameters; vehicles of one structure share them."""


@lru_cache(maxsize=8)
def local_motion(vehicle: Vehicle) -> LocalMotion:
    """Of a vehicle with the parameters that it has."""
    if isinstance(vehicle, ArticulatedVehicle):
        return _tree(vehicle)
    return _equations(Structure.of(vehicle))(vehicle.parameter_vector)


@lru_cache(maxsize=8)
def _equations(structure: Structure) -> Equations:
    return BY_FORM[structure.vehicle.form](structure.vehicle)


@dataclass(frozen=True)
class _Symbols:
    """Parameters, a node, controls there, what they change by, and the coordinates."""

    p: ca.SX
    x: ca.SX
    u: ca.SX
    more: ca.SX
    e: ca.SX

    @staticmethod
    def of(vehicle: Vehicle, n: int) -> "_Symbols":
        m = len(vehicle.controls)
        return _Symbols(
            ca.SX.sym("p", vehicle.parameter_vector.size),
            ca.SX.sym("x", vehicle.node_layout.size),
            ca.SX.sym("u", m),
            ca.SX.sym("more", m),
            ca.SX.sym("e", n),
        )

    def local(
        self,
        coordinates: list[Coordinate],
        rate: ca.SX,
        node: ca.SX,
        bracket: ca.SX,
        still: np.ndarray,
        reading: ca.SX | None = None,
    ) -> Equations:
        """Rate, node, bracket and reading are expressions of the symbols."""
        n = self.e.shape[0]
        found = [rate, ca.jacobian(rate, self.e), ca.jacobian(rate, self.more)]
        none = [ca.SX.zeros(n), ca.SX.zeros(self.more.shape[0])]
        at_zero = ca.substitute(found, [self.e, self.more], none)
        at_zero[1] = at_zero[1] - bracket
        at = [self.p, self.x, self.u]
        of_node = ca.Function("node", [*at, self.e], [ca.densify(node)], {"cse": True})
        velocity, by_e, by_u = (ca.densify(part) for part in at_zero)
        of_rate = ca.Function("forced", at, [velocity, by_u], {"cse": True})
        of_e = ca.Function("varied", at, [by_e], {"cse": True})
        read = None if reading is None else ca.Function("reading", at, [ca.densify(reading)])

        def bound(p: np.ndarray) -> LocalMotion:
            def forced(x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                velocity, by_u = of_rate(p, x, u)
                return np.array(velocity).ravel(), np.array(by_u)

            return LocalMotion(
                tuple(coordinates),
                lambda x, u, e: np.array(of_node(p, x, u, e)).ravel(),
                forced,
                lambda x, u: np.array(of_e(p, x, u)),
                still,
                reading=None if read is None else lambda x, u: np.array(read(p, x, u)),
            )

        return bound


def _pose_coordinates(vehicle: Vehicle) -> list[Coordinate]:
    """Turns and ways in the body's frame."""
    names = {"omega_x": "roll", "omega_y": "pitch", "omega_z": "yaw", "omega": "yaw"}
    turns = vehicle.group.turns
    return [
        Coordinate(names.get(name, f"way_{name[-1]}"), "rad" if k < turns else "m")
        for k, name in enumerate(vehicle.group.directions)
    ]


def _rate(unit: str) -> str:
    """Unit of a rate of change."""
    return {"1": "1/s"}.get(unit, f"{unit}/s")


def _on_group(vehicle: HolonomicVehicle) -> Equations:
    """(pose, body velocity), and what acts of controls that lag."""
    group, at, d = vehicle.group, vehicle.node_layout, vehicle.group.dim
    lagging = len(vehicle.controls) if vehicle.lags else 0
    s = _Symbols.of(vehicle, 2 * d + lagging)
    q = vehicle.symbols(s.p)
    g, xi = group.compose(s.x[at.pose], group.cay(s.e[:d])), s.x[at.velocity] + s.e[d : 2 * d]
    u = s.u + s.more
    acting = s.x[at.acting] + s.e[2 * d :] if lagging else u
    rate = [xi, vehicle.acceleration(g, xi, acting, ca.SX.zeros(d), q)]
    coordinates = _pose_coordinates(vehicle)
    coordinates += [
        Coordinate(name, "rad/s" if k < group.turns else "m/s") for k, name in enumerate(group.directions)
    ]
    if lagging:
        rate.append((u - acting) / vehicle.lag_s(q))
        coordinates += [Coordinate(f"acting_{c.name}", c.unit) for c in vehicle.controls]
    bracket = ca.diagcat(group.ad(s.x[at.velocity]), ca.SX(d + lagging, d + lagging))
    displaced = ca.vertcat(g, xi, acting) if lagging else ca.vertcat(g, xi)
    still = np.arange(2 * d + lagging) >= d
    return s.local(coordinates, ca.vertcat(*rate), displaced, bracket, still)


def _reduced(vehicle: ReducedMotion) -> Equations:
    """(pose, shape, momenta): these are continuous where commanded velocities jump.

    Read as velocities of the shape, at the controls of the motion itself, and momenta along the symmetry directions.
    """
    group, at, d, n = vehicle.group, vehicle.node_layout, vehicle.group.dim, len(vehicle.shape_coordinates)
    own, x = vehicle.dynamic, ca.SX.sym("x", at.size)
    fixed = vehicle.symbols(ca.SX(vehicle.parameter_vector))
    k = vehicle.momenta(x[at.shape], x[at.shape_velocity], x[at.velocity], fixed).shape[0]
    s = _Symbols.of(vehicle, d + n + k)
    q = vehicle.symbols(s.p)
    r0 = s.x[at.shape]
    _, by_shape, mu = vehicle.gradients(r0, s.x[at.shape_velocity], s.x[at.velocity], q)
    momenta = vehicle.momenta(r0, by_shape, mu, q) + s.e[d + n :]
    g, r, u = group.compose(s.x[at.pose], group.cay(s.e[:d])), r0 + s.e[d : d + n], s.u + s.more
    rates, xi = vehicle.velocities(r, momenta, u, q)
    change = vehicle.momentum_rates(r, rates, xi, vehicle.external_wrench(g, xi, u, q), u, q)
    bracket = ca.diagcat(group.ad(s.x[at.velocity]), ca.SX(n + k, n + k))
    shapes, free = vehicle.shape_coordinates, k - len(own)
    coordinates = [*_pose_coordinates(vehicle), *(Coordinate(c.name, c.unit) for c in shapes)]
    coordinates += [Coordinate(f"{shapes[i].name}_rate", _rate(shapes[i].unit)) for i in own]
    coordinates += [
        Coordinate("momentum_p" if free == 1 else f"momentum_p_{b + 1}", "kg m^2/s") for b in range(free)
    ]
    read = ca.vertcat(s.e[: d + n], rates[own], s.e[d + n + len(own) :])
    none = [ca.SX.zeros(s.e.shape[0]), ca.SX.zeros(u.shape[0])]
    reading = ca.substitute(ca.jacobian(read, s.e), ca.vertcat(s.e, s.more), ca.vertcat(*none))
    return s.local(
        coordinates,
        ca.vertcat(xi, rates, change),
        ca.substitute(ca.vertcat(g, xi, r, rates), s.more, none[1]),
        bracket,
        np.arange(d + n + k) >= d + n,
        reading,
    )


def _tree(vehicle: ArticulatedVehicle) -> LocalMotion:
    """(increments of the joints, their velocities).

    Accelerations a and the loops' multipliers l are differentiated where they are: M a = forces + G' l, with the gaps'
    accelerations zero.
    """
    tree, symbolic, at, nv = vehicle.tree, vehicle.symbolic, vehicle.node_layout, vehicle.tree.nv
    s, a = _Symbols.of(vehicle, 2 * nv), ca.SX.sym("a", nv)
    q, v = symbolic.move(s.x[at.pose], s.e[:nv]), s.x[at.velocity] + s.e[nv:]
    closure = (
        Closure(tree, vehicle.loops_with(vehicle.parameter_vector))
        if isinstance(vehicle, ClosedVehicle)
        else None
    )
    count = closure.size if closure else 0
    multipliers = ca.SX.sym("l", count)
    wanting = symbolic.momenta(q, a) - symbolic.forces(q, v)
    wanting -= symbolic.driven(q, vehicle.forces(s.u, vehicle.own))
    opening, slopes, bent = ca.SX(0, 1), ca.SX(0, nv), ca.SX(0, nv)
    if closure:
        here, d, w = ca.SX.sym("here", tree.nq), ca.SX.sym("d", nv), ca.SX.sym("w", nv)
        slope = ca.jacobian(symbolic.gaps(symbolic.move(here, d), closure), d)
        slope = ca.substitute(slope, d, ca.SX.zeros(nv))
        later = ca.jacobian(ca.substitute(slope, here, symbolic.move(here, d)) @ w, d)
        of = ca.Function("of", [here, w], [slope, ca.substitute(later, d, ca.SX.zeros(nv))])
        slopes, bent = of(q, v)
        wanting -= slopes.T @ multipliers
        opening = slopes @ a + bent @ v
    both, unknown = ca.vertcat(wanting, opening), ca.vertcat(a, multipliers)
    balance = ca.Function("balance", [s.x, s.u, unknown, s.e], [ca.densify(both)])
    displaced = ca.Function("node", [s.x, s.e], [ca.vertcat(q, v)])
    at_node = [ca.densify(ca.substitute(part, s.e, ca.SX.zeros(2 * nv))) for part in (slopes, bent)]
    gaps = ca.Function("gaps", [s.x], at_node)
    by_unknown, by_u, by_e = (_slopes(balance, argument) for argument in (2, 1, 3))
    nothing, nowhere = np.zeros(nv + count), np.zeros(2 * nv)

    def solved(x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Unknowns, and what inverts their equations."""
        inverse = np.linalg.pinv(by_unknown(x, u, nothing, nowhere), rcond=1e-13)
        return -inverse @ np.array(balance(x, u, nothing, nowhere)).ravel(), inverse

    def forced(x: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        solution, inverse = solved(x, u)
        answered = -inverse @ by_u(x, u, solution, nowhere)
        return np.r_[x[at.velocity], solution[:nv]], np.vstack([0.0 * answered[:nv], answered[:nv]])

    def varied(x: np.ndarray, u: np.ndarray) -> np.ndarray:
        solution, inverse = solved(x, u)
        A = np.vstack([np.eye(nv, 2 * nv, nv), -(inverse @ by_e(x, u, solution, nowhere))[:nv]])
        return np.asarray(A - _joint_bracket(tree, x[at.velocity]))

    def admissible(x: np.ndarray) -> np.ndarray:
        G, bent = (np.array(part) for part in gaps(x))
        return np.block([[G, np.zeros_like(G)], [bent, G]])

    def node(x: np.ndarray, _: np.ndarray, e: np.ndarray) -> np.ndarray:
        moved = np.array(displaced(x, e)).ravel()
        return vehicle.closed_node(moved) if isinstance(vehicle, ClosedVehicle) else moved

    coordinates, rates = [], []
    for name, turns in zip(tree.velocity_names, vehicle.angular, strict=True):
        unit = "rad" if turns else "m"
        coordinates.append(Coordinate(name, unit))
        rates.append(Coordinate(f"{name} rate", _rate(unit)))
    return LocalMotion(
        (*coordinates, *rates),
        node,
        forced,
        varied,
        np.arange(2 * nv) >= nv,
        admissible=admissible if closure else None,
    )


def _slopes(function: ca.Function, argument: int) -> Callable[..., np.ndarray]:
    """The function's derivative by one of its arguments, as a function of all of them.

    Direction by direction: as expressions of all at once it grows with the square of a chain's length.
    """
    sizes = [function.size1_in(i) for i in range(function.n_in())]
    count = sizes[argument]
    each = function.forward(1).map(max(count, 1))
    directions = [np.eye(n) if i == argument else np.zeros((n, count)) for i, n in enumerate(sizes)]
    spare = np.zeros((function.size1_out(0), count))

    def slopes(*at: np.ndarray) -> np.ndarray:
        if not count:
            return spare
        return np.array(each(*(np.tile(part, (count, 1)).T for part in at), spare, *directions))

    return slopes


def _joint_bracket(tree: Tree, v: np.ndarray) -> np.ndarray:
    """(2 nv, 2 nv) ad of the twists of ball and free joints on their increments."""
    bracket = np.zeros((2 * tree.nv, 2 * tree.nv))
    for kind, b in zip(tree.arrays.kind, tree.arrays.v_at, strict=True):
        if kind in (BALL, FREE):
            turn = slice(b, b + 3)
            bracket[turn, turn] = skew(v[turn])
            if kind == FREE:
                way = slice(b + 3, b + 6)
                bracket[way, turn], bracket[way, way] = skew(v[way]), skew(v[turn])
    return bracket


def _acted(vehicle: ActionVehicle) -> Equations:
    """The space's own coordinates about the node: of a direction two."""
    space, size = vehicle.space, vehicle.space.size
    x, y, u = ca.SX.sym("x", size), ca.SX.sym("y", size), ca.SX.sym("u", len(vehicle.controls))
    d, p = ca.SX.sym("d", space.dim), ca.SX.sym("p", vehicle.parameter_vector.size)
    q = vehicle.symbols(p)
    flow = vehicle.action.generator(y, vehicle.generator(y, u, q))
    found = space.coordinates(x, y)
    seen = ca.substitute(ca.jacobian(ca.vertcat(*found.values()), y), y, x)
    point = space.displaced(x, d)
    spread = ca.substitute(ca.jacobian(point, d), d, ca.SX.zeros(space.dim))
    flows = [flow, ca.jacobian(flow, y), ca.jacobian(flow, u)]
    frame = ca.Function("frame", [x], [ca.densify(seen), ca.densify(spread)])
    field = ca.Function("field", [p, y, u], [ca.densify(part) for part in flows], {"cse": True})
    displaced = ca.Function("displaced", [x, d], [ca.densify(point)])

    def lift(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coordinates by the numbers of a point (n, size), and displacements by the coordinates (dim, n)."""
        seen, spread = (np.array(part) for part in frame(at))
        return seen, np.linalg.pinv(seen @ spread, rcond=INDEPENDENT)

    coordinates = tuple(
        Coordinate(f"{name}_{k + 1}", "") for name, part in found.items() for k in range(part.shape[0])
    )

    def bound(values: np.ndarray) -> LocalMotion:
        def forced(at: np.ndarray, controls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            rate, _, by_controls = (np.array(part) for part in field(values, at, controls))
            seen, _ = lift(at)
            return seen @ rate.ravel(), seen @ by_controls

        def varied(at: np.ndarray, controls: np.ndarray) -> np.ndarray:
            seen, back = lift(at)
            slope = np.array(field(values, at, controls)[1])
            return np.asarray(seen @ slope @ np.array(frame(at)[1]) @ back)

        return LocalMotion(
            coordinates,
            lambda at, _, e: np.array(displaced(at, lift(at)[1] @ e)).ravel(),
            forced,
            varied,
            np.ones(len(coordinates), bool),
        )

    return bound


BY_FORM: Mapping[Form, Callable[[Any], Equations]] = {
    Form.EULER_POINCARE: _on_group,
    Form.REDUCED_DALEMBERT: _reduced,
    Form.GROUP_ACTION: _acted,
}
