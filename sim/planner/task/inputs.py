"""The inputs that the optimiser moves, and how they become a vehicle's controls.

For most vehicles they are the controls themselves. The lift of a rotor enters through the tilt of its disc; in
the Cartesian thrust vector its wrench is linear, which is what makes its problem easy. A map says whom it serves.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import casadi as ca
import numpy as np

from sim.compiler.columns import ColumnKernel
from sim.multibody.arrays import workspace
from sim.multibody.kinematics import place
from sim.multibody.observing import mass_matrix
from sim.multibody.stepping import node_force
from sim.platform.values import dataclass
from sim.vehicle_config.modes import lift_tilts
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.homogeneous import ActionVehicle
from sim.vehicles.forms.parameters import Quantities


@dataclass(frozen=True)
class Constraint:
    """One scalar constraint, `low <= expression <= high`, scaled so that about one unit matters."""

    name: str
    expression: ca.SX
    low: float
    high: float
    unit: str = ""
    """What the row is measured in once multiplied by `scale`; empty: a pure number."""
    scale: float = 1.0
    obstacle: tuple[str, int] | None = None
    """Which it keeps away from: kind, and number among those of its kind."""
    goal: str = ""
    """The part of the goal that it asks for."""
    soft: bool = False
    """May be violated, at a price, where a task is explored for what makes it impossible."""
    given_at_start: bool = False
    """The start says what it comes to at the first node, where it bounds nothing then."""


@dataclass(frozen=True)
class InputMap:
    """Planned inputs a of one vehicle, beginning with a = u."""

    vehicle: Vehicle

    @staticmethod
    def serves(vehicle: Vehicle) -> bool:
        """Whether a vehicle's inputs may be planned so."""
        return True

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(c.name for c in self.vehicle.controls)

    @property
    def size(self) -> int:
        return len(self.names)

    @property
    def planned_vehicle(self) -> Vehicle:
        """The vehicle with the planned inputs in place of its controls."""
        return self.vehicle

    def held(self, limits: np.ndarray) -> dict[int, float]:
        """Planned inputs that ranges of the controls (n_controls, 2) leave one number."""
        return {i: float(low) for i, (low, high) in enumerate(limits) if low == high}

    def can_hold(self, control: int) -> bool:
        """Whether a control can be held at a number while the others are planned."""
        return True

    def controls(self, a: np.ndarray) -> np.ndarray:
        """(n, n_controls) of (n, size)."""
        return np.asarray(a, float).copy()

    def expressions(self, a: ca.SX) -> ca.SX:
        """(n_controls,) of (size,)."""
        return a

    def planned(self, u: np.ndarray) -> np.ndarray:
        """(n, size) of (n, n_controls): inverse of `controls`."""
        return np.asarray(u, float).copy()

    def box(self, limits: np.ndarray) -> np.ndarray:
        """(size, 2) bounds of the planned inputs that controls within `limits` (n_controls, 2) allow."""
        return limits.copy()

    def rows(self, a: ca.SX, limits: np.ndarray) -> tuple[Constraint, ...]:
        """Inequalities beyond the box."""
        return ()

    def natural_scale(self) -> np.ndarray | None:
        """(size,) magnitudes that come with the vehicle; None: they come with the task."""
        return None

    def effort_factors(self) -> np.ndarray:
        """(size,) how much more the square of an input counts than its scale says."""
        return np.ones(self.size)

    def columns(self) -> np.ndarray:
        """(dim, size) derivative of the wrench by the planned inputs at neutral; zero where unknown."""
        if not isinstance(self.vehicle, HolonomicVehicle):
            return np.zeros((self.vehicle.wrench_size, self.size))
        u, p = ca.SX.sym("u", self.size), ca.SX.sym("p", self.vehicle.parameter_count)
        wrench = self.vehicle.control_wrench(u, self.vehicle.symbols(p))
        derivative = ca.Function("B", [u, p], [ca.densify(ca.jacobian(wrench, u))])
        return np.array(derivative(self.vehicle.neutral_controls, self.vehicle.parameter_vector))

    def trim(self, pose: np.ndarray) -> np.ndarray:
        """(size,) inputs that come closest to holding the vehicle still at a flat pose."""
        if not isinstance(self.vehicle, HolonomicVehicle):
            return self.planned(self.vehicle.neutral_controls[None])[0]
        return -np.linalg.lstsq(self.columns(), self.load(pose), rcond=None)[0]

    def load(self, pose: np.ndarray) -> np.ndarray:
        """(dim,) wrench on a vehicle at rest at a flat pose with neutral controls."""
        assert isinstance(self.vehicle, HolonomicVehicle)
        g, p = ca.SX.sym("g", self.vehicle.group.pose_dim), ca.SX.sym("p", self.vehicle.parameter_count)
        u, still = ca.SX.sym("u", len(self.vehicle.controls)), ca.SX.zeros(self.vehicle.group.dim)
        wrench = self.vehicle.wrench(g, still, u, self.vehicle.symbols(p))
        at_rest = ca.Function("f", [g, u, p], [ca.densify(wrench)])
        return np.array(at_rest(pose, self.vehicle.neutral_controls, self.vehicle.parameter_vector)).ravel()


