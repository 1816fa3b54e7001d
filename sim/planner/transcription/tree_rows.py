"""Equations of trees of joints at a node: what inputs leave of a step, and rest up to what bears or closes loops."""

import casadi as ca
import numpy as np

from sim.integrators.multibody import FRICTION, reached
from sim.planner.transcription.model import NodeModel
from sim.vehicles.forms.articulated import ArticulatedVehicle


def step_equations(model: NodeModel, residual: ca.SX) -> list[ca.SX]:
    """What of the residual is an equation, scaled: of a tree in velocities that its rows together stand for.

    Row by row a heavy load would hide how light links in between move.
    """
    scaled = residual / model.residual_scale
    left = [i for i in range(residual.shape[0]) if i not in model.driven]
    if model.mass is None:
        return [scaled[i] for i in left]
    moves = [i for i in left if i < len(model.mass)]
    if not moves:
        return [scaled[i] for i in left]
    mixed = np.linalg.inv(model.mass[np.ix_(moves, moves)]) @ residual[moves] / model.scales.unknowns[moves]
    return [*ca.vertsplit(mixed), *(scaled[i] for i in left if i >= len(model.mass))]


def missed_rest(model: NodeModel, y: ca.SX, impulses: ca.SX, h: ca.SX) -> ca.SX:
    """(nv,) what the momenta at a node lack of the goal's velocities, up to impulses of the loops that keep these
    closed, or of contacts that bear, scaled: what a tree's goal asks of its velocities."""
    vehicle = model.vehicle
    assert isinstance(vehicle, ArticulatedVehicle)
    tree, at = vehicle.symbolic, vehicle.node_layout
    q, b = y[: vehicle.tree.nq], y[vehicle.tree.nq :]
    b = b if model.mass is None else ca.DM(model.mass) @ b
    wanted = tree.momenta(q, model.given["goal"][at.velocity])
    if model.closed is not None:
        all_of_them = ca.SX.zeros(model.closed.closure.size)
        all_of_them[model.closed.independent_gaps.tolist()] = impulses
        borne = tree.loop_impulse(q, model.closed.closure, all_of_them)
    else:
        borne = tree.along(q, lambda moved: reached(vehicle, q, moved), impulses)
    missed = b - h / 2 * tree.node_force(q) + borne - wanted
    if model.mass is None:
        return missed / model.scales.momenta
    return ca.DM(np.linalg.inv(model.mass)) @ missed / model.scales.unknowns


def bearing_parts(model: NodeModel, y: ca.SX, impulses: ca.SX) -> tuple[ca.SX, ca.SX]:
    """(what of the contacts' impulses at the end is not below nothing, products of gaps and impulses)."""
    vehicle = model.vehicle
    assert isinstance(vehicle, ArticulatedVehicle)
    q, count = y[: vehicle.tree.nq], impulses.shape[0] // 2
    up, along = impulses[:count], impulses[count:]
    spare = FRICTION * up
    return ca.vertcat(up, spare + along, spare - along), reached(vehicle, q, q)[:count] * up
