"""Strings round spheres and endless cylinders: the shortest way from a point to another that does not pass through.

Across a cylinder's axis the way is that in a plane, round a circle: straight, along an arc, straight; along the axis it
climbs evenly, since a cylinder unrolls. Round a sphere it lies in the plane of its ends and the centre. A point on a
side says which way round; where it stands within, the shape is a ring that the string is led through. A length is
stationary in where the string touches, so that its slopes are the unit vectors along which its ends leave.
"""

import math

from sim.multibody.spatial import add, aside, cos_sin, cross, dot, jit, larger, length_of, sub, times

SHORTEST, SIDED, WITHIN, MOVING = 0, 1, 2, 3
"""How a string goes: the shorter way; the longer one where the side's point lies behind the centre as seen from between
the ends; through the shape as through a ring; one of the last two, as the point stands that another body carries."""
_ITERATIONS = 12
"""Of Newton's method, for where a string touches a ring: it comes from one side and doubles its digits."""
_OUTSIDE = 1.0 + 1e-12
"""Radii that an end is away at the least where it matters."""


@jit
def picked(x, a, b):
    """a where x is above 0, otherwise b."""
    if x > 0.0:
        return a
    return b


@jit
def picked3(x, a, b):
    return (picked(x, a[0], b[0]), picked(x, a[1], b[1]), picked(x, a[2], b[2]))


@jit
def root(x):
    """Of what is not below 0, but for what rounding makes of 0."""
    return math.sqrt(larger(x, 0.0) + 1e-30)


@jit
def angle(y, x):
    """Of (x, y) from the first axis."""
    return math.atan2(y, x)


@jit
def arcsine(x):
    return angle(x, root(1.0 - x * x))


@jit
def smaller(a, b):
    return -larger(-a, -b)


@jit
def nearest(a, b):
    """Point of the way from a to b that is the nearest to the origin."""
    way = sub(b, a)
    share = -dot(way, a) / (dot(way, way) + 1e-30)
    return add(a, times(larger(smaller(share, 1.0), 0.0), way))


@jit
def ring_angle(la, lb, radius, gamma):
    """Angle from the first end to where the string touches a ring, which throws it back as a mirror does light; gamma:
    that to the second end."""
    A, B = radius / larger(la, radius * _OUTSIDE), radius / larger(lb, radius * _OUTSIDE)
    # asin(A sin t) + asin(B sin t) - 2 t + gamma falls and is concave: from above its zero no iterate passes it.
    t = smaller(0.5 * (gamma + arcsine(A) + arcsine(B)), 0.5 * math.pi)
    for _ in range(_ITERATIONS):
        cosine, sine = cos_sin(t)
        a, b = A * sine, B * sine
        value = arcsine(a) + arcsine(b) - 2.0 * t + gamma
        t -= value / (A * cosine / root(1.0 - a * a) + B * cosine / root(1.0 - b * b) - 2.0)
    return t - arcsine(A * cos_sin(t)[1])


@jit
def bends_by(a, b, e_turned, f_turned, radius, side, how):
    """(above 0 where the string is not straight, 1 or -1: the shorter way round or the longer one) of ends a and b
    across the axis; directions across them towards each other's."""
    near = nearest(a, b)
    clear = dot(near, near) - radius * radius
    outside = smaller(length_of(a), length_of(b)) - radius
    if how == WITHIN:
        return smaller(clear, outside), 1.0
    if how == SIDED:
        behind = smaller(dot(side, f_turned), -dot(side, e_turned))
        return smaller(larger(behind, -clear), outside), picked(behind, -1.0, 1.0)
    return smaller(-clear, outside), 1.0


@aside
def bent(p, q, axis, radius, side, how):
    """(length, unit vectors by which it grows with p and with q) of the string from p to q, from the shape's centre.

    axis: of a cylinder, a unit vector; of a sphere nothing. side: from the centre as well."""
    h, k = dot(axis, p), dot(axis, q)
    a, b = sub(p, times(h, axis)), sub(q, times(k, axis))
    la, lb = length_of(a), length_of(b)
    e, f = times(1.0 / la, a), times(1.0 / lb, b)
    normal = cross(e, f)
    n = length_of(normal)
    normal = times(1.0 / n, normal)
    gamma = angle(n, dot(e, f))
    e_turned, f_turned = cross(normal, e), cross(normal, f)
    bends, sense = bends_by(a, b, e_turned, f_turned, radius, side, how)
    if how == WITHIN:
        cosine, sine = cos_sin(ring_angle(la, lb, radius, gamma))
        touched = times(radius, add(times(cosine, e), times(sine, e_turned)))
        x, y = sub(a, touched), sub(b, touched)
        lx, ly = length_of(x), length_of(y)
        flat, s, t = lx + ly, times(1.0 / lx, x), times(1.0 / ly, y)
    else:
        sa, sb = root(la * la - radius * radius), root(lb * lb - radius * radius)
        turn = picked(sense, gamma, 2.0 * math.pi - gamma) - angle(sa, radius) - angle(sb, radius)
        flat = sa + sb + radius * turn
        s = sub(times(sa / la, e), times(sense * radius / la, e_turned))
        t = add(times(sb / lb, f), times(sense * radius / lb, f_turned))
    climb = k - h
    length = root(flat * flat + climb * climb)
    s = times(1.0 / length, sub(times(flat, s), times(climb, axis)))
    t = times(1.0 / length, add(times(flat, t), times(climb, axis)))
    way = sub(p, q)
    straight = length_of(way)
    along = times(1.0 / straight, way)
    return (
        picked(bends, length, straight),
        picked3(bends, s, along),
        picked3(bends, t, times(-1.0, along)),
    )


