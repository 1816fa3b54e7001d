"""What is observed of a vehicle at a node: energy, momentum, wrench of the controls, its bodies and its observables.

Everything is one row of numbers, from one compiled function; the layout says where what stands.
"""

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import cached_property, singledispatch

import casadi as ca
import numpy as np

from sim.platform.errors import InputError
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.parameters import Quantities


@dataclass(frozen=True)
class ObservationLayout:
    """Where what stands in a row. Bodies are twelve numbers each: R_wb column by column, then x_w."""

    momentum: slice
    control_wrench: slice
    twist: slice
    """(6,) of the main body, in its own frame: angular, linear."""
    bodies: Mapping[str, slice]
    """The main body comes first."""
    observables: Mapping[str, slice]
    units: Mapping[str, str]
    rates: Mapping[str, slice]
    """Of the traced observables."""
    directions: frozenset[str]
    """Observables that are unit vectors."""
    of_step: frozenset[str]
    """Observables of the step that begins at a node: they need the next one, too."""
    size: int
    through_water_b: Mapping[str, tuple[float, float, float]] = field(default_factory=dict)
    """Of observables that are speeds through the water: along which direction, in the main body's frame."""

    def poses(self, rows: np.ndarray) -> np.ndarray:
        """(..., bodies, 4, 4) body to world, of rows (..., size), in the order of `bodies`."""
        first, count = self.bodies[self.main].start, len(self.bodies)
        flat = rows[..., first : first + 12 * count].reshape(*rows.shape[:-1], count, 12)
        T = np.zeros((*flat.shape[:-1], 4, 4))
        T[..., :3, :3] = flat[..., :9].reshape(*flat.shape[:-1], 3, 3).swapaxes(-1, -2)
        T[..., :3, 3] = flat[..., 9:]
        T[..., 3, 3] = 1.0
        return T

    def named_poses(self, rows: np.ndarray) -> dict[str, np.ndarray]:
        """Name -> (..., 4, 4)."""
        return dict(zip(self.bodies, np.moveaxis(self.poses(rows), -3, 0), strict=True))

    def value(self, name: str, rows: np.ndarray) -> np.ndarray:
        """(...) of a scalar observable, (..., k) of a column, of rows (..., size)."""
        at = self.observables[name]
        return rows[..., at.start] if at.stop - at.start == 1 else rows[..., at]

    @property
    def main(self) -> str:
        """The body by which the vehicle's place is told."""
        return next(iter(self.bodies))


@dataclass(frozen=True)
class Observation:
    """One row."""

    layout: ObservationLayout
    row: np.ndarray

    @property
    def energy_J(self) -> float:
        return float(self.row[0])

    @property
    def momentum_w(self) -> np.ndarray:
        """Spatial momentum, of the size of the vehicle's group."""
        return self.row[self.layout.momentum]

    @property
    def control_wrench_b(self) -> np.ndarray:
        """Of the size of the vehicle's group."""
        return self.row[self.layout.control_wrench]

    @property
    def twist_b(self) -> np.ndarray:
        """(6,) of the main body: omega [rad/s], v [m/s]."""
        return self.row[self.layout.twist]

    @cached_property
    def poses(self) -> np.ndarray:
        """(bodies, 4, 4) body to world, the main body first; do not write to it."""
        return self.layout.poses(self.row)

    @property
    def observables(self) -> dict[str, float | np.ndarray]:
        """Name -> number, or column (k,)."""
        values = {name: self.layout.value(name, self.row) for name in self.layout.observables}
        return {name: float(v) if v.ndim == 0 else v for name, v in values.items()}


@dataclass(frozen=True, eq=False)
class Observed:
    """Rows at nodes one after the other."""

    layout: ObservationLayout
    told: np.ndarray | Callable[[], np.ndarray] = field(repr=False)
    """The rows, or what works them out when they are asked for first."""

    def __reduce__(self) -> tuple[object, ...]:
        return Observed, (self.layout, self.rows)

    @cached_property
    def rows(self) -> np.ndarray:
        """(n, size)."""
        return self.told() if callable(self.told) else self.told

    @property
    def energy(self) -> np.ndarray:
        """(n,) J."""
        return self.rows[:, 0]

    @property
    def momentum(self) -> np.ndarray:
        """(n, dim) spatial."""
        return self.rows[:, self.layout.momentum]

    @property
    def bodies(self) -> dict[str, np.ndarray]:
        """Name -> (n, 4, 4) body to world."""
        return self.layout.named_poses(self.rows)

    @property
    def observables(self) -> dict[str, np.ndarray]:
        """Name -> (n,) or (n, k)."""
        return {name: self.layout.value(name, self.rows) for name in self.layout.observables}