def thrust_matrix(vehicle: HolonomicVehicle, q: Quantities) -> ca.SX:
    """(6, 4) wrench by lift forward, left, up and force aside."""
    return _by_lift(lambda u: vehicle.control_wrench(u, q))


def _by_lift(forces: Callable[[ca.SX], ca.SX]) -> ca.SX:
    """(n, 4) of forces (n,) of the controls, which are a lift and its tilts: their own derivatives at unit lift."""
    u = ca.SX.sym("u", 4)
    jacobian = ca.jacobian(forces(u), u)
    at_unit_lift = ca.substitute(jacobian, u, ca.SX([1, 0, 0, 0]))
    columns = (at_unit_lift[:, 2], -at_unit_lift[:, 3], at_unit_lift[:, 0], at_unit_lift[:, 1])
    return ca.sparsify(ca.horzcat(*columns))


@cache
def _by_thrust(kind: Any) -> Any:
    """The vehicle with the thrust vector and the force aside as its controls."""
    if issubclass(kind, ArticulatedVehicle):

        class TreeByThrust(kind):  # type: ignore[misc]
            def forces(self, u: ca.SX, q: Quantities) -> ca.SX:
                return _by_lift(lambda controls: super(TreeByThrust, self).forces(controls, q)) @ u

        return TreeByThrust
    if not issubclass(kind, HolonomicVehicle):
        return type("CarrierByThrust", (kind,), {"carrier": _by_thrust(kind.carrier.__class__)()})

    class ByThrust(kind):  # type: ignore[misc]
        def control_wrench(self, u: ca.SX, q: Quantities) -> ca.SX:
            return thrust_matrix(kind(**self.values), q) @ u

    return ByThrust


