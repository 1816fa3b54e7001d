"""Plans and courses that are to be flown: whether they can be, by whom, and how a course went."""

import numpy as np

from sim.control import PlannedPilot, autopilot_of, regulator
from sim.control.course import CoursePilot, CourseStatus, FollowCourse
from sim.control.plan_following import FlyPlan
from sim.planner.task.bodies import planar
from sim.planner.task.poses import positions
from sim.platform.errors import InputError, one_of
from sim.simulation.lane import Lane
from sim.simulation.observation import sensed
from sim.steppers import Stepper
from sim.vehicle_config import config_of
from sim.vehicles import VEHICLES, Vehicle


def checked(command: FlyPlan, flown: Vehicle) -> None:
    """InputError where the plan cannot be flown here."""
    for vehicle in (command.vehicle, command.flown or command.vehicle):
        if vehicle.name != flown.name:
            raise InputError(f"the plan is for a {vehicle.name}; the {flown.name} cannot fly it")
    nodes, controls = command.nodes, command.controls
    fits = nodes.ndim == controls.ndim == 2 and len(nodes) == len(controls) > 1
    if not fits or nodes.shape[1] != flown.node_layout.size or controls.shape[1] != len(flown.controls):
        raise InputError(f"nodes {nodes.shape} and controls {controls.shape} are no plan of a {flown.name}")
    if not (np.isfinite(nodes).all() and np.isfinite(controls).all()):
        raise InputError("the plan holds numbers that are not finite")


def planned_pilot(command: FlyPlan, kernel: Stepper) -> PlannedPilot:
    """Who flies it. `kernel`: of the vehicle that was planned for, which is all that the pilot knows."""
    if not command.tracked:
        return PlannedPilot(command.controls, command.step_s)
    along = regulator(command.vehicle, kernel, command.step_s, command.nodes[0], command.controls)
    return PlannedPilot(command.controls, command.step_s, along)


def end_place(vehicle: Vehicle, node: np.ndarray, pivot_w: np.ndarray | None) -> np.ndarray:
    """(3,) m; on a plane the height does not count. pivot_w: where the fixed point is of what has one."""
    place = positions(vehicle, node)[0]
    if planar(vehicle):
        place[2] = np.nan
    return place if pivot_w is None else place + pivot_w


def check_course(command: FollowCourse, vehicle: Vehicle) -> None:
    """InputError where a vehicle cannot follow it."""
    if not _follows(vehicle):
        allowed = one_of(tuple(name for name, kind in VEHICLES.items() if _follows(kind)))
        raise InputError(f"the {vehicle.name} cannot follow a course; allowed: {allowed}")
    places, headings = command.places_w, command.headings_rad
    if places.ndim != 2 or places.shape[1] != 2 or len(places) < 2 or headings.shape != (len(places),):
        raise InputError(f"places {places.shape} and headings {headings.shape} are no course")
    if not (np.isfinite(places).all() and np.isfinite(headings).all() and command.step_s > 0.0):
        raise InputError("the course holds numbers that are not finite, or takes no time")
    if not np.linalg.norm(np.diff(places, axis=0), axis=1).any():
        raise InputError("the course leads nowhere: all of its places are one")


def course_status(lane: Lane) -> CourseStatus | None:
    """None where the lane follows none."""
    pilot = lane.pilot
    if not isinstance(pilot, CoursePilot):
        return None
    off_m, off_rad = pilot.off(sensed(lane.node, lane.placement, lane.footing, lane.time_s, lane.dynamics))
    return CourseStatus(pilot.left_m, off_m, off_rad, pilot.arrived)


def course_outcome(lane: Lane) -> str:
    """How well it ended; nothing before that."""
    seen = course_status(lane)
    if seen is None or not seen.arrived:
        return ""
    there = lane.placement
    speed = float(np.linalg.norm((there.T_wb[:3, :3] @ there.twist_b[3:])[:2]))
    return (
        f"in its berth: {seen.off_m:.2f} m and {np.degrees(seen.off_rad):.1f} degrees off, at {speed:.2f} m/s"
    )


def _follows(vehicle: Vehicle | type[Vehicle]) -> bool:
    autopilot, hull = autopilot_of(vehicle), config_of(vehicle).hull
    floats = hull is not None and hull.surface is not None
    return floats and autopilot is not None and autopilot.follow is not None
