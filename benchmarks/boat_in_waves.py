"""A motor boat in waves that is led by plans for flat water, made anew ten times a second: tables of seeded runs.

    python -m benchmarks.boat_in_waves [docking | slalom | station ...] [--heights 0.3 0.6 1.0] [--runs 20] [--first 0]

Plans know the hull on flat water, and the current and the steady force as `CalmWaterObserver` finds them out; not the
waves, the gusts, heave, roll and pitch. Each run draws its own sea of a significant height, its own gusts, and where
waves, wind and a current of 0.3 m/s go to.

docking: to the berth of the scene harbour, among the buoys of plan-boat-docking. It is reached at the first moment at
which she is within 0.5 m and 5 degrees of it at less than 0.6 m/s over ground, if that comes within 90 s: she is made
fast then. slalom: the course of plan-boat-slalom, in a swell that has come 300 km; reached as the berth is. A run that
comes to touch a buoy has not reached it. station: a place is held for 60 s in a gale, wind of 18 m/s against
thrusters of 1800 N; what is told is how far off she is after the first 20 s, in the mean square and at most, and the
moment of that. It is reached where that is never above 2 m.
"""

import argparse
import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from scipy.optimize import brentq

import sim
from sim.contact.obstacles.impacts import MOST_ROWS, contacts_at
from sim.control.calm_water import calm_water, sensed_afloat
from sim.control.helm import NEAR_M, NEAR_RAD, SLOW_MPS, heading, over_ground
from sim.control.pilot import Sensed
from sim.planner import Cylinder, Goal, Planner, Reference, Task, Weights, task_of_scene
from sim.planner.service.receding import receding_horizon
from sim.scene import load_scene
from sim.vehicle_config import config_named
from sim.vehicles import State
from sim.water.ocean.waves import significant_height_m
from sim.water.water import Afloat, Water
from sim.water.water import weather_of as weather_around
from sim.water.wrench import CLOCK

STEP_S, LIMIT_S = 0.02, 90.0
WIND_MPS, CURRENT_MPS, FETCH_M, GUSTS = 6.0, 0.3, 20e3, 0.3
PERIOD_S, LAG_S = 0.1, 0.04
SWELL_M, GALE_MPS = 300e3, 18.0
CLEARANCE_M = 0.6
STATION_S, SETTLED_S, HELD_M, BOW = 60.0, 20.0, 2.0, 3.0


@dataclass(frozen=True)
class Sailed:
    """Of one run; where the berth was not reached, the moment at which she came closest; of a place that is held, the
    moment after `SETTLED_S` at which she is farthest off."""

    seed: int
    wind_deg: float
    current_deg: float
    reached: bool
    time_s: float
    off_m: float
    off_deg: float
    speed_mps: float
    clear_m: float
    """Least distance of her footprint from a buoy on the way."""
    passed_m: float
    """Of waypoints, the most that one is missed by."""
    found: float
    """Share of the plans that were found."""
    solve_ms: float
    """Median wall time of a plan."""
    root_mean_square_m: float = 0.0
    """Distance from the goal after `SETTLED_S`."""
    most_m: float = 0.0


@cache
def raising_mps(height_m: float, fetch_m: float) -> float:
    """The wind that raises waves of a significant height over a fetch."""
    sea = np.array([1.0, 0.0, fetch_m, 1.0])

    def short(wind_mps: float) -> float:
        return significant_height_m(np.r_[wind_mps, sea[1:]]) - height_m

    return float(brentq(short, 0.5, 30.0, xtol=1e-3))


def weather(
    seed: int, waves_mps: float, *, wind_mps: float = WIND_MPS, fetch_m: float = FETCH_M
) -> sim.Vehicle:
    """The motor boat with its weather in its parameters. waves_mps: the wind that has raised the waves."""
    rng = np.random.default_rng(seed)
    wind, current = rng.uniform(0.0, 2.0 * math.pi, 2)
    return sim.vehicle(
        "motorboat",
        waves=waves_mps,
        waves_direction=math.remainder(wind + rng.normal(0.0, 0.3), 2.0 * math.pi),
        fetch=fetch_m,
        wind=(wind_mps * math.cos(wind), wind_mps * math.sin(wind)),
        gusts=GUSTS,
        current=(CURRENT_MPS * math.cos(current), CURRENT_MPS * math.sin(current)),
    )


