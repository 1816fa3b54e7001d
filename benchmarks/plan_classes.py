"""How often a plan is the best there is: against a brute-force search of many starts.

    python -m benchmarks.plan_classes [harbours] [canyons] [parkings] [--count 100] [--starts 40] [--known FOLDER]

Random places are drawn, planned with as anybody would, and planned again from random first guesses by the same
solvers, in a process of its own that is left where a solver does not come back. The best known is the least that either
has found, now or before: what is known of every place is kept in a folder, where one is named.
"""

import argparse
import json
import multiprocessing
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np

import sim
from sim.integrators import integrator
from sim.planner import Capsule, Cylinder, Goal, Planner, Sphere, Task, task_of_scene
from sim.planner.guess.driven import through, with_shape
from sim.planner.guess.free import free_motion
from sim.planner.guess.pace import paced
from sim.planner.guess.variables import variables
from sim.planner.service.search import Search
from sim.planner.solvers.attempt import Run, deadline_in
from sim.planner.task.check import check_task
from sim.planner.task.inputs import input_map_of
from sim.planner.task.obstacles import Obstacle
from sim.planner.task.poses import positions
from sim.planner.task.waypoints import with_times
from sim.planner.transcription.motion import motion
from sim.scene import load_scene

METHOD = integrator("variational")
PLANNER = Planner()
_ENOUGH = 1.02
_ATTEMPT_S = 3.0
_NEAR = 1.05
"""Times the least cost so far: from there on a guess's motion is moved in time too."""
_Motion = tuple[np.ndarray, np.ndarray]


def harbour(rng: np.random.Generator) -> tuple[sim.Vehicle, Task]:
    """A boat in wind among two to six buoys, from any heading to any heading."""
    boat = sim.vehicle("boat", wind=tuple(rng.uniform(-6.0, 6.0, 2)))
    start = boat.state(x=rng.uniform(-4, 4), y=rng.uniform(-8, 8), theta=rng.uniform(-np.pi, np.pi))
    goal = boat.state(x=rng.uniform(18, 26), y=rng.uniform(-8, 8), theta=rng.uniform(-np.pi, np.pi))
    buoys = tuple(
        Cylinder((rng.uniform(4, 18), rng.uniform(-7, 7), 0.0), rng.uniform(0.8, 2.5), f"buoy {i}")
        for i in range(rng.integers(2, 7))
    )
    body = ((0.8, 0.0, 0.0, 0.7), (-0.8, 0.0, 0.0, 0.7))
    return boat, Task(start, Goal(goal), 20.0, obstacles=buoys, clearance_m=0.3, body=body)


@cache
def _scene(name: str) -> tuple[sim.Vehicle, Task]:
    return task_of_scene(load_scene(name))


def canyon(rng: np.random.Generator) -> tuple[sim.Vehicle, Task]:
    """The helicopter's way through the canyon, by its waypoint or not, among two to four rocks, masts and beams close
    to the straight way: each is passed left or right, over or under."""
    helicopter, task = _scene("plan-canyon")
    a, b = _ends(helicopter, task)
    across = np.cross([0.0, 0.0, 1.0], (b - a) / np.linalg.norm(b - a))
    found: list[Obstacle] = []
    for i, share in enumerate(np.linspace(0.2, 0.8, rng.integers(2, 5))):
        middle = a + (share + rng.uniform(-0.06, 0.06)) * (b - a) + rng.normal(0.0, 5.0) * across
        middle[2] += rng.normal(0.0, 4.0)
        kind, arm = rng.integers(3), rng.uniform(6.0, 20.0) * across
        if kind == 0:
            found.append(Sphere(tuple(middle), rng.uniform(4.0, 10.0), f"rock {i}"))
        elif kind == 1:
            found.append(Cylinder(tuple(middle), rng.uniform(1.0, 4.0), f"mast {i}"))
        else:
            found.append(
                Capsule(tuple(middle - arm), tuple(middle + arm), rng.uniform(0.5, 2.0), f"beam {i}")
            )
    return helicopter, replace(
        task, obstacles=tuple(found), waypoints=task.waypoints if rng.random() < 0.5 else ()
    )


