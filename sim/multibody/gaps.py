"""What closed loops keep at zero: gaps, one number a row, and their slopes by the joints' increments.

A loop's joint leaves rows between a body and the other that it joins: ways along directions between two points, and
cosines between directions in either, times a length of the tree, so that all are metres. A gear is a row between two
coordinates, or lengths of tendons. The damper of a spring is a row that gives way: its impulse over a step is -damping
times the change of the spring's length, half of it at either end.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from sim.multibody.arrays import COORDINATE, REVOLUTE
from sim.multibody.declaration import COEFFICIENTS, WORLD, Body, Gear, Loop, aligned, checked_joints, rotation
from sim.multibody.kinematics import gather
from sim.multibody.spatial import add, cross, dot, jit, length_of, rotate, row3, row9, sub, times
from sim.multibody.springs import (
    arm_from,
    from_centre,
    pull,
    push,
    side_of,
    spring_length,
    spring_rate,
    way_along,
)
from sim.multibody.tree import Tree, hinge_or_slide, is_angle, point_of
from sim.multibody.wraps import second_rate_round
from sim.platform.errors import InputError, array_of, quote

WAY, TURN, GEAR, DAMPER = 0, 1, 2, 3
"""Kinds of rows."""
TENDON = -2


class LoopArrays(NamedTuple):
    """m rows, those of dampers the last."""

    kind: np.ndarray
    """(m,)"""
    body: np.ndarray
    """(m, 2) of the tree's arrays, -1 for the world; of a gear those that its joints carry, or TENDON less the number
    of a spring; of a damper (its spring, -1)."""
    point: np.ndarray
    """(m, 2, 3) in the bodies' frames: of ways points [m], of turns directions."""
    along: np.ndarray
    """(m, 3) direction of a way."""
    along_of: np.ndarray
    """(m,) body in whose frame it is, -1 for the world; the row's other one, if any."""
    size: np.ndarray
    """(m,) what the gap is multiplied with [m, or 1]."""
    cosine: np.ndarray
    """(m,) of a turn's directions where it is closed."""
    coefficients: np.ndarray
    """(m, COEFFICIENTS) of gears."""


@jit
def arm_of(loops, frames, row, end):
    """A row's point or direction in the world's axes, from its body's origin."""
    x = (loops.point[row, end, 0], loops.point[row, end, 1], loops.point[row, end, 2])
    i = loops.body[row, end]
    if i < 0:
        return x
    return rotate(row9(frames, i, 0), x)


@jit
def end_of(loops, frames, row, end):
    """Where a row's point is in the world."""
    x, i = arm_of(loops, frames, row, end), loops.body[row, end]
    if i < 0:
        return x
    return add(row3(frames, i, 9), x)


@jit
def way_of(loops, frames, row):
    """Direction of a way in the world."""
    i = loops.along_of[row]
    if i < 0:
        return row3(loops.along, row, 0)
    return rotate(row9(frames, i, 0), row3(loops.along, row, 0))


@jit
def geared(tree, node, i, q):
    """Coordinate or length that a gear has of joint or tendon i, where `node` is placed at q; 0 of nothing."""
    if i >= 0:
        return q[tree.q_at[i]]
    return spring_length(tree, node, q, TENDON - i) if i <= TENDON else 0.0


@jit
def gap_of(tree, node, loops, frames, row, q):
    """One gap [m], where `node` and the bodies' frames (n, 12) in the world are those at q; of a damper none."""
    kind = loops.kind[row]
    if kind == WAY:
        x = sub(end_of(loops, frames, row, 0), end_of(loops, frames, row, 1))
        return loops.size[row] * dot(way_of(loops, frames, row), x)
    if kind == TURN:
        cosine = dot(arm_of(loops, frames, row, 0), arm_of(loops, frames, row, 1))
        return loops.size[row] * (cosine - loops.cosine[row])
    if kind == GEAR:
        x, total = geared(tree, node, loops.body[row, 1], q), 0.0
        for k in range(COEFFICIENTS):
            total = total * x + loops.coefficients[row, COEFFICIENTS - 1 - k]
        return loops.size[row] * (geared(tree, node, loops.body[row, 0], q) - total)
    return 0.0


@jit
def slope_of_gear(tree, node, loops, row, q):
    """Of what follows by what leads."""
    x, total = geared(tree, node, loops.body[row, 1], q), 0.0
    for k in range(COEFFICIENTS - 1):
        n = COEFFICIENTS - 1 - k
        total = total * x + n * loops.coefficients[row, n]
    return total


