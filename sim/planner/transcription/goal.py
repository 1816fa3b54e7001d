"""What a goal asks of the last node, by its equations; and where it is, if it moves."""

import casadi as ca
import numpy as np

from sim.groups.so3 import half_angle_cosine, turn_cosine, turn_sines
from sim.planner.task.bodies import planar
from sim.planner.task.inputs import Constraint
from sim.planner.task.meeting import carried
from sim.planner.transcription.model import NodeModel

_LEAST_COSINE = -0.9
_UNITS = {"position": "m", "rotation": "rad", "velocity": "m/s"}


def goal_node(model: NodeModel) -> ca.SX:
    """Flat node of the goal, where it is at `time`; about a space of its own that is said of its main body alone."""
    goal, k = model.given["goal"], model.shape.goal_motion
    if k is None or model.own_space:
        return goal
    at, M = model.vehicle.node_layout, model.carrier(k)
    pose, velocity = carried(model.vehicle, goal, M, ca.jtimes(M, model.time, ca.SX(1)))
    moved = ca.SX(goal)
    moved[at.pose], moved[at.velocity] = pose, velocity
    return moved


def goal_pose(model: NodeModel) -> ca.SX:
    """(4, 4) of the main body at the goal, where that is at `time`."""
    k = model.shape.goal_motion if model.own_space else None
    T = model.pose_wb(goal_node(model))
    return T if k is None else model.carrier(k) @ T


def goal_place(model: NodeModel) -> ca.SX:
    """As `NodeModel.place`."""
    return goal_pose(model)[:3, 3] if model.placed_by_bodies else model.place(goal_node(model))


def meets_in_motion(model: NodeModel) -> bool:
    """Of the main body about a space of its own the goal asks for the velocity of what carries it."""
    return model.own_space and model.shape.goal_motion is not None and model.shape.demands[2] != "free"


def goal_misses(model: NodeModel, node: ca.SX) -> list[tuple[str, str, ca.SX]]:
    """(part, demand, miss in SI units) of every row of the goal that has to be met."""
    return [row for row in _missed(model, node) if row[1] != "near"]


def _missed(model: NodeModel, node: ca.SX) -> list[tuple[str, str, ca.SX]]:
    """Of every row that is not free."""
    at, goal = model.vehicle.node_layout, goal_node(model)
    position, rotation, velocity, shape, shape_velocity, _ = model.shape.demands
    if model.own_space:
        return _missed_in_space(model, node)
    out = [("position", str(position), node[i] - goal[i]) for i in model.position_indices]
    if planar(model.vehicle):
        at_heading = model.heading_index
        miss = 2 * ca.sin((node[at_heading] - goal[at_heading]) / 2)
        out.append(("rotation", str(rotation), miss))
    else:
        out += _rotation_missed(model, node)
    xi = node[at.velocity] - goal[at.velocity]
    out += [("velocity", str(velocity), xi[i]) for i in range(xi.shape[0])]
    inner = (("shape", at.shape, shape), ("shape velocity", at.shape_velocity, shape_velocity))
    for name, where, wanted in inner:
        miss = node[where] - goal[where]
        out += [(name, "fixed", miss[i]) for i in wanted]  # type: ignore[attr-defined]
    return [row for row in out if row[1] != "free"]


def drawn_by(model: NodeModel, node: ca.SX) -> ca.SX | None:
    """Half the squares of what is to be near, over its tolerance; None where nothing is."""
    rows = [(part, miss) for part, demand, miss in _missed(model, node) if demand == "near"]
    tolerance = _tolerances(model)
    turns = model.turns == 3 and model.shape.demands[1] == "near"
    squares = [(miss / tolerance[part]) ** 2 for part, miss in rows if not (turns and part == "rotation")]
    if turns:
        # By the chord: the sines vanish half a turn off, too.
        squares.append(2 * (1 - _cosine_missed(model, node)) / tolerance["rotation"] ** 2)
    return sum(squares, ca.SX(0)) / 2 if squares else None


def _tolerances(model: NodeModel) -> dict[str, ca.SX]:
    return {part: model.given["tolerance"][i] for i, part in enumerate(_UNITS)}


def _rotation_missed(model: NodeModel, node: ca.SX) -> list[tuple[str, str, ca.SX]]:
    """In space."""
    rotation = model.shape.demands[1]
    if rotation == "upright":
        half = half_angle_cosine(_cosine_missed(model, node))
        up_b = model.pose_wb(node)[2, :2]
        return [("rotation", "fixed", up_b[0] / half), ("rotation", "fixed", up_b[1] / half)]
    # Three equations, not nine: R is a rotation already.
    miss = turn_sines(_turn_missed(model, node))
    return [("rotation", str(rotation), miss[i]) for i in range(3)]