def water_of(boat: sim.Vehicle, seed: int) -> Water:
    """A sea and gusts of their own."""
    values, about = boat.values, weather_around(boat.values)
    hull = config_named(boat.name).hull
    assert hull is not None
    assert hull.surface is not None
    water = Water.of(
        hull.surface,
        replace(about, sea=replace(about.sea, seed=seed + 1)),
        drag=float(values["drag"]),  # type: ignore[arg-type]
        mass=float(values["mass"]),  # type: ignore[arg-type]
        impact=float(values["impact"]),  # type: ignore[arg-type]
        air=float(values["air_drag"]),  # type: ignore[arg-type]
        added=np.array([*values["added_inertia"], *values["added_mass"]]),  # type: ignore[misc]
    )
    water.report[CLOCK] = 100.0 * seed
    return water


def clear_of(buoys: np.ndarray, there: Sensed) -> float:
    """Distance [m] of her footprint, seen from above, from the nearest of discs (n, 3)."""
    footprint = config_named("motorboat").footprint
    assert footprint is not None
    x, y, rows = float(there.x_w[0]), float(there.x_w[1]), np.empty((MOST_ROWS, 5))
    discs = np.insert(buoys, 3, [[0.0], [np.nan]], axis=1)
    away = [contacts_at(x, y, heading(there), footprint.array, disc, rows)[0] for disc in discs]
    return min(away, default=math.inf)


def planned(scene: str) -> Task:
    """The task of a scene for the boat on the plane, as it is planned while waves push."""
    _, task = task_of_scene(load_scene(scene))
    if scene == "plan-boat-docking":
        task = replace(task, goal=task_of_scene(load_scene("harbour"))[1].goal)
    calm = calm_water(sim.vehicle("motorboat"))
    near = Goal(
        calm.state_at_node(task.goal.state.node),
        position="near",
        rotation="near",
        velocity="near",
        tolerance_m=0.2,
        tolerance_rad=math.radians(2.0),
        tolerance_mps=0.2,
    )
    return replace(
        task,
        start=calm.state_at_node(task.start.node),
        goal=near,
        free_duration=(0.5, 60.0),
        steps=64 if task.waypoints else 32,
        weights=Weights(effort=0.1, time=0.35, comfort=0.0, terminal=1.0),
        effort_scale={"u_left": 900.0, "u_right": 900.0},
        clearance_m=CLEARANCE_M,
    )


