"""Contact of a tree: of round ends of its bodies with the ground, of balls of some with boxes of others; the impulses
between them, and their answer.

Every touching end, and every ball at a box, is a row of the contact solver that single bodies have; what an impulse at
one does to the others is J M^-1 J', one articulated-body solve a row and direction. The impulses act at the node where
a step starts, as a generalised force.
"""

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from sim.contact.at_once import settle
from sim.contact.height_field import surface_height, surface_normal
from sim.contact.rows import AIM, GAP, IMPULSE, NORMAL, POINT, ROW_WIDTH, face_rows, gather_rows
from sim.contact.solver import note_answers, solve_answered
from sim.contact.wrench import LOADS, borne_by_ground, recall, tell_touches
from sim.environment.environment import TOLD, Environment
from sim.multibody.arrays import REMEMBERED, TreeMotion
from sim.multibody.articulated import solve
from sim.multibody.kinematics import gather, twists_of
from sim.multibody.observing import world_frames
from sim.multibody.pushing import Pushing, box_gap, least_gap, nearest, parted, with_world
from sim.multibody.shapes import observed_points, touching_points
from sim.multibody.spatial import (
    add,
    apart,
    aside,
    cross,
    dot,
    entry,
    jit,
    put_pair,
    rotate,
    row3,
    row9,
    row_of,
    sub,
    times,
    unrotate,
)
from sim.multibody.tree import Tree
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.base import Vehicle
from sim.world import World
from sim.world.terrain import Terrain

_Spheres = tuple[np.ndarray, np.ndarray]
_FAR_M = 1e4
_NEAR_M, _FAST_MPS, _PUSHED_M = 0.5, 75.0, 0.2
"""Who is higher than what speeds up to this lead down within a step is not looked at any closer."""
_TOUCHES_M, _SINKS_M, _ASLEEP_MPS = 1e-7, 1e-8, 1e6
"""An end that is higher than the first where a step begins is left out, aiming at nothing, until it is found to be
needed: until it would end lower than the second in the ground. What lands just as a step ends bears from there on."""


@entry
def lowest_end(tree, q, node, frames, carriers, spheres, heights, frame):
    """Least height of an end above the ground [m]; `frames` (n, 12) gets the bodies' frames in the world."""
    world_frames(tree, q, node, frames)
    lowest = math.inf
    for k in range(carriers.shape[0]):
        i = carriers[k]
        x = add(row3(frames, i, 9), rotate(row9(frames, i, 0), row3(spheres, k, 0)))
        lowest = min(lowest, x[2] - spheres[k, 3] - surface_height(heights, frame, x[0], x[1]))
    return lowest


@jit
def take_carrier(contact, i):
    """The pose and the twist of body i, as rows are gathered with them."""
    pose, twist, R = contact.carrier[:12], contact.carrier[12:18], row9(contact.frames, i, 0)
    for c in range(3):
        pose[9 + c] = contact.frames[i, 9 + c]
        for r in range(3):
            pose[3 * c + r] = R[3 * r + c]
    turning, moving = unrotate(R, row3(contact.twists, i, 0)), unrotate(R, row3(contact.twists, i, 3))
    for c in range(3):
        twist[c] = turning[c]
        twist[3 + c] = moving[c]


@jit
def speed_at(contact, i, x):
    """Of the point of body i that is at x, at most [m/s]."""
    arm = sub(x, row3(contact.frames, i, 9))
    moving = add(row3(contact.twists, i, 3), cross(row3(contact.twists, i, 0), arm))
    return abs(moving[0]) + abs(moving[1]) + abs(moving[2])


@jit
def gather_pushes(contact, h, work, used):
    """As `gather_ends`, of balls that may meet boxes; how many rows there are with those before."""
    pairs, at = contact.pushing, contact.carriers.shape[0]
    for k in range(pairs.balls.shape[0]):
        i, j = pairs.balls[k], pairs.boxes[k]
        gap, n, centre = box_gap(contact.frames, pairs.spheres, pairs.frames, i, j, k)
        if gap > _PUSHED_M + 2.0 * h * (speed_at(contact, i, centre) + speed_at(contact, j, centre)):
            continue
        take_carrier(contact, i)
        w, R = work[used], row9(contact.frames, i, 0)
        touched = sub(row3(pairs.spheres, k, 0), times(pairs.spheres[k, 3], unrotate(R, n)))
        for c in range(3):
            w[c], w[NORMAL + c] = touched[c], n[c]
        w[GAP], w[POINT] = gap, at + k
        face_rows(work[used : used + 1], contact.carrier[:12], contact.carrier[18:], h)
        contact.body[used], contact.other[used] = i, j
        used += 1
    return used


