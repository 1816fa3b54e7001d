"""Plans of a six-axis arm around a pillar, beside what CasADi's Opti makes of the same task: CPU seconds and costs.

    python -m benchmarks.plan_against_opti [--steps 64] [--rounds 5] [--places 60]

There: as many steps, by trapezoidal collocation with inverse dynamics, and by multiple shooting with forward dynamics;
the recursive Newton-Euler algorithm on CasADi expressions, with the numbers of Pinocchio's model of the arm, and
checked against Pinocchio's own; expanded to scalars, exact derivatives, IPOPT from a straight line of the joints. The
same bounds, the same balls around the links, kept clear of the pillar and of each other at the nodes; between the nodes
only plans of this project are looked at. Building is left out on either side. Then the goal is dragged, and each
solution begins from the one before.

Wants Pinocchio: `pip install -e '.[reference]'`.
"""

import argparse
from abc import ABC, abstractmethod
from dataclasses import replace

import casadi as ca
import numpy as np
import pinocchio

from benchmarks.plan_trees import ARM, REST, around_a_pillar, timed
from sim.planner import Cylinder, Goal, Planner, Task, Weights
from sim.planner.task.own_bodies import kept_m, own_pairs
from tests.sim.multibody.test_tree_pinocchio import model_of

MODEL = model_of(ARM.tree)
SCALES = np.array([0.5 * c.high for c in ARM.controls])
"""By which torques are divided in the cost [N m]."""
IPOPT: dict[str, str | int | float] = {"ipopt.print_level": 0, "ipopt.sb": "yes", "ipopt.tol": 1e-7}
CLOSE = ("bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac", "mult_bound_push")
WARM: dict[str, str | int | float] = {
    "ipopt.warm_start_init_point": "yes",
    "ipopt.mu_init": 1e-6,
    **{f"ipopt.warm_start_{name}": 1e-8 for name in CLOSE},
}
"""Of some that were tried these took the fewest iterations."""


def turn(angle: ca.SX) -> ca.SX:
    """About z."""
    c, s = ca.cos(angle), ca.sin(angle)
    return ca.vertcat(ca.horzcat(c, -s, 0), ca.horzcat(s, c, 0), ca.horzcat(0, 0, 1))


def inverse_dynamics() -> ca.Function:
    """(q, v, a) -> torques: the recursive Newton-Euler algorithm of hinges about z, and of friction at them."""
    n = MODEL.nv
    q, v, a = (ca.SX.sym(name, n) for name in "qva")
    axis = ca.DM([0, 0, 1])
    placed, turning, rising, spinning = [], [], [], []
    for i in range(1, n + 1):
        place, parent = MODEL.jointPlacements[i], MODEL.parents[i]
        R = ca.DM(place.rotation) @ turn(q[i - 1])
        x = ca.DM(place.translation)
        if parent:
            omega, alpha, rise = turning[parent - 1], spinning[parent - 1], rising[parent - 1]
        else:
            omega, alpha, rise = ca.SX.zeros(3), ca.SX.zeros(3), ca.SX(-MODEL.gravity.linear)
        rise = rise + ca.cross(alpha, x) + ca.cross(omega, ca.cross(omega, x))
        own = axis * v[i - 1]
        turned = R.T @ omega
        placed.append((R, x))
        turning.append(turned + own)
        spinning.append(R.T @ alpha + axis * a[i - 1] + ca.cross(turned, own))
        rising.append(R.T @ rise)
    forces, moments = [], []
    for i in range(n):
        inertia = MODEL.inertias[i + 1]
        J, c, m = ca.DM(inertia.inertia), ca.DM(inertia.lever), inertia.mass
        omega, alpha = turning[i], spinning[i]
        force = m * (rising[i] + ca.cross(alpha, c) + ca.cross(omega, ca.cross(omega, c)))
        forces.append(force)
        moments.append(J @ alpha + ca.cross(omega, J @ omega) + ca.cross(c, force))
    torques = [ca.SX(0)] * n
    for i in reversed(range(n)):
        torques[i] = moments[i][2]
        parent = MODEL.parents[i + 1] - 1
        if parent >= 0:
            R, x = placed[i]
            force = R @ forces[i]
            forces[parent] += force
            moments[parent] += R @ moments[i] + ca.cross(x, force)
    friction = ca.DM(ARM.tree.arrays.damping) * v + ca.DM(MODEL.armature) * a
    return ca.Function("torques", [q, v, a], [ca.vertcat(*torques) + friction])


