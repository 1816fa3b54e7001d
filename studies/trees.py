"""Figures 2 to 4 of the multibody paper: energy of a chain, time against the number of links, iterations of a step.

Of hinged rods under the paper's methods and those that it compares with.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from matplotlib.figure import Figure

from sim.multibody.arrays import workspace
from sim.multibody.articulated import factorise, solve
from sim.multibody.continuous import euler_step, rk4_step
from sim.multibody.kinematics import momenta, place
from sim.multibody.loops import Closure
from sim.multibody.observing import kinetic_energy_J, potential_energy_J
from sim.multibody.recursions import discrete_inverse_dynamics
from sim.multibody.stepping import OK
from sim.multibody.tree import Tree
from sim.native.function import native
from sim.platform.errors import InputError
from sim.platform.progress import TellShare
from sim.steppers.bound_tree import BoundTree
from sim.vehicles import vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle
from studies.report import Claim, Options, Report
from studies.tree_comparators import dense_rollout, midpoint_slopes, scalable_rollout, scalable_workspace

LINK_M, LINK_KG = 0.2, 1.0
TOLERANCE = 1e-10
"""Of the joints' increments in a step [rad]."""
LINEAR = ("riqn", "newton", "broyden")
"""In linear time, by the name of their root finder."""
METHODS = (*LINEAR, "newton-dense", "svi", "semi-implicit-euler", "rk4")


def chain(links: int) -> Tree:
    """Rods of 0.2 m and 1 kg, hung from a point. Raises InputError where there are too many or too few."""
    declared = vehicle("chain", links=links, link_length=LINK_M, link_mass=LINK_KG)
    if not isinstance(declared, ArticulatedVehicle):
        raise InputError("the chain is no tree of joints")
    return declared.tree


def bent(links: int) -> np.ndarray:
    """(links,) rad: neither straight nor planar."""
    return 0.3 * np.sin(1.0 + 1.7 * np.arange(links))


@dataclass(eq=False)
class ChainRun:
    """One chain under one method, from rest."""

    advance: Callable[[int], int]
    """Steps to go -> iterations of the root finder in all of them. Raises InputError where there is no solution."""
    state: Callable[[], tuple[np.ndarray, np.ndarray]]
    """(q, p): coordinates and momenta at the node."""
    tree: Tree

    def energy_J(self) -> float:
        q, p = self.state()
        a, ws, none = self.tree.arrays, workspace(self.tree.arrays), np.zeros(self.tree.nv)
        v = p.copy()
        place(a, q, ws.node)
        factorise(a, ws.node, none, 0.0, ws.articulated, ws.factor)
        solve(a, ws.node, none, 0.0, ws.factor, v, ws.wrench, ws.spare, ws.arc, v)
        return kinetic_energy_J(p, v) + potential_energy_J(self.tree, q)


def started(method: str, tree: Tree, q: np.ndarray, step_s: float, tolerance: float = TOLERANCE) -> ChainRun:
    """A run of METHODS from coordinates q, at rest."""
    if method in LINEAR or method == "newton-dense":
        return _variational(method, tree, q, step_s, tolerance)
    if method == "svi":
        return _scalable(tree, q, step_s, tolerance)
    return _accelerated(method, tree, q, step_s)


def _found(iterations: int, method: str) -> int:
    if iterations < 0:
        raise InputError(f"{method}: a step has no solution that is found")
    return iterations


def _variational(method: str, tree: Tree, q: np.ndarray, step_s: float, tolerance: float) -> ChainRun:
    finder = method if method in LINEAR else "newton"
    stepper = BoundTree(tree, step_s, solver=finder, tolerance=tolerance)
    motion = stepper.start(q, np.zeros(tree.nv))
    ws = workspace(tree.arrays)

    def advance(steps: int) -> int:
        if method == "newton-dense":
            found = dense_rollout(tree.arrays, ws, motion, step_s, steps, tolerance)
            return _found(found, method)
        before = stepper.workspace.tally[0]
        _found(0 if stepper.advance(motion, steps)[1] == OK else -1, method)
        return int(stepper.workspace.tally[0] - before)

    return ChainRun(advance, lambda: (motion.q.copy(), stepper.momenta(motion)), tree)