@jit
def goes_round(p, q, axis, radius, side, how):
    """As `bent`, of every way that a string goes."""
    if how != MOVING:
        return bent(p, q, axis, radius, side, how)
    within = radius * radius - dot(side, side)
    length, s, t = bent(p, q, axis, radius, side, WITHIN)
    other, x, y = bent(p, q, axis, radius, side, SIDED)
    return picked(within, length, other), picked3(within, s, x), picked3(within, t, y)


@jit
def second_rate_round(p, q, axis, radius, side, how):
    """As `bent_rate`, likewise."""
    if how != MOVING:
        return bent_rate(p, q, axis, radius, side, how)
    within = radius * radius - dot(side, side)
    one = bent_rate(p, q, axis, radius, side, WITHIN)
    return picked(within, one, bent_rate(p, q, axis, radius, side, SIDED))


@jit
def rates_of(x, y):
    """(value, rate, second rate) of the product of vectors with theirs."""
    return (
        dot(x[0], y[0]),
        dot(x[1], y[0]) + dot(x[0], y[1]),
        dot(x[2], y[0]) + 2.0 * dot(x[1], y[1]) + dot(x[0], y[2]),
    )


@jit
def across(x, z, h):
    """What is left of a vector without its part h along z, all with their rates."""
    return (
        sub(x[0], times(h[0], z[0])),
        sub(sub(x[1], times(h[1], z[0])), times(h[0], z[1])),
        sub(sub(x[2], times(h[2], z[0])), add(times(2.0 * h[1], z[1]), times(h[0], z[2]))),
    )


@jit
def size_rates(square):
    """(value, rate, second rate) of the root of what has these."""
    size = root(square[0])
    rate = 0.5 * square[1] / size
    return size, rate, (0.5 * square[2] - rate * rate) / size


@jit
def cross_rates(x, y):
    return (
        cross(x[0], y[0]),
        add(cross(x[1], y[0]), cross(x[0], y[1])),
        add(cross(x[2], y[0]), add(times(2.0, cross(x[1], y[1])), cross(x[0], y[2]))),
    )


@jit
def ray_slopes(l, radius, turn):
    """(distance, its slopes by l and turn, and theirs: l l, l turn, turn turn) of a point at l to one of the circle."""
    cosine, sine = cos_sin(turn)
    f = root(l * l + radius * radius - 2.0 * l * radius * cosine)
    by_l, by_turn = (l - radius * cosine) / f, radius * l * sine / f
    return (
        f,
        by_l,
        by_turn,
        (1.0 - by_l * by_l) / f,
        (radius * sine - by_l * by_turn) / f,
        (radius * l * cosine - by_turn * by_turn) / f,
    )


@aside
def bent_rate(p, q, axis, radius, side, how):
    """Second rate of `bent`'s length; p, q and axis are (value, rate, second rate) each."""
    h, k = rates_of(axis, p), rates_of(axis, q)
    a, b = across(p, axis, h), across(q, axis, k)
    la, lb = size_rates(rates_of(a, a)), size_rates(rates_of(b, b))
    c, crossed = rates_of(a, b), cross_rates(a, b)
    n = size_rates(rates_of(crossed, crossed))
    normal = times(1.0 / n[0], crossed[0])
    bends, sense = bends_by(a[0], b[0], cross(normal, a[0]), cross(normal, b[0]), radius, side, how)
    gamma = angle(n[0], c[0])
    D = la[0] * la[0] * lb[0] * lb[0]
    rate = (c[0] * n[1] - n[0] * c[1]) / D
    second = (c[0] * n[2] - n[0] * c[2]) / D - 2.0 * rate * (la[1] / la[0] + lb[1] / lb[0])
    if how == WITHIN:
        turn = ring_angle(la[0], lb[0], radius, gamma)
        f, f_l, _, f_ll, f_lt, f_tt = ray_slopes(la[0], radius, turn)
        g, g_l, g_t, g_ll, g_lt, g_tt = ray_slopes(lb[0], radius, gamma - turn)
        one = (g_lt * lb[1] + g_tt * rate - f_lt * la[1]) / (f_tt + g_tt)
        other = rate - one
        flat, flat_rate = f + g, f_l * la[1] + g_l * lb[1] + g_t * rate
        flat_second = f_l * la[2] + g_l * lb[2] + g_t * second + la[1] * (f_ll * la[1] + f_lt * one)
        flat_second += lb[1] * (g_ll * lb[1] + g_lt * other) + rate * (g_lt * lb[1] + g_tt * other)
    else:
        sa, sb = root(la[0] * la[0] - radius * radius), root(lb[0] * lb[0] - radius * radius)
        turn = picked(sense, gamma, 2.0 * math.pi - gamma) - angle(sa, radius) - angle(sb, radius)
        flat = sa + sb + radius * turn
        flat_rate = sa / la[0] * la[1] + sb / lb[0] * lb[1] + sense * radius * rate
        x, y = radius * la[1] / la[0], radius * lb[1] / lb[0]
        flat_second = (
            sa / la[0] * la[2] + sb / lb[0] * lb[2] + sense * radius * second + x * x / sa + y * y / sb
        )
    climb, climb_rate, climb_second = k[0] - h[0], k[1] - h[1], k[2] - h[2]
    length = root(flat * flat + climb * climb)
    grows = (flat * flat_rate + climb * climb_rate) / length
    found = flat * flat_second + flat_rate * flat_rate + climb * climb_second + climb_rate * climb_rate
    found = (found - grows * grows) / length
    way = (sub(p[0], q[0]), sub(p[1], q[1]), sub(p[2], q[2]))
    return picked(bends, found, size_rates(rates_of(way, way))[2])
