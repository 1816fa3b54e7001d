"""Starts that are found with the motion, and what ends as it begins, as constraints of the first and the last node."""

import casadi as ca
import numpy as np

from sim.groups.so3 import turn_sines
from sim.planner.task.bodies import columns
from sim.planner.task.inputs import Constraint
from sim.planner.transcription.model import NodeModel


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
    misses, turned = [], set(model.ends.rotated)
    for i, unit in zip(model.ends.periodic, begin_scale(model), strict=True):
        if i in turned:
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
    return [Constraint("periodic", miss, 0.0, 0.0, goal="periodic", soft=True) for miss in misses]


def begin_scale(model: NodeModel) -> np.ndarray:
    """Of what is periodic."""
    inputs = np.tile(model.scales.inputs, int(model.shape.remembers_inputs))
    return np.asarray(np.r_[model.y_scale, inputs][model.ends.periodic])


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
