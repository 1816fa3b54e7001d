"""Figure 3 of the multibody paper: time of an evaluation and of a step against the number of links."""

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

from sim.multibody.arrays import workspace
from sim.multibody.kinematics import place
from sim.multibody.recursions import discrete_inverse_dynamics
from sim.multibody.tree import Tree
from sim.native.function import native
from studies.chains import METHODS, bent, chain, exponent, interleaved_us, started
from studies.report import Claim, Options, Progress, Report
from studies.tree_comparators import midpoint_slopes, scalable_workspace

LINKS = (10, 20, 50, 100, 200)
STEP_S, ROUNDS, BUDGET_S = 1e-3, 9, 0.02
EVALUATIONS = ("drnea", "svi evaluation")


def run(options: Options, progress: Progress) -> Report:
    """Interleaved medians; `runs` rounds, 9 unless told otherwise."""
    rounds = options.runs or ROUNDS
    spent: dict[int, dict[str, float]] = {}
    for k, links in enumerate(LINKS):
        progress(f"{links} links", k / len(LINKS))
        tree = chain(links)
        tasks: dict[str, Callable[[int], object]] = dict(_evaluations(tree))
        for method in METHODS:
            running = started(method, tree, bent(links), STEP_S)
            running.advance(5)  # guesses want steps to look back on
            tasks[method] = running.advance
        spent[links] = interleaved_us(tasks, BUDGET_S, rounds)
    names = (*EVALUATIONS, *METHODS)
    rows = [[links, *(spent[links][name] for name in names)] for links in LINKS]
    columns = ("links", *(f"{name.replace(' ', '_')}_us" for name in names))
    return Report(columns, rows, _figure(spent), _claims(spent))


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
        "drnea": lambda count: _linear_evaluations(a, ws, q, d, none, out, STEP_S, count),
        "svi evaluation": lambda count: _midpoint_evaluations(a, sw, q, q1, STEP_S, count),
    }


def _claims(spent: dict[int, dict[str, float]]) -> list[Claim]:
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

    links = list(LINKS)
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


def _figure(spent: dict[int, dict[str, float]]) -> Figure:
    figure = Figure(figsize=(11.0, 4.6))
    left, right = figure.subplots(1, 2)
    for axes, names in ((left, EVALUATIONS), (right, METHODS)):
        for name in names:
            axes.loglog(LINKS, [spent[n][name] for n in LINKS], "o-", ms=4, label=name)
        axes.set(xlabel="links")
        axes.grid(alpha=0.3, which="both")
        axes.legend()
    left.set(ylabel="CPU time [us]", title="an evaluation of the residual")
    right.set(title="a step, h = 1 ms")
    return figure