def _scalable(tree: Tree, q: np.ndarray, step_s: float, tolerance: float) -> ChainRun:
    sw, here, p, guess = scalable_workspace(tree), q.copy(), np.zeros(tree.nv), np.zeros(tree.nv)

    def advance(steps: int) -> int:
        return _found(scalable_rollout(tree.arrays, sw, here, p, guess, step_s, steps, tolerance), "svi")

    return ChainRun(advance, lambda: (here.copy(), p.copy()), tree)


@native
def _accelerated_steps(tree, ws, loops, closing, q, v, u, w, h, stages, by_rk4, steps):  # type: ignore[no-untyped-def]
    for _ in range(steps):
        if by_rk4:
            rk4_step(tree, ws, loops, closing, q, v, u, w, h, stages)
        else:
            euler_step(tree, ws, loops, closing, q, v, u[0], w, h, stages)


def _accelerated(method: str, tree: Tree, q: np.ndarray, step_s: float) -> ChainRun:
    a, ws, none, nv = tree.arrays, workspace(tree.arrays), np.zeros((1, tree.nv)), tree.nv
    open_tree = Closure(tree, (), dampers=False)
    loops, closing = open_tree.arrays, open_tree.workspace
    here, v, stages = q.copy(), np.zeros(nv), np.zeros((6, nv))
    wrenches = np.zeros((0, 6))

    def advance(steps: int) -> int:
        by_rk4 = method == "rk4"
        _accelerated_steps(a, ws, loops, closing, here, v, none, wrenches, step_s, stages, by_rk4, steps)
        return 0

    def state() -> tuple[np.ndarray, np.ndarray]:
        p = np.zeros(nv)
        place(a, here, ws.node)
        momenta(a, ws.node, v, ws.arc, ws.wrench, p)
        return here.copy(), p

    return ChainRun(advance, state, tree)


def interleaved_us(
    tasks: dict[str, Callable[[int], object]], budget_s: float, rounds: int
) -> dict[str, float]:
    """Median CPU microseconds of the thread of one repetition: round after round, each task in its turn.

    A task is handed how often it is to repeat itself, so that a round of it takes about `budget_s`.
    """
    counts = {}
    for name, task in tasks.items():
        task(1)
        once = np.inf
        for _ in range(5):
            began = time.thread_time()
            task(1)
            once = min(once, max(time.thread_time() - began, 1e-7))
        counts[name] = max(1, min(5000, round(budget_s / once)))
    times: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            began = time.thread_time()
            task(counts[name])
            times[name].append((time.thread_time() - began) / counts[name] * 1e6)
    return {name: float(np.median(spent)) for name, spent in times.items()}


def exponent(links: list[int], times_us: list[float]) -> float:
    """Of the power of n that fits the times."""
    return float(np.polyfit(np.log(links), np.log(times_us), 1)[0])


ENERGY_LINKS, ENERGY_STEP_S = 10, 1e-3
ENERGY_METHODS = ("riqn", "svi", "semi-implicit-euler", "rk4")
SAMPLES = 400


