"""Constraints of one node: dynamics, inputs, places, velocities, goal; and the plain bounds of its variables."""

import casadi as ca
import numpy as np

from sim.integrators.multibody import friction_along, reached
from sim.planner.task.bodies import joint_ranges, jointed, tendon_ranges, velocities
from sim.planner.task.inputs import Constraint
from sim.planner.task.task import control_limits
from sim.planner.transcription.model import BODY_NUMBERS, NodeModel
from sim.planner.transcription.state_form import Slots
from sim.shapes import KINDS
from sim.vehicles.forms.articulated import ArticulatedVehicle

GROUND, WAYPOINT, OWN_BODIES = "ground", "waypoint", "own bodies"
"""Names of constraints."""
_LEAST_APART_M = 1e-3


PART, PRODUCT, BEARING = "contact", "contact of what does not touch", "contact at the end"
"""Names of the rows of a scheme's parts, of products of those that do not go together, and of what bears at rest."""
_NOTHING = 1e-8
"""Of such a product there."""


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
    tree, at = model.tree, vehicle.node_layout
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
    q, count = y[: vehicle.tree.nq], len(model.scheme.touches)
    up, along = impulses[:count], impulses[count:]
    spare = ca.repmat(friction_along(vehicle) * up, along.shape[0] // count, 1)
    return ca.vertcat(up, spare + along, spare - along), reached(vehicle, q, q)[:count] * up


def either_rows(model: NodeModel, parts: ca.SX) -> list[Constraint]:
    """No part below nothing; of each two that do not go together the product, as large as the relaxation lets it."""
    touches, relaxed = model.scheme.touches, model.given["relaxed"]
    signed = {part for touch in touches for part in touch.signed}
    rows = [
        Constraint(PART, parts[i], -np.inf if i in signed else 0.0, np.inf) for i in range(parts.shape[0])
    ]
    for i, j in (pair for touch in touches for pair in touch.either):
        for sign in (1.0, -1.0) if j in signed else (1.0,):
            rows.append(Constraint(PRODUCT, sign * parts[i] * parts[j] - relaxed, -np.inf, 0.0))
    return rows


def bearing_rows(parts: ca.SX, products: ca.SX) -> list[Constraint]:
    """Of contacts that bear what is at rest at the end."""
    rows = [Constraint(BEARING, parts[i], 0.0, np.inf) for i in range(parts.shape[0])]
    return [*rows, *(Constraint(BEARING, products[i], -np.inf, _NOTHING) for i in range(products.shape[0]))]


def input_rows(model: NodeModel, a: ca.SX, previous: ca.SX, h: ca.SX) -> list[Constraint]:
    """What the inputs are held to together, and limits of their rates."""
    limits = model.shape.limits
    ranges = control_limits(model.vehicle, limits)
    rows = list(model.input_map.rows(a, ranges))
    if model.driven:
        units = zip(model.vehicle.controls, ranges, model.scales.inputs, strict=True)
        for i, (control, (low, high), size) in enumerate(units):
            rows.append(Constraint(control.name, a[i] / size, low / size, high / size, control.unit, size))
    for i, name in enumerate(model.input_map.names):
        if name in limits.rates:
            change = (a[i] - previous[i]) / (limits.rates[name] * h)
            rows.append(Constraint(f"rate of {name}", change, -1.0, 1.0))
    return rows


def balls(model: NodeModel, node: ca.SX) -> list[tuple[ca.SX, ca.SX]]:
    """(centre in the world (3,), radius) of the balls that stand for the vehicle."""
    body = ca.reshape(model.given["body"], BODY_NUMBERS, model.shape.body_count)
    names = model.shape.bodies or ("",) * model.shape.body_count
    T_wb = model.poses_wb(node, dict.fromkeys(names))
    return [(T_wb[b][:3, 3] + T_wb[b][:3, :3] @ body[:3, j], body[3, j]) for j, b in enumerate(names)]


def distances(model: NodeModel, node: ca.SX) -> list[tuple[tuple[str, int], ca.SX]]:
    """((kind, number), signed distance [m]) of every ball to every obstacle, less what it has to keep."""
    out = []
    extra, places = model.given["clearance"] + model.here["margin"], balls(model, node)
    by = {(kind, j): k for kind, j, k in model.shape.moved}
    for kind, count in model.shape.obstacles.items():
        numbers = ca.reshape(model.given[kind], KINDS[kind].size, count)
        for j in range(count):
            carrier = model.carrier(by[kind, j]) if (kind, j) in by else None
            for x, radius in places:
                seen = x if carrier is None else carrier[:3, :3].T @ (x - carrier[:3, 3])
                out.append(((kind, j), KINDS[kind].gap(seen, numbers[:, j], radius + extra)))
    return out


def heights_over_ground(
    model: NodeModel, node: ca.SX, places: list[tuple[ca.SX, ca.SX]] | None = None
) -> list[ca.SX]:
    """Above the safe ground: a second-order model about `jet_at`, exact there with its derivatives; of a tree, above
    what each of its balls keeps. places: `balls`, where they are known."""
    if model.shape.low_balls:
        places = places or balls(model, node)
        heights = zip(model.shape.low_balls, ca.vertsplit(model.given["heights"]), strict=True)
        return [places[i][0][2] - least - model.here["margin"] for i, least in heights]
    if model.shape.ground is None:
        return []
    x, b = model.held_over_ground(node), model.jet
    d = x[:2] - model.jet_at
    bend = (b[3] * d[0] ** 2 + 2 * b[4] * d[0] * d[1] + b[5] * d[1] ** 2) / 2
    return [x[2] - (b[0] + b[1] * d[0] + b[2] * d[1] + bend) - model.here["margin"]]


def place_rows(model: NodeModel, node: ca.SX, slack: ca.SX) -> list[Constraint]:
    """Obstacles, ground, waypoint."""
    unit = model.scales.length_m
    rows = [
        Constraint("obstacle", distance / unit + slack, 0.0, np.inf, "m", unit, obstacle, soft=True)
        for obstacle, distance in distances(model, node)
    ]
    places = balls(model, node) if model.shape.pairs or model.shape.low_balls else []
    for k, (i, j) in enumerate(model.shape.pairs):
        d, least = places[i][0] - places[j][0], model.given["apart"][k] + model.here["margin"]
        # Of squares: a length has no derivative at none.
        row = (ca.dot(d, d) - least**2) / (2 * unit * ca.fmax(least, _LEAST_APART_M))
        rows.append(Constraint(OWN_BODIES, row + slack, 0.0, np.inf, "m", unit, soft=True))
    for height in heights_over_ground(model, node, places):
        rows.append(Constraint(GROUND, height / unit + slack, 0.0, np.inf, "m", unit, soft=True))
    if model.shape.waypoints:
        place, tolerance = model.here["waypoint"][:3], model.here["waypoint"][3]
        x = model.place(node)
        d = (x - place[: x.shape[0]]) / tolerance
        rows.append(Constraint(WAYPOINT, (ca.dot(d, d) - 1) / 2 - slack, -np.inf, 0.0, "m", soft=True))
    return rows


def own_rows(
    model: NodeModel, node: ca.SX, a: ca.SX, h: ca.SX, slack: ca.SX, *, last: bool
) -> list[Constraint]:
    """The user's own relations, and bounds of numbers of the state that are no variables."""
    rows, columns = column_rows(model, node, last=last), model.column_scale()
    for own in model.shape.own.rows if model.shape.own else ():
        settled = last and not own.of_controls and set(own.node_columns) <= model.met_columns
        if settled or (own.at == "end" and not last) or (last and own.of_controls):
            continue
        steepness = np.r_[own.slopes[: columns.size] * columns, own.slopes[columns.size :]].max(initial=0.0)
        scale = float(2.0 ** np.round(np.log2(steepness))) if steepness > 0.0 else 1.0
        value = model.own_value(own.value, node, a, h) / scale
        equal = own.low == 0.0
        rows.append(
            Constraint(
                own.name,
                value if equal else value - slack,
                own.low,
                0.0,
                scale=scale,
                soft=not equal,
                given_at_start=not own.of_controls,
            )
        )
    return rows


def column_rows(model: NodeModel, node: ca.SX, *, last: bool) -> list[Constraint]:
    """Bounds by the names of columns, of those that no variable of the problem is."""
    rows, names, scales = [], model.vehicle.space.columns, model.column_scale()
    for name, (low, high) in model.shape.limits.columns.items():
        i = names.index(name)
        if is_variable(model, i) or (last and i in model.met_columns):
            continue
        x, unit = node[i] / scales[i], float(scales[i])
        rows.append(Constraint(name, x, low / unit, high / unit, "", unit, soft=False, given_at_start=True))
    return rows


def is_variable(model: NodeModel, index: int) -> bool:
    """Whether a number of the node is a variable of the problem, or a joint's velocity, which is one of its arc."""
    moves = jointed(model.vehicle) and index >= model.vehicle.node_layout.velocity.start
    return moves or model.component(index) is not None


def velocity_rows(model: NodeModel, node: ca.SX, z: ca.SX) -> list[Constraint]:
    """Limits of the velocity of the arc or else the node, where no variable of the problem is one to be bounded."""
    if model.velocity_is_state or (model.unknown_is_velocity and not model.eliminates):
        return []
    limits = model.shape.limits
    rows = []
    for i, (index, turning) in enumerate(velocities(model.vehicle)):
        component = z[i] if model.unknown_is_velocity else node[index]
        if not component.is_zero():
            bound = limits.turn_radps if turning else limits.speed_mps
            rows.append(Constraint("turn rate" if turning else "speed", component / bound, -1.0, 1.0))
    return rows


def box_rows(model: NodeModel, node: ca.SX) -> list[Constraint]:
    """Limits of the main body's place and tilt, where these are no variables that could be bounded."""
    if not model.placed_by_bodies:
        return []
    limits, T_wb, rows = model.shape.limits, model.pose_wb(node), []
    if not model.position_indices and (limits.low_w or limits.high_w):
        low, high = limits.low_w or (-np.inf,) * 3, limits.high_w or (np.inf,) * 3
        unit = model.scales.length_m
        for i, axis in enumerate("xyz"):
            if np.isfinite([low[i], high[i]]).any():
                rows.append(
                    Constraint(axis, T_wb[i, 3] / unit, low[i] / unit, high[i] / unit, "m", unit, soft=True)
                )
    if limits.tilt_rad is not None and model.up_index is None:
        rows.append(Constraint("tilt", T_wb[2, 2], float(np.cos(limits.tilt_rad)), np.inf, soft=True))
    return rows


def tendon_rows(model: NodeModel, node: ca.SX) -> list[Constraint]:
    """Limits of lengths of a tree's tendons."""
    ranges, unit = tendon_ranges(model.vehicle), model.scales.length_m
    if not ranges:
        return []
    lengths = model.tree.spring_lengths(node[model.vehicle.node_layout.pose]) / unit
    return [
        Constraint(f"length of {name}", lengths[k], low / unit, high / unit, "m", unit, soft=True)
        for k, name, low, high in ranges
    ]


def duration_rows(model: NodeModel, h: ca.SX) -> list[Constraint]:
    """Bounds of a free final time."""
    if not model.shape.free_time:
        return []
    steps, (shortest, longest) = model.given["steps"], ca.vertsplit(model.given["duration_range"])
    unit = model.scales.step_s * model.shape.steps
    return [
        Constraint("shortest final time", (h * steps - shortest) / unit, 0.0, np.inf, "s", unit),
        Constraint("longest final time", (longest - h * steps) / unit, 0.0, np.inf, "s", unit),
    ]


def variable_bounds(model: NodeModel, controls: Slots, unscale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(low, high) of the scaled variables of a node."""
    low, high = np.full(unscale.size, -np.inf), np.full(unscale.size, np.inf)
    for index, a, b in node_bounds(model):
        found = model.component(index)
        if found is not None:
            low[found], high[found] = max(low[found], a), min(high[found], b)
    if model.shape.free_time:
        low[model.state.slice("h")] = 1e-4
    offset = model.state.size
    limits = control_limits(model.vehicle, model.shape.limits)
    for name, size in controls.sizes.items():
        where = slice(offset + controls.slice(name).start, offset + controls.slice(name).stop)
        if size and name == "a":
            low[where], high[where] = model.input_map.box(limits).T
            # What is held is a number in the equations; its variable rests in the middle of its range, at no cost.
            for i in model.held_inputs:
                low[where][i], high[where][i] = -model.scales.inputs[i], model.scales.inputs[i]
        elif size and name == "z" and model.unknown_is_velocity:
            bound = velocity_bound(model)
            moves = slice(where.start, where.start + bound.size)
            low[moves], high[moves] = -bound, bound
            first = model.vehicle.node_layout.velocity.start
            for index, a, b in node_bounds(model):
                if jointed(model.vehicle) and index >= first:
                    k = where.start + index - first
                    low[k], high[k] = max(low[k], a), min(high[k], b)
        elif name in ("slack", "missed"):
            low[where] = 0.0
    return low / unscale, high / unscale


def velocity_bound(model: NodeModel) -> np.ndarray:
    """Largest magnitude of each of the vehicle's velocities, in their order."""
    limits = model.shape.limits
    turning = np.array([angular for _, angular in velocities(model.vehicle)], bool)
    return np.where(turning, limits.turn_radps, limits.speed_mps)


def node_bounds(model: NodeModel) -> list[tuple[int, float, float]]:
    """(index in the node, low, high) of components that are variables themselves."""
    limits, at = model.shape.limits, model.vehicle.node_layout
    out = []
    for axis, index in enumerate(model.position_indices):
        low = limits.low_w[axis] if limits.low_w else -np.inf
        high = limits.high_w[axis] if limits.high_w else np.inf
        out.append((index, low, high))
    up = model.up_index if limits.tilt_rad is not None and model.turns == 3 else None
    if limits.tilt_rad is not None and up is not None:
        out.append((up, float(np.cos(limits.tilt_rad)), np.inf))
    if model.velocity_is_state:
        bounds = velocity_bound(model)
        out += [(index, -b, b) for (index, _), b in zip(velocities(model.vehicle), bounds, strict=True)]
    for name, (low, high) in (joint_ranges(model.vehicle) | limits.columns).items():
        index = model.vehicle.space.columns.index(name)
        if is_variable(model, index):
            out.append((index, low, high))
    for i, coordinate in enumerate(model.vehicle.shape_coordinates):
        low, high = limits.shape.get(coordinate.name, (-np.inf, np.inf))
        # A little inside the stops: at them the equations have a kink.
        inside = 1e-3 * min(coordinate.high - coordinate.low, 1.0)
        out.append(
            (at.shape.start + i, max(low, coordinate.low + inside), min(high, coordinate.high - inside))
        )
    return out