def checked(dynamics: ca.Function) -> ca.Function:
    """Raises AssertionError where Pinocchio says something else."""
    rng, data = np.random.default_rng(0), MODEL.createData()
    for _ in range(20):
        q, v, a = rng.normal(size=(3, MODEL.nv))
        theirs = pinocchio.rnea(MODEL, data, q, v, a) + ARM.tree.arrays.damping * v
        np.testing.assert_allclose(np.array(dynamics(q, v, a)).ravel(), theirs, rtol=1e-10, atol=1e-10)
    return dynamics


def frames_of(q: ca.SX) -> list[tuple[ca.SX, ca.SX]]:
    """(rotation, place) of each body in the world."""
    found: list[tuple[ca.SX, ca.SX]] = []
    for i in range(1, MODEL.nv + 1):
        place, parent = MODEL.jointPlacements[i], MODEL.parents[i]
        R, x = ca.DM(place.rotation) @ turn(q[i - 1]), ca.DM(place.translation)
        if parent:
            before, at = found[parent - 1]
            R, x = before @ R, before @ x + at
        found.append((R, x))
    return found


def distances(task: Task) -> ca.Function:
    """q -> what balls keep from the pillar, and from each other where they are kept apart, less what they have to:
    differences of squares, none below nothing [m^2]."""
    (pillar,) = task.obstacles
    assert isinstance(pillar, Cylinder)
    q, rows, middles = ca.SX.sym("q", MODEL.nv), [], []
    frames = frames_of(q)
    for (x, y, z, radius), body in zip(task.body, task.bodies, strict=True):
        k = ARM.tree.names.index(body)
        R, at = frames[ARM.tree.carriers[k]]
        offset = ARM.tree.offsets[k]
        middles.append(R @ ca.DM(offset[:3, :3] @ (x, y, z) + offset[:3, 3]) + at)
        away = middles[-1][:2] - ca.DM(pillar.centre_w[:2])
        if ca.jacobian(away, q).nnz():
            rows.append(ca.sumsqr(away) - (pillar.radius_m + radius + task.clearance_m) ** 2)
    for (i, j), apart in zip(own_pairs(ARM, task), kept_m(ARM, task), strict=True):
        rows.append(ca.sumsqr(middles[i] - middles[j]) - apart**2)
    return ca.Function("clear", [q], [ca.vertcat(*rows)])


def accelerations(dynamics: ca.Function) -> ca.Function:
    """(q, v, torques) -> a, by the joint-space inertia and its Cholesky factor."""
    q, v, u = (ca.SX.sym(name, MODEL.nv) for name in "qvu")
    a = ca.SX.sym("a", MODEL.nv)
    inertia = ca.jacobian(dynamics(q, v, a), a)
    L = ca.chol(ca.densify(inertia)).T
    bias = dynamics(q, v, ca.SX.zeros(MODEL.nv))
    y: list[ca.SX] = []
    for i in range(MODEL.nv):
        y.append((u[i] - bias[i] - sum((L[i, j] * y[j] for j in range(i)), ca.SX(0))) / L[i, i])
    found = [ca.SX(0)] * MODEL.nv
    for i in reversed(range(MODEL.nv)):
        rest = sum((L[j, i] * found[j] for j in range(i + 1, MODEL.nv)), ca.SX(0))
        found[i] = (y[i] - rest) / L[i, i]
    return ca.Function("accelerations", [q, v, u], [ca.vertcat(*found)])


