"""`sim.plan`: one call from a vehicle and a task to a plan."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from sim.control.calm_water import calm_water
from sim.integrators import Integrator
from sim.planner.result.plan import Plan
from sim.planner.service.planner import Planner
from sim.planner.task.legs import on_foot
from sim.planner.task.mpc import MpcSettings, read_mpc_settings
from sim.planner.task.scene_task import read_task
from sim.planner.task.task import Task, usual_method
from sim.platform.errors import InputError
from sim.scene import Scene, load_scene
from sim.vehicles import Vehicle
from sim.vehicles import vehicle as make_vehicle
from sim.vehicles.forms.articulated import ArticulatedVehicle
from sim.vehicles.forms.form import Support
from sim.world import World, load_world

_POSE = 6
"""Dimensions of a tool's pose: fewer joints, each with a coordinate and a velocity, cannot reach any."""


def plan(
    vehicle: Vehicle | str | None,
    task: Task | str | Path,
    *,
    method: str | Integrator | None = None,
    planner: Planner | None = None,
    **options: Any,
) -> Plan:
    """The motion of `vehicle` that does `task` at the least cost.

    vehicle: an instance, a name, or None for that of the scene. task: a Task, or the name or path of a scene
    with a `[plan]` table. method: an integrator; where None the scene's, "variational", or "rkmk4-cay" for what moves
    about a space of its own. planner: one that was used before keeps its built problems. options: `solver`, `warm`,
    `time_limit_s`, `starts`, `processes`, `show`, `found`, `given_up` and `explain` as `Planner.plan` takes them.
    Raises InputError, before solving, for what is impossible as it stands.
    """
    if isinstance(vehicle, str):
        vehicle = make_vehicle(vehicle)
    if not isinstance(task, Task):
        scene = load_scene(task)
        vehicle, task = task_of_scene(scene, vehicle=vehicle)
        method = method or method_of_scene(scene, vehicle)
    if vehicle is None:
        raise InputError("plan: a task needs a vehicle; allowed: None only with a scene")
    return (planner or Planner()).plan(vehicle, task, method=method, **options)


def task_of_scene(
    scene: Scene, *, world: World | None = None, vehicle: Vehicle | None = None
) -> tuple[Vehicle, Task]:
    """Vehicle and task of a scene that has a `[plan]` table; InputError where it has none.

    The vehicle is the scene's; of one that floats on waves its `calm_water`.
    """
    if scene.plan is None:
        raise InputError(f'scene "{scene.name}" plans nothing; allowed: a scene with a [plan] table')
    table = scene.plan.again()
    other = table.table("parameters")
    parameters = {name: other.value(name) for name in other.names()}
    if vehicle is None:
        vehicle = scene.vehicle_named(scene.vehicle.name)  # its class anew where its file has changed
        vehicle = vehicle.with_parameters(**{n: x for n, x in parameters.items() if n in vehicle.values})
    if vehicle.support is Support.WATER:
        vehicle = calm_water(vehicle)
    if world is None and table.has("ground"):
        world = load_world(scene.world, seed=scene.seed)
    begins = vehicle.state_in_space(np.eye(4), np.zeros(6)) if scene.plan_optional else None
    task = read_task(table, vehicle, world, scene.name, begins)
    if _on_foot(scene, vehicle):
        assert isinstance(vehicle, ArticulatedVehicle)
        return vehicle, on_foot(task, vehicle)
    if scene.plan_optional and isinstance(vehicle, ArticulatedVehicle) and vehicle.space.dim < 2 * _POSE:
        task = replace(task, goal=replace(task.goal, rotation="free"))
    return vehicle, task


def method_of_scene(scene: Scene, vehicle: Vehicle) -> str:
    """What plans of a scene are made with: its integrator, but where it is about something else that of what walks."""
    return usual_method(vehicle) if _on_foot(scene, vehicle) else scene.integrator


def _on_foot(scene: Scene, vehicle: Vehicle) -> bool:
    return scene.plan_optional and isinstance(vehicle, ArticulatedVehicle) and vehicle.walks


def mpc_settings_of_scene(scene: Scene, vehicle: Vehicle) -> MpcSettings:
    """How plans that are made in flight look ahead there; InputError where the scene plans nothing."""
    if scene.plan is None:
        raise InputError(f'scene "{scene.name}" plans nothing; allowed: a scene with a [plan] table')
    table = scene.plan.again()
    return read_mpc_settings(table.table("pursuit"), vehicle) if table.has("pursuit") else MpcSettings()
