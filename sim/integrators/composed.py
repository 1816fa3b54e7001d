"""Variational methods of higher order: symmetric compositions of the symmetric second-order step, and Galerkin arcs.

The step goes from node to node: half of the impulse, the arc, half of the impulse. The first half is
explicit and the second implicit in velocity-dependent forces, so each undoes the other under h -> -h and
the step is symmetric with any forces. Compositions of symmetric steps with substeps h gamma_i keep what
the step keeps: spatial momentum exactly, symplecticity, no drift of energy. They raise the order of the
forces' part; that of the arc is higher already (see below) where the body allows it. Some gammas are
negative: very stiff drag is not for these.
"""

from collections.abc import Callable
from typing import ClassVar

import casadi as ca
import numpy as np

from sim.groups import SO3, SO3_R3, LieGroup
from sim.groups.so3 import rotation_cay
from sim.integrators.base import Inputs, Integrator, Scheme
from sim.integrators.flow import CAY, conserves_energy, frames, simplest_group, wrench_on
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import Form
from sim.vehicles.forms.holonomic import HolonomicVehicle
from sim.vehicles.forms.parameters import Quantities


@dataclass(frozen=True)
class Arc:
    """In the group's trivialisation, as functions of the arc's velocity xi."""

    leaving: ca.SX
    """(dim,) momentum at the first node."""
    lost: ca.SX
    """(dim,) by which the momentum at the second node, seen from there, is less."""
    displacement: ca.SX
    """Flat element of the group."""
    guess: Callable[[ca.SX], ca.SX]
    """First guess of xi from the momentum at the first node."""


def free_arc(vehicle: HolonomicVehicle, group: LieGroup, g: ca.SX, xi: ca.SX, h: ca.SX, q: Quantities) -> Arc:
    """Of sixth order where the body turns about principal axes and for itself, else of second order."""
    inertia, bias = ca.sparsify(vehicle.inertia(q)), ca.sparsify(vehicle.momentum_bias(q))
    turns_alone = group in (SO3, SO3_R3) and bias.nnz() == 0
    if turns_alone and ca.sparsify(inertia[:3, :3] - ca.diag(ca.diag(inertia[:3, :3]))).nnz() == 0:
        return turning_arc(group, inertia, xi, h)
    return cayley_arc(vehicle, group, g, xi, h, q)


def cayley_arc(
    vehicle: HolonomicVehicle, group: LieGroup, g: ca.SX, xi: ca.SX, h: ca.SX, q: Quantities
) -> Arc:
    """Kinetic energy of xi itself, tau = cay (vehicles paper, eqs. 9 and 10)."""
    to_group, to_body = frames(group, g)
    momentum = to_group @ vehicle.momentum(to_body @ xi, q)

    def guess(leaving: ca.SX) -> ca.SX:
        first = vehicle.velocity_of(to_body @ leaving, q)
        straight = to_group @ first
        turned = 2 * leaving - group.tln_inv(h * straight).T @ to_group @ vehicle.momentum(first, q)
        return to_group @ vehicle.velocity_of(to_body @ turned, q)

    return Arc(
        leaving=CAY.inverse_differential(group, h * xi).T @ momentum,
        # dtau^-1 at h xi and at -h xi differ by ad(h xi), for every odd tau.
        lost=-(group.ad(h * xi).T @ momentum),
        displacement=CAY.tau(group, h * xi),
        guess=guess,
    )


HALF_TANGENT = (1.0, 1 / 12, 1 / 120, 17 / 20160, 31 / 362880)
"""tan(a/2)/(a/2) in powers of a^2."""
GUARD = 3e-8
"""Keeps the energy growing beyond 2.5 rad, where its series is of no use; at 1 rad it is 1e-8 of it."""

FARTHEST = 4.5
"""First guesses turn by no more about any axis [rad]; no solution does at speeds up to a million rad a step."""