@jit
def gather_ends(tree, contact, h, work):
    """Rows of all ends that may meet the ground within h under the bodies' twists; how many.

    contact.body: their bodies; contact.other: what they meet, below 0 the ground.

    The point of a round end is the one next to the ground.
    """
    used = 0
    heights, frame = contact.heights, contact.frame
    for k in range(contact.carriers.shape[0]):
        i = contact.carriers[k]
        R = row9(contact.frames, i, 0)
        centre, radius = row3(contact.spheres, k, 0), contact.spheres[k, 3]
        x = add(row3(contact.frames, i, 9), rotate(R, centre))
        n = unrotate(R, surface_normal(heights, frame, x[0], x[1]))
        take_carrier(contact, i)
        for c in range(3):
            contact.point[0, c] = centre[c] - radius * n[c]
        pose, twist = contact.carrier[:12], contact.carrier[12:18]
        rows = gather_rows(
            work[used:], pose, twist, contact.carrier[18:], h, heights, frame, contact.point, np.inf
        )
        for row in range(used, used + rows):
            work[row, POINT] = k
            contact.body[row], contact.other[row] = i, -1
        used += rows
    return used


@jit
def along(contact, rows, v, out):
    """J v."""
    for row in range(3 * rows):
        total = 0.0
        for a in range(v.shape[0]):
            total += contact.jacobian[row, a] * v[a]
        out[row] = total


@jit
def answer(tree, ws, contact, work, rows, implicit_h):
    """Fill contact.jacobian (3 rows, nv) and contact.response (3 rows, 3 rows); ws.factor as in `ground_push`."""
    nv = contact.free.shape[0]
    for k in range(rows):
        w = work[k]
        for direction in range(3):
            i, j = contact.body[k], contact.other[k]
            R = row9(contact.frames, i, 0)
            arm, force = rotate(R, row_of(w, 0)), rotate(R, row_of(w, NORMAL + 3 * direction))
            if i < ws.wrench.shape[0]:
                put_pair(ws.wrench, i, cross(arm, force), force)
            if 0 <= j < ws.wrench.shape[0]:
                arm = add(arm, sub(row3(contact.frames, i, 9), row3(contact.frames, j, 9)))
                put_pair(ws.wrench, j, cross(force, arm), times(-1.0, force))
            gather(tree, ws.node, ws.wrench, contact.jacobian[3 * k + direction])
    for column in range(3 * rows):
        for a in range(nv):
            contact.moved[a] = contact.jacobian[column, a]
        push, moved = contact.moved, contact.moved
        solve(tree, ws.node, ws.damping, implicit_h, ws.factor, push, ws.wrench, ws.spare, ws.arc, moved)
        along(contact, rows, moved, contact.response[:, column])
    note_answers(work, contact.response)


@apart
def is_near(tree, ws, contact, q, h):
    """Whether an end may meet the ground within a step of h, or a ball a box; notes how high the lowest end is."""
    contact.report[1] = contact.report[contact.report.shape[0] - 1] = 0.0
    for c in range(6):
        contact.wrench_w[c] = 0.0
    contact.report[2] = lowest_end(
        tree, q, ws.node, contact.frames, contact.carriers, contact.spheres, contact.heights, contact.frame
    )
    pairs = contact.pushing
    gap, _ = least_gap(contact.frames, pairs.balls, pairs.boxes, pairs.spheres, pairs.frames)
    near = min(contact.report[2], gap) < _NEAR_M + 4.0 * _FAST_MPS * h
    if not near:
        contact.report[13] = 0.0
    return near


