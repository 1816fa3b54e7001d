"""What it costs a boat to come near what stands about its berth: squares of how far discs along its hull are too near.

Solids are boxes (centre x, y, half length, half width [m], heading [rad], rounding [m]); a disc is a box of no size
that is rounded. The hull is discs on its axis (ahead [m], radius [m]).
"""

import math

import numpy as np

from sim.control.planar_craft import CURRENT, THETA, R, U, V, X, Y, step
from sim.native.function import inline, native

MARGIN_M = 0.3
"""Nearer than this costs."""
_TOLERATED_M = 0.1
"""Of the margin: costs a half for each disc."""


@native
def nearness(
    solids: np.ndarray, hull: np.ndarray, state: np.ndarray, slope: np.ndarray, curve: np.ndarray
) -> float:
    """The cost; its gradient is added to slope (6,), its Gauss-Newton curvature to curve (6, 6)."""
    total = 0.0
    c, s = math.cos(state[THETA]), math.sin(state[THETA])
    for i in range(len(solids)):
        cs, sn = math.cos(solids[i, 4]), math.sin(solids[i, 4])
        for j in range(len(hull)):
            ahead = hull[j, 0]
            dx, dy = state[X] + c * ahead - solids[i, 0], state[Y] + s * ahead - solids[i, 1]
            qx, qy = cs * dx + sn * dy, -sn * dx + cs * dy
            ox, oy = abs(qx) - solids[i, 2], abs(qy) - solids[i, 3]
            if ox > 0.0 and oy > 0.0:
                away = math.sqrt(ox * ox + oy * oy)
                nx, ny = ox / away, oy / away
            elif ox > oy:
                away, nx, ny = ox, 1.0, 0.0
            else:
                away, nx, ny = oy, 0.0, 1.0
            short = (MARGIN_M + hull[j, 1] + solids[i, 5] - away) / _TOLERATED_M
            if short <= 0.0:
                continue
            total += 0.5 * short * short
            nx, ny = math.copysign(nx, qx), math.copysign(ny, qy)
            wx, wy = cs * nx - sn * ny, sn * nx + cs * ny
            at = (X, Y, THETA)
            turned = (-wx / _TOLERATED_M, -wy / _TOLERATED_M, ahead * (s * wx - c * wy) / _TOLERATED_M)
            for a in range(3):
                slope[at[a]] += short * turned[a]
                for b in range(3):
                    curve[at[a], at[b]] += turned[a] * turned[b]
    return total


def hull_discs(centre_m: tuple[float, float], half_m: tuple[float, float]) -> np.ndarray:
    """(n, 2) for a footprint that is longer than wide."""
    reach = max(half_m[0] - half_m[1], 0.0)
    count = max(math.ceil(2.0 * reach / max(half_m[1], 1e-6)), 1) + 1
    return np.column_stack([centre_m[0] + np.linspace(-reach, reach, count), np.full(count, half_m[1])])


def framed(solids: np.ndarray, place_w: np.ndarray, heading_rad: float) -> np.ndarray:
    """Solids (n, 6) as they are seen from a place (2,) with a heading."""
    c, s = math.cos(heading_rad), math.sin(heading_rad)
    seen = solids.copy()
    seen[:, :2] = (solids[:, :2] - place_w) @ np.array([[c, -s], [s, c]])
    seen[:, 4] -= heading_rad
    return seen


KNOT_S = 0.25
"""Between changes of thrust."""
_SPANS = (3, 5, 8, 12, 17, 23, 30, 40)
"""Knots up to the arrival that are tried each time, beside what is under way."""
_ROUNDS = 8
_PER_S = 0.35
"""What a second costs, where a berth that is missed by its tolerances costs about ten."""
_EFFORT = 0.15
"""Of full thrust for a second."""
_TOLERATED = np.array([0.2, 0.2, math.radians(2.0), 0.25, 0.25, 0.15])
"""Errors at arrival that cost a half each: ahead and aside [m], heading, velocity over ground, turn rate."""
_DIFFERENCE = 1e-5
OPEN = np.zeros((0, 6)), np.zeros((0, 2))
"""Solids and hull where nothing stands about."""


@native
def _errors(craft: np.ndarray, state: np.ndarray, tolerated: np.ndarray, out: np.ndarray) -> None:
    """out (6,): at the arrival, over what is tolerated; the berth is the origin, its heading zero."""
    c, s = math.cos(state[THETA]), math.sin(state[THETA])
    out[0], out[1], out[2] = state[X], state[Y], state[THETA]
    out[3] = c * state[U] - s * state[V] + craft[CURRENT]
    out[4] = s * state[U] + c * state[V] + craft[CURRENT + 1]
    out[5] = state[R]
    for k in range(6):
        out[k] /= tolerated[k]


