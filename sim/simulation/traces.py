"""What is kept of a lane's way since it began: recent poses, and the ways of what leaves a trace."""

import numpy as np

from sim.simulation.moments import Moments
from sim.simulation.way import Way
from sim.vehicles.observation import Observation


class Traces:
    """Of one generation."""

    def __init__(self, time_s: float, seen: Observation, poses_w: np.ndarray) -> None:
        self.moments = Moments(time_s, poses_w)
        directions = seen.layout.directions
        self._ways = {
            name: Way(time_s, value, rate, direction=name in directions)
            for name, value, rate in _traced(seen)
        }

    def note(self, time_s: float, seen: Observation, poses_w: np.ndarray) -> None:
        """A later moment."""
        self.moments.add(time_s, poses_w)
        for name, value, rate in _traced(seen):
            self._ways[name].note(time_s, value, rate)

    def ways(self) -> dict[str, np.ndarray]:
        """By name, rows of time and value."""
        return {name: way.rows() for name, way in self._ways.items()}


def _traced(seen: Observation) -> list[tuple[str, np.ndarray, np.ndarray | None]]:
    """(name, value, rate where it is known) of everything whose way is kept."""
    layout, row = seen.layout, seen.row
    traced = [(name, row[layout.observables[name]], row[at]) for name, at in layout.rates.items()]
    return [("omega", seen.twist_b[:3], None), *traced]
