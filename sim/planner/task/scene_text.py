"""A task as it was changed by hand, written back into the text of the scene that it came from."""

import json
import math
import tomllib
from collections.abc import Mapping
from typing import Any

import numpy as np

from sim.planner.task.bodies import acted, planar
from sim.planner.task.handles import handles
from sim.planner.task.obstacles import Box, Capsule, Obstacle
from sim.planner.task.task import WEIGHT_NAMES, Task, Waypoint
from sim.vehicles import Vehicle

DEMANDED = ("position", "rotation", "velocity")
"""What a goal's table says of how exactly parts are met; parts of a state of these names are told by its place."""


def scene_with_task(text: str, vehicle: Vehicle, task: Task) -> str:
    """The TOML of a scene with a `[plan]` table, with what can be edited of its task as `task` has it.

    That is its goal, waypoints, obstacles, weights, times and number of steps; comments are lost.
    """
    scene = tomllib.loads(text)
    plan = scene["plan"]
    plan |= {"duration_s": float(task.duration_s), "steps": int(task.steps)}
    plan.pop("free_duration_s", None)
    if task.free_duration is not None:
        plan["free_duration_s"] = [float(bound) for bound in task.free_duration]
    plan["weights"] = {name: float(getattr(task.weights, name)) for name in WEIGHT_NAMES}
    plan["goal"] = {**plan.get("goal", {}), **_goal(vehicle, task)}
    plan["obstacles"] = [_obstacle(obstacle) for obstacle in task.obstacles]
    plan["waypoints"] = [_waypoint(waypoint) for waypoint in task.waypoints]
    return toml_text(scene)


def _goal(vehicle: Vehicle, task: Task) -> dict[str, Any]:
    T_wb = handles(vehicle, task)[0].T_w
    R = T_wb[:3, :3]
    place = {
        "position_m": T_wb[: 2 if planar(vehicle) else 3, 3].tolist(),
        "heading_deg": math.degrees(math.atan2(R[1, 0], R[0, 0])),
    }
    if acted(vehicle):
        node = task.goal.state.node
        named = {name: at for name, at in vehicle.space.slices.items() if name not in DEMANDED}
        place |= {name: node[at].tolist() for name, at in named.items()}
    if not planar(vehicle):
        place["pitch_deg"] = math.degrees(math.asin(min(max(-float(R[2, 0]), -1.0), 1.0)))
        place["roll_deg"] = math.degrees(math.atan2(R[2, 1], R[2, 2]))
    return place


def _obstacle(obstacle: Obstacle) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": obstacle.kind, "name": obstacle.name, "look": obstacle.look}
    if isinstance(obstacle, Capsule):
        return told | {
            "start_m": list(obstacle.start_w),
            "end_m": list(obstacle.end_w),
            "radius_m": obstacle.radius_m,
        }
    told["centre_m"] = list(obstacle.centre_w)
    if isinstance(obstacle, Box):
        return told | {"half_m": list(obstacle.half_m), "heading_deg": math.degrees(obstacle.heading_rad)}
    return told | {"radius_m": obstacle.radius_m}


def _waypoint(waypoint: Waypoint) -> dict[str, Any]:
    told = {"position_m": list(waypoint.position_w), "tolerance_m": waypoint.tolerance_m}
    return told if waypoint.time_s is None else told | {"time_s": waypoint.time_s}


def toml_text(table: Mapping[str, Any], path: tuple[str, ...] = ()) -> str:
    """TOML of nested tables, lists of tables, and values as `tomllib` reads them; dates are not among them."""
    lines = [f"{_key(key)} = {_value(value)}" for key, value in table.items() if not _has_tables(value)]
    for key, value in table.items():
        if not _has_tables(value):
            continue
        inner = (*path, key)
        head = ".".join(_key(part) for part in inner)
        if isinstance(value, Mapping):
            lines += ["", f"[{head}]", toml_text(value, inner)]
        else:
            for entry in value:
                lines += ["", f"[[{head}]]", toml_text(entry, inner)]
    return "\n".join(lines) + ("\n" if not path else "")


def _has_tables(value: Any) -> bool:
    if isinstance(value, Mapping):
        return True
    return isinstance(value, list) and bool(value) and all(isinstance(entry, Mapping) for entry in value)


def _key(key: str) -> str:
    bare = key.isascii() and key.replace("-", "").replace("_", "").isalnum()
    return key if bare else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, list):
        return f"[{', '.join(_value(entry) for entry in value)}]"
    if isinstance(value, Mapping):
        return f"{{ {', '.join(f'{_key(key)} = {_value(entry)}' for key, entry in value.items())} }}"
    if isinstance(value, float | np.floating):
        return repr(float(value))
    return str(value)
