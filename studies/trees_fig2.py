"""Figure 2 of the multibody paper: energy of a chain under variational and common methods."""

import numpy as np
from matplotlib.figure import Figure

from studies.chains import bent, chain, started
from studies.report import Claim, Options, Progress, Report

LINKS, STEP_S = 10, 1e-3
METHODS = ("riqn", "svi", "semi-implicit-euler", "rk4")
SAMPLES = 400


def run(options: Options, progress: Progress) -> Report:
    """A chain of ten links let go bent, 200 s unless told otherwise."""
    seconds = options.seconds or 200.0
    steps = max(1, round(seconds / STEP_S / SAMPLES))
    tree = chain(LINKS)
    time_s = steps * STEP_S * np.arange(SAMPLES + 1)
    errors: dict[str, np.ndarray] = {}
    for k, method in enumerate(METHODS):
        running = started(method, tree, bent(LINKS), STEP_S)
        energies = [running.energy_J()]
        for sample in range(SAMPLES):
            progress(method, (k + sample / SAMPLES) / len(METHODS))
            running.advance(steps)
            energies.append(running.energy_J())
        errors[method] = np.array(energies) - energies[0]
    lowest = started("riqn", tree, np.zeros(LINKS), STEP_S).energy_J()
    moves_J = started("riqn", tree, bent(LINKS), STEP_S).energy_J() - lowest
    rows = [[t, *(errors[m][k] for m in METHODS)] for k, t in enumerate(time_s)]
    columns = ("time_s", *(f"{m}_error_J" for m in METHODS))
    return Report(columns, rows, _figure(time_s, errors, moves_J), _claims(errors, moves_J))


def _claims(errors: dict[str, np.ndarray], moves_J: float) -> list[Claim]:
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


def _figure(time_s: np.ndarray, errors: dict[str, np.ndarray], moves_J: float) -> Figure:
    figure = Figure(figsize=(9.0, 4.6))
    axes = figure.subplots()
    for method, error in errors.items():
        axes.semilogy(time_s[1:], np.maximum(np.abs(error[1:]), 1e-10) / moves_J, label=method, lw=1.0)
    axes.set(xlabel="time [s]", ylabel="energy error / energy that moves")
    axes.set_title(f"{LINKS} links, h = {STEP_S * 1e3:g} ms")
    axes.legend(loc="center right", bbox_to_anchor=(1.0, 0.75), ncols=2)  # between the curves
    axes.grid(alpha=0.3)
    return figure
