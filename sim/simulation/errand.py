"""The ways and places of a scene that its autopilots are sent along."""

import numpy as np

from sim.control.pilot import Errand
from sim.scene import Scene
from sim.scene.race import Course
from sim.world import World

_RUN_M = 30.0
"""Before the first gate and beyond the last one of a course that does not lead round."""
_SPACING_M = 2.0


def errand_of(scene: Scene, world: World) -> Errand:
    """Gates of a race come before the world's own lap."""
    places = tuple(
        (float(x), float(y))
        for goal in scene.goals
        for x, y in ([world.pad(goal.pad).centre_w[:2]] if goal.pad else [goal.at_w] if goal.at_w else [])
    )
    lap = np.zeros((0, 2)) if world.grounds is None else world.grounds.lap
    line, closed = (lap, True) if scene.race is None else (through(scene.race), scene.race.closed)
    landing_w = world.pads[-1].centre_w if world.pads else None
    return Errand(world.path, landing_w, line, closed, places, scene.target)


def through(course: Course) -> np.ndarray:
    """(n, 2) m: a smooth line through the middles of the gates in their directions."""
    from scipy.interpolate import CubicHermiteSpline  # takes a while, and few scenes have gates

    gates = [*course.gates, *course.gates[: int(course.closed)]]
    places = np.array([gate.centre_w[:2] for gate in gates])
    ways = np.array([gate.frame()[0, :2] for gate in gates])
    if not course.closed:
        places = np.vstack([places[0] - _RUN_M * ways[0], places, places[-1] + _RUN_M * ways[-1]])
        ways = np.vstack([ways[:1], ways, ways[-1:]])
    along = np.r_[0.0, np.cumsum(np.linalg.norm(np.diff(places, axis=0), axis=1))]
    spline = CubicHermiteSpline(along, places, ways)
    return np.asarray(spline(np.linspace(0.0, along[-1], int(along[-1] / _SPACING_M) + 2)))
