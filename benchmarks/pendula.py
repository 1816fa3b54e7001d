"""One step of CF4 on a chain of 20 pendula against a kernel written by hand, and how the cost grows with the links.

python -m benchmarks.pendula
"""

import math
import statistics
import time
from collections.abc import Callable

import numpy as np

import sim
from sim.integrators import integrator
from sim.native.function import native
from sim.steppers.dynamics import stepper_of

LINKS, STEPS, ROUNDS = 20, 4000, 9
H = 1e-4


@native
def hand_rate(q, w, mass, length, gravity, f, v, d, r, off, pull):
    """f: omega and q x omega' of every link; Thomas' algorithm for the rods' pulls."""
    n = q.shape[0]
    for i in range(n):
        before = 1.0 / mass[i - 1] if i else 0.0
        cosine = q[i, 0] * q[i - 1, 0] + q[i, 1] * q[i - 1, 1] + q[i, 2] * q[i - 1, 2] if i else 0.0
        off[i] = -cosine * before
        square = w[i, 0] ** 2 + w[i, 1] ** 2 + w[i, 2] ** 2
        share = off[i] / d[i - 1] if i else 0.0
        d[i] = 1.0 / mass[i] + before - share * off[i]
        r[i] = length[i] * square - (gravity * q[i, 2] if i == 0 else 0.0) - share * (r[i - 1] if i else 0.0)
    for i in range(n - 1, -1, -1):
        pull[i] = (r[i] - (off[i + 1] * pull[i + 1] if i + 1 < n else 0.0)) / d[i]
    ax = ay = az = 0.0
    for i in range(n):
        bx, by, bz = -pull[i] * q[i, 0], -pull[i] * q[i, 1], -pull[i] * q[i, 2]
        if i + 1 < n:
            bx += pull[i + 1] * q[i + 1, 0]
            by += pull[i + 1] * q[i + 1, 1]
            bz += pull[i + 1] * q[i + 1, 2]
        bx, by, bz = bx / mass[i], by / mass[i], bz / mass[i] - gravity
        x, y, z = (bx - ax) / length[i], (by - ay) / length[i], (bz - az) / length[i]
        tx, ty, tz = q[i, 1] * z - q[i, 2] * y, q[i, 2] * x - q[i, 0] * z, q[i, 0] * y - q[i, 1] * x
        f[i, 0], f[i, 1], f[i, 2] = w[i, 0], w[i, 1], w[i, 2]
        f[i, 3] = q[i, 1] * tz - q[i, 2] * ty
        f[i, 4] = q[i, 2] * tx - q[i, 0] * tz
        f[i, 5] = q[i, 0] * ty - q[i, 1] * tx
        ax, ay, az = bx, by, bz


@native
def hand_moved(q, w, x, q_out, w_out):
    """exp(x) . (q, w) of every link, by Rodrigues' formulas."""
    for i in range(q.shape[0]):
        a, b, c = x[i, 0], x[i, 1], x[i, 2]
        square = a * a + b * b + c * c
        if square > 1e-8:
            angle = math.sqrt(square)
            s, half = math.sin(angle) / angle, math.sin(0.5 * angle)
            k = 2.0 * half * half / square
            m = (1.0 - s) / square
        else:
            s, k, m = 1.0 - square / 6.0, 0.5 - square / 24.0, 1.0 / 6.0 - square / 120.0
        for p, out in ((q, q_out), (w, w_out)):
            px, py, pz = p[i, 0], p[i, 1], p[i, 2]
            ux, uy, uz = b * pz - c * py, c * px - a * pz, a * py - b * px
            out[i, 0] = px + s * ux + k * (b * uz - c * uy)
            out[i, 1] = py + s * uy + k * (c * ux - a * uz)
            out[i, 2] = pz + s * uz + k * (a * uy - b * ux)
        e, g, h = x[i, 3], x[i, 4], x[i, 5]
        ux, uy, uz = b * h - c * g, c * e - a * h, a * g - b * e
        tx = e + k * ux + m * (b * uz - c * uy)
        ty = g + k * uy + m * (c * ux - a * uz)
        tz = h + k * uz + m * (a * uy - b * ux)
        w_out[i, 0] += ty * q_out[i, 2] - tz * q_out[i, 1]
        w_out[i, 1] += tz * q_out[i, 0] - tx * q_out[i, 2]
        w_out[i, 2] += tx * q_out[i, 1] - ty * q_out[i, 0]