@jit
def slope_row(tree, ws, loops, frames, row, q, out):
    """Slope (nv,) of one gap, of a damper's length, where ws.node and frames are; leaves ws.wrench clear."""
    kind, size = loops.kind[row], loops.size[row]
    one, other = loops.body[row, 0], loops.body[row, 1]
    if kind == WAY:
        force = times(size, way_of(loops, frames, row))
        push(ws.wrench, one, cross(arm_of(loops, frames, row, 0), force), force)
        arm = arm_of(loops, frames, row, 1)
        if other >= 0 and loops.along_of[row] >= 0:
            # The direction turns with the other body: it is pushed back at the first one's point.
            arm = sub(end_of(loops, frames, row, 0), row3(frames, other, 9))
        push(ws.wrench, other, times(-1.0, cross(arm, force)), times(-1.0, force))
    elif kind == TURN:
        torque = times(size, cross(arm_of(loops, frames, row, 0), arm_of(loops, frames, row, 1)))
        push(ws.wrench, one, torque, (0.0, 0.0, 0.0))
        push(ws.wrench, other, times(-1.0, torque), (0.0, 0.0, 0.0))
    elif kind == DAMPER:
        pull(tree, ws.node, one, 1.0, ws.wrench)
    elif kind == GEAR:
        leads = -size * slope_of_gear(tree, ws.node, loops, row, q)
        if one <= TENDON:
            pull(tree, ws.node, TENDON - one, size, ws.wrench)
        if other <= TENDON:
            pull(tree, ws.node, TENDON - other, leads, ws.wrench)
        gather(tree, ws.node, ws.wrench, out)
        if one >= 0:
            out[tree.v_at[one]] += size
        if other >= 0:
            out[tree.v_at[other]] += leads
        return
    gather(tree, ws.node, ws.wrench, out)


@jit
def point_rates(ws, i, arm):
    """(velocity, acceleration) in the world's axes of what is at `arm` from body i's origin, by the joints' velocities
    alone, of which `velocity_forces` has left twists in ws.arc and spatial accelerations in ws.after."""
    if i < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    w = row3(ws.arc, i, 0)
    x = add(row3(ws.arc, i, 3), cross(w, arm))
    return x, add(add(row3(ws.after, i, 3), cross(row3(ws.after, i, 0), arm)), cross(w, x))


@jit
def direction_rates(ws, i, along):
    """(rate, second rate) of a direction that body i carries, likewise."""
    if i < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    w = row3(ws.arc, i, 0)
    x = cross(w, along)
    return x, add(cross(row3(ws.after, i, 0), along), cross(w, x))


@jit
def second_rate_of_part(tree, ws, m):
    """Of part m, which goes round a shape, likewise."""
    i, j, w = tree.part_carriers[m, 0], tree.part_carriers[m, 1], tree.part_carriers[m, 2]
    k = tree.wrap_carriers[w, 0]
    v, a = point_rates(ws, k, arm_from(ws.node, k, row3(tree.wraps, w, 0)))
    x, x_second = point_rates(ws, i, arm_from(ws.node, i, row3(tree.parts, m, 0)))
    y, y_second = point_rates(ws, j, arm_from(ws.node, j, row3(tree.parts, m, 3)))
    axis, side = arm_from(ws.node, k, row3(tree.wraps, w, 3)), side_of(tree, ws.node, w)
    turns, turns_second = direction_rates(ws, k, axis)
    one = (from_centre(tree, ws.node, m, 0), sub(x, v), sub(x_second, a))
    other = (from_centre(tree, ws.node, m, 1), sub(y, v), sub(y_second, a))
    how = tree.wrap_carriers[w, 1]
    return second_rate_round(one, other, (axis, turns, turns_second), tree.wraps[w, 6], side, how)


@jit
def second_rate_of_length(tree, ws, k):
    """Of spring k, by the joints' velocities alone, as `point_rates` has them."""
    total = 0.0
    for m in range(tree.part_starts[k], tree.part_starts[k + 1]):
        i, j = tree.part_carriers[m, 0], tree.part_carriers[m, 1]
        if tree.part_carriers[m, 2] >= 0:
            total += tree.parts[m, 6] * second_rate_of_part(tree, ws, m)
        elif j != COORDINATE:
            way = way_along(tree, ws.node, m)
            length = length_of(way)
            x, a = point_rates(ws, i, arm_from(ws.node, i, row3(tree.parts, m, 0)))
            y, b = point_rates(ws, j, arm_from(ws.node, j, row3(tree.parts, m, 3)))
            x, a = sub(x, y), sub(a, b)
            rate = dot(way, x) / length
            total += tree.parts[m, 6] * (dot(way, a) + dot(x, x) - rate * rate) / length
    return total


