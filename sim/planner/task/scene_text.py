"""A task as it was changed by hand, written back into the text of the scene that it came from."""

import math
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from sim.planner.task.bodies import own_space, planar
from sim.planner.task.handles import handles
from sim.planner.task.obstacles import Obstacle
from sim.planner.task.task import WEIGHT_NAMES, Task, Waypoint
from sim.platform.errors import InputError
from sim.shapes.surface import euler_angles
from sim.vehicles import Vehicle

DEMANDED = ("position", "rotation", "velocity")
"""What a goal's table says of how exactly parts are met; parts of a state of these names are told by its place."""


def scene_with_task(text: str, vehicle: Vehicle, task: Task) -> str:
    """The TOML of a scene with a `[plan]` table, with what can be edited of its task as `task` has it.

    That is its goal, waypoints, obstacles, weights, times and number of steps. All else stays as it was written, with
    its comments. Raises InputError for a text that is no such scene's: it may have been changed since it was read.
    """
    try:
        scene = tomlkit.parse(text)
    except TOMLKitError as error:
        raise InputError(f"the scene's file is no TOML any more: {error}") from None
    plan: Any = scene.get("plan")
    if not isinstance(plan, dict):
        raise InputError("the scene's file has no table [plan] any more")
    plan["duration_s"], plan["steps"] = float(task.duration_s), int(task.steps)
    plan.pop("free_duration_s", None)
    if task.free_duration is not None:
        plan["free_duration_s"] = [float(bound) for bound in task.free_duration]
    plan["weights"] = {name: float(getattr(task.weights, name)) for name in WEIGHT_NAMES}
    plan["goal"] = {**plan.get("goal", {}), **_goal(vehicle, task)}
    plan["obstacles"] = [_obstacle(obstacle) for obstacle in task.obstacles]
    plan["waypoints"] = [_waypoint(waypoint) for waypoint in task.waypoints]
    return tomlkit.dumps(scene)


def _goal(vehicle: Vehicle, task: Task) -> dict[str, Any]:
    T_wb = handles(vehicle, task)[0].T_w
    R = T_wb[:3, :3]
    place = {
        "position_m": T_wb[: 2 if planar(vehicle) else 3, 3].tolist(),
        "heading_deg": math.degrees(math.atan2(R[1, 0], R[0, 0])),
    }
    if own_space(vehicle):
        node = task.goal.state.node
        named = {name: at for name, at in vehicle.space.slices.items() if name not in DEMANDED}
        place |= {name: node[at].tolist() for name, at in named.items()}
    if not planar(vehicle):
        place["pitch_deg"], place["roll_deg"] = map(math.degrees, euler_angles(R)[1:])
    return place


def _obstacle(obstacle: Obstacle) -> dict[str, Any]:
    return {"kind": obstacle.kind, "name": obstacle.name, "look": obstacle.look, **obstacle.text()}


def _waypoint(waypoint: Waypoint) -> dict[str, Any]:
    told = {"position_m": list(waypoint.position_w), "tolerance_m": waypoint.tolerance_m}
    return told if waypoint.time_s is None else told | {"time_s": waypoint.time_s}
