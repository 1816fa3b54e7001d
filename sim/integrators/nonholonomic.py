"""The discrete reduced d'Alembert-Pontryagin integrator (vehicles paper, eqs. 5, 16 and 17).

The step from node k has the shape velocity u_k, acts at the shape r_a = r_k + alpha h u_k, and moves
along the arc of xi_k = e(r_a) c_k - A(r_a) u_k, which satisfies every constraint at r_a:

    r_{k+1} = r_k + h u_k,      g_{k+1} = g_k tau(h xi_k)

Both lines of eq. 16 say the same of two momenta, taken with the connection and basis of the node:
what leaves node k is what is there plus half of the step's impulse from outside, and the other half arrives,

    (P, p)(start of arc k) = (P, p)_k + h/2 (-A(r_k)', e(r_k)') (f_ext(g_k, xi_k, u_k) + 2 w_k)
    (P, p)_{k+1} = (P, p)(end of arc k) + h/2 (-A(r_{k+1})', e(r_{k+1})') f_ext(g_{k+1}, xi_k, u_k)

The private state is (g_k, r_k, P, p): the discrete Legendre transform of the node, so the method starts
itself with full order. Controls are held over the step, as everywhere (see `variational.py`). Where
alpha = 1/2 it is of second order.

In the plane the truncated Cayley member moves by the third diagonal Pade approximant of exp, of which
the Cayley map is the first. It is rational too. But the angle of the Cayley map, 2 atan(w/2), dominates
the error of the whole step: with it the car's heading is 13 times less accurate than rk2's, with the
approximant (as with exp, which the paper takes for its car) it is more accurate.
"""

from collections.abc import Callable
from dataclasses import replace

import casadi as ca

from sim.groups import SE2, SE2_MATRIX, LieGroup
from sim.groups.se2 import Chord, cay_chord, exp_chord, pade_chord
from sim.integrators.base import EULER, Inputs, Scheme, Stages, Tableau
from sim.integrators.flow import CAY_TLN, CHARTS, DifferenceMap
from sim.symbolic import collected
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Quantities

_CHORDS: dict[str, Chord] = {"cay": cay_chord, "exp": exp_chord}


def nonholonomic_samples(vehicle: NonholonomicVehicle) -> tuple[float, ...]:
    """Where controls are part of the node's velocity they are wanted there, too."""
    return (0.0, 0.5) if vehicle.commanded else (0.5,)


def nonholonomic_scheme(
    vehicle: NonholonomicVehicle, inputs: Inputs, chart: DifferenceMap, alpha: float = 0.5
) -> Scheme:
    """Expressions of one step; `alpha` in [0, 1] places the quadrature point."""
    group, controls = storage(vehicle.group), inputs.at(0.5)
    q, h, n = vehicle.symbols(inputs.p), inputs.h, len(vehicle.dynamic)
    basis_size = vehicle.symmetry_basis(inputs.node[vehicle.node_layout.shape], q).shape[1]
    g, r = ca.SX.sym("g", group.pose_dim), ca.SX.sym("r", len(vehicle.shape_coordinates))
    momenta, z = ca.SX.sym("m", n + basis_size), ca.SX.sym("z", n + basis_size + len(vehicle.bound))

    wanted = vehicle.free_velocity(z[:n, 0], controls)
    if vehicle.bound:
        wanted[vehicle.bound] = z[n + basis_size :, 0]
    r_next, u = vehicle.arrival(r, wanted, h)
    at = (1 - alpha) * r + alpha * r_next
    xi = vehicle.body_velocity(at, u, z[n : n + basis_size, 0], q)
    by_r, by_shape, mu = vehicle.gradients(at, u, xi, q)
    push = h * (by_r + vehicle.shape_force(at, u, controls, q))
    leaving_mu = chart.inverse_differential(group, h * xi).T @ mu
    arriving_mu = chart.inverse_differential(group, -h * xi).T @ mu
    leaving = vehicle.momenta(r, by_shape - (1 - alpha) * push, leaving_mu, q)

    pose, g_next = public(group, g), moved(group, chart, g, h * xi)
    before = h / 2 * vehicle.external_wrench(pose, xi, controls, q) + h * inputs.w
    after = h / 2 * vehicle.external_wrench(public(group, g_next), xi, controls, q)
    arriving = vehicle.momenta(r_next, by_shape + alpha * push, arriving_mu, q)

    command = commanded_rates(vehicle, r, inputs.first, h)
    shown = momenta + vehicle.reaction(r, h / 2 * inputs.w, q)
    node_u, node_xi = vehicle.velocities(r, shown, command, q)

    first_u, first_xi = vehicle.velocities(r, momenta, command, q)
    push_now = vehicle.gradients(r, first_u, first_xi, q)[0] + vehicle.shape_force(r, first_u, controls, q)
    outside_now = vehicle.external_wrench(pose, first_xi, controls, q) + inputs.w
    rates = vehicle.momenta(r, push_now, outside_now, q)
    free_u, free_xi = vehicle.velocities(r, momenta + h * rates, command, q)
    return Scheme(
        inputs=inputs,
        y=ca.vertcat(g, r, momenta),
        z=z,
        residual=ca.vertcat(
            leaving + _stop_reaction(vehicle, r, u, wanted, q) - momenta - vehicle.reaction(r, before, q),
            vehicle.binding(at, q) @ u if vehicle.dependent else ca.SX(0, 1),
        ),
        guess=_coordinates(vehicle, r, free_u, free_xi, q),
        y_next=ca.vertcat(
            g_next,
            r_next,
            collected(arriving + vehicle.reaction(r_next, after, q), z),
        ),
        node=ca.vertcat(pose, node_xi, r, node_u),
        start=started(vehicle, group, inputs, q),
        free_velocity=ca.substitute(free_xi, inputs.w, ca.SX.zeros(group.dim)),
    )


