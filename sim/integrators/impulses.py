"""What forces put into the momentum of a body in a step, and what the method loses of it.

A method of the variational family has a momentum theorem of its own: between two nodes the spatial momentum changes by
half the step times the wrenches at both, to rounding where the method keeps momentum at all. Of other methods the
wrenches are integrated along the motion, by Simpson's rule on the cubic of the group through both nodes with their
velocities. What is left of the change has no force for a cause: the method has lost or made it.
"""

from functools import lru_cache

import casadi as ca

from sim.groups import LieGroup
from sim.integrators.base import Arc, Inputs, InputsWithLag, Integrator
from sim.integrators.flow import frames
from sim.symbolic import solve
from sim.vehicles.forms.base import Structure, Vehicle
from sim.vehicles.forms.holonomic import HolonomicVehicle

SIMPSON = ((0.0, 1 / 6), (0.5, 2 / 3), (1.0, 1 / 6))
"""(share of the step, weight)."""


def momentum_balance(vehicle: HolonomicVehicle, method: Integrator) -> ca.Function:
    """(node, after, u, w, w_after, p, h) -> spatial momentum (dim,) put in by the controls, and lost by the method.

    node and after: a step h apart, under controls u. w, w_after: (dim,) what surroundings do at either, body frame.
    """
    return _balance(Structure.of(vehicle), method)


@lru_cache(maxsize=32)
def _balance(structure: Structure, method: Integrator) -> ca.Function:
    vehicle = structure.vehicle
    assert isinstance(vehicle, HolonomicVehicle)
    group, at, inputs = vehicle.group, vehicle.node_layout, Inputs.of(vehicle)
    q, h, node = vehicle.symbols(inputs.p), inputs.h, inputs.node
    after, w_after = ca.SX.sym("after", at.size), ca.SX.sym("w_after", vehicle.wrench_size)
    if vehicle.lags:
        given = {name: getattr(inputs, name) for name in ("u", "w", "p", "h", "node")}
        inputs = InputsWithLag(**given, acting=node[at.acting], lag_s=vehicle.lag_s(q))
    steered, acted = ca.SX.zeros(group.dim), ca.SX.zeros(group.dim)
    arc = method.arc_of(vehicle)
    for share, weight in SIMPSON if arc is None else arc.forces_at:
        if arc is None:
            g, twist, controls = *_on_cubic(group, node, after, vehicle, share, h), inputs.at(share)
        else:
            g, twist = _on_arc(arc, node[at.pose], after[at.pose], share, h)
            controls = inputs.at(method.samples(vehicle)[0])
        around = w_after if arc is not None and share == 1.0 and len(arc.forces_at) > 1 else inputs.w
        in_space = group.Ad(group.inverse(g)).T
        steering = vehicle.control_wrench(controls, q)
        whole = vehicle.wrench(g, twist, controls, q) + around
        steered += weight * h * (in_space @ steering)
        acted += weight * h * (in_space @ whole)
    change = vehicle.spatial_momentum(after, q) - vehicle.spatial_momentum(node, q)
    return ca.Function(
        "momentum_balance",
        [node, after, inputs.u, inputs.w, w_after, inputs.p, h],
        [ca.densify(steered), ca.densify(change - acted)],
    )


def _on_arc(arc: Arc, start: ca.SX, end: ca.SX, share: float, h: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Pose and body velocity on the arc from one node to the next."""
    between = arc.group.between(start, end)
    whole = arc.group.cay_inv(between) if arc.tau == "cay" else arc.group.log(between)
    g = {0.0: start, 1.0: end}.get(share)
    g = arc.group.compose(start, arc.group.exp(share * whole)) if g is None else g
    return g, frames(arc.group, g)[1] @ whole / h


def _on_cubic(
    group: LieGroup, node: ca.SX, after: ca.SX, vehicle: Vehicle, share: float, h: ca.SX
) -> tuple[ca.SX, ca.SX]:
    """Pose and body velocity on g exp(x(s)), where x is the cubic that has the velocities of both nodes."""
    at = vehicle.node_layout
    start, end, s = node[at.pose], after[at.pose], share
    if s in (0.0, 1.0):
        return (start, node[at.velocity]) if s == 0.0 else (end, after[at.velocity])
    x = group.log(group.between(start, end))
    out, into = h * node[at.velocity], group.dexp_inv(-x) @ (h * after[at.velocity])
    there = s * (1 - s) ** 2 * out + s * s * (3 - 2 * s) * x - s * s * (1 - s) * into
    rate = (1 - s) * (1 - 3 * s) * out + 6 * s * (1 - s) * x - s * (2 - 3 * s) * into
    return group.compose(start, group.exp(there)), solve(group.dexp_inv(-there), rate) / h