@aside
def ground_push(tree, ws, contact, h, implicit_h, push):
    """Add to `push` (nv,) the mean generalised force of contact over a step of h, where `is_near`; how many rows
    bear it.

    contact.free (nv,): velocities with which the step would move on without contact. ws.factor: what answers an
    impulse, with the damping of ws.damping within over implicit_h (`factorise`).
    """
    twists_of(tree, ws.node, contact.free, contact.twists)
    rows = gather_pushes(contact, h, contact.work, gather_ends(tree, contact, h, contact.work))
    if rows == 0:
        contact.report[13] = 0.0
        return 0
    work = contact.work[:rows]
    answer(tree, ws, contact, work, rows, implicit_h)
    along(contact, rows, contact.free, contact.speeds)
    for k in range(rows):
        contact.touch[k] = max(-contact.speeds[3 * k], 0.0)
    recall(work, h, contact.report)
    if contact.frame[5] > 0.0:
        for k in range(rows):
            if contact.other[k] < 0 and work[k, GAP] > _TOUCHES_M:
                work[k, AIM] = -_ASLEEP_MPS
    bear(contact, rows, h, push)
    return rows


@jit
def woken(contact, rows, h):
    """Whether ends that were left out are needed: without them what was aloft would be in the ground where it ends.

    A force may well hold itself, as of a leg that friction wedges: where none is needed there is none. What is found
    to be needed is looked for anew.
    """
    found = False
    for k in range(rows):
        w = contact.work[k]
        if w[AIM] == -_ASLEEP_MPS and w[GAP] + h * contact.speeds[3 * k] < -_SINKS_M:
            w[AIM], found = -w[GAP] / h, True
    if found:
        contact.beside[: 3 * rows] = 0.0
    return found


@jit
def bear(contact, rows, h, push):
    """Find the rows' impulses against contact.speeds, which become those after it, and add their mean force to push."""
    work = contact.work[:rows]
    solve_answered(work, contact.speeds, contact.response, contact.frame[3])
    if contact.frame[5] > 0.0:
        n = 3 * rows
        settle(work, contact.speeds[:n], contact.response[:n, :n], contact.frame[3])
    for k in range(rows):
        for direction in range(3):
            amount = work[k, IMPULSE + direction] / h
            for a in range(push.shape[0]):
                push[a] += amount * contact.jacobian[3 * k + direction, a]


@apart
def look_at_ends(tree, contact, q, node, rows, h):
    """Note in contact.beside by how much the rows' mean speeds over a step of h that ends at q are others than
    contact.speeds, beyond what it held; the greatest change. `node` is overwritten."""
    world_frames(tree, q, node, contact.after)
    greatest = 0.0
    for k in range(rows):
        w, i, j = contact.work[k], contact.body[k], contact.other[k]
        if j >= 0:
            greatest = max(greatest, look_at_push(contact, k, h))
            continue
        end, R, turned = int(w[POINT]), row9(contact.frames, i, 0), row9(contact.after, i, 0)
        centre = row3(contact.spheres, end, 0)
        n = row_of(w, NORMAL)
        touched = times(-contact.spheres[end, 3], n)
        moved = sub(row3(contact.after, i, 9), row3(contact.frames, i, 9))
        moved = add(moved, sub(rotate(turned, centre), rotate(R, centre)))
        rolled = add(moved, sub(rotate(turned, touched), rotate(R, touched)))
        for direction in range(3):
            way = rotate(R, row_of(w, NORMAL + 3 * direction))
            speed = dot(moved if direction == 0 else rolled, way) / h
            change = speed - contact.speeds[3 * k + direction]
            contact.beside[3 * k + direction] += change
            greatest = max(greatest, abs(change))
    return greatest


@jit
def look_at_push(contact, k, h):
    """As `look_at_ends`, of one row between a ball and a box, with contact.after at the step's end."""
    w, i, j, pairs, greatest = contact.work[k], contact.body[k], contact.other[k], contact.pushing, 0.0
    pair, R = int(w[POINT]) - contact.carriers.shape[0], row9(contact.frames, i, 0)
    gap, _, _ = box_gap(contact.after, pairs.spheres, pairs.frames, i, j, pair)
    p = add(row3(contact.frames, i, 9), rotate(R, row_of(w, 0)))
    moved = parted(contact.frames, contact.after, i, j, p)
    for direction in range(3):
        speed = dot(moved, rotate(R, row_of(w, NORMAL + 3 * direction))) / h
        if direction == 0:
            speed = (gap - w[GAP]) / h
        change = speed - contact.speeds[3 * k + direction]
        contact.beside[3 * k + direction] += change
        greatest = max(greatest, abs(change))
    return greatest


