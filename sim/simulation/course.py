"""Following a course that was planned for another vehicle: whether it can be, and how it goes."""

import numpy as np

import sim
from sim.commands import FollowCourse
from sim.control import autopilot_of, vehicles_with_autopilot
from sim.control.course import CoursePilot
from sim.outfit import outfit_of
from sim.platform.errors import one_of
from sim.simulation.lane import Lane
from sim.simulation.sensing import sensed
from sim.snapshot import CoursePicture


def checked(command: FollowCourse, vehicle: str) -> None:
    """InputError where a vehicle, by its registry name, cannot follow it."""
    if not _follows(vehicle):
        allowed = one_of(tuple(name for name in vehicles_with_autopilot() if _follows(name)))
        raise sim.InputError(f"the {vehicle} cannot follow a course; allowed: {allowed}")
    places, headings = command.places_w, command.headings_rad
    if places.ndim != 2 or places.shape[1] != 2 or len(places) < 2 or headings.shape != (len(places),):
        raise sim.InputError(f"places {places.shape} and headings {headings.shape} are no course")
    if not (np.isfinite(places).all() and np.isfinite(headings).all() and command.step_s > 0.0):
        raise sim.InputError("the course holds numbers that are not finite, or takes no time")
    if not np.linalg.norm(np.diff(places, axis=0), axis=1).any():
        raise sim.InputError("the course leads nowhere: all of its places are one")


def course_picture(lane: Lane) -> CoursePicture | None:
    """None where the lane follows none."""
    pilot = lane.pilot
    if not isinstance(pilot, CoursePilot):
        return None
    off_m, off_rad = pilot.off(sensed(lane.node, lane.placement, lane.footing, lane.time_s))
    return CoursePicture(pilot.left_m, off_m, off_rad, pilot.arrived)


def course_verdict(lane: Lane) -> str:
    """How well it ended; nothing before that."""
    seen = course_picture(lane)
    if seen is None or not seen.arrived:
        return ""
    there = lane.placement
    speed = float(np.linalg.norm((there.T_wb[:3, :3] @ there.twist_b[3:])[:2]))
    return (
        f"in her berth: {seen.off_m:.2f} m and {np.degrees(seen.off_rad):.1f} degrees off, at {speed:.2f} m/s"
    )


def _follows(vehicle: str) -> bool:
    autopilot, hull = autopilot_of(vehicle), outfit_of(vehicle).hull
    floats = hull is not None and hull.surface is not None
    return floats and autopilot is not None and autopilot.follow is not None
