"""`python -m studies.ledger [NAME ...]`: work problems out and tell how many digits agree with what is known."""

import json
import math
import sys
from collections.abc import Sequence
from pathlib import Path

import click
import numpy as np

from sim.platform.errors import one_of
from studies.ledger import problems
from studies.ledger.problem import PeerResult, Problem, ProblemResult, solve

DRAWN = Path(__file__).resolve().parents[2] / "docs" / "ledger"
HEAD = """# The ledger of truth

Problems whose answers are known, and how many digits of them ours have, by the largest difference over the largest
number; of several numbers the first one is shown. `python -m studies.ledger --markdown docs/ledger.md` writes this
page; `holonomy ledger` prints it in short where the program is installed, with `--list` the problems alone. CPU time is
that of one answer, compiled before, on a core that others used, too; pace is how many seconds of motion a second of it
steps through, setting up and all repeated runs included: what has less than 1 does not agree, whatever its digits, and
what has no pace has no time in it (linearised, planned, held). MuJoCo and Pinocchio are asked where they have what the
problem needs, each by Runge's and Kutta's method at the same step.

Whoever has another problem writes one file in `studies/ledger/` with a tuple `PROBLEMS`, and nothing else: command,
page, scenes and the suite, which holds each problem to its digits, find it there.

{summary}

"""
TABLE = """| problem | what | truth | first number | ours | known | by | digits | CPU | pace | MuJoCo | Pinocchio |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""
GIVEN_UP = """
## What is given up

What panels and cells of water leave of the digits.

"""
OTHER_WAYS = """
## Other ways to an answer

Problems of above asked again, of another method, step or kind of contact: what a plain second-order step, a method that
is not reversible and contact by velocities leave of the digits, and what leads to them as well. They are no problems
of their own and not counted as such.

"""
PEERS = ("MuJoCo", "Pinocchio")
PICTURES = """
## As scenes

`./run ledger-NAME` opens a problem where it starts. The pictures are drawn by `python scripts/thumbnails.py --ledger`.

| | | |
|---|---|---|
"""
MISSING = """
## Where digits are missing

Reasons stand with the problems, where `python -m studies.ledger --markdown docs/ledger.md` finds them.

| problem | why |
|---|---|
"""
ABSENT = """
## What is not here yet

