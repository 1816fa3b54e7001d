"""How often a plan is the best there is: against a brute-force search of many starts.

    python -m benchmarks.plan_classes [KIND ...] [--count 100] [--starts 30] [--seed 5] [--known FOLDER]

Random places are drawn (`benchmarks.plan_places`), planned as anybody would, and planned again from random first
guesses by the same solvers, in a process of its own that is left where a solver does not come back. The best known is
the least that either has found, now or before: what is known of every place is kept in a folder, where one is named.
"""

import argparse
import json
import multiprocessing
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

import sim
from benchmarks.plan_places import KINDS, Motion, Placed
from sim.integrators import integrator
from sim.planner import Plan, Planner, Task
from sim.planner.guess.guess import variables
from sim.planner.service.search import Search
from sim.planner.solvers.attempt import PlanCall
from sim.planner.solvers.time_limit import TimeLimit
from sim.planner.task.check import check_task
from sim.planner.task.waypoints import with_times
from sim.planner.transcription.transcription import motion

METHOD = integrator("variational")
PLANNER = Planner()
_ENOUGH = 1.02
_ATTEMPT_S, _PLAN_S = 60.0, 600.0
"""On the wall, for one start and for a plan: nothing that a busy machine should decide."""
_NEAR = 1.05
"""Times the least cost so far: from there on a guess's motion is moved in time too."""


def _costs_of(
    vehicle: sim.Vehicle, task: Task, starts: Sequence[Callable[[], Motion]], answers: Connection
) -> None:
    """Send what the motions cost that guesses lead to, inf where to none, until a solver does not come back."""
    problem, best = partial(PLANNER.solvers, vehicle, METHOD), np.inf
    solvers = problem(task)
    for make in starts:
        search = Search(vehicle, METHOD, task, ("fatrop",), problem, PlanCall(TimeLimit(_ATTEMPT_S), None))
        start = variables(solvers.t, vehicle, task, *make())
        found = search.kept_clear(with_times(vehicle, task, solvers.t.places(start)), start, "cold")
        cost = found.result.cost if found.solved else np.inf
        if cost < _NEAR * best:
            move = motion(solvers.t, found.result.w, found.p)
            retimed = search.retimed(found.task, move, cost)
            cost = retimed.result.cost if retimed else cost
        best = min(best, cost)
        answers.send(cost)
        if solvers.given_up:
            return


def least_of(vehicle: sim.Vehicle, task: Task, starts: Sequence[Callable[[], Motion]]) -> float:
    """Cost of the best motion that the guesses lead to."""
    context, costs = multiprocessing.get_context("fork"), []
    while len(costs) < len(starts):
        here, there = context.Pipe(duplex=False)
        process = context.Process(target=_costs_of, args=(vehicle, task, starts[len(costs) :], there))
        process.start()
        there.close()
        before = len(costs)
        try:
            while True:
                costs.append(here.recv())
        except EOFError:
            process.kill()
            process.join()
        if len(costs) == before:
            costs.append(np.inf)  # It has crashed.
    return min(costs, default=np.inf)


def places(kind: str, seed: int) -> Iterator[tuple[int, sim.Vehicle, Task]]:
    """Those that can be planned at all, with their numbers, which do not depend on each other."""
    number = 0
    while True:
        vehicle, task = KINDS[kind][0](np.random.default_rng((seed, number)))
        try:
            check_task(vehicle, METHOD, task)
        except sim.InputError:
            pass
        else:
            yield number, vehicle, task
        number += 1


def guessed(kind: str, seed: int, place: int, start: int, vehicle: sim.Vehicle, task: Task) -> Motion:
    """The random motion of a place's start."""
    motions = KINDS[kind][1](vehicle, task, np.random.default_rng((seed, 7, place, start)))
    return next(islice(motions, start % 2, None))


def _best_known(
    known: dict[str, dict[str, float]], kind: str, asked: argparse.Namespace, number: int, placed: Placed
) -> float:
    """Of a place, from its random starts, those included that were made before."""
    before = known.get(str(number), {"starts": 0, "cost": np.inf})
    starts = [
        partial(guessed, kind, asked.seed, number, start, *placed)
        for start in range(int(before["starts"]), asked.starts)
    ]
    cost = min(before["cost"], least_of(*placed, starts)) if starts else before["cost"]
    known[str(number)] = {"starts": max(asked.starts, before["starts"]), "cost": cost}
    return cost


def compared(kind: str, asked: argparse.Namespace) -> None:
    """One line of the table, and one for every place that is dearer."""
    first_only, ratios, seconds = [], [], []
    path = asked.known / f"{kind}-{asked.seed}.json" if asked.known else None
    known = json.loads(path.read_text()) if path and path.exists() else {}
    drawn = islice(places(kind, asked.seed), asked.first, asked.first + asked.count)
    for number, vehicle, task in drawn:
        PLANNER.solvers(vehicle, METHOD, task)
        begun, costs = time.process_time(), []

        def found(best: Plan, costs: list = costs, begun: float = begun) -> bool:
            costs.append((time.process_time() - begun, best.cost))
            return True

        plan = PLANNER.plan(vehicle, task, explain=False, processes=1, found=found, time_limit_s=_PLAN_S)
        seconds.append((costs[0][0] if costs else np.nan, time.process_time() - begun))
        own = plan.cost if plan.solved else np.inf
        best = _best_known(known, kind, asked, number, (vehicle, task))
        known[str(number)]["cost"] = best = min(own, best)
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(known))
        if not np.isfinite(best):
            continue  # Nobody knows a way: it may not be possible.
        ratios.append(own / best)
        first_only.append(costs[0][1] / best if costs else np.inf)
        if ratios[-1] > _ENOUGH:
            print(f"<!-- {kind} {number}: {own:.4f}, best known {best:.4f} -->", flush=True)
    alone, all_of_them = np.array(first_only), np.array(ratios)
    first_s, all_s = np.nanmedian(np.array(seconds), axis=0)
    print(
        f"| {kind} | {asked.seed} | {np.sum(alone < _ENOUGH)}/{len(alone)} | "
        f"{np.sum(all_of_them < _ENOUGH)}/{len(alone)} | {np.sum(np.isinf(all_of_them))} | "
        f"{100 * (np.quantile(all_of_them, 0.95, method='lower') - 1):.1f} % | "
        f"{100 * (all_of_them[np.isfinite(all_of_them)].max() - 1):.0f} % | {first_s:.2f} | {all_s:.2f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", help=f"{', '.join(KINDS)}; all where none is named")
    parser.add_argument("--count", type=int, default=100, help="random places of each kind")
    parser.add_argument(
        "--starts", type=int, default=30, help="random first guesses of the brute-force search"
    )
    parser.add_argument("--seed", type=int, default=5, help="of the places")
    parser.add_argument("--first", type=int, default=0, help="places that are left out at the beginning")
    parser.add_argument("--known", type=Path, help="folder of the best costs that are known, to go on from")
    asked = parser.parse_args()
    print(
        "| places | seed | within 2 % from one guess | within 2 % | not found | 95 % dearer by | worst | "
        "median cpu s of the first | of all |\n|---|---|---|---|---|---|---|---|---|"
    )
    for kind in asked.kinds or KINDS:
        compared(kind, asked)


if __name__ == "__main__":
    main()