class Problem(ABC):
    """One task as an Opti problem, with its goal as a parameter. Subclasses say how a step is taken."""

    name = ""

    def __init__(self, task: Task) -> None:
        self.task, self.opti, N = task, ca.Opti(), task.steps
        self.step_s = task.duration_s / N
        self.dynamics, clear = checked(inverse_dynamics()), distances(task)
        opti, n = self.opti, MODEL.nv
        low, high = ARM.tree.arrays.limits.T
        goal, start = opti.parameter(n), task.start.node[ARM.node_layout.pose]
        q, v = ([opti.variable(n) for _ in range(N + 1)] for _ in range(2))
        opti.minimize(self.effort(q, v))
        for k in range(N + 1):
            if 0 < k < N:
                opti.subject_to(clear(q[k]) >= 0)
                opti.subject_to(opti.bounded(low, q[k], high))
                opti.subject_to(opti.bounded(-task.limits.turn_radps, v[k], task.limits.turn_radps))
            else:
                opti.subject_to(q[k] == (goal if k else start))
                opti.subject_to(v[k] == 0)
        problem = {"x": opti.x, "p": opti.p, "f": opti.f, "g": opti.g}
        self.cold, self.warm = (
            ca.nlpsol("solver", "ipopt", problem, {"expand": True, "print_time": False} | options)
            for options in (IPOPT, IPOPT | WARM)
        )
        self.found: dict[str, ca.DM] = {}
        self.bounds = ca.Function("bounds", [opti.p], [opti.lbg, opti.ubg])

    @abstractmethod
    def effort(self, q: list[ca.MX], v: list[ca.MX]) -> ca.MX:
        """The cost, once steps from node to node are among the constraints."""

    def torques(self, torques: ca.MX, seconds: float) -> ca.MX:
        """Their cost over so long a time; they are held within their bounds."""
        most = np.array([c.high for c in ARM.controls])
        self.opti.subject_to(self.opti.bounded(-most, torques, most))
        return seconds * ca.sumsqr(torques / SCALES)

    def rest(self, a: np.ndarray, nodes: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Values of further variables, from accelerations (N+1, nv)."""
        return a.ravel()

    def solve(self, goal: np.ndarray, nodes: np.ndarray | None = None) -> tuple[float, int, bool]:
        """(cost, iterations, solved), from joint motions (N+1, nv), or from the latest solution."""
        low, high = self.bounds(goal)
        given = {"p": goal, "lbg": low, "ubg": high}
        if nodes is None:
            solver = self.warm
            given |= {"x0": self.found["x"], "lam_x0": self.found["lam_x"], "lam_g0": self.found["lam_g"]}
        else:
            solver, v = self.cold, np.gradient(nodes, self.step_s, axis=0)
            more = self.rest(np.gradient(v, self.step_s, axis=0), nodes, v)
            given["x0"] = np.concatenate([nodes.ravel(), v.ravel(), more])
        found, stats = solver(**given), solver.stats()
        if stats["success"]:
            self.found = found
        return float(found["f"]), int(stats["iter_count"]), bool(stats["success"])


class Collocation(Problem):
    """By trapezoids of velocities and accelerations, torques by inverse dynamics at the nodes."""

    name = "collocation, inverse dynamics"

    def effort(self, q: list[ca.MX], v: list[ca.MX]) -> ca.MX:
        opti, h, N = self.opti, self.step_s, len(q) - 1
        a = [opti.variable(MODEL.nv) for _ in q]
        for k in range(N):
            opti.subject_to(q[k + 1] == q[k] + h / 2 * (v[k] + v[k + 1]))
            opti.subject_to(v[k + 1] == v[k] + h / 2 * (a[k] + a[k + 1]))
        moved = [self.dynamics(*each) for each in zip(q, v, a, strict=True)]
        shares = (0.5 if k in (0, N) else 1.0 for k in range(N + 1))
        return ca.MX(sum(self.torques(u, share * h) for u, share in zip(moved, shares, strict=True)))


class Shooting(Problem):
    """By the classical Runge-Kutta method from node to node, accelerations by forward dynamics, torques held."""

    name = "shooting, forward dynamics"

    def effort(self, q: list[ca.MX], v: list[ca.MX]) -> ca.MX:
        opti, h, n = self.opti, self.step_s, MODEL.nv
        u = [opti.variable(n) for _ in q[1:]]
        of = accelerations(self.dynamics)
        x, w = ca.SX.sym("x", 2 * n), ca.SX.sym("w", n)

        def rate(s: ca.SX) -> ca.SX:
            return ca.vertcat(s[n:], of(s[:n], s[n:], w))

        k1 = rate(x)
        k2 = rate(x + h / 2 * k1)
        k3 = rate(x + h / 2 * k2)
        k4 = rate(x + h * k3)
        step = ca.Function("step", [x, w], [x + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)])
        for k, held in enumerate(u):
            opti.subject_to(ca.vertcat(q[k + 1], v[k + 1]) == step(ca.vertcat(q[k], v[k]), held))
        return ca.MX(sum(self.torques(held, h) for held in u))

    def rest(self, a: np.ndarray, nodes: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.concatenate(
            [np.array(self.dynamics(*each)).ravel() for each in zip(nodes, v, a, strict=True)][:-1]
        )


def straight(start: np.ndarray, goal: np.ndarray, steps: int) -> np.ndarray:
    """(steps + 1, nv) from rest to rest."""
    s = np.linspace(0.0, 1.0, steps + 1)[:, None]
    return start + (goal - start) * (s**3 * (10 - 15 * s + 6 * s * s))


def goals(places: int) -> np.ndarray:
    """Angles of the first joint that the goal is dragged through [rad]."""
    return 1.0 + 0.15 * np.sin(0.3 * np.arange(places))


def joints_at(angle: float) -> np.ndarray:
    return ARM.state({**REST, "turn": angle}).node[ARM.node_layout.pose]


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--places", type=int, default=60)
    options = parser.parse_args()
    first = around_a_pillar()
    task = replace(first, steps=options.steps, goal=Goal(first.goal.state), weights=Weights(comfort=0.0))
    planner, theirs = Planner(), [Collocation(task), Shooting(task)]
    planner.build(ARM, task)
    guess = straight(task.start.node[ARM.node_layout.pose], joints_at(1.0), task.steps)
    seconds: dict[str, list[float]] = {}
    costs: dict[str, str] = {}
    for _ in range(options.rounds):
        plan, took = timed(lambda: planner.plan(ARM, task, starts=1))
        assert plan.solved, plan.message
        seconds.setdefault("here", []).append(took)
        costs["here"] = f"cost {plan.cost:.5f}, {plan.iterations} iterations"
        for each in theirs:
            (cost, iterations, solved), took = timed(lambda p=each: p.solve(joints_at(1.0), guess))  # type: ignore[misc]
            assert solved, f"{each.name}: IPOPT does not arrive"
            seconds.setdefault(each.name, []).append(took)
            costs[each.name] = f"cost {cost:.5f}, {iterations} iterations"
    print(f"from nothing, {task.steps} steps, medians of {options.rounds}")
    table(seconds, costs)
    seconds, counts, solved_ones = {}, {}, 0
    for angle in goals(options.places):
        moved = replace(task, goal=Goal(ARM.state({**REST, "turn": float(angle)})))
        new, took = timed(lambda m=moved, p=plan: planner.plan(ARM, m, warm=p, starts=1, explain=False))  # type: ignore[misc]
        seconds.setdefault("here", []).append(took)
        plan, all_of_them = new if new.solved else plan, new.solved
        for each in theirs:
            (_, iterations, solved), took = timed(lambda p=each, a=angle: p.solve(joints_at(float(a))))  # type: ignore[misc]
            seconds.setdefault(each.name, []).append(took)
            counts.setdefault(each.name, []).append(iterations)
            all_of_them = all_of_them and solved
        solved_ones += all_of_them
    print(f"while the goal is dragged to {options.places} places, medians; {solved_ones} solved by all")
    table(seconds, {name: f"{np.median(each):.0f} iterations" for name, each in counts.items()})


def table(seconds: dict[str, list[float]], more: dict[str, str]) -> None:
    """Prints medians, and how many times ours they are."""
    for name, runs in seconds.items():
        ratio = np.median(runs) / np.median(seconds["here"])
        print(f"  {name:30s} {1e3 * np.median(runs):8.1f} ms  {ratio:6.1f} x  {more.get(name, '')}")


if __name__ == "__main__":
    main()
