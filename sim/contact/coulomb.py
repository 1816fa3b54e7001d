"""Coulomb's law at one contact, solved exactly, in compiled code.

Sweeps stop a point along its normal, then along the ground. Where a push along the ground moves it along its normal
about as much as one along the normal does, as at the end of a slanting rod, the one undoes what the other does, and
they need not settle: there all three parts of the impulse are found at once. A contact opens, sticks, or slides some
way; the ways that agree with themselves are the roots of one function of an angle, at most four (O. Bonnefon, G.
Daviet, "Quartic formulation of Coulomb 3D frictional contact", 2011).
"""

import numpy as np

from sim.contact.pair_rows import AIM, ANSWER, IMPULSE, MU, SLIDES
from sim.native.function import fastmath

_STEEP = 0.5
"""Share of what a contact answers along its normal that friction on its bound may answer there, too."""
_TURNS, _SAME = 6, 1e-12
"""Steps of Newton's method from the way so far, and by how much the last may turn it [rad]."""
_WAYS, _HALVES = 32, 48
"""Among which roots are looked for otherwise, and how often what lies between two of them is halved."""
_TURN_C, _TURN_S = np.cos(2.0 * np.pi / _WAYS), np.sin(2.0 * np.pi / _WAYS)


@fastmath
def steep(w):
    """Whether sweeps need not settle at a row."""
    a = w[ANSWER : ANSWER + 6]
    return w[MU] * w[MU] * (a[1] * a[1] + a[2] * a[2]) > _STEEP * _STEEP * a[0] * a[0]


@fastmath
def _off(w, c, s, bn, bs, bt):
    """Of a point that slides the way (c, s): how fast it goes across that and along it, times the third number; that,
    over which `bn` is its normal impulse, is below 0 where there is none."""
    a, mu = w[ANSWER : ANSWER + 6], w[MU]
    gives = a[0] - mu * (a[1] * c + a[2] * s)
    x = bn * (a[1] - mu * (a[3] * c + a[4] * s)) - bs * gives
    y = bn * (a[2] - mu * (a[4] * c + a[5] * s)) - bt * gives
    return c * y - s * x, c * x + s * y, gives


@fastmath
def _near(w, c, s, bn, bs, bt):
    """A way (c, s) that agrees with itself, by Newton's method from this one; the same where it leads to none."""
    a, mu, x, y = w[ANSWER : ANSWER + 6], w[MU], c, s
    for _ in range(_TURNS):
        across, along, gives = _off(w, x, y, bn, bs, bt)
        less = mu * (a[1] * y - a[2] * x)
        dx = mu * bn * (a[3] * y - a[4] * x) - bs * less
        dy = mu * bn * (a[4] * y - a[5] * x) - bt * less
        turn = -across / (x * dy - y * dx - along)
        if not abs(turn) < 1.0:
            break
        if abs(turn) < _SAME:
            if gives > 0.0 and along >= 0.0:
                return x, y, True
            break
        size = np.sqrt(1.0 + turn * turn)
        x, y = (x - turn * y) / size, (y + turn * x) / size
    return c, s, False


@fastmath
def obeyed(w, vn, vs, vt):
    """The impulse (normal, tangents) [N s] under which a row obeys the law; speeds [m/s] are those under the impulse
    that it has, which is given back where none is found."""
    a = w[ANSWER : ANSWER + 6]
    q0, q1, q2, mu = w[IMPULSE], w[IMPULSE + 1], w[IMPULSE + 2], w[MU]
    bn = w[AIM] - vn + a[0] * q0 + a[1] * q1 + a[2] * q2
    bs = w[SLIDES] - vs + a[1] * q0 + a[3] * q1 + a[4] * q2
    bt = w[SLIDES + 1] - vt + a[2] * q0 + a[4] * q1 + a[5] * q2
    if bn <= 0.0:
        return 0.0, 0.0, 0.0
    # It sticks: what is left of the normal's equation once the point stands along the ground.
    determinant = a[3] * a[5] - a[4] * a[4]
    es, et = (a[5] * a[1] - a[4] * a[2]) / determinant, (a[3] * a[2] - a[4] * a[1]) / determinant
    left = a[0] - a[1] * es - a[2] * et
    if left > 0.0:
        pn = (bn - es * bs - et * bt) / left
        ps = (a[5] * bs - a[4] * bt) / determinant - es * pn
        pt = (a[3] * bt - a[4] * bs) / determinant - et * pn
        if pn >= 0.0 and ps * ps + pt * pt <= mu * mu * pn * pn:
            return pn, ps, pt
    # It slides: of ways that agree with themselves that which is nearest to the one so far.
    size = np.sqrt(q1 * q1 + q2 * q2)
    c, s = (-q1 / size, -q2 / size) if size > 0.0 else (1.0, 0.0)
    c, s, found = _near(w, c, s, bn, bs, bt)
    if found:
        pn = bn / (a[0] - mu * (a[1] * c + a[2] * s))
        return pn, -mu * pn * c, -mu * pn * s
    begin_c, begin_s, nearest = c, s, -2.0
    across, _, _ = _off(w, c, s, bn, bs, bt)
    for _ in range(_WAYS):
        ac, as_, before = c, s, across
        c, s = _TURN_C * ac - _TURN_S * as_, _TURN_S * ac + _TURN_C * as_
        across, _, _ = _off(w, c, s, bn, bs, bt)
        if before * across > 0.0:
            continue
        lc, ls, rc, rs = ac, as_, c, s
        for _ in range(_HALVES):
            mc, ms = lc + rc, ls + rs
            size = np.sqrt(mc * mc + ms * ms)
            mc, ms = mc / size, ms / size
            at, _, _ = _off(w, mc, ms, bn, bs, bt)
            if before * at > 0.0:
                lc, ls = mc, ms
            else:
                rc, rs = mc, ms
        _, along, gives = _off(w, rc, rs, bn, bs, bt)
        near = begin_c * rc + begin_s * rs
        if gives > 0.0 and along >= 0.0 and near > nearest:
            nearest, q0 = near, bn / gives
            q1, q2 = -mu * q0 * rc, -mu * q0 * rs
    return q0, q1, q2
