"""Methods for the continuous reduced equations of nonholonomic vehicles, the comparators of the variational ones.

The equations are those of the momenta (P, p), shape and pose: the nonholonomic momentum equation
with the connection for reconstruction (vehicles paper, section 3.2; Bloch, Krishnaprasad, Marsden
and Murray, "Nonholonomic mechanical systems with symmetry", 1996).
"""

from collections.abc import Callable

import casadi as ca

from sim.integrators.base import Inputs, Scheme
from sim.integrators.chart import CHARTS
from sim.integrators.nonholonomic import commanded_rates
from sim.integrators.tableau import EULER, Tableau
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.vehicles.forms.parameters import Quantities

Rate = Callable[[ca.SX, float], tuple[ca.SX, ca.SX]]
"""(state, moment of the step) -> body velocity and (r, P, p)'."""


def runge_kutta_scheme(vehicle: NonholonomicVehicle, inputs: Inputs, tableau: Tableau) -> Scheme:
    """Stages on (chart, r, P, p)."""
    chart = CHARTS[vehicle.group]

    def step(y: ca.SX, rate: Rate) -> ca.SX:
        def flat_rate(s: ca.SX, moment: float) -> ca.SX:
            xi, inner = rate(s, moment)
            return ca.vertcat(chart.rate(s[: chart.size], xi), inner)

        end, _ = tableau.step(flat_rate, y, inputs.h)
        return ca.vertcat(chart.renormalised(end[: chart.size]), end[chart.size :])

    return _scheme(vehicle, inputs, chart.size, chart.encode, chart.decode, step)


def lie_euler_scheme(vehicle: NonholonomicVehicle, inputs: Inputs) -> Scheme:
    """g <- g exp(h xi), everything else by forward Euler."""
    group = vehicle.group

    def step(y: ca.SX, rate: Rate) -> ca.SX:
        xi, _ = rate(y, 0.0)
        inner, _ = EULER.step(lambda _, moment: rate(y, moment)[1], y[group.pose_dim :], inputs.h)
        return ca.vertcat(group.compose(y[: group.pose_dim], group.exp(inputs.h * xi)), inner)

    return _scheme(vehicle, inputs, group.pose_dim, lambda g: g, lambda s: s, step)


def _scheme(
    vehicle: NonholonomicVehicle,
    inputs: Inputs,
    pose_size: int,
    encode: Callable[[ca.SX], ca.SX],
    decode: Callable[[ca.SX], ca.SX],
    step: Callable[[ca.SX, Rate], ca.SX],
) -> Scheme:
    at, shapes = vehicle.node_layout, len(vehicle.shape_coordinates)
    q, h = vehicle.symbols(inputs.p), inputs.h
    momenta_size = len(vehicle.dynamic) + vehicle.symmetry_basis(inputs.node[at.shape], q).shape[1]
    y = ca.SX.sym("y", pose_size + shapes + momenta_size)
    r, momenta = y[pose_size : pose_size + shapes], y[pose_size + shapes :]
    command = commanded_rates(vehicle, r, inputs.at(0.0), h)

    def rate(s: ca.SX, moment: float) -> tuple[ca.SX, ca.SX]:
        controls = inputs.at(moment)
        shape = vehicle.clipped(s[pose_size : pose_size + shapes])
        limited = commanded_rates(vehicle, r, controls, h)
        u, xi = vehicle.velocities(shape, s[pose_size + shapes :], limited, q)
        wrench = vehicle.external_wrench(decode(s[:pose_size]), xi, controls, q) + inputs.w
        return xi, ca.vertcat(u, vehicle.momentum_rates(shape, u, xi, wrench, controls, q))

    u, xi = vehicle.velocities(r, momenta, command, q)
    end = step(y, rate)
    free_momenta = momenta + h * ca.substitute(
        rate(y, 0.0)[1][shapes:], inputs.w, ca.SX.zeros(vehicle.group.dim)
    )
    shape, rates, velocity = (inputs.node[s] for s in (at.shape, at.shape_velocity, at.velocity))
    by_shape, mu = vehicle.gradients(shape, rates, velocity, q)[1:]
    return Scheme(
        inputs=inputs,
        y=y,
        y_next=_stopped(vehicle, end, pose_size, command, q),
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
