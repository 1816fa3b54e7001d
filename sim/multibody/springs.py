"""Springs, dampers and tendons of a tree: tensions along lengths that are sums of parts.

A part is the way from a point to the next, straight or round a shape, or the coordinate of a hinge or slide, times a
number: a spring between two points is one part, a tendon through rings one a ring more, over a pulley each with its
share. All that acts is a wrench on the bodies, of a coordinate one on what its joint carries and its opposite on what
bears the joint.
"""

from sim.multibody.arrays import COORDINATE, REVOLUTE
from sim.multibody.kinematics import axis_of, gather
from sim.multibody.spatial import (
    add,
    apart,
    cross,
    dot,
    entry,
    jit,
    length_of,
    put_pair,
    rotate,
    row3,
    row9,
    sub,
    times,
)
from sim.multibody.wraps import goes_round


@jit
def beyond(x, low, high):
    """How far a coordinate is beyond its limits; 0 within."""
    if x < low:
        return x - low
    if x > high:
        return x - high
    return 0.0


@jit
def arm_from(node, i, x):
    """Of a point x of body i, from its origin in the world's axes; of the world's -1 from nowhere."""
    if i < 0:
        return x
    return rotate(row9(node, i, 0), x)


@jit
def origin_of(tree, node, i):
    """Place in the world of a body's origin."""
    p, j = (0.0, 0.0, 0.0), i
    while j >= 0:
        p = add(p, row3(node, j, 9))
        j = tree.parent[j]
    return p


@jit
def point_at(tree, node, i, x):
    """Place in the world of a point x in the frame of body i, -1: of the world."""
    p, j = arm_from(node, i, x), i
    while j >= 0:
        p = add(p, row3(node, j, 9))
        j = tree.parent[j]
    return p


@jit
def way_along(tree, node, m):
    """From the second point of part m to its first, in the world."""
    one = point_at(tree, node, tree.part_carriers[m, 0], row3(tree.parts, m, 0))
    return sub(one, point_at(tree, node, tree.part_carriers[m, 1], row3(tree.parts, m, 3)))


@jit
def from_centre(tree, node, m, end):
    """To a point of part m from the centre of the shape that it goes round, in the world's axes."""
    w = tree.part_carriers[m, 2]
    centre = point_at(tree, node, tree.wrap_carriers[w, 0], row3(tree.wraps, w, 0))
    return sub(point_at(tree, node, tree.part_carriers[m, end], row3(tree.parts, m, 3 * end)), centre)


@jit
def side_of(tree, node, w):
    """To the point on whose side parts go round shape w from its centre, in the world's axes."""
    k, j = tree.wrap_carriers[w, 0], tree.wrap_carriers[w, 2]
    x = row3(tree.wraps, w, 7)
    if j == k:
        return arm_from(node, k, x)
    return sub(point_at(tree, node, j, x), point_at(tree, node, k, row3(tree.wraps, w, 0)))


@jit
def drawn(tree, node, m):
    """(length of part m, unit vectors in the world by which it grows with its first point and with its second)."""
    w = tree.part_carriers[m, 2]
    if w < 0:
        way = way_along(tree, node, m)
        length = length_of(way)
        along = times(1.0 / length, way)
        return length, along, times(-1.0, along)
    k = tree.wrap_carriers[w, 0]
    one, other = from_centre(tree, node, m, 0), from_centre(tree, node, m, 1)
    axis, side = arm_from(node, k, row3(tree.wraps, w, 3)), side_of(tree, node, w)
    return goes_round(one, other, axis, tree.wraps[w, 6], side, tree.wrap_carriers[w, 1])


@jit
def spring_length(tree, node, q, k):
    """Of spring k, where `node` is placed at coordinates q [m, of coordinates alone also rad]."""
    total = 0.0
    for m in range(tree.part_starts[k], tree.part_starts[k + 1]):
        if tree.part_carriers[m, 1] == COORDINATE:
            total += tree.parts[m, 6] * q[tree.q_at[tree.part_carriers[m, 0]]]
        else:
            total += tree.parts[m, 6] * drawn(tree, node, m)[0]
    return total


@jit
def push(wrench, i, torque, force):
    """Add to what acts on body i about its origin; nothing on the world."""
    if i >= 0:
        put_pair(wrench, i, add(row3(wrench, i, 0), torque), add(row3(wrench, i, 3), force))


@jit
def push_point(tree, node, m, end, force, wrench):
    """A force at one of the points of part m, and its opposite along the same line on the shape that it goes round."""
    i, w = tree.part_carriers[m, end], tree.part_carriers[m, 2]
    if i >= 0:
        push(wrench, i, cross(arm_from(node, i, row3(tree.parts, m, 3 * end)), force), force)
    if w >= 0:
        k = tree.wrap_carriers[w, 0]
        if k >= 0:
            arm = sub(point_at(tree, node, i, row3(tree.parts, m, 3 * end)), origin_of(tree, node, k))
            back = times(-1.0, force)
            push(wrench, k, cross(arm, back), back)


@jit
def push_joint(tree, node, i, size, wrench):
    """A torque or force of the hinge or slide that carries body i: no other joint feels anything of it."""
    z = times(size, axis_of(node, i))
    back = times(-1.0, z)
    if tree.kind[i] == REVOLUTE:
        push(wrench, i, z, (0.0, 0.0, 0.0))
        push(wrench, tree.parent[i], back, (0.0, 0.0, 0.0))
    else:
        push(wrench, i, (0.0, 0.0, 0.0), z)
        push(wrench, tree.parent[i], cross(row3(node, i, 9), back), back)