def turning_arc(group: LieGroup, inertia: ca.SX, xi: ca.SX, h: ca.SX) -> Arc:
    """Sixth order in rotation, exact in translation (world velocity), one global chart: solvable at any h.

    tau(x) = cay(t x), t = tan(|x|/2)/(|x|/2) cut to a polynomial: exp to O(|x|^11), but without its
    singularities. In terms of exp the action s(x)/h of the exact motion solves the Hamilton-Jacobi equation
    |dexp^-1(x)' grad s|^2 = 2 s in the norm of I^-1 (Marsden & West 2001, section 1.6), hence for any group

        s = <x, I x>/2 - <a, I a>/24 + <c, I (c - d)>/240 - <f, I f>/1440 + O(|x|^8),    f = d + e - c,
        I a = ad(x)' I x,   c = [x, a],   I d = ad(a)' I x,   I e = ad(x)' I a.

    About principal axes a_i = alpha_i x_j x_k, which makes it a polynomial in the squares of x.
    """
    J, omega = ca.diag(inertia[:3, :3]), xi[:3]
    squares = ca.SX.sym("squares", 3)
    alpha = [(J[j] - J[k]) / J[i] for i, j, k in _AXES]
    quartic, sextic, mixed = ca.SX(0), ca.SX(0), ca.SX(0)
    for i, j, k in _AXES:
        # c_i, d_i, e_i are x_i times these coefficients of x_j^2 and x_k^2.
        c = (alpha[k], -alpha[j])
        d = (J[j] * alpha[k] / J[i], -J[k] * alpha[j] / J[i])
        e = (-J[k] * alpha[k] / J[i], J[j] * alpha[j] / J[i])
        r, f = [c[n] - d[n] for n in (0, 1)], [d[n] + e[n] - c[n] for n in (0, 1)]
        quartic -= J[i] * alpha[i] ** 2 / 24 * squares[j] * squares[k]
        for n, m in ((0, j), (1, k)):
            sextic += J[i] * (c[n] * r[n] / 240 - f[n] ** 2 / 1440) * squares[m] ** 2 * squares[i]
        mixed += J[i] * ((c[0] * r[1] + c[1] * r[0]) / 240 - f[0] * f[1] / 720)
    sextic += mixed * squares[0] * squares[1] * squares[2]

    z = h**2 * ca.dot(omega, omega)
    own = J + GUARD * ca.sum1(J) * z**8
    for power, part in ((2, quartic), (4, sextic)):
        slopes = ca.substitute(ca.gradient(part, squares), squares, omega * omega)
        own += 2 * h**power * slopes
    gradient = own * omega

    t = _polynomial(HALF_TANGENT, z)
    slope = _polynomial([n * b for n, b in enumerate(HALF_TANGENT)][1:], z)
    stretch = t + 2 * z * slope
    shared = 1 / (t * stretch)
    # dtau^-1 = (1/t) 1 - hat(x)/2 + (t^3/4 - 2 dt/dz)/(t stretch) x x'.
    even = shared * (stretch * gradient + h**2 * (t**3 / 4 - 2 * slope) * ca.dot(omega, gradient) * omega)
    odd = h * ca.cross(omega, gradient)
    moves = group.dim > 3
    still = ca.SX(group.dim - 3, 1)
    linear = inertia[3:, 3:] @ xi[3:] if moves else still
    turn = ca.vec(rotation_cay(h * t * omega))

    def guess(leaving: ca.SX) -> ca.SX:
        """Magnus series of the free motion to h^4, at long steps a point beyond the solution."""
        m0 = leaving[:3]
        w0 = m0 / J
        m1 = ca.cross(m0, w0)
        w1 = m1 / J
        m2 = ca.cross(m1, w0) + ca.cross(m0, w1)
        w2 = m2 / J
        w3 = (ca.cross(m2, w0) + 2 * ca.cross(m1, w1) + ca.cross(m0, w2)) / J
        mean = w0 + h / 2 * (w1 + h / 3 * (w2 + ca.cross(w0, w1) / 2 + h / 4 * (w3 + ca.cross(w0, w2))))
        mean = ca.fmax(ca.fmin(mean, FARTHEST / ca.fabs(h)), -FARTHEST / ca.fabs(h))
        return ca.vertcat(mean, leaving[3:] / ca.diag(inertia[3:, 3:])) if moves else mean

    return Arc(
        leaving=ca.vertcat(even + odd / 2, linear),
        lost=ca.vertcat(odd, still),
        displacement=ca.vertcat(turn, h * xi[3:]) if moves else turn,
        guess=guess,
    )


_AXES = ((0, 1, 2), (1, 2, 0), (2, 0, 1))