def holding() -> Task:
    """A place that is held by what lies ahead within eight seconds."""
    calm = calm_water(sim.vehicle("motorboat"))
    here = calm.state_of((0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    always = np.array([0.0, 1.0])
    place = Reference(always, {"x_m": 0.0 * always, "y_m": 0.0 * always}, {"x_m": 1.0, "y_m": 1.0})
    return Task(
        here,
        Goal(here, position="near", rotation="free", velocity="near", tolerance_m=0.3, tolerance_mps=0.3),
        8.0,
        steps=32,
        weights=Weights(effort=0.1, terminal=1.0),
        effort_scale={"u_left": 900.0, "u_right": 900.0},
        reference=place,
    )


def bow_to_wind(task: Task, boat: sim.Vehicle) -> Task:
    """The same, with the bow where the wind comes from: across it nothing that the boat has would hold it there."""
    assert task.reference is not None
    wind, always = np.asarray(boat.values["wind"]), task.reference.time_s
    values = {**task.reference.values, "heading_rad": np.full(len(always), math.atan2(-wind[1], -wind[0]))}
    return replace(task, reference=Reference(always, values, {**task.reference.weights, "heading_rad": BOW}))


def sail(task: Task, seed: int, boat: sim.Vehicle, planner: Planner, limit_s: float = LIMIT_S) -> Sailed:
    """One run. Where the heading is free a place is held for all of the time; else it ends at the goal."""
    calm = calm_water(boat, None)
    still = calm.with_parameters(current=(0.0, 0.0))
    berth, ends = task.goal.state.node, task.goal.rotation != "free"
    buoys = np.array([(*o.centre_w[:2], o.radius_m) for o in task.obstacles if isinstance(o, Cylinder)])
    buoys = buoys.reshape(-1, 3)
    told, clear_m, places = (math.inf if ends else 0.0, 0.0, 0.0, 0.0, 0.0), math.inf, []

    def there(time_s: float, state: State) -> bool:
        nonlocal told, clear_m
        sensed = sensed_afloat(state)
        ground = over_ground(sensed)
        places.append(ground[:2])
        clear_m = min(clear_m, clear_of(buoys, sensed))
        off_m = float(np.linalg.norm(ground[:2] - berth[1:3]))
        off_rad = abs(math.remainder(ground[2] - berth[0], 2.0 * math.pi))
        speed = float(np.linalg.norm(ground[3:5]))
        if not ends:
            if time_s > SETTLED_S:
                told = max(told, (off_m / HELD_M, time_s, off_m, off_rad, speed))
            return False
        worst = max(off_m / NEAR_M, off_rad / NEAR_RAD, speed / SLOW_MPS)
        told = min(told, (worst, time_s, off_m, off_rad, speed))
        return worst <= 1.0

    run = receding_horizon(
        still,
        task,
        limit_s,
        step_s=STEP_S,
        period_s=PERIOD_S,
        lag_s=LAG_S,
        flown=boat,
        around=Afloat(boat, water_of(boat, seed)),
        until=there,
        planner=planner,
    )
    worst, time_s, off_m, off_rad, speed = told
    way = np.array(places)
    off = np.linalg.norm(way - berth[1:3], axis=1)[round(SETTLED_S / STEP_S) :]
    passed = [np.linalg.norm(way - w.position_w[:2], axis=1).min() - w.tolerance_m for w in task.waypoints]
    wind, current = (np.asarray(boat.values[name]) for name in ("wind", "current"))
    bearings = [math.degrees(math.atan2(v[1], v[0])) for v in (wind, current)]
    return Sailed(
        seed,
        *bearings,
        worst <= 1.0 and clear_m > 0.0,
        time_s,
        off_m,
        math.degrees(off_rad),
        speed,
        clear_m,
        max(passed, default=0.0),
        run.found,
        1e3 * float(np.median([plan.seconds for plan in run.plans[1:]])),
        float(np.sqrt(np.mean(off**2))) if len(off) else 0.0,
        float(off.max(initial=0.0)),
    )


def task_of(kind: str) -> Task:
    """Into the berth, between the buoys, or at a place."""
    return holding() if kind == "station" else planned(f"plan-boat-{kind}")


def weather_of(kind: str, seed: int, height_m: float) -> sim.Vehicle:
    """In a breeze and the waves that come with it, in a swell that a distant wind has raised, or in a gale."""
    fetch_m = SWELL_M if kind == "slalom" else FETCH_M
    wind_mps = GALE_MPS if kind == "station" else WIND_MPS
    return weather(seed, raising_mps(height_m, fetch_m), wind_mps=wind_mps, fetch_m=fetch_m)


KINDS = ("docking", "slalom", "station")


def _print(run: Sailed) -> None:
    print(
        f"| {run.seed} | {run.wind_deg:.0f}° | {run.current_deg:.0f}° | {'reached' if run.reached else 'missed'} "
        f"| {run.time_s:.1f} s | {run.off_m:.2f} m | {run.off_deg:.1f}° | {run.speed_mps:.2f} m/s "
        f"| {run.clear_m:.2f} m | {run.passed_m:.2f} m | {run.root_mean_square_m:.2f}, {run.most_m:.2f} m "
        f"| {100 * run.found:.0f} % | {run.solve_ms:.0f} ms |",
        flush=True,
    )


def _held(kind: str, runs: list[Sailed]) -> str:
    """How a place was held, where one was to be."""
    if kind != "station":
        return ""
    square_m, most_m = np.median([run.root_mean_square_m for run in runs]), max(run.most_m for run in runs)
    return f"; {square_m:.2f} m off in the mean square, {most_m:.2f} m at most"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kinds", nargs="*", help=f"of {', '.join(KINDS)}; by default all")
    parser.add_argument("--heights", type=float, nargs="+", default=[0.3, 0.6, 1.0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="seed of the first run")
    asked = parser.parse_args()
    for kind in asked.kinds or KINDS:
        for height_m in asked.heights:
            print(f"\n{kind}, {height_m:g} m\n")
            print(
                "| seed | wind to | current to | end | after | off by | askew by | at | clear of buoys by "
                "| waypoints missed by | rms, most off | plans found | a plan takes |"
            )
            print("|" + "---|" * 13)
            task, runs = task_of(kind), list[Sailed]()
            planner, limit_s = Planner(sized_by=task), STATION_S if kind == "station" else LIMIT_S
            for seed in range(asked.first, asked.first + asked.runs):
                boat = weather_of(kind, seed, height_m)
                asked_for = bow_to_wind(task, boat) if kind == "station" else task
                runs.append(sail(asked_for, seed, boat, planner, limit_s))
                _print(runs[-1])
            reached = [run for run in runs if run.reached]
            print(
                f"\n{kind}, {height_m:g} m: {len(reached)} of {len(runs)} reached, after "
                f"{np.median([run.time_s for run in runs]):.1f} s in the median; touched "
                f"{sum(run.clear_m <= 0.0 for run in runs)}; waypoints missed by "
                f"{max(run.passed_m for run in runs):.2f} m at most{_held(kind, runs)}",
                flush=True,
            )


if __name__ == "__main__":
    main()