@jit
def second_rate(tree, ws, loops, frames, row, q, v):
    """Second rate of one gap [m/s^2] by the joints' velocities alone, as `point_rates` has them; of dampers none."""
    kind, size = loops.kind[row], loops.size[row]
    if kind == WAY:
        one, other = arm_of(loops, frames, row, 0), arm_of(loops, frames, row, 1)
        x, a = point_rates(ws, loops.body[row, 0], one)
        y, b = point_rates(ws, loops.body[row, 1], other)
        along = way_of(loops, frames, row)
        rate, second = direction_rates(ws, loops.along_of[row], along)
        gap = sub(end_of(loops, frames, row, 0), end_of(loops, frames, row, 1))
        return size * (dot(along, sub(a, b)) + 2.0 * dot(rate, sub(x, y)) + dot(second, gap))
    if kind == TURN:
        one, other = arm_of(loops, frames, row, 0), arm_of(loops, frames, row, 1)
        x, a = direction_rates(ws, loops.body[row, 0], one)
        y, b = direction_rates(ws, loops.body[row, 1], other)
        return size * (dot(a, other) + 2.0 * dot(x, y) + dot(one, b))
    if kind == GEAR:
        one, other = loops.body[row, 0], loops.body[row, 1]
        x, rate, total = geared(tree, ws.node, other, q), 0.0, 0.0
        for k in range(COEFFICIENTS - 2):
            n = COEFFICIENTS - 1 - k
            total = total * x + n * (n - 1) * loops.coefficients[row, n]
        second = 0.0
        if one <= TENDON:
            second = second_rate_of_length(tree, ws, TENDON - one)
        if other >= 0:
            rate = v[tree.v_at[other]]
        elif other <= TENDON:
            rate = spring_rate(tree, ws.node, ws.arc, TENDON - other)
            slope = slope_of_gear(tree, ws.node, loops, row, q)
            second -= slope * second_rate_of_length(tree, ws, TENDON - other)
        return size * (second - total * rate * rate)
    return 0.0


def reach_m(tree: Tree) -> float:
    """A length of the tree, by which turns are measured: the longest from a joint to the next; 1 m if there is none."""
    return float(np.linalg.norm(tree.arrays.placement[:, 9:], axis=1).max(initial=0.0)) or 1.0


def rows_of(
    tree: Tree, loops: Sequence[Loop | Gear], *, dampers: bool = True
) -> tuple[LoopArrays, list[Loop | Gear]]:
    """The rows, and what each of those that do not give way is one of. Raises InputError for what closes nothing."""
    made: list[dict[str, Any]] = []
    owners: list[Loop | Gear] = []
    for loop in loops:
        if not isinstance(loop, Loop | Gear):
            raise InputError(f"a loop = {quote(loop)} is none; allowed: a Loop or a Gear")
        rows = [_gear(tree, loop)] if isinstance(loop, Gear) else _joint_rows(tree, loop)
        made += rows
        owners += [loop] * len(rows)
    made += [{"kind": DAMPER, "body": (k, -1)} for k in range(len(tree.arrays.springs) if dampers else 0)]
    return LoopArrays(
        kind=np.array([row["kind"] for row in made], np.int64),
        body=np.array([row["body"] for row in made], np.int64).reshape(-1, 2),
        point=np.array([row.get("point", np.zeros((2, 3))) for row in made], float).reshape(-1, 2, 3),
        along=np.array([row.get("along", np.zeros(3)) for row in made], float).reshape(-1, 3),
        along_of=np.array([row.get("along_of", -1) for row in made], np.int64),
        size=np.array([row.get("size", 1.0) for row in made], float),
        cosine=np.array([row.get("cosine", 0.0) for row in made], float),
        coefficients=np.array([row.get("coefficients", np.zeros(COEFFICIENTS)) for row in made]).reshape(
            -1, COEFFICIENTS
        ),
    ), owners