def fig2(options: Options, progress: TellShare) -> Report:
    """A chain of ten links let go bent, 200 s unless told otherwise."""
    seconds = options.seconds or 200.0
    steps = max(1, round(seconds / ENERGY_STEP_S / SAMPLES))
    tree = chain(ENERGY_LINKS)
    time_s = steps * ENERGY_STEP_S * np.arange(SAMPLES + 1)
    errors: dict[str, np.ndarray] = {}
    for k, method in enumerate(ENERGY_METHODS):
        running = started(method, tree, bent(ENERGY_LINKS), ENERGY_STEP_S)
        energies = [running.energy_J()]
        for sample in range(SAMPLES):
            progress(method, (k + sample / SAMPLES) / len(ENERGY_METHODS))
            running.advance(steps)
            energies.append(running.energy_J())
        errors[method] = np.array(energies) - energies[0]
    lowest = started("riqn", tree, np.zeros(ENERGY_LINKS), ENERGY_STEP_S).energy_J()
    moves_J = started("riqn", tree, bent(ENERGY_LINKS), ENERGY_STEP_S).energy_J() - lowest
    rows = [[t, *(errors[m][k] for m in ENERGY_METHODS)] for k, t in enumerate(time_s)]
    columns = ("time_s", *(f"{m}_error_J" for m in ENERGY_METHODS))
    return Report(columns, rows, _energy_figure(time_s, errors, moves_J), _energy_claims(errors, moves_J))


def _energy_claims(errors: dict[str, np.ndarray], moves_J: float) -> list[Claim]:
    half = len(errors["riqn"]) // 2
    claims = []
    for method, words in (("riqn", "The linear-time method"), ("svi", "The midpoint rule (SVI)")):
        first, last = np.abs(errors[method][:half]).max(), np.abs(errors[method][half:]).max()
        claims.append(
            Claim(
                f"{words} keeps the energy in a band that does not grow",
                bool(last < 2.0 * first and last < 0.01 * moves_J),
                f"{first:.2g} J in the first half, {last:.2g} J in the second, of {moves_J:.3g} J that move",
            )
        )
    euler = errors["semi-implicit-euler"]
    ours = np.abs(errors["riqn"]).max()
    claims.append(
        Claim(
            "Semi-implicit Euler in joint coordinates loses energy that the variational method keeps",
            bool(np.abs(euler).max() > 10.0 * ours),
            f"{euler[-1]:+.2g} J at the end, at most {np.abs(euler).max():.2g} J; variational {ours:.2g} J",
        )
    )
    rk4 = np.abs(errors["rk4"]).max()
    claims.append(
        Claim(
            "At this step RK4, at fourfold cost an evaluation, errs by less than the variational method",
            bool(rk4 < ours),
            f"at most {rk4:.2g} J against {ours:.2g} J",
        )
    )
    return claims


def _energy_figure(time_s: np.ndarray, errors: dict[str, np.ndarray], moves_J: float) -> Figure:
    figure = Figure(figsize=(9.0, 4.6))
    axes = figure.subplots()
    for method, error in errors.items():
        axes.semilogy(time_s[1:], np.maximum(np.abs(error[1:]), 1e-10) / moves_J, label=method, lw=1.0)
    axes.set(xlabel="time [s]", ylabel="energy error / energy that moves")
    axes.set_title(f"{ENERGY_LINKS} links, h = {ENERGY_STEP_S * 1e3:g} ms")
    axes.legend(loc="center right", bbox_to_anchor=(1.0, 0.75), ncols=2)  # between the curves
    axes.grid(alpha=0.3)
    return figure


TIMED_LINKS = (10, 20, 50, 100, 200)
TIMED_STEP_S, ROUNDS, BUDGET_S = 1e-3, 9, 0.02
EVALUATIONS = ("drnea", "svi evaluation")


def fig3(options: Options, progress: TellShare) -> Report:
    """Interleaved medians; `runs` rounds, 9 unless told otherwise."""
    rounds = options.runs or ROUNDS
    spent: dict[int, dict[str, float]] = {}
    for k, links in enumerate(TIMED_LINKS):
        progress(f"{links} links", k / len(TIMED_LINKS))
        tree = chain(links)
        tasks: dict[str, Callable[[int], object]] = dict(_evaluations(tree))
        for method in METHODS:
            running = started(method, tree, bent(links), TIMED_STEP_S)
            running.advance(5)  # guesses want steps to look back on
            tasks[method] = running.advance
        spent[links] = interleaved_us(tasks, BUDGET_S, rounds)
    names = (*EVALUATIONS, *METHODS)
    rows = [[links, *(spent[links][name] for name in names)] for links in TIMED_LINKS]
    columns = ("links", *(f"{name.replace(' ', '_')}_us" for name in names))
    return Report(columns, rows, _time_figure(spent), _time_claims(spent))


