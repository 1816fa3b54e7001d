"""What follows from a tree's node: poses of the bodies, energies, momentum, what impulses change. Not in the step."""

import math
from typing import NamedTuple

import numpy as np

from sim.multibody.arrays import BALL, FREE, MOMENT, NODE, TreeArrays, workspace
from sim.multibody.articulated import factorise, solve
from sim.multibody.kinematics import gather, momenta, momentum, place, place_frames, twists_of
from sim.multibody.recursions import spring_impulses
from sim.multibody.spatial import (
    add,
    clear,
    cross,
    dot,
    entry,
    jit,
    product,
    put3,
    put_pair,
    rotate,
    row3,
    row9,
    row_of,
    sub,
    times,
    unrotate,
)
from sim.multibody.springs import beyond, drawn_energy, pull_driven
from sim.multibody.stepping import active_damping, add_stiffness
from sim.multibody.tree import Tree


class Reported(NamedTuple):
    """What is reported of a tree one by one."""

    carriers: np.ndarray
    """(bodies,) of the declared bodies."""
    offsets: np.ndarray
    """(bodies, 12) of these in their carriers: rotations row by row, positions [m]."""
    lines: np.ndarray
    """(k, 8) a body of the arrays and a point of it [m], twice: the line's angle from straight down."""
    joints: np.ndarray
    """Whose coordinates."""
    torques: np.ndarray
    """Places in v whose torques."""


@jit
def world_frames(tree, q, node, out):
    """Each body's frame in the world (n, 12): rotation row by row, position; `node` is as `place_frames` leaves it."""
    place_frames(tree, q, node)
    parent = tree.parent
    for i in range(parent.shape[0]):
        for k in range(9):
            out[i, k] = node[i, k]
        p, j = row3(node, i, 9), parent[i]
        put3(out, i, 9, p if j < 0 else add(row3(out, j, 9), p))


def mass_matrix(tree: TreeArrays, q: np.ndarray) -> np.ndarray:
    """(nv, nv) M(q)."""
    space, unit = workspace(tree), np.eye(len(tree.damping))
    found = np.zeros_like(unit)
    place(tree, q, space.node)
    for v, column in zip(unit, found, strict=True):
        momenta(tree, space.node, v, space.arc, space.wrench, column)
    return found


@entry
def spring_energy(tree, q):
    """Of springs and of limits that are overrun [J]."""
    energy = 0.0
    kinds, v_at, q_at = tree.kind, tree.v_at, tree.q_at
    stiffness, rest, limits = tree.stiffness, tree.rest, tree.limits
    for i in range(kinds.shape[0]):
        a, c = v_at[i], q_at[i]
        if kinds[i] == FREE:
            continue
        if kinds[i] == BALL:
            for k in range(3):
                energy += 2.0 * stiffness[a + k] * q[c + 1 + k] ** 2
            continue
        energy += 0.5 * stiffness[a] * (q[c] - rest[a]) ** 2
        over = beyond(q[c], limits[a, 0], limits[a, 1])
        energy += 0.5 * tree.limit_stiffness[a] * over * over
    return energy


@jit
def angle_of(tree, q, i):
    """Coordinate of a joint, of a ball joint the angle of its turn, of a free one 0."""
    kind, c = tree.kind[i], tree.q_at[i]
    if kind == FREE:
        return 0.0
    if kind == BALL:
        sine = math.sqrt(q[c + 1] ** 2 + q[c + 2] ** 2 + q[c + 3] ** 2)
        return 2.0 * math.atan2(sine, abs(q[c]))
    return q[c]