@jit
def pull(tree, node, k, force, wrench):
    """Add to the bodies' wrenches what lengthens spring k by a force along its length."""
    for m in range(tree.part_starts[k], tree.part_starts[k + 1]):
        share = force * tree.parts[m, 6]
        if tree.part_carriers[m, 1] == COORDINATE:
            push_joint(tree, node, tree.part_carriers[m, 0], share, wrench)
        else:
            _, one, other = drawn(tree, node, m)
            push_point(tree, node, m, 0, times(share, one), wrench)
            push_point(tree, node, m, 1, times(share, other), wrench)


@jit
def stiffness_at(tree, k, over):
    """Force of spring k by the way that it is beyond its lengths without force."""
    return tree.springs[k, 0] + over * (tree.springs[k, 5] + over * tree.springs[k, 6])


@jit
def pull_springs(tree, node, q, seconds, wrench):
    """Add so many seconds of all springs to the bodies' impulses."""
    for k in range(tree.springs.shape[0]):
        over = beyond(spring_length(tree, node, q, k), tree.springs[k, 1], tree.springs[k, 2])
        pull(tree, node, k, -seconds * stiffness_at(tree, k, over) * over, wrench)


@apart
def pull_driven(tree, ws, u, seconds, out):
    """Add to out (nv,) so many seconds of the controls' forces u (nv + m,) along tendons, at the node in ws.node."""
    nv = out.shape[0]
    if tree.driven.shape[0] == 0:
        return
    for k in range(tree.driven.shape[0]):
        pull(tree, ws.node, tree.driven[k], seconds * u[nv + k], ws.wrench)
    gather(tree, ws.node, ws.wrench, ws.spare)
    for a in range(nv):
        out[a] += ws.spare[a]


@jit
def velocity_of(node, twists, i, x):
    """Of a point x in the frame of body i, whose twists (n, >= 6) are given."""
    if i < 0:
        return (0.0, 0.0, 0.0)
    return add(row3(twists, i, 3), cross(row3(twists, i, 0), arm_from(node, i, x)))


@jit
def point_velocity(tree, node, twists, m, end):
    """Of a point of part m, seen from the shape that it goes round, in the world's axes."""
    i, w = tree.part_carriers[m, end], tree.part_carriers[m, 2]
    x = velocity_of(node, twists, i, row3(tree.parts, m, 3 * end))
    if w >= 0:
        k = tree.wrap_carriers[w, 0]
        if k >= 0:
            arm = sub(point_at(tree, node, i, row3(tree.parts, m, 3 * end)), origin_of(tree, node, k))
            x = sub(x, add(row3(twists, k, 3), cross(row3(twists, k, 0), arm)))
    return x


@jit
def joint_rate(tree, node, twists, i):
    """Of the hinge or slide that carries body i."""
    z, j = axis_of(node, i), tree.parent[i]
    if tree.kind[i] == REVOLUTE:
        w = row3(twists, i, 0)
        if j >= 0:
            w = sub(w, row3(twists, j, 0))
        return dot(z, w)
    x = row3(twists, i, 3)
    if j >= 0:
        x = sub(x, add(row3(twists, j, 3), cross(row3(twists, j, 0), row3(node, i, 9))))
    return dot(z, x)


@jit
def spring_rate(tree, node, twists, k):
    """Of the length of spring k, by the bodies' twists."""
    rate = 0.0
    for m in range(tree.part_starts[k], tree.part_starts[k + 1]):
        i, j = tree.part_carriers[m, 0], tree.part_carriers[m, 1]
        if j == COORDINATE:
            rate += tree.parts[m, 6] * joint_rate(tree, node, twists, i)
        else:
            _, one, other = drawn(tree, node, m)
            x, y = point_velocity(tree, node, twists, m, 0), point_velocity(tree, node, twists, m, 1)
            rate += tree.parts[m, 6] * (dot(one, x) + dot(other, y))
    return rate


@jit
def damping_of(tree, node, q, k):
    """Of spring k, where `node` is placed at coordinates q; of a limit that is not reached none."""
    damping, low, high = tree.springs[k, 3], tree.springs[k, 1], tree.springs[k, 2]
    limits = damping != 0.0 and tree.springs[k, 4] != 0.0
    if limits and beyond(spring_length(tree, node, q, k), low, high) == 0.0:
        return 0.0
    return damping


@jit
def damp_springs(tree, node, q, twists, wrench):
    """Add the forces of all dampers to the bodies' wrenches, by the bodies' twists."""
    for k in range(tree.springs.shape[0]):
        damping = damping_of(tree, node, q, k)
        pull(tree, node, k, -damping * spring_rate(tree, node, twists, k), wrench)


@entry
def drawn_energy(tree, node, q):
    """Of all springs [J]."""
    energy = 0.0
    for k in range(tree.springs.shape[0]):
        over = beyond(spring_length(tree, node, q, k), tree.springs[k, 1], tree.springs[k, 2])
        energy += 0.5 * tree.springs[k, 0] * over**2
        energy += over**3 * (tree.springs[k, 5] / 3.0 + over * tree.springs[k, 6] / 4.0)
    return energy
