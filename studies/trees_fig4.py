"""Figure 4 of the multibody paper: residual of each iteration, and how many iterations a step takes."""

import numpy as np
from matplotlib.figure import Figure

from sim.multibody.stepping import OK
from sim.steppers.bound_tree import BoundTree
from studies.chains import LINEAR, TOLERANCE, bent, chain, started
from studies.report import Claim, Options, Progress, Report

LINKS = (10, 20, 50, 100, 200)
STEP_S, SHOWN_LINKS = 1e-3, 20
NOTED = 12


def run(options: Options, progress: Progress) -> Report:
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
    return Report(columns, rows, _figure(residuals, means), _claims(residuals, means))


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


def _claims(residuals: dict[str, np.ndarray], means: dict[str, list[float]]) -> list[Claim]:
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


def _figure(residuals: dict[str, np.ndarray], means: dict[str, list[float]]) -> Figure:
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
