"""Tasks from scene files, and back: the `[plan]` table says start, goal, time, weights, bounds and obstacles."""

import math
from typing import Any

import numpy as np

from sim.groups.numeric import euler_angles, rotation_about, upright
from sim.planner.task.bodies import body_poses, own_space, planar, positions, stands, velocities
from sim.planner.task.cover import Cover, cover
from sim.planner.task.handles import handles
from sim.planner.task.meeting import brought_to
from sim.planner.task.motions import Motion, Sway
from sim.planner.task.task import (
    DEMANDED,
    DEMANDS,
    LOOKS,
    WEIGHT_NAMES,
    Ball,
    Goal,
    Limits,
    Obstacle,
    Task,
    Waypoint,
    Weights,
    check_can_plan,
)
from sim.planner.task.terrain import SafeGround, safe_ground
from sim.platform.errors import InputError
from sim.platform.toml_table import TomlTable
from sim.shapes import KINDS
from sim.shapes.shape import vector
from sim.vehicles.forms.articulated import ArticulatedVehicle, ClosedVehicle
from sim.vehicles.forms.base import Vehicle
from sim.vehicles.forms.form import State, Support
from sim.vehicles.forms.nonholonomic import NonholonomicVehicle
from sim.world.world import World

_FAR_M = 1e5


def read_task(
    table: TomlTable, vehicle: Vehicle, world: World | None, name: str, fallback: State | None
) -> Task:
    """Task of an unread `[plan]` table.

    fallback: the start where the table has none. Raises InputError, one line with file, key and what is allowed.
    """
    check_can_plan(vehicle)
    table.flag("optional", False)  # what it means the scene knows
    if not table.has("start") and fallback is None:
        raise table.error("start", "is missing; allowed: a table [plan.start]")
    start = _state(table.table("start"), vehicle) if table.has("start") else fallback
    assert start is not None
    duration = table.number("duration_s", 10.0, low=-math.inf, high=math.inf)
    free = table.numbers("free_duration_s", (), low=0.0, high=1e4, count=2)
    standing = _body(table, vehicle)
    clearance = table.number("clearance_m", 0.0, low=0.0, high=1e3)
    goal = _goal(table.table("goal"), vehicle)
    task = Task(
        name=name,
        start=start,
        goal=goal,
        duration_s=duration,
        free_duration=(free[0], free[1]) if free else None,
        steps=table.integer("steps", 64, low=4, high=1024),
        weights=_weights(table.table("weights")),
        limits=_limits(table.table("limits")),
        obstacles=tuple(_obstacle(o) for o in table.tables("obstacles")),
        or_goals=tuple(_goal(other, vehicle) for other in table.tables("or_goals")),
        motions=tuple(_motion(m) for m in table.tables("motions")),
        waypoints=tuple(_waypoint(w) for w in table.tables("waypoints")),
        start_within=_named_ranges(table.table("start_within")),
        periodic=tuple(table.texts("periodic")) if table.has("periodic") else (),
        clearance_m=clearance,
        body=standing.balls,
        bodies=standing.bodies,
        effort_scale=_named_numbers(table.table("effort_scale")),
        safety_range_m=table.number("safety_range_m", 2.0, low=1e-3, high=1e3),
        ground=_ground(table, world, vehicle, [start, goal.state], standing.around, clearance),
    )
    if table.has("pursuit"):
        table.table("pursuit")  # read by itself
    table.finish()
    return task


def _ground(
    table: TomlTable,
    world: World | None,
    vehicle: Vehicle,
    states: list[State],
    around: Ball,
    clearance_m: float,
) -> SafeGround | None:
    if not table.flag("ground", False) or world is None:
        return None
    if vehicle.support is Support.STAND:
        return SafeGround.level(-vehicle.stand_m)
    places = positions(vehicle, np.stack([s.node for s in states]))[:, :2]
    aside = table.number("ground_aside_m", 60.0, low=0.0, high=1e4)
    low, high = places.min(0) - aside, places.max(0) + aside
    return safe_ground(
        world.terrain,
        margin_m=around[3] + clearance_m,
        low_m=(float(low[0]), float(low[1])),
        high_m=(float(high[0]), float(high[1])),
        held_b=around[:3],
    )