@apart
def tell_ground(contact, rows, h):
    """Write what the rows bore in a step of h."""
    work, report = contact.work[:rows], contact.report
    for k in range(rows):
        first, second = contact.speeds[3 * k + 1], contact.speeds[3 * k + 2]
        contact.slips[k] = math.sqrt(first * first + second * second)
    tell_touches(work, contact.touch, contact.slips, contact.marks, h, report)
    report[13] = 1.0
    report[14] = h
    for k in range(rows):
        R = row9(contact.frames, contact.body[k], 0)
        for direction in range(3):
            amount = work[k, IMPULSE + direction] / h
            if amount == 0.0 or contact.other[k] >= 0:
                continue
            force = rotate(R, row_of(work[k], NORMAL + 3 * direction))
            for c in range(3):
                contact.wrench_w[3 + c] += amount * force[c]


FRICTION = 0.7


class TreeContact(NamedTuple):
    """Arrays that the compiled contact reads and writes."""

    heights: np.ndarray
    """(ny, nx) float32 [m]."""
    frame: np.ndarray
    """(6,) x0_m, y0_m, spacing_m, friction, restitution (none), at how many ends of a step it is looked until contact
    holds there; 0: it holds by velocities at the step's beginning."""
    carriers: np.ndarray
    """(k,) bodies of the arrays whose ends these are."""
    spheres: np.ndarray
    """(k, 4) centres in the bodies' frames and radii [m]."""
    pushing: Pushing
    """Of m balls that push boxes, which follow the ends."""
    marks: np.ndarray
    """(k + m, 4) zeros: no end breaks."""
    report: np.ndarray
    """(16 + 3 (k + m) + TOLD,) as `sim.contact.ground.GroundArrays` has it."""
    wrench_w: np.ndarray
    """(6,) the last three: mean force of the ground in the last step, world frame [N]."""
    frames: np.ndarray
    twists: np.ndarray
    carrier: np.ndarray
    """(24,) pose and twist of one body as `gather_rows` takes them, and its inverse inertias, which do not matter."""
    point: np.ndarray
    body: np.ndarray
    other: np.ndarray
    work: np.ndarray
    jacobian: np.ndarray
    response: np.ndarray
    free: np.ndarray
    moved: np.ndarray
    speeds: np.ndarray
    touch: np.ndarray
    slips: np.ndarray
    begin: TreeMotion
    """Where a step begins."""
    others: np.ndarray
    """(nv,) what pushes besides."""
    beside: np.ndarray
    """(3 rows,) by how much mean speeds over a step are others than impulses at its beginning say."""
    after: np.ndarray
    """(n + 1, 12) frames at the step's end, as `frames`."""