def _joint_rows(tree: Tree, loop: Loop) -> list[dict[str, Any]]:
    if loop.body == loop.other:
        raise InputError(f"a loop: {quote(loop.body)} is closed with itself")
    try:
        ends = point_of(tree, loop.body, loop.point), point_of(tree, loop.other, loop.other_point)
    except InputError as error:
        raise InputError(f"a loop: {error}") from None
    bodies = ends[0][0], ends[1][0]
    if bodies[0] == bodies[1]:
        raise InputError(f"a loop: {quote(loop.body)} and {quote(loop.other)} do not move apart")
    stands = Body(loop.body, joint=loop.joint, R=loop.R)
    joint, R = _plain(stands), rotation(stands)
    turns = [np.eye(3) if name == WORLD else tree.offsets[tree.names.index(name)][:3, :3]
             for name in (loop.body, loop.other)]  # fmt: skip
    A = aligned(stands, "axis", joint.axis)
    # Columns: two directions across the axis and the axis, in the frames of the carriers.
    own, others = turns[0] @ A, turns[1] @ R @ A

    def way(along: np.ndarray, along_of: int) -> dict[str, Any]:
        return {"kind": WAY, "body": bodies, "point": (ends[0][1], ends[1][1]), "along": along,
                "along_of": along_of}  # fmt: skip

    def turn(one: np.ndarray, other: np.ndarray) -> dict[str, Any]:
        cosine = float((turns[0].T @ one) @ (R.T @ turns[1].T @ other))
        return {"kind": TURN, "body": bodies, "point": (one, other), "size": reach_m(tree), "cosine": cosine}

    together = [way(axis, -1) for axis in np.eye(3)]
    x, _, z = own.T
    x_o, y_o, z_o = others.T
    upright = [turn(z, x_o), turn(z, y_o)]
    match joint.kind:
        case "ball":
            return together
        case "revolute":
            return together + upright
        case "fixed":
            return [*together, *upright, turn(x, y_o)]
        case "universal":
            second = turns[0] @ aligned(stands, "second_axis", joint.second_axis)[:, 2]
            return [*together, turn(second, z_o)]
        case "prismatic":
            return [way(x_o, bodies[1]), way(y_o, bodies[1]), *upright, turn(x, y_o)]
        case _:
            return [way(z_o, bodies[1]), *upright]


def _plain(stands: Body) -> Any:
    """The joint of a loop. Raises InputError where it is more than a kind and axes."""
    (joint, *more) = checked_joints(stands)
    if more or joint.kind == "free":
        raise InputError(
            f"a loop of {quote(stands.name)}: a {joint.kind} joint closes none; allowed: one other joint"
        )
    if (
        np.any(joint.damping)
        or np.any(joint.stiffness)
        or np.any(joint.armature)
        or np.isfinite(joint.limits).any()
    ):
        raise InputError(
            f"a loop of {quote(stands.name)}: its joint has springs, rotors or limits; allowed: none"
        )
    return joint


def _gear(tree: Tree, gear: Gear) -> dict[str, Any]:
    bodies, sizes = [-1, -1], []
    for end, name in enumerate((gear.joint, gear.other)):
        if end and not name:
            break
        if name not in tree.coordinate_names and name in tree.spring_names:
            k = tree.spring_names.index(name)
            bodies[end] = TENDON - k
            sizes.append(_size_of_tendon(tree, k))
            continue
        try:
            body = hinge_or_slide(tree, name)
        except InputError as error:
            raise InputError(f"a gear: {error}") from None
        bodies[end] = body
        sizes.append(reach_m(tree) if tree.arrays.kind[body] == REVOLUTE else 1.0)
    if bodies[0] == bodies[1]:
        raise InputError(f"a gear: {quote(gear.joint)} follows itself")
    count = len(gear.coefficients) if isinstance(gear.coefficients, Sequence | np.ndarray) else 0
    if not 1 <= count <= COEFFICIENTS:
        raise InputError(f"a gear of {quote(gear.joint)}: {count} coefficients; allowed: 1 to {COEFFICIENTS}")
    given = array_of(f"coefficients of a gear of {quote(gear.joint)}", gear.coefficients, (count,))
    return {
        "kind": GEAR,
        "body": bodies,
        "size": sizes[0],
        "coefficients": np.r_[given, np.zeros(COEFFICIENTS - count)],
    }


def _size_of_tendon(tree: Tree, k: int) -> float:
    """What makes its length metres."""
    return reach_m(tree) if is_angle(tree, k) else 1.0
