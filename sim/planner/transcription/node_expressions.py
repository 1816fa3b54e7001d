"""One node of the optimisation as expressions: variables, next state, constraints, cost.

The dynamics are the integrator's scheme and nothing else: its private state y is the state, its
unknowns z and the planned inputs a are the controls, its residual is an equality and its y_next
closes the gap to the next node.
"""

from dataclasses import replace

import casadi as ca
import numpy as np

from sim.groups.so3 import turn_sines
from sim.planner.task.bodies import columns, hanging_parts, jointed, quaternions, velocities
from sim.planner.task.inputs import Constraint
from sim.planner.task.task import DEMANDED, WEIGHT_NAMES
from sim.planner.transcription.constraints import (
    bearing_parts,
    bearing_rows,
    box_rows,
    distances,
    duration_rows,
    either_rows,
    heights_over_ground,
    input_rows,
    missed_rest,
    own_rows,
    place_rows,
    step_equations,
    tendon_rows,
    variable_bounds,
    velocity_rows,
)
from sim.planner.transcription.goal import (
    drawn_by,
    goal_misses,
    goal_node,
    goal_place,
    goal_rows,
    meets_in_motion,
)
from sim.planner.transcription.model import NodeModel
from sim.planner.transcription.state_form import Slots
from sim.platform.errors import InputError
from sim.platform.values import dataclass

_UNMOVED = 1e-9
"""Derivative of an equation by a node's variables that is none."""
_STANDING = 0.03
"""Share of the typical speed below which the length of a way is rounded off: a norm has no derivative at zero, and near
it so sharp a bend that no solver settles where a vehicle stands or turns back."""


def weighted_cost(
    model: NodeModel, node: ca.SX, a: ca.SX, z: ca.SX, previous: ca.SX, h: ca.SX, *, last: bool
) -> ca.SX:
    """Sum of the terms, each times its weight, which is a parameter."""
    terms = cost_terms(model, node, a, z, previous, h, last=last)
    weights = model.given["weights"]
    one = ca.SX(1)
    return sum(
        (
            (weights[WEIGHT_NAMES.index(name)] if name in WEIGHT_NAMES else one) * term
            for name, term in terms.items()
        ),
        ca.SX(0),
    )


def cost_terms(
    model: NodeModel, node: ca.SX, a: ca.SX, z: ca.SX, previous: ca.SX, h: ca.SX, *, last: bool
) -> dict[str, ca.SX]:
    """By the name of the weight, those that the problem has; a user's own have none."""
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
        drawn = drawn_by(model, node)
        terms["terminal"] = _missed(model, node) if drawn is None else drawn
    if "swing" in has:
        space, goal = model.vehicle.space, goal_node(model)
        cosines = (cosine for name, cosine in space.facing(goal, node).items() if name in space.directions)
        terms["swing"] = share * sum((2 * (1 - cosine) for cosine in cosines), ca.SX(0))
    # An arc's own velocity, where there is one, is a plain variable and belongs to the step after the node.
    moves = velocities(model.vehicle)
    xi = z if model.unknown_is_velocity else node[[i for i, _ in moves]]
    along = (ca.SX(0) if last else h) if model.unknown_is_velocity else share
    turning = xi[[i for i, (_, angular) in enumerate(moves) if angular]]
    moving = (
        _speed(model, node)
        if model.own_space
        else xi[[i for i, (_, angular) in enumerate(moves) if not angular]]
    )
    own = model.shape.own
    if own is not None and own.rate is not None:
        terms["own"] = model.here["trapezoid"] * h * model.own_value(own.rate, node, a, h)
    if own is not None and own.end is not None and last:
        terms["own end"] = model.own_value(own.end, node, a, h)
    if "distance" in has:
        terms["distance"] = along * ca.sqrt(
            ca.dot(moving, moving) + (_STANDING * model.scales.speed_mps) ** 2
        )
    if "comfort" in has:
        terms["comfort"] = along * ca.dot(turning, turning)
    return terms


def _speed(model: NodeModel, node: ca.SX) -> ca.SX:
    """(3,) velocity of the main body."""
    return model.twist(node)[3:] if "distance" in model.shape.costs else ca.SX(3, 1)


