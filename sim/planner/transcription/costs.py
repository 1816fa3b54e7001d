"""What one node adds to the cost of a plan, term by term."""

import casadi as ca

from sim.planner.task.bodies import velocities
from sim.planner.task.task import WEIGHT_NAMES
from sim.planner.transcription.constraints import distances, height_over_ground
from sim.planner.transcription.model import NodeModel

_STANDING = 0.03
"""Share of the typical speed below which the length of a way is rounded off: a norm has no derivative at zero, and near
it so sharp a bend that no solver settles where a vehicle stands or turns back."""


def weighted_cost(
    model: NodeModel, node: ca.SX, a: ca.SX, z: ca.SX, previous: ca.SX, h: ca.SX, *, last: bool
) -> ca.SX:
    """Sum of the terms, each times its weight, which is a parameter."""
    terms = cost_terms(model, node, a, z, previous, h, last=last)
    weights = model.given["weights"]
    return sum((weights[WEIGHT_NAMES.index(name)] * term for name, term in terms.items()), ca.SX(0))


def cost_terms(
    model: NodeModel, node: ca.SX, a: ca.SX, z: ca.SX, previous: ca.SX, h: ca.SX, *, last: bool
) -> dict[str, ca.SX]:
    """By the name of the weight, those that the problem has."""
    has, effort, share = model.shape.costs, model.given["effort"], model.here["quadrature"] * h
    # Inputs are held over the step. What the last node has of its own acts no more; its price only makes it definite.
    terms = {"effort": (share if last else h) * ca.dot(effort, a * a)}
    if "smoothness" in has and not last:
        change = a - previous
        terms["smoothness"] = ca.dot(effort, change * change) / h
    if "time" in has and not last:
        terms["time"] = h
    if "safety" in has:
        terms["safety"] = share * _nearness(model, node)
    if "terminal" in has and last:
        terms["terminal"] = _missed(model, node)
    if "swing" in has:
        space, goal = model.vehicle.space, model.given["goal"]
        cosines = (cosine for name, cosine in space.facing(goal, node).items() if name in space.directions)
        terms["swing"] = share * sum((2 * (1 - cosine) for cosine in cosines), ca.SX(0))
    # An arc's own velocity, where there is one, is a plain variable and belongs to the step after the node.
    own = velocities(model.vehicle)
    xi = z if model.unknown_is_velocity else node[[i for i, _ in own]]
    along = (ca.SX(0) if last else h) if model.unknown_is_velocity else share
    turning = xi[[i for i, (_, angular) in enumerate(own) if angular]]
    moving = (
        _speed(model, node) if model.acted else xi[[i for i, (_, angular) in enumerate(own) if not angular]]
    )
    if "distance" in has:
        terms["distance"] = along * ca.sqrt(
            ca.dot(moving, moving) + (_STANDING * model.scales.speed_mps) ** 2
        )
    if "comfort" in has:
        terms["comfort"] = along * ca.dot(turning, turning)
    return terms


def _speed(model: NodeModel, node: ca.SX) -> ca.SX:
    """(3,) velocity of the main body."""
    return (
        model.vehicle.twist(node, model.quantities())[3:] if "distance" in model.shape.costs else ca.SX(3, 1)
    )


def _nearness(model: NodeModel, node: ca.SX) -> ca.SX:
    """Sum of exp(-distance / range)."""
    all_of_them = [d for _, d in distances(model, node)]
    if model.shape.ground is not None:
        all_of_them.append(height_over_ground(model, node))
    return sum((ca.exp(-d / model.given["safety_range"]) for d in all_of_them), ca.SX(0))


def _missed(model: NodeModel, node: ca.SX) -> ca.SX:
    """Squares of the distance and the velocity that are missing at the end."""
    goal, moving = model.given["goal"], [i for i, _ in velocities(model.vehicle)]
    d, xi = model.place(node) - model.place(goal), node[moving] - goal[moving]
    return ca.dot(d, d) + ca.dot(xi, xi)