def _missed_in_space(model: NodeModel, node: ca.SX) -> list[tuple[str, str, ca.SX]]:
    """Of what moves about a space of its own: parts of its state, and of its main body place and rotation."""
    goal, parts = goal_node(model), model.shape.demands[5]
    found = model.vehicle.space.coordinates(goal, node)
    if model.closed is not None:
        # Where the leading joints are says how the others stand; velocities are asked for otherwise.
        leads = {model.vehicle.space.columns[i] for i in model.closed.leading_places}
        found = {name: miss for name, miss in found.items() if name in leads}
    elif model.closing_count:
        found = {name: miss for name, miss in found.items() if name != "velocity"}
    out = [
        (name, "fixed", miss[i])
        for name, miss in found.items()
        if parts is None or name in parts  # type: ignore[operator]
        for i in range(miss.shape[0])
    ]
    if parts is not None:
        miss = model.place(node) - goal_place(model)
        out += [("position", str(model.shape.demands[0]), miss[i]) for i in range(3)]
        out += _rotation_missed(model, node)
        out += _carrier_missed(model, node) if meets_in_motion(model) else []
    return [row for row in out if row[1] != "free"]


def _carrier_missed(model: NodeModel, node: ca.SX) -> list[tuple[str, str, ca.SX]]:
    """Velocity of the main body where its place is asked for, and how it turns where its rotation is, against those of
    what carries the goal."""
    vehicle, position, rotation, wanted = model.vehicle, *model.shape.demands[:3]
    if model.closed is not None:
        at, loops = vehicle.node_layout, (model.closed.closure, model.closed.independent_gaps.tolist())
        kept = model.tree.kept_closed(node[at.pose], node[at.velocity], *loops)[1]
        node = ca.vertcat(node[at.pose], kept)
    goal, twist, misses = goal_pose(model), model.twist(node), []
    slope, R = ca.jtimes(goal, model.time, ca.SX(1)), model.pose_wb(node)[:3, :3]
    if position != "free":
        misses += ca.vertsplit(R @ twist[3:] - slope[:3, 3])
    if rotation not in ("free", "upright"):
        hat = slope[:3, :3] @ goal[:3, :3].T
        misses += ca.vertsplit(R @ twist[:3] - ca.vertcat(hat[2, 1], hat[0, 2], hat[1, 0]))
    return [("velocity", str(wanted), miss) for miss in misses]


def _turn_missed(model: NodeModel, node: ca.SX) -> ca.SX:
    """(3, 3) rotation from the goal's attitude to the node's."""
    return goal_pose(model)[:3, :3].T @ model.pose_wb(node)[:3, :3]


def _cosine_missed(model: NodeModel, node: ca.SX) -> ca.SX:
    """Of the angle in space by which the goal's rotation, or uprightness, is missed."""
    if model.shape.demands[1] == "upright":
        return model.pose_wb(node)[2, 2]
    return turn_cosine(_turn_missed(model, node))


def _facings(model: NodeModel, node: ca.SX) -> list[tuple[str, ca.SX]]:
    """(part of the goal, cosine of the angle by which it is missed): half a turn off, its equations hold too."""
    parts = model.shape.demands[5]
    out = []
    if model.own_space:
        found = model.vehicle.space.facing(goal_node(model), node)
        out = [(n, x) for n, x in found.items() if parts is None or n in parts]  # type: ignore[operator]
    asked = model.shape.demands[1] not in ("near", "free")
    if model.turns == 3 and asked and (parts is not None or not model.own_space):
        out.append(("rotation", _cosine_missed(model, node)))
    return out


def goal_rows(model: NodeModel, node: ca.SX, missed: ca.SX) -> list[Constraint]:
    """The goal; with `missed` (two a row) each of them may be missed at a price."""
    tolerance = _tolerances(model)
    scales = {"position": model.scales.length_m, "velocity": model.scales.speed_mps}
    rows = []
    for i, (part, demand, miss) in enumerate(goal_misses(model, node)):
        give = missed[2 * i] - missed[2 * i + 1] if missed.shape[0] else ca.SX(0)
        unit = _UNITS.get(part, "")
        if demand == "fixed":
            scale = scales.get(part, 1.0)
            rows.append(
                Constraint(f"goal {part}", miss / scale + give, 0.0, 0.0, unit, scale, goal=part, soft=True)
            )
        else:
            rows.append(
                Constraint(
                    f"goal {part}", miss / tolerance[part] + give, -1.0, 1.0, unit, goal=part, soft=True
                )
            )
    for part, cosine in _facings(model, node):
        # At half a turn exactly the sine and the cosine of its half both vanish.
        give = ca.sum1(missed) if missed.shape[0] else ca.SX(0)
        rows.append(
            Constraint(f"goal {part}", cosine + give, _LEAST_COSINE, np.inf, "rad", goal=part, soft=True)
        )
    return rows