def _nearness(model: NodeModel, node: ca.SX) -> ca.SX:
    """Sum of exp(-distance / range)."""
    all_of_them = [*(d for _, d in distances(model, node)), *heights_over_ground(model, node)]
    return sum((ca.exp(-d / model.given["safety_range"]) for d in all_of_them), ca.SX(0))


def _missed(model: NodeModel, node: ca.SX) -> ca.SX:
    """Squares of the distance and the velocity that are missing at the end."""
    goal, moving = goal_node(model), [i for i, _ in velocities(model.vehicle)]
    d, xi = model.place(node) - goal_place(model), node[moving] - goal[moving]
    return ca.dot(d, d) + ca.dot(xi, xi)


@dataclass(frozen=True)
class NodeExpressions:
    """Expressions in the scaled variables v = (state, controls) of one node."""

    v: ca.SX
    unscale: np.ndarray
    """Physical variables = unscale * v."""
    z: ca.SX
    """Unknowns of the step, in SI units, that solve `residual`; none where they are variables or there is no step."""
    residual: ca.SX
    guess: ca.SX
    """Of z."""
    next_state: ca.SX
    """Scaled state of the next node."""
    rows: tuple[Constraint, ...]
    cost: ca.SX
    node: ca.SX
    """Public state in SI units."""
    low: np.ndarray
    """Bounds of v."""
    high: np.ndarray


def running_node(model: NodeModel) -> NodeExpressions:
    """A node with a step after it."""
    return _stage(model, model.controls, last=False)


def last_node(model: NodeModel) -> NodeExpressions:
    """The last node: no step, but the goal; inputs only where the node velocity depends on them."""
    node = ca.SX.sym("node", model.vehicle.node_layout.size)
    missed = 2 * len(goal_misses(model, node)) if model.shape.elastic else 0
    return _stage(model, model.last_controls(missed), last=True)


def initial_rows(model: NodeModel, stage: NodeExpressions) -> tuple[Constraint, ...]:
    """The first state is the discrete Legendre transform of the start, but for what of it is found with the motion."""
    x, c = _pieces(model, model.controls, stage.v, stage.unscale)
    z, a = ca.SX.zeros(model.unknowns), ca.SX.zeros(model.input_map.size) if model.driven else c["a"]
    step = model.evaluate(model.form.expanded(x["y"]), z, model.acting(a), model.duration_of_step(x))
    kept = model.form.kept.tolist()
    wanted = starting_where_it_is(model, step.start, step.node)[kept]
    difference = model.freed([(x["y"] - wanted) / model.y_scale], x)[0]
    said = [i for i in range(difference.shape[0]) if i not in model.ends.found]
    rows = [Constraint("start", difference[i], 0.0, 0.0) for i in said]
    return (*rows, *begun_rows(model, stage.node, x))


