"""`python -m studies NAME`: run a study; its PNG, CSV and claims go to out/."""

import importlib
from pathlib import Path

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from sim.platform.errors import InputError
from studies.report import Options, Report, save

STUDIES = {
    "fig3": ("free_body:fig3", "Orbits of a free body at a large step (vehicles paper, figure 3)"),
    "fig4": (
        "free_body:fig4",
        "Errors and cost of a free rigid body over four minutes (vehicles paper, figure 4)",
    ),
    "fig5": ("fig5:run", "Errors and cost of a car (vehicles paper, figure 5)"),
    "orders": ("orders:run", "Measured order of every integrator, with forces, gyroscope and drag"),
    "heavy-top": ("heavy_top:run", "Three formulations of the heavy top (mechanics survey, figures 2 and 3)"),
    "trees-fig2": ("trees:fig2", "Energy of a chain (multibody paper, figure 2)"),
    "trees-fig3": ("trees:fig3", "Time against the number of links (multibody paper, figure 3)"),
    "trees-fig4": ("trees:fig4", "Iterations of a step of a chain (multibody paper, figure 4)"),
    "survey-orders": (
        "survey:orders",
        "Order of Lie group methods on two pendula (mechanics survey, figure 5)",
    ),
    "survey-space": (
        "survey:space",
        "Unit vectors and tangency over 5 s (mechanics survey, figures 6 and 7)",
    ),
    "survey-steps": (
        "survey:steps",
        "Adaptive against equal steps on 2 to 20 pendula (mechanics survey, figures 8 and 10)",
    ),
    "survey-peak": (
        "survey:peak",
        "Two pendula through a sharp turn (mechanics survey, figures 9 and 11)",
    ),
    "survey-load": (
        "survey:load",
        "Two quadrotors with a load on a parabola (mechanics survey, figures 13 to 18)",
    ),
    "work-precision": ("work_precision:run", "Error at equal CPU time, every method, long horizon"),
}
"""By name: module and function, and what it shows."""
CLUSTERED = ("orders",)
"""Studies that can be run on a cluster."""


@click.command(
    help="Make a figure of the papers again, with the table behind it and what it shows.",
    context_settings={"show_default": True},
)
@click.argument("name", help=", ".join(STUDIES))
@click.option("--runs", type=click.IntRange(1), help="Random bodies or repetitions.")
@click.option("--seconds", type=click.FloatRange(0.1), help="Simulated seconds of a run.")
@click.option("--seed", type=click.IntRange(0), default=7)
@click.option("--out", type=click.Path(path_type=Path), default=Path("out"), help="Folder of the results.")
@click.option("--cluster", help="local, or tcp://HOST:8786 of a dask scheduler; for: orders.")
def main(
    name: str, runs: int | None, seconds: float | None, seed: int, out: Path, cluster: str | None
) -> None:
    """Run one study and tell what came of it."""
    console = Console()
    try:
        report = _run(name, Options(runs, seconds, seed, cluster), console)
    except InputError as error:
        console.print(f"[red]{error}[/red]")
        raise click.exceptions.Exit(2) from None
    for claim in report.claims:
        mark = "[green]reproduced[/green]    " if claim.holds else "[red]not reproduced[/red]"
        console.print(f"{mark}  {claim.text}\n                [dim]{claim.evidence}[/dim]")
    for path in save(report, name, out):
        console.print(str(path))


def _run(name: str, options: Options, console: Console) -> Report:
    if name not in STUDIES:
        raise InputError(f'unknown study "{name}"; allowed: {", ".join(STUDIES)}')
    if options.cluster is not None and name not in CLUSTERED:
        raise InputError(f"--cluster: refused for {name}; allowed for: {', '.join(CLUSTERED)}")
    module, function = STUDIES[name][0].split(":")
    study = getattr(importlib.import_module(f"studies.{module}"), function)
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task(name, total=1.0)
        return study(options, lambda text, share: bar.update(task, description=text, completed=share))


if __name__ == "__main__":
    main()