class TreeGround(Environment):
    """The ground about one lane of a tree of joints."""

    acts = True

    def __init__(self, vehicle: ArticulatedVehicle, contact: TreeContact) -> None:
        # The ground's force on all bodies together, in the world: there is no one body that it is on.
        super().__init__(vehicle, contact.report, contact.wrench_w)
        self.vehicle: ArticulatedVehicle = vehicle
        self.contact = contact

    @classmethod
    def of(cls, vehicle: Vehicle, world: World | None) -> Environment:
        assert isinstance(vehicle, ArticulatedVehicle)
        if world is None:
            return Environment(vehicle)
        level = Terrain(np.full((2, 2), -vehicle.stand_m, np.float32), (-_FAR_M, -_FAR_M), 2.0 * _FAR_M)
        return cls.under(vehicle, world.terrain if vehicle.free else level)

    @classmethod
    def under(cls, vehicle: ArticulatedVehicle, terrain: Terrain) -> "TreeGround":
        """Of a terrain, for the ends of what is drawn of a tree."""
        spheres = touching_points(vehicle.tree, vehicle.shapes())
        heights = np.ascontiguousarray(terrain.heights, np.float32)
        frame = np.array([*terrain.origin_m, terrain.spacing_m, FRICTION, 0.0, 0.0, 0.0])
        pushing = Pushing(*(x.copy() for x in vehicle.pushing))
        return cls(vehicle, _contact(heights, frame, spheres, pushing, vehicle.tree))

    @property
    def env(self) -> tuple[Any, ...]:
        return (self.contact,)

    def clearance_m(self, node: np.ndarray) -> float:
        """Least height of an end above the ground; of a stand without ends, the stand's; inf without both."""
        contact, tree = self.contact, self.vehicle.tree
        if not len(contact.spheres) and not self.vehicle.free:
            return super().clearance_m(node)
        if not np.isfinite(node).all():
            return float("inf")
        node_frames, frames = np.zeros((tree.n, 12)), np.zeros((tree.n, 12))
        q, ends = np.ascontiguousarray(node[: tree.nq]), (contact.carriers, contact.spheres)
        return float(lowest_end(tree.arrays, q, node_frames, frames, *ends, contact.heights, contact.frame))

    def apart_m(self, node: np.ndarray) -> float:
        """Least gap between a ball and a box that it pushes; inf where there are none."""
        tree = self.vehicle.tree
        return nearest(tree, self.contact.pushing, node[: tree.nq])[0]

    def borne(self, poses_w: np.ndarray) -> np.ndarray:
        """Of round ends."""
        return borne_by_ground(self.report, *_observed_ends(self.vehicle), poses_w)

    def lift_out(self, node: np.ndarray) -> np.ndarray:
        return self.vehicle.raised(node, -min(self.clearance_m(node), 0.0))

    def renew(self, vehicle: Vehicle, time_s: float) -> None:
        """The same vehicle with other parameters, by which its ends may be elsewhere."""
        assert isinstance(vehicle, ArticulatedVehicle)
        self.vehicle = vehicle
        self.contact.spheres[:] = touching_points(vehicle.tree, vehicle.shapes())[1]
        for now, other in zip(self.contact.pushing, vehicle.pushing, strict=True):
            now[:] = other

    def probe(self) -> "TreeGround":
        contact = self.contact._replace(report=self.report.copy(), wrench_w=self.contact.wrench_w.copy())
        return TreeGround(self.vehicle, contact)


@lru_cache(maxsize=16)
def _observed_ends(vehicle: ArticulatedVehicle) -> _Spheres:
    return observed_points(vehicle.tree, *touching_points(vehicle.tree, vehicle.shapes()))


def contact_of(env: tuple[Any, ...]) -> TreeContact:
    """What a stepper was handed; no ends where that is nothing."""
    return env[0] if env else NO_GROUND


def _contact(
    heights: np.ndarray, frame: np.ndarray, spheres: _Spheres, pushing: Pushing, tree: Tree | None
) -> TreeContact:
    """With room for what a step works out; tree: None: there is none."""
    n, nq, nv = (0, 0, 0) if tree is None else (tree.n, tree.nq, tree.nv)
    k, m = len(spheres[0]), len(pushing.balls)
    rows = 2 * k + m
    return TreeContact(
        heights,
        frame,
        *spheres,
        pushing,
        marks=np.zeros((k + m, 4)),
        report=np.zeros(LOADS + 3 * (k + m) + TOLD),
        wrench_w=np.zeros(6),
        frames=with_world(n),
        twists=np.zeros((n + 1, 6)),
        carrier=np.ones(24),
        point=np.zeros((1, 4)),
        body=np.zeros(rows, np.int64),
        other=np.zeros(rows, np.int64),
        work=np.zeros((rows, ROW_WIDTH)),
        jacobian=np.zeros((3 * rows, nv)),
        response=np.zeros((3 * rows, 3 * rows)),
        free=np.zeros(nv),
        moved=np.zeros(nv),
        speeds=np.zeros(3 * rows),
        touch=np.zeros(rows),
        slips=np.zeros(rows),
        begin=TreeMotion(np.zeros(nq), np.zeros(nv), np.zeros((nv, REMEMBERED)), np.zeros(2)),
        others=np.zeros(nv),
        beside=np.zeros(3 * rows),
        after=with_world(n),
    )


NO_GROUND = _contact(
    np.zeros((2, 2), np.float32),
    np.array([0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]),
    (np.zeros(0, np.int64), np.zeros((0, 4))),
    Pushing(np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 4)), np.zeros((0, 16))),
    None,
)
