"""Somebody to race against: a motion with its times at the gates, from the passage of the first one on."""

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from sim.errors import InputError
from sim.measured import Measured
from sim.race.course import Course
from sim.race.crossing import Instant, crossing_s
from sim.race.lap import Lap


@dataclass(frozen=True, eq=False)
class Rival:
    """Shown as a ghost that passes the first gate when the flown vehicle does."""

    name: str
    splits_s: tuple[float, ...]
    """At every passage; the first is 0."""
    motion: Measured
    """Time 0 is at the first gate."""

    @staticmethod
    def of_lap(name: str, lap: Lap) -> "Rival":
        """A lap that has been kept."""
        return Rival(name, lap.splits_s, Measured(name, lap.time, lap.poses))

    @staticmethod
    def of_motion(name: str, course: Course, motion: Measured) -> "Rival":
        """Any motion through the whole course. Raises InputError where it misses a gate."""
        splits = passages_s(course, motion)
        if len(splits) < course.passages:
            raise InputError(f"{name} misses gate {len(splits) + 1} of {course.passages} in its order")
        moved = replace(motion, name=name, time=motion.time - splits[0])
        return Rival(name, tuple(float(s - splits[0]) for s in splits), moved)


def passages_s(course: Course, motion: Measured) -> tuple[float, ...]:
    """The times at which the gates of one lap are passed in their order, as far as they are."""
    x_w = motion.poses[:, :3, 3]
    v_w = np.gradient(x_w, motion.time, axis=0, edge_order=2 if len(x_w) > 2 else 1)
    instants = [Instant(float(t), x, v) for t, x, v in zip(motion.time, x_w, v_w, strict=True)]
    found: list[float] = []
    for before, after in pairwise(instants):
        while len(found) < course.passages:
            at_s = crossing_s(course.gate(len(found)), before, after, found[-1] if found else -np.inf)
            if at_s is None:
                break
            found.append(at_s)
    return tuple(found)