def parking(rng: np.random.Generator) -> tuple[sim.Vehicle, Task]:
    """The car beside a gap of 6.8 to 8.2 m, up to 0.5 rad askew."""
    car, task = _scene("plan-car-parking")
    x, y, theta = rng.uniform((-4.0, -0.3, -0.5), (4.0, 1.5, 0.5))
    front = replace(task.obstacles[1], centre_w=(3.4 + rng.uniform(-0.4, 1.0), -2.6, 0.0))
    obstacles = (task.obstacles[0], front, *task.obstacles[2:])
    return car, replace(task, start=car.state(x=x, y=y, theta=theta), obstacles=obstacles)


def _ends(vehicle: sim.Vehicle, task: Task) -> np.ndarray:
    """(2, 3) m."""
    return positions(vehicle, np.stack([task.start.node, task.goal.state.node]))


def flights(vehicle: sim.Vehicle, task: Task, rng: np.random.Generator) -> Iterator[_Motion]:
    """By up to two random places near the straight way or far from it, with random headings."""
    planar = vehicle.group.turns == 1
    a, b = _ends(vehicle, task)
    reach = float(np.linalg.norm(b - a))
    trim = input_map_of(vehicle).trim(vehicle.group.identity())
    while True:
        count = rng.integers(0, 3)
        shares = np.sort(rng.uniform(0.0, 1.0, count))[:, None]
        wide = 0.25 if planar else rng.choice([0.05, 0.1, 0.25])
        aside = rng.normal(0.0, wide * reach, (count, 3)) * [1.0, 1.0, 0.0 if planar else 0.6]
        places = paced(
            np.vstack([a, a + shares * (b - a) + aside, b]), task.steps, from_rest=True, to_rest=True
        )
        heading = ("even", "ahead", "astern", "around")[rng.integers(4)] if planar else "even"
        yield free_motion(vehicle, task, places, heading), np.tile(trim, (task.steps + 1, 1))


def drives(vehicle: sim.Vehicle, task: Task, rng: np.random.Generator) -> Iterator[_Motion]:
    """Through up to two random poses in random gears; or out of the start, to and fro about the goal, in turn."""
    pose = vehicle.node_layout.pose
    start, goal = task.start.node[pose], task.goal.state.node[pose]
    while True:
        poses = [rng.uniform((-0.7, -7.0, -2.5), (0.7, 9.0, 2.5)) for _ in range(rng.integers(0, 3))]
        legs = [(pose, float(rng.choice([-1.0, 1.0]))) for pose in (*poses, goal)]
        yield with_shape(vehicle, task, *through(task, legs, task.steps))
        gear, legs, whole = rng.choice([-1.0, 1.0]), [], rng.choice([-2.0, 0.0, 0.0, 0.0, 2.0]) * np.pi
        if whole:
            half = np.array([whole / 2, *rng.uniform((-4.0, 3.0), (4.0, 10.0))])
            legs.append((start + half, gear))
        elif rng.random() < 0.6:
            legs.append((_shifted(start, gear * rng.uniform(0.3, 9.0), rng), gear))
            gear = -gear
        last = goal + np.array([whole, 0.0, 0.0])
        for _ in range(rng.integers(0, 2 if whole else 5)):
            legs.append((_shifted(last, gear * rng.uniform(0.2, 3.5), rng), gear))
            gear = -gear
        yield with_shape(vehicle, task, *through(task, [*legs, (last, gear)], task.steps))


def _shifted(pose: np.ndarray, by_m: float, rng: np.random.Generator) -> np.ndarray:
    """A pose (heading, x, y) ahead of another, a little beside it and turned or not."""
    along = by_m * np.array([0.0, np.cos(pose[0]), np.sin(pose[0])])
    return pose + along + rng.integers(0, 2) * rng.normal(0.0, (0.25, 0.3, 0.3))


KINDS: dict[str, tuple[Callable, Callable]] = {
    "harbours": (harbour, flights),
    "canyons": (canyon, flights),
    "parkings": (parking, drives),
}


def _costs_of(
    vehicle: sim.Vehicle, task: Task, motions: Iterator[_Motion], count: int, answers: Connection
) -> None:
    """Send what the motions cost that so many guesses lead to, inf where to none, until a solver does not come back."""
    problem, best = partial(PLANNER.solvers, vehicle, METHOD), np.inf
    solvers = problem(task)
    for _ in range(count):
        search = Search(vehicle, METHOD, task, ("fatrop",), problem, Run(deadline_in(_ATTEMPT_S), None))
        start = variables(solvers.t, vehicle, task, *next(motions))
        found = search.kept_clear(with_times(vehicle, task, solvers.t.places(start)), start, "cold")
        cost = found.result.cost if found.solved else np.inf
        if cost < _NEAR * best:
            move = motion(solvers.t, found.result.w, found.p)
            retimed = search.retimed(found.task, move, cost)
            cost = retimed.result.cost if retimed else cost
        best = min(best, cost)
        answers.send(cost)
        if solvers.left_behind:
            return


