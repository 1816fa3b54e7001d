"""What the pages of the planning panel remember, and ask for beside what the planner itself is asked."""

import math
from dataclasses import dataclass

from ui.window.context import Action


@dataclass(frozen=True, slots=True)
class SaveTask(Action):
    """Write the task as it is now as a scene of its own."""


@dataclass(slots=True)
class PlanChoices:
    """What is open in the planning panel, and the wind that the next flight of a plan meets."""

    page: str = "task"
    wind_mps: float = 0.0
    wind_deg: float = 90.0
    """Where it blows to, counter-clockwise from the world's x."""

    @property
    def wind_w(self) -> tuple[float, float]:
        """World x and y [m/s]."""
        bearing = math.radians(self.wind_deg)
        return self.wind_mps * math.cos(bearing), self.wind_mps * math.sin(bearing)
