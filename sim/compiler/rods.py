"""Chains of rods under the variational method on products of spheres, in linear time.

Places are found by one multiplier a rod, then velocities.
The discrete Lagrangian of Lee, Leok and McClamroch (2009) on products of spheres, kinetic energy of the straight way
between two nodes less the mean potential of both, is stationary where each bob is pushed along the rods of the node
that the step begins at, so that the rods at its end have their lengths: N quadratic equations, tridiagonal. Velocities
at the end are those of its discrete Legendre transform.

The recursion is written by hand; what chains differ in, the bobs' accelerations and the start, is printed as LLVM.
"""

from functools import cache
from typing import Any

import casadi as ca
import numpy as np
from numba import carray

from sim.compiled import allocating_nothing, compiled
from sim.compiler.calls import called, pointer
from sim.compiler.copies import NativeFunction, Piece, Place
from sim.compiler.inline import FREE_TYPE
from sim.compiler.printer import Function
from sim.compiler.rollouts import Driver, lanes, rollout_type, trajectories
from sim.stack import first_only, last_only
from sim.vehicles.forms.rods import Bob, LinkedRods

RODS = ("acceleration", "sizes", "sizes")
"""What the driver is given the addresses of."""
_REPEATS = 3
"""Times that forces which depend on the velocity at the end are found."""


def rods_module(vehicle: LinkedRods) -> str:
    """Text of the module; the private state is directions, velocities of the bobs, multipliers.

    `acceleration` has a table (out, q, v, u, p), `start` that of other kernels, `sizes` are the links, where masses
    and lengths begin among the parameters, and how often forces are found at the end of a step.
    """
    count, begin = vehicle.link_count, _starts(vehicle)
    direction, velocity = ca.SX.sym("q", 3), ca.SX.sym("v", 3)
    mass, length, first, last = (ca.SX.sym(name) for name in ("m", "length", "first", "last"))
    u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count)
    bob = Bob(direction, velocity, mass, length, first, last)
    force = vehicle.bob_force(bob, u, vehicle.symbols(p))
    function = NativeFunction("accelerated", ("out", "q", "v", "u", "p"), ("out", "q", "v", "u", "p"))
    ends = [function.constant(flags(count).ravel()) for flags in (first_only, last_only)]
    known = [
        (direction, Place("q", stride=3)),
        (velocity, Place("v", stride=3)),
        (mass, Place("p", begin=begin["mass"], stride=1)),
        (length, Place("p", begin=begin["length"], stride=1)),
        (first, Place(ends[0], stride=1)),
        (last, Place(ends[1], stride=1)),
        (u, Place("u")),
        (p, Place("p")),
    ]
    function.loop(count, [Piece(known, force / mass, Place("out", stride=3))])
    start = _start(count, begin["length"])
    repeats = _REPEATS if ca.depends_on(force, velocity) else 1
    sizes = ", ".join(f"i64 {x}" for x in (count, begin["mass"], begin["length"], repeats))
    parts = [
        f"@sizes = constant [4 x i64] [{sizes}]",
        function.text,
        start.text,
        _by_table("acceleration", function.name, ("out", "q", "v", "u", "p"), ("out", "q", "v", "u", "p")),
        _by_table("start", start.name, ("node", "u", "w", "p", "h", "y"), ("y", "node", "p")),
        *sorted(function.declarations | start.declarations),
    ]
    return "\n".join(parts) + "\n"


def _start(count: int, length_begin: int) -> NativeFunction:
    """Velocities of the bobs from those of the rods."""
    function = NativeFunction("started", ("y", "node", "p"), ("y", "node", "p"))
    at, length, before = ca.SX.sym("at", 6), ca.SX.sym("length"), ca.SX.sym("before", 3)
    velocity = length * ca.cross(at[3:], at[:3]) + before
    results = [
        (at[:3], Place("y", stride=3)),
        (velocity, Place("y", begin=3 * count, stride=3)),
        (ca.SX.zeros(1), Place("y", begin=6 * count, stride=1)),
    ]
    columns = [(at, Place("node", stride=6)), (length, Place("p", begin=length_begin, stride=1))]
    function.sweep(count, (before, ca.SX.zeros(3)), [], columns, results, velocity, backward=False)
    return function