| problem | why |
|---|---|
| the KCS's own lines and what was measured | not to be handed on here; a hull of its dimensions stands for it |
| the drag of a cylinder in the tank | its water slips along walls, and has no boundary layer, which is what drags |
| Gymnasium's figures again | the start that they are from is not told: those of the same method from ours are others |
"""


@click.command(help="Problems with known answers: how many digits of ours agree.")
@click.argument("names", nargs=-1)
@click.option("--list", "listed", is_flag=True, help="Only names, titles and where truths are from.")
@click.option("--json", "as_json", is_flag=True, help="Numbers for programs.")
@click.option("--markdown", type=click.Path(path_type=Path, dir_okay=False), help="Write a page.")
def main(names: tuple[str, ...], listed: bool, as_json: bool, markdown: Path | None) -> None:
    """All of them, or those that are named."""
    known = problems()
    for name in names:
        if name not in {problem.name for problem in known}:
            like = one_of((problem.name for problem in known), name)
            raise click.BadParameter(f"{name}; allowed: {like}", param_hint="NAMES")
    chosen = [problem for problem in known if not names or problem.name in names]
    if listed:
        for problem in chosen:
            print(f"{problem.name:44s} {problem.title} ({problem.source})")
        return
    results = []
    for problem in chosen:
        print(f"{problem.name} ...", file=sys.stderr, flush=True)
        results.append(solve(problem))
    if markdown is not None:
        markdown.write_text(page(results), encoding="utf-8")
    print(as_text(results) if not as_json else as_numbers(results))


def page(results: Sequence[ProblemResult]) -> str:
    """As the documentation shows it."""
    ways = [result for result in results if result.problem.another_way_of]
    asked = [result for result in results if not result.problem.another_way_of]
    aims = [result for result in asked if not result.problem.gives_up]
    rest = [result for result in asked if result.problem.gives_up]
    short = "".join(f"| {r.problem.title} | {r.problem.reason} |\n" for r in results if r.problem.reason)
    enough, also, by_ways = (sum(r.agrees for r in rows) for rows in (aims, rest, ways))
    late = [r.problem.name for r in results if not r.in_real_time]
    moving = sum(r.problem.motion_s > 0.0 for r in results)
    summary = (
        f"Of {len(asked)} problems {enough + also} agree to 8 digits or all that are known, by steps in real time: "
        f"{enough} of the {len(aims)} that are to,\nand {also} of {len(rest)} that show what is given up. Of "
        f"{len(ways)} rows that go other ways to an answer {by_ways} do. Of {moving} rows that have\ntime in them "
        f"{moving - len(late)} are in real time{': not ' + ', '.join(late) if late else ''}."
    )
    tables = TABLE + table(aims)
    tables += "".join(
        head + TABLE + table(rows) for head, rows in ((OTHER_WAYS, ways), (GIVEN_UP, rest)) if rows
    )
    return HEAD.replace("{summary}", summary) + tables + pictures(results) + MISSING + short + ABSENT


def table(results: Sequence[ProblemResult]) -> str:
    """Rows."""
    return "".join(f"| {' | '.join(cells(result))} |\n" for result in results)


def pictures(results: Sequence[ProblemResult], columns: int = 3) -> str:
    """A table of those that have a scene, first what is drawn; what looks the same shares its picture."""
    shown = [r.problem for r in results if r.problem.scene is not None]
    apart = [p for p in shown if p.pictured_by not in {other.name for other in shown}]
    apart.sort(key=lambda p: not (DRAWN / f"{p.name}.jpg").is_file())
    cells = []
    for p in apart:
        picture = f"![{p.title}](ledger/{p.name}.jpg)" if (DRAWN / f"{p.name}.jpg").is_file() else p.title
        names = (p.name, *(other.name for other in shown if other.pictured_by == p.name))
        cells.append(f"{picture} {', '.join(f'`./run ledger-{name}`' for name in names)}")
    cells += [""] * (-len(cells) % columns)
    rows = [cells[k : k + columns] for k in range(0, len(cells), columns)]
    return PICTURES + "".join(f"| {' | '.join(row)} |\n" for row in rows) if shown else ""


def cells(result: ProblemResult) -> tuple[str, ...]:
    """Of one row."""
    problem = result.problem
    asked = {one.peer.program: one for one in result.peers}
    return (
        problem.title,
        problem.quantity.replace("|", "\\|"),
        problem.source,
        first(result.truth, problem),
        first(result.ours, problem),
        str(problem.known_digits),
        problem.step,
        f"**{result.digits:.1f}**",
        f"{1e3 * result.cpu_s:.3g} ms",
        pace(result),
        *(as_peer(asked[program]) if program in asked else "" for program in PEERS),
    )


def first(numbers: np.ndarray, problem: Problem) -> str:
    """The first of some, as far as it is known."""
    return f"{float(numbers.flat[0]):.{problem.known_digits}g}"


def pace(result: ProblemResult) -> str:
    """Two digits; nothing where nothing moves."""
    return "" if math.isnan(result.pace) else f"{float(f'{result.pace:.2g}'):g}"


def as_peer(one: PeerResult) -> str:
    """Digits, time, and the step where it is not ours."""
    return f"{one.digits:.1f} in {1e3 * one.cpu_s:.3g} ms{one.peer.step and f' ({one.peer.step})'}"


def as_text(results: Sequence[ProblemResult]) -> str:
    """A line each."""
    return "\n".join(
        f"{r.problem.name:44s} {r.digits:5.1f} of {r.problem.known_digits:2d} digits  {1e3 * r.cpu_s:9.3g} ms"
        f"{pace(r):>9s}"
        f"  {first(r.truth, r.problem):>18s} {first(r.ours, r.problem):>18s}  {r.problem.step}"
        for r in results
    )


def as_numbers(results: Sequence[ProblemResult]) -> str:
    """JSON: a list of objects."""
    return json.dumps(
        [
            {
                "name": r.problem.name,
                "source": r.problem.source,
                "known_digits": r.problem.known_digits,
                "truth": r.truth.tolist(),
                "ours": r.ours.tolist(),
                "digits": r.digits,
                "cpu_s": r.cpu_s,
                "pace": None if math.isnan(r.pace) else r.pace,
                "peers": {one.peer.program: {"digits": one.digits, "cpu_s": one.cpu_s} for one in r.peers},
                "reason": r.problem.reason,
            }
            for r in results
        ],
        indent=1,
    )


if __name__ == "__main__":
    main()