@native
def _cost(
    craft: np.ndarray,
    solids: np.ndarray,
    hull: np.ndarray,
    states: np.ndarray,
    thrusts: np.ndarray,
    high: np.ndarray,
    effort: float,
    tolerated: np.ndarray,
) -> float:
    e = np.empty(6)
    _errors(craft, states[len(thrusts)], tolerated, e)
    total = 0.0
    for k in range(6):
        total += 0.5 * e[k] * e[k]
    slope, curve = np.zeros(6), np.zeros((6, 6))
    for k in range(1, len(thrusts) + 1):
        total += nearness(solids, hull, states[k], slope, curve)
    for k in range(len(thrusts)):
        for j in range(2):
            total += 0.5 * effort * (thrusts[k, j] / high[j]) ** 2
    return float(total)


@native
def _bounded(
    H: np.ndarray, slope: np.ndarray, low: np.ndarray, high: np.ndarray, out: np.ndarray, free: np.ndarray
) -> None:
    """The least of slope d + d H d / 2 over a rectangle: out (2,), and which of both is not at a bound."""
    det = H[0, 0] * H[1, 1] - H[0, 1] * H[1, 0]
    d0 = -(H[1, 1] * slope[0] - H[0, 1] * slope[1]) / det
    d1 = -(H[0, 0] * slope[1] - H[1, 0] * slope[0]) / det
    if low[0] <= d0 <= high[0] and low[1] <= d1 <= high[1]:
        out[0], out[1], free[0], free[1] = d0, d1, 1.0, 1.0
        return
    best = np.inf
    for a in range(2):
        b = 1 - a
        for end in range(2):
            at = low[a] if end == 0 else high[a]
            wanted = -(slope[b] + H[b, a] * at) / H[b, b]
            other = min(max(wanted, low[b]), high[b])
            value = (
                slope[a] * at
                + slope[b] * other
                + 0.5 * (H[a, a] * at * at + H[b, b] * other * other)
                + H[a, b] * at * other
            )
            if value < best:
                best = value
                out[a], out[b] = at, other
                free[a], free[b] = 0.0, 1.0 if wanted == other else 0.0


@inline
def _dot(a: np.ndarray, b: np.ndarray) -> float:
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@native
def improve(
    craft: np.ndarray,
    solids: np.ndarray,
    hull: np.ndarray,
    start: np.ndarray,
    thrusts: np.ndarray,
    h: float,
    low: np.ndarray,
    high: np.ndarray,
    effort: float,
    tolerated: np.ndarray,
    rounds: int,
) -> float:
    """Better thrusts (n, 2) [N] in place, each held for h; returns what they cost."""
    n = len(thrusts)
    states, tried = np.empty((n + 1, 6)), np.empty((n + 1, 6))
    new = np.empty_like(thrusts)
    A, B = np.empty((n, 6, 6)), np.empty((n, 6, 2))
    more, gains = np.empty((n, 2)), np.zeros((n, 2, 6))
    e, other, shifted, turned = np.empty(6), np.empty(6), np.empty(6), np.empty((6, 6))
    slope, curve, new_slope, new_curve = np.empty(6), np.empty((6, 6)), np.empty(6), np.empty((6, 6))
    bent, work = np.empty((6, 2)), np.empty((6, 6))
    Hu, gu, across = np.empty((2, 2)), np.empty(2), np.empty((2, 6))
    u, free, bound_low, bound_high = np.empty(2), np.empty(2), np.empty(2), np.empty(2)
    states[0] = start
    for k in range(n):
        step(craft, states[k], thrusts[k], h, states[k + 1])
    cost, damping = _cost(craft, solids, hull, states, thrusts, high, effort, tolerated), 1e-3
    for _ in range(rounds):
        for k in range(n):
            for j in range(6):
                shifted[:] = states[k]
                shifted[j] += _DIFFERENCE
                step(craft, shifted, thrusts[k], h, other)
                for i in range(6):
                    A[k, i, j] = (other[i] - states[k + 1, i]) / _DIFFERENCE
            for j in range(2):
                u[:] = thrusts[k]
                u[j] += 1.0
                step(craft, states[k], u, h, other)
                for i in range(6):
                    B[k, i, j] = other[i] - states[k + 1, i]
        _errors(craft, states[n], tolerated, e)
        for j in range(6):
            shifted[:] = states[n]
            shifted[j] += _DIFFERENCE
            _errors(craft, shifted, tolerated, other)
            for i in range(6):
                turned[j, i] = (other[i] - e[i]) / _DIFFERENCE
        for i in range(6):
            slope[i] = _dot(turned[i], e)
            for j in range(6):
                curve[i, j] = _dot(turned[i], turned[j])
        nearness(solids, hull, states[n], slope, curve)
        for back in range(n):
            k = n - 1 - back
            for i in range(6):
                for j in range(2):
                    bent[i, j] = _dot(curve[i], B[k, :, j])
                for j in range(6):
                    work[i, j] = _dot(curve[i], A[k, :, j])
            for i in range(2):
                gu[i] = _dot(B[k, :, i], slope)
                for j in range(2):
                    Hu[i, j] = _dot(B[k, :, i], bent[:, j])
                for j in range(6):
                    across[i, j] = _dot(B[k, :, i], work[:, j])
            for j in range(2):
                Hu[j, j] += (effort + damping) / high[j] ** 2
                gu[j] += effort * thrusts[k, j] / high[j] ** 2
                bound_low[j], bound_high[j] = low[j] - thrusts[k, j], high[j] - thrusts[k, j]
            _bounded(Hu, gu, bound_low, bound_high, more[k], free)
            gains[k] = 0.0
            if free[0] > 0.0 and free[1] > 0.0:
                det = Hu[0, 0] * Hu[1, 1] - Hu[0, 1] * Hu[1, 0]
                for j in range(6):
                    gains[k, 0, j] = -(Hu[1, 1] * across[0, j] - Hu[0, 1] * across[1, j]) / det
                    gains[k, 1, j] = -(Hu[0, 0] * across[1, j] - Hu[1, 0] * across[0, j]) / det
            else:
                for i in range(2):
                    if free[i] > 0.0:
                        for j in range(6):
                            gains[k, i, j] = -across[i, j] / Hu[i, i]
            K = gains[k]
            for i in range(6):
                new_slope[i] = _dot(A[k, :, i], slope)
                for a in range(2):
                    new_slope[i] += K[a, i] * (gu[a] + _dot(Hu[a], more[k])) + across[a, i] * more[k, a]
                for j in range(6):
                    new_curve[i, j] = _dot(A[k, :, i], work[:, j])
                    for a in range(2):
                        new_curve[i, j] += (
                            K[a, i] * (_dot(Hu[a], K[:, j]) + across[a, j]) + across[a, i] * K[a, j]
                        )
            for i in range(6):
                slope[i] = new_slope[i]
                for j in range(6):
                    curve[i, j] = 0.5 * (new_curve[i, j] + new_curve[j, i])
            if k > 0:
                nearness(solids, hull, states[k], slope, curve)
        share, found = 1.0, False
        for _try in range(6):
            tried[0] = start
            for k in range(n):
                for j in range(2):
                    wanted = thrusts[k, j] + share * more[k, j]
                    for i in range(6):
                        wanted += gains[k, j, i] * (tried[k, i] - states[k, i])
                    new[k, j] = min(max(wanted, low[j]), high[j])
                step(craft, tried[k], new[k], h, tried[k + 1])
            there = _cost(craft, solids, hull, tried, new, high, effort, tolerated)
            if there < cost:
                found = True
                break
            share *= 0.4
        if not found:
            damping *= 20.0
            if damping > 1e3:
                break
            continue
        gain = cost - there
        cost = there
        states[:] = tried
        thrusts[:] = new
        damping = max(0.2 * damping, 1e-4)
        if gain < 1e-3 * (1.0 + cost):
            break
    return cost