def _polynomial(coefficients: tuple[float, ...] | list[float], z: ca.SX) -> ca.SX:
    total = ca.SX(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        total = c + z * total
    return total


def suzuki(pairs: int) -> tuple[float, ...]:
    """Fourth order by 2 `pairs` equal substeps around one that goes back (Suzuki 1990): more are smaller, too."""
    gamma = 1 / (2 * pairs - (2 * pairs) ** (1 / 3))
    return (*[gamma] * pairs, 1 - 2 * pairs * gamma, *[gamma] * pairs)


_KAHAN_LI = (0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.082213596293550800230)
KAHAN_LI6 = (*_KAHAN_LI, 0.79854399093482996340, *reversed(_KAHAN_LI))
"""Sixth order (Kahan and Li 1997)."""


@dataclass(frozen=True)
class Composed(Integrator):
    """One composition."""

    name: str
    substeps: tuple[float, ...]
    order: int
    doc: str
    family: str = "variational"
    source: str = "vehicles paper, eqs. 9-10, composed"
    tau: str = "cay"

    @property
    def force_evaluations(self) -> int:  # type: ignore[override]
        return len(self.substeps) + 1

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return ("momentum", "energy") if conserves_energy(vehicle) else ("momentum",)

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """Node to node: half of the impulse, the arc, half of the impulse."""
        group = simplest_group(vehicle)
        q, h = vehicle.symbols(inputs.p), inputs.h
        g, mu, xi = ca.SX.sym("g", group.pose_dim), ca.SX.sym("m", group.dim), ca.SX.sym("xi", group.dim)

        def wrench(pose: ca.SX, twist: ca.SX) -> ca.SX:
            total = vehicle.wrench(pose, twist, inputs.at(0.5), q) + inputs.w
            return frames(group, pose)[0] @ total

        _, to_body = frames(group, g)
        twist = vehicle.velocity_of(to_body @ mu, q)
        leaving = mu + h / 2 * wrench(g, twist)
        arc = free_arc(vehicle, group, g, xi, h, q)
        g_next = group.compose(g, arc.displacement)

        last = ca.SX.sym("last", group.dim)
        resisted = ca.depends_on(vehicle.wrench(g, last, inputs.at(0.5), q), last)
        _, next_to_body = frames(group, g_next)
        end = leaving - arc.lost + h / 2 * wrench(g_next, last if resisted else ca.SX.zeros(group.dim))
        z, residual, guess = xi, arc.leaving - leaving, arc.guess(leaving)
        if resisted:
            imbalance = vehicle.momentum(last, q) - next_to_body @ end
            z, residual = ca.vertcat(xi, last), ca.vertcat(residual, imbalance)
            guess = ca.vertcat(guess, vehicle.velocity_of(to_body @ leaving, q))
        start_g, start_twist = inputs.node[: group.pose_dim], inputs.node[vehicle.node_layout.velocity]
        accelerated = vehicle.acceleration(g, twist, inputs.at(0.5), ca.SX.zeros(group.dim), q)
        return Scheme(
            inputs=inputs,
            y=ca.vertcat(g, mu),
            z=z,
            residual=residual,
            guess=guess,
            y_next=ca.vertcat(g_next, end),
            node=ca.vertcat(g, twist),
            start=ca.vertcat(start_g, frames(group, start_g)[0] @ vehicle.momentum(start_twist, q)),
            free_velocity=twist + h * accelerated,
            substeps=self.substeps,
            updates_per_jacobian=2,
        )

    forms: ClassVar = {Form.EULER_POINCARE: on_group}


def gauss(count: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(moments, weights) of Gauss' quadrature over a step, and what slopes at those moments add up to until each."""
    points, weights = np.polynomial.legendre.leggauss(count)
    c = (1 + points) / 2
    until = np.array(
        [[np.polyint(np.poly(np.delete(c, j))) / np.prod(c[j] - np.delete(c, j)) for j in range(count)]]
    )
    return c, weights / 2, np.array([[np.polyval(p, moment) for p in until[0]] for moment in c])


@dataclass(frozen=True)
class Galerkin(Integrator):
    """Arcs that are polynomials in the chart cay about the step's start, the action taken at Gauss points.

    With x_i = h sum a_ij V_j the coordinates at a point, xi = dcay(-x) V the velocity there, l(xi) the kinetic energy,
    f the wrench and F = dl/dx + dcay(-x)' f, an arc from mu_0 to mu_1 is stationary in the V, its start and its end:

        dl/dV_i = p - h sum (b_j - a_ij) F_j,
        dcay^-1(x)' p = mu_0 + h sum b_j Ad(cay(-x_j))' f_j,    mu_1 = dcay^-1(-x)' p,    x = h sum b_j V_j.

    The chart goes with the start, which its second row knows, so that the step is symplectic and keeps spatial
    momentum; collocation in the same chart has mu_0 + h sum b_j F_j = p instead and does neither.
    """

    name: str
    points: int
    """Of Gauss, and the degree of an arc."""
    doc: str
    family: str = "variational"
    source: str = "Hall and Leok 2015, Lie group spectral variational integrators"
    tau: str = "cay"

    @property
    def order(self) -> int:  # type: ignore[override]
        return 2 * self.points

    @property
    def force_evaluations(self) -> int:  # type: ignore[override]
        return self.points

    def samples(self, vehicle: Vehicle) -> tuple[float, ...]:
        return tuple(gauss(self.points)[0])

    def keeps(self, vehicle: Vehicle) -> tuple[str, ...]:
        return ("momentum", "energy") if conserves_energy(vehicle) else ("momentum",)

    def on_group(self, vehicle: HolonomicVehicle, inputs: Inputs) -> Scheme:
        """One step on (g, mu), with the chart's velocities at the Gauss points as unknowns."""
        group, (c, b, a) = simplest_group(vehicle), gauss(self.points)
        q, h, n = vehicle.symbols(inputs.p), inputs.h, group.dim
        g, mu, z = ca.SX.sym("g", group.pose_dim), ca.SX.sym("m", n), ca.SX.sym("z", n * self.points)
        rates = ca.reshape(z, n, self.points)
        x, V, m = ca.SX.sym("x", n), ca.SX.sym("V", n), ca.SX.sym("m", n)
        by_place = ca.jtimes(group.dcay(-x) @ V, x, m, True)

        momenta, forces, brought = [], [], mu
        for i, rate in enumerate(ca.horzsplit(rates)):
            at = h * (rates @ a[i])
            pose, tangent = group.compose(g, group.cay(at)), group.dcay(-at)
            to_group, to_body = frames(group, pose)
            twist = to_body @ (tangent @ rate)
            momentum = to_group @ vehicle.momentum(twist, q)
            wrench = wrench_on(vehicle, group, pose, twist, inputs.at(c[i]), q) + to_group @ inputs.w
            turned = ca.substitute(by_place, ca.vertcat(x, V, m), ca.vertcat(at, rate, momentum))
            momenta.append(tangent.T @ momentum)
            forces.append(turned + tangent.T @ wrench)
            brought += h * b[i] * (group.Ad(group.cay(-at)).T @ wrench)
        end = h * (rates @ b)
        F, last = ca.horzcat(*forces), group.dcay(end).T @ brought

        to_group, to_body = frames(group, g)
        twist = vehicle.velocity_of(to_body @ mu, q)
        acting = wrench_on(vehicle, group, g, twist, inputs.first, q) + to_group @ inputs.w
        changing = group.ad(to_group @ twist).T @ mu + acting
        accelerated = vehicle.acceleration(g, twist, inputs.first, ca.SX.zeros(n), q)
        start_g, start_twist = inputs.node[: group.pose_dim], inputs.node[vehicle.node_layout.velocity]
        return Scheme(
            inputs=inputs,
            y=ca.vertcat(g, mu),
            z=z,
            residual=ca.vertcat(*[p - last + h * (F @ (b - a[i])) for i, p in enumerate(momenta)]),
            guess=ca.vertcat(
                *[to_group @ vehicle.velocity_of(to_body @ (mu + h * share * changing), q) for share in c]
            ),
            y_next=ca.vertcat(group.compose(g, group.cay(end)), group.dcay_inv(-end).T @ last),
            node=ca.vertcat(g, twist),
            start=ca.vertcat(start_g, frames(group, start_g)[0] @ vehicle.momentum(start_twist, q)),
            free_velocity=twist + h * accelerated,
            updates_per_jacobian=2,
        )

    forms: ClassVar = {Form.EULER_POINCARE: on_group}


COMPOSED: tuple[Integrator, ...] = (
    Composed(
        "variational-4",
        suzuki(3),
        4,
        "Seven variational steps composed to fourth order: exact momentum and no drift, with accuracy. A free body "
        "without a rotor turns to sixth order.",
    ),
    Composed(
        "variational-6",
        KAHAN_LI6,
        6,
        "Nine variational steps composed to sixth order: for long runs that have to be right to many digits.",
    ),
    Galerkin(
        "galerkin-4",
        2,
        "Arcs of degree two, the action taken at two Gauss points: fourth order, symplectic, spatial momentum to "
        "rounding, no drift of energy. For long steps, and for plans with few. A body has to turn by less than 1.5 rad "
        "in a step.",
    ),
    Galerkin(
        "galerkin-6",
        3,
        "As `galerkin-4`, of degree three at three Gauss points: sixth order.",
    ),
)