@native
def _linear_evaluations(tree, ws, q, d, none, out, h, count):  # type: ignore[no-untyped-def]
    for _ in range(count):
        place(tree, q, ws.node)
        discrete_inverse_dynamics(tree, ws.node, d, none, none, h, ws.arc, ws.wrench, out)


@native
def _midpoint_evaluations(tree, sw, q0, q1, h, count):  # type: ignore[no-untyped-def]
    for _ in range(count):
        midpoint_slopes(tree, sw, q0, q1, h)


def _evaluations(tree: Tree) -> dict[str, Callable[[int], object]]:
    """The residual of one step, by our recursion and by that over all pairs."""
    a, n = tree.arrays, tree.n
    ws, sw, none = workspace(a), scalable_workspace(tree), np.zeros(n)
    q, d, out = bent(n), 1e-3 * np.cos(np.arange(n)), np.zeros(n)
    q1 = q + d

    return {
        "drnea": lambda count: _linear_evaluations(a, ws, q, d, none, out, TIMED_STEP_S, count),
        "svi evaluation": lambda count: _midpoint_evaluations(a, sw, q, q1, TIMED_STEP_S, count),
    }


def _time_claims(spent: dict[int, dict[str, float]]) -> list[Claim]:
    def ratio(links: int, slow: str, fast: str) -> float:
        return spent[links][slow] / spent[links][fast]

    def compared(text: str, slow: str, fast: str, wanted: tuple[float, float]) -> Claim:
        ten, hundred = ratio(10, slow, fast), ratio(100, slow, fast)
        return Claim(
            f"{text}: {wanted[0]:g}x at 10 links and {wanted[1]:g}x at 100",
            ten >= wanted[0] and hundred >= wanted[1],
            f"{ten:.1f}x and {hundred:.1f}x: {spent[10][slow]:.2g} against {spent[10][fast]:.2g} us, "
            f"{spent[100][slow]:.3g} against {spent[100][fast]:.3g} us",
        )

    links = list(TIMED_LINKS)
    grows = {m: exponent(links, [spent[n][m] for n in links]) for m in ("drnea", "riqn", "newton")}
    return [
        compared(
            "The linear-time recursion evaluates faster than SVI's", "svi evaluation", "drnea", (15, 32)
        ),
        compared("RIQN is faster than Newton's method with a matrix", "newton-dense", "riqn", (3.8, 53)),
        Claim(
            "The recursion and both of its solvers take time in proportion to the number of links",
            max(grows.values()) <= 1.1,
            ", ".join(f"{m} n^{x:.2f}" for m, x in grows.items()),
        ),
    ]


def _time_figure(spent: dict[int, dict[str, float]]) -> Figure:
    figure = Figure(figsize=(11.0, 4.6))
    left, right = figure.subplots(1, 2)
    for axes, names in ((left, EVALUATIONS), (right, METHODS)):
        for name in names:
            axes.loglog(TIMED_LINKS, [spent[n][name] for n in TIMED_LINKS], "o-", ms=4, label=name)
        axes.set(xlabel="links")
        axes.grid(alpha=0.3, which="both")
        axes.legend()
    left.set(ylabel="CPU time [us]", title="an evaluation of the residual")
    right.set(title="a step, h = 1 ms")
    return figure


LINKS = (10, 20, 50, 100, 200)
STEP_S, SHOWN_LINKS = 1e-3, 20
NOTED = 12