class Berthing:
    """Remembers the thrusts that are under way."""

    def __init__(self, solids: np.ndarray = OPEN[0], hull: np.ndarray = OPEN[1]) -> None:
        """What stands about, in the frame of the berth, and the boat's discs, as `nearness` takes them."""
        self._solids, self._hull = solids, hull
        self._under_way = np.zeros((0, 2))
        self._passed_s = 0.0
        self.cost, self.span_s = math.inf, 0.0
        """Of what is sailed now, and how long it takes [s]."""

    def thrust(
        self, craft: np.ndarray, state: np.ndarray, low: np.ndarray, high: np.ndarray, passed_s: float
    ) -> np.ndarray:
        """(2,) [N] now. State, current and force in the frame of the berth; passed_s: since the last call."""
        self._passed_s += passed_s
        gone = int(self._passed_s / KNOT_S + 1e-9)
        self._passed_s -= gone * KNOT_S
        before = self._under_way[gone:]
        best, best_thrusts, best_total = math.inf, before, math.inf
        left = len(before)
        for knots in sorted({*_SPANS, *(max(left + more, 1) for more in (-1, 0, 1))}):
            for guess in _guesses(before, knots, low, high):
                thrusts = guess
                cost = improve(
                    craft,
                    self._solids,
                    self._hull,
                    state,
                    thrusts,
                    KNOT_S,
                    low,
                    high,
                    _EFFORT * KNOT_S,
                    _TOLERATED,
                    _ROUNDS,
                )
                total = cost + _PER_S * KNOT_S * knots
                if total < best_total:
                    best, best_thrusts, best_total = cost, thrusts, total
        self.cost, self.span_s = best, KNOT_S * len(best_thrusts)
        self._under_way = best_thrusts
        return np.asarray(best_thrusts[0].copy())


def _guesses(before: np.ndarray, knots: int, low: np.ndarray, high: np.ndarray) -> list[np.ndarray]:
    """Thrusts (knots, 2) to begin with: those under way, and astern at first, then ahead."""
    given = np.zeros((knots, 2))
    given[: min(knots, len(before))] = before[:knots]
    if knots < 12 or abs(knots - len(before)) < 2:
        return [given]
    away = np.zeros((knots, 2))
    away[: knots // 3] = 0.5 * low
    away[knots // 2 : knots // 2 + knots // 4] = 0.3 * high
    return [given, away]
