"""The laboratory's figures, in one interleaved run: `python -m benchmarks.work_precision`.

Cost of a step of a free body against rk4 and against the same update written by hand, CPU time to 1e-6 rad
over 240 s, and solver failures of 20 bodies over 240 s at every step up to 1/4 s.
"""

import statistics
import time

import numpy as np

import sim
from sim.compiler import compile_kernel
from sim.integrators import integrator
from sim.native.function import native
from studies.free_body import FREE, OURS, measure, random_bodies
from studies.work_precision import DIVISIONS, GOAL_RAD, cost_of

STEPS, ROUNDS, STEP_S = 100_000, 15, 1e-3
METHODS = ("variational", "variational-split", "variational-4", "variational-6", "rk2", "rk4", "implicit-rk2")


@native
def by_hand(y: np.ndarray, J: np.ndarray, m: float, h: float, n: int) -> None:
    """`variational` of a free rigid body: y = R column by column, x, arriving momentum (angular, linear)."""
    a, b, c = J
    c0, c1, c2 = 0.5 * h * (c - b), 0.5 * h * (a - c), 0.5 * h * (b - a)
    r0, r1, r2, r3, r4, r5, r6, r7, r8, x0, x1, x2, p0, p1, p2, q0, q1, q2 = y
    for _ in range(n):
        u, v, w = p0 / a, p1 / b, p2 / c
        u, v, w = (
            (2 * p0 - a * u - c0 * v * w) / a,
            (2 * p1 - b * v - c1 * w * u) / b,
            (2 * p2 - c * w - c2 * u * v) / c,
        )
        for _sweep in range(6):
            f0, f1, f2 = a * u + c0 * v * w - p0, b * v + c1 * w * u - p1, c * w + c2 * u * v - p2
            a01, a02, a10, a12, a20, a21 = c0 * w, c0 * v, c1 * w, c1 * u, c2 * v, c2 * u
            k0, k1, k2 = b * c - a12 * a21, a12 * a20 - a10 * c, a10 * a21 - b * a20
            det = 1.0 / (a * k0 + a01 * k1 + a02 * k2)
            d0 = (k0 * f0 + (a02 * a21 - a01 * c) * f1 + (a01 * a12 - a02 * b) * f2) * det
            d1 = (k1 * f0 + (a * c - a02 * a20) * f1 + (a02 * a10 - a * a12) * f2) * det
            d2 = (k2 * f0 + (a01 * a20 - a * a21) * f1 + (a * b - a01 * a10) * f2) * det
            u -= d0
            v -= d1
            w -= d2
            if abs(d0) + abs(d1) + abs(d2) <= 1e-9 * (1.0 + abs(u) + abs(v) + abs(w)):
                break
        p0, p1, p2 = a * u - c0 * v * w, b * v - c1 * w * u, c * w - c2 * u * v
        s0, s1, s2 = 0.5 * h * u, 0.5 * h * v, 0.5 * h * w
        g = 1.0 / (1.0 + s0 * s0 + s1 * s1 + s2 * s2)
        # Linear momentum: (1 + s x) k = q, then q' = (1 - s x) k; the position moves by the mean of both.
        e = s0 * q0 + s1 * q1 + s2 * q2
        l0 = g * (q0 - (s1 * q2 - s2 * q1) + s0 * e)
        l1 = g * (q1 - (s2 * q0 - s0 * q2) + s1 * e)
        l2 = g * (q2 - (s0 * q1 - s1 * q0) + s2 * e)
        # Translation (1 - s x)^-1 h k / m.
        e = s0 * l0 + s1 * l1 + s2 * l2
        t0 = g * (l0 + s1 * l2 - s2 * l1 + s0 * e) * h / m
        t1 = g * (l1 + s2 * l0 - s0 * l2 + s1 * e) * h / m
        t2 = g * (l2 + s0 * l1 - s1 * l0 + s2 * e) * h / m
        q0, q1, q2 = l0 - (s1 * l2 - s2 * l1), l1 - (s2 * l0 - s0 * l2), l2 - (s0 * l1 - s1 * l0)
        x0 += r0 * t0 + r3 * t1 + r6 * t2
        x1 += r1 * t0 + r4 * t1 + r7 * t2
        x2 += r2 * t0 + r5 * t1 + r8 * t2
        g *= 2.0
        m00, m01, m02 = 1 - g * (s1 * s1 + s2 * s2), g * (s0 * s1 - s2), g * (s0 * s2 + s1)
        m10, m11, m12 = g * (s0 * s1 + s2), 1 - g * (s0 * s0 + s2 * s2), g * (s1 * s2 - s0)
        m20, m21, m22 = g * (s0 * s2 - s1), g * (s1 * s2 + s0), 1 - g * (s0 * s0 + s1 * s1)
        r0, r3, r6 = (
            r0 * m00 + r3 * m10 + r6 * m20,
            r0 * m01 + r3 * m11 + r6 * m21,
            r0 * m02 + r3 * m12 + r6 * m22,
        )
        r1, r4, r7 = (
            r1 * m00 + r4 * m10 + r7 * m20,
            r1 * m01 + r4 * m11 + r7 * m21,
            r1 * m02 + r4 * m12 + r7 * m22,
        )
        r2, r5, r8 = (
            r2 * m00 + r5 * m10 + r8 * m20,
            r2 * m01 + r5 * m11 + r8 * m21,
            r2 * m02 + r5 * m12 + r8 * m22,
        )
    last = (r0, r1, r2, r3, r4, r5, r6, r7, r8, x0, x1, x2, p0, p1, p2, q0, q1, q2)
    for k in range(18):
        y[k] = last[k]