@entry
def observe_node(tree, ws, reported, q, v, u, row):
    """Fill `row` with all that is observed of a node: a row of `layout_of` an articulated vehicle. u (nv + m,): torques
    and tendons' forces of the controls."""
    carriers, offsets, lines = reported.carriers, reported.offsets, reported.lines
    joints, torques = reported.joints, reported.torques
    nv, n = v.shape[0], tree.parent.shape[0]
    frames, twists, torque = ws.after, ws.arc, ws.impulse
    place(tree, q, ws.node)
    world_frames(tree, q, ws.node, frames)
    momenta(tree, ws.node, v, twists, ws.wrench, ws.residual)
    energy = spring_energy(tree, q) + drawn_energy(tree, ws.node, q)
    for a in range(nv):
        energy += 0.5 * ws.residual[a] * v[a]
    turning, linear = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    g = (tree.gravity_w[0], tree.gravity_w[1], tree.gravity_w[2])
    for i in range(n):
        x = row3(frames, i, 9)
        f, l = momentum(tree, ws.node, i, row3(twists, i, 0), row3(twists, i, 3))
        linear = add(linear, l)
        turning = add(turning, add(f, cross(x, l)))
        energy -= dot(g, add(row3(ws.node, i, MOMENT), times(tree.mass[i], x)))
    for k in range(tree.rotor_carriers.shape[0]):
        i = tree.rotor_carriers[k]
        turning = add(turning, rotate(row9(ws.node, i, 0), row3(tree.rotors, k, 0)))
    row[0] = energy
    for k in range(3):
        row[1 + k] = turning[k]
        row[4 + k] = linear[k]
    for k in range(7, 13):
        row[k] = 0.0
    main, R, p = carriers[0], row9(offsets, 0, 0), row3(offsets, 0, 9)
    R_wc = row9(frames, main, 0)
    w = unrotate(R_wc, row3(twists, main, 0))
    x = unrotate(R, add(unrotate(R_wc, row3(twists, main, 3)), cross(w, p)))
    w = unrotate(R, w)
    for k in range(3):
        row[13 + k] = w[k]
        row[16 + k] = x[k]
    at = 19
    for k in range(carriers.shape[0]):
        R_wc = row9(frames, carriers[k], 0)
        R = product(R_wc, row9(offsets, k, 0))
        x = add(row3(frames, carriers[k], 9), rotate(R_wc, row3(offsets, k, 9)))
        for c in range(3):
            for r in range(3):
                row[at + 3 * c + r] = R[3 * r + c]
            row[at + 9 + c] = x[c]
        at += 12
    largest_angle = 0.0
    for i in range(n):
        largest_angle = max(largest_angle, abs(angle_of(tree, q, i)))
    for k in range(joints.shape[0]):
        row[at + k] = angle_of(tree, q, joints[k])
    at += joints.shape[0]
    active_damping(tree, q, ws.damping)
    for a in range(nv):
        torque[a] = u[a] - ws.damping[a] * v[a]
    pull_driven(tree, ws, u, 1.0, torque)
    spring_impulses(tree, q, 1.0, torque)
    largest_torque = 0.0
    for a in range(nv):
        largest_torque = max(largest_torque, abs(torque[a]))
    for k in range(torques.shape[0]):
        row[at + k] = torque[torques[k]]
    at += torques.shape[0]
    row[at] = largest_angle
    row[at + 1] = largest_torque
    at += 2
    for k in range(lines.shape[0]):
        i, j = int(lines[k, 0]), int(lines[k, 4])
        above = add(row3(frames, i, 9), rotate(row9(frames, i, 0), row3(lines, k, 1)))
        below = add(row3(frames, j, 9), rotate(row9(frames, j, 0), row3(lines, k, 5)))
        x = sub(below, above)
        row[at + k] = math.atan2(math.sqrt(x[0] * x[0] + x[1] * x[1]), -x[2])


@entry
def answer_of(tree, ws, q, impulse, out):
    """out = M(q)^-1 impulse (nv,): what an impulse changes the velocities by."""
    place(tree, q, ws.node)
    clear(ws.damping)
    factorise(tree, ws.node, ws.damping, 0.0, ws.articulated, ws.factor)
    solve(tree, ws.node, ws.damping, 0.0, ws.factor, impulse, ws.wrench, ws.spare, ws.twist, out)


@entry
def impulse_at(tree, ws, q, body, wrench, out):
    """out (nv,): the generalised impulse of a wrench (6,) on a body of the arrays, in its frame."""
    place(tree, q, ws.node)
    R = row9(ws.node, body, 0)
    put_pair(ws.wrench, body, rotate(R, row_of(wrench, 0)), rotate(R, row_of(wrench, 3)))
    gather(tree, ws.node, ws.wrench, out)


@jit
def _declared(ws, carrier, offset):
    """(omega, v) of a declared body: of ws.twist of what carries it, where it lies in that."""
    if carrier < 0:
        return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    w = row3(ws.twist, carrier, 0)
    return w, add(row3(ws.twist, carrier, 3), cross(w, rotate(row9(ws.node, carrier, 0), offset)))


@entry
def twists_at(tree, ws, q, v, carriers, offsets, out):
    """(bodies, 6) of the twists (omega, v) in the world of bodies with `offsets` (bodies, 3) in their carriers, at
    coordinates q with velocities v."""
    place(tree, q, ws.node)
    twists_of(tree, ws.node, v, ws.twist)
    for k in range(carriers.shape[0]):
        omega, moving = _declared(ws, carriers[k], row3(offsets, k, 0))
        put_pair(out, k, omega, moving)


@entry
def moved_by(tree, ws, q, seconds, carriers, offsets, jacobian, mobility):
    """By what a tree at coordinates q moves: `jacobian` (bodies, 6, nv) of the twists (omega, v) in the world of bodies
    with `offsets` (bodies, 3) in their carriers, and `mobility` (nv, nv), by which mean velocities over the time to
    come answer impulses at its start: dampers c and springs k of joints are within as 1 / (m + c t/2 + k t^2/6)."""
    place(tree, q, ws.node)
    active_damping(tree, q, ws.damping)
    add_stiffness(tree, q, seconds / 3.0, ws.damping)
    factorise(tree, ws.node, ws.damping, seconds, ws.articulated, ws.factor)
    nv = mobility.shape[0]
    for a in range(nv):
        for b in range(nv):
            ws.change[b] = 0.0
        ws.change[a] = 1.0
        twists_of(tree, ws.node, ws.change, ws.twist)
        for k in range(carriers.shape[0]):
            w, v = _declared(ws, carriers[k], row3(offsets, k, 0))
            for c in range(3):
                jacobian[k, c, a], jacobian[k, 3 + c, a] = w[c], v[c]
        solve(
            tree,
            ws.node,
            ws.damping,
            seconds,
            ws.factor,
            ws.change,
            ws.wrench,
            ws.spare,
            ws.twist,
            ws.change,
        )
        for b in range(nv):
            mobility[a, b] = ws.change[b]