def _stage(model: NodeModel, controls: Slots, *, last: bool) -> NodeExpressions:
    unscale = _unscale(model, controls)
    v = ca.SX.sym("v", unscale.size)
    x, c = _pieces(model, controls, v, unscale)
    h, moves = model.duration_of_step(x), bool(controls.sizes["a"] or controls.sizes["z"])
    implicit = moves and model.eliminates
    z = ca.SX.sym("z", model.unknowns) if implicit else c["z"] if moves else ca.SX.zeros(model.unknowns)
    a = c["a"] if moves else ca.SX.zeros(model.input_map.size)
    if moves and model.driven:
        a = model.inverse(model.form.expanded(x["y"]), z, h)
    slack = c["slack"] if controls.sizes["slack"] else ca.SX(0)
    missed = c.get("missed", ca.SX(0, 1))
    step = model.evaluate(model.form.expanded(x["y"]), z, model.acting(a), h)
    node = step.node
    rows: list[Constraint] = []
    if moves:
        if not implicit:
            rows += [Constraint("dynamics", row, 0.0, 0.0) for row in step_equations(model, step.residual)]
        rows += either_rows(model, step.parts)
        rows += input_rows(model, a, x["previous"], h)
    rows += place_rows(model, node, slack)
    rows += velocity_rows(model, node, z) if moves else []
    rows += [*box_rows(model, node), *tendon_rows(model, node)]
    rows += own_rows(model, node, model.acting(a), h, slack, last=last)
    rows += _independent(model, v, goal_rows(model, node, missed)) + duration_rows(model, h) if last else []
    if last and controls.sizes["closing"]:
        y = model.form.expanded(x["y"])
        short = missed_rest(model, y, c["closing"], h)
        rows += [
            Constraint("goal velocity", short[i], 0.0, 0.0, goal="velocity") for i in range(short.shape[0])
        ]
        if model.closed is None:
            impulses = c["closing"] / (model.scales.step_s * model.closing_force)
            rows += bearing_rows(*bearing_parts(model, y, impulses))
    if last:
        rows += returned_rows(model, x)
    price = model.given["price"] * (h * model.given["steps"] * slack + ca.sum1(ca.densify(missed)))
    cost = weighted_cost(model, node, a, z, x["previous"], h, last=last) + price
    following = [step.following[model.form.kept.tolist()] / model.y_scale]
    following += [a / model.scales.inputs] if model.shape.remembers_inputs else []
    following += [x["h"] / model.scales.step_s] if model.shape.free_time else []
    following += [x["free"] / model.free_scale] if model.free_places else []
    following += [x["begin"] / begin_scale(model)] if model.ends.periodic else []
    low, high = variable_bounds(model, controls, unscale)
    nothing = ca.SX(0, 1)
    solved = (step.residual / model.residual_scale, step.guess) if implicit else (nothing, nothing)
    expressions = [*solved, ca.vertcat(*following), cost, node, *(row.expression for row in rows)]
    residual, guess, after, cost, node, *found = model.freed(expressions, x)
    rows = [replace(row, expression=one) for row, one in zip(rows, found, strict=True)]
    unknowns = z if implicit else nothing
    return NodeExpressions(v, unscale, unknowns, residual, guess, after, tuple(rows), cost, node, low, high)


def _independent(model: NodeModel, v: ca.SX, rows: list[Constraint]) -> list[Constraint]:
    """The goal's rows without what others imply, where its equations are more than a node has numbers.

    Constraints on wheels tie the body's velocity to the shape's, so that a goal that says both says some of it twice.
    Which component of the body's velocity still says something depends on where the shape stands: it is asked for in
    mixtures of all components, as many as are free.
    """
    if jointed(model.vehicle):
        rows = _of_joints(model, v, rows)
    equations = [row for row in rows if row.low == row.high]
    if len(equations) <= v.shape[0]:
        return rows
    doubled = [row for row in equations if row.goal == "velocity"]
    others = [row for row in equations if row.goal != "velocity"]
    slopes = ca.jacobian(ca.vertcat(*(row.expression for row in (*others, *doubled))), v)
    # Somewhere: what is implied is so at every state.
    random, free = np.random.default_rng(0), model.symbols(v)
    J = np.array(ca.Function("slopes", free, [slopes])(*(random.uniform(0.1, 1.0, x.shape[0]) for x in free)))
    count = np.linalg.matrix_rank(J, tol=1e-8) - np.linalg.matrix_rank(J[: len(others)], tol=1e-8)
    mixing = np.linalg.qr(random.uniform(0.2, 1.0, (len(doubled), len(doubled))))[0][:count]
    misses = ca.vertcat(*(row.expression for row in doubled))
    mixed = [replace(doubled[0], expression=ca.DM(weights).T @ misses) for weights in mixing]
    return [row for row in rows if row.low != row.high] + others + mixed


def _of_joints(model: NodeModel, v: ca.SX, rows: list[Constraint]) -> list[Constraint]:
    """Without what no joint changes, as places across the plane that all of it moves in. Raises InputError where the
    tool's pose, or its velocity at a goal that moves, has more equations than its joints can meet."""
    of_tool = ("position", "rotation", *(("velocity",) if meets_in_motion(model) else ()))
    posed = [row for row in rows if row.low == row.high and row.goal in of_tool]
    if not posed:
        return rows
    joints = [row for row in rows if row.low == row.high and row.goal not in DEMANDED]
    slopes = ca.jacobian(ca.vertcat(*(row.expression for row in (*posed, *joints))), v)
    J = np.array(ca.Function("slopes", model.symbols(v), [slopes])(*_somewhere(model, v)))
    kept = np.abs(J).max(axis=1) > _UNMOVED
    if np.linalg.matrix_rank(J[kept], tol=_UNMOVED) < kept.sum():
        named = " with joints by their names besides" if joints else ""
        raise InputError(
            f"the joints of {model.vehicle.name} are too few for the place and the rotation of its tool{named}; "
            "allowed: rotation free, or joints by their names alone (position and rotation free)"
        )
    kept = kept[: len(posed)]
    unmoved = {id(row) for row, moves in zip(posed, kept, strict=True) if not moves}
    return [row for row in rows if id(row) not in unmoved]


