"""How often a plan is the best there is: against a brute-force search of many starts.

    python -m benchmarks.plan_classes [harbours] [canyons] [parkings] [--count 100] [--starts 40]

Random places are drawn, planned with as anybody would, and planned again from random first guesses by the same
solvers. The best known is the least that either has found.
"""

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache, partial

import numpy as np

import sim
from sim.integrators import integrator
from sim.planner import Cylinder, Goal, Planner, Sphere, Task, task_of_scene
from sim.planner.guess.driven import through, with_shape
from sim.planner.guess.free import free_motion
from sim.planner.guess.pace import paced
from sim.planner.guess.variables import variables
from sim.planner.service.search import Search
from sim.planner.solvers.attempt import Run, deadline_in
from sim.planner.task.check import check_task
from sim.planner.task.waypoints import with_times
from sim.planner.transcription.inputs import input_map_of
from sim.scene import load_scene

METHOD = integrator("variational")
PLANNER = Planner()
_ENOUGH = 1.02
_ATTEMPT_S = 3.0
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
    """The helicopter's way through the canyon, by its waypoint or not, with two to five rocks in the air along it."""
    helicopter, task = _scene("plan-canyon")
    a, b = (state.node[9:12] for state in (task.start, task.goal.state))
    across = np.cross([0.0, 0.0, 1.0], (b - a) / np.linalg.norm(b - a))
    balls = []
    for i in range(rng.integers(2, 6)):
        middle = a + rng.uniform(0.2, 0.8) * (b - a) + rng.normal(0.0, 12.0) * across
        middle[2] += rng.normal(0.0, 6.0)
        balls.append(Sphere(tuple(middle), rng.uniform(4.0, 14.0), f"rock {i}"))
    return helicopter, replace(
        task, obstacles=tuple(balls), waypoints=task.waypoints if rng.random() < 0.5 else ()
    )


def parking(rng: np.random.Generator) -> tuple[sim.Vehicle, Task]:
    """The car beside a gap of 6.8 to 8.2 m, up to 0.5 rad askew."""
    car, task = _scene("plan-car-parking")
    x, y, theta = rng.uniform((-4.0, -0.3, -0.5), (4.0, 1.5, 0.5))
    front = replace(task.obstacles[1], centre_w=(3.4 + rng.uniform(-0.4, 1.0), -2.6, 0.0))
    obstacles = (task.obstacles[0], front, *task.obstacles[2:])
    return car, replace(task, start=car.state(x=x, y=y, theta=theta), obstacles=obstacles)


def flights(vehicle: sim.Vehicle, task: Task, rng: np.random.Generator) -> Iterator[_Motion]:
    """By up to two random places, with random headings."""
    planar = vehicle.group.name == "SE2"
    index = slice(1, 3) if planar else slice(9, 12)
    a, b = np.zeros(3), np.zeros(3)
    for x, state in ((a, task.start), (b, task.goal.state)):
        x[: index.stop - index.start] = state.node[index]
    reach = float(np.linalg.norm(b - a))
    trim = input_map_of(vehicle).trim(vehicle.group.identity())
    while True:
        count = rng.integers(0, 3)
        shares = np.sort(rng.uniform(0.0, 1.0, count))[:, None]
        aside = rng.normal(0.0, 0.25 * reach, (count, 3)) * [1.0, 1.0, 0.0 if planar else 0.4]
        places = paced(
            np.vstack([a, a + shares * (b - a) + aside, b]), task.steps, from_rest=True, to_rest=True
        )
        heading = ("even", "ahead", "astern", "around")[rng.integers(4)] if planar else "even"
        yield free_motion(vehicle, task, places, heading), np.tile(trim, (task.steps + 1, 1))


def drives(vehicle: sim.Vehicle, task: Task, rng: np.random.Generator) -> Iterator[_Motion]:
    """Through up to two random poses, in random gears."""
    goal = task.goal.state.node[:3]
    while True:
        poses = [rng.uniform((-0.7, -7.0, -2.5), (0.7, 9.0, 2.5)) for _ in range(rng.integers(0, 3))]
        legs = [(pose, float(rng.choice([-1.0, 1.0]))) for pose in (*poses, goal)]
        yield with_shape(vehicle, task, *through(task, legs, task.steps))


KINDS: dict[str, tuple[Callable, Callable]] = {
    "harbours": (harbour, flights),
    "canyons": (canyon, flights),
    "parkings": (parking, drives),
}


def least_of(vehicle: sim.Vehicle, task: Task, motions: Iterator[_Motion], count: int) -> float:
    """Cost of the best motion that so many guesses lead to."""
    problem, best = partial(PLANNER.solvers, vehicle, METHOD), np.inf
    t = problem(task).t
    for _ in range(count):
        search = Search(vehicle, METHOD, task, ("fatrop",), problem, Run(deadline_in(_ATTEMPT_S), None))
        start = variables(t, vehicle, task, *next(motions))
        found = search.kept_clear(with_times(vehicle, task, t.places(start)), start, "cold")
        best = min(best, found.result.cost) if found.solved else best
    return best


def compared(kind: str, count: int, starts: int) -> None:
    """One line of the table, and one a case that is dearer."""
    drawn, guessed = KINDS[kind]
    rng, first_only, ratios, seconds = np.random.default_rng(5), [], [], []
    while len(ratios) < count:
        vehicle, task = drawn(rng)
        try:
            check_task(vehicle, METHOD, task)
        except sim.InputError:
            continue
        begun, costs = time.perf_counter(), []
        plan = PLANNER.plan(
            vehicle, task, explain=False, found=lambda best, costs=costs: costs.append(best.cost) or True
        )
        seconds.append(time.perf_counter() - begun)
        own = plan.cost if plan.solved else np.inf
        best = min(own, least_of(vehicle, task, guessed(vehicle, task, rng), starts))
        if not np.isfinite(best):
            continue  # Nobody knows a way: it may not be possible.
        ratios.append(own / best)
        first_only.append(costs[0] / best if costs else np.inf)
    alone, all_of_them = np.array(first_only), np.array(ratios)
    print(
        f"| {kind} | {np.sum(alone < _ENOUGH)}/{count} | {np.sum(all_of_them < _ENOUGH)}/{count} | "
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
    given = parser.parse_args()
    print(
        "| places | within 2 % from one guess | within 2 % | not found | 95 % dearer by | worst | median s |\n"
        "|---|---|---|---|---|---|---|"
    )
    for kind in given.kinds or KINDS:
        compared(kind, given.count, given.starts)


if __name__ == "__main__":
    main()