def storage(group: LieGroup) -> LieGroup:
    """The storage in which poses are cheapest to compose."""
    return SE2_MATRIX if group is SE2 else group


def moved(group: LieGroup, chart: DifferenceMap, g: ca.SX, x: ca.SX) -> ca.SX:
    """g tau(x)."""
    if group is not SE2_MATRIX:
        return group.compose(g, chart.tau(group, x))
    return SE2_MATRIX.moved(g, x, pade_chord if chart is CAY_TLN else _CHORDS[chart.name])


def public(group: LieGroup, g: ca.SX) -> ca.SX:
    return SE2_MATRIX.to_angle(g) if group is SE2_MATRIX else g


def commanded_rates(vehicle: NonholonomicVehicle, r: ca.SX, controls: ca.SX, h: ca.SX) -> ca.SX:
    """Controls, with those that are shape velocities limited by the stops."""
    zero = ca.SX.zeros(len(vehicle.dynamic))
    _, rates = vehicle.arrival(r, vehicle.free_velocity(zero, controls), h)
    limited = ca.SX(controls)
    names = [c.name for c in vehicle.controls]
    for i, s in enumerate(vehicle.shape_coordinates):
        if s.name in vehicle.commanded:
            limited[names.index(vehicle.commanded[s.name])] = rates[i]
    return limited


def _stop_reaction(vehicle: NonholonomicVehicle, r: ca.SX, u: ca.SX, wanted: ca.SX, q: Quantities) -> ca.SX:
    """Momentum that an ideal, inelastic stop takes up: what the wanted velocity has in excess of the possible one."""
    xi = ca.SX.zeros(vehicle.group.dim)
    here = ca.SX.sym("u", u.shape[0])
    mass = ca.jacobian(vehicle.gradients(r, here, xi, q)[1], here)
    excess = wanted - u
    rows = [mass[i, i] * excess[i] for i in vehicle.dynamic]
    return ca.vertcat(*rows, ca.SX(vehicle.symmetry_basis(r, q).shape[1], 1))


def _coordinates(vehicle: NonholonomicVehicle, r: ca.SX, u: ca.SX, xi: ca.SX, q: Quantities) -> ca.SX:
    """z = (own shape velocities, c, dependent ones) of an admissible velocity."""
    basis = vehicle.symmetry_basis(r, q)
    own = u[vehicle.dynamic]
    bound = u[vehicle.bound] if vehicle.bound else ca.SX(0, 1)
    if basis.shape[1] == 0:
        return ca.vertcat(own, bound)
    vertical = xi + vehicle.connection(r, q) @ u
    return ca.vertcat(own, ca.solve(basis.T @ basis, basis.T @ vertical), bound)


def started(vehicle: NonholonomicVehicle, group: LieGroup, inputs: Inputs, q: Quantities) -> ca.SX:
    """Private state of a node: its momenta."""
    at = vehicle.node_layout
    g, xi, r, u = (inputs.node[s] for s in (at.pose, at.velocity, at.shape, at.shape_velocity))
    _, by_shape, mu = vehicle.gradients(r, u, xi, q)
    momenta = vehicle.momenta(r, by_shape, mu, q)
    return ca.vertcat(SE2_MATRIX.from_angle(g) if group is SE2_MATRIX else g, r, momenta)


Rate = Callable[[ca.SX, float | ca.SX], tuple[ca.SX, ca.SX]]
"""(state, moment of the step) -> body velocity and (r, P, p)'."""


def runge_kutta_scheme(vehicle: NonholonomicVehicle, inputs: Inputs, tableau: Tableau) -> Scheme:
    """Stages on (chart, r, P, p)."""
    chart, moment = CHARTS[vehicle.group], ca.SX.sym("moment")

    def step(y: ca.SX, rate: Rate) -> tuple[ca.SX, Stages | None]:
        def flat_rate(s: ca.SX, moment: float | ca.SX) -> ca.SX:
            xi, inner = rate(s, moment)
            return ca.vertcat(chart.rate(s[: chart.size], xi), inner)

        def after(s: ca.SX) -> ca.SX:
            return ca.vertcat(chart.renormalised(s[: chart.size]), s[chart.size :])

        state, stages = ca.SX.sym("stage", y.numel()), None
        if tableau.subdiagonal and not inputs.samples:
            stages = Stages(tableau, state, moment, flat_rate(state, moment), after(state))
        return after(tableau.step(flat_rate, y, inputs.h)[0]), stages

    return _scheme(vehicle, inputs, chart.size, chart.encode, chart.decode, step)