@dataclass(frozen=True)
class ThrustVectorMap(InputMap):
    """a = (lift forward, left, up in the body frame, force aside): the wrench is linear in it."""

    @staticmethod
    def serves(vehicle: Vehicle) -> bool:
        # Of tilts and a lift that lag, the thrust is no linear combination of what acts.
        return lift_tilts(vehicle) and not vehicle.lags

    @property
    def names(self) -> tuple[str, ...]:
        return ("lift_x", "lift_y", "lift_z", self.vehicle.controls[1].name)

    @property
    def planned_vehicle(self) -> Vehicle:
        return _by_thrust(type(self.vehicle))(**self.vehicle.values)

    def columns(self) -> np.ndarray:
        p = ca.SX.sym("p", self.vehicle.parameter_count)
        assert isinstance(self.vehicle, HolonomicVehicle)
        matrix = thrust_matrix(self.vehicle, self.vehicle.symbols(p))
        return np.array(ca.Function("B", [p], [ca.densify(matrix)])(self.vehicle.parameter_vector))

    def controls(self, a: np.ndarray) -> np.ndarray:
        return _controls_of_thrust().rows(np.ascontiguousarray(a, float))

    def expressions(self, a: ca.SX) -> ca.SX:
        lift = ca.sqrt(ca.dot(a[:3], a[:3]))
        roll = ca.asin(ca.fmin(ca.fmax(-a[1] / ca.fmax(lift, 1e-12), -1.0), 1.0))
        return ca.vertcat(lift, a[3], ca.atan2(a[0], a[2]), roll)

    def planned(self, u: np.ndarray) -> np.ndarray:
        lift, tail, pitch, roll = np.asarray(u, float).T
        forward, up = np.sin(pitch) * np.cos(roll), np.cos(pitch) * np.cos(roll)
        return np.stack([lift * forward, -lift * np.sin(roll), lift * up, tail], axis=1)

    def box(self, limits: np.ndarray) -> np.ndarray:
        lift = limits[0, 1]
        low = max(limits[0, 0], 0.02 * min(lift, self._weight))
        free = [-np.inf, np.inf]
        return np.array([free, free, [low, np.inf], limits[1]])

    def rows(self, a: ca.SX, limits: np.ndarray) -> tuple[Constraint, ...]:
        """Collective and tilts; a cone or a pyramid of tilts that lies just inside the true limits."""
        unit = self._weight
        slopes = np.tan(limits[2:])
        rows = (
            self._cone(a, slopes, unit) if np.ptp(np.abs(slopes)) < 1e-9 else self._pyramid(a, slopes, unit)
        )
        if limits[0, 1] < 20.0 * unit:
            rows.append(Constraint("collective", ca.dot(a[:3], a[:3]) / limits[0, 1] ** 2, -np.inf, 1.0))
        return tuple(rows)

    @staticmethod
    def _cone(a: ca.SX, slopes: np.ndarray, unit: float) -> list[Constraint]:
        steepness = (ca.dot(a[:2], a[:2]) - (slopes[0, 1] * a[2]) ** 2) / (2 * unit**2)
        return [Constraint("tilt of the disc", steepness, -np.inf, 0.0)]

    @staticmethod
    def _pyramid(a: ca.SX, slopes: np.ndarray, unit: float) -> list[Constraint]:
        (pitch_low, pitch_high), (roll_low, roll_high) = slopes
        return [
            Constraint("pitch tilt", (a[0] - pitch_high * a[2]) / unit, -np.inf, 0.0),
            Constraint("pitch tilt", (a[0] - pitch_low * a[2]) / unit, 0.0, np.inf),
            Constraint("roll tilt", (-a[1] - roll_high * a[2]) / unit, -np.inf, 0.0),
            Constraint("roll tilt", (-a[1] - roll_low * a[2]) / unit, 0.0, np.inf),
        ]

    @property
    def _weight(self) -> float:
        values = self.vehicle.values
        hanging_kg = self.vehicle.hanging_kg if isinstance(self.vehicle, ArticulatedVehicle) else 0.0
        return float((np.asarray(values["mass"]) + hanging_kg) * np.asarray(values["gravity"]))

    def held(self, limits: np.ndarray) -> dict[int, float]:
        return {3: float(limits[1, 0])} if limits[1, 0] == limits[1, 1] else {}

    def can_hold(self, control: int) -> bool:
        return control == 1

    def natural_scale(self) -> np.ndarray:
        return self._weight * np.array([1.0, 1.0, 1.0, 0.2])

    def effort_factors(self) -> np.ndarray:
        """Tilting the disc costs extra: without it the optimum wobbles in roll and no solver settles."""
        return np.array([6.0, 6.0, 1.0, 1.0])


@cache
def _controls_of_thrust() -> ColumnKernel:
    a = ca.SX.sym("a", 4)
    return ColumnKernel(ca.Function("controls", [a], [ThrustVectorMap.expressions(None, a)]))  # type: ignore[arg-type]


_MAPS: tuple[type[InputMap], ...] = (ThrustVectorMap, InputMap)
"""The first that serves a vehicle is taken."""


def input_map_of(vehicle: Vehicle) -> InputMap:
    """How a vehicle's inputs are planned."""
    return next(kind for kind in _MAPS if kind.serves(vehicle))(vehicle)


_SHARE, _STEPS = 0.5, 8
_LITTLE = 1e-9