def _somewhere(model: NodeModel, v: ca.SX) -> list[np.ndarray]:
    """Values of a node's variables and parameters at random, in which rotations of joints are some."""
    random = np.random.default_rng(0)
    state, given, own = (random.uniform(0.1, 1.0, x.shape[0]) for x in (v, model.p, model.s))
    goal = given[model.parameters.slice("goal")]
    for turning in quaternions(model.vehicle):
        goal[turning] /= np.linalg.norm(goal[turning])
        found = (model.component(i) for i in range(turning.start, turning.stop))
        at = [i for i in found if i is not None]
        state[at] /= np.linalg.norm(state[at] * model.y_scale[at])
    # A goal that moves is looked at where the task has it, with what else there is at rest.
    return [state, given, own, *(np.zeros(x.shape[0]) for x in model.symbols(v)[3:])]


def _pieces(
    model: NodeModel, controls: Slots, v: ca.SX, unscale: np.ndarray
) -> tuple[dict[str, ca.SX], dict[str, ca.SX]]:
    """State and controls of a node in SI units, by name."""
    n = model.state.size
    scaled = ca.SX(unscale) * v
    return model.state.split(scaled[:n]), controls.split(scaled[n:])


def _unscale(model: NodeModel, controls: Slots) -> np.ndarray:
    s, own = model.scales, controls.sizes
    parts = [
        model.y_scale,
        np.tile(s.inputs, int(model.shape.remembers_inputs)),
        np.full(int(model.shape.free_time), s.step_s),
        model.free_scale,
        begin_scale(model),
        s.inputs if own["a"] else np.zeros(0),
        model.z_scale if own["z"] else np.zeros(0),
        np.ones(own["slack"]),
        model.scales.step_s * model.closing_force * np.ones(own["closing"])
        if own.get("closing")
        else np.zeros(0),
        np.ones(own.get("missed", 0)),
    ]
    return np.concatenate(parts)


def starting_where_it_is(model: NodeModel, start: ca.SX, node: ca.SX) -> ca.SX:
    """The private state that the start says: momenta are of its velocities, at the pose and shape that are found."""
    known, at = ca.SX(model.given["start"]), model.vehicle.node_layout
    placed = {*range(at.pose.start, at.pose.stop), *range(at.shape.start, at.shape.stop)}
    for i in placed & model.shape.open_start.found:
        known[i] = node[i]
    return ca.substitute(start, model.given["start"], known)


def begun_rows(model: NodeModel, node: ca.SX, x: dict[str, ca.SX]) -> list[Constraint]:
    """What the first node, of state pieces x, has to be besides the start that is given."""
    rows = []
    if model.ends.found & set(model.ends.rotated):
        rows += [Constraint("start's rotation", short, 0.0, 0.0) for short in _off_rotations(model, x["y"])]
    for entries in model.ends.quaternions:
        rows.append(Constraint("start's rotation", ca.sumsqr(x["y"][list(entries)]) - 1, 0.0, 0.0))
    rows += [Constraint("start's direction", short, 0.0, 0.0) for short in _off_directions(model, node)]
    names, scales = columns(model.vehicle), model.column_scale()
    for i, low, high in model.shape.open_start.ranges:
        unit = float(scales[i])
        rows.append(Constraint(f"start's {names[i]}", node[i] / unit, low / unit, high / unit, "", unit))
    same = (ca.vertcat(x["y"], x["previous"])[model.ends.periodic] - x["begin"]) / begin_scale(model)
    return rows + [Constraint("periodic", same[i], 0.0, 0.0) for i in range(same.shape[0])]


