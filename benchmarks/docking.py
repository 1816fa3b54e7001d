"""Whether a plan made on calm water leads to the berth in waves, wind and current: a table of seeded runs.

    python -m benchmarks.docking [--runs 20] [--first 0]

The planar boat is planned for on calm water, among the buoys of the scene plan-boat-docking, as far clear of them as
the scene harbour has her keep, to its berth by its waypoint astern of that. The motor boat, which floats on waves,
sails that course by `sim.control.helm`. Each run draws its own sea (significant height 0.64 m: sea state 3), its
own gusts about 6 m/s, and where waves, wind and a current of 0.3 m/s go to. The berth is reached at the first moment
at which she is within 0.5 m and 5 degrees of it at less than 0.6 m/s over ground, if that comes within 90 s: she is
made fast then. A run that comes to touch a buoy has not reached it.
"""

import argparse
import math
from dataclasses import dataclass, replace

import numpy as np

import sim
from sim.commands import PilotInput
from sim.contact.obstacles.impacts import MOST_ROWS, contacts_at
from sim.control.helm import CoursePilot, heading
from sim.control.pilot import Sensed
from sim.environment.environment import kind_of
from sim.integrators import integrator
from sim.planner import Cylinder, plan, task_of_scene
from sim.scene import load_scene
from sim.steppers.dynamics import stepper_of
from sim.vehicle_config import config_named
from sim.water.water import Water, weather_of
from sim.water.wrench import CLOCK

STEP_S, LIMIT_S = 0.02, 90.0
NEAR_M, NEAR_RAD, SLOW_MPS = 0.5, math.radians(5.0), 0.6
WIND_MPS, CURRENT_MPS, WAVES_MPS, FETCH_M, GUSTS = 6.0, 0.3, 7.0, 20e3, 0.3
NO_BUOYS = np.zeros((0, 3))


@dataclass(frozen=True)
class Outcome:
    """Of one run; where the berth was not reached, the moment at which she came closest."""

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


def course() -> tuple[np.ndarray, float, np.ndarray]:
    """Nodes of the plan on calm water, the time between them [s], and the buoys (n, 3): x, y and radius [m]."""
    (_, task), (_, sailed) = (task_of_scene(load_scene(name)) for name in ("plan-boat-docking", "harbour"))
    task = replace(task, goal=sailed.goal, waypoints=sailed.waypoints, clearance_m=sailed.clearance_m)
    found = plan(sim.vehicle("boat"), task, method="variational")
    if not found.solved:
        raise SystemExit(f"no plan: {found.message}")
    buoys = [(*each.centre_w[:2], each.radius_m) for each in task.obstacles if isinstance(each, Cylinder)]
    return np.array(found.motion.nodes), found.step_s, np.array(buoys)


def weather(
    seed: int, waves_mps: float = WAVES_MPS, *, wind_mps: float = WIND_MPS, fetch_m: float = FETCH_M
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
    values, about = boat.values, weather_of(boat)
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


def sail(
    nodes: np.ndarray,
    node_s: float,
    seed: int,
    method: str = "variational",
    *,
    buoys: np.ndarray = NO_BUOYS,
) -> Outcome:
    """One run, among discs (n, 3) that she may not touch."""
    boat = weather(seed)
    water, kernel = water_of(boat, seed), stepper_of(boat, integrator(method), kind_of(boat).inline)
    parameters, nothing = boat.parameter_vector, np.zeros(boat.wrench_size)
    c, s = math.cos(nodes[0, 0]), math.sin(nodes[0, 0])
    R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
    node = boat.state(R=R, x=(*nodes[0, 1:3], 0.0)).node
    controls = boat.neutral_controls
    y = kernel.start(node, controls, parameters, STEP_S, water.probe().env)
    solids = np.column_stack([buoys[:, :2], np.zeros((len(buoys), 3)), buoys[:, 2]])
    pilot, berth = CoursePilot(nodes[:, 1:3], nodes[:, 0], node_s, solids), nodes[-1]
    wind, current = np.asarray(boat.values["wind"]), np.asarray(boat.values["current"])
    bearings = [math.degrees(math.atan2(v[1], v[0])) for v in (wind, current)]
    best, clear_m = (math.inf, 0.0, 0.0, 0.0, 0.0), math.inf
    for k in range(1, round(LIMIT_S / STEP_S) + 1):
        controls = pilot.controls(PilotInput(), sensed(node), boat, STEP_S)
        _, status, _ = kernel.advance(y, controls, nothing, parameters, STEP_S, 1, water.env)
        if status:
            raise SystemExit(f"seed {seed}: the integrator stopped at {k * STEP_S:.2f} s")
        node = kernel.node(y, controls, parameters, STEP_S, env=water.probe().env)
        there = sensed(node)
        clear_m = min(clear_m, clear_of(buoys, there))
        off_m = float(np.linalg.norm(there.x_w[:2] - berth[1:3]))
        off_rad = abs(math.remainder(heading(there) - berth[0], 2.0 * math.pi))
        speed = float(np.linalg.norm(there.v_w[:2]))
        worst = max(off_m / NEAR_M, off_rad / NEAR_RAD, speed / SLOW_MPS)
        best = min(best, (worst, k * STEP_S, off_m, off_rad, speed))
        if worst <= 1.0:
            break
    worst, time_s, off_m, off_rad, speed = best
    reached = worst <= 1.0 and clear_m > 0.0
    return Outcome(seed, *bearings, reached, time_s, off_m, math.degrees(off_rad), speed, clear_m)


def sensed(node: np.ndarray) -> Sensed:
    """What a pilot knows of a node."""
    return Sensed(node[:9].reshape(3, 3).T, node[9:12], node[12:15], node[15:18])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first", type=int, default=0, help="seed of the first run")
    asked = parser.parse_args()
    count, first = asked.runs, asked.first
    nodes, node_s, buoys = course()
    print("| seed | wind to | current to | berth | after | off by | askew by | at | clear of buoys by |")
    print("|---|---|---|---|---|---|---|---|---|")
    reached = 0
    for seed in range(first, first + count):
        run = sail(nodes, node_s, seed, buoys=buoys)
        reached += run.reached
        print(
            f"| {run.seed} | {run.wind_deg:.0f}° | {run.current_deg:.0f}° | {'reached' if run.reached else 'missed'} "
            f"| {run.time_s:.1f} s | {run.off_m:.2f} m | {run.off_deg:.1f}° | {run.speed_mps:.2f} m/s "
            f"| {run.clear_m:.2f} m |",
            flush=True,
        )
    print(f"\n{reached} of {count} reached.")


if __name__ == "__main__":
    main()