def _body(table: TomlTable, vehicle: Vehicle) -> Cover:
    """Balls, and whose frame each is in: those that the scene says, or around all that is drawn of the vehicle."""
    tables = table.tables("body")
    if not tables:
        return cover(vehicle)
    balls: list[Ball] = []
    bodies: list[str] = []
    for ball in tables:
        bodies.append(ball.text("of"))
        x, y, z = ball.numbers("centre_m", (0.0, 0.0, 0.0), low=-1e3, high=1e3, count=3)
        balls.append((x, y, z, ball.number("radius_m", 0.0, low=0.0, high=1e3)))
        ball.finish()
    reach_m = max(math.dist((0, 0, 0), ball[:3]) + ball[3] for ball in balls)
    around = balls[0] if bodies == [""] else (0.0, 0.0, 0.0, reach_m)
    return Cover(tuple(balls), tuple(bodies) if any(bodies) else (), around)


def _rotation(table: TomlTable) -> np.ndarray:
    """R_wb of heading, pitch (nose down) and roll (right side down), applied in this order."""
    heading, pitch, roll = (
        math.radians(table.number(key, 0.0, low=-360.0, high=360.0))
        for key in ("heading_deg", "pitch_deg", "roll_deg")
    )
    return upright(heading) @ rotation_about(1, pitch) @ rotation_about(0, roll)


_REACHED_M = 1e-3


def _brought(
    table: TomlTable, vehicle: Vehicle, node: np.ndarray, T_wb: np.ndarray, *, turned: bool
) -> State:
    """A tree of joints with its tool at a place, and turned as told: from how its joints stand, as near as may be."""
    node = brought_to(vehicle, node, T_wb[:3, 3], T_wb[:3, :3] if turned else None)
    there = body_poses(vehicle, node)[0]
    short = float(np.linalg.norm(there[:3, 3] - T_wb[:3, 3]))
    short += float(np.abs(there[:3, :3] - T_wb[:3, :3]).max()) if turned else 0.0
    if short > _REACHED_M:
        raise table.error(
            "position_m",
            f"is out of the tool's reach by {short:.3g} m; allowed: what joints within their limits reach",
        )
    return vehicle.state_at_node(node)


def _state_in_space(table: TomlTable, vehicle: Vehicle) -> State:
    """Put at a place as anything is, at rest, with the parts of its state that are named."""
    held = isinstance(vehicle, ArticulatedVehicle) and not vehicle.free
    placed = held and table.has("position_m")
    turned = any(table.has(key) for key in ("heading_deg", "pitch_deg", "roll_deg"))
    T_wb = np.eye(4)
    T_wb[:3, 3] = table.numbers("position_m", (0.0, 0.0, 0.0), low=-_FAR_M, high=_FAR_M, count=3)
    T_wb[:3, :3] = _rotation(table)
    node = vehicle.state_in_space(T_wb, np.zeros(6)).node
    node[[i for i, _ in velocities(vehicle)]] = 0.0
    for name, at in vehicle.space.slices.items():
        if table.has(name):
            size = at.stop - at.start
            node[at] = table.numbers(name, (0.0,) * size, low=-_FAR_M, high=_FAR_M, count=size)
    table.finish()
    if isinstance(vehicle, ClosedVehicle):
        at, begin = vehicle.node_layout.pose, vehicle.default_state().node
        begin[vehicle.node_layout.velocity] = 0.0
        begin[at] = vehicle.led_to(begin[at], node[at][vehicle.leading_places])
        node = begin
    if placed:
        return _brought(table, vehicle, node, T_wb, turned=turned)
    return vehicle.state_at_node(node)