def returned_rows(model: NodeModel, x: dict[str, ca.SX]) -> list[Constraint]:
    """What has to be at the last node, of state pieces x, as it was at the first one."""
    if not model.ends.periodic:
        return []
    ends, begins = ca.vertcat(x["y"], x["previous"]), ca.SX(ca.vertcat(x["y"], x["previous"]))
    begins[model.ends.periodic] = x["begin"]
    heading = model.component(model.heading_index) if model.turns == 1 else None
    joints = [each for each in model.ends.quaternions if set(each) <= set(model.ends.periodic)]
    misses, turned = [], set(model.ends.rotated)
    hanging, hung = _returned_directions(model, begins, ends)
    for i, unit in zip(model.ends.periodic, begin_scale(model), strict=True):
        if i in turned.union(hung, *joints):
            continue
        miss = ends[i] - begins[i]
        if i == heading:
            around = model.given["goal"][model.heading_index] - model.given["start"][model.heading_index]
            miss -= 2 * np.pi * ca.floor(around / (2 * np.pi) + 0.5)
        misses.append(miss / float(unit))
    if turned & set(model.ends.periodic):
        if model.turns == 1:
            cosine, sine = model.ends.rotated
            misses.append(ends[sine] * begins[cosine] - ends[cosine] * begins[sine])
        else:
            R_begin, R_end = (_rotation(model, y[: x["y"].shape[0]]) for y in (begins, ends))
            misses += ca.vertsplit(turn_sines(R_begin.T @ R_end))
    for entries in joints:
        begun, ended = (y[list(entries)] for y in (begins, ends))
        # The conjugate of where it begins, times where it ends: one scalar less, as both are as long as one.
        turn = begun[0] * ended[1:] - ended[0] * begun[1:] - ca.cross(begun[1:], ended[1:])
        misses += ca.vertsplit(turn)
    misses += [miss for part in hanging for miss in ca.vertsplit(part)]
    return [Constraint("periodic", miss, 0.0, 0.0, goal="periodic", soft=True) for miss in misses]


def begin_scale(model: NodeModel) -> np.ndarray:
    """Of what is periodic."""
    inputs = np.tile(model.scales.inputs, int(model.shape.remembers_inputs))
    return np.asarray(np.r_[model.y_scale, inputs][model.ends.periodic])


def _off_directions(model: NodeModel, node: ca.SX) -> list[ca.SX]:
    """What directions of rods and cables that are found break of being of length one, and their velocities, where these
    are found, of being across them."""
    found, moving = model.shape.open_start.found, {i for i, _ in velocities(model.vehicle)}
    rows = []
    for place, rate in hanging_parts(model.vehicle):
        if found.issuperset(place):
            rows.append(ca.sumsqr(node[place]) - 1)
        if moving & found:
            rows.append(ca.dot(node[place], node[rate]) / model.scales.turn_radps)
    return rows


def _returned_directions(model: NodeModel, begins: ca.SX, ends: ca.SX) -> tuple[list[ca.SX], set[int]]:
    """By what directions that are periodic, and their velocities, are not as they began, in two numbers each; and which
    variables these are."""
    periodic, space = model.shape.open_start.periodic, model.vehicle.space
    misses, known = list[ca.SX](), set[int]()
    if not model.own_space or not space.directions:
        return misses, known
    count = model.form.kept.size
    about, here = (model.form.expanded(y[:count]) for y in (begins, ends))
    found = space.coordinates(about, here)
    for name, at in space.slices.items():
        hangs = any(at.start in part for parts in hanging_parts(model.vehicle) for part in parts)
        if hangs and periodic.issuperset(range(at.start, at.stop)):
            scale = 1.0 if name in space.directions else model.scales.turn_radps
            misses.append(found[name] / scale)
            known |= {i for i in (model.component(k) for k in range(at.start, at.stop)) if i is not None}
    return misses, known


def _rotation(model: NodeModel, kept: ca.SX) -> ca.SX:
    """(3, 3) of the main body, of variables of the private state."""
    return ca.reshape(model.form.expanded(kept)[:9], 3, 3)


def _off_rotations(model: NodeModel, kept: ca.SX) -> list[ca.SX]:
    """What entries of a rotation break of being one."""
    if model.turns == 1:
        return [ca.sumsqr(kept[list(model.ends.rotated)]) - 1]
    R = _rotation(model, kept)
    second, third = R[:, 1], R[:, 2]
    return [ca.dot(second, second) - 1, ca.dot(third, third) - 1, ca.dot(second, third)]