def least_of(vehicle: sim.Vehicle, task: Task, motions: Iterator[_Motion], count: int) -> float:
    """Cost of the best motion that so many guesses lead to."""
    context, costs = multiprocessing.get_context("fork"), []
    while len(costs) < count:
        here, there = context.Pipe(duplex=False)
        left = count - len(costs)
        process = context.Process(target=_costs_of, args=(vehicle, task, motions, left, there))
        process.start()
        there.close()
        try:
            while True:
                costs.append(here.recv())
                next(motions)
        except EOFError:
            process.kill()
            process.join()
    return min(costs)


def places(kind: str) -> Iterator[tuple[int, sim.Vehicle, Task]]:
    """Those that can be planned at all, with their numbers, which do not depend on each other."""
    number = 0
    while True:
        vehicle, task = KINDS[kind][0](np.random.default_rng((5, number)))
        try:
            check_task(vehicle, METHOD, task)
        except sim.InputError:
            pass
        else:
            yield number, vehicle, task
        number += 1


def compared(kind: str, first: int, count: int, starts: int, folder: Path | None) -> None:
    """One line of the table, and one for every place that is dearer."""
    first_only, ratios, seconds = [], [], []
    path = folder / f"{kind}.json" if folder else None
    known = json.loads(path.read_text()) if path and path.exists() else {}
    for place, (number, vehicle, task) in enumerate(places(kind)):
        if place < first:
            continue
        if len(ratios) == count:
            break
        PLANNER.solvers(vehicle, METHOD, task)
        begun, costs = time.process_time(), []
        plan = PLANNER.plan(
            vehicle,
            task,
            explain=False,
            processes=1,
            found=lambda best, costs=costs: costs.append(best.cost) or True,
        )
        seconds.append(time.process_time() - begun)
        own = plan.cost if plan.solved else np.inf
        before = known.get(str(number), {"starts": 0, "cost": np.inf})
        best = min(own, before["cost"])
        if before["starts"] < starts:
            guessed = KINDS[kind][1](vehicle, task, np.random.default_rng((7, number, before["starts"])))
            best = min(best, least_of(vehicle, task, guessed, starts - before["starts"]))
        known[str(number)] = {"starts": max(starts, before["starts"]), "cost": best}
        if path:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(known))
        if not np.isfinite(best):
            continue  # Nobody knows a way: it may not be possible.
        ratios.append(own / best)
        first_only.append(costs[0] / best if costs else np.inf)
        if ratios[-1] > _ENOUGH:
            print(f"<!-- {kind} {number}: {own:.4f}, best known {best:.4f} -->", flush=True)
    alone, all_of_them = np.array(first_only), np.array(ratios)
    print(
        f"| {kind} | {np.sum(alone < _ENOUGH)}/{len(alone)} | {np.sum(all_of_them < _ENOUGH)}/{len(alone)} | "
        f"{np.sum(np.isinf(all_of_them))} | {100 * (np.quantile(all_of_them, 0.95) - 1):.1f} % | "
        f"{100 * (all_of_them[np.isfinite(all_of_them)].max() - 1):.0f} % | {np.median(seconds):.2f} |",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", help="harbours, canyons, parkings; all where none is named")
    parser.add_argument("--count", type=int, default=100, help="random places of each kind")
    parser.add_argument(
        "--starts", type=int, default=40, help="random first guesses of the brute-force search"
    )
    parser.add_argument("--first", type=int, default=0, help="places that are left out at the beginning")
    parser.add_argument("--known", type=Path, help="folder of the best costs that are known, to go on from")
    given = parser.parse_args()
    print(
        "| places | within 2 % from one guess | within 2 % | not found | 95 % dearer by | worst | median cpu s |\n"
        "|---|---|---|---|---|---|---|"
    )
    for kind in given.kinds or KINDS:
        compared(kind, given.first, given.count, given.starts, given.known)


if __name__ == "__main__":
    main()
