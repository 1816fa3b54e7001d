"""Tasks that several planner tests share."""

import dataclasses

import numpy as np

import sim
from sim.planner import Cylinder, Goal, Limits, Planner, Task, Weights
from sim.planner.task.terrain import safe_ground
from sim.world.terrain import Terrain

PLANNER = Planner()
"""Built problems are kept from test to test; plans do not depend on what was planned before."""

EFFORT_ONLY = Weights(effort=1.0, comfort=0.0)


def yaw(angle: float) -> np.ndarray:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])


def unit_effort(vehicle: sim.Vehicle) -> dict[str, float]:
    """Cost = the integral of the plain squares of the controls."""
    return {c.name: 1.0 for c in vehicle.controls}


def rest_to_rest(steps: int, distance: float = 3.0, duration: float = 4.0) -> tuple[sim.Vehicle, Task]:
    body = sim.vehicle("rigid-body")
    task = Task(
        start=body.state(),
        goal=Goal(body.state(x=(distance, 0, 0))),
        duration_s=duration,
        steps=steps,
        weights=EFFORT_ONLY,
        effort_scale=unit_effort(body),
    )
    return body, task


def forest(steps: int = 48) -> tuple[sim.Vehicle, Task]:
    """A model helicopter among pillars."""
    heli = sim.vehicle("helicopter", mass=8.0, inertia=(0.3, 0.6, 0.6), drag=0.05)
    pillars = [(5.0, 0.8, 1.5), (9.0, -1.8, 1.6), (9.5, 3.4, 1.4), (14.0, 0.5, 1.5)]
    task = Task(
        start=heli.state(x=(0, 0, 3)),
        goal=Goal(heli.state(x=(18, 2, 4), R=yaw(1.0))),
        duration_s=6.0,
        steps=steps,
        obstacles=tuple(Cylinder((x, y, 0.0), r) for x, y, r in pillars),
        clearance_m=0.2,
        weights=Weights(comfort=0.05),
        limits=Limits(speed_mps=12.0, controls={"u_c": (0.0, 160.0)}),
    )
    return heli, task


def replayed(plan: sim.planner.Plan) -> sim.Trajectory:
    """The plan's inputs through the simulation, same method and step."""
    return sim.simulate(
        plan.vehicle,
        plan.integrator,
        step=plan.step_s,
        duration=plan.duration_s,
        initial=plan.task.start,
        controls=plan.controls[:-1],
    )


def hills() -> Terrain:
    """A ridge across the way."""
    x = np.arange(0.0, 61.0)
    y = np.arange(-20.0, 21.0)
    heights = 6.0 * np.exp(-(((x[None, :] - 30.0) / 4.0) ** 2)) + 0.05 * np.sin(y[:, None])
    return Terrain(np.ascontiguousarray(heights, np.float32), (0.0, -20.0), 1.0)


def with_ground(margin_m: float = 1.0) -> tuple[sim.Vehicle, Task]:
    heli, task = forest()
    ground = safe_ground(
        hills(),
        margin_m=margin_m,
        low_m=(8.0, -10.0),
        high_m=(52.0, 10.0),
        spacing_m=1.5,
        held_b=(-0.7, 0.3, 0.25),
    )
    start, goal = heli.state(x=(10, 0, 3)), Goal(heli.state(x=(50, 0, 3)))
    return heli, dataclasses.replace(
        task, start=start, goal=goal, obstacles=(), ground=ground, duration_s=10.0, clearance_m=margin_m
    )


BOAT = sim.vehicle("boat")
CROSSING = Task(start=BOAT.state(), goal=Goal(BOAT.state(x=10.0)), duration_s=10.0)
