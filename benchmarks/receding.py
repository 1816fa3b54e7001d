"""Chases of a goal that moves, planned anew all the time: `python -m benchmarks.receding [KIND ...] [--chases 20]`.

For helicopter (in the canyon, three masts in the way), boat (six buoys), car (six posts) and quadrotor (six pillars),
as the window has them in the scenes `chase-...`: solves a second by the
median wall time of a solve, the slowest of a hundred, how old the plan is that is flown, the share of solves that
gave a plan, and the least distance from anything over all chases. Seeds make the goals' ways.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sim.planner import Cylinder, Planner, Task, task_of_scene
from sim.planner.api import mpc_settings_of_scene
from sim.planner.service.receding import AimAt, receding_horizon
from sim.planner.task.clearance import clearance
from sim.planner.task.mpc import mpc_task
from sim.scene import load_scene
from sim.vehicles import Vehicle
from sim.world import load_world

Chase = tuple[Vehicle, Task, AimAt]
STEPS = 64
LAG_S = 0.03
"""From the state that a plan is asked for to where it takes over."""


def _mpc(scene: str) -> tuple[Vehicle, Task]:
    """What the window plans in flight in a scene."""
    read = load_scene(scene)
    vehicle, task = task_of_scene(read)
    return vehicle, replace(mpc_task(vehicle, task, mpc_settings_of_scene(read, vehicle)), steps=STEPS)


def helicopter(seed: int) -> Chase:
    """Down the canyon behind a goal at 10 m/s that swings from side to side."""
    vehicle, task = _mpc("chase-helicopter")
    random = np.random.default_rng(seed)
    phase, rate = random.uniform(0.0, 2 * np.pi), random.uniform(0.1, 0.3)
    river = load_world("canyon").river
    assert river is not None

    def centre(x: float) -> float:
        return float(river.centre(np.array([x]))[0])

    def aim(time_s: float) -> np.ndarray:
        x = 150.0 + 10.0 * time_s
        return np.array(
            [x, centre(x) + 5.0 * np.sin(rate * time_s + phase), 14.0 + 3.0 * np.sin(0.37 * time_s)]
        )

    masts = tuple(
        Cylinder((x, centre(x) + random.uniform(-6.0, 6.0), 0.0), 1.0) for x in (230.0, 380.0, 530.0)
    )
    return vehicle, replace(task, obstacles=masts), aim


def quadrotor(seed: int) -> Chase:
    """Between pillars behind a goal at about 3 m/s, up and down."""
    vehicle, task = _mpc("chase-quadrotor")
    random = np.random.default_rng(seed)
    posts, level = _posts(random, 13.2, 0.5), _wandering(random, 12.0, 3.0)

    def aim(time_s: float) -> np.ndarray:
        return np.array([*level(time_s), 3.0 + np.sin(0.5 * time_s)])

    return vehicle, replace(task, obstacles=posts), aim


def _wandering(random: np.random.Generator, reach_m: float, speed_mps: float) -> AimAt:
    """A goal on a closed way of two sines, at about this speed."""
    phase = random.uniform(0.0, 2 * np.pi, 4)
    rate = speed_mps / reach_m

    def aim(time_s: float) -> np.ndarray:
        t = rate * time_s
        x = reach_m * (0.7 * np.sin(t + phase[0]) + 0.3 * np.sin(2.3 * t + phase[1]))
        y = reach_m * (0.7 * np.cos(t + phase[0]) + 0.3 * np.sin(1.7 * t + phase[2]))
        return np.array([x, y])

    return aim


def _posts(random: np.random.Generator, reach_m: float, radius_m: float) -> tuple[Cylinder, ...]:
    angles = np.arange(6) * np.pi / 3 + random.uniform(-0.3, 0.3, 6)
    away = reach_m * random.uniform(0.6, 0.9, 6)
    return tuple(
        Cylinder((float(r * np.cos(a)), float(r * np.sin(a)), 0.0), radius_m)
        for a, r in zip(angles, away, strict=True)
    )


def boat(seed: int) -> Chase:
    """Among buoys behind a goal at about 2 m/s."""
    return _on_a_plane("chase-boat", seed, reach_m=18.0, goal_mps=2.0, post_m=1.0)


def car(seed: int) -> Chase:
    """Between posts behind a goal at about 4 m/s."""
    return _on_a_plane("chase-car", seed, reach_m=26.0, goal_mps=4.0, post_m=0.6)


def _on_a_plane(scene: str, seed: int, *, reach_m: float, goal_mps: float, post_m: float) -> Chase:
    vehicle, task = _mpc(scene)
    random = np.random.default_rng(seed)
    task = replace(task, start=vehicle.state(), obstacles=_posts(random, 1.1 * reach_m, post_m))
    return vehicle, task, _wandering(random, reach_m, goal_mps)


KINDS: dict[str, Callable[[int], Chase]] = {
    "helicopter": helicopter,
    "boat": boat,
    "car": car,
    "quadrotor": quadrotor,
}


def main() -> None:
    """Print one line a kind."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; by default all")
    parser.add_argument("--chases", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    print("kind        solves/s  ms median/99 %  age ms  found    clear m  touched  behind m")
    for kind in options.kinds or KINDS:
        seconds, ages, found, clear, behind = [], [], [], [], []
        planner: Planner | None = None
        for seed in range(options.chases):
            vehicle, task, aim = KINDS[kind](seed)
            planner = planner or Planner(sized_by=task)
            flight = receding_horizon(vehicle, task, options.seconds, aim=aim, lag_s=LAG_S, planner=planner)
            seconds += [plan.seconds for plan in flight.plans[1:]]
            ages.append(np.median(flight.age_s) + LAG_S)
            found.append(flight.found)
            nodes = flight.trajectory.nodes
            clear.append(clearance(vehicle, nodes[::5, vehicle.node_layout.pose], task).least_m)
            place = nodes[-1, vehicle.group.position]
            behind.append(np.linalg.norm(place - np.asarray(aim(options.seconds))[: len(place)]))
        median, slow = np.percentile(seconds, [50, 99])
        print(
            f"{kind:10} {1 / median:9.0f}  {1e3 * median:6.1f}/{1e3 * slow:6.1f}  {1e3 * np.median(ages):6.0f}  "
            f"{100 * np.mean(found):5.1f} %  {min(clear):6.2f}  {sum(c < 0.0 for c in clear):7d}  "
            f"{np.median(behind):8.1f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