def holding(vehicle: Vehicle, node: np.ndarray) -> np.ndarray:
    """(planned inputs,) under which the state changes least: Gauss and Newton's steps from the neutral ones."""
    input_map = input_map_of(vehicle)
    if isinstance(vehicle, ArticulatedVehicle):
        return np.asarray(input_map.planned(_carrying(vehicle, node)[None])[0])
    planned = input_map.planned_vehicle
    assert isinstance(planned, ActionVehicle)
    u, p = ca.SX.sym("u", input_map.size), ca.SX.sym("p", vehicle.parameter_count)
    x = ca.SX.sym("x", node.size)
    rate = ca.densify(planned.generator(x, u, planned.symbols(p)))
    found = ca.Function("rate", [x, u, p], [rate, ca.densify(ca.jacobian(rate, u))])
    a = input_map.planned(vehicle.neutral_controls[None])[0]
    for _ in range(_STEPS):
        value, slope = (np.array(part) for part in found(node, a, vehicle.parameter_vector))
        a = a - np.linalg.lstsq(slope, value.ravel(), rcond=1e-6)[0]
    return np.asarray(a)


def _carrying(vehicle: ArticulatedVehicle, node: np.ndarray) -> np.ndarray:
    """(n_controls,) that come nearest to what gravity and springs do to the joints, by the same steps; where joints
    close loops, to those that lead, since the loops' own forces hold the rest."""
    u, q, arrays = ca.SX.sym("u", len(vehicle.controls)), node[vehicle.node_layout.pose], vehicle.tree.arrays
    forces = ca.densify(vehicle.symbolic.driven(ca.SX(q), vehicle.forces(u, vehicle.own)))
    found = ca.Function("forces", [u], [forces, ca.densify(ca.jacobian(forces, u))])
    space, force = workspace(arrays), np.zeros(vehicle.tree.nv)
    place(arrays, q, space.node)
    node_force(arrays, space, q, force)
    leading = vehicle.following(q).T if isinstance(vehicle, ClosedVehicle) else np.eye(vehicle.tree.nv)
    a = vehicle.neutral_controls
    for _ in range(_STEPS):
        value, slope = (np.array(part) for part in found(a))
        a = a - np.linalg.lstsq(leading @ slope, leading @ (value.ravel() + force), rcond=1e-9)[0]
    return np.asarray(a)


def _accelerating(vehicle: ArticulatedVehicle) -> np.ndarray:
    """(n_controls,) that hold it where it starts and give joints 1 rad/s^2 or 1 m/s^2 besides."""
    u, node = ca.SX.sym("u", len(vehicle.controls)), vehicle.default_state().node
    q = ca.SX(node[vehicle.node_layout.pose])
    slopes = ca.densify(ca.jacobian(vehicle.symbolic.driven(q, vehicle.forces(u, vehicle.own)), u))
    columns = np.abs(np.array(ca.Function("slopes", [u], [slopes])(vehicle.neutral_controls)))
    inertia = mass_matrix(vehicle.tree.arrays, node[vehicle.node_layout.pose]).diagonal()[:, None]
    acts = columns > _LITTLE
    needed = np.where(acts, inertia / np.where(acts, columns, 1.0), np.inf).min(axis=0)
    return np.asarray(np.where(np.isfinite(needed), needed, 1.0) + np.abs(_carrying(vehicle, node)))


def holding_scale(vehicle: Vehicle) -> np.ndarray:
    """(planned inputs,) magnitudes: what comes with the inputs, half of their ranges, or what holds it still."""
    input_map = input_map_of(vehicle)
    natural = input_map.natural_scale()
    if natural is not None:
        return natural
    ranges = np.array([[c.low, c.high] for c in vehicle.controls], float)
    half = _SHARE * np.abs(ranges).max(axis=1)
    if isinstance(vehicle, ArticulatedVehicle):
        # What holds it where it starts may be next to nothing, as of an arm that stands upright.
        return half if np.isfinite(half).all() else np.where(np.isfinite(half), half, _accelerating(vehicle))
    held = np.abs(holding(vehicle, vehicle.default_state().node))
    return np.where(held > _LITTLE, np.minimum(half, np.maximum(held, _LITTLE)), half)
