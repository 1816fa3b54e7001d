"""The text of a kernel module for a chain of rods under the variational method on products of spheres."""

import casadi as ca
import numpy as np

from sim.compiler.inline import FREE_TYPE
from sim.compiler.printer import straight_line
from sim.compiler.recorded import recorded
from sim.steppers import rods
from sim.vehicles.hung_rods import Bob
from sim.vehicles.rods import LinkedRods

_REPEATS = 3
"""Times that forces which depend on the velocity at the end are found."""


def rods_source(vehicle: LinkedRods, title: str) -> str:
    """Python source of the kernel module; the private state is directions, velocities of the bobs, multipliers."""
    direction, velocity = ca.SX.sym("q", 3), ca.SX.sym("v", 3)
    mass, length, first, last = (ca.SX.sym(name) for name in ("m", "length", "first", "last"))
    u, p = ca.SX.sym("u", len(vehicle.controls)), ca.SX.sym("p", vehicle.parameter_count)
    bob = Bob(direction, velocity, mass, length, first, last)
    force = vehicle.bob_force(bob, u, vehicle.symbols(p))
    lines = straight_line(
        [
            (direction, lambda k: f"q[i, {k}]"),
            (velocity, lambda k: f"v[i, {k}]"),
            (mass, lambda _: "mass[i]"),
            (length, lambda _: "length[i]"),
            (first, lambda _: "first"),
            (last, lambda _: "last"),
            (u, lambda k: f"u[{k}]"),
            (p, lambda k: f"p[{k}]"),
        ],
        [(force / mass, lambda k: f"out[i, {k}]")],
        "t",
    )
    begin = dict(zip((q.name for q in vehicle.parameters), _starts(vehicle), strict=True))
    return _TEXT.format(
        title=title,
        n=vehicle.link_count,
        mass=begin["mass"],
        length=begin["length"],
        force="\n".join("        " + line for line in lines),
        repeats=_REPEATS if ca.depends_on(force, velocity) else 1,
        room=rods.ROOM,
        free=FREE_TYPE,
        A="float64[::1]",
        recorded=recorded(FREE_TYPE),
    )


def _starts(vehicle: LinkedRods) -> list[int]:
    """Where the parameters stand among their numbers."""
    return [int(x) for x in np.cumsum([0, *(q.size for q in vehicle.parameters)])[:-1]]


_TEXT = '''"""Generated: {title}. Do not edit."""

import math

import numpy as np

from sim.compiled import compiled
from sim.compiler.branchless import where
from sim.steppers.rods import move, stretch_nothing, take


@compiled(
    "void(float64[:, ::1], float64[:, ::1], float64[::1], float64[::1], float64[::1], float64[::1], float64[:, ::1])",
    error_model="numpy",
)
def free_acceleration(q, v, mass, length, u, p, out):
    for i in range({n}):
        first = 1.0 if i == 0 else 0.0
        last = 1.0 if i == {n} - 1 else 0.0
{force}


@compiled("void(float64[::1], float64[::1], float64[::1], float64[::1], float64, float64[::1])", error_model="numpy")
def start(node, u, w, p, h, y):
    y[:] = 0.0
    for i in range({n}):
        x, vx = y[3 * i : 3 * i + 3], y[3 * ({n} + i) : 3 * ({n} + i) + 3]
        a, b, c, d, e, f = node[6 * i : 6 * i + 6]
        x[0], x[1], x[2] = a, b, c
        size = p[{length} + i]
        vx[0], vx[1], vx[2] = size * (e * c - f * b), size * (f * a - d * c), size * (d * b - e * a)
        if i:
            vx += y[3 * ({n} + i) - 3 : 3 * ({n} + i)]


@compiled(
    "Tuple((int64, int64, int64))({A}, {A}, {A}, {A}, float64, int64, {A}, {free})",
    error_model="numpy",
)
def rollout(y, u, w, p, h, n, node, env):
    q, v = y[: 3 * {n}].copy().reshape(({n}, 3)), y[3 * {n} : 6 * {n}].copy().reshape(({n}, 3))
    pull = y[6 * {n} :].copy()
    mass, length = p[{mass} : {mass} + {n}], p[{length} : {length} + {n}]
    q_last, v_last, free, mean = q.copy(), v.copy(), np.empty(({n}, 3)), np.empty(({n}, 3))
    room = np.empty(({room}, {n}))
    done = status = iterations = 0
    for step in range(n):
        take(q, q_last)
        take(v, v_last)
        free_acceleration(q, v, mass, length, u, p, free)
        for i in range({n}):
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
        for again in range({repeats}):
            free_acceleration(q, v, mass, length, u, p, free)
            for i in range({n}):
                for k in range(3):
                    v[i, k] = mean[i, k] + 0.5 * h * free[i, k]
            stretch_nothing(q, v, mass, room)
        done += 1
    for i in range({n}):
        for k in range(3):
            y[3 * i + k] = q[i, k]
            y[3 * ({n} + i) + k] = v[i, k]
        y[6 * {n} + i] = pull[i]
        a, b, c = q_last[i]
        d, e, f = v_last[i, 0], v_last[i, 1], v_last[i, 2]
        if i:
            d, e, f = d - v_last[i - 1, 0], e - v_last[i - 1, 1], f - v_last[i - 1, 2]
        d, e, f = d / length[i], e / length[i], f / length[i]
        at = 6 * i
        node[at], node[at + 1], node[at + 2] = a, b, c
        node[at + 3], node[at + 4], node[at + 5] = b * f - c * e, c * d - a * f, a * e - b * d
    return done, status, iterations


{recorded}'''