@native
def hand_sum(f, a, b, c, d, out):
    """A sum of the four rates, each by its factor."""
    for i in range(out.shape[0]):
        for k in range(6):
            out[i, k] = a * f[0, i, k] + b * f[1, i, k] + c * f[2, i, k] + d * f[3, i, k]


@native
def hand_steps(q, w, mass, length, gravity, h, count):
    """CF4 in place."""
    n = q.shape[0]
    d, r, off, pull, v = np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty((n, 3))
    f = np.zeros((4, n, 6))
    x = np.empty((n, 6))
    a, b, c, e = np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3)), np.empty((n, 3))
    for _ in range(count):
        hand_rate(q, w, mass, length, gravity, f[0], v, d, r, off, pull)
        hand_sum(f, 0.5 * h, 0.0, 0.0, 0.0, x)
        hand_moved(q, w, x, a, b)
        hand_rate(a, b, mass, length, gravity, f[1], v, d, r, off, pull)
        hand_sum(f, 0.0, 0.5 * h, 0.0, 0.0, x)
        hand_moved(q, w, x, c, e)
        hand_rate(c, e, mass, length, gravity, f[2], v, d, r, off, pull)
        hand_sum(f, -0.5 * h, 0.0, h, 0.0, x)
        hand_moved(a, b, x, c, e)
        hand_rate(c, e, mass, length, gravity, f[3], v, d, r, off, pull)
        hand_sum(f, 0.25 * h, h / 6.0, h / 6.0, -h / 12.0, x)
        hand_moved(q, w, x, a, b)
        hand_sum(f, -h / 12.0, h / 6.0, h / 6.0, 0.25 * h, x)
        hand_moved(a, b, x, q, w)


def median_us(run: Callable[[], object]) -> float:
    """CPU time of a step."""
    found = []
    for _ in range(ROUNDS):
        begin = time.process_time()
        run()
        found.append((time.process_time() - begin) / STEPS * 1e6)
    return statistics.median(found)


def stepping(links: int, method: str) -> tuple[Callable[[], object], np.ndarray]:
    """What takes STEPS steps, and the private state that it advances."""
    vehicle = sim.vehicle("pendulum", links=links, mass=1.0, length=5.0 / links)
    kernel, u, p = stepper_of(vehicle, integrator(method)), np.zeros(2), vehicle.parameter_vector
    y = kernel.start(vehicle.default_state().node, u, p, H)
    return lambda: kernel.advance(y, u, np.zeros(0), p, H, STEPS), y


def main() -> None:
    """Prints microseconds a step."""
    vehicle = sim.vehicle("pendulum", links=LINKS, mass=1.0, length=5.0 / LINKS)
    ours, y = stepping(LINKS, "cf4")
    parts = vehicle.default_state().node.reshape(LINKS, 6)
    q, w = parts[:, :3].copy(), parts[:, 3:].copy()
    mass, length = np.full(LINKS, 1.0), np.full(LINKS, 5.0 / LINKS)
    ours()
    hand_steps(q, w, mass, length, 9.81, H, STEPS)
    apart = np.abs(y.reshape(LINKS, 6) - np.column_stack([q, w])).max()
    generated, by_hand = median_us(ours), median_us(lambda: hand_steps(q, w, mass, length, 9.81, H, STEPS))
    print(
        f"cf4, {LINKS} links: generated {generated:.2f} us, by hand {by_hand:.2f} us, {generated / by_hand:.2f} times;"
    )
    print(f"    after {STEPS} steps they are {apart:.1e} apart")
    for method in ("cf4", "variational-spheres"):
        costs = {n: median_us(stepping(n, method)[0]) for n in (10, 20, 50)}
        growth = math.log(costs[50] / costs[10]) / math.log(5.0)
        print(
            f"{method}: "
            + ", ".join(f"{n} links {c:.2f} us" for n, c in costs.items())
            + f"; exponent {growth:.2f}"
        )


if __name__ == "__main__":
    main()