def observation(
    vehicle: Vehicle, node: ca.SX, after: ca.SX, u: ca.SX, h: ca.SX, q: Quantities
) -> tuple[ObservationLayout, ca.SX]:
    """The layout of a row and the row, at a node with the node a step h later.

    Raises InputError for bodies that are no 4 x 4 matrices and for names given twice.
    """
    bodies = vehicle.bodies(node, q)
    for name, T in bodies.items():
        if T.shape != (4, 4):
            raise InputError(f"vehicle {vehicle.name!r}: body {name!r} is {T.shape}; allowed: 4 x 4")
    of_node, of_step = vehicle.observables(node, u, q), vehicle.step_observables(node, after, h, q)
    names = [o.name for o in (*of_node, *of_step)]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"vehicle {vehicle.name!r}: observable {name!r} is declared twice")
    parts = [vehicle.energy(node, q), vehicle.spatial_momentum(node, q), vehicle.control_wrench(u, q)]
    parts.append(vehicle.twist(node, q))
    parts += [ca.vertcat(ca.vec(T[:3, :3]), T[:3, 3]) for T in bodies.values()]
    parts += [o.value for o in (*of_node, *of_step)]
    rate = vehicle.configuration_rate(node, q)
    traced = [o for o in of_node if o.traced]
    parts += [ca.jtimes(o.value, node, rate) for o in traced]
    slices, at = [], 0
    for part in parts:
        slices.append(slice(at, at + part.numel()))
        at += part.numel()
    rest = iter(slices[4:])
    layout = ObservationLayout(
        momentum=slices[1],
        control_wrench=slices[2],
        twist=slices[3],
        bodies={name: next(rest) for name in bodies},
        observables={name: next(rest) for name in names},
        units={o.name: o.unit for o in (*of_node, *of_step)},
        rates={o.name: next(rest) for o in traced},
        directions=frozenset(o.name for o in of_node if o.direction),
        of_step=frozenset(o.name for o in of_step),
        size=at,
        through_water_b={o.name: o.through_water_b for o in of_node if o.through_water_b is not None},
    )
    return layout, ca.vertcat(*[ca.densify(ca.vec(part)) for part in parts])


@singledispatch
def layout_of(vehicle: Vehicle) -> ObservationLayout:
    """Of a vehicle's rows; forms that are not written as symbols have their own."""
    node, after = (ca.SX.sym(name, vehicle.node_layout.size) for name in ("node", "after"))
    u, p, h = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count), ca.SX.sym("h")
    return observation(vehicle, node, after, u, h, vehicle.symbols(p))[0]


def observed_by_symbols(vehicle: Vehicle, nodes: np.ndarray, us: np.ndarray, h: float) -> Observed:
    """What is observed of nodes (n, node size) a step h apart under controls (n, n_controls), with nothing compiled.

    Observables of a step are nan at the last node. A thousand nodes take milliseconds.
    """
    size = vehicle.node_layout.size
    node, after, u = ca.SX.sym("node", size), ca.SX.sym("after", size), ca.SX.sym("u", len(vehicle.controls))
    step, p = ca.SX.sym("h"), ca.SX.sym("p", vehicle.parameter_count)
    layout, row = observation(vehicle, node, after, u, step, vehicle.symbols(p))
    one = ca.Function("told", [node, after, u, step, p], [row])
    every = one.map("all", "serial", len(nodes), [3, 4], [])
    afters = np.vstack([nodes[1:], nodes[-1:]])
    rows = np.array(every(nodes.T, afters.T, us.T, h, vehicle.parameter_vector)).T
    for name in layout.of_step:
        rows[-1, layout.observables[name]] = np.nan
    return Observed(layout, rows)
