"""What holds a plan: limits that it leans on and things that it passes as closely as it may, with the times."""

from collections.abc import Iterator

import casadi as ca
import numpy as np

from sim.planner.task.bodies import body_poses, nodes_between, own_space, planar, positions, velocities
from sim.planner.task.clearance import obstacle_distances_m, over_ground_m
from sim.planner.task.inputs import input_map_of
from sim.planner.task.own_bodies import balls_at
from sim.planner.task.task import Task, control_limits, label
from sim.planner.task.waypoints import waypoint_node
from sim.platform.values import dataclass
from sim.vehicles.forms.base import Vehicle

_NEAR = 0.003
"""Share of what a quantity ranges over by which it may stay away from a limit that it leans on."""
_EXACT = 1e-5
_CLOSE_M, _CLOSE, _SAG = 0.02, 0.02, 2.0
"""As near as corners are kept clear by: more for a large body, and by some of what an arc bends away from its chord."""
_PER_STEP = 8


@dataclass(frozen=True, slots=True)
class ActiveConstraint:
    """One thing that would let a better plan be, were it not there."""

    what: str
    """"u_left at most 150 N"."""
    spans_s: tuple[tuple[float, float], ...]
    """When, first and last moment of each stretch."""
    obstacle: int | None = None
    """Index in the task, where it is one."""
    waypoint: int | None = None

    @property
    def words(self) -> str:
        """With the times: "u_left at most 150 N (3.1-4.0 s, 7.2 s)"."""
        spans = (f"{a:.1f}-{b:.1f}" if f"{a:.1f}" != f"{b:.1f}" else f"{a:.1f}" for a, b in self.spans_s)
        return f"{self.what} ({', '.join(spans)} s)"

    @property
    def seconds(self) -> float:
        """How long altogether."""
        return sum(b - a for a, b in self.spans_s)


@dataclass(frozen=True, slots=True)
class _Bounded:
    """A quantity along the plan and its range."""

    name: str
    values: np.ndarray
    low: float
    high: float
    unit: str


def active_constraints(
    vehicle: Vehicle, task: Task, nodes: np.ndarray, controls: np.ndarray, step_s: float
) -> tuple[ActiveConstraint, ...]:
    """Of a plan's nodes (N+1, node size) and controls (N+1, n_controls): what is passed first, then the longest."""
    met = [*_passed(vehicle, task, nodes, step_s), *_waypoints(vehicle, task, nodes, step_s)]
    limits: dict[str, np.ndarray] = {}
    for name, leans in _joint_limits(vehicle, task, controls):
        limits[f"{name} at its limit"] = leans
    for quantity in _quantities(vehicle, task, nodes, controls, step_s):
        reach = _NEAR * float(np.ptp(quantity.values))
        for word, bound, away in (
            ("at least", quantity.low, quantity.values - quantity.low),
            ("at most", quantity.high, quantity.high - quantity.values),
        ):
            if np.isfinite(bound):
                what = f"{quantity.name} {word} {bound + 0.0:.4g} {quantity.unit}"
                leans = away <= reach + _EXACT * max(1.0, abs(bound))
                leans[[0, -1]] &= leans[[1, -2]]
                limits[what] = limits.get(what, np.zeros(len(nodes), bool)) | leans
    found = [ActiveConstraint(what, _spans(mask, step_s)) for what, mask in limits.items() if mask.any()]
    return (*met, *sorted(found, key=lambda constraint: -constraint.seconds))


def _bend_m(x_w: np.ndarray) -> np.ndarray:
    """(n,) of points (n, 3), _PER_STEP an arc: how far their arc is from the chord of its nodes at most [m]."""
    arcs = (len(x_w) - 1) // _PER_STEP
    nodes, t = x_w[::_PER_STEP], np.arange(_PER_STEP)[None, :, None] / _PER_STEP
    chords = nodes[:-1, None] + t * np.diff(nodes, axis=0)[:, None]
    bend = np.linalg.norm(x_w[:-1].reshape(arcs, _PER_STEP, 3) - chords, axis=2).max(axis=1)
    return np.r_[np.repeat(bend, _PER_STEP), bend[-1]]


def _passed(vehicle: Vehicle, task: Task, nodes: np.ndarray, step_s: float) -> Iterator[ActiveConstraint]:
    """Obstacles and ground, between the nodes too. The ends are given: they are not chosen by the plan."""
    poses = nodes_between(vehicle, nodes, _PER_STEP)
    centres, radii = balls_at(vehicle, poses, task), np.array(task.body, float)[:, 3]
    close_m = _CLOSE_M + _CLOSE * float(radii.max()) + _SAG * _bend_m(centres[0])

    def spans(distance_m: np.ndarray) -> tuple[tuple[float, float], ...]:
        near = distance_m < task.clearance_m + close_m
        near[[0, -1]] = False
        return _spans(near, step_s / _PER_STEP, gap=2 * _PER_STEP)

    time_s = np.arange(len(poses)) * (step_s / _PER_STEP)
    apart_m = obstacle_distances_m(vehicle, centres, task, time_s)
    for i, (obstacle, far_m) in enumerate(zip(task.obstacles, apart_m, strict=True)):
        if when := spans(far_m):
            clear = f"{task.clearance_m:g} m clear of" if task.clearance_m > 0.0 else "touches"
            yield ActiveConstraint(f"{clear} {label(obstacle, i)}", when, obstacle=i)
    over_ground = over_ground_m(vehicle, poses, centres, task)
    if over_ground is not None and task.ground is not None and (when := spans(over_ground)):
        yield ActiveConstraint(f"{max(task.ground.margin_m, task.clearance_m):g} m clear of the ground", when)