def _state(table: TomlTable, vehicle: Vehicle) -> State:
    if own_space(vehicle):
        return _state_in_space(table, vehicle)
    if stands(vehicle):
        state = vehicle.state(
            R=_rotation(table),
            omega=table.numbers("omega_radps", (0.0, 0.0, 0.0), low=-1e3, high=1e3, count=3),
        )
        table.finish()
        return state
    if not planar(vehicle):
        state = vehicle.state(
            x=table.numbers("position_m", (0.0, 0.0, 0.0), low=-_FAR_M, high=_FAR_M, count=3),
            R=_rotation(table),
            omega=table.numbers("omega_radps", (0.0, 0.0, 0.0), low=-1e3, high=1e3, count=3),
            v=table.numbers("velocity_mps", (0.0, 0.0, 0.0), low=-1e3, high=1e3, count=3),
        )
        table.finish()
        return state
    x, y = table.numbers("position_m", (0.0, 0.0), low=-_FAR_M, high=_FAR_M, count=2)
    theta = math.radians(table.number("heading_deg", 0.0, low=-360.0, high=360.0))
    if isinstance(vehicle, NonholonomicVehicle):
        n = len(vehicle.shape_coordinates)
        shape = table.numbers("shape", (0.0,) * n, low=-1e4, high=1e4, count=n)
        rates = table.numbers("shape_velocity", (0.0,) * n, low=-1e4, high=1e4, count=n)
        state = vehicle.state(theta=theta, x=x, y=y, shape=shape, shape_velocity=rates)
    else:
        v = table.numbers("velocity_mps", (0.0, 0.0), low=-1e3, high=1e3, count=2)
        omega = table.number("omega_radps", 0.0, low=-1e3, high=1e3)
        state = vehicle.state_of((theta, x, y), (omega, *v))
    table.finish()
    return state


def _goal(table: TomlTable, vehicle: Vehicle) -> Goal:
    flat, inner = planar(vehicle), isinstance(vehicle, NonholonomicVehicle)
    demands = tuple(demand for demand in DEMANDS if demand != "upright")
    rotations = demands if flat else DEMANDS
    names = [s.name for s in vehicle.shape_coordinates]
    tolerances = {
        key: table.number(key, 0.1, low=1e-6, high=1e3)
        for key in ("tolerance_m", "tolerance_rad", "tolerance_mps")
    }
    parts, usual = _parts(table, vehicle), "fixed"
    if parts is not None:
        usual = "free"
    goal: dict[str, Any] = {
        "position": table.name("position", demands, usual),
        "rotation": table.name("rotation", rotations, usual),
        "parts": parts,
        "velocity": table.name("velocity", demands, "free" if inner else "fixed"),
        "shape": _indices(table, "fixed_shape", names),
        "shape_velocity": _indices(table, "fixed_shape_velocity", names),
        **tolerances,
    }
    return Goal(_state(table, vehicle), **goal)


def _parts(table: TomlTable, vehicle: Vehicle) -> tuple[str, ...] | None:
    """Of the state of what moves about a space of its own; None: all of them."""
    if not own_space(vehicle) or not table.has("parts"):
        return None
    allowed, named = tuple(vehicle.space.slices), table.texts("parts")
    for name in named:
        if name not in allowed:
            raise table.error("parts", f'unknown "{name}"; allowed: {", ".join(allowed)}')
    return tuple(named)


def _indices(table: TomlTable, key: str, names: list[str]) -> tuple[int, ...]:
    listed = table.texts(key)
    for name in listed:
        if name not in names:
            raise table.error(key, f'unknown "{name}"; allowed: {", ".join(names) or "nothing"}')
    return tuple(names.index(name) for name in listed)


def _weights(table: TomlTable) -> Weights:
    usual = Weights()
    weights = Weights(**{n: table.number(n, getattr(usual, n), low=0.0, high=1e6) for n in WEIGHT_NAMES})
    table.finish()
    return weights


