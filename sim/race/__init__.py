"""Races through gates: courses, times at gates, laps that are kept, and rivals to race against."""

from sim.race.course import Course, Gate, read_course
from sim.race.lap import Lap
from sim.race.rival import Rival
from sim.race.timing import Standing, Timing

__all__ = ["Course", "Gate", "Lap", "Rival", "Standing", "Timing", "read_course"]
