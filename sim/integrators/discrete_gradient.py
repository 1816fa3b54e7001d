"""A step that keeps the energy of a vehicle with a shape exactly, whatever its symmetries.

The admissible momenta p and the shape r move by r' = S v, p' = -S' dH/dr + K(p) v with v = dH/dp, where v' K v = 0. The
step puts Gonzalez' discrete gradient of H in place of both slopes, and takes S and K in the middle:

    v = H_p(m) + c dp,   w = H_r(m) + c dr,   c = (H(1) - H(0) - H_p dp - H_r dr) / (|dp|^2 + |dr|^2)
    dr = h S v,          dp = h (-S' w + K v + J' f),       H(1) - H(0) = w dr + v dp = h f J v

so that energy changes by the work of outer forces alone. It is symmetric and of second order. Where a motion is not
reversible, variational methods drift in energy (Modin and Verdier 2020); this one does not, as E. Celledoni,
M. Farre Puiggali, E. H. Hoiseth, D. Martin de Diego, "Energy-preserving integrators applied to nonholonomic systems",
J. Nonlinear Science 29, 2019, have it.
"""

from typing import ClassVar

import casadi as ca

from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.flow import EXP
from sim.integrators.nonholonomic import moved, public, started, storage
from sim.platform.values import dataclass
from sim.symbolic import replaced
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Quantities

_STANDING = 1e-30
"""Added to the square of a step's way, which is zero at rest."""