def step_costs() -> dict[str, float]:
    """Median ns a step; checks on the way that the hand-written update is the same one."""
    body = sim.vehicle("rigid-body")
    p, node = body.parameter_vector, body.state(omega=(0.3, 1.2, -0.5), v=(1.0, 0.2, 0.0)).node
    J, m = np.array(body.values["inertia"]), float(body.values["mass"])  # type: ignore[arg-type]
    kernels = {name: compile_kernel(body, integrator(name)) for name in METHODS}
    ours = kernels["variational"]
    one, two = (ours.start(node, FREE, p, STEP_S) for _ in range(2))
    ours.advance(one, FREE, FREE, p, STEP_S, 1000)
    by_hand(two, J, m, STEP_S, 1000)
    print(f"largest difference of the hand-written kernel after 1000 steps: {np.abs(one - two).max():.1e}")
    times: dict[str, list[float]] = {name: [] for name in (*METHODS, "by hand")}
    for _ in range(ROUNDS):
        for name in times:
            y = kernels.get(name, ours).start(node, FREE, p, STEP_S)
            began = time.thread_time()
            if name == "by hand":
                by_hand(y, J, m, STEP_S, STEPS)
            else:
                kernels[name].advance(y, FREE, FREE, p, STEP_S, STEPS)
            times[name].append((time.thread_time() - began) / STEPS * 1e9)
    return {name: statistics.median(t) for name, t in times.items()}


def main() -> None:
    """Prints the tables."""
    costs = step_costs()
    print(
        f"free rigid body, h = 1 ms, median of {ROUNDS} x {STEPS} steps, interleaved, CPU time of the thread"
    )
    for name, ns in sorted(costs.items(), key=lambda item: item[1]):
        print(f"  {name:20s} {ns:7.1f} ns  {ns / costs['rk4']:5.2f} x rk4")
    print(f"  variational / by hand: {costs['variational'] / costs['by hand']:.2f}")

    body, bodies = sim.vehicle("rigid-body"), random_bodies(20, 240.0, 7)
    print("\nsolver failures, blow-ups, largest relative energy error; 20 bodies, 240 s, h = 1/4 .. 1/32 s")
    for name in ("variational", *OURS):
        kernel = compile_kernel(body, integrator(name))
        outcomes = [measure(kernel, bodies, 1 / d) for d in (4, 8, 16, 32)]
        failures, blown = sum(o.solver_failures for o in outcomes), sum(o.blown_up for o in outcomes)
        print(f"  {name:20s} {failures} {blown} {max(o.energy for o in outcomes):.1e}")

    print(f"\nCPU time to {GOAL_RAD:g} rad of rotation error, 5 bodies, 240 s")
    for name in ("rk4", "variational-4", "variational-6"):
        kernel = compile_kernel(body, integrator(name))
        cost = cost_of([measure(kernel, bodies[:5], 1 / d) for d in DIVISIONS], GOAL_RAD)
        print(f"  {name:20s} {cost * 1e3:6.2f} ms")


if __name__ == "__main__":
    main()