def fig4(options: Options, progress: TellShare) -> Report:
    """Residuals of a step that is guessed to stand still; mean iterations over 2 s unless told otherwise."""
    steps = round((options.seconds or 2.0) / STEP_S)
    residuals = {method: _residuals(method) for method in LINEAR}
    means: dict[str, list[float]] = {method: [] for method in LINEAR}
    for k, links in enumerate(LINKS):
        for method in LINEAR:
            progress(f"{method}, {links} links", k / len(LINKS))
            running = started(method, chain(links), bent(links), STEP_S)
            means[method].append(running.advance(steps) / steps)
    rows: list[list[object]] = [
        ["residual", method, k + 1, float(r)] for method in LINEAR for k, r in enumerate(residuals[method])
    ]
    rows += [["mean", method, n, means[method][k]] for method in LINEAR for k, n in enumerate(LINKS)]
    columns = ("kind", "method", "iteration_or_links", "residual_Nms_or_iterations")
    return Report(columns, rows, _iteration_figure(residuals, means), _iteration_claims(residuals, means))


def _residuals(method: str) -> np.ndarray:
    """Of one step in the middle of a fall, from a guess without motion."""
    tree = chain(SHOWN_LINKS)
    fall = started("newton", tree, bent(SHOWN_LINKS), STEP_S, 1e-13)
    fall.advance(round(0.3 / STEP_S))
    q, p = fall.state()
    stepper = BoundTree(tree, STEP_S, solver=method, guess="ig1", tolerance=1e-15, noted=NOTED)
    motion = stepper.start(q, np.zeros(tree.nv))
    motion.b[:] += p
    if stepper.advance(motion, 1)[1] != OK:
        return np.zeros(0)
    return stepper.residuals[stepper.residuals > 0.0]


def _iteration_claims(residuals: dict[str, np.ndarray], means: dict[str, list[float]]) -> list[Claim]:
    newton, riqn = residuals["newton"], residuals["riqn"]
    falling = newton[newton > 1e-10]
    squares = np.log(falling[1:]) / np.log(falling[:-1])
    rates = (riqn[1:] / riqn[:-1])[riqn[1:] > 1e-10]
    return [
        Claim(
            "Newton's method converges quadratically",
            bool(len(falling) >= 3 and np.all(falling[2:] < 100.0 * falling[1:-1] ** 2)),
            ", ".join(f"{r:.1e}" for r in newton)
            + f" N m s; exponents {', '.join(f'{s:.1f}' for s in squares)}",
        ),
        Claim(
            "RIQN converges linearly, by a rate far below one",
            bool(len(rates) and rates.max() < 0.5),
            f"rates {', '.join(f'{r:.2g}' for r in rates)} at {SHOWN_LINKS} links",
        ),
        Claim(
            "A step takes five iterations at most, however many links there are",
            bool(max(means["riqn"]) <= 5.0),
            ", ".join(f"{m:.2f} at {n}" for m, n in zip(means["riqn"], LINKS, strict=True))
            + f" links, RIQN to {TOLERANCE:g} rad",
        ),
    ]


def _iteration_figure(residuals: dict[str, np.ndarray], means: dict[str, list[float]]) -> Figure:
    figure = Figure(figsize=(11.0, 4.6))
    left, right = figure.subplots(1, 2)
    for method in LINEAR:
        left.semilogy(1 + np.arange(len(residuals[method])), residuals[method], "o-", ms=4, label=method)
        right.semilogx(LINKS, means[method], "o-", ms=4, label=method)
    left.set(
        xlabel="iteration",
        ylabel="largest residual [N m s]",
        title=f"{SHOWN_LINKS} links, from a guess at rest",
    )
    right.set(
        xlabel="links",
        ylabel="mean iterations a step",
        title=f"to {TOLERANCE:g} rad, h = 1 ms",
        ylim=(0, None),
    )
    for axes in (left, right):
        axes.legend()
        axes.grid(alpha=0.3)
    return figure