def frames(tree: Tree, q: np.ndarray) -> np.ndarray:
    """(n, 4, 4) of the bodies of the arrays, in the world."""
    a = tree.arrays
    node = np.zeros((tree.n, 12))
    place_frames(a, np.asarray(q, float), node)
    poses = np.tile(np.eye(4), (tree.n, 1, 1))
    poses[:, :3, :3], poses[:, :3, 3] = node[:, :9].reshape(-1, 3, 3), node[:, 9:]
    for i, j in enumerate(a.parent):
        if j >= 0:
            poses[i, :3, 3] += poses[j, :3, 3]
    return poses


def body_frames(tree: Tree, q: np.ndarray) -> dict[str, np.ndarray]:
    """Declared body -> (4, 4) pose in the world."""
    T_wb = frames(tree, q)
    poses = T_wb[np.maximum(tree.carriers, 0)] @ tree.offsets
    return dict(zip(tree.names, poses, strict=True))


def body_motions(tree: Tree, q: np.ndarray, v: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Declared body -> (4, 4) pose in the world, (3,) velocity of its origin in the world [m/s]."""
    T_wb, twists = frames(tree, q), _twists(tree, q, v)
    found = {}
    for name, i, T in zip(tree.names, np.maximum(tree.carriers, 0), tree.offsets, strict=True):
        found[name] = T_wb[i] @ T, twists[i, 3:] + np.cross(twists[i, :3], T_wb[i, :3, :3] @ T[:3, 3])
    return found


def kinetic_energy_J(p: np.ndarray, v: np.ndarray) -> float:
    return 0.5 * float(p @ v)


def potential_energy_J(tree: Tree, q: np.ndarray, arrays: TreeArrays | None = None) -> float:
    """Of gravity, springs and limits that are overrun, as far as `arrays` (None: the tree's own) has springs there."""
    a, T_wb = tree.arrays if arrays is None else arrays, frames(tree, q)
    moments_w = np.einsum("nij,nj->ni", T_wb[:, :3, :3], a.moment) + a.mass[:, None] * T_wb[:, :3, 3]
    energy = -float(moments_w.sum(0) @ a.gravity_w) + float(spring_energy(a, q))
    if len(a.springs):
        node, at = np.zeros((tree.n, 12)), np.asarray(q, float)
        place_frames(a, at, node)
        energy += float(drawn_energy(a, node, at))
    return energy


def spatial_momentum(tree: Tree, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(6,) angular about the world's origin, with that of rotors, and linear."""
    total = np.zeros(6)
    inertias, T_wb = inertia_matrices(tree.arrays.inertia), frames(tree, q)
    for i, rotor in zip(tree.arrays.rotor_carriers, tree.arrays.rotors, strict=True):
        total[:3] += T_wb[i, :3, :3] @ rotor
    for T, G, (w, x) in zip(T_wb, inertias, _twists(tree, q, v).reshape(-1, 2, 3), strict=True):
        mu = G @ np.r_[w @ T[:3, :3], x @ T[:3, :3]]
        linear = T[:3, :3] @ mu[3:]
        total[3:] += linear
        total[:3] += T[:3, :3] @ mu[:3] + np.cross(T[:3, 3], linear)
    return total


def _twists(tree: Tree, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(n, 6) of the bodies of the arrays, about their origins in the world's axes."""
    node, twists, wrench = np.zeros((tree.n, NODE)), np.zeros((tree.n, 9)), np.zeros((tree.n, 6))
    place(tree.arrays, np.asarray(q, float), node)
    momenta(tree.arrays, node, np.asarray(v, float), twists, wrench, np.zeros(tree.nv))
    return twists[:, :6]


def inertia_matrices(inertia: np.ndarray) -> np.ndarray:
    """(n, 6, 6) of the packed rows."""
    G = np.zeros((len(inertia), 6, 6))
    upper = np.triu_indices(3)
    for block, at in ((slice(0, 3), 0), (slice(3, 6), 15)):
        part = np.zeros((len(inertia), 3, 3))
        part[:, upper[0], upper[1]] = inertia[:, at : at + 6]
        G[:, block, block] = part + np.triu(part, 1).transpose(0, 2, 1)
    G[:, :3, 3:] = inertia[:, 6:15].reshape(-1, 3, 3)
    G[:, 3:, :3] = G[:, :3, 3:].transpose(0, 2, 1)
    return G