def _by_table(name: str, called: str, table: tuple[str, ...], arguments: tuple[str, ...]) -> str:
    """A function of a table that calls one of addresses."""
    function = Function(1)
    function.begin(name)
    function.pointers(*table)
    function.add(f"call void @{called}({', '.join(f'ptr %{a}' for a in arguments)})", "ret i64 0")
    function.end()
    return "\n".join(function.lines)


def _starts(vehicle: LinkedRods) -> dict[str, int]:
    """Where the parameters stand among their numbers."""
    begin = np.cumsum([0, *(q.size for q in vehicle.parameters)])[:-1]
    return {q.name: int(at) for q, at in zip(vehicle.parameters, begin, strict=True)}


SWEEPS = 50
ACCURACY = 1e-15
"""Of the squared lengths, as a share."""
ROOM = 10
"""Rows of numbers, one each rod, that the functions here work in."""


@allocating_nothing
def take(source: np.ndarray, target: np.ndarray) -> None:
    """`target` (N, 3) becomes equal to `source`; a slice's assignment compiles for seconds, to word its error."""
    for i in range(source.shape[0]):
        for k in range(3):
            target[i, k] = source[i, k]


@allocating_nothing
def solve_tridiagonal(lower: np.ndarray, diagonal: np.ndarray, upper: np.ndarray, right: np.ndarray) -> None:
    """`right` becomes the solution; all are (N,), `lower[0]` and `upper[-1]` count for nothing."""
    n = right.shape[0]
    for i in range(1, n):
        share = lower[i] / diagonal[i - 1]
        diagonal[i] -= share * upper[i - 1]
        right[i] -= share * right[i - 1]
    for i in range(n - 1, -1, -1):
        after = upper[i] * right[i + 1] if i + 1 < n else 0.0
        right[i] = (right[i] - after) / diagonal[i]


@allocating_nothing
def pulled(q: np.ndarray, pull: np.ndarray, mass: np.ndarray, i: int, k: int) -> float:
    """Component k of what rods along q that pull so do to bob i, by its mass; none to the fixed point, i = -1."""
    if i < 0:
        return 0.0
    onward = pull[i + 1] * q[i + 1, k] if i + 1 < q.shape[0] else 0.0
    return (onward - pull[i] * q[i, k]) / mass[i]


@allocating_nothing
def move(
    q: np.ndarray,
    v: np.ndarray,
    mass: np.ndarray,
    length: np.ndarray,
    h: float,
    pull: np.ndarray,
    room: np.ndarray,
) -> int:
    """Directions q (N, 3) and velocities v (N, 3), half of the forces' impulse in them, over a step.

    v becomes the mean velocity over the step. pull (N,): the multipliers, on entry a guess of them.
    Returns the sweeps of Newton's method, -1 where they do not lead to a solution.
    """
    n = q.shape[0]
    lower, diagonal, upper, right = room[0], room[1], room[2], room[3]
    for sweep in range(1, SWEEPS):
        worst = 0.0
        for i in range(n):
            square = along = before = after = 0.0
            for k in range(3):
                free = h * (v[i, k] - (v[i - 1, k] if i else 0.0))
                d = length[i] * q[i, k] + free + pulled(q, pull, mass, i, k) - pulled(q, pull, mass, i - 1, k)
                room[4 + k, i] = d
                square += d * d
                along += d * q[i, k]
                before += d * q[i - 1, k] if i else 0.0
                after += d * q[i + 1, k] if i + 1 < n else 0.0
            inverse_before = 1.0 / mass[i - 1] if i else 0.0
            right[i] = 0.5 * (length[i] * length[i] - square)
            diagonal[i] = -(1.0 / mass[i] + inverse_before) * along
            lower[i], upper[i] = before * inverse_before, after / mass[i]
            worst = max(worst, abs(right[i]) / (length[i] * length[i]))
        if not worst < 1e300:
            return -1
        if worst <= ACCURACY * (1.0 + sweep):
            for i in range(n):
                for k in range(3):
                    room[7 + k, i] = pulled(q, pull, mass, i, k)
            for i in range(n):
                size = 0.0
                for k in range(3):
                    v[i, k] += room[7 + k, i] / h
                    size += room[4 + k, i] * room[4 + k, i]
                size = np.sqrt(size)
                for k in range(3):
                    q[i, k] = room[4 + k, i] / size
            return sweep
        solve_tridiagonal(lower, diagonal, upper, right)
        for i in range(n):
            pull[i] += right[i]
    return -1