def _waypoints(vehicle: Vehicle, task: Task, nodes: np.ndarray, step_s: float) -> Iterator[ActiveConstraint]:
    places_w = positions(vehicle, nodes)
    for i, waypoint in enumerate(task.waypoints):
        if waypoint.time_s is None:
            continue
        k = waypoint_node(waypoint.time_s, task, len(nodes) - 1)
        place_w = np.array(waypoint.position_w)
        off = places_w[k] - place_w
        off[2] *= not planar(vehicle)
        if np.linalg.norm(off) > (1.0 - 3.0 * _NEAR) * waypoint.tolerance_m:
            when = (k * step_s, k * step_s)
            yield ActiveConstraint(
                f"waypoint {i + 1} within {waypoint.tolerance_m:.3g} m", (when,), waypoint=i
            )


def _quantities(
    vehicle: Vehicle, task: Task, nodes: np.ndarray, controls: np.ndarray, step_s: float
) -> Iterator[_Bounded]:
    """Everything that has a range."""
    at, limits, input_map = vehicle.node_layout, task.limits, input_map_of(vehicle)
    box, inputs = input_map.box(control_limits(vehicle, limits)), input_map.planned(controls)
    units = {control.name: control.unit for control in vehicle.controls}
    for i, (name, (low, high)) in enumerate(zip(input_map.names, box, strict=True)):
        yield _Bounded(name, inputs[:, i], low, high, units.get(name, "N"))
        if name in limits.rates:
            rate, most = np.diff(inputs[:, i]) / step_s, limits.rates[name]
            yield _Bounded(f"rate of {name}", np.r_[rate, rate[-1]], -most, most, "/s")
    for i, turning in velocities(vehicle):
        values = nodes[:, i]
        bound, unit = (limits.turn_radps, "rad/s") if turning else (limits.speed_mps, "m/s")
        yield _Bounded("turn rate" if turning else "speed", values, -bound, bound, unit)
    places_w, flat = positions(vehicle, nodes), planar(vehicle)
    for axis, name in enumerate("xy" if flat else "xyz"):
        low = limits.low_w[axis] if limits.low_w else -np.inf
        high = limits.high_w[axis] if limits.high_w else np.inf
        yield _Bounded(name, places_w[:, axis], low, high, "m")
    if limits.tilt_rad is not None and not flat:
        T_wb = body_poses(vehicle, nodes) if own_space(vehicle) else vehicle.poses(nodes)
        tilt_deg = np.degrees(np.arccos(np.clip(T_wb[:, 2, 2], -1.0, 1.0)))
        yield _Bounded("tilt", tilt_deg, -np.inf, float(np.degrees(limits.tilt_rad)), "deg")
    for name, (low, high) in limits.columns.items():
        yield _Bounded(name, nodes[:, vehicle.space.columns.index(name)], low, high, "")
    for i, coordinate in enumerate(vehicle.shape_coordinates):
        low, high = limits.shape.get(coordinate.name, (-np.inf, np.inf))
        low, high = max(low, coordinate.low), min(high, coordinate.high)
        yield _Bounded(coordinate.name, nodes[:, at.shape.start + i], low, high, coordinate.unit)
    if task.free_duration is not None:
        yield _Bounded("final time", np.full(len(nodes), step_s * (len(nodes) - 1)), *task.free_duration, "s")


def _joint_limits(vehicle: Vehicle, task: Task, controls: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """(name, (N+1,) where it is reached) of limits that several inputs share."""
    input_map = input_map_of(vehicle)
    a = ca.SX.sym("a", input_map.size)
    for row in input_map.rows(a, control_limits(vehicle, task.limits)):
        values = np.array(ca.Function("row", [a], [row.expression])(input_map.planned(controls).T)).ravel()
        reach = _NEAR * float(np.ptp(values)) + _EXACT
        yield row.name, (values <= row.low + reach) | (values >= row.high - reach)


def _spans(mask: np.ndarray, step_s: float, *, gap: int = 1) -> tuple[tuple[float, float], ...]:
    """(first, last) moments of every stretch of a mask; gaps of up to that many steps are none."""
    at = np.flatnonzero(mask)
    cuts = np.flatnonzero(np.diff(at) > gap)
    starts, ends = np.r_[at[:1], at[cuts + 1]], np.r_[at[cuts], at[-1:]]
    return tuple((float(a * step_s), float(b * step_s)) for a, b in zip(starts, ends, strict=True))