def lie_euler_scheme(vehicle: NonholonomicVehicle, inputs: Inputs) -> Scheme:
    """g <- g exp(h xi), everything else by forward Euler."""
    group = vehicle.group

    def step(y: ca.SX, rate: Rate) -> tuple[ca.SX, None]:
        xi, _ = rate(y, 0.0)
        inner, _ = EULER.step(lambda _, moment: rate(y, moment)[1], y[group.pose_dim :], inputs.h)
        return ca.vertcat(group.compose(y[: group.pose_dim], group.exp(inputs.h * xi)), inner), None

    return _scheme(vehicle, inputs, group.pose_dim, lambda g: g, lambda s: s, step)


def _scheme(
    vehicle: NonholonomicVehicle,
    inputs: Inputs,
    pose_size: int,
    encode: Callable[[ca.SX], ca.SX],
    decode: Callable[[ca.SX], ca.SX],
    step: Callable[[ca.SX, Rate], tuple[ca.SX, Stages | None]],
) -> Scheme:
    """step: what the private state becomes before the shape's stops, and in which stages."""
    at, shapes = vehicle.node_layout, len(vehicle.shape_coordinates)
    q, h = vehicle.symbols(inputs.p), inputs.h
    momenta_size = len(vehicle.dynamic) + vehicle.symmetry_basis(inputs.node[at.shape], q).shape[1]
    y = ca.SX.sym("y", pose_size + shapes + momenta_size)
    r, momenta = y[pose_size : pose_size + shapes], y[pose_size + shapes :]
    command = commanded_rates(vehicle, r, inputs.at(0.0), h)
    state, controls = ca.SX.sym("state", y.numel()), ca.SX.sym("controls", len(vehicle.controls))
    shape = vehicle.clipped(state[pose_size : pose_size + shapes])
    limited = commanded_rates(vehicle, r, controls, h)
    u, xi = vehicle.velocities(shape, state[pose_size + shapes :], limited, q)
    wrench = vehicle.external_wrench(decode(state[:pose_size]), xi, controls, q) + inputs.w
    rates = [xi, ca.vertcat(u, vehicle.momentum_rates(shape, u, xi, wrench, controls, q))]

    def rate(s: ca.SX, moment: float | ca.SX) -> tuple[ca.SX, ca.SX]:
        xi, inner = ca.substitute(rates, [state, controls], [s, inputs.at(moment)])
        return xi, inner

    u, xi = vehicle.velocities(r, momenta, command, q)
    end, stages = step(y, rate)
    stopped = _stopped(vehicle, state, pose_size, command, q)
    free_momenta = momenta + h * ca.substitute(
        rate(y, 0.0)[1][shapes:], inputs.w, ca.SX.zeros(vehicle.group.dim)
    )
    r_begun, u_begun, xi_begun = (inputs.node[s] for s in (at.shape, at.shape_velocity, at.velocity))
    by_shape, mu = vehicle.gradients(r_begun, u_begun, xi_begun, q)[1:]
    return Scheme(
        inputs=inputs,
        y=y,
        y_next=ca.substitute(stopped, state, end),
        stages=stages and replace(stages, after=ca.substitute(stopped, state, stages.after)),
        node=ca.vertcat(decode(y[:pose_size]), xi, r, u),
        start=ca.vertcat(
            encode(inputs.node[at.pose]),
            inputs.node[at.shape],
            vehicle.momenta(inputs.node[at.shape], by_shape, mu, q),
        ),
        free_velocity=vehicle.velocities(r, free_momenta, command, q)[1],
    )


def _stopped(
    vehicle: NonholonomicVehicle, end: ca.SX, pose_size: int, command: ca.SX, q: Quantities
) -> ca.SX:
    """A shape beyond its stops is put back onto them, and what would carry it further is taken away."""
    shapes = len(vehicle.shape_coordinates)
    limited = [i for i in vehicle.dynamic if vehicle.shape_coordinates[i].limited]
    if not limited:
        return end
    r, momenta = end[pose_size : pose_size + shapes], end[pose_size + shapes :]
    inside = vehicle.clipped(r)
    u, xi = vehicle.velocities(inside, momenta, command, q)
    outward, beyond = ca.SX(shapes, 1), ca.SX(0)
    for i in limited:
        past = r[i] - inside[i]
        outward[i] = ca.if_else(past > 0, ca.fmax(u[i], 0), ca.if_else(past < 0, ca.fmin(u[i], 0), 0))
        beyond = ca.logic_or(beyond, past != 0)
    xi = xi + vehicle.connection(inside, q) @ outward
    _, by_shape, mu = vehicle.gradients(inside, u - outward, xi, q)
    kept = vehicle.momenta(inside, by_shape, mu, q)
    return ca.vertcat(end[:pose_size], inside, ca.if_else(beyond, kept, momenta))