def _limits(table: TomlTable) -> Limits:
    usual = Limits()
    low, high = (table.numbers(key, (), low=-_FAR_M, high=_FAR_M, count=3) for key in ("low_m", "high_m"))
    tilt = math.radians(table.number("tilt_deg", 0.0, low=0.0, high=180.0))
    limits = Limits(
        speed_mps=table.number("speed_mps", usual.speed_mps, low=1e-3, high=1e3),
        turn_radps=table.number("turn_radps", usual.turn_radps, low=1e-3, high=1e2),
        tilt_rad=tilt or None,
        low_w=(low[0], low[1], low[2]) if low else None,
        high_w=(high[0], high[1], high[2]) if high else None,
        shape=_named_ranges(table.table("shape")),
        controls=_named_ranges(table.table("controls")),
        rates=_named_numbers(table.table("rates")),
        columns=_named_ranges(table.table("columns")),
    )
    table.finish()
    return limits


def _named_ranges(table: TomlTable) -> dict[str, tuple[float, float]]:
    out = {}
    for name in table.names():
        low, high = table.numbers(name, (0.0, 0.0), low=-1e9, high=1e9, count=2)
        out[name] = (low, high)
    return out


def _named_numbers(table: TomlTable) -> dict[str, float]:
    return {name: table.number(name, 1.0, low=1e-9, high=1e9) for name in table.names()}


def _obstacle(table: TomlTable) -> Obstacle:
    kind = KINDS[table.name("kind", tuple(KINDS), "cylinder")]
    obstacle = kind.read(table, table.text("name"), table.name("look", LOOKS, ""))
    table.finish()
    return obstacle


def _motion(table: TomlTable) -> Motion:
    sways = []
    for sway in table.tables("sways"):
        x, y, z = sway.numbers("amplitude_deg", (0.0, 0.0, 0.0), low=-180.0, high=180.0, count=3)
        read = Sway(
            sway.number("period_s", 8.0, low=1e-3, high=1e4),
            vector(sway, "amplitude_m"),
            (math.radians(x), math.radians(y), math.radians(z)),
            math.radians(sway.number("phase_deg", 0.0, low=-360.0, high=360.0)),
        )
        sway.finish()
        sways.append(read)
    motion = Motion(
        moves=tuple(table.texts("moves")),
        pivot_w=vector(table, "pivot_m"),
        velocity_mps=vector(table, "velocity_mps"),
        turn_radps=math.radians(table.number("turn_degps", 0.0, low=-360.0, high=360.0)),
        sways=tuple(sways),
    )
    table.finish()
    return motion


def _waypoint(table: TomlTable) -> Waypoint:
    time_s = table.number("time_s", 0.0, low=0.0, high=1e4) if table.has("time_s") else None
    waypoint = Waypoint(
        vector(table, "position_m"), table.number("tolerance_m", 0.5, low=-1e3, high=1e3), time_s
    )
    table.finish()
    return waypoint


def scene_with_task(text: str, vehicle: Vehicle, task: Task) -> str:
    """The TOML of a scene with a `[plan]` table, with what can be edited of its task as `task` has it.

    That is its goal, waypoints, obstacles, weights, times and number of steps. All else stays as it was written, with
    its comments. Raises InputError for a text that is no such scene's: it may have been changed since it was read.
    """
    import tomlkit  # is for who writes
    from tomlkit.exceptions import TOMLKitError

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
    plan["goal"] = {**plan.get("goal", {}), **_goal_entries(vehicle, task)}
    plan["obstacles"] = [_obstacle_entries(obstacle) for obstacle in task.obstacles]
    plan["waypoints"] = [_waypoint_entries(waypoint) for waypoint in task.waypoints]
    return tomlkit.dumps(scene)


def _goal_entries(vehicle: Vehicle, task: Task) -> dict[str, Any]:
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


def _obstacle_entries(obstacle: Obstacle) -> dict[str, Any]:
    return {"kind": obstacle.kind, "name": obstacle.name, "look": obstacle.look, **obstacle.text()}


def _waypoint_entries(waypoint: Waypoint) -> dict[str, Any]:
    told = {"position_m": list(waypoint.position_w), "tolerance_m": waypoint.tolerance_m}
    return told if waypoint.time_s is None else told | {"time_s": waypoint.time_s}