@dataclass(frozen=True)
class DiscreteGradient(Integrator):
    """Gonzalez' on the admissible momenta."""

    name: str = "discrete-gradient"
    family: str = "energy"
    order: int = 2
    doc: str = (
        "Discrete gradient of the energy on the momenta that constraints admit: energy of vehicles on wheels or blades "
        "is kept to rounding, also where variational methods drift. Second order; no stops, nothing commanded."
    )
    source: str = "Celledoni, Farre Puiggali, Hoiseth, Martin de Diego 2019"
    force_evaluations: int = 2
    tau: str = "exp"

    def lacks(self, vehicle: Vehicle) -> str:
        if isinstance(vehicle, NonholonomicVehicle):
            if vehicle.commanded:
                return f"{self.name} needs a shape that moves by itself; of {vehicle.name} some is commanded"
            if any(vehicle.shape_coordinates[i].limited for i in vehicle.dynamic):
                return f"{self.name} needs a shape without stops; {vehicle.name} has some"
        return ""

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        assert isinstance(vehicle, NonholonomicVehicle)
        return ("energy", "constraints") if _left_alone(vehicle) else ("constraints",)

    def on_shape(self, vehicle: NonholonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (g, r, P, p)."""
        return _scheme(vehicle, inputs)

    forms: ClassVar = {Form.REDUCED_DALEMBERT: on_shape}


def _left_alone(vehicle: NonholonomicVehicle) -> bool:
    """Nothing acts on it but controls and the slope of its Lagrangian."""
    q, at = vehicle.symbols(ca.SX.sym("p", vehicle.parameter_count)), vehicle.node_layout
    node, still = ca.SX.sym("node", at.size), ca.SX.zeros(len(vehicle.controls))
    outer = vehicle.external_wrench(node[at.pose], node[at.velocity], still, q)
    inner = vehicle.shape_force(node[at.shape], node[at.shape_velocity], still, q)
    return ca.sparsify(ca.vertcat(outer, inner)).nnz() == 0


@dataclass(frozen=True)
class _Mechanics:
    """Of one vehicle, in own velocities v: of dynamic coordinates, then c."""

    vehicle: NonholonomicVehicle
    controls: ca.SX
    q: Quantities

    def own(self, r: ca.SX, momenta: ca.SX) -> ca.SX:
        """v = H_p."""
        u, xi = self.vehicle.velocities(r, momenta, self.controls, self.q)
        return self.reduced(r, u, xi)

    def reduced(self, r: ca.SX, u: ca.SX, xi: ca.SX) -> ca.SX:
        """v of an admissible velocity."""
        basis, rows = self.vehicle.symmetry_basis(r, self.q), u[self.vehicle.dynamic]
        if not basis.shape[1]:
            return rows
        along = xi + self.vehicle.connection(r, self.q) @ u
        return ca.vertcat(rows, ca.solve(basis.T @ basis, basis.T @ along))

    def velocity(self, r: ca.SX, v: ca.SX) -> tuple[ca.SX, ca.SX]:
        """(u, xi) = J(r) v."""
        n = len(self.vehicle.dynamic)
        u = self.vehicle.shape_velocity(r, v[:n, 0], self.controls, self.q)
        return u, self.vehicle.body_velocity(r, u, v[n:, 0], self.q)

    def energy(self, r: ca.SX, momenta: ca.SX) -> ca.SX:
        """H [J]."""
        u, xi = self.vehicle.velocities(r, momenta, self.controls, self.q)
        _, by_shape, mu = self.vehicle.gradients(r, u, xi, self.q)
        return ca.dot(by_shape, u) + ca.dot(mu, xi) - self.vehicle.lagrangian(r, u, xi, self.q)

    def by_shape(self, r: ca.SX, momenta: ca.SX) -> ca.SX:
        """H_r at constant momenta: the constrained Lagrangian's slope at constant v, turned round."""
        here, v = ca.SX.sym("r", r.shape[0]), ca.SX.sym("v", momenta.shape[0])
        slope = ca.gradient(self.vehicle.lagrangian(here, *self.velocity(here, v), self.q), here)
        return -replaced([slope], [here, v], [r, self.own(r, momenta)])[0]

    def turning(self, r: ca.SX, momenta: ca.SX, v: ca.SX) -> ca.SX:
        """K(p) v, whose product with v vanishes."""
        of, q = self.vehicle, self.q
        true_u, true_xi = of.velocities(r, momenta, self.controls, q)
        _, by_shape, mu = of.gradients(r, true_u, true_xi, q)
        here, bent, carried = (
            ca.SX.sym(name, x.shape[0]) for name, x in (("r", r), ("l", by_shape), ("m", mu))
        )
        fixed = ca.SX.sym("v", v.shape[0])
        u, xi = self.velocity(here, fixed)
        along = ca.jtimes(of.momenta(here, bent, carried, q), here, u)
        against = ca.gradient(ca.dot(bent, u) + ca.dot(carried, xi), here)
        none = ca.SX.zeros(mu.shape[0])
        turned = of.momenta(here, -against, none, q) + of.momenta(
            here, ca.SX.zeros(r.shape[0]), of.group.ad(xi).T @ carried, q
        )
        return replaced([along + turned], [here, bent, carried, fixed], [r, by_shape, mu, v])[0]


def _scheme(vehicle: NonholonomicVehicle, inputs: Inputs) -> Scheme:
    group, at, h = storage(vehicle.group), vehicle.node_layout, inputs.h
    q, controls = vehicle.symbols(inputs.p), inputs.at(0.5)
    of = _Mechanics(vehicle, controls, q)
    shapes, n = len(vehicle.shape_coordinates), len(vehicle.dynamic)
    size = n + vehicle.symmetry_basis(inputs.node[at.shape], q).shape[1]
    g, r, momenta = (
        ca.SX.sym("g", group.pose_dim),
        ca.SX.sym("r", shapes),
        ca.SX.sym("m", size),
    )
    z = ca.SX.sym("z", 2 * size + len(vehicle.bound))
    v, dp = z[:size, 0], z[size : 2 * size, 0]
    u = vehicle.free_velocity(v[:n, 0], controls)
    if vehicle.bound:
        u[vehicle.bound] = z[2 * size :, 0]
    dr = h * u
    middle, halfway = r + dr / 2, momenta + dp / 2
    xi = vehicle.body_velocity(middle, u, v[n:, 0], q)

    slope_p, slope_r = of.own(middle, halfway), of.by_shape(middle, halfway)
    gain = of.energy(r + dr, momenta + dp) - of.energy(r, momenta)
    way = ca.sumsqr(dp) + ca.sumsqr(dr) + _STANDING
    c = (gain - ca.dot(slope_p, dp) - ca.dot(slope_r, dr)) / way

    g_next = moved(group, EXP, g, h * xi)
    outside = [vehicle.external_wrench(public(group, x), xi, controls, q) for x in (g, g_next)]
    push = vehicle.shape_force(middle, u, controls, q) - slope_r - c * dr
    pushed = vehicle.momenta(middle, push, (outside[0] + outside[1]) / 2 + inputs.w, q)

    node_u, node_xi = vehicle.velocities(r, momenta, controls, q)
    free = vehicle.momentum_rates(
        r, node_u, node_xi, vehicle.external_wrench(public(group, g), node_xi, controls, q), controls, q
    )
    _, free_xi = vehicle.velocities(r, momenta + h * free, controls, q)
    bound = node_u[vehicle.bound] if vehicle.bound else ca.SX(0, 1)
    return Scheme(
        inputs=inputs,
        y=ca.vertcat(g, r, momenta),
        z=z,
        residual=ca.vertcat(
            v - slope_p - c * dp,
            dp - h * (pushed + of.turning(middle, halfway, v)),
            vehicle.binding(middle, q) @ u if vehicle.dependent else ca.SX(0, 1),
        ),
        guess=ca.vertcat(of.reduced(r, node_u, node_xi), h * free, bound),
        y_next=ca.vertcat(g_next, r + dr, momenta + dp),
        node=ca.vertcat(public(group, g), node_xi, r, node_u),
        start=started(vehicle, group, inputs, q),
        free_velocity=free_xi,
    )