@allocating_nothing
def stretch_nothing(q: np.ndarray, v: np.ndarray, mass: np.ndarray, room: np.ndarray) -> None:
    """Take from the velocities v (N, 3), by pulls along the rods, what would change the rods' lengths."""
    n = q.shape[0]
    lower, diagonal, upper, right = room[0], room[1], room[2], room[3]
    for i in range(n):
        inverse_before = 1.0 / mass[i - 1] if i else 0.0
        right[i] = before = after = 0.0
        for k in range(3):
            right[i] += (v[i, k] - (v[i - 1, k] if i else 0.0)) * q[i, k]
            before += q[i, k] * q[i - 1, k] if i else 0.0
            after += q[i, k] * q[i + 1, k] if i + 1 < n else 0.0
        diagonal[i] = 1.0 / mass[i] + inverse_before
        lower[i], upper[i] = -before * inverse_before, -after / mass[i]
    solve_tridiagonal(lower, diagonal, upper, right)
    for i in range(n):
        for k in range(3):
            room[4 + k, i] = pulled(q, right, mass, i, k)
    for i in range(n):
        for k in range(3):
            v[i, k] += room[4 + k, i]


def _rollout(
    code: tuple[int, int, int],
    y: np.ndarray,
    u: np.ndarray,
    w: np.ndarray,
    p: np.ndarray,
    h: float,
    n: int,
    node: np.ndarray,
    env: tuple[Any, ...],
) -> tuple[int, int, int]:
    """Steps of a chain. code: addresses of the bobs' accelerations and of the chain's sizes."""
    sizes = carray(pointer(code[1]), 4).view(np.int64)
    count, repeats = sizes[0], sizes[3]
    mass, length = p[sizes[1] : sizes[1] + count], p[sizes[2] : sizes[2] + count]
    q, v = y[: 3 * count].copy().reshape((count, 3)), y[3 * count : 6 * count].copy().reshape((count, 3))
    pull = y[6 * count :].copy()
    q_last, v_last, free, mean = q.copy(), v.copy(), np.empty((count, 3)), np.empty((count, 3))
    room, table = np.empty((ROOM, count)), np.empty(5, np.int64)
    table[0], table[1], table[2] = free.ctypes.data, q.ctypes.data, v.ctypes.data
    table[3], table[4] = u.ctypes.data, p.ctypes.data
    done = status = iterations = 0
    for _ in range(n):
        take(q, q_last)
        take(v, v_last)
        called(code[0], table.ctypes.data, 0)
        for i in range(count):
            for k in range(3):
                mean[i, k] = v[i, k] + 0.5 * h * free[i, k]
        sweeps = move(q, mean, mass, length, h, pull, room)
        if sweeps < 0:
            status = 1
            take(q_last, q)
            take(v_last, v)
            break
        iterations += sweeps
        take(mean, v)
        for _ in range(repeats):
            called(code[0], table.ctypes.data, 0)
            for i in range(count):
                for k in range(3):
                    v[i, k] = mean[i, k] + 0.5 * h * free[i, k]
            stretch_nothing(q, v, mass, room)
        done += 1
    for i in range(count):
        for k in range(3):
            y[3 * i + k] = q[i, k]
            y[3 * (count + i) + k] = v[i, k]
            above = v_last[i - 1, k] if i else 0.0
            room[k, i] = (v_last[i, k] - above) / length[i]
        y[6 * count + i] = pull[i]
        a, b, c = q_last[i, 0], q_last[i, 1], q_last[i, 2]
        d, e, f = room[0, i], room[1, i], room[2, i]
        at = 6 * i
        node[at], node[at + 1], node[at + 2] = a, b, c
        node[at + 3], node[at + 4], node[at + 5] = b * f - c * e, c * d - a * f, a * e - b * d
    return done, status, iterations


@cache
def rods_driver() -> Driver:
    """Of chains of rods; compiled where there is one."""
    rollout = compiled(rollout_type(FREE_TYPE), error_model="numpy")(_rollout)
    return Driver(rollout, trajectories(rollout, FREE_TYPE), lanes(rollout))
